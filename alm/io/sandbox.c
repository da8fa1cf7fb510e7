/*
 * sandbox: the parent's side. It sends an order with two descriptors to the zygote, reads the pipe
 * to its end and waits for the zygote's report; both together end a run. A zygote that died is
 * forked again, at the price of a larger fork.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "alm/io/child.h"
#include "alm/io/loop_event.h"
#include "alm/io/sandbox_child.h"

#define WAITING_MAX   1024
#define MESSAGE_BYTES ERROR_MSG_MAX

struct sandbox_run {
	TAILQ_ENTRY(sandbox_run) link;
	struct sandbox_process *owner;
	struct sandbox_order order;
	sandbox_done done;
	void *arg;
	int input_fd, file; /* until the order is sent: the memfd; the file or -1 */
	struct event *readable;
	struct strbuf answer; /* code, then output or message */
	struct sandbox_report report;
	bool started, eof, reported, cancelled;
	struct error failed; /* before or instead of a start */
};

struct sandbox_process {
	struct sandbox sandbox;
	struct loop *loop;
	struct sandbox_config config;
	pid_t zygote;
	int fd;
	struct event *reports;
	uint32_t missing;
	char missing_text[64];
	uint64_t last_id;
	size_t n_running, running_max, n_runs;
	struct task settle;
	TAILQ_HEAD(, sandbox_run) runs;
};

/* The shared part of both backends. */

struct sandbox_run *sandbox_run(struct sandbox *s, const char *job, struct str input,
				const struct sandbox_limits *limits, sandbox_done done, void *arg)
{
	return s->ops->run(s, job, input, -1, limits, done, arg);
}

struct sandbox_run *sandbox_run_file(struct sandbox *s, const char *job, struct str text, int file,
				     const struct sandbox_limits *limits, sandbox_done done,
				     void *arg)
{
	return s->ops->run(s, job, text, file, limits, done, arg);
}

void sandbox_cancel(struct sandbox *s, struct sandbox_run *run)
{
	s->ops->cancel(s, run);
}

void sandbox_free(struct sandbox *s)
{
	if (s)
		s->ops->free(s);
}

/* Runs */

static void close_input(struct sandbox_run *r)
{
	if (r->input_fd >= 0)
		close(r->input_fd);
	if (r->file >= 0)
		close(r->file);
	r->input_fd = r->file = -1;
}

static void run_free(struct sandbox_run *r)
{
	TAILQ_REMOVE(&r->owner->runs, r, link);
	r->owner->n_runs--;
	if (r->readable) {
		close(event_get_fd(r->readable));
		event_free(r->readable);
	}
	close_input(r);
	strbuf_release(&r->answer);
	xfree(r);
}

static int told_by_child(const struct sandbox_run *r, struct str *ret_output, struct error *err)
{
	struct sandbox_verdict v;
	struct str answer = strbuf_str(&r->answer);
	if (answer.len < sizeof(v))
		return error_set(err, E_INTERNAL, "the sandboxed process gave no answer");
	memcpy(&v, answer.ptr, sizeof(v));
	answer = str_skip(answer, sizeof(v));
	if (v.code == 0) {
		*ret_output = answer;
		return 0;
	}
	if (v.code < 0 || v.code > E_ALTERED || !error_is_reason(v.reason) ||
	    answer.len > MESSAGE_BYTES || !utf8_valid(answer))
		return error_set(err, E_INTERNAL, "the sandboxed process gave a malformed answer");
	(void)error_set(err, v.code, "%.*s", STR_ARG(answer));
	err->reason = (enum error_reason)v.reason;
	return -v.code;
}

