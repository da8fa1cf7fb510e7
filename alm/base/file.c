#include "alm/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alm/base/mem.h"

#define READ_BYTES  16384
#define WRITE_BYTES ((size_t)64 << 10)

static int fail(struct error *err, const char *path)
{
	int code = errno == ENOENT || errno == ENOTDIR ? E_NOTFOUND
		   : errno == EEXIST                   ? E_EXISTS
						       : E_IO;
	return error_set(err, code, "%s: %s", path, strerror(errno));
}

void file_close(const int *fd)
{
	if (*fd > STDIN_FILENO)
		close(*fd);
}

static struct file_info info_of(const struct stat *st)
{
	return (struct file_info){
		.is_dir = S_ISDIR(st->st_mode),
		.is_regular = S_ISREG(st->st_mode),
		.mode = (unsigned)st->st_mode & 07777u,
		.size = (uint64_t)st->st_size,
		.mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
		.device = (uint64_t)st->st_dev,
		.inode = (uint64_t)st->st_ino,
	};
}

int file_absolute(const char *path, struct strbuf *b, struct error *err)
{
	char real[PATH_MAX];
	if (!realpath(path, real))
		return fail(err, path);
	strbuf_adds(b, real);
	return strbuf_check(b, path, err);
}

int file_absolute_new(const char *path, struct strbuf *b, struct error *err)
{
	CLEANUP(xfreep) char *there = xstrdup(path);
	char real[PATH_MAX];
	size_t n = strlen(path);
	bool relative = path[0] != '/';
	while (n && !realpath(there, real)) {
		if (errno != ENOENT && errno != ENOTDIR)
			return fail(err, path);
		while (n && path[n - 1] == '/')
			n--;
		while (n && path[n - 1] != '/')
			n--;
		there[n] = '\0';
	}
	if (!n && !realpath(relative ? "." : "/", real))
		return fail(err, path);
	strbuf_adds(b, real);
	if (path[n] && b->len && b->buf[b->len - 1] != '/')
		strbuf_addc(b, '/');
	strbuf_adds(b, path + n);
	return strbuf_check(b, path, err);
}

int file_info(const char *path, struct file_info *ret, struct error *err)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return fail(err, path);
	*ret = info_of(&st);
	return 0;
}

int file_info_fd(int fd, const char *path, struct file_info *ret, struct error *err)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return fail(err, path);
	*ret = info_of(&st);
	return 0;
}

static int check_regular(const struct file_info *info, const char *path, struct error *err)
{
	return info->is_regular ? 0 : error_set(err, E_INVALID, "%s is no regular file", path);
}

int file_read_fd(int fd, const char *path, struct strbuf *b, struct error *err)
{
	struct file_info info;
	if (file_info_fd(fd, path, &info, err) < 0)
		return -err->code;
	if (info.is_regular && info.size > b->limit - b->len)
		return error_set(err, E_LIMIT, "%s is larger than %zu bytes", path, b->limit);
	for (;;) {
		char chunk[READ_BYTES];
		ssize_t n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(err, path);
		if (!n)
			return 0;
		strbuf_add(b, chunk, (size_t)n);
		if (strbuf_check(b, path, err) < 0)
			return -err->code;
	}
}

int file_read_part(int fd, const char *path, size_t max, struct strbuf *b, struct error *err)
{
	while (max > 0) {
		char chunk[READ_BYTES];
		ssize_t n = read(fd, chunk, max < sizeof(chunk) ? max : sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(err, path);
		if (!n)
			return 0;
		strbuf_add(b, chunk, (size_t)n);
		max -= (size_t)n;
	}
	return strbuf_check(b, path, err);
}

/* Looked at before it is opened, as opening alone makes some devices act; and again after. */
int file_open(const char *path, int *ret_fd, struct error *err)
{
	struct file_info info;
	if (file_info(path, &info, err) < 0 || check_regular(&info, path, err) < 0)
		return -err->code;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return fail(err, path);
	if (file_info_fd(fd, path, &info, err) < 0 || check_regular(&info, path, err) < 0) {
		close(fd);
		return -err->code;
	}
	*ret_fd = fd;
	return 0;
}

int file_read(const char *path, struct strbuf *b, struct error *err)
{
	CLEANUP(file_close) int fd = -1;
	if (file_open(path, &fd, err) < 0)
		return -err->code;
	return file_read_fd(fd, path, b, err);
}

int file_read_input(const char *path, struct strbuf *b, struct error *err)
{
	CLEANUP(file_close) int fd =
		strcmp(path, "-") ? open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC) : STDIN_FILENO;
	if (fd < 0)
		return fail(err, path);
	return file_read_fd(fd, path, b, err);
}

