/* apply_walk.c: types, field sets and differences. */
#include "alm/obj/patch/apply_walk.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/map.h"
#include "alm/obj/json.h"
#include "alm/obj/schema/builtin_types.h"
#include "alm/obj/schema/schema_node.h"

#define KEY_BYTES_MAX ((size_t)1 << 20)

struct apply_type apply_type_of(const struct schema *s, bool builtin)
{
	return (struct apply_type){.s = s, .builtin = builtin, .root = true};
}

struct apply_type apply_field(struct apply_type t, const char *key)
{
	struct apply_type child = {.builtin = t.builtin};
	bool resource = t.root || (t.s && t.s->embedded);
	if (resource && strcmp(key, "metadata") == 0)
		return (struct apply_type){.s = builtin_object_meta(), .builtin = true};
	if (resource && !t.builtin && (strcmp(key, "apiVersion") == 0 || strcmp(key, "kind") == 0))
		return (struct apply_type){
			.s = schema_property(builtin_schema("v1", "ConfigMap"), key)};
	child.s = schema_field(t.s, key);
	return child;
}

struct apply_type apply_items(struct apply_type t)
{
	return (struct apply_type){.s = schema_items(t.s), .builtin = t.builtin};
}

bool apply_list_is_atomic(struct apply_type t)
{
	return schema_list_type(t.s) == LIST_ATOMIC;
}

bool apply_map_is_atomic(struct apply_type t)
{
	return schema_map_is_atomic(t.s);
}

bool apply_is_named(struct apply_type t, const char *key)
{
	bool resource = t.root || (t.s && t.s->embedded);
	if (resource && (strcmp(key, "metadata") == 0 || strcmp(key, "kind") == 0 ||
			 strcmp(key, "apiVersion") == 0))
		return true;
	if (schema_property(t.s, key))
		return true;
	return t.builtin && !(t.s && t.s->additional);
}

const char *apply_field_step(const char *key, struct arena *a)
{
	return arena_fmt(a, "f:%s", key);
}

