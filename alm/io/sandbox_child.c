/*
 * sandbox_child: what runs in the zygote and, forked from it, in every child.
 *
 * The zygote locks itself in as far as it can (empty namespaces, no capabilities); a child opens the
 * libraries that its row asks for, adds landlock (no files), the limits and the list of system calls,
 * then runs its function and is gone.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/seccomp.h>
#include <seccomp.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/base/mem.h"
#include "alm/base/sanitizer.h"
#include "alm/io/child.h"
#include "alm/io/landlock.h"
#include "alm/io/process.h"
#include "alm/io/sandbox_child.h"
#include "alm/obj/obj.h"

#define INPUT_FD  0
#define OUTPUT_FD 1
#define FILE_FD   2 /* what follows the input, if there is one */

struct child {
	pid_t pid; /* 0: a free place */
	int pidfd;
	uint64_t id;
	int64_t deadline;
	bool over_wall_time;
};

struct zygote {
	int fd;
	const struct sandbox_config *config;
	scmp_filter_ctx filter; /* NULL: seccomp is missing */
	struct child children[SANDBOX_CHILDREN_MAX];
};

/* The box */

/* NULL: the kernel has no filters. */
static scmp_filter_ctx filter_new(void)
{
	static const int allowed[] = {
		SCMP_SYS(read),
		SCMP_SYS(write),
		SCMP_SYS(exit_group),
		SCMP_SYS(exit),
		SCMP_SYS(brk),
		SCMP_SYS(munmap),
		SCMP_SYS(rt_sigreturn),
		SCMP_SYS(futex),
		SCMP_SYS(madvise),
		SCMP_SYS(clock_gettime),
		SCMP_SYS(mremap),
		SCMP_SYS(rt_sigprocmask), /* the three of abort() */
		SCMP_SYS(getpid),
		SCMP_SYS(gettid),
		/* what glibc asks before it sorts much, and OpenSSL before it makes a key */
		SCMP_SYS(sysinfo),
		SCMP_SYS(getrandom),
	};
	static const int refused[] = {SCMP_SYS(openat), SCMP_SYS(newfstatat), SCMP_SYS(access),
				      SCMP_SYS(readlink)};
	uint32_t kill = SECCOMP_RET_KILL_PROCESS;
	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &kill) < 0)
		return NULL;
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_KILL_PROCESS);
	if (!f)
		return NULL;
	int r = 0;
	for (size_t i = 0; i < ARRAY_LEN(allowed) && r == 0; i++)
		r = seccomp_rule_add(f, SCMP_ACT_ALLOW, allowed[i], 0);
	if (r == 0)
		r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
				     SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	/* Libraries look for a configuration or a time zone and go on without. */
	for (size_t i = 0; i < ARRAY_LEN(refused) && r == 0; i++)
		r = seccomp_rule_add(f, SCMP_ACT_ERRNO(EACCES), refused[i], 0);
	if (r != 0) {
		seccomp_release(f);
		return NULL;
	}
	return f;
}

/* abort() sends the signal to the process itself; nobody else can be signalled. */
static bool filter_load(scmp_filter_ctx f)
{
	return seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid())) == 0 &&
	       seccomp_load(f) == 0;
}

static bool limit(__rlimit_resource_t what, rlim_t n)
{
	struct rlimit l = {.rlim_cur = n, .rlim_max = n};
	return setrlimit(what, &l) == 0;
}

static bool lock_in(struct zygote *z, const struct sandbox_limits *l)
{
	mem_keep();
	struct rlimit cpu = {.rlim_cur = (rlim_t)l->cpu_s, .rlim_max = (rlim_t)l->cpu_s + 1};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    !limit(RLIMIT_CORE, 0) || !limit(RLIMIT_FSIZE, 0) || !limit(RLIMIT_NOFILE, 8) ||
	    setrlimit(RLIMIT_CPU, &cpu) < 0)
		return false;
	if (SANITIZER_RUNS)
		return true;
	if (!limit(RLIMIT_NPROC, 0) || !limit(RLIMIT_AS, l->memory_bytes))
		return false;
	return z->filter ? filter_load(z->filter) : z->config->insecure;
}

