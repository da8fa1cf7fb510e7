#include "alm/sources/inplace_check.h"

#include <string.h>

#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "alm/sources/inplace.h"
#include "alm/sources/oci.h"
#include "catalog/index/package.h"
#include "crds/defaults.h"

static const struct inplace_output_type output_types[] = {
	{"string", "string", NULL}, {"url", "string", "uri"},     {"integer", "integer", "int64"},
	{"number", "number", NULL}, {"boolean", "boolean", NULL},
};

/* What a package in place leaves no room for. */
static const char *const elsewhere[] = {"spec.package", "spec.catalog", "spec.version"};

bool inplace_is(const struct obj *apptype)
{
	return obj_len(obj_path(apptype, "spec.resources")) ||
	       obj_is_set(obj_path(apptype, "spec.operator"));
}

const struct inplace_output_type *inplace_output_type(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(output_types); i++)
		if (cstr_eq(name ? name : "string", output_types[i].name))
			return &output_types[i];
	return NULL;
}

static const char *output_problem(const struct obj *list, const char *at, struct arena *a)
{
	if (obj_len(list) > INPLACE_OUTPUTS_MAX)
		return arena_fmt(a, "%s.outputs: %zu of them, at most %d", at, obj_len(list),
				 INPLACE_OUTPUTS_MAX);
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *o = obj_at(list, i);
		const char *name = obj_str(o, "name"), *type = obj_str(o, "type");
		if (!name || !*name)
			return arena_fmt(a, "%s.outputs[%zu].name: required", at, i);
		for (size_t k = 0; k < i; k++)
			if (cstr_eq(obj_str(obj_at(list, k), "name"), name))
				return arena_fmt(a, "%s.outputs[%zu].name: %s is there twice", at,
						 i, name);
		if (!inplace_output_type(type))
			return arena_fmt(a,
					 "%s.outputs[%zu].type: %s is none; use string, url, "
					 "integer, number or boolean",
					 at, i, type);
	}
	return NULL;
}

static const char *text_problem(const struct obj *spec, const char *path, const char *at,
				struct arena *a)
{
	const char *text = obj_str(spec, path);
	return text && *text ? NULL : arena_fmt(a, "%s.spec.%s: required", at, path);
}

/* A kind is a label in mixed case. */
static const char *name_problem(const char *name, enum name_rule rule, bool is_mixed,
				const char *field, struct arena *a)
{
	char *lower = arena_strdup(a, name ? name : "a");
	for (char *p = lower; is_mixed && *p; p++)
		*p = char_lower(*p);
	const char *fault = name_fault(rule, str_of(lower));
	return fault ? arena_fmt(a, "%s: %.100s: %s", field, name, fault) : NULL;
}

static const char *names_problem(const struct obj *spec, const char *at, struct arena *a)
{
	static const struct {
		const char *path;
		enum name_rule rule;
		bool is_mixed;
	} fields[] = {
		{"group", NAME_DNS_SUBDOMAIN, false},
		{"version", NAME_DNS1035_LABEL, false},
		{"names.plural", NAME_DNS1035_LABEL, false},
		{"names.singular", NAME_DNS1035_LABEL, false},
		{"names.kind", NAME_DNS1035_LABEL, true},
		{"names.listKind", NAME_DNS1035_LABEL, true},
	};
	static const char *const lists[] = {"shortNames", "categories"};
	const char *why = NULL;
	for (size_t i = 0; i < ARRAY_LEN(fields) && !why; i++)
		why = name_problem(obj_str(spec, fields[i].path), fields[i].rule,
				   fields[i].is_mixed,
				   arena_fmt(a, "%s.spec.%s", at, fields[i].path), a);
	for (size_t k = 0; k < ARRAY_LEN(lists) && !why; k++) {
		const struct obj *list = obj_get(obj_get(spec, "names"), lists[k]);
		for (size_t i = 0; i < obj_len(list) && !why; i++)
			why = name_problem(
				obj_as_string(obj_at(list, i)), NAME_DNS1035_LABEL, false,
				arena_fmt(a, "%s.spec.names.%s[%zu]", at, lists[k], i), a);
	}
	return why;
}

static bool is_secret_ref(const struct obj *o)
{
	const char *ns = obj_str(o, "namespace");
	return !obj_is_set(o) || (obj_str(o, "name") && (!ns || !strcmp(ns, INPLACE_NAMESPACE)));
}