static const struct obj *key_value(struct apply_type list, const struct obj *item, const char *key)
{
	const struct obj *value = obj_get(item, key);
	return value ? value : schema_default_of(schema_property(schema_items(list.s), key));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *map_step(struct apply_type list, const struct obj *item, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(KEY_BYTES_MAX);
	const char *const *keys = NULL;
	size_t n = schema_list_keys(list.s, &keys), found = 0;
	const char **sorted = ARENA_ARRAY(a, const char *, n + 1);
	for (size_t i = 0; i < n; i++)
		sorted[i] = keys[i];
	qsort(sorted, n, sizeof(*sorted), by_name);
	strbuf_adds(&b, "k:{");
	for (size_t i = 0; i < n; i++) {
		const struct obj *value = key_value(list, item, sorted[i]);
		if (!value)
			continue;
		if (found++ > 0)
			strbuf_addc(&b, ',');
		json_quote(str_of(sorted[i]), &b);
		strbuf_addc(&b, ':');
		json_print(value, &b);
	}
	strbuf_addc(&b, '}');
	return found > 0 ? fieldset_step(b.buf, a) : NULL;
}

const char *apply_item_step(struct apply_type list, const struct obj *item, struct arena *a)
{
	if (schema_list_type(list.s) == LIST_MAP)
		return obj_type(item) == OBJ_MAP ? map_step(list, item, a) : NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(KEY_BYTES_MAX);
	strbuf_adds(&b, "v:");
	json_print_canonical(item, &b);
	return fieldset_step(b.buf, a);
}

/* A path on the way down. */
struct walk {
	struct arena *a;
	const char *steps[FIELDSET_DEPTH_MAX];
	size_t n;
	struct apply_diff diff;
	struct fieldset *fields;
	bool with_empty_lists;
};

static bool enter(struct walk *w, const char *step)
{
	if (w->n == FIELDSET_DEPTH_MAX)
		return false;
	w->steps[w->n++] = step;
	return true;
}

static void node_fields(struct walk *w, struct apply_type t, const struct obj *o);

/* NOLINTBEGIN(misc-no-recursion): enter() bounds the depth by FIELDSET_DEPTH_MAX, objects nest at
 * most OBJ_DEPTH_MAX deep */
static void map_fields(struct walk *w, struct apply_type t, const struct obj *o)
{
	if (apply_map_is_atomic(t) && w->n > 0) {
		fieldset_insert(w->fields, w->steps, w->n);
		return;
	}
	const char **keys = fieldset_sorted_keys(o, w->a);
	for (size_t i = 0; i < obj_len(o); i++) {
		const struct obj *value = obj_get(o, keys[i]);
		enum obj_type type = obj_type(value);
		bool empty = type == OBJ_NULL || (type == OBJ_MAP && obj_len(value) == 0);
		if (!enter(w, apply_field_step(keys[i], w->a)))
			continue;
		node_fields(w, apply_field(t, keys[i]), value);
		if (empty || !apply_is_named(t, keys[i]))
			fieldset_insert(w->fields, w->steps, w->n);
		w->n--;
	}
}

struct keyed {
	const char *step;
	const struct obj *item;
	size_t index;
	size_t same; /* of the first of those with one key: how many there are. Of several none is looked into */
};

static int by_step(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	int c = strcmp(x->step, y->step);
	return c ? c : (x->index > y->index) - (x->index < y->index);
}

/* The items that have a step, by step, those of one key behind each other; an array of the arena. */
static struct keyed *keyed_items(struct walk *w, struct apply_type t, const struct obj *list,
				 size_t *ret_n)
{
	struct keyed *items = ARENA_ARRAY(w->a, struct keyed, obj_len(list) + 1), *first = items;
	size_t n = 0;
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *item = obj_at(list, i);
		items[n] = (struct keyed){apply_item_step(t, item, w->a), item, i, 0};
		n += items[n].step != NULL;
	}
	qsort(items, n, sizeof(*items), by_step);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(first->step, items[i].step) != 0)
			first = &items[i];
		first->same++;
	}
	*ret_n = n;
	return items;
}

static void item_fields(struct walk *w, struct apply_type t, const struct obj *list)
{
	if (apply_list_is_atomic(t) || (w->with_empty_lists && obj_len(list) == 0)) {
		fieldset_insert(w->fields, w->steps, w->n);
		return;
	}
	size_t n;
	const struct keyed *items = keyed_items(w, t, list, &n);
	for (size_t i = 0; i < n; i += items[i].same) {
		if (!enter(w, items[i].step))
			continue;
		fieldset_insert(w->fields, w->steps, w->n);
		if (obj_type(items[i].item) == OBJ_MAP && items[i].same == 1)
			node_fields(w, apply_items(t), items[i].item);
		w->n--;
	}
}

static void node_fields(struct walk *w, struct apply_type t, const struct obj *o)
{
	if (obj_type(o) == OBJ_MAP)
		map_fields(w, t, o);
	else if (obj_type(o) == OBJ_LIST)
		item_fields(w, t, o);
	else
		fieldset_insert(w->fields, w->steps, w->n);
}

static struct fieldset *fields_of(struct apply_type t, const struct obj *o, bool with_empty_lists,
				  struct arena *a)
{
	struct walk *w = ARENA_NEW(a, struct walk);
	w->a = a;
	w->fields = fieldset_new(a);
	w->with_empty_lists = with_empty_lists;
	node_fields(w, t, o);
	return w->fields;
}

struct fieldset *apply_fields(struct apply_type t, const struct obj *o, struct arena *a)
{
	return fields_of(t, o, false, a);
}

struct fieldset *apply_claims(struct apply_type t, const struct obj *o, struct arena *a)
{
	return fields_of(t, o, true, a);
}

static void compare_node(struct walk *w, struct apply_type t, const struct obj *before,
			 const struct obj *after);

