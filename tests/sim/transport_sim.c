#include "tests/sim/transport_sim.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "tests/sim/events.h"

#define CALL_BYTES_MAX ((size_t)64 << 20)
#define HISTORY_LISTS  64
#define HISTORY_DEPTH  4
#define REFUSED_NS     (5 * NS_PER_MS)
#define LOST_NS        (8 * NS_PER_S) /* until a lost connection is noticed */

/* What the server has of a request. Freed when the handler and the call are both done with it. */
struct flight {
	struct exchange exchange;
	struct net *net;
	struct call *call; /* NULL: nobody listens */
	TAILQ_ENTRY(flight) link;
	struct timer arrive;
	struct task closed;
	bool faulty, arrived, over, deaf;
};

/* One piece of an answer on its way. */
struct piece {
	TAILQ_ENTRY(piece) link;
	enum { PIECE_HEAD, PIECE_DATA, PIECE_END, PIECE_LOST } what;
	int64_t at;
	int status;
	struct strbuf text;
	struct error err;
};

struct call {
	struct remote *remote;
	TAILQ_ENTRY(call) link;
	struct transport_events events;
	void *arg;
	struct flight *flight;
	struct arena *arena;
	struct http_headers headers;
	char *label; /* "PATCH /api/v1/..." */
	char *list_key;
	TAILQ_HEAD(piece_list, piece) pieces;
	struct timer deliver, deadline, idle;
	int64_t last_at, timeout_ns, idle_ns;
	size_t body_max, body_bytes;
	bool is_write, is_watch;
	bool lose_reply, cut_body, crash_after;
	int cut_stream_after; /* pieces; 0: never */
	int64_t lag_ns;       /* of a watch: its replica is so late */
	struct strbuf body;   /* of a list, for the history */
};

struct remote {
	struct transport transport;
	struct net *net;
	char *name, *token;
	bool faulty, dead;
	TAILQ_HEAD(, call) calls;
	TAILQ_ENTRY(remote) link;
};

struct history {
	char *key;
	char *bodies[HISTORY_DEPTH];
	size_t n;
};

struct net {
	struct sim *sim;
	struct loop *loop;
	struct faults *faults;
	struct prng prng;
	server_handler handler;
	void *handler_arg;
	bool (*frozen)(void *arg);
	void *frozen_arg;
	TAILQ_HEAD(, flight) flights;
	struct fault_point point;
	bool crash_due;
	int64_t revoked_until; /* of the monotonic clock */
	struct net_stats stats;
	struct history history[HISTORY_LISTS];
	size_t n_history;
	void (*observe)(void *arg, const struct http_request *r, bool faulty);
	void *observe_arg;
};

static bool is_frozen(const struct net *n)
{
	return n->frozen && n->frozen(n->frozen_arg);
}

static int64_t latency(struct net *n)
{
	return prng_latency_ns(&n->prng, n->faults->on);
}

/* Flights */

static void flight_free(struct flight *f)
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
		flight_free(f);
}

static void flight_leave(struct flight *f)
{
	if (!f)
		return;
	f->call = NULL;
	if (f->arrived)
		loop_post(f->net->loop, &f->closed);
}

/* Answers on their way */

static void piece_free(struct piece *p)
{
	strbuf_release(&p->text);
	xfree(p);
}

static struct piece *piece_add(struct call *c, int what, int64_t after_ns)
{
	struct net *n = c->remote->net;
	struct piece *p = xcalloc(1, sizeof(*p));
	p->what = what;
	p->at = n->sim->mono_ns + after_ns;
	if (p->at < c->last_at)
		p->at = c->last_at; /* one connection keeps its order */
	c->last_at = p->at;
	strbuf_init(&p->text, CALL_BYTES_MAX);
	TAILQ_INSERT_TAIL(&c->pieces, p, link);
	if (TAILQ_FIRST(&c->pieces) == p)
		loop_arm(n->loop, &c->deliver, p->at - n->sim->mono_ns);
	return p;
}

