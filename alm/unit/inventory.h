/*
 * inventory: what a unit has on a cluster, as lines of text that a ConfigMap there holds:
 *
 *	apps/v1 Deployment default grafana 6f1c.. 3a5e.. grafana/deployment.yaml
 *
 * apiVersion, kind, namespace ("-": none), name, uid ("-": not known yet), digest of what was
 * wanted, and the key, in byte order. Any trigger and any side goes on from it. Pure.
 *
 * A create has no precondition against a deletion: one that is delayed, or carried out once more by
 * a proxy, makes anew what was deleted meanwhile. So what was deleted stays named for a while, in a
 * text of its own: with the time of its last create in place of the digest, and in place of its uid
 * that of an object of the name that is left alone ("-": there is none).
 */
#ifndef ALM_UNIT_INVENTORY_H
#define ALM_UNIT_INVENTORY_H

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

#define INVENTORY_BYTES_MAX ((size_t)900 << 10) /* a ConfigMap holds 1 MiB */

struct inventory_line {
	const char *api_version, *kind, *ns, *name; /* ns NULL: cluster-scoped */
	const char *uid;                            /* NULL: not known */
	const char *digest, *key;
};

struct inventory {
	struct inventory_line *lines;
	size_t n;
};

/* E_CORRUPT with the number of the line. */
int inventory_parse(struct str text, struct arena *a, struct inventory *ret, struct error *err);
/* Names the object of a line, whatever version of its kind: "Deployment.apps/default/grafana". */
const char *inventory_id(const struct inventory_line *l, struct arena *a);
/* Lines of i whose object other does not name go behind those of *to, which has room. Returns how
 * many. */
size_t inventory_add_missing(struct inventory *to, const struct inventory *i,
			     const struct inventory *other, struct arena *a);
/* When the last create of an object may have been sent: known (NULL: nothing is), or when what is
 * live as ours (NULL: nothing) was made, whichever is later; without both, now. RFC 3339, UTC, whole
 * seconds. */
const char *inventory_since(const char *known, const struct obj *ours, const char *now);
/* Was this object (its metadata) applied by the manager for this owner? What was copied from it has its
 * marks, but was written by somebody else; what a controller made of it is the controller's. */
bool inventory_claims(const struct obj *o, const char *owner_id, const char *manager);
/* Sorts the lines. E_LIMIT for more than INVENTORY_BYTES_MAX. */
int inventory_print(struct inventory *i, struct strbuf *b, struct error *err);

#endif
