/* gate_crd.c: the definition itself: names, versions, conversion, subresources. */
#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "catalog/gate/gate_internal.h"
#include "catalog/gate/usage.h"

static const struct obj *version_of(const struct obj *crd, const char *name)
{
	const struct obj *list = obj_path(crd, "spec.versions");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "name"), name))
			return obj_at(list, i);
	return NULL;
}

static bool is_served(const struct obj *version)
{
	return obj_flag(version, "served", false);
}

static bool is_stored(const struct gate *g, const char *name)
{
	const struct obj *list = obj_path(g->in->before, "status.storedVersions");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_as_string(obj_at(list, i)), name))
			return true;
	return obj_flag(version_of(g->in->before, name), "storage", false);
}

static bool has_webhook(const struct obj *crd)
{
	return cstr_eq(obj_str(crd, "spec.conversion.strategy"), "Webhook");
}

static void compare_text(struct gate *g, const char *rule, const char *path)
{
	const char *x = obj_str(g->in->before, path), *y = obj_str(g->in->after, path);
	if (!cstr_eq(x, y))
		gate_add(g, rule, NULL, NULL, FINDING_REFUSE, x ? x : "", y ? y : "");
}

/* A version whose users the counting of objects and writers decides about. */
static void lose_version(struct gate *g, struct gate_version *v, const char *rule,
			 const char *before, const char *after)
{
	gate_add(g, rule, v->name, NULL, FINDING_REFUSE, before, after);
	v->use_counts = true;
	v->use_item = g->n - 1;
}

static bool is_dropped(const struct gate *g, const char *version)
{
	const char *resource = arena_fmt(g->arena, "%s/%s", g->crd, version);
	bool before = false, after = false;
	for (size_t i = 0; i < g->in->n_managed_before; i++)
		before |= strcmp(g->in->managed_before[i], resource) == 0;
	for (size_t i = 0; i < g->in->n_managed_after; i++)
		after |= strcmp(g->in->managed_after[i], resource) == 0;
	return before && !after;
}

static void compare_version(struct gate *g, struct gate_version *v)
{
	bool gone = g->in->after && v->before && !v->after;
	bool unserved = g->in->after && v->after && is_served(v->before) && !is_served(v->after);
	if (!v->before)
		return;
	if (is_dropped(g, v->name))
		lose_version(g, v, "ResourceDropped", "managed", "not managed");
	else if (gone && is_served(v->before))
		lose_version(g, v, "VersionRemoved", "served", "");
	else if (unserved)
		lose_version(g, v, "VersionUnserved", "served: true", "served: false");
	if (gone && is_stored(g, v->name))
		gate_add(g, "StoredVersionRemoved", v->name, NULL, FINDING_REFUSE, "stored", "");
}

/* Does scale read or write another field? A label selector may come. */
static bool is_moved(const struct obj *x, const struct obj *y)
{
	static const char *const paths[] = {"specReplicasPath", "statusReplicasPath"};
	const char *selector = obj_str(x, "labelSelectorPath");
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		if (!cstr_eq(obj_str(x, paths[i]), obj_str(y, paths[i])))
			return true;
	return selector && !cstr_eq(selector, obj_str(y, "labelSelectorPath"));
}

static void compare_scale(struct gate *g, struct gate_version *v, const char *name)
{
	const struct obj *x = obj_get(obj_get(v->before, "subresources"), name);
	const struct obj *y = obj_get(obj_get(v->after, "subresources"), name);
	if (obj_equal(x, y) || !is_moved(x, y))
		return;
	struct gate_walk w = {.g = g};
	gate_add(g, "SubresourceRemoved", v->name, NULL, FINDING_WARN,
		 arena_fmt(g->arena, "%s %s", name, gate_value_text(&w, x)),
		 arena_fmt(g->arena, "%s %s", name, gate_value_text(&w, y)));
}

static void compare_subresources(struct gate *g, struct gate_version *v)
{
	static const char *const names[] = {"status", "scale"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		bool x = obj_has(obj_get(v->before, "subresources"), names[i]);
		bool y = obj_has(obj_get(v->after, "subresources"), names[i]);
		if (x && !y)
			gate_add(g, "SubresourceRemoved", v->name, NULL, FINDING_REFUSE, names[i],
				 "");
		else if (y && !x)
			gate_add(g, "SubresourceAdded", v->name, NULL, FINDING_WARN, "", names[i]);
		else if (x)
			compare_scale(g, v, names[i]);
	}
	const struct obj *x = obj_get(v->before, "selectableFields");
	const struct obj *y = obj_get(v->after, "selectableFields");
	for (size_t i = 0; i < obj_len(x); i++) {
		bool kept = false;
		for (size_t k = 0; k < obj_len(y) && !kept; k++)
			kept = obj_equal(obj_at(x, i), obj_at(y, k));
		const char *field = obj_str(obj_at(x, i), "jsonPath");
		if (!kept)
			gate_add(g, "SelectableRemoved", v->name, NULL, FINDING_WARN,
				 field ? field : "", "");
	}
}

