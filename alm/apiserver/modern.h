/*
 * modern: what a document in the form of 2017 says becomes what is stored, and the client is told, field
 * by field (story.md 12, crds/legacy.h). Of a create, a PUT, and what a patch or an apply says: who
 * made an app by `kubectl apply` applies the same file again.
 */
#ifndef ALM_APISERVER_MODERN_H
#define ALM_APISERVER_MODERN_H

#include "alm/obj/obj.h"

struct request;

/* *o is replaced where it is old; fails the request for one that has no form of today. */
int modern_form(struct request *r, struct obj **o, struct error *err);

#endif
