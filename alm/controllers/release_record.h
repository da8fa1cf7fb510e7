/*
 * release_record: which Secrets of Helm's record shall be written when (charts.md 10.1); what is in
 * them is installers/release.h. Level-triggered: call it until it is done.
 */
#ifndef ALM_CONTROLLERS_RELEASE_RECORD_H
#define ALM_CONTROLLERS_RELEASE_RECORD_H

#include "alm/controllers/install_plan.h"

#define RELEASE_HISTORY 10 /* records that are kept, as Helm does */

struct release_record {
	const struct view *v;
	struct plan *plan;
	const struct app *app;
	const struct obj *doc;   /* the install plan it tells about */
	int64_t revision;        /* of the record: the plan's, but for a rollback */
	const char *status;      /* "pending-install", "deployed", "failed" ... */
	const char *description; /* NULL: Helm's own words for the status */
	const struct obj *runs;  /* status.hooks: last_run of its hooks; or NULL */
};

/* Plans what is missing; true once the record has the status. Only pending ones are made anew, the
 * others change one that is there. The record before is superseded once this one is deployed. */
bool release_record_plan(const struct release_record *r);
/* Removes all records of the release; true once they are gone. */
bool release_record_remove(const struct view *v, struct plan *plan, const struct obj *doc,
			   int64_t highest);

#endif
