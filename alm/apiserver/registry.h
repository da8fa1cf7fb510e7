/* registry: every verb on every stored kind. */
#ifndef ALM_APISERVER_REGISTRY_H
#define ALM_APISERVER_REGISTRY_H

#include "alm/apiserver/request.h"

/* Answers the request or fails; r->kind is set, the caller may do this. */
int registry_handle(struct request *r, struct error *err);

#endif
