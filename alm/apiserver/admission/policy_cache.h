/* policy_cache: policies of the store, compiled until they change. */
#ifndef ALM_APISERVER_ADMISSION_POLICY_CACHE_H
#define ALM_APISERVER_ADMISSION_POLICY_CACHE_H

#include "alm/apiserver/admission/policy.h"
#include "alm/apiserver/store/store.h"

struct policy_cache {
	struct map *compiled; /* name of the policy -> what was made of it */
};

void policy_cache_init(struct policy_cache *c);
void policy_cache_release(struct policy_cache *c);
/* policy: of h. Until that changes, or the cache is asked for others. */
const struct policy *policy_cache_get(struct policy_cache *c, const struct head *h,
				      const struct obj *policy);

#endif
