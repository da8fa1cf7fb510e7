/*
 * rbac_index: the bindings of the store by whom they bind, so that a decision looks at his bindings
 * and not at all there are.
 *
 * A binding with more than RBAC_INDEX_SUBJECTS subjects is not worth its keys: it is looked at for
 * everybody.
 */
#ifndef ALM_APISERVER_AUTH_RBAC_INDEX_H
#define ALM_APISERVER_AUTH_RBAC_INDEX_H

#include "alm/apiserver/auth/rbac.h"
#include "alm/apiserver/store/store.h"

#define RBAC_INDEX_SUBJECTS 64

/* Before anybody is asked for; the store is open. */
void rbac_index_new(struct store *s);
/* As rbac_source.each_binding. */
void rbac_index_each(struct store *s, const char *ns, const struct user_info *u,
		     bool (*fn)(void *arg, const struct obj *o), void *arg);

#endif
