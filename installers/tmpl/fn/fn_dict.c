/* fn_dict: maps. set, unset and the merges change their first map, and every alias sees it. */

#include "installers/tmpl/cast.h"
#include "installers/tmpl/tmpl.h"

static int fail_nil_map(struct tmpl_run *run)
{
	return tmpl_fail(run, "assignment to entry in nil map");
}

/* Keys that come from a string value live as long as the arena; others were made in it. */
static int fn_dict(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	struct arena *a = tmpl_arena(run);
	struct vmap *m = vmap_new_sized(a, (n + 1) / 2);
	for (size_t i = 0; i < n; i += 2) {
		struct str key = value_string(a, args[i]);
		vmap_set(m, key, i + 1 < n ? args[i + 1] : value_str(STR("")));
	}
	*ret = value_map(m);
	return 0;
}

static int fn_get(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)run;
	(void)n;
	const struct value *v = vmap_get(args[0].map, value_text(args[1]));
	*ret = v ? *v : value_str(STR(""));
	return 0;
}

static int fn_set(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	if (!args[0].map)
		return fail_nil_map(run);
	vmap_set(args[0].map, value_text(args[1]), args[2]);
	*ret = value_map(args[0].map);
	return 0;
}

static int fn_unset(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)run;
	(void)n;
	if (args[0].map)
		vmap_del(args[0].map, value_text(args[1]));
	*ret = value_map(args[0].map);
	return 0;
}

static int fn_has_key(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)run;
	(void)n;
	*ret = value_bool(vmap_get(args[0].map, value_text(args[1])) != NULL);
	return 0;
}

static int fn_pluck(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	*ret = value_list(tmpl_arena(run), VALUE_LIST, n);
	size_t kept = 0;
	for (size_t i = 1; i < n; i++) {
		const struct value *v = vmap_get(args[i].map, value_text(args[0]));
		if (v)
			ret->items[kept++] = *v;
	}
	ret->len = (uint32_t)kept;
	return 0;
}

static int fn_keys(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	size_t total = 0;
	for (size_t i = 0; i < n; i++)
		total += vmap_count(args[i].map);
	int r = tmpl_want_list(run, total);
	if (r < 0)
		return r;
	*ret = value_list(tmpl_arena(run), VALUE_STRINGS, total);
	size_t k = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < vmap_count(args[i].map); j++)
			ret->items[k++] = value_str(args[i].map->entries[j].key);
	}
	return 0;
}

static int fn_values(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	size_t count = vmap_count(args[0].map);
	*ret = value_list(tmpl_arena(run), VALUE_LIST, count);
	for (size_t i = 0; i < count; i++)
		ret->items[i] = args[0].map->entries[i].value;
	return tmpl_want_steps(run, count / 16);
}

static int fn_pick(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	struct vmap *m = vmap_new_sized(tmpl_arena(run), n - 1);
	for (size_t i = 1; i < n; i++) {
		const struct value *v = vmap_get(args[0].map, value_text(args[i]));
		if (v)
			vmap_set(m, value_text(args[i]), *v);
	}
	*ret = value_map(m);
	return 0;
}

static int fn_omit(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	struct vmap *m = vmap_clone(tmpl_arena(run), args[0].map);
	for (size_t i = 1; i < n; i++)
		vmap_del(m, value_text(args[i]));
	*ret = value_map(m);
	return tmpl_want_steps(run, m->n / 16);
}

/* ---- merge ---- */
struct merge {
	struct tmpl_run *run;
	bool overwrite;
};

static int merge_maps(struct merge *m, struct vmap *dst, const struct vmap *src, int depth);

/* NOLINTBEGIN(misc-no-recursion): merge_maps() bounds the depth by VALUE_DEPTH_MAX */
/* What one key of the source does to the destination: mergo's rules, which sprig relies on. */
static int merge_entry(struct merge *m, struct vmap *dst, struct str key, struct value src,
		       int depth)
{
	const struct value *found = vmap_get(dst, key);
	struct value old = found ? *found : VALUE_NONE;
	if (src.type == VALUE_NIL) {
		if (m->overwrite)
			vmap_set(dst, key, src);
		return 0;
	}
	if (value_is_map(src) && value_is_map(old) && old.map) {
		int r = merge_maps(m, old.map, src.map, depth + 1);
		if (r < 0)
			return r;
	}
	bool slice = value_is_list(src) || src.type == VALUE_BYTES;
	if (slice && m->overwrite)
		vmap_set(dst, key, src);
	if (found && !value_is_empty(old)) {
		if (slice || (value_is_map(src) && value_is_map(old)))
			return 0;
		if (!m->overwrite)
			return 0;
	}
	vmap_set(dst, key, src);
	return 0;
}

