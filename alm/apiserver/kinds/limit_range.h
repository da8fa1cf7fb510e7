/* limit_range: what one LimitRange makes of a Pod or a claim, in the words of the real server. Pure. */
#ifndef ALM_APISERVER_KINDS_LIMIT_RANGE_H
#define ALM_APISERVER_KINDS_LIMIT_RANGE_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* What max and min of a Container imply for its default and defaultRequest; twice is once. */
void limit_range_default(struct obj *range);
/* Requests and limits of containers that state none. */
void limit_range_apply(const struct obj *range, struct obj *pod);
/* Why it is refused, all reasons in one text of the arena; NULL: it is not. */
const char *limit_range_fault(const struct obj *range, const struct obj *pod, struct arena *a);
const char *limit_range_claim_fault(const struct obj *range, const struct obj *claim,
				    struct arena *a);

/* What is wrong with the range itself (limit_range_check.c). */
void limit_range_check(struct field_errors *e, const struct obj *range);

#endif
