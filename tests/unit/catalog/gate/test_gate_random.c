/*
 * test_gate_random.c: random pairs of schemas against a brute-force validator. Whatever the gate
 * allows, every object that the old schema takes is taken by the new one and keeps all it had; an
 * object that a finding counts does not; and a pair that differs in one keyword is warned of or
 * refused only if some object proves it. The seed is printed when one fails.
 */
#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/schema/schema.h"
#include "tests/lib/gate_case.h"
#include "tests/lib/test.h"

#define LIMIT   ((size_t)64 << 20)
#define PAIRS   1000
#define SAMPLES 16  /* objects a pair */
#define PROOFS  800 /* tries to prove a finding */
#define PATH    "spec.versions[0].schema.openAPIV3Schema"

static struct arena *arena;
static uint32_t seed;

static int setup(void **state)
{
	(void)state;
	arena = arena_new(LIMIT);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static uint32_t next_random(uint32_t bound)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % bound;
}

static struct obj *json(const char *text)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

/* --- schemas --- */

/* Constraints by type; no two of a row exclude each other, nor does one alone exclude everything.
 */
static const char *const of_string[] = {
	"{\"maxLength\":1}",
	"{\"maxLength\":2}",
	"{\"minLength\":1}",
	"{\"minLength\":2}",
	"{\"enum\":[\"a\"]}",
	"{\"enum\":[\"a\",\"ab\"]}",
	"{\"pattern\":\"^a\"}",
	"{\"pattern\":\"b$\"}",
	"{\"format\":\"ipv4\"}",
	"{\"format\":\"nonsense\"}",
	"{\"anyOf\":[{\"maxLength\":1},{\"pattern\":\"^a\"}]}",
	"{\"anyOf\":[{\"maxLength\":1}]}",
	"{\"oneOf\":[{\"maxLength\":1},{\"pattern\":\"^a\"}]}",
	"{\"oneOf\":[{\"maxLength\":1}]}",
	"{\"allOf\":[{\"maxLength\":2},{\"minLength\":1}]}",
	"{\"allOf\":[{\"minLength\":1}]}",
	"{\"not\":{\"enum\":[\"b\"]}}",
	"{\"not\":{\"enum\":[\"a\"]}}",
	"{\"maximum\":1}",
};
static const char *const of_number[] = {
	"{\"maximum\":3}",    "{\"maximum\":2}",    "{\"maximum\":3,\"exclusiveMaximum\":true}",
	"{\"minimum\":1}",    "{\"minimum\":2}",    "{\"minimum\":1,\"exclusiveMinimum\":true}",
	"{\"multipleOf\":2}", "{\"multipleOf\":4}", "{\"multipleOf\":3}",
	"{\"enum\":[1,2]}",   "{\"enum\":[2]}",     "{\"multipleOf\":1}",
	"{\"minLength\":4}",
};
static const char *const of_list[] = {
	"{\"maxItems\":1}",
	"{\"maxItems\":2}",
	"{\"minItems\":1}",
	"{\"minItems\":2}",
};
static const char *const of_map[] = {
	"{\"maxProperties\":1}",
	"{\"maxProperties\":2}",
	"{\"minProperties\":1}",
	"{\"x-kubernetes-map-type\":\"atomic\"}",
};

static void constrain(struct obj *o, const char *const *rows, size_t n)
{
	struct obj *row = obj_keep(arena, json(rows[next_random((uint32_t)n)]));
	OBJ_EACH (it, row)
		obj_set(o, it.key, obj_ref(it.value));
}
#define CONSTRAIN(o, rows) constrain((o), (rows), ARRAY_LEN(rows))

static void constrain_type(struct obj *o)
{
	const char *type = obj_str(o, "type");
	if (!type)
		return;
	if (strcmp(type, "string") == 0)
		CONSTRAIN(o, of_string);
	else if (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)
		CONSTRAIN(o, of_number);
	else if (strcmp(type, "array") == 0)
		CONSTRAIN(o, of_list);
	else if (strcmp(type, "object") == 0)
		CONSTRAIN(o, of_map);
}

/* NOLINTBEGIN(misc-no-recursion): as deep as the caller says */
static struct obj *random_schema(unsigned depth);

static void random_map(struct obj *o, unsigned depth)
{
	uint32_t form = next_random(6);
	if (form == 0) {
		obj_set(o, "additionalProperties", random_schema(depth - 1));
		return;
	}
	if (form == 1)
		obj_set_bool(o, "additionalProperties", true);
	if (form == 1)
		return;
	if (form == 2)
		obj_set_bool(o, "x-kubernetes-preserve-unknown-fields", true);
	struct obj *properties = obj_map();
	for (int c = 'a'; c < 'd'; c++) {
		char name[] = {(char)c, '\0'};
		if (next_random(2))
			obj_set(properties, name, random_schema(depth - 1));
	}
	obj_set(o, "properties", properties);
}

