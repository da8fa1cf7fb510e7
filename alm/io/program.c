/* program: the parent's side. A run has ended when its supervisor's report is there: all that could
 * still print is dead then, and what its pipes hold is read at once. */
#include "alm/io/program.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "alm/base/strbuf.h"
#include "alm/io/child.h"
#include "alm/io/loop_event.h"
#include "alm/io/program_child.h"
#include "alm/io/program_outcome.h"

#define READ_BYTES 65536
#define RETRY_NS   (20 * NS_PER_MS) /* while the launcher has not taken the orders before */
#define LATE_NS    (20 * NS_PER_S)  /* after which a supervisor that does not report is lost */

enum { RUN_CONTROL, RUN_INPUT, RUN_OUTPUT, RUN_ERRORS };

struct program_run {
	TAILQ_ENTRY(program_run) link;
	struct programs_process *owner;
	struct program_limits limits;
	char *path;
	struct strbuf order; /* struct program_order and its texts; empty once it was sent */
	int input;
	struct event *control, *out_event, *err_event;
	struct strbuf out, errs;
	size_t n_errors; /* bytes, kept or not */
	struct timer late;
	struct program_report report;
	bool started, reported, cancelled;
	struct error failed; /* instead of a start, or why it was ended */
	program_done done;
	void *arg;
};

struct programs_process {
	struct programs programs;
	struct loop *loop;
	pid_t launcher;
	int fd; /* below 0: there is none */
	struct task settle;
	struct timer retry;
	size_t n_runs, n_running;
	TAILQ_HEAD(, program_run) runs;
};

/* The shared part of both backends. */

struct program_run *programs_run(struct programs *p, const struct program_call *call,
				 program_done done, void *arg)
{
	return p->ops->run(p, call, done, arg);
}

void programs_cancel(struct programs *p, struct program_run *run)
{
	p->ops->cancel(p, run);
}

void programs_free(struct programs *p)
{
	if (p)
		p->ops->free(p);
}

/* --- the launcher --- */

static void launcher_stop(struct programs_process *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	if (p->launcher > 0)
		waitpid(p->launcher, NULL, 0);
	p->launcher = 0;
}

