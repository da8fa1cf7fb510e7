/*
 * phases: every phase of an InstallStrategy and every state of an AppType, with every edge between
 * them (lifecycle.md 4.1, 4.2). The tables are all there is: a reconcile that would write another
 * transition fails. tests/sim/test_sim.sh fails on an edge that no run takes. Pure.
 */
#ifndef ALM_CONTROLLERS_APP_PHASES_H
#define ALM_CONTROLLERS_APP_PHASES_H

#include "alm/controllers/app/app.h"

struct phase_edge {
	enum phase from, to;
	const char *why;
};

struct state_edge {
	const char *from, *to; /* names of states; "": New, which no status has */
	const char *why;
};

/* How long an unfinished phase may last, and what it becomes then. One that waits for a person, or
 * is over, rests: it has none. From the handoff on (7.1 step 8) Verifying is only overdue. */
struct phase_deadline {
	enum phase phase;
	int64_t ns;
	const char *field; /* of the AppType, that says another time; NULL: none may */
	enum phase then;
};

/* NULL: it rests. */
const struct phase_deadline *phase_deadline(enum phase phase);

/* NULL past the end. */
const struct phase_edge *phase_edge_at(size_t i);
const struct state_edge *state_edge_at(size_t i);

/* A strategy without a phase is Pending when its first reconcile begins. To stay is no transition.
 * A phase is the memory of its own reconcile alone, so each step is an edge. 0, or E_INTERNAL. */
int phase_check(enum phase from, enum phase to, struct error *err);
/* A state is computed again in each reconcile, of strategies that may have come further than one
 * edge since: a way over several edges is right, too. 0, or E_INTERNAL. */
int state_check(const char *from, const char *to, struct error *err);

#endif