static void lose(struct call *c, int64_t after_ns, int code, const char *why)
{
	struct piece *p = piece_add(c, PIECE_LOST, after_ns);
	error_set(&p->err, code, "%s: %s", c->label, why);
	flight_leave(c->flight);
	c->flight = NULL;
}

static void call_free(struct call *c)
{
	struct loop *l = c->remote->net->loop;
	struct piece *p;
	flight_leave(c->flight);
	while ((p = TAILQ_FIRST(&c->pieces)) != NULL) {
		TAILQ_REMOVE(&c->pieces, p, link);
		piece_free(p);
	}
	loop_disarm(l, &c->deliver);
	loop_disarm(l, &c->deadline);
	loop_disarm(l, &c->idle);
	TAILQ_REMOVE(&c->remote->calls, c, link);
	strbuf_release(&c->body);
	xfree(c->label);
	xfree(c->list_key);
	arena_free(c->arena);
	xfree(c);
}

static bool is_lease(const char *path)
{
	return strstr(path, "/leases") != NULL;
}

static bool is_write(const struct http_request *r)
{
	return strcmp(r->method, "GET") != 0;
}

/* Who reads a story wants its writes. */
static enum trace_level story(bool write, const char *path)
{
	bool is_told = write && !is_lease(path) && !strstr(path, "/events");
	return is_told ? TRACE_STORY : TRACE_WIRE;
}

static void finish(struct call *c, const struct error *err)
{
	struct transport_events events = c->events;
	void *arg = c->arg;
	struct error copy = err ? *err : ERROR_INIT;
	trace_event(&c->remote->net->sim->trace, err ? story(c->is_write, c->label) : TRACE_WIRE,
		    c->remote->name, err ? "lost" : "done", c->label,
		    err ? str_of(err->msg) : STR_NONE);
	call_free(c);
	events.done(arg, err ? &copy : NULL);
}

static void on_deadline(void *arg)
{
	struct call *c = arg;
	struct error err = ERROR_INIT;
	error_set(&err, E_TIMEOUT, "%s: no answer in time", c->label);
	finish(c, &err);
}

static void remember(struct call *c)
{
	struct net *n = c->remote->net;
	struct history *h = NULL;
	for (size_t i = 0; i < n->n_history && !h; i++)
		if (strcmp(n->history[i].key, c->list_key) == 0)
			h = &n->history[i];
	if (!h && n->n_history < HISTORY_LISTS) {
		h = &n->history[n->n_history++];
		h->key = xstrdup(c->list_key);
	}
	if (!h)
		return;
	if (h->n == HISTORY_DEPTH) {
		xfree(h->bodies[0]);
		memmove(h->bodies, h->bodies + 1, (HISTORY_DEPTH - 1) * sizeof(h->bodies[0]));
		h->n--;
	}
	h->bodies[h->n++] = xstrdup(c->body.buf);
}

static void deliver_piece(struct call *c, struct piece *p)
{
	struct trace *t = &c->remote->net->sim->trace;
	char status[16];
	switch (p->what) {
	case PIECE_HEAD:
		snprintf(status, sizeof(status), "%d", p->status);
		trace_event(t, p->status >= 400 ? story(c->is_write, c->label) : TRACE_WIRE,
			    c->remote->name, "head", c->label, str_of(status));
		if (c->events.head)
			c->events.head(c->arg, p->status, &c->headers);
		break;
	case PIECE_DATA:
		trace_event(t, TRACE_WIRE, c->remote->name, "data", c->label, strbuf_str(&p->text));
		if (c->idle_ns)
			loop_arm(c->remote->net->loop, &c->idle, c->idle_ns);
		c->events.data(c->arg, strbuf_str(&p->text));
		break;
	case PIECE_END:
	case PIECE_LOST:
		break;
	}
}

static bool is_alive(struct remote *r, struct call *c)
{
	struct call *i;
	TAILQ_FOREACH (i, &r->calls, link)
		if (i == c)
			return true;
	return false;
}

