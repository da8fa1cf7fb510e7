#include "tests/sim/transport_sim.h"

#include <string.h>
#include <sys/queue.h>

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "tests/sim/net_internal.h"

static void on_deadline(void *arg)
{
	struct call *c = arg;
	struct error err = ERROR_INIT;
	error_set(&err, E_TIMEOUT, "%s: no answer in time", c->label);
	net_finish(c, &err);
}

/* Requests */

static void launch(struct call *c, const struct transport_request *r)
{
	struct remote *remote = c->remote;
	struct net *n = remote->net;
	struct faults *f = n->faults;
	bool duplicate = false;
	/* The user does not send requests that overtake each other by minutes: they carry no
	 * preconditions. */
	int64_t after = remote->faulty ? net_latency(n) : prng_latency_ns(&n->prng, false);
	if (remote->dead)
		return;
	if (remote->faulty) {
		n->stats.requests++;
		n->stats.writes += c->is_write;
		if (net_strike_point(c, &duplicate) || net_strike_before(c))
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
		/* what was asked later is answered sooner */
		if (fault_strikes_answer(f, FAULT_ANSWER_HELD) && !c->is_watch)
			c->lag_ns = (int64_t)prng_below(&f->answers, 20 * 1000) * NS_PER_MS;
	}
	c->flight = net_flight_new(remote, r, c, after);
	if (duplicate) /* nobody hears its answer */
		net_flight_new(remote, r, NULL,
			       after + (int64_t)prng_below(&n->prng, 40) * NS_PER_S);
	if (remote->faulty && fault_strikes(f, FAULT_REPLY_LATE) && !c->is_watch) {
		/* It is applied, and the client stops waiting at its deadline. */
		c->flight->call = NULL;
		c->flight = NULL;
		net_lose(c, c->timeout_ns ? c->timeout_ns : LOST_NS, E_TIMEOUT,
			 "no answer in time");
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
	c->is_write = strcmp(r->method, "GET") != 0 && !net_is_review(r->target);
	const char *query = strchr(r->target, '?');
	c->is_watch = query && (strstr(query, "watch=1") || strstr(query, "watch=true"));
	CLEANUP(strbuf_release) struct strbuf label = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&label, "%s %s", r->method, r->target);
	c->label = strbuf_detach(&label);
	if (!c->is_write && !c->is_watch && query)
		c->list_key = xstrdup(r->target);
	TAILQ_INIT(&c->pieces);
	strbuf_init(&c->body, CALL_BYTES_MAX);
	c->deliver = (struct timer){.fn = net_deliver, .arg = c};
	c->deadline = (struct timer){.fn = on_deadline, .arg = c};
	c->idle = (struct timer){.fn = on_deadline, .arg = c};
	TAILQ_INSERT_TAIL(&remote->calls, c, link);
	trace_event(&remote->net->sim->trace, net_story(c->is_write, c->label), remote->name,
		    "start", c->label, r->body);
	if (c->timeout_ns)
		loop_arm(remote->net->loop, &c->deadline, c->timeout_ns);
	if (c->idle_ns)
		loop_arm(remote->net->loop, &c->idle, c->idle_ns);
	launch(c, r);
	return c;
}

static void sim_cancel(struct transport *t UNUSED, struct call *c)
{
	net_call_free(c);
}

static void sim_free(struct transport *t)
{
	struct remote *r = CONTAINER_OF(t, struct remote, transport);
	struct call *c;
	while ((c = TAILQ_FIRST(&r->calls)) != NULL)
		net_call_free(c);
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
		net_flight_free(f);
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
			net_lose(f->call, REFUSED_NS, E_IO, "the server is gone");
	}
}

void net_server_gone(struct net *n)
{
	struct flight *f, *next;
	for (f = TAILQ_FIRST(&n->flights); f; f = next) {
		next = TAILQ_NEXT(f, link);
		if (f->deaf)
			net_flight_free(f);
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
