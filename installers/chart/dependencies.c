/* Which subcharts take part: versions, alias, tags, conditions; and import-values. */
#include <string.h>

#include "catalog/semver.h"
#include "installers/chart/chart.h"
#include "installers/chart/coalesce.h"
#include "installers/chart/values.h"

struct walk {
	struct arena *a;
	struct warnings *w;
	enum tmpl_profile profile;
	struct strbuf *msg;
};

static bool in_range(struct walk *k, struct str range, struct str version)
{
	struct error err = ERROR_INIT;
	struct version v;
	struct range r;
	return version_parse(version, VERSION_LOOSE, &v, &err) >= 0 &&
	       range_parse(range, k->a, &r, &err) >= 0 && range_matches(&r, &v);
}

static bool fits(struct walk *k, const struct chart_dependency *d, const struct chart *c)
{
	return str_eq(c->meta.name, d->name) && in_range(k, d->version, c->meta.version);
}

static bool is_listed(struct walk *k, const struct chart *c, const struct chart *child)
{
	for (size_t i = 0; i < c->meta.n_dependencies; i++)
		if (fits(k, &c->meta.dependencies[i], child))
			return true;
	return false;
}

static struct chart *clone_for(struct walk *k, const struct chart *c,
			       const struct chart_dependency *d)
{
	for (size_t i = 0; i < c->n_charts; i++) {
		if (!fits(k, d, c->charts[i]))
			continue;
		struct chart *copy = chart_clone(k->a, c->charts[i]);
		if (d->alias.len)
			copy->meta.name = d->alias;
		return copy;
	}
	return NULL;
}

/* Unlisted charts first, then a copy for each entry in the order of Chart.yaml. */
static void take_listed(struct walk *k, struct chart *c)
{
	size_t n = 0;
	struct chart **charts =
		ARENA_ARRAY(k->a, struct chart *, c->n_charts + c->meta.n_dependencies + 1);
	for (size_t i = 0; i < c->n_charts; i++)
		if (!is_listed(k, c, c->charts[i]))
			charts[n++] = c->charts[i];
	for (size_t i = 0; i < c->meta.n_dependencies; i++) {
		struct chart_dependency *d = &c->meta.dependencies[i];
		struct chart *copy = clone_for(k, c, d);
		if (copy)
			charts[n++] = copy;
		if (d->alias.len)
			d->name = d->alias;
		d->enabled = true;
	}
	c->charts = charts;
	c->n_charts = n;
}

static void warn_no_bool(struct walk *k, const char *what, struct str where,
			 const struct chart_dependency *d)
{
	warnings_add(k->w, "%s '%.*s' for chart %.*s returned non-bool value",
		     str_is(str_of(what), "path") ? "condition path" : what, STR_ARG(where),
		     STR_ARG(d->name));
	warnings_log(k->w, "WARN", "returned non-bool value");
	warnings_attr(k->w, what, where);
	warnings_attr(k->w, "chart", d->name);
}

static void apply_tags(struct walk *k, struct chart_dependency *d, struct vmap *values)
{
	const struct vmap *tags = values_table(values, STR("tags"));
	bool has_true = false, has_false = false;
	for (size_t i = 0; tags && i < d->tags.len; i++) {
		struct str tag = value_text(d->tags.items[i]);
		const struct value *v = vmap_get(tags, tag);
		if (v && v->type != VALUE_BOOL)
			warn_no_bool(k, "tag", tag, d);
		has_true |= v && v->type == VALUE_BOOL && v->b;
		has_false |= v && v->type == VALUE_BOOL && !v->b;
	}
	if (tags)
		d->enabled = has_true || !has_false;
}

/* The value at a path that is no table; NULL otherwise. */
static const struct value *path_value(struct vmap *values, struct str path)
{
	struct str table, key;
	if (!str_rcut(path, '.', &table, &key))
		key = path;
	else
		values = values_table(values, table);
	const struct value *v = vmap_get(values, key);
	return v && !value_is_anymap(*v) ? v : NULL;
}

