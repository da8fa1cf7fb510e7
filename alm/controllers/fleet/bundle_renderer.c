#include "alm/controllers/fleet/bundle_renderer.h"

#include "alm/base/str.h"
#include "alm/source/imports.h"

static int invalid(const char *field, const char *what, struct error *err)
{
	return error_set(err, E_INVALID, "%s: %s", field, what);
}

/* "lib/web", without ".." and names that are left out of a tree. */
static int read_place(const char *text, const char *field, struct arena *a, const char **ret,
		      struct error *err)
{
	struct str rest = str_of(text ? text : ""), part;
	if (!text || !*text || *text == '/' || rest.len > IMPORT_PATH_MAX)
		return invalid(field, "a path from spec.source.git.path on is wanted, as lib/web",
			       err);
	while (str_next(&rest, '/', &part))
		if (str_has_prefix(part, STR(".")) && !str_is(part, "."))
			return error_set(err, E_INVALID,
					 "%s: %.200s: \"..\" is not followed, and names that begin "
					 "with a dot are left out of the tree",
					 field, text);
	*ret = import_normal(a, text);
	return 0;
}

static int read_jpath(const struct obj *list, struct arena *a, struct bundle_renderer *r,
		      struct error *err)
{
	size_t n = obj_len(list);
	const char **folders = ARENA_ARRAY(a, const char *, n + 1);
	if (obj_type(list) != OBJ_LIST || n > IMPORT_JPATH_MAX)
		return error_set(err, E_INVALID,
				 "spec.renderer.jpath: a list of at most %d folders is wanted",
				 IMPORT_JPATH_MAX);
	for (size_t i = 0; i < n; i++) {
		const char *field = arena_fmt(a, "spec.renderer.jpath[%zu]", i);
		if (read_place(obj_as_string(obj_at(list, i)), field, a, &folders[i], err) < 0)
			return -err->code;
		if (!*folders[i])
			folders[i] = "."; /* the tree itself */
	}
	r->jpath = folders;
	r->n_jpath = n;
	return 0;
}

static int check_ext(const struct obj *ext, struct error *err)
{
	if (obj_type(ext) != OBJ_MAP)
		return invalid("spec.renderer.extStr", "{NAME: TEXT} is wanted", err);
	OBJ_EACH (it, ext)
		if (!obj_as_string(it.value))
			return error_set(err, E_INVALID,
					 "spec.renderer.extStr.%.100s: a text is wanted", it.key);
	return 0;
}

/* What lies on ALM's machine is of whoever runs it, and not of whoever may write a Bundle. */
static int read_from(const struct obj *o, struct arena *a, struct bundle_renderer *r,
		     struct error *err)
{
	const struct obj *list = obj_path(o, BUNDLE_CONFIG_FROM);
	if (!list)
		return 0;
	if (config_from_parse(list, BUNDLE_CONFIG_FROM, a, &r->from, err) < 0)
		return -err->code;
	for (size_t i = 0; i < r->from.n; i++)
		if (r->from.items[i].type > FROM_RESOURCE)
			return error_set(
				err, E_INVALID,
				BUNDLE_CONFIG_FROM
				"[%zu]: want configMap, secret or resource; a file is imported "
				"out of the tree, and databases are read by alm run alone",
				i);
	return 0;
}

static int read_jsonnet(const struct obj *o, struct arena *a, struct bundle_renderer *r,
			struct error *err)
{
	static const char entrypoint[] = "spec.renderer.entrypoint";
	const struct obj *jpath = obj_path(o, "spec.renderer.jpath");
	r->ext_str = obj_path(o, "spec.renderer.extStr");
	r->values = obj_path(o, "spec.config.values");
	if (!obj_path(o, entrypoint))
		return invalid(entrypoint, "it is missing: the file to evaluate", err);
	if (read_place(obj_str(o, entrypoint), entrypoint, a, &r->entrypoint, err) < 0 ||
	    (jpath && read_jpath(jpath, a, r, err) < 0) ||
	    (r->ext_str && check_ext(r->ext_str, err) < 0))
		return -err->code;
	if (r->values && obj_type(r->values) != OBJ_MAP)
		return invalid("spec.config.values", "a map is wanted", err);
	if (read_from(o, a, r, err) < 0)
		return -err->code;
	if (obj_len(obj_path(o, "spec.instances")))
		return invalid("spec.instances",
			       "they are folders of manifests, and renderer jsonnet reads none; "
			       "remove them, or make one Bundle of each",
			       err);
	return 0;
}

/* What would have no effect is a mistake. */
static int check_files(const struct obj *o, struct error *err)
{
	static const char *const others[] = {"spec.renderer.entrypoint", "spec.renderer.jpath",
					     "spec.renderer.extStr", "spec.config"};
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (obj_path(o, others[i]))
			return invalid(others[i],
				       "manifests take none; remove it, or set "
				       "spec.renderer.type: jsonnet",
				       err);
	return 0;
}

static int check_unbuilt(const struct obj *o, struct error *err)
{
	static const char decrypt[] = "spec.renderer.decrypt";
	return obj_path(o, decrypt)
		       ? invalid(decrypt,
				 "this is not built yet: nothing is applied while it is there; "
				 "remove it, and do not count on it",
				 err)
		       : 0;
}

int bundle_renderer_read(const struct obj *o, struct arena *a, struct bundle_renderer *ret,
			 struct error *err)
{
	const char *type = obj_str(o, "spec.renderer.type");
	*ret = (struct bundle_renderer){0};
	if (check_unbuilt(o, err) < 0)
		return -err->code;
	if (cstr_eq(type, "jsonnet"))
		return read_jsonnet(o, a, ret, err);
	if (cstr_eq(type, "file") || !obj_path(o, "spec.renderer.type"))
		return check_files(o, err);
	return invalid("spec.renderer.type",
		       "want file or jsonnet; programs renderer-NAME are run by alm run alone",
		       err);
}
