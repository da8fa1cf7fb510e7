/*
 * db_internal: the handle that the files db_*.c share, which alone know SQLite: db_open.c makes and
 * ends it, db_sqlite.c has statements, db_room.c watches the disk, db_transaction.c begins and commits.
 */
#ifndef ALM_IO_DB_INTERNAL_H
#define ALM_IO_DB_INTERNAL_H

#include <sqlite3.h>

#include "alm/base/map.h"
#include "alm/io/db.h"

#define DB_WAL_KEEP_BYTES 16777216
#define DB_DAMAGED_REMEDY                                                                     \
	"not a database, or damaged (%s); stop alm, keep this file, and put a backup in its " \
	"place "                                                                              \
	"(alm restore FILE --reason TEXT) or salvage it with \"sqlite3 FILE .recover\""

struct stmt {
	struct db *db;
	sqlite3_stmt *s;
};

struct db {
	struct db_config config;
	char *path, *vfs; /* what config borrows */
	sqlite3 *conn;
	struct map *statements; /* SQL text -> struct stmt, owned */
	int lock_fd;
	int wal_frames;
	bool broken;
	bool unmarked; /* the file does not say config.layout yet */
	int64_t free_bytes;
	enum db_room room;
	bool room_known; /* for the next transaction */
};

static inline bool db_is_memory(const struct db *d)
{
	return cstr_eq(d->path, ":memory:");
}

static inline bool db_is_plain_file(const struct db *d)
{
	return !db_is_memory(d) && !d->vfs;
}

/* What rc of SQLite means, with its words; d is broken after a disk error. The negative code. */
int db_failed(struct db *d, int rc, struct error *err);
int db_refuse_broken(const struct db *d, struct error *err);
/* E_IO if what looks like damage is a drive that cannot be read, which ends the handle; else 0. */
int db_refuse_unreadable(struct db *d, struct error *err);
/* E_UNAVAILABLE if there is no room for a transaction. Asks the disk if nobody did since the last. */
int db_check_room(struct db *d, struct error *err);

#endif
