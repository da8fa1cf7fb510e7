#include "tests/lib/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/base/strbuf.h"
#include "alm/io/db.h"
#include "alm/io/db_internal.h"

struct fixture {
	char dir[64], path[96];
	struct error err;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "/tmp/alm-test-db-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/alm.db", f->dir);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	static const char *const suffixes[] = {"", "-wal", "-shm", ".lock"};
	char path[128];
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		snprintf(path, sizeof(path), "%s%s", f->path, suffixes[i]);
		unlink(path);
	}
	rmdir(f->dir);
	xfree(f);
	return 0;
}

static struct db *open_file(struct fixture *f)
{
	struct db_config c = {.path = f->path};
	struct db *d = NULL;
	assert_ok(db_open(&c, &d, &f->err), &f->err);
	return d;
}

static int64_t number(struct db *d, const char *sql)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	assert_ok(db_prepare(d, sql, &s, &err), &err);
	assert_int_equal(stmt_step(s, &err), 1);
	int64_t v = stmt_int(s, 0);
	stmt_reset(s);
	return v;
}

static int insert(struct db *d, int64_t id, const char *text, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "INSERT INTO t(id, v) VALUES(?, ?)", &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, id);
	stmt_bind_cstr(s, 2, text);
	return stmt_step(s, err);
}

