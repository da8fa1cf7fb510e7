/* namespaces: what every namespace gets, and how it ends (kube-api.md 10). */
#ifndef ALM_APISERVER_KINDS_NAMESPACES_H
#define ALM_APISERVER_KINDS_NAMESPACES_H

#include "alm/apiserver/core.h"

struct namespaces *namespaces_new(struct apiserver *s);
void namespaces_free(struct namespaces *n);
/* Makes the initial namespaces and looks at those that are there; at start. */
int namespaces_load(struct namespaces *n, struct error *err);

#endif
