#include "alm/controllers/fleet/bundle_state.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/str.h"

#define TO(state) (1U << BUNDLE_##state)

/* fleet.md 2.5. All but Deleting lead to Deleting; all but New, RollingBack and Deleting to
 * Fetching: another head comes whenever it does. */
static const struct {
	const char *name;
	enum bundle_ready ready;
	unsigned to;
} rows[BUNDLE_STATES] = {
	[BUNDLE_NEW] = {"New", READY_UNKNOWN, TO(FETCHING)},
	[BUNDLE_FETCHING] = {"Fetching", READY_AS_BEFORE, TO(RENDERING) | TO(SOURCE_FAILED)},
	[BUNDLE_SOURCE_FAILED] = {"SourceFailed", READY_AS_BEFORE, TO(FETCHING)},
	/* what was read says what is there already: as before */
	[BUNDLE_RENDERING] = {"Rendering", READY_AS_BEFORE,
			      TO(PLANNING) | TO(INVALID) | TO(SYNCED) | TO(DEGRADED) | TO(STOPPED) |
				      TO(BLOCKED) | TO(AWAITING_APPROVAL)},
	[BUNDLE_INVALID] = {"Invalid", READY_FALSE, TO(FETCHING)},
	[BUNDLE_PLANNING] = {"Planning", READY_AS_BEFORE,
			     TO(ROLLING) | TO(AWAITING_APPROVAL) | TO(SYNCED) | TO(BLOCKED)},
	[BUNDLE_BLOCKED] = {"Blocked", READY_FALSE, TO(PLANNING)},
	[BUNDLE_ROLLING] = {"Rolling", READY_AS_BEFORE,
			    TO(SOAKING) | TO(AWAITING_APPROVAL) | TO(ROLLING) | TO(STOPPED) |
				    TO(ROLLING_BACK) | TO(SYNCED) | TO(DEGRADED)},
	[BUNDLE_SOAKING] = {"Soaking", READY_AS_BEFORE,
			    TO(AWAITING_APPROVAL) | TO(ROLLING) | TO(SYNCED) | TO(STOPPED)},
	[BUNDLE_AWAITING_APPROVAL] = {"AwaitingApproval", READY_AS_BEFORE,
				      TO(ROLLING) | TO(PLANNING) | TO(STOPPED)},
	[BUNDLE_STOPPED] = {"Stopped", READY_FALSE, TO(PLANNING)},
	[BUNDLE_ROLLING_BACK] = {"RollingBack", READY_FALSE, TO(ROLLED_BACK) | TO(STOPPED)},
	[BUNDLE_ROLLED_BACK] = {"RolledBack", READY_FALSE, TO(PLANNING)},
	[BUNDLE_SYNCED] = {"Synced", READY_TRUE, TO(DEGRADED)},
	[BUNDLE_DEGRADED] = {"Degraded", READY_FALSE, TO(SYNCED)},
	[BUNDLE_DELETING] = {"Deleting", READY_FALSE, 0},
};

const char *bundle_state_name(enum bundle_state s)
{
	return rows[s].name;
}

enum bundle_state bundle_state_find(const char *name)
{
	for (size_t i = 0; name && i < BUNDLE_STATES; i++)
		if (!strcmp(rows[i].name, name))
			return (enum bundle_state)i;
	return BUNDLE_NEW;
}

enum bundle_ready bundle_state_ready(enum bundle_state s)
{
	return rows[s].ready;
}

bool bundle_edge(enum bundle_state from, enum bundle_state to)
{
	if (from == BUNDLE_DELETING)
		return false;
	if (to == BUNDLE_DELETING)
		return true;
	if (to == BUNDLE_FETCHING && from != BUNDLE_FETCHING)
		return from != BUNDLE_ROLLING_BACK;
	return rows[from].to & (1U << to);
}

