/*
 * unit: what is deployed together, as one document: objects in groups (README, Internals). Pure.
 *
 * A unit is made once, stored, and applied as it was made. Its rows are
 *
 *	{"stage": the group, "digest": of the object, "object"}
 *
 * in the order in which they are applied: groups are barriers, CRDs are the first, Namespaces the
 * second, then one a kind in install order.
 */
#ifndef ALM_UNIT_UNIT_H
#define ALM_UNIT_UNIT_H

#include <stdbool.h>

#include "alm/base/hash.h"
#include "alm/obj/obj.h"

struct resource;

enum { UNIT_GROUP_CRD, UNIT_GROUP_NAMESPACE, UNIT_GROUP_FIRST };

/* How an object is hashed: values of Secrets with a key that is the log's. */
struct unit_digest {
	void (*fn)(void *arg, const struct obj *o, char out[SHA256_HEX]);
	void *arg;
};

/* An object of a unit, with what is known of it on the cluster. */
struct unit_entry {
	/* As rendered, with its namespace; without the replicas that an autoscaler has set. */
	const struct obj *object;
	const char *digest, *kind, *name, *ns; /* ns NULL: cluster-scoped */
	const struct resource *resource;       /* NULL: not served yet */
	int group;
	bool is_crd, keep;      /* keep: never deleted by us */
	const struct obj *live; /* NULL: absent */
	bool unknown;           /* no informer has reported it yet */
};

/* The rows of a unit of which nobody has said the groups: objects are in install order, crds (NULL:
 * none) those that a chart brings beside them. A CRD that is in both is taken from crds. Owned. */
struct obj *unit_rows(const struct obj *crds, const struct obj *objects,
		      const struct unit_digest *digest);
/* CRDs, Namespaces, claims, and what is annotated helm.sh/resource-policy: keep. */
bool unit_is_kept(const struct obj *o);
/* Does live hold all that want says? Lists of named items match by name. */
bool unit_holds(const struct obj *live, const struct obj *want);
/* The same of an object, in whatever form a server keeps the values of a built-in kind: a quantity
 * of 0.5 as 500m, a null or an empty list as nothing. */
bool unit_holds_object(const struct obj *live, const struct obj *want);
/* "Deployment etcd/etcd-operator" */
const char *unit_entry_text(const struct unit_entry *e, struct arena *a);
/* Are both the same object, whatever version of its kind they name? */
bool unit_entry_is(const struct unit_entry *e, const struct unit_entry *other);

#endif
