/*
 * intent: what a Plan entry says of one write before it is done (audit.md 3), and whether an object
 * shows that it was. A process that ends between the two leaves the question to the next one, which
 * has the entry alone: settle.h.
 */
#ifndef ALM_ENGINE_INTENT_H
#define ALM_ENGINE_INTENT_H

#include "alm/audit/audit.h"
#include "alm/engine/plan.h"

/* {i, verb, apiVersion, object: "KIND/NAMESPACE/NAME", uid, manager, desired}: the uid of what is deleted;
 * desired, not of creates and deletes, is the digest of the redacted fields that are applied, or of the
 * whole object that the patch makes of what is cached (NULL: not known). with_digests false: without
 * desired. Owned. */
struct obj *intent_new(struct audit *log, const struct action *a, size_t i,
		       const struct obj *cached, bool with_digests);
const char *intent_verb(const struct action *a);
/* Does the live object (NULL: there is none) show that this was done? */
bool intent_is_done(struct audit *log, const struct obj *intent, const struct obj *live);

#endif
