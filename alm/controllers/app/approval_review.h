/*
 * approval_review: what deploy/approver.yaml and blocked.yaml say, for a cluster that has no
 * ValidatingAdmissionPolicies (before Kubernetes 1.30): an AdmissionReview (admission.k8s.io/v1) of a
 * write of an InstallStrategy is answered. An approval is of the user who gives it, and names him in
 * spec.approvedBy; a version that is Blocked takes no new one; what was approved before stays so.
 * Pure: it says of the two objects and the user of the review, and of nothing else.
 */
#ifndef ALM_CONTROLLERS_APP_APPROVAL_REVIEW_H
#define ALM_CONTROLLERS_APP_APPROVAL_REVIEW_H

#include <stddef.h>

#include "alm/base/error.h"
#include "alm/base/str.h"
#include "alm/obj/obj.h"

/* Of a review: the object that is written, of which the API server takes 3 MiB; the one of before, of which
 * etcd has 1.5 MiB; the user, and JSON around it. */
#define APPROVAL_REVIEW_BYTES_MAX ((size_t)5 << 20)

/* *ret: the review with its response, owned. E_INVALID: it is no review of a write of an
 * InstallStrategy, and so gets no verdict. */
int approval_review(const struct obj *review, struct obj **ret, struct error *err);
/* Whom a refusal of it or of approver.yaml, with what an API server puts before it, wants in
 * spec.approvedBy; borrowed; empty: it wants nobody there. */
struct str approval_review_wants(const char *message);

#endif
