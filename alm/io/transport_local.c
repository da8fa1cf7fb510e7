/*
 * transport_local: the server of this very process, without a socket. The handler is called in the
 * next turn, and what it answers is delivered by a task: neither side is ever called from inside
 * the other.
 */
#include <assert.h>
#include <string.h>
#include <sys/queue.h>

#include "alm/base/strbuf.h"
#include "alm/io/transport.h"

#define CALL_BYTES_MAX  ((size_t)64 << 20) /* soft limit of a handler's memory */
#define QUEUE_BYTES_MAX ((size_t)64 << 20)
#define TOKEN_BYTES_MAX 4096

struct local {
	struct transport transport;
	struct loop *loop;
	server_handler handler;
	void *arg;
	char *token;
	TAILQ_HEAD(, call) calls;
};

/* Freed when both sides are done with it. */
struct call {
	struct exchange exchange;
	struct local *local;
	TAILQ_ENTRY(call) link;
	struct transport_events events;
	void *arg;
	int64_t idle_ns;
	size_t body_max, body_bytes;
	struct task start, deliver;
	struct timer deadline, idle;
	struct http_headers reply_headers; /* in the arena */
	int status;                        /* 0: not answered yet */
	struct strbuf out;
	struct error failed;
	bool open;      /* the handler owns the exchange */
	bool ended;     /* nothing follows out */
	bool cancelled; /* the caller hears nothing more */
	bool delivering;
};

static void call_free(struct call *c)
{
	struct loop *l = c->local->loop;
	loop_unpost(l, &c->start);
	loop_unpost(l, &c->deliver);
	loop_disarm(l, &c->deadline);
	loop_disarm(l, &c->idle);
	TAILQ_REMOVE(&c->local->calls, c, link);
	strbuf_release(&c->out);
	arena_free(c->exchange.arena);
	xfree(c);
}

/* The caller's side is over: tells the handler. One that did not ask to be told answers later, and
 * the call is freed then. */
static void hang_up(struct call *c)
{
	c->cancelled = true;
	if (c->delivering)
		return;
	loop_unpost(c->local->loop, &c->deliver);
	if (c->open && c->exchange.on_close) {
		c->open = false;
		c->exchange.on_close(c->exchange.on_close_arg);
	}
	if (!c->open)
		call_free(c);
}

static void fail(struct call *c, const struct error *err)
{
	struct transport_events events = c->events;
	void *arg = c->arg;
	struct error copy = *err;
	hang_up(c);
	events.done(arg, &copy);
}

static void on_deadline(void *arg)
{
	struct call *c = arg;
	struct error err = ERROR_INIT;
	error_set(&err, E_TIMEOUT, "%s %s: no answer in time", c->exchange.request->method,
		  c->exchange.request->path);
	fail(c, &err);
}

static void deliver_data(struct call *c)
{
	struct strbuf chunk = c->out;
	strbuf_init(&c->out, QUEUE_BYTES_MAX);
	c->body_bytes += chunk.len;
	if (c->body_max && c->body_bytes > c->body_max)
		error_set(&c->failed, E_LIMIT, "%s %s: answer is larger than %zu bytes",
			  c->exchange.request->method, c->exchange.request->path, c->body_max);
	else
		c->events.data(c->arg, strbuf_str(&chunk));
	strbuf_release(&chunk);
}

/* A callback may cancel the call, which is then ended here. */
static void deliver(void *arg)
{
	struct call *c = arg;
	c->delivering = true;
	if (c->status > 0 && !c->cancelled && c->events.head)
		c->events.head(c->arg, c->status, &c->reply_headers);
	if (c->status > 0)
		c->status = -1;
	if (!c->cancelled && c->out.len)
		deliver_data(c);
	c->delivering = false;
	if (c->cancelled) {
		hang_up(c);
	} else if (c->failed.code) {
		fail(c, &c->failed);
	} else if (c->ended) {
		struct transport_events events = c->events;
		void *events_arg = c->arg;
		call_free(c);
		events.done(events_arg, NULL);
	} else {
		if (c->idle_ns)
			loop_arm(c->local->loop, &c->idle, c->idle_ns);
		if (c->exchange.on_writable)
			c->exchange.on_writable(c->exchange.on_writable_arg);
	}
}

static struct call *call_of(struct exchange *x)
{
	return CONTAINER_OF(x, struct call, exchange);
}

static void changed(struct call *c)
{
	loop_post(c->local->loop, &c->deliver);
}

static void closed(struct call *c)
{
	c->open = false;
	c->exchange.on_close = NULL;
	c->ended = true;
	changed(c); /* also frees a cancelled call */
}

static void on_begin(struct exchange *x, int status, const struct http_headers *h)
{
	struct call *c = call_of(x);
	assert(c->open && c->status == 0);
	c->status = status;
	for (size_t i = 0; h && i < h->n; i++)
		http_header_add(&c->reply_headers, arena_strdup(x->arena, h->items[i].name),
				arena_strdup(x->arena, h->items[i].value));
	changed(c);
}

