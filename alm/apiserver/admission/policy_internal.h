/* policy_internal: a compiled policy, and one evaluation of it, for policy.c and policy_mutate.c. */
#ifndef ALM_APISERVER_ADMISSION_POLICY_INTERNAL_H
#define ALM_APISERVER_ADMISSION_POLICY_INTERNAL_H

#include "alm/apiserver/admission/policy.h"
#include "alm/apiserver/admission/policy_expr.h"

/* As in k8s.io/apiserver/pkg/apis/cel/config.go, in our steps. */
#define CALL_STEPS_MAX   1000000
#define POLICY_STEPS_MAX 10000000

struct policy_validation {
	struct policy_expr test, message_expr;
	const char *message; /* "": none */
	int code;
};

struct policy_annotation {
	const char *key;
	struct policy_expr value;
};

struct policy_mutation {
	bool is_patch; /* a JSON patch; else what is to be applied */
	struct policy_expr value;
};

struct policy {
	bool ignores; /* failurePolicy Ignore */
	struct policy_scope scope;
	struct policy_expr *variables, *conditions;
	struct policy_validation *validations;
	struct policy_annotation *annotations;
	struct policy_mutation *mutations;
	size_t n_variables, n_conditions, n_validations, n_annotations, n_mutations;
};

struct policy_run {
	const struct policy *p;
	struct arena *a;
	struct policy_scope scope;
	uint64_t left;
};

void policy_run_init(struct policy_run *r, const struct policy *p, const struct policy_input *in,
		     uint64_t steps, struct arena *a);
/* Of all that is evaluated with r, the budget is one. */
struct cel_value policy_evaluate(struct policy_run *r, const struct policy_expr *x,
				 enum policy_use use);
void policy_evaluate_variables(struct policy_run *r);
/* What an expression failed with. */
const char *policy_told(struct policy_run *r, const struct policy_expr *x,
			const struct cel_value *v);

#endif
