/* One version in a tree of manifests is made another one, and nothing else of its file. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/cli/bundle/set_version.h"

#define APP "apiVersion: app.coreos.com/v1beta1\nkind: AppType\nmetadata: {name: etcd}\n"
#define POD "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n"

static const struct {
	const char *about, *text, *name, *version;
	const char *want; /* the text; "=": it is there already; "!...": what is wrong */
} rows[] = {
	{"a range", APP "spec: {version: 0.9.6} # 0.9.6\n", "etcd", "0.9.7",
	 APP "spec: {version: 0.9.7} # 0.9.6\n"},
	{"the first place is another field", APP "spec: {channel: 0.9.6, version: 0.9.6}\n", "etcd",
	 "1", APP "spec: {channel: 0.9.6, version: \"1\"}\n"},
	{"what YAML would take for a number is quoted", APP "spec:\n  version: 0.9.6\n", "etcd",
	 "1.10", APP "spec:\n  version: \"1.10\"\n"},
	{"what it would take for something else, too", APP "spec:\n  version: 0.9.6\n", "etcd",
	 ">=1 <2", APP "spec:\n  version: \">=1 <2\"\n"},
	{"quotes stay", APP "spec: {version: '0.9.6'}\n", "etcd", "1",
	 APP "spec: {version: '1'}\n"},
	{"it is that one", APP "spec: {version: 0.9.6}\n", "etcd", "0.9.6", "="},
	{"a part of a longer text is no place", APP "spec: {type: a0.9.6, version: 0.9.6}\n",
	 "etcd", "0.9.7", APP "spec: {type: a0.9.6, version: 0.9.7}\n"},
	{"folded over lines", APP "spec:\n  version: >-\n    >=1\n    <2\n", "etcd", "3",
	 "!a.yaml: \">=1 <2\" does not stand there as one text that could be changed by itself; "
	 "change it by hand"},
	{"the only container", POD "spec: {containers: [{name: c, image: \"h:5000/web:1\"}]}\n",
	 "web", "2", POD "spec: {containers: [{name: c, image: \"h:5000/web:2\"}]}\n"},
	{"a port is no tag", POD "spec: {containers: [{name: c, image: \"h:5000/web\"}]}\n", "web",
	 "2", "!no AppType web"},
	{"a digest is none", POD "spec: {containers: [{name: c, image: \"web:1@sha256:0\"}]}\n",
	 "web", "2", "!no AppType web"},
	{"two containers of other names",
	 POD "spec: {containers: [{name: c, image: \"web:1\"}, {name: d, image: \"web:1\"}]}\n",
	 "web", "2", "!no AppType web"},
	{"the one of its name, below an equal one",
	 POD "spec: {containers: [{name: c, image: \"web:1\"}, {name: web, image: \"web:1\"}]}\n",
	 "web", "2",
	 POD "spec: {containers: [{name: c, image: \"web:1\"}, {name: web, image: \"web:2\"}]}\n"},
	{"a cron job",
	 "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: web}\n"
	 "spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: c, image: "
	 "\"web:1\"}]}}}}}\n",
	 "web", "2",
	 "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: web}\n"
	 "spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: c, image: "
	 "\"web:2\"}]}}}}}\n"},
	{"no tag", POD "spec: {containers: [{name: c, image: \"web:1\"}]}\n", "web", "a b",
	 "!no AppType web"},
	{"two of them", APP "spec: {version: 1}\n---\n" POD, "web", "2", "!no AppType web"},
	{"no version", APP "spec: {version: x}\n", "etcd", "1\n2: 3", "!\"1\n2: 3\" is no version"},
	{"nor that", APP "spec: {version: x}\n", "etcd", "1, other: 2}",
	 "!\"1, other: 2}\" is no version"},
	{"nor nothing", APP "spec: {version: x}\n", "etcd", "", "!\"\" is no version"},
	{"no such field", APP "spec: {}\n", "etcd", "1", "!no AppType etcd"},
	{"no spec", APP, "etcd", "1", "!no AppType etcd"},
};

static void test_set_version__one_scalar(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)4 << 20);
		struct files f = {.a = a};
		struct error err = ERROR_INIT;
		struct set_version found = {0};
		assert_ok(files_add(&f, "a.yaml", str_of(rows[i].text), &err), &err);
		int r = set_version_find(&f, rows[i].name, rows[i].version, NULL, &found, &err);
		const char *got = r < 0            ? arena_fmt(a, "!%s", err.msg)
				  : found.text.ptr ? arena_fmt(a, "%.*s", STR_ARG(found.text))
						   : "=";
		size_t n = rows[i].want[0] == '!' ? strlen(rows[i].want) : strlen(got) + 1;
		if (strncmp(got, rows[i].want, n) != 0)
			fail_msg("%s: want %s, got %s", rows[i].about, rows[i].want, got);
	}
}

static void test_set_version__of_several_files(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)4 << 20);
	struct files f = {.a = a};
	struct error err = ERROR_INIT;
	struct set_version found;
	assert_ok(files_add(&f, "a.yaml", STR(APP "spec: {version: x}\n"), &err), &err);
	assert_ok(
		files_add(
			&f, "b/web.yaml",
			STR("apiVersion: v1\nkind: Pod\nmetadata: {name: etcd}\nspec: {containers: "
			    "[{name: c, image: \"e:1\"}]}\n"),
			&err),
		&err);
	files_sort(&f);
	assert_int_equal(set_version_find(&f, "etcd", "2", NULL, &found, &err), -E_INVALID);
	err = ERROR_INIT;
	assert_ok(set_version_find(&f, "etcd", "2", "b/web.yaml", &found, &err), &err);
	assert_string_equal(found.path, "b/web.yaml");
	assert_string_equal(found.from, "1");
	assert_int_equal(set_version_find(&f, "etcd", "2", "b/web", &found, &err), -E_NOTFOUND);
}

/* n lines with the text before the one that is meant. */
static int after_others(struct arena *a, size_t n, struct set_version *ret, struct error *err)
{
	struct files f = {.a = a};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	for (size_t i = 0; i < n; i++)
		strbuf_adds(&b, "# 0.9.6\n");
	strbuf_adds(&b, APP "spec: {version: 0.9.6}\n");
	assert_ok(files_add(&f, "a.yaml", strbuf_str(&b), err), err);
	return set_version_find(&f, "etcd", "0.9.7", NULL, ret, err);
}

static void test_set_version__so_many_places_and_no_more(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct set_version found = {0};
	for (size_t n = 499; n <= 500; n++) {
		/* the tries are no part of it */
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)200 << 10);
		int r = after_others(a, n, &found, &err);
		assert_int_equal(r, n < 500 ? 0 : -E_LIMIT);
		assert_true(r < 0 || str_contains(found.text, STR("version: 0.9.7")));
		assert_false(arena_over(a));
	}
	assert_non_null(strstr(err.msg, "a.yaml: \"0.9.6\" stands in more than 500 places"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_version__one_scalar),
		cmocka_unit_test(test_set_version__of_several_files),
		cmocka_unit_test(test_set_version__so_many_places_and_no_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
