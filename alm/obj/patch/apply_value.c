/* apply_value.c: merging a configuration into the live value, removing fields, and what a
 * configuration may not hold. */
#include <string.h>

#include "alm/base/map.h"
#include "alm/obj/json.h"
#include "alm/obj/patch/apply_walk.h"
#include "alm/obj/schema/schema_node.h"

#define PATH_BYTES_MAX ((size_t)64 << 10)
#define FINDINGS_MAX   64

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static struct obj *merge_maps(struct apply_type t, const struct obj *live, const struct obj *config,
			      struct arena *a)
{
	struct obj *out = obj_map();
	OBJ_EACH (it, live)
		obj_set(out, it.key,
			apply_merge_values(apply_field(t, it.key), it.value,
					   obj_get(config, it.key), a));
	OBJ_EACH (it, config)
		if (!obj_has(live, it.key))
			obj_set(out, it.key, obj_ref(it.value));
	return out;
}

/* The items of a list with their steps; an item without a step gets one of its own. */
struct keyed {
	const char **steps;
	struct map *index; /* step -> 1 + index */
	size_t n;
};

static struct keyed keyed_of(struct apply_type t, const struct obj *list, const char *prefix,
			     struct arena *a)
{
	struct keyed k = {.n = obj_len(list), .index = map_new(NULL)};
	k.steps = ARENA_ARRAY(a, const char *, k.n + 1);
	for (size_t i = 0; i < k.n; i++) {
		const char *step = apply_item_step(t, obj_at(list, i), a);
		if (!step)
			step = arena_fmt(a, "%s%zu", prefix, i);
		k.steps[i] = step;
		if (!map_has(k.index, step))
			map_set_number(k.index, step, i + 1);
	}
	return k;
}

static const struct obj *item_of(const struct keyed *k, const struct obj *list, const char *step)
{
	size_t at = map_number(k->index, step);
	return at ? obj_at(list, at - 1) : NULL;
}

/* Live item i is in the configuration too, but neither next there nor the next shared one. */
static bool is_other_shared(const struct keyed *l, const struct keyed *c, size_t i, size_t j,
			    size_t shared)
{
	return strcmp(l->steps[i], c->steps[j]) != 0 && shared < c->n &&
	       strcmp(l->steps[i], c->steps[shared]) != 0;
}

static struct obj *merge_or_take(struct apply_type t, const struct obj *live,
				 const struct obj *config, struct arena *a)
{
	return live ? apply_merge_values(apply_items(t), live, config, a) : obj_ref(config);
}

/* The order of structured-merge-diff: items of the configuration in its order; an item that only
 * the live list has stays where it is, relative to the next shared one. */
static struct obj *merge_lists(struct apply_type t, const struct obj *live,
			       const struct obj *config, struct arena *a)
{
	struct keyed l = keyed_of(t, live, "live ", a), c = keyed_of(t, config, "config ", a);
	struct obj *out = obj_list();
	size_t i = 0, j = 0, shared = 0;
	while (i < l.n || j < c.n) {
		while (shared < c.n && (shared < j || !map_has(l.index, c.steps[shared])))
			shared++;
		if (i < l.n && !map_has(c.index, l.steps[i])) {
			obj_append(out, obj_ref(obj_at(live, i++)));
		} else if (i < l.n && (j == c.n || is_other_shared(&l, &c, i, j, shared))) {
			i++; /* it comes, or came, at its place in the configuration */
		} else {
			const struct obj *match = item_of(&l, live, c.steps[j]);
			i += i < l.n && strcmp(l.steps[i], c.steps[j]) == 0;
			obj_append(out, merge_or_take(t, match, obj_at(config, j++), a));
		}
	}
	map_free(l.index);
	map_free(c.index);
	return out;
}

struct obj *apply_merge_values(struct apply_type t, const struct obj *live,
			       const struct obj *config, struct arena *a)
{
	bool divided = (obj_type(live) == OBJ_MAP && !apply_map_is_atomic(t)) ||
		       (obj_type(live) == OBJ_LIST && !apply_list_is_atomic(t));
	if (!config || (obj_type(config) == OBJ_NULL && divided && obj_len(live)))
		return obj_ref(live);
	if (obj_type(live) == OBJ_MAP && obj_type(config) == OBJ_MAP && !apply_map_is_atomic(t))
		return merge_maps(t, live, config, a);
	if (obj_type(live) == OBJ_LIST && obj_type(config) == OBJ_LIST && !apply_list_is_atomic(t))
		return merge_lists(t, live, config, a);
	return obj_ref(config);
}