/* The value of a field, with the struct fields that Go has and JSON left out. */
static const struct obj *side(struct apply_type t, const struct obj *map, const char *key)
{
	static struct obj *empty, *null, *text, *zero,
		*no; /* immutable, for the life of the process */
	const struct obj *value = obj_get(map, key);
	const struct schema *s = schema_property(t.s, key);
	if (value || !map || obj_type(map) != OBJ_MAP || !s || !s->value_struct)
		return value;
	if (!empty) {
		empty = obj_map();
		null = obj_null();
		text = obj_string("");
		zero = obj_int(0);
		no = obj_bool(false);
	}
	if (s->nullable)
		return null;
	switch (s->type) {
	case SCHEMA_OBJECT:
		return empty;
	case SCHEMA_STRING:
		return text;
	case SCHEMA_INTEGER:
		return zero;
	case SCHEMA_BOOLEAN:
		return no;
	default:
		return null;
	}
}

static void compare_field(struct walk *w, struct apply_type t, const char *key,
			  const struct obj *before, const struct obj *after)
{
	if (!enter(w, apply_field_step(key, w->a)))
		return;
	compare_node(w, apply_field(t, key), side(t, before, key), side(t, after, key));
	w->n--;
}

/* The next of two sorted sequences: which sides have it. */
static int next_side(const char *x, const char *y)
{
	return !x ? 1 : !y ? -1 : strcmp(x, y);
}

static void compare_maps(struct walk *w, struct apply_type t, const struct obj *before,
			 const struct obj *after)
{
	const char **x = fieldset_sorted_keys(before, w->a);
	const char **y = fieldset_sorted_keys(after, w->a);
	while (*x || *y) {
		int c = next_side(*x, *y);
		compare_field(w, t, c <= 0 ? *x : *y, before, after);
		x += c <= 0;
		y += c >= 0;
	}
	if (!t.s || !t.s->properties)
		return;
	for (size_t i = 0; i < t.s->n_properties; i++) {
		const struct schema_named *p = &t.s->properties[i];
		if (p->schema->value_struct && !obj_has(before, p->name) &&
		    !obj_has(after, p->name))
			compare_field(w, t, p->name, before, after);
	}
}

static void compare_leaf(struct walk *w, const struct obj *before, const struct obj *after)
{
	struct fieldset *into = NULL;
	if (!before)
		into = w->diff.added;
	else if (!after)
		into = w->diff.removed;
	else if (!obj_equal(before, after))
		into = w->diff.modified;
	if (into && w->n > 0)
		fieldset_insert(into, w->steps, w->n);
}

static bool are_equal(const struct keyed *x, const struct keyed *y)
{
	bool equal = x->same == y->same;
	for (size_t i = 0; equal && i < x->same; i++)
		equal = obj_equal(x[i].item, y[i].item);
	return equal;
}

/* Those with one key; NULL: the side has none. */
static void compare_items(struct walk *w, struct apply_type t, const struct keyed *x,
			  const struct keyed *y)
{
	bool was = x && x->same > 1, is = y && y->same > 1;
	if (was && is) {
		if (!are_equal(x, y))
			fieldset_insert(w->diff.modified, w->steps, w->n);
		return;
	}
	if (!was && !is) {
		compare_node(w, apply_items(t), x ? x->item : NULL, y ? y->item : NULL);
		return;
	}
	if (was && y)
		compare_node(w, apply_items(t), NULL, y->item);
	if (is && x)
		compare_node(w, apply_items(t), x->item, NULL);
	fieldset_insert(was ? w->diff.removed : w->diff.added, w->steps, w->n);
}

static void compare_lists(struct walk *w, struct apply_type t, const struct obj *before,
			  const struct obj *after)
{
	size_t n, m;
	const struct keyed *x = keyed_items(w, t, before, &n), *x_end = x + n;
	const struct keyed *y = keyed_items(w, t, after, &m), *y_end = y + m;
	while (x < x_end || y < y_end) {
		int c = next_side(x < x_end ? x->step : NULL, y < y_end ? y->step : NULL);
		const struct keyed *was = c <= 0 ? x : NULL, *is = c >= 0 ? y : NULL;
		if (enter(w, was ? was->step : is->step)) {
			compare_items(w, t, was, is);
			w->n--;
		}
		x += was ? was->same : 0;
		y += is ? is->same : 0;
	}
}

