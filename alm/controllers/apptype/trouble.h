/*
 * trouble: what is wrong with an app beside its upgrades (lifecycle.md 4.1, 4.3): drift that stays,
 * workloads that are not available, a state that lasts too long. Pure; computed again in every
 * pass.
 */
#ifndef ALM_CONTROLLERS_APPTYPE_TROUBLE_H
#define ALM_CONTROLLERS_APPTYPE_TROUBLE_H

#include "alm/base/clock.h"
#include "alm/controllers/app/app.h"

#define UNAVAILABLE_NS (2 * NS_PER_MIN)   /* of a workload that nobody took away, until Degraded */
#define RESOLVING_NS   (2 * NS_PER_MIN)   /* for catalogs that were never read */
#define HANDOFF_NS     (10 * NS_PER_MIN)  /* from the handoff on there is no way back */
#define AWAITING_NS    (24 * NS_PER_HOUR) /* for a person, until it is alerted of */
#define DELETING_NS    (30 * NS_PER_MIN)

struct trouble {
	const char *drifted, *drift;   /* reason and message of drift that nobody repairs; NULL */
	const char *degraded, *why;    /* of what is installed; NULL */
	const char *overdue, *blocker; /* the state that lasts too long, and what it waits for */
	const char *unapproved;        /* a version that waits for a person for a day; NULL */
};

/* DONE: an app is being deleted for too long. */
enum ensured trouble_await_deletion(const struct view *v, const struct app *app, struct plan *plan);
/* Asks for a reconcile when one of them would begin. */
void trouble_of(const struct view *v, const struct app *app, struct plan *plan,
		struct trouble *ret);

#endif
