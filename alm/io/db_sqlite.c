/*
 * db_sqlite: the only place that knows SQLite. Its rules are in reliability.md 4: WAL with
 * synchronous=FULL, one writer, a failed commit or disk error ends the handle.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <sqlite3.h>

#include "alm/base/clock.h"
#include "alm/base/map.h"
#include "alm/base/strbuf.h"
#include "alm/io/db.h"
#include "alm/io/db_copy.h"

#define STATEMENTS_MAX    1024
#define CHECKPOINT_FRAMES 4096                   /* of 4 KiB: 16 MiB */
#define PAGES_COUNT_BYTES (8 * DB_RESERVE_BYTES) /* free: with more, no page makes a difference */
#define WAL_KEEP_BYTES    16777216
#define TEXT_OF_(x)       #x
#define TEXT_OF(x)        TEXT_OF_(x)
#define VALUE_BYTES_MAX   ((int)64 << 20)
#define DAMAGED_REMEDY                                                                        \
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

static void stmt_free(void *p)
{
	struct stmt *s = p;
	sqlite3_finalize(s->s);
	xfree(s);
}

static bool is_memory(const struct db *d)
{
	return cstr_eq(d->path, ":memory:");
}

static bool is_plain_file(const struct db *d)
{
	return !is_memory(d) && !d->vfs;
}

/* Errors */

static int code_of(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_CONSTRAINT:
		switch (rc) {
		case SQLITE_CONSTRAINT_UNIQUE:
		case SQLITE_CONSTRAINT_PRIMARYKEY:
		case SQLITE_CONSTRAINT_ROWID:
			return E_EXISTS;
		case SQLITE_CONSTRAINT_TRIGGER:
			return E_CONFLICT;
		default:
			return E_INTERNAL;
		}
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return E_CORRUPT;
	case SQLITE_TOOBIG:
		return E_LIMIT;
	case SQLITE_ERROR:
	case SQLITE_MISUSE:
	case SQLITE_RANGE:
		return E_INTERNAL;
	default:
		return E_IO;
	}
}

/* What ends the handle: its view of the file may be wrong from here on. A full disk and a foreign
 * lock only fail the statement. */
static bool is_fatal(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_IOERR:
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_NOMEM:
	case SQLITE_CANTOPEN:
	case SQLITE_PROTOCOL:
		return true;
	default:
		return false;
	}
}

static int refuse_unreadable(struct db *d, struct error *err)
{
	if (db_unreadable(d->conn, d->path, err) == 0)
		return 0;
	d->broken = true;
	return -err->code;
}

static int db_failed(struct db *d, int rc, struct error *err)
{
	int code = code_of(rc);
	if (is_fatal(rc))
		d->broken = true;
	if (code == E_CORRUPT && refuse_unreadable(d, err) < 0)
		return -err->code;
	if (code == E_CORRUPT)
		return error_set(err, code, "%s: " DAMAGED_REMEDY, d->path,
				 sqlite3_errmsg(d->conn));
	if (code == E_EXISTS || code == E_CONFLICT)
		return error_set(err, code, "%s", sqlite3_errmsg(d->conn));
	return error_set(err, code, "%s: %s", d->path, sqlite3_errmsg(d->conn));
}

static int refuse_broken(const struct db *d, struct error *err)
{
	return error_set(err, E_IO, "%s: unusable after a disk error, until it is opened again",
			 d->path);
}

/* Opening */

static void free_path(char **p)
{
	free(*p);
}

int db_lock(const char *path, int *ret_fd, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf lock = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&lock, "%s.lock", path);
	int fd = open(lock.buf, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set(err, E_IO, "%s: %s", lock.buf, strerror(errno));
	char holder[32] = "";
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		ssize_t n = pread(fd, holder, sizeof(holder) - 1, 0);
		holder[n > 0 ? n : 0] = '\0';
		holder[strcspn(holder, "\n")] = '\0';
		close(fd);
		return error_set(err, E_UNAVAILABLE,
				 "%s is in use by another alm%s%s; stop it first", path,
				 holder[0] ? ", process " : "", holder);
	}
	*ret_fd = fd;
	int n = snprintf(holder, sizeof(holder), "%ld\n", (long)getpid());
	/* The number only serves the message above: a failed write is no reason to stop. */
	if (ftruncate(fd, 0) < 0 || pwrite(fd, holder, (size_t)n, 0) < 0)
		return 0;
	return 0;
}

