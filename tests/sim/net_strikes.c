/* net_strikes: the faults that are answered in the server's place. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "tests/sim/net_internal.h"

#define REVOKED_NS (30 * NS_PER_S) /* of a token that ended at a write */

/* An answer that the server never gave. */
static void answer(struct call *c, int status, const char *reason, const char *retry_after)
{
	struct net *n = c->remote->net;
	struct piece *head = net_piece_add(c, PIECE_HEAD, net_latency(n) + net_latency(n));
	head->status = status;
	http_header_add(&c->headers, "Content-Type", "application/json");
	if (retry_after)
		http_header_add(&c->headers, "Retry-After", retry_after);
	struct piece *body = net_piece_add(c, PIECE_DATA, 0);
	strbuf_addf(&body->text,
		    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
		    "\"Failure\",\"message\":\"injected\",\"reason\":\"%s\",\"code\":%d}\n",
		    reason, status);
	net_piece_add(c, PIECE_END, 0);
}

static bool answer_stale_list(struct call *c)
{
	struct net *n = c->remote->net;
	for (size_t i = 0; c->list_key && i < n->n_history; i++) {
		struct history *h = &n->history[i];
		if (strcmp(h->key, c->list_key) != 0)
			continue;
		net_piece_add(c, PIECE_HEAD, net_latency(n))->status = 200;
		http_header_add(&c->headers, "Content-Type", "application/json");
		struct piece *body = net_piece_add(c, PIECE_DATA, net_latency(n));
		strbuf_adds(&body->text, h->bodies[prng_below(&n->prng, h->n)]);
		net_piece_add(c, PIECE_END, 0);
		return true;
	}
	return false;
}

static void answer_gone(struct call *c)
{
	struct net *n = c->remote->net;
	net_piece_add(c, PIECE_HEAD, net_latency(n))->status = 200;
	http_header_add(&c->headers, "Content-Type", "application/json");
	struct piece *frame = net_piece_add(c, PIECE_DATA, net_latency(n));
	strbuf_adds(
		&frame->text,
		"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\","
		"\"metadata\":{},\"status\":\"Failure\",\"message\":\"too old resource version\","
		"\"reason\":\"Expired\",\"code\":410}}\n");
	net_piece_add(c, PIECE_END, 0);
}

/* True if the fault answered in the server's place. */
bool net_strike_before(struct call *c)
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
		net_lose(c, LOST_NS, E_IO, "the connection was lost");
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

bool net_strike_point(struct call *c, bool *ret_duplicate)
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
	case POINT_REVOKED: /* the token ends with this write, another comes later */
		net_revoke(n, REVOKED_NS);
		answer(c, 401, "Unauthorized", NULL);
		return true;
	case POINT_NONE:
		break;
	}
	return false;
}
