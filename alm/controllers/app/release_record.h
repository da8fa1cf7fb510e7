/*
 * release_record: which Secrets of Helm's record shall be written when (charts.md 10.1); what is in
 * them is installers/release.h. Level-triggered: call it until it is done.
 */
#ifndef ALM_CONTROLLERS_APP_RELEASE_RECORD_H
#define ALM_CONTROLLERS_APP_RELEASE_RECORD_H

#include "alm/base/clock.h"
#include "alm/controllers/app/install_plan.h"

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

/* Why the release of this plan can have no record: it is too large for a Secret; NULL: it fits.
 * Kept in the plan as "unrecorded"; such a release goes without (ALM needs the plan alone), and
 * what earlier records say of it ends as superseded. */
const char *release_record_too_large(const struct view *v, const struct obj *doc);
/* The record has the status. Only pending ones are made anew, the others change one that is there.
 * The record before is superseded once this one is deployed. */
enum ensured release_record_ensure(const struct release_record *r);
/* What others have done to the records of a release whose highest known revision is highest. */
enum record_state {
	RECORD_OURS,    /* nothing */
	RECORD_UNKNOWN, /* no informer has reported it yet */
	RECORD_BUSY,  /* helm is at work: it says pending or uninstalling, since less than 10 min */
	RECORD_NEWER, /* the newest is helm's */
	RECORD_LOST,  /* uninstalled, or nothing is left */
};
#define RECORD_BUSY_NS \
	(10 * NS_PER_MIN) /* a record of helm that does not change counts as busy \
			   */
/* ret_newest: the newest there is; NULL: none. */
enum record_state release_record_state(const struct view *v, struct plan *plan,
				       const struct obj *doc, int64_t highest,
				       const struct obj **ret_newest);
/* Of its label; 0: it tells none. */
int64_t release_record_revision(const struct obj *record);
/* Has ALM written it? helm writes the whole Secret: labels survive that, owners do not. */
bool release_record_is_ours(const struct obj *record);
/* When it was written last; 0: not reported. */
int64_t release_record_changed(const struct obj *record);
/* ENDED: somebody else has taken the plan's revision. */
enum ensured release_record_ensure_free(const struct view *v, struct plan *plan,
					const struct obj *doc);
/* Removes all records of the release. */
enum ensured release_record_remove(const struct view *v, struct plan *plan, const struct obj *doc,
				   int64_t highest);

#endif
