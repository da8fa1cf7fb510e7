#include "installers/chart/chart.h"

#include <stdint.h>
#include <string.h>

#include "alm/base/map.h"
#include "installers/chart/values.h"
#include "installers/value/msg.h"

static int load(struct arena *a, const struct archive_files *files, struct archive_budget *budget,
		enum tmpl_profile profile, unsigned depth, struct chart **ret, struct strbuf *msg);

/* Puts text before what stands in msg from mark on. */
static int wrap(struct strbuf *msg, size_t mark, const char *text, int rc)
{
	strbuf_insert(msg, mark, str_of(text));
	return rc;
}

static void push(struct arena *a, struct archive_files *files, const char *path, struct str data)
{
	ARENA_GROW(a, files->items, files->cap, files->n, 16);
	files->items[files->n++] = (struct archive_file){path, data};
}

static int load_meta(struct arena *a, struct chart *c, const struct archive_file *f,
		     struct strbuf *msg)
{
	size_t mark = msg->len;
	int rc = chart_read_meta(a, f->data, &c->meta, msg);
	if (rc < 0)
		return wrap(msg, mark,
			    strcmp(f->path, "Chart.yaml") ? "cannot load requirements.yaml: "
							  : "cannot load Chart.yaml: ",
			    rc);
	if (!c->meta.api_version.len)
		c->meta.api_version = STR("v1");
	return 0;
}

static int load_values(struct arena *a, struct chart *c, struct str text, enum tmpl_profile profile,
		       struct strbuf *msg)
{
	size_t mark = msg->len;
	int rc = values_read(a, text, profile, &c->values, msg);
	return rc < 0 ? wrap(msg, mark, "cannot load values.yaml: ", rc) : 0;
}

/* One file to its part, by its path. Files below charts/ are left to load_charts(). */
static int load_file(struct arena *a, struct chart *c, const struct archive_file *f,
		     enum tmpl_profile profile, struct strbuf *msg)
{
	const char *path = f->path;
	bool v1 = str_is(c->meta.api_version, "v1");
	if (!strcmp(path, "Chart.yaml"))
		return 0;
	if (!strcmp(path, "Chart.lock")) {
		c->lock = f->data;
		return 0;
	}
	if (!strcmp(path, "values.yaml"))
		return load_values(a, c, f->data, profile, msg);
	if (!strcmp(path, "values.schema.json")) {
		c->schema = f->data;
		return 0;
	}
	if (!strcmp(path, "requirements.yaml")) {
		int rc = load_meta(a, c, f, msg);
		if (rc < 0)
			return rc;
		c->has_requirements = !v1;
	} else if (!strcmp(path, "requirements.lock")) {
		c->lock = f->data;
		c->has_requirements_lock = !v1;
	} else if (cstr_has_prefix(path, "templates/")) {
		push(a, &c->templates, path, f->data);
		return 0;
	} else if (cstr_has_prefix(path, "charts/") && !cstr_has_suffix(path, ".prov")) {
		return 0;
	} else {
		v1 = true;
	}
	if (v1)
		push(a, &c->files, path, f->data);
	return 0;
}

/* ---- subcharts ---- */

/* The array has room. */
static void adopt(struct chart *parent, struct chart *child)
{
	parent->charts[parent->n_charts++] = child;
	child->parent = parent;
}

static struct str first_part(const char *path)
{
	struct str head, rest;
	str_cut(str_of(path), '/', &head, &rest);
	return head;
}

/* NOLINTBEGIN(misc-no-recursion): load() bounds the charts in charts by limits.path_components */
static int load_nested_archive(struct arena *a, struct str packed, struct archive_budget *budget,
			       enum tmpl_profile profile, unsigned depth, struct chart **ret,
			       struct strbuf *msg)
{
	struct error err = ERROR_INIT;
	struct archive_files files;
	budget->depth++;
	int rc = archive_read(a, packed, budget, &files, &err);
	if (rc < 0)
		strbuf_adds(msg, err.msg);
	else
		rc = load(a, &files, budget, profile, depth, ret, msg);
	budget->depth--;
	return rc;
}
/* NOLINTEND(misc-no-recursion) */

/* What belongs to one name directly below charts/: files with the paths inside of it, and, if the
 * name is itself a file, that. */
