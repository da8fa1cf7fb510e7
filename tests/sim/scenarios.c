#include "tests/sim/scenarios.h"

#include <string.h>

static const struct scenario *const table[] = {
	&scenario_toy,      &scenario_server,  &scenario_install,      &scenario_upgrade,
	&scenario_story,    &scenario_remove,  &scenario_again,        &scenario_race,
	&scenario_drift,    &scenario_catalog, &scenario_migrate,      &scenario_writers,
	&scenario_versions, &scenario_crowd,   &scenario_stalled,      &scenario_detached,
	&scenario_ways,     &scenario_first,   &scenario_oneoff,       &scenario_interval,
	&scenario_resource, &scenario_pair,    &scenario_week,         &scenario_canary,
	&scenario_sweep,    &scenario_bundle,  &scenario_bundle_sweep, &scenario_bundle_canary,
	&scenario_fight,    &scenario_held,    &scenario_steps,
};

const struct scenario *scenario_at(size_t i)
{
	return i < ARRAY_LEN(table) ? table[i] : NULL;
}

const struct scenario *scenario_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (strcmp(table[i]->name, name) == 0)
			return table[i];
	return NULL;
}
