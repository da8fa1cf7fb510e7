/*
 * canary: a new version of a Deployment beside the old one, first for a few requests.
 * Pure: what is to be there, and what is next, from what is live.
 *
 * P is the live Deployment, D the one that is wanted, C is D as NAME-canary with the label
 * app.coreos.com/canary in its selector and its Pods, so Services select both and P is not written
 * before all steps are through. Of weight w C has the c >= 1 Pods nearest to r*w/(100-w), where P had
 * r available when the canary began; at 100, or after the last step, D is applied to P.
 *
 *	canary:
 *	  steps:
 *	  - {weight: 25, pause: 5m}
 *	  - {weight: 50, approval: Manual}
 *	  maxReplicas: 10
 *
 * In each step: C is applied, ready, paused, measured (the Prometheus checks of the step, anew), approved.
 * Whatever fails, or an abort by hand, ends it: C goes, P was never touched.
 *
 * By hand: annotations of C, by whoever may write it. CANARY_APPROVE names the weight that is approved
 * ("50: TEXT"); CANARY_SKIP: pauses, figures and approvals are left out, readiness is not; CANARY_ABORT.
 * The value is the reason. The same of the Bundle whose unit it is (canary_facts.told).
 */
#ifndef ALM_UNIT_CANARY_H
#define ALM_UNIT_CANARY_H

#include "alm/obj/obj.h"
#include "alm/unit/check.h"

struct canary_step {
	int64_t weight, pause_ns;
	bool approval;
};

struct canary {
	struct canary_step *steps; /* weights grow */
	size_t n;
	int64_t max_replicas;
	int64_t pause_ns; /* of all steps */
};

#define LABEL_CANARY        "app.coreos.com/canary"
#define CANARY_APPROVE      "app.coreos.com/canary-approve"
#define CANARY_SKIP         "app.coreos.com/canary-skip"
#define CANARY_ABORT_BY     "app.coreos.com/canary-abort"
#define CANARY_SUFFIX       "-canary"
#define CANARY_STEPS_MAX    32
#define CANARY_REPLICAS_MAX 10000
#define CANARY_REASON_MAX   256 /* bytes that are told of a reason */

/* Of the map at field; E_INVALID, E_LIMIT begin with the field. Arena. */
int canary_parse(const struct obj *o, const char *field, struct arena *a, struct canary **ret,
		 struct error *err);

/* Why an object has no canary; NULL: it may. Arena. */
const char *canary_refuses(const struct obj *desired, struct arena *a);
/* Does P run other Pods than D wants, or has what the manager applied and D leaves out? Else there is
 * nothing to try. */
bool canary_is_needed(const struct obj *live, const struct obj *desired, const char *manager);
/* Of a weight below 100. */
int64_t canary_replicas(int64_t available, int64_t weight, int64_t max);
/* C; owned. ns: of D, if it names none. */
struct obj *canary_object(const struct obj *desired, const char *ns, int64_t replicas);

/*
 * How far it is, as small JSON: {"at": step, "weight": of it, "available": r, "uid": of P, "sinceNs": of the step,
 * "readyNs": since when C is ready, "heldNs": in all, "heldBeforeNs": before the step, "askedNs": for approval, "metrics", "skipped": D on P needs no figures
 * either, "end": promote|abort, "reason",
 * "message", "by", "promoted": it was good, and what came after it ended}.
 */
enum canary_does {
	CANARY_PLACES,   /* C is to be applied, with turn.replicas */
	CANARY_WAITS,    /* turn.message; again_ns: look then, 0: when something changes */
	CANARY_MEASURES, /* the figures are to be asked: again with facts.measured */
	CANARY_PROMOTES, /* D is applied to P, then C goes */
	CANARY_ABORTS,   /* C goes, and the step has failed: "reason", "message" */
};

struct canary_facts {
	const struct obj *primary, *canary; /* live; NULL: not there */
	/* By hand, besides the annotations of C: {"approve": {"weight", "reason", "by"}, "skip":
	 * {"reason", "by"}, "abort": {..}}; NULL: nothing. */
	const struct obj *told;
	const char *how;                     /* what approves it: a command; NULL: the annotation */
	bool placed;                         /* C is as this step wants it */
	const struct check_result *ready;    /* of C; NULL: it is not placed */
	const struct check_result *measured; /* NULL: not asked in this look */
	int64_t now_ns;
};

struct canary_turn {
	enum canary_does does;
	int64_t replicas; /* of C in this step */
	const char *message;
	int64_t again_ns;
};

/* record: of a canary that has begun; what it says is carried on. */
void canary_begin(struct obj *record, const struct obj *primary, int64_t now_ns);
/* How many replicas C is to have now; 0: none any more. */
int64_t canary_wants(const struct canary *c, const struct obj *record);
void canary_next(const struct canary *c, const struct canary_facts *f, struct obj *record,
		 struct arena *a, struct canary_turn *ret);
/* For how long a person was waited for, or data, in all of its steps. */
int64_t canary_held_ns(const struct obj *record, int64_t now_ns);
/* What was told (canary_facts.told), as "REASON (claimed by BY)" in one line; NULL: nothing. Arena. */
const char *canary_told(const struct obj *told, const char *what, struct arena *a);
/* It failed for another reason than those. */
void canary_end(struct obj *record, const char *reason, const char *message);

#endif
