/*
 * net_internal: the simulated network, shared by transport_sim.c (requests, life), net_exchange.c (the
 * server's side), net_answers.c (answers on their way) and net_strikes.c (faults).
 */
#ifndef TESTS_SIM_NET_INTERNAL_H
#define TESTS_SIM_NET_INTERNAL_H

#include <sys/queue.h>

#include "alm/base/strbuf.h"
#include "tests/sim/transport_sim.h"

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
	int64_t lag_ns; /* of a watch: its replica is so late; of an answer: it is held so long */
	struct strbuf body; /* of a list, for the history */
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

/* --- net_answers.c --- */
bool net_is_frozen(const struct net *n);
int64_t net_latency(struct net *n);
/* A piece that is there so much later, and not before the one before it. */
struct piece *net_piece_add(struct call *c, int what, int64_t after_ns);
/* Nothing more comes, from then on. */
void net_lose(struct call *c, int64_t after_ns, int code, const char *why);
void net_call_free(struct call *c);
bool net_is_lease(const char *path);
bool net_is_write(const struct http_request *r);
/* Who reads a story wants its writes. */
enum trace_level net_story(bool write, const char *path);
/* Tells the caller, and frees it. */
void net_finish(struct call *c, const struct error *err);
/* Of the timer: the next piece. */
void net_deliver(void *arg);

/* --- net_exchange.c --- */
void net_flight_free(struct flight *f);
/* Nobody listens any more; NULL: nothing. */
void net_flight_leave(struct flight *f);
/* A question that is posted: nothing is written by it. */
bool net_is_review(const char *target);
struct flight *net_flight_new(struct remote *remote, const struct transport_request *r,
			      struct call *c, int64_t after_ns);

/* --- net_strikes.c --- */
/* True if the fault answered in the server's place. */
bool net_strike_before(struct call *c);
bool net_strike_point(struct call *c, bool *ret_duplicate);

#endif
