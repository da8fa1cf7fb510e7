/*
 * patch_strategic: strategic merge patches (apimachinery pkg/util/strategicpatch, server side:
 * nulls delete, parallel lists merge). Which lists merge by which key is the caller's table.
 */
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/patch.h"

#define DIRECTIVE     "$patch"
#define RETAIN_KEYS   "$retainKeys"
#define ELEMENT_ORDER "$setElementOrder/"
#define DELETE_FROM   "$deleteFromPrimitiveList/"

#define PATH_BYTES_MAX 4096

struct merge {
	const char *kind;
	patch_merge_key_fn merge_key;
	struct strbuf path;
	struct error *err;
};

static bool is_directive(const char *key)
{
	return cstr_eq(key, DIRECTIVE) || cstr_eq(key, RETAIN_KEYS) ||
	       cstr_has_prefix(key, ELEMENT_ORDER) || cstr_has_prefix(key, DELETE_FROM);
}

static void push(struct merge *m, const char *key)
{
	strbuf_addf(&m->path, "%s%s", m->path.len ? "." : "", key);
}

/* Same element: by merge key, or equal when the list holds primitives (key ""). */
static bool same(const struct obj *a, const struct obj *b, const char *key)
{
	if (!*key)
		return obj_equal(a, b);
	const struct obj *x = obj_get(a, key), *y = obj_get(b, key);
	return x && y && obj_equal(x, y);
}

static size_t index_of(const struct obj *list, const struct obj *item, const char *key)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (same(obj_at(list, i), item, key))
			return i;
	return SIZE_MAX;
}

/* Elements of list that are (in) or are not in other, in the order of list. */
static struct obj *partition(const struct obj *list, const struct obj *other, const char *key,
			     bool in)
{
	struct obj *out = obj_list();
	for (size_t i = 0; i < obj_len(list); i++)
		if ((index_of(other, obj_at(list, i), key) != SIZE_MAX) == in)
			obj_append(out, obj_ref(obj_at(list, i)));
	return out;
}

/* list by the order its elements have in order; each of them is there. */
static struct obj *sorted_by(const struct obj *list, const struct obj *order, const char *key)
{
	struct obj *out = obj_list();
	for (size_t i = 0; i < obj_len(order); i++) {
		size_t at = index_of(list, obj_at(order, i), key);
		if (at != SIZE_MAX && index_of(out, obj_at(order, i), key) == SIZE_MAX)
			obj_append(out, obj_ref(obj_at(list, at)));
	}
	return out;
}

/*
 * The order of a merged list (design proposal "preserve order in strategic merge patch"): elements
 * the patch names keep the patch's order, the server's own keep theirs; a server element goes
 * before the next patch element that the live list has behind it.
 */
static struct obj *ordered(const struct obj *merged, const struct obj *order,
			   const struct obj *live, const char *key)
{
	CLEANUP(obj_unrefp) struct obj *named = partition(merged, order, key, true);
	CLEANUP(obj_unrefp) struct obj *right = sorted_by(named, order, key);
	CLEANUP(obj_unrefp) struct obj *left = partition(merged, order, key, false);
	struct obj *out = obj_list();
	size_t i = 0, j = 0;
	while (i < obj_len(left) || j < obj_len(right)) {
		const struct obj *l = obj_at(left, i), *r = obj_at(right, j);
		size_t li = l ? index_of(live, l, key) : SIZE_MAX;
		size_t ri = r ? index_of(live, r, key) : SIZE_MAX;
		bool take_left = !r || (l && li != SIZE_MAX && ri != SIZE_MAX && li < ri);
		obj_append(out, obj_ref(take_left ? l : r));
		i += take_left;
		j += !take_left;
	}
	return out;
}

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static int merge_maps(struct merge *m, struct obj *doc, const struct obj *patch);

/* What a patch value is where the document has nothing: without directives, and in maps without
 * nulls. */
static struct obj *plain(const struct obj *v)
{
	if (obj_type(v) == OBJ_LIST) {
		struct obj *list = obj_list();
		for (size_t i = 0; i < obj_len(v); i++) {
			const char *d = obj_as_string(obj_get(obj_at(v, i), DIRECTIVE));
			if (!d || (strcmp(d, "delete") != 0 && strcmp(d, "replace") != 0))
				obj_append(list, plain(obj_at(v, i)));
		}
		return list;
	}
	if (obj_type(v) != OBJ_MAP)
		return obj_copy(v);
	struct obj *map = obj_map();
	OBJ_EACH (it, v)
		if (!is_directive(it.key) && obj_type(it.value) != OBJ_NULL)
			obj_set(map, it.key, plain(it.value));
	return map;
}

