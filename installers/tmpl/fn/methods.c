/* methods: what .Files.Get, .Capabilities.APIVersions.Has, time and version methods do. */
#include <string.h>

#include "installers/format/yaml_emit.h"
#include "installers/tmpl/fn/files.h"
#include "installers/tmpl/fn/fn_date.h"
#include "installers/tmpl/fn/semver.h"
#include "installers/tmpl/run.h"

/* ---- Values ---- */
static int values_as_map(struct tmpl_run *run, const struct value *args, size_t n,
			 struct value *ret)
{
	(void)n;
	*ret = value_map(args[0].map ? args[0].map : vmap_new(tmpl_arena(run)));
	return 0;
}

static int values_yaml(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(tmpl_run_limits(run)->string_bytes);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	if (yaml_emit(tmpl_arena(run), args[0], YAML_EMIT_HELM, &b, &msg) < 0)
		return tmpl_fail_str(run, strbuf_str(&msg));
	return tmpl_return(run, &b, ret);
}

/* A table below Values by a path with dots. */
static int values_table(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	struct str rest = value_text(args[1]), part;
	struct vmap *m = args[0].map;
	while (str_next(&rest, '.', &part)) {
		const struct value *v = vmap_get(m, part);
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		value_quote(&b, part);
		if (!v || (v->type == VALUE_NIL))
			return tmpl_fail(run, "%s is not a table", b.buf);
		if (!value_is_anymap(*v))
			return tmpl_fail(run, "%s is not a table", b.buf);
		m = v->map;
	}
	*ret = value_map_as(m, VALUE_VALUES);
	return 0;
}

static int values_path(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	struct str path = value_text(args[1]), parent, last;
	if (path.len == 0)
		return tmpl_fail(run, "YAML path cannot be empty");
	struct vmap *m = args[0].map;
	if (str_rcut(path, '.', &parent, &last)) {
		struct str part;
		while (m && str_next(&parent, '.', &part)) {
			const struct value *v = vmap_get(m, part);
			m = v && value_is_anymap(*v) ? v->map : NULL;
		}
	} else {
		last = path;
	}
	const struct value *v = vmap_get(m, last);
	if (!v || value_is_map(*v)) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_TEXT_MAX);
		value_quote(&b, last);
		strbuf_adds(&b, " is not a value");
		return tmpl_fail_str(run, strbuf_str(&b));
	}
	*ret = *v;
	return 0;
}

/* ---- APIVersions, KubeVersion ---- */
static int versions_has(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)run;
	(void)n;
	bool has = false;
	for (size_t i = 0; i < args[0].len && !has; i++)
		has = str_eq(value_text(args[0].items[i]), value_text(args[1]));
	*ret = value_bool(has);
	return 0;
}

static int kube_string(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)run;
	(void)n;
	*ret = value_str(args[0].st->type->string(args[0].st));
	return 0;
}

static int kube_git_version(struct tmpl_run *run, const struct value *args, size_t n,
			    struct value *ret)
{
	(void)run;
	(void)n;
	*ret = args[0].st->fields[0];
	return 0;
}

/* clang-format off */
static const struct tmpl_func values_methods[] = {
	{"AsMap", ":m", values_as_map, 0},
	{"YAML", ":s", values_yaml, 0},
	{"Encode", "w:v", values_as_map, 0}, /* never called: nothing is a writer */
	{"Table", "s:v", values_table, 0},
	{"PathValue", "s:v", values_path, 0},
	{0},
};
static const struct tmpl_func versions_methods[] = {
	{"Has", "s:b", versions_has, 0},
	{0},
};
static const struct tmpl_func kube_methods[] = {
	{"String", ":s", kube_string, 0},
	{"GitVersion", ":s", kube_git_version, 0},
	{0},
};
/* clang-format on */

static const struct tmpl_func *methods_of(struct value v)
{
	switch ((int)v.type) {
	case VALUE_VALUES:
		return values_methods;
	case VALUE_FILES:
		return files_methods;
	case VALUE_VERSIONS:
		return versions_methods;
	case VALUE_TIME:
		return date_time_methods;
	case VALUE_DURATION:
		return date_duration_methods;
	case VALUE_MONTH:
	case VALUE_WEEKDAY:
		return date_name_methods;
	case VALUE_SEMVER:
		return semver_methods;
	case VALUE_STRUCT:
		return v.st->type->string ? kube_methods : NULL;
	default:
		return NULL;
	}
}

const struct tmpl_func *value_method(struct value v, struct str name)
{
	const struct tmpl_func *m = methods_of(v);
	for (; m && m->name; m++) {
		if (name.len && name.ptr[0] == m->name[0] && str_is(name, m->name))
			return m;
	}
	return NULL;
}
