/* texts: see texts.h. */
#include "alm/apiserver/texts.h"

#define KEY_SHOWN_MAX 256 /* of a key in a path */

/* What the server reads as C strings. NULL is every group, every plural; skip: a key whose value is
 * data again. To add a kind whose texts the server compares: a row. */
static const struct {
	const char *group, *plural, *path, *skip;
} rows[] = {
	{NULL, NULL, "metadata", NULL},
	{NULL, NULL, "spec.selector", NULL},
	{"rbac.authorization.k8s.io", NULL, "rules", NULL},
	{"rbac.authorization.k8s.io", NULL, "subjects", NULL},
	{"rbac.authorization.k8s.io", NULL, "roleRef", NULL},
	{"rbac.authorization.k8s.io", NULL, "aggregationRule", NULL},
	{"apiextensions.k8s.io", NULL, "spec", "openAPIV3Schema"},
	{"apiextensions.k8s.io", NULL, "status", NULL},
	{"", "secrets", "type", NULL},
	{"", "namespaces", "spec", NULL},
	{"", "events", "involvedObject", NULL},
	{"events.k8s.io", "events", "regarding", NULL},
	{"app.coreos.com", NULL, "spec", NULL},
	{"opinstaller.coreos.com", NULL, "spec", NULL},
};

/* The path from o to the first fault below it, "" for o itself; NULL: none. It is put together on
 * the way back, so that what is well costs no text. */
/* NOLINTNEXTLINE(misc-no-recursion): OBJ_DEPTH_MAX deep */
static const char *find(const struct obj *o, const char *skip, struct arena *arena)
{
	const char *rest;
	if (obj_type(o) == OBJ_STRING)
		return str_find_char(obj_as_str(o), '\0') >= 0 ? "" : NULL;
	for (size_t i = 0; obj_type(o) == OBJ_LIST && i < obj_len(o); i++) {
		rest = find(obj_at(o, i), skip, arena);
		if (rest)
			return arena_fmt(arena, "[%zu]%s", i, rest);
	}
	if (obj_type(o) != OBJ_MAP)
		return NULL;
	OBJ_EACH (it, o) {
		rest = skip && cstr_eq(it.key, skip) ? NULL : find(it.value, skip, arena);
		if (rest)
			return arena_fmt(arena, ".%.*s%s", KEY_SHOWN_MAX, it.key, rest);
	}
	return NULL;
}

const char *texts_fault_anywhere(const struct obj *o, struct arena *arena)
{
	const char *rest = find(o, NULL, arena);
	return rest && *rest == '.' ? rest + 1 : rest;
}

static bool applies(const char *want, const char *have)
{
	return !want || cstr_eq(want, have);
}

const char *texts_fault(const struct kind *k, const struct obj *o, struct arena *arena)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (!applies(rows[i].group, k->group) || !applies(rows[i].plural, k->plural))
			continue;
		const char *rest = find(obj_path(o, rows[i].path), rows[i].skip, arena);
		if (rest)
			return arena_fmt(arena, "%s%s", rows[i].path, rest);
	}
	return NULL;
}
