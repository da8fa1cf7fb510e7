/*
 * policy: one ValidatingAdmissionPolicy (KEP-3488) or MutatingAdmissionPolicy (KEP-3962): its expressions compiled, and what
 * they say of a write. Pure; which policies a write meets is found by policies.h.
 *
 * Where this differs from Kubernetes: spec.variables are evaluated in their order before the
 * validations, and not when they are first asked for; what fails there still only fails who asks.
 */
#ifndef ALM_APISERVER_ADMISSION_POLICY_H
#define ALM_APISERVER_ADMISSION_POLICY_H

#include "alm/obj/cel/cel.h"
#include "alm/obj/cel/cel_authorizer.h"
#include "alm/obj/field_error.h"

#define POLICY_MESSAGE_MAX    5120  /* of a messageExpression; a longer one is not used */
#define POLICY_ANNOTATION_MAX 10240 /* the rest of a value is cut off */

struct policy;

/* Never fails: what does not compile is an error whenever it is asked (policy_check.h refuses it when it
 * is written). Lives in a; o is borrowed during the call. */
struct policy *policy_compile(const struct obj *o, struct arena *a);

/* What the expressions see; NULL: null. request as AdmissionRequest says it. */
struct policy_input {
	const struct obj *object, *old, *params, *request, *space;
	const struct cel_authz *who, *about; /* authorizer, authorizer.requestResource */
};

/* A validation that does not hold, or an expression that failed where spec.failurePolicy is Fail. */
struct policy_failure {
	size_t index; /* of the validation */
	const char *message;
	int code; /* E_INVALID, E_FORBIDDEN, E_TOOLARGE */
};

struct policy_verdict {
	struct policy_failure *failures; /* in the order of the validations */
	size_t n;
	struct obj *annotations; /* key -> value, of spec.auditAnnotations; of the arena */
};

/* Do all of spec.matchConditions hold? False with ret_failed set: they could not be evaluated, which
 * refuses the write. */
bool policy_applies(const struct policy *p, const struct policy_input *in, struct arena *a,
		    const char **ret_failed);
void policy_judge(const struct policy *p, const struct policy_input *in, struct arena *a,
		  struct policy_verdict *ret);

/* --- mutations: policy_mutate.c --- */

size_t policy_mutations(const struct policy *p);

struct policy_mutated {
	const char *failed; /* NULL: object is what it became, of the arena; NULL if it stays */
	struct obj *object;
	bool is_patch;
};

/* The i-th. schema: of the object; NULL: it is of a built-in kind. */
void policy_mutate(const struct policy *p, size_t i, const struct policy_input *in,
		   const struct schema *schema, struct arena *a, struct policy_mutated *ret);

#endif
