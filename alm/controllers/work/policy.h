/*
 * policy: what a Catalog demands of its archives (spec.verify): a signature by one of its keys. A
 * missing signature is an invalid one.
 *
 * The keys are a ConfigMap of POLICY_NAMESPACE, whoever writes the Catalog: each value of data is
 * one or more keys, of OpenPGP (armored) for Helm's provenance or in PEM for cosign. They never
 * come from the source that they judge.
 *
 * The digest of a policy changes with its keys and with the source. What was verified carries it
 * (entry.h), so nothing that was read before a policy, or judged by other keys, counts under it.
 */
#ifndef ALM_CONTROLLERS_WORK_POLICY_H
#define ALM_CONTROLLERS_WORK_POLICY_H

#include "alm/base/hash.h"
#include "alm/engine/view.h"
#include "alm/obj/obj.h"

#define POLICY_NAMESPACE "alm-system"

/* Does the Catalog have one? */
bool policy_wanted(const struct obj *catalog);
/* Name of the ConfigMap; E_INVALID for a policy that cannot be obeyed, E_NOTALLOWED for another
 * namespace. */
int policy_keys_name(const struct obj *catalog, const char **ret, struct error *err);
/* The keys of the ConfigMap; *ret borrows. Its errors have REASON_SIGNATURE_INVALID. */
int policy_keys(const struct obj *catalog, const struct obj *config_map, const struct obj **ret,
		char ret_digest[SHA256_HEX], struct error *err);

/* Why an archive may not be installed now; NULL: it may. Where any Catalog has a policy, an archive
 * has to be in the index of one that vouches for it: without a policy, or as verified. */
const char *policy_refuses(const struct view *v, const char *archive);

/* An index may not go back in time, nor be older than spec.verify.maxAge. E_REFUSED,
 * REASON_CATALOG_STALE. */
struct policy_ages {
	int64_t old_ns; /* of the revision in use, if it is of the same policy; 0: it does not say
			 */
	int64_t new_ns; /* of the one that came, or that is unchanged */
	int64_t now_ns;
	bool accepted; /* the new one is named by the annotation accept-digest */
};
int policy_check_age(const struct obj *catalog, const struct policy_ages *g, struct error *err);

#endif
