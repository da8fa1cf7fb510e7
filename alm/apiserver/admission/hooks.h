/*
 * hooks: the webhooks of the store (ValidatingWebhookConfiguration, MutatingWebhookConfiguration), and
 * the writes they are asked about: those of policies.h. Mutating ones are asked one after the other,
 * by configuration and place, once more where reinvocationPolicy wants it; validating ones all at
 * once, behind the policies and in front of quotas. A write that has to wait fails with
 * waiting_for() and is handled again (waiting.h).
 *
 * Without a configuration or a policy it is one look. Else a write costs a comparison for each webhook.
 */
#ifndef ALM_APISERVER_ADMISSION_HOOKS_H
#define ALM_APISERVER_ADMISSION_HOOKS_H

#include "alm/apiserver/mutation.h"

struct hooks;

struct hooks *hooks_new(struct apiserver *s);
void hooks_free(struct hooks *h);

enum hook_stage { HOOKS_MUTATING, HOOKS_VALIDATING, HOOK_STAGES };

/* Are there any that may be asked about a request? */
bool hooks_any(const struct request *r, enum hook_stage stage);
/* Of a create or update before it is validated: m->after becomes what mutating policies and then they
 * make of it, shaped as what a client sends. *ret_changed: something did change. */
int hooks_mutate(struct mutation *m, bool *ret_changed, struct error *err);
/* Of what would be stored. */
int hooks_validate(struct mutation *m, struct error *err);
int hooks_delete(struct mutation *m, enum hook_stage stage, struct error *err);
/* Asks what a deletion has to ask, without a verdict; for many at once, in front of waiting_is_wanted(). */
void hooks_ask_delete(struct mutation *m);
/* policies_check_body() and the webhooks around it. */
int hooks_check_body(struct request *r, const struct obj *body, const char *group,
		     const char *version, const char *kind, bool dry_run, struct error *err);

/* The same of a review (TokenReview and the like) of the request's kind: webhooks alone are asked about those. */
int hooks_check_review(struct request *r, const struct obj *body, struct error *err);

#endif
