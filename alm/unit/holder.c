#include "alm/unit/holder.h"

#include <string.h>

#include "alm/obj/json.h"

#define STEPS_MAX 64 /* of a path */

const char *holder_word(enum holder h)
{
	static const char *const words[HOLDERS] = {"git",        "alm",        "person",
						   "autoscaler", "controller", "kubernetes"};
	return words[h];
}

/* --- who a manager is --- */

static bool begins(const char *manager, const char *const *list)
{
	for (; *list; list++)
		if (cstr_has_prefix(manager, *list))
			return true;
	return false;
}

static enum holder who(const char *manager, const char *subresource)
{
	static const char *const people[] = {"kubectl", "alm-cli", "helm", "k9s",
					     "Helm",    "Mozilla", "curl", NULL};
	static const char *const kubernetes[] = {"kube-", "kubelet", "cloud-controller-manager",
						 "alm-simulator", NULL}; /* the last in its place */
	static const char *const scalers[] = {"horizontal-pod-autoscaler", "keda", "vpa-",
					      "cluster-autoscaler", NULL};
	if (cstr_has_prefix(manager, "alm:") && !cstr_has_prefix(manager, "alm:cli:"))
		return HOLDER_GIT;
	if (cstr_eq(manager, "alm") || cstr_has_prefix(manager, "alm:cli:"))
		return HOLDER_ALM;
	if (begins(manager, people))
		return HOLDER_PERSON;
	if (begins(manager, scalers) || cstr_eq(subresource, "scale"))
		return HOLDER_AUTOSCALER;
	return begins(manager, kubernetes) ? HOLDER_KUBERNETES : HOLDER_CONTROLLER;
}

/* --- which fields a manager has --- */

/* "a", "[0]" or "['a.b']" at the front of *rest. false: it is no path. */
static bool next_step(struct str *rest, struct str *ret_name, bool *ret_index)
{
	struct str s = *rest;
	*ret_index = false;
	if (str_has_prefix(s, STR(".")))
		s = str_skip(s, 1);
	if (!str_has_prefix(s, STR("["))) {
		size_t n = 0;
		while (n < s.len && s.ptr[n] != '.' && s.ptr[n] != '[')
			n++;
		*ret_name = str_sub(s, 0, n);
		*rest = str_skip(s, n);
		return n > 0;
	}
	ptrdiff_t end = str_find_char(s, ']');
	bool quoted = s.len > 3 && (s.ptr[1] == '\'' || s.ptr[1] == '"');
	if (quoted) { /* a key may have brackets of its own */
		const char close[] = {s.ptr[1], ']', 0};
		end = str_find(str_skip(s, 2), str_of(close));
		end = end < 0 ? end : end + 3;
	}
	if (end < 2)
		return false;
	*ret_name = quoted ? str_sub(s, 2, (size_t)end - 3) : str_sub(s, 1, (size_t)end - 1);
	*ret_index = !quoted;
	*rest = str_skip(s, (size_t)end + 1);
	return true;
}

/* Is it the item of `k:{"name":"c"}`, `v:"x"` or `i:0`? */
static bool is_item(const char *key, const struct obj *item, uint64_t index, struct arena *a)
{
	struct error ignored = ERROR_INIT;
	struct obj *want = NULL;
	if (cstr_has_prefix(key, "i:"))
		return cstr_eq(key + 2, arena_fmt(a, "%llu", (unsigned long long)index));
	if ((!cstr_has_prefix(key, "k:") && !cstr_has_prefix(key, "v:")) ||
	    json_parse(str_of(key + 2), &want, &ignored) < 0)
		return false;
	obj_keep(a, want);
	if (key[0] == 'v')
		return obj_equal(want, item);
	OBJ_EACH (it, want)
		if (!obj_equal(it.value, obj_get(item, it.key)))
			return false;
	return true;
}

static const struct obj *item_fields(const struct obj *fields, const struct obj *item,
				     uint64_t index, struct arena *a)
{
	OBJ_EACH (it, fields)
		if (is_item(it.key, item, index, a))
			return it.value;
	return NULL;
}

