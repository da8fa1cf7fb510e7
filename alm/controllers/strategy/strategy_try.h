/*
 * strategy_try: before a way back begins: would the server take the custom resources of its plan? A
 * CRD is never downgraded, so those of an older chart may say what the newer definition does not
 * have; reported by the first apply only, that is a version that stays half-way (lifecycle.md 7.4).
 */
#ifndef ALM_CONTROLLERS_STRATEGY_STRATEGY_TRY_H
#define ALM_CONTROLLERS_STRATEGY_STRATEGY_TRY_H

#include "alm/controllers/strategy/strategy_pass.h"

/* Does the server take the custom resources of this plan, whose definitions stay newer ones? DONE:
 * *ret_why is what it refuses, or NULL. */
enum ensured strategy_try_back(struct strategy_pass *s, const struct strategy_ref *to,
			       const struct install_plan *p, const char **ret_why);

#endif