static int key_missing(struct merge *m, const struct obj *item, const char *key)
{
	CLEANUP(xfreep) char *text = json_text(item);
	return error_set(m->err, E_BADREQUEST,
			 "map: %.200s does not contain declared merge key: %s", text, key);
}

/* Elements with $patch: delete and replace, done to list; the rest of patch goes to ret. */
static int take_special(struct merge *m, struct obj *list, const struct obj *patch, const char *key,
			struct obj *ret, bool *ret_replace)
{
	*ret_replace = false;
	for (size_t i = 0; i < obj_len(patch); i++) {
		const struct obj *item = obj_at(patch, i);
		const char *d = obj_as_string(obj_get(item, DIRECTIVE));
		if (!d) {
			obj_append(ret, obj_ref(item));
		} else if (strcmp(d, "delete") == 0) {
			if (!obj_has(item, key))
				return key_missing(m, item, key);
			for (size_t at; (at = index_of(list, item, key)) != SIZE_MAX;)
				obj_del_at(list, at);
		} else if (strcmp(d, "replace") == 0) {
			*ret_replace = true;
		} else {
			return error_set(m->err, E_BADREQUEST,
					 "merging list cannot yet be controlled by the patch: %s",
					 d);
		}
	}
	return 0;
}

static int merge_list_of_maps(struct merge *m, struct obj *list, const struct obj *patch,
			      const char *key)
{
	CLEANUP(obj_unrefp) struct obj *items = obj_list();
	bool whole;
	if (take_special(m, list, patch, key, items, &whole) < 0)
		return -m->err->code;
	while (whole && obj_len(list))
		obj_del_at(list, obj_len(list) - 1);
	for (size_t i = 0; i < obj_len(items); i++) {
		const struct obj *item = obj_at(items, i);
		if (!obj_has(item, key))
			return key_missing(m, item, key);
		size_t at = index_of(list, item, key);
		if (at == SIZE_MAX)
			obj_append(list, plain(item));
		else if (merge_maps(m, obj_at_mut(list, at), item) < 0)
			return -m->err->code;
	}
	return 0;
}

/* The merged list, in order; key is the merge key, "" for a set of primitives. */
static int merge_list(struct merge *m, const struct obj *live, const struct obj *patch,
		      const char *key, struct obj **ret)
{
	CLEANUP(obj_unrefp) struct obj *list = obj_copy(live);
	if (*key && merge_list_of_maps(m, list, patch, key) < 0)
		return -m->err->code;
	for (size_t i = 0; !*key && i < obj_len(patch); i++)
		if (index_of(list, obj_at(patch, i), key) == SIZE_MAX)
			obj_append(list, obj_copy(obj_at(patch, i)));
	*ret = ordered(list, patch, live, key);
	return 0;
}

static int merge_member(struct merge *m, struct obj *doc, const char *name, const struct obj *p)
{
	const struct obj *live = obj_get(doc, name);
	struct obj *list = NULL;
	if (obj_type(p) == OBJ_NULL) {
		obj_del(doc, name);
		return 0;
	}
	if (obj_type(live) == OBJ_MAP && obj_type(p) == OBJ_MAP)
		return merge_maps(m, obj_get_mut(doc, name), p);
	const char *key = NULL;
	if (obj_type(live) == OBJ_LIST && obj_type(p) == OBJ_LIST)
		key = m->merge_key(m->kind, m->path.buf);
	if (!key) {
		obj_set(doc, name, plain(p));
		return 0;
	}
	if (merge_list(m, live, p, key, &list) < 0)
		return -m->err->code;
	obj_set(doc, name, list);
	return 0;
}

/* $setElementOrder/F: merges F, if it is there, then puts it into that order. */
static int set_order(struct merge *m, struct obj *doc, const struct obj *patch, const char *name,
		     const struct obj *order)
{
	const struct obj *p = obj_get(patch, name);
	CLEANUP(obj_unrefp) struct obj *live = obj_ref(obj_get(doc, name));
	if (obj_type(order) != OBJ_LIST)
		return error_set(m->err, E_BADREQUEST, ELEMENT_ORDER "%s: found %s, wanted array",
				 name, obj_type_name(obj_type(order)));
	const char *key = m->merge_key(m->kind, m->path.buf);
	if (p && merge_member(m, doc, name, p) < 0)
		return -m->err->code;
	const struct obj *merged = obj_get(doc, name);
	if (key && obj_type(merged) == OBJ_LIST)
		obj_set(doc, name, ordered(merged, order, live, key));
	return 0;
}

