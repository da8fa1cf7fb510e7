/*
 * access_review: the question of a SelfSubjectAccessReview: may who asks do this? "yes" is
 * status.allowed of what a POST of it to ACCESS_REVIEWS answers. Pure.
 */
#ifndef ALM_CLIENT_ACCESS_REVIEW_H
#define ALM_CLIENT_ACCESS_REVIEW_H

#include "alm/client/resource.h"
#include "alm/obj/obj.h"

#define ACCESS_REVIEWS "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

extern const struct resource access_reviews;

/* what: {"verb", "group", "resource", "subresource", "namespace", "name"}, or {"verb", "path"}; an empty text
 * counts as none. Owned. */
struct obj *access_review(const struct obj *what);

#endif
