/*
 * patch_strategic: strategic merge patches (apimachinery pkg/util/strategicpatch, server side:
 * nulls delete, parallel lists merge). Which lists merge by which key is the caller's table.
 * Elements are found by an index, so the work is linear in document and patch.
 */
#include <string.h>

#include "alm/base/map.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/patch/patch.h"
#include "alm/obj/schema/schema_node.h"

#define DIRECTIVE     "$patch"
#define RETAIN_KEYS   "$retainKeys"
#define ELEMENT_ORDER "$setElementOrder/"
#define DELETE_FROM   "$deleteFromPrimitiveList/"

#define PATH_BYTES_MAX 4096
#define KEY_BYTES_MAX  ((size_t)4 << 20) /* what is longer is no key of anything */

struct merge {
	patch_merge_key_fn merge_key;
	const void *arg;
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

/* Which elements a list has, by merge key (or by value, when key is "": a list of primitives). */
struct index {
	struct map *at; /* canonical text of the key -> 1 + index of the first such element */
	const char *key;
};

static void index_release(struct index *x)
{
	map_free(x->at);
}

/* The text by which an element is found; NULL if it has no key. Owned. */
static char *index_text(const struct index *x, const struct obj *item)
{
	const struct obj *id = *x->key ? obj_get(item, x->key) : item;
	if (!id)
		return NULL;
	struct strbuf b = STRBUF_INIT(KEY_BYTES_MAX);
	json_print_canonical(id, &b);
	return strbuf_detach(&b);
}

static void index_add(struct index *x, const struct obj *item, size_t i)
{
	CLEANUP(xfreep) char *text = index_text(x, item);
	if (text && !map_has(x->at, text))
		map_set_number(x->at, text, i + 1);
}

static struct index index_of(const struct obj *list, const char *key)
{
	struct index x = {map_new(NULL), key};
	for (size_t i = 0; i < obj_len(list); i++)
		index_add(&x, obj_at(list, i), i);
	return x;
}

/* SIZE_MAX if it is not there. */
static size_t index_find(const struct index *x, const struct obj *item)
{
	CLEANUP(xfreep) char *text = index_text(x, item);
	return text ? map_number(x->at, text) - 1 : SIZE_MAX;
}

static bool index_has(const struct index *x, const struct obj *item)
{
	return index_find(x, item) != SIZE_MAX;
}

/* Elements of list that x has, or has not, in the order of list. */
static struct obj *partition(const struct obj *list, const struct index *x, bool in)
{
	struct obj *out = obj_list();
	for (size_t i = 0; i < obj_len(list); i++)
		if (index_has(x, obj_at(list, i)) == in)
			obj_append(out, obj_ref(obj_at(list, i)));
	return out;
}

/* list by the order its elements have in order; each of them is there. */
static struct obj *sorted_by(const struct obj *list, const struct obj *order, const char *key)
{
	struct obj *out = obj_list();
	CLEANUP(index_release) struct index left = index_of(list, key);
	for (size_t i = 0; i < obj_len(order); i++) {
		CLEANUP(xfreep) char *text = index_text(&left, obj_at(order, i));
		size_t at = text ? map_number(left.at, text) : 0;
		if (at == 0)
			continue;
		obj_append(out, obj_ref(obj_at(list, at - 1)));
		map_del(left.at, text); /* once */
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
	CLEANUP(index_release) struct index ordering = index_of(order, key);
	CLEANUP(index_release) struct index before = index_of(live, key);
	CLEANUP(obj_unrefp) struct obj *named = partition(merged, &ordering, true);
	CLEANUP(obj_unrefp) struct obj *right = sorted_by(named, order, key);
	CLEANUP(obj_unrefp) struct obj *left = partition(merged, &ordering, false);
	struct obj *out = obj_list();
	size_t i = 0, j = 0;
	while (i < obj_len(left) || j < obj_len(right)) {
		const struct obj *l = obj_at(left, i), *r = obj_at(right, j);
		size_t li = l ? index_find(&before, l) : SIZE_MAX;
		size_t ri = r ? index_find(&before, r) : SIZE_MAX;
		bool take_left = !r || (l && li != SIZE_MAX && ri != SIZE_MAX && li < ri);
		obj_append(out, obj_ref(take_left ? l : r));
		i += take_left;
		j += !take_left;
	}
	return out;
}

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static int merge_maps(struct merge *m, struct obj *doc, const struct obj *patch);

/* A map that says how it is merged has nothing to say where there is nothing, even if it is to replace it (sic). */
static bool is_instruction(const struct obj *v)
{
	return obj_has(v, DIRECTIVE);
}

/* What a patch value, which is no instruction, is where the document has nothing: without directives, and in maps without
 * nulls. */
static struct obj *plain(const struct obj *v)
{
	if (obj_type(v) == OBJ_LIST) {
		struct obj *list = obj_list();
		for (size_t i = 0; i < obj_len(v); i++)
			if (!is_instruction(obj_at(v, i)))
				obj_append(list, plain(obj_at(v, i)));
		return list;
	}
	if (obj_type(v) != OBJ_MAP)
		return obj_copy(v);
	struct obj *map = obj_map();
	OBJ_EACH (it, v)
		if (!is_directive(it.key) && obj_type(it.value) != OBJ_NULL &&
		    !is_instruction(it.value))
			obj_set(map, it.key, plain(it.value));
	return map;
}

static int key_missing(struct merge *m, const struct obj *item, const char *key)
{
	CLEANUP(xfreep) char *text = json_text(item);
	return error_set(m->err, E_BADREQUEST,
			 "map: %.200s does not contain declared merge key: %s", text, key);
}

/* Elements with $patch: delete go to ret_gone, the others to ret_items; replace is told. */
static int sort_out(struct merge *m, const struct obj *patch, const char *key,
		    struct obj *ret_items, struct obj *ret_gone, bool *ret_replace)
{
	*ret_replace = false;
	for (size_t i = 0; i < obj_len(patch); i++) {
		const struct obj *item = obj_at(patch, i);
		const char *d = obj_as_string(obj_get(item, DIRECTIVE));
		bool gone = d && strcmp(d, "delete") == 0;
		if (d && !gone && strcmp(d, "replace") != 0)
			return error_set(m->err, E_BADREQUEST,
					 "merging list cannot yet be controlled by the patch: %s",
					 d);
		if ((!d || gone) && !obj_has(item, key))
			return key_missing(m, item, key);
		if (!d || gone)
			obj_append(gone ? ret_gone : ret_items, obj_ref(item));
		else
			*ret_replace = true;
	}
	return 0;
}

/* An element that is not there yet. A key that is null is one, by which it is put into order. */
static struct obj *new_element(const struct obj *item, const char *key)
{
	struct obj *o = plain(item);
	if (obj_type(obj_get(item, key)) == OBJ_NULL)
		obj_set(o, key, obj_null());
	return o;
}

/* Changes the elements of list, which are not shared. */
static int merge_list_of_maps(struct merge *m, const struct obj *list, const struct obj *patch,
			      const char *key, struct obj **ret)
{
	CLEANUP(obj_unrefp) struct obj *items = obj_list(), *gone = obj_list();
	bool whole;
	if (sort_out(m, patch, key, items, gone, &whole) < 0)
		return -m->err->code;
	CLEANUP(index_release) struct index drop = index_of(gone, key);
	CLEANUP(obj_unrefp) struct obj *out = whole ? obj_list() : partition(list, &drop, false);
	CLEANUP(index_release) struct index have = index_of(out, key);
	for (size_t i = 0; i < obj_len(items); i++) {
		const struct obj *item = obj_at(items, i);
		size_t at = index_find(&have, item);
		if (at == SIZE_MAX) {
			index_add(&have, item, obj_len(out));
			obj_append(out, new_element(item, key));
		} else if (merge_maps(m, obj_at_mut(out, at), item) < 0) {
			return -m->err->code;
		}
	}
	*ret = STEAL(out);
	return 0;
}

static struct obj *merge_primitives(const struct obj *list, const struct obj *patch)
{
	struct obj *out = obj_copy(list);
	CLEANUP(index_release) struct index have = index_of(out, "");
	for (size_t i = 0; i < obj_len(patch); i++) {
		const struct obj *item = obj_at(patch, i);
		if (index_has(&have, item))
			continue;
		index_add(&have, item, obj_len(out));
		obj_append(out, obj_copy(item));
	}
	return out;
}

/* The merged list, in order; key is the merge key, "" for a set of primitives. */
static int merge_list(struct merge *m, const struct obj *live, const struct obj *patch,
		      const char *key, struct obj **ret)
{
	CLEANUP(obj_unrefp) struct obj *list = NULL, *copy = obj_copy(live);
	if (!*key)
		list = merge_primitives(copy, patch);
	else if (merge_list_of_maps(m, copy, patch, key, &list) < 0)
		return -m->err->code;
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
	if (obj_type(live) == OBJ_MAP && obj_type(p) == OBJ_MAP) {
		if (!m->merge_key(m->arg, m->path.buf))
			return merge_maps(m, obj_get_mut(doc, name), p);
		obj_set(doc, name, obj_copy(p)); /* with its nulls */
		return 0;
	}
	const char *key = NULL;
	if (obj_type(live) == OBJ_LIST && obj_type(p) == OBJ_LIST)
		key = m->merge_key(m->arg, m->path.buf);
	if (!key) { /* a list for a list comes as it is */
		bool lists = obj_type(live) == OBJ_LIST && obj_type(p) == OBJ_LIST;
		if (is_instruction(p))
			obj_del(doc, name);
		else
			obj_set(doc, name, lists ? obj_copy(p) : plain(p));
		return 0;
	}
	if (merge_list(m, live, p, key, &list) < 0)
		return -m->err->code;
	obj_set(doc, name, list);
	return 0;
}

/* The order names what the patch has, in its order, each by its key. */
static int check_order(struct merge *m, const struct obj *order, const struct obj *patch,
		       const char *key)
{
	size_t at = 0, n = obj_len(order);
	for (size_t i = 0; i < n && *key; i++)
		if (obj_type(obj_at(order, i)) != OBJ_MAP)
			return error_set(m->err, E_BADREQUEST, "value for key %zu is not a map", i);
		else if (!obj_has(obj_at(order, i), key))
			return key_missing(m, obj_at(order, i), key);
	for (size_t i = 0; i < obj_len(patch) && n; i++) {
		const struct obj *item = obj_at(patch, i);
		const struct obj *id = *key ? obj_get(item, key) : item;
		if (is_instruction(item))
			continue;
		while (at < n &&
		       !obj_equal(id, *key ? obj_get(obj_at(order, at), key) : obj_at(order, at)))
			at++;
		if (at++ < n)
			continue;
		CLEANUP(strbuf_release) struct strbuf is = STRBUF_INIT(ERROR_MSG_MAX);
		CLEANUP(strbuf_release) struct strbuf wanted = STRBUF_INIT(ERROR_MSG_MAX);
		go_plain(patch, &is);
		go_plain(order, &wanted);
		return error_set(m->err, E_BADREQUEST,
				 "The order in patch list:\n%s\n doesn't match $setElementOrder "
				 "list:\n%s\n",
				 is.buf, wanted.buf);
	}
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
	const char *key = m->merge_key(m->arg, m->path.buf);
	if (key && check_order(m, order, p, key) < 0)
		return -m->err->code;
	if (p && merge_member(m, doc, name, p) < 0)
		return -m->err->code;
	const struct obj *merged = obj_get(doc, name);
	if (key && obj_type(merged) == OBJ_LIST)
		obj_set(doc, name, ordered(merged, order, live, key));
	return 0;
}

static void delete_primitives(struct obj *doc, const char *name, const struct obj *values)
{
	CLEANUP(index_release) struct index drop = index_of(values, "");
	if (obj_type(obj_get(doc, name)) == OBJ_LIST)
		obj_set(doc, name, partition(obj_get(doc, name), &drop, false));
}

static int retain_keys(struct merge *m, struct obj *doc, const struct obj *patch)
{
	const struct obj *keys = obj_get(patch, RETAIN_KEYS);
	CLEANUP(map_freep) struct map *kept = map_new(NULL);
	if (!keys)
		return 0;
	for (size_t i = 0; i < obj_len(keys); i++)
		if (obj_as_string(obj_at(keys, i)))
			map_set(kept, obj_as_string(obj_at(keys, i)), NULL);
	OBJ_EACH (it, patch)
		if (!is_directive(it.key) && obj_type(it.value) != OBJ_NULL &&
		    !map_has(kept, it.key))
			return error_set(m->err, E_BADREQUEST,
					 RETAIN_KEYS " list doesn't contain %s", it.key);
	OBJ_EACH (it, doc)
		if (!map_has(kept, it.key))
			obj_del(doc, it.key);
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
	OBJ_EACH (it, doc)
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

int patch_strategic(const struct obj *doc, const struct obj *patch, patch_merge_key_fn merge_key,
		    const void *arg, struct obj **ret, struct error *err)
{
	if (obj_type(patch) != OBJ_MAP || obj_type(doc) != OBJ_MAP)
		return error_set(err, E_BADREQUEST,
				 "strategic merge patch: found %s, wanted object",
				 obj_type_name(obj_type(patch)));
	CLEANUP(obj_unrefp) struct obj *out = obj_copy(doc);
	struct merge m = {.merge_key = merge_key, .arg = arg, .err = err};
	strbuf_init(&m.path, PATH_BYTES_MAX);
	int r = merge_maps(&m, out, patch);
	strbuf_release(&m.path);
	if (r < 0)
		return r;
	*ret = STEAL(out);
	return 0;
}
