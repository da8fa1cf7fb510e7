/*
 * bundle_row: what `alm status` says of one object of a Bundle: {object, cluster, file, state, since, commit,
 * author, subject, why}. Pure.
 *
 *	Current     as it is wanted, and ready
 *	Kept        it has left the tree, and stays (status.kept)
 *	Drifted     somebody has changed it, and it is not put back (condition Drifted)
 *	InProgress  not ready yet; why says what is missing, or what its Pods suffer from
 *	Failed      by its own word
 *	Deleting    somebody deletes it: this Bundle, as it left the tree, or another
 *	Deleted     gone; its run has not ended
 *	Missing     it was there
 *	Unknown     it may not be read
 *	Orphan      nobody has declared it (bundle_orphans.h)
 *
 * since is when the Bundle wrote it last, by the field manager; commit is the revision that was rolled out
 * then, the first of status.history that was Synced afterwards, or the one that is rolled out. A repair of
 * drift counts as a write. Older than the history: no commit.
 */
#ifndef ALM_CLI_APP_BUNDLE_ROW_H
#define ALM_CLI_APP_BUNDLE_ROW_H

#include "alm/unit/failure.h"
#include "alm/unit/inventory.h"

struct bundle_row_input {
	const struct obj *bundle;
	const struct inventory_line *line;
	const struct obj *live;      /* NULL: it is not there */
	const char *unreadable;      /* why nobody knows; NULL: live is what is known */
	struct failure_facts around; /* of one that is not ready: pods, replica_sets, events */
	int64_t now_ns;
};

/* What is not takes a look around. */
bool bundle_row_is_ready(const struct obj *live, struct arena *a);
/* The field manager of that Bundle, as it wrote this object ("alm:HUB:BUNDLE"); NULL: it has not. */
const char *bundle_row_manager(const struct obj *live, const char *bundle);
/* Owned; texts are copied. */
struct obj *bundle_row(const struct bundle_row_input *in, struct arena *a);
/* Of one of status.orphans. */
struct obj *bundle_row_orphan(const struct obj *orphan, int64_t now_ns, struct arena *a);
/* "deleted in 4m50s", or why it is not. */
const char *bundle_orphan_text(const struct obj *orphan, int64_t now_ns, struct arena *a);
/* "2h ago (9f31c04 alice)"; of one that goes with the subject, "-" if nothing is known. */
const char *bundle_row_change(const struct obj *row, int64_t now_ns, struct arena *a);

#endif
