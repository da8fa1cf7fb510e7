/* fieldset.c: see fieldset.h. */
#include "alm/obj/fieldset.h"

#include <string.h>

#include "alm/obj/json.h"

#define PATH_BYTES_MAX ((size_t)1 << 20)

struct fieldset *fieldset_new(struct arena *a)
{
	struct fieldset *s = ARENA_NEW(a, struct fieldset);
	s->arena = a;
	return s;
}

/* Index of the step, or of the place where it belongs. */
static size_t place_of(const struct fieldset *s, const char *step, bool *ret_found)
{
	size_t low = 0, high = s ? s->n : 0;
	*ret_found = false;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = strcmp(s->items[mid].step, step);
		if (c == 0) {
			*ret_found = true;
			return mid;
		}
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct fieldset_item *make_room(struct fieldset *s, size_t at)
{
	if (s->n == s->cap) {
		size_t cap = mem_grown(s->cap, s->n + 1);
		struct fieldset_item *items = ARENA_ARRAY(s->arena, struct fieldset_item, cap);
		if (s->n > 0)
			memcpy(items, s->items, s->n * sizeof(*items));
		s->items = items;
		s->cap = cap;
	}
	memmove(s->items + at + 1, s->items + at, (s->n - at) * sizeof(*s->items));
	s->n++;
	s->items[at] = (struct fieldset_item){0};
	return &s->items[at];
}

struct fieldset_item *fieldset_at(struct fieldset *s, const char *step)
{
	bool found;
	size_t at = place_of(s, step, &found);
	if (found)
		return &s->items[at];
	struct fieldset_item *item = make_room(s, at);
	item->step = arena_strdup(s->arena, step);
	return item;
}

const struct fieldset_item *fieldset_find(const struct fieldset *s, const char *step)
{
	bool found;
	size_t at = place_of(s, step, &found);
	return s && found ? &s->items[at] : NULL;
}

static struct fieldset *below_of(struct fieldset *s, struct fieldset_item *item)
{
	if (!item->below)
		item->below = fieldset_new(s->arena);
	return item->below;
}

void fieldset_insert(struct fieldset *s, const char *const *steps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct fieldset_item *item = fieldset_at(s, steps[i]);
		if (i + 1 == n)
			item->member = true;
		else
			s = below_of(s, item);
	}
}

void fieldset_remove(struct fieldset *s, const char *step)
{
	bool found;
	size_t at = place_of(s, step, &found);
	if (!found)
		return;
	memmove(s->items + at, s->items + at + 1, (s->n - at - 1) * sizeof(*s->items));
	s->n--;
}

static bool is_step(const char *key)
{
	return key[0] && key[1] == ':' && strchr("fkvi", key[0]);
}

/* NOLINTBEGIN(misc-no-recursion): field sets nest at most FIELDSET_DEPTH_MAX deep, as the objects
 * they come from */
struct fieldset *fieldset_parse(const struct obj *o, struct arena *a)
{
	if (obj_type(o) != OBJ_MAP)
		return NULL;
	struct fieldset *s = fieldset_new(a);
	OBJ_EACH (it, o) {
		const struct obj *value = it.value;
		if (strcmp(it.key, ".") == 0)
			continue;
		if (!is_step(it.key) || obj_type(value) != OBJ_MAP)
			return NULL;
		struct fieldset_item *item = fieldset_at(s, it.key);
		item->member = obj_len(value) == 0 || obj_has(value, ".");
		if (obj_len(value) > 0) {
			struct fieldset *below = fieldset_parse(value, a);
			if (!below)
				return NULL;
			fieldset_at(s, it.key)->below = below;
		}
	}
	return s;
}

struct obj *fieldset_print(const struct fieldset *s)
{
	struct obj *o = obj_map();
	for (size_t i = 0; s && i < s->n; i++) {
		const struct fieldset_item *item = &s->items[i];
		bool below = !fieldset_is_empty(item->below);
		if (!below && !item->member)
			continue;
		struct obj *inner = obj_map();
		if (below) {
			struct obj *rest = fieldset_print(item->below);
			if (item->member)
				obj_set(inner, ".", obj_map());
			OBJ_EACH (it, rest)
				obj_set(inner, it.key, obj_ref(it.value));
			obj_unref(rest);
		}
		obj_set(o, item->step, inner);
	}
	return o;
}

