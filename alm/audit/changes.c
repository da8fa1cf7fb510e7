/* changes: see changes.h. A field's new value is found in the record's RFC 6902 patch, its old one
 * in `was`. */
#include "alm/audit/changes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alm/audit/large.h"
#include "alm/base/map.h"
#include "alm/obj/diff.h"
#include "alm/obj/json.h"
#include "alm/obj/patch/patch.h"

#define PATCH_BYTES_MAX ((size_t)1 << 20)
#define PAGE            ((size_t)1000)

static bool is_scalar(const struct obj *v)
{
	switch (obj_type(v)) {
	case OBJ_STRING:
		return obj_as_str(v).len <= CHANGES_VALUE_MAX;
	case OBJ_BOOL:
	case OBJ_INT:
	case OBJ_DOUBLE:
		return true;
	case OBJ_ABSENT:
	case OBJ_NULL:
	case OBJ_LIST:
	case OBJ_MAP:
		break;
	}
	return false;
}

static char *was_text(const struct diff *d)
{
	CLEANUP(obj_unrefp) struct obj *was = obj_map();
	for (size_t i = 0; i < d->n; i++)
		if (is_scalar(d->items[i].before))
			obj_set(was, d->items[i].path, obj_ref(d->items[i].before));
	return obj_len(was) ? json_text(was) : NULL;
}

void changes_set(struct obj *body, const struct obj *before, const struct obj *after,
		 struct arena *a)
{
	struct diff d;
	struct obj *list = obj_list();
	diff_objects(before, after, CHANGES_PATHS_MAX, a, &d);
	for (size_t i = 0; i < d.n; i++)
		obj_append(list, obj_string(d.items[i].path));
	obj_set(body, "changed", list);
	CLEANUP(xfreep) char *was = was_text(&d);
	if (was)
		obj_set_str(body, "was", was);
	CLEANUP(obj_unrefp) struct obj *operations = patch_json_diff(before, after);
	CLEANUP(xfreep) char *text = json_text(operations);
	if (d.n && strlen(text) <= PATCH_BYTES_MAX)
		obj_set_str(body, "patch", text);
}

/* RFC 6901: spec.versions[0].x['a/b'] -> /spec/versions/0/x/a~1b */
static void add_pointer(const char *path, struct strbuf *b)
{
	for (const char *p = path; *p;) {
		const char *end;
		size_t skip = 0;
		if (p[0] == '[' && p[1] == '\'') {
			p += 2;
			end = strstr(p, "']");
			skip = 2;
		} else if (p[0] == '[') {
			p++;
			end = strchr(p, ']');
			skip = 1;
		} else {
			p += *p == '.';
			end = p + strcspn(p, ".[");
		}
		strbuf_addc(b, '/');
		for (end = end ? end : p + strlen(p); p < end; p++) {
			if (*p == '~' || *p == '/')
				strbuf_adds(b, *p == '~' ? "~0" : "~1");
			else
				strbuf_addc(b, *p);
		}
		for (; skip && *p; skip--)
			p++;
	}
}

static const struct obj *value_after(const struct obj *patch, const char *path)
{
	CLEANUP(strbuf_release) struct strbuf pointer = STRBUF_INIT(STRBUF_SMALL);
	add_pointer(path, &pointer);
	for (size_t i = 0; i < obj_len(patch); i++) {
		const struct obj *op = obj_at(patch, i), *v = obj_get(op, "value");
		if (cstr_eq(obj_str(op, "path"), pointer.buf) && is_scalar(v))
			return v;
	}
	return NULL;
}

struct object {
	struct obj *change; /* owned */
	struct map *fields; /* path -> struct obj *field; owned */
	char *first_before; /* digests; owned */
	bool made, gone, same;
};

static void object_free(void *p)
{
	struct object *o = p;
	obj_unref(o->change);
	map_free(o->fields);
	xfree(o->first_before);
	xfree(o);
}

static void unref(void *p)
{
	obj_unref(p);
}

struct changes {
	struct db *d;
	struct map *objects; /* uid, or kind/ns/name */
	int64_t last;
};

static void key_of(const struct obj *row, struct strbuf *b)
{
	const char *uid = obj_str(row, "subject.uid");
	if (uid && *uid)
		strbuf_adds(b, uid);
	else
		strbuf_addf(b, "%s/%s/%s", obj_str(row, "subject.kind"),
			    obj_str(row, "subject.namespace"), obj_str(row, "subject.name"));
}

static struct object *object_of(struct changes *c, const struct obj *row, struct error *err)
{
	static const char *const copied[] = {"kind", "namespace", "name", "uid"};
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(STRBUF_SMALL);
	key_of(row, &key);
	struct object *o = map_get(c->objects, key.buf);
	if (o)
		return o;
	if (map_count(c->objects) == CHANGES_OBJECTS_MAX) {
		error_set(err, E_LIMIT,
			  "more than %d objects were written: a shorter time, or --subject",
			  CHANGES_OBJECTS_MAX);
		return NULL;
	}
	o = xcalloc(1, sizeof(*o));
	o->change = obj_map();
	o->fields = map_new(unref);
	obj_set_str(o->change, "change", "changed");
	for (size_t i = 0; i < ARRAY_LEN(copied); i++) {
		const char *v = obj_str(obj_get(row, "subject"), copied[i]);
		if (v && *v)
			obj_set_str(o->change, copied[i], v);
	}
	const char *before = obj_str(row, "body.before");
	o->first_before = before ? xstrdup(before) : NULL;
	map_set(c->objects, key.buf, o);
	return o;
}

