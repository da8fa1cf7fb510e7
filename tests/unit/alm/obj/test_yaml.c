#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/yaml.h"

static struct yaml_documents parsed(struct str text)
{
	struct error err = ERROR_INIT;
	struct yaml_documents d = {0};
	if (yaml_parse(text, &d, &err) < 0)
		fail_msg("%.*s: %s", STR_ARG(text), err.msg);
	return d;
}

static void assert_reads(const char *yaml, const char *json)
{
	struct yaml_documents d = parsed(str_of(yaml));
	assert_int_equal(d.n, 1);
	char *text = json_text(d.items[0].value);
	assert_string_equal(text, json);
	xfree(text);
	yaml_documents_release(&d);
}

static void assert_refused(const char *yaml, const char *want)
{
	struct error err = ERROR_INIT;
	struct yaml_documents d = {0};
	assert_true(yaml_parse(str_of(yaml), &d, &err) < 0);
	assert_string_equal(err.msg, want);
	assert_int_equal(d.n, 0);
}

/* Each pair was read from `kubectl annotate --local -o json`. */
static void test_yaml__scalars_as_kubectl_reads_them(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"y", "true"},
		{"On", "true"},
		{"True", "true"},
		{"n", "false"},
		{"OFF", "false"},
		{"tRUE", "\"tRUE\""},
		{"nULL", "\"nULL\""},
		{"~", "null"},
		{"Null", "null"},
		{"None", "\"None\""},
		{"010", "8"},
		{"0o10", "8"},
		{"0777", "511"},
		{"08", "8"},
		{"0x10", "16"},
		{"-0x10", "-16"},
		{"0b11", "3"},
		{"1_000", "1000"},
		{"1e3", "1000"},
		{".5", "0.5"},
		{"1.", "1"},
		{"+5", "5"},
		{"-0", "0"},
		{"3.2.2", "\"3.2.2\""},
		{"12:30:45", "\"12:30:45\""},
		{"190:20:30", "\"190:20:30\""},
		{"2017-07-20", "\"2017-07-20\""},
		{"1e400", "\"1e400\""},
		{"0o8", "\"0o8\""},
		{"0b2", "\"0b2\""},
		{"0x", "\"0x\""},
		{"9223372036854775807", "9223372036854775807"},
		{"18446744073709551616", "18446744073709552000"},
		{"1e21", "1e+21"},
		{"!!str 1", "\"1\""},
		{"!!float 3", "3"},
		{"! 3", "\"3\""},
		{"!foo 3", "\"3\""},
		{"\"1\"", "\"1\""},
		{"'yes'", "\"yes\""},
		{"!!binary aGVsbG8=", "\"hello\""},
		{"=", "\"=\""},
		{"<<", "\"<<\""},
		{"1,000", "\"1,000\""},
		{"", "null"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf in = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&in, "a: %s\n", cases[i].in);
		strbuf_addf(&out, "{\"a\":%s}", cases[i].out);
		assert_reads(in.buf, out.buf);
	}
}

static void test_yaml__keys_become_text(void **state)
{
	(void)state;
	assert_reads("n: 1\n0x10: 2\n1.5: 3\n\"y\": 4\n2017-07-20: 5\n",
		     "{\"false\":1,\"16\":2,\"1.5\":3,\"y\":4,\"2017-07-20\":5}");
	assert_refused("~: 1\n", "yaml: line 1: unsupported map key of type null");
	assert_refused("? [a]\n: 1\n", "yaml: line 1: invalid map key");
}

static void test_yaml__anchors_and_merges(void **state)
{
	(void)state;
	assert_reads("b: &b {x: 1, w: 2}\nd: {<<: *b, x: 3}\ne:\n  x: 3\n  <<: *b\n"
		     "f:\n  <<: [*b, {x: 9, z: 3}]\n",
		     "{\"b\":{\"x\":1,\"w\":2},\"d\":{\"x\":3,\"w\":2},\"e\":{\"x\":1,\"w\":2},"
		     "\"f\":{\"x\":1,\"z\":3,\"w\":2}}");
	struct yaml_documents d = parsed(STR("a: &a {x: 1}\nb: *a\n"));
	obj_set_path(d.items[0].value, "b.x", obj_int(2));
	assert_int_equal(obj_i64(d.items[0].value, "a.x", 0), 1);
	yaml_documents_release(&d);
	assert_refused("a: &x [*x]\n", "yaml: line 1: anchor 'x' value contains itself");
	assert_refused("a: *y\n", "yaml: line 1: unknown anchor 'y' referenced");
	assert_refused("a: &x 1\n---\nb: *x\n", "yaml: line 3: unknown anchor 'x' referenced");
	assert_refused("a:\n  <<: 1\n",
		       "yaml: line 2: map merge requires map or sequence of maps as the value");
}

