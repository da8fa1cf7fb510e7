/* converting: see converting.h. */
#include "alm/apiserver/converting_internal.h"

#include <string.h>

#include "alm/apiserver/admission/conversion.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/convert.h"
#include "alm/apiserver/status.h"
#include "alm/apiserver/store/hub.h"
#include "alm/apiserver/waiting.h"
#include "alm/base/hash.h"
#include "alm/base/map.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

/* What is kept: by a digest of the kind and of what a converter may look at, that is all but most of metadata. */
struct converting {
	struct apiserver *server;
	struct map *kept; /* -> struct text, the one made last is last */
	size_t bytes;
	struct task trim;
};

/* --- what is kept --- */

static void text_free(void *p)
{
	text_unref(p);
}

static void trim(void *arg)
{
	struct converting *c = arg;
	struct map_entry *e;
	while (c->bytes > CONVERTING_KEPT_MAX && (e = map_first(c->kept)) != NULL) {
		c->bytes -= ((struct text *)e->value)->len;
		map_del(c->kept, e->key);
	}
}

struct converting *converting_new(struct apiserver *s)
{
	struct converting *c = xcalloc(1, sizeof(*c));
	c->server = s;
	c->kept = map_new(text_free);
	c->trim = (struct task){.fn = trim, .arg = c};
	return c;
}

void converting_free(struct converting *c)
{
	if (!c)
		return;
	loop_unpost(c->server->loop, &c->trim);
	map_free(c->kept);
	xfree(c);
}

static void key_of(const struct kind *to, const struct obj *o, char out[SHA256_HEX])
{
	static const char *const looked_at[] = {"name", "namespace", "uid", "labels",
						"annotations"};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STORE_VALUE_BYTES_MAX * 4);
	CLEANUP(obj_unrefp) struct obj *bare = obj_copy_shallow(o);
	struct obj *meta = obj_map();
	for (size_t i = 0; i < ARRAY_LEN(looked_at); i++) {
		const struct obj *v = obj_path(o, "metadata");
		if (obj_has(v, looked_at[i]))
			obj_set(meta, looked_at[i], obj_ref(obj_get(v, looked_at[i])));
	}
	obj_set(bare, "metadata", meta);
	strbuf_addf(&b, "%u %s ", to->stamp, to->version);
	json_print(bare, &b);
	sha256_hex(strbuf_str(&b), out);
}

void converting_keep(struct converting *c, const struct kind *to, const struct piece *p)
{
	char key[SHA256_HEX];
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STORE_VALUE_BYTES_MAX * 4);
	key_of(to, p->from, key);
	const struct text *last = map_get(c->kept, key);
	if (last) {
		c->bytes -= last->len;
		map_del(c->kept, key);
	}
	json_print(p->made, &b);
	c->bytes += b.len;
	map_set(c->kept, key, text_new(strbuf_str(&b)));
	if (c->bytes > CONVERTING_KEPT_MAX)
		loop_post(c->server->loop, &c->trim); /* what this turn made, it may use */
}

/* --- asking --- */

static bool is_in_form(const struct kind *k, const struct obj *o, struct arena *a)
{
	return cstr_eq(meta_api_version(o), kind_api_version(k, a));
}

bool converting_is_needed(const struct kind *k)
{
	return k->converter != NULL;
}

static int refused(struct request *r, const char *message, struct error *err)
{
	int rc = fail_code(r, E_INTERNAL, err, "%s", message);
	r->failure.no_reason = true;
	return rc;
}

static int failed(struct request *r, const struct piece *p, const char *why, struct error *err)
{
	return refused(r,
		       arena_fmt(r->arena, "conversion webhook for %s, Kind=%s %s",
				 meta_api_version(p->from), meta_kind(p->from), why),
		       err);
}

/* As with strategy None. */
static void relabel(struct request *r, const struct kind *to, struct piece *p)
{
	p->made = obj_keep(r->arena, obj_copy_shallow(p->from));
	obj_set_str(p->made, "apiVersion", kind_api_version(to, r->arena));
	if (!cstr_in(r->verb, (const char *const[]){"get", "list", "watch", NULL}))
		request_warn(r,
			     "the converter of %s was not asked: the Pods behind its Service are "
			     "simulated",
			     to->crd_name);
}

