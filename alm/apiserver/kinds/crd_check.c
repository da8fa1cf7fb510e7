/*
 * crd_check: what a version of a definition says beside its schema: columns and subresources, in
 * the words of apiextensions validation. What all versions have in common is reported under spec,
 * as the real server's internal form has it there.
 */
#include "alm/apiserver/kinds/crd.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/base/strbuf.h"
#include "alm/obj/field_error.h"
#include "alm/obj/gvk.h"

#define PATH_BYTES_MAX ((size_t)64 << 10)

static const char *text_at(const struct obj *o, const char *member)
{
	const char *s = obj_as_string(obj_get(o, member));
	return s ? s : "";
}

static void check_column(const struct obj *column, const char *at, struct arena *a,
			 struct field_errors *e)
{
	static const char *const types[] = {"boolean", "date", "integer", "number", "string", NULL};
	static const char *const formats[] = {"byte",  "date",  "date-time", "double", "float",
					      "int32", "int64", "password",  NULL};
	const char *type = text_at(column, "type"), *format = text_at(column, "format");
	const char *path = text_at(column, "jsonPath");
	if (!*text_at(column, "name"))
		field_errors_add(e, FIELD_REQUIRED, arena_fmt(a, "%s.name", at), "Required value");
	if (!*type)
		field_errors_add(
			e, FIELD_REQUIRED, arena_fmt(a, "%s.type", at),
			"Required value: must be one of boolean,date,integer,number,string");
	else if (!cstr_in(type, types))
		field_errors_add(e, FIELD_INVALID, arena_fmt(a, "%s.type", at),
				 "Invalid value: \"%s\": must be one of "
				 "boolean,date,integer,number,string",
				 type);
	if (*format && !cstr_in(format, formats))
		field_errors_add(e, FIELD_INVALID, arena_fmt(a, "%s.format", at),
				 "Invalid value: \"%s\": must be one of "
				 "byte,date,date-time,double,float,int32,int64,password",
				 format);
	if (!*path)
		field_errors_add(e, FIELD_REQUIRED, arena_fmt(a, "%s.JSONPath", at),
				 "Required value");
	else if (*path != '.')
		field_errors_add(
			e, FIELD_INVALID, arena_fmt(a, "%s.JSONPath", at),
			"Invalid value: \"%s\": must be a simple json path starting with .", path);
}

void crd_check_columns(const struct obj *version, const char *at, struct field_errors *e)
{
	const struct obj *columns = obj_get(version, "additionalPrinterColumns");
	for (size_t i = 0; i < obj_len(columns) && !field_errors_full(e); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(PATH_BYTES_MAX);
		check_column(obj_at(columns, i),
			     arena_fmt(a, "%s.additionalPrinterColumns[%zu]", at, i), a, e);
	}
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

static void check_path(const char *path, const char *at, const char *field, struct field_errors *e)
{
	if (!*path)
		field_errors_add(e, FIELD_REQUIRED, at, "Required value");
	else if (*path != '.')
		field_errors_add(
			e, FIELD_INVALID, at,
			"Invalid value: \"%s\": must be a simple json path starting with .", path);
	else if (!crd_path_is_in(path, field))
		field_errors_add(e, FIELD_INVALID, at,
				 "Invalid value: \"%s\": should be a json path under .%s", path,
				 field);
}

void crd_check_scale(const struct obj *version, const char *at, struct field_errors *e)
{
	const struct obj *scale = obj_path(version, "subresources.scale");
	if (obj_type(scale) != OBJ_MAP)
		return;
	CLEANUP(arena_freep) struct arena *a = arena_new(PATH_BYTES_MAX);
	at = arena_fmt(a, "%s.subresources.scale", at);
	check_path(text_at(scale, "specReplicasPath"), arena_fmt(a, "%s.specReplicasPath", at),
		   "spec", e);
	check_path(text_at(scale, "statusReplicasPath"), arena_fmt(a, "%s.statusReplicasPath", at),
		   "status", e);
	const char *selector = text_at(scale, "labelSelectorPath");
	if (!*selector || crd_path_is_in(selector, "spec") || crd_path_is_in(selector, "status"))
		return;
	field_errors_add(e, FIELD_INVALID, arena_fmt(a, "%s.labelSelectorPath", at),
			 "Invalid value: \"%s\": %s", selector,
			 *selector == '.' ? "should be a json path under either .spec or .status"
					  : "must be a simple json path starting with .");
}

/* Is it one, if it is there? */
static void check_name(const char *field, const char *name, bool is_mixed, struct field_errors *e)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	if (!name || !*name)
		return;
	char *lower = arena_strdup(a, name);
	for (char *p = lower; is_mixed && *p; p++)
		*p = char_lower(*p);
	const char *fault = name_fault(NAME_DNS1035_LABEL, str_of(lower));
	if (fault && is_mixed)
		fault = arena_fmt(e->arena, "may have mixed case, but should otherwise match: %s",
				  fault);
	if (fault)
		check_invalid_text(e, field, name, fault);
}

static void check_name_list(const struct obj *names, const char *path, const char *member,
			    struct field_errors *e)
{
	const struct obj *list = obj_get(names, member);
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
		const char *at = arena_fmt(a, "%s.%s[%zu]", path, member, i);
		const char *name = obj_as_string(obj_at(list, i));
		if (name && *name)
			check_name(at, name, false, e);
		else
			check_invalid_text(e, at, "", name_fault(NAME_DNS1035_LABEL, STR("")));
	}
}

void crd_check_names(const struct obj *names, const char *path, struct field_errors *e)
{
	const char *kind = obj_str(names, "kind"), *list = obj_str(names, "listKind");
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	check_name(arena_fmt(a, "%s.plural", path), obj_str(names, "plural"), false, e);
	check_name(arena_fmt(a, "%s.singular", path), obj_str(names, "singular"), false, e);
	check_name(arena_fmt(a, "%s.kind", path), kind, true, e);
	check_name(arena_fmt(a, "%s.listKind", path), list, true, e);
	check_name_list(names, path, "shortNames", e);
	if (kind && *kind && cstr_eq(kind, list))
		field_errors_add(e, FIELD_INVALID, arena_fmt(a, "%s.listKind", path),
				 "Invalid value: \"%s\": kind and listKind may not be the same",
				 list);
	check_name_list(names, path, "categories", e);
}
