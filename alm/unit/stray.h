/*
 * stray: what is in the namespaces of a Bundle and nobody has declared: prune.mode Namespace. Pure:
 * the metadata of what was listed there, and the lines of what the unit wants and has, give a list.
 * The rule is fleet.md 5.4 (R13, R16), made stricter where a wrong guess would delete what cannot
 * be made again; each row of it has a word below, and a case in test_stray.c.
 *
 * Never a stray is
 *	- what lies in no namespace, or in one that is not named;
 *	- what has an owner, whichever: one that lives needs it, and what is left of one that is gone
 *	  is the garbage collector's;
 *	- what has a mark of ALM: of an AppType, of a version, of another bundle or hub. A mark of
 *	  this unit itself is none: what was copied from an object of it has its marks, too;
 *	- what is of a Helm release, or is its record;
 *	- what pruning keeps in any case (unit_is_kept(), app.coreos.com/prune: disabled);
 *	- what Kubernetes makes by itself: a table in stray.c;
 *	- ServiceAccounts, Roles and RoleBindings: what the Bundle itself may do can hang on them;
 *	- what the unit declares or its inventory names, by uid, or by kind, namespace and name in
 *	  whatever group: a server may show one object in two of them, with a uid of its own in each.
 *
 * What a controller makes without an owner reference is one; whoever runs it annotates that, or
 * leaves the namespace out.
 */
#ifndef ALM_UNIT_STRAY_H
#define ALM_UNIT_STRAY_H

#include "alm/base/hash.h"
#include "alm/unit/inventory.h"

#define STRAY_ROWS_MAX 20000 /* that may be strays, of one look */
#define STRAYS_MAX     1000  /* told of one look; the next ones, when these are gone */

/* NULL: it may be one. Else whose it is, constant text. o: an object of which only apiVersion, kind
 * and metadata are looked at. */
const char *stray_spares(const struct obj *o, const struct obj *namespaces);
/* What is kept of one that may be: {"apiVersion", "kind", "metadata", "by"}, "by" a field manager of
 * it. Owned. */
struct obj *stray_row(const struct obj *o);

struct stray {
	const struct obj *row; /* borrowed */
	const char *id;        /* "Deployment.apps/web/x" */
	bool deleting;
};

/* Those of rows that lines (declared, or in the inventory; with uids where they are known) do not
 * name, by namespace, kind and name; at most STRAYS_MAX, *ret_total of how many. In the arena. */
struct stray *stray_list(const struct obj *rows, const struct inventory *lines,
			 const char *owner_id, struct arena *a, size_t *ret_n, size_t *ret_total);

/* Of which objects they are: consent to delete them is to no others. */
void stray_digest(const struct stray *list, size_t n, char ret[SHA256_HEX]);

/* A namespace that no Bundle may empty: Kubernetes' own, and ALM's. */
bool stray_is_reserved(const char *ns);

#endif
