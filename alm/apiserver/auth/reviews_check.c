/* reviews_check: what is wrong with a question about rights, in the words of Kubernetes 1.36. */
#include <string.h>

#include "alm/apiserver/auth/auth_internal.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/apiserver/status.h"

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