static void test_yaml__documents(void **state)
{
	(void)state;
	struct yaml_documents d =
		parsed(STR("# only a comment\n---\n\n# x\na: 1\n---\n# nothing\n---\nb: 2\na: 3\n"
			   "b: 4\n...\n---\n"));
	assert_int_equal(d.n, 2);
	assert_int_equal(d.items[0].line, 5);
	assert_int_equal(d.items[1].line, 9);
	assert_int_equal(d.items[1].n_duplicates, 1);
	assert_string_equal(d.items[1].duplicates[0], "line 11: key \"b\" already set in map");
	assert_int_equal(obj_i64(d.items[1].value, "b", 0), 4);
	yaml_documents_release(&d);
	d = parsed(STR(""));
	assert_int_equal(d.n, 0);
	d = parsed(STR("\xEF\xBB\xBF\n{\"a\": \"\\ud83d\\ude00\\/\"}\n"));
	assert_int_equal(d.n, 1);
	assert_string_equal(obj_str(d.items[0].value, "a"), "\xF0\x9F\x98\x80/");
	yaml_documents_release(&d);
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_int_equal(yaml_parse_one(STR("a: 1\n---\nb: 1\n"), &o, &err), -E_BADREQUEST);
	assert_int_equal(yaml_parse_one(STR("a: 1\na: 2\n"), &o, &err), -E_BADREQUEST);
	assert_ok(yaml_parse_one(STR("a: 1\n"), &o, &err), &err);
	obj_unref(o);
}

static void test_yaml__errors_name_the_line(void **state)
{
	(void)state;
	assert_refused("a: [1\n", "yaml: line 1: did not find expected ',' or ']'");
	assert_refused("a:\n\t- x\n", "yaml: line 2: found character that cannot start any token");
	assert_refused("a\n b: c\n",
		       "yaml: line 2: mapping values are not allowed in this context");
	assert_refused("a: b: c\n", "yaml: line 1: mapping values are not allowed in this context");
	assert_refused("x: 1\na: \x01\n", "yaml: line 2: control characters are not allowed");
	assert_refused("a: \xff\n", "yaml: line 1: invalid leading UTF-8 octet");
	assert_refused("a: .inf\n", "yaml: line 1: json: unsupported value: +Inf");
	assert_refused("a: !!int x\n", "yaml: line 1: cannot decode !!str `x` as a !!int");
	assert_refused("%YAML 1.2\n---\na: 1\n", "yaml: line 1: found incompatible YAML document");
}

static void repeat(struct strbuf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strbuf_adds(b, s);
}

static void test_yaml__nesting_is_bounded(void **state)
{
	(void)state;
	static const char *const bombs[] = {"[", "- ", "{a: ", "[[", "[{a: "};
	for (size_t i = 0; i < ARRAY_LEN(bombs); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		repeat(&b, bombs[i], 200000 / strlen(bombs[i]));
		assert_refused(b.buf, "yaml: line 1: exceeded max depth");
	}
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	repeat(&b, "[", 100);
	repeat(&b, "]", 100);
	struct yaml_documents d = parsed(strbuf_str(&b));
	yaml_documents_release(&d);
}

static void test_yaml__aliases_are_bounded(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)4 << 20);
	strbuf_adds(&b, "a: &a [x,x,x,x,x,x,x,x,x]\n");
	for (int c = 'b'; c < 'l'; c++)
		strbuf_addf(&b, "%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c - 1,
			    c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1);
	struct error err = ERROR_INIT;
	struct yaml_documents d;
	assert_int_equal(yaml_parse(strbuf_str(&b), &d, &err), -E_BADREQUEST);
	assert_non_null(strstr(err.msg, "excessive aliasing"));
	strbuf_clear(&b);
	for (int i = 0; i < 200000; i++)
		strbuf_addf(&b, "- &a%d x\n", i);
	assert_int_equal(yaml_parse(strbuf_str(&b), &d, &err), -E_BADREQUEST);
	assert_non_null(strstr(err.msg, "too many anchors"));
}

