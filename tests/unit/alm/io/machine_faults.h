/*
 * machine_faults: the machine is at its end: one system call of a scene fails, in this process or in one that it has forked. A program
 * that includes this has a pipe2(), fork() and so on of its own, which come before those of the C library.
 *
 * Calls are counted by name and by how many forks deep they are made, so that the same one fails in every run.
 */
#ifndef TESTS_UNIT_ALM_IO_MACHINE_FAULTS_H
#define TESTS_UNIT_ALM_IO_MACHINE_FAULTS_H

#undef _FORTIFY_SOURCE
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <seccomp.h>

#include "tests/lib/interpose.h"

#define DEPTHS    4 /* of forks */
#define TIMES_MAX 6 /* calls of one name and depth that fail in turn */

/* clang-format off */
#define CALLS(X) \
	X(int, socketpair, (int a, int b, int c, int d[2]), (a, b, c, d), EMFILE) \
	X(int, socket, (int a, int b, int c), (a, b, c), EMFILE) \
	X(int, bind, (int a, __CONST_SOCKADDR_ARG b, socklen_t c), (a, b, c), EACCES) \
	X(int, listen, (int a, int b), (a, b), EADDRINUSE) \
	X(int, setsockopt, (int a, int b, int c, const void *d, socklen_t e), (a, b, c, d, e), ENOPROTOOPT) \
	X(int, accept4, (int a, __SOCKADDR_ARG b, socklen_t *c, int d), (a, b, c, d), EMFILE) \
	X(int, pipe2, (int a[2], int b), (a, b), EMFILE) \
	X(int, memfd_create, (const char *a, unsigned b), (a, b), ENFILE) \
	X(off_t, lseek, (int a, off_t b, int c), (a, b, c), EIO) \
	X(ssize_t, sendmsg, (int a, const struct msghdr *b, int c), (a, b, c), ENOBUFS) \
	X(ssize_t, recvmsg, (int a, struct msghdr *b, int c), (a, b, c), ENOMEM) \
	X(ssize_t, send, (int a, const void *b, size_t c, int d), (a, b, c, d), ENOBUFS) \
	X(ssize_t, write, (int a, const void *b, size_t c), (a, b, c), ENOSPC) \
	X(int, dup2, (int a, int b), (a, b), EMFILE) \
	X(int, close_range, (unsigned a, unsigned b, int c), (a, b, c), ENOSYS) \
	X(int, setrlimit, (__rlimit_resource_t a, const struct rlimit *b), (a, b), EPERM) \
	X(int, fstat, (int a, struct stat *b), (a, b), EIO) \
	X(int, stat, (const char *a, struct stat *b), (a, b), EIO) \
	X(int, fchmod, (int a, mode_t b), (a, b), EROFS) \
	X(int, unshare, (int a), (a), EPERM) \
	X(int, chdir, (const char *a), (a), EACCES) \
	X(pid_t, setsid, (void), (), EPERM) \
	X(int, seccomp_load, (void *a), (a), EPERM) \
	X(int, inotify_init1, (int a), (a), EMFILE) \
	X(int, inotify_add_watch, (int a, const char *b, uint32_t c), (a, b, c), ENOSPC)
/* clang-format on */

enum fault {
#define X(type, name, params, args, code) CALL_##name,
	CALLS(X)
#undef X
		CALL_fork,
	CALL_mmap,
	CALL_open,
	CALL_fcntl,
	CALL_prctl,
	CALL_pidfd_open,
	CALL_openat2,
	CALL_seccomp,
	CALL_capset,
	CALLS_N
};

static const char *const call_names[] = {
#define X(type, name, params, args, code) #name,
	CALLS(X)
#undef X
		"fork",
	"mmap",
	"open",
	"fcntl",
	"prctl",
	"pidfd_open",
	"openat2",
	"seccomp",
	"capset"};

static struct faults { /* shared with all that are forked */
	bool is_armed, has_struck;
	enum fault call;
	int depth, at; /* 0: none fails */
	int n[CALLS_N][DEPTHS];
} *faults;
static int depth; /* of this process */

/* True with errno set: this call fails. */
static bool strikes(enum fault call, int code)
{
	if (!faults || !faults->is_armed || depth >= DEPTHS)
		return false;
	int n = ++faults->n[call][depth];
	if (call != faults->call || depth != faults->depth || n != faults->at)
		return false;
	faults->has_struck = true;
	errno = code;
	return true;
}

#define STRIKES(call, code) (interpose_is_ours(__builtin_return_address(0)) && strikes(call, code))

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name, bugprone-macro-parentheses): the C library's names are its own
 */
#define X(type, name, params, args, code)                           \
	type name params                                            \
	{                                                           \
		static type(*real) params;                          \
		if (!real)                                          \
			interpose_real(#name, &real);               \
		return strikes(CALL_##name, code) ? -1 : real args; \
	}
CALLS(X)
#undef X

pid_t fork(void)
{
	static pid_t (*real)(void);
	if (!real)
		interpose_real("fork", &real);
	if (strikes(CALL_fork, EAGAIN))
		return -1;
	pid_t pid = real();
	depth += pid == 0;
	return pid;
}

void *mmap(void *addr, size_t n, int prot, int flags, int fd, off_t at)
{
	if (STRIKES(CALL_mmap, ENOMEM))
		return MAP_FAILED;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): that is what the call gives */
	return (void *)syscall(SYS_mmap, addr, n, prot, flags, fd, at);
}

int open(const char *path, int flags, ...)
{
	unsigned mode = 0;
	va_list ap;
	va_start(ap, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(ap, unsigned);
	va_end(ap);
	return STRIKES(CALL_open, EMFILE) ? -1
					  : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int fcntl(int fd, int op, ...)
{
	va_list ap;
	va_start(ap, op);
	void *arg = va_arg(ap, void *);
	va_end(ap);
	return STRIKES(CALL_fcntl, EINVAL) ? -1 : (int)syscall(SYS_fcntl, fd, op, arg);
}

int prctl(int op, ...)
{
	unsigned long v[4];
	va_list ap;
	va_start(ap, op);
	for (int i = 0; i < 4; i++)
		v[i] = va_arg(ap, unsigned long);
	va_end(ap);
	return STRIKES(CALL_prctl, EINVAL) ? -1
					   : (int)syscall(SYS_prctl, op, v[0], v[1], v[2], v[3]);
}

long syscall(long nr, ...)
{
	static long (*real)(long, ...);
	long v[6];
	va_list ap;
	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		v[i] = va_arg(ap, long);
	va_end(ap);
	if (!real)
		interpose_real("syscall", &real);
	if ((nr == SYS_pidfd_open && STRIKES(CALL_pidfd_open, ENOSYS)) ||
	    (nr == SYS_openat2 && STRIKES(CALL_openat2, ENOSYS)) ||
	    (nr == SYS_seccomp && STRIKES(CALL_seccomp, EINVAL)) ||
	    (nr == SYS_capset && STRIKES(CALL_capset, EPERM)))
		return -1;
	return real(nr, v[0], v[1], v[2], v[3], v[4], v[5]);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name, bugprone-macro-parentheses) */

static void faults_begin(void)
{
	faults = mmap(NULL, sizeof(*faults), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_true(faults != MAP_FAILED);
}

/* The at-th of these calls fails from now on; at 0: none, they are counted. */
static void faults_arm(enum fault call, int of_depth, int at)
{
	*faults = (struct faults){.is_armed = true, .call = call, .depth = of_depth, .at = at};
}

static void faults_disarm(void)
{
	faults->is_armed = false;
}

#endif
