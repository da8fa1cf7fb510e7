/*
 * The disk fails under a backup and under putting one back (disk_faults.h). What is done is whole; what is not left nothing
 * under its name, and says why; once the disk works it is done.
 */
#include "tests/unit/alm/io/disk_faults.h"

#include "alm/io/db.h"
#include "alm/io/db_copy.h"

#define ROWS 40

static void make(const char *name, int rows)
{
	struct error err = ERROR_INIT;
	struct db *d = NULL;
	const struct db_config c = {.path = path_of(name)};
	must(db_open(&c, &d, &err), &err);
	must(db_exec(d, "CREATE TABLE t (v TEXT)", &err), &err);
	must(db_begin(d, &err), &err);
	for (int i = 0; i < rows; i++)
		must(db_exec(d, "INSERT INTO t VALUES (hex(zeroblob(500)))", &err), &err);
	must(db_commit(d, &err), &err);
	db_close(d);
}

/* -1: it is not there, or is none. */
static int64_t rows_of(const char *name)
{
	struct error err = ERROR_INIT;
	struct db *d = NULL;
	struct stmt *st;
	int64_t n = -1;
	const struct db_config c = {.path = path_of(name)};
	if (!file_exists(c.path) || db_open(&c, &d, &err) < 0)
		return -1;
	if (db_prepare(d, "SELECT count(*) FROM t", &st, &err) >= 0 && stmt_step(st, &err) > 0)
		n = stmt_int(st, 0);
	db_close(d);
	return n;
}

/* path_of() keeps one text. */
static char from[128], to[128], aside[128];
static void name_paths(void)
{
	(void)snprintf(from, sizeof(from), "%s", path_of("alm.db"));
	(void)snprintf(to, sizeof(to), "%s", path_of("b.db"));
	(void)snprintf(aside, sizeof(aside), "%s", path_of("aside.db"));
}

static void scene_backup(void)
{
	struct error err = ERROR_INIT;
	name_paths();
	make("alm.db", ROWS);
	disk.is_armed = true;
	int r = db_copy(from, to, &err);
	disk.is_armed = false;
	if (r < 0)
		must_be_clear(&err);
	if (r < 0 && file_exists(to) && (disk.call != CALL_REMOVE || rows_of("b.db") == 0))
		case_fails("it failed (%s) and left a file", err.msg);
	(void)unlink(to);
	must(db_copy(from, to, &err), &err);
	if (rows_of("b.db") != ROWS || rows_of("alm.db") != ROWS)
		case_fails("the copy has %d rows", (int)rows_of("b.db"));
}

static int put_back(bool *ret_kept, struct error *err)
{
	CLEANUP(db_unlock) int lock = -1;
	return db_lock(from, &lock, err) < 0 ? -err->code
					     : db_replace(from, to, aside, ret_kept, err);
}

/* There is the one database or the other, at each moment. */
static void scene_restore(void)
{
	struct error err = ERROR_INIT;
	bool kept = false;
	name_paths();
	make("alm.db", ROWS);
	make("b.db", 2 * ROWS);
	disk.is_armed = true;
	int r = put_back(&kept, &err);
	disk.is_armed = false;
	int64_t rows = rows_of("alm.db");
	if (r < 0)
		must_be_clear(&err);
	if (r >= 0 && rows != 2 * ROWS)
		case_fails("it is done, and there are %d rows", (int)rows);
	if (rows != ROWS && rows != 2 * ROWS)
		case_fails("neither database is there: %s", err.msg);
	if (rows == 2 * ROWS && rows_of("aside.db") != ROWS)
		case_fails("the former one is lost");
	if (r < 0 && rows == ROWS && rows_of("b.db") != 2 * ROWS)
		case_fails("the new one is lost: %s", err.msg);
}

static void test_disk_copy__of_a_backup(void **state)
{
	(void)state;
	every_call(scene_backup);
}

static void test_disk_copy__of_a_restore(void **state)
{
	(void)state;
	every_call(scene_restore);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_disk_copy__of_a_backup, setup, teardown),
		cmocka_unit_test_setup_teardown(test_disk_copy__of_a_restore, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