struct part {
	struct str name;
	struct archive_files files;
	const struct archive_file *plain;
};

struct parts {
	struct part *items;
	size_t n, cap;
	struct map *by_name;
};

static struct part *part_of(struct arena *a, struct parts *p, struct str name)
{
	const char *key = arena_text(a, name.ptr, name.len);
	if (map_has(p->by_name, key))
		return &p->items[map_number(p->by_name, key)];
	ARENA_GROW(a, p->items, p->cap, p->n, 16);
	map_set_number(p->by_name, key, p->n);
	p->items[p->n].name = name;
	return &p->items[p->n++];
}

/* One pass over the files, in the order of their first appearance. */
static void split_parts(struct arena *a, const struct archive_files *files, struct parts *p)
{
	struct part *last = NULL;
	for (size_t i = 0; i < files->n; i++) {
		const struct archive_file *f = &files->items[i];
		if (!cstr_has_prefix(f->path, "charts/") || cstr_has_suffix(f->path, ".prov"))
			continue;
		const char *path = f->path + strlen("charts/");
		struct str name = first_part(path);
		if (!name.len || name.ptr[0] == '_' || name.ptr[0] == '.')
			continue;
		if (!last || !str_eq(last->name, name))
			last = part_of(a, p, name);
		if (path[name.len] == '/')
			push(a, &last->files, path + name.len + 1, f->data);
		else
			last->plain = f;
	}
}

/* NOLINTBEGIN(misc-no-recursion): load() bounds the charts in charts by limits.path_components */
static int load_part(struct arena *a, struct chart *c, const struct part *part,
		     struct archive_budget *budget, enum tmpl_profile profile, unsigned depth,
		     struct strbuf *msg)
{
	struct chart *child = NULL;
	size_t mark = msg->len;
	int rc;
	if (!str_has_suffix(part->name, STR(".tgz"))) {
		rc = load(a, &part->files, budget, profile, depth, &child, msg);
	} else if (part->plain) {
		rc = load_nested_archive(a, part->plain->data, budget, profile, depth, &child, msg);
	} else {
		strbuf_addf(msg, "error unpacking subchart tar in %.*s: %.*s is a folder",
			    STR_ARG(c->meta.name), STR_ARG(part->name));
		return -E_INVALID;
	}
	if (rc < 0)
		return wrap(msg, mark,
			    arena_fmt(a, "error unpacking subchart %.*s in %.*s: ",
				      STR_ARG(part->name), STR_ARG(c->meta.name)),
			    rc);
	adopt(c, child);
	return 0;
}

static int load_charts(struct arena *a, struct chart *c, const struct archive_files *files,
		       struct archive_budget *budget, enum tmpl_profile profile, unsigned depth,
		       struct strbuf *msg)
{
	CLEANUP(map_freep) struct map *by_name = map_new(NULL);
	struct parts p = {.by_name = by_name};
	int rc = 0;
	split_parts(a, files, &p);
	c->charts = ARENA_ARRAY(a, struct chart *, p.n + 1);
	for (size_t i = 0; rc == 0 && i < p.n; i++)
		rc = load_part(a, c, &p.items[i], budget, profile, depth + 1, msg);
	return rc;
}

/* Helm 4 asks the root chart only: before anything else of it, but it has a loader for v3, and
 * refuses what that has loaded. */
static int check_api_version(const struct chart *c, enum tmpl_profile profile, bool loaded,
			     struct strbuf *msg)
{
	struct str v = c->meta.api_version;
	if (profile == TMPL_PROFILE_3 || !v.len || str_is(v, "v1") || str_is(v, "v2") ||
	    str_is(v, "v3") != loaded)
		return 0;
	return msg_fail(msg, loaded ? "invalid chart apiVersion" : "unsupported chart version");
}