static struct obj *random_schema(unsigned depth)
{
	static const char *const types[] = {"string",  "integer", "number",
					    "boolean", "array",   "object"};
	struct obj *o = obj_map();
	uint32_t kind = next_random(depth ? 9 : 5);
	if (kind == 4) {
		obj_set_bool(o, "x-kubernetes-int-or-string", true);
	} else if (kind >= 7) {
		obj_set_bool(o, "x-kubernetes-preserve-unknown-fields", true);
		if (kind == 7)
			obj_set_str(o, "type", "object");
	} else {
		obj_set_str(o, "type", types[kind > 4 ? kind - 1 : kind]);
	}
	if (kind == 5)
		obj_set(o, "items", random_schema(depth - 1));
	if (kind == 6)
		random_map(o, depth);
	if (next_random(2))
		constrain_type(o);
	if (next_random(6) == 0)
		obj_set_bool(o, "nullable", true);
	return o;
}

/* What constrains a node, but not its children and flags. */
static void relax(struct obj *o)
{
	static const char *const keys[] = {"maxLength",
					   "minLength",
					   "enum",
					   "pattern",
					   "format",
					   "anyOf",
					   "oneOf",
					   "allOf",
					   "not",
					   "maximum",
					   "minimum",
					   "multipleOf",
					   "maxItems",
					   "minItems",
					   "maxProperties",
					   "minProperties",
					   "exclusiveMaximum",
					   "exclusiveMinimum",
					   "x-kubernetes-map-type"};
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		obj_del(o, keys[i]);
}

static void change_fields(struct obj *o)
{
	struct obj *properties = obj_get_mut(o, "properties");
	char name[] = {(char)('a' + next_random(3)), '\0'};
	if (!properties)
		return;
	if (next_random(3) == 0 && obj_has(properties, name)) {
		struct obj *required = obj_list();
		obj_append(required, obj_string(name));
		obj_set(o, "required", required);
	} else if (obj_has(properties, name)) {
		obj_del(properties, name);
	} else {
		obj_set(properties, name, random_schema(1));
	}
}

static void change_node(struct obj *o)
{
	switch (next_random(6)) {
	case 0:
		relax(o);
		break;
	case 1:
		if (obj_has(o, "nullable"))
			obj_del(o, "nullable");
		else
			obj_set_bool(o, "nullable", true);
		break;
	case 2:
		change_fields(o);
		break;
	case 3:
		if (cstr_eq(obj_str(o, "type"), "integer"))
			obj_set_str(o, "type", "number");
		else if (cstr_eq(obj_str(o, "type"), "number"))
			obj_set_str(o, "type", "integer");
		break;
	default:
		relax(o);
		constrain_type(o);
	}
}

/* The same schema with one node changed, or another one there. */
static struct obj *mutated(const struct obj *schema)
{
	struct obj *o = obj_copy(schema);
	const struct obj *properties = obj_get(schema, "properties");
	bool down = next_random(2) != 0;
	if (next_random(8) == 0)
		return obj_unref(o), random_schema(1);
	if (down && obj_len(properties) > 0) {
		uint32_t at = next_random((uint32_t)obj_len(properties));
		OBJ_EACH (it, properties)
			if (at-- == 0)
				obj_set(obj_get_mut(o, "properties"), it.key, mutated(it.value));
	} else if (down && obj_has(o, "items")) {
		obj_set(o, "items", mutated(obj_get(schema, "items")));
	} else if (down && obj_type(obj_get(o, "additionalProperties")) == OBJ_MAP) {
		obj_set(o, "additionalProperties",
			mutated(obj_get(schema, "additionalProperties")));
	} else {
		change_node(o);
	}
	return o;
}

/* --- values that the schema may take --- */

static struct obj *sample(const struct obj *s, unsigned depth);

static struct obj *sample_string(void)
{
	static const char *const texts[] = {"", "a", "b", "ab", "ba", "bb", "aa", "aab", "1.2.3.4"};
	return obj_string(texts[next_random(ARRAY_LEN(texts))]);
}

static struct obj *sample_any(unsigned depth)
{
	switch (next_random(depth ? 6 : 4)) {
	case 0:
		return obj_int((int64_t)next_random(10));
	case 1:
		return obj_bool(next_random(2) != 0);
	case 2:
		return obj_number(STR("1.5"));
	case 3:
		return sample_string();
	case 4: {
		struct obj *list = obj_list();
		for (uint32_t i = next_random(3); i > 0; i--)
			obj_append(list, sample_any(depth - 1));
		return list;
	}
	default: {
		struct obj *map = obj_map();
		for (int c = 'a'; c < 'e'; c++) {
			char name[] = {(char)c, '\0'};
			if (next_random(2))
				obj_set(map, name, sample_any(depth - 1));
		}
		return map;
	}
	}
}