static void assert_prints(const char *json, const char *yaml)
{
	struct error err = ERROR_INIT;
	struct obj *o;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	assert_ok(json_parse(str_of(json), &o, &err), &err);
	yaml_print(o, &b);
	assert_string_equal(b.buf, yaml);
	struct obj *back;
	assert_ok(yaml_parse_one(strbuf_str(&b), &back, &err), &err);
	assert_true(obj_equal(o, back));
	obj_unref(back);
	obj_unref(o);
}

/* Each text was written by `kubectl annotate --local -o yaml`. */
static void test_yaml__prints_as_kubectl(void **state)
{
	(void)state;
	assert_prints("{\"b\":[1,{\"x\":[],\"y\":{}},[2,[3]]],\"a\":{\"c\":null,\"d\":true}}",
		      "a:\n  c: null\n  d: true\nb:\n- 1\n- x: []\n  \"y\": {}\n- - 2\n  - - 3\n");
	assert_prints("[1.50,1e3,-0.0,1e20,1e21,0.00001,123456789.5,1e19,18446744073709551615]",
		      "- 1.5\n- 1000\n- 0\n- 1e+20\n- 1e+21\n- 1e-05\n- 1.234567895e+08\n"
		      "- 10000000000000000000\n- 18446744073709551615\n");
	assert_prints("{\"a10\":1,\"a9\":2,\"B\":3,\"a\":4,\"1\":5,\"a/b\":6,\"a.b\":7}",
		      "\"1\": 5\nB: 3\na: 4\na.b: 7\na/b: 6\na9: 2\na10: 1\n");
	assert_prints("[\"\",\"yes\",\"1\",\"1:30\",\"2017-07-20\",\"2017-13-20\",\"-x\",\"=\","
		      "\"<<\",\"a,b\",\"x #y\",\"a: b\",\"a:\",\"- a\",\"---\",\"#a\",\"it's: x\","
		      "\" a\",\"a\\tb\",\"\\u00e9\",\"\\ud83d\\ude00\",\"0o8\",\"~\",\"null\"]",
		      "- \"\"\n- \"yes\"\n- \"1\"\n- \"1:30\"\n- \"2017-07-20\"\n- 2017-13-20\n"
		      "- -x\n- =\n- <<\n- a,b\n- 'x #y'\n- 'a: b'\n- 'a:'\n- '- a'\n- '---'\n"
		      "- '#a'\n- 'it''s: x'\n- ' a'\n- \"a\\tb\"\n- \xc3\xa9\n- \"\\U0001F600\"\n"
		      "- 0o8\n- \"~\"\n- \"null\"\n");
	assert_prints("{\"<<\":{\"a\":1}}", "\"<<\":\n  a: 1\n");
	assert_prints("{\"a\":\"x\\ny\\n\",\"b\":\"x\\ny\",\"c\":\"x\\n\\n\",\"d\":\" x\\ny\","
		      "\"e\":\"\\n\",\"f\":\"x \\ny\",\"g\":[\"x\\n\\ny\\n\"]}",
		      "a: |\n  x\n  y\nb: |-\n  x\n  y\nc: |+\n  x\n\nd: |2-\n   x\n  y\n"
		      "e: |2+\n\nf: \"x \\ny\"\ng:\n- |\n  x\n\n  y\n");
}

static void test_yaml__prints_long_lines_as_kubectl(void **state)
{
	(void)state;
#define WORDS15 "word word word word word word word word word word word word word word word"
	assert_prints("{\"a\":[\"" WORDS15 " word word word\"],\"b\":\"yes: " WORDS15 " word\"}",
		      "a:\n- " WORDS15 " word\n  word word\nb: 'yes: " WORDS15 "\n  word'\n");
#undef WORDS15
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_yaml__scalars_as_kubectl_reads_them),
		cmocka_unit_test(test_yaml__keys_become_text),
		cmocka_unit_test(test_yaml__anchors_and_merges),
		cmocka_unit_test(test_yaml__documents),
		cmocka_unit_test(test_yaml__errors_name_the_line),
		cmocka_unit_test(test_yaml__nesting_is_bounded),
		cmocka_unit_test(test_yaml__aliases_are_bounded),
		cmocka_unit_test(test_yaml__prints_as_kubectl),
		cmocka_unit_test(test_yaml__prints_long_lines_as_kubectl),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
