#include "alm/controllers/fleet/bundle_ignore.h"

#include "alm/obj/meta.h"
#include "alm/unit/theirs.h"

static int invalid(size_t i, const char *field, const char *what, struct error *err)
{
	return error_set(err, E_INVALID, "spec.ignore[%zu]%s%s: %s", i, *field ? "." : "", field,
			 what);
}

static int check_path(const char *kind, const char *path, struct error *err)
{
	if (theirs_check(path, err) < 0)
		return -err->code;
	if (cstr_eq(kind, "Secret") && theirs_begins(path, "stringData"))
		return error_set(err, E_INVALID,
				 "\"%s\": a Secret has no stringData once it is stored; name its "
				 "data instead, as data[\"password\"]",
				 path);
	return 0;
}

static int check_paths(const struct obj *rule, size_t i, struct error *err)
{
	const struct obj *paths = obj_get(rule, "paths");
	if (obj_type(paths) != OBJ_LIST || !obj_len(paths) || obj_len(paths) > BUNDLE_IGNORE_MAX)
		return invalid(i, "paths", "1 to 64 of them are wanted", err);
	for (size_t k = 0; k < obj_len(paths); k++) {
		const char *path = obj_as_string(obj_at(paths, k));
		if (check_path(obj_str(rule, "kind"), path ? path : "", err) < 0)
			return error_wrap(err, "spec.ignore[%zu].paths[%zu]", i, k);
	}
	return 0;
}

static int check(const struct obj *rule, size_t i, struct error *err)
{
	const char *kind = obj_str(rule, "kind"), *name = obj_str(rule, "name");
	if (obj_type(rule) != OBJ_MAP || !kind || !*kind)
		return invalid(i, "kind", "it is missing", err);
	if (cstr_eq(kind, "CustomResourceDefinition"))
		return invalid(i, "kind",
			       "a definition is as it is declared, or custom resources "
			       "lose fields; remove this entry",
			       err);
	if (obj_has(rule, "name") && !(name && *name))
		return invalid(i, "name",
			       "the name of an object is wanted; without it all of the "
			       "kind are meant",
			       err);
	return check_paths(rule, i, err);
}

int bundle_ignore_check(const struct obj *bundle, struct error *err)
{
	const struct obj *rules = obj_path(bundle, "spec.ignore");
	if (rules && (obj_type(rules) != OBJ_LIST || obj_len(rules) > BUNDLE_IGNORE_MAX))
		return error_set(err, E_INVALID, "spec.ignore: at most %d entries are wanted",
				 BUNDLE_IGNORE_MAX);
	for (size_t i = 0; i < obj_len(rules); i++)
		if (check(obj_at(rules, i), i, err) < 0)
			return -err->code;
	return 0;
}

static void add(struct flat *flat, struct flat_object *x, const struct obj *rule)
{
	const char *name = obj_str(rule, "name");
	const struct obj *paths = obj_get(rule, "paths");
	if (!cstr_eq(obj_str(rule, "kind"), meta_kind(x->object)) ||
	    (name && !cstr_eq(name, meta_name(x->object))))
		return;
	if (!x->ignore)
		x->ignore = obj_keep(flat->a, obj_list());
	for (size_t i = 0; i < obj_len(paths); i++)
		obj_append(x->ignore, obj_ref(obj_at(paths, i)));
}

void bundle_ignore_set(const struct obj *rules, struct flat *flat)
{
	for (size_t i = 0; i < obj_len(rules); i++)
		for (size_t k = 0; k < flat->n; k++)
			add(flat, &flat->objects[k], obj_at(rules, i));
}
