/* discovery: /api, /apis, /version and OpenAPI documents, all forms (kube-api.md 3, 4). */
#ifndef ALM_APISERVER_DOCS_DISCOVERY_H
#define ALM_APISERVER_DOCS_DISCOVERY_H

#include "alm/apiserver/request.h"

struct surface; /* cached documents, keyed by kinds_generation() */

struct surface *surface_new(void);
void surface_free(struct surface *d);
/* True if the path was its own and the request is answered (also with 404 for an unknown group). */
bool surface_handle(struct surface *d, struct request *r);

#endif
