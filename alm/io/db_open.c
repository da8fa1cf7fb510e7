/*
 * db_open: a handle from its lock to its close. The file is private and locked, its layout is known,
 * it is whole, and SQLite is told the rules of reliability.md 4, before anybody reads of it.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/base/map.h"
#include "alm/base/strbuf.h"
#include "alm/io/db.h"
#include "alm/io/db_copy.h"
#include "alm/io/db_internal.h"

#define TEXT_OF_(x)     #x
#define TEXT_OF(x)      TEXT_OF_(x)
#define VALUE_BYTES_MAX ((int)64 << 20)

static void stmt_free(void *p)
{
	struct stmt *s = p;
	sqlite3_finalize(s->s);
	xfree(s);
}

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
	if (!str_is(found, "ok") && db_refuse_unreadable(d, err) < 0) {
		r = -err->code;
	} else if (!str_is(found, "ok")) {
		d->broken = true;
		r = error_set(err, E_CORRUPT, "%s: " DB_DAMAGED_REMEDY, d->path, found.ptr);
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
			    "PRAGMA journal_size_limit = " TEXT_OF(DB_WAL_KEEP_BYTES),
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
	bool written = db_is_plain_file(d) && !d->config.read_only;
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
