/*
 * resource_quotas: ResourceQuotas obeyed by every write of a namespace, and their status kept (kube-api.md 14).
 *
 * What is used of a name that counts objects is the number of heads of that resource in the namespace, which their order
 * gives at once. What is measured (kinds/resource_quota.h) is summed once when it is first asked for, and kept from then on by
 * each change of a head, of a write as of a batch that failed: the check sees what this turn has written, and nothing that
 * was undone. Another spec of a quota starts the sums of its namespace anew. A namespace without quotas costs one search.
 *
 * loops/quota_status.h keeps status.used.
 */
#ifndef ALM_APISERVER_RESOURCE_QUOTAS_H
#define ALM_APISERVER_RESOURCE_QUOTAS_H

#include "alm/apiserver/mutation.h"
#include "alm/obj/quantity.h"

struct quotas;

struct quotas *quotas_new(struct apiserver *s);
void quotas_free(struct quotas *q);
/* Once m->after is valid and limits_check() passed: a create, or an update of a Service or a claim. E_FORBIDDEN. */
int quotas_check(struct mutation *m, struct error *err);
/* The i-th of a namespace by name; NULL past the last. */
struct head *quotas_at(const struct quotas *q, const char *ns, size_t i);
/* What is used of one name of its spec.hard; false: it is of nothing that is served. */
bool quotas_used(struct quotas *q, const struct head *h, const char *name, struct quantity *ret);
bool quotas_has(const struct apiserver *s, const char *ns);
/* Why this Pod would be refused; text of the arena. NULL: it would not. */
const char *quotas_pod_fault(struct apiserver *s, const char *ns, const struct obj *pod,
			     struct arena *a);

#endif
