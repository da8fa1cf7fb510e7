/*
 * inventory: what a unit has on a cluster, as lines of text that a ConfigMap there holds:
 *
 *	apps/v1 Deployment default grafana 6f1c.. 3a5e.. grafana/deployment.yaml
 *
 * apiVersion, kind, namespace ("-": none), name, uid ("-": not known yet), digest of what was
 * wanted, and the key, in byte order. Any trigger and any side goes on from it. Pure.
 */
#ifndef ALM_UNIT_INVENTORY_H
#define ALM_UNIT_INVENTORY_H

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/base/strbuf.h"

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
/* Sorts the lines. E_LIMIT for more than INVENTORY_BYTES_MAX. */
int inventory_print(struct inventory *i, struct strbuf *b, struct error *err);

#endif
