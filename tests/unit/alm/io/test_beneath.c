/* The parts of beneath.h that test_file.c, which has its way out of the folder, does not ask for. */
#include "tests/lib/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alm/base/strbuf.h"
#include "alm/io/beneath.h"

struct fixture {
	char dir[64];
	int root;
	bool without_input; /* the next descriptor has the number 0 */
	struct error err;
};

static void take_input(const struct fixture *f)
{
	if (f->without_input)
		(void)close(0); /* file_close() leaves it open */
}

static const char *const files[] = {"root/link",   "root/loop",    "root/pipe", "root/folder/a",
				    "root/folder", "root/through", "root/file", "root",
				    "plain",       "way"};

static const char *path_in(const struct fixture *f, const char *name)
{
	static char path[128];
	(void)snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	return path;
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct file_info info;
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/alm-beneath-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_ok(dir_make(path_in(f, "root/folder"), 0700, &f->err), &f->err);
	assert_ok(file_write_new(path_in(f, "root/file"), STR("text"), 0600, &f->err), &f->err);
	assert_ok(file_write_new(path_in(f, "root/folder/a"), STR("a"), 0600, &f->err), &f->err);
	assert_ok(file_write_new(path_in(f, "plain"), STR(""), 0600, &f->err), &f->err);
	assert_int_equal(mkfifo(path_in(f, "root/pipe"), 0600), 0);
	assert_int_equal(symlink("file", path_in(f, "root/link")), 0);
	assert_int_equal(symlink("folder", path_in(f, "root/through")), 0);
	assert_int_equal(symlink("loop", path_in(f, "root/loop")), 0);
	assert_int_equal(symlink("root", path_in(f, "way")), 0);
	assert_ok(beneath_open_root(path_in(f, "way"), &info, &f->root, &f->err), &f->err);
	assert_true(info.is_dir);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	file_close(&f->root);
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		assert_int_equal(remove(path_in(f, files[i])), 0);
	assert_int_equal(rmdir(f->dir), 0);
	xfree(f);
	return 0;
}

/* 0 or the code, and the words; what was opened is closed. */
static int opened(int (*fn)(int, const char *, struct file_info *, int *, struct error *),
		  struct fixture *f, const char *path)
{
	struct file_info info = {0};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(100);
	CLEANUP(file_close) int fd = -1;
	f->err = ERROR_INIT;
	take_input(f);
	if (fn(f->root, path, &info, &fd, &f->err) < 0) {
		assert_int_equal(fd, -1);
		return f->err.code;
	}
	assert_true(info.is_regular && info.size == 4);
	assert_ok(file_read_fd(fd, path, &b, &f->err), &f->err);
	assert_string_equal(b.buf, "text");
	return 0;
}

static const struct {
	const char *path;
	int code, plain;        /* with links and without */
	const char *text, *why; /* the words of the two */
	int kind;               /* below 0: its code */
} cases[] = {
	{"file", 0, 0, "", "", BENEATH_FILE},
	{"link", 0, E_INVALID, "",
	 "link is, or is behind, a symbolic link, and links are not followed", BENEATH_LINK},
	{"loop", E_NOTALLOWED, E_INVALID, "loop: a link leads out of the catalog root",
	 "loop is, or is behind, a symbolic link, and links are not followed", BENEATH_LINK},
	{"through/a", -1, E_INVALID, "",
	 "through/a is, or is behind, a symbolic link, and links are not followed", -E_INVALID},
	{"folder", E_INVALID, E_INVALID, "folder is no regular file", "folder is no regular file",
	 BENEATH_DIR},
	{"pipe", E_INVALID, E_INVALID, "pipe is no regular file", "pipe is no regular file",
	 BENEATH_OTHER},
	{"none", E_NOTFOUND, E_NOTFOUND, "none: no such file or folder",
	 "none: no such file or folder", -E_NOTFOUND},
	{"file/x", E_NOTFOUND, E_NOTFOUND, "file/x: no such file or folder",
	 "file/x: no such file or folder", -E_NOTFOUND},
	{"../plain", E_NOTALLOWED, E_NOTALLOWED, "../plain: a link leads out of the catalog root",
	 "../plain: a link leads out of the catalog root", -E_NOTALLOWED},
};

