/*
 * disk_faults: the file system says no: at every call of a scene, one call (or it and all after it) fails with
 * EIO, for lack of room, or in the middle of a write. A program that includes this has an open(), write() and so on of its
 * own, which come before those of the C library, for SQLite, too.
 *
 * DISK_EVERY=1 takes all calls, not each third.
 * Its reads and writes are the real ones, so the inlined ones of _FORTIFY_SOURCE are in the way: to be included first.
 */
#ifndef TESTS_UNIT_ALM_IO_DISK_FAULTS_H
#define TESTS_UNIT_ALM_IO_DISK_FAULTS_H

#undef _FORTIFY_SOURCE
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "alm/base/error.h"
#include "alm/base/file.h"

#define OURS    "/alm-disk-" /* in the path of every file that may fail */
#define FDS_MAX 1024

#ifdef __SANITIZE_ADDRESS__
#define STEP 17
#else
#define STEP 3
#endif

/* --- the disk --- */

enum call {
	CALL_OPEN,
	CALL_STAT,
	CALL_READ,
	CALL_WRITE,
	CALL_SYNC,
	CALL_TRUNCATE,
	CALL_REMOVE,
	CALL_RENAME,
	CALL_LOCK,
	CALL_MAP,
	CALLS
};
enum how { HOW_EIO, HOW_FULL, HOW_SHORT };
static const char *const call_names[] = {"open",     "stat",   "read",   "write", "sync",
					 "truncate", "remove", "rename", "lock",  "map"};
static const char *const how_names[] = {"EIO", "ENOSPC", "half a write, then ENOSPC"};

static struct {
	bool is_armed, stays, has_struck;
	enum call call;
	enum how how;
	unsigned at; /* 0: none fails */
	unsigned n[CALLS];
} disk;
static bool ours[FDS_MAX];

static bool is_ours(int fd)
{
	return fd >= 0 && fd < FDS_MAX && ours[fd];
}

/* True with errno set: this call fails. */
static bool strikes(enum call call)
{
	if (!disk.is_armed)
		return false;
	unsigned n = ++disk.n[call], at = disk.at + (disk.how == HOW_SHORT);
	if (!disk.at || call != disk.call || !(n == at || (disk.stays && n > at)))
		return false;
	disk.has_struck = true;
	errno = disk.how == HOW_EIO ? EIO : ENOSPC;
	return true;
}

