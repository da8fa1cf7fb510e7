/* quantity: Kubernetes' resource.Quantity, "500m", "1.5Gi", "1e3", in its canonical form: no
 * precision lost, the largest suffix without a fraction, the kind of suffix that was written. What
 * is finer than the floor is rounded up, binary ones over 2^63-1 are cut. Pure. */
#ifndef ALM_OBJ_QUANTITY_H
#define ALM_OBJ_QUANTITY_H

#include "alm/base/str.h"

#define QUANTITY_TEXT_MAX 48

/* The finest that stays, as a power of ten; milli of what pods ask for. */
#define QUANTITY_NANO  (-9)
#define QUANTITY_MILLI (-3)

/* What is wrong, in Kubernetes' words; NULL: out has the canonical text. */
const char *quantity_canonical(struct str text, int floor, char out[QUANTITY_TEXT_MAX]);

#endif