/* As text, or as a reference to it where it was too large for the row. */
static struct obj *patch_of(struct changes *c, const struct obj *row)
{
	struct error err = ERROR_INIT;
	struct obj *patch = NULL;
	const struct obj *v = obj_path(row, "body.patch");
	const char *text = obj_as_string(v);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PATCH_BYTES_MAX);
	if (!v)
		return NULL;
	if (!text || *text != '[') {
		if (large_text(c->d, v, &b, &err) < 0)
			return NULL;
		text = b.buf;
	}
	return json_parse(str_of(text), &patch, &err) < 0 ? NULL : patch;
}

static struct obj *was_of(const struct obj *row)
{
	struct error err = ERROR_INIT;
	struct obj *was = NULL;
	const char *text = obj_str(row, "body.was");
	return text && json_parse(str_of(text), &was, &err) == 0 ? was : NULL;
}

static void add_fields(struct object *o, const struct obj *row, const struct obj *patch,
		       const struct obj *was)
{
	const struct obj *changed = obj_path(row, "body.changed");
	for (size_t i = 0; i < obj_len(changed); i++) {
		const char *path = obj_as_string(obj_at(changed, i));
		if (!path)
			continue;
		struct obj *field = map_get(o->fields, path);
		if (!field && map_count(o->fields) == CHANGES_FIELDS_MAX) {
			obj_set_bool(o->change, "cut", true);
			continue;
		}
		if (!field) {
			field = obj_map();
			obj_set_str(field, "path", path);
			if (is_scalar(obj_get(was, path)))
				obj_set(field, "from", obj_ref(obj_get(was, path)));
			map_set(o->fields, path, field);
		}
		const struct obj *to = value_after(patch, path);
		obj_del(field, "to");
		obj_set_int(field, "seq", obj_i64(row, "seq", 0));
		if (to)
			obj_set(field, "to", obj_ref(to));
	}
}

static int add_row(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct changes *c = arg;
	const char *outcome = obj_str(row, "body.outcome"), *verb = obj_str(row, "body.verb");
	const char *after = obj_str(row, "body.after"), *reason = obj_str(row, "reason");
	(void)depth;
	c->last = obj_i64(row, "seq", c->last);
	bool seen =
		cstr_eq(obj_str(row, "type"), "Observe") && (after || obj_str(row, "body.before"));
	if (!seen && !cstr_eq(outcome, "Applied") && !cstr_eq(outcome, "Recovered"))
		return 0;
	struct object *o = object_of(c, row, err);
	if (!o)
		return -err->code;
	CLEANUP(obj_unrefp) struct obj *patch = patch_of(c, row);
	CLEANUP(obj_unrefp) struct obj *was = was_of(row);
	bool made = cstr_eq(reason, "Created") || cstr_eq(verb, "create") ||
		    obj_i64(row, "body.code", 0) == 201;
	o->made |= made;
	o->gone = cstr_eq(reason, "Deleted") || (cstr_eq(verb, "delete") && !after);
	o->same = after && cstr_eq(o->first_before, after);
	if (!o->made || made || o->gone)
		obj_set_int(o->change, "seq", c->last);
	add_fields(o, row, patch, was);
	return 0;
}

static bool is_same_again(const struct obj *field)
{
	return obj_has(field, "from") && obj_has(field, "to") &&
	       obj_equal(obj_get(field, "from"), obj_get(field, "to"));
}

/* NULL: nothing is different in the end. */
static struct obj *outcome_of(const struct object *o)
{
	struct obj *list = obj_list();
	if ((o->made && o->gone) || (!o->made && !o->gone && o->same)) {
		obj_unref(list);
		return NULL;
	}
	obj_set_str(o->change, "change", o->gone ? "removed" : o->made ? "added" : "changed");
	for (struct map_entry *e = map_first(o->fields); e; e = map_next(e))
		if (!o->gone && !o->made && !is_same_again(e->value))
			obj_append(list, obj_ref(e->value));
	obj_set(o->change, "fields", list);
	return o->change;
}

static int by_seq(const void *a, const void *b)
{
	int64_t x = obj_i64((*(struct object *const *)a)->change, "seq", 0);
	int64_t y = obj_i64((*(struct object *const *)b)->change, "seq", 0);
	return x < y ? -1 : x > y;
}

static int give(struct changes *c,
		int (*fn)(void *arg, const struct obj *change, struct error *err), void *arg,
		struct error *err)
{
	size_t n = 0;
	int r = 0;
	struct object **all = xcalloc(map_count(c->objects) + 1, sizeof(struct object *));
	for (struct map_entry *e = map_first(c->objects); e; e = map_next(e))
		all[n++] = e->value;
	qsort(all, n, sizeof(struct object *), by_seq);
	for (size_t i = 0; i < n && r >= 0; i++) {
		const struct obj *change = outcome_of(all[i]);
		if (change)
			r = fn(arg, change, err);
	}
	xfree(all);
	return r < 0 ? r : 0;
}

int changes_read(struct db *d, const struct query_selector *sel, int64_t from_seq, int64_t to_seq,
		 int (*fn)(void *arg, const struct obj *change, struct error *err), void *arg,
		 struct error *err)
{
	struct query_selector page = {.kind = sel->kind,
				      .ns = sel->ns,
				      .name = sel->name,
				      .cluster = sel->cluster,
				      .writes = true,
				      .to_seq = to_seq,
				      .limit = PAGE};
	struct changes c = {.d = d, .objects = map_new(object_free), .last = from_seq};
	int r = to_seq > from_seq ? (int)PAGE : 0;
	while (r == (int)PAGE) {
		page.from_seq = c.last + 1;
		r = query_rows(d, &page, add_row, &c, err);
	}
	if (r >= 0)
		r = give(&c, fn, arg, err);
	map_free(c.objects);
	return r < 0 ? r : 0;
}
