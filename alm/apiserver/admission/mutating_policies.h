/*
 * mutating_policies: the MutatingAdmissionPolicies of the store, and the writes they are about: those of policies.h but deletions,
 * in front of mutating webhooks. They go by the names of their bindings (upstream they have no order); those with
 * reinvocationPolicy IfNeeded once more if anything changed the object behind them.
 */
#ifndef ALM_APISERVER_ADMISSION_MUTATING_POLICIES_H
#define ALM_APISERVER_ADMISSION_MUTATING_POLICIES_H

#include "alm/apiserver/mutation.h"

struct mutating_policies;

struct mutating_policies *mutating_policies_new(struct apiserver *s);
void mutating_policies_free(struct mutating_policies *p);

bool mutating_policies_any(const struct request *r);

struct policy_keys {
	const char **items;
	size_t n, cap;
};

/* One write; begins as zeros. */
struct policy_rounds {
	struct policy_keys previous, again; /* may be, and are to be asked once more */
	const struct obj *seen;             /* as they left it; NULL: before the first round */
	bool changed;
};

/* round: 0, 1. m->after is a draft (draft.h) and becomes what they make of it. The failure is the first policy's that cannot be
 * obeyed, unless that is ignored. */
int mutating_policies_run(struct policy_rounds *rounds, struct mutation *m, int round,
			  struct error *err);

#endif