/* spec.preserveUnknownFields: definitions made as v1beta1 may still prune nothing at all. */
static bool is_unpruned(const struct obj *crd)
{
	return obj_is_true(obj_path(crd, "spec.preserveUnknownFields"));
}

/* NOLINTNEXTLINE(misc-no-recursion): schemas nest at most SCHEMA_DEPTH_MAX deep */
static void keep_unknown(struct schema *s)
{
	if (!s)
		return;
	s->preserve = true;
	for (size_t i = 0; i < s->n_properties; i++)
		keep_unknown(s->properties[i].schema);
	keep_unknown(s->additional);
	keep_unknown(s->items);
}

static int compile(const struct gate *g, const struct obj *version, const char *name, bool unpruned,
		   const struct obj **ret_raw, struct schema **ret, struct error *err)
{
	static struct obj *open; /* for the life of the process */
	const struct obj *raw = obj_path(version, "schema.openAPIV3Schema");
	if (!version)
		return 0;
	if (!open) {
		open = obj_map();
		obj_set_str(open, "type", "object");
		obj_set_bool(open, "x-kubernetes-preserve-unknown-fields", true);
	}
	*ret_raw = raw ? raw : open;
	int rc = schema_compile(*ret_raw, ret, err);
	if (rc < 0)
		return error_wrap(err, "%s/%s", g->crd, name);
	if (unpruned)
		keep_unknown(*ret);
	return 0;
}

static int collect_versions(struct gate *g, struct error *err)
{
	const struct obj *lists[] = {obj_path(g->in->before, "spec.versions"),
				     obj_path(g->in->after, "spec.versions")};
	size_t max = obj_len(lists[0]) + obj_len(lists[1]);
	g->versions = ARENA_ARRAY(g->arena, struct gate_version, max + 1);
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < obj_len(lists[side]); i++) {
			const char *name = obj_str(obj_at(lists[side], i), "name");
			if (!name || (side == 1 && version_of(g->in->before, name)))
				continue;
			struct gate_version *v = &g->versions[g->n_versions++];
			v->name = arena_strdup(g->arena, name);
			v->before = version_of(g->in->before, name);
			v->after = version_of(g->in->after, name);
			int rc = compile(g, v->before, name, is_unpruned(g->in->before),
					 &v->raw_before, &v->old_schema, err);
			if (rc >= 0)
				rc = compile(g, v->after, name, is_unpruned(g->in->after),
					     &v->raw_after, &v->new_schema, err);
			if (rc < 0)
				return rc;
		}
	return 0;
}

static struct gate_walk *new_walk(struct gate *g, const char *version)
{
	struct gate_walk *w = ARENA_NEW(g->arena, struct gate_walk);
	w->g = g;
	w->version = version;
	return w;
}

