/*
 * policy_index: which bindings a write may meet at all: those whose policy has a rule for its group and
 * resource. Ten thousand of other resources cost a write one look.
 *
 * It is made anew after a policy or a binding was stored, by the first write that asks while nothing
 * else waits to be stored; until then all bindings are looked at.
 */
#ifndef ALM_APISERVER_ADMISSION_POLICY_INDEX_H
#define ALM_APISERVER_ADMISSION_POLICY_INDEX_H

#include "alm/apiserver/store/store.h"

struct policy_index;
/* plurals: of admissionregistration.k8s.io; literals. */
struct policy_index *policy_index_new(struct store *s, const char *policies, const char *bindings);
void policy_index_free(struct policy_index *x);

/* In the order of the bindings' names; both of the arena. A binding without a policy is left out. */
struct bound {
	struct head *binding, *policy;
};
struct bound_list {
	struct bound *items;
	size_t n, cap;
};
void policy_index_find(struct policy_index *x, const char *group, const char *resource,
		       struct arena *a, struct bound_list *ret);

#endif
