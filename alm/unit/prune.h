/*
 * prune: what a unit had and has no more. Pure: the objects that were (of an inventory, or of an
 * earlier plan), those that are wanted, and the marks of live objects give a list of what to delete
 * and what is kept, with the reason.
 */
#ifndef ALM_UNIT_PRUNE_H
#define ALM_UNIT_PRUNE_H

#include "alm/unit/unit.h"

enum prune_verdict {
	PRUNE_GONE,    /* nothing is left to do */
	PRUNE_UNKNOWN, /* not read yet: nothing is decided */
	PRUNE_DELETE,
	PRUNE_DELETING, /* waited for */
	PRUNE_KEEP,     /* stays, and is nobody's any more; why tells */
};

struct prune_item {
	const struct unit_entry *entry;
	enum prune_verdict verdict;
	const char *why; /* of PRUNE_KEEP: constant text */
};

struct prune_rules {
	/* A live object without it is somebody else's. */
	const char *label, *value;
};

/* Is it never deleted by ALM, whatever becomes of its unit? Somebody wants it kept, or its kind holds what
 * nobody could make again. o NULL: no. */
bool prune_keeps(const struct obj *o);

/* Does a live object stay that its unit wants no more? It is another one than the unit has made (uid;
 * NULL: not known), or marked as another owner's, or prune_keeps() it. */
bool prune_spares(const struct obj *live, const char *uid, const char *bundle,
		  const char *owner_id);

/* Why is an object that is being deleted still there? "finalizer example.com/hold", or what a Namespace
 * says is left in it. NULL: it does not say. Arena. */
const char *prune_waits_for(const struct obj *live, struct arena *a);

/* Of what was, in reverse order, what is not among wanted; in the arena. */
struct prune_item *prune_list(const struct unit_entry *was, size_t n_was,
			      const struct unit_entry *wanted, size_t n_wanted,
			      const struct prune_rules *rules, struct arena *a, size_t *ret_n);

#endif
