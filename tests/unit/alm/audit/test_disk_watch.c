/* What the watch of a disk tells, and that it ends: room, and a WAL that a reader keeps. */
#include "alm/audit/disk_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/audit/export.h"
#include "alm/audit/query.h"
#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/base/strbuf.h"
#include "tests/lib/audit_log.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/test.h"

#define START_NS (1893571200 * NS_PER_S)

struct fixture {
	char dir[64], path[96];
	struct error err;
	int64_t free_mib;
	struct loop *loop;
	struct db *db;
	struct audit *audit;
	struct metrics *metrics;
	struct disk_watch *watch;
};

static int64_t free_of(void *arg)
{
	const struct fixture *f = arg;
	return f->free_mib << 20;
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/alm-test-disk-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	(void)snprintf(f->path, sizeof(f->path), "%s/alm.db", f->dir);
	f->free_mib = 1000;
	f->loop = loop_fake_new(START_NS);
	struct db_config dc = {.path = f->path, .free_bytes = free_of, .free_bytes_arg = f};
	assert_ok(db_open(&dc, &f->db, &f->err), &f->err);
	struct audit_config ac = {.db = f->db, .loop = f->loop};
	assert_ok(audit_open(&ac, &f->audit, &f->err), &f->err);
	f->metrics = metrics_new();
	struct disk_watch_config wc = {f->db, f->loop, f->audit, f->metrics};
	f->watch = disk_watch_new(&wc);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	disk_watch_free(f->watch);
	audit_close(f->audit);
	metrics_free(f->metrics);
	db_close(f->db);
	loop_free(f->loop);
	audit_log_remove(f->dir);
	xfree(f);
	return 0;
}

/* "LogOpened DiskFull ..." */
static void assert_entries(struct fixture *f, const char *want)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct stmt *s;
	assert_ok(db_prepare(f->db, "SELECT reason FROM audit ORDER BY seq", &s, &f->err), &f->err);
	while (stmt_step(s, &f->err) > 0)
		strbuf_addf(&b, "%s%.*s", b.len ? " " : "", STR_ARG(stmt_text(s, 0)));
	assert_string_equal(b.buf, want);
}

static void wait_s(struct fixture *f, int64_t seconds)
{
	loop_fake_run(f->loop, seconds * NS_PER_S);
}

static void assert_metric(struct fixture *f, const char *line)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	metrics_print(f->metrics, &b);
	if (!strstr(b.buf, line))
		fail_msg("no %s in %s", line, b.buf);
}

static void keep_lines(void *arg, const char *line)
{
	strbuf_addf(arg, "%s\n", line);
}

static void test_disk_watch__the_line_of_the_process_says_how_full(void **state)
{
	struct fixture *f = *state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	log_setup(LOG_INFO, LOG_FORMAT_KV, NULL);
	log_divert(keep_lines, &b);
	f->free_mib = 12;
	(void)disk_watch_refuses(f->watch, DISK_WRITE);
	log_divert(NULL, NULL);
	assert_non_null(strstr(b.buf, "the disk is full: writes are refused until there is room"));
	assert_non_null(strstr(b.buf, "12 MiB"));
}

static void test_disk_watch__a_full_disk_has_two_entries(void **state)
{
	struct fixture *f = *state;
	assert_null(disk_watch_refuses(f->watch, DISK_WRITE));
	f->free_mib = 12;
	const char *why = disk_watch_refuses(f->watch, DISK_WRITE);
	assert_non_null(why);
	assert_non_null(strstr(why, "is full: 12 MiB are free, and the last 16 are kept"));
	assert_null(disk_watch_refuses(f->watch, DISK_DELETE));
	wait_s(f, 60);
	assert_entries(f, "LogOpened DiskFull");
	assert_metric(f, "\nalm_disk_full 1\n");
	assert_metric(f, "\nalm_disk_free_bytes 12582912\n");
	/* others' deletes leave an administrator something */
	f->free_mib = 9;
	assert_non_null(disk_watch_refuses(f->watch, DISK_DELETE));
	assert_null(disk_watch_refuses(f->watch, DISK_REPAIR));
	f->free_mib = 7;
	assert_non_null(disk_watch_refuses(f->watch, DISK_REPAIR));
	assert_non_null(disk_watch_refuses(f->watch, DISK_DELETE));
	f->free_mib = 18; /* it would come and go */
	wait_s(f, 60);
	assert_true(disk_watch_is_full(f->watch));
	f->free_mib = 30;
	wait_s(f, 60);
	assert_false(disk_watch_is_full(f->watch));
	assert_null(disk_watch_refuses(f->watch, DISK_WRITE));
	assert_entries(f, "LogOpened DiskFull DiskFullEnded");
	assert_metric(f, "\nalm_disk_full 0\n");
}