int64_t bundle_retry_in(const struct bundle_ended *e)
{
	int64_t wait = NS_PER_MIN;
	if (e->run != RUN_FAILED && e->run != RUN_REFUSED && e->run != RUN_HELD &&
	    e->run != RUN_WENT_BACK && e->run != RUN_DONE)
		return -1;
	if (e->is_other)
		return 0;
	if (e->is_asked && e->run != RUN_DONE && e->run != RUN_HELD)
		return 0;
	if (e->run != RUN_REFUSED)
		return -1;
	for (unsigned i = 1; i < e->failures && wait < NS_PER_HOUR; i++)
		wait *= 2;
	int64_t left = (wait < NS_PER_HOUR ? wait : NS_PER_HOUR) - e->since_ns;
	return left > 0 ? left : 0;
}

/* What has begun is told until it ends; then what was read, if that is not what runs. */
enum bundle_state bundle_state_of(const struct bundle_facts *f)
{
	if (f->deleting)
		return BUNDLE_DELETING;
	if (f->run == RUN_GOES_BACK)
		return BUNDLE_ROLLING_BACK;
	if (f->run == RUN_GOES && !f->newer)
		return BUNDLE_ROLLING;
	switch (f->source) {
	case SOURCE_UNREAD:
		return BUNDLE_FETCHING;
	case SOURCE_FAILED:
		return BUNDLE_SOURCE_FAILED;
	case SOURCE_INVALID:
		return BUNDLE_INVALID;
	case SOURCE_READ:
		break;
	}
	if (f->newer)
		return BUNDLE_ROLLING;
	switch (f->run) {
	case RUN_NONE:
	case RUN_GOES:
	case RUN_GOES_BACK:
	case BUNDLE_RUNS:
		break;
	case RUN_WENT_BACK:
		return BUNDLE_ROLLED_BACK;
	case RUN_DONE:
		return f->unhealthy || f->drifts ? BUNDLE_DEGRADED : BUNDLE_SYNCED;
	case RUN_FAILED:
		return BUNDLE_STOPPED;
	case RUN_REFUSED:
		return BUNDLE_BLOCKED;
	case RUN_HELD:
		return BUNDLE_AWAITING_APPROVAL;
	}
	return BUNDLE_ROLLING;
}

enum bundle_run bundle_run_of(const struct obj *record)
{
	const char *state = obj_str(record, "state");
	if (cstr_eq(state, "Succeeded"))
		return RUN_DONE;
	if (cstr_eq(state, "RollingBack"))
		return RUN_GOES_BACK;
	if (cstr_eq(state, "RolledBack"))
		return RUN_WENT_BACK;
	if (!cstr_eq(state, "Failed"))
		return RUN_GOES;
	if (cstr_eq(obj_str(record, "reason"), "PruneHeld"))
		return RUN_HELD;
	return obj_flag(record, "refused", false) ? RUN_REFUSED : RUN_FAILED;
}

/* The shortest one, by the order of the table: breadth first over a few states. */
size_t bundle_way(enum bundle_state from, enum bundle_state to,
		  enum bundle_state ret[BUNDLE_STATES])
{
	enum bundle_state queue[BUNDLE_STATES], before[BUNDLE_STATES];
	bool seen[BUNDLE_STATES] = {false};
	size_t head = 0, tail = 0, n = 0;
	if (from == to)
		return 0;
	seen[from] = true;
	queue[tail++] = from;
	while (head < tail && !seen[to]) {
		enum bundle_state s = queue[head++];
		for (size_t i = 0; i < BUNDLE_STATES; i++)
			if (!seen[i] && bundle_edge(s, (enum bundle_state)i)) {
				seen[i] = true;
				before[i] = s;
				queue[tail++] = (enum bundle_state)i;
			}
	}
	if (!seen[to])
		return 0;
	for (enum bundle_state s = to; s != from; s = before[s])
		n++;
	size_t at = n;
	for (enum bundle_state s = to; s != from; s = before[s])
		ret[--at] = s;
	return n;
}
