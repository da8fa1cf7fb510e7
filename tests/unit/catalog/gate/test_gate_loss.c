/*
 * test_gate_loss.c: for every rule of the gate an object that the change would hurt, made out of
 * the pair of schemas, and the gate asked with it: it must refuse. The pairs are those of
 * tests/golden/gate/table, in both directions; the judge is brute force: prune and default as a
 * server does, then validate. A rule without such an object fails, unless `without` says why there
 * can be none. Objects that the old schema refused lose what is pruned, too.
 */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/schema/schema.h"
#include "catalog/gate/gate_internal.h"
#include "tests/lib/gate_case.h"
#include "tests/lib/test.h"

#define LIMIT     ((size_t)512 << 20)
#define SET_MAX   400 /* values of a node */
#define TEXT_MAX  64
#define ITEMS_MAX 8

/* clang-format off */
static const struct { const char *rule, *why; } without[] = {
	{"StorageMoved",        "objects stay as they are; what the other version lacks is CrossVersion's"},
	{"ConversionAdded",     "what a converter answers is in no schema"},
	{"SubresourceAdded",    "stored objects stay as they are"},
	{"SelectableRemoved",   "no field of an object"},
	{"DefaultChanged",      "what is stored stays; a default that is not valid is LiveObjectInvalid"},
	{"ServerRefused",       "nothing is written then"},
	{"LiveCheckIncomplete", "about reading, not about objects"},
};
/* clang-format on */

static struct arena *arena;
static struct obj *proved; /* rule -> true */
static size_t n_lost, n_asked;

static int setup(void **state)
{
	(void)state;
	arena = arena_new(LIMIT);
	proved = obj_keep(arena, obj_map());
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

/* --- values out of two schemas --- */

struct set {
	const struct obj *items[SET_MAX];
	size_t n;
};

static void add(struct set *s, struct obj *consumed)
{
	const struct obj *o = obj_keep(arena, consumed);
	if (s->n < SET_MAX)
		s->items[s->n++] = o;
}

static void add_length(struct set *s, int64_t n)
{
	char text[TEXT_MAX + 1] = "";
	if (n < 0 || n > TEXT_MAX)
		return;
	memset(text, 'a', (size_t)n);
	add(s, obj_string(text));
}

/* The values that a node names, and those beside its limits. */
static void add_named(struct set *s, const struct obj *node)
{
	static const char *const numbers[] = {"minimum", "maximum", "multipleOf"};
	static const char *const lengths[] = {"minLength", "maxLength"};
	const struct obj *values = obj_get(node, "enum");
	for (size_t i = 0; i < obj_len(values); i++)
		add(s, obj_ref(obj_at(values, i)));
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		for (int64_t d = -1; d <= 1 && obj_has(node, numbers[i]); d++)
			add(s, obj_int(obj_i64(node, numbers[i], 0) + d));
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++)
		for (int64_t d = -1; d <= 1 && obj_has(node, lengths[i]); d++)
			add_length(s, obj_i64(node, lengths[i], 0) + d);
}

static void add_common(struct set *s)
{
	static const char *const texts[] = {"",    "a",       "b",       "c",  "ab",
					    "abc", "oldSelf", "1.2.3.4", "A_b"};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		add(s, obj_string(texts[i]));
	for (int64_t i = -1; i <= 12; i++)
		add(s, obj_int(i));
	add(s, obj_int(3000000000));
	add(s, obj_number(STR("1.5")));
	add(s, obj_bool(true));
	add(s, obj_null());
}

static const struct obj *child(const struct obj *node, const char *key)
{
	const struct obj *p = obj_get(obj_get(node, "properties"), key);
	const struct obj *additional = obj_get(node, "additionalProperties");
	return p ? p : obj_type(additional) == OBJ_MAP ? additional : NULL;
}

/* NOLINTBEGIN(misc-no-recursion): as deep as the schemas of the cases */
/* What the node asks for, and no more. */
static struct obj *plain(const struct obj *node)
{
	const char *type = obj_str(node, "type");
	const struct obj *required = obj_get(node, "required");
	if (obj_len(obj_get(node, "enum")) > 0)
		return obj_ref(obj_at(obj_get(node, "enum"), 0));
	if (!type || strcmp(type, "string") == 0)
		return obj_string("a");
	if (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)
		return obj_int(1);
	if (strcmp(type, "boolean") == 0)
		return obj_bool(true);
	if (strcmp(type, "array") == 0)
		return obj_list();
	struct obj *map = obj_map();
	for (size_t i = 0; i < obj_len(required); i++) {
		const char *key = obj_as_string(obj_at(required, i));
		obj_set(map, key, plain(child(node, key)));
	}
	return map;
}

