/* test_gate_report.c: many definitions at once, as table, JSON, SARIF and words. */
#include <string.h>

#include "alm/base/file.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "catalog/gate/gate_report.h"
#include "tests/lib/test.h"

#define LIMIT ((size_t)64 << 20)

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

static struct obj *yaml(const char *text)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return obj_keep(arena, o);
}

static struct obj *crd(const char *name, const char *spec)
{
	return yaml(
		arena_fmt(arena,
			  "kind: CustomResourceDefinition\nmetadata: {name: %ss.x.io}\nspec:\n  "
			  "group: x.io\n  names: {kind: %s}\n  scope: Namespaced\n  versions:\n  - "
			  "name: v1\n    served: true\n    storage: true\n    schema:\n      "
			  "openAPIV3Schema: {type: object, properties: {spec: %s}}\n",
			  name, name, spec));
}

static struct gate_report *compare(const struct obj *const *before, size_t n_before,
				   const struct obj *const *after, size_t n_after)
{
	const struct gate_report_input in = {
		.before = before, .n_before = n_before, .after = after, .n_after = n_after};
	struct gate_report *r = NULL;
	struct error err = ERROR_INIT;
	assert_ok(gate_report_new(&in, &r, &err), &err);
	return r;
}

static struct gate_report *example(void)
{
	const struct obj *before[] = {
		crd("b", "{type: object, properties: {s: {type: string}, t: {type: string}}}"),
		crd("a", "{type: object, properties: {num: {type: integer, maximum: 5}}}"),
		crd("gone", "{type: object}")};
	const struct obj *after[] = {
		crd("a", "{type: object, description: d, properties: {num: {type: integer}}}"),
		crd("b", "{type: object, properties: {s: {type: string, maxLength: 3}, u: {type: "
			 "string}}}")};
	return compare(before, 3, after, 2);
}

static void test_gate_report__table(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LIMIT);
	CLEANUP(gate_report_freep) struct gate_report *r = example();
	assert_true(gate_report_object(
		r, yaml("{apiVersion: x.io/v1, kind: b, metadata: {name: o}, spec: {s: long}}")));
	assert_false(gate_report_object(r, yaml("{apiVersion: v1, kind: Pod, metadata: {}}")));
	gate_report_finish(r, true);
	gate_report_text(r, &b);
	assert_string_equal(
		b.buf,
		"OUTCOME   RULE              RESOURCE        PATH     CHANGE\n"
		"refuse    BoundTightened    bs.x.io/v1      spec.s   none -> maxLength 3, 1 "
		"affected: o\n"
		"refuse    FieldRemoved      bs.x.io/v1      spec.t   declared -> none\n"
		"refuse    ResourceDropped   gones.x.io/v1   -        managed -> not managed (0 "
		"objects)\n"
		"3 refused, 0 warnings\n");
	assert_int_equal(gate_report_outcome(r), FINDING_REFUSE);
}

static void test_gate_report__json_and_sarif(void **state)
{
	(void)state;
	CLEANUP(gate_report_freep) struct gate_report *r = example();
	gate_report_finish(r, false);
	struct obj *o = obj_keep(arena, gate_report_json(r));
	assert_string_equal(obj_str(o, "outcome"), "refuse");
	assert_string_equal(obj_str(o, "findings[0].rule"), "BoundTightened");
	assert_string_equal(obj_str(o, "findings[0].outcome"),
			    "warn"); /* no object was looked at */
	assert_string_equal(obj_str(o, "findings[1].path"), "spec.t");
	o = obj_keep(arena, gate_report_sarif(r));
	assert_string_equal(obj_str(o, "version"), "2.1.0");
	assert_string_equal(obj_str(o, "runs[0].results[1].level"), "error");
	assert_string_equal(
		obj_str(o,
			"runs[0].results[1].locations[0].logicalLocations[0].fullyQualifiedName"),
		"bs.x.io/v1#spec.t");
	assert_int_equal(obj_len(obj_path(o, "runs[0].tool.driver.rules")), 3);
}

static bool has_rule(const struct obj *rules, const char *id)
{
	for (size_t i = 0; i < obj_len(rules); i++)
		if (cstr_eq(obj_str(obj_at(rules, i), "id"), id))
			return true;
	return false;
}

