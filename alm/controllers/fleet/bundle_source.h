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

/* read: of the last one that ended; NULL: none has. */
enum bundle_source bundle_source_of(const struct bundle_now *now, const struct outcome *read,
				    bool paused);
/* The word of a condition for one that failed. */
const char *bundle_source_reason(const struct outcome *read, enum bundle_source source);
/* "COMMIT AUTHOR: SUBJECT" of a tree that was read (bundle_now.read); NULL or no commit: "". */
const char *bundle_source_text(const struct obj *source, struct arena *a);
/* "; FIELD holds it there", and what ends that; "": it follows its branch. */
struct bundle_spec;
const char *bundle_source_held(const struct bundle_spec *b, struct arena *a);

#endif
