/* embedded: see embedded.h. */
#include "alm/apiserver/embedded.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/apiserver/object_meta.h"
#include "alm/obj/schema/schema_node.h"

#define PATH_BYTES_MAX ((size_t)64 << 10)

struct walk {
	struct strbuf path;
	struct error *err;
	struct field_errors *e; /* NULL: it is only read */
};

static int refuse(struct walk *w, const char *key, const struct obj *v, const char *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FIELD_ERRORS_BYTES_MAX);
	go_bad_value(v, &b);
	return error_set(w->err, E_BADREQUEST, "%s.%s: Invalid value: %s: %s", w->path.buf, key,
			 b.buf, why);
}

static int coerce(struct walk *w, struct obj *o)
{
	static const char *const names[] = {"apiVersion", "kind"};
	const struct obj *meta = obj_get(o, "metadata");
	struct error inner = ERROR_INIT;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct obj *v = obj_get(o, names[i]);
		if (v && obj_type(v) != OBJ_STRING)
			return refuse(w, names[i], v, "must be a string");
	}
	if (!meta)
		return 0;
	CLEANUP(obj_unrefp) struct obj *was = obj_copy(meta);
	if (object_meta_coerce(o, false, NULL, NULL, &inner) < 0)
		return refuse(w, "metadata", was, inner.msg);
	return 0;
}

static void check(struct walk *w, const struct obj *o)
{
	struct field_errors *e = w->e;
	const char *at = check_below(e, w->path.buf, "metadata");
	const char *finalizers_at = check_below(e, at, "finalizers");
	const struct obj *meta = obj_get(o, "metadata"), *list = obj_get(meta, "finalizers");
	struct error inner = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *read = obj_copy(o);
	if (meta && object_meta_coerce(read, false, NULL, NULL, &inner) < 0) {
		check_invalid(e, at, meta, inner.msg);
		return;
	}
	check_name_rule(e, check_below(e, at, "generateName"), NAME_PATH_SEGMENT,
			check_text(meta, "generateName"));
	check_name_rule(e, check_below(e, at, "name"), NAME_PATH_SEGMENT, check_text(meta, "name"));
	check_name_rule(e, check_below(e, at, "namespace"), NAME_DNS_LABEL,
			check_text(meta, "namespace"));
	check_label_map(e, check_below(e, at, "labels"), obj_get(meta, "labels"));
	object_meta_check_annotations(obj_get(meta, "annotations"),
				      check_below(e, at, "annotations"), e);
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_as_string(obj_at(list, i)))
			check_qualified(e, finalizers_at, obj_as_string(obj_at(list, i)));
}

/* NOLINTNEXTLINE(misc-no-recursion): schemas nest at most SCHEMA_DEPTH_MAX deep */
static int visit(struct walk *w, const struct schema *s, struct obj *o)
{
	const size_t at = w->path.len;
	int r = 0;
	if (!s || !s->has_embedded_below || (w->e && field_errors_full(w->e)))
		return 0;
	for (size_t i = 0; r == 0 && obj_type(o) == OBJ_LIST && i < obj_len(o); i++) {
		strbuf_addf(&w->path, "[%zu]", i);
		r = visit(w, s->items, obj_at_mut(o, i));
		strbuf_truncate(&w->path, at);
	}
	if (obj_type(o) != OBJ_MAP)
		return r;
	if (s->embedded && w->e)
		check(w, o);
	else if (s->embedded && coerce(w, o) < 0)
		return -E_BADREQUEST;
	OBJ_EACH (it, o) {
		const struct schema *property = schema_property(s, it.key);
		if (property)
			strbuf_addf(&w->path, "%s%s", at ? "." : "", it.key);
		else
			strbuf_addf(&w->path, "[%s]", it.key);
		r = visit(w, property ? property : s->additional, obj_get_mut(o, it.key));
		strbuf_truncate(&w->path, at);
		if (r < 0)
			break;
	}
	return r;
}

int embedded_coerce(const struct schema *s, struct obj *o, struct error *err)
{
	struct walk w = {.err = err};
	strbuf_init(&w.path, PATH_BYTES_MAX);
	int r = visit(&w, s, o);
	strbuf_release(&w.path);
	return r;
}

void embedded_check(const struct schema *s, struct obj *o, struct field_errors *e)
{
	embedded_check_at(s, "", o, e);
}

void embedded_check_at(const struct schema *s, const char *path, struct obj *o,
		       struct field_errors *e)
{
	struct walk w = {.e = e};
	strbuf_init(&w.path, PATH_BYTES_MAX);
	strbuf_adds(&w.path, path);
	visit(&w, s, o);
	strbuf_release(&w.path);
}