static void values_of(struct set *s, const struct obj *x, const struct obj *y);

static void add_member(struct set *s, const struct obj *x, const struct obj *y, const char *key)
{
	const struct obj *sides[] = {x, y};
	struct set *values = ARENA_NEW(arena, struct set);
	values_of(values, child(x, key), child(y, key));
	for (size_t i = 0; i < values->n; i++)
		for (size_t side = 0; side < ARRAY_LEN(sides); side++) {
			struct obj *map = cstr_eq(obj_str(sides[side], "type"), "object")
						  ? plain(sides[side])
						  : obj_map();
			struct obj *o = obj_copy(obj_keep(arena, map));
			obj_set(o, key, obj_ref(values->items[i]));
			add(s, o);
		}
}

static void add_maps(struct set *s, const struct obj *x, const struct obj *y)
{
	const struct obj *sides[] = {obj_get(x, "properties"), obj_get(y, "properties")};
	static const char *const others[] = {"zy", "zz", "zx"};
	struct obj *many = obj_map();
	for (size_t i = 0; i < ARRAY_LEN(sides); i++)
		OBJ_EACH (it, sides[i])
			if (i == 0 || !obj_has(sides[0], it.key))
				add_member(s, x, y, it.key);
	add_member(s, x, y, "zz");
	OBJ_EACH (it, sides[0])
		obj_set(many, it.key, plain(it.value));
	add(s, obj_copy(many));
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		obj_set(many, others[i], plain(child(x, others[i])));
		add(s, obj_copy(many));
	}
	obj_unref(many);
}

static void add_lists(struct set *s, const struct obj *x, const struct obj *y)
{
	struct set *values = ARENA_NEW(arena, struct set);
	values_of(values, obj_get(x, "items"), obj_get(y, "items"));
	add(s, obj_list());
	for (size_t i = 0; i < values->n; i++) {
		struct obj *one = obj_list(), *two = obj_list();
		obj_append(one, obj_ref(values->items[i]));
		obj_append(two, obj_ref(values->items[i]));
		obj_append(two, obj_ref(values->items[i]));
		add(s, one);
		add(s, two);
	}
	struct obj *many = obj_list();
	for (size_t i = 0; i < ITEMS_MAX; i++) {
		obj_append(many, i < values->n ? obj_ref(values->items[i]) : obj_int((int64_t)i));
		add(s, obj_copy(many));
	}
	obj_unref(many);
}

static bool has_type(const struct obj *x, const struct obj *y, const char *type)
{
	return cstr_eq(obj_str(x, "type"), type) || cstr_eq(obj_str(y, "type"), type);
}

static void values_of(struct set *s, const struct obj *x, const struct obj *y)
{
	bool deep = x || y; /* nothing is known below what neither declares */
	if (deep &&
	    (has_type(x, y, "object") || obj_has(x, "x-kubernetes-preserve-unknown-fields")))
		add_maps(s, x, y);
	if (deep && has_type(x, y, "array"))
		add_lists(s, x, y);
	add_named(s, x);
	add_named(s, y);
	if (!deep) {
		struct obj *map = obj_map();
		obj_set_int(map, "m", 1);
		add(s, map);
	}
	add_common(s);
}
/* NOLINTEND(misc-no-recursion) */

/* --- the judge --- */

struct side {
	struct schema *s;
	bool unpruned;
};

static const struct obj *version_of(const struct obj *crd, const char *name)
{
	const struct obj *list = obj_path(crd, "spec.versions");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "name"), name))
			return obj_at(list, i);
	return NULL;
}

static struct side side_of(const struct obj *crd, const char *version)
{
	struct side side = {.unpruned = obj_is_true(obj_path(crd, "spec.preserveUnknownFields"))};
	struct error err = ERROR_INIT;
	const struct obj *raw = obj_path(version_of(crd, version), "schema.openAPIV3Schema");
	assert_ok(schema_compile(raw, &side.s, &err), &err);
	return side;
}

static void note(void *arg, const char *path)
{
	(void)path;
	*(bool *)arg = true;
}

/* Owned; the object as that side shows it. */
static struct obj *shown(const struct side *side, const struct obj *o, bool *ret_pruned)
{
	struct obj *out = obj_copy(o);
	if (!side->unpruned)
		schema_prune(side->s, out, note, ret_pruned);
	schema_default(side->s, out);
	return out;
}

