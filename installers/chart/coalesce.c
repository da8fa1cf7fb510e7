/*
 * Coalescing: the values of a user over the defaults of a chart and of all charts below it, with
 * Helm's rules for nulls, globals and shared maps (charts.md 4).
 */
#include <string.h>

#include "installers/chart/chart.h"
#include "installers/chart/coalesce.h"
#include "installers/chart/values.h"
#include "installers/value/print.h"

static struct vmap *copy_map(struct coalesce *k, const struct vmap *m, int depth);

/* NOLINTBEGIN(misc-no-recursion): at most VALUES_DEPTH_MAX deep; chart.c bounds the charts in
 * charts */
static struct value copy_value(struct coalesce *k, struct value v, int depth)
{
	if (v.type == VALUE_MAP)
		return value_map(copy_map(k, v.map, depth + 1));
	if (v.type != VALUE_LIST || !v.len || depth > VALUES_DEPTH_MAX)
		return v;
	struct value copy = value_list(k->a, VALUE_LIST, v.len);
	for (size_t i = 0; i < v.len; i++)
		copy.items[i] = copy_value(k, v.items[i], depth + 1);
	return copy;
}

static struct vmap *copy_map(struct coalesce *k, const struct vmap *m, int depth)
{
	struct vmap *copy = vmap_clone(k->a, m);
	for (size_t i = 0; i < copy->n && depth <= VALUES_DEPTH_MAX; i++)
		copy->entries[i].value = copy_value(k, copy->entries[i].value, depth);
	return copy;
}

struct vmap *coalesce_copy(struct coalesce *k, const struct vmap *m)
{
	return m ? copy_map(k, m, 0) : vmap_new(k->a);
}

/* Profile 4.2 leaves the nulls of a chart's own defaults out. */
static void drop_nulls(struct vmap *m, int depth)
{
	for (size_t i = m->n; i-- > 0;) {
		struct value v = m->entries[i].value;
		if (v.type == VALUE_NIL)
			vmap_del(m, m->entries[i].key);
		else if (v.type == VALUE_MAP && depth < VALUES_DEPTH_MAX)
			drop_nulls(v.map, depth + 1);
	}
}

static bool is_table(const struct value *v)
{
	return v && value_is_anymap(*v);
}

static const char *path_of(struct coalesce *k, const char *prefix, struct str key)
{
	return *prefix ? arena_fmt(k->a, "%s.%.*s", prefix, STR_ARG(key))
		       : arena_fmt(k->a, "%.*s", STR_ARG(key));
}

/* Go's log.Printf, to which slog gives the level INFO. */
static void note(struct coalesce *k, const char *before, const char *text)
{
	warnings_add(k->w, "%s", text);
	warnings_log(k->w, "INFO", "%s%s", before, text);
}

/* The same with a value of the charts, which only the line has. */
static void note_value(struct coalesce *k, const char *text, struct value v)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(WARNING_BYTES_MAX);
	if (!k->w)
		return;
	print_sprintf(&b, STR("%v"), &v, 1, TMPL_PROFILE_4_1);
	warnings_add(k->w, "%s", text);
	warnings_log(k->w, "INFO", "warning: %s (%.*s)", text, STR_ARG(strbuf_str(&b)));
}

/* dst wins. Without keep_nulls a null of dst removes the key, where src has it and not null. */
void coalesce_tables(struct coalesce *k, struct vmap *dst, const struct vmap *src,
		     const char *prefix, bool keep_nulls, int depth)
{
	for (size_t i = 0; src && i < src->n && depth < VALUES_DEPTH_MAX; i++) {
		struct str key = src->entries[i].key;
		struct value v = src->entries[i].value, *old = vmap_get(dst, key);
		if (!old) {
			if (v.type != VALUE_NIL || keep_nulls || !k->drop_nulls)
				vmap_set(dst, key, v);
		} else if (old->type == VALUE_NIL) {
			if (!keep_nulls && v.type != VALUE_NIL)
				vmap_del(dst, key);
		} else if (is_table(&v) && is_table(old)) {
			coalesce_tables(k, old->map, v.map, path_of(k, prefix, key), keep_nulls,
					depth + 1);
		} else if (is_table(&v)) {
			note_value(k,
				   arena_fmt(k->a, "cannot overwrite table with non table for %s",
					     path_of(k, prefix, key)),
				   v);
		} else if (is_table(old) && v.type != VALUE_NIL) {
			note_value(k,
				   arena_fmt(k->a,
					     "destination for %s is a table. Ignoring non-table "
					     "value",
					     path_of(k, prefix, key)),
				   v);
		}
	}
}
/* NOLINTEND(misc-no-recursion) */

static bool is_child(const struct chart *c, struct str key)
{
	for (size_t i = 0; i < c->n_charts; i++)
		if (str_eq(c->charts[i]->meta.name, key))
			return true;
	return false;
}

