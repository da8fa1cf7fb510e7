#include "alm/io/db_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <sqlite3.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/base/strbuf.h"

#define STEP_PAGES 1024
#define BUSY_MS    5000 /* for a writer that commits */
#define VERSION_AT 18   /* of the file's header: 2 2 is WAL, 1 1 is none */

static int failed(const char *path, struct error *err)
{
	return error_set(err, E_IO, "%s: %s", path, strerror(errno));
}

int db_copy_failed(const char *path, int rc, struct error *err)
{
	int code = rc == SQLITE_BUSY || rc == SQLITE_LOCKED ? E_UNAVAILABLE
		   : rc == SQLITE_NOTADB                    ? E_INVALID
		   : rc == SQLITE_CORRUPT                   ? E_CORRUPT
							    : E_IO;
	return error_set(err, code, "%s: %s%s", path, sqlite3_errstr(rc),
			 rc == SQLITE_NOTADB ? ": want an SQLite database" : "");
}

static int last_errno(sqlite3 *conn, int which)
{
	sqlite3_file *f = NULL;
	int n = 0;
	if (sqlite3_file_control(conn, NULL, which, &f) != SQLITE_OK || !f || !f->pMethods ||
	    f->pMethods->xFileControl(f, SQLITE_FCNTL_LAST_ERRNO, &n) != SQLITE_OK)
		return 0;
	return n;
}

int db_unreadable(sqlite3 *conn, const char *path, struct error *err)
{
	int n = last_errno(conn, SQLITE_FCNTL_FILE_POINTER);
	const char *suffix = n ? "" : "-wal";
	if (!n)
		n = last_errno(conn, SQLITE_FCNTL_JOURNAL_POINTER);
	if (n != EIO && n != ENXIO)
		return 0;
	return error_set(err, E_IO,
			 "%s%s: cannot be read (%s): look at the disk and its cables first; if it "
			 "stays so, copy what can be read, or restore a backup",
			 path, suffix, strerror(n));
}

/* In a transaction of the source, all steps see the same; without, each commit would begin it anew. */
int db_copy_pages(sqlite3 *from, sqlite3 *to, const char *path, size_t pages_max, struct error *err)
{
	int rc = sqlite3_exec(from, "BEGIN; SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		return db_copy_failed(path, rc, err);
	sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
	if (!b)
		return db_copy_failed(path, sqlite3_errcode(to), err);
	bool fits = true;
	for (size_t i = 0; rc == SQLITE_OK && fits && i <= pages_max / STEP_PAGES; i++) {
		rc = sqlite3_backup_step(b, STEP_PAGES);
		fits = (size_t)sqlite3_backup_pagecount(b) <= pages_max;
	}
	int end = sqlite3_backup_finish(b);
	(void)sqlite3_exec(from, "COMMIT", NULL, NULL, NULL);
	if (!fits)
		return error_set(err, E_LIMIT, "%s: it has more than %zu pages", path, pages_max);
	if (rc != SQLITE_DONE && db_unreadable(from, path, err) < 0)
		return -err->code;
	return rc == SQLITE_DONE ? 0 : db_copy_failed(path, rc == SQLITE_OK ? end : rc, err);
}

/* --- a file --- */

static int first_text(void *arg, int n, char **values, char **names UNUSED)
{
	struct strbuf *b = arg;
	if (n > 0 && !b->len)
		strbuf_adds(b, values[0] ? values[0] : "");
	return 0;
}

static int check_pages(sqlite3 *db, const char *copy, const char *from, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf found = STRBUF_INIT(STRBUF_SMALL);
	int rc = sqlite3_exec(db, "PRAGMA integrity_check(1)", first_text, &found, NULL);
	if (rc == SQLITE_OK && str_is(strbuf_str(&found), "ok"))
		return 0;
	if (db_unreadable(db, copy, err) < 0)
		return -err->code;
	if (rc != SQLITE_OK)
		return db_copy_failed(from, rc, err);
	return error_set(err, E_CORRUPT, "%s: the database is damaged: %s", from, found.buf);
}

static int64_t pragma_number(sqlite3 *db, const char *sql)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	int64_t n = 0;
	if (sqlite3_exec(db, sql, first_text, &text, NULL) == SQLITE_OK)
		(void)str_parse_i64(strbuf_str(&text), &n);
	return n;
}

/* Asked before the first page, as a copy of gigabytes that ends at a full disk has filled it for everybody. */
static int check_room(sqlite3 *source, const char *to, struct error *err)
{
	struct statvfs v;
	int64_t pages = pragma_number(source, "PRAGMA page_count");
	int64_t want = pages * pragma_number(source, "PRAGMA page_size");
	if (statvfs(to, &v) < 0)
		return 0; /* then the copy tells */
	uint64_t free_bytes = (uint64_t)v.f_bavail * v.f_frsize;
	if (want > 0 && (uint64_t)want > free_bytes)
		return error_set(err, E_IO,
				 "it needs %" PRId64 " bytes and %" PRIu64
				 " are free: the disk is too full",
				 want, free_bytes);
	return 0;
}