static void check_sarif_result(const struct obj *result, const struct obj *rules)
{
	static const char *const levels[] = {"none", "note", "warning", "error"};
	const struct obj *places = obj_path(result, "locations[0].logicalLocations");
	bool known = false;
	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		known |= cstr_eq(obj_str(result, "level"), levels[i]);
	assert_true(known);
	assert_true(has_rule(rules, obj_str(result, "ruleId")));
	assert_true(strlen(obj_str(result, "message.text")) > 0);
	assert_int_equal(obj_type(places), OBJ_LIST);
	assert_true(strlen(obj_str(places, "[0].fullyQualifiedName")) > 0);
}

/* OASIS SARIF 2.1.0: required are version and runs (3.13), tool (3.14.6), driver (3.18.2), its name
 * (3.19.8), a rule's id (3.49.3), a result's message (3.27.11) with text (3.11.8); ruleId names a
 * rule (3.27.5), and level is one of four (3.27.10). */
static void test_gate_report__sarif_has_what_its_schema_requires(void **state)
{
	(void)state;
	CLEANUP(gate_report_freep) struct gate_report *r = example();
	gate_report_finish(r, false);
	const struct obj *o = obj_keep(arena, gate_report_sarif(r));
	const struct obj *rules = obj_path(o, "runs[0].tool.driver.rules");
	const struct obj *results = obj_path(o, "runs[0].results");
	assert_string_equal(obj_str(o, "version"), "2.1.0");
	assert_non_null(strstr(obj_str(o, "$schema"), "sarif-2.1.0.json"));
	assert_int_equal(obj_len(obj_get(o, "runs")), 1);
	assert_true(strlen(obj_str(o, "runs[0].tool.driver.name")) > 0);
	assert_int_equal(obj_len(results), 3);
	for (size_t i = 0; i < obj_len(results); i++)
		check_sarif_result(obj_at(results, i), rules);
	for (size_t i = 0; i < obj_len(rules); i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(obj_str(obj_at(rules, i), "id"),
						obj_str(obj_at(rules, k), "id"));
}

static void test_gate_report__words(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LIMIT);
	CLEANUP(gate_report_freep) struct gate_report *r = example();
	gate_report_diff(r, &b);
	assert_string_equal(b.buf, "as.x.io/v1 spec.num: maximum 5 -> none\n"
				   "bs.x.io/v1 spec.s: maxLength none -> 3\n"
				   "bs.x.io/v1 spec.t: field removed (string)\n"
				   "bs.x.io/v1 spec.u: field added (string)\n"
				   "gones.x.io: definition removed\n");
}

static struct obj *large(int64_t max_length)
{
	struct obj *fields = obj_map();
	for (int i = 0; i < 60; i++) {
		struct obj *inner = obj_map();
		for (int k = 0; k < 60; k++) {
			struct obj *leaf = obj_map();
			obj_set_str(leaf, "type", "string");
			obj_set_str(leaf, "description",
				    "a text that is about as long as those of large operators are, "
				    "which is one line and a half");
			obj_set_int(leaf, "maxLength", max_length);
			obj_set(inner, arena_fmt(arena, "field%d", k), leaf);
		}
		struct obj *o = obj_map();
		obj_set_str(o, "type", "object");
		obj_set(o, "properties", inner);
		obj_set(fields, arena_fmt(arena, "group%d", i), o);
	}
	struct obj *o = obj_keep(arena, obj_copy(crd("a", "{type: object}")));
	struct obj *v = obj_at_mut(obj_get_mut(obj_get_mut(o, "spec"), "versions"), 0);
	obj_set_path(v, "schema.openAPIV3Schema.properties.spec.properties", fields);
	return o;
}

static struct obj *convertible(const char *spec)
{
	return yaml(arena_fmt(
		arena,
		"kind: CustomResourceDefinition\nmetadata: {name: foos.x.io}\nspec:\n  group: "
		"x.io\n"
		"  names: {kind: Foo, plural: foos}\n  scope: Namespaced\n"
		"  conversion: {strategy: Webhook}\n  versions:\n"
		"  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: "
		"object, properties: {spec: {type: object, additionalProperties: {type: "
		"string}}}}}}\n"
		"  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: "
		"object, properties: {spec: {type: object, %s}}}}}\n",
		spec));
}

static struct obj *foo(const char *version, const char *spec)
{
	return yaml(arena_fmt(arena,
			      "{apiVersion: x.io/%s, kind: Foo, metadata: {name: one, namespace: "
			      "d}, spec: {%s}}",
			      version, spec));
}