static bool takes(const struct side *side, const struct obj *o)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(LIMIT);
	struct field_errors *e = ARENA_NEW(a, struct field_errors);
	field_errors_init(e, a);
	schema_validate_rules(side->s, o, NULL, e);
	return e->n == 0 && schema_accepts(side->s, o);
}

static bool is_lost(const struct side *old, const struct side *new, const struct obj *o)
{
	bool unknown = false, pruned = false;
	CLEANUP(obj_unrefp) struct obj *before = shown(old, o, &unknown);
	CLEANUP(obj_unrefp) struct obj *after = shown(new, before, &pruned);
	return pruned ||
	       (takes(old, before) && (!takes(new, after) || !gate_case_keeps(before, after)));
}

/* --- the gate --- */

struct change {
	const char *file;
	const struct obj *before, *after;
	struct gate_input in;
};

static void ask(const struct change *c, const struct obj *o, const char *version)
{
	CLEANUP(gate_freep) struct gate *g = NULL;
	struct error err = ERROR_INIT;
	const char *const *through;
	assert_ok(gate_begin(&c->in, &g, &err), &err);
	if (!gate_wants_objects(g))
		fail_msg("%s: no object is asked for: %s", c->file, gate_case_text(arena, o));
	size_t n = gate_versions(g, &through);
	for (size_t i = 0; i < n; i++) {
		gate_object(g, o, through[i]);
		gate_evaluate(g, o, through[i]);
	}
	gate_finish(g);
	n_asked++;
	if (gate_outcome(g) != FINDING_REFUSE)
		fail_msg("%s: an object of %s loses, but is let through: %s\n%s", c->file, version,
			 gate_case_findings(arena, g), gate_case_text(arena, o));
	for (size_t i = 0; i < gate_count(g); i++)
		if (gate_finding(g, i)->outcome == FINDING_REFUSE)
			obj_set_bool(proved, gate_finding(g, i)->rule, true);
}

static struct obj *object_of(const struct obj *value, const char *version)
{
	struct obj *o = obj_keep(arena, obj_map());
	obj_set_str(o, "apiVersion", arena_fmt(arena, "etcd.coreos.com/%s", version));
	obj_set_str(o, "kind", "Etcd");
	obj_set_path(o, "metadata.name", obj_string("abc"));
	obj_set_path(o, "metadata.namespace", obj_string("default"));
	OBJ_EACH (it, value)
		if (!gate_is_meta(it.key))
			obj_set(o, it.key, obj_ref(it.value));
	return o;
}

/* What an object of a version of before meets in a version of after. */
static void try_pair(const struct change *c, const char *from, const char *to)
{
	struct side old = side_of(c->before, from), new = side_of(c->after, to);
	bool crossed = strcmp(from, to) != 0, was = version_of(c->before, to) != NULL;
	struct side then = crossed && was ? side_of(c->before, to) : (struct side){0};
	bool served = was && obj_flag(version_of(c->before, to), "served", false);
	struct set *s = ARENA_NEW(arena, struct set);
	values_of(s, obj_path(version_of(c->before, from), "schema.openAPIV3Schema"),
		  obj_path(version_of(c->after, to), "schema.openAPIV3Schema"));
	for (size_t i = 0; i < s->n; i++) {
		if (obj_type(s->items[i]) != OBJ_MAP)
			continue;
		struct obj *o = object_of(s->items[i], from);
		bool valid = true, pruned = false;
		if (crossed) {
			CLEANUP(obj_unrefp) struct obj *as_read = shown(&old, o, &pruned);
			valid = takes(&old, as_read) && !(served && is_lost(&old, &then, o));
		}
		if (!valid || !is_lost(&old, &new, o))
			continue;
		n_lost++;
		ask(c, o, from);
	}
	schema_free(old.s);
	schema_free(new.s);
	schema_free(then.s);
}

/* Served no more, or in another form: whatever object there is. */
static bool is_gone(const struct change *c, const char *version)
{
	const struct obj *after = version_of(c->after, version);
	return !after ||
	       (obj_flag(version_of(c->before, version), "served", false) &&
		!obj_flag(after, "served", false)) ||
	       !cstr_eq(obj_str(c->before, "spec.scope"), obj_str(c->after, "spec.scope")) ||
	       !cstr_eq(obj_str(c->before, "spec.names.kind"),
			obj_str(c->after, "spec.names.kind"));
}

static bool has_webhook(const struct obj *crd)
{
	return cstr_eq(obj_str(crd, "spec.conversion.strategy"), "Webhook");
}

