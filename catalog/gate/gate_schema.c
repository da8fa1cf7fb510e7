/* gate_schema.c: two schemas, node by node. */
#include <string.h>

#include "catalog/gate/gate_internal.h"

static bool push(struct gate_walk *w, char kind, const char *name, const struct schema *map)
{
	if (w->n == GATE_STEPS_MAX)
		return false;
	w->steps[w->n++] = (struct gate_step){.kind = kind, .name = name, .map = map};
	return true;
}

static void compare_node(struct gate_walk *w, const struct schema *x, const struct schema *y,
			 const struct obj *raw_x, const struct obj *raw_y);

/* NOLINTNEXTLINE(misc-no-recursion): push() bounds the depth by GATE_STEPS_MAX */
static void compare_at(struct gate_walk *w, char kind, const char *name, const struct schema *map,
		       const struct schema *x, const struct schema *y, const struct obj *raw_x,
		       const struct obj *raw_y)
{
	if (!push(w, kind, name, map)) {
		gate_add(w->g, "KeywordUnknown", w->version, w, FINDING_REFUSE, "",
			 "nested too deeply");
		return;
	}
	gate_compare(w, x, y, raw_x, raw_y);
	w->n--;
}

/* additionalProperties: true keeps undeclared keys, but declares nothing of what they hold: maps in
 * them are pruned empty. */
static const struct schema *additional_of(const struct schema *s)
{
	return s->additional_any && !s->additional ? gate_undeclared() : s->additional;
}

/* Keys that are not declared are kept, whatever they hold. */
static bool is_open(const struct schema *s)
{
	return s->preserve && !additional_of(s);
}

bool gate_is_meta(const char *name)
{
	return strcmp(name, "apiVersion") == 0 || strcmp(name, "kind") == 0 ||
	       strcmp(name, "metadata") == 0;
}

/* They stay without being declared. */
static bool is_implicit(const struct gate_walk *w, const struct schema *s, const char *name)
{
	return (w->n == 0 || s->embedded) && gate_is_meta(name);
}

static bool is_metadata(const struct gate_walk *w, const struct schema *s, const char *name)
{
	return strcmp(name, "metadata") == 0 && is_implicit(w, s, name);
}

/* Of a field that both take; w stands at its parent. y NULL: no longer declared. */
static void compare_default(struct gate_walk *w, const char *name, const struct schema *x,
			    const struct schema *y)
{
	const struct obj *old = x->default_value, *new = schema_default_of(y);
	if ((!old && !new) || (old && new && obj_equal(old, new)))
		return;
	const char *before = gate_value_text(w, old), *after = gate_value_text(w, new);
	size_t at = w->n;
	if (!push(w, '.', name, NULL))
		return;
	struct gate_item *item =
		gate_add(w->g, "DefaultChanged", w->version, w, FINDING_WARN, before, after);
	w->n = at;
	item->check = CHECK_LACKS;
	item->name = name;
	item->n_steps--; /* the parent is looked at */
}

static void remove_field(struct gate_walk *w, const char *name, const struct schema *x)
{
	if (!push(w, '.', name, NULL))
		return;
	struct gate_item *item = gate_add(w->g, "FieldRemoved", w->version, w, FINDING_REFUSE,
					  x->type ? "declared" : "declared, any type", "");
	item->check = CHECK_HAS;
	w->n--;
}

/* NOLINTBEGIN(misc-no-recursion): push() bounds the depth by GATE_STEPS_MAX */
static void compare_old_property(struct gate_walk *w, const char *name, const struct schema *x,
				 const struct schema *y, const struct obj *raw_x,
				 const struct obj *raw_y)
{
	const struct schema *old = schema_property(x, name), *new = schema_property(y, name);
	const struct obj *raw_old = obj_get(obj_get(raw_x, "properties"), name);
	if (new) {
		compare_default(w, name, old, new);
		compare_at(w, '.', name, NULL, old, new, raw_old,
			   obj_get(obj_get(raw_y, "properties"), name));
	} else if (additional_of(y)) {
		compare_default(w, name, old, NULL);
		compare_at(w, '.', name, NULL, old, additional_of(y), raw_old,
			   obj_get(raw_y, "additionalProperties"));
	} else if (is_open(y)) {
		compare_default(w, name, old, NULL);
	} else if (!is_implicit(w, x, name)) {
		remove_field(w, name, old);
	}
}

/* A property that the old schema did not declare: pruned until now, unless the map was open. */
static void compare_new_property(struct gate_walk *w, const char *name, const struct schema *x,
				 const struct schema *new, const struct obj *raw_x,
				 const struct obj *raw_new)
{
	if (additional_of(x))
		compare_at(w, '.', name, NULL, additional_of(x), new,
			   raw_x ? obj_get(raw_x, "additionalProperties") : NULL, raw_new);
	else if (is_implicit(w, x, name))
		compare_at(w, '.', name, NULL, gate_string(), new, NULL, raw_new);
	else if (is_open(x))
		compare_at(w, '.', name, NULL, gate_anything(), new, NULL, raw_new);
}

