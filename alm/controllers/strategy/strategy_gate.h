/*
 * strategy_gate: the CRD gate in the life of a strategy (lifecycle.md 3): every planned CRD is
 * judged while planning, and again right before it is written; findings are part of the plan, its
 * digest, the status and the log. The reading is live_gate.c; here is what is asked, and what
 * follows.
 */
#ifndef ALM_CONTROLLERS_STRATEGY_STRATEGY_GATE_H
#define ALM_CONTROLLERS_STRATEGY_STRATEGY_GATE_H

#include "alm/controllers/strategy/strategy_pass.h"

/* The gate warns of something that no waiver covers. */
bool strategy_has_warnings(const struct strategy_pass *s);
/* findings, findingsOmitted, judged and waivers of status.plan. */
void strategy_set_findings(const struct strategy_pass *s, struct obj *plan);
/* The only way a CRD is written: judged first, and right before. planned: the findings must be
 * those of the plan. */
void strategy_write_crd(struct strategy_pass *s, const struct install_plan *p,
			const struct unit_entry *e, bool handoff, bool planned);

#endif
