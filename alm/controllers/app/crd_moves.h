/*
 * crd_moves: a CRD that changes its converter, or gains a version under one, goes in three moves
 * (lifecycle.md 7.2), so that no read of its objects meets a converter that does not answer:
 *
 *	expand	new versions are there but not served; storage and conversion as they were
 *	switch	served and conversion as planned, storage as it was; put back if a read fails
 *	store	all as planned
 *
 * Pure. Where a definition stands is read from its annotation app.coreos.com/applied (the digest of
 * what is planned, and of a move before the last its name); what it was before from
 * app.coreos.com/former-versions.
 */
#ifndef ALM_CONTROLLERS_APP_CRD_MOVES_H
#define ALM_CONTROLLERS_APP_CRD_MOVES_H

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

#define ANNOTATION_FORMER "app.coreos.com/former-versions"

enum crd_move { CRD_UNTOUCHED, CRD_EXPANDED, CRD_SWITCHED, CRD_STORED };

/* Where the live definition (or NULL) is on its way to the one of this digest. */
enum crd_move crd_moves_at(const struct obj *live, const char *digest);
/* Would one move take a converter away from live objects, or put one before them, unasked? */
bool crd_moves_needed(const struct obj *live, const struct obj *planned);
/* planned, whole and with its marks, becomes what the move sends. live is what the move starts
 * from; one that was begun already knows what was before. */
void crd_moves_shape(struct obj *planned, const struct obj *live, const char *digest,
		     enum crd_move move);

#endif
