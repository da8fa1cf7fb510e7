/*
 * bundle_history: the revisions of a Bundle that were Synced, newest first: `status.history`, at
 * most BUNDLE_HISTORY_MAX of {commit, author, subject, since, left}. What `alm rollback` goes back to.
 *
 * One is left when spec.source.git.commit holds the Bundle at one that was Synced before it: that is
 * how somebody goes back. Going back again goes further, and never to a commit whose newest entry is
 * left; once it was Synced again, it has a newer one that is not. Pure.
 */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_HISTORY_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_HISTORY_H

#include "alm/base/error.h"
#include "alm/obj/obj.h"

#define BUNDLE_HISTORY_MAX  10
#define BUNDLE_PIN          "spec.source.git.commit" /* what alm rollback sets */
#define BUNDLE_COMMIT_SHORT 7                        /* characters of one that name it, at least */

/* The revision is there; the one that is the newest already is no other, and one without a commit is none. */
void bundle_history_add(struct obj *status, const struct obj *source, int64_t now_ns);

/* The pin holds the Bundle at an older one: those after it are left. NULL, one that is in no entry, and
 * one that was left itself: nothing is. */
void bundle_history_leave(struct obj *status, const char *pin);

/* What was there before where it is, or is being held, and was not left; NULL: nothing. Borrowed. */
const struct obj *bundle_history_before(const struct obj *bundle);
/* The entry whose commit begins with text ("git:" before it is taken, too). E_NOTFOUND, with those there
 * are; E_INVALID: it is too short, or names several. */
int bundle_history_find(const struct obj *bundle, const char *text, const struct obj **ret,
			struct error *err);

#endif
