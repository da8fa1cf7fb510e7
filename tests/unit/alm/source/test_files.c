/* A tree of files: which are manifests, their keys, and what is refused by name. */
#include "tests/lib/test.h"

#include "alm/source/files.h"

#define ARENA_BYTES ((size_t)16 << 20)
#define CM(name)    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " name "\n"

#define FLOW(kind, name) "{apiVersion: v1, kind: " kind ", metadata: {name: " name "}}"

static void test_files__take(void **state)
{
	static const struct {
		const char *rules, *path;
		enum files_kind kind;
		int result;
		const char *says;
	} cases[] = {
		{"", "a.yaml", FILES_FILE, 1, NULL},
		{"", "web", FILES_DIR, 1, NULL},
		{"", "templates/.x", FILES_FILE, 0, NULL},
		{"", ".git", FILES_DIR, 0, NULL},
		{"", ".link", FILES_LINK, 0, NULL},
		{"", "web/.a.yaml", FILES_FILE, 0, NULL},
		{"", "web/l.yaml", FILES_LINK, -E_INVALID,
		 "web/l.yaml is a symbolic link, and links are not followed; remove it, or name it "
		 "in .almignore"},
		{"", "sub", FILES_SUBMODULE, -E_INVALID,
		 "sub is a submodule, and submodules are not fetched; remove it, or name it in "
		 ".almignore"},
		{"", "fifo", FILES_OTHER, -E_INVALID,
		 "fifo is neither a file nor a folder; remove it, or name it in .almignore"},
		{"# no links\nweb/l.yaml\n", "web/l.yaml", FILES_LINK, 0, NULL},
		{"node_modules/\n", "node_modules", FILES_DIR, 0, NULL},
		{"node_modules/\n", "node_modules", FILES_FILE, 1, NULL},
		{"*.json", "a/b.json", FILES_FILE, 0, NULL},
		{"**", "a.yaml", FILES_FILE, -E_INVALID,
		 ".almignore: double-star (**) syntax is not supported"},
		{"", "b\xff", FILES_FILE, -E_INVALID, "b\xff: the name is not UTF-8; rename it"},
		{"", "1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2", FILES_DIR,
		 1, NULL},
		{"", "1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2/3", FILES_DIR,
		 -E_LIMIT,
		 "1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2/3: nested deeper "
		 "than 32 folders"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		int r = files_take(str_of(cases[i].rules), cases[i].path, cases[i].kind, &err);
		if (r != cases[i].result)
			fail_msg("%s: %d %s", cases[i].path, r, err.msg);
		if (cases[i].says)
			assert_string_equal(err.msg, cases[i].says);
	}
}

/* The keys, blank after each, or the error. */
static const char *keys(struct arena *a, const char *const *texts, struct error *err)
{
	struct files files = {.a = a};
	struct flat f;
	const char *s = "";
	flat_init(&f, a);
	for (; *texts; texts += 2)
		assert_ok(files_add(&files, texts[0], str_of(texts[1]), err), err);
	files_sort(&files);
	if (files_flat(&files, "default", &f, err) < 0)
		return err->msg;
	for (size_t i = 0; i < f.n; i++)
		s = arena_fmt(a, "%s%s ", s, f.objects[i].key);
	return s;
}

#define KEYS(want, ...)                                                        \
	do {                                                                   \
		struct error err = ERROR_INIT;                                 \
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES); \
		const char *const texts[] = {__VA_ARGS__, NULL};               \
		assert_string_equal(keys(a, texts, &err), want);               \
	} while (0)

static void test_files__keys(void **state)
{
	(void)state;
	KEYS("a.yaml web/a.yml ", "web/a.yml", CM("b"), "a.yaml", CM("a"), "README.md", "# x");
	KEYS("a.yaml!0 a.yaml!1 ", "a.yaml", "---\n# none\n---\n" CM("a") "---\n---\n" CM("b"));
	KEYS("a.yaml ", "a.yaml", "---\n" CM("a") "---\n# only comments\n---\nnull\n");
	KEYS("a.yaml!0.0 a.yaml!0.1 ", "a.yaml",
	     "kind: List\nitems: [" FLOW("Secret", "s") ", " FLOW("ConfigMap", "s") "]\n");
	KEYS("a.json ", "a.json",
	     "{\"apiVersion\":\"v1\",\n\t\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\"}}");
	KEYS("", "empty.yaml", "");
}

