/* objects_check: see objects_check.h. The judgement is alm/audit/objects.c's. */
#include "alm/apiserver/store/objects_check.h"

#include <stdio.h>

#include "alm/audit/objects.h"
#include "alm/audit/snapshot.h"
#include "alm/base/log.h"
#include "alm/obj/json.h"

#define SLICE_OBJECTS 64
#define SLICE_PAUSE   (5 * NS_PER_MS)
#define FIRST_PAUSE   (200 * NS_PER_MS)
#define AGAIN_PAUSE   (10 * NS_PER_S) /* while something differs */
#define DIFFERENT_MAX 16

enum phase { CHECK_PRESENT, CHECK_GONE, CHECK_DONE };

struct objects_check {
	struct apiserver *s;
	struct timer timer;
	struct snapshot *snapshot;
	int64_t first_seq; /* of the log, when it was loaded */
	enum phase phase;
	/* Where the next slice goes on: by place, as objects come and go between slices. */
	size_t resource;
	char *ns, *name;
	struct objects_cursor written;
	size_t n_compared, n_found, n_different; /* in this pass; in the one before */
	bool told;
	char first[OBJECTS_TEXT_MAX];
	char text[OBJECTS_TEXT_MAX + 64];
};

static bool has_records(const struct apiserver *s, const struct store_table *res)
{
	const struct kind *k = kinds_storage(s->kinds, res->group, res->plural);
	return !k || !(k->flags & KIND_NO_AUDIT);
}

/* Owned. */
static int read_head(const struct apiserver *s, const struct head *h, struct obj **ret,
		     struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	const struct kind *k = kinds_storage(s->kinds, h->resource->group, h->resource->plural);
	const struct objects_place place = {.group = h->resource->group,
					    .kind = k ? k->kind : NULL,
					    .ns = h->ns,
					    .name = h->name};
	if (json_parse(text_str(h->text), &o, err) < 0)
		return -err->code;
	*ret = objects_in_place(o, &place);
	return 0;
}

/* audit_record_objects() */
static int each_object(void *arg, int (*fn)(void *fn_arg, const struct obj *o, struct error *err),
		       void *fn_arg, struct error *err)
{
	struct apiserver *s = arg;
	int r = 0;
	for (size_t i = 0; i < store_n_resources(s->store); i++) {
		struct store_table *res = store_resource_at(s->store, i);
		for (size_t j = 0; has_records(s, res) && j < res->n_heads && r >= 0; j++) {
			CLEANUP(obj_unrefp) struct obj *o = NULL;
			r = read_head(s, res->heads[j], &o, err);
			if (r >= 0)
				r = fn(fn_arg, o, err);
		}
	}
	return r;
}

int objects_check_begin(struct apiserver *s, struct error *err)
{
	size_t n = 0;
	for (size_t i = 0; i < store_n_resources(s->store); i++)
		n += store_resource_at(s->store, i)->n_heads;
	if (!s->audit || !n || audit_read_only(s->audit) || !audit_objects_unknown(s->audit))
		return 0;
	return audit_record_objects(s->audit, "ObjectsRecorded", each_object, s, err);
}

static void differs(struct objects_check *c, const struct objects_verdict *v)
{
	char row[32];
	(void)snprintf(row, sizeof(row), "%lld", (long long)v->seq);
	if (!c->told && c->n_found < DIFFERENT_MAX)
		log_error("an object is not what the audit log says", "object", v->text, "record",
			  row);
	if (!c->n_found++)
		(void)snprintf(c->first, sizeof(c->first), "%s", v->text);
}

static struct objects_log log_of(const struct objects_check *c)
{
	return (struct objects_log){.db = c->s->config.db,
				    .key = audit_redact_key(c->s->audit),
				    .snapshot = c->snapshot};
}

static void compare(struct objects_check *c, const struct head *h)
{
	struct error err = ERROR_INIT;
	struct objects_verdict v = {.seq = 0};
	struct objects_log l = log_of(c);
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	c->n_compared++;
	if (read_head(c->s, h, &o, &err) < 0 || objects_judge(&l, o, &v, &err) < 0)
		(void)snprintf(v.text, sizeof(v.text), "%s/%s: %.80s", h->resource->plural, h->name,
			       err.msg);
	if (v.text[0])
		differs(c, &v);
}

/* The first head behind the place of the last one. */
static const struct head *next_head(struct objects_check *c)
{
	for (; c->resource < store_n_resources(c->s->store); c->resource++) {
		const struct store_table *res = store_resource_at(c->s->store, c->resource);
		size_t i = c->name ? resource_lower_bound(res, c->ns, c->name) : 0;
		if (c->name && i < res->n_heads && cstr_eq(res->heads[i]->name, c->name) &&
		    cstr_eq(res->heads[i]->ns, c->ns))
			i++;
		if (has_records(c->s, res) && i < res->n_heads)
			return res->heads[i];
		xfree(STEAL(c->ns));
		xfree(STEAL(c->name));
	}
	return NULL;
}

