/* A Bundle whose objects somebody else writes as often as ALM does: one is changed, one is deleted, and the Install of
 * the run is edited. Each is put back five times in ten minutes at the most, and then once an hour; when the other
 * one gives up, all is as the branch has it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/engine/repairs.h"
#include "alm/obj/meta.h"
#include "tests/sim/bundles.h"
#include "tests/sim/scenarios.h"

#define TREE(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}
#define INSTALLS        "/apis/store.app.coreos.com/v1/namespaces/alm-cluster-default/installs"
#define QUICK_NS        (2 * SEC)
#define SLOW_NS         NS_PER_MIN
/* It is looked at once in a minute, and clocks and answers are late by some seconds. */
#define SLACK_NS (2 * NS_PER_MIN)
#define KEPT     64

TREE(tree, "a.yaml", CM("a", "1"), "b.yaml", CM("b", "1"), "c.yaml", CM("c", "1"));
static const struct git_table_commit commits[] = {{"tree", tree}, {0}};

/* What the other one does to an object that is as the branch wants it. */
static const struct habit {
	const char *target, *theirs, *patch; /* NULL: it is deleted */
} habits[] = {
	{MAPS "/a", "data.v=theirs", "{\"data\":{\"v\":\"theirs\"}}"},
	{MAPS "/c", NULL, NULL},
	{INSTALLS, "spec.attempt=99", "{\"spec\":{\"attempt\":99}}"},
};

struct fight {
	unsigned starts;    /* of the process that has put back what is noted */
	int64_t quick_left; /* rounds */
	int64_t slow_left;
	int64_t patience;
	char install[512]; /* its target */
	struct {
		bool begun;
		int64_t at_ns[KEPT]; /* when it was found put back, oldest first */
		size_t n;
	} of[ARRAY_LEN(habits)];
};

static struct fight *state(struct world *w)
{
	if (!w->noted) {
		struct fight *f = xcalloc(1, sizeof(*f));
		*f = (struct fight){.quick_left = 60, .slow_left = 180, .patience = 180};
		w->noted = (char *)f;
	}
	return (struct fight *)w->noted;
}

/* A process that began anew has forgotten. What the one before it did may be found only now. */
static size_t most(const struct world *w)
{
	return REPAIRS_MAX + (w->program_starts > 1);
}

static void check(struct world *w, const struct fight *f, size_t i)
{
	size_t n = f->of[i].n, m = most(w);
	const int64_t *at = f->of[i].at_ns;
	if (n <= m || faults_move_clocks(&w->faults))
		return;
	int64_t since_last = at[n - 1] - at[n - 2];
	bool hourly = at[n - 2] - at[n - 1 - m] < REPAIRS_NS - SLACK_NS;
	for (size_t k = m; !hourly && k < n - 1; k++)
		hourly = at[k] - at[k - m] < REPAIRS_NS - SLACK_NS;
	if (hourly && since_last < REPAIRS_PAUSE_NS - SLACK_NS)
		world_fail(w, "%s is put back %lld s after the time before, the %zuth time",
			   habits[i].target, (long long)(since_last / SEC), n);
}

static void note(struct world *w, struct fight *f, size_t i)
{
	if (f->starts != w->program_starts)
		for (size_t k = 0; k < ARRAY_LEN(habits); k++)
			f->of[k].n = 0;
	f->starts = w->program_starts;
	if (f->of[i].n == KEPT) {
		world_fail(w, "%s is put back for ever", habits[i].target);
		return;
	}
	f->of[i].at_ns[f->of[i].n++] = w->sim.mono_ns;
	check(w, f, i);
}

static const char *target(struct world *w, struct fight *f, size_t i)
{
	CLEANUP(obj_unrefp) struct obj *list = NULL;
	struct error err;
	if (strcmp(habits[i].target, INSTALLS) != 0)
		return habits[i].target;
	if (!f->install[0] && world_get(w, INSTALLS, &list, &err) == 200 &&
	    obj_len(obj_get(list, "items")))
		snprintf(f->install, sizeof(f->install), "%s/%s", INSTALLS,
			 meta_name(obj_at(obj_get(list, "items"), 0)));
	return f->install[0] ? f->install : NULL;
}

static bool is_put_back(const struct obj *o, size_t i)
{
	return !habits[i].theirs || !world_has(o, habits[i].theirs);
}

static void round_of(struct world *w)
{
	struct fight *f = state(w);
	for (size_t i = 0; i < ARRAY_LEN(habits); i++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		CLEANUP(obj_unrefp) struct obj *after = NULL;
		struct error err;
		const char *at = target(w, f, i);
		if (!at || world_get(w, at, &o, &err) != 200 || !is_put_back(o, i))
			continue;
		if (f->of[i].begun)
			note(w, f, i);
		int status = world_send(w, habits[i].patch ? "PATCH" : "DELETE", at,
					habits[i].patch, &after, &err);
		f->of[i].begun = f->of[i].begun || status == 200;
	}
}

/* The same action once more, until the rounds are over. */
static void fight_quickly(struct world *w)
{
	round_of(w);
	if (state(w)->quick_left-- > 0)
		w->next_action--;
}

static void fight_slowly(struct world *w)
{
	round_of(w);
	if (state(w)->slow_left-- > 0)
		w->next_action--;
}

/* Each was put back again and again, and in three hours more than once. */
static void has_fought(struct world *w)
{
	const struct fight *f = state(w);
	for (size_t i = 0; i < ARRAY_LEN(habits) && world_is_faultless(w); i++)
		if (f->of[i].n < REPAIRS_MAX + 2)
			world_fail(w, "%s was put back %zu times", habits[i].target, f->of[i].n);
}

static void is_told(struct world *w)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct error err;
	if (world_is_faultless(w) &&
	    (world_get(w, WEB, &o, &err) != 200 || !world_has(o, "@Drifted=RepairFought")))
		world_fail(w, "condition Drifted does not tell of the fight");
}

/* The pause of the last one may be longer than the hour in which a world comes to rest. */
static void await_install(struct world *w)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct fight *f = state(w);
	struct error err;
	if (world_get(w, f->install, &o, &err) == 200 && is_put_back(o, 2))
		return;
	if (f->patience-- > 0)
		w->next_action--;
	else
		world_fail(w, "the Install is not put back after hours");
}

static const struct user_action actions[] = {
	PUSH(0, "1"),
	{0, DO_CREATE, BUNDLES, BUNDLE("60s", "\"historyLimit\":0"), NULL},
	{0, DO_UNTIL, WEB, "status.state=Synced", NULL},
	{QUICK_NS, DO_CALL, "call", NULL, fight_quickly},
	{0, DO_CALL, "call", NULL, is_told},
	{SLOW_NS, DO_CALL, "call", NULL, fight_slowly},
	{0, DO_CALL, "call", NULL, has_fought},
	{0, DO_UNTIL, MAPS "/a", "data.v=1", NULL},
	{0, DO_APPEAR, MAPS "/c", NULL, NULL},
	{0, DO_UNTIL, WEB, "@Drifted=", NULL},
	{SLOW_NS, DO_CALL, "call", NULL, await_install},
	{0},
};

static int converged(struct world *w, struct error *err)
{
	static const struct bundles_want list[] = {{"a", "1"}, {"b", "1"}, {"c", "1"}, {0}};
	return bundles_converged(w, list, err);
}

const struct scenario scenario_fight = {
	.name = "fight",
	.about = "a Bundle, whose objects somebody else writes again and again",
	.actions = actions,
	.program = &operators_program,
	.commits = commits,
	.observe = bundles_observe,
	.converged = converged,
};