static struct obj *sample_map(const struct obj *s, unsigned depth)
{
	const struct obj *properties = obj_get(s, "properties");
	const struct obj *additional = obj_get(s, "additionalProperties");
	bool open = additional || obj_has(s, "x-kubernetes-preserve-unknown-fields");
	struct obj *map = obj_map();
	for (int c = 'a'; c < 'e'; c++) {
		char name[] = {(char)c, '\0'};
		const struct obj *p = obj_get(properties, name);
		if (next_random(2))
			continue;
		if (p)
			obj_set(map, name, sample(p, depth));
		else if (obj_type(additional) == OBJ_MAP)
			obj_set(map, name, sample(additional, depth));
		else if (open)
			obj_set(map, name, sample_any(depth ? depth - 1 : 0));
	}
	return map;
}

static struct obj *sample(const struct obj *s, unsigned depth)
{
	const char *type = obj_str(s, "type");
	if (obj_has(s, "nullable") && next_random(3) == 0)
		return obj_null();
	if (obj_has(s, "x-kubernetes-int-or-string"))
		return next_random(2) ? sample_string() : obj_int((int64_t)next_random(10));
	if (!type || depth == 0)
		return sample_any(depth);
	if (strcmp(type, "string") == 0)
		return sample_string();
	if (strcmp(type, "boolean") == 0)
		return obj_bool(next_random(2) != 0);
	if (strcmp(type, "integer") == 0 || next_random(2) == 0)
		if (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)
			return obj_int((int64_t)next_random(10) - 1);
	if (strcmp(type, "number") == 0)
		return obj_number(next_random(2) ? STR("1.5") : STR("2.5"));
	if (strcmp(type, "object") == 0)
		return sample_map(s, depth - 1);
	struct obj *list = obj_list();
	for (uint32_t i = next_random(4); i > 0; i--)
		obj_append(list, sample(obj_get(s, "items"), depth - 1));
	return list;
}
/* NOLINTEND(misc-no-recursion) */

/* --- the pair, and the judge by brute force --- */

struct pair {
	const struct obj *x, *y; /* schemas of spec.x */
	struct obj *before, *after;
	struct schema *old, *new;
};

static void pair_open(struct pair *p)
{
	struct error err = ERROR_INIT;
	p->before = gate_case_crd(arena, p->x);
	p->after = gate_case_crd(arena, p->y);
	assert_ok(schema_compile(obj_path(p->before, PATH), &p->old, &err), &err);
	assert_ok(schema_compile(obj_path(p->after, PATH), &p->new, &err), &err);
}

static void pair_release(struct pair *p)
{
	schema_free(p->old);
	schema_free(p->new);
}

/* An object that the old schema takes, or NULL. */
static struct obj *taken(const struct pair *p)
{
	CLEANUP(obj_unrefp) struct obj *value = sample(p->x, 5);
	struct obj *o = gate_case_object(arena, value);
	if (obj_has(value, "metadata"))
		return NULL;
	obj_set_path(o, "spec.x", obj_ref(value));
	schema_prune(p->old, o, NULL, NULL);
	schema_default(p->old, o);
	return schema_accepts(p->old, o) ? o : NULL;
}

static bool is_lost(const struct pair *p, const struct obj *o)
{
	CLEANUP(obj_unrefp) struct obj *after = obj_copy(o);
	schema_prune(p->new, after, NULL, NULL);
	schema_default(p->new, after);
	return !gate_case_keeps(o, after) || !schema_accepts(p->new, after);
}

static struct gate *judge(const struct pair *p, const struct obj *o)
{
	const struct gate_input in = {.before = p->before, .after = p->after};
	struct gate *g = NULL;
	struct error err = ERROR_INIT;
	assert_ok(gate_begin(&in, &g, &err), &err);
	if (o)
		gate_object(g, o, "v1");
	gate_finish(g);
	return g;
}

static void fail_pair(const char *what, uint32_t from, const struct pair *p, const struct obj *o,
		      const struct gate *g)
{
	fail_msg("seed %u: %s: %s %s\n%s\n%s\n%s", from, what, gate_case_outcome(g),
		 gate_case_findings(arena, g), gate_case_text(arena, p->x),
		 gate_case_text(arena, p->y), o ? gate_case_text(arena, o) : "");
}

/* Does a finding say that values are refused or lost? */
static bool tells_loss(const struct gate *g)
{
	for (size_t i = 0; i < gate_count(g); i++)
		if (gate_finding(g, i)->narrow || gate_finding(g, i)->outcome == FINDING_REFUSE)
			return true;
	return false;
}

