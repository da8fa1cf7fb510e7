#include "tests/lib/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/io/data_dir.h"

#define SOMEBODY 12345

struct fixture {
	char dir[64], data[80];
	struct error err;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/alm-data-dir-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	(void)snprintf(f->data, sizeof(f->data), "%s/data", f->dir);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(rmdir(f->dir), 0);
	xfree(f);
	return 0;
}

static const char *file_in(const struct fixture *f, const char *name)
{
	static char path[128];
	(void)snprintf(path, sizeof(path), "%s/%s", f->data, name);
	return path;
}

static unsigned mode_of(const char *path)
{
	struct stat st;
	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777u;
}

enum form { PLAIN, LINK, HARD_LINK, PIPE, FOLDER, SOCKET };

static void put(const struct fixture *f, const char *name, enum form form, unsigned mode)
{
	char path[128], other[80];
	(void)snprintf(path, sizeof(path), "%s/%s", f->data, name);
	(void)snprintf(other, sizeof(other), "%s/other", f->dir);
	int fd = open(form == LINK || form == HARD_LINK ? other : path,
		      O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	(void)close(fd);
	if (form == LINK)
		assert_int_equal(symlink(other, path), 0);
	else if (form == HARD_LINK)
		assert_int_equal(link(other, path), 0);
	if (form >= PIPE) {
		assert_int_equal(unlink(path), 0);
		assert_int_equal(form == PIPE     ? mkfifo(path, 0600)
				 : form == FOLDER ? mkdir(path, 0700)
						  : mknod(path, S_IFSOCK | 0600, 0),
				 0);
	}
	if (form != LINK)
		assert_int_equal(chmod(path, mode), 0);
}

/* What is the case with one file of the folder: the words behind "data folder: FILE", and its mode afterwards. */
static const struct {
	const char *name;
	enum form form;
	unsigned mode, then;
	const char *why; /* NULL: it passes */
} cases[] = {
	{"alm.db", PLAIN, 0600, 0600, NULL},
	{"alm.db", PLAIN, 0400, 0400, NULL},
	{"alm.db-wal", PLAIN, 0644, 0600, NULL},
	{"token", PLAIN, 0640, 0600, NULL},
	{"kubeconfig", PLAIN, 0604, 0600, NULL},
	{"ca.crt", PLAIN, 0610, 0600, NULL},
	{"serving.key", PLAIN, 0601, 0600, NULL},
	{"serving.crt", PLAIN, 0755, 0600, NULL},
	{"audit.key", PLAIN, 0700, 0700, NULL},
	{"audit.head", PLAIN, 0620, 0620, " can be written by others (mode 0620), who may have"},
	{"token", PLAIN, 0602, 0602, " can be written by others (mode 0602), who may have"},
	{"token", LINK, 0777, 0777, " is a symbolic link: put the file itself there, or rm "},
	{"token", HARD_LINK, 0600, 0600, " has a second name somewhere (hard link): rm "},
	{"token", PIPE, 0600, 0600, " is no regular file: rm "},
	{"token", FOLDER, 0700, 0700, " is no regular file: rm "},
	{"token", SOCKET, 0600, 0600, ": No such device or address"}, /* it cannot be opened */
	/* of its owner alone */
	{"notes.txt", PLAIN, 0666, 0666, NULL},
	{"my-token", PLAIN, 0644, 0644, NULL},
	{"notes", LINK, 0777, 0777, NULL},
	{"x.keys", PLAIN, 0644, 0644, NULL},
};

static void test_data_dir__each_file_that_alm_reads_is_its_own(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char want[256], other[80];
		assert_ok(data_dir_make(f->data, &f->err), &f->err);
		put(f, cases[i].name, cases[i].form, cases[i].mode);
		const char *path = file_in(f, cases[i].name);
		f->err = ERROR_INIT;
		int r = data_dir_check(f->data, &f->err);
		(void)snprintf(want, sizeof(want), "data folder: %s%s", path,
			       cases[i].why ? cases[i].why : "");
		int code = cases[i].form == SOCKET ? E_IO : E_FORBIDDEN;
		if (r != (cases[i].why ? -code : 0) ||
		    (r < 0 && !cstr_has_prefix(f->err.msg, want)))
			fail_msg("%zu %s: %d %s", i, path, r, f->err.msg);
		assert_int_equal(mode_of(path), cases[i].then);
		assert_int_equal(remove(path), 0);
		(void)snprintf(other, sizeof(other), "%s/other", f->dir);
		(void)unlink(other);
		assert_int_equal(rmdir(f->data), 0);
	}
}