int sandbox_killed(const struct sandbox_limits *l, bool over_wall_time, int signal,
		   struct error *err)
{
	if (over_wall_time)
		return error_set(err, E_TIMEOUT,
				 "took longer than %lld s without using %d s of processor time: "
				 "the machine is too busy, or it hangs",
				 (long long)(l->wall_ns / 1000000000), l->cpu_s);
	switch (signal) {
	case SIGXCPU:
		return error_set(err, E_LIMIT, "used more than %d s of processor time", l->cpu_s);
	case SIGKILL: /* its limits come as other signals: this one is no fact about the input */
		return error_set(err, E_INTERNAL,
				 "was killed: this machine is short of memory, or somebody did it");
	case SIGABRT:
		return error_set(err, E_LIMIT, "needed more than %zu MiB of memory, or gave up",
				 l->memory_bytes >> 20);
	case SIGSYS:
		return error_set(err, E_INTERNAL, "tried a forbidden system call");
	case SIGSEGV: /* most often the end of its stack */
		return error_set(err, E_INTERNAL,
				 "crashed with signal %d (%s): nested too deep, or a fault of alm "
				 "or its libraries",
				 signal, strsignal(signal));
	default:
		return error_set(err, E_INTERNAL, "crashed with signal %d (%s)", signal,
				 strsignal(signal));
	}
}

static int outcome(const struct sandbox_run *r, struct str *ret_output, struct error *err)
{
	int status = r->report.status;
	if (r->failed.code)
		return error_copy(err, &r->failed);
	if (r->answer.over)
		return error_set(err, E_LIMIT, "output is larger than %zu bytes",
				 r->order.limits.output_bytes);
	if (WIFSIGNALED(status))
		return sandbox_killed(&r->order.limits, r->report.over_wall_time, WTERMSIG(status),
				      err);
	if (WEXITSTATUS(status) == SANDBOX_EXIT_UNLOCKED)
		return error_set(
			err, E_UNSUPPORTED,
			"the sandbox cannot be closed on this machine (seccomp is missing?)");
	if (WEXITSTATUS(status) != 0) /* behind a verdict its answer may be missing */
		return error_set(err, E_INTERNAL, "the sandboxed process gave no whole answer");
	return told_by_child(r, ret_output, err);
}

static void finish(struct sandbox_run *r)
{
	struct error err = ERROR_INIT;
	struct str output = STR_NONE;
	int code = outcome(r, &output, &err);
	if (!r->cancelled)
		r->done(r->arg, output, code < 0 ? &err : NULL);
	run_free(r);
}

/* Input and output of one run */

