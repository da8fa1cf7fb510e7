/*
 * db_copy: a database as a whole: its copy beside a server that writes, and putting one in its place.
 *
 * A copy is one file without a journal, as the database was at one instant: what was acknowledged
 * before it began is in it, and of a transaction all or nothing.
 */
#ifndef ALM_IO_DB_COPY_H
#define ALM_IO_DB_COPY_H

#include "alm/base/error.h"

#define DB_PAGES_MAX ((size_t)UINT32_MAX - 1) /* SQLite has no more */

struct sqlite3;

/* All pages, in one read of the source: a writer goes on, its WAL grows meanwhile. path names the
 * source in messages. E_UNAVAILABLE while somebody holds it, E_INVALID for what is no database,
 * E_LIMIT for one of more pages than pages_max, at most DB_PAGES_MAX. */
int db_copy_pages(struct sqlite3 *from, struct sqlite3 *to, const char *path, size_t pages_max,
		  struct error *err);

/* SQLite calls a sector that cannot be read a damaged database; a drive that answers again has nothing to restore. E_IO
 * if the last thing that failed on its file, or its WAL, was the drive; else 0. */
int db_unreadable(struct sqlite3 *conn, const char *path, struct error *err);

/* What SQLite's result code says of the database at path, as an error of ours. */
int db_copy_failed(const char *path, int rc, struct error *err);

/* The file of one that lies at from, flushed; to must not exist (E_EXISTS), and is 0600. Nothing is
 * left at to after an error. E_NOTFOUND, E_INVALID for what is no database or is cut, E_CORRUPT
 * where the check of all pages finds something, E_IO for a full disk. */
int db_copy(const char *from, const char *to, struct error *err);

/* The lock that db_open() takes for writing; ends with db_unlock(), usable as CLEANUP. E_UNAVAILABLE
 * names the process that has it. */
int db_lock(const char *path, int *ret_fd, struct error *err);
void db_unlock(const int *fd);

/* Under db_lock(): replaces the database at path, if there is one, by that at fresh, in one step:
 * after a crash there is the one or the other. The former one lies at aside then. *ret_kept: there
 * was one. What its WAL holds is moved into it first; if it is damaged, its WAL is kept beside it.
 * E_UNAVAILABLE while another process has it open. */
int db_replace(const char *path, const char *fresh, const char *aside, bool *ret_kept,
	       struct error *err);

#endif
