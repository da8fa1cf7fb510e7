/*
 * diff: the paths at which two objects differ, in document order: members of before, then those
 * that only after has. Lists are compared by index.
 */
#ifndef ALM_OBJ_DIFF_H
#define ALM_OBJ_DIFF_H

#include "alm/obj/obj.h"

struct diff_item {
	const char *path;                 /* spec.template.spec.containers[0].image */
	const struct obj *before, *after; /* NULL: absent there; borrowed */
};

struct diff {
	struct diff_item *items; /* arena */
	size_t n;
	bool cut; /* more than max */
};

void diff_objects(const struct obj *before, const struct obj *after, size_t max, struct arena *a,
		  struct diff *ret);

/* The JSON merge patch (RFC 7386) that makes before of after, but for members that are null in after, which none can
 * set. Owned; NULL: they are equal. */
struct obj *diff_merge_patch(const struct obj *before, const struct obj *after);

#endif