static size_t on_write(struct exchange *x, struct str chunk)
{
	struct call *c = call_of(x);
	if (c->cancelled || chunk.len == 0)
		return c->out.len;
	strbuf_addstr(&c->out, chunk);
	if (c->out.over)
		error_set(&c->failed, E_LIMIT, "%s %s: %zu bytes wait to be read",
			  x->request->method, x->request->path, c->out.len);
	changed(c);
	return c->out.len;
}

static void on_end(struct exchange *x)
{
	closed(call_of(x));
}

static void on_reply(struct exchange *x, int status, const struct http_headers *h, struct str body)
{
	on_begin(x, status, h);
	on_write(x, body);
	on_end(x);
}

static void on_cut(struct exchange *x)
{
	struct call *c = call_of(x);
	error_set(&c->failed, E_IO, "%s %s: the connection was closed", x->request->method,
		  x->request->path);
	closed(c);
}

static const struct exchange_ops exchange_ops = {
	.reply = on_reply,
	.begin = on_begin,
	.write = on_write,
	.end = on_end,
	.cut = on_cut,
};

static void start(void *arg)
{
	struct call *c = arg;
	c->open = true;
	c->local->handler(c->local->arg, &c->exchange);
}

static void copy_request(struct call *c, const struct transport_request *r, const char *token)
{
	struct arena *a = c->exchange.arena;
	struct http_request *q = c->exchange.request = ARENA_NEW(a, struct http_request);
	struct str path, query;
	if (!str_cut(str_of(r->target), '?', &path, &query))
		query = STR("");
	q->method = arena_strdup(a, r->method);
	q->path = arena_strndup(a, path.ptr, path.len);
	q->query = arena_strndup(a, query.ptr, query.len);
	q->body = str_n(arena_memdup(a, r->body.ptr ? r->body.ptr : "", r->body.len), r->body.len);
	q->peer = "";
	if (r->trusted_audit_id)
		q->trusted_audit_id = arena_strdup(a, r->trusted_audit_id);
	for (size_t i = 0; i < r->headers.n; i++)
		http_header_add(&q->headers, arena_strdup(a, r->headers.items[i].name),
				arena_strdup(a, r->headers.items[i].value));
	if (token && !http_header(&q->headers, "Authorization"))
		http_header_add(&q->headers, "Authorization", arena_fmt(a, "Bearer %s", token));
}

static struct call *local_start(struct transport *t, const struct transport_request *r,
				const struct transport_events *events, void *arg)
{
	struct local *local = CONTAINER_OF(t, struct local, transport);
	struct call *c = xcalloc(1, sizeof(*c));
	c->local = local;
	c->exchange.ops = &exchange_ops;
	c->exchange.arena = arena_new(CALL_BYTES_MAX);
	c->events = *events;
	c->arg = arg;
	c->idle_ns = r->idle_ns;
	c->body_max = r->body_max;
	c->start = (struct task){.fn = start, .arg = c};
	c->deliver = (struct task){.fn = deliver, .arg = c};
	c->deadline = (struct timer){.fn = on_deadline, .arg = c};
	c->idle = (struct timer){.fn = on_deadline, .arg = c};
	strbuf_init(&c->out, QUEUE_BYTES_MAX);
	copy_request(c, r, local->token);
	TAILQ_INSERT_TAIL(&local->calls, c, link);
	loop_post(local->loop, &c->start);
	if (r->timeout_ns)
		loop_arm(local->loop, &c->deadline, r->timeout_ns);
	if (r->idle_ns)
		loop_arm(local->loop, &c->idle, r->idle_ns);
	return c;
}

static void local_cancel(struct transport *t UNUSED, struct call *c)
{
	hang_up(c);
}

static void local_free(struct transport *t)
{
	struct local *local = CONTAINER_OF(t, struct local, transport);
	struct call *c;
	while ((c = TAILQ_FIRST(&local->calls)) != NULL) {
		c->cancelled = true;
		if (c->open && c->exchange.on_close)
			c->exchange.on_close(c->exchange.on_close_arg);
		call_free(c);
	}
	xfree(local->token);
	xfree(local);
}

static const struct transport_ops ops = {
	.start = local_start,
	.cancel = local_cancel,
	.free = local_free,
};

struct transport *transport_local_new(struct loop *l, server_handler handler, void *arg,
				      const char *token)
{
	struct local *local = xcalloc(1, sizeof(*local));
	local->transport.ops = &ops;
	local->loop = l;
	local->handler = handler;
	local->arg = arg;
	local->token = token ? xstrndup(token, TOKEN_BYTES_MAX) : NULL;
	TAILQ_INIT(&local->calls);
	return &local->transport;
}