static void try_change(const char *file, const struct obj *from, const struct obj *to)
{
	struct change c = {.file = file,
			   .before = gate_case_crd(arena, from),
			   .after = gate_case_crd(arena, to)};
	c.in = (struct gate_input){
		.before = c.before, .after = c.after, .now_ns = INT64_C(1800000000) * NS_PER_S};
	c.in.n_managed_before = gate_case_managed(arena, from, &c.in.managed_before);
	c.in.n_managed_after = gate_case_managed(arena, to, &c.in.managed_after);
	const struct obj *list = obj_path(c.before, "spec.versions");
	const struct obj *new = obj_path(c.after, "spec.versions");
	const char *storage =
		obj_str(obj_path(c.before, "status.storedVersions[0]") ? c.before : NULL,
			"spec.versions[0].name");
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *name = obj_str(obj_at(list, i), "name");
		if (!is_gone(&c, name))
			try_pair(&c, name, name);
	}
	for (size_t i = 0; i < obj_len(new) && storage && !has_webhook(c.after); i++) {
		const char *name = obj_str(obj_at(new, i), "name");
		if (strcmp(name, storage) != 0 && obj_flag(obj_at(new, i), "served", false) &&
		    version_of(c.after, storage))
			try_pair(&c, storage, name);
	}
}

static void try_file(const char *rule)
{
	const char *name = arena_fmt(arena, "table/%s.yaml", rule);
	const struct obj *cases = gate_case_file(arena, name);
	for (size_t i = 0; i < obj_len(cases); i++) {
		const struct obj *x = obj_get(obj_at(cases, i), "before");
		const struct obj *y = obj_get(obj_at(cases, i), "after");
		try_change(rule, x, y);
		try_change(rule, y, x);
	}
}

/* Rules that refuse whatever there is, so that no object has to be made. */
static bool refuses_all(const char *rule)
{
	static const char *const rules[] = {
		"ResourceDropped",      "VersionUnserved",    "VersionRemoved",
		"StoredVersionRemoved", "ScopeChanged",       "KindChanged",
		"ConversionRemoved",    "SubresourceRemoved", "KeywordUnknown"};
	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		if (strcmp(rules[i], rule) == 0)
			return true;
	return false;
}

/* The first case of the file is refused in one direction, with any object of its own. */
static void try_whole(const char *rule)
{
	const struct obj *cases = gate_case_file(arena, arena_fmt(arena, "table/%s.yaml", rule));
	for (size_t i = 0; i < obj_len(cases); i++) {
		const struct obj *from = obj_get(obj_at(cases, i), "before");
		const struct obj *to = obj_get(obj_at(cases, i), "after");
		struct change c = {.file = rule,
				   .before = gate_case_crd(arena, from),
				   .after = gate_case_crd(arena, to)};
		c.in = (struct gate_input){.before = c.before, .after = c.after};
		c.in.n_managed_before = gate_case_managed(arena, from, &c.in.managed_before);
		c.in.n_managed_after = gate_case_managed(arena, to, &c.in.managed_after);
		CLEANUP(gate_freep) struct gate *g = NULL;
		struct error err = ERROR_INIT;
		assert_ok(gate_begin(&c.in, &g, &err), &err);
		gate_finish(g);
		for (size_t k = 0; k < gate_count(g); k++)
			if (gate_finding(g, k)->outcome == FINDING_REFUSE)
				obj_set_bool(proved, gate_finding(g, k)->rule, true);
	}
}

static const char *why_without(const char *rule)
{
	for (size_t i = 0; i < ARRAY_LEN(without); i++)
		if (strcmp(without[i].rule, rule) == 0)
			return without[i].why;
	return NULL;
}

static void test_gate_loss__every_rule_refuses_what_would_be_lost(void **state)
{
	(void)state;
	const struct gate_rule *rules;
	size_t n = gate_rules(&rules);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(rules[i].name, "SubresourceAdded") == 0)
			continue; /* SubresourceRemoved, the other way round */
		if (refuses_all(rules[i].name))
			try_whole(rules[i].name);
		else
			try_file(rules[i].name);
	}
	for (size_t i = 0; i < n; i++) {
		const char *why = why_without(rules[i].name);
		if (!obj_has(proved, rules[i].name) && !why)
			fail_msg("no object shows that %s refuses a loss", rules[i].name);
		if (obj_has(proved, rules[i].name) && why)
			fail_msg("%s refused, but is listed: %s", rules[i].name, why);
	}
	assert_true(n_lost >= 500);
	assert_int_equal(n_asked, n_lost);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		CASE(test_gate_loss__every_rule_refuses_what_would_be_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