static int read_answer(struct request *r, const struct kind *to, struct piece *p, size_t n,
		       const struct waiting_answer *a, struct error *err)
{
	const struct obj *list = NULL;
	struct error why = ERROR_INIT;
	if (a->failed)
		return failed(r, p, arena_fmt(r->arena, "failed: %s", a->failed), err);
	if (conversion_read(conversion_version(to->converter), a->uid, a->status, a->body, n,
			    r->arena, &list, &why) < 0)
		return failed(r, p, why.msg, err);
	for (size_t i = 0; i < n; i++)
		if (conversion_take(p[i].from, obj_at(list, i), kind_api_version(to, r->arena),
				    r->arena, &p[i].made, &why) < 0)
			return why.code == E_CORRUPT ? refused(r, why.msg, err)
						     : failed(r, &p[i], why.msg, err);
	return 0;
}

static void finish(const struct kind *to, struct piece *p, size_t n)
{
	for (size_t i = 0; i < n && to->schema; i++)
		schema_prune(to->schema, p[i].made, NULL, NULL);
}

int converting_ask(struct request *r, const struct kind *to, struct piece *p, size_t n,
		   size_t index, struct error *err)
{
	struct hook_target target;
	struct error why = ERROR_INIT;
	const struct waiting_answer *a = NULL;
	const struct obj *client = obj_path(to->converter, "webhook.clientConfig");
	const char *uid = meta_uid(p->from);
	int rc = hook_target_find(r->server, client, CONVERTING_TIMEOUT_S, r->arena, &target, &why);
	if (rc < 0)
		return failed(r, p, arena_fmt(r->arena, "failed: %s", why.msg), err);
	if (rc == HOOK_SIMULATED) {
		for (size_t i = 0; i < n; i++)
			relabel(r, to, &p[i]);
		finish(to, p, n);
		return WAITING_DONE;
	}
	CLEANUP(obj_unrefp) struct obj *list = obj_list();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STORE_VALUE_BYTES_MAX * 4);
	for (size_t i = 0; i < n; i++)
		obj_append(list, obj_ref(p[i].from));
	conversion_print_request(kind_api_version(to, r->arena), list, &b);
	const struct question q = {
		/* of each object by itself: a collection is deleted one after the other */
		.about = arena_fmt(r->arena, "convert %s %s %s %zu", to->version, r->name,
				   uid ? uid : "", index),
		.target = &target,
		.version = conversion_version(to->converter),
		.request = strbuf_str(&b),
		.print = conversion_print,
		.timeout_ns = CONVERTING_TIMEOUT_S * NS_PER_S,
	};
	if (!q.version)
		return failed(r, p, "failed: no supported conversion review versions", err);
	rc = waiting_ask(r, &q, &a, err);
	if (rc != WAITING_DONE)
		return rc;
	rc = read_answer(r, to, p, n, a, err);
	if (rc == 0)
		finish(to, p, n);
	return rc < 0 ? rc : WAITING_DONE;
}

/* --- what is read --- */

const struct obj *converting_as_stored(struct request *r, struct text *t)
{
	struct obj *o = NULL;
	struct error ignored = ERROR_INIT;
	const char *group, *version;
	if (json_parse(text_str(t), &o, &ignored) < 0)
		return NULL;
	obj_keep(r->arena, o);
	if (!gvk_split_api_version(meta_api_version(o), r->arena, &group, &version))
		return NULL;
	const struct kind *own = kinds_find(r->server->kinds, group, version, r->kind->plural);
	return own ? convert_read(own, t, r->arena) : o;
}

void converting_keep_text(struct request *r, struct text *t, struct text *shown)
{
	struct obj *made = NULL;
	struct error ignored = ERROR_INIT;
	const struct obj *o = converting_as_stored(r, t);
	if (o && json_parse(text_str(shown), &made, &ignored) == 0)
		converting_keep(r->server->converting, r->kind,
				&(struct piece){.from = o, .made = obj_keep(r->arena, made)});
}

struct text *converting_text_of(const struct kind *k, const struct obj *o)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STORE_VALUE_BYTES_MAX * 4);
	json_print(o, &b);
	struct text *t = text_new(strbuf_str(&b));
	t->stamp = k->stamp;
	return t;
}

/* What a converter made of it lately, in the arena; NULL: that is not known. */
static struct obj *find_kept(struct converting *c, const struct kind *to, const struct obj *o,
			     struct arena *a)
{
	char key[SHA256_HEX];
	struct obj *said = NULL, *made = NULL;
	struct error ignored = ERROR_INIT;
	key_of(to, o, key);
	const struct text *kept = map_get(c->kept, key);
	if (!kept || json_parse(text_str(kept), &said, &ignored) < 0)
		return NULL;
	obj_keep(a, said);
	return conversion_take(o, said, kind_api_version(to, a), a, &made, &ignored) < 0 ? NULL
											 : made;
}

/* --- what is written --- */