static bool is_listed(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

/* Fields of the definition that nobody here knows are refused when they change. */
static void compare_others(struct gate *g, const char *version, const char *const *known,
			   const struct obj *x, const struct obj *y)
{
	const struct obj *sides[] = {x, y};
	struct gate_walk w = {.g = g};
	for (size_t side = 0; side < ARRAY_LEN(sides); side++)
		OBJ_EACH (it, sides[side]) {
			const struct obj *old = obj_get(x, it.key), *new = obj_get(y, it.key);
			if (is_listed(known, it.key) || (side == 1 && old) ||
			    (old && new && obj_equal(old, new)))
				continue;
			gate_add(g, "KeywordUnknown", version, NULL, FINDING_REFUSE,
				 arena_fmt(g->arena, "%s %s", it.key, gate_value_text(&w, old)),
				 arena_fmt(g->arena, "%s %s", it.key, gate_value_text(&w, new)));
		}
}

static void compare_schemas(struct gate *g, struct gate_version *v)
{
	static const char *const known[] = {"name",
					    "served",
					    "storage",
					    "deprecated",
					    "deprecationWarning",
					    "schema",
					    "subresources",
					    "additionalPrinterColumns",
					    "selectableFields",
					    NULL};
	if (!v->before || !v->after)
		return;
	compare_others(g, v->name, known, v->before, v->after);
	v->changed = !gate_same(v->raw_before, v->raw_after) ||
		     is_unpruned(g->in->before) != is_unpruned(g->in->after);
	if (!is_served(v->before) && !is_stored(g, v->name))
		return;
	if (is_served(v->before) && is_served(v->after))
		compare_subresources(g, v);
	if (v->changed)
		gate_compare(new_walk(g, v->name), v->old_schema, v->new_schema, v->raw_before,
			     v->raw_after);
}

/* Findings from version b to version a, aside. */
static struct gate *between(struct gate *g, const struct schema *b, const struct schema *a,
			    const struct obj *raw_b, const struct obj *raw_a, const char *version)
{
	struct gate *aside = ARENA_NEW(g->arena, struct gate);
	aside->arena = g->arena;
	aside->in = g->in;
	aside->crd = g->crd;
	gate_compare(new_walk(aside, version), b, a, raw_b, raw_a);
	return aside;
}

static bool is_about_values(const struct gate_item *item)
{
	static const char *const others[] = {"DefaultChanged", "CELChanged"};
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (strcmp(item->f.rule, others[i]) == 0)
			return false;
	return item->f.outcome == FINDING_REFUSE || item->escalates;
}

/* May an object have a value at the place that the steps lead to? */
static bool has_place(const struct schema *s, const struct gate_step *steps, size_t n)
{
	for (size_t i = 0; s && i < n; i++) {
		const struct schema *child = steps[i].kind == '.'
						     ? schema_property(s, steps[i].name)
					     : steps[i].kind == '[' ? s->items
								    : s->additional;
		if (!child && (s->preserve || s->additional_any))
			return true;
		s = child;
	}
	return s != NULL;
}

/* Served or stored from now on: what it lacks was no loss before. */
static bool takes_over(const struct gate *g, const struct gate_version *a)
{
	return !is_served(a->before) || (cstr_eq(usage_storage_version(g->in->after), a->name) &&
					 !cstr_eq(usage_storage_version(g->in->before), a->name));
}

/* The other version gains the field in this very change, so no object has it yet: an older version
 * that lacks a field of a newer one is as it always was. */
static bool is_gained(const struct gate *g, const struct gate_item *item,
		      const struct gate_version *b, const struct gate_version *a)
{
	return strcmp(item->f.rule, "FieldRemoved") == 0 && a->before && b->before &&
	       !takes_over(g, a) && !has_place(b->old_schema, item->steps, item->n_steps);
}

static bool had(const struct gate *old, const struct gate_item *item)
{
	for (size_t i = 0; old && i < old->n; i++)
		if (strcmp(old->items[i].f.rule, item->f.rule) == 0 &&
		    strcmp(old->items[i].f.path, item->f.path) == 0)
			return true;
	return false;
}

static void compare_pair(struct gate *g, const struct gate_version *b, const struct gate_version *a)
{
	struct gate *now =
		between(g, b->new_schema, a->new_schema, b->raw_after, a->raw_after, a->name);
	struct gate *then = NULL;
	if (a->old_schema && b->old_schema && !takes_over(g, a))
		then = between(g, b->old_schema, a->old_schema, b->raw_before, a->raw_before,
			       a->name);
	for (size_t i = 0; i < now->n; i++) {
		const struct gate_item *from = &now->items[i];
		if (!is_about_values(from) || had(then, from) || is_gained(g, from, b, a))
			continue;
		struct gate_item *item = gate_add(g, "CrossVersion", a->name, NULL, from->f.outcome,
						  from->f.before, from->f.after);
		item->f.path = from->f.path;
		item->f.note = arena_fmt(g->arena, "%s against %s", from->f.rule, b->name);
		item->steps = from->steps;
		item->n_steps = from->n_steps;
		item->check = from->check;
		item->test = from->test;
		item->name = from->name;
		item->escalates = from->escalates;
		item->on_stored = true;
	}
	if (now->omitted > 0)
		gate_add(g, "CrossVersion", a->name, NULL, FINDING_REFUSE, "",
			 arena_fmt(g->arena, "more than %d differences from %s", GATE_FINDINGS_MAX,
				   b->name));
}

static void compare_across(struct gate *g)
{
	if (has_webhook(g->in->after))
		return;
	for (size_t i = 0; i < g->n_versions; i++)
		for (size_t k = 0; k < g->n_versions; k++) {
			const struct gate_version *a = &g->versions[i], *b = &g->versions[k];
			/* an old version lacks what only a new one has as it always did */
			bool moved = a->after &&
				     (!a->before || takes_over(g, a) || (a->changed && b->before));
			if (i != k && moved && b->after && is_served(a->after) &&
			    is_served(b->after))
				compare_pair(g, b, a);
		}
}

static void compare_conversion(struct gate *g)
{
	bool x = has_webhook(g->in->before), y = has_webhook(g->in->after);
	const char *first = NULL;
	bool differ = false;
	if (y && !x) {
		gate_add(g, "ConversionAdded", NULL, NULL, FINDING_WARN, "None", "Webhook");
	} else if (x && y &&
		   !obj_equal(obj_path(g->in->before, "spec.conversion"),
			      obj_path(g->in->after, "spec.conversion"))) {
		gate_add(g, "ConversionAdded", NULL, NULL, FINDING_ALLOW, "Webhook",
			 "Webhook, changed");
	} else if (x && !y) {
		for (size_t i = 0; i < g->n_versions; i++) {
			const struct gate_version *v = &g->versions[i];
			if (!v->before || (!is_served(v->before) && !is_stored(g, v->name)))
				continue;
			const char *text = gate_canonical(v->raw_before, g->arena);
			differ |= first && strcmp(first, text) != 0;
			first = text;
		}
		gate_add(g, "ConversionRemoved", NULL, NULL, differ ? FINDING_REFUSE : FINDING_WARN,
			 "Webhook", "None");
	}
}

static void choose_versions(struct gate *g)
{
	g->converter = has_webhook(g->in->before);
	g->through = ARENA_ARRAY(g->arena, const char *, g->n_versions + 1);
	for (size_t i = 0; g->converter && i < g->n_versions; i++) {
		const struct gate_version *v = &g->versions[i];
		if (v->before && v->after && is_served(v->before) && is_served(v->after))
			g->through[g->n_through++] = v->name;
	}
	const char *storage = usage_storage_version(g->in->before);
	if (g->n_through == 0 && storage)
		g->through[g->n_through++] = arena_strdup(g->arena, storage);
}

/* The versions that stay, for the usage of those that go. */
static const char *const *kept_versions(struct gate *g)
{
	const char **keep = ARENA_ARRAY(g->arena, const char *, g->n_versions + 1);
	size_t n = 0;
	for (size_t i = 0; i < g->n_versions; i++) {
		const struct gate_version *v = &g->versions[i];
		bool stays =
			g->in->after ? v->after && is_served(v->after) : !is_dropped(g, v->name);
		if (stays && !is_dropped(g, v->name))
			keep[n++] = v->name;
	}
	return keep;
}

/* The definition but for its versions. */
static void compare_spec(struct gate *g)
{
	static const char *const known[] = {
		"group", "names", "scope", "versions", "conversion", "preserveUnknownFields", NULL};
	const char *x = usage_storage_version(g->in->before),
		   *y = usage_storage_version(g->in->after);
	compare_others(g, NULL, known, obj_get(g->in->before, "spec"),
		       obj_get(g->in->after, "spec"));
	compare_text(g, "ScopeChanged", "spec.scope");
	compare_text(g, "KindChanged", "spec.names.kind");
	if (!cstr_eq(x, y))
		gate_add(g, "StorageMoved", NULL, NULL, FINDING_ALLOW, x ? x : "", y ? y : "");
}

int gate_compare_crd(struct gate *g, struct error *err)
{
	if (g->in->server_refused)
		gate_add(g, "ServerRefused", NULL, NULL, FINDING_REFUSE, "", g->in->server_refused);
	if (!g->in->before)
		return 0;
	int rc = collect_versions(g, err);
	if (rc < 0)
		return rc;
	choose_versions(g);
	for (size_t i = 0; i < g->n_versions; i++)
		compare_version(g, &g->versions[i]);
	const char *const *keep = kept_versions(g);
	for (size_t i = 0; i < g->n_versions; i++)
		if (g->versions[i].use_counts)
			usage_begin(&g->versions[i].usage, g->in->before, g->versions[i].name, keep,
				    g->arena);
	if (!g->in->after)
		return 0;
	compare_spec(g);
	for (size_t i = 0; i < g->n_versions; i++)
		compare_schemas(g, &g->versions[i]);
	compare_across(g);
	compare_conversion(g);
	return 0;
}
