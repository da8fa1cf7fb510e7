/*
 * bundle_accept: what a Bundle may have pushed by mistake, and is not applied before somebody says
 * that it is meant: annotation app.coreos.com/accept-digest names that commit (fleet.md 3.1, 3.2).
 * Pure.
 */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_ACCEPT_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_ACCEPT_H

#include "alm/controllers/fleet/bundle_spec.h"

/* A head, and what is known of it. */
struct bundle_head {
	const char *commit;
	size_t objects;
	bool rewritten; /* what is applied is none of its ancestors */
	bool unknown;   /* ... or too far away to tell */
};

/* What the annotation names; NULL: nothing. */
const char *bundle_accepts(const struct obj *bundle);
/* Was what is applied read of another url or branch (status.source)? Then its history tells nothing of that of the
 * new one, whom somebody has named in the spec. false as well: nobody has kept that. */
bool bundle_accept_moved(const struct obj *bundle, const struct bundle_spec *spec);
/* E_INVALID: SourceEmpty, or HistoryRewritten under spec.source.git.rewrites: Refuse, with the remedy. A commit that
 * spec.source.git.commit names is meant, whatever became of the branch: rewrites then judges nothing. */
int bundle_accept_check(const struct obj *bundle, const struct bundle_spec *spec,
			const struct bundle_head *head, struct error *err);

#endif