static void on_deliver(void *arg)
{
	struct call *c = arg;
	struct remote *r = c->remote;
	struct net *n = r->net;
	struct piece *p = TAILQ_FIRST(&c->pieces);
	TAILQ_REMOVE(&c->pieces, p, link);
	if (c->crash_after && p->what != PIECE_LOST) {
		n->crash_due = true;
		r->dead = true;
		piece_free(p);
		return;
	}
	c->body_bytes += p->text.len;
	if (c->body_max && c->body_bytes > c->body_max && p->what == PIECE_DATA) {
		p->what = PIECE_LOST;
		error_set(&p->err, E_LIMIT, "%s: answer is larger than %zu bytes", c->label,
			  c->body_max);
	}
	if (p->what == PIECE_END && c->list_key)
		remember(c);
	if (p->what == PIECE_END || p->what == PIECE_LOST) {
		struct error err = p->err;
		bool lost = p->what == PIECE_LOST;
		piece_free(p);
		finish(c, lost ? &err : NULL);
		return;
	}
	if (c->list_key)
		strbuf_addstr(&c->body, strbuf_str(&p->text));
	deliver_piece(c, p);
	piece_free(p);
	p = is_alive(r, c) ? TAILQ_FIRST(&c->pieces) : NULL;
	if (p)
		loop_arm(n->loop, &c->deliver, p->at - n->sim->mono_ns);
}

/* The exchange: what the server's side calls */

static struct flight *flight_of(struct exchange *x)
{
	return CONTAINER_OF(x, struct flight, exchange);
}

/* The call that hears the server's next word, or NULL. */
/* A question that is posted: nothing is written by it. */
static bool is_review(const char *target)
{
	return strstr(target, "selfsubject") != NULL;
}

static struct call *listener(struct flight *f)
{
	return f->deaf || is_frozen(f->net) ? NULL : f->call;
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
	struct piece *p = piece_add(c, PIECE_HEAD, latency(c->remote->net));
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
	struct piece *p = piece_add(c, PIECE_DATA, latency(c->remote->net) + c->lag_ns);
	if (!cut) {
		strbuf_addstr(&p->text, chunk);
		if (events && fault_strikes_event(c->remote->net->faults, FAULT_EVENT_TWICE))
			strbuf_addstr(&piece_add(c, PIECE_DATA, 0)->text, chunk);
		return 0;
	}
	/* In the middle of a frame. */
	strbuf_addstr(&p->text, str_sub(chunk, 0, chunk.len / 2));
	lose(c, latency(c->remote->net), E_IO, "the connection was lost in the middle");
	return 0;
}

static void on_end(struct exchange *x)
{
	struct flight *f = flight_of(x);
	struct call *c = listener(f);
	if (c)
		piece_add(c, PIECE_END, 0);
	if (!f->deaf)
		flight_over(f);
}

