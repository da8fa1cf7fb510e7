/* apply.c: server-side apply and the tracking of other writes. See apply.h; the steps are those of
 * kube-api.md 13. */
#include "alm/obj/patch/apply.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/patch/apply_walk.h"
#include "alm/obj/patch/managed.h"
#include "alm/obj/schema/builtin_types.h"

#define APPLY_BYTES_MAX ((size_t)512 << 20)
#define TEXT_BYTES_MAX  ((size_t)64 << 10)

const struct schema *apply_builtin_schema(const char *api_version, const char *kind)
{
	return builtin_schema(api_version, kind);
}

static struct apply_type type_of(const struct schema *schema, const struct obj *o)
{
	if (schema)
		return apply_type_of(schema, false);
	schema = apply_builtin_schema(meta_api_version(o), meta_kind(o));
	return apply_type_of(schema, true);
}

static const char *time_text(int64_t now_ns, struct arena *a)
{
	char text[CLOCK_TEXT_MAX];
	clock_format(now_ns, CLOCK_SECONDS, text);
	return arena_strdup(a, text);
}

/* The type is that of a built-in kind: its metadata is written through the status, too. */
static bool is_builtin(struct apply_type t, const struct obj *o)
{
	return t.s == apply_builtin_schema(meta_api_version(o), meta_kind(o));
}

/* Fields that belong to nobody. */
static void strip(struct fieldset *s, const char *subresource, bool has_status, bool builtin)
{
	static const char *const meta_steps[] = {
		"f:name",       "f:namespace",         "f:uid",      "f:resourceVersion",
		"f:generation", "f:creationTimestamp", "f:selfLink", "f:managedFields",
	};
	fieldset_remove(s, "f:apiVersion");
	fieldset_remove(s, "f:kind");
	const struct fieldset_item *found = fieldset_find(s, "f:metadata");
	if (found) {
		struct fieldset_item *meta = fieldset_at(s, "f:metadata");
		meta->member = false;
		for (size_t i = 0; meta->below && i < ARRAY_LEN(meta_steps); i++)
			fieldset_remove(meta->below, meta_steps[i]);
	}
	if (strcmp(subresource, "status") == 0) {
		for (size_t i = s->n; i > 0; i--)
			if (strcmp(s->items[i - 1].step, "f:status") != 0 &&
			    (!builtin || strcmp(s->items[i - 1].step, "f:metadata") != 0))
				fieldset_remove(s, s->items[i - 1].step);
	} else if (has_status) {
		fieldset_remove(s, "f:status");
	}
}

static void strip_meta(struct fieldset *s, const char *step)
{
	if (!step || !fieldset_find(s, "f:metadata"))
		return;
	struct fieldset_item *meta = fieldset_at(s, "f:metadata");
	if (meta->below)
		fieldset_remove(meta->below, step);
	if (!meta->below || !meta->below->n)
		fieldset_remove(s, "f:metadata");
}

static void compare(struct apply_type t, const struct obj *before, const struct obj *after,
		    const char *subresource, bool has_status, bool builtin, struct arena *a,
		    struct apply_diff *ret)
{
	apply_compare(t, before, after, a, ret);
	strip(ret->added, subresource, has_status, builtin);
	strip(ret->modified, subresource, has_status, builtin);
	strip(ret->removed, "", false, builtin);
}

/* --- conflicts --- */

struct conflict_list {
	struct apply_conflicts *out;
	size_t cap;
	const struct managed_entry *entry;
};

static void add_conflict(void *arg, const char *path)
{
	struct conflict_list *l = arg;
	struct arena *a = l->out->arena;
	ARENA_GROW(a, l->out->items, l->cap, l->out->n, 8);
	l->out->items[l->out->n++] = (struct apply_conflict){
		.manager = arena_strdup(a, l->entry->manager),
		.api_version = arena_strdup(a, l->entry->api_version),
		.subresource = arena_strdup(a, l->entry->subresource),
		.is_update = !l->entry->is_apply,
		.field = arena_strdup(a, path),
	};
}

static void apply_conflict_text(const struct apply_conflict *c, struct strbuf *b)
{
	strbuf_addf(b, "\"%s\"", c->manager);
	if (*c->subresource)
		strbuf_addf(b, " with subresource \"%s\"", c->subresource);
	if (c->is_update)
		strbuf_addf(b, " using %s", c->api_version);
}

static bool same_manager(const struct apply_conflict *x, const struct apply_conflict *y)
{
	return x->is_update == y->is_update && strcmp(x->manager, y->manager) == 0 &&
	       strcmp(x->api_version, y->api_version) == 0 &&
	       strcmp(x->subresource, y->subresource) == 0;
}

