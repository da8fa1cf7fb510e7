#include "alm/controllers/app/phases.h"

#include <string.h>

#include "alm/base/clock.h"

#define STATES_MAX 32

/* clang-format off */
static const struct phase_edge phase_edges[] = {
	{PHASE_NEW,          PHASE_PENDING,      "first seen"},
	{PHASE_PENDING,      PHASE_BLOCKED,      "refused, or not its turn"},
	{PHASE_PENDING,      PHASE_AWAITING,     "planned; a person decides"},
	{PHASE_PENDING,      PHASE_INSTALLING,   "planned; nobody is asked"},
	{PHASE_PENDING,      PHASE_SUPERSEDED,   "another version is chosen, or changed values come first"},
	{PHASE_BLOCKED,      PHASE_PENDING,      "an input changed"},
	{PHASE_BLOCKED,      PHASE_AWAITING,     "an input changed, and its plan is still known"},
	{PHASE_BLOCKED,      PHASE_INSTALLING,   "the same, and nobody is asked"},
	{PHASE_BLOCKED,      PHASE_SUPERSEDED,   "another version is chosen"},
	{PHASE_AWAITING,     PHASE_PENDING,      "the plan changed"},
	{PHASE_AWAITING,     PHASE_BLOCKED,      "refused by now"},
	{PHASE_AWAITING,     PHASE_INSTALLING,   "approved, or the mode changed"},
	{PHASE_AWAITING,     PHASE_SUPERSEDED,   "another version is chosen, or changed values come first"},
	{PHASE_INSTALLING,   PHASE_PENDING,      "the plan is void or gone"},
	{PHASE_INSTALLING,   PHASE_VERIFYING,    "all is applied"},
	{PHASE_INSTALLING,   PHASE_ROLLING_BACK, "it failed, and something ran before"},
	{PHASE_INSTALLING,   PHASE_FAILED,       "it failed: a first install, or onFailure Stay"},
	{PHASE_VERIFYING,    PHASE_PENDING,      "the stored plan is gone"},
	{PHASE_VERIFYING,    PHASE_SUCCEEDED,    "ready, and handed over"},
	{PHASE_VERIFYING,    PHASE_ROLLING_BACK, "it failed, and something ran before"},
	{PHASE_VERIFYING,    PHASE_FAILED,       "it failed: a first install, or onFailure Stay"},
	{PHASE_SUCCEEDED,    PHASE_PENDING,      "its values or its account changed, or its plan is gone"},
	{PHASE_SUCCEEDED,    PHASE_SUPERSEDED,   "a later one succeeded"},
	{PHASE_ROLLING_BACK, PHASE_ROLLED_BACK,  "the former version runs again"},
	{PHASE_ROLLING_BACK, PHASE_SUCCEEDED,    "the former values run again"},
	{PHASE_ROLLING_BACK, PHASE_FAILED,       "there is no way back, or it failed"},
	{PHASE_ROLLED_BACK,  PHASE_PENDING,      "chosen again"},
	{PHASE_FAILED,       PHASE_PENDING,      "tried again, or its values changed"},
	{PHASE_SUPERSEDED,   PHASE_PENDING,      "chosen again"},
	/* Without cascade the strategies stay; each waits for an app of this name. */
	{PHASE_INSTALLING,   PHASE_BLOCKED,      "its AppType is gone"},
	{PHASE_VERIFYING,    PHASE_BLOCKED,      "its AppType is gone"},
	{PHASE_SUCCEEDED,    PHASE_BLOCKED,      "its AppType is gone"},
	{PHASE_ROLLING_BACK, PHASE_BLOCKED,      "its AppType is gone"},
	{PHASE_ROLLED_BACK,  PHASE_BLOCKED,      "its AppType is gone"},
	{PHASE_FAILED,       PHASE_BLOCKED,      "its AppType is gone"},
	{PHASE_SUPERSEDED,   PHASE_BLOCKED,      "its AppType is gone"},
};

static const struct phase_deadline phase_deadlines[] = {
	{PHASE_PENDING,      15 * NS_PER_MIN, "spec.upgrade.deadlines.pending",    PHASE_BLOCKED},
	{PHASE_INSTALLING,   10 * NS_PER_MIN, "spec.upgrade.deadlines.installing", PHASE_ROLLING_BACK},
	{PHASE_VERIFYING,    10 * NS_PER_MIN, "spec.upgrade.deadlines.verifying",  PHASE_ROLLING_BACK},
	{PHASE_ROLLING_BACK, 30 * NS_PER_MIN, NULL,                                PHASE_FAILED},
};