static int write_bytes(int fd, struct str bytes, const char *path, struct error *err)
{
	while (bytes.len) {
		ssize_t n = write(fd, bytes.ptr, bytes.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(err, path);
		bytes = str_skip(bytes, (size_t)n);
	}
	return 0;
}

static int write_all(int fd, struct str bytes, const char *path, struct error *err)
{
	int r = write_bytes(fd, bytes, path, err);
	return r >= 0 && fsync(fd) < 0 ? fail(err, path) : r;
}

int file_write_new(const char *path, struct str bytes, unsigned mode, struct error *err)
{
	CLEANUP(file_close) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return fail(err, path);
	int r = write_all(fd, bytes, path, err);
	if (r < 0)
		unlink(path);
	return r;
}

static int put_at(int dir, const char *name, struct str bytes, unsigned mode, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf tmp = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&tmp, ".alm.tmp%ld", (long)getpid());
	unlinkat(dir, tmp.buf, 0); /* left by a crash of the same pid */
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	CLEANUP(file_close) int fd = openat(dir, tmp.buf, flags, mode);
	if (fd < 0)
		return fail(err, tmp.buf);
	if (write_all(fd, bytes, name, err) < 0) {
		unlinkat(dir, tmp.buf, 0);
		return -err->code;
	}
	if (renameat(dir, tmp.buf, dir, name) < 0 || fsync(dir) < 0) {
		fail(err, name);
		unlinkat(dir, tmp.buf, 0);
		return -err->code;
	}
	return 0;
}

int file_put(const char *dir, const char *name, struct str bytes, unsigned mode, struct error *err)
{
	if (!*name || !strcmp(name, ".") || !strcmp(name, "..") || strchr(name, '/'))
		return error_set(err, E_INVALID, "%s: \"%s\" is no file name", dir, name);
	CLEANUP(file_close) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fail(err, dir);
	return put_at(fd, name, bytes, mode, err) < 0 ? error_wrap(err, "%s", dir) : 0;
}

struct file_writer {
	int fd;
	struct strbuf pending;
	char *path;
};

int file_writer_new(const char *path, unsigned mode, struct file_writer **ret, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return fail(err, path);
	struct file_writer *w = xcalloc(1, sizeof(*w));
	w->fd = fd;
	w->path = xstrdup(path);
	strbuf_init(&w->pending, WRITE_BYTES);
	*ret = w;
	return 0;
}

int file_writer_add(struct file_writer *w, struct str bytes, struct error *err)
{
	int r = 0;
	if (w->pending.len + bytes.len > WRITE_BYTES) {
		r = write_bytes(w->fd, strbuf_str(&w->pending), w->path, err);
		strbuf_clear(&w->pending);
	}
	if (r >= 0 && bytes.len > WRITE_BYTES)
		r = write_bytes(w->fd, bytes, w->path, err);
	else if (r >= 0)
		strbuf_addstr(&w->pending, bytes);
	return r;
}

static void writer_free(struct file_writer *w)
{
	close(w->fd);
	strbuf_release(&w->pending);
	xfree(w->path);
	xfree(w);
}

int file_writer_close(struct file_writer *w, struct error *err)
{
	int r = write_all(w->fd, strbuf_str(&w->pending), w->path, err);
	if (r < 0)
		unlink(w->path);
	writer_free(w);
	return r;
}

void file_writer_drop(struct file_writer *w)
{
	if (!w)
		return;
	unlink(w->path);
	writer_free(w);
}

int dir_flush(const char *path, struct error *err)
{
	CLEANUP(file_close) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0)
		return fail(err, path);
	return 0;
}

int file_replace(const char *path, struct str bytes, unsigned mode, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf tmp = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&tmp, "%s.tmp%ld", path, (long)getpid());
	unlink(tmp.buf); /* left by a crash of the same pid */
	if (file_write_new(tmp.buf, bytes, mode, err) < 0)
		return -err->code;
	if (rename(tmp.buf, path) < 0) {
		int r = fail(err, path);
		unlink(tmp.buf);
		return r;
	}
	return 0;
}

