/*
 * beneath: reads files below a folder, by paths that a stranger chose.
 *
 * Nothing that is reached lies outside of the folder: "..", absolute links and links that lead out
 * are refused by the kernel in one step (openat2 with RESOLVE_BENEATH), so there is no moment
 * between looking and opening. A kernel before 5.6 has no such call: E_UNSUPPORTED. What is opened
 * is a regular file, without blocking (see file.h).
 *
 * Paths are relative; "" is the folder itself. E_NOTFOUND, E_NOTALLOWED for what leads out,
 * E_INVALID for what is no regular file, E_IO.
 */
#ifndef ALM_IO_BENEATH_H
#define ALM_IO_BENEATH_H

#include "alm/base/file.h"

/* The folder, as the administrator names it: its own path may have links. The caller closes
 * *ret_fd with file_close(). */
int beneath_open_root(const char *dir, struct file_info *ret, int *ret_fd, struct error *err);
int beneath_info(int root, const char *path, struct file_info *ret, struct error *err);
/* A regular file; the caller closes *ret_fd. */
int beneath_open(int root, const char *path, struct file_info *ret, int *ret_fd, struct error *err);
/* The same by a path without any link, and a link is E_INVALID. */
int beneath_open_plain(int root, const char *path, struct file_info *ret, int *ret_fd,
		       struct error *err);
enum beneath_kind { BENEATH_FILE, BENEATH_DIR, BENEATH_LINK, BENEATH_OTHER };
/* Of the thing itself, if it is a link; there is none on the way. */
int beneath_kind(int root, const char *path, enum beneath_kind *ret, struct error *err);
int beneath_list(int root, const char *path, size_t max, char ***ret_names, size_t *ret_n,
		 struct error *err);

#endif
