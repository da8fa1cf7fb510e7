#include "alm/io/lane.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alm/io/child.h"

struct lane {
	int fd;
	pid_t child;
};

struct lane_parent {
	int fd;
	bool is_lost; /* a page of which a part is missing: what follows would be taken for it */
};

enum kind { KIND_ORDER, KIND_PAGE, KIND_END };

struct frame {
	uint64_t len;
	int32_t kind; /* enum kind */
	int32_t code; /* KIND_END: of the error, whose message the bytes are; 0: none */
};

static bool send_frame(int fd, enum kind kind, int code, struct str bytes)
{
	struct frame f = {.len = bytes.len, .kind = kind, .code = code};
	return child_write_all(fd, &f, sizeof(f)) && child_write_all(fd, bytes.ptr, bytes.len);
}

/* The buffer is what came; false: the other end is gone, or sends what it never would. */
static bool receive(int fd, struct frame *f, struct strbuf *b)
{
	strbuf_clear(b);
	if (!child_read_all(fd, f, sizeof(*f)) || f->len > LANE_PAGE_BYTES)
		return false;
	char *to = f->len ? strbuf_reserve(b, f->len) : NULL;
	if (f->len && (!to || !child_read_all(fd, to, f->len)))
		return false;
	strbuf_commit(b, f->len);
	return true;
}

/* ---- the child ---- */

bool lane_page(struct lane_parent *p, struct str page)
{
	if (page.len > LANE_PAGE_BYTES || p->is_lost)
		return false;
	p->is_lost = !send_frame(p->fd, KIND_PAGE, 0, page);
	return !p->is_lost;
}

static _Noreturn void child_main(int fd, lane_fn fn)
{
	struct strbuf order = STRBUF_INIT(LANE_PAGE_BYTES);
	struct error err = ERROR_INIT;
	struct lane_parent p = {.fd = fd};
	struct frame f;
	child_default_signals();
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN); /* of the terminal: the parent says when it is over */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (!receive(fd, &f, &order))
		_exit(0);
	int r = fn(&p, strbuf_str(&order), &err);
	if (p.is_lost)
		_exit(0);
	if (r < 0)
		(void)send_frame(fd, KIND_END, err.code, str_of(err.msg));
	else
		(void)send_frame(fd, KIND_END, 0, STR(""));
	_exit(0);
}

/* ---- the parent ---- */

int lane_new(lane_fn fn, struct lane **ret, struct error *err)
{
	int fds[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return error_set(err, E_IO, "socket of another process: %s", strerror(errno));
	pid_t child = fork();
	if (child == 0) {
		close(fds[0]);
		child_main(fds[1], fn);
	}
	close(fds[1]);
	if (child < 0) {
		close(fds[0]);
		return error_set(err, E_IO, "another process: %s", strerror(errno));
	}
	struct lane *l = xcalloc(1, sizeof(*l));
	*l = (struct lane){.fd = fds[0], .child = child};
	*ret = l;
	return 0;
}

static int is_gone(const struct lane *l, struct error *err)
{
	return error_set(err, E_INTERNAL, "process %ld, which works for this one, has ended",
			 (long)l->child);
}

int lane_order(struct lane *l, struct str order, struct error *err)
{
	void (*old)(int) = signal(SIGPIPE, SIG_IGN);
	bool sent = send_frame(l->fd, KIND_ORDER, 0, order);
	(void)signal(SIGPIPE, old);
	return sent ? 0 : is_gone(l, err);
}

int lane_read(struct lane *l, struct strbuf *page, struct error *err)
{
	struct frame f;
	if (!receive(l->fd, &f, page))
		return is_gone(l, err);
	if (f.kind == KIND_PAGE)
		return 1;
	return f.code ? error_set(err, f.code, "%s", page->buf) : 0;
}

void lane_free(struct lane *l)
{
	if (!l)
		return;
	kill(l->child, SIGKILL);
	close(l->fd);
	while (waitpid(l->child, NULL, 0) < 0 && errno == EINTR)
		;
	xfree(l);
}

size_t lane_cores(void)
{
	cpu_set_t mine;
	CPU_ZERO(&mine);
	int n = sched_getaffinity(0, sizeof(mine), &mine) == 0 ? CPU_COUNT(&mine) : 1;
	return n < 1 ? 1 : n > LANES_MAX ? LANES_MAX : (size_t)n;
}