static void check_cases(struct fixture *f)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		enum beneath_kind kind = BENEATH_OTHER;
		const char *path = cases[i].path;
		if (cases[i].code >= 0) {
			assert_int_equal(opened(beneath_open, f, path), cases[i].code);
			assert_string_equal(f->err.msg, cases[i].text);
		}
		assert_int_equal(opened(beneath_open_plain, f, path), cases[i].plain);
		assert_string_equal(f->err.msg, cases[i].why);
		take_input(f);
		int r = beneath_kind(f->root, path, &kind, &f->err);
		assert_int_equal(r < 0 ? r : (int)kind, cases[i].kind);
	}
}

static void test_beneath__each_kind_of_thing_has_its_answer(void **state)
{
	check_cases(*state);
}

/* A descriptor may have any number: that of the input, if it is closed. */
static void test_beneath__without_an_input_it_is_the_same(void **state)
{
	struct fixture *f = *state;
	int kept = fcntl(0, F_DUPFD_CLOEXEC, 3), fd = -1;
	struct file_info info;
	f->without_input = true;
	check_cases(f);
	take_input(f);
	assert_ok(beneath_info(f->root, "file", &info, &f->err), &f->err);
	assert_int_equal(info.size, 4);
	take_input(f);
	assert_ok(beneath_open_root(path_in(f, "root"), &info, &fd, &f->err), &f->err);
	assert_int_equal(fd, 0);
	take_input(f);
	assert_true(kept < 0 || dup2(kept, 0) == 0);
	(void)close(kept);
}

static void test_beneath__a_root_is_a_folder(void **state)
{
	struct fixture *f = *state;
	struct file_info info;
	char want[256];
	int fd = -1;
	assert_int_equal(beneath_open_root(path_in(f, "plain"), &info, &fd, &f->err), -E_INVALID);
	(void)snprintf(want, sizeof(want), "%s is a file; a folder is wanted", path_in(f, "plain"));
	assert_string_equal(f->err.msg, want);
	assert_int_equal(beneath_open_root(path_in(f, "plain/x"), &info, &fd, &f->err),
			 -E_NOTFOUND);
	assert_int_equal(beneath_open_root(path_in(f, "none"), &info, &fd, &f->err), -E_NOTFOUND);
	(void)snprintf(want, sizeof(want), "%s: no such file or folder", path_in(f, "none"));
	assert_string_equal(f->err.msg, want);
	assert_int_equal(fd, -1);
}

static void test_beneath__a_list_has_its_limit(void **state)
{
	struct fixture *f = *state;
	char **names = NULL;
	size_t n = 0;
	assert_ok(beneath_list(f->root, "", 6, &names, &n, &f->err), &f->err);
	assert_int_equal(n, 6);
	assert_string_equal(names[0], "file");
	assert_string_equal(names[5], "through");
	dir_list_free(names, n);
	assert_int_equal(beneath_list(f->root, "", 5, &names, &n, &f->err), -E_LIMIT);
	assert_int_equal(beneath_list(f->root, "file", 5, &names, &n, &f->err), -E_NOTFOUND);
	assert_ok(beneath_list(f->root, "through", 1, &names, &n, &f->err), &f->err);
	assert_int_equal(n, 1);
	assert_string_equal(names[0], "a");
	dir_list_free(names, n);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_beneath__each_kind_of_thing_has_its_answer),
		TEST(test_beneath__without_an_input_it_is_the_same),
		TEST(test_beneath__a_root_is_a_folder),
		TEST(test_beneath__a_list_has_its_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
