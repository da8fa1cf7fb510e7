/*
 * strategy_convert: a CRD and its converter in the life of a strategy (lifecycle.md 7.2): expanded
 * while it installs, switched once the new version's workloads answer, stored after it succeeded.
 */
#ifndef ALM_CONTROLLERS_STRATEGY_STRATEGY_CONVERT_H
#define ALM_CONTROLLERS_STRATEGY_STRATEGY_CONVERT_H

#include "alm/controllers/strategy/strategy_pass.h"

/* Every converter of the plan is switched to, and answers. */
enum ensured strategy_convert(struct strategy_pass *s);
/* No converter of this plan, which failed, is in force: that alone is put back. */
enum ensured strategy_revert(struct strategy_pass *s, const struct install_plan *p);

#endif