static void test_db__settings_are_the_durable_ones(void **state)
{
	struct fixture *f = *state;
	CLEANUP(db_closep) struct db *d = open_file(f);
	assert_int_equal(number(d, "PRAGMA synchronous"), 2);
	assert_int_equal(number(d, "PRAGMA recursive_triggers"), 1);
	assert_int_equal(number(d, "PRAGMA trusted_schema"), 0);
	assert_int_equal(number(d, "PRAGMA wal_autocheckpoint"), 0);
	struct stmt *s;
	assert_ok(db_prepare(d, "PRAGMA journal_mode", &s, &f->err), &f->err);
	assert_int_equal(stmt_step(s, &f->err), 1);
	assert_str(stmt_text(s, 0), "wal");
	stmt_reset(s);
	struct stat st;
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_db__values_come_back(void **state)
{
	struct fixture *f = *state;
	CLEANUP(db_closep) struct db *d = open_file(f);
	assert_ok(db_exec(d, "CREATE TABLE v(i, t, b, n)", &f->err), &f->err);
	struct stmt *s, *again;
	assert_ok(db_prepare(d, "INSERT INTO v VALUES(?,?,?,?)", &s, &f->err), &f->err);
	stmt_bind_int(s, 1, INT64_MIN);
	stmt_bind_text(s, 2, STR_NONE);
	stmt_bind_blob(s, 3, STR("a\0b"));
	stmt_bind_cstr(s, 4, NULL);
	assert_int_equal(stmt_step(s, &f->err), 0);
	assert_ok(db_prepare(d, "SELECT * FROM v", &s, &f->err), &f->err);
	assert_int_equal(stmt_step(s, &f->err), 1);
	assert_true(stmt_int(s, 0) == INT64_MIN);
	assert_false(stmt_is_null(s, 1));
	assert_int_equal(stmt_text(s, 1).len, 0);
	assert_true(str_eq(stmt_blob(s, 2), STR("a\0b")));
	assert_true(stmt_is_null(s, 3));
	assert_ok(db_prepare(d, "SELECT * FROM v", &again, &f->err), &f->err);
	assert_ptr_equal(s, again);
	assert_int_equal(stmt_step(s, &f->err), 1);
	assert_int_equal(stmt_step(s, &f->err), 0);
}

static void test_db__violations_have_codes(void **state)
{
	struct fixture *f = *state;
	CLEANUP(db_closep) struct db *d = open_file(f);
	assert_ok(db_exec(d,
			  "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT UNIQUE);"
			  "CREATE TRIGGER no_update BEFORE UPDATE ON t BEGIN "
			  "SELECT RAISE(ABORT, 'rows never change'); END",
			  &f->err),
		  &f->err);
	assert_ok(insert(d, 1, "a", &f->err), &f->err);
	assert_int_equal(insert(d, 1, "b", &f->err), -E_EXISTS);
	assert_int_equal(insert(d, 2, "a", &f->err), -E_EXISTS);
	assert_int_equal(db_exec(d, "UPDATE t SET v = 'z'", &f->err), -E_CONFLICT);
	assert_string_equal(f->err.msg, "rows never change");
	struct stmt *none = NULL;
	assert_int_equal(db_prepare(d, "SELECT nothing", &none, &f->err), -E_INTERNAL);
	assert_null(none);
	assert_non_null(strstr(f->err.msg, "nothing"));
	assert_int_equal(db_exec(d, "SELECT nothing", &f->err), -E_INTERNAL);
	assert_false(db_is_broken(d));
}

static void test_db__savepoints_undo_one_part(void **state)
{
	struct fixture *f = *state;
	CLEANUP(db_closep) struct db *d = open_file(f);
	assert_ok(db_exec(d, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", &f->err), &f->err);
	assert_false(db_in_transaction(d));
	assert_ok(db_begin(d, &f->err), &f->err);
	assert_true(db_in_transaction(d));
	assert_ok(insert(d, 1, "kept", &f->err), &f->err);
	assert_ok(db_savepoint(d, &f->err), &f->err);
	assert_ok(insert(d, 2, "undone", &f->err), &f->err);
	db_rollback_to(d);
	assert_ok(db_savepoint(d, &f->err), &f->err);
	assert_ok(insert(d, 3, "kept", &f->err), &f->err);
	assert_ok(db_release(d, &f->err), &f->err);
	assert_ok(db_commit(d, &f->err), &f->err);
	assert_int_equal(number(d, "SELECT sum(id) FROM t"), 4);
	assert_ok(db_begin(d, &f->err), &f->err);
	assert_ok(insert(d, 9, "undone", &f->err), &f->err);
	db_rollback(d);
	assert_int_equal(number(d, "SELECT sum(id) FROM t"), 4);
}

static void test_db__a_second_alm_is_refused_and_a_reader_is_not(void **state)
{
	struct fixture *f = *state;
	CLEANUP(db_closep) struct db *d = open_file(f);
	struct db_config c = {.path = f->path};
	struct db *second = NULL;
	assert_int_equal(db_open(&c, &second, &f->err), -E_UNAVAILABLE);
	assert_null(second);
	char want[32];
	snprintf(want, sizeof(want), "process %ld", (long)getpid());
	assert_non_null(strstr(f->err.msg, "is in use by another alm"));
	assert_non_null(strstr(f->err.msg, want));
	assert_ok(db_exec(d, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", &f->err), &f->err);
	c.read_only = true;
	assert_ok(db_open(&c, &second, &f->err), &f->err);
	assert_int_equal(number(second, "SELECT count(*) FROM t"), 0);
	assert_true(insert(second, 1, "a", &f->err) < 0);
	db_close(second);
}

static void test_db__a_damaged_file_is_refused_with_a_remedy(void **state)
{
	struct fixture *f = *state;
	struct db_config c = {.path = f->path};
	struct db *d = NULL;
	assert_ok(file_write_new(f->path, STR("this is no database, but long enough to tell"), 0600,
				 &f->err),
		  &f->err);
	assert_int_equal(db_open(&c, &d, &f->err), -E_CORRUPT);
	assert_non_null(strstr(f->err.msg, "alm restore FILE --reason TEXT"));

	unlink(f->path);
	d = open_file(f);
	assert_ok(
		db_exec(d,
			"CREATE TABLE t(id INTEGER PRIMARY KEY, v UNIQUE);"
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 999)"
			"INSERT INTO t SELECT i, hex(randomblob(20)) FROM n",
			&f->err),
		&f->err);
	db_close(d);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	assert_ok(file_read(f->path, &b, &f->err), &f->err);
	assert_true(b.len > 20000);
	memset(b.buf + 8192, 0xa5, 4096);
	assert_ok(file_write_atomic(f->path, strbuf_str(&b), 0600, &f->err), &f->err);
	assert_int_equal(db_open(&c, &d, &f->err), -E_CORRUPT);
	assert_non_null(strstr(f->err.msg, "alm restore FILE --reason TEXT"));
}

static void test_db__a_newer_layout_is_refused(void **state)
{
	struct fixture *f = *state;
	struct db_config c = {.path = f->path, .layout = 2};
	struct db *d = NULL;
	assert_ok(db_open(&c, &d, &f->err), &f->err);
	assert_int_equal(number(d, "SELECT user_version FROM pragma_user_version"), 0);
	assert_ok(db_begin(d, &f->err), &f->err); /* the mark comes with the first data */
	assert_ok(db_commit(d, &f->err), &f->err);
	assert_int_equal(number(d, "SELECT user_version FROM pragma_user_version"), 2);
	db_close(STEAL(d));
	c.layout = 1;
	assert_int_equal(db_open(&c, &d, &f->err), -E_UNSUPPORTED);
	assert_non_null(strstr(f->err.msg, "written by a newer alm (layout 2, this one knows 1)"));
	c.read_only = true;
	assert_int_equal(db_open(&c, &d, &f->err), -E_UNSUPPORTED);
	c = (struct db_config){.path = f->path, .layout = 3};
	assert_ok(db_open(&c, &d, &f->err), &f->err);
	db_close(d);
}

static int no_mark(void *arg, int action, const char *a, const char *b, const char *c,
		   const char *d)
{
	(void)arg;
	(void)c;
	(void)d;
	return action == SQLITE_PRAGMA && cstr_eq(a, "user_version") && b ? SQLITE_DENY : SQLITE_OK;
}

static int no_commit(void *arg)
{
	(void)arg;
	return 1;
}

/* What a transaction begins or ends with fails: it is over, and what it wrote is not there. */
static void test_db__a_transaction_that_cannot_begin_or_end_is_over(void **state)
{
	struct fixture *f = *state;
	struct db_config c = {.path = f->path, .layout = 7};
	CLEANUP(db_closep) struct db *d = NULL;
	assert_ok(db_open(&c, &d, &f->err), &f->err);
	sqlite3_set_authorizer(d->conn, no_mark, NULL);
	assert_true(db_begin(d, &f->err) < 0);
	assert_false(db_in_transaction(d));
	assert_int_equal(number(d, "PRAGMA user_version"), 0);
	sqlite3_set_authorizer(d->conn, NULL, NULL);
	assert_ok(db_begin(d, &f->err), &f->err); /* it has the mark to set still */
	assert_true(db_in_transaction(d));
	assert_ok(db_exec(d, "CREATE TABLE t(a)", &f->err), &f->err);
	assert_ok(db_commit(d, &f->err), &f->err);
	assert_int_equal(number(d, "PRAGMA user_version"), 7);
	assert_ok(db_begin(d, &f->err), &f->err);
	assert_ok(db_exec(d, "INSERT INTO t VALUES (1)", &f->err), &f->err);
	(void)sqlite3_commit_hook(d->conn, no_commit, NULL);
	assert_true(db_commit(d, &f->err) < 0);
	assert_false(db_in_transaction(d));
	assert_true(db_is_broken(d));
	assert_true(db_begin(d, &f->err) < 0);
}

static void test_db__checkpoint_moves_the_wal_into_the_file(void **state)
{
	struct fixture *f = *state;
	CLEANUP(db_closep) struct db *d = open_file(f);
	assert_ok(db_exec(d, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", &f->err), &f->err);
	struct file_info info;
	assert_ok(file_info(f->path, &info, &f->err), &f->err);
	uint64_t before = info.size;
	assert_ok(db_checkpoint(d, false, &f->err), &f->err);
	assert_ok(file_info(f->path, &info, &f->err), &f->err);
	assert_int_equal(info.size, before); /* far from 16 MiB */
	assert_ok(db_checkpoint(d, true, &f->err), &f->err);
	assert_ok(file_info(f->path, &info, &f->err), &f->err);
	assert_true(info.size > before);
	assert_int_equal(d->wal_frames, 0); /* the next one begins to count anew */
	assert_ok(db_exec(d, "INSERT INTO t VALUES (1, 2)", &f->err), &f->err);
	assert_true(d->wal_frames > 0);
}

struct small_disk {
	int64_t mib;
	int n_looks;
};

static int64_t free_of(void *arg)
{
	struct small_disk *disk = arg;
	disk->n_looks++;
	return disk->mib << 20;
}

static void test_db__less_is_begun_while_the_disk_fills_up(void **state)
{
	static const struct {
		int64_t mib;
		enum db_room want;
	} steps[] = {{100, DB_ROOM_FREE}, {16, DB_ROOM_FREE}, {15, DB_ROOM_SHORT},
		     {8, DB_ROOM_SHORT},  {7, DB_ROOM_LOG},   {4, DB_ROOM_LOG},
		     {3, DB_ROOM_NONE},   {0, DB_ROOM_NONE},  {8, DB_ROOM_SHORT},
		     {19, DB_ROOM_SHORT}, {20, DB_ROOM_FREE}, {16, DB_ROOM_FREE}};
	struct fixture *f = *state;
	struct small_disk disk = {.mib = 100};
	struct db_config c = {.path = f->path, .free_bytes = free_of, .free_bytes_arg = &disk};
	CLEANUP(db_closep) struct db *d = NULL;
	assert_ok(db_open(&c, &d, &f->err), &f->err);
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		disk.mib = steps[i].mib;
		assert_int_equal(db_room(d), steps[i].want);
		int r = db_begin(d, &f->err);
		assert_int_equal(r, steps[i].want == DB_ROOM_NONE ? -E_UNAVAILABLE : 0);
		if (r < 0)
			assert_non_null(strstr(f->err.msg, " KiB are free on its disk; make room"));
		else
			assert_ok(db_commit(d, &f->err), &f->err);
		assert_false(db_is_broken(d));
	}
	assert_int_equal(db_free_bytes(d), 16 << 20);
}

static void test_db__free_bytes_are_looked_for_once_a_transaction(void **state)
{
	struct fixture *f = *state;
	struct small_disk disk = {.mib = 100};
	struct db_config c = {.path = f->path, .free_bytes = free_of, .free_bytes_arg = &disk};
	CLEANUP(db_closep) struct db *d = NULL;
	assert_ok(db_open(&c, &d, &f->err), &f->err);
	for (int i = 1; i <= 3; i++) {
		(void)db_room(d);
		assert_ok(db_begin(d, &f->err), &f->err);
		for (int j = 0; j < 10; j++)
			(void)db_room(d); /* of every write of the group */
		assert_ok(db_commit(d, &f->err), &f->err);
		assert_int_equal(disk.n_looks, i);
	}
	assert_ok(db_begin(d, &f->err), &f->err); /* one of the server itself */
	db_rollback(d);
	assert_int_equal(disk.n_looks, 4);
}

static void test_db__pages_of_the_file_and_of_the_wal_count(void **state)
{
	struct fixture *f = *state;
	struct small_disk disk = {.mib = 100};
	struct db_config c = {.path = f->path, .free_bytes = free_of, .free_bytes_arg = &disk};
	CLEANUP(db_closep) struct db *d = NULL;
	assert_ok(db_open(&c, &d, &f->err), &f->err);
	assert_ok(
		db_exec(d, "CREATE TABLE t(v); INSERT INTO t VALUES(zeroblob(10 << 20));", &f->err),
		&f->err);
	/* In the WAL only: the checkpoint takes 10 of 17 MiB. */
	disk.mib = 17;
	assert_int_equal(db_room(d), DB_ROOM_LOG);
	assert_in_range(db_free_bytes(d), 6 << 20, 7 << 20);
	assert_ok(db_checkpoint(d, true, &f->err), &f->err);
	assert_int_equal(db_room(d), DB_ROOM_SHORT);
	disk.mib = 9;
	assert_ok(db_exec(d, "DELETE FROM t", &f->err), &f->err);
	assert_int_equal(db_room(d), DB_ROOM_SHORT); /* 19 of 20 MiB */
	disk.mib = 11;
	assert_int_equal(db_room(d), DB_ROOM_FREE);
	disk.mib = 7;
	assert_int_equal(db_room(d), DB_ROOM_LOG);
}

/* Commits rows 1, 2, ... and tells each one after its commit. */
static void write_until_killed(const char *path, int fd)
{
	struct db_config c = {.path = path};
	struct db *d = NULL;
	struct error err = ERROR_INIT;
	if (db_open(&c, &d, &err) < 0)
		_exit(2);
	int64_t next = number(d, "SELECT coalesce(max(id), 0) FROM t");
	for (;;) {
		next++;
		if (db_begin(d, &err) < 0 || insert(d, 2 * next, "a", &err) < 0 ||
		    insert(d, 2 * next + 1, "b", &err) < 0 || db_commit(d, &err) < 0)
			_exit(3);
		next = 2 * next + 1;
		if (write(fd, &next, sizeof(next)) != sizeof(next))
			_exit(4);
		next /= 2;
	}
}

static void test_db__acknowledged_commits_survive_kill_9(void **state)
{
	struct fixture *f = *state;
	struct db *d = open_file(f);
	assert_ok(db_exec(d, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", &f->err), &f->err);
	db_close(d);
	for (int round = 0; round < 10; round++) {
		int fds[2];
		assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
		pid_t pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			close(fds[0]);
			write_until_killed(f->path, fds[1]);
		}
		close(fds[1]);
		int64_t acked = 0, v;
		for (int i = 0; i < 3 + round && read(fds[0], &v, sizeof(v)) == sizeof(v); i++)
			acked = v;
		kill(pid, SIGKILL);
		while (read(fds[0], &v, sizeof(v)) == sizeof(v))
			acked = v;
		close(fds[0]);
		int status;
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		assert_true(acked > 0);
		d = open_file(f); /* the lock died with its holder */
		assert_true(number(d, "SELECT max(id) FROM t") >= acked);
		assert_int_equal(number(d, "SELECT sum(v = 'a') - sum(v = 'b') FROM t"), 0);
		db_close(d);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_db__settings_are_the_durable_ones),
		TEST(test_db__values_come_back),
		TEST(test_db__violations_have_codes),
		TEST(test_db__savepoints_undo_one_part),
		TEST(test_db__a_second_alm_is_refused_and_a_reader_is_not),
		TEST(test_db__a_damaged_file_is_refused_with_a_remedy),
		TEST(test_db__a_newer_layout_is_refused),
		TEST(test_db__a_transaction_that_cannot_begin_or_end_is_over),
		TEST(test_db__checkpoint_moves_the_wal_into_the_file),
		TEST(test_db__less_is_begun_while_the_disk_fills_up),
		TEST(test_db__free_bytes_are_looked_for_once_a_transaction),
		TEST(test_db__pages_of_the_file_and_of_the_wal_count),
		TEST(test_db__acknowledged_commits_survive_kill_9),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