/* WAITING_OPEN: not yet. */
static int convert_one(struct request *r, const struct kind *to, const struct obj *o,
		       struct obj **ret, struct error *err)
{
	struct piece p = {.from = o};
	if (is_in_form(to, o, r->arena)) {
		*ret = obj_keep(r->arena, obj_copy_shallow(o));
		return WAITING_DONE;
	}
	/* of a collection all were asked about when it was listed, and none goes if one cannot be told */
	if (cstr_eq(r->verb, "deletecollection"))
		*ret = find_kept(r->server->converting, to, o, r->arena);
	if (*ret)
		return WAITING_DONE;
	int rc = converting_ask(r, to, &p, 1, 0, err);
	if (rc == WAITING_DONE)
		converting_keep(r->server->converting, to, &p);
	*ret = p.made;
	return rc;
}

/* What is stored need not be served. */
static const struct kind *storage_of(struct request *r)
{
	const struct kind *to = kinds_storage(r->server->kinds, r->kind->group, r->kind->plural);
	if (to)
		return to;
	struct kind *unserved = arena_memdup(r->arena, r->kind, sizeof(*unserved));
	unserved->version = r->kind->storage_version;
	unserved->schema = NULL;
	unserved->stamp = 0;
	return unserved;
}

int converting_to_storage(struct request *r, const struct obj *o, struct obj **ret,
			  struct error *err)
{
	struct obj *bare = obj_keep(r->arena, obj_copy_shallow(o));
	struct obj *meta = obj_copy_map(obj_get(o, "metadata"));
	obj_del(meta, "resourceVersion"); /* the next one has another */
	obj_set(bare, "metadata", meta);
	int rc = convert_one(r, storage_of(r), bare, ret, err);
	return rc > 0 ? waiting_for(r, err) : rc;
}

int converting_between(struct request *r, const struct kind *to, const struct obj *o,
		       const struct obj **ret, struct error *err)
{
	struct obj *made = NULL;
	int rc = convert_one(r, to, o, &made, err);
	if (rc != WAITING_DONE)
		return rc < 0 ? rc : waiting_for(r, err);
	*ret = made;
	return 0;
}

/* What a watch that selects saw until now; where it cannot be told, that watch is. */
static bool is_before_open(struct request *r, const struct kind *k, const struct obj *o)
{
	struct piece p = {.from = o};
	struct error ignored = ERROR_INIT;
	if (!o || is_in_form(k, o, r->arena) || find_kept(r->server->converting, k, o, r->arena))
		return false;
	int rc = converting_ask(r, k, &p, 1, 1, &ignored);
	if (rc == WAITING_DONE)
		converting_keep(r->server->converting, k, &p);
	if (rc < 0)
		r->failure = (struct failure){0};
	return rc == WAITING_OPEN;
}

int converting_prepare(struct request *r, const struct obj *o, struct text *before, bool stored,
		       struct error *err)
{
	size_t n;
	const struct kind *const *all = kinds_all(r->server->kinds, &n);
	bool open = false;
	const struct obj *was = stored && before ? converting_as_stored(r, before) : NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STORE_VALUE_BYTES_MAX * 4);
	json_print(o, &b);
	struct text *t = text_new(strbuf_str(&b));
	arena_defer(r->arena, text_free, t);
	o = converting_as_stored(r, t); /* as it is read */
	for (size_t i = 0; i < n && o; i++) {
		const struct kind *k = all[i];
		bool own = k == r->kind;
		struct obj *made = NULL;
		struct error ignored = ERROR_INIT;
		if (!cstr_eq(k->crd_name, r->kind->crd_name) ||
		    !(own || (stored && hub_watches(r->server->hub, k))))
			continue;
		int rc = convert_one(r, k, o, &made, own ? err : &ignored);
		if (rc < 0 && own)
			return rc;
		if (rc < 0)
			r->failure = (struct failure){0}; /* the watch is told */
		open |= rc > 0;
		if (hub_selects(r->server->hub, k))
			open |= is_before_open(r, k, was);
	}
	return open ? waiting_for(r, err) : 0;
}

/* --- of what was converted --- */

struct text *converting_known(struct apiserver *s, const struct kind *k, struct text *t)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STORE_VALUE_BYTES_MAX * 4);
	struct request scratch = {.server = s, .arena = a, .kind = k};
	const struct obj *o = converting_as_stored(&scratch, t);
	if (!o || is_in_form(k, o, a))
		return text_ref(t);
	const struct obj *made = find_kept(s->converting, k, o, a);
	return made ? converting_text_of(k, made) : NULL;
}

struct text *converting_shown(struct request *r, struct text *t)
{
	struct text *shown =
		converting_is_needed(r->kind) ? converting_known(r->server, r->kind, t) : NULL;
	if (!shown)
		return t;
	arena_defer(r->arena, text_free, shown);
	return shown;
}
