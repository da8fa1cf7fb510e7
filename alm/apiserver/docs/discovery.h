/* discovery: /api, /apis, /version and OpenAPI documents, all forms (kube-api.md 3, 4). */
#ifndef ALM_APISERVER_DOCS_DISCOVERY_H
#define ALM_APISERVER_DOCS_DISCOVERY_H

#include "alm/apiserver/request.h"

struct api_docs; /* cached documents, keyed by kinds_generation() */

struct api_docs *api_docs_new(void);
void api_docs_free(struct api_docs *d);
/* True if the path was its own and the request is answered (also with 404 for an unknown group). */
bool api_docs_handle(struct api_docs *d, struct request *r);

#endif
