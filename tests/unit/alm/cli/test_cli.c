/* The pure parts of alm/cli: arguments, tables, templates, wait conditions. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/cli/args.h"
#include "alm/cli/kube/printer.h"
#include "alm/obj/json.h"
#include "alm/obj/query/wait_expr.h"

static const struct cmd_option options[] = {
	{"output", "FORMAT", "", 'o'},
	{"all", NULL, "", 'A'},
	{"filename", "FILE", "", 'f'},
	{0},
};
static const struct cmd command = {.name = "x", .options = options};

static int parse(struct cli *c, struct arena *a, const char *const *words, struct error *err)
{
	char *argv[16];
	int n = 0;
	for (; words[n]; n++)
		argv[n] = arena_strdup(a, words[n]);
	*c = (struct cli){.arena = a, .cmd = &command};
	return args_parse(c, n, argv, err);
}

static void test_cli__options_stand_anywhere(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct cli c;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	const char *words[] = {"get", "--output=json", "-A", "-f", "a", "-fb", "x", "--all=false",
			       "-n",  "kube",          "--", "-q", NULL};
	assert_ok(parse(&c, a, words, &err), &err);
	assert_int_equal(c.n_args, 3);
	assert_string_equal(c.args[2], "-q");
	assert_string_equal(cli_value(&c, "output"), "json");
	assert_string_equal(cli_value_at(&c, "filename", 0), "a");
	assert_string_equal(cli_value_at(&c, "filename", 1), "b");
	assert_null(cli_value_at(&c, "filename", 2));
	assert_false(cli_flag(&c, "all"));
	assert_string_equal(cli_value(&c, "namespace"), "kube");
}

static void test_cli__bad_options_are_named(void **state)
{
	(void)state;
	static const struct {
		const char *word, *want;
	} cases[] = {
		{"--nosuch", "unknown flag: --nosuch"},
		{"--ouput=json", "unknown flag: --ouput (did you mean --output?)"},
		{"--namspace", "unknown flag: --namspace (did you mean --namespace?)"},
		{"--output", "flag needs an argument: --output"},
		{"-o", "flag needs an argument: -o"},
		{"-x", "unknown shorthand flag: 'x' in -x"},
		{"--all=maybe", "--all is true or false, not maybe"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		struct cli c;
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		const char *words[] = {cases[i].word, NULL};
		assert_int_equal(parse(&c, a, words, &err), -E_USAGE);
		assert_string_equal(err.msg, cases[i].want);
	}
}

static void test_cli__tables_pad_with_three_blanks(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	assert_ok(
		json_parse(
			STR("{\"columnDefinitions\":[{\"name\":\"Name\"},{\"name\":\"Up\"},"
			    "{\"name\":\"Node\",\"priority\":1},{\"name\":\"Age\"}],\"rows\":["
			    "{\"cells\":[\"a\",null,\"n\",\"1s\"],\"object\":{\"metadata\":{"
			    "\"namespace\":\"x\"}}},{\"cells\":[\"longer\",true,\"n\",\"20s\"]}]}"),
			&o, &err),
		&err);
	assert_ok(printer_table(o, false, NULL, false, true, &b, &err), &err);
	assert_string_equal(b.buf, "NAME     UP     AGE\n"
				   "a               1s\n"
				   "longer   true   20s\n");
	strbuf_clear(&b);
	assert_ok(printer_table(o, true, "t/", true, false, &b, &err), &err);
	assert_string_equal(b.buf, "x   t/a               n   1s\n"
				   "    t/longer   true   n   20s\n");
}

static void test_cli__jsonpath_templates(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	assert_ok(json_parse(STR("{\"items\":[{\"n\":\"a\",\"v\":[1,2]},{\"n\":\"b\",\"v\":[]}],"
				 "\"c\":[{\"type\":\"Ready\",\"status\":\"True\"}],"
				 "\"m\":{\"z\":\"<&>\",\"b\":{\"d\":1,\"c\":2}}}"),
			     &o, &err),
		  &err);
	static const struct {
		const char *template, *want;
	} cases[] = {
		{"{range .items[*]}{.n}{\"\\n\"}{end}", "a\nb\n"},
		{"{.items[*].n}", "a b"},
		{"{.items[0].n}-{.items[1].n}", "a-b"},
		{"{range .items[*]}{range .v[*]}{@},{end};{end}", "1,2,;;"},
		{"{.c[?(@.type==\"Ready\")].status}", "True"},
		{".items[1].n", "b"},
		{"{.m}",
		 "{\"b\":{\"c\":2,\"d\":1},\"z\":\"\\u003c\\u0026\\u003e\"}"}, /* as kubectl */
		{"{.missing}", ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		assert_ok(printer_jsonpath(cases[i].template, o, &b, &err), &err);
		assert_string_equal(b.buf, cases[i].want);
	}
	static const char *const bad[] = {"{.a", "{end}", "{range .items[*]}x", "{.a[}"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		struct error fault = ERROR_INIT;
		assert_int_equal(printer_jsonpath(bad[i], o, &b, &fault), -E_USAGE);
	}
}

