/* db_room: how much room the disk has for the file, and what may be begun with it (db.h). */
#include <stdlib.h>
#include <sys/statvfs.h>

#include "alm/io/db.h"
#include "alm/io/db_internal.h"

#define PAGES_COUNT_BYTES (8 * DB_RESERVE_BYTES) /* free: with more, no page makes a difference */

static int64_t file_bytes(struct db *d, int which)
{
	sqlite3_file *f = NULL;
	sqlite3_int64 n = 0;
	if (sqlite3_file_control(d->conn, NULL, which, &f) != SQLITE_OK || !f || !f->pMethods ||
	    f->pMethods->xFileSize(f, &n) != SQLITE_OK)
		return 0;
	return n;
}

/* owed: pages that are in the WAL only, for which the next checkpoint makes the file longer.
 * unused: pages that deletes left in the file, which are written again before it grows. */
static void count_pages(struct db *d, int64_t *ret_owed, int64_t *ret_unused)
{
	struct error ignored = ERROR_INIT;
	struct stmt *s = NULL;
	*ret_owed = *ret_unused = 0;
	if (db_prepare(d,
		       "SELECT page_count * page_size, freelist_count * page_size"
		       " FROM pragma_page_count, pragma_page_size, pragma_freelist_count",
		       &s, &ignored) < 0 ||
	    !s || stmt_step(s, &ignored) != 1)
		return;
	int64_t owed = stmt_int(s, 0) - file_bytes(d, SQLITE_FCNTL_FILE_POINTER);
	*ret_owed = owed > 0 ? owed : 0;
	*ret_unused = stmt_int(s, 1);
	stmt_reset(s);
}

static int64_t find_free_bytes(const struct db *d)
{
	struct statvfs v;
	if (d->config.free_bytes)
		return d->config.free_bytes(d->config.free_bytes_arg);
	if (!db_is_plain_file(d) || statvfs(d->path, &v) < 0)
		return INT64_MAX;
	int64_t n;
	return __builtin_mul_overflow(v.f_bavail, v.f_frsize, &n) ? INT64_MAX : n;
}

/* Short begins at the reserve and ends a quarter above it, so that it does not come and go. */
static enum db_room room_of(int64_t free_bytes, enum db_room before)
{
	int64_t quarter = DB_RESERVE_BYTES / 4;
	if (free_bytes < quarter)
		return DB_ROOM_NONE;
	if (free_bytes < 2 * quarter)
		return DB_ROOM_LOG;
	return free_bytes < (before == DB_ROOM_FREE ? 4 : 5) * quarter ? DB_ROOM_SHORT
								       : DB_ROOM_FREE;
}

enum db_room db_room(struct db *d)
{
	if (!db_in_transaction(d)) {
		int64_t owed, unused = 0;
		d->free_bytes = find_free_bytes(d);
		if (d->free_bytes < PAGES_COUNT_BYTES) {
			count_pages(d, &owed, &unused);
			d->free_bytes = d->free_bytes > owed ? d->free_bytes - owed : 0;
		}
		/* A commit goes to the WAL first, which may have to grow for it. */
		if (d->free_bytes < DB_RESERVE_BYTES / 2)
			unused = 0;
		d->room = room_of(d->free_bytes + unused, d->room);
		d->room_known = true;
	}
	return d->room;
}

int64_t db_free_bytes(const struct db *d)
{
	return d->free_bytes;
}

int db_check_room(struct db *d, struct error *err)
{
	if (!d->room_known)
		(void)db_room(d);
	d->room_known = false;
	if (d->room != DB_ROOM_NONE)
		return 0;
	return error_set(err, E_UNAVAILABLE,
			 "%s: only %lld KiB are free on its disk; make room there: writing goes on "
			 "by itself with %lld MiB",
			 d->path, (long long)(d->free_bytes >> 10),
			 (long long)(DB_RESERVE_BYTES * 5 / 4 >> 20));
}

int64_t db_wal_bytes(struct db *d)
{
	return file_bytes(d, SQLITE_FCNTL_JOURNAL_POINTER);
}
