/* net_answers: answers on their way: in pieces, each with the time when it is there. */
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "alm/base/strbuf.h"
#include "tests/sim/net_internal.h"

bool net_is_frozen(const struct net *n)
{
	return n->frozen && n->frozen(n->frozen_arg);
}

int64_t net_latency(struct net *n)
{
	return prng_latency_ns(&n->prng, n->faults->on);
}

static void piece_free(struct piece *p)
{
	strbuf_release(&p->text);
	xfree(p);
}

struct piece *net_piece_add(struct call *c, int what, int64_t after_ns)
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

void net_lose(struct call *c, int64_t after_ns, int code, const char *why)
{
	struct piece *p = net_piece_add(c, PIECE_LOST, after_ns);
	error_set(&p->err, code, "%s: %s", c->label, why);
	net_flight_leave(c->flight);
	c->flight = NULL;
}

void net_call_free(struct call *c)
{
	struct loop *l = c->remote->net->loop;
	struct piece *p;
	net_flight_leave(c->flight);
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

bool net_is_lease(const char *path)
{
	return strstr(path, "/leases") != NULL;
}

bool net_is_write(const struct http_request *r)
{
	return strcmp(r->method, "GET") != 0;
}

/* Who reads a story wants its writes. */
enum trace_level net_story(bool write, const char *path)
{
	bool is_told = write && !net_is_lease(path) && !strstr(path, "/events");
	return is_told ? TRACE_STORY : TRACE_WIRE;
}

void net_finish(struct call *c, const struct error *err)
{
	struct transport_events events = c->events;
	void *arg = c->arg;
	struct error copy = err ? *err : ERROR_INIT;
	trace_event(&c->remote->net->sim->trace,
		    err ? net_story(c->is_write, c->label) : TRACE_WIRE, c->remote->name,
		    err ? "lost" : "done", c->label, err ? str_of(err->msg) : STR_NONE);
	net_call_free(c);
	events.done(arg, err ? &copy : NULL);
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
		trace_event(t, p->status >= 400 ? net_story(c->is_write, c->label) : TRACE_WIRE,
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

void net_deliver(void *arg)
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
		net_finish(c, lost ? &err : NULL);
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
