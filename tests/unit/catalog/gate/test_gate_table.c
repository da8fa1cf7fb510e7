/*
 * test_gate_table.c: the rule table of the gate (lifecycle.md 3), row by row. tests/golden/gate/
 * table.txt lists what the table says, "RULE: clause" a line; table/RULE.yaml shows each: a pair of
 * definitions in both directions, without an object, with a valid and with an invalid one. A clause
 * that nothing shows fails, and so does a case that the list does not know.
 *
 * A case: shows (the clauses), before and after (tests/lib/gate_case.h), valid and invalid objects,
 * forward and back: three outcomes, then the findings of the run with the invalid object.
 */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "catalog/gate/gate_internal.h"
#include "tests/lib/gate_case.h"
#include "tests/lib/test.h"

#define LIMIT ((size_t)64 << 20)

static const char *const files[] = {"ResourceDropped",
				    "VersionUnserved",
				    "VersionRemoved",
				    "StoredVersionRemoved",
				    "ScopeChanged",
				    "KindChanged",
				    "Nothing",
				    "StorageMoved",
				    "ConversionAdded",
				    "ConversionRemoved",
				    "CrossVersion",
				    "SubresourceRemoved",
				    "SelectableRemoved",
				    "FieldRemoved",
				    "TypeChanged",
				    "RequiredAdded",
				    "EnumNarrowed",
				    "DefaultChanged",
				    "BoundTightened",
				    "PatternChanged",
				    "FormatChanged",
				    "NullableRemoved",
				    "CompositionNarrowed",
				    "MapNarrowed",
				    "ListTypeChanged",
				    "CELChanged",
				    "LiveObjectInvalid",
				    "KeywordUnknown",
				    "ServerRefused",
				    "LiveCheckIncomplete",
				    "Metadata"};

static struct arena *arena;

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

static struct gate *begin(const struct obj *c, const struct obj *from, const struct obj *to)
{
	struct gate_input in = {.before = gate_case_crd(arena, from),
				.after = gate_case_crd(arena, to),
				.server_refused = obj_str(c, "server-refused"),
				.now_ns = INT64_C(1800000000) * NS_PER_S};
	struct gate *g = NULL;
	struct error err = ERROR_INIT;
	in.n_managed_before = gate_case_managed(arena, from, &in.managed_before);
	in.n_managed_after = gate_case_managed(arena, to, &in.managed_after);
	assert_ok(gate_begin(&in, &g, &err), &err);
	return g;
}

/* The object as each version would list it; and what a server says of its rules, if there is one.
 */
static void show(struct gate *g, const struct obj *c, const struct obj *value, bool is_valid)
{
	struct obj *o = gate_case_object(arena, value);
	const char *const *versions;
	for (size_t i = 0; i < gate_versions(g, &versions); i++)
		gate_object(g, o, versions[i]);
	if (obj_flag(c, "server", false) && gate_wants_shadow(g, "v1"))
		gate_shadow(g, o, "v1", is_valid ? NULL : "spec.x: failed rule");
}

/* "warn warn refuse RULE@PATH ..." */
static const char *judge(const struct obj *c, const struct obj *from, const struct obj *to)
{
	static const char *const objects[] = {NULL, "valid", "invalid"};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
		CLEANUP(gate_freep) struct gate *g = begin(c, from, to);
		if (objects[i])
			show(g, c, obj_get(c, objects[i]), i == 1);
		if (obj_has(c, "incomplete"))
			gate_incomplete(g, obj_str(c, "incomplete"), NULL);
		else
			gate_finish(g);
		strbuf_addf(&b, "%s ", gate_case_outcome(g));
		if (i == 2)
			strbuf_adds(&b, gate_case_findings(arena, g));
	}
	return arena_strdup(arena, b.buf);
}

static void check_case(const char *file, const struct obj *c)
{
	static const char *const parts[] = {"shows",   "before",  "after", "valid",
					    "invalid", "forward", "back"};
	const struct obj *a = obj_get(c, "before"), *b = obj_get(c, "after");
	const char *there = obj_str(c, "forward"), *back = obj_str(c, "back");
	const char *name = obj_str(c, "shows[0]");
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (!obj_has(c, parts[i]))
			fail_msg("%s: no %s: %s", file, parts[i], gate_case_text(arena, c));
	const char *got = judge(c, a, b);
	if (strcmp(got, there) != 0)
		fail_msg("%s: %s: forward\n got %s\nwant %s", file, name, got, there);
	got = judge(c, b, a);
	if (strcmp(got, back) != 0)
		fail_msg("%s: %s: back\n got %s\nwant %s", file, name, got, back);
}

