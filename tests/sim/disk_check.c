#include "tests/sim/disk_check.h"

#include <inttypes.h>
#include <stdio.h>

#include "alm/io/db.h"
#include "tests/lib/digests.h"
#include "tests/sim/db_sim.h"

#define TRANSACTIONS 60
#define RANDOM_KEEPS 4

static int write_one(struct db *d, int i, struct error *err)
{
	struct stmt *s;
	if (db_begin(d, err) < 0)
		return -err->code;
	for (int row = 0; row <= i % 3; row++) {
		if (db_prepare(d, "INSERT INTO t(tx, row, v) VALUES(?, ?, hex(zeroblob(300)))", &s,
			       err) < 0)
			return -err->code;
		stmt_bind_int(s, 1, i);
		stmt_bind_int(s, 2, row);
		if (stmt_step(s, err) < 0) {
			db_rollback(d);
			return -err->code;
		}
	}
	int r = db_commit(d, err);
	if (r == 0 && i % 16 == 15)
		r = db_checkpoint(d, true, err);
	return r;
}

/* Runs until the power goes; marks what was acknowledged. */
static int write_all(struct disk *disk, bool *acked, struct error *err)
{
	struct db_config c = {.path = "t.db", .vfs = "sim"};
	struct db *d = NULL;
	if (db_open(&c, &d, err) < 0 ||
	    db_exec(d, "CREATE TABLE IF NOT EXISTS t(tx, row, v, PRIMARY KEY(tx, row))", err) < 0) {
		db_close(d);
		return -err->code;
	}
	for (int i = 0; i < TRANSACTIONS && !disk_is_off(disk, DRIVE_SERVER) && !db_is_broken(d);
	     i++)
		acked[i] = write_one(d, i, err) == 0;
	db_close(d);
	return 0;
}

static int64_t rows_of(struct db *d, int i)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	if (db_prepare(d, "SELECT count(*) FROM t WHERE tx = ?", &s, &err) < 0)
		return 0; /* not even the table is there */
	stmt_bind_int(s, 1, i);
	int64_t n = stmt_step(s, &err) == 1 ? stmt_int(s, 0) : -1;
	stmt_reset(s);
	return n;
}

static int check(const bool *acked, struct error *err)
{
	struct db_config c = {.path = "t.db", .vfs = "sim"};
	CLEANUP(db_closep) struct db *d = NULL;
	if (db_open(&c, &d, err) < 0)
		return -err->code;
	for (int i = 0; i < TRANSACTIONS; i++) {
		int64_t n = rows_of(d, i), whole = i % 3 + 1;
		if (acked[i] && n != whole)
			return error_set(err, E_CORRUPT, "acknowledged transaction %d is lost", i);
		if (n != 0 && n != whole)
			return error_set(err, E_CORRUPT, "transaction %d has %d of its rows", i,
					 (int)n);
	}
	return 0;
}

static enum disk_keep keep_of(const struct disk_case *c)
{
	return c->mode == 0 ? KEEP_NONE : c->mode == 1 ? KEEP_ALL : KEEP_RANDOM;
}

struct disk *disk_case_disk(const struct disk_case *c)
{
	struct disk *disk = disk_new(c->seed + (uint64_t)c->mode);
	if (c->mode < 2 + RANDOM_KEEPS)
		disk_off_at_op(disk, c->op, keep_of(c));
	else
		disk_fail_at_op(disk, c->op, (enum disk_fault)(c->mode - 2 - RANDOM_KEEPS));
	return disk;
}

void disk_case_restart(struct disk *d, const struct disk_case *c)
{
	disk_power_off(d, DRIVE_SERVER, keep_of(c));
	disk_power_on(d, DRIVE_SERVER);
	disk_fail_at_op(d, 0, DISK_EIO);
}

static int play(const struct disk_case *c, uint64_t *ret_before, uint64_t *ret_ops,
		struct error *err)
{
	bool acked[TRANSACTIONS] = {false};
	struct error ignored = ERROR_INIT;
	struct disk *disk = disk_case_disk(c);
	write_all(disk, acked, &ignored);
	*ret_before = 0;
	*ret_ops = disk_ops(disk);
	disk_case_restart(disk, c);
	int r = check(acked, err);
	disk_free(disk);
	return r;
}

uint64_t disk_cases(const char *what, uint64_t seed, uint64_t every, struct sha256 *digest,
		    disk_play_fn play_one)
{
	struct error err = ERROR_INIT;
	struct disk_case c = {.seed = seed};
	uint64_t before = 0, ops = 0, own = 0, ignored, n = 0;
	uint64_t failed = play_one(&c, &before, &ops, &err) < 0;
	if (failed)
		printf("not ok without a fault: %s\n", err.msg);
	for (c.op = before + 1; c.op <= ops; c.op++) {
		for (c.mode = 0; c.mode < 2 + RANDOM_KEEPS + 4; c.mode++) {
			if ((c.op + (uint64_t)c.mode) % every)
				continue; /* modes take turns */
			n++;
			int r = play_one(&c, &ignored, &own, &err);
			digest_int(digest, (int64_t)own);
			if (r == 0)
				continue;
			if (failed++ < 5)
				printf("not ok operation %" PRIu64 ", mode %d, seed %" PRIu64
				       ": %s\n",
				       c.op, c.mode, seed, err.msg);
		}
	}
	printf("# %s: %" PRIu64 " operations, %" PRIu64 " cases, %" PRIu64 " violations\n", what,
	       ops - before, n, failed);
	return failed + (n == 0);
}

uint64_t disk_check(uint64_t seed, uint64_t every, struct sha256 *digest)
{
	return disk_cases("disk", seed, every, digest, play);
}
