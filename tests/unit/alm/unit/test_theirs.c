/* Fields that somebody else writes: what is a path, and what is taken from the live object. */
#include "tests/lib/test.h"

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/unit/theirs.h"

static void test_theirs__what_is_a_path(void **state)
{
	(void)state;
	static const char *const good[] = {"spec.replicas",
					   "data[\"a.b\"]",
					   "spec.containers[0].image",
					   "spec.containers[\"app\"].resources",
					   "metadata.annotations[\"x/y\"]",
					   "webhooks"};
	static const char *const bad[] = {"",
					  ".",
					  "spec.",
					  "spec..a",
					  "spec[",
					  "spec[a]",
					  "spec[\"\"]",
					  "spec[\"a\"",
					  "a b",
					  "a/b",
					  "kind",
					  "apiVersion",
					  "metadata",
					  "status.a",
					  "metadata.name",
					  "[0].spec",
					  "metadata.labels",
					  "metadata.annotations[\"app.coreos.com/applied\"]"};
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct error err = ERROR_INIT;
		assert_ok(theirs_check(good[i], &err), &err);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct error err = ERROR_INIT;
		if (theirs_check(bad[i], &err) == 0)
			fail_msg("%s", bad[i]);
		assert_int_equal(err.code, E_INVALID);
	}
	CLEANUP(strbuf_release) struct strbuf deep = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&deep, "a");
	for (size_t i = 1; i < THEIRS_STEPS_MAX; i++)
		strbuf_addf(&deep, ".a");
	struct error err = ERROR_INIT;
	assert_ok(theirs_check(deep.buf, &err), &err);
	strbuf_addf(&deep, ".a");
	assert_int_not_equal(theirs_check(deep.buf, &err), 0);
}

