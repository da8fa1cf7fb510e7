/*
 * bundle_history: the revisions of a Bundle that were Synced, newest first: `status.history`, at
 * most BUNDLE_HISTORY_MAX of {commit, author, subject, since}. What `alm rollback` goes back to.
 * Pure.
 */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_HISTORY_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_HISTORY_H

#include "alm/base/error.h"
#include "alm/obj/obj.h"

#define BUNDLE_HISTORY_MAX  10
#define BUNDLE_COMMIT_SHORT 7 /* characters of one that name it, at least */

/* The revision is there; the one that is the newest already is no other, and one without a commit is none. */
void bundle_history_add(struct obj *status, const struct obj *source, int64_t now_ns);

/* What was there before the newest, with its commit; NULL: nothing. */
const struct obj *bundle_history_before(const struct obj *bundle);
/* The entry whose commit begins with text ("git:" before it is taken, too). E_NOTFOUND, with those there
 * are; E_INVALID: it is too short, or names several. */
int bundle_history_find(const struct obj *bundle, const char *text, const struct obj **ret,
			struct error *err);

#endif
