/*
 * crd_check: what a version of a definition says beside its schema: columns and subresources, in
 * the words of apiextensions validation. What all versions have in common is reported under spec,
 * as the real server's internal form has it there.
 */
#include "alm/apiserver/kinds/crd.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/obj/field_error.h"
#include "alm/obj/gvk.h"

/* Is it a path, as far as is said of columns and subresources alike? */
static bool check_is_path(struct field_errors *e, const char *at, const char *path)
{
	if (!*path)
		check_required(e, at, NULL);
	else if (*path != '.')
		check_invalid_text(e, at, path, "must be a simple json path starting with .");
	return *path == '.';
}

static void check_column(const struct obj *column, const char *at, struct field_errors *e)
{
	static const char *const types[] = {"boolean", "date", "integer", "number", "string", NULL};
	static const char *const formats[] = {"byte",  "date",  "date-time", "double", "float",
					      "int32", "int64", "password",  NULL};
	static const char one_type[] = "must be one of boolean,date,integer,number,string";
	const char *type = check_text(column, "type"), *format = check_text(column, "format");
	const char *path = check_text(column, "jsonPath"), *type_at = check_below(e, at, "type");
	if (check_is_empty(column, "name"))
		check_required(e, check_below(e, at, "name"), NULL);
	if (!*type)
		check_required(e, type_at, one_type);
	else if (!cstr_in(type, types))
		check_invalid_text(e, type_at, type, one_type);
	if (*format && !cstr_in(format, formats))
		check_invalid_text(
			e, check_below(e, at, "format"), format,
			"must be one of byte,date,date-time,double,float,int32,int64,password");
	check_is_path(e, check_below(e, at, "JSONPath"), path);
}

void crd_check_columns(const struct obj *version, const char *at, struct field_errors *e)
{
	const struct obj *columns = obj_get(version, "additionalPrinterColumns");
	at = check_below(e, at, "additionalPrinterColumns");
	for (size_t i = 0; i < obj_len(columns) && !field_errors_full(e); i++)
		check_column(obj_at(columns, i), check_at(e, at, i), e);
}

bool crd_has_converter(const struct obj *o)
{
	return cstr_eq(obj_str(o, "spec.conversion.strategy"), "Webhook");
}

bool crd_path_is_in(const char *path, const char *field)
{
	size_t n = strlen(field);
	return path && path[0] == '.' && strncmp(path + 1, field, n) == 0 && path[1 + n] == '.';
}

static void check_path(struct field_errors *e, const char *at, const char *path, const char *field)
{
	if (check_is_path(e, at, path) && !crd_path_is_in(path, field))
		check_invalid_text(e, at, path,
				   arena_fmt(e->arena, "should be a json path under .%s", field));
}

void crd_check_scale(const struct obj *version, const char *at, struct field_errors *e)
{
	const struct obj *scale = obj_path(version, "subresources.scale");
	if (obj_type(scale) != OBJ_MAP)
		return;
	at = check_below(e, at, "subresources.scale");
	check_path(e, check_below(e, at, "specReplicasPath"), check_text(scale, "specReplicasPath"),
		   "spec");
	check_path(e, check_below(e, at, "statusReplicasPath"),
		   check_text(scale, "statusReplicasPath"), "status");
	const char *selector = check_text(scale, "labelSelectorPath");
	at = check_below(e, at, "labelSelectorPath");
	if (*selector && check_is_path(e, at, selector) && !crd_path_is_in(selector, "spec") &&
	    !crd_path_is_in(selector, "status"))
		check_invalid_text(e, at, selector,
				   "should be a json path under either .spec or .status");
}

static void refuse_root(struct field_errors *e, const char *at, const struct obj *s)
{
	check_invalid(e, at, s,
		      "only [Description Type Format Title Maximum ExclusiveMaximum Minimum "
		      "ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems "
		      "MultipleOf Required Items Properties ExternalDocs Example "
		      "XPreserveUnknownFields XValidations] fields are allowed at the root of the "
		      "schema if the status subresource is enabled");
}

void crd_check_root(const struct obj *s, const char *at, struct field_errors *e)
{
	static const char *const early[] = {"id", "$schema"};
	static const char *const never[] = {"default",
					    "enum",
					    "maxProperties",
					    "minProperties",
					    "allOf",
					    "oneOf",
					    "anyOf",
					    "not",
					    "additionalProperties",
					    "patternProperties",
					    "dependencies",
					    "additionalItems",
					    "definitions",
					    "x-kubernetes-list-map-keys",
					    "x-kubernetes-list-type",
					    "x-kubernetes-map-type"};
	static const char *const flags[] = {"nullable", "x-kubernetes-embedded-resource",
					    "x-kubernetes-int-or-string"};
	const char *type = check_text(s, "type");
	bool found = obj_is_set(obj_get(s, "$ref"));
	for (size_t i = 0; i < ARRAY_LEN(early); i++)
		found |= !check_is_empty(s, early[i]);
	if (!found && *type && strcmp(type, "object") != 0) {
		check_invalid_text(e, check_below(e, at, "type"), type,
				   "only \"object\" is allowed as the type at the root of the "
				   "schema if the status subresource is enabled");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(never); i++)
		found |= obj_is_set(obj_get(s, never[i]));
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		found |= obj_flag(s, flags[i], false);
	if (found)
		refuse_root(e, at, s);
}

/* Is it one, if it is there? */
static void check_name(struct field_errors *e, const char *path, const struct obj *names,
		       const char *member, bool is_mixed)
{
	const char *name = check_text(names, member);
	char *lower = arena_strdup(e->arena, name);
	for (char *p = lower; is_mixed && *p; p++)
		*p = char_lower(*p);
	const char *fault = *name ? name_fault(NAME_DNS1035_LABEL, str_of(lower)) : NULL;
	if (fault && is_mixed)
		fault = arena_fmt(e->arena, "may have mixed case, but should otherwise match: %s",
				  fault);
	if (fault)
		check_invalid_text(e, check_below(e, path, member), name, fault);
}

static void check_name_list(const struct obj *names, const char *path, const char *member,
			    struct field_errors *e)
{
	const struct obj *list = obj_get(names, member);
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *name = obj_as_string(obj_at(list, i));
		const char *fault = name_fault(NAME_DNS1035_LABEL, str_of(name ? name : ""));
		if (fault)
			check_invalid_text(e, check_at(e, check_below(e, path, member), i),
					   name ? name : "", fault);
	}
}

void crd_check_names(const struct obj *names, const char *path, struct field_errors *e)
{
	const char *kind = check_text(names, "kind");
	check_name(e, path, names, "plural", false);
	check_name(e, path, names, "singular", false);
	check_name(e, path, names, "kind", true);
	check_name(e, path, names, "listKind", true);
	check_name_list(names, path, "shortNames", e);
	if (*kind && strcmp(kind, check_text(names, "listKind")) == 0)
		check_invalid_text(e, check_below(e, path, "listKind"), kind,
				   "kind and listKind may not be the same");
	check_name_list(names, path, "categories", e);
}
