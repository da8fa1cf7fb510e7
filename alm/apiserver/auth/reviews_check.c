/* reviews_check: what is wrong with a question about rights, in the words of Kubernetes 1.36. */
#include <string.h>

#include "alm/apiserver/auth/auth_internal.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/apiserver/status.h"
#include "alm/obj/query/selector.h"

static const char one_of[] = "exactly one of nonResourceAttributes or resourceAttributes must be "
			     "specified";

static void check_field_requirement(struct field_errors *e, const char *path, const struct obj *x)
{
	const char *op = check_text(x, "operator"), *at = check_below(e, path, "values");
	bool has = obj_len(obj_get(x, "values"));
	if (check_is_empty(x, "key"))
		check_required(e, check_below(e, path, "key"), "must be specified");
	if ((strcmp(op, "In") == 0 || strcmp(op, "NotIn") == 0) && !has)
		check_required(e, at, "must be specified when `operator` is 'In' or 'NotIn'");
	else if ((strcmp(op, "Exists") == 0 || strcmp(op, "DoesNotExist") == 0) && has)
		check_forbidden(e, at,
				"may not be specified when `operator` is 'Exists' or "
				"'DoesNotExist'");
}

static void check_selector(struct field_errors *e, const char *path, const struct obj *selector,
			   void (*check)(struct field_errors *e, const char *path,
					 const struct obj *x))
{
	const struct obj *list = obj_get(selector, "requirements");
	const char *raw = check_text(selector, "rawSelector");
	const char *at = check_below(e, path, "requirements");
	if (!selector)
		return;
	if (*raw && obj_len(list))
		check_invalid_text(e, check_below(e, path, "rawSelector"), raw,
				   "may not specified at the same time as requirements"); /* sic */
	if (!*raw && !obj_len(list))
		check_required(e, at,
			       arena_fmt(e->arena,
					 "when %s is specified, requirements or rawSelector is "
					 "required",
					 path));
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++)
		check(e, check_at(e, at, i), obj_at(list, i));
}

static void check_attributes(struct field_errors *e, const struct obj *spec, bool of_self)
{
	static const char *const shown[] = {"Path:path", "Verb:verb", NULL};
	const struct obj *resource = obj_get(spec, "resourceAttributes");
	const struct obj *path = obj_get(spec, "nonResourceAttributes");
	if (resource && path)
		check_invalid_struct(e, "spec.nonResourceAttributes", path, shown,
				     "cannot be specified in combination with resourceAttributes");
	if (!resource && !path)
		check_invalid(e, "spec.resourceAttributes", NULL, one_of);
	if (!of_self && check_is_empty(spec, "user") && !obj_len(obj_get(spec, "groups")))
		check_invalid_text(e, "spec.user", "",
				   "at least one of user or group must be specified");
	check_selector(e, "spec.resourceAttributes.fieldSelector",
		       obj_get(resource, "fieldSelector"), check_field_requirement);
	check_selector(e, "spec.resourceAttributes.labelSelector",
		       obj_get(resource, "labelSelector"), check_asked_requirement);
}

static bool is_blank(const struct obj *v)
{
	int64_t n = 1;
	enum obj_type t = obj_type(v);
	if (t == OBJ_INT && obj_as_i64(v, &n))
		return n == 0;
	return t <= OBJ_NULL || (t == OBJ_STRING && !obj_as_str(v).len) ||
	       ((t == OBJ_LIST || t == OBJ_MAP) && !obj_len(v));
}

static void check_metadata(struct field_errors *e, const struct obj *meta, bool local)
{
	OBJ_EACH (it, meta) {
		if (strcmp(it.key, "managedFields") == 0 || is_blank(it.value) ||
		    (local && strcmp(it.key, "namespace") == 0))
			continue;
		check_invalid(e, "metadata", meta,
			      local ? "must be empty except for namespace" : "must be empty");
		return;
	}
}

static void check_local(struct field_errors *e, const struct obj *spec, const char *ns)
{
	static const char *const shown[] = {"Path:path", "Verb:verb", NULL};
	const struct obj *resource = obj_get(spec, "resourceAttributes");
	const struct obj *path = obj_get(spec, "nonResourceAttributes");
	const char *asked = check_text(resource, "namespace");
	if (resource && strcmp(asked, ns) != 0)
		check_invalid_text(e, "spec.resourceAttributes.namespace", asked,
				   "must match metadata.namespace");
	if (path)
		check_invalid_struct(e, "spec.nonResourceAttributes", path, shown,
				     "disallowed on this kind of request");
}

int reviews_check(struct request *r, const struct obj *o, struct error *err)
{
	struct field_errors *e = ARENA_NEW(r->arena, struct field_errors);
	const struct obj *spec = obj_get(o, "spec");
	bool local = cstr_eq(r->kind->kind, "LocalSubjectAccessReview");
	field_errors_init(e, r->arena);
	check_attributes(e, spec, cstr_eq(r->kind->kind, "SelfSubjectAccessReview"));
	check_metadata(e, obj_get(o, "metadata"), local);
	if (local)
		check_local(e, spec, r->ns);
	/* its kind is not told there */
	return e->n ? fail_invalid(r, r->kind->group, "", "", e, err) : 0;
}

/* --- selectors --- */

static bool any_field(void *arg, struct str field)
{
	(void)arg;
	(void)field;
	return true;
}

static bool is_raw_read(const char *raw, bool of_labels)
{
	CLEANUP(selector_freep) struct selector *s = NULL;
	CLEANUP(field_selector_freep) struct field_selector *f = NULL;
	struct error ignored = ERROR_INIT;
	if (of_labels)
		return selector_parse(str_of(raw), &s, &ignored) == 0;
	return field_selector_parse(str_of(raw), any_field, NULL, &f, &ignored) == 0;
}

/* A field has one value; whether it is there at all is not asked yet. */
static bool is_requirement_read(const struct obj *x, bool of_labels)
{
	static const char *const known[] = {"In", "NotIn", "Exists", "DoesNotExist", NULL};
	const char *op = check_text(x, "operator");
	if (of_labels)
		return cstr_in(op, known);
	return (cstr_eq(op, known[0]) || cstr_eq(op, known[1])) &&
	       obj_len(obj_get(x, "values")) == 1;
}

static const char *unread(const struct obj *selector, bool of_labels, struct arena *arena)
{
	const struct obj *list = obj_get(selector, "requirements");
	const char *raw = check_text(selector, "rawSelector");
	size_t n_read = 0;
	for (size_t i = 0; i < obj_len(list); i++)
		n_read += is_requirement_read(obj_at(list, i), of_labels);
	if (n_read == obj_len(list) && (!*raw || is_raw_read(raw, of_labels)))
		return "";
	return arena_fmt(arena, "spec.resourceAttributes.%sSelector%s ignored due to parse error",
			 of_labels ? "label" : "field", n_read ? " partially" : "");
}

const char *reviews_unread(const struct obj *spec, struct arena *arena)
{
	const struct obj *at = obj_get(spec, "resourceAttributes");
	const char *fields = unread(obj_get(at, "fieldSelector"), false, arena);
	const char *labels = unread(obj_get(at, "labelSelector"), true, arena);
	return *fields && *labels ? arena_fmt(arena, "%s; %s", fields, labels)
				  : (*fields ? fields : labels);
}