static void test_data_dir__it_is_made_for_its_owner_alone(void **state)
{
	struct fixture *f = *state;
	static const unsigned others[] = {0720, 0702, 0777};
	assert_ok(data_dir_check(f->data, &f->err), &f->err);
	assert_false(file_exists(f->data));
	assert_ok(data_dir_make(f->data, &f->err), &f->err);
	assert_int_equal(mode_of(f->data), 0700);
	assert_ok(data_dir_make(f->data, &f->err), &f->err);
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		assert_int_equal(chmod(f->data, others[i]), 0);
		f->err = ERROR_INIT;
		assert_int_equal(data_dir_check(f->data, &f->err), -E_FORBIDDEN);
		assert_non_null(strstr(f->err.msg, "look at it, then chmod go-w"));
	}
	assert_int_equal(chmod(f->data, 0755), 0);
	assert_ok(data_dir_check(f->data, &f->err), &f->err);
	put(f, "file", PLAIN, 0600);
	f->err = ERROR_INIT;
	assert_true(data_dir_make(file_in(f, "file/x"), &f->err) < 0);
	assert_true(cstr_has_prefix(f->err.msg, "data folder (choose another with --data-dir): "));
	assert_ok(data_dir_check(file_in(f, "file/x"), &f->err), &f->err);
	assert_ok(data_dir_check(file_in(f, "file"), &f->err), &f->err);
	assert_int_equal(unlink(file_in(f, "file")), 0);
	assert_int_equal(rmdir(f->data), 0);
}

/* Who may give things away is root: else there is nothing of somebody else's. */
static void test_data_dir__what_belongs_to_somebody_else_is_refused(void **state)
{
	struct fixture *f = *state;
	char want[512];
	if (geteuid() != 0)
		return;
	assert_ok(data_dir_make(f->data, &f->err), &f->err);
	put(f, "token", PLAIN, 0600);
	assert_int_equal(chown(file_in(f, "token"), SOMEBODY, SOMEBODY), 0);
	assert_int_equal(data_dir_check(f->data, &f->err), -E_FORBIDDEN);
	(void)snprintf(want, sizeof(want),
		       "data folder: %s belongs to user 12345, alm runs as user 0: start it as "
		       "that user, or take it over with chown 0 %s",
		       file_in(f, "token"), file_in(f, "token"));
	assert_string_equal(f->err.msg, want);
	f->err = ERROR_INIT;
	assert_int_equal(credentials_check(file_in(f, "token"), &f->err), -E_FORBIDDEN);
	assert_string_equal(f->err.msg, want + strlen("data folder: "));
	assert_int_equal(unlink(file_in(f, "token")), 0);
	assert_int_equal(chown(f->data, SOMEBODY, SOMEBODY), 0);
	assert_int_equal(data_dir_check(f->data, &f->err), -E_FORBIDDEN);
	assert_non_null(strstr(f->err.msg, "/data belongs to user 12345"));
	assert_int_equal(rmdir(f->data), 0);
}

static void test_data_dir__credentials_are_for_their_owner_and_group(void **state)
{
	struct fixture *f = *state;
	static const struct {
		unsigned mode;
		const char *how; /* NULL: fine */
	} rows[] = {
		{0600, NULL},      {0640, NULL},      {0650, NULL},   {0620, "written"},
		{0602, "written"}, {0604, "read"},    {0601, "read"}, {0644, "read"},
		{0660, "written"}, {0666, "written"}, {0400, NULL},
	};
	assert_ok(data_dir_make(f->data, &f->err), &f->err);
	put(f, "real", PLAIN, 0600);
	assert_int_equal(symlink("real", file_in(f, "token")), 0);
	const char *path = file_in(f, "real");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char want[512];
		assert_int_equal(chmod(path, rows[i].mode), 0);
		f->err = ERROR_INIT;
		assert_int_equal(credentials_check(path, &f->err), rows[i].how ? -E_FORBIDDEN : 0);
		(void)snprintf(want, sizeof(want),
			       "%s holds credentials and can be %s by others (mode %04o): "
			       "chmod 600 %s",
			       path, rows[i].how ? rows[i].how : "", rows[i].mode, path);
		assert_string_equal(f->err.msg, rows[i].how ? want : "");
	}
	assert_ok(credentials_check(file_in(f, "token"), &f->err), &f->err);
	assert_int_equal(credentials_check(file_in(f, "gone"), &f->err), -E_NOTFOUND);
	assert_int_equal(credentials_check(file_in(f, "real/x"), &f->err), -E_IO);
	assert_int_equal(unlink(file_in(f, "token")), 0);
	assert_int_equal(unlink(file_in(f, "real")), 0);
	assert_int_equal(rmdir(f->data), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_data_dir__each_file_that_alm_reads_is_its_own),
		TEST(test_data_dir__it_is_made_for_its_owner_alone),
		TEST(test_data_dir__what_belongs_to_somebody_else_is_refused),
		TEST(test_data_dir__credentials_are_for_their_owner_and_group),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
