/* net_exchange: requests on their way to the server, and what its side says of them. */
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "alm/base/strbuf.h"
#include "tests/sim/events.h"
#include "tests/sim/net_internal.h"

void net_flight_free(struct flight *f)
{
	loop_disarm(f->net->loop, &f->arrive);
	loop_unpost(f->net->loop, &f->closed);
	TAILQ_REMOVE(&f->net->flights, f, link);
	arena_free(f->exchange.arena);
	xfree(f);
}

/* The handler is done with it. */
static void flight_over(struct flight *f)
{
	f->over = true;
	f->exchange.on_close = NULL;
	if (f->call)
		f->call->flight = NULL;
	f->call = NULL;
	/* Freed by the task: the handler may still touch the arena until it returns. */
	loop_post(f->net->loop, &f->closed);
}

/* The task: tells the handler that the client is gone, or frees what is over. */
static void on_flight_closed(void *arg)
{
	struct flight *f = arg;
	if (!f->over && f->exchange.on_close && !f->deaf) {
		f->over = true;
		f->exchange.on_close(f->exchange.on_close_arg);
	}
	if (f->over || !f->arrived)
		net_flight_free(f);
}

void net_flight_leave(struct flight *f)
{
	if (!f)
		return;
	f->call = NULL;
	if (f->arrived)
		loop_post(f->net->loop, &f->closed);
}

static struct flight *flight_of(struct exchange *x)
{
	return CONTAINER_OF(x, struct flight, exchange);
}

/* A question that is posted: nothing is written by it. */
bool net_is_review(const char *target)
{
	return strstr(target, "selfsubject") != NULL;
}

/* The call that hears the server's next word, or NULL. */
static struct call *listener(struct flight *f)
{
	return f->deaf || net_is_frozen(f->net) ? NULL : f->call;
}

static void on_begin(struct exchange *x, int status, const struct http_headers *h)
{
	struct flight *f = flight_of(x);
	struct call *c = listener(f);
	if (!c) {
		/* A stream that began for a client that is gone already. */
		if (!f->deaf)
			loop_post(f->net->loop, &f->closed);
		return;
	}
	for (size_t i = 0; h && i < h->n; i++)
		http_header_add(&c->headers, arena_strdup(c->arena, h->items[i].name),
				arena_strdup(c->arena, h->items[i].value));
	struct piece *p = net_piece_add(c, PIECE_HEAD, net_latency(c->remote->net));
	p->status = status;
}

/* A change that is still on its way is overtaken by a later one of the same object. */
static bool is_merged(struct call *c, struct str chunk)
{
	struct faults *f = c->remote->net->faults;
	struct piece *last = TAILQ_LAST(&c->pieces, piece_list);
	if (!last || last->what != PIECE_DATA ||
	    !events_supersede(strbuf_str(&last->text), chunk) ||
	    !fault_strikes_event(f, FAULT_EVENT_MERGED))
		return false;
	strbuf_clear(&last->text);
	strbuf_addstr(&last->text, chunk);
	return true;
}

static size_t on_write(struct exchange *x, struct str chunk)
{
	struct call *c = listener(flight_of(x));
	if (!c || chunk.len == 0)
		return 0;
	bool events = c->is_watch && c->remote->faulty;
	if (events && is_merged(c, chunk))
		return 0;
	bool cut = c->cut_stream_after == 1;
	c->cut_stream_after -= c->cut_stream_after > 0;
	struct piece *p = net_piece_add(c, PIECE_DATA, net_latency(c->remote->net) + c->lag_ns);
	if (!cut) {
		strbuf_addstr(&p->text, chunk);
		if (events && fault_strikes_event(c->remote->net->faults, FAULT_EVENT_TWICE))
			strbuf_addstr(&net_piece_add(c, PIECE_DATA, 0)->text, chunk);
		return 0;
	}
	/* In the middle of a frame. */
	strbuf_addstr(&p->text, str_sub(chunk, 0, chunk.len / 2));
	net_lose(c, net_latency(c->remote->net), E_IO, "the connection was lost in the middle");
	return 0;
}

static void on_end(struct exchange *x)
{
	struct flight *f = flight_of(x);
	struct call *c = listener(f);
	if (c)
		net_piece_add(c, PIECE_END, 0);
	if (!f->deaf)
		flight_over(f);
}

static void on_reply(struct exchange *x, int status, const struct http_headers *h, struct str body)
{
	struct flight *f = flight_of(x);
	struct call *c = listener(f);
	const struct http_request *rq = f->exchange.request;
	char text[16];
	snprintf(text, sizeof(text), "%d", status);
	f->net->stats.exists += f->faulty && status == 409 && strcmp(rq->method, "POST") == 0;
	if (!f->deaf && !net_is_frozen(f->net))
		trace_event(&f->net->sim->trace, net_story(net_is_write(rq), rq->path), "server",
			    text, rq->path, body);
	if (c && c->lose_reply) {
		net_lose(c, LOST_NS, E_IO, "the connection was lost before the answer");
		c = NULL;
	}
	if (c) {
		on_begin(x, status, h);
		if (c->cut_body && body.len > 1)
			c->cut_stream_after = 1;
		on_write(x, body);
	}
	on_end(x);
}

static void on_cut(struct exchange *x)
{
	struct flight *f = flight_of(x);
	struct call *c = listener(f);
	if (c)
		net_lose(c, 0, E_IO, "the connection was closed");
	if (!f->deaf)
		flight_over(f);
}

static const struct exchange_ops exchange_ops = {
	.reply = on_reply,
	.begin = on_begin,
	.write = on_write,
	.end = on_end,
	.cut = on_cut,
};

static void on_arrive(void *arg)
{
	struct flight *f = arg;
	struct net *n = f->net;
	const struct http_request *r = f->exchange.request;
	if (!n->handler || net_is_frozen(n)) {
		if (f->call)
			net_lose(f->call, REFUSED_NS, E_IO, "connection refused");
		net_flight_free(f);
		return;
	}
	f->arrived = true;
	trace_event(&n->sim->trace, TRACE_WIRE, "server", r->method, r->path, r->body);
	if (net_is_write(r) && !net_is_lease(r->path))
		n->stats.idle_writes++;
	if (n->observe)
		n->observe(n->observe_arg, r, f->faulty);
	n->handler(n->handler_arg, &f->exchange);
}

static void copy_request(struct flight *f, const struct transport_request *r, const char *token)
{
	struct arena *a = f->exchange.arena;
	struct http_request *q = f->exchange.request = ARENA_NEW(a, struct http_request);
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

struct flight *net_flight_new(struct remote *remote, const struct transport_request *r,
			      struct call *c, int64_t after_ns)
{
	struct net *n = remote->net;
	struct flight *f = xcalloc(1, sizeof(*f));
	f->net = n;
	f->call = c;
	f->faulty = remote->faulty;
	f->exchange.ops = &exchange_ops;
	f->exchange.arena = arena_new(CALL_BYTES_MAX);
	f->arrive = (struct timer){.fn = on_arrive, .arg = f};
	f->closed = (struct task){.fn = on_flight_closed, .arg = f};
	copy_request(f, r, remote->token);
	TAILQ_INSERT_TAIL(&n->flights, f, link);
	loop_arm(n->loop, &f->arrive, after_ns);
	return f;
}
