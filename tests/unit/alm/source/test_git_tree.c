/* What git prints: which files are taken, which are refused by name, and that nothing else than its
 * form is believed. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/source/git_tree.h"

#define OID "0123456789abcdef0123456789abcdef01234567"

/* | stands for NUL, > for the tab. */
static struct str nul(struct arena *a, const char *text)
{
	char *p = arena_strdup(a, text);
	size_t n = strlen(p);
	for (size_t i = 0; i < n; i++)
		p[i] = p[i] == '|' ? '\0' : p[i] == '>' ? '\t' : p[i];
	return str_n(p, n);
}

#define FILE_OF(path, size) "100644 blob " OID " " size ">" path "|"

static const struct row {
	const char *about, *listing, *rules, *want;
} rows[] = {
	{"manifests, bytewise",
	 FILE_OF("b.yaml", "      3") FILE_OF("README.md", "1") FILE_OF("a/c.json", "4")
		 FILE_OF("a.yml", "5"),
	 "", "a.yml a/c.json b.yaml "},
	{"names that begin with a dot", FILE_OF(".a.yaml", "1") FILE_OF(".github/w/x.yaml", "1"),
	 "", ""},
	{"an executable one", "100755 blob " OID " 1>x.yaml|", "", "x.yaml "},
	{".almignore names a folder", FILE_OF("old/x.yaml", "1") FILE_OF("x.yaml", "1"), "old\n",
	 "x.yaml "},
	{"nothing", "", "", ""},
	{"a symbolic link", "120000 blob " OID " 9>web/link.yaml|", "",
	 "!web/link.yaml is a symbolic link, and links are not followed; remove it, or name it in "
	 ".almignore"},
	{"a link that is ignored", "120000 blob " OID " 9>web/link.yaml|", "web/link.yaml\n", ""},
	{"a submodule", "160000 commit " OID " ->lib|", "",
	 "!lib is a submodule, and submodules are not fetched; remove it, or name it in "
	 ".almignore"},
	{"a name that is not UTF-8", FILE_OF("a\xff.yaml", "1"), "",
	 "!a\xff.yaml: the name is not UTF-8; rename it"},
	{"a huge file", FILE_OF("x.yaml", "4194305"), "", "!x.yaml is larger than 4 MiB"},
	{"one that does not fit a number", FILE_OF("x.yaml", "99999999999999999999"), "",
	 "!the listing of git is cut, or of another form"},
	{"cut", "100644 blob " OID " 1>x.yaml", "",
	 "!the listing of git is cut, or of another form"},
	{"no object id", "100644 blob 0123 1>x.yaml|", "",
	 "!the listing of git is cut, or of another form"},
	{"a name with a slash before it", FILE_OF("/etc/x.yaml", "1"), "",
	 "!/etc/x.yaml: the name is no path; make the tree with git"},
	{"two slashes", FILE_OF("a//x.yaml", "1"), "",
	 "!a//x.yaml: the name is no path; make the tree with git"},
	{"the same twice", FILE_OF("a/x.yaml", "1") FILE_OF("b.yaml", "1") FILE_OF("a/x.yaml", "1"),
	 "", "!a/x.yaml is there twice"},
	{"a deep one",
	 FILE_OF("a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/x.yaml", "1"), "",
	 "!a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/x.yaml: nested deeper "
	 "than 32 folders"},
};

static void test_git_tree__what_is_taken_and_what_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(STRBUF_SMALL);
		struct error err = ERROR_INIT;
		struct git_tree t = {0};
		strbuf_adds(&got, "");
		if (git_tree_read(nul(a, rows[i].listing), str_of(rows[i].rules), a, &t, &err) < 0)
			strbuf_addf(&got, "!%s", err.msg);
		for (size_t k = 0; !err.code && k < t.n; k++)
			strbuf_addf(&got, "%s ", t.blobs[k].path);
		if (strcmp(strbuf_str(&got).len ? got.buf : "", rows[i].want) != 0)
			fail_msg("%s: got %s", rows[i].about, got.buf);
	}
}

