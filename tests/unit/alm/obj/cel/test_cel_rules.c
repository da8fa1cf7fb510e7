/* test_cel_rules.c: rules of definitions, as a real kube-apiserver 1.36 takes or refuses them: types, literals, the estimated
 * cost, and what they give (tests/golden/kube-api/cel_rules.py). */
#include <string.h>

#include "alm/base/file.h"
#include "alm/obj/cel/cel.h"
#include "alm/obj/json.h"
#include "tests/lib/test.h"

#define BYTES_MAX ((size_t)4 << 20)
#define AT        "spec.validation.openAPIV3Schema"
#define MESSAGE   "R0;"

static struct obj *definition(const struct obj *head, const char *rule)
{
	struct obj *schema = obj_map(), *spec = obj_map(), *rules = obj_list(), *one = obj_map();
	obj_set(one, "rule", obj_string(rule));
	obj_set(one, "message", obj_string(MESSAGE));
	obj_append(rules, one);
	obj_set(spec, "type", obj_string("object"));
	obj_set(spec, "properties", obj_copy(obj_get(head, "schema")));
	obj_set(spec, "x-kubernetes-validations", rules);
	obj_set(schema, "type", obj_string("object"));
	obj_set_path(schema, "properties.spec", spec);
	return schema;
}

/* Without the members of the rule that are not compared. */
static void check_said(const struct obj *row, const struct obj *openapi, struct arena *a)
{
	const struct obj *said = obj_get(row, "said");
	struct field_errors e;
	field_errors_init(&e, a);
	schema_check_rules(openapi, AT, &e);
	const char *rule = obj_as_string(obj_get(row, "rule"));
	if (e.n != obj_len(said))
		fail_msg("%s: %zu errors instead of %zu: %s", rule, e.n, obj_len(said),
			 e.n ? e.items[0].message : "");
	for (size_t i = 0; i < e.n; i++) {
		const char *path = obj_as_string(obj_at(obj_at(said, i), 0));
		const char *message = obj_as_string(obj_at(obj_at(said, i), 1));
		const char *ours = strstr(e.items[i].message, "failed: ");
		const char *theirs = strstr(message, "failed: ");
		assert_string_equal(e.items[i].path, path);
		assert_string_equal(ours ? ours : e.items[i].message, theirs ? theirs : message);
	}
}

static const char *after(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0 ? text + strlen(prefix) : text;
}

static void check_given(const struct obj *row, const struct obj *head, const struct obj *openapi,
			struct arena *a)
{
	CLEANUP(schema_freep) struct schema *s = NULL;
	struct error err = ERROR_INIT;
	struct field_errors e;
	const char *gives = obj_as_string(obj_get(row, "gives"));
	const char *rule = obj_as_string(obj_get(row, "rule"));
	struct obj *thing = obj_keep(a, obj_map());
	if (!obj_get(row, "gives"))
		return;
	assert_ok(schema_compile(openapi, &s, &err), &err);
	obj_set(thing, "spec", obj_copy(obj_get(head, "value")));
	field_errors_init(&e, a);
	schema_validate_rules(s, thing, NULL, &e);
	const char *told = e.n ? after(e.items[0].message, "Invalid value: ") : NULL;
	char *ours = told ? arena_strdup(a, after(told, "\"object\": ")) : NULL;
	if (ours && str_has_suffix(str_of(ours), STR(MESSAGE)))
		ours[strlen(ours) - strlen(MESSAGE)] = '\0';
	if (!cstr_eq(ours, gives))
		fail_msg("%s: '%s' instead of '%s'", rule, ours ? ours : "true",
			 gives ? gives : "true");
}

static void test_cel_rules__read_as_recorded(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *head = NULL;
	struct error err = ERROR_INIT;
	struct str line, rest;
	size_t n = 0;
	assert_ok(file_read("tests/golden/kube-api/cel_rules.jsonl", &text, &err), &err);
	rest = strbuf_str(&text);
	while (str_next(&rest, '\n', &line)) {
		CLEANUP(arena_freep) struct arena *a = arena_new(BYTES_MAX);
		struct obj *row = NULL;
		if (!line.len)
			continue;
		assert_ok(json_parse(line, &row, &err), &err);
		if (!head) {
			head = row;
			continue;
		}
		obj_keep(a, row);
		struct obj *openapi =
			obj_keep(a, definition(head, obj_as_string(obj_get(row, "rule"))));
		check_said(row, openapi, a);
		check_given(row, head, openapi, a);
		n++;
	}
	assert_true(n > 700);
}

/* Of the metadata of the object itself rules see two texts. */
static void test_cel_rules__metadata_has_two_texts(void **state)
{
	static const struct {
		const char *rule, *says; /* NULL: nothing */
	} rows[] = {
		{"size('router-' + self.metadata.name + '.' + self.spec.domain) <= 253", NULL},
		{"self.metadata.generateName + self.metadata.name != self.kind + self.apiVersion",
		 NULL},
		{"self.metadata == self.metadata", NULL},
		{"self.metadata.name == 2",
		 "no matching overload for '_==_' applied to '(string, int)'"},
		{"self.metadata.name.x == 2", "type 'string' does not support field selection"},
		{"has(self.metadata.labels)", "undefined field 'labels'"},
		{"self.spec.metadata.name == 'x'", "undefined field 'metadata'"},
	};
	static const char schema[] =
		"{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\","
		"\"properties\":{\"domain\":{\"type\":\"string\"}}}},"
		"\"x-kubernetes-validations\":[{}]}";
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		struct field_errors e;
		struct obj *o = NULL;
		assert_ok(json_parse(STR(schema), &o, &err), &err);
		obj_keep(a, o);
		obj_set_str(obj_at_mut(obj_get_mut(o, "x-kubernetes-validations"), 0), "rule",
			    rows[i].rule);
		field_errors_init(&e, a);
		schema_check_rules(o, AT, &e);
		if (rows[i].says ? e.n != 1 || !strstr(e.items[0].message, rows[i].says) : e.n != 0)
			fail_msg("%s: %zu %s", rows[i].rule, e.n, e.n ? e.items[0].message : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cel_rules__read_as_recorded),
		cmocka_unit_test(test_cel_rules__metadata_has_two_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