static void on_output(evutil_socket_t fd, short what UNUSED, void *arg)
{
	struct sandbox_run *r = arg;
	char buf[65536];
	ssize_t n = read(fd, buf, sizeof(buf));
	if (n > 0) {
		strbuf_add(&r->answer, buf, (size_t)n);
		return;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	r->eof = true;
	event_del(r->readable);
	loop_post(r->owner->loop, &r->owner->settle);
}

static void start(struct sandbox_process *s, struct sandbox_run *r)
{
	int p[2];
	r->started = true;
	s->n_running++;
	if (pipe2(p, O_CLOEXEC | O_NONBLOCK) < 0) {
		error_set(&r->failed, E_IO, "sandbox pipe: %s", strerror(errno));
		return;
	}
	/* The child's end blocks. */
	int flags = fcntl(p[1], F_GETFL);
	fcntl(p[1], F_SETFL, flags & ~O_NONBLOCK);
	const int fds[SANDBOX_FDS_MAX] = {r->input_fd, p[1], r->file};
	bool sent = child_send(s->fd, &r->order, sizeof(r->order), fds, r->file < 0 ? 2 : 3);
	close(p[1]);
	close_input(r);
	r->readable = event_new(loop_event_base(s->loop), p[0], EV_READ | EV_PERSIST, on_output, r);
	assert(r->readable);
	if (sent)
		event_add(r->readable, NULL);
	else
		error_set(&r->failed, E_IO, "the sandbox process is gone");
}

/* The zygote */

static void zygote_stop(struct sandbox_process *s)
{
	if (s->reports)
		event_free(s->reports);
	s->reports = NULL;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	if (s->zygote > 0)
		waitpid(s->zygote, NULL, 0);
	s->zygote = 0;
}

static void describe_missing(struct sandbox_process *s)
{
	static const char *const names[] = {"seccomp", "landlock", "namespaces"};
	size_t n = 0;
	s->missing_text[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (s->missing & (1U << i))
			n += (size_t)snprintf(s->missing_text + n, sizeof(s->missing_text) - n,
					      "%s%s", n ? ", " : "", names[i]);
}

static void on_report(evutil_socket_t fd, short what, void *arg);

static int zygote_start(struct sandbox_process *s, struct error *err)
{
	int fds[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return error_set(err, E_IO, "sandbox socket: %s", strerror(errno));
	s->fd = fds[0];
	s->zygote = fork();
	if (s->zygote == 0)
		sandbox_zygote(fds[1], &s->config);
	close(fds[1]);
	struct sandbox_report greeting;
	if (s->zygote < 0 || recv(s->fd, &greeting, sizeof(greeting), 0) != sizeof(greeting)) {
		zygote_stop(s);
		return error_set(err, E_IO, "the sandbox process cannot be started");
	}
	s->missing = greeting.missing;
	describe_missing(s);
	int flags = fcntl(s->fd, F_GETFL);
	fcntl(s->fd, F_SETFL, flags | O_NONBLOCK);
	s->reports = event_new(loop_event_base(s->loop), s->fd, EV_READ | EV_PERSIST, on_report, s);
	assert(s->reports);
	event_add(s->reports, NULL);
	return 0;
}

/* Every run that it had is lost; the next one finds a new zygote. */
static void zygote_died(struct sandbox_process *s)
{
	struct sandbox_run *r;
	struct error err = ERROR_INIT;
	zygote_stop(s);
	TAILQ_FOREACH (r, &s->runs, link)
		if (r->started && !r->reported)
			error_set(&r->failed, E_INTERNAL, "the sandbox process died");
	/* If this fails, starts fail, each with its error. */
	zygote_start(s, &err);
	loop_post(s->loop, &s->settle);
}

static void on_report(evutil_socket_t fd, short what UNUSED, void *arg)
{
	struct sandbox_process *s = arg;
	struct sandbox_report report;
	struct sandbox_run *r;
	ssize_t n = recv(fd, &report, sizeof(report), 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != sizeof(report)) {
		zygote_died(s);
		return;
	}
	TAILQ_FOREACH (r, &s->runs, link) {
		if (r->order.id != report.id || !r->started)
			continue;
		r->report = report;
		r->reported = true;
		loop_post(s->loop, &s->settle);
		return;
	}
}

/* The task: ends what is complete, starts what waits. */
static void settle(void *arg)
{
	struct sandbox_process *s = arg;
	for (struct sandbox_run *r = TAILQ_FIRST(&s->runs), *next; r; r = next) {
		next = TAILQ_NEXT(r, link);
		bool complete = r->failed.code || (r->eof && r->reported);
		if (!complete && !r->started && s->n_running < s->running_max)
			start(s, r);
		if (complete || r->failed.code) {
			s->n_running -= r->started;
			finish(r);
			loop_post(s->loop, &s->settle);
			return; /* the callback may have changed the list */
		}
	}
}

/* The sandbox */

static int32_t job_index(const struct sandbox_process *s, const char *name)
{
	for (int32_t i = 0; s->config.jobs[i].name; i++)
		if (strcmp(s->config.jobs[i].name, name) == 0)
			return i;
	return -1;
}

static void set_limits(struct sandbox_limits *to, const struct sandbox_limits *from)
{
	if (from)
		*to = *from;
	if (!to->memory_bytes)
		to->memory_bytes = SANDBOX_MEMORY_BYTES;
	if (!to->output_bytes)
		to->output_bytes = SANDBOX_OUTPUT_BYTES;
	if (!to->cpu_s)
		to->cpu_s = SANDBOX_CPU_S;
	if (!to->wall_ns)
		to->wall_ns = SANDBOX_WALL_NS;
}

static bool is_too_large(int file)
{
	struct stat st;
	return file >= 0 && (fstat(file, &st) < 0 || st.st_size > (off_t)SANDBOX_FILE_BYTES);
}

static struct sandbox_run *process_run(struct sandbox *sandbox, const char *job, struct str input,
				       int file, const struct sandbox_limits *limits,
				       sandbox_done done, void *arg)
{
	struct sandbox_process *s = CONTAINER_OF(sandbox, struct sandbox_process, sandbox);
	struct sandbox_run *r = xcalloc(1, sizeof(*r));
	r->owner = s;
	r->done = done;
	r->arg = arg;
	r->input_fd = -1;
	r->file = file;
	r->order.id = ++s->last_id;
	r->order.job = job_index(s, job);
	assert(r->order.job >= 0);
	set_limits(&r->order.limits, limits);
	strbuf_init(&r->answer, r->order.limits.output_bytes + sizeof(struct sandbox_verdict));
	if (s->n_runs >= WAITING_MAX)
		error_set(&r->failed, E_TOOMANY, "%d sandboxed runs wait already", WAITING_MAX);
	else if (input.len > SANDBOX_INPUT_BYTES)
		error_set(&r->failed, E_LIMIT, "sandbox input of %zu bytes, want at most %zu",
			  input.len, SANDBOX_INPUT_BYTES);
	else if (is_too_large(file))
		error_set(&r->failed, E_LIMIT, "the file is larger than %zu bytes",
			  SANDBOX_FILE_BYTES);
	else
		r->input_fd = child_seal_input(input, &r->failed);
	TAILQ_INSERT_TAIL(&s->runs, r, link);
	s->n_runs++;
	loop_post(s->loop, &s->settle);
	return r;
}

static void process_cancel(struct sandbox *sandbox, struct sandbox_run *r)
{
	struct sandbox_process *s = CONTAINER_OF(sandbox, struct sandbox_process, sandbox);
	r->cancelled = true;
	if (r->started) {
		struct sandbox_order o = {.id = r->order.id, .job = -1};
		child_send(s->fd, &o, sizeof(o), NULL, 0);
	} else {
		error_set(&r->failed, E_CANCELLED, "cancelled");
		loop_post(s->loop, &s->settle);
	}
}

static void process_free(struct sandbox *sandbox)
{
	struct sandbox_process *s = CONTAINER_OF(sandbox, struct sandbox_process, sandbox);
	struct sandbox_run *r;
	while ((r = TAILQ_FIRST(&s->runs)) != NULL)
		run_free(r);
	loop_unpost(s->loop, &s->settle);
	zygote_stop(s);
	xfree(s);
}

static const struct sandbox_ops ops = {
	.run = process_run,
	.cancel = process_cancel,
	.free = process_free,
};

int sandbox_process_new(struct loop *l, const struct sandbox_config *c, struct sandbox **ret,
			struct error *err)
{
	struct sandbox_process *s = xcalloc(1, sizeof(*s));
	CLEANUP(sandbox_freep) struct sandbox *owner = &s->sandbox;
	s->sandbox.ops = &ops;
	s->loop = l;
	s->config = *c;
	s->fd = -1;
	s->settle = (struct task){.fn = settle, .arg = s};
	TAILQ_INIT(&s->runs);
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	size_t cores = online < 1 ? 1 : (size_t)online;
	s->running_max = cores < SANDBOX_CHILDREN_MAX ? cores : SANDBOX_CHILDREN_MAX;
	int r = zygote_start(s, err);
	if (r < 0)
		return r;
	*ret = STEAL(owner);
	return 0;
}

const char *sandbox_process_missing(struct sandbox *sandbox)
{
	assert(sandbox->ops == &ops);
	return CONTAINER_OF(sandbox, struct sandbox_process, sandbox)->missing_text;
}
