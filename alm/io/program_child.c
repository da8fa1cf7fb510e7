#include "alm/io/program_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <seccomp.h>

#include "alm/base/mem.h"
#include "alm/io/child.h"
#include "alm/io/landlock.h"
#include "alm/io/process.h"

#define LAUNCHER_FD   3
#define OPEN_MAX_FDS  1024
#define SWEEP_NS      (5 * NS_PER_S) /* to end what a program has left behind */
#define BLIND_MS      100            /* between looks, on a kernel without pidfds */
#define CHILDREN_TEXT 4096

/* --- the program --- */

static bool limit(__rlimit_resource_t what, size_t soft, size_t hard)
{
	const struct rlimit l = {.rlim_cur = soft, .rlim_max = hard};
	return setrlimit(what, &l) == 0;
}

static bool set_limits(const struct program_limits *l)
{
	size_t cpu = (size_t)l->cpu_s;
	return limit(RLIMIT_CORE, 0, 0) && limit(RLIMIT_NOFILE, OPEN_MAX_FDS, OPEN_MAX_FDS) &&
	       limit(RLIMIT_CPU, cpu, cpu + 1) &&
	       limit(RLIMIT_DATA, l->memory_bytes, l->memory_bytes) &&
	       (!l->file_bytes || limit(RLIMIT_FSIZE, l->file_bytes, l->file_bytes));
}

/* The texts of an order. Each list has a NULL at its end. */
struct texts {
	char *path, *dir;
	char *argv[PROGRAM_ARGS_MAX + 1], *env[PROGRAM_ARGS_MAX + 1];
	char *reads[PROGRAM_ARGS_MAX + 1], *writes[PROGRAM_ARGS_MAX + 1];
};

static bool take(char **p, const char *end, char **list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *nul = *p < end ? memchr(*p, '\0', (size_t)(end - *p)) : NULL;
		if (!nul)
			return false;
		list[i] = *p;
		*p = nul + 1;
	}
	return true;
}

static bool take_list(char **p, const char *end, char **list, size_t n)
{
	if (n > PROGRAM_ARGS_MAX || !take(p, end, list, n))
		return false;
	list[n] = NULL;
	return true;
}

static bool take_texts(const struct program_order *o, char *p, const char *end, struct texts *t)
{
	return take(&p, end, &t->path, 1) && take(&p, end, &t->dir, 1) &&
	       take_list(&p, end, t->argv, o->n_args) && take_list(&p, end, t->env, o->n_env) &&
	       take_list(&p, end, t->reads, o->n_reads) &&
	       take_list(&p, end, t->writes, o->n_writes) && p == end;
}

/* No socket of any family; what is inherited or passed is none. Threads and all that it starts have
 * it, too. */
static bool close_network(void)
{
	const int calls[] = {SCMP_SYS(socket), SCMP_SYS(io_uring_setup)};
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	int r = f ? 0 : -1;
	for (size_t i = 0; i < ARRAY_LEN(calls) && r == 0; i++)
		r = seccomp_rule_add(f, SCMP_ACT_ERRNO(EACCES), calls[i], 0);
	if (r == 0)
		r = seccomp_load(f);
	seccomp_release(f);
	return r == 0;
}

/* failed is memory that the supervisor sees. */
static _Noreturn void become(const struct program_order *o, struct texts *t, const int fds[3],
			     pid_t supervisor, int32_t *failed)
{
	child_default_signals();
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	bool ok = getppid() == supervisor && setsid() > 0;
	for (int i = 0; i < 3; i++)
		ok = ok && dup2(fds[i], i) == i;
	if (!ok || close_range(3, ~0U, 0) < 0) {
		*failed = EIO;
		_exit(127);
	}
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (o->offline && !close_network()) {
		*failed = PROGRAM_NOT_OFFLINE;
		_exit(127);
	}
	int in = chdir(t->dir);
	if (in == 0 && o->confined)
		(void)landlock_confine((const char *const *)t->reads, o->n_reads,
				       (const char *const *)t->writes, o->n_writes);
	/* Last: they are the program's, and closing doors takes memory, too. */
	if (in == 0 && !o->is_users && !set_limits(&o->limits)) {
		*failed = EIO;
		_exit(127);
	}
	if (in == 0)
		execve(t->path, t->argv, t->env);
	*failed = errno;
	_exit(127);
}

/* --- its supervisor --- */

struct run {
	pid_t pid;
	int pidfd, control;
	int64_t deadline, kill_at; /* kill_at 0: nobody has asked it to end */
	bool killed, is_users;
	struct program_report report;
};

/* Each living child: what the program has left comes to its supervisor (PR_SET_CHILD_SUBREAPER). */
static void kill_children(void)
{
	char path[64], text[CHILDREN_TEXT];
	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	struct str rest = str_n(text, n < 0 ? 0 : (size_t)n), word;
	for (int64_t pid; rest.len && str_next(&rest, ' ', &word);)
		if (rest.ptr && str_parse_i64(word, &pid) && pid > 1)
			kill((pid_t)pid, SIGKILL);
}