static bool counts_loss(const struct gate *g)
{
	for (size_t i = 0; i < gate_count(g); i++)
		if (gate_finding(g, i)->n_affected > 0 &&
		    gate_finding(g, i)->outcome == FINDING_REFUSE)
			return true;
	return false;
}

static void check_sound(const struct pair *p, uint32_t from)
{
	CLEANUP(gate_freep) struct gate *blind = judge(p, NULL);
	for (int i = 0; i < SAMPLES; i++) {
		struct obj *o = taken(p);
		if (!o)
			continue;
		CLEANUP(gate_freep) struct gate *g = judge(p, o);
		bool lost = is_lost(p, o);
		if (lost && gate_outcome(g) != FINDING_REFUSE)
			fail_pair("lost, but let through", from, p, o, g);
		if (lost && gate_outcome(blind) == FINDING_ALLOW)
			fail_pair("lost, but allowed", from, p, o, blind);
		if (!lost && counts_loss(g))
			fail_pair("counted, but not lost", from, p, o, g);
	}
}

/* A pair that differs in one place: what is told can be shown. */
static void check_proof(const struct pair *p, uint32_t from, size_t *ret_told, size_t *ret_proven)
{
	CLEANUP(gate_freep) struct gate *blind = judge(p, NULL);
	if (!tells_loss(blind))
		return;
	++*ret_told;
	for (int i = 0; i < PROOFS; i++) {
		struct obj *o = taken(p);
		if (o && is_lost(p, o)) {
			++*ret_proven;
			return;
		}
	}
	fail_pair("told, but nothing is lost", from, p, NULL, blind);
}

static void renew_arena(void)
{
	arena_free(arena);
	arena = arena_new(LIMIT);
}

static void test_gate_random__what_is_allowed_loses_no_object(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < PAIRS; i++) {
		seed = i * 7919 + 1;
		struct obj *x = obj_keep(arena, random_schema(3));
		struct obj *y = obj_keep(arena, mutated(x));
		if (next_random(2))
			y = obj_keep(arena, mutated(y));
		struct pair there = {.x = x, .y = y}, back = {.x = y, .y = x};
		pair_open(&there);
		check_sound(&there, i);
		pair_release(&there);
		pair_open(&back);
		check_sound(&back, i);
		pair_release(&back);
		renew_arena();
	}
}

/* The keyword that constrains a node, "" of none, NULL of several: they may exclude each other. */
static const char *constraint(const struct obj *s)
{
	static const char *const flags[] = {"type",
					    "properties",
					    "items",
					    "required",
					    "additionalProperties",
					    "nullable",
					    "x-kubernetes-int-or-string",
					    "x-kubernetes-preserve-unknown-fields",
					    "exclusiveMaximum",
					    "exclusiveMinimum"};
	const char *found = "";
	OBJ_EACH (it, s) {
		bool is_flag = false;
		for (size_t i = 0; i < ARRAY_LEN(flags); i++)
			is_flag |= strcmp(flags[i], it.key) == 0;
		if (!is_flag && *found)
			return NULL;
		if (!is_flag)
			found = arena_strdup(arena, it.key);
	}
	return found;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as schemas are */
static bool is_simple(const struct obj *x, const struct obj *y)
{
	const char *a = constraint(x), *b = constraint(y);
	/* one constraint may imply another: then nothing can be shown */
	if (!a || !b || (*a && *b && strcmp(a, b) != 0))
		return false;
	/* a map of so many fields may exclude that a further one is there, or is not */
	if ((strcmp(a, "minProperties") == 0 || strcmp(a, "maxProperties") == 0) && *b)
		return false;
	OBJ_EACH (it, obj_get(x, "properties"))
		if (!is_simple(it.value, obj_get(obj_get(y, "properties"), it.key)))
			return false;
	return (!obj_has(x, "items") || is_simple(obj_get(x, "items"), obj_get(y, "items"))) &&
	       (obj_type(obj_get(x, "additionalProperties")) != OBJ_MAP ||
		is_simple(obj_get(x, "additionalProperties"), obj_get(y, "additionalProperties")));
}

static void test_gate_random__what_is_told_can_be_shown(void **state)
{
	(void)state;
	size_t told = 0, proven = 0;
	for (uint32_t i = 0; i < PAIRS; i++) {
		seed = i * 104729 + 5;
		struct obj *x = obj_keep(arena, random_schema(2));
		struct pair p = {.x = x, .y = obj_keep(arena, mutated(x))};
		if (is_simple(p.x, p.y)) {
			pair_open(&p);
			check_proof(&p, i, &told, &proven);
			pair_release(&p);
		}
		renew_arena();
	}
	assert_true(told > PAIRS / 8);
	assert_int_equal(told, proven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		CASE(test_gate_random__what_is_allowed_loses_no_object),
		CASE(test_gate_random__what_is_told_can_be_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