static const struct obj *cases_of(size_t file)
{
	return gate_case_file(arena, arena_fmt(arena, "table/%s.yaml", files[file]));
}

static void test_gate_table__every_case(void **state)
{
	(void)state;
	size_t n = 0;
	for (size_t f = 0; f < ARRAY_LEN(files); f++) {
		const struct obj *cases = cases_of(f);
		for (size_t i = 0; i < obj_len(cases); i++, n++)
			check_case(files[f], obj_at(cases, i));
	}
	assert_true(n >= 100);
}

/* "RULE: clause" -> true, of all cases. */
static struct obj *shown(void)
{
	struct obj *o = obj_keep(arena, obj_map());
	for (size_t f = 0; f < ARRAY_LEN(files); f++) {
		const struct obj *cases = cases_of(f);
		for (size_t i = 0; i < obj_len(cases); i++) {
			const struct obj *shows = obj_get(obj_at(cases, i), "shows");
			for (size_t k = 0; k < obj_len(shows); k++)
				obj_set_bool(o,
					     arena_fmt(arena, "%s: %s", files[f],
						       obj_as_string(obj_at(shows, k))),
					     true);
		}
	}
	return o;
}

static void test_gate_table__every_clause_has_its_case(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf file = STRBUF_INIT(LIMIT);
	struct error err = ERROR_INIT;
	struct str rest, line;
	struct obj *left = shown();
	assert_ok(file_read("tests/golden/gate/table.txt", &file, &err), &err);
	rest = strbuf_str(&file);
	while (str_next_line(&rest, &line)) {
		const char *clause = arena_strndup(arena, line.ptr, line.len);
		if (!*clause || *clause == '#')
			continue;
		if (!obj_has(left, clause))
			fail_msg("no case shows \"%s\"", clause);
		obj_del(left, clause);
	}
	OBJ_EACH (it, left)
		fail_msg("table.txt does not know \"%s\"", it.key);
}

/* Is there a case that ends with a finding of the rule? */
static bool is_found(const char *rule)
{
	const char *mark = arena_fmt(arena, " %s@", rule);
	for (size_t f = 0; f < ARRAY_LEN(files); f++) {
		const struct obj *cases = cases_of(f);
		for (size_t i = 0; i < obj_len(cases); i++)
			if (strstr(obj_str(obj_at(cases, i), "forward"), mark) ||
			    strstr(obj_str(obj_at(cases, i), "back"), mark))
				return true;
	}
	return false;
}

static void test_gate_table__every_rule_has_a_case(void **state)
{
	(void)state;
	const struct gate_rule *rules;
	size_t n = gate_rules(&rules);
	for (size_t i = 0; i < n; i++)
		if (!is_found(rules[i].name))
			fail_msg("no case finds %s", rules[i].name);
}

/* Column w of the table. */
static void test_gate_table__who_may_waive(void **state)
{
	(void)state;
	static const char *const never[] = {"StoredVersionRemoved", "ScopeChanged",
					    "KindChanged",          "StorageMoved",
					    "ServerRefused",        "LiveCheckIncomplete"};
	static const char *const resource[] = {
		"ResourceDropped",   "VersionUnserved",    "VersionRemoved",
		"ConversionAdded",   "ConversionRemoved",  "SubresourceAdded",
		"SelectableRemoved", "SubresourceRemoved", "LiveObjectInvalid"};
	const struct gate_rule *rules;
	size_t n = gate_rules(&rules);
	for (size_t i = 0; i < n; i++) {
		enum gate_waivable want = WAIVE_PATH;
		for (size_t k = 0; k < ARRAY_LEN(never); k++)
			if (strcmp(rules[i].name, never[k]) == 0)
				want = WAIVE_NEVER;
		for (size_t k = 0; k < ARRAY_LEN(resource); k++)
			if (strcmp(rules[i].name, resource[k]) == 0)
				want = WAIVE_RESOURCE;
		if (rules[i].waivable != want)
			fail_msg("%s", rules[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		CASE(test_gate_table__every_case),
		CASE(test_gate_table__every_clause_has_its_case),
		CASE(test_gate_table__every_rule_has_a_case),
		CASE(test_gate_table__who_may_waive),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
