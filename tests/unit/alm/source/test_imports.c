/* What a Jsonnet file imports, and where it is looked for. */
#include "tests/lib/test.h"

#include "alm/base/strbuf.h"
#include "alm/source/imports.h"

#define ARENA_BYTES ((size_t)16 << 20)

/* "line:path" each, with a letter for its kind. */
static const char *scan(struct arena *a, struct str text, struct error *err)
{
	struct import_refs refs;
	const char *s = "";
	if (imports_scan(a, text, &refs, err) < 0)
		return err->msg;
	for (size_t i = 0; i < refs.n; i++)
		s = arena_fmt(a, "%s%s%d%c%s", s, *s ? " " : "", refs.items[i].line,
			      "csb"[refs.items[i].kind], refs.items[i].path);
	return s;
}

static void test_imports__scan(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"", ""},
		{"import 'a'", "1ca"},
		{"(import \"a\") + importstr @'b' + importbin 'c'", "1ca 1sb 1bc"},
		{"import\n\n# x\n// y\n/* z\n*/ 'a'", "6ca"},
		{"// import 'a'\n# import 'b'\n/* import 'c' */ import 'd'", "3cd"},
		{"\"import 'a'\" + 'import \"b\"'", ""},
		{"'it\\'s' + import 'a'", "1ca"},
		{"@'it''s \\' + import 'a'", "1ca"},
		{"@\"say \"\"no\"\"\" + import @\"a\"\"b\"", "1ca\"b"},
		{"import 'a\\u0041\\n\\t\\/\\\\'", "1caA\n\t/\\"},
		{"|||\n  import 'a'\n  ||| is text\n||| + import 'b'", "4cb"},
		{"|||\n\n\tx\n\n\ty\n  ||| + import 'b'", "6cb"},
		{"{imports: 1, 'import': 2, import_a: 'b'}", ""},
		{"importx 'a' + import_ 'b' + 1import 'c'", ""},
		{"import (import 'b')", "1cb"},
		{"import |||\n  x\n|||", ""},
		/* what has no end ends the list */
		{"import 'a' + 'b\nimport 'c", "1ca"},
		{"import 'a' /* import 'b'", "1ca"},
		{"|||\nno indent\n||| + import 'b'", ""},
		{"'\\q' + import 'b'", ""},
		{"'\\u00g0' + import 'b'", ""},
		{"@ import 'a'", "1ca"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
		assert_string_equal(scan(a, str_of(cases[i].text), &err), cases[i].want);
	}
}

static void test_imports__scan_has_bounds(void **state)
{
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, "import '");
	strbuf_pad(&b, 'x', IMPORT_PATH_MAX + 1);
	strbuf_adds(&b, "'");
	assert_string_equal(scan(a, strbuf_str(&b), &err),
			    "line 1: import: a path of at most 1024 bytes without NUL is wanted");
	assert_string_equal(scan(a, STR("\nimport 'a\\u0000b'"), &err),
			    "line 2: import: a path of at most 1024 bytes without NUL is wanted");
	strbuf_clear(&b);
	for (int i = 0; i <= IMPORTS_MAX; i++)
		strbuf_adds(&b, "import 'x',\n");
	assert_string_equal(scan(a, strbuf_str(&b), &err), "line 2001: more than 2000 imports");
}

static void test_imports__runtime_names(void **state)
{
	(void)state;
	assert_string_equal(import_runtime("generic-operator/config"), "config");
	assert_string_equal(import_runtime("alm-runtime/config"), "config");
	assert_string_equal(import_runtime("locutus-runtime/secrets/list"), "secrets/list");
	assert_string_equal(import_runtime("generic-operator/other"), "");
	assert_string_equal(import_runtime("alm-runtimes/config"), "");
	assert_string_equal(import_runtime("x/alm-runtime/config"), "");
}

static void test_imports__normal_paths(void **state)
{
	static const char *const cases[][2] = {
		{"a/b", "a/b"},
		{"./a//b/", "a/b"},
		{"a/../b", "b"},
		{"a/..", ""},
		{"..", ".."},
		{"../a", "../a"},
		{"a/../..", ".."},
		{"a/../../..", "../.."},
		{"../../a", "../../a"},
		{"/a/../..", "/"},
		{"/../a", "/a"},
		{"", ""},
		{"/", "/"},
		{"a/...", "a/..."},
		{"../a/..", ".."},
	};
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(import_normal(a, cases[i][0]), cases[i][1]);
}

static void test_imports__places_and_roots(void **state)
{
	static const char *const jpath[] = {"vendor", "/usr/share/lib/", "../up"};
	const struct import_roots r = {.tree = "", .jpath = jpath, .n_jpath = 3};
	const struct import_roots far = {.tree = "/srv/app/", .jpath = NULL};
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	assert_string_equal(import_place(&r, a, "web/", "../x", 0), "x");
	assert_string_equal(import_place(&r, a, "web/", "x", 1), "../up/x");
	assert_string_equal(import_place(&r, a, "web/", "x", 2), "/usr/share/lib/x");
	assert_string_equal(import_place(&r, a, "web/", "x", 3), "vendor/x");
	assert_null(import_place(&r, a, "web/", "x", 4));
	assert_string_equal(import_place(&r, a, "web/", "/x", 0), "/x");
	assert_null(import_place(&r, a, "web/", "/x", 1));
	assert_string_equal(import_root(&r, a, "x"), "");
	assert_string_equal(import_root(&r, a, "../up/x"), "../up");
	assert_string_equal(import_root(&r, a, "/usr/share/lib/x"), "/usr/share/lib");
	assert_null(import_root(&r, a, "../upper/x"));
	assert_null(import_root(&r, a, ".."));
	assert_null(import_root(&r, a, "/usr/share/libx"));
	assert_string_equal(import_root(&far, a, "/srv/app/x"), "/srv/app");
	assert_null(import_root(&far, a, "/srv/apps/x"));
	assert_null(import_root(&far, a, "x"));
	assert_string_equal(import_base(a, "a/b/c"), "a/b/");
	assert_string_equal(import_base(a, "c"), "");
	assert_string_equal(import_base(a, "/c"), "/");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_imports__scan),
		cmocka_unit_test(test_imports__scan_has_bounds),
		cmocka_unit_test(test_imports__runtime_names),
		cmocka_unit_test(test_imports__normal_paths),
		cmocka_unit_test(test_imports__places_and_roots),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
