/*
 * file: whole files, bounded and atomic. Besides the walls, nothing else opens a file.
 *
 * What is read is a regular file, opened without blocking and measured before it is read: a FIFO
 * would stop the loop, a device might never end. Only file_read_input() takes more, for commands.
 */
#ifndef ALM_BASE_FILE_H
#define ALM_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alm/base/error.h"
#include "alm/base/str.h"
#include "alm/base/strbuf.h"

struct file_info {
	bool is_dir, is_regular;
	unsigned mode; /* permission bits */
	uint64_t size;
	int64_t mtime_ns;
	uint64_t device, inode;
};

/* Appends the regular file to b, whose limit bounds it (E_LIMIT names path and limit); links are
 * followed. E_NOTFOUND if it does not exist, E_INVALID if it is anything else, E_IO otherwise. */
int file_read(const char *path, struct strbuf *b, struct error *err);
/* The same of what a person names on a command line: also "-", standard input, and a pipe or a
 * terminal (/dev/stdin, <(command)). Waits for it, so nothing that serves others calls it. */
int file_read_input(const char *path, struct strbuf *b, struct error *err);
typedef int (*file_read_fn)(const char *path, struct strbuf *b, struct error *err); /* of the two */
/* The regular file, open as said above; the caller closes *ret_fd with file_close(). */
int file_open(const char *path, int *ret_fd, struct error *err);
void file_close(const int *fd); /* usable as CLEANUP; standard input, and below 0: nothing */
/* The rest of an open file; path is for messages. Owns nothing. */
int file_read_fd(int fd, const char *path, struct strbuf *b, struct error *err);
/* At most max bytes more of it; nothing at its end. */
int file_read_part(int fd, const char *path, size_t max, struct strbuf *b, struct error *err);
/* Writes a new file beside path, flushes it, renames it over path and flushes the folder. */
int file_write_atomic(const char *path, struct str bytes, unsigned mode, struct error *err);
/* The same for a name that a stranger chose, in a folder: NAME itself, never a path. E_INVALID for
 * "", ".", ".." and what has a "/". A link of that name is replaced, not followed. */
int file_put(const char *dir, const char *name, struct str bytes, unsigned mode, struct error *err);
/* The same in two steps, for several files of one folder: each is flushed and renamed, then the
 * folder is flushed once. */
int file_replace(const char *path, struct str bytes, unsigned mode, struct error *err);
int dir_flush(const char *path, struct error *err);
/* A file that was flushed gets its last name, durably. E_EXISTS if that is taken, unless over. */
int file_rename(const char *from, const char *to, bool over, struct error *err);
/* A new file, flushed; E_EXISTS if path exists. */
int file_write_new(const char *path, struct str bytes, unsigned mode, struct error *err);
/* A new file in pieces, for what is larger than memory: flushed by file_writer_close(), removed by
 * file_writer_drop(); one of the two ends it. E_EXISTS if path exists. */
struct file_writer;
int file_writer_new(const char *path, unsigned mode, struct file_writer **ret, struct error *err);
int file_writer_add(struct file_writer *w, struct str bytes, struct error *err);
int file_writer_close(struct file_writer *w, struct error *err);
void file_writer_drop(struct file_writer *w);
/* Appends the absolute path, without links; E_NOTFOUND if there is no such thing. */
int file_absolute(const char *path, struct strbuf *b, struct error *err);
/* Likewise of what may have to be made still: the end that does not exist is as written. */
int file_absolute_new(const char *path, struct strbuf *b, struct error *err);
int file_info(const char *path, struct file_info *ret, struct error *err); /* follows links */
int file_info_fd(int fd, const char *path, struct file_info *ret, struct error *err);
bool file_exists(const char *path);
bool file_is_link(const char *path);                  /* a symbolic link, not followed */
int file_remove(const char *path, struct error *err); /* absent is fine */
/* The folder and its parents. */
int dir_make(const char *path, unsigned mode, struct error *err);
enum dir_kind {
	DIR_UNKNOWN, /* a link, or the file system does not tell: ask file_info() */
	DIR_FILE,    /* a regular one */
	DIR_DIR,
};

struct dir_entry {
	char *name;
	enum dir_kind kind;
};

/* In byte order of the names, without . and ..: owned array of *ret_n entries with owned names; at
 * most max. */
int dir_entries(const char *path, size_t max, struct dir_entry **ret, size_t *ret_n,
		struct error *err);
void dir_entries_free(struct dir_entry *entries, size_t n);
/* Names in byte order, without . and ..: owned array of *ret_n owned strings; at most max. */
int dir_list(const char *path, size_t max, char ***ret_names, size_t *ret_n, struct error *err);
/* Of an open folder, which is consumed; path is for messages. */
int dir_list_fd(int fd, const char *path, size_t max, char ***ret_names, size_t *ret_n,
		struct error *err);
void dir_list_free(char **names, size_t n);

#endif
