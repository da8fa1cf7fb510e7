/*
 * strategy_record: what helm sees of a strategy: the hooks of its plan (hook_run.h) and the record
 * of its release (release_record.h), as every phase that writes uses them.
 */
#ifndef ALM_CONTROLLERS_STRATEGY_STRATEGY_RECORD_H
#define ALM_CONTROLLERS_STRATEGY_STRATEGY_RECORD_H

#include "alm/controllers/strategy/strategy_pass.h"

/* The hooks of an event of this plan have run; condition is the one that says so. ENDED: one failed,
 * and so has the phase. */
enum ensured strategy_run_hooks(struct strategy_pass *s, const struct obj *doc, const char *event,
				const char *condition);
/* The release record of this plan has the status. */
enum ensured strategy_record(struct strategy_pass *s, const struct install_plan *p,
			     const char *status);
/* That of the rollback to this plan has it: helm's history shows it as a revision of its own. */
enum ensured strategy_record_back(struct strategy_pass *s, const struct install_plan *back,
				  const char *status);
/* As helm describes the record of a rollback. */
const char *strategy_back_text(const struct strategy_pass *s, int64_t revision);

#endif
