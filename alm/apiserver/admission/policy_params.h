/* policy_params: the objects that a binding's spec.paramRef names. */
#ifndef ALM_APISERVER_ADMISSION_POLICY_PARAMS_H
#define ALM_APISERVER_ADMISSION_POLICY_PARAMS_H

#include "alm/apiserver/apiserver.h"
#include "alm/apiserver/kinds/kinds.h"

#define POLICY_PARAMS_MAX 1000 /* of one binding; more refuse the write */

struct policy_params {
	const struct obj *items[POLICY_PARAMS_MAX];
	size_t n;
	const char *wrong; /* why there are none; NULL: nothing is */
};

/* spec.paramKind of a policy. NULL: there is none, or it is not served. */
const struct kind *policy_param_kind(const struct apiserver *s, const struct obj *policy,
				     struct arena *a);
/* ns: of the write; "": it is cluster-scoped. Objects and texts are of the arena. */
void policy_params_find(struct apiserver *s, const struct obj *binding, const struct kind *k,
			const char *ns, struct arena *a, struct policy_params *ret);

#endif
