#include "alm/io/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/openat2.h>

static int fail(struct error *err, const char *path)
{
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
		return error_set(err, E_NOTFOUND, "%s: no such file or folder", path);
	case EXDEV:
	case ELOOP:
		return error_set(err, E_NOTALLOWED, "%s: a link leads out of the catalog root",
				 path);
	case ENOSYS:
		return error_set(err, E_UNSUPPORTED,
				 "%s: to read a folder of others takes openat2 of Linux 5.6", path);
	default:
		return error_set(err, E_IO, "%s: %s", path, strerror(errno));
	}
}

static int open_how(int root, const char *path, int flags, unsigned resolve)
{
	struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC,
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve};
	return (int)syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof(how));
}

static int open_beneath(int root, const char *path, int flags, struct error *err)
{
	int fd = open_how(root, path, flags, 0);
	return fd < 0 ? fail(err, *path ? path : ".") : fd;
}

static int open_plain(int root, const char *path, int flags, struct error *err)
{
	int fd = open_how(root, path, flags, RESOLVE_NO_SYMLINKS);
	if (fd < 0 && errno == ELOOP)
		return error_set(err, E_INVALID,
				 "%s is, or is behind, a symbolic link, and links are not followed",
				 path);
	return fd < 0 ? fail(err, path) : fd;
}

int beneath_open_root(const char *dir, struct file_info *ret, int *ret_fd, struct error *err)
{
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOTDIR && file_exists(dir))
		return error_set(err, E_INVALID, "%s is a file; a folder is wanted", dir);
	if (fd < 0)
		return fail(err, dir);
	if (file_info_fd(fd, dir, ret, err) < 0) {
		close(fd);
		return -err->code;
	}
	*ret_fd = fd;
	return 0;
}

int beneath_info(int root, const char *path, struct file_info *ret, struct error *err)
{
	CLEANUP(file_close) int fd = open_beneath(root, path, O_PATH, err);
	return fd < 0 ? -err->code : file_info_fd(fd, path, ret, err);
}

typedef int (*open_fn)(int root, const char *path, int flags, struct error *err);

/* Looked at before it is opened, as opening alone makes some devices act; and again after. */
static int open_regular(open_fn fn, int root, const char *path, struct file_info *ret, int *ret_fd,
			struct error *err)
{
	struct file_info info;
	CLEANUP(file_close) int look = fn(root, path, O_PATH, err);
	if (look < 0 || file_info_fd(look, path, &info, err) < 0)
		return -err->code;
	if (!info.is_regular)
		return error_set(err, E_INVALID, "%s is no regular file", path);
	int fd = fn(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, err);
	if (fd < 0)
		return -err->code;
	int r = file_info_fd(fd, path, &info, err);
	if (r >= 0 && !info.is_regular)
		r = error_set(err, E_INVALID, "%s is no regular file", path);
	if (r < 0) {
		file_close(&fd);
		return r;
	}
	*ret = info;
	*ret_fd = fd;
	return 0;
}

int beneath_open(int root, const char *path, struct file_info *ret, int *ret_fd, struct error *err)
{
	return open_regular(open_beneath, root, path, ret, ret_fd, err);
}

int beneath_open_plain(int root, const char *path, struct file_info *ret, int *ret_fd,
		       struct error *err)
{
	return open_regular(open_plain, root, path, ret, ret_fd, err);
}

int beneath_kind(int root, const char *path, enum beneath_kind *ret, struct error *err)
{
	struct stat st;
	CLEANUP(file_close) int fd = open_plain(root, path, O_PATH | O_NOFOLLOW, err);
	if (fd < 0)
		return -err->code;
	if (fstat(fd, &st) < 0)
		return fail(err, path);
	*ret = S_ISREG(st.st_mode)   ? BENEATH_FILE
	       : S_ISDIR(st.st_mode) ? BENEATH_DIR
	       : S_ISLNK(st.st_mode) ? BENEATH_LINK
				     : BENEATH_OTHER;
	return 0;
}

int beneath_list(int root, const char *path, size_t max, char ***ret_names, size_t *ret_n,
		 struct error *err)
{
	int fd = open_beneath(root, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK, err);
	if (fd < 0)
		return -err->code;
	return dir_list_fd(fd, path, max, ret_names, ret_n, err);
}
