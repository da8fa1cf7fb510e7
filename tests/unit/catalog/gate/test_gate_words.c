/* What is told of two definitions, item by item: every part that is compared, changed alone. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/schema/schema.h"
#include "alm/obj/yaml.h"
#include "catalog/gate/gate_words.h"

#define LIMIT ((size_t)1 << 20)

static struct obj *crd(struct arena *a, const char *spec)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(yaml_parse_one(
			  str_of(arena_fmt(a, "{metadata: {name: as.x.io}, spec: {%s}}", spec)), &o,
			  &err),
		  &err);
	return obj_keep(a, o);
}

static const char *words(struct arena *a, const struct obj *before, const struct obj *after)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LIMIT);
	struct obj *list = obj_keep(a, obj_list());
	gate_words(before, after, list);
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *o = obj_at(list, i);
		const char *path = obj_str(o, "path");
		strbuf_addf(&b, "%s%s%s%s: %s", i ? "; " : "", obj_str(o, "resource"),
			    path ? " " : "", path ? path : "", obj_str(o, "change"));
	}
	return arena_strdup(a, b.buf);
}

#define V(more)     "versions: [{name: v1, " more "}]"
#define SCHEMA(own) V("schema: {openAPIV3Schema: {" own "}}")

/* there: from the first to the second; back: the other way. NULL: nothing is told. */
static const struct {
	const char *x, *y, *there, *back;
} cases[] = {
	{"scope: Cluster", "scope: Namespaced", "as.x.io: spec.scope \"Cluster\" -> \"Namespaced\"",
	 "as.x.io: spec.scope \"Namespaced\" -> \"Cluster\""},
	{"names: {kind: A}", "names: {kind: B}",
	 "as.x.io: spec.names {\"kind\":\"A\"} -> {\"kind\":\"B\"}",
	 "as.x.io: spec.names {\"kind\":\"B\"} -> {\"kind\":\"A\"}"},
	{"scope: A", "scope: A, conversion: {strategy: None}",
	 "as.x.io: spec.conversion none -> {\"strategy\":\"None\"}",
	 "as.x.io: spec.conversion {\"strategy\":\"None\"} -> none"},
	{"preserveUnknownFields: true", "preserveUnknownFields: false",
	 "as.x.io: spec.preserveUnknownFields true -> false",
	 "as.x.io: spec.preserveUnknownFields false -> true"},
	{"versions: [{name: v1}]", "versions: [{name: v1}, {name: v2}, {served: true}]",
	 "as.x.io/v2: version added", "as.x.io/v2: version removed"},
	{"versions: [{name: v2}, {name: v1}]", "versions: [{name: v1}, {name: v2}]", "", ""},
	{V("served: true"), V("served: false"), "as.x.io/v1: served true -> false",
	 "as.x.io/v1: served false -> true"},
	{V("storage: true"), V("storage: false"), "as.x.io/v1: storage true -> false",
	 "as.x.io/v1: storage false -> true"},
	{V("served: true"), V("served: true, deprecated: true"),
	 "as.x.io/v1: deprecated none -> true", "as.x.io/v1: deprecated true -> none"},
	{V("deprecationWarning: a"), V("deprecationWarning: b"),
	 "as.x.io/v1: deprecationWarning \"a\" -> \"b\"",
	 "as.x.io/v1: deprecationWarning \"b\" -> \"a\""},
	{V("subresources: {}"), V("subresources: {status: {}}"),
	 "as.x.io/v1: subresources {} -> {\"status\":{}}",
	 "as.x.io/v1: subresources {\"status\":{}} -> {}"},
	{V("selectableFields: [a]"), V("selectableFields: [a, b]"),
	 "as.x.io/v1: selectableFields [\"a\"] -> [\"a\",\"b\"]",
	 "as.x.io/v1: selectableFields [\"a\",\"b\"] -> [\"a\"]"},
	{V("served: true"), V("served: true, additionalPrinterColumns: [a]"),
	 "as.x.io/v1: printer columns changed", "as.x.io/v1: printer columns changed"},
	{V("additionalPrinterColumns: [a]"), V("additionalPrinterColumns: [b]"),
	 "as.x.io/v1: printer columns changed", "as.x.io/v1: printer columns changed"},
	{SCHEMA("type: object"), SCHEMA("type: object, nullable: true"),
	 "as.x.io/v1: nullable none -> true", "as.x.io/v1: nullable true -> none"},
	{SCHEMA("type: object, description: a, title: b, example: c, externalDocs: {}"),
	 SCHEMA("type: object, description: b, title: c, example: d"), "", ""},
	{SCHEMA("properties: {s: {properties: {t: {type: string}}}}"),
	 SCHEMA("properties: {s: {properties: {t: {type: integer}}}}"),
	 "as.x.io/v1 s.t: type \"string\" -> \"integer\"",
	 "as.x.io/v1 s.t: type \"integer\" -> \"string\""},
	{SCHEMA("properties: {s: {type: string}}"),
	 SCHEMA("properties: {s: {type: string}, t: {x-kubernetes-int-or-string: true}, u: {}}"),
	 "as.x.io/v1 t: field added (int-or-string); as.x.io/v1 u: field added (any)",
	 "as.x.io/v1 t: field removed (int-or-string); as.x.io/v1 u: field removed (any)"},
	{SCHEMA("properties: {s: {items: {type: string}}}"),
	 SCHEMA("properties: {s: {items: {type: string, maxLength: 3}}}"),
	 "as.x.io/v1 s[*]: maxLength none -> 3", "as.x.io/v1 s[*]: maxLength 3 -> none"},
	{SCHEMA("type: array"), SCHEMA("type: array, items: {type: string}"),
	 "as.x.io/v1 [*]: field added (string)", "as.x.io/v1 [*]: field removed (string)"},
	{SCHEMA("additionalProperties: {type: string}"),
	 SCHEMA("additionalProperties: {type: string, maxLength: 3}"),
	 "as.x.io/v1 {*}: maxLength none -> 3", "as.x.io/v1 {*}: maxLength 3 -> none"},
	{SCHEMA("additionalProperties: {type: string}"), SCHEMA("additionalProperties: true"),
	 "as.x.io/v1: additionalProperties {\"type\":\"string\"} -> true",
	 "as.x.io/v1: additionalProperties true -> {\"type\":\"string\"}"},
	{SCHEMA("type: object"), SCHEMA("type: object, additionalProperties: {}"),
	 "as.x.io/v1: additionalProperties none -> {}",
	 "as.x.io/v1: additionalProperties {} -> none"},
};