/* Under a converter the values of an object in another version are in no file but its own list. */
static void test_gate_report__under_a_converter_objects_are_wanted_in_each_version(void **state)
{
	(void)state;
	const struct obj *before[] = {convertible("additionalProperties: {type: string}")};
	const struct obj *after[] = {convertible("properties: {a: {type: string}}")};
	static const char *const texts[][2] = {
		{"", ""}, {"v1", "zz: b"}, {"v2", "a: b"}, {"v2", "zz: b"}};
	static const enum finding_outcome want[] = {FINDING_WARN, FINDING_REFUSE, FINDING_WARN,
						    FINDING_REFUSE};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CLEANUP(gate_report_freep) struct gate_report *r = compare(before, 1, after, 1);
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LIMIT);
		if (i > 0) /* in v1 nothing changes */
			gate_report_object(r, foo("v1", "zz: b"));
		if (i > 1)
			gate_report_object(r, foo(texts[i][0], texts[i][1]));
		gate_report_finish(r, true);
		gate_report_text(r, &b);
		assert_int_equal(gate_report_outcome(r), want[i]);
		assert_true((i == 1) == (strstr(b.buf, "LiveCheckIncomplete foos.x.io: add what "
						       "this prints: kubectl get foos.v2.x.io -A "
						       "-o yaml\n") != NULL));
	}
}

/* One in a version that both definitions do not serve is none of those that were wanted. */
static void test_gate_report__an_object_of_another_version_does_not_count(void **state)
{
	(void)state;
	const struct obj *before[] = {convertible("additionalProperties: {type: string}")};
	const struct obj *after[] = {convertible("properties: {a: {type: string}}")};
	static const char *const versions[] = {"v1", "v2", "v3"};
	CLEANUP(gate_report_freep) struct gate_report *r = compare(before, 1, after, 1);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LIMIT);
	for (size_t i = 0; i < ARRAY_LEN(versions); i++)
		assert_int_equal(gate_report_object(r, foo(versions[i], "a: b")), i < 2);
	gate_report_finish(r, true);
	gate_report_text(r, &b);
	assert_non_null(strstr(b.buf, "kubectl get foos.v1.x.io -A -o yaml\n"));
}

static void test_gate_report__large_definitions_with_wider_fields_pass(void **state)
{
	(void)state;
	const struct obj *before = large(10), *after = large(20);
	char *text = json_text(before);
	size_t bytes = strlen(text);
	xfree(text);
	assert_true(bytes > (size_t)500 << 10);
	struct gate_report *r = compare(&before, 1, &after, 1);
	gate_report_finish(r, false);
	assert_int_equal(gate_report_outcome(r), FINDING_ALLOW);
	gate_report_free(r);
}

/* As many as there may be are taken, whichever side has them. */
static void test_gate_report__has_a_bound(void **state)
{
	(void)state;
	static const struct obj *list[GATE_REPORT_CRDS_MAX + 1];
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct obj *o = obj_keep(arena, obj_map());
		obj_set_str(o, "kind", "CustomResourceDefinition");
		obj_set_path(o, "metadata.name", obj_stringf("c%zu.x.io", i));
		list[i] = o;
	}
	for (size_t i = 0; i < 4; i++) {
		size_t over = i % 2, n_before = i / 2 * GATE_REPORT_CRDS_MAX;
		const struct gate_report_input in = {.before = list,
						     .n_before = n_before,
						     .after = list,
						     .n_after = GATE_REPORT_CRDS_MAX + over};
		CLEANUP(gate_report_freep) struct gate_report *r = NULL;
		struct error err = ERROR_INIT;
		assert_int_equal(gate_report_new(&in, &r, &err), over ? -E_LIMIT : 0);
		if (r)
			assert_int_equal(gate_report_crds(r), GATE_REPORT_CRDS_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		CASE(test_gate_report__table),
		CASE(test_gate_report__json_and_sarif),
		CASE(test_gate_report__sarif_has_what_its_schema_requires),
		CASE(test_gate_report__words),
		CASE(test_gate_report__under_a_converter_objects_are_wanted_in_each_version),
		CASE(test_gate_report__an_object_of_another_version_does_not_count),
		CASE(test_gate_report__has_a_bound),
		CASE(test_gate_report__large_definitions_with_wider_fields_pass),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