static int load(struct arena *a, const struct archive_files *files, struct archive_budget *budget,
		enum tmpl_profile profile, unsigned depth, struct chart **ret, struct strbuf *msg)
{
	struct chart *c = ARENA_NEW(a, struct chart);
	const struct archive_file *meta = archive_find(files, "Chart.yaml");
	if (depth > budget->limits->path_components)
		return msg_fail(msg, "charts are nested too deep");
	if (meta && load_meta(a, c, meta, msg) < 0)
		return -E_INVALID;
	if (depth == 0 && check_api_version(c, profile, false, msg) < 0)
		return -E_INVALID;
	if (!meta && !archive_find(files, "requirements.yaml"))
		return msg_fail(msg, "Chart.yaml file is missing");
	for (size_t i = 0; i < files->n; i++) {
		int rc = load_file(a, c, &files->items[i], profile, msg);
		if (rc < 0)
			return rc;
	}
	if (!meta)
		return msg_fail(msg, "Chart.yaml file is missing");
	if (chart_check_meta(a, &c->meta, msg) < 0)
		return -E_INVALID;
	int rc = load_charts(a, c, files, budget, profile, depth, msg);
	if (rc == 0 && depth == 0)
		rc = check_api_version(c, profile, true, msg);
	if (rc == 0)
		*ret = c;
	return rc;
}
/* NOLINTEND(misc-no-recursion) */

int chart_load(struct arena *a, const struct archive_files *files, struct archive_budget *budget,
	       enum tmpl_profile profile, struct chart **ret, struct strbuf *msg)
{
	return load(a, files, budget, profile, 0, ret, msg);
}

int chart_open(struct arena *a, struct str archive, const struct chart_limits *limits,
	       enum tmpl_profile profile, struct chart **ret, struct strbuf *msg)
{
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(limits);
	struct archive_files files;
	struct error err = ERROR_INIT;
	int rc = archive_read(a, archive, &budget, &files, &err);
	if (rc < 0) {
		strbuf_adds(msg, err.msg);
		return rc;
	}
	return chart_load(a, &files, &budget, profile, ret, msg);
}

/* ---- questions ---- */

static bool has_chart(const struct chart *c, struct str name)
{
	for (size_t i = 0; i < c->n_charts; i++)
		if (str_eq(c->charts[i]->meta.name, name))
			return true;
	return false;
}

int chart_check_installable(const struct chart *c, struct strbuf *msg)
{
	bool missing = false;
	if (c->meta.type.len && !str_is(c->meta.type, "application")) {
		strbuf_addf(msg, "%.*s charts are not installable", STR_ARG(c->meta.type));
		return -E_INVALID;
	}
	for (size_t i = 0; i < c->meta.n_dependencies; i++) {
		struct str name = c->meta.dependencies[i].name;
		if (has_chart(c, name))
			continue;
		if (!missing)
			strbuf_adds(msg,
				    "an error occurred while checking for chart dependencies. You "
				    "may need to run `helm dependency build` to fetch missing "
				    "dependencies: found in Chart.yaml, but missing in charts/ "
				    "directory: ");
		strbuf_addf(msg, "%s%.*s", missing ? ", " : "", STR_ARG(name));
		missing = true;
	}
	return missing ? -E_INVALID : 0;
}

/* NOLINTBEGIN(misc-no-recursion): load() bounds the charts in charts by limits.path_components */
static void add_path(struct strbuf *b, const struct chart *c)
{
	if (c->parent) {
		add_path(b, c->parent);
		strbuf_adds(b, "/charts/");
	}
	strbuf_addstr(b, c->meta.name);
}

struct str chart_path(struct arena *a, const struct chart *c)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	add_path(&b, c);
	return str_n(arena_text(a, b.buf, b.len), b.len);
}

struct chart *chart_clone(struct arena *a, const struct chart *c)
{
	struct chart *copy = arena_memdup(a, c, sizeof(*c));
	if (c->meta.n_dependencies)
		copy->meta.dependencies =
			arena_memdup(a, c->meta.dependencies,
				     c->meta.n_dependencies * sizeof(*c->meta.dependencies));
	copy->charts = ARENA_ARRAY(a, struct chart *, c->n_charts + 1);
	copy->n_charts = 0;
	for (size_t i = 0; i < c->n_charts; i++) {
		struct chart *child = chart_clone(a, c->charts[i]);
		adopt(copy, child);
		for (size_t k = 0; k < child->n_charts; k++)
			child->charts[k]->parent = c->charts[i];
	}
	return copy;
}
/* NOLINTEND(misc-no-recursion) */
