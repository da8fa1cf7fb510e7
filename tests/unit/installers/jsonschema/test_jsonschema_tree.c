/* The order of what is wrong: that of a list by its numbers, and the same however the values come. */
#include "tests/lib/test.h"

#include "alm/base/strbuf.h"
#include "installers/format/yaml_go.h"
#include "installers/jsonschema/jsonschema.h"

#define KEYS 5

static void check(struct arena *a, const char *schema, const char *yaml, const char *want)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(1 << 16);
	struct warnings w = {.a = a};
	struct value v;
	if (yaml_go_parse(a, str_of(yaml), &v, &msg) < 0)
		fail_msg("%s: %s", yaml, msg.buf);
	strbuf_clear(&msg);
	(void)jsonschema_check(a, str_of(schema), v, &w, &msg);
	assert_string_equal(msg.buf, want);
}

#define LINE(place) "- at '" place "': got string, want integer\n"

/* qsort() of an order that contradicts itself gives another result for each, or worse. */
static void test_jsonschema_tree__places_have_one_order(void **state)
{
	static const char *const keys[KEYS] = {"9", "10", "1a", "b", "01"};
	static const char schema[] = "{\"additionalProperties\":{\"type\":\"integer\"}}";
	(void)state;
	for (unsigned n = 0; n < KEYS * KEYS * KEYS * KEYS * KEYS; n++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(STRBUF_SMALL);
		unsigned seen = 0, rest = n;
		for (unsigned i = 0; i < KEYS; i++, rest /= KEYS) {
			seen |= 1u << rest % KEYS;
			strbuf_addf(&yaml, "\"%s\": x\n", keys[rest % KEYS]);
		}
		if (seen == (1u << KEYS) - 1) /* each once */
			check(a, schema, yaml.buf,
			      LINE("/01") LINE("/9") LINE("/10") LINE("/1a") LINE("/b"));
	}
}

static void test_jsonschema_tree__a_place_comes_before_those_in_it(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	check(a,
	      "{\"properties\":{\"a\":{\"type\":\"array\",\"minItems\":9,\"items\":{\"type\":"
	      "\"integer\"}},\"a0\":{\"type\":\"integer\"}}}",
	      "a0: x\na: [x, x]\n",
	      "- at '/a': validation failed\n"
	      "  - at '/a': minItems: got 2, want 9\n"
	      "  " LINE("/a/0") "  " LINE("/a/1") LINE("/a0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jsonschema_tree__places_have_one_order),
		cmocka_unit_test(test_jsonschema_tree__a_place_comes_before_those_in_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
