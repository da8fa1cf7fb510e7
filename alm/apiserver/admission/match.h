/*
 * match: which writes a ValidatingAdmissionPolicy or its binding is about: spec.matchConstraints and
 * spec.matchResources of admissionregistration.k8s.io/v1. Pure.
 */
#ifndef ALM_APISERVER_ADMISSION_MATCH_H
#define ALM_APISERVER_ADMISSION_MATCH_H

#include "alm/obj/obj.h"

#define ADMISSION_GROUP "admissionregistration.k8s.io"

/* A write as admission sees it. Texts are borrowed, "" for none. */
struct admission {
	const char *operation; /* CREATE, UPDATE, DELETE */
	const char *group, *version, *resource, *subresource, *ns, *name;
	/* Is the resource served in that version? */
	bool (*serves)(void *arg, const char *version);
	void *arg;
	const struct obj *object, *old;
	/* The Namespace it is in. Of a Namespace itself: that, as it will be, or was. NULL: it is
	 * cluster-scoped, or the Namespace is gone. */
	const struct obj *space;
};

/* The version in whose form it is to be judged: the one of the request, or with matchPolicy
 * Equivalent another one that a rule names. NULL: this is not about it. match NULL is about
 * everything, and so is one without resourceRules if any_resource. */
const char *admission_match(const struct obj *match, bool any_resource, const struct admission *w);

#endif
