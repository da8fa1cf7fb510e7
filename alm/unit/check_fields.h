/*
 * check_fields: fieldComparisons: values of the live object are those that are expected. Pure.
 *
 * A comparison holds when its path has one value (or none, and there is a default) that equals the
 * expected one: as JSON values, so 1 equals 1.0, and not "1". A value that is missing is not there
 * yet. Progress is any of the values, on both sides, being another one than before.
 */
#ifndef ALM_UNIT_CHECK_FIELDS_H
#define ALM_UNIT_CHECK_FIELDS_H

#include "alm/unit/rollout.h"

#define CHECK_VALUES_LOOKED_AT ((size_t)1 << 17) /* of one object, by all paths of a check */
#define CHECK_VALUE_TEXT_MAX   64                /* bytes of a value in a message */

struct fields_look {
	bool holds;
	const char *missing; /* of the first comparisons that do not hold; arena */
	int64_t moved_ns;    /* since when the values are what they are */
	struct obj *record;  /* arena: {"values": digest, "moved": time} */
};

/* live NULL: all values are missing. record: of the look before, or NULL. */
void check_fields(const struct rollout_check *c, const struct obj *live, int64_t now_ns,
		  const struct obj *record, struct arena *a, struct fields_look *ret);

#endif
