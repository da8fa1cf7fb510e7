/*
 * bundle_asks: what people ask of a Bundle by its spec (another commit than the head, an approval, a
 * skipped analysis, an abort), each once as an Approval entry that says why, and who, as far as the
 * object tells; and that the history of its branch was rewritten, which nobody asks ALM. Pure.
 */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_ASKS_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_ASKS_H

#include "alm/controllers/fleet/bundle_side.h"
#include "alm/engine/plan.h"
#include "alm/engine/view.h"

/* source: what is read instead. An Observe entry HistoryRewritten, with a Warning Event. */
void bundle_rewritten_plan(const struct view *v, const struct obj *o, const struct obj *source,
			   struct plan *plan);
/* What is asked of no rollout that is known here says so, with a Warning Event. */
void bundle_asks_plan(const struct view *v, const struct obj *o, const struct bundle_now *now,
		      struct plan *plan);

/* Does annotation app.coreos.com/retry ask for another try than the one that began when it was `begun`? Any other
 * text is another request: each is tried once, by a process that begins anew as well. */
bool bundle_is_asked(const struct obj *bundle, const char *begun);

#endif
