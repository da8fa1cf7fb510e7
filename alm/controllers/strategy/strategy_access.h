/*
 * strategy_access: may this be installed, as the account of the app? Asked before anything is
 * written (reliability.md 10): definitions that are somebody else's, and every right that the plan
 * takes or hands on. What an upgrade gives to its own accounts besides is listed with the plan.
 */
#ifndef ALM_CONTROLLERS_STRATEGY_STRATEGY_ACCESS_H
#define ALM_CONTROLLERS_STRATEGY_STRATEGY_ACCESS_H

#include "alm/controllers/strategy/strategy_pass.h"

/* The account read all that the answers of this lookup have; else what it may not is reported, or asked
 * again. */
enum ensured strategy_ensure_lookups(struct strategy_pass *s, const char *id,
				     const struct obj *needs, const struct outcome *answers);
/* "adds 2 permissions: ..."; "" */
const char *strategy_permissions_text(const struct strategy_pass *s);

#endif