static int merge_maps(struct merge *m, struct vmap *dst, const struct vmap *src, int depth)
{
	if (depth > VALUE_DEPTH_MAX)
		return tmpl_over(m->run, "levels of maps to merge", VALUE_DEPTH_MAX);
	int r = tmpl_want_steps(m->run, vmap_count(src) / 4 + 1);
	for (size_t i = 0; r == 0 && i < vmap_count(src); i++)
		r = merge_entry(m, dst, src->entries[i].key, src->entries[i].value, depth);
	return r;
}
/* NOLINTEND(misc-no-recursion) */

static int merge_all(struct tmpl_run *run, bool overwrite, const struct value *args, size_t n,
		     struct value *ret)
{
	struct merge m = {run, overwrite};
	struct vmap *dst = args[0].map ? args[0].map : vmap_new(tmpl_arena(run));
	for (size_t i = 1; i < n; i++) {
		int r = merge_maps(&m, dst, args[i].map, 0);
		if (r < 0)
			return r;
	}
	*ret = value_map(dst);
	return 0;
}

static int fn_merge(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	return merge_all(run, false, args, n, ret);
}

static int fn_merge_overwrite(struct tmpl_run *run, const struct value *args, size_t n,
			      struct value *ret)
{
	return merge_all(run, true, args, n, ret);
}

/* ---- dig, deepCopy ---- */
static int fail_conversion(struct tmpl_run *run, struct value v, const char *want)
{
	if (v.type == VALUE_NIL)
		return tmpl_fail(run, "interface conversion: interface {} is nil, not %s", want);
	return tmpl_fail(run, "interface conversion: interface {} is %s, not %s",
			 value_type_name(v, tmpl_run_profile(run)), want);
}

static int fn_dig(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	const char *map_type = "map[string]interface {}";
	if (n < 3)
		return tmpl_fail(run, "dig needs at least three arguments");
	struct value v = args[n - 1];
	if (v.type != VALUE_MAP)
		return fail_conversion(run, v, map_type);
	for (size_t i = 0; i + 2 < n; i++) {
		if (args[i].type != VALUE_STRING)
			return fail_conversion(run, args[i], "string");
	}
	for (size_t i = 0; i + 2 < n; i++) {
		if (v.type != VALUE_MAP)
			return fail_conversion(run, v, map_type);
		const struct value *step = vmap_get(v.map, value_text(args[i]));
		if (!step) {
			*ret = args[n - 2];
			return 0;
		}
		v = *step;
	}
	*ret = v;
	return 0;
}

static int fn_deep_copy(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	struct error err = ERROR_INIT;
	if (args[0].type == VALUE_NIL)
		return tmpl_fail(run, "reflect: call of reflect.Value.Type on zero Value");
	int r = value_copy(tmpl_arena(run), args[0], ret, &err);
	return r < 0 ? tmpl_over(run, "levels of values to copy", VALUE_DEPTH_MAX) : 0;
}

/* clang-format off */
const struct tmpl_func tmpl_fn_dict[] = {
	{"dict", "v*:m", fn_dict, 0},
	{"get", "ms:v", fn_get, 0},
	{"set", "msv:m", fn_set, 0},
	{"unset", "ms:m", fn_unset, 0},
	{"hasKey", "ms:b", fn_has_key, 0},
	{"pluck", "sm*:A", fn_pluck, 0},
	{"keys", "m*:S", fn_keys, 0},
	{"values", "m:A", fn_values, 0},
	{"pick", "ms*:m", fn_pick, 0},
	{"omit", "ms*:m", fn_omit, 0},
	{"merge", "mm*:v", fn_merge, 0},
	{"mustMerge", "mm*:v", fn_merge, 0},
	{"mergeOverwrite", "mm*:v", fn_merge_overwrite, 0},
	{"mustMergeOverwrite", "mm*:v", fn_merge_overwrite, 0},
	{"dig", "v*:v", fn_dig, 0},
	{"deepCopy", "v:v", fn_deep_copy, 0},
	{"mustDeepCopy", "v:v", fn_deep_copy, 0},
	{0},
};
/* clang-format on */