static struct obj *remove_members(struct apply_type t, const struct obj *map,
				  const struct fieldset *s, struct arena *a)
{
	struct obj *out = obj_map();
	OBJ_EACH (it, map) {
		const struct fieldset_item *item = fieldset_find(s, apply_field_step(it.key, a));
		if (item && item->member)
			continue;
		obj_set(out, it.key,
			item && item->below
				? apply_remove(apply_field(t, it.key), it.value, item->below, a)
				: obj_ref(it.value));
	}
	return out;
}

static struct obj *remove_items(struct apply_type t, const struct obj *list,
				const struct fieldset *s, struct arena *a)
{
	struct obj *out = obj_list();
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *value = obj_at(list, i);
		const char *step = apply_item_step(t, value, a);
		const struct fieldset_item *item = step ? fieldset_find(s, step) : NULL;
		if (item && item->member)
			continue;
		obj_append(out, item && item->below
					? apply_remove(apply_items(t), value, item->below, a)
					: obj_ref(value));
	}
	return out;
}

struct obj *apply_remove(struct apply_type t, const struct obj *o, const struct fieldset *s,
			 struct arena *a)
{
	struct obj *out;
	bool is_map = obj_type(o) == OBJ_MAP;
	if (obj_len(o) == 0 || fieldset_is_empty(s))
		return obj_ref(o);
	if (is_map && (!apply_map_is_atomic(t) || t.root))
		out = remove_members(t, o, s, a);
	else if (obj_type(o) == OBJ_LIST && !apply_list_is_atomic(t))
		out = remove_items(t, o, s, a);
	else
		return obj_ref(o);
	return out;
}

struct findings {
	struct arena *a;
	struct strbuf path, *out;
	size_t n;
};

static void add(struct findings *f, const char *text)
{
	if (f->n++ < FINDINGS_MAX)
		strbuf_addf(f->out, "%s%s: %s", f->n > 1 ? "\n" : "", f->path.buf, text);
}

static const char *expected(const struct schema *s, const struct obj *o)
{
	if (s && s->preserve && s->type == SCHEMA_OBJECT && obj_type(o) > OBJ_NULL &&
	    obj_type(o) != OBJ_MAP)
		return "map";
	bool is_open = s && s->preserve && s->type & (SCHEMA_OBJECT | SCHEMA_ARRAY);
	if (!s || !s->type || is_open || obj_type(o) == OBJ_NULL || schema_has_type(s, o))
		return NULL;
	bool is_time = s->type == SCHEMA_STRING && s->format && strcmp(s->format, "date-time") == 0;
	if (s->type == SCHEMA_ANY_SCALAR || is_time)
		return obj_type(o) == OBJ_MAP || obj_type(o) == OBJ_LIST ? "any scalar" : NULL;
	if (s->type & SCHEMA_OBJECT)
		return "map";
	if (s->type & SCHEMA_ARRAY)
		return "list";
	if (s->type & SCHEMA_STRING)
		return "string";
	if (s->type & SCHEMA_BOOLEAN)
		return "boolean";
	return obj_is_number(o) ? NULL : "numeric (int or float)";
}

/* Of what JSON becomes in Go. */
static const char *go_type(const struct obj *o)
{
	if (obj_type(o) == OBJ_MAP)
		return "map[string]interface {}";
	if (obj_type(o) == OBJ_LIST)
		return "[]interface {}";
	return obj_type(o) == OBJ_BOOL ? "bool" : "string";
}

static void check_node(struct findings *f, struct apply_type t, const struct obj *o);

/* metadata has a type of its own, whatever the object is. */
static bool is_declared(struct apply_type t, const char *key)
{
	if (t.builtin)
		return !t.s || schema_is_declared(t.s, key);
	return apply_is_named(t, key) || schema_is_declared(t.s, key);
}

static void check_map(struct findings *f, struct apply_type t, const struct obj *o)
{
	OBJ_EACH (it, o) {
		size_t at = f->path.len;
		strbuf_addf(&f->path, ".%s", it.key);
		if (!is_declared(t, it.key))
			add(f, "field not declared in schema");
		else
			check_node(f, apply_field(t, it.key), it.value);
		strbuf_truncate(&f->path, at);
	}
}

