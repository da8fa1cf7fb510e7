/* limits: LimitRanges obeyed by writes of Pods and claims (kube-api.md 14). Costs one search in the
 * list of all ranges where the namespace has none. */
#ifndef ALM_APISERVER_LIMITS_H
#define ALM_APISERVER_LIMITS_H

#include "alm/apiserver/mutation.h"

/* Defaults of a Pod that is created; they belong to no manager. */
void limits_apply(struct mutation *m);
/* Once m->after is valid. E_FORBIDDEN. */
int limits_check(struct mutation *m, struct error *err);
/* Why a Pod of this template would be refused, for a range or for a quota; text of the arena. NULL: it would not. */
const char *limits_template_fault(struct apiserver *s, const char *ns, const struct obj *template,
				  struct arena *a);

#endif
