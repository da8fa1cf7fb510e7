/* Which files of a chart are its CRDs: decided here and nowhere else, by the rule of Helm's
 * Chart.CRDObjects(). */
#include <string.h>

#include "installers/chart/chart.h"

static bool has_extension(const char *path, const char *wanted)
{
	const char *dot = strrchr(path, '.');
	if (!dot || strchr(dot, '/') || strlen(dot) != strlen(wanted))
		return false;
	for (size_t i = 0; wanted[i]; i++)
		if (char_lower(dot[i]) != wanted[i])
			return false;
	return true;
}

bool chart_is_crd(const char *path)
{
	return cstr_has_prefix(path, "crds/") &&
	       (has_extension(path, ".yaml") || has_extension(path, ".yml") ||
		has_extension(path, ".json"));
}

/* A manifest that says it is a definition, in a file that is not one by its place. */
static bool speaks_of_crds(const struct archive_file *f)
{
	static const char kind[] = "kind:", wanted[] = "CustomResourceDefinition";
	struct str rest = f->data;
	ptrdiff_t at;
	if (has_extension(f->path, ".md"))
		return false;
	while ((at = str_find(rest, STR(wanted))) >= 0) {
		struct str before = str_sub(rest, 0, (size_t)at);
		while (before.len && strchr(" \t\"'", before.ptr[before.len - 1]))
			before.len--;
		if (str_has_suffix(before, STR(kind)))
			return true;
		rest = str_skip(rest, (size_t)at + strlen(wanted));
	}
	return false;
}

static void push(struct arena *a, struct archive_files *list, const char *path, struct str data)
{
	ARENA_GROW(a, list->items, list->cap, list->n, 8);
	list->items[list->n++] = (struct archive_file){path, data};
}

/* The path inside the innermost chart that is a folder; NULL: no chart has it. */
static const char *inside(const char *path)
{
	while (cstr_has_prefix(path, "charts/")) {
		const char *name = path + strlen("charts/"), *slash = strchr(name, '/');
		if (*name == '_' || *name == '.' || cstr_has_suffix(path, ".prov"))
			return NULL;
		if (!slash)
			return path;
		path = slash + 1;
	}
	return path;
}

/* NOLINTBEGIN(misc-no-recursion): archive_read() bounds archives in archives */
static int collect(struct arena *a, const struct archive_files *files,
		   struct archive_budget *budget, const char *where, struct chart_crds *ret,
		   struct error *err)
{
	for (size_t i = 0; i < files->n; i++) {
		const struct archive_file *f = &files->items[i];
		const char *path = inside(f->path);
		const char *name = *where ? arena_fmt(a, "%s:%s", where, f->path) : f->path;
		if (!path)
			continue;
		if (chart_is_crd(path)) {
			push(a, &ret->files, name, f->data);
		} else if (cstr_has_prefix(path, "charts/") && cstr_has_suffix(path, ".tgz")) {
			struct archive_files nested;
			budget->depth++;
			int rc = archive_read(a, f->data, budget, &nested, err);
			rc = rc < 0 ? error_wrap(err, "%s", name)
				    : collect(a, &nested, budget, name, ret, err);
			budget->depth--;
			if (rc < 0)
				return rc;
		} else {
			ret->in_templates = ret->in_templates || speaks_of_crds(f);
		}
	}
	return 0;
}
/* NOLINTEND(misc-no-recursion) */

int chart_crds(struct arena *a, const struct archive_files *files, struct archive_budget *budget,
	       struct chart_crds *ret, struct error *err)
{
	*ret = (struct chart_crds){0};
	return collect(a, files, budget, "", ret, err);
}