/* So many bytes of this write get there before the one that fails. */
static size_t shortened(size_t n)
{
	bool is_half = disk.is_armed && disk.call == CALL_WRITE && disk.how == HOW_SHORT &&
		       disk.at && disk.n[CALL_WRITE] == disk.at && n > 1;
	return is_half ? n / 2 : n;
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library's names are its own
 */
static int open_at(int dir_fd, const char *path, int flags, unsigned mode)
{
	bool mine = strstr(path, OURS) || is_ours(dir_fd);
	if (mine && strikes(CALL_OPEN))
		return -1;
	int fd = (int)syscall(SYS_openat, dir_fd, path, flags, mode);
	if (fd >= 0 && fd < FDS_MAX)
		ours[fd] = mine;
	return fd;
}

#define MODE_OF(flags, last)                   \
	unsigned mode = 0;                     \
	if ((flags) & (O_CREAT | O_TMPFILE)) { \
		va_list ap;                    \
		va_start(ap, last);            \
		mode = va_arg(ap, unsigned);   \
		va_end(ap);                    \
	}

int open(const char *path, int flags, ...)
{
	MODE_OF(flags, flags)
	return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	MODE_OF(flags, flags)
	return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int dir_fd, const char *path, int flags, ...)
{
	MODE_OF(flags, flags)
	return open_at(dir_fd, path, flags, mode);
}

ssize_t read(int fd, void *buf, size_t n)
{
	return is_ours(fd) && strikes(CALL_READ) ? -1 : syscall(SYS_read, fd, buf, n);
}

ssize_t pread64(int fd, void *buf, size_t n, off_t at)
{
	return is_ours(fd) && strikes(CALL_READ) ? -1 : syscall(SYS_pread64, fd, buf, n, at);
}

ssize_t write(int fd, const void *buf, size_t n)
{
	if (is_ours(fd) && strikes(CALL_WRITE))
		return -1;
	return syscall(SYS_write, fd, buf, is_ours(fd) ? shortened(n) : n);
}

ssize_t pwrite64(int fd, const void *buf, size_t n, off_t at)
{
	if (is_ours(fd) && strikes(CALL_WRITE))
		return -1;
	return syscall(SYS_pwrite64, fd, buf, is_ours(fd) ? shortened(n) : n, at);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
	return pwrite64(fd, buf, n, at);
}

/* The machine stays up, so nothing has to be flushed. */
int fsync(int fd)
{
	return is_ours(fd) && strikes(CALL_SYNC) ? -1 : 0;
}

int fdatasync(int fd)
{
	return fsync(fd);
}

int ftruncate64(int fd, off_t n)
{
	return is_ours(fd) && strikes(CALL_TRUNCATE) ? -1 : (int)syscall(SYS_ftruncate, fd, n);
}

int ftruncate(int fd, off_t n)
{
	return ftruncate64(fd, n);
}

int unlink(const char *path)
{
	if (strstr(path, OURS) && strikes(CALL_REMOVE))
		return -1;
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int rename(const char *from, const char *to)
{
	if (strstr(to, OURS) && strikes(CALL_RENAME))
		return -1;
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int link(const char *from, const char *to)
{
	if (strstr(to, OURS) && strikes(CALL_RENAME))
		return -1;
	return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int flock(int fd, int op)
{
	return is_ours(fd) && strikes(CALL_LOCK) ? -1 : (int)syscall(SYS_flock, fd, op);
}

int fcntl64(int fd, int op, ...)
{
	va_list ap;
	va_start(ap, op);
	void *arg = va_arg(ap, void *);
	va_end(ap);
	if (op == F_SETLK && is_ours(fd) && strikes(CALL_LOCK))
		return -1;
	return (int)syscall(SYS_fcntl, fd, op, arg);
}

void *mmap64(void *addr, size_t n, int prot, int flags, int fd, off_t at)
{
	if (is_ours(fd) && strikes(CALL_MAP))
		return MAP_FAILED;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): that is what the call gives */
	return (void *)syscall(SYS_mmap, addr, n, prot, flags, fd, at);
}

static int stat_at(const char *path, struct stat *ret, int flags)
{
	if (strstr(path, OURS) && strikes(CALL_STAT))
		return -1;
	return (int)syscall(SYS_newfstatat, AT_FDCWD, path, ret, flags);
}

int stat(const char *path, struct stat *ret)
{
	return stat_at(path, ret, 0);
}

int stat64(const char *path, struct stat64 *ret)
{
	return stat_at(path, (struct stat *)(void *)ret, 0);
}

int lstat64(const char *path, struct stat64 *ret)
{
	return stat_at(path, (struct stat *)(void *)ret, AT_SYMLINK_NOFOLLOW);
}

int fstat(int fd, struct stat *ret)
{
	return is_ours(fd) && strikes(CALL_STAT) ? -1 : (int)syscall(SYS_fstat, fd, ret);
}

int fstat64(int fd, struct stat64 *ret)
{
	return fstat(fd, (struct stat *)(void *)ret);
}

int access(const char *path, int mode)
{
	if (strstr(path, OURS) && strikes(CALL_STAT))
		return -1;
	return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

/* SQLite waits up to ten seconds for a lock. */
int usleep(useconds_t us)
{
	(void)us;
	return 0;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

static void UNUSED mend(void)
{
	disk.at = 0;
}

/* --- files --- */

static char dir[64]; /* of the case */

static const char *path_of(const char *name)
{
	static char paths[4][160];
	static unsigned next;
	char *path = paths[next++ % 4];
	(void)snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static void clear(void)
{
	struct error err = ERROR_INIT;
	char **names;
	size_t n;
	assert_ok(dir_list(dir, 100, &names, &n, &err), &err);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(unlink(path_of(names[i])), 0);
	dir_list_free(names, n);
}

static int setup(void **state)
{
	(void)state;
	bool has_shm = file_exists("/dev/shm");
	(void)snprintf(dir, sizeof(dir), "%s" OURS "XXXXXX", has_shm ? "/dev/shm" : "/tmp");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	disk.is_armed = false;
	clear();
	return rmdir(dir);
}

/* --- cases --- */

static void case_fails(const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	disk.is_armed = false;
	if (!disk.at && !disk.has_struck)
		fail_msg("without a fault: %s", text);
	fail_msg("%s%s at %s %u: %s", how_names[disk.how], disk.stays ? " from now on" : "",
		 call_names[disk.call], disk.at, text);
}

#define must(call, err)                                          \
	do {                                                     \
		if ((call) < 0)                                  \
			case_fails("%s: %s", #call, (err)->msg); \
	} while (0)

/* Who reads the message knows which file is meant. */
static void must_be_clear(const struct error *err)
{
	if (!strstr(err->msg, OURS) && !strstr(err->msg, "alm."))
		case_fails("no file is named: %s", err->msg);
	if (err->code == E_CORRUPT || err->code == E_ALTERED || err->code == E_INTERNAL)
		case_fails("a disk error is told as %d: %s", err->code, err->msg);
}

/* Each case begins on an empty folder; who ends it has the disk mended. */
typedef void (*scene_fn)(void);

static void play(scene_fn scene)
{
	disk.is_armed = false;
	clear();
	memset(disk.n, 0, sizeof(disk.n));
	disk.has_struck = false;
	scene();
	disk.is_armed = false;
}

static bool fits(enum call call, enum how how, bool stays)
{
	if (how == HOW_SHORT)
		return call == CALL_WRITE && !stays;
	if (how == HOW_FULL)
		return call == CALL_WRITE || call == CALL_OPEN || call == CALL_TRUNCATE ||
		       call == CALL_RENAME || call == CALL_SYNC;
	return true;
}

/* Each change of a file fails once, in every way. What is alike and happens often, and what goes on
 * failing, is a sample: that takes each time the same. A build with sanitizers takes fewer. */
static unsigned step_of(enum call call, bool stays, unsigned step)
{
	bool often = call == CALL_LOCK || call == CALL_READ || call == CALL_STAT;
	return step * (often ? 7 : 1) * (stays ? 3 : 1);
}

static void every_call(scene_fn scene)
{
	const char *all = getenv("DISK_EVERY");
	unsigned every = all && *all >= '1' && *all <= '9' ? (unsigned)(*all - '0') : STEP;
	unsigned n[CALLS], cases = 0;
	disk.at = 0;
	play(scene);
	memcpy(n, disk.n, sizeof(n));
	for (int kind = 0; kind < CALLS * 6; kind++) {
		disk.call = (enum call)(kind / 6);
		disk.how = (enum how)(kind / 2 % 3);
		disk.stays = kind % 2;
		if (!fits(disk.call, disk.how, disk.stays))
			continue;
		unsigned step = step_of(disk.call, disk.stays, every);
		for (unsigned at = 1 + (unsigned)kind % step; at <= n[disk.call];
		     at += step, cases++) {
			disk.at = at;
			play(scene);
		}
	}
	for (int i = 0; i < CALLS; i++)
		print_message("# %s: %u\n", call_names[i], n[i]);
	print_message("# %u cases\n", cases);
}

#endif
