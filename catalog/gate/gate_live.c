/* gate_live.c: one live object against every finding, and against the new schema as a whole. */
#include <string.h>

#include "catalog/gate/gate_internal.h"

#define ERRORS_BYTES_MAX ((size_t)4 << 20)

struct look {
	const struct gate_item *item;
	bool only_pruned; /* the object was not valid before: what is refused is nothing new */
	bool hit;
};

static void note_pruned(void *arg, const char *path)
{
	char **first = arg;
	if (!*first)
		*first = xstrdup(path);
}

static bool loses(const struct look *l, const struct obj *value)
{
	CLEANUP(obj_unrefp) struct obj *after = obj_copy(value);
	CLEANUP(xfreep) char *lost = NULL;
	schema_prune_value(l->item->test, after, note_pruned, &lost);
	schema_default(l->item->test, after);
	return lost || (!l->only_pruned && !schema_accepts(l->item->test, after));
}

static void look_at(struct look *l, const struct obj *value)
{
	const struct gate_item *item = l->item;
	switch (item->check) {
	case CHECK_NONE:
		break;
	case CHECK_REFUSED:
		l->hit |= !schema_accepts(item->test, value);
		break;
	case CHECK_LOSES:
		l->hit |= loses(l, value);
		break;
	case CHECK_HAS:
		l->hit = true;
		break;
	case CHECK_LACKS:
		l->hit |= obj_type(value) == OBJ_MAP && !obj_has(value, item->name);
		break;
	case CHECK_UNDECLARED:
		OBJ_EACH (it, value)
			l->hit |= !schema_property(item->test, it.key) &&
				  !(item->n_steps == 0 && (strcmp(it.key, "apiVersion") == 0 ||
							   strcmp(it.key, "kind") == 0 ||
							   strcmp(it.key, "metadata") == 0));
		break;
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): a step a level, of GATE_STEPS_MAX */
static void descend(struct look *l, const struct obj *value, size_t at)
{
	if (l->hit || !value)
		return;
	if (at == l->item->n_steps) {
		look_at(l, value);
		return;
	}
	const struct gate_step *step = &l->item->steps[at];
	if (step->kind == '.') {
		descend(l, obj_get(value, step->name), at + 1);
	} else if (step->kind == '[') {
		for (size_t i = 0; obj_type(value) == OBJ_LIST && i < obj_len(value); i++)
			descend(l, obj_at(value, i), at + 1);
	} else if (obj_type(value) == OBJ_MAP) {
		OBJ_EACH (it, value)
			if (!schema_property(step->map, it.key))
				descend(l, it.value, at + 1);
	}
}

/* passed: the object was valid before. One that was not loses what is pruned all the same. */
static bool is_hit(const struct gate_item *item, const struct obj *o, bool passed)
{
	bool only_pruned = item->escalates && !passed;
	bool prunes = item->check == CHECK_LOSES || item->check == CHECK_UNDECLARED;
	struct look l = {.item = item, .only_pruned = only_pruned};
	if (item->check != CHECK_NONE && (!only_pruned || prunes))
		descend(&l, o, 0);
	return l.hit;
}

static void count(struct gate *g, struct gate_finding *f, const struct obj *o)
{
	f->n_affected++;
	if (f->n_listed < GATE_LISTED_MAX)
		f->objects[f->n_listed++] = usage_object_name(o, g->arena);
}

/* An object that the new schema refuses, or that loses a value (lost: its path, or NULL), and no
 * rule says why. */
static void count_unexplained(struct gate *g, const struct gate_version *v, const struct obj *o,
			      const struct obj *after, const char *lost)
{
	struct gate_item *item = NULL;
	for (size_t i = 0; i < g->n && !item; i++)
		if (strcmp(g->items[i].f.rule, "LiveObjectInvalid") == 0 &&
		    g->items[i].version == v->name)
			item = &g->items[i];
	if (!item) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ERRORS_BYTES_MAX);
		struct field_errors *e = ARENA_NEW(a, struct field_errors);
		field_errors_init(e, a);
		schema_validate(v->new_schema, after, e);
		item = gate_add(g, "LiveObjectInvalid", v->name, NULL, FINDING_REFUSE, "valid",
				lost   ? "a value is pruned"
				: e->n ? e->items[0].message
				       : "invalid");
		if (lost || e->n)
			item->f.path = arena_strdup(g->arena, lost ? lost : e->items[0].path);
	}
	count(g, &item->f, o);
}

/* The object as a server with this schema shows it; ret_lost: the first path that is lost. Most
 * have that shape already: a copy of each would be half of what the check costs. */
static struct obj *shaped(const struct schema *s, const struct obj *o, char **ret_lost)
{
	if (schema_is_shaped(s, o))
		return obj_ref(o);
	struct obj *copy = obj_copy(o);
	schema_prune(s, copy, note_pruned, ret_lost);
	schema_default(s, copy);
	return copy;
}