void db_unlock(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* The file holds Secrets: made 0600; SQLite gives its WAL the same mode. */
static int create_private(struct db *d, struct error *err)
{
	int fd = open(d->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set(err, E_IO, "%s: %s", d->path, strerror(errno));
	close(fd);
	return 0;
}

static int on_wal(void *arg, sqlite3 *conn UNUSED, const char *name UNUSED, int frames)
{
	struct db *d = arg;
	d->wal_frames = frames;
	return SQLITE_OK;
}

static int quick_check(struct db *d, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "PRAGMA quick_check(1)", &s, err);
	if (r >=
	    0) /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): r >= 0 says that s is set */
		r = stmt_step(s, err);
	if (r < 0)
		return r;
	struct str found = r == 1 ? stmt_text(s, 0) : STR_NONE;
	if (!str_is(found, "ok") && refuse_unreadable(d, err) < 0) {
		r = -err->code;
	} else if (!str_is(found, "ok")) {
		d->broken = true;
		r = error_set(err, E_CORRUPT, "%s: " DAMAGED_REMEDY, d->path, found.ptr);
	}
	stmt_reset(s);
	return r < 0 ? r : 0;
}

/* A file without a mark is new, or older than the mark: it gets one in its next transaction. */
static int check_layout(struct db *d, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "PRAGMA user_version", &s, err);
	if (r >=
	    0) /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): r >= 0 says that s is set */
		r = stmt_step(s, err);
	if (r < 0)
		return r;
	int64_t found = stmt_int(s, 0);
	stmt_reset(s);
	if (found > d->config.layout)
		return error_set(err, E_UNSUPPORTED,
				 "%s: written by a newer alm (layout %lld, this one knows %d); use "
				 "that alm, or another folder with --data-dir",
				 d->path, (long long)found, d->config.layout);
	d->unmarked = found < d->config.layout;
	return 0;
}

static int mark_layout(struct db *d, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf sql = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&sql, "PRAGMA user_version = %d", d->config.layout);
	return db_exec(d, sql.buf, err);
}