static const char *resource_problem(const struct obj *o, const char *at, struct arena *a)
{
	static const char *const known[] = {"group", "version", "scope", "names", NULL};
	static const char *const names[] = {"plural",     "singular",   "kind", "listKind",
					    "shortNames", "categories", NULL};
	static const char *const required[] = {"group", "version", "names.plural", "names.kind"};
	const struct obj *spec = obj_get(o, "spec");
	const char *why = NULL;
	for (size_t i = 0; i < ARRAY_LEN(required) && !why; i++)
		why = text_problem(spec, required[i], at, a);
	if (!why)
		why = names_problem(spec, at, a);
	if (why)
		return why;
	const char *other = obj_unknown_member(spec, known);
	if (other)
		return arena_fmt(a, "%s.spec.%s: not known; use group, version, scope and names",
				 at, other);
	other = obj_unknown_member(obj_get(spec, "names"), names);
	if (other)
		return arena_fmt(a, "%s.spec.names.%s: not known", at, other);
	const char *scope = obj_str(spec, "scope"), *name = obj_str(o, "name");
	if (scope && strcmp(scope, "Namespaced") != 0 && strcmp(scope, "Cluster") != 0)
		return arena_fmt(a, "%s.spec.scope: %s is none; use Namespaced or Cluster", at,
				 scope);
	const char *want =
		arena_fmt(a, "%s.%s", obj_str(spec, "names.plural"), obj_str(spec, "group"));
	if (!cstr_eq(name, want))
		return arena_fmt(a, "%s.name: want %s, of names.plural and group", at, want);
	if (!is_secret_ref(obj_get(o, "secretRef")))
		return arena_fmt(a,
				 "%s.secretRef: want the name of a Secret in "
				 "namespace " INPLACE_NAMESPACE,
				 at);
	return output_problem(obj_get(o, "outputs"), at, a);
}

const char *inplace_operator_ref(const struct obj *spec, struct arena *a)
{
	const char *ref = obj_str(spec, "operator.helmChart.template");
	if (!ref)
		return NULL;
	return cstr_has_prefix(ref, "oci://") ? ref : arena_fmt(a, "oci://%s", ref);
}

static const char *operator_problem(const struct obj *spec, struct arena *a)
{
	static const char *const known[] = {"type", "helmChart", "secretRef", NULL};
	static const char *const chart[] = {"template", "values", NULL};
	const struct obj *o = obj_get(spec, "operator");
	struct oci_reference ref;
	struct error err = ERROR_INIT;
	if (!obj_is_set(o))
		return NULL;
	const char *type = obj_str(o, "type"), *other = obj_unknown_member(o, known);
	if (type && strcmp(type, "helm") != 0)
		return arena_fmt(a, "spec.operator.type: %s is not installed; use helm", type);
	if (!other)
		other = obj_unknown_member(obj_get(o, "helmChart"), chart);
	if (other)
		return arena_fmt(a,
				 "spec.operator: %s is not known; use type, secretRef, "
				 "helmChart.template and "
				 "helmChart.values",
				 other);
	if (!is_secret_ref(obj_get(o, "secretRef")))
		return "spec.operator.secretRef: want the name of a Secret in "
		       "namespace " INPLACE_NAMESPACE;
	enum obj_type values = obj_type(obj_path(o, "helmChart.values"));
	if (values != OBJ_ABSENT && values != OBJ_NULL && values != OBJ_MAP)
		return "spec.operator.helmChart.values: want an object";
	const char *text = inplace_operator_ref(spec, a);
	if (!text)
		return "spec.operator.helmChart.template: required; name the chart as "
		       "HOST/NAME:TAG or HOST/NAME@sha256:DIGEST";
	if (oci_reference_parse(str_of(text), a, &ref, &err) < 0)
		return arena_fmt(a,
				 "spec.operator.helmChart.template: %s; name the chart as "
				 "HOST/NAME@sha256: with the 64 hex digits of its manifest",
				 err.msg);
	if (!ref.digest && !ref.tag)
		return "spec.operator.helmChart.template: name the chart as HOST/NAME:TAG, or as "
		       "HOST/NAME@sha256: with the 64 hex digits of its manifest";
	return NULL;
}

const char *inplace_package_problem(const struct obj *spec, struct arena *a)
{
	const struct obj *list = obj_get(spec, "resources");
	size_t n = obj_len(list);
	if (n > INPLACE_RESOURCES_MAX)
		return arena_fmt(a, "spec.resources: %zu of them, at most %d", n,
				 INPLACE_RESOURCES_MAX);
	for (size_t i = 0; i < n; i++) {
		const struct obj *o = obj_at(list, i);
		const char *at = arena_fmt(a, "spec.resources[%zu]", i);
		const char *why = resource_problem(o, at, a);
		for (size_t k = 0; k < i && !why; k++)
			if (cstr_eq(obj_str(obj_at(list, k), "name"), obj_str(o, "name")))
				why = arena_fmt(a, "%s.name: %s is there twice", at,
						obj_str(o, "name"));
		if (why)
			return why;
	}
	return operator_problem(spec, a);
}

const char *inplace_problem(const struct obj *apptype, struct arena *a)
{
	if (!inplace_is(apptype))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(elsewhere); i++)
		if (obj_str(apptype, elsewhere[i]))
			return arena_fmt(
				a,
				"%s: the package of this AppType is its own spec.resources and "
				"spec.operator; remove these or %s",
				elsewhere[i], elsewhere[i]);
	const char *channel = obj_str(apptype, "spec.channel");
	if (channel && strcmp(channel, APPTYPE_CHANNEL) != 0)
		return arena_fmt(
			a,
			"spec.channel: the package of this AppType, its own spec.resources "
			"and spec.operator, has no channel %s; remove the field",
			channel);
	if (strlen(meta_name(apptype)) > PACKAGE_NAME_BYTES_MAX)
		return arena_fmt(a, "metadata.name: a package in place has at most %d characters",
				 PACKAGE_NAME_BYTES_MAX);
	return inplace_package_problem(obj_get(apptype, "spec"), a);
}