static void apply_condition(struct walk *k, struct chart_dependency *d, struct vmap *values,
			    const char *prefix)
{
	struct str rest = str_trim(d->condition), part;
	while (str_next(&rest, ',', &part)) {
		if (!part.len)
			continue;
		const char *path = arena_fmt(k->a, "%s%.*s", prefix, STR_ARG(part));
		const struct value *v = path_value(values, str_of(path));
		if (!v)
			continue;
		if (v->type == VALUE_BOOL) {
			d->enabled = v->b;
			return;
		}
		warn_no_bool(k, "path", part, d);
	}
}

static bool is_disabled(const struct chart_meta *m, struct str name)
{
	for (size_t i = 0; i < m->n_dependencies; i++)
		if (!m->dependencies[i].enabled && str_eq(m->dependencies[i].name, name))
			return true;
	return false;
}

static void drop_disabled(struct walk *k, struct chart *c)
{
	struct chart_dependency *left =
		ARENA_ARRAY(k->a, struct chart_dependency, c->meta.n_dependencies + 1);
	size_t n = 0;
	for (size_t i = 0; i < c->n_charts; i++)
		if (!is_disabled(&c->meta, c->charts[i]->meta.name))
			c->charts[n++] = c->charts[i];
	c->n_charts = n;
	n = 0;
	for (size_t i = 0; i < c->meta.n_dependencies; i++)
		if (!is_disabled(&c->meta, c->meta.dependencies[i].name))
			left[n++] = c->meta.dependencies[i];
	c->meta.dependencies = left;
	c->meta.n_dependencies = n;
}

/* NOLINTBEGIN(misc-no-recursion): at most VALUES_DEPTH_MAX deep; chart.c bounds the charts in
 * charts */
/* values is of the root, coalesced with the defaults of every chart on the way down. */
static int enable(struct walk *k, struct chart *c, const struct vmap *values, const char *prefix)
{
	struct vmap *seen;
	if (!c->meta.has_dependencies)
		return 0;
	take_listed(k, c);
	int rc = values_coalesce(k->a, c, values, k->profile, k->w, &seen, k->msg);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < c->meta.n_dependencies; i++)
		apply_tags(k, &c->meta.dependencies[i], seen);
	for (size_t i = 0; i < c->meta.n_dependencies; i++)
		apply_condition(k, &c->meta.dependencies[i], seen, prefix);
	drop_disabled(k, c);
	for (size_t i = 0; i < c->n_charts; i++)
		c->charts[i]->parent = c;
	for (size_t i = 0; rc == 0 && i < c->n_charts; i++)
		rc = enable(k, c->charts[i], seen,
			    arena_fmt(k->a, "%s%.*s.", prefix, STR_ARG(c->charts[i]->meta.name)));
	c->meta.has_dependencies = c->meta.n_dependencies > 0;
	return rc;
}

/* ---- import-values ---- */

static struct value pair(struct walk *k, struct str child, struct str parent)
{
	struct vmap *m = vmap_new(k->a);
	vmap_setc(m, "child", value_str(child));
	vmap_setc(m, "parent", value_str(parent));
	return value_map_as(m, VALUE_STRMAP);
}

/* {a: {b: table}} for "a.b"; the table itself for ".". */
static struct vmap *below(struct walk *k, struct str path, struct vmap *table)
{
	struct str head, last;
	if (str_is(path, "."))
		return table;
	for (bool more = true; more;) {
		more = str_rcut(path, '.', &head, &last);
		struct vmap *m = vmap_new(k->a);
		vmap_set(m, more ? last : path, value_map(table));
		table = m;
		path = head;
	}
	return table;
}

static struct str member_text(struct walk *k, const struct vmap *m, const char *name)
{
	const struct value *v = vmap_getc(m, name);
	return value_string(k->a, v ? *v : VALUE_NONE);
}

/* Helm's merge writes the nulls of the upper map into the lower one, which is a live part of the
 * chart's values: an import leaves traces in the table of a later one. */
