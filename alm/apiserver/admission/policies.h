/*
 * policies: the ValidatingAdmissionPolicies of the store, and the writes they are asked about: each
 * write of a client, in front of quotas (the order of Kubernetes' admission plugins), and each deletion by what is a client of
 * its own in Kubernetes: the collector, the end of a namespace, the simulation, which try again later (engine.h). What else
 * the server itself writes is not asked about.
 *
 * A write costs what the bindings about its resource cost (policy_index.h): one comparison each, an
 * evaluation where one matches. Compiled policies are kept until they change.
 */
#ifndef ALM_APISERVER_ADMISSION_POLICIES_H
#define ALM_APISERVER_ADMISSION_POLICIES_H

#include "alm/apiserver/mutation.h"

struct policies;

struct policies *policies_new(struct apiserver *s);
void policies_free(struct policies *p);

/* Of a create, update or patch: m->after is what would be stored. The failure names policy and
 * binding: E_INVALID, or what the validation's reason says. Warnings go with the answer. */
int policies_check(struct mutation *m, struct error *err);
int policies_check_delete(struct mutation *m, struct error *err);
/* Of a subresource that takes an object of its own: eviction, binding, token. The object is of the
 * kind group/version/kind. */
int policies_check_body(struct request *r, const struct obj *body, const char *group,
			const char *version, const char *kind, bool dry_run, struct error *err);

#endif