static void check_present(struct objects_check *c)
{
	for (int i = 0; i < SLICE_OBJECTS; i++) {
		const struct head *h = next_head(c);
		if (!h) {
			c->phase = CHECK_GONE;
			return;
		}
		compare(c, h);
		xfree(c->ns);
		xfree(c->name);
		c->ns = xstrdup(h->ns);
		c->name = xstrdup(h->name);
	}
}

static int look_for(struct objects_check *c, const char *uid, int64_t seq, struct error *err)
{
	struct objects_verdict v = {.seq = 0};
	struct objects_log l = log_of(c);
	if (store_by_uid(c->s->store, uid))
		return 0;
	int r = objects_judge_gone(&l, uid, seq, &v, err);
	if (v.text[0])
		differs(c, &v);
	return r;
}

static int look_for_entry(void *arg, const struct obj *entry, struct error *err)
{
	struct objects_check *c = arg;
	return obj_has(entry, "after")
		       ? look_for(c, obj_str(entry, "uid"), snapshot_seq(c->snapshot), err)
		       : 0;
}

static void check_gone(struct objects_check *c)
{
	struct error err = ERROR_INIT;
	struct objects_log l = log_of(c);
	int r = 1;
	for (int i = 0; i < SLICE_OBJECTS && r > 0; i++) {
		r = objects_next_written(&l, &c->written, &err);
		if (r > 0 && c->written.uid &&
		    look_for(c, c->written.uid, c->written.seq, &err) < 0)
			r = -err.code;
	}
	if (r == 0)
		r = snapshot_each(c->snapshot, look_for_entry, c, &err);
	if (r < 0)
		log_warn("objects were not looked for in the audit log", "error", err.msg);
	if (r > 0)
		return;
	c->phase = CHECK_DONE;
	c->told = true;
	c->n_different = c->n_found;
}

/* All of it once more, for as long as something differs. */
static void start_over(struct objects_check *c)
{
	c->phase = CHECK_PRESENT;
	c->resource = c->n_compared = c->n_found = 0;
	objects_cursor_release(&c->written);
	c->written = (struct objects_cursor){.seq = 0};
}

/* What was pruned meanwhile is said by another snapshot. */
static void load_snapshot(struct objects_check *c)
{
	struct error err = ERROR_INIT;
	snapshot_free(c->snapshot);
	c->snapshot = NULL;
	c->first_seq = audit_first_seq(c->s->audit);
	if (snapshot_load(c->s->config.db, &c->snapshot, &err) < 0)
		log_error("the audit log's record of all objects cannot be read", "error", err.msg);
}

static void slice(void *arg)
{
	struct objects_check *c = arg;
	if (c->first_seq != audit_first_seq(c->s->audit))
		load_snapshot(c);
	if (c->phase == CHECK_DONE)
		start_over(c);
	if (c->phase == CHECK_PRESENT)
		check_present(c);
	else
		check_gone(c);
	if (c->phase != CHECK_DONE)
		loop_arm(c->s->loop, &c->timer, SLICE_PAUSE);
	else if (c->n_different)
		loop_arm(c->s->loop, &c->timer, AGAIN_PAUSE);
}

struct objects_check *objects_check_new(struct apiserver *s)
{
	if (!s->audit)
		return NULL;
	struct objects_check *c = xcalloc(1, sizeof(*c));
	c->s = s;
	c->timer = (struct timer){.fn = slice, .arg = c};
	load_snapshot(c);
	loop_arm(s->loop, &c->timer, FIRST_PAUSE);
	return c;
}

void objects_check_free(struct objects_check *c)
{
	if (!c)
		return;
	loop_disarm(c->s->loop, &c->timer);
	snapshot_free(c->snapshot);
	objects_cursor_release(&c->written);
	xfree(c->ns);
	xfree(c->name);
	xfree(c);
}

bool objects_check_ok(const struct objects_check *c)
{
	return !c || !(c->n_different || c->n_found);
}

const char *objects_check_text(struct objects_check *c)
{
	size_t n = 0;
	if (!c)
		return "";
	for (size_t i = 0; i < store_n_resources(c->s->store); i++)
		n += store_resource_at(c->s->store, i)->n_heads;
	if (!objects_check_ok(c))
		(void)snprintf(c->text, sizeof(c->text), "%zu differ: %s",
			       c->n_found > c->n_different ? c->n_found : c->n_different, c->first);
	else if (c->phase != CHECK_DONE)
		(void)snprintf(c->text, sizeof(c->text), "%zu of %zu compared", c->n_compared, n);
	else
		c->text[0] = '\0';
	return c->text;
}
