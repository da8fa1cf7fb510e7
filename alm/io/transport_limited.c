/*
 * transport_limited: another transport with a limit on the rate of requests (client-go's QPS and
 * Burst): burst of them at once, then so many a second, in the order in which they came. A request
 * that waits takes nothing of its own timeout.
 */
#include <assert.h>
#include <sys/queue.h>

#include "alm/base/arena.h"
#include "alm/base/clock.h"
#include "alm/io/transport.h"

#define CALL_BYTES_MAX ((size_t)64 << 20) /* soft limit of a copy */

struct limited {
	struct transport transport;
	struct loop *loop;
	struct transport *inner;
	int64_t interval_ns; /* between two requests */
	int64_t credit_ns;   /* what burst is worth */
	int64_t due_ns;      /* when the next one would be due without burst; monotonic */
	struct timer timer;
	TAILQ_HEAD(, call) waiting, started;
};

struct call {
	struct limited *limited;
	TAILQ_ENTRY(call) link;
	struct arena *arena; /* of the copy; NULL once it was started */
	struct transport_request request;
	struct transport_events events;
	void *arg;
	struct call *inner; /* NULL while it waits */
};

static void call_free(struct call *c)
{
	arena_free(c->arena);
	xfree(c);
}

static void on_head(void *arg, int status, const struct http_headers *h)
{
	struct call *c = arg;
	if (c->events.head)
		c->events.head(c->arg, status, h);
}

static void on_data(void *arg, struct str chunk)
{
	struct call *c = arg;
	c->events.data(c->arg, chunk);
}

static void on_done(void *arg, const struct error *err)
{
	struct call *c = arg;
	struct transport_events events = c->events;
	void *caller = c->arg;
	TAILQ_REMOVE(&c->limited->started, c, link);
	call_free(c);
	events.done(caller, err);
}

/* Takes one request out of the bucket; or says how long there is none. */
static int64_t wait_ns(struct limited *l)
{
	int64_t now = loop_mono(l->loop);
	int64_t due = l->due_ns > now ? l->due_ns : now;
	if (due - now > l->credit_ns)
		return due - now - l->credit_ns;
	l->due_ns = due + l->interval_ns;
	return 0;
}

static void start_waiting(void *arg)
{
	static const struct transport_events events = {on_head, on_data, on_done};
	struct limited *l = arg;
	for (struct call *c = TAILQ_FIRST(&l->waiting); c; c = TAILQ_FIRST(&l->waiting)) {
		int64_t wait = wait_ns(l);
		if (wait) {
			loop_arm(l->loop, &l->timer, wait);
			return;
		}
		TAILQ_REMOVE(&l->waiting, c, link);
		TAILQ_INSERT_TAIL(&l->started, c, link);
		c->inner = transport_start(l->inner, &c->request, &events, c);
		arena_free(STEAL(c->arena));
	}
}

static void copy_request(struct call *c, const struct transport_request *r)
{
	struct arena *a = c->arena = arena_new(CALL_BYTES_MAX);
	c->request = *r;
	c->request.method = arena_strdup(a, r->method);
	c->request.target = arena_strdup(a, r->target);
	c->request.body =
		str_n(arena_text(a, r->body.ptr ? r->body.ptr : "", r->body.len), r->body.len);
	if (r->trusted_audit_id)
		c->request.trusted_audit_id = arena_strdup(a, r->trusted_audit_id);
	for (size_t i = 0; i < r->headers.n; i++)
		c->request.headers.items[i] =
			(struct http_header){arena_strdup(a, r->headers.items[i].name),
					     arena_strdup(a, r->headers.items[i].value)};
}

static struct call *limited_start(struct transport *t, const struct transport_request *r,
				  const struct transport_events *events, void *arg)
{
	struct limited *l = CONTAINER_OF(t, struct limited, transport);
	struct call *c = xcalloc(1, sizeof(*c));
	*c = (struct call){.limited = l, .events = *events, .arg = arg};
	copy_request(c, r);
	TAILQ_INSERT_TAIL(&l->waiting, c, link);
	if (TAILQ_FIRST(&l->waiting) == c)
		start_waiting(l);
	return c;
}

static void limited_cancel(struct transport *t, struct call *c)
{
	struct limited *l = CONTAINER_OF(t, struct limited, transport);
	if (c->inner) {
		transport_cancel(l->inner, c->inner);
		TAILQ_REMOVE(&l->started, c, link);
	} else {
		TAILQ_REMOVE(&l->waiting, c, link);
	}
	call_free(c);
}

static void limited_free(struct transport *t)
{
	struct limited *l = CONTAINER_OF(t, struct limited, transport);
	while (!TAILQ_EMPTY(&l->waiting))
		limited_cancel(t, TAILQ_FIRST(&l->waiting));
	while (!TAILQ_EMPTY(&l->started))
		limited_cancel(t, TAILQ_FIRST(&l->started));
	loop_disarm(l->loop, &l->timer);
	transport_free(l->inner);
	xfree(l);
}

struct transport *transport_limited_new(struct loop *loop, struct transport *inner, double qps,
					int64_t burst)
{
	static const struct transport_ops ops = {limited_start, limited_cancel, limited_free};
	struct limited *l = xcalloc(1, sizeof(*l));
	assert(qps > 0 && burst > 0 && burst <= TRANSPORT_BURST_MAX);
	*l = (struct limited){.transport = {&ops}, .loop = loop, .inner = inner};
	l->interval_ns = (int64_t)((double)NS_PER_S / qps);
	l->credit_ns = (burst - 1) * l->interval_ns;
	l->timer = (struct timer){.fn = start_waiting, .arg = l};
	TAILQ_INIT(&l->waiting);
	TAILQ_INIT(&l->started);
	return &l->transport;
}