/* Of a resource only names may be restricted (structural schemas, rule 4); the rest is ObjectMeta,
 * whatever is declared. */
static void compare_metadata(struct gate_walk *w, const struct schema *x, const struct schema *y,
			     const struct obj *raw_x, const struct obj *raw_y)
{
	static const char *const names[] = {"name", "generateName"};
	if (!push(w, '.', "metadata", NULL))
		return;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct schema *old = schema_property(x, names[i]);
		const struct schema *new = schema_property(y, names[i]);
		if (new)
			compare_at(w, '.', names[i], NULL, old ? old : gate_string(), new,
				   obj_get(obj_get(raw_x, "properties"), names[i]),
				   obj_get(obj_get(raw_y, "properties"), names[i]));
	}
	w->n--;
}

static void compare_undeclared(struct gate_walk *w, const struct schema *x, const struct schema *y,
			       const struct obj *raw_x, const struct obj *raw_y)
{
	const struct schema *from = is_open(x) ? gate_anything() : additional_of(x);
	if (!from)
		return;
	if (additional_of(y)) {
		compare_at(w, '{', NULL, y, from, additional_of(y),
			   obj_get(raw_x, "additionalProperties"),
			   obj_get(raw_y, "additionalProperties"));
		return;
	}
	if (w->covered || is_open(y) || (y->type && !(y->type & SCHEMA_OBJECT)))
		return;
	struct gate_item *item =
		gate_add(w->g, "MapNarrowed", w->version, w, FINDING_WARN,
			 is_open(x) ? "unknown fields preserved" : "additionalProperties",
			 y->properties ? "declared fields only" : "no fields");
	item->check = CHECK_UNDECLARED;
	item->escalates = true;
	item->test = y;
}

static void compare_maps(struct gate_walk *w, const struct schema *x, const struct schema *y,
			 const struct obj *raw_x, const struct obj *raw_y)
{
	const struct obj *before = obj_get(raw_x, "properties");
	OBJ_EACH (it, before) /* findings come in the order of what is written */
		if (!is_metadata(w, x, it.key))
			compare_old_property(w, it.key, x, y, raw_x, raw_y);
	OBJ_EACH (it, obj_get(raw_y, "properties")) {
		const struct schema *new = schema_property(y, it.key);
		if (is_metadata(w, y, it.key))
			compare_metadata(w, schema_property(x, it.key), new,
					 obj_get(before, it.key), it.value);
		else if (!schema_property(x, it.key))
			compare_new_property(w, it.key, x, new, raw_x, it.value);
	}
	compare_undeclared(w, x, y, raw_x, raw_y);
}

static void compare_items(struct gate_walk *w, const struct schema *x, const struct schema *y,
			  const struct obj *raw_x, const struct obj *raw_y)
{
	const struct schema *from = x->items, *to = y->items;
	if (!from && to && (x->type == 0 || (x->type & SCHEMA_ARRAY)))
		from = gate_anything();
	if (!to && from && !y->preserve)
		to = gate_undeclared();
	if (from && to)
		compare_at(w, '[', NULL, NULL, from, to, obj_get(raw_x, "items"),
			   obj_get(raw_y, "items"));
}

/* Any value at all was taken: one finding for whatever is declared now, not one for each field. */
static bool is_closed(struct gate_walk *w, const struct schema *x, const struct schema *y)
{
	bool anything = x->type == 0 && x->preserve && !x->properties && !x->items &&
			!x->additional && !x->additional_any;
	return !w->covered && anything && w->n > 0 && (y->type || !is_open(y));
}

static void close_anything(struct gate_walk *w, const struct schema *y)
{
	bool typed = y->type != 0;
	struct gate_item *item = gate_add_narrow(w, typed ? "TypeChanged" : "MapNarrowed", "any",
						 typed ? gate_type_text(y) : "no fields", y);
	if (item)
		item->check = CHECK_LOSES;
}

void gate_compare(struct gate_walk *w, const struct schema *x, const struct schema *y,
		  const struct obj *raw_x, const struct obj *raw_y)
{
	bool closed = is_closed(w, x, y);
	if (closed)
		close_anything(w, y);
	w->covered |= closed;
	compare_node(w, x, y, raw_x, raw_y);
	if (closed)
		w->covered = false;
}

static void compare_node(struct gate_walk *w, const struct schema *x, const struct schema *y,
			 const struct obj *raw_x, const struct obj *raw_y)
{
	gate_compare_unknown(w, raw_x, raw_y);
	if (!gate_compare_type(w, x, y))
		return;
	gate_compare_keywords(w, x, y);
	if (y->all_of.n || y->any_of.n || y->one_of.n || y->not_schema)
		gate_compare_branches(w, y, raw_x, raw_y);
	if (y->rules)
		gate_compare_rules(w, raw_x, raw_y);
	if (x->type == 0 || (x->type & SCHEMA_OBJECT))
		compare_maps(w, x, y, raw_x, raw_y);
	compare_items(w, x, y, raw_x, raw_y);
}
/* NOLINTEND(misc-no-recursion) */
