/*
 * db: SQLite. One connection, one writer, WAL with synchronous=FULL (reliability.md 4).
 *
 * Statements are prepared once and kept. A failed commit, EIO or failed fsync is fatal for the
 * handle: every later call gives E_IO; nothing is retried on it. What the caller has in memory may
 * be ahead of the file then, so the way on is a new start of the process.
 */
#ifndef ALM_IO_DB_H
#define ALM_IO_DB_H

#include <stdint.h>

#include "alm/base/error.h"
#include "alm/base/mem.h"
#include "alm/base/str.h"

struct db;
struct stmt;

struct db_config {
	const char *path; /* ":memory:" for tests */
	const char *vfs;  /* NULL: the default; tests/sim names its own */
	bool read_only;
	int64_t busy_ns; /* how long to wait for another process; 0: not at all */
	int layout;      /* newest data layout that the caller knows, kept in the file; 0: any */
	/* Bytes that are free for the file, for tests; NULL: its file system is asked. */
	int64_t (*free_bytes)(void *arg);
	void *free_bytes_arg;
};

/* Of alm.db; to be raised when an older alm must not write what this one has written. */
#define DB_LAYOUT 2

/* Opens or creates. E_CORRUPT "PATH: not a database, or damaged ..." after a failed quick check,
 * E_IO when it cannot be opened, E_UNAVAILABLE while another alm works with it (who holds
 * PATH.lock), E_UNSUPPORTED when a newer alm has written it. */
int db_open(const struct db_config *c, struct db **ret, struct error *err);
void db_close(struct db *d); /* checkpoints the WAL; NULL is fine */
static inline void UNUSED db_closep(struct db **d)
{
	db_close(*d);
}

void db_trim(struct db *d); /* gives back the pages that it keeps for the next read */
int db_exec(struct db *d, const char *sql,
	    struct error *err); /* any number of statements, no rows */

/* The statement for this SQL text from the handle's cache, reset and unbound. Borrowed. */
int db_prepare(struct db *d, const char *sql, struct stmt **ret, struct error *err);
/* Parameters count from 1. Text and blobs must live until the statement is stepped to its end. */
void stmt_bind_int(struct stmt *s, int i, int64_t v);
void stmt_bind_text(struct stmt *s, int i, struct str v);
void stmt_bind_cstr(struct stmt *s, int i, const char *v); /* NULL binds NULL */
void stmt_bind_blob(struct stmt *s, int i, struct str v);
void stmt_bind_null(struct stmt *s, int i);
/* 1: a row; 0: done (the statement is reset); negative: E_EXISTS for a UNIQUE or PRIMARY KEY
 * violation, E_CONFLICT for RAISE(ABORT) of a trigger (message kept), E_IO, E_CORRUPT. */
int stmt_step(struct stmt *s, struct error *err);
void stmt_reset(struct stmt *s);
/* The number that is the first row; 0: there is none. at: of the parameter; NULL: there is none. */
int db_number(struct db *d, const char *sql, const int64_t *at, int64_t *ret, struct error *err);
/* Columns count from 0; borrowed until the next step. */
int64_t stmt_int(struct stmt *s, int i);
struct str stmt_text(struct stmt *s, int i);
struct str stmt_blob(struct stmt *s, int i);
/* A text column without the NUL behind it that stmt_text() makes room for: "" for NULL, too. */
struct str stmt_bytes(struct stmt *s, int i);
struct str stmt_bytes_opt(struct stmt *s, int i); /* STR_NONE for NULL */
bool stmt_is_null(struct stmt *s, int i);

/*
 * Room. A commit that fails for lack of it ends the handle, so less and less is begun while the
 * disk fills up: DB_RESERVE_BYTES stay for what makes room, and for the last records of the log.
 * Free bytes are looked for once a transaction, by db_room() or db_begin(), whichever comes first:
 * without what the next checkpoint takes of them. While half of the reserve is there, pages that
 * deletes left in the file are room, too: a file never gets shorter, so deletes alone end it.
 */
#define DB_RESERVE_BYTES ((int64_t)16 << 20)
enum db_room {
	DB_ROOM_FREE,
	DB_ROOM_SHORT, /* the reserve is touched, and not free again with a quarter more: deletes */
	DB_ROOM_LOG,   /* less than half of it: records of the log, what the server does itself */
	DB_ROOM_NONE,  /* less than a quarter: db_begin() refuses with E_UNAVAILABLE */
};
enum db_room db_room(struct db *d);
/* On the disk, as it was looked for last, less what a checkpoint takes; INT64_MAX: no limit. */
int64_t db_free_bytes(const struct db *d);

int db_begin(struct db *d, struct error *err); /* BEGIN IMMEDIATE */
/* Reads until db_rollback() see the database as it is at the first of them. Nothing is locked, but
 * the WAL cannot start over meanwhile: not for longer than a second beside a writer. */
int db_snapshot(struct db *d, struct error *err);
int db_commit(struct db *d, struct error *err); /* durable when it returns 0 */
void db_rollback(struct db *d);
int db_savepoint(struct db *d, struct error *err); /* one level, inside a transaction */
int db_release(struct db *d, struct error *err);
void db_rollback_to(struct db *d); /* undoes and releases the savepoint */
bool db_in_transaction(const struct db *d);

bool db_is_broken(const struct db *d);
/* Between turns: PASSIVE checkpoint if the WAL is over 2 MiB or idle. One that grew over that
 * while somebody read is cut down by the next write, or the next idle time, after he ended. */
int db_checkpoint(struct db *d, bool idle, struct error *err);
int64_t db_wal_bytes(struct db *d); /* of the file */

#endif
