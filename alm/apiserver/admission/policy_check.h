/*
 * policy_check: is a ValidatingAdmissionPolicy, a MutatingAdmissionPolicy, or a binding, one? In the words of Kubernetes 1.36
 * (tests/golden/kube-api/policy.jsonl, mutate.jsonl). Pure.
 */
#ifndef ALM_APISERVER_ADMISSION_POLICY_CHECK_H
#define ALM_APISERVER_ADMISSION_POLICY_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

#define POLICY_CONDITIONS_MAX  64 /* as there */
#define POLICY_ANNOTATIONS_MAX 20

/* In place, as that server shows them (policy_default.c). */
void policy_default(struct obj *policy);
void binding_default(struct obj *binding);

void policy_check(const struct obj *policy, struct field_errors *e);
void binding_check(const struct obj *binding, struct field_errors *e);
void mutating_policy_check(const struct obj *policy, struct field_errors *e);
void mutating_binding_check(const struct obj *binding, struct field_errors *e);
/* matchConstraints, matchResources (match_check.c). */
void match_check(const struct obj *match, const char *path, struct field_errors *e);
void match_check_rule(const struct obj *rule, const char *path, struct field_errors *e);
/* matchConditions of a policy or a webhook. */
struct policy_scope;
void conditions_check(const struct obj *list, const char *list_at, const struct policy_scope *s,
		      struct field_errors *e);

#endif
