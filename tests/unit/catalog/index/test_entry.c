/* Lines of entry.h: what each says is what the index has of it. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/json.h"
#include "catalog/index/entry.h"

#define DIGEST "aef445500000000000000000000000000000000000000000000000000000000a"
#define CHART  "\"chart\":{\"name\":\"etcd\",\"version\":\"1.0.0\"}"
#define PLACE  "\"digest\":\"" DIGEST "\",\"locator\":\"https://h/etcd.tgz\""

static int read_lines(struct catalog_index *x, const char *text, size_t max, struct str *rest)
{
	struct error err = ERROR_INIT;
	*rest = str_of(text);
	return entry_read_lines(x, rest, max, &err);
}

static struct catalog_index *index_of(const char *line)
{
	struct str rest;
	struct catalog_index *x = index_new("test", 0);
	assert_int_equal(read_lines(x, line, 9, &rest), 0);
	return x;
}

static void test_entry__a_version_has_what_its_line_says(void **state)
{
	(void)state;
	CLEANUP(index_freep) struct catalog_index *x = index_of(
		"{\"where\":\"etcd 1.0.0\"," CHART "," PLACE ",\"unread\":true,\"ownCrds\":["
		"\"etcds.etcd.coreos.com/v1\"],\"descriptor\":\"replaces: 0.9.0\",\"package\":"
		"{\"replaces\":\"0.9.0\"},\"verified\":{\"by\":\"policy-1\",\"until\":1234}}\n");
	assert_int_equal(x->n, 1);
	const struct package_version *p = x->versions[0];
	assert_string_equal(p->package, "etcd");
	assert_string_equal(p->digest, DIGEST);
	assert_string_equal(p->locator, "https://h/etcd.tgz");
	assert_string_equal(p->replaces, "0.9.0");
	assert_true(p->unread);
	assert_int_equal(p->n_own_crds, 1);
	assert_string_equal(p->own_crds[0], "etcds.etcd.coreos.com/v1");
	assert_string_equal(p->verified_by, "policy-1");
	assert_int_equal(p->verified_until_s, 1234);
}

static void test_entry__a_version_of_which_little_is_said(void **state)
{
	(void)state;
	CLEANUP(index_freep) struct catalog_index *x = index_of("{" CHART "," PLACE "}");
	assert_int_equal(x->n, 1);
	assert_false(x->versions[0]->unread);
	assert_null(x->versions[0]->verified_by);
	assert_int_equal(x->versions[0]->verified_until_s, 0);
	assert_int_equal(x->generated_ns, 0);
	assert_null(x->catalog_yaml);
}

static void test_entry__what_is_no_version_is_named(void **state)
{
	static const struct {
		const char *line, *want;
		enum error_reason reason;
	} rows[] = {
		{"{" CHART ",\"digest\":\"" DIGEST "\"}",
		 "an entry: MissingDigest: nothing says what it is", REASON_MISSING_DIGEST},
		{"{" CHART ",\"locator\":\"x\"}",
		 "an entry: MissingDigest: nothing says what it is", REASON_MISSING_DIGEST},
		{"{\"where\":\"w\"," CHART ",\"digest\":\"\",\"locator\":\"x\"}",
		 "w: MissingDigest: nothing says what it is", REASON_MISSING_DIGEST},
		{"{\"where\":\"w\",\"error\":\"it is broken\"," CHART "," PLACE "}",
		 "w: it is broken", REASON_NONE},
		{"{\"where\":\"w\",\"error\":\"none\",\"reason\":\"MissingDigest\"}", "w: none",
		 REASON_MISSING_DIGEST},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(index_freep) struct catalog_index *x = index_of(rows[i].line);
		assert_int_equal(x->n, 0);
		assert_int_equal(x->n_rejected, 1);
		assert_string_equal(x->rejected[0], rows[i].want);
		assert_int_equal(x->rejected_for[0], rows[i].reason);
	}
}

static void test_entry__the_other_lines_are_of_the_whole_index(void **state)
{
	(void)state;
	int64_t at = 0;
	CLEANUP(index_freep) struct catalog_index *x = index_of(
		"{\"generated\":\"2026-11-22T09:00:00Z\"}\n"
		"{\"catalogYaml\":\"a: b\",\"notices\":{\"a\":\"b\"}}\n"
		"{\"olm\":{\"schema\":\"olm.package\",\"name\":\"etcd\"},\"where\":\"f\"}\n");
	assert_true(clock_parse(STR("2026-11-22T09:00:00Z"), &at));
	assert_int_equal(x->generated_ns, at);
	assert_string_equal(x->catalog_yaml, "a: b");
	assert_string_equal(obj_str(x->notices, "a"), "b");
	assert_null(x->notices_error);
	assert_int_equal(obj_len(x->olm), 1);
	CLEANUP(index_freep) struct catalog_index *y =
		index_of("{\"catalogYaml\":\"a: [\",\"error\":\"no YAML\"}");
	assert_string_equal(y->notices_error, "no YAML");
}

static void test_entry__lines_are_read_in_turns(void **state)
{
	static const char text[] = "{\"generated\":\"\"}\n\n{" CHART "," PLACE "}\n{}\n";
	struct error err = ERROR_INIT;
	struct str rest;
	(void)state;
	CLEANUP(index_freep) struct catalog_index *x = index_new("test", 0);
	assert_int_equal(read_lines(x, text, 2, &rest), 1);
	assert_int_equal(x->n, 0);
	assert_int_equal(entry_read_lines(x, &rest, 1, &err), 1);
	assert_int_equal(x->n, 1);
	assert_int_equal(entry_read_lines(x, &rest, 1, &err), 0);
	assert_int_equal(x->n_rejected, 1);
	static const char *const bad[] = {"{", "[1]", "7", "{}x"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(read_lines(x, bad[i], 1, &rest), -E_CORRUPT);
	x->over = true; /* nothing more is read: the revision is of no use */
	assert_int_equal(read_lines(x, text, 9, &rest), 0);
	assert_int_equal(rest.len, sizeof(text) - 1);
}

