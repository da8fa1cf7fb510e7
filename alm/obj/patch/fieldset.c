/* fieldset.c: see fieldset.h. */
#include "alm/obj/patch/fieldset.h"

#include <stdlib.h>
#include <string.h>

#include "alm/obj/json.h"

#define PATH_BYTES_MAX ((size_t)1 << 20)

struct fieldset *fieldset_new(struct arena *a)
{
	struct fieldset *s = ARENA_NEW(a, struct fieldset);
	s->arena = a;
	return s;
}

/* Index of the step, or of the place where it belongs; most often it is the last. */
static size_t place_of(const struct fieldset *s, const char *step, bool *ret_found)
{
	size_t low = 0, high = s ? s->n : 0;
	*ret_found = false;
	if (high > 0) {
		int c = strcmp(s->items[high - 1].step, step);
		*ret_found = c == 0;
		if (c <= 0)
			return c == 0 ? high - 1 : high;
	}
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
		size_t cap = s->cap ? 2 * s->cap : 1; /* most sets have one item */
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
	item->step = step;
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

static int by_step(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **fieldset_sorted_keys(const struct obj *map, struct arena *a)
{
	const char **keys = ARENA_ARRAY(a, const char *, obj_len(map) + 1);
	size_t n = 0;
	bool sorted = true;
	OBJ_EACH (it, map) {
		sorted = sorted && (n == 0 || strcmp(keys[n - 1], it.key) < 0);
		keys[n++] = it.key;
	}
	if (!sorted)
		qsort(keys, n, sizeof(*keys), by_step);
	return keys;
}

const char *fieldset_step(const char *text, struct arena *a)
{
	if (*text == 'f' || !strpbrk(text, "<>&"))
		return arena_strdup(a, text);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(strlen(text) * 6);
	for (; *text; text++) {
		if (strchr("<>&", *text))
			strbuf_addf(&b, "\\u%04x", (unsigned)*text);
		else
			strbuf_addc(&b, *text);
	}
	return arena_strdup(a, b.buf);
}

/* NOLINTBEGIN(misc-no-recursion): field sets nest at most FIELDSET_DEPTH_MAX deep, as the objects
 * they come from */
struct fieldset *fieldset_parse(const struct obj *o, struct arena *a)
{
	if (obj_type(o) != OBJ_MAP)
		return NULL;
	struct fieldset *s = fieldset_new(a);
	const char **keys = fieldset_sorted_keys(o, a);
	for (size_t i = 0; i < obj_len(o); i++) {
		const struct obj *value = obj_get(o, keys[i]);
		if (strcmp(keys[i], ".") == 0)
			continue;
		if (!is_step(keys[i]) || obj_type(value) != OBJ_MAP)
			return NULL;
		struct fieldset_item *item = fieldset_at(s, fieldset_step(keys[i], a));
		item->member = obj_len(value) == 0 || obj_has(value, ".");
		if (obj_len(value) > 0) {
			item->below = fieldset_parse(value, a);
			if (!item->below)
				return NULL;
		}
	}
	return s;
}

/* The members of s go into map; empty stands behind each that has nothing below. */
static void print_into(const struct fieldset *s, struct obj *map, const struct obj *empty)
{
	for (size_t i = 0; s && i < s->n; i++) {
		const struct fieldset_item *item = &s->items[i];
		if (fieldset_is_empty(item->below)) {
			if (item->member)
				obj_set_new(map, item->step, obj_ref(empty));
			continue;
		}
		struct obj *inner = obj_map();
		if (item->member)
			obj_set_new(inner, ".", obj_ref(empty));
		print_into(item->below, inner, empty);
		obj_set_new(map, item->step, inner);
	}
}

struct obj *fieldset_print(const struct fieldset *s)
{
	CLEANUP(obj_unrefp) struct obj *empty = obj_map();
	struct obj *o = obj_map();
	print_into(s, o, empty);
	return o;
}

size_t fieldset_text_bytes(const struct fieldset *s)
{
	size_t n = 2; /* {} */
	for (size_t i = 0; s && i < s->n; i++) {
		const struct fieldset_item *item = &s->items[i];
		if (item->member || !fieldset_is_empty(item->below))
			n += strlen(item->step) + strlen("\"\":,") +
			     fieldset_text_bytes(item->below);
	}
	return n;
}

bool fieldset_is_empty(const struct fieldset *s)
{
	for (size_t i = 0; s && i < s->n; i++)
		if (s->items[i].member || !fieldset_is_empty(s->items[i].below))
			return false;
	return true;
}

static bool is_nothing(const struct fieldset *s)
{
	return !s || s->n == 0;
}

struct fieldset *fieldset_union(const struct fieldset *x, const struct fieldset *y, struct arena *a)
{
	if (!x || !y || x->n == 0 || y->n == 0) {
		const struct fieldset *all = is_nothing(x) ? y : x;
		return all ? mem_unconst(all) : fieldset_new(a);
	}
	struct fieldset *s = fieldset_new(a);
	size_t i = 0, j = 0;
	while (i < x->n || j < y->n) {
		int c = i == x->n ? 1 : j == y->n ? -1 : strcmp(x->items[i].step, y->items[j].step);
		struct fieldset_item *item = make_room(s, s->n);
		*item = c <= 0 ? x->items[i++] : y->items[j++];
		if (c != 0)
			continue;
		item->member |= y->items[j].member;
		if (y->items[j].below)
			item->below = fieldset_union(item->below, y->items[j].below, a);
		j++;
	}
	return s;
}

/* Halves of halves: each item moves as often as n can be halved. */
struct fieldset *fieldset_union_all(const struct fieldset *const *sets, size_t n, struct arena *a)
{
	if (n <= 1)
		return fieldset_union(n ? sets[0] : NULL, NULL, a);
	return fieldset_union(fieldset_union_all(sets, n / 2, a),
			      fieldset_union_all(sets + n / 2, n - n / 2, a), a);
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

/* A key that is no scalar, as Go's library of paths has it. */
static void key_text(const struct obj *v, struct strbuf *b)
{
	if (obj_type(v) == OBJ_MAP) {
		OBJ_EACH (it, v) {
			strbuf_addf(b, "%s=", it.key);
			key_text(it.value, b);
		}
	} else if (obj_type(v) == OBJ_LIST) {
		for (size_t i = 0; i < obj_len(v); i++) {
			strbuf_addc(b, i ? ',' : '[');
			key_text(obj_at(v, i), b);
		}
		strbuf_adds(b, obj_len(v) ? "]" : "[]");
	} else {
		json_print(v, b);
	}
}

/* f:a -> .a, k:{"name":"x"} -> [name="x"], v:"x" -> [="x"] */
void fieldset_key_text(const char *step, struct strbuf *b)
{
	struct obj *keys = NULL;
	struct error err = ERROR_INIT;
	if (step[0] == 'f') {
		strbuf_addf(b, ".%s", step + 2);
	} else if (step[0] == 'v') {
		bool reads = json_parse(str_of(step + 2), &keys, &err) >= 0;
		strbuf_adds(b, "[=");
		if (reads)
			key_text(keys, b);
		else
			strbuf_adds(b, step + 2);
		strbuf_addc(b, ']');
	} else if (step[0] == 'k' && json_parse(str_of(step + 2), &keys, &err) >= 0) {
		const char *separator = "[";
		OBJ_EACH (it, keys) {
			strbuf_addf(b, "%s%s=", separator, it.key);
			key_text(it.value, b);
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
