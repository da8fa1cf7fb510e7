#include "alm/io/sandbox_fork.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/io/child.h"
#include "alm/io/sandbox_child.h"

#define PEER_FD 3

/* Before each request and each answer. */
struct frame {
	uint64_t len;
	int32_t kind;   /* of a request its letter, of an answer the code of its error, 0: none */
	int32_t reason; /* of an answer: enum error_reason */
};

struct sandbox_peer {
	int fd;
};

struct keeper { /* the parent's side */
	int fd;
	pid_t child;
	const struct sandbox_limits *limits;
	int64_t deadline;
	bool over_wall_time;
};

/* ---- both sides ---- */

/* SIGPIPE does not come: the socket may be closed, the process goes on. */
static bool send_frame(int fd, int32_t kind, enum error_reason reason, struct str bytes)
{
	struct frame f = {.len = bytes.len, .kind = kind, .reason = (int32_t)reason};
	return child_write_all(fd, &f, sizeof(f)) &&
	       child_write_all(fd, bytes.ptr ? bytes.ptr : "", bytes.len);
}

/* ---- the child ---- */

int sandbox_ask(struct sandbox_peer *p, char kind, struct str request, struct strbuf *answer,
		struct error *err)
{
	struct frame f;
	if (!send_frame(p->fd, kind, REASON_NONE, request) || !child_read_all(p->fd, &f, sizeof(f)))
		return error_set(err, E_IO, "the process outside of the sandbox is gone");
	char *to = f.len ? strbuf_reserve(answer, f.len) : NULL;
	if (f.len && (!to || !child_read_all(p->fd, to, f.len)))
		return error_set(err, E_IO, "an answer of %llu bytes cannot be read",
				 (unsigned long long)f.len);
	size_t start = answer->len;
	strbuf_commit(answer, f.len);
	if (!f.kind)
		return 0;
	int code = error_set(err, f.kind, "%s", answer->buf + start);
	err->reason = (enum error_reason)f.reason; /* the parent is trusted */
	strbuf_truncate(answer, start);
	return code;
}

static _Noreturn void child_main(const struct sandbox_limits *l, int fd, sandbox_fork_fn fn,
				 void *arg)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU};
	for (size_t i = 0; i < ARRAY_LEN(faults); i++)
		(void)signal(faults[i], SIG_DFL);
	(void)signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (dup2(fd, PEER_FD) < 0 || close_range(PEER_FD + 1, ~0U, 0) < 0 ||
	    close_range(0, 2, 0) < 0 || !sandbox_lock_in(l))
		_exit(SANDBOX_EXIT_UNLOCKED);
	struct sandbox_peer p = {.fd = PEER_FD};
	_exit(fn(arg, &p));
}

/* ---- the parent ---- */

/* 1: n bytes, 0: the end. Kills the child when its time is up. */
static int receive(struct keeper *k, void *p, size_t n, struct error *err)
{
	struct pollfd pfd = {.fd = k->fd, .events = POLLIN};
	for (size_t done = 0; done < n;) {
		int64_t left = k->deadline - child_mono_ns();
		if (left < 0 && !k->over_wall_time) {
			k->over_wall_time = true;
			kill(k->child, SIGKILL);
		}
		if (!k->over_wall_time && poll(&pfd, 1, (int)(left / NS_PER_MS) + 1) == 0)
			continue;
		ssize_t r = read(k->fd, (char *)p + done, n - done);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return done ? error_set(err, E_INTERNAL, "an unfinished request") : 0;
		done += (size_t)r;
	}
	return 1;
}

static int serve_one(struct keeper *k, sandbox_serve_fn serve, void *arg, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf request = STRBUF_INIT(k->limits->output_bytes);
	CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(k->limits->output_bytes);
	struct error why = ERROR_INIT;
	struct frame f;
	int r = receive(k, &f, sizeof(f), err);
	if (r <= 0)
		return r;
	char *to = f.len <= k->limits->output_bytes ? strbuf_reserve(&request, f.len) : NULL;
	if (!to)
		return error_set(err, E_LIMIT, "output is larger than %zu bytes",
				 k->limits->output_bytes);
	if (f.len && receive(k, to, f.len, err) <= 0)
		return err->code ? -err->code : error_set(err, E_INTERNAL, "an unfinished request");
	strbuf_commit(&request, f.len);
	bool refused = serve(arg, (char)f.kind, strbuf_str(&request), &answer, &why) < 0;
	if (!send_frame(k->fd, why.code, why.reason,
			refused ? str_of(why.msg) : strbuf_str(&answer)))
		return error_set(err, E_INTERNAL, "an answer that was not taken");
	return 1;
}

static int outcome(const struct keeper *k, int status, int *ret_status, struct error *err)
{
	if (k->over_wall_time)
		return sandbox_killed(k->limits, true, SIGKILL, err);
	if (WIFSIGNALED(status))
		return sandbox_killed(k->limits, false, WTERMSIG(status), err);
	if (WEXITSTATUS(status) == SANDBOX_EXIT_UNLOCKED)
		return error_set(err, E_UNSUPPORTED,
				 "the sandbox cannot be closed on this machine");
	*ret_status = WEXITSTATUS(status);
	return 0;
}

int sandbox_fork(const struct sandbox_limits *limits, sandbox_fork_fn fn, sandbox_serve_fn serve,
		 void *arg, int *ret_status, struct error *err)
{
	int fds[2], status = 0, r;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return error_set(err, E_IO, "sandbox socket: %s", strerror(errno));
	void (*old)(int) = signal(SIGPIPE, SIG_IGN);
	pid_t child = fork();
	if (child == 0)
		child_main(limits, fds[1], fn, arg);
	if (child < 0) {
		error_set(err, E_IO, "the sandbox process cannot be started: %s", strerror(errno));
		(void)signal(SIGPIPE, old);
		close(fds[0]);
		close(fds[1]);
		return -err->code;
	}
	close(fds[1]);
	struct keeper k = {.fd = fds[0],
			   .child = child,
			   .limits = limits,
			   .deadline = child_mono_ns() + limits->wall_ns};
	do {
		r = serve_one(&k, serve, arg, err);
	} while (r > 0);
	if (r < 0)
		kill(child, SIGKILL);
	close(fds[0]);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	(void)signal(SIGPIPE, old);
	if (r < 0 && err->code != E_INTERNAL)
		return r;
	int ended = outcome(&k, status, ret_status, err);
	return ended < 0 ? ended : r;
}