void apply_conflicts_text(const struct apply_conflicts *c, struct strbuf *b)
{
	strbuf_addf(b, "Apply failed with %zu conflict%s: ", c->n, c->n == 1 ? "" : "s");
	for (size_t i = 0; i < c->n; i++) {
		if (c->n == 1) {
			strbuf_adds(b, "conflict with ");
			apply_conflict_text(&c->items[i], b);
			strbuf_addf(b, ": %s", c->items[i].field);
			return;
		}
		if (i == 0 || !same_manager(&c->items[i - 1], &c->items[i])) {
			strbuf_adds(b, i ? "\nconflicts with " : "conflicts with ");
			apply_conflict_text(&c->items[i], b);
			strbuf_addc(b, ':');
		}
		strbuf_addf(b, "\n- %s", c->items[i].field);
	}
}

/* --- the sets of the others --- */

struct change {
	struct apply_diff diff; /* in the version of the request */
	const struct obj *before, *after;
	const char *api_version, *subresource;
	const struct apply_forms *forms;
	bool has_status, builtin;
};

/* The change as the version of the entry shows it. */
static struct apply_diff change_for(const struct change *c, const struct managed_entry *e,
				    struct arena *a)
{
	struct apply_diff diff = c->diff;
	if (!c->forms || strcmp(e->api_version, c->api_version) == 0)
		return diff;
	const struct obj *before = c->forms->read(c->forms->arg, c->before, e->api_version);
	const struct obj *after = c->forms->read(c->forms->arg, c->after, e->api_version);
	if (before && after)
		compare(type_of(NULL, after), before, after, c->subresource, c->has_status,
			c->builtin, a, &diff);
	return diff;
}

/* What changed leaves the sets of the others (all but skip, which may be NULL). With out, changes
 * that they own are listed there but those in free (NULL: none), and nothing is done if there are
 * any. */
static bool take_from_others(struct managed *m, const struct managed_entry *skip,
			     const struct change *change, const struct fieldset *free,
			     struct apply_conflicts *out)
{
	struct arena *a = m->arena;
	struct conflict_list list = {.out = out};
	for (size_t i = 0; out && i < m->n; i++) {
		list.entry = &m->items[i];
		struct apply_diff diff = change_for(change, list.entry, a);
		struct fieldset *changed = fieldset_union(diff.added, diff.modified, a);
		if (list.entry != skip)
			fieldset_each(fieldset_difference(
					      fieldset_intersection(list.entry->fields, changed, a),
					      free, a),
				      add_conflict, &list);
	}
	if (out && out->n > 0)
		return false;
	for (size_t i = 0; i < m->n; i++) {
		struct apply_diff diff = change_for(change, &m->items[i], a);
		struct fieldset *gone = fieldset_union(fieldset_union(diff.added, diff.modified, a),
						       diff.removed, a);
		if (&m->items[i] != skip)
			m->items[i].fields = fieldset_difference(m->items[i].fields, gone, a);
	}
	return true;
}

/* --- tracking --- */

static int store(struct obj *o, const struct managed *m, size_t bytes_max, struct error *err)
{
	size_t bytes = managed_text_bytes(m);
	if (bytes_max && bytes > bytes_max)
		return error_set(err, E_TOOLARGE,
				 "metadata.managedFields needs %zu bytes, more than %zu", bytes,
				 bytes_max);
	struct obj *list = managed_print(m);
	struct obj *meta = obj_get_mut(o, "metadata");
	if (list && obj_type(meta) != OBJ_MAP) { /* null, too */
		obj_set(o, "metadata", obj_map());
		meta = obj_get_mut(o, "metadata");
	}
	if (list)
		obj_set(meta, "managedFields", list);
	else if (obj_type(meta) == OBJ_MAP)
		obj_del(meta, "managedFields");
	return 0;
}

/* Whose sets an update starts from. False: nothing is tracked. */
static bool decode_for_update(const struct update_request *r, struct managed *ret, struct arena *a)
{
	const struct obj *sent = obj_path(r->after, "metadata.managedFields");
	const struct obj *live = obj_path(r->before, "metadata.managedFields");
	*ret = (struct managed){.arena = a};
	if (!*r->subresource && managed_is_reset(sent))
		return false;
	bool use_sent = !*r->subresource && managed_parse(sent, a, ret) && ret->n > 0;
	if (!use_sent)
		managed_parse(live, a, ret);
	return !r->before || ret->n > 0;
}