bool fieldset_is_empty(const struct fieldset *s)
{
	for (size_t i = 0; s && i < s->n; i++)
		if (s->items[i].member || !fieldset_is_empty(s->items[i].below))
			return false;
	return true;
}

static bool is_contained(const struct fieldset *a, const struct fieldset *b)
{
	for (size_t i = 0; a && i < a->n; i++) {
		const struct fieldset_item *x = &a->items[i], *y = fieldset_find(b, x->step);
		if (x->member && !(y && y->member))
			return false;
		if (!is_contained(x->below, y ? y->below : NULL))
			return false;
	}
	return true;
}

bool fieldset_equal(const struct fieldset *a, const struct fieldset *b)
{
	return is_contained(a, b) && is_contained(b, a);
}

static void add_all(struct fieldset *into, const struct fieldset *from)
{
	for (size_t i = 0; from && i < from->n; i++) {
		struct fieldset_item *item = fieldset_at(into, from->items[i].step);
		item->member |= from->items[i].member;
		if (from->items[i].below)
			add_all(below_of(into, item), from->items[i].below);
	}
}

struct fieldset *fieldset_union(const struct fieldset *x, const struct fieldset *y, struct arena *a)
{
	struct fieldset *s = fieldset_new(a);
	add_all(s, x);
	add_all(s, y);
	return s;
}

/* Items of x, each a member if x's is and y's is (keep) or is not (!keep). */
static struct fieldset *select_items(const struct fieldset *x, const struct fieldset *y, bool keep,
				     struct arena *a)
{
	struct fieldset *s = fieldset_new(a);
	for (size_t i = 0; x && i < x->n; i++) {
		const struct fieldset_item *in = &x->items[i], *other = fieldset_find(y, in->step);
		bool member = in->member && (other && other->member) == keep;
		struct fieldset *below = NULL;
		if (in->below)
			below = select_items(in->below, other ? other->below : NULL, keep, a);
		if (!member && fieldset_is_empty(below))
			continue;
		struct fieldset_item *out = make_room(s, s->n);
		*out = (struct fieldset_item){.step = in->step, .member = member, .below = below};
	}
	return s;
}

struct fieldset *fieldset_difference(const struct fieldset *x, const struct fieldset *y,
				     struct arena *a)
{
	return select_items(x, y, false, a);
}

struct fieldset *fieldset_intersection(const struct fieldset *x, const struct fieldset *y,
				       struct arena *a)
{
	return select_items(x, y, true, a);
}

/* f:a -> .a, k:{"name":"x"} -> [name="x"], v:"x" -> [="x"] */
void fieldset_key_text(const char *step, struct strbuf *b)
{
	struct obj *keys = NULL;
	struct error err = ERROR_INIT;
	if (step[0] == 'f') {
		strbuf_addf(b, ".%s", step + 2);
	} else if (step[0] == 'v') {
		strbuf_addf(b, "[=%s]", step + 2);
	} else if (step[0] == 'k' && json_parse(str_of(step + 2), &keys, &err) >= 0) {
		const char *separator = "[";
		OBJ_EACH (it, keys) {
			strbuf_addf(b, "%s%s=", separator, it.key);
			json_print(it.value, b);
			separator = ",";
		}
		strbuf_addc(b, ']');
	} else {
		strbuf_addf(b, "[%s]", step + 2);
	}
	obj_unref(keys);
}

static void visit(const struct fieldset *s, struct strbuf *path,
		  void (*fn)(void *arg, const char *path), void *arg)
{
	size_t at = path->len;
	for (size_t i = 0; s && i < s->n; i++) {
		if (!s->items[i].member)
			continue;
		fieldset_key_text(s->items[i].step, path);
		fn(arg, path->buf);
		strbuf_truncate(path, at);
	}
	for (size_t i = 0; s && i < s->n; i++) {
		if (!s->items[i].below)
			continue;
		fieldset_key_text(s->items[i].step, path);
		visit(s->items[i].below, path, fn, arg);
		strbuf_truncate(path, at);
	}
}
/* NOLINTEND(misc-no-recursion) */

void fieldset_each(const struct fieldset *s, void (*fn)(void *arg, const char *path), void *arg)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_BYTES_MAX);
	visit(s, &path, fn, arg);
}