/* No namespaces: they cost a millisecond, and no socket can be made anyhow. */
bool sandbox_lock_in(const struct sandbox_limits *l)
{
	const struct sandbox_config config = {.insecure = false};
	struct zygote z = {.config = &config};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	landlock_confine(NULL, 0, NULL, 0);
	z.filter = filter_new();
	return lock_in(&z, l);
}

/* The child */

/* Room for the input; with a file so that the file, which is mapped, follows it at once. */
static char *make_room(size_t n, size_t file)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), front = (n + page - 1) / page * page;
	int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
	char *p = mmap(NULL, front + file + page, PROT_READ | PROT_WRITE, anonymous, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (file &&
	    mmap(p + front, file, PROT_READ, MAP_PRIVATE | MAP_FIXED, FILE_FD, 0) == MAP_FAILED)
		return NULL;
	return p + front - n;
}

/* The three come in this order into the lowest free places, so mostly they are there already. */
static bool take_fds(const int fds[SANDBOX_FDS_MAX])
{
	if (dup2(fds[0], INPUT_FD) < 0 || dup2(fds[1], OUTPUT_FD) < 0)
		return false;
	if (fds[2] >= 0 && dup2(fds[2], FILE_FD) < 0)
		return false;
	return close_range(fds[2] >= 0 ? FILE_FD + 1 : FILE_FD, ~0U, 0) == 0;
}

static size_t size_of(int fd)
{
	struct stat st;
	if (fstat(fd, &st) < 0 || st.st_size < 0)
		_exit(SANDBOX_EXIT_UNLOCKED);
	return (size_t)st.st_size;
}

static _Noreturn void child_main(struct zygote *z, const struct sandbox_order *o,
				 const int fds[SANDBOX_FDS_MAX])
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU};
	struct sandbox_limits limits = o->limits;
	/* A handler of the process (a sanitizer's) has no business here. */
	for (size_t i = 0; i < ARRAY_LEN(faults); i++)
		(void)signal(faults[i], SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (!take_fds(fds))
		_exit(SANDBOX_EXIT_UNLOCKED);
	if (z->config->jobs[o->job].prepare)
		z->config->jobs[o->job].prepare();
	landlock_confine(NULL, 0, NULL, 0);
	size_t n = size_of(INPUT_FD), file = fds[2] >= 0 ? size_of(FILE_FD) : 0;
	char *room = make_room(n, file);
	limits.memory_bytes += file;
	if (!room || !lock_in(z, &limits))
		_exit(SANDBOX_EXIT_UNLOCKED);
	if (!child_read_all(INPUT_FD, room, n))
		_exit(1);
	struct str input = {room, n + file};
	struct strbuf output = STRBUF_INIT(o->limits.output_bytes);
	struct error err = ERROR_INIT;
	int r = z->config->jobs[o->job].fn(input, &output, &err);
	if (r >= 0)
		r = strbuf_check(&output, "output", &err);
	struct sandbox_verdict v = {0};
	if (r < 0)
		v = (struct sandbox_verdict){.code = err.code, .reason = (int32_t)err.reason};
	struct str said = r < 0 ? str_of(err.msg) : strbuf_str(&output);
	bool ok = child_write_all(OUTPUT_FD, &v, sizeof(v)) &&
		  child_write_all(OUTPUT_FD, said.ptr, said.len);
	_exit(ok ? 0 : 1);
}

/* The zygote */

static void report(struct zygote *z, const struct sandbox_report *r)
{
	if (send(z->fd, r, sizeof(*r), MSG_NOSIGNAL) < 0)
		_exit(0);
}

static void spawn(struct zygote *z, const struct sandbox_order *o, const int fds[SANDBOX_FDS_MAX])
{
	struct child *c = NULL;
	for (size_t i = 0; i < SANDBOX_CHILDREN_MAX; i++)
		if (!z->children[i].pid)
			c = &z->children[i];
	pid_t pid = c ? fork() : -1;
	if (pid == 0)
		child_main(z, o, fds);
	int pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (pidfd >= 0) {
		*c = (struct child){.pid = pid,
				    .pidfd = pidfd,
				    .id = o->id,
				    .deadline = child_mono_ns() + o->limits.wall_ns};
		return;
	}
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	struct sandbox_report r = {.id = o->id, .status = SANDBOX_EXIT_UNLOCKED << 8};
	report(z, &r);
}

