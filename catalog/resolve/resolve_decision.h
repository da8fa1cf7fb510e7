/*
 * resolve_decision: how the log says what the resolver decided about an app (audit.md 3). Written
 * by the controller of AppTypes, and made again from the recorded inputs by alm audit verify
 * --replay: without clock and counts, so that the same outcome gives the same key.
 */
#ifndef CATALOG_RESOLVE_RESOLVE_DECISION_H
#define CATALOG_RESOLVE_RESOLVE_DECISION_H

#include "alm/obj/obj.h"
#include "catalog/resolve/resolve.h"

struct resolve_decision {
	/* "Resolved", "UpgradeBlocked", "ResolveFailed"; NULL: there was nothing to decide, and
	 * nothing of the rest is set. */
	const char *reason;
	const char *key;  /* of the outcome */
	struct obj *body; /* {verdict, candidates, version, path, message}; owned */
};

void resolve_decision(const struct resolve_input *in, const struct resolution *r, struct arena *a,
		      struct resolve_decision *ret);

#endif
