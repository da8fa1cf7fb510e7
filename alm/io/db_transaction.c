/* db_transaction: transactions, and the WAL that they leave behind (db.h). */
#include "alm/base/strbuf.h"
#include "alm/io/db.h"
#include "alm/io/db_internal.h"

#define CHECKPOINT_FRAMES 512 /* of 4 KiB: 2 MiB, some 5 ms of CPU */

static int mark_layout(struct db *d, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf sql = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&sql, "PRAGMA user_version = %d", d->config.layout);
	return db_exec(d, sql.buf, err);
}

static int run(struct db *d, const char *sql, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, sql, &s, err);
	return r < 0 ? r : stmt_step(s, err);
}

int db_begin(struct db *d, struct error *err)
{
	int r = db_check_room(d, err);
	if (r >= 0)
		r = run(d, "BEGIN IMMEDIATE", err);
	if (r < 0 || !d->unmarked)
		return r;
	r = mark_layout(d, err);
	if (r < 0)
		db_rollback(d);
	return r;
}

int db_snapshot(struct db *d, struct error *err)
{
	return run(d, "BEGIN", err);
}

int db_commit(struct db *d, struct error *err)
{
	int r = run(d, "COMMIT", err);
	if (r < 0) {
		/* What reached the disk is unknown: only a new handle can tell. */
		db_rollback(d);
		d->broken = true;
		return r;
	}
	d->unmarked = false;
	return r;
}

/* On a broken handle, too: it ends the transaction in memory. */
void db_rollback(struct db *d)
{
	if (db_in_transaction(d))
		sqlite3_exec(d->conn, "ROLLBACK", NULL, NULL, NULL);
}

int db_savepoint(struct db *d, struct error *err)
{
	return run(d, "SAVEPOINT s", err);
}

int db_release(struct db *d, struct error *err)
{
	return run(d, "RELEASE s", err);
}

void db_rollback_to(struct db *d)
{
	/* A full disk has rolled back everything already; there is no savepoint then. */
	if (db_in_transaction(d) &&
	    sqlite3_exec(d->conn, "ROLLBACK TO s; RELEASE s", NULL, NULL, NULL) != SQLITE_OK)
		d->broken = true;
}

int db_checkpoint(struct db *d, bool idle, struct error *err)
{
	if (d->broken)
		return db_refuse_broken(d, err);
	if (idle ? d->wal_frames == 0 && db_wal_bytes(d) <= DB_WAL_KEEP_BYTES
		 : d->wal_frames < CHECKPOINT_FRAMES)
		return 0;
	int n_log = 0, n_done = 0;
	bool is_long = idle && db_wal_bytes(d) > DB_WAL_KEEP_BYTES;
	int rc = sqlite3_wal_checkpoint_v2(
		d->conn, NULL, is_long ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE,
		&n_log, &n_done);
	if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
		return 0; /* a reader; the next turn tries again */
	if (rc != SQLITE_OK)
		return db_failed(d, rc, err);
	if (n_log == n_done)
		d->wal_frames = 0;
	return 0;
}
