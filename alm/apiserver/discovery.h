/* discovery: /api, /apis, /version and OpenAPI documents, all forms (kube-api.md 3, 4). */
#ifndef ALM_APISERVER_DISCOVERY_H
#define ALM_APISERVER_DISCOVERY_H

#include "alm/apiserver/request.h"

struct discovery; /* cached documents, keyed by kinds_generation() */

struct discovery *discovery_new(void);
void discovery_free(struct discovery *d);
/* True if the path was its own and the request is answered (also with 404 for an unknown group). */
bool discovery_handle(struct discovery *d, struct request *r);

#endif