static void test_gate_words__every_part_alone_and_both_ways(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(LIMIT);
		const struct obj *x = crd(a, cases[i].x), *y = crd(a, cases[i].y);
		assert_string_equal(words(a, x, y), cases[i].there);
		assert_string_equal(words(a, y, x), cases[i].back);
		assert_string_equal(words(a, x, x), "");
		assert_string_equal(words(a, NULL, y), "as.x.io: definition added");
		assert_string_equal(words(a, x, NULL), "as.x.io: definition removed");
	}
}

/* A value of 200 bytes is told whole, with its quotes; of a longer one the beginning. */
static void test_gate_words__a_long_value_is_cut(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(LIMIT);
	char text[201];
	memset(text, 'p', sizeof(text));
	for (int len = 198; len <= 199; len++) {
		const struct obj *x = crd(a, SCHEMA("type: string")),
				 *y = crd(a, arena_fmt(a, SCHEMA("type: string, pattern: %.*s"),
						       len, text));
		const char *want =
			len == 198 ? arena_fmt(a, "as.x.io/v1: pattern none -> \"%.198s\"", text)
				   : arena_fmt(a, "as.x.io/v1: pattern none -> \"%.196s...", text);
		assert_string_equal(words(a, x, y), want);
	}
}

/* As deep as a schema may be the change is told; below that it is not looked for. */
static void test_gate_words__as_deep_as_a_schema_may_be(void **state)
{
	(void)state;
	for (unsigned depth = SCHEMA_DEPTH_MAX - 1; depth <= SCHEMA_DEPTH_MAX; depth++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(LIMIT);
		const struct obj *both[2];
		for (int i = 0; i < 2; i++) {
			struct obj *node = obj_map();
			obj_set_str(node, "type", i ? "string" : "integer");
			for (unsigned k = 0; k < depth; k++) {
				struct obj *outer = obj_map();
				obj_set(outer, "items", node);
				node = outer;
			}
			struct obj *o = obj_copy(crd(a, "versions: [{name: v1}]"));
			obj_keep(a, o);
			struct obj *v =
				obj_at_mut(obj_get_mut(obj_get_mut(o, "spec"), "versions"), 0);
			obj_set_path(v, "schema.openAPIV3Schema", node);
			both[i] = o;
		}
		const char *got = words(a, both[0], both[1]);
		assert_int_equal(strstr(got, "type \"integer\" -> \"string\"") != NULL,
				 depth < SCHEMA_DEPTH_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gate_words__every_part_alone_and_both_ways),
		cmocka_unit_test(test_gate_words__a_long_value_is_cut),
		cmocka_unit_test(test_gate_words__as_deep_as_a_schema_may_be),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