static void add_key_missing(struct findings *f, struct apply_type t, size_t i)
{
	const char *const *keys = NULL;
	size_t n = schema_list_keys(t.s, &keys);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PATH_BYTES_MAX);
	strbuf_addf(&b,
		    "element %zu: associative list with keys has an element that omits all key "
		    "fields [",
		    i);
	for (size_t k = 0; k < n; k++)
		strbuf_addf(&b, "%s\"%s\"", k ? " " : "", keys[k]);
	strbuf_adds(&b, "] (and doesn't have default values for any key fields)");
	add(f, b.buf);
}

/* "k:{...}" reads [name="q"] in a message, as everywhere. */
static void add_duplicate(struct findings *f, const char *step)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PATH_BYTES_MAX);
	strbuf_adds(&b, "duplicate entries for key ");
	fieldset_key_text(step, &b);
	add(f, b.buf);
}

static const char *not_of_set(const struct obj *item)
{
	if (obj_type(item) == OBJ_LIST)
		return "not supported: associative list with lists as elements";
	if (obj_type(item) == OBJ_MAP)
		return "associative list without keys has an element that's a map type";
	return obj_type(item) == OBJ_NULL
		       ? "associative list without keys has an element that's an explicit null"
		       : NULL;
}

static void check_list(struct findings *f, struct apply_type t, const struct obj *o)
{
	struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(o); i++) {
		const struct obj *item = obj_at(o, i);
		size_t at = f->path.len;
		bool is_set = schema_list_type(t.s) == LIST_SET;
		const char *fault = is_set ? not_of_set(item) : NULL;
		if (fault) {
			add(f, arena_fmt(f->a, "element %zu: %s", i, fault));
			break;
		}
		if (!is_set && !apply_list_is_atomic(t) && obj_type(item) != OBJ_MAP) {
			add(f,
			    arena_fmt(f->a,
				      "element %zu: associative list with keys may not have %s", i,
				      obj_type(item) == OBJ_NULL ? "a null element"
								 : "non-map elements"));
			break;
		}
		if (!apply_list_is_atomic(t)) {
			const char *step = apply_item_step(t, item, f->a);
			if (!step) {
				add_key_missing(f, t, i);
				break;
			}
			if (map_has(seen, step))
				add_duplicate(f, step);
			else
				map_set(seen, step, NULL);
			fieldset_key_text(step, &f->path);
		} else {
			strbuf_addf(&f->path, "[%zu]", i);
		}
		check_node(f, apply_items(t), item);
		strbuf_truncate(&f->path, at);
	}
	map_free(seen);
}

/* As Go prints its values here: the type where a number is wanted, else the value itself. */
static void add_wrong_type(struct findings *f, const char *want, const struct obj *o)
{
	CLEANUP(strbuf_release) struct strbuf value = STRBUF_INIT(PATH_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT(PATH_BYTES_MAX);
	go_syntax(o, &value);
	go_plain(o, &plain);
	if (want[0] == 'n')
		add(f, arena_fmt(f->a, "expected %s, got %s", want, go_type(o)));
	else if (want[0] != 's')
		add(f, arena_fmt(f->a, "expected %s, got &{%s}", want, plain.buf));
	else
		add(f, arena_fmt(f->a, "expected %s, got &value.valueUnstructured{Value:%s}", want,
				 value.buf));
}

static void check_node(struct findings *f, struct apply_type t, const struct obj *o)
{
	const char *want = NULL;
	if (t.s && t.s->int_or_string) /* has no type of its own: it is judged later */
		return;
	want = expected(t.s, o);
	if (want)
		add_wrong_type(f, want, o);
	else if (obj_type(o) == OBJ_MAP)
		check_map(f, t, o);
	else if (obj_type(o) == OBJ_LIST)
		check_list(f, t, o);
}
/* NOLINTEND(misc-no-recursion) */

size_t apply_check_config(struct apply_type t, const struct obj *o, struct arena *a,
			  struct strbuf *b)
{
	struct findings f = {.a = a, .out = b};
	strbuf_init(&f.path, PATH_BYTES_MAX);
	check_node(&f, t, o);
	strbuf_release(&f.path);
	return f.n;
}
