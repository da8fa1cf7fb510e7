/*
 * scenarios: what may be played. To add one: its file with a table of actions and a converged()
 * function, and a row in scenarios.c.
 */
#ifndef TESTS_SIM_SCENARIOS_H
#define TESTS_SIM_SCENARIOS_H

#include "tests/sim/world.h"

extern const struct scenario scenario_toy, scenario_server, scenario_install, scenario_upgrade,
	scenario_story, scenario_remove, scenario_again, scenario_race, scenario_drift,
	scenario_catalog, scenario_migrate, scenario_writers, scenario_versions, scenario_crowd,
	scenario_stalled, scenario_detached, scenario_ways, scenario_first, scenario_oneoff,
	scenario_interval, scenario_resource, scenario_pair, scenario_week, scenario_canary,
	scenario_sweep, scenario_bundle, scenario_bundle_sweep, scenario_bundle_canary,
	scenario_fight, scenario_held, scenario_steps;

const struct scenario *scenario_find(const char *name);
const struct scenario *scenario_at(size_t i); /* NULL past the end */

#endif
