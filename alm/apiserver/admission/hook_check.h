/*
 * hook_check: is a ValidatingWebhookConfiguration, or a mutating one, one? In the words of Kubernetes
 * 1.36 (tests/golden/kube-api/webhook.jsonl). Pure.
 */
#ifndef ALM_APISERVER_ADMISSION_HOOK_CHECK_H
#define ALM_APISERVER_ADMISSION_HOOK_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* In place, as that server shows them. */
void hook_default(struct obj *configuration, bool mutating);
void hook_check(const struct obj *configuration, bool mutating, struct field_errors *e);

/* clientConfig at path; the versions of reviews, of which one is known. Texts of errors are of e's arena. */
void hook_check_client(const struct obj *o, const char *path, struct field_errors *e);
void hook_check_versions(const struct obj *list, const char *path, struct field_errors *e);

#endif
