/* unsupported.c: what is refused, by which words, and which archive a strategy names. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/app/unsupported.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define D7  "0123abc"
#define D64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define AT  "\"helmChart\":\"oci://h.io/c@sha256:"
#define BAD "spec.strategy.helmChart: want 7 to 64 digits"
#define TWO "spec.strategy.sha256 is not the digest in spec.strategy.helmChart"

static void test_unsupported__of_a_strategy(void **state)
{
	static const struct {
		const char *fields, *problem, *sha256; /* of spec.strategy; NULL: none */
	} rows[] = {
		{"", NULL, NULL},
		{"\"type\":\"helm\",\"helmChart\":\"c:1.0\"", NULL, NULL},
		{"\"type\":\"jsonnet\"", "spec.strategy.type: jsonnet is not installed", NULL},
		{"\"sha256\":\"" D7 "\"", NULL, D7},
		{AT D7 "\"", NULL, D7},
		{AT D64 "\"", NULL, D64},
		{AT D64 "0\"", BAD, NULL},
		{AT "012345\"", BAD, NULL},
		{AT "\"", BAD, NULL},
		{AT D7 "x\"", BAD, NULL},
		{AT D7 "A\"", BAD, NULL},
		{AT D64 "\",\"sha256\":\"" D7 "\"", TWO, D7},
		{AT "0123456789\",\"sha256\":\"0123456\"", NULL, "0123456"},
		{AT "0123456\",\"sha256\":\"0123456789\"", NULL, "0123456789"},
		{AT "0123456\",\"sha256\":\"0123457789\"", TWO, "0123457789"},
		{"\"jsonnet\":{}", "spec.strategy.jsonnet: only charts", NULL},
		{"\"jsonnet\":{\"a\":1}", "spec.strategy.jsonnet: only charts", NULL},
		{"\"image\":\"i\"", "spec.strategy.image: only charts", NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *a = arena_new((size_t)1 << 16);
		struct error err = ERROR_INIT;
		struct obj *o = NULL;
		const char *text = arena_fmt(a, "{\"spec\":{\"strategy\":{%s}}}", rows[i].fields);
		assert_ok(json_parse(str_of(text), &o, &err), &err);
		const char *why = unsupported_of_strategy(o, a), *want = rows[i].problem;
		if (!why != !want || (why && strncmp(why, want, strlen(want)) != 0))
			fail_msg("%s: %s", text, why ? why : "nothing");
		if (!cstr_eq(strategy_sha256(o), rows[i].sha256))
			fail_msg("%s: another archive", text);
		obj_unref(o);
		arena_free(a);
	}
}

static void test_unsupported__of_an_app(void **state)
{
	static const struct {
		const char *annotation, *spec, *problem;
	} rows[] = {
		{NULL, "{}", NULL},
		{"as.x.io=3", "{}", NULL},
		{"as", "{}", "annotation app.coreos.com/delete-crds: want PLURAL.GROUP=COUNT"},
		{NULL, "{\"resources\":[{}]}", "spec.resources[0]."},
		{"as", "{\"resources\":[{}]}", "annotation "},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *a = arena_new((size_t)1 << 16);
		struct error err = ERROR_INIT;
		struct obj *o = NULL;
		const char *want = rows[i].problem;
		assert_ok(json_parse(
				  str_of(arena_fmt(a, "{\"metadata\":{\"name\":\"x\"},\"spec\":%s}",
						   rows[i].spec)),
				  &o, &err),
			  &err);
		if (rows[i].annotation)
			meta_set_annotation(o, "app.coreos.com/delete-crds", rows[i].annotation);
		const char *why = unsupported_of_app(o, a);
		if (!why != !want || (why && strncmp(why, want, strlen(want)) != 0))
			fail_msg("%zu: %s", i, why ? why : "nothing");
		obj_unref(o);
		arena_free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unsupported__of_an_app),
		cmocka_unit_test(test_unsupported__of_a_strategy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
