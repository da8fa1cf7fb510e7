/*
 * install_state: the states of an Install and their edges as one table (fleet.md 2.4), and which one a
 * run is in by what is known of it. Pure.
 *
 * As of a Bundle, nothing remembers a position: the facts name a state, and the way there leads along
 * edges of the table. Beyond that page each running state leads to Planning (another process begins the
 * attempt anew), what prunes to Verifying (what a step had made has vanished), Failed and RollingBack
 * (it was aborted).
 *
 * Not in the table, as they cannot be on the one cluster that ALM itself runs on: Preparing (an Install is
 * named by what was rendered, so it is made after that), Planned (there are no stages whose turn comes),
 * Offline, Skipped and Lost (a cluster that does not answer runs no ALM, either).
 */
#ifndef ALM_CONTROLLERS_FLEET_INSTALL_STATE_H
#define ALM_CONTROLLERS_FLEET_INSTALL_STATE_H

#include "alm/controllers/fleet/bundle_state.h"

enum install_state {
	INSTALL_PLANNING,
	INSTALL_BLOCKED,
	INSTALL_APPLYING,
	INSTALL_VERIFYING,
	INSTALL_PRUNING,
	INSTALL_ROLLING_BACK,
	INSTALL_SUCCEEDED,
	INSTALL_DELETED,
	INSTALL_ROLLED_BACK,
	INSTALL_FAILED,
	INSTALL_SUPERSEDED,
	INSTALL_STATES,
};

const char *install_state_name(enum install_state s); /* "Applying" */
enum install_state
install_state_find(const char *name);            /* INSTALL_PLANNING for NULL and what is none */
const char *install_phase(enum install_state s); /* "running" */
bool install_edge(enum install_state from, enum install_state to);
/* There is a way, or it is there. */
bool install_leads(enum install_state from, enum install_state to);
/* Completed or failed: nothing goes on. */
bool install_has_ended(enum install_state s);
/* What one becomes whose place another run takes; itself: it has ended. */
enum install_state install_replaced(enum install_state s);

/* How far a run is. */
struct install_facts {
	enum bundle_run run;
	bool deleting;                 /* all that the Bundle has goes */
	bool told;                     /* there is a record of it */
	bool tries;                    /* a canary is under way: what there is is not written yet */
	size_t steps, begun, finished; /* of the unit */
};

enum install_state install_state_of(const struct install_facts *f);

#endif