static int copy_into(sqlite3 *to, const char *from, const char *path, struct error *err)
{
	sqlite3 *source = NULL;
	int rc = sqlite3_open_v2(from, &source, SQLITE_OPEN_READONLY | SQLITE_OPEN_PRIVATECACHE,
				 NULL);
	int r = rc == SQLITE_OK ? 0 : db_copy_failed(from, rc, err);
	if (r == 0) {
		sqlite3_busy_timeout(source, BUSY_MS);
		(void)sqlite3_exec(to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = FULL", NULL,
				   NULL, NULL);
		r = check_room(source, path, err);
	}
	if (r == 0)
		r = db_copy_pages(source, to, from, DB_PAGES_MAX, err);
	sqlite3_close(source);
	return r;
}

/* It says no more that it has a WAL: so it is one file, and can be read where nobody may write. */
static int without_wal(int fd, const char *path, struct error *err)
{
	static const char none[] = {1, 1};
	if (pwrite(fd, none, sizeof(none), VERSION_AT) != (ssize_t)sizeof(none) || fsync(fd) < 0)
		return failed(path, err);
	return 0;
}

static int check_copy(const char *path, const char *from, struct error *err)
{
	sqlite3 *db = NULL;
	int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);
	int r = rc == SQLITE_OK ? check_pages(db, path, from, err) : db_copy_failed(path, rc, err);
	sqlite3_close(db);
	return r;
}

static int fill(int fd, const char *from, const char *to, struct error *err)
{
	sqlite3 *db = NULL;
	int rc = sqlite3_open_v2(to, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, NULL);
	int r = rc == SQLITE_OK ? copy_into(db, from, to, err) : db_copy_failed(to, rc, err);
	sqlite3_close(db);
	if (r >= 0)
		r = without_wal(fd, to, err);
	if (r < 0)
		return error_wrap(err, "copy to %s", to);
	return check_copy(to, from, err);
}

int db_copy(const char *from, const char *to, struct error *err)
{
	struct file_info info;
	CLEANUP(strbuf_release) struct strbuf real = STRBUF_INIT(STRBUF_SMALL);
	if (file_info(from, &info, err) < 0)
		return -err->code;
	if (!info.is_regular || !info.size)
		return error_set(err, E_INVALID, "%s: %s: want an SQLite database", from,
				 info.is_regular ? "is empty" : "is no file");
	CLEANUP(file_close) int fd = open(to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EEXIST ? error_set(err, E_EXISTS, "%s is there already", to)
				       : failed(to, err);
	int r = file_absolute(to, &real, err); /* SQLite takes no link in the path of its folder */
	if (r >= 0)
		r = fill(fd, from, real.buf, err);
	if (r < 0)
		unlink(to);
	return r;
}

/* --- in the place of another --- */

static void beside(const char *path, const char *suffix, struct strbuf *b)
{
	strbuf_clear(b);
	strbuf_addf(b, "%s%s", path, suffix);
}

/* What a process that was killed left in the WAL goes into the file, and the WAL goes. */
static bool settle(const char *path)
{
	sqlite3 *db = NULL;
	int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);
	if (rc == SQLITE_OK) {
		sqlite3_busy_timeout(db, BUSY_MS);
		rc = sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
	}
	sqlite3_close(db);
	return rc == SQLITE_OK;
}

/* A WAL that stayed would be played into whatever lies at path next. */
static int clear_wal(const char *path, const char *aside, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf wal = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf kept = STRBUF_INIT(STRBUF_SMALL);
	bool whole = settle(path);
	beside(path, "-wal", &wal);
	if (whole && file_exists(wal.buf))
		return error_set(err, E_UNAVAILABLE,
				 "%s is open in another process: end it first, then again", path);
	beside(aside, "-wal", &kept);
	if (rename(wal.buf, kept.buf) < 0 && errno != ENOENT)
		return failed(wal.buf, err);
	beside(path, "-shm", &wal);
	return file_remove(wal.buf, err);
}

int db_replace(const char *path, const char *fresh, const char *aside, bool *ret_kept,
	       struct error *err)
{
	struct str dir, base;
	bool is_there = file_exists(path);
	CLEANUP(xfreep) char *folder =
		str_rcut(str_of(path), '/', &dir, &base) ? str_dup(dir) : xstrdup(".");
	if (clear_wal(path, aside, err) < 0)
		return -err->code;
	/* A second name for the former one, which rename takes the first of. */
	if (is_there && link(path, aside) < 0)
		return failed(aside, err);
	if (rename(fresh, path) < 0) {
		(void)failed(path, err);
		unlink(aside);
		return -err->code;
	}
	*ret_kept = is_there;
	return dir_flush(folder, err);
}
