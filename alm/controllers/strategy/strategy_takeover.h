/*
 * strategy_takeover: a release that helm made goes on as ours (helm_release.h): before the plan,
 * which revision it is and whether helm is at work; when the plan is carried out, records and
 * objects change hands; afterwards, what helm does to it.
 */
#ifndef ALM_CONTROLLERS_STRATEGY_STRATEGY_TAKEOVER_H
#define ALM_CONTROLLERS_STRATEGY_STRATEGY_TAKEOVER_H

#include "alm/controllers/strategy/strategy_pass.h"

/* What helm does to a release that is installed, told apart by the records. */
struct helm_change {
	bool busy;                /* helm is at work, or that is not known: nothing is repaired */
	bool told;                /* false: history is to show the repair */
	const struct obj *newest; /* record; NULL: none */
};
struct helm_change strategy_helm_change(struct strategy_pass *s);
/* helm rolled back, upgraded or uninstalled what is installed, and that is repaired: what helm
 * brought is deleted, and history shows it as a revision of its own. */
void strategy_record_repair(struct strategy_pass *s, const struct helm_change *c);

#endif
