#include "tests/lib/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/io/beneath.h"
#include "alm/sources/source_roots.h"

/* DIR/root/{file,sub/file,pipe,inside -> sub,out -> ../secret,absolute -> DIR/root/file},
 * DIR/secret, DIR/data */
struct fixture {
	char dir[64];
	struct arena *arena;
	struct error err;
	int root;
};

static const char *path_in(struct fixture *f, const char *name)
{
	return arena_fmt(f->arena, "%s/%s", f->dir, name);
}

static void put(struct fixture *f, const char *name, const char *text)
{
	assert_ok(file_write_new(path_in(f, name), str_of(text), 0600, &f->err), &f->err);
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct file_info info;
	f->arena = arena_new(1 << 20);
	f->err = ERROR_INIT;
	snprintf(f->dir, sizeof(f->dir), "/tmp/alm-file-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_ok(dir_make(path_in(f, "root/sub"), 0700, &f->err), &f->err);
	assert_ok(dir_make(path_in(f, "data"), 0700, &f->err), &f->err);
	put(f, "secret", "secret");
	put(f, "root/file", "one");
	put(f, "root/sub/file", "two");
	assert_int_equal(mkfifo(path_in(f, "root/pipe"), 0600), 0);
	assert_int_equal(symlink("sub", path_in(f, "root/inside")), 0);
	assert_int_equal(symlink("../secret", path_in(f, "root/out")), 0);
	assert_int_equal(symlink("/dev/zero", path_in(f, "root/zero")), 0);
	assert_int_equal(symlink(path_in(f, "root/file"), path_in(f, "root/absolute")), 0);
	assert_ok(beneath_open_root(path_in(f, "root"), &info, &f->root, &f->err), &f->err);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	static const char *const names[] = {"root/sub/file", "root/sub",      "root/file",
					    "root/pipe",     "root/inside",   "root/out",
					    "root/zero",     "root/absolute", "root",
					    "secret",        "data",          ""};
	struct fixture *f = *state;
	file_close(&f->root);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_int_equal(remove(path_in(f, names[i])), 0);
	arena_free(f->arena);
	xfree(f);
	return 0;
}

/* --- file_read --- */

/* With a blocking open this test would never end: nobody writes into the pipe. */
static void test_file__what_is_no_regular_file_is_refused_at_once(void **state)
{
	struct fixture *f = *state;
	const char *const paths[] = {path_in(f, "root/pipe"), path_in(f, "root"),
				     path_in(f, "root/zero"), "/dev/zero", "/dev/ptmx"};
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(100);
		assert_int_equal(file_read(paths[i], &b, &f->err), -E_INVALID);
		assert_non_null(strstr(f->err.msg, "is no regular file"));
		assert_int_equal(b.len, 0);
	}
}

static void test_file__size_is_asked_before_a_byte_is_read(void **state)
{
	struct fixture *f = *state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(100);
	assert_int_equal(truncate(path_in(f, "secret"), 1 << 30), 0);
	assert_int_equal(file_read(path_in(f, "secret"), &b, &f->err), -E_LIMIT);
	assert_non_null(strstr(f->err.msg, "secret is larger than 100 bytes"));
	assert_int_equal(b.len, 0);
}

static void test_file__input_of_a_command_may_be_a_pipe(void **state)
{
	struct fixture *f = *state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(100);
	int p[2];
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	assert_int_equal(write(p[1], "piped", 5), 5);
	close(p[1]);
	const char *path = arena_fmt(f->arena, "/dev/fd/%d", p[0]);
	assert_int_equal(file_read(path, &b, &f->err), -E_INVALID);
	assert_ok(file_read_input(path, &b, &f->err), &f->err);
	assert_string_equal(b.buf, "piped");
	close(p[0]);
}

static void test_file__input_of_a_command_is_bounded(void **state)
{
	struct fixture *f = *state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	assert_int_equal(file_read_input("/dev/zero", &b, &f->err), -E_LIMIT);
}

/* --- file_put --- */

