#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/obj/json.h"
#include "alm/obj/query/jsonql.h"

static struct obj *doc;

/* match, no-match or error. */
static const char *answer(struct str expr, struct strbuf *notes, struct error *err)
{
	struct jsonql *q = NULL;
	if (jsonql_parse(expr, &q, err) < 0)
		return "error";
	bool yes = jsonql_eval(q, doc, 0, notes);
	jsonql_free(q);
	return yes ? "match" : "no-match";
}

static void parse_doc(struct str text)
{
	struct error err = ERROR_INIT;
	obj_unref(doc);
	doc = NULL;
	assert_ok(json_parse(text, &doc, &err), &err);
}

static void every_prefix(struct str expr)
{
	for (size_t n = 0; n < expr.len; n++) {
		struct error err = ERROR_INIT;
		if (!strcmp(answer(str_sub(expr, 0, n), NULL, &err), "error"))
			assert_true(cstr_has_prefix(err.msg, "column "));
	}
}

/* The conformance fixture, line by line; every prefix of every line is parsed or refused. */
static void test_jsonql__fixture_holds(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	assert_ok(file_read("tests/golden/jsonql/cases.txt", &text, &err), &err);
	struct str rest = strbuf_str(&text), line, was, want, expr;
	int n = 0, wrong = 0;
	while (str_next_line(&rest, &line)) {
		if (!line.len || line.ptr[0] == '#' || !str_cut(line, '\t', &was, &want))
			continue;
		if (str_is(was, "doc")) {
			parse_doc(want);
			continue;
		}
		str_cut(want, '\t', &want, &expr);
		struct error fault = ERROR_INIT;
		const char *got = answer(expr, NULL, &fault);
		n++;
		if (!str_is(want, got)) {
			wrong++;
			print_message("%.*s: want %.*s, got %s %s\n", STR_ARG(expr), STR_ARG(want),
				      got, fault.msg);
		}
		every_prefix(expr);
	}
	assert_true(n > 200);
	assert_int_equal(wrong, 0);
}

/* What is refused before anything is read says where, and why. */
static void test_jsonql__a_comparison_that_cannot_be_made_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *expr, *message;
	} cases[] = {
		{"n < null", "null has no order"},
		{"null >= n", "null has no order"},
		{"(n = 3) < 5", "an order of truth values"},
		{"n = defined", "defined is for is and isnot"},
		{"n is 3", "is and isnot take null or defined"},
		{"n startswith 3", "both sides must be strings"},
		{"3 contains n", "the left side must be a list or a string"},
		{"n && 3", "&& joins truth values"},
		{"-'x' = n", "a sign needs a number"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		assert_string_equal(answer(str_of(cases[i].expr), NULL, &err), "error");
		if (!cstr_has_prefix(err.msg, "column ") || !strstr(err.msg, cases[i].message))
			fail_msg("%s: %s", cases[i].expr, err.msg);
	}
}

static void test_jsonql__notes_say_what_was_missing(void **state)
{
	(void)state;
	static const struct {
		const char *expr, *note;
	} cases[] = {
		{"status.my-key = 'dash'",
		 "status.my is missing (for the key my-key write status.'my-key')"},
		{"status.phase = Done", "Done is missing (a string needs quotes)"},
		{"missing = 3", "missing is missing"},
		{"n = 'x'", "n is a number and does not compare with a string"},
	};
	parse_doc(STR("{\"n\":3,\"status\":{\"phase\":\"Done\"}}"));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		CLEANUP(strbuf_release) struct strbuf notes = STRBUF_INIT(JSONQL_NOTES_MAX);
		assert_string_equal(answer(str_of(cases[i].expr), &notes, &err), "no-match");
		assert_string_equal(notes.buf, cases[i].note);
	}
}

static void test_jsonql__ages_come_from_the_caller(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct jsonql *q = NULL;
	parse_doc(STR("{\"metadata\":{\"creationTimestamp\":\"1970-01-01T00:01:00Z\"}}"));
	assert_ok(jsonql_parse(STR("age() >= 5m"), &q, &err), &err);
	assert_true(jsonql_uses_age(q));
	assert_false(jsonql_eval(q, doc, INT64_C(359) * 1000000000, NULL));
	assert_true(jsonql_eval(q, doc, INT64_C(360) * 1000000000, NULL));
	jsonql_free(q);
}

static void test_jsonql__values_name_every_path(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct jsonql *q = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	parse_doc(STR("{\"n\":3,\"status\":{\"phase\":\"Pending\"}}"));
	assert_ok(jsonql_parse(STR("status.phase = 'Done' && n > 2 && x = 1"), &q, &err), &err);
	jsonql_values(q, doc, &b);
	assert_string_equal(b.buf, "status.phase='Pending', n=3");
	jsonql_free(q);
}

static void test_jsonql__limits_hold(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	char deep[1000], big[5000];
	parse_doc(STR("{}"));
	memset(deep, '(', sizeof(deep));
	assert_string_equal(answer(str_n(deep, sizeof(deep)), NULL, &err), "error");
	memset(deep, '-', sizeof(deep));
	assert_string_equal(answer(str_n(deep, sizeof(deep)), NULL, &err), "error");
	memset(big, 'a', sizeof(big));
	assert_string_equal(answer(str_n(big, sizeof(big)), NULL, &err), "error");
}

/* Products of long lists stop at the memory of one evaluation. */
static void test_jsonql__large_products_end(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)4 << 20);
	CLEANUP(strbuf_release) struct strbuf expr = STRBUF_INIT(JSONQL_BYTES_MAX);
	strbuf_adds(&b, "{\"a\":[\"x\"");
	for (int i = 0; i < 900; i++)
		strbuf_addf(&b, ",\"%0500d\"", i);
	strbuf_adds(&b, "]}");
	parse_doc(strbuf_str(&b));
	strbuf_adds(&expr, "'1' = a[*]");
	for (int i = 0; i < 500; i++)
		strbuf_adds(&expr, "+a[*]");
	assert_string_equal(answer(strbuf_str(&expr), NULL, &err), "no-match");
}

static int teardown(void **state)
{
	(void)state;
	obj_unref(doc);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jsonql__fixture_holds),
		cmocka_unit_test(test_jsonql__a_comparison_that_cannot_be_made_is_refused),
		cmocka_unit_test(test_jsonql__notes_say_what_was_missing),
		cmocka_unit_test(test_jsonql__ages_come_from_the_caller),
		cmocka_unit_test(test_jsonql__values_name_every_path),
		cmocka_unit_test(test_jsonql__limits_hold),
		cmocka_unit_test(test_jsonql__large_products_end),
	};
	return cmocka_run_group_tests(tests, NULL, teardown);
}
