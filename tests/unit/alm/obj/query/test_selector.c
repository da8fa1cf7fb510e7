#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/query/selector.h"

static struct obj *parsed(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

static bool matches(const char *selector, const char *labels)
{
	struct error err = ERROR_INIT;
	struct selector *s;
	assert_ok(selector_parse(str_of(selector), &s, &err), &err);
	struct obj *o = labels ? parsed(labels) : NULL;
	bool yes = selector_matches(s, o);
	obj_unref(o);
	selector_free(s);
	return yes;
}

static void test_selector__matches(void **state)
{
	(void)state;
	static const struct {
		const char *selector, *labels;
		bool want;
	} cases[] = {
		{"", NULL, true},
		{"a", "{\"a\":\"\"}", true},
		{"a", NULL, false},
		{"!a", NULL, true},
		{"!a", "{\"a\":\"1\"}", false},
		{"a=1,b==2", "{\"a\":\"1\",\"b\":\"2\"}", true},
		{"a=1,b=3", "{\"a\":\"1\",\"b\":\"2\"}", false},
		{"a!=1", NULL, true},
		{"a!=1", "{\"a\":\"1\"}", false},
		{"a in (b, c)", "{\"a\":\"c\"}", true},
		{"a in (b,c)", NULL, false},
		{"a notin (b,c)", NULL, true},
		{"a notin (b,c)", "{\"a\":\"b\"}", false},
		{"a in (b,)", "{\"a\":\"\"}", true},
		{"a in (,b)", "{\"a\":\"\"}", true},
		{"a=", "{\"a\":\"\"}", true},
		{"a>1", "{\"a\":\"2\"}", true},
		{"a>1", "{\"a\":\"x\"}", false},
		{"a<1", "{\"a\":\"-2\"}", true},
		{"in in (in)", "{\"in\":\"in\"}", true},
		{" app.kubernetes.io/name = x ", "{\"app.kubernetes.io/name\":\"x\"}", true},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (matches(cases[i].selector, cases[i].labels) != cases[i].want)
			fail_msg("%s", cases[i].selector);
}

static void test_selector__errors_are_those_of_kubernetes(void **state)
{
	(void)state;
	static const struct {
		const char *selector, *want;
	} cases[] = {
		{"a===", "unable to parse requirement: found '=', expected: identifier"},
		{"a,", "found '', expected: identifier after ','"},
		{",a", "found ',', expected: !, identifier, or 'end of string'"},
		{"a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, "
			"gt, lt"},
		{"a in b", "unable to parse requirement: found 'b' expected: '('"},
		{"a in (b", "unable to parse requirement: found '', expected: ',' or ')'"},
		{"a in ()", "unable to parse requirement: values: Invalid value: []: for 'in', "
			    "'notin' operators, values set can't be empty"},
		{"a>x", "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', "
			"'Lt' operators, the value must be an integer"},
		{"a=b c", "found 'c', expected: ',' or 'end of string'"},
		{"!", "unable to parse requirement: found '', expected: identifier"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		struct selector *s;
		assert_int_equal(selector_parse(str_of(cases[i].selector), &s, &err),
				 -E_BADREQUEST);
		assert_string_equal(err.msg, cases[i].want);
	}
	struct error err = ERROR_INIT;
	struct selector *s;
	assert_int_equal(selector_parse(STR("a/b/c"), &s, &err), -E_BADREQUEST);
	assert_non_null(strstr(err.msg, "optional DNS subdomain prefix"));
	assert_int_equal(selector_parse(STR("a=-"), &s, &err), -E_BADREQUEST);
	assert_non_null(strstr(err.msg, "a valid label must be"));
}

static void test_selector__from_object(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct selector *s;
	struct obj *labels = parsed("{\"a\":\"1\",\"b\":\"2\"}");
	struct obj *o = parsed("{\"matchLabels\":{\"a\":\"1\"},\"matchExpressions\":["
			       "{\"key\":\"b\",\"operator\":\"In\",\"values\":[\"2\"]},"
			       "{\"key\":\"c\",\"operator\":\"DoesNotExist\"}]}");
	assert_ok(selector_from_obj(o, &s, &err), &err);
	assert_true(selector_matches(s, labels));
	assert_false(selector_matches(s, NULL));
	selector_free(s);
	assert_ok(selector_from_obj(NULL, &s, &err), &err);
	assert_false(selector_matches(s, labels));
	assert_false(selector_is_empty(s));
	selector_free(s);
	obj_unref(o);
	o = parsed("{}");
	assert_ok(selector_from_obj(o, &s, &err), &err);
	assert_true(selector_matches(s, labels) && selector_is_empty(s));
	selector_free(s);
	obj_unref(o);
	o = parsed("{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"Like\"}]}");
	assert_int_equal(selector_from_obj(o, &s, &err), -E_BADREQUEST);
	obj_unref(o);
	obj_unref(labels);
}

/* What is printed is read as the same. */
static void test_selector__printed(void **state)
{
	(void)state;
	static const char *const cases[][2] = {{"a=b", "a in (b)"},
					       {"a, !c,d!=e", "a,!c,d notin (e)"},
					       {"x in (1,2),y notin (z)", "x in (1,2),y notin (z)"},
					       {"n>3,m<4", "n>3,m<4"},
					       {"", ""}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (size_t twice = 0; twice < 2; twice++) {
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
			CLEANUP(selector_freep) struct selector *s = NULL;
			struct error err = ERROR_INIT;
			assert_ok(selector_parse(str_of(cases[i][twice]), &s, &err), &err);
			selector_print(s, &b);
			assert_string_equal(b.len ? b.buf : "", cases[i][1]);
		}
}

/* The sketch leaves out nothing that matches, and most of the rest. */
static void test_selector__sketch(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	size_t left_out = 0, others = 0;
	assert_true(selector_bits(NULL) != 0);
	for (int n = 0; n < 1000; n++) {
		CLEANUP(obj_unrefp) struct obj *labels = obj_map();
		obj_set_str(labels, "owner", "helm");
		obj_set(labels, "name", obj_stringf("web%d", n));
		obj_set(labels, "version", obj_stringf("%d", n % 7));
		uint64_t bits = selector_bits(labels);
		for (int i = 0; i < 1000; i += 37) {
			char text[100];
			snprintf(text, sizeof(text),
				 "owner in (helm,hand),name=web%d,!x,version!=9", i);
			CLEANUP(selector_freep) struct selector *s = NULL;
			assert_ok(selector_parse(str_of(text), &s, &err), &err);
			bool excluded = selector_excludes(s, bits);
			assert_false(excluded && selector_matches(s, labels));
			others += i != n;
			left_out += excluded;
		}
	}
	assert_true(left_out > others / 10 * 9);
}

/* What says nothing of one value is never left out. */
static void test_selector__sketch_of_other_terms(void **state)
{
	(void)state;
	static const char *const terms[] = {"",    "a",   "!a",       "a!=b", "a notin (b)",
					    "a>1", "a<1", "a in (x,)"};
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *labels = obj_map();
	obj_set_str(labels, "a", "");
	for (size_t i = 0; i < ARRAY_LEN(terms); i++) {
		CLEANUP(selector_freep) struct selector *s = NULL;
		assert_ok(selector_parse(str_of(terms[i]), &s, &err), &err);
		assert_false(selector_excludes(s, selector_bits(labels)));
	}
	CLEANUP(selector_freep) struct selector *nothing = NULL;
	assert_ok(selector_from_obj(NULL, &nothing, &err), &err);
	assert_true(selector_excludes(nothing, selector_bits(labels)));
}

static bool only_metadata(void *arg, struct str field)
{
	(void)arg;
	return str_has_prefix(field, STR("metadata."));
}

static const char *field_value(void *arg, const char *field)
{
	(void)arg;
	return strcmp(field, "metadata.name") == 0 ? "a,b" : NULL;
}

static void test_selector__fields(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct field_selector *s;
	assert_ok(field_selector_parse(STR("metadata.name=a\\,b,metadata.namespace!=x,"
					   "metadata.namespace=="),
				       only_metadata, NULL, &s, &err),
		  &err);
	assert_true(field_selector_matches(s, field_value, NULL));
	assert_string_equal(field_selector_exact(s, "metadata.name"), "a,b");
	field_selector_free(s);
	assert_ok(field_selector_parse(STR("metadata.name!=a\\,b"), NULL, NULL, &s, &err), &err);
	assert_false(field_selector_matches(s, field_value, NULL));
	assert_null(field_selector_exact(s, "metadata.name"));
	field_selector_free(s);
	assert_int_equal(field_selector_parse(STR("spec.size=1"), only_metadata, NULL, &s, &err),
			 -E_BADREQUEST);
	assert_string_equal(err.msg, "field label not supported: spec.size");
	assert_int_equal(field_selector_parse(STR("a"), NULL, NULL, &s, &err), -E_BADREQUEST);
	assert_int_equal(field_selector_parse(STR("a=b\\x"), NULL, NULL, &s, &err), -E_BADREQUEST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_selector__matches),
		cmocka_unit_test(test_selector__errors_are_those_of_kubernetes),
		cmocka_unit_test(test_selector__from_object),
		cmocka_unit_test(test_selector__printed),
		cmocka_unit_test(test_selector__sketch),
		cmocka_unit_test(test_selector__sketch_of_other_terms),
		cmocka_unit_test(test_selector__fields),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
