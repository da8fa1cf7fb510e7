#include "alm/controllers/fleet/install_state.h"

#include <string.h>

#define TO(state) (1U << INSTALL_##state)

static const struct {
	const char *name, *phase;
	unsigned to;
} rows[INSTALL_STATES] = {
	[INSTALL_PLANNING] = {"Planning", "pending", TO(APPLYING) | TO(BLOCKED) | TO(SUPERSEDED)},
	[INSTALL_BLOCKED] = {"Blocked", "pending", TO(PLANNING) | TO(SUPERSEDED)},
	[INSTALL_APPLYING] = {"Applying", "running",
			      TO(VERIFYING) | TO(ROLLING_BACK) | TO(FAILED) | TO(PLANNING) |
				      TO(SUPERSEDED)},
	[INSTALL_VERIFYING] = {"Verifying", "running",
			       TO(PRUNING) | TO(ROLLING_BACK) | TO(FAILED) | TO(PLANNING) |
				       TO(SUPERSEDED)},
	[INSTALL_PRUNING] = {"Pruning", "running",
			     TO(SUCCEEDED) | TO(DELETED) | TO(VERIFYING) | TO(ROLLING_BACK) |
				     TO(FAILED) | TO(PLANNING) | TO(SUPERSEDED)},
	[INSTALL_ROLLING_BACK] = {"RollingBack", "running",
				  TO(ROLLED_BACK) | TO(FAILED) | TO(PLANNING)},
	[INSTALL_SUCCEEDED] = {"Succeeded", "completed", TO(PLANNING)},
	[INSTALL_DELETED] = {"Deleted", "completed", 0},
	[INSTALL_ROLLED_BACK] = {"RolledBack", "failed", TO(PLANNING)},
	[INSTALL_FAILED] = {"Failed", "failed", TO(PLANNING)},
	[INSTALL_SUPERSEDED] = {"Superseded", "failed", 0},
};

const char *install_state_name(enum install_state s)
{
	return rows[s].name;
}

enum install_state install_state_find(const char *name)
{
	for (size_t i = 0; name && i < INSTALL_STATES; i++)
		if (!strcmp(rows[i].name, name))
			return (enum install_state)i;
	return INSTALL_PLANNING;
}

const char *install_phase(enum install_state s)
{
	return rows[s].phase;
}

bool install_edge(enum install_state from, enum install_state to)
{
	return rows[from].to & (1U << to);
}

bool install_leads(enum install_state from, enum install_state to)
{
	unsigned seen = 1U << from, before = 0;
	while (seen != before) {
		before = seen;
		for (size_t i = 0; i < INSTALL_STATES; i++)
			if (seen & (1U << i))
				seen |= rows[i].to;
	}
	return seen & (1U << to);
}

bool install_has_ended(enum install_state s)
{
	return strcmp(rows[s].phase, "completed") == 0 || strcmp(rows[s].phase, "failed") == 0;
}

enum install_state install_replaced(enum install_state s)
{
	if (install_has_ended(s))
		return s;
	return install_edge(s, INSTALL_SUPERSEDED) ? INSTALL_SUPERSEDED : INSTALL_FAILED;
}

static enum install_state under_way(const struct install_facts *f)
{
	if (!f->told || (f->steps && !f->begun))
		return INSTALL_PLANNING;
	if (f->begun < f->steps || f->tries)
		return INSTALL_APPLYING;
	return f->finished < f->steps ? INSTALL_VERIFYING : INSTALL_PRUNING;
}

enum install_state install_state_of(const struct install_facts *f)
{
	switch (f->run) {
	case RUN_DONE:
		return f->deleting ? INSTALL_DELETED : INSTALL_SUCCEEDED;
	case RUN_REFUSED:
	case RUN_HELD:
		return INSTALL_BLOCKED;
	case RUN_FAILED:
		return INSTALL_FAILED;
	case RUN_GOES_BACK:
		return INSTALL_ROLLING_BACK;
	case RUN_WENT_BACK:
		return INSTALL_ROLLED_BACK;
	case RUN_NONE:
	case RUN_GOES:
	case BUNDLE_RUNS:
		break;
	}
	return under_way(f);
}