static void check_version(struct gate *g, const struct gate_version *v, const struct obj *o)
{
	CLEANUP(xfreep) char *unknown = NULL;
	CLEANUP(obj_unrefp) struct obj *before = shaped(v->old_schema, o, &unknown);
	CLEANUP(xfreep) char *lost = NULL;
	CLEANUP(obj_unrefp) struct obj *after = shaped(v->new_schema, before, &lost);
	bool passed = schema_accepts(v->old_schema, before), explained = false;
	size_t n = g->n; /* LiveObjectInvalid may join */
	for (size_t i = 0; i < n; i++) {
		struct gate_item *item = &g->items[i];
		if (item->version != v->name || item->on_stored ||
		    !is_hit(item, item->on_new ? after : before, passed))
			continue;
		count(g, &item->f, o);
		explained |= item->escalates || item->f.outcome == FINDING_REFUSE;
	}
	if (!explained && (lost || (passed && !schema_accepts(v->new_schema, after))))
		count_unexplained(g, v, o, after, lost);
}

void gate_object(struct gate *g, const struct obj *o, const char *version)
{
	bool first = g->n_through > 0 && strcmp(version, g->through[0]) == 0;
	g->seen += first;
	for (size_t i = 0; i < g->n_versions; i++) {
		struct gate_version *v = &g->versions[i];
		if (v->use_counts && first)
			usage_object(&v->usage, o);
		if (v->before && v->after && v->changed &&
		    (!g->converter || strcmp(v->name, version) == 0))
			check_version(g, v, o);
	}
	for (size_t i = 0; i < g->n && first; i++)
		if (g->items[i].on_stored && is_hit(&g->items[i], o, true))
			count(g, &g->items[i].f, o);
}

bool gate_wants_shadow(const struct gate *g, const char *version)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->items[i].needs_shadow && cstr_eq(g->items[i].version, version))
			return true;
	return false;
}

/* The server refuses it for its rules alone: the schema takes it. */
static bool is_about_rules(const struct gate_version *v, const struct obj *o)
{
	CLEANUP(xfreep) char *lost = NULL;
	if (!v->new_schema)
		return false;
	CLEANUP(obj_unrefp) struct obj *after = shaped(v->new_schema, o, &lost);
	return schema_accepts(v->new_schema, after);
}

static void shadow(struct gate *g, const struct obj *o, const char *version, const char *message,
		   enum gate_evaluator by)
{
	for (size_t i = 0; i < g->n_versions; i++)
		if (strcmp(g->versions[i].name, version) == 0) {
			g->versions[i].evaluated = by;
			if (message && !is_about_rules(&g->versions[i], o))
				return;
		}
	for (size_t i = 0; message && i < g->n; i++)
		if (g->items[i].needs_shadow && cstr_eq(g->items[i].version, version)) {
			count(g, &g->items[i].f, o);
			return; /* the server's words name no rule: the first one stands for all */
		}
}

void gate_shadow(struct gate *g, const struct obj *o, const char *version, const char *message)
{
	shadow(g, o, version, message, EVALUATED_BY_SERVER);
}

/* Do all rules of the schema take the object? */
static bool follows(const struct schema *s, const struct obj *o)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ERRORS_BYTES_MAX);
	struct field_errors *e = ARENA_NEW(a, struct field_errors);
	field_errors_init(e, a);
	schema_validate_rules(s, o, NULL, e);
	return e->n == 0;
}

/* A rule that is not understood here refuses everything: then nothing is said of any. */
static bool are_understood(struct gate_version *v)
{
	if (v->rules_known)
		return v->rules_fit;
	CLEANUP(arena_freep) struct arena *a = arena_new(ERRORS_BYTES_MAX);
	struct field_errors *e = ARENA_NEW(a, struct field_errors);
	field_errors_init(e, a);
	schema_check_rules(v->raw_after, "", e);
	v->rules_known = true;
	v->rules_fit = e->n == 0;
	return v->rules_fit;
}

void gate_evaluate(struct gate *g, const struct obj *o, const char *version)
{
	for (size_t i = 0; i < g->n_versions; i++) {
		struct gate_version *v = &g->versions[i];
		if (!v->before || !v->after || (g->converter && strcmp(v->name, version) != 0) ||
		    !gate_wants_shadow(g, v->name) || !are_understood(v))
			continue;
		CLEANUP(xfreep) char *unknown = NULL;
		CLEANUP(xfreep) char *lost = NULL;
		CLEANUP(obj_unrefp) struct obj *before = shaped(v->old_schema, o, &unknown);
		CLEANUP(obj_unrefp) struct obj *after = shaped(v->new_schema, before, &lost);
		if (schema_accepts(v->old_schema, before) && follows(v->old_schema, before))
			shadow(g, o, v->name, follows(v->new_schema, after) ? NULL : "refused",
			       EVALUATED_HERE);
	}
}