static int launcher_start(struct programs_process *p, struct error *err)
{
	int fds[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return error_set(err, E_IO, "the launcher's socket: %s", strerror(errno));
	p->launcher = fork();
	if (p->launcher == 0)
		program_launcher(fds[1]);
	close(fds[1]);
	p->fd = fds[0];
	if (p->launcher > 0)
		return 0;
	launcher_stop(p);
	return error_set(err, E_IO, "the launcher cannot be forked: %s", strerror(errno));
}

/* --- the end of a run --- */

static void close_event(struct event **e)
{
	if (*e) {
		close(event_get_fd(*e));
		event_free(*e);
	}
	*e = NULL;
}

static void run_free(struct program_run *r)
{
	TAILQ_REMOVE(&r->owner->runs, r, link);
	r->owner->n_runs--;
	r->owner->n_running -= r->started;
	loop_disarm(r->owner->loop, &r->late);
	close_event(&r->control);
	close_event(&r->out_event);
	close_event(&r->err_event);
	if (r->input >= 0)
		close(r->input);
	strbuf_release(&r->order);
	strbuf_release(&r->out);
	strbuf_release(&r->errs);
	xfree(r->path);
	xfree(r);
}

/* Its supervisor ends it, and reports. */
static void stop(struct program_run *r)
{
	if (r->control && !r->reported)
		shutdown(event_get_fd(r->control), SHUT_WR);
}

static void finish(struct program_run *r)
{
	struct error err = ERROR_INIT;
	int code = r->failed.code ? error_copy(&err, &r->failed)
				  : program_outcome(r->path, &r->limits, &r->report, &err);
	const struct program_result result = {.status = code == 0 ? WEXITSTATUS(r->report.status)
								  : -1,
					      .output = strbuf_str(&r->out),
					      .errors = strbuf_str(&r->errs)};
	if (!r->cancelled)
		r->done(r->arg, &result, code < 0 ? &err : NULL);
	run_free(r);
}

/* --- what it says --- */

/* A piece of what is there; false: nothing now, or nothing any more. */
static bool read_output(struct program_run *r, int fd)
{
	size_t room = r->limits.output_bytes - r->out.len;
	char buf[READ_BYTES];
	ssize_t n = read(fd, buf, sizeof(buf));
	if (n > 0)
		strbuf_add(&r->out, buf, (size_t)n < room ? (size_t)n : room);
	if (n > 0 && (size_t)n > room && !r->failed.code)
		error_set(&r->failed, E_LIMIT, "%s: printed more than %zu bytes", r->path,
			  r->limits.output_bytes);
	return n > 0 && !r->failed.code;
}

static bool read_errors(struct program_run *r, int fd)
{
	size_t room = r->limits.error_bytes - r->errs.len;
	char buf[READ_BYTES];
	ssize_t n = read(fd, buf, sizeof(buf));
	if (n > 0) {
		strbuf_add(&r->errs, buf, (size_t)n < room ? (size_t)n : room);
		r->n_errors += (size_t)n;
	}
	if (r->n_errors > PROGRAM_FLOOD_BYTES && !r->failed.code)
		error_set(&r->failed, E_LIMIT, "%s: printed more than %zu MiB of errors", r->path,
			  PROGRAM_FLOOD_BYTES >> 20);
	return n > 0 && !r->failed.code;
}

static void on_said(struct program_run *r, struct event *e,
		    bool (*piece)(struct program_run *, int))
{
	if (piece(r, event_get_fd(e)))
		return;
	if (r->failed.code)
		stop(r);
	if (r->failed.code || (errno != EAGAIN && errno != EINTR))
		event_del(e);
}

static void on_output(evutil_socket_t fd UNUSED, short what UNUSED, void *arg)
{
	struct program_run *r = arg;
	errno = 0;
	on_said(r, r->out_event, read_output);
}

static void on_errors(evutil_socket_t fd UNUSED, short what UNUSED, void *arg)
{
	struct program_run *r = arg;
	errno = 0;
	on_said(r, r->err_event, read_errors);
}

/* A pipe holds 64 KiB: this ends. */
static void ended(struct program_run *r)
{
	r->reported = true;
	event_del(r->control);
	while (read_output(r, event_get_fd(r->out_event)))
		;
	while (read_errors(r, event_get_fd(r->err_event)))
		;
	event_del(r->out_event);
	event_del(r->err_event);
	loop_post(r->owner->loop, &r->owner->settle);
}

static void on_control(evutil_socket_t fd, short what UNUSED, void *arg)
{
	struct program_run *r = arg;
	ssize_t n = recv(fd, &r->report, sizeof(r->report), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != sizeof(r->report) && !r->failed.code)
		error_set(&r->failed, E_INTERNAL, "%s: the process that watched it was killed",
			  r->path);
	ended(r);
}

static void on_late(void *arg)
{
	struct program_run *r = arg;
	if (!r->failed.code)
		error_set(&r->failed, E_INTERNAL, "%s: the process that watches it does not answer",
			  r->path);
	ended(r);
}

/* --- its beginning --- */

static struct event *listen_to(struct program_run *r, int fd, event_callback_fn fn)
{
	struct event *e =
		event_new(loop_event_base(r->owner->loop), fd, EV_READ | EV_PERSIST, fn, r);
	assert(e);
	event_add(e, NULL);
	return e;
}

/* The launcher's; once more if it has died. 1: sent, 0: it is busy. */
static int send_order(struct program_run *r, const int fds[CHILD_FDS_MAX])
{
	struct programs_process *p = r->owner;
	for (int i = 0; i < 2; i++) {
		if (p->fd < 0 && launcher_start(p, &r->failed) < 0)
			return -r->failed.code;
		if (child_send(p->fd, r->order.buf, r->order.len, fds, CHILD_FDS_MAX))
			return 1;
		if (errno == EAGAIN)
			return 0;
		launcher_stop(p);
	}
	return error_set(&r->failed, E_IO, "%s: the launcher is gone", r->path);
}

static void close_all(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* Ours of control, output and errors; theirs in the order of a message. */
static bool open_pipes(int ours[3], int theirs[CHILD_FDS_MAX])
{
	int p[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p) < 0)
		return false;
	ours[0] = p[0];
	theirs[RUN_CONTROL] = p[1];
	for (int i = 1; i < 3; i++) {
		if (pipe2(p, O_CLOEXEC) < 0)
			return false;
		ours[i] = p[0];
		theirs[RUN_INPUT + i] = p[1];
		if (fcntl(p[0], F_SETFL, O_NONBLOCK) < 0)
			return false;
	}
	return true;
}

/* False: later, the launcher has enough to do. */
static bool start(struct program_run *r)
{
	int ours[3] = {-1, -1, -1}, theirs[CHILD_FDS_MAX] = {-1, -1, -1, -1};
	int sent = -1;
	if (open_pipes(ours, theirs)) {
		theirs[RUN_INPUT] = r->input;
		sent = send_order(r, theirs);
		theirs[RUN_INPUT] = -1;
	} else {
		error_set(&r->failed, E_IO, "%s: no pipe: %s", r->path, strerror(errno));
	}
	close_all(theirs, ARRAY_LEN(theirs));
	if (sent <= 0) {
		close_all(ours, ARRAY_LEN(ours));
		return sent < 0;
	}
	close(r->input);
	r->input = -1;
	strbuf_release(&r->order);
	r->started = true;
	r->owner->n_running++;
	r->control = listen_to(r, ours[0], on_control);
	r->out_event = listen_to(r, ours[1], on_output);
	r->err_event = listen_to(r, ours[2], on_errors);
	loop_arm(r->owner->loop, &r->late, r->limits.wall_ns + LATE_NS);
	return true;
}

/* The task: ends one that is complete, or starts those that may. */
static void settle(void *arg)
{
	struct programs_process *p = arg;
	struct program_run *r;
	TAILQ_FOREACH (r, &p->runs, link) {
		bool may = !r->started && !r->failed.code && p->n_running < PROGRAM_RUNNING_MAX;
		if (may && !start(r)) {
			loop_arm(p->loop, &p->retry, RETRY_NS);
			return;
		}
		if (r->reported || (!r->started && r->failed.code)) {
			finish(r);
			loop_post(p->loop, &p->settle);
			return; /* the callback may have changed the list */
		}
	}
}

/* --- the wall --- */

static void set_limits(struct program_limits *l)
{
	if (!l->output_bytes)
		l->output_bytes = PROGRAM_OUTPUT_BYTES;
	if (!l->error_bytes)
		l->error_bytes = PROGRAM_ERROR_BYTES;
	if (!l->memory_bytes)
		l->memory_bytes = PROGRAM_MEMORY_BYTES;
	if (!l->cpu_s)
		l->cpu_s = PROGRAM_CPU_S;
	if (!l->wall_ns)
		l->wall_ns = PROGRAM_WALL_NS;
}

static uint32_t add_texts(struct strbuf *b, const char *const *texts)
{
	uint32_t n = 0;
	for (; texts && texts[n] && n <= PROGRAM_ARGS_MAX; n++)
		strbuf_add(b, texts[n], strlen(texts[n]) + 1);
	return n;
}

static void write_order(struct program_run *r, const struct program_call *call)
{
	struct program_order o = {.limits = r->limits};
	const char *alone[] = {call->path, NULL};
	strbuf_add(&r->order, &o, sizeof(o));
	strbuf_add(&r->order, call->path, strlen(call->path) + 1);
	strbuf_add(&r->order, call->dir ? call->dir : "/", call->dir ? strlen(call->dir) + 1 : 2);
	o.n_args = add_texts(&r->order, call->argv ? call->argv : alone);
	o.n_env = add_texts(&r->order, call->env);
	o.n_reads = add_texts(&r->order, call->reads);
	o.n_writes = add_texts(&r->order, call->writes);
	o.confined = call->reads != NULL;
	o.offline = call->offline;
	o.is_users = call->is_users;
	memcpy(r->order.buf, &o, sizeof(o));
	if (r->order.over || o.n_args + o.n_env + o.n_reads + o.n_writes > PROGRAM_ARGS_MAX)
		error_set(&r->failed, E_LIMIT,
			  "%s: more than %d arguments and variables, or %zu bytes of them", r->path,
			  PROGRAM_ARGS_MAX, PROGRAM_ARGS_BYTES);
}

static void prepare(struct program_run *r, const struct program_call *call)
{
	assert(call->path[0] == '/');
	write_order(r, call);
	if (r->owner->n_runs >= PROGRAM_WAITING_MAX)
		error_set(&r->failed, E_TOOMANY, "%s: %d programs wait already", r->path,
			  PROGRAM_WAITING_MAX);
	else if (call->input.len > PROGRAM_INPUT_BYTES)
		error_set(&r->failed, E_LIMIT, "%s: input of %zu bytes, want at most %zu", r->path,
			  call->input.len, PROGRAM_INPUT_BYTES);
	else if (!r->failed.code)
		r->input = child_seal_input(call->input, &r->failed);
}

static struct program_run *process_run(struct programs *programs, const struct program_call *call,
				       program_done done, void *arg)
{
	struct programs_process *p = CONTAINER_OF(programs, struct programs_process, programs);
	struct program_run *r = xcalloc(1, sizeof(*r));
	r->owner = p;
	r->path = xstrdup(call->path);
	r->limits = call->limits;
	r->input = -1;
	r->done = done;
	r->arg = arg;
	r->late = (struct timer){.fn = on_late, .arg = r};
	set_limits(&r->limits);
	strbuf_init(&r->order, PROGRAM_ORDER_BYTES);
	strbuf_init(&r->out, r->limits.output_bytes);
	strbuf_init(&r->errs, r->limits.error_bytes);
	prepare(r, call);
	TAILQ_INSERT_TAIL(&p->runs, r, link);
	p->n_runs++;
	loop_post(p->loop, &p->settle);
	return r;
}

static void process_cancel(struct programs *programs UNUSED, struct program_run *r)
{
	r->cancelled = true;
	if (!r->failed.code)
		error_set(&r->failed, E_CANCELLED, "%s: cancelled", r->path);
	if (r->started)
		stop(r);
	else
		loop_post(r->owner->loop, &r->owner->settle);
}

static void process_free(struct programs *programs)
{
	struct programs_process *p = CONTAINER_OF(programs, struct programs_process, programs);
	while (!TAILQ_EMPTY(&p->runs))
		run_free(TAILQ_FIRST(&p->runs));
	loop_unpost(p->loop, &p->settle);
	loop_disarm(p->loop, &p->retry);
	launcher_stop(p);
	xfree(p);
}

static const struct programs_ops ops = {
	.run = process_run,
	.cancel = process_cancel,
	.free = process_free,
};

int programs_process_new(struct loop *l, struct programs **ret, struct error *err)
{
	struct programs_process *p = xcalloc(1, sizeof(*p));
	CLEANUP(programs_freep) struct programs *owner = &p->programs;
	p->programs.ops = &ops;
	p->loop = l;
	p->fd = -1;
	p->settle = (struct task){.fn = settle, .arg = p};
	p->retry = (struct timer){.fn = settle, .arg = p};
	TAILQ_INIT(&p->runs);
	if (launcher_start(p, err) < 0)
		return -err->code;
	*ret = STEAL(owner);
	return 0;
}
