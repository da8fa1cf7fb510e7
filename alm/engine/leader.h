/*
 * leader: which of several controllers acts on a cluster, by a coordination.k8s.io Lease (the rules
 * of client-go's leader election; lifecycle.md 7.3).
 *
 * A Lease is taken when it has no holder, when its holder is this identity (the same audit log,
 * started again: its lock is exclusive), when its holder is known to be dead (is_dead), or when it
 * did not change for its duration by our own monotonic clock; clocks of other machines are never
 * compared. Every write of it carries the resourceVersion it saw, so of two only one succeeds.
 *
 * on_lost comes when no renewal was confirmed for LEADER_RENEW_NS: a holder waits for no write longer
 * than its Lease lasts. Who takes a Lease over that ran out begins after that. Who takes it over
 * before, from one that is dead or resigned, does not: that one sends nothing any more, and its kernel
 * has closed its connections, but a server may still carry out what it had read. So whoever begins
 * goes on as if writes of the former were under way (late_write_ns in view.h, inventory.h).
 */
#ifndef ALM_ENGINE_LEADER_H
#define ALM_ENGINE_LEADER_H

#include "alm/base/clock.h"
#include "alm/client/client.h"

#define LEADER_LEASE_NS (60 * NS_PER_S)
#define LEADER_RENEW_NS (30 * NS_PER_S) /* the Lease less the time limit of a write */
#define LEADER_RETRY_NS (5 * NS_PER_S)

struct leader;

struct leader_config {
	struct client *client;
	const char *ns, *name; /* of the Lease; the namespace is created when missing */
	const char *identity;
	/* epoch: how often the Lease changed hands. Each is followed by on_lost or by the end. */
	void (*on_elected)(void *arg, int64_t epoch);
	void (*on_lost)(void *arg);
	void (*on_waiting)(void *arg, const char *holder); /* once per holder; optional */
	/* A read or a write of it was refused, or had no answer; it is tried again. Optional. */
	void (*on_failed)(void *arg, const struct error *err);
	/* True only of one that has certainly ended: its Lease is not waited for. Asked at each look. NULL: of
	 * nobody. */
	bool (*is_dead)(const char *holder);
	int64_t wait_ns; /* between looks at a Lease of somebody else; 0: LEADER_RETRY_NS */
	void *arg;
};

struct leader *leader_new(const struct leader_config *c); /* copies the texts; tries at once */
bool leader_is_elected(const struct leader *l);
/* Gives the Lease up so that another need not wait, after the renewal that is under way; done is called
 * once, also when that failed. on_lost is not called. */
void leader_resign(struct leader *l, void (*done)(void *arg), void *arg);
void leader_free(struct leader *l); /* as a crash: the Lease runs out */
DEFINE_FREEP(leader)

#endif
