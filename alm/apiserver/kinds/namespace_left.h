/*
 * namespace_left: what a namespace that is being deleted still has, and the five conditions that tell it, in the words of
 * Kubernetes' namespace controller.
 */
#ifndef ALM_APISERVER_KINDS_NAMESPACE_LEFT_H
#define ALM_APISERVER_KINDS_NAMESPACE_LEFT_H

#include "alm/apiserver/core.h"

#define NAMESPACE_LEFT_READ_MAX 1000 /* objects of which the finalizers are told */

struct namespace_left {
	size_t n, n_read;
	struct map *kinds;      /* "configmaps." -> how many */
	struct map *finalizers; /* -> on how many */
	size_t n_failed;        /* of the deletions of this pass */
	size_t n_failed_kinds;  /* that they are of */
	struct error failure;   /* the first of them */
};

void namespace_left_init(struct namespace_left *l);
void namespace_left_release(struct namespace_left *l);
/* Walks the objects of the namespace. */
void namespace_left_count(struct namespace_left *l, const struct apiserver *s, const char *ns);
/* Sets the five in the list of conditions. */
void namespace_left_tell(const struct namespace_left *l, struct obj *list, int64_t now_ns);

#endif
