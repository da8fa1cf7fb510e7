/*
 * unit_plugin: steps and checks that a plugin performs (alm/unit/plugin.h). It is asked, ALM writes
 * what it wants, of the step's object alone and with the marks of the unit, and it is asked again
 * until it says Finished or Failed.
 *
 * How far it is stands in the record of the step:
 *
 *	"plugins": {ROW: {"n": calls, "nextNs", "answer", "record"}}
 *	"asked":   {"ROW/CHECK": {"n", "nextNs", "state", "message", "record"}}
 */
#ifndef ALM_CONTROLLERS_UNIT_UNIT_PLUGIN_H
#define ALM_CONTROLLERS_UNIT_UNIT_PLUGIN_H

#include "alm/controllers/unit/unit_pass.h"

struct plugin_turn {
	struct unit_pass *s;
	const struct unit_step *step;
	size_t row;
	const char *id;     /* of the step */
	struct obj *record; /* of the step */
	int stage;          /* of applies */
};

/* DONE: it has finished, and what it wanted is written. ret_why otherwise; arena. */
enum ensured unit_plugin(const struct plugin_turn *t, const char **ret_why);

/* Asks those success checks of the step that are plugins, each as often as it says. What check_input
 * wants of their answers; arena; NULL: there is none. */
const struct obj *unit_plugin_checks(struct unit_pass *s, const struct unit_step *step, size_t row,
				     const struct obj *live, struct obj *record);

#endif
