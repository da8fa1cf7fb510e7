#include "alm/io/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/base/mem.h"

#define KERNEL_SIGSET_BYTES 8

int64_t child_mono_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

void child_default_signals(void)
{
	static const unsigned long by_default[4] = {0}; /* the kernel's struct sigaction */
	sigset_t none;
	/* Past libc, which keeps two for its threads: they may have been inherited as ignored. */
	for (int i = 1; i < NSIG; i++)
		(void)syscall(SYS_rt_sigaction, i, by_default, NULL, KERNEL_SIGSET_BYTES);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

bool child_write_all(int fd, const void *p, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t r = write(fd, (const char *)p + done, n - done);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		done += (size_t)r;
	}
	return true;
}

bool child_read_all(int fd, void *p, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t r = read(fd, (char *)p + done, n - done);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		done += (size_t)r;
	}
	return true;
}

int child_seal_input(struct str input, struct error *err)
{
	int fd = memfd_create("alm-input", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0 && child_write_all(fd, input.ptr, input.len) && lseek(fd, 0, SEEK_SET) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
		return fd;
	error_set(err, E_IO, "input of %zu bytes for a child process: %s", input.len,
		  strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(CHILD_FDS_MAX * sizeof(int))];
};

bool child_send(int socket, const void *p, size_t n, const int *fds, size_t n_fds)
{
	union control control = {0};
	struct iovec iov = {.iov_base = mem_unconst(p), .iov_len = n};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	if (n_fds) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		struct cmsghdr *c = &control.head;
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
	}
	return sendmsg(socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n;
}

ssize_t child_receive(int socket, void *p, size_t n, int *ret_fds)
{
	union control control;
	struct iovec iov = {.iov_base = p, .iov_len = n};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	ssize_t r = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
	for (size_t i = 0; i < CHILD_FDS_MAX; i++)
		ret_fds[i] = -1;
	const struct cmsghdr *c = r > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	return r;
}
