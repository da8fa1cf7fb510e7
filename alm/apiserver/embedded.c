/* embedded: see embedded.h. */
#include "alm/apiserver/embedded.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/apiserver/object_meta.h"
#include "alm/apiserver/options.h"
#include "alm/obj/schema/schema_node.h"

#define PATH_BYTES_MAX        ((size_t)64 << 10)
#define SUBRESOURCE_BYTES_MAX 256

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
	if (obj_type(obj_path(o, "metadata.managedFields")) == OBJ_LIST &&
	    !obj_len(obj_path(o, "metadata.managedFields")))
		obj_del_path(
			o,
			"metadata.managedFields"); /* which means something of a whole object alone */
	return 0;
}

static void check_manager(struct field_errors *e, const char *path, const char *name)
{
	if (strlen(name) > MANAGER_BYTES_MAX)
		check_too_long(e, path, MANAGER_BYTES_MAX);
	for (const char *p = name; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			check_invalid_text(e, path, name,
					   arena_fmt(e->arena,
						     "invalid character U+%04X (at position %zu)",
						     (unsigned)*p, (size_t)(p - name)));
}

static void check_managed(struct field_errors *e, const char *path, const struct obj *entry)
{
	const char *type = check_text(entry, "fieldsType"), *done = check_text(entry, "operation");
	if (strcmp(done, "Apply") != 0 && strcmp(done, "Update") != 0)
		check_invalid_text(e, check_below(e, path, "operation"), done,
				   "must be `Apply` or `Update`");
	if (*type && strcmp(type, "FieldsV1") != 0)
		check_invalid_text(e, check_below(e, path, "fieldsType"), type,
				   "must be `FieldsV1`");
	check_manager(e, check_below(e, path, "manager"), check_text(entry, "manager"));
	if (strlen(check_text(entry, "subresource")) > SUBRESOURCE_BYTES_MAX)
		check_too_long(e, check_below(e, path, "subresource"), SUBRESOURCE_BYTES_MAX);
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
	if (obj_i64(meta, "generation", 0) < 0)
		check_invalid(e, check_below(e, at, "generation"), obj_get(meta, "generation"),
			      "must be greater than or equal to 0");
	check_label_map(e, check_below(e, at, "labels"), obj_get(meta, "labels"));
	object_meta_check_annotations(obj_get(meta, "annotations"),
				      check_below(e, at, "annotations"), e);
	object_meta_check_owners(obj_get(meta, "ownerReferences"), NULL,
				 check_below(e, at, "ownerReferences"), e);
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_as_string(obj_at(list, i)))
			check_qualified(e, finalizers_at, obj_as_string(obj_at(list, i)));
	list = obj_get(meta, "managedFields");
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++)
		check_managed(e, check_at(e, check_below(e, at, "managedFields"), i),
			      obj_at(list, i));
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