/* Has a struct something even where JSON shows nothing? */
static bool has_always(struct apply_type t)
{
	for (size_t i = 0; t.s && t.s->properties && i < t.s->n_properties; i++)
		if (t.s->properties[i].schema->value_struct)
			return true;
	return false;
}

static bool has_nothing(const struct obj *o)
{
	return !o || obj_type(o) == OBJ_NULL || obj_len(o) == 0;
}

/* The type both sides have (an absent or null side takes the other's), or OBJ_ABSENT. */
static enum obj_type common_type(const struct obj *before, const struct obj *after)
{
	enum obj_type x = obj_type(before), y = obj_type(after);
	if (x == OBJ_ABSENT || x == OBJ_NULL)
		return y;
	return y == OBJ_ABSENT || y == OBJ_NULL || x == y ? x : OBJ_ABSENT;
}

/* A map that becomes something else, or was: what is in it comes or goes, too. */
static void compare_types(struct walk *w, struct apply_type t, const struct obj *before,
			  const struct obj *after)
{
	if (obj_type(before) == OBJ_MAP && !apply_map_is_atomic(t))
		compare_maps(w, t, before, NULL);
	else if (obj_type(after) == OBJ_MAP && !apply_map_is_atomic(t))
		compare_maps(w, t, NULL, after);
	compare_leaf(w, before, after);
}

static void compare_node(struct walk *w, struct apply_type t, const struct obj *before,
			 const struct obj *after)
{
	enum obj_type type = common_type(before, after);
	bool empty = has_nothing(before) && has_nothing(after);
	bool granular = (type == OBJ_MAP && !apply_map_is_atomic(t)) ||
			(type == OBJ_LIST && !apply_list_is_atomic(t));
	if (!before && !after)
		return;
	if (type == OBJ_ABSENT) {
		compare_types(w, t, before, after);
		return;
	}
	empty = empty && !(type == OBJ_MAP && has_always(t));
	if (!granular || (empty && w->n > 0)) {
		compare_leaf(w, before, after);
		return;
	}
	if (type == OBJ_MAP)
		compare_maps(w, t, before, after);
	else
		compare_lists(w, t, before, after);
	if (w->n > 0 && !before)
		fieldset_insert(w->diff.added, w->steps, w->n);
	else if (w->n > 0 && !after)
		fieldset_insert(w->diff.removed, w->steps, w->n);
}

void apply_compare(struct apply_type t, const struct obj *before, const struct obj *after,
		   struct arena *a, struct apply_diff *ret)
{
	struct walk *w = ARENA_NEW(a, struct walk);
	w->a = a;
	w->diff.added = fieldset_new(a);
	w->diff.modified = fieldset_new(a);
	w->diff.removed = fieldset_new(a);
	compare_node(w, t, before, after);
	*ret = w->diff;
}

struct fieldset *apply_with_parents(struct apply_type t, const struct fieldset *s, struct arena *a)
{
	struct fieldset *out = fieldset_new(a);
	for (size_t i = 0; s && i < s->n; i++) {
		const struct fieldset_item *item = &s->items[i];
		struct fieldset_item *copy = fieldset_at(out, item->step);
		bool is_field = item->step[0] == 'f';
		copy->member = item->member;
		if (!item->below)
			continue;
		struct apply_type child =
			is_field ? apply_field(t, item->step + 2) : apply_items(t);
		copy->member |= is_field && apply_is_named(t, item->step + 2) &&
				!fieldset_is_empty(item->below);
		copy->below = apply_with_parents(child, item->below, a);
	}
	return out;
}
/* NOLINTEND(misc-no-recursion) */
