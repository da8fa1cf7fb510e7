/* diff: see diff.h. */
#include "alm/obj/diff.h"

#include <string.h>

#include "alm/base/strbuf.h"

#define PATH_BYTES_MAX 65536

struct walk {
	struct arena *a;
	struct diff *out;
	size_t max, cap;
	struct strbuf path;
};

static void found(struct walk *w, const struct obj *before, const struct obj *after)
{
	struct diff *d = w->out;
	if (d->n == w->max) {
		d->cut = true;
		return;
	}
	if (d->n == w->cap) { /* an arena cannot grow an array: the old one dies with it */
		size_t cap = w->cap ? 2 * w->cap : 8;
		struct diff_item *items = ARENA_ARRAY(w->a, struct diff_item, cap);
		if (d->n)
			memcpy(items, d->items, d->n * sizeof(*items));
		d->items = items;
		w->cap = cap;
	}
	d->items[d->n++] = (struct diff_item){
		.path = arena_strdup(w->a, w->path.buf), .before = before, .after = after};
}

static void push_key(struct walk *w, const char *key)
{
	if (strpbrk(key, ".['"))
		strbuf_addf(&w->path, "['%s']", key);
	else
		strbuf_addf(&w->path, "%s%s", w->path.len ? "." : "", key);
}

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static void visit(struct walk *w, const struct obj *a, const struct obj *b);

static void visit_maps(struct walk *w, const struct obj *a, const struct obj *b)
{
	size_t len = w->path.len;
	OBJ_EACH (it, a) {
		push_key(w, it.key);
		visit(w, it.value, obj_get(b, it.key));
		strbuf_truncate(&w->path, len);
	}
	OBJ_EACH (it, b) {
		if (obj_has(a, it.key))
			continue;
		push_key(w, it.key);
		visit(w, NULL, it.value);
		strbuf_truncate(&w->path, len);
	}
}

static void visit_lists(struct walk *w, const struct obj *a, const struct obj *b)
{
	size_t len = w->path.len, n = obj_len(a) > obj_len(b) ? obj_len(a) : obj_len(b);
	for (size_t i = 0; i < n && !w->out->cut; i++) {
		strbuf_addf(&w->path, "[%zu]", i);
		visit(w, obj_at(a, i), obj_at(b, i));
		strbuf_truncate(&w->path, len);
	}
}

static void visit(struct walk *w, const struct obj *a, const struct obj *b)
{
	if (w->out->cut || a == b)
		return;
	if (obj_type(a) == OBJ_MAP && obj_type(b) == OBJ_MAP)
		visit_maps(w, a, b);
	else if (obj_type(a) == OBJ_LIST && obj_type(b) == OBJ_LIST)
		visit_lists(w, a, b);
	else if (!obj_equal(a, b))
		found(w, a, b);
}
/* NOLINTEND(misc-no-recursion) */

void diff_objects(const struct obj *before, const struct obj *after, size_t max, struct arena *a,
		  struct diff *ret)
{
	struct walk w = {.a = a, .out = ret, .max = max};
	*ret = (struct diff){0};
	strbuf_init(&w.path, PATH_BYTES_MAX);
	visit(&w, before, after);
	strbuf_release(&w.path);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as an object, OBJ_DEPTH_MAX */
struct obj *diff_merge_patch(const struct obj *before, const struct obj *after)
{
	if (obj_equal(before, after))
		return NULL;
	if (obj_type(after) != OBJ_MAP)
		return after ? obj_copy(after) : obj_null();
	struct obj *patch = obj_map();
	OBJ_EACH (it, before)
		if (obj_type(before) == OBJ_MAP && !obj_get(after, it.key))
			obj_set(patch, it.key, obj_null());
	OBJ_EACH (it, after) {
		struct obj *x = diff_merge_patch(obj_get(before, it.key), it.value);
		if (x)
			obj_set(patch, it.key, x);
	}
	return patch;
}