static void track(struct managed *m, struct apply_type t, const struct update_request *r,
		  const struct obj *after)
{
	struct arena *a = m->arena;
	CLEANUP(obj_unrefp) struct obj *nothing = obj_map();
	struct change change = {.before = r->before ? r->before : nothing,
				.after = after,
				.api_version = r->api_version,
				.subresource = r->subresource,
				.forms = r->forms,
				.has_status = r->has_status,
				.builtin = is_builtin(t, after)};
	compare(t, change.before, after, r->subresource, r->has_status, change.builtin, a,
		&change.diff);
	struct fieldset *mine = fieldset_union(change.diff.added, change.diff.modified, a);
	if (m->n > 0)
		take_from_others(m, NULL, &change, NULL, NULL);
	if (!fieldset_is_empty(mine)) {
		struct managed_entry key = {.manager = r->manager,
					    .api_version = r->api_version,
					    .subresource = r->subresource};
		struct managed_entry *e = managed_at(m, &key);
		e->fields = fieldset_union(e->fields, mine, a);
		e->time = time_text(r->now_ns, a);
	}
	managed_drop_empty(m);
	managed_cap(m);
}

int apply_track_update(const struct update_request *r, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(APPLY_BYTES_MAX);
	struct managed m;
	if (decode_for_update(r, &m, a)) {
		struct update_request u = *r;
		track(&m, type_of(r->schema, r->after), &u, r->after);
	}
	return store(r->after, &m, r->bytes_max, err);
}

/* --- apply --- */

static int refuse_config(const struct apply_request *r, const struct strbuf *findings, size_t n,
			 struct strbuf *why, struct error *err)
{
	const char *ns = r->stated_namespace, *name = meta_name(r->config);
	const char *kind = meta_kind(r->config), *core = strchr(r->api_version, '/') ? "" : "/";
	struct str rest = strbuf_str(findings), line;
	strbuf_addf(why,
		    "failed to create typed patch object (%s/%s; %s%s, Kind=%s): ", ns ? ns : "",
		    name ? name : "", core, r->api_version, kind ? kind : "");
	if (n == 1)
		strbuf_addstr(why, rest);
	else
		strbuf_adds(why, "errors:");
	while (n > 1 && str_next_line(&rest, &line))
		strbuf_addf(why, "\n  %.*s", STR_ARG(line));
	return error_set(err, E_BADREQUEST, "%s", why->buf);
}

/* All of the reason is in why: there may be more of it than an error holds. */
static int check_config(const struct apply_request *r, struct apply_type t, struct arena *a,
			struct strbuf *why, struct error *err)
{
	static const char managed[] = "metadata.managedFields must be nil";
	CLEANUP(strbuf_release) struct strbuf findings = STRBUF_INIT(TEXT_BYTES_MAX);
	if (obj_len(obj_path(r->config, "metadata.managedFields")) > 0) {
		strbuf_adds(why, managed);
		return error_set(err, E_BADREQUEST, "%s", managed);
	}
	size_t n = apply_check_config(t, r->config, a, &findings);
	return n > 0 ? refuse_config(r, &findings, n, why, err) : 0;
}

/* What the manager applied before and does not apply now is removed, unless another owns it. */
static struct obj *drop_left_fields(struct apply_type t, struct obj *merged,
				    const struct obj *config, const struct managed *m,
				    const struct fieldset *last)
{
	struct arena *a = m->arena;
	if (fieldset_is_empty(last))
		return merged;
	const struct fieldset **sets = ARENA_ARRAY(a, const struct fieldset *, m->n + 1);
	for (size_t i = 0; i < m->n; i++)
		sets[i] = m->items[i].fields;
	sets[m->n] = apply_claims(t, config, a);
	struct fieldset *owned = fieldset_union_all(sets, m->n + 1, a);
	struct fieldset *gone = fieldset_difference(apply_with_parents(t, last, a),
						    apply_with_parents(t, owned, a), a);
	/* Fields below a leaving item or map go with it, but not those that somebody owns: their
	 * parents are in owned through apply_with_parents, and items by their own member. */
	struct obj *pruned = apply_remove(t, merged, gone, a);
	obj_unref(merged);
	return pruned;
}

/* The live object without managedFields; shares subtrees. */
static struct obj *bare_copy(const struct obj *o)
{
	struct obj *copy = obj_copy_shallow(o);
	if (obj_type(obj_get(copy, "metadata")) != OBJ_MAP)
		return copy;
	struct obj *meta = obj_copy_shallow(obj_get(copy, "metadata"));
	obj_del(meta, "managedFields");
	obj_set(copy, "metadata", meta);
	return copy;
}

/* An object that nobody is known to own was written before the first apply. */
static void own_before_first_apply(const struct apply_request *r, struct apply_type t,
				   const struct obj *live, struct managed *m)
{
	const struct update_request u = {.manager = MANAGED_BEFORE_FIRST_APPLY,
					 .api_version = r->api_version,
					 .subresource = "",
					 .has_status = r->has_status,
					 .now_ns = r->now_ns};
	if (r->live && m->n == 0)
		track(m, t, &u, live);
}

