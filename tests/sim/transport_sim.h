/*
 * transport_sim: the network between the clients and the server of a simulation. It calls the
 * server's handler as transport_local does, but with latencies and faults, and it outlives both
 * sides.
 *
 * A server that crashes takes its exchanges along: the clients see lost connections. A client that
 * crashes frees its transport: the server sees closed connections, a little later.
 */
#ifndef TESTS_SIM_TRANSPORT_SIM_H
#define TESTS_SIM_TRANSPORT_SIM_H

#include "alm/io/transport.h"
#include "tests/sim/faults.h"
#include "tests/sim/loop_sim.h"

struct net;

struct net *net_new(struct sim *s, struct faults *faults);
void net_free(struct net *n); /* after every transport */

/* The server comes up, or goes: before its memory goes, net_server_down() makes every open exchange
 * deaf; net_server_gone() frees them after it. */
void net_server_up(struct net *n, server_handler handler, void *arg);
void net_server_down(struct net *n);
void net_server_gone(struct net *n);
/* While *frozen is true nothing leaves the server any more: its power is off, it does not know. */
void net_server_watch(struct net *n, bool (*frozen)(void *arg), void *arg);

struct net_client {
	const char *name, *token;
	bool faulty; /* meets faults; its writes are counted for fault points */
};

struct transport *transport_sim_new(struct net *n, struct loop *l, const struct net_client *c);

/* The one-shot fault. Crashes are asked for: the world looks at net_crash_due() after each step. */
void net_set_point(struct net *n, const struct fault_point *p);
bool net_crash_due(struct net *n); /* of the faulty client; forgets it */

/* For so long the server does not know the faulty clients' token: 401 to all that begins. */
void net_revoke(struct net *n, int64_t ns);

struct net_stats {
	uint64_t requests, writes; /* of faulty clients; writes that reached the server or not */
	uint64_t exists;           /* creates by faulty clients that the server answered with 409 */
	uint64_t idle_writes;      /* since net_reset_idle(), of everybody, Leases apart */
};
const struct net_stats *net_stats(const struct net *n);
void net_reset_idle(struct net *n);
/* Sees every request that is handed to the server; for invariants. */
void net_observe(struct net *n, void (*fn)(void *arg, const struct http_request *r, bool faulty),
		 void *arg);

#endif