/* Has the set of fields this one, or all of what it is in? A set that ends above it has that as a whole. */
static bool has(const struct obj *fields, const struct obj *live, const char *path, struct arena *a)
{
	struct str rest = str_of(path), name;
	bool is_index, first = true;
	for (int i = 0; i < STEPS_MAX && rest.len; i++) {
		uint64_t index = 0;
		if (!obj_len(fields) && !first)
			return true;
		if (!next_step(&rest, &name, &is_index))
			return false;
		if (is_index && !str_parse_u64(name, &index))
			return false;
		const char *member = arena_fmt(a, "f:%.*s", STR_ARG(name));
		live = is_index ? obj_at(live, (size_t)index) : obj_get(live, member + 2);
		fields = is_index ? item_fields(fields, live, index, a) : obj_get(fields, member);
		if (!fields)
			return false;
		first = false;
	}
	return !rest.len;
}

enum holder holder_of(const struct obj *live, const char *path, struct arena *a,
		      const char **ret_manager)
{
	const struct obj *entries = obj_path(live, "metadata.managedFields"), *last = NULL;
	*ret_manager = NULL;
	for (size_t i = 0; i < obj_len(entries); i++) {
		const struct obj *e = obj_at(entries, i);
		const char *time = obj_str(e, "time"), *newest = obj_str(last, "time");
		if (!obj_str(e, "manager") || !has(obj_get(e, "fieldsV1"), live, path, a))
			continue;
		if (!last || (time && newest && strcmp(time, newest) >= 0))
			last = e;
	}
	if (!last)
		return HOLDER_KUBERNETES;
	*ret_manager = arena_strdup(a, obj_str(last, "manager"));
	return who(*ret_manager, obj_str(last, "subresource"));
}

/* --- all of them --- */

struct walk {
	const struct obj *live, *ours; /* ours: its fields; NULL: nobody's */
	const char *manager;
	struct arena *a;
	struct holder_field *list;
	size_t n;
};

static void add_field(struct walk *w, const char *path)
{
	const char *manager;
	if (w->n >= HOLDER_FIELDS_MAX)
		return;
	enum holder h = holder_of(w->live, path, w->a, &manager);
	if (cstr_eq(manager, w->manager)) /* of several the one who wrote last */
		w->list[w->n++] = (struct holder_field){
			path, h, manager, w->ours && has(w->ours, w->live, path, w->a)};
}

static const char *path_of(const struct walk *w, const char *path, const char *member)
{
	if (strpbrk(member, ".[\"/"))
		return arena_fmt(w->a, "%s[\"%s\"]", path, member);
	return *path ? arena_fmt(w->a, "%s.%s", path, member) : arena_strdup(w->a, member);
}

static bool is_leaf(const struct obj *fields)
{
	return obj_len(fields) == 0 || (obj_len(fields) == 1 && obj_has(fields, "."));
}

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static void walk_fields(struct walk *w, const struct obj *fields, const struct obj *live,
			const char *path)
{
	OBJ_EACH (it, fields) {
		const struct obj *child = NULL;
		const char *to = NULL;
		if (!*path && cstr_eq(it.key, "f:status"))
			continue;
		if (cstr_has_prefix(it.key, "f:") && obj_has(live, it.key + 2)) {
			child = obj_get(live, it.key + 2);
			to = path_of(w, path, it.key + 2);
		}
		for (size_t i = 0; !to && obj_type(live) == OBJ_LIST && i < obj_len(live); i++)
			if (is_item(it.key, obj_at(live, i), i, w->a)) {
				child = obj_at(live, i);
				to = arena_fmt(w->a, "%s[%zu]", path, i);
			}
		if (to && is_leaf(it.value))
			add_field(w, to);
		else if (to)
			walk_fields(w, it.value, child, to);
	}
}
/* NOLINTEND(misc-no-recursion) */

size_t holder_fields(const struct obj *live, const char *ours, struct arena *a,
		     struct holder_field **ret)
{
	const struct obj *entries = obj_path(live, "metadata.managedFields");
	struct walk w = {.live = live, .a = a};
	w.list = ARENA_ARRAY(a, struct holder_field, HOLDER_FIELDS_MAX);
	for (size_t i = 0; ours && i < obj_len(entries); i++)
		if (cstr_eq(obj_str(obj_at(entries, i), "manager"), ours))
			w.ours = obj_get(obj_at(entries, i), "fieldsV1");
	for (size_t i = 0; i < obj_len(entries); i++) {
		const struct obj *e = obj_at(entries, i);
		w.manager = obj_str(e, "manager");
		if (w.manager && !cstr_eq(obj_str(e, "subresource"), "status"))
			walk_fields(&w, obj_get(e, "fieldsV1"), live, "");
	}
	*ret = w.list;
	return w.n;
}
