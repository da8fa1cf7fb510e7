/*
 * disk_watch: the disk of a database that is written: is there room, and does its WAL shrink again?
 *
 * The disk fills up (db_room()): clients are refused and the controllers wait while the log still
 * has its records, the first of which is DiskFull, the last DiskFullEnded. With room again
 * everything goes on. A program that keeps a transaction open for reading, somewhere on this
 * machine, keeps the WAL from starting over: that is reported from DISK_WATCH_WAL_BYTES on, and
 * ends with the reader.
 *
 * Looks every few seconds by itself, and checkpoints.
 */
#ifndef ALM_AUDIT_DISK_WATCH_H
#define ALM_AUDIT_DISK_WATCH_H

#include "alm/audit/audit.h"
#include "alm/io/metrics.h"

struct disk_watch;

#define DISK_WATCH_WAL_BYTES ((int64_t)64 << 20)

struct disk_watch_config { /* what is named outlives the watch */
	struct db *db;
	struct loop *loop;
	struct audit *audit;     /* or NULL: no entries */
	struct metrics *metrics; /* or NULL */
};

struct disk_watch *disk_watch_new(const struct disk_watch_config *c);
void disk_watch_free(struct disk_watch *w);
DEFINE_FREEP(disk_watch)

/* What a write is for, the later the longer it is taken: anything; a delete, which makes room, down
 * to DISK_WATCH_DELETE_BYTES; a delete or a change by an administrator, whom the deletes of others
 * leave something. */
enum disk_use { DISK_WRITE, DISK_DELETE, DISK_REPAIR };
#define DISK_WATCH_DELETE_BYTES ((int64_t)10 << 20)

/* Why nothing may be written now, to be told to who wanted to: looks at the disk unless a
 * transaction is open. NULL: it may be, as always without a watch. Borrowed until the next call. */
const char *disk_watch_refuses(struct disk_watch *w, enum disk_use use);
/* As it was found last. */
bool disk_watch_is_full(const struct disk_watch *w);
/* "the WAL has 70 MiB: ..."; NULL: it is as it should be. Borrowed until the next call. */
const char *disk_watch_wal(struct disk_watch *w);

#endif
