/*
 * legacy_crd_take: in 2017 each version was a definition of its own, and had labels, annotations, names
 * and a conversion; today one definition has all versions, and these once. Pure.
 */
#ifndef CRDS_LEGACY_CRD_TAKE_H
#define CRDS_LEGACY_CRD_TAKE_H

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

#define LEGACY_TAKE_WARNINGS_MAX 16 /* the last one says that there are more */

/* What said, a version more of now, says of the definition as a whole goes into now: what that does not
 * have is taken, lists of names are united. Where they contradict each other now stays as it is, and
 * warn is told which field. But for annotations that ALM and kubectl keep for themselves. */
void legacy_crd_take(struct obj *now, const struct obj *said, struct arena *a,
		     void (*warn)(void *arg, const char *text), void *arg);

#endif
