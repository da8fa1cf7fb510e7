/*
 * bundle_state: the states of a Bundle and their edges as one table (fleet.md 2.5), and which one
 * it is in by what is known. Pure.
 *
 * Nothing remembers a position: the facts name a state, and the way there from the one that the
 * status has leads along edges of the table alone. What is said on the way is one status and one
 * entry of the log, with the last state.
 *
 * Soaking is in the table and never entered: stages are not built.
 */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_STATE_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alm/obj/obj.h"

enum bundle_state {
	BUNDLE_NEW,
	BUNDLE_FETCHING,
	BUNDLE_SOURCE_FAILED,
	BUNDLE_RENDERING,
	BUNDLE_INVALID,
	BUNDLE_PLANNING,
	BUNDLE_BLOCKED,
	BUNDLE_ROLLING,
	BUNDLE_SOAKING,
	BUNDLE_AWAITING_APPROVAL,
	BUNDLE_STOPPED,
	BUNDLE_ROLLING_BACK,
	BUNDLE_ROLLED_BACK,
	BUNDLE_SYNCED,
	BUNDLE_DEGRADED,
	BUNDLE_DELETING,
	BUNDLE_STATES,
};

/* What its condition Ready is while it lasts. */
enum bundle_ready { READY_AS_BEFORE, READY_TRUE, READY_FALSE, READY_UNKNOWN };

const char *bundle_state_name(enum bundle_state s);    /* "SourceFailed" */
enum bundle_state bundle_state_find(const char *name); /* BUNDLE_NEW for NULL and what is none */
enum bundle_ready bundle_state_ready(enum bundle_state s);
bool bundle_edge(enum bundle_state from, enum bundle_state to);

/* How the reading of its source went last. */
enum bundle_source { SOURCE_UNREAD, SOURCE_READ, SOURCE_FAILED, SOURCE_INVALID };
/* How far the unit is that was made of it. */
enum bundle_run {
	RUN_NONE,
	RUN_GOES,
	RUN_DONE,
	RUN_FAILED,
	RUN_REFUSED,
	RUN_HELD,
	RUN_GOES_BACK, /* to the revision before, which a failed one has changed */
	RUN_WENT_BACK,
	BUNDLE_RUNS,
};

/* record: of the unit, once it is begun. */
enum bundle_run bundle_run_of(const struct obj *record);

struct bundle_facts {
	bool deleting;
	enum bundle_source source;
	enum bundle_run run;
	bool newer;             /* what was read is not what the run is of */
	bool drifts, unhealthy; /* of one that is done */
};

/* A run that has ended, and for how long. */
struct bundle_ended {
	enum bundle_run run;
	bool is_other; /* the spec says something else than when it began */
	bool is_asked; /* somebody asks for it: bundle_is_asked() */
	unsigned failures;
	int64_t since_ns;
};

/* When the same revision is run again. Asked for what has failed: at once. Of another spec: at once, by what it says now of drift and
 * deletes. What was refused may be let in by somebody else's change: after 1, 2, 4 .. 60 minutes. -1:
 * never. */
int64_t bundle_retry_in(const struct bundle_ended *e);

enum bundle_state bundle_state_of(const struct bundle_facts *f);
/* The states after from, up to to; 0: it is there. At most BUNDLE_STATES. */
size_t bundle_way(enum bundle_state from, enum bundle_state to,
		  enum bundle_state ret[BUNDLE_STATES]);

#endif