static void on_reply(struct exchange *x, int status, const struct http_headers *h, struct str body)
{
	struct flight *f = flight_of(x);
	struct call *c = listener(f);
	const struct http_request *rq = &f->exchange.request;
	char text[16];
	snprintf(text, sizeof(text), "%d", status);
	f->net->stats.exists += f->faulty && status == 409 && strcmp(rq->method, "POST") == 0;
	if (!f->deaf && !is_frozen(f->net))
		trace_event(&f->net->sim->trace, story(is_write(rq), rq->path), "server", text,
			    rq->path, body);
	if (c && c->lose_reply) {
		lose(c, LOST_NS, E_IO, "the connection was lost before the answer");
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
		lose(c, 0, E_IO, "the connection was closed");
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
	const struct http_request *r = &f->exchange.request;
	if (!n->handler || is_frozen(n)) {
		if (f->call)
			lose(f->call, REFUSED_NS, E_IO, "connection refused");
		flight_free(f);
		return;
	}
	f->arrived = true;
	trace_event(&n->sim->trace, TRACE_WIRE, "server", r->method, r->path, r->body);
	if (is_write(r) && !is_lease(r->path))
		n->stats.idle_writes++;
	if (n->observe)
		n->observe(n->observe_arg, r, f->faulty);
	n->handler(n->handler_arg, &f->exchange);
}

/* Requests */

static void copy_request(struct flight *f, const struct transport_request *r, const char *token)
{
	struct arena *a = f->exchange.arena;
	struct http_request *q = &f->exchange.request;
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

static struct flight *flight_new(struct remote *remote, const struct transport_request *r,
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

/* An answer that the server never gave. */
static void answer(struct call *c, int status, const char *reason, const char *retry_after)
{
	struct net *n = c->remote->net;
	struct piece *head = piece_add(c, PIECE_HEAD, latency(n) + latency(n));
	head->status = status;
	http_header_add(&c->headers, "Content-Type", "application/json");
	if (retry_after)
		http_header_add(&c->headers, "Retry-After", retry_after);
	struct piece *body = piece_add(c, PIECE_DATA, 0);
	strbuf_addf(&body->text,
		    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
		    "\"Failure\",\"message\":\"injected\",\"reason\":\"%s\",\"code\":%d}\n",
		    reason, status);
	piece_add(c, PIECE_END, 0);
}

static bool answer_stale_list(struct call *c)
{
	struct net *n = c->remote->net;
	for (size_t i = 0; c->list_key && i < n->n_history; i++) {
		struct history *h = &n->history[i];
		if (strcmp(h->key, c->list_key) != 0)
			continue;
		piece_add(c, PIECE_HEAD, latency(n))->status = 200;
		http_header_add(&c->headers, "Content-Type", "application/json");
		struct piece *body = piece_add(c, PIECE_DATA, latency(n));
		strbuf_adds(&body->text, h->bodies[prng_below(&n->prng, h->n)]);
		piece_add(c, PIECE_END, 0);
		return true;
	}
	return false;
}

static void answer_gone(struct call *c)
{
	struct net *n = c->remote->net;
	piece_add(c, PIECE_HEAD, latency(n))->status = 200;
	http_header_add(&c->headers, "Content-Type", "application/json");
	struct piece *frame = piece_add(c, PIECE_DATA, latency(n));
	strbuf_adds(
		&frame->text,
		"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\","
		"\"metadata\":{},\"status\":\"Failure\",\"message\":\"too old resource version\","
		"\"reason\":\"Expired\",\"code\":410}}\n");
	piece_add(c, PIECE_END, 0);
}

/* True if the fault answered in the server's place. */
static bool strike_before(struct call *c)
{
	static const struct {
		enum fault_id id;
		int status;
		const char *reason, *retry_after;
		bool writes_only;
	} refusals[] = {
		{FAULT_409, 409, "Conflict", NULL, true},
		{FAULT_429, 429, "TooManyRequests", "1", false},
		{FAULT_500, 500, "InternalError", NULL, false},
		{FAULT_503, 503, "ServiceUnavailable", "2", false},
		{FAULT_504, 504, "Timeout", NULL, false},
	};
	struct faults *f = c->remote->net->faults;
	if (c->remote->net->sim->mono_ns < c->remote->net->revoked_until) {
		answer(c, 401, "Unauthorized", NULL);
		return true;
	}
	if (fault_strikes(f, FAULT_REQUEST_LOST)) {
		lose(c, LOST_NS, E_IO, "the connection was lost");
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		if (!fault_strikes(f, refusals[i].id) || (refusals[i].writes_only && !c->is_write))
			continue;
		answer(c, refusals[i].status, refusals[i].reason, refusals[i].retry_after);
		return true;
	}
	if (c->is_watch && fault_strikes(f, FAULT_WATCH_410)) {
		answer_gone(c);
		return true;
	}
	return c->list_key && fault_strikes(f, FAULT_STALE_LIST) && answer_stale_list(c);
}

static bool strike_point(struct call *c, bool *ret_duplicate)
{
	struct net *n = c->remote->net;
	if (!c->is_write || n->point.at_commit || n->stats.writes != n->point.n)
		return false;
	switch (n->point.what) {
	case POINT_CRASH_BEFORE:
		n->crash_due = true;
		c->remote->dead = true;
		return true;
	case POINT_CRASH_AFTER:
		c->crash_after = true;
		return false;
	case POINT_REPLY_LOST:
		c->lose_reply = true;
		return false;
	case POINT_409:
		answer(c, 409, "Conflict", NULL);
		return true;
	case POINT_500:
		answer(c, 500, "InternalError", NULL);
		return true;
	case POINT_DUPLICATE:
		*ret_duplicate = true;
		return false;
	case POINT_NONE:
		break;
	}
	return false;
}

static void launch(struct call *c, const struct transport_request *r)
{
	struct remote *remote = c->remote;
	struct net *n = remote->net;
	struct faults *f = n->faults;
	bool duplicate = false;
	/* The user does not send requests that overtake each other by minutes: they carry no
	 * preconditions. */
	int64_t after = remote->faulty ? latency(n) : prng_latency_ns(&n->prng, false);
	if (remote->dead)
		return;
	if (remote->faulty) {
		n->stats.requests++;
		n->stats.writes += c->is_write;
		if (strike_point(c, &duplicate) || strike_before(c))
			return;
		c->lose_reply |= fault_strikes(f, FAULT_REPLY_LOST);
		c->cut_body = fault_strikes(f, FAULT_BODY_CUT);
		duplicate |= fault_strikes(f, FAULT_DUPLICATE);
		if (fault_strikes(f, FAULT_DELAY))
			after += (int64_t)prng_below(&n->prng, 60) * NS_PER_S;
		if (c->is_watch && fault_strikes(f, FAULT_WATCH_CUT))
			c->cut_stream_after = 1 + (int)prng_below(&n->prng, 8);
		if (c->is_watch && fault_strikes_later(f, FAULT_WATCH_LAG))
			c->lag_ns = (int64_t)prng_below(&f->later, 20 * 1000) * NS_PER_MS;
	}
	c->flight = flight_new(remote, r, c, after);
	if (duplicate) /* nobody hears its answer */
		flight_new(remote, r, NULL, after + (int64_t)prng_below(&n->prng, 40) * NS_PER_S);
	if (remote->faulty && fault_strikes(f, FAULT_REPLY_LATE) && !c->is_watch) {
		/* It is applied, and the client stops waiting at its deadline. */
		c->flight->call = NULL;
		c->flight = NULL;
		lose(c, c->timeout_ns ? c->timeout_ns : LOST_NS, E_TIMEOUT, "no answer in time");
	}
}

static struct call *sim_start(struct transport *t, const struct transport_request *r,
			      const struct transport_events *events, void *arg)
{
	struct remote *remote = CONTAINER_OF(t, struct remote, transport);
	struct call *c = xcalloc(1, sizeof(*c));
	c->remote = remote;
	c->events = *events;
	c->arg = arg;
	c->timeout_ns = r->timeout_ns;
	c->idle_ns = r->idle_ns;
	c->body_max = r->body_max;
	c->arena = arena_new(CALL_BYTES_MAX);
	c->is_write = strcmp(r->method, "GET") != 0 && !is_review(r->target);
	const char *query = strchr(r->target, '?');
	c->is_watch = query && (strstr(query, "watch=1") || strstr(query, "watch=true"));
	CLEANUP(strbuf_release) struct strbuf label = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&label, "%s %s", r->method, r->target);
	c->label = strbuf_detach(&label);
	if (!c->is_write && !c->is_watch && query)
		c->list_key = xstrdup(r->target);
	TAILQ_INIT(&c->pieces);
	strbuf_init(&c->body, CALL_BYTES_MAX);
	c->deliver = (struct timer){.fn = on_deliver, .arg = c};
	c->deadline = (struct timer){.fn = on_deadline, .arg = c};
	c->idle = (struct timer){.fn = on_deadline, .arg = c};
	TAILQ_INSERT_TAIL(&remote->calls, c, link);
	trace_event(&remote->net->sim->trace, story(c->is_write, c->label), remote->name, "start",
		    c->label, r->body);
	if (c->timeout_ns)
		loop_arm(remote->net->loop, &c->deadline, c->timeout_ns);
	if (c->idle_ns)
		loop_arm(remote->net->loop, &c->idle, c->idle_ns);
	launch(c, r);
	return c;
}

static void sim_cancel(struct transport *t UNUSED, struct call *c)
{
	call_free(c);
}

static void sim_free(struct transport *t)
{
	struct remote *r = CONTAINER_OF(t, struct remote, transport);
	struct call *c;
	while ((c = TAILQ_FIRST(&r->calls)) != NULL)
		call_free(c);
	xfree(r->name);
	xfree(r->token);
	xfree(r);
}

static const struct transport_ops ops = {
	.start = sim_start,
	.cancel = sim_cancel,
	.free = sim_free,
};

struct transport *transport_sim_new(struct net *n, struct loop *l UNUSED,
				    const struct net_client *c)
{
	struct remote *r = xcalloc(1, sizeof(*r));
	r->transport.ops = &ops;
	r->net = n;
	r->name = xstrdup(c->name);
	r->token = c->token ? xstrdup(c->token) : NULL;
	r->faulty = c->faulty;
	TAILQ_INIT(&r->calls);
	return &r->transport;
}

/* The network */

struct net *net_new(struct sim *s, struct faults *faults)
{
	struct net *n = xcalloc(1, sizeof(*n));
	n->sim = s;
	n->faults = faults;
	n->loop = loop_sim_new(s, "net");
	prng_init(&n->prng, s->seed, "net");
	TAILQ_INIT(&n->flights);
	return n;
}

void net_free(struct net *n)
{
	struct flight *f;
	while ((f = TAILQ_FIRST(&n->flights)) != NULL)
		flight_free(f);
	for (size_t i = 0; i < n->n_history; i++) {
		xfree(n->history[i].key);
		for (size_t k = 0; k < n->history[i].n; k++)
			xfree(n->history[i].bodies[k]);
	}
	loop_free(n->loop);
	xfree(n);
}

void net_server_up(struct net *n, server_handler handler, void *arg)
{
	n->handler = handler;
	n->handler_arg = arg;
}

void net_server_down(struct net *n)
{
	struct flight *f;
	n->handler = NULL;
	TAILQ_FOREACH (f, &n->flights, link) {
		if (!f->arrived || f->over)
			continue;
		f->deaf = true;
		if (f->call)
			lose(f->call, REFUSED_NS, E_IO, "the server is gone");
	}
}

void net_server_gone(struct net *n)
{
	struct flight *f, *next;
	for (f = TAILQ_FIRST(&n->flights); f; f = next) {
		next = TAILQ_NEXT(f, link);
		if (f->deaf)
			flight_free(f);
	}
}

void net_server_watch(struct net *n, bool (*frozen)(void *arg), void *arg)
{
	n->frozen = frozen;
	n->frozen_arg = arg;
}

void net_revoke(struct net *n, int64_t ns)
{
	n->revoked_until = n->sim->mono_ns + ns;
}

void net_set_point(struct net *n, const struct fault_point *p)
{
	n->point = *p;
}

bool net_crash_due(struct net *n)
{
	bool due = n->crash_due;
	n->crash_due = false;
	return due;
}

const struct net_stats *net_stats(const struct net *n)
{
	return &n->stats;
}

void net_reset_idle(struct net *n)
{
	n->stats.idle_writes = 0;
}

void net_observe(struct net *n, void (*fn)(void *arg, const struct http_request *r, bool faulty),
		 void *arg)
{
	n->observe = fn;
	n->observe_arg = arg;
}