/* The chart's own defaults under dst. */
static void coalesce_defaults(struct coalesce *k, const struct chart *c, struct vmap *dst,
			      const char *prefix)
{
	struct vmap *src = coalesce_copy(k, c->values);
	const char *here = path_of(k, prefix, c->meta.name);
	if (k->drop_nulls && !k->merge)
		drop_nulls(src, 0);
	for (size_t i = 0; i < src->n; i++) {
		struct str key = src->entries[i].key;
		struct value v = src->entries[i].value, *old = vmap_get(dst, key);
		if (!old)
			vmap_set(dst, key, v);
		else if (old->type == VALUE_NIL && !k->merge)
			vmap_del(dst, key);
		else if (is_table(old) && is_table(&v))
			coalesce_tables(k, old->map, v.map, path_of(k, here, key),
					k->merge || is_child(c, key), 0);
		else if (is_table(old) && v.type != VALUE_NIL)
			note(k, "warning: ",
			     arena_fmt(k->a, "skipped value for %s.%.*s: Not a table.", here,
				       STR_ARG(key)));
	}
}

/* The globals of src into those of dst; the maps in them are copied one level deep. */
static void coalesce_globals(struct coalesce *k, struct vmap *dst, struct vmap *src,
			     const char *prefix)
{
	struct value *dg = vmap_getc(dst, "global"), *sg = vmap_getc(src, "global");
	if (dg && !is_table(dg)) {
		note(k, "warning: ", "skipping globals because destination global is not a table.");
		return;
	}
	if (sg && !is_table(sg)) {
		note(k, "warning: ", "skipping globals because source global is not a table.");
		return;
	}
	struct vmap *to = dg ? dg->map : vmap_new(k->a);
	const struct vmap *from = sg ? sg->map : NULL;
	for (size_t i = 0; i < vmap_count(from); i++) {
		struct str key = from->entries[i].key;
		struct value v = from->entries[i].value, *old = vmap_get(to, key);
		if (!is_table(&v)) {
			if (is_table(old))
				note(k, "",
				     arena_fmt(k->a, "key %.*s is table. Skipping", STR_ARG(key)));
			else
				vmap_set(to, key, v);
			continue;
		}
		if (old && !is_table(old)) {
			note(k, "Conflict: ",
			     arena_fmt(k->a,
				       "cannot merge map onto non-map for \"%.*s\". Skipping.",
				       STR_ARG(key)));
			continue;
		}
		struct vmap *own = vmap_clone(k->a, v.map);
		if (old)
			coalesce_tables(k, own, old->map, path_of(k, prefix, key), true, 0);
		vmap_set(to, key, value_map(own));
	}
	vmap_setc(dst, "global", value_map(to));
}

/* NOLINTBEGIN(misc-no-recursion): at most VALUES_DEPTH_MAX deep; chart.c bounds the charts in
 * charts */
static int coalesce_charts(struct coalesce *k, const struct chart *c, struct vmap *dst,
			   const char *prefix, struct strbuf *msg);

int coalesce_chart(struct coalesce *k, const struct chart *c, struct vmap *dst, const char *prefix,
		   struct strbuf *msg)
{
	coalesce_defaults(k, c, dst, prefix);
	return coalesce_charts(k, c, dst, prefix, msg);
}

static int coalesce_charts(struct coalesce *k, const struct chart *c, struct vmap *dst,
			   const char *prefix, struct strbuf *msg)
{
	const char *here = path_of(k, prefix, c->meta.name);
	for (size_t i = 0; i < c->n_charts; i++) {
		const struct chart *child = c->charts[i];
		struct value *v = vmap_get(dst, child->meta.name);
		if (v && !is_table(v)) {
			strbuf_addf(msg, "type mismatch on %.*s: ", STR_ARG(child->meta.name));
			print_sprintf(msg, STR("%t"), v, 1, TMPL_PROFILE_4_1);
			return -E_INVALID;
		}
		struct vmap *m = v ? v->map : vmap_new(k->a);
		if (!v)
			vmap_set(dst, child->meta.name, value_map(m));
		coalesce_globals(k, m, dst, here);
		int rc = coalesce_chart(k, child, m, here, msg);
		if (rc < 0)
			return rc;
	}
	return 0;
}
/* NOLINTEND(misc-no-recursion) */

int values_coalesce(struct arena *a, const struct chart *c, const struct vmap *user,
		    enum tmpl_profile profile, struct warnings *w, struct vmap **ret,
		    struct strbuf *msg)
{
	struct coalesce k = {.a = a, .w = w, .drop_nulls = profile == TMPL_PROFILE_4_2};
	*ret = coalesce_copy(&k, user);
	return coalesce_chart(&k, c, *ret, "", msg);
}