/* A rename is durable once its folder is. */
int file_write_atomic(const char *path, struct str bytes, unsigned mode, struct error *err)
{
	const char *slash = strrchr(path, '/');
	CLEANUP(xfreep) char *dir =
		slash ? xstrndup(path, slash == path ? 1 : (size_t)(slash - path)) : xstrdup(".");
	int r = file_replace(path, bytes, mode, err);
	return r < 0 ? r : dir_flush(dir, err);
}

int file_rename(const char *from, const char *to, bool over, struct error *err)
{
	const char *slash = strrchr(to, '/');
	CLEANUP(xfreep) char *dir =
		slash ? xstrndup(to, slash == to ? 1 : (size_t)(slash - to)) : xstrdup(".");
	/* link, not RENAME_NOREPLACE: NFS has the one and not the other */
	if ((over ? rename(from, to) : link(from, to)) < 0)
		return errno == EEXIST ? error_set(err, E_EXISTS, "%s is there already", to)
				       : fail(err, to);
	if (!over && unlink(from) < 0)
		return fail(err, from);
	return dir_flush(dir, err);
}

bool file_is_link(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

bool file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

int file_remove(const char *path, struct error *err)
{
	if (unlink(path) < 0 && errno != ENOENT)
		return fail(err, path);
	return 0;
}

int dir_make(const char *path, unsigned mode, struct error *err)
{
	CLEANUP(xfreep) char *copy = xstrdup(path);
	for (char *p = copy + 1; *copy && *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, mode) < 0 && errno != EEXIST)
			return fail(err, copy);
		*p = '/';
	}
	if (mkdir(copy, mode) < 0 && errno != EEXIST)
		return fail(err, copy);
	struct file_info info;
	if (file_info(path, &info, err) < 0)
		return -err->code;
	return info.is_dir ? 0 : error_set(err, E_IO, "%s: is no folder", path);
}

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

static enum dir_kind kind_of(const struct dirent *e)
{
	return e->d_type == DT_REG ? DIR_FILE : e->d_type == DT_DIR ? DIR_DIR : DIR_UNKNOWN;
}

static int by_name(const void *a, const void *b)
{
	const struct dir_entry *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static int read_entries(DIR *d, const char *path, size_t max, struct dir_entry **ret, size_t *ret_n,
			struct error *err)
{
	struct dir_entry *entries = NULL;
	size_t n = 0, cap = 0;
	for (struct dirent *e; (errno = 0, e = readdir(d));) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (n == max) {
			dir_entries_free(entries, n);
			return error_set(err, E_LIMIT, "%s: more than %zu files", path, max);
		}
		ARRAY_GROW(entries, cap, n + 1);
		entries[n++] = (struct dir_entry){xstrdup(e->d_name), kind_of(e)};
	}
	if (errno) {
		int rc = fail(err, path);
		dir_entries_free(entries, n);
		return rc;
	}
	if (n)
		qsort(entries, n, sizeof(*entries), by_name);
	*ret = entries;
	*ret_n = n;
	return 0;
}

int dir_entries(const char *path, size_t max, struct dir_entry **ret, size_t *ret_n,
		struct error *err)
{
	CLEANUP(close_dir) DIR *d = opendir(path);
	return d ? read_entries(d, path, max, ret, ret_n, err) : fail(err, path);
}

void dir_entries_free(struct dir_entry *entries, size_t n)
{
	for (size_t i = 0; i < n; i++)
		xfree(entries[i].name);
	xfree(entries);
}

static char **names_of(struct dir_entry *entries, size_t n)
{
	char **names = n ? xcalloc(n, sizeof(char *)) : NULL;
	for (size_t i = 0; i < n; i++)
		names[i] = entries[i].name;
	xfree(entries);
	return names;
}

int dir_list(const char *path, size_t max, char ***ret_names, size_t *ret_n, struct error *err)
{
	struct dir_entry *entries;
	int rc = dir_entries(path, max, &entries, ret_n, err);
	if (rc == 0)
		*ret_names = names_of(entries, *ret_n);
	return rc;
}

int dir_list_fd(int fd, const char *path, size_t max, char ***ret_names, size_t *ret_n,
		struct error *err)
{
	struct dir_entry *entries;
	CLEANUP(close_dir) DIR *d = fdopendir(fd);
	if (!d) {
		fail(err, path);
		close(fd);
		return -err->code;
	}
	int rc = read_entries(d, path, max, &entries, ret_n, err);
	if (rc == 0)
		*ret_names = names_of(entries, *ret_n);
	return rc;
}

void dir_list_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		xfree(names[i]);
	xfree(names);
}
