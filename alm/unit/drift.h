/*
 * drift: in what a live object is not as it is wanted any more, and who has changed that as the
 * server says it (managedFields). Pure.
 *
 * Paths alone are told, never values: they may be a Secret's.
 */
#ifndef ALM_UNIT_DRIFT_H
#define ALM_UNIT_DRIFT_H

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

#define DRIFT_PATHS_MAX 20

struct drift {
	const char *paths[DRIFT_PATHS_MAX]; /* spec.replicas, data["a.b"], containers[0].image */
	const char *live
		[DRIFT_PATHS_MAX]; /* the same with the numbers that items have there, as holder.h has them */
	size_t n;
	bool cut; /* there are more */
	/* The name that a client gave itself, and when it wrote; NULL: nobody says. */
	const char *manager, *time;
};

/* want: as it is applied, marks included. ours: the field manager that applies it. Texts are in the
 * arena or the objects'. */
void drift_find(const struct obj *want, const struct obj *live, const char *ours, struct arena *a,
		struct drift *ret);

/* The same as members of an entry: paths, more, changedAt, who. Returns the manager. */
const char *drift_tell(const struct obj *want, const struct obj *live, const char *ours,
		       struct arena *a, struct obj *body);

/* Whatever differs is of the last apply of manager ours: a webhook or a conversion made it so, and nobody has
 * changed it since; who changes a field takes it from ours. false as well: no managedFields, and items of a
 * list that are not there. */
bool drift_is_ours(const struct obj *want, const struct obj *live, const char *ours);

#endif
