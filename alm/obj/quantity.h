/* quantity: Kubernetes' resource.Quantity, "500m", "1.5Gi", "1e3", in its canonical form: no
 * precision lost, the largest suffix without a fraction, the kind of suffix that was written. What
 * is finer than the floor is rounded up, binary ones over 2^63-1 are cut. Pure. */
#ifndef ALM_OBJ_QUANTITY_H
#define ALM_OBJ_QUANTITY_H

#include <stdbool.h>

#include "alm/base/str.h"

#define QUANTITY_TEXT_MAX 48

/* The finest that stays, as a power of ten; milli of what pods ask for. */
#define QUANTITY_NANO  (-9)
#define QUANTITY_MILLI (-3)

/* What is wrong, in Kubernetes' words; NULL: out has the canonical text. */
const char *quantity_canonical(struct str text, int floor, char out[QUANTITY_TEXT_MAX]);

/* A value to count with, and how sums of it are written: as the first that is not 0. */
__extension__ typedef __int128 quantity_nanos;

struct quantity {
	quantity_nanos nanos;
	int family; /* of the suffix; 0: decimal */
};

bool quantity_read(struct str text, struct quantity *ret); /* false: none, or over the bounds */
void quantity_add(struct quantity *q, const struct quantity *more);
void quantity_print(const struct quantity *q, char out[QUANTITY_TEXT_MAX]);

#endif