/* The program has ended, and is not waited for yet: its group still is its own. So ends all that
 * came of it. */
static void sweep(struct run *r)
{
	int64_t until = child_mono_ns() + SWEEP_NS;
	if (r->is_users && !r->kill_at) {
		(void)waitpid(r->pid, &r->report.status, 0);
		return;
	}
	kill(-r->pid, SIGKILL);
	while (child_mono_ns() < until) {
		int status;
		pid_t ended = waitpid(-1, &status, WNOHANG);
		if (ended < 0 && errno == ECHILD)
			return;
		if (ended == r->pid)
			r->report.status = status;
		if (ended > 0)
			continue;
		kill_children();
		poll(NULL, 0, 1);
	}
}

static void ask_to_end(struct run *r, enum program_end why)
{
	if (r->kill_at)
		return;
	r->report.end = why;
	r->kill_at = child_mono_ns() + PROGRAM_GRACE_NS;
	kill(-r->pid, SIGTERM);
}

/* Milliseconds until the next thing to do. */
static int act_on_time(struct run *r)
{
	int64_t now = child_mono_ns();
	if (!r->kill_at && now >= r->deadline)
		ask_to_end(r, PROGRAM_DEADLINE);
	if (r->kill_at && !r->killed && now >= r->kill_at) {
		r->killed = true;
		kill(-r->pid, SIGKILL);
		kill(r->pid, SIGKILL);
	}
	int64_t next = r->killed ? now + NS_PER_S : r->kill_at ? r->kill_at : r->deadline;
	return next > now ? (int)((next - now) / NS_PER_MS % INT32_MAX) + 1 : 0;
}

static void watch(struct run *r)
{
	struct pollfd p[2] = {{.fd = r->pidfd, .events = POLLIN},
			      {.fd = r->control, .events = POLLIN | POLLRDHUP}};
	siginfo_t ended = {0};
	while (waitid(P_PID, (id_t)r->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       ended.si_pid == 0) {
		int wait = act_on_time(r);
		(void)poll(p, ARRAY_LEN(p), r->pidfd < 0 && wait > BLIND_MS ? BLIND_MS : wait);
		if (p[1].revents) {
			ask_to_end(r, PROGRAM_STOPPED);
			p[1].fd = -1;
		}
	}
}

static _Noreturn void supervise(const struct program_order *o, struct texts *t, const int *fds)
{
	struct run r = {.control = fds[0],
			.deadline = child_mono_ns() + o->limits.wall_ns,
			.is_users = o->is_users};
	pid_t self = getpid();
	(void)signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	int32_t *failed = mmap(NULL, sizeof(*failed), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	r.pid = failed == MAP_FAILED ? -1 : fork();
	if (r.pid == 0)
		become(o, t, fds + 1, self, failed);
	for (int i = 1; i < CHILD_FDS_MAX; i++)
		close(fds[i]);
	if (r.pid > 0) {
		r.pidfd = (int)syscall(SYS_pidfd_open, r.pid, 0);
		watch(&r);
		sweep(&r);
		r.report.failed = *failed;
	} else {
		r.report.failed = errno;
	}
	(void)child_send(r.control, &r.report, sizeof(r.report), NULL, 0);
	_exit(0);
}

/* --- the launcher --- */

static void start(char *message, size_t n, const int *fds)
{
	static struct texts texts;
	struct program_order o;
	memcpy(&o, message, sizeof(o));
	if (fds[CHILD_FDS_MAX - 1] < 0 || !take_texts(&o, message + sizeof(o), message + n, &texts))
		return; /* its socket closes: lost */
	if (fork() == 0) {
		close(LAUNCHER_FD);
		supervise(&o, &texts, fds);
	}
}

void program_launcher(int fd)
{
	static char message[PROGRAM_ORDER_BYTES];
	child_default_signals();
	/* What a terminal sends to all of its processes is for the parent to act on. */
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGQUIT, SIG_IGN);
	(void)signal(SIGCHLD, SIG_IGN); /* supervisors are not waited for */
	/* 0 to 2 stay taken, so that no descriptor of a run gets a number that its program needs */
	int null = dup2(fd, LAUNCHER_FD) < 0 ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3 && null >= 0; i++)
		(void)dup2(null, i);
	/* No program needs them, and it was forked before the process gave its own up. */
	if (null < 0 || close_range(LAUNCHER_FD + 1, ~0U, 0) < 0 || process_drop_capabilities() < 0)
		_exit(1);
	for (;;) {
		int fds[CHILD_FDS_MAX];
		ssize_t n = child_receive(LAUNCHER_FD, message, sizeof(message), fds);
		if (n == 0 || (n < 0 && errno != EINTR))
			_exit(0);
		if (n >= (ssize_t)sizeof(struct program_order))
			start(message, (size_t)n, fds);
		for (size_t i = 0; i < CHILD_FDS_MAX; i++)
			if (fds[i] >= 0)
				close(fds[i]);
	}
}