static void test_file__put_takes_names_only(void **state)
{
	struct fixture *f = *state;
	static const char *const bad[] = {"", ".", "..", "../x", "a/b", "/etc/x", "sub/"};
	const char *root = path_in(f, "root");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(file_put(root, bad[i], STR("x"), 0644, &f->err), -E_INVALID);
	/* the link goes, what it led to stays */
	assert_ok(file_put(root, "out", STR("mine"), 0644, &f->err), &f->err);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(100);
	assert_false(file_is_link(path_in(f, "root/out")));
	assert_ok(file_read(path_in(f, "root/out"), &b, &f->err), &f->err);
	assert_ok(file_read(path_in(f, "secret"), &b, &f->err), &f->err);
	assert_string_equal(b.buf, "minesecret");
	char **names;
	size_t n;
	assert_ok(dir_list(root, 100, &names, &n, &f->err), &f->err);
	assert_int_equal(n, 7); /* no temporary file is left */
	dir_list_free(names, n);
}

/* --- beneath --- */

static void test_beneath__reads_below_the_folder(void **state)
{
	struct fixture *f = *state;
	static const char *const good[] = {"sub/file", "inside/file", "sub//file", "sub/./file"};
	struct file_info info;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(100);
		CLEANUP(file_close) int fd = -1;
		assert_ok(beneath_open(f->root, good[i], &info, &fd, &f->err), &f->err);
		assert_int_equal(info.size, 3);
		assert_ok(file_read_fd(fd, good[i], &b, &f->err), &f->err);
		assert_string_equal(b.buf, "two");
	}
	assert_ok(beneath_info(f->root, "", &info, &f->err), &f->err);
	assert_true(info.is_dir);
}

static void test_beneath__nothing_leads_out(void **state)
{
	struct fixture *f = *state;
	const char *const bad[] = {"../secret", "sub/../../secret",      "out", "absolute",
				   "zero",      path_in(f, "root/file"), "/",   "/proc/self/root"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		int fd = -1;
		struct file_info info;
		char **names;
		size_t n;
		assert_int_equal(beneath_open(f->root, bad[i], &info, &fd, &f->err), -E_NOTALLOWED);
		assert_int_equal(beneath_info(f->root, bad[i], &info, &f->err), -E_NOTALLOWED);
		assert_int_equal(beneath_list(f->root, bad[i], 10, &names, &n, &f->err),
				 -E_NOTALLOWED);
		assert_int_equal(fd, -1);
	}
}

static void test_beneath__a_pipe_is_refused_at_once(void **state)
{
	struct fixture *f = *state;
	struct file_info info;
	int fd = -1;
	assert_int_equal(beneath_open(f->root, "pipe", &info, &fd, &f->err), -E_INVALID);
	assert_int_equal(beneath_open(f->root, "sub", &info, &fd, &f->err), -E_INVALID);
	assert_int_equal(beneath_open(f->root, "absent", &info, &fd, &f->err), -E_NOTFOUND);
}

/* --- roots --- */

static int read_below(struct fixture *f, const char *root, const char *path, struct strbuf *b)
{
	CLEANUP(source_roots_freep) struct source_roots *r = NULL;
	assert_ok(source_roots_new(&root, 1, path_in(f, "data"), &r, &f->err), &f->err);
	const struct source_files *fs = source_roots_files(r);
	return fs->read(fs->arg, path, b, &f->err);
}

static void test_source_roots__only_below_a_root(void **state)
{
	struct fixture *f = *state;
	const char *root = path_in(f, "root"), *slash = path_in(f, "root/");
	const char *const bad[] = {path_in(f, "secret"),
				   path_in(f, "root2/file"),
				   path_in(f, "root/../secret"),
				   path_in(f, "root/./file"),
				   path_in(f, "absent"),
				   "root/file",
				   "/etc/passwd",
				   "",
				   path_in(f, "root/out")};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(100);
	assert_ok(read_below(f, root, path_in(f, "root/file"), &b), &f->err);
	assert_ok(read_below(f, slash, path_in(f, "root//sub/file"), &b), &f->err);
	assert_string_equal(b.buf, "onetwo");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(read_below(f, root, bad[i], &b), -E_NOTALLOWED);
	assert_string_equal(b.buf, "onetwo");
}