static void test_files__all_that_is_wrong_where_somebody_asks(void **state)
{
	(void)state;
	static const char *const texts[][2] = {
		{"a.yaml", CM("a")},
		{"b.yaml", "not: [yaml\n"},
		{"c.yaml", CM("c") "---\nx: 1\n---\n" CM("a")},
		{"d.yaml", "version https://git-lfs.github.com/spec/v1\n"},
		{"e.yaml", "kind: List\nitems: [{kind: X}, " FLOW("Secret", "s") "]\n"},
		{"f.yaml", "kind: Secret\nkind: Secret\n"},
	};
	static const char *const want[] = {
		"b.yaml: yaml: line 1",
		"c.yaml!1 (line 6): apiVersion or kind",
		"d.yaml is a pointer of Git LFS",
		"e.yaml!0.0 (line 1): apiVersion or kind",
		"f.yaml: line 2: key \"kind\" already set",
		"DuplicateObject: ConfigMap default/a is in a.yaml (line 1) and in c.yaml!2",
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	struct error err = ERROR_INIT;
	struct files files = {.a = a};
	struct flaws flaws = {.a = a};
	struct flat f;
	flat_init(&f, a);
	f.flaws = &flaws;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_ok(files_add(&files, texts[i][0], str_of(texts[i][1]), &err), &err);
	assert_ok(files_flat(&files, "default", &f, &err), &err);
	for (size_t i = 0; i < flaws.n && i < ARRAY_LEN(want); i++)
		if (!cstr_has_prefix(flaws.texts[i], want[i]))
			fail_msg("wanted %s, got %s", want[i], flaws.texts[i]);
	assert_int_equal(flaws.n, ARRAY_LEN(want));
	assert_int_equal(f.n, 3); /* what is right stays, each object once */
	assert_string_equal(f.objects[1].key, "c.yaml!0");
	assert_string_equal(f.objects[2].key, "e.yaml!0.1");
}

static void test_files__an_instance_of_a_chart_is_refused(void **state)
{
	(void)state;
	static const struct flat_instance items[] = {{.name = "web", .folder = "web"},
						     {.name = "c", .folder = "charts/c"}};
	static const struct flat_instances instances = {items, 2};
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	struct error err = ERROR_INIT;
	struct files files = {.a = a};
	struct flat f;
	flat_init(&f, a);
	f.instances = &instances;
	assert_ok(files_add(&files, "web/a.yaml", STR(CM("a")), &err), &err);
	assert_ok(files_add(&files, "charts/c/templates/t.yaml", STR("{{ x }}"), &err), &err);
	assert_ok(files_add(&files, "charts/c/Chart.yaml", STR("name: c"), &err), &err);
	files_sort(&files);
	assert_int_equal(files_flat(&files, "default", &f, &err), -E_INVALID);
	assert_string_equal(err.msg,
			    "spec.instances[1].package: charts/c/ is a chart, and charts are "
			    "not built yet; write out its manifests (alm template)");
}

static void test_files__errors_name_file_and_line(void **state)
{
	(void)state;
	KEYS("web/a.yaml: yaml: line 2: mapping values are not allowed in this context", "b.yaml",
	     "# b", "web/a.yaml", "a: b\nc: d: e\n");
	KEYS("a.yaml: line 3: key \"kind\" already set in map", "a.yaml",
	     "apiVersion: v1\nkind: Secret\nkind: ConfigMap\nmetadata:\n  name: a\n");
	KEYS("a.yaml!1 (line 6): apiVersion or kind is missing or malformed", "a.yaml",
	     CM("a") "---\nx: 1\n");
	KEYS("DuplicateObject: ConfigMap default/a is in a.yaml (line 1) and in b.yaml!1 (line 6); "
	     "leave it in one",
	     "b.yaml", CM("b") "---\n" CM("a"), "a.yaml", CM("a"));
	KEYS("a.yaml is a pointer of Git LFS, and not the file itself; remove it, or name it in "
	     ".almignore",
	     "a.yaml", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n");
}

static void test_files__json_errors_have_the_line(void **state)
{
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	const char *const texts[] = {"a.json", "{\n\"a\": 1,\n\"b\" 2}", NULL};
	const char *text = keys(a, texts, &err);
	assert_true(cstr_has_prefix(text, "a.json: "));
	assert_true(str_contains(str_of(text), STR("line 3")));
}

static void test_files__bounds(void **state)
{
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)128 << 20);
	struct files f = {.a = a};
	CLEANUP(xfreep) char *big = xcalloc(FILE_BYTES_MAX + 1, 1);
	assert_int_equal(files_add(&f, "b", str_n(big, FILE_BYTES_MAX + 1), &err), -E_LIMIT);
	assert_string_equal(err.msg, "b is larger than 4 MiB");
	for (size_t i = 0; i < FILES_BYTES_MAX / FILE_BYTES_MAX; i++)
		assert_ok(files_add(&f, "b", str_n(big, FILE_BYTES_MAX), &err), &err);
	assert_int_equal(files_add(&f, "c", STR("x"), &err), -E_LIMIT);
	assert_string_equal(err.msg, "c: the files are larger than 64 MiB together");
	while (f.n < FILES_MAX)
		assert_ok(files_add(&f, "e", STR(""), &err), &err);
	assert_int_equal(files_add(&f, "d", STR(""), &err), -E_LIMIT);
	assert_string_equal(err.msg, "d: there are more than 20000 files");
}

static void test_files__get(void **state)
{
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	struct files f = {.a = a};
	assert_null(files_get(&f, "a"));
	assert_ok(files_add(&f, "b", STR("1"), &err), &err);
	assert_ok(files_add(&f, "a", STR("2"), &err), &err);
	files_sort(&f);
	assert_str(files_get(&f, "a")->text, "2");
	assert_null(files_get(&f, "c"));
	assert_true(files_is_manifest("web/a.yml"));
	assert_false(files_is_manifest("web/a.yaml.bak"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files__an_instance_of_a_chart_is_refused),
		cmocka_unit_test(test_files__take),
		cmocka_unit_test(test_files__keys),
		cmocka_unit_test(test_files__all_that_is_wrong_where_somebody_asks),
		cmocka_unit_test(test_files__errors_name_file_and_line),
		cmocka_unit_test(test_files__json_errors_have_the_line),
		cmocka_unit_test(test_files__bounds),
		cmocka_unit_test(test_files__get),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
