/* route: the path and method of a request -> group, version, resource, namespace, name, verb. */
#ifndef ALM_APISERVER_ROUTE_H
#define ALM_APISERVER_ROUTE_H

#include "alm/apiserver/request.h"

#define ROUTE_SEGMENTS_MAX 16

/* E_BADREQUEST for a bad escape, an encoded slash or a dot segment; E_METHOD for a method that is
 * none of ours. Sets r->kind where the resource is served at this path: a kind that is asked
 * outside of its scope has none, and the answer is the 404 page. */
int route_parse(struct request *r, struct error *err);

#endif