static struct obj *read(const char *text, struct arena *a)
{
	struct obj *o;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

static void test_theirs__what_is_taken(void **state)
{
	(void)state;
	static const struct {
		const char *want, *live, *paths, *get;
	} rows[] = {
		{"{\"spec\":{\"replicas\":2}}", "{\"spec\":{\"replicas\":5}}",
		 "[\"spec.replicas\"]", "{\"spec\":{\"replicas\":5}}"},
		/* others keep what is declared */
		{"{\"spec\":{\"a\":1,\"b\":1}}", "{\"spec\":{\"a\":2,\"b\":2}}", "[\"spec.b\"]",
		 "{\"spec\":{\"a\":1,\"b\":2}}"},
		/* what is not declared is not: it stays anyway */
		{"{\"spec\":{\"a\":1}}", "{\"spec\":{\"a\":1,\"b\":2}}", "[\"spec.b\",\"x.y\"]",
		 "{\"spec\":{\"a\":1}}"},
		/* somebody has taken it away */
		{"{\"m\":{\"n\":{\"x/y\":1}},\"o\":1}", "{\"o\":1}", "[\"m.n[\\\"x/y\\\"]\"]",
		 "{\"o\":1}"},
		{"{\"m\":{\"n\":1,\"k\":1}}", "{\"m\":{\"k\":1}}", "[\"m.n\"]",
		 "{\"m\":{\"k\":1}}"},
		/* items by name, wherever they are, and by number */
		{"{\"c\":[{\"name\":\"a\",\"i\":1},{\"name\":\"b\",\"i\":1}]}",
		 "{\"c\":[{\"name\":\"b\",\"i\":7},{\"name\":\"a\",\"i\":8}]}",
		 "[\"c[\\\"a\\\"].i\"]",
		 "{\"c\":[{\"name\":\"a\",\"i\":8},{\"name\":\"b\",\"i\":1}]}"},
		{"{\"p\":[{\"n\":1},{\"n\":1}]}", "{\"p\":[{\"n\":7},{\"n\":8}]}", "[\"p[1].n\"]",
		 "{\"p\":[{\"n\":1},{\"n\":8}]}"},
		{"{\"p\":[1,2]}", "{\"p\":[3,4]}", "[\"p[0]\",\"p[9]\"]", "{\"p\":[3,2]}"},
		/* an item that is not live is made: it needs what is declared */
		{"{\"c\":[{\"name\":\"a\",\"i\":1},{\"name\":\"b\",\"i\":1}]}",
		 "{\"c\":[{\"name\":\"a\",\"i\":7}]}", "[\"c[\\\"b\\\"].i\",\"c[1].i\"]",
		 "{\"c\":[{\"name\":\"a\",\"i\":1},{\"name\":\"b\",\"i\":1}]}"},
		{"{\"c\":[{\"i\":1},{\"i\":1}]}", "{}", "[\"c[1].i\"]",
		 "{\"c\":[{\"i\":1},{\"i\":1}]}"},
		/* a number counts what is declared; somebody has put another item before it */
		{"{\"c\":[{\"name\":\"a\",\"i\":1}]}",
		 "{\"c\":[{\"name\":\"x\",\"i\":7},{\"name\":\"a\",\"i\":8}]}", "[\"c[0].i\"]",
		 "{\"c\":[{\"name\":\"a\",\"i\":8}]}"},
		{"{\"c\":[{\"name\":\"a\",\"i\":1}]}", "{\"c\":[{\"name\":\"x\",\"i\":7}]}",
		 "[\"c[0].i\"]", "{\"c\":[{\"name\":\"a\",\"i\":1}]}"},
		/* unless it is the name that is theirs */
		{"{\"c\":[{\"name\":\"a\",\"i\":1}]}", "{\"c\":[{\"name\":\"x\",\"i\":7}]}",
		 "[\"c[0].name\"]", "{\"c\":[{\"name\":\"x\",\"i\":1}]}"},
		/* another shape is nobody's to follow */
		{"{\"p\":{\"a\":1}}", "{\"p\":[1]}", "[\"p[0]\"]", "{\"p\":{\"a\":1}}"},
		{"{\"p\":1}", NULL, "[\"p\"]", "{\"p\":1}"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		const struct obj *want = read(rows[i].want, a),
				 *live = rows[i].live ? read(rows[i].live, a) : NULL;
		const struct obj *got = theirs_take(want, live, read(rows[i].paths, a), a);
		CLEANUP(xfreep) char *text = json_text(got);
		assert_string_equal(text, rows[i].get);
		CLEANUP(xfreep) char *same = json_text(want);
		assert_string_equal(same, rows[i].want);
	}
}

static void test_theirs__fields_below_it_are_in_it(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 12);
	const struct obj *paths = read("[\"spec.rep\",\"data[\\\"a.b\\\"]\"]", a);
	assert_true(theirs_has(paths, NULL, NULL, "spec.rep", a));
	assert_true(theirs_has(paths, NULL, NULL, "spec.rep.a", a));
	assert_true(theirs_has(paths, NULL, NULL, "spec.rep[0]", a));
	assert_false(theirs_has(paths, NULL, NULL, "spec.replicas", a));
	assert_false(theirs_has(NULL, NULL, NULL, "spec", a));
	assert_true(theirs_has(paths, NULL, NULL, "data[\"a.b\"]", a));
}

/* As a rule is written, and as a live field is printed. */
static void test_theirs__however_it_is_spelt(void **state)
{
	(void)state;
	static const struct {
		const char *path, *field;
		bool has;
	} rows[] = {
		{"c[\\\"app\\\"].i", "c[1].i", true},
		{"c[\\\"app\\\"].i", "c[1].i.a", true},
		{"c[\\\"app\\\"].i", "c[1].k", false},
		{"c[\\\"app\\\"].i", "c[0].i", false},
		{"c[\\\"none\\\"].i", "c[0].i", false},
		{"c[\\\"none\\\"].i", "c[9].i", false},
		{"c[\\\"side\\\"].i", "c[0].i", true}, /* declared by nobody */
		/* the first that is declared is the second of those live */
		{"c[0].i", "c[1].i", true},
		{"c[0].i", "c[0].i", false},
		{"c[0].p[1].n", "c[1].p[1].n", true},
		{"c[0].p[1].n", "c[1].p[0].n", false},
		{"data[\\\"plain\\\"]", "data.plain", true},
		{"data.plain", "data[\"plain\"]", true},
		{"data.plain", "data", false},
		{"data.plain", "data.plainer", false},
		{"data[0]", "data.plain", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		const struct obj *want = read("{\"c\":[{\"name\":\"app\",\"i\":1,"
					      "\"p\":[{\"n\":1},{\"n\":2}]}]}",
					      a),
				 *live = read(
					 "{\"data\":{\"plain\":\"x\"},\"c\":[{\"name\":\"side\","
					 "\"i\":1},{\"name\":\"app\",\"i\":{\"a\":1},"
					 "\"p\":[{\"n\":1},{\"n\":2}]}]}",
					 a);
		const struct obj *paths = read(arena_fmt(a, "[\"%s\"]", rows[i].path), a);
		if (theirs_has(paths, want, live, rows[i].field, a) != rows[i].has)
			fail_msg("%s %s", rows[i].path, rows[i].field);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_theirs__what_is_a_path),
		cmocka_unit_test(test_theirs__what_is_taken),
		cmocka_unit_test(test_theirs__fields_below_it_are_in_it),
		cmocka_unit_test(test_theirs__however_it_is_spelt),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