static const struct state_edge state_edges[] = {
	{"",                 "Resolving",        "first seen"},
	{"Resolving",        "Unresolved",       "no candidate passes, or its strategy is Blocked"},
	{"Resolving",        "AwaitingApproval", "the first install waits for a person"},
	{"Resolving",        "Installing",       "its strategy begins"},
	{"Unresolved",       "Resolving",        "an input changed"},
	{"Unresolved",       "AwaitingApproval", "what blocked the first install is gone"},
	{"AwaitingApproval", "Unresolved",       "the first install is refused by now"},
	{"AwaitingApproval", "Resolving",        "what waited to be the first is planned anew"},
	{"AwaitingApproval", "Installing",       "the first install is approved"},
	{"AwaitingApproval", "Upgrading",        "the upgrade is approved"},
	{"AwaitingApproval", "UpgradeAvailable", "what waited is planned anew"},
	{"Installing",       "Installed",        "its strategy succeeded"},
	{"Installing",       "Resolving",        "the plan is void"},
	{"Installing",       "Failed",           "its strategy failed"},
	{"Failed",           "Resolving",        "tried again"},
	{"Installed",        "UpgradeAvailable", "a newer version is installable"},
	{"Installed",        "UpgradeBlocked",   "a newer version is not"},
	{"Installed",        "Upgrading",        "changed values begin"},
	{"Installed",        "Resolving",        "somebody deleted its strategy"},
	{"Installed",        "Degraded",         "it does not work any more"},
	{"UpgradeAvailable", "Installed",        "nothing is newer any more"},
	{"UpgradeAvailable", "UpgradeBlocked",   "refused when planned"},
	{"UpgradeAvailable", "AwaitingApproval", "the upgrade waits for a person"},
	{"UpgradeAvailable", "Upgrading",        "the upgrade begins"},
	{"UpgradeBlocked",   "Installed",        "the cause is gone, and nothing is newer"},
	{"UpgradeBlocked",   "UpgradeAvailable", "the cause is gone"},
	{"Upgrading",        "Installed",        "the newer strategy succeeded"},
	{"Upgrading",        "RollingBack",      "the newer strategy failed"},
	{"Upgrading",        "Degraded",         "the newer strategy failed, and stays"},
	{"RollingBack",      "UpgradeBlocked",   "the former runs again; what failed is not taken again"},
	{"RollingBack",      "Degraded",         "there is no way back, or it failed"},
	{"Degraded",         "Installed",        "it works again"},
	{"Degraded",         "Upgrading",        "an upgrade leads out"},
	{"Installed",        "Deleting",         "somebody deleted it"},
};
/* clang-format on */

const struct phase_deadline *phase_deadline(enum phase phase)
{
	for (size_t i = 0; i < ARRAY_LEN(phase_deadlines); i++)
		if (phase_deadlines[i].phase == phase)
			return &phase_deadlines[i];
	return NULL;
}

const struct phase_edge *phase_edge_at(size_t i)
{
	return i < ARRAY_LEN(phase_edges) ? &phase_edges[i] : NULL;
}

const struct state_edge *state_edge_at(size_t i)
{
	return i < ARRAY_LEN(state_edges) ? &state_edges[i] : NULL;
}

int phase_check(enum phase from, enum phase to, struct error *err)
{
	if (from == PHASE_NEW && to != PHASE_PENDING)
		from = PHASE_PENDING;
	if (from == to)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(phase_edges); i++)
		if (phase_edges[i].from == from && phase_edges[i].to == to)
			return 0;
	return error_set(err, E_INTERNAL,
			 "a strategy in phase %s may not become %s; nothing is "
			 "written, report it as a bug of alm",
			 phase_name(from), phase_name(to));
}

/* --- states --- */

/* Its index among the names seen, which it joins. */
static size_t index_of(const char **names, size_t *n, const char *name)
{
	size_t i = 0;
	while (i < *n && strcmp(names[i], name) != 0)
		i++;
	if (i == *n && i < STATES_MAX)
		names[(*n)++] = name;
	return i;
}

/* An app may be deleted in any state; a way back out of that there is not. */
static bool leads_to(const char *from, const char *to)
{
	const char *reached[STATES_MAX] = {from};
	size_t n = 1;
	for (size_t i = 0; i < n; i++)
		for (size_t e = 0; e < ARRAY_LEN(state_edges); e++)
			if (!strcmp(state_edges[e].from, reached[i]))
				(void)index_of(reached, &n, state_edges[e].to);
	size_t known = n;
	return index_of(reached, &n, to) < known;
}

int state_check(const char *from, const char *to, struct error *err)
{
	if (!strcmp(from, to) || leads_to(from, to))
		return 0;
	return error_set(err, E_INTERNAL,
			 "an AppType in state %s may not become %s; nothing is written, report it "
			 "as a bug of alm",
			 *from ? from : "New", to);
}
