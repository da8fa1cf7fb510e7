/*
 * live_gate: one planned CustomResourceDefinition judged against the cluster (lifecycle.md 3): the
 * live definition, what the server's dry run makes of the planned one, and every live object. The
 * judging is catalog/gate; this is the reading: pages of 500 with one in memory, one reading for
 * all rules, through the storage version, or through each served version under a converter.
 *
 * The request is what a pure step asks for (strategy_gate.c):
 *	{"crd": {...}, "managedBefore": [], "managedAfter": [], "inputs": TEXT,
 *	 "waivers": [{rule, resource, path, reason, expiresNs}], "objectsVersion": N,
 *	 "owner": SELFREF that a live definition must be marked for; absent: any}
 * and the answer what the next reconcile sees:
 *	{"crd": NAME, "inputs": TEXT, "objectsVersion": N, "outcome": "allow" | "warn" | "refuse",
 *	 "findings": [...], "text": of the first refusal, "omitted": N,
 *	 "refusals": [...] as of waivers.h, "refusalsOmitted": N, "unusedWaivers": [TEXT],
 *	 "objects": N, "resourceVersion": of the live definition, absent without one,
 *	 "taken": true if that is marked for another, "durationMs": N}
 *
 * Errors that a later attempt may not meet end the job as an error; all others are findings. A list
 * that cannot be read to its end within the deadline is LiveCheckIncomplete.
 */
#ifndef ALM_LIVE_LIVE_GATE_H
#define ALM_LIVE_LIVE_GATE_H

#include "alm/client/client.h"
#include "alm/obj/obj.h"

#define LIVE_GATE_PAGE         500
#define LIVE_GATE_FINDINGS_MAX 50 /* listed: refusals, then warnings, then the rest */
#define LIVE_GATE_DEADLINE_NS  ((int64_t)600 * 1000000000)

struct live_gate;

/* Consumes value; NULL with an error. Called once, in a later turn, unless the job was freed. */
typedef void (*live_gate_done)(void *arg, struct obj *value, const struct error *err);

struct live_gate_config {
	struct client *client;
	const char *as; /* the account that the planned definition would be written as; it is read
			   and judged as ALM */
	struct loop *loop;
	const struct obj *request; /* referenced until the end */
	int64_t deadline_ns;       /* 0: LIVE_GATE_DEADLINE_NS */
	live_gate_done done;
	void *arg;
};

struct live_gate *live_gate_start(const struct live_gate_config *c);
void live_gate_free(struct live_gate *g); /* cancels; the job frees itself when it is done */

/* Names what was found without counts and clock: an approval and a plan are void when it changes.
 * The findings are those of one definition, as in the answer; NULL is none. */
const char *live_gate_key(const struct obj *findings, struct arena *a);

#endif
