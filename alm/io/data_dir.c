#include "alm/io/data_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/base/log.h"
#include "alm/base/mem.h"

#define ENTRIES_MAX 10000

static void close_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static int fail(const char *path, struct error *err)
{
	return error_set(err, E_IO, "%s: %s", path, strerror(errno));
}

static int check_owner(const struct stat *st, const char *path, struct error *err)
{
	if (st->st_uid == geteuid())
		return 0;
	return error_set(err, E_FORBIDDEN,
			 "%s belongs to user %u, alm runs as user %u: start it as that user, or "
			 "take it over with chown %u %s",
			 path, st->st_uid, geteuid(), geteuid(), path);
}

static int check_writers(const struct stat *st, const char *path, struct error *err)
{
	if (!(st->st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	return error_set(err, E_FORBIDDEN,
			 "%s can be written by others (mode %04o), who may have put there what is "
			 "not yours: look at it, then chmod go-w %s",
			 path, st->st_mode & 07777u, path);
}

/* What alm reads or writes by name; other files of the folder are its owner's business. */
static bool is_ours(const char *name)
{
	static const char *const begins[] = {"alm.db", "token", "kubeconfig", "ca.", "audit."};
	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		if (cstr_has_prefix(name, begins[i]))
			return true;
	return cstr_has_suffix(name, ".key") || cstr_has_suffix(name, ".crt");
}

static int check_file(const char *path, struct error *err)
{
	struct stat st;
	CLEANUP(close_fd) int fd =
		open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) /* a WAL that goes */
		return 0;
	if (fd < 0 && errno == ELOOP)
		return error_set(err, E_FORBIDDEN,
				 "%s is a symbolic link: put the file itself there, or rm %s", path,
				 path);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fail(path, err);
	if (!S_ISREG(st.st_mode) || st.st_nlink > 1)
		return error_set(err, E_FORBIDDEN, "%s %s: rm %s", path,
				 S_ISREG(st.st_mode) ? "has a second name somewhere (hard link)"
						     : "is no regular file",
				 path);
	if (check_owner(&st, path, err) < 0 || check_writers(&st, path, err) < 0)
		return -err->code;
	if (!(st.st_mode & (S_IRGRP | S_IROTH | S_IXGRP | S_IXOTH)))
		return 0;
	if (fchmod(fd, S_IRUSR | S_IWUSR) < 0)
		return fail(path, err);
	log_warn("could be read by others, is 0600 now", "file", path);
	return 0;
}

int data_dir_check(const char *path, struct error *err)
{
	struct stat st;
	struct dir_entry *entries = NULL;
	size_t n = 0;
	int r = 0;
	if (stat(path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : fail(path, err);
	if (!S_ISDIR(st.st_mode))
		return 0; /* data_dir_make() reports it */
	if (check_owner(&st, path, err) < 0 || check_writers(&st, path, err) < 0 ||
	    dir_entries(path, ENTRIES_MAX, &entries, &n, err) < 0)
		return error_wrap(err, "data folder");
	for (size_t i = 0; i < n && r >= 0; i++) {
		CLEANUP(strbuf_release) struct strbuf file = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&file, "%s/%s", path, entries[i].name);
		if (is_ours(entries[i].name))
			r = check_file(file.buf, err);
	}
	dir_entries_free(entries, n);
	return r < 0 ? error_wrap(err, "data folder") : 0;
}

int data_dir_make(const char *path, struct error *err)
{
	if (dir_make(path, 0700, err) < 0)
		return error_wrap(err, "data folder (choose another with --data-dir)");
	return data_dir_check(path, err);
}

int credentials_check(const char *path, struct error *err)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return error_set(err, errno == ENOENT ? E_NOTFOUND : E_IO, "%s: %s", path,
				 strerror(errno));
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return check_owner(&st, path, err);
	if (!(st.st_mode & (S_IWGRP | S_IRWXO)))
		return 0;
	return error_set(err, E_FORBIDDEN,
			 "%s holds credentials and can be %s by others (mode %04o): chmod 600 %s",
			 path, st.st_mode & (S_IWGRP | S_IWOTH) ? "written" : "read",
			 st.st_mode & 07777u, path);
}
