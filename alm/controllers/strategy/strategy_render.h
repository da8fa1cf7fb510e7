/* strategy_render: what the rendering of a strategy depends on. */
#ifndef ALM_CONTROLLERS_STRATEGY_STRATEGY_RENDER_H
#define ALM_CONTROLLERS_STRATEGY_STRATEGY_RENDER_H

#include "alm/controllers/strategy/strategy_pass.h"

/* See install_plan_inputs(). */
const char *strategy_inputs(struct strategy_pass *s);
/* The lookups of the stored plan are answered anew. DONE: as they were, or the chart is to be
 * rendered again with s->answers and s->inputs. */
enum ensured strategy_ensure_answers(struct strategy_pass *s, const struct obj *doc);

#endif