/* Whether it exists is no matter of the message. */
static void test_source_roots__outside_nothing_is_told(void **state)
{
	struct fixture *f = *state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(100);
	const char *root = path_in(f, "root");
	read_below(f, root, path_in(f, "secret"), &b);
	const char *there = arena_strdup(f->arena, f->err.msg);
	read_below(f, root, path_in(f, "absent"), &b);
	assert_string_equal(f->err.msg, there);
}

static void test_source_roots__never_the_data_folder(void **state)
{
	struct fixture *f = *state;
	struct source_roots *r = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(100);
	const char *const bad[] = {path_in(f, "data"), f->dir, "/", "root", path_in(f, "root/..")};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(source_roots_new(&bad[i], 1, path_in(f, "data"), &r, &f->err),
				 -E_USAGE);
	/* a root below it is fine; a link to it that comes later is not */
	const char *const below[] = {path_in(f, "data/catalog"), path_in(f, "later")};
	assert_ok(source_roots_new(below, 2, path_in(f, "data"), &r, &f->err), &f->err);
	const struct source_files *fs = source_roots_files(r);
	assert_int_equal(symlink("data", path_in(f, "later")), 0);
	assert_int_equal(fs->read(fs->arg, path_in(f, "later/token"), &b, &f->err), -E_NOTALLOWED);
	assert_int_equal(remove(path_in(f, "later")), 0);
	source_roots_free(r);
}

/* Before anything is made: a refused flag leaves nothing behind. */
static void test_source_roots__never_the_data_folder_that_is_to_be(void **state)
{
	struct fixture *f = *state;
	struct source_roots *r = NULL;
	const char *data = path_in(f, "new/data/");
	assert_int_equal(symlink("new", path_in(f, "soon")), 0);
	const char *const bad[] = {path_in(f, "new/data"), path_in(f, "new"), f->dir, "/",
				   path_in(f, "soon/../new")};
	const char *const good[] = {path_in(f, "new/data/catalog"), path_in(f, "new/data2"),
				    path_in(f, "ne"), "/new/data"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(source_roots_new(&bad[i], 1, data, &r, &f->err), -E_USAGE);
	assert_false(file_exists(path_in(f, "new")));
	assert_ok(source_roots_new(good, ARRAY_LEN(good), data, &r, &f->err), &f->err);
	source_roots_free(r);
	assert_int_equal(remove(path_in(f, "soon")), 0);
}

static void test_file__the_path_of_what_is_to_be(void **state)
{
	struct fixture *f = *state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	CLEANUP(strbuf_release) struct strbuf dir = STRBUF_INIT(4096);
	assert_ok(file_absolute(f->dir, &dir, &f->err), &f->err);
	const char *const cases[][2] = {{"root/inside/new/x", "root/sub/new/x"},
					{"root/inside", "root/sub"},
					{"root//new", "root/new"},
					{"a/b//c/", "a/b//c/"}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		strbuf_clear(&b);
		assert_ok(file_absolute_new(path_in(f, cases[i][0]), &b, &f->err), &f->err);
		assert_string_equal(b.buf, arena_fmt(f->arena, "%s/%s", dir.buf, cases[i][1]));
	}
	strbuf_clear(&b);
	assert_ok(file_absolute_new("/none/of/it", &b, &f->err), &f->err);
	assert_string_equal(b.buf, "/none/of/it");
	strbuf_clear(&b);
	assert_ok(file_absolute_new("none-of-it/x", &b, &f->err), &f->err);
	assert_true(b.buf[0] == '/' && cstr_has_suffix(b.buf, "/none-of-it/x"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_file__what_is_no_regular_file_is_refused_at_once),
		TEST(test_file__size_is_asked_before_a_byte_is_read),
		TEST(test_file__input_of_a_command_may_be_a_pipe),
		TEST(test_file__input_of_a_command_is_bounded),
		TEST(test_file__the_path_of_what_is_to_be),
		TEST(test_file__put_takes_names_only),
		TEST(test_beneath__reads_below_the_folder),
		TEST(test_beneath__nothing_leads_out),
		TEST(test_beneath__a_pipe_is_refused_at_once),
		TEST(test_source_roots__only_below_a_root),
		TEST(test_source_roots__outside_nothing_is_told),
		TEST(test_source_roots__never_the_data_folder_that_is_to_be),
		TEST(test_source_roots__never_the_data_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