static void delete_primitives(struct obj *doc, const char *name, const struct obj *values)
{
	struct obj *list = obj_get_mut(doc, name);
	for (size_t i = obj_type(list) == OBJ_LIST ? obj_len(list) : 0; i > 0; i--)
		if (index_of(values, obj_at(list, i - 1), "") != SIZE_MAX)
			obj_del_at(list, i - 1);
}

static int retain_keys(struct merge *m, struct obj *doc, const struct obj *patch)
{
	const struct obj *keys = obj_get(patch, RETAIN_KEYS);
	if (!keys)
		return 0;
	OBJ_EACH (it, patch) {
		CLEANUP(obj_unrefp) struct obj *key = obj_string(it.key);
		if (!is_directive(it.key) && obj_type(it.value) != OBJ_NULL &&
		    index_of(keys, key, "") == SIZE_MAX)
			return error_set(m->err, E_BADREQUEST,
					 RETAIN_KEYS " list doesn't contain %s", it.key);
	}
	CLEANUP(obj_unrefp) struct obj *before = obj_copy(doc);
	OBJ_EACH (it, before) {
		CLEANUP(obj_unrefp) struct obj *key = obj_string(it.key);
		if (index_of(keys, key, "") == SIZE_MAX)
			obj_del(doc, it.key);
	}
	return 0;
}

/* $patch of a map: 1 if it decided all. */
static int whole_map(struct merge *m, struct obj *doc, const struct obj *patch)
{
	const char *d = obj_as_string(obj_get(patch, DIRECTIVE));
	if (!obj_has(patch, DIRECTIVE) || (d && strcmp(d, "merge") == 0))
		return 0;
	if (!d || (strcmp(d, "replace") != 0 && strcmp(d, "delete") != 0))
		return error_set(m->err, E_BADREQUEST, "Unknown patch type found: %s", d ? d : "");
	CLEANUP(obj_unrefp) struct obj *before = obj_copy(doc);
	OBJ_EACH (it, before)
		obj_del(doc, it.key);
	if (d[0] == 'd')
		return 1;
	OBJ_EACH (it, patch)
		if (!is_directive(it.key))
			obj_set(doc, it.key, plain(it.value));
	return 1;
}

static int merge_each(struct merge *m, struct obj *doc, const struct obj *patch, const char *key,
		      const struct obj *value)
{
	int r = 0;
	size_t len = m->path.len;
	if (cstr_has_prefix(key, DELETE_FROM)) {
		delete_primitives(doc, key + strlen(DELETE_FROM), value);
	} else if (cstr_has_prefix(key, ELEMENT_ORDER)) {
		push(m, key + strlen(ELEMENT_ORDER));
		r = set_order(m, doc, patch, key + strlen(ELEMENT_ORDER), value);
	} else if (!is_directive(key)) {
		CLEANUP(strbuf_release) struct strbuf order = STRBUF_INIT(PATH_BYTES_MAX);
		strbuf_addf(&order, ELEMENT_ORDER "%s", key);
		push(m, key);
		if (!obj_has(patch, order.buf)) /* else set_order() merges it */
			r = merge_member(m, doc, key, value);
	}
	strbuf_truncate(&m->path, len);
	return r;
}

static int merge_maps(struct merge *m, struct obj *doc, const struct obj *patch)
{
	int r = whole_map(m, doc, patch);
	if (r != 0)
		return r < 0 ? r : 0;
	r = retain_keys(m, doc, patch);
	/* deletions first: a value may be deleted and added in one patch */
	OBJ_EACH (it, patch)
		if (r == 0 && cstr_has_prefix(it.key, DELETE_FROM))
			r = merge_each(m, doc, patch, it.key, it.value);
	OBJ_EACH (it, patch)
		if (r == 0 && !cstr_has_prefix(it.key, DELETE_FROM))
			r = merge_each(m, doc, patch, it.key, it.value);
	return r;
}
/* NOLINTEND(misc-no-recursion) */

int patch_strategic(const struct obj *doc, const struct obj *patch, const char *kind,
		    patch_merge_key_fn merge_key, struct obj **ret, struct error *err)
{
	if (obj_type(patch) != OBJ_MAP || obj_type(doc) != OBJ_MAP)
		return error_set(err, E_BADREQUEST,
				 "strategic merge patch: found %s, wanted object",
				 obj_type_name(obj_type(patch)));
	CLEANUP(obj_unrefp) struct obj *out = obj_copy(doc);
	struct merge m = {.kind = kind, .merge_key = merge_key, .err = err};
	strbuf_init(&m.path, PATH_BYTES_MAX);
	int r = merge_maps(&m, out, patch);
	strbuf_release(&m.path);
	if (r < 0)
		return r;
	*ret = STEAL(out);
	return 0;
}