/* What a child answers is read as what it was made from. */
static void test_entry__what_is_printed_is_read(void **state)
{
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(1 << 20);
	CLEANUP(index_freep) struct catalog_index *x = index_new("test", 0);
	struct obj *chart = NULL;
	assert_ok(json_parse(STR("{\"name\":\"etcd\",\"version\":\"1.0.0\",\"kubeVersion\":\">=1\","
				 "\"deprecated\":true,\"description\":\"d\",\"home\":\"h\","
				 "\"annotations\":{\"app.coreos.com/package\":\"replaces: 0.1.0\","
				 "\"other\":\"x\"}}"),
			     &chart, &err),
		  &err);
	obj_keep(a, chart);
	CLEANUP(obj_unrefp) struct obj *entry = obj_map();
	obj_set(entry, "chart", entry_chart(chart));
	assert_false(obj_has(obj_get(entry, "chart"), "home"));
	assert_int_equal(obj_len(obj_path(entry, "chart.annotations")), 1);
	obj_set_str(entry, "digest", DIGEST);
	obj_set_str(entry, "locator", "x");
	entry_seal(entry);
	assert_string_equal(obj_str(entry, "package.replaces"), "0.1.0");
	entry_print(entry, &lines);
	CLEANUP(obj_unrefp) struct obj *wrong = entry_error("w", "no", REASON_MISSING_DIGEST);
	entry_print(wrong, &lines);
	entry_print_notices(STR("deprecations: []\n"), &lines);
	struct str rest = strbuf_str(&lines);
	assert_int_equal(entry_read_lines(x, &rest, 9, &err), 0);
	assert_int_equal(x->n, 1);
	assert_string_equal(x->versions[0]->kube_version, ">=1");
	assert_string_equal(x->versions[0]->replaces, "0.1.0");
	assert_true(x->versions[0]->deprecated);
	assert_int_equal(x->rejected_for[0], REASON_MISSING_DIGEST);
	assert_string_equal(x->catalog_yaml, "deprecations: []\n");
	assert_non_null(x->notices);
	strbuf_clear(&lines);
	entry_print_notices(STR("a: ["), &lines);
	entry_print_notices(STR(" \n"), &lines);
	assert_non_null(strstr(lines.buf, "\"error\":"));
	assert_null(strstr(strchr(lines.buf, '\n'), "\"error\":"));
}

/* The descriptor's own text goes before the annotation; one that cannot be read is told. */
static void test_entry__a_seal_tells_what_cannot_be_read(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	obj_set_path(o, "chart.annotations.other", obj_string("x"));
	entry_seal(o);
	assert_false(obj_has(o, "package") || obj_has(o, "error"));
	obj_set_str(o, "descriptor", "replaces: 1.0.0");
	entry_seal(o);
	assert_string_equal(obj_str(o, "package.replaces"), "1.0.0");
	obj_set_str(o, "descriptor", "replaces: [");
	entry_seal(o);
	assert_non_null(obj_str(o, "error"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entry__a_version_has_what_its_line_says),
		cmocka_unit_test(test_entry__a_version_of_which_little_is_said),
		cmocka_unit_test(test_entry__what_is_no_version_is_named),
		cmocka_unit_test(test_entry__the_other_lines_are_of_the_whole_index),
		cmocka_unit_test(test_entry__lines_are_read_in_turns),
		cmocka_unit_test(test_entry__what_is_printed_is_read),
		cmocka_unit_test(test_entry__a_seal_tells_what_cannot_be_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