static void kill_run(struct zygote *z, uint64_t id)
{
	for (size_t i = 0; i < SANDBOX_CHILDREN_MAX; i++)
		if (z->children[i].pid && z->children[i].id == id)
			kill(z->children[i].pid, SIGKILL);
}

static void take_order(struct zygote *z)
{
	struct sandbox_order o;
	int fds[CHILD_FDS_MAX];
	ssize_t n = child_receive(z->fd, &o, sizeof(o), fds);
	if (n == 0 || (n < 0 && errno != EINTR))
		_exit(0); /* the parent is gone; PDEATHSIG takes the children along */
	if (n != sizeof(o))
		return;
	if (o.job < 0) {
		kill_run(z, o.id);
		return;
	}
	if (fds[0] >= 0 && fds[1] >= 0)
		spawn(z, &o, fds);
	for (size_t i = 0; i < CHILD_FDS_MAX; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void reap(struct zygote *z, struct child *c)
{
	struct sandbox_report r = {.id = c->id, .over_wall_time = c->over_wall_time};
	int status;
	if (waitpid(c->pid, &status, WNOHANG) != c->pid)
		return;
	r.status = status;
	close(c->pidfd);
	*c = (struct child){0};
	report(z, &r);
}

/* Kills what is over its time; returns the milliseconds to the next deadline. */
static int check_deadlines(struct zygote *z)
{
	int64_t now = child_mono_ns(), wait = -1;
	for (size_t i = 0; i < SANDBOX_CHILDREN_MAX; i++) {
		struct child *c = &z->children[i];
		if (!c->pid || c->over_wall_time)
			continue;
		int64_t left = c->deadline - now;
		if (left <= 0) {
			c->over_wall_time = true;
			kill(c->pid, SIGKILL);
		} else if (wait < 0 || left < wait) {
			wait = left;
		}
	}
	return wait < 0 ? -1 : (int)(wait / NS_PER_MS) + 1;
}

static void serve(struct zygote *z)
{
	struct pollfd p[1 + SANDBOX_CHILDREN_MAX];
	p[0] = (struct pollfd){.fd = z->fd, .events = POLLIN};
	for (size_t i = 0; i < SANDBOX_CHILDREN_MAX; i++)
		p[1 + i] = (struct pollfd){.fd = z->children[i].pid ? z->children[i].pidfd : -1,
					   .events = POLLIN};
	if (poll(p, ARRAY_LEN(p), check_deadlines(z)) < 0)
		return;
	for (size_t i = 0; i < SANDBOX_CHILDREN_MAX; i++)
		if (p[1 + i].revents)
			reap(z, &z->children[i]);
	if (p[0].revents)
		take_order(z);
}

/* What the base opens or draws when it is first used. */
static void warm(const struct sandbox_config *c)
{
	unsigned char digest[SHA256_BYTES];
	sha256(STR("warm"), digest);
	struct obj *o = obj_map();
	obj_set_str(o, "k", "v");
	obj_unref(o);
	if (c->warm)
		c->warm();
}

void sandbox_zygote(int fd, const struct sandbox_config *c)
{
	struct zygote z = {.config = c};
	struct sandbox_report greeting = {0};
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	/* The socket becomes 3, so that 0 and 1 are free for a child's two pipes. */
	if (dup2(fd, 3) < 0 || close_range(4, ~0U, 0) < 0)
		_exit(1);
	for (int i = 0; i < 3; i++)
		close(i);
	z.fd = 3;
	warm(c);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWNS) < 0)
		greeting.missing |= MISSING_NAMESPACES;
	if (!landlock_is_there())
		greeting.missing |= MISSING_LANDLOCK;
	(void)process_drop_capabilities(); /* those of the new namespaces, or the machine's */
	z.filter = filter_new();
	if (!z.filter)
		greeting.missing |= MISSING_SECCOMP;
	report(&z, &greeting);
	for (;;)
		serve(&z);
}