static void write_nulls(const struct vmap *upper, struct vmap *lower, int depth)
{
	for (size_t i = 0; i < upper->n && depth < VALUES_DEPTH_MAX; i++) {
		struct value v = upper->entries[i].value;
		const struct value *old = vmap_get(lower, upper->entries[i].key);
		if (v.type == VALUE_NIL)
			vmap_set(lower, upper->entries[i].key, v);
		else if (v.type == VALUE_MAP && old && old->type == VALUE_MAP && old->map != v.map)
			write_nulls(v.map, old->map, depth + 1);
	}
}

/* The line names the first part of the path that is no table. */
static void warn_no_table(struct walk *k, const struct chart_dependency *d, struct vmap *values,
			  const char *path, bool is_short)
{
	struct str rest = str_of(path), part = STR("");
	while (values && str_next(&rest, '.', &part)) {
		const struct value *v = vmap_get(values, part);
		values = v && value_is_anymap(*v) ? v->map : NULL;
	}
	warnings_add(k->w, "ImportValues missing table from chart %.*s: \"%s\"", STR_ARG(d->name),
		     path);
	warnings_log(k->w, "WARN", "ImportValues missing table%s", is_short ? "" : " from chart");
	if (!is_short)
		warnings_attr(k->w, "chart", d->name);
	warnings_attr(k->w, "error",
		      str_of(arena_fmt(k->a, "\"%.*s\" is not a table", STR_ARG(part))));
}

/* False: neither a map nor a string, which Helm drops. */
static bool import_one(struct walk *k, const struct chart_dependency *d, struct value *entry,
		       struct vmap *values, struct vmap *into)
{
	struct coalesce co = {.a = k->a, .w = k->w, .merge = true};
	struct str child, parent = STR(".");
	bool is_short = entry->type == VALUE_STRING;
	if (entry->type == VALUE_MAP) {
		child = member_text(k, entry->map, "child");
		parent = member_text(k, entry->map, "parent");
	} else if (is_short) {
		child = str_of(arena_fmt(k->a, "exports.%.*s", STR_ARG(value_text(*entry))));
	} else {
		return false;
	}
	*entry = pair(k, child, parent);
	const char *path = arena_fmt(k->a, "%.*s.%.*s", STR_ARG(d->name), STR_ARG(child));
	struct vmap *table = values_table(values, str_of(path));
	if (!table) {
		warn_no_table(k, d, values, path, is_short);
		return true;
	}
	/* An empty table is not the live one in Helm: nothing is left in it. */
	struct vmap *lower = below(k, parent, table->n ? table : vmap_new(k->a));
	write_nulls(into, lower, 0);
	coalesce_tables(&co, into, lower, "", true, 0);
	return true;
}

static int import_values(struct walk *k, struct chart *c)
{
	struct coalesce co = {.a = k->a, .w = k->w, .merge = true};
	for (size_t i = 0; i < c->n_charts; i++) {
		int rc = import_values(k, c->charts[i]);
		if (rc < 0)
			return rc;
	}
	if (!c->meta.has_dependencies)
		return 0;
	struct vmap *values = vmap_new(k->a), *imported = vmap_new(k->a);
	int rc = coalesce_chart(&co, c, values, "", k->msg);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < c->meta.n_dependencies; i++) {
		struct chart_dependency *d = &c->meta.dependencies[i];
		struct value list = d->import_values;
		if (list.len)
			d->import_values = value_list(k->a, VALUE_LIST, list.len);
		uint32_t kept = 0;
		for (size_t j = 0; j < list.len; j++) {
			struct value *entry = &d->import_values.items[kept];
			*entry = list.items[j];
			kept += import_one(k, d, entry, values, imported);
		}
		d->import_values.len = kept;
	}
	c->values = coalesce_copy(&co, values);
	coalesce_tables(&co, c->values, imported, "", true, 0);
	return 0;
}
/* NOLINTEND(misc-no-recursion) */

int values_process_dependencies(struct arena *a, struct chart *c, const struct vmap *user,
				enum tmpl_profile profile, struct warnings *w, struct strbuf *msg)
{
	struct walk k = {.a = a, .w = w, .profile = profile, .msg = msg};
	int rc = enable(&k, c, user, "");
	return rc < 0 ? rc : import_values(&k, c);
}