static struct managed_entry key_of(const struct apply_request *r)
{
	return (struct managed_entry){.manager = r->manager,
				      .api_version = r->api_version,
				      .subresource = r->subresource,
				      .time = "",
				      .is_apply = true};
}

/* Who applied on the client's side goes over to the server's without conflicts with himself: what
 * kubectl applied last, by its annotation, and nobody changed since, is free for it to take. */
static struct fieldset *free_for_kubectl(const struct apply_request *r, struct apply_type t,
					 const struct obj *live, struct arena *a)
{
	const char *text = meta_annotation(r->live, APPLY_LAST_APPLIED);
	struct obj *applied = NULL;
	struct apply_diff diff;
	struct error err;
	if (strcmp(r->manager, APPLY_KUBECTL) != 0 || !text ||
	    json_parse(str_of(text), &applied, &err) < 0)
		return NULL;
	obj_keep(a, applied);
	if (obj_type(applied) != OBJ_MAP)
		return NULL;
	apply_compare(t, applied, live, a, &diff);
	struct fieldset *changed =
		fieldset_union(fieldset_union(diff.modified, diff.added, a), diff.removed, a);
	return fieldset_difference(apply_fields(t, applied, a), changed, a);
}

static int merge(const struct apply_request *r, struct apply_type t, struct managed *m,
		 const struct obj *live, struct apply_conflicts *out, struct obj **ret)
{
	struct arena *a = m->arena;
	const struct managed_entry key = key_of(r);
	struct managed_entry *mine = managed_at(m, &key);
	const struct fieldset *last = mine->fields;
	for (size_t i = 0; i < m->n; i++) /* the same manager at another version hands over */
		if (&m->items[i] != mine && m->items[i].is_apply &&
		    strcmp(m->items[i].manager, r->manager) == 0 &&
		    strcmp(m->items[i].subresource, r->subresource) == 0) {
			last = fieldset_union(last, m->items[i].fields, a);
			m->items[i].fields = fieldset_new(a);
		}
	mine->fields = apply_fields(t, r->config, a);
	bool builtin = is_builtin(t, r->config) && !r->keeps_meta;
	strip(mine->fields, r->subresource, r->has_status, builtin);
	strip_meta(mine->fields, r->keeps_field);
	struct obj *merged = apply_merge_values(t, live, r->config, a);
	merged = drop_left_fields(t, merged, r->config, m, last);
	struct change change = {.before = live,
				.after = merged,
				.api_version = r->api_version,
				.subresource = r->subresource,
				.forms = r->live ? r->forms : NULL,
				.has_status = r->has_status,
				.builtin = builtin};
	compare(t, live, merged, r->subresource, r->has_status, builtin, a, &change.diff);
	strip_meta(change.diff.added, r->keeps_field);
	strip_meta(change.diff.modified, r->keeps_field);
	const struct fieldset *free = free_for_kubectl(r, t, live, a);
	if (!take_from_others(m, mine, &change, free, r->force ? NULL : out)) {
		obj_unref(merged);
		return -E_CONFLICT;
	}
	/* Who takes what is there already changes nothing: of him no time is told, or that of before. */
	if (!r->live || !obj_equal(live, merged))
		mine->time = time_text(r->now_ns, a);
	managed_drop_empty(m);
	*ret = obj_copy(merged);
	obj_unref(merged);
	return 0;
}

int apply_check(const struct apply_request *r, struct strbuf *why, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(APPLY_BYTES_MAX);
	return check_config(r, type_of(r->schema, r->config), a, why, err);
}

int apply_merge(const struct apply_request *r, struct apply_conflicts *ret_conflicts,
		struct obj **ret, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(APPLY_BYTES_MAX);
	struct managed m;
	struct apply_type t = type_of(r->schema, r->config);
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(TEXT_BYTES_MAX);
	int rc = check_config(r, t, a, &why, err);
	if (rc < 0)
		return rc;
	CLEANUP(obj_unrefp) struct obj *live = bare_copy(r->live);
	const struct managed_entry key = key_of(r);
	managed_parse(obj_path(r->live, "metadata.managedFields"), a, &m);
	if (m.n >= MANAGED_APPLIERS_MAX && !managed_find(&m, &key))
		return error_set(err, E_TOOLARGE,
				 "metadata.managedFields has %zu managers; clear it with [{}]",
				 m.n);
	own_before_first_apply(r, t, live, &m);
	struct obj *out = NULL;
	ret_conflicts->n = 0;
	if (merge(r, t, &m, live, ret_conflicts, &out) < 0) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
		apply_conflicts_text(ret_conflicts, &b);
		return error_set(err, E_CONFLICT, "%s", b.buf);
	}
	if (store(out, &m, r->bytes_max, err) < 0) {
		obj_unref(out);
		return -err->code;
	}
	*ret = out;
	return 0;
}
