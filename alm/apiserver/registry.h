/* registry: every verb on every stored kind. */
#ifndef ALM_APISERVER_REGISTRY_H
#define ALM_APISERVER_REGISTRY_H

#include "alm/apiserver/mutation.h"

/* Answers the request or fails; r->kind is set, the caller may do this. */
int registry_handle(struct request *r, struct error *err);
/* Deletes the object of m as opt says. m->text is the state after it, m->removed tells if it is
 * gone. */
int registry_delete_one(struct mutation *m, const struct delete_options *opt, struct error *err);
/* Creates o (consumed) as the server itself, unless it is there already; for bootstrap objects. */
int registry_ensure(struct apiserver *s, struct obj *o, struct error *err);

#endif
