/*
 * refusals: entries of the log for writes that were refused, or changed nothing, counted so that
 * nobody fills the log with them (audit.md 3, "Repeated failures").
 *
 * What is counted together: one user's verb on one kind with one outcome, whatever the names; of an
 * impersonated user it is the asker who counts. The first refusal has an entry at once; later ones
 * are summed up, with the last of them as the example and their number in body.suppressed, after a
 * minute, then after two, up to an hour while it goes on. What has been quiet for an hour is
 * forgotten. A user has REFUSALS_OF_USER_MAX such counts, everything else of his is counted as one;
 * all have REFUSALS_MAX, the rest is counted as one too.
 *
 * So the log grows by at most REFUSALS_OF_USER_MAX + 1 entries a minute for one user and by
 * REFUSALS_MAX + 1 for all of them, each of at most 4 KiB or so, and memory is bounded alike.
 */
#ifndef ALM_APISERVER_AUTH_REFUSALS_H
#define ALM_APISERVER_AUTH_REFUSALS_H

#include "alm/apiserver/request.h"
#include "alm/base/clock.h"

#define REFUSALS_MAX          1024
#define REFUSALS_OF_USER_MAX  16
#define REFUSALS_PAUSE_NS     NS_PER_MIN
#define REFUSALS_PAUSE_MAX_NS NS_PER_HOUR
#define REFUSALS_NAME_MAX     253 /* no object has a longer name */
#define REFUSALS_USER_MAX     1024

struct audit_row;
struct refusals;

struct refusals *refusals_new(struct apiserver *s);
void refusals_free(struct refusals *l);
/* Counts the failure of a request, if it is one that counts; reads and dry runs do not. */
void refusals_add(struct refusals *l, struct request *r, const struct error *err);
/* Counts a write that changed nothing; ALM's own has its entry each time. */
void refusals_add_unchanged(struct refusals *l, struct request *r, const struct audit_row *row);
/* Entries for all that is still uncounted in the log: before the end. */
void refusals_flush(struct refusals *l);

#endif
