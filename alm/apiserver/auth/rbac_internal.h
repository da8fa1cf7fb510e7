/* rbac_internal: how lists of rules match, for rbac.c and rbac_cover.c. */
#ifndef ALM_APISERVER_AUTH_RBAC_INTERNAL_H
#define ALM_APISERVER_AUTH_RBAC_INTERNAL_H

#include "alm/apiserver/auth/rbac.h"

bool rbac_list_has(const struct obj *list, const char *s);
/* One of nonResourceURLs, each with a trailing * or without, matches the path. */
bool rbac_path_matches(const struct obj *urls, const char *path);

#endif
