/*
 * bundle_source: what became of the last reading of a Bundle's source, and what its conditions call
 * that (fleet.md 2.5). Pure.
 */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_SOURCE_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_SOURCE_H

#include "alm/controllers/fleet/bundle_side.h"
#include "alm/controllers/fleet/bundle_state.h"
#include "alm/engine/stash.h"

#define BUNDLE_POLLS_MAX 3 /* that fail before it is said */

/* The Bundle does not say that the source of its spec is ready: it says so of a former one at most. */
bool bundle_source_is_told(const struct obj *bundle);
/* status.conditions, to be changed; owned. While nothing was read of this spec (read NULL), what failed of a former
 * one is Unknown. */
struct obj *bundle_source_conditions(const struct obj *bundle, const struct outcome *read,
				     int64_t now_ns);
/* read: of the last one that ended; NULL: none has. told: what bundle_source_is_told() says. */
enum bundle_source bundle_source_of(const struct bundle_now *now, const struct outcome *read,
				    bool paused, bool told);
/* When it is read again; 0: now. One that failed is, where that is sooner than the interval: 1, 2, 4 ... min. */
int64_t bundle_source_in(const struct outcome *read, int64_t interval_ns, int64_t now_ns);
/* The word of a condition for one that failed. */
const char *bundle_source_reason(const struct outcome *read, enum bundle_source source);
/* "COMMIT AUTHOR: SUBJECT" of a tree that was read (bundle_now.read); NULL or no commit: "". */
const char *bundle_source_text(const struct obj *source, struct arena *a);
/* What stands behind the message of a state: which commit is Invalid (of_spec: the spec is, not a commit), and that
 * the revision that was Synced before one that is refused or cannot be read is not kept as declared
 * (unit_job.former), with the remedy where its source can be read. */
const char *bundle_source_notes(const struct obj *bundle, const struct bundle_now *now,
				enum bundle_state state, bool of_spec, struct arena *a);
/* "; FIELD holds it there", and what ends that; "": it follows its branch. */
struct bundle_spec;
const char *bundle_source_held(const struct bundle_spec *b, struct arena *a);

#endif