static void test_git_tree__all_that_is_refused_where_somebody_asks(void **state)
{
	(void)state;
	static const char *const want[] = {
		"link.yaml is a symbolic link",
		"sub is a submodule",
		"/x.yaml: the name is no path",
		"a.yaml is there twice",
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct error err = ERROR_INIT;
	struct flaws flaws = {.a = a};
	struct git_tree t = {.flaws = &flaws};
	assert_ok(git_tree_read(nul(a, "120000 blob " OID " 1>link.yaml|160000 commit " OID
				       " ->sub|" FILE_OF("/x.yaml", "1") FILE_OF("b.yaml", "1")
					       FILE_OF("a.yaml", "1") FILE_OF("a.yaml", "1")),
				STR_NONE, a, &t, &err),
		  &err);
	for (size_t i = 0; i < flaws.n && i < ARRAY_LEN(want); i++)
		if (!cstr_has_prefix(flaws.texts[i], want[i]))
			fail_msg("wanted %s, got %s", want[i], flaws.texts[i]);
	assert_int_equal(flaws.n, ARRAY_LEN(want));
	assert_int_equal(t.n, 2);
}

/* A program may import any file, and fails by those that are refused only if it does. */
static void test_git_tree__of_a_program(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct error err = ERROR_INIT;
	struct git_tree t = {.refused = obj_keep(a, obj_map())};
	assert_ok(git_tree_read(nul(a, "120000 blob " OID " 1>lib|160000 commit " OID
				       " ->sub|" FILE_OF("big.bin",
							 "4194305") FILE_OF("\377.jsonnet", "1")
					       FILE_OF("main.jsonnet", "1") FILE_OF(".x", "1")),
				STR_NONE, a, &t, &err),
		  &err);
	assert_int_equal(t.n, 1);
	assert_string_equal(t.blobs[0].path, "main.jsonnet");
	assert_int_equal(obj_len(t.refused), 3); /* a name that no program can write is none */
	assert_string_equal(obj_as_string(obj_get(t.refused, "big.bin")),
			    "big.bin is larger than 4 MiB");
	assert_non_null(obj_get(t.refused, "lib"));
	assert_non_null(obj_get(t.refused, "sub"));
}

static void test_git_tree__too_large_together(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
	struct error err = ERROR_INIT;
	struct git_tree t = {0};
	for (int i = 0; i < 17; i++)
		strbuf_addf(&b, "100644 blob " OID " 4000000>%02d.yaml|", i);
	assert_int_equal(git_tree_read(nul(a, b.buf), STR_NONE, a, &t, &err), -E_LIMIT);
	assert_string_equal(err.msg, "16.yaml: the files are larger than 64 MiB together");
}

static void test_git_tree__its_ignore_file(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	assert_string_equal(
		git_tree_ignore(nul(a, FILE_OF("a", "1") FILE_OF(".almignore", "1")), a), OID);
	assert_null(git_tree_ignore(nul(a, FILE_OF("a/.almignore", "1")), a));
	assert_null(git_tree_ignore(nul(a, "120000 blob " OID " 1>.almignore|"), a));
}

static void test_git_tree__contents_are_those_of_the_listing(void **state)
{
	(void)state;
	static const struct {
		const char *batch, *want; /* NULL: it is corrupt */
	} cases[] = {
		{OID " blob 3\na\nb\n", "a\nb"},
		{OID " blob 0\n\n", ""},
		{OID " blob 4\na\nb\n", NULL},
		{OID " blob 2\na\nb\n", NULL},
		{OID " tree 3\na\nb\n", NULL},
		{OID " missing\n", NULL},
		{"1123456789abcdef0123456789abcdef01234567 blob 3\na\nb\n", NULL},
		{"", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		struct error err = ERROR_INIT;
		struct git_blob blob = {"x.yaml", OID, 3};
		const struct git_tree t = {.blobs = &blob, .n = 1};
		struct files f = {.a = a};
		int r = git_tree_files(&t, str_of(cases[i].batch), &f, &err);
		assert_int_equal(r, cases[i].want ? 0 : -E_CORRUPT);
		if (cases[i].want)
			assert_true(str_is(f.items[0].text, cases[i].want));
	}
}

static void test_git_tree__the_history(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct error err = ERROR_INIT;
	struct git_commit *list;
	size_t n;
	assert_ok(git_log_read(nul(a, OID "|alice|bob\n|drop \x1b[31mB|\n" OID "|b\xff|c|x|\n"), a,
			       &list, &n, &err),
		  &err);
	assert_int_equal(n, 2);
	assert_string_equal(list[0].author, "alice");
	assert_string_equal(list[0].committer, "bob ");
	assert_string_equal(list[0].subject, "drop  [31mB");
	assert_string_equal(list[1].author, "(not UTF-8)");
	assert_int_equal(git_log_read(nul(a, OID "|alice|alice|x|"), a, &list, &n, &err),
			 -E_CORRUPT);
	assert_int_equal(git_log_read(nul(a, "main|alice|alice|x|\n"), a, &list, &n, &err),
			 -E_CORRUPT);
	assert_int_equal(git_log_read(nul(a, OID "|alice|x|\n"), a, &list, &n, &err), -E_CORRUPT);
	assert_ok(git_log_read(STR_NONE, a, &list, &n, &err), &err);
	assert_int_equal(n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_git_tree__what_is_taken_and_what_is_refused),
		cmocka_unit_test(test_git_tree__all_that_is_refused_where_somebody_asks),
		cmocka_unit_test(test_git_tree__of_a_program),
		cmocka_unit_test(test_git_tree__too_large_together),
		cmocka_unit_test(test_git_tree__its_ignore_file),
		cmocka_unit_test(test_git_tree__contents_are_those_of_the_listing),
		cmocka_unit_test(test_git_tree__the_history),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
