/* gate_schema.c: two schemas, node by node. */
#include <string.h>

#include "catalog/gate_internal.h"

static bool push(struct gate_walk *w, char kind, const char *name, const struct schema *map)
{
	if (w->n == GATE_STEPS_MAX)
		return false;
	w->steps[w->n++] = (struct gate_step){.kind = kind, .name = name, .map = map};
	return true;
}

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

/* Keys that are not declared are kept, whatever they hold. */
static bool is_open(const struct schema *s)
{
	return s->preserve || s->additional_any;
}

/* apiVersion, kind and metadata stay without being declared. */
static bool is_implicit(const struct gate_walk *w, const struct schema *s, const char *name)
{
	return (w->n == 0 || s->embedded) &&
	       (strcmp(name, "apiVersion") == 0 || strcmp(name, "kind") == 0 ||
		strcmp(name, "metadata") == 0);
}

static const char *default_text(struct gate_walk *w, const struct schema *s)
{
	return s->default_value ? gate_canonical(s->default_value, w->g->arena) : "";
}

/* Of a field that both have; w stands at its parent. */
static void compare_default(struct gate_walk *w, const char *name, const struct schema *x,
			    const struct schema *y)
{
	const char *before = default_text(w, x), *after = default_text(w, y);
	if (strcmp(before, after) == 0 ||
	    (obj_equal(x->default_value, y->default_value) && x->default_value && y->default_value))
		return;
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
	} else if (y->additional) {
		compare_at(w, '.', name, NULL, old, y->additional, raw_old,
			   obj_get(raw_y, "additionalProperties"));
	} else if (!is_open(y) && !is_implicit(w, x, name)) {
		remove_field(w, name, old);
	}
}

/* A property that the old schema did not declare: pruned until now, unless the map was open. */
static void compare_new_property(struct gate_walk *w, const char *name, const struct schema *x,
				 const struct schema *new, const struct obj *raw_x,
				 const struct obj *raw_new)
{
	if (x->additional)
		compare_at(w, '.', name, NULL, x->additional, new,
			   raw_x ? obj_get(raw_x, "additionalProperties") : NULL, raw_new);
	else if (is_open(x) && !is_implicit(w, x, name))
		compare_at(w, '.', name, NULL, gate_anything(), new, NULL, raw_new);
}

static void compare_undeclared(struct gate_walk *w, const struct schema *x, const struct schema *y,
			       const struct obj *raw_x, const struct obj *raw_y)
{
	if (!x->additional && !is_open(x))
		return;
	if (y->additional) {
		const struct schema *from = x->additional ? x->additional : gate_anything();
		compare_at(w, '{', NULL, y, from, y->additional,
			   x->additional ? obj_get(raw_x, "additionalProperties") : NULL,
			   obj_get(raw_y, "additionalProperties"));
		return;
	}
	if (is_open(y) || !(y->type & SCHEMA_OBJECT))
		return;
	struct gate_item *item =
		gate_add(w->g, "MapNarrowed", w->version, w, FINDING_WARN,
			 x->additional ? "additionalProperties" : "unknown fields preserved",
			 y->properties ? "declared fields only" : "no fields");
	item->check = CHECK_UNDECLARED;
	item->escalates = true;
	item->test = y;
}

static void compare_maps(struct gate_walk *w, const struct schema *x, const struct schema *y,
			 const struct obj *raw_x, const struct obj *raw_y)
{
	const struct obj *declared = obj_get(raw_y, "properties");
	for (struct map_entry *e = x->properties ? map_first(x->properties) : NULL; e;
	     e = map_next(e))
		compare_old_property(w, e->key, x, y, raw_x, raw_y);
	for (struct map_entry *e = y->properties ? map_first(y->properties) : NULL; e;
	     e = map_next(e))
		if (!schema_property(x, e->key))
			compare_new_property(w, e->key, x, e->value, raw_x,
					     obj_get(declared, e->key));
	compare_undeclared(w, x, y, raw_x, raw_y);
}

void gate_compare(struct gate_walk *w, const struct schema *x, const struct schema *y,
		  const struct obj *raw_x, const struct obj *raw_y)
{
	gate_compare_unknown(w, raw_x, raw_y);
	if (!gate_compare_type(w, x, y))
		return;
	gate_compare_keywords(w, x, y);
	if (y->all_of.n || y->any_of.n || y->one_of.n || y->not_schema)
		gate_compare_branches(w, x, y, raw_x, raw_y);
	if (y->rules)
		gate_compare_rules(w, raw_x, raw_y);
	if (x->type == 0 || (x->type & SCHEMA_OBJECT))
		compare_maps(w, x, y, raw_x, raw_y);
	if (y->items && (x->items || x->type == 0))
		compare_at(w, '[', NULL, NULL, x->items ? x->items : gate_anything(), y->items,
			   obj_get(raw_x, "items"), obj_get(raw_y, "items"));
}
/* NOLINTEND(misc-no-recursion) */