static void test_cli__columns_and_names(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct printer p;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	assert_ok(json_parse(STR("{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\","
				 "\"metadata\":{\"name\":\"etcd\"}}"),
			     &o, &err),
		  &err);
	assert_ok(printer_parse("custom-columns=N:.metadata.name,X:.spec.x", &p, &err), &err);
	assert_ok(printer_object(&p, o, &b, &err), &err);
	assert_string_equal(b.buf, "N      X\netcd   <none>\n");
	strbuf_clear(&b);
	assert_ok(printer_parse("name", &p, &err), &err);
	assert_ok(printer_object(&p, o, &b, &err), &err);
	assert_string_equal(b.buf, "apptype.app.coreos.com/etcd\n");
	assert_int_equal(printer_parse("toml", &p, &err), -E_USAGE);
	assert_int_equal(printer_parse("jsonpath", &p, &err), -E_USAGE);
}

static void test_cli__wait_conditions(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int want; /* 1, 0, or a negative code */
	} cases[] = {
		{"condition=Ready", 1},
		{"condition=Ready=false", 0},
		{"condition=Synced", 0},
		{"jsonpath={.status.phase}=Done", 1},
		{"jsonpath={.status.phase}=Other", 0},
		{"jsonpath={.status.phase}", 1},
		{"jsonpath={.status.none}", 0},
		{"jsonql=status.phase = 'Done'", 1},
		{"status.phase = 'Done'", 1},
		{"create", 1},
		{"delete", 0},
		{"cel=true", -E_UNSUPPORTED},
		{"status.phase = ", -E_USAGE},
		{"condition=", -E_USAGE},
	};
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	assert_ok(json_parse(STR("{\"status\":{\"phase\":\"Done\",\"conditions\":[{\"type\":"
				 "\"Ready\",\"status\":\"True\"}]}}"),
			     &o, &err),
		  &err);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct wait_expr e = {0};
		struct error fault = ERROR_INIT;
		int r = wait_expr_parse(a, cases[i].text, &e, &fault);
		if (r >= 0)
			r = wait_expr_holds(&e, o, 0, NULL);
		wait_expr_release(&e);
		if (r != cases[i].want)
			fail_msg("%s: %d, want %d (%s)", cases[i].text, r, cases[i].want,
				 fault.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cli__options_stand_anywhere),
		cmocka_unit_test(test_cli__bad_options_are_named),
		cmocka_unit_test(test_cli__tables_pad_with_three_blanks),
		cmocka_unit_test(test_cli__jsonpath_templates),
		cmocka_unit_test(test_cli__columns_and_names),
		cmocka_unit_test(test_cli__wait_conditions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