static void test_disk_watch__without_room_entries_wait(void **state)
{
	struct fixture *f = *state;
	f->free_mib = 0;
	wait_s(f, 60); /* nobody asked: it looks by itself */
	assert_true(disk_watch_is_full(f->watch));
	assert_entries(f, "LogOpened");
	assert_false(db_is_broken(f->db));
	f->free_mib = 30;
	wait_s(f, 60);
	assert_entries(f, "LogOpened DiskFull DiskFullEnded");
}

static void fill_wal(struct fixture *f, int mib)
{
	CLEANUP(xfreep) char *bytes = xcalloc(1, (size_t)1 << 20);
	for (int i = 0; i < mib; i++) {
		struct stmt *s;
		assert_ok(db_begin(f->db, &f->err), &f->err);
		assert_ok(db_prepare(f->db, "INSERT OR REPLACE INTO t VALUES(1, ?)", &s, &f->err),
			  &f->err);
		bytes[0] = (char)i;
		stmt_bind_blob(s, 1, str_n(bytes, (size_t)1 << 20));
		assert_ok(stmt_step(s, &f->err), &f->err);
		assert_ok(db_commit(f->db, &f->err), &f->err);
		assert_ok(db_checkpoint(f->db, false, &f->err), &f->err);
	}
}

static void test_disk_watch__a_reader_that_stays_open_is_told_and_its_wal_ends(void **state)
{
	struct fixture *f = *state;
	struct db_config rc = {.path = f->path, .read_only = true};
	struct db *reader = NULL;
	struct stmt *s;
	assert_ok(db_exec(f->db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", &f->err), &f->err);
	fill_wal(f, 100); /* nobody reads: it starts anew */
	wait_s(f, 10);
	assert_null(disk_watch_wal(f->watch));
	assert_true(db_wal_bytes(f->db) <= 20 << 20);
	assert_ok(db_open(&rc, &reader, &f->err), &f->err);
	assert_ok(db_snapshot(reader, &f->err), &f->err);
	assert_ok(db_prepare(reader, "SELECT count(*) FROM t", &s, &f->err), &f->err);
	assert_int_equal(stmt_step(s, &f->err), 1);
	fill_wal(f, 70);
	wait_s(f, 10);
	const char *told = disk_watch_wal(f->watch);
	assert_non_null(told);
	assert_non_null(strstr(told, "a program keeps the database open for reading"));
	assert_true(db_wal_bytes(f->db) > DISK_WATCH_WAL_BYTES);
	stmt_reset(s);
	db_rollback(reader);
	wait_s(f, 10); /* and nobody writes */
	assert_null(disk_watch_wal(f->watch));
	assert_int_equal(db_wal_bytes(f->db), 0);
	assert_metric(f, "\nalm_db_wal_bytes 0\n");
	db_close(reader);
}

struct printer {
	struct fixture *f;
	int n;
};

/* Who reads what we print takes his time, and meanwhile others write. */
static void while_printing(struct printer *p)
{
	if (p->n++ == 1)
		fill_wal(p->f, 70);
}

static int on_line(void *arg, struct str line UNUSED, struct error *err UNUSED)
{
	while_printing(arg);
	return 0;
}

static int on_row(void *arg, unsigned depth UNUSED, const struct obj *row UNUSED,
		  struct error *err UNUSED)
{
	while_printing(arg);
	return 0;
}

static void test_disk_watch__our_own_readers_hold_nothing_while_they_print(void **state)
{
	struct fixture *f = *state;
	struct db_config rc = {.path = f->path, .read_only = true};
	CLEANUP(db_closep) struct db *reader = NULL;
	struct query_selector all = {0};
	struct printer p = {f, 0};
	int64_t last;
	assert_ok(db_exec(f->db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", &f->err), &f->err);
	f->free_mib = 1;
	wait_s(f, 10);
	f->free_mib = 100; /* three entries */
	wait_s(f, 10);
	assert_ok(db_open(&rc, &reader, &f->err), &f->err);
	assert_ok(export_write(reader, 1, on_line, &p, &last, &f->err), &f->err);
	assert_true(p.n > 3 && last == 3);
	assert_true(db_wal_bytes(f->db) < 20 << 20);
	p.n = 0;
	assert_int_equal(query_rows(reader, &all, on_row, &p, &f->err), 3);
	assert_true(db_wal_bytes(f->db) < 20 << 20);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_disk_watch__the_line_of_the_process_says_how_full),
		TEST(test_disk_watch__a_full_disk_has_two_entries),
		TEST(test_disk_watch__without_room_entries_wait),
		TEST(test_disk_watch__a_reader_that_stays_open_is_told_and_its_wal_ends),
		TEST(test_disk_watch__our_own_readers_hold_nothing_while_they_print),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