static int configure(struct db *d, struct error *err)
{
	sqlite3_extended_result_codes(d->conn, 1);
	sqlite3_busy_timeout(d->conn, (int)(d->config.busy_ns / NS_PER_MS));
	sqlite3_limit(d->conn, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
	sqlite3_limit(d->conn, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_db_config(d->conn, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
	sqlite3_db_config(d->conn, SQLITE_DBCONFIG_DQS_DML, 0, (int *)NULL);
	sqlite3_db_config(d->conn, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)NULL);
	int r = db_exec(d,
			"PRAGMA trusted_schema = OFF; PRAGMA recursive_triggers = ON;"
			"PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;"
			"PRAGMA cache_size = -4096",
			err);
	if (r >= 0 && d->config.layout)
		r = check_layout(d, err);
	if (r < 0 || d->config.read_only)
		return r;
	r = db_exec(d, "PRAGMA journal_mode = WAL", err);
	if (r < 0)
		return r;
	r = db_exec(d, "PRAGMA synchronous = FULL", err);
	if (r >= 0)
		r = db_exec(d,
			    "PRAGMA wal_autocheckpoint = 0;"
			    "PRAGMA journal_size_limit = " TEXT_OF(WAL_KEEP_BYTES),
			    err);
	if (r < 0)
		return r;
	sqlite3_wal_hook(d->conn, on_wal, d);
	return quick_check(d, err);
}

/* SQLite then takes no link anywhere in the path: the folder's own are resolved before. */
static int real_path(const struct db *d, struct strbuf *ret, struct error *err)
{
	struct str dir, base;
	bool is_bare = !str_rcut(str_of(d->path), '/', &dir, &base);
	CLEANUP(xfreep) char *folder = str_dup(is_bare ? STR(".") : dir.len ? dir : STR("/"));
	CLEANUP(free_path) char *real = realpath(folder, NULL);
	if (!real)
		return error_set(err, E_IO, "%s: %s", folder, strerror(errno));
	strbuf_addf(ret, "%s/%.*s", real, STR_ARG(is_bare ? dir : base));
	return 0;
}

static int open_connection(struct db *d, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
	/* Statistics that nobody reads take a lock at each allocation. Fails after the first. */
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	flags |= d->config.read_only ? SQLITE_OPEN_READONLY
				     : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	int r = 0;
	bool written = is_plain_file(d) && !d->config.read_only;
	if (written && d->lock_fd < 0)
		r = db_lock(d->path, &d->lock_fd, err);
	if (written && r >= 0)
		r = create_private(d, err);
	if (written && r >= 0)
		r = real_path(d, &path, err);
	if (r < 0)
		return r;
	int rc = written ? sqlite3_open_v2(path.buf, &d->conn, flags | SQLITE_OPEN_NOFOLLOW, NULL)
			 : sqlite3_open_v2(d->path, &d->conn, flags, d->vfs);
	if (rc != SQLITE_OK)
		return error_set(err, E_IO, "%s: %s", d->path,
				 d->conn ? sqlite3_errmsg(d->conn) : sqlite3_errstr(rc));
	d->statements = map_new(stmt_free);
	return configure(d, err);
}

static void close_connection(struct db *d)
{
	map_free(d->statements);
	d->statements = NULL;
	int rc = sqlite3_close(d->conn);
	assert(rc == SQLITE_OK); /* every statement lives in the cache */
	d->conn = NULL;
	d->wal_frames = 0;
}

int db_open(const struct db_config *c, struct db **ret, struct error *err)
{
	CLEANUP(db_closep) struct db *d = xcalloc(1, sizeof(*d));
	d->config = *c;
	d->path = xstrdup(c->path);
	d->vfs = c->vfs ? xstrdup(c->vfs) : NULL;
	d->config.path = d->path;
	d->config.vfs = d->vfs;
	d->lock_fd = -1;
	d->free_bytes = INT64_MAX;
	int r = open_connection(d, err);
	if (r < 0)
		return r;
	*ret = STEAL(d);
	return 0;
}

void db_trim(struct db *d)
{
	sqlite3_db_release_memory(d->conn);
}

void db_close(struct db *d)
{
	if (!d)
		return;
	/* Closing the last connection checkpoints and removes the WAL; SQLite does not do so for
	 * a connection that saw a disk error. */
	if (d->conn)
		close_connection(d);
	if (d->lock_fd >= 0)
		close(d->lock_fd);
	xfree(d->path);
	xfree(d->vfs);
	xfree(d);
}

/* Statements */

int db_exec(struct db *d, const char *sql, struct error *err)
{
	if (d->broken)
		return refuse_broken(d, err);
	int rc = sqlite3_exec(d->conn, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : db_failed(d, rc, err);
}

int db_prepare(struct db *d, const char *sql, struct stmt **ret, struct error *err)
{
	if (d->broken)
		return refuse_broken(d, err);
	struct stmt *s = map_get(d->statements, sql);
	if (s) {
		sqlite3_reset(s->s);
		sqlite3_clear_bindings(s->s);
		*ret = s;
		return 0;
	}
	if (map_count(d->statements) >= STATEMENTS_MAX)
		return error_set(err, E_LIMIT, "%s: more than %d different statements", d->path,
				 STATEMENTS_MAX);
	sqlite3_stmt *raw = NULL;
	int rc = sqlite3_prepare_v3(d->conn, sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, NULL);
	if (rc != SQLITE_OK)
		return db_failed(d, rc, err);
	s = xcalloc(1, sizeof(*s));
	s->db = d;
	s->s = raw;
	map_set(d->statements, sql, s);
	*ret = s;
	return 0;
}

/* A wrong index or a busy statement is a programmer's error. */
static void bound(int rc)
{
	assert(rc == SQLITE_OK || rc == SQLITE_TOOBIG);
}

void stmt_bind_int(struct stmt *s, int i, int64_t v)
{
	bound(sqlite3_bind_int64(s->s, i, v));
}

void stmt_bind_text(struct stmt *s, int i, struct str v)
{
	bound(sqlite3_bind_text64(s->s, i, v.ptr ? v.ptr : "", v.len, SQLITE_STATIC, SQLITE_UTF8));
}

void stmt_bind_cstr(struct stmt *s, int i, const char *v)
{
	if (v)
		stmt_bind_text(s, i, str_of(v));
	else
		stmt_bind_null(s, i);
}

void stmt_bind_blob(struct stmt *s, int i, struct str v)
{
	bound(sqlite3_bind_blob64(s->s, i, v.ptr ? v.ptr : "", v.len, SQLITE_STATIC));
}

void stmt_bind_null(struct stmt *s, int i)
{
	bound(sqlite3_bind_null(s->s, i));
}

int stmt_step(struct stmt *s, struct error *err)
{
	if (s->db->broken)
		return refuse_broken(s->db, err);
	int rc = sqlite3_step(s->s);
	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE) {
		sqlite3_reset(s->s);
		return 0;
	}
	int r = db_failed(s->db, rc, err);
	sqlite3_reset(s->s);
	return r;
}

void stmt_reset(struct stmt *s)
{
	sqlite3_reset(s->s);
}

int64_t stmt_int(struct stmt *s, int i)
{
	return sqlite3_column_int64(s->s, i);
}

struct str stmt_text(struct stmt *s, int i)
{
	const char *p = (const char *)sqlite3_column_text(s->s, i);
	return p ? str_n(p, (size_t)sqlite3_column_bytes(s->s, i)) : STR_NONE;
}

struct str stmt_blob(struct stmt *s, int i)
{
	const char *p = sqlite3_column_blob(s->s, i);
	return p ? str_n(p, (size_t)sqlite3_column_bytes(s->s, i)) : STR_NONE;
}

/* The value itself: each of the calls for a column looks it up again. */
struct str stmt_bytes(struct stmt *s, int i)
{
	struct str v = stmt_bytes_opt(s, i);
	return v.ptr ? v : STR("");
}

struct str stmt_bytes_opt(struct stmt *s, int i)
{
	sqlite3_value *v = sqlite3_column_value(s->s, i);
	const char *p = sqlite3_value_blob(v); /* NULL for "", too */
	if (p)
		return str_n(p, (size_t)sqlite3_value_bytes(v));
	return sqlite3_value_type(v) == SQLITE_NULL ? STR_NONE : STR("");
}

bool stmt_is_null(struct stmt *s, int i)
{
	return sqlite3_column_type(s->s, i) == SQLITE_NULL;
}

/* Transactions */

static int run(struct db *d, const char *sql, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, sql, &s, err);
	return r < 0 ? r : stmt_step(s, err);
}

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
	if (!is_plain_file(d) || statvfs(d->path, &v) < 0)
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

static int check_room(struct db *d, struct error *err)
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

int db_begin(struct db *d, struct error *err)
{
	int r = check_room(d, err);
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

bool db_in_transaction(const struct db *d)
{
	return d->conn && !sqlite3_get_autocommit(d->conn);
}

bool db_is_broken(const struct db *d)
{
	return d->broken;
}

int db_checkpoint(struct db *d, bool idle, struct error *err)
{
	if (d->broken)
		return refuse_broken(d, err);
	if (idle ? d->wal_frames == 0 && db_wal_bytes(d) <= WAL_KEEP_BYTES
		 : d->wal_frames < CHECKPOINT_FRAMES)
		return 0;
	int n_log = 0, n_done = 0;
	bool is_long = idle && db_wal_bytes(d) > WAL_KEEP_BYTES;
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

int64_t db_wal_bytes(struct db *d)
{
	return file_bytes(d, SQLITE_FCNTL_JOURNAL_POINTER);
}
