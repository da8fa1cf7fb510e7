/*
 * unit_metric: success checks by Prometheus (alm/unit/check_prometheus.h): each is asked once an
 * interval, and what was measured stands in the record of the step:
 *
 *	"metrics": {"SCOPE/CHECK": {"n": questions, "nextNs", and how far it is}}
 */
#ifndef ALM_CONTROLLERS_UNIT_UNIT_METRIC_H
#define ALM_CONTROLLERS_UNIT_UNIT_METRIC_H

#include "alm/controllers/unit/unit_pass.h"

/* What check_input.metrics wants: of the object that scope names in the step. asks: they are to be
 * asked, those that are due now. Arena; NULL: nothing was asked yet. */
const struct obj *unit_metrics(struct unit_pass *s, const struct rollout_step *rule,
			       const char *scope, struct obj *record, bool asks);
/* For how long the step has had no data. */
int64_t unit_held_ns(const struct unit_pass *s, const struct obj *record);
/* What was measured, as a note of a step that is through; NULL: nothing. */
const char *unit_measured(const struct unit_pass *s, const struct obj *record);

#endif
