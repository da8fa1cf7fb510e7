/*
 * Archives of candidates that only an index reported: what their CRDs serve is not known before
 * they were read (lifecycle.md 1.1). Only candidates that nothing in the index refuses are fetched,
 * and at most as many as the costly predicates look at.
 */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/apptype/apptype.h"
#include "alm/controllers/work/works.h"

#define READ_MAX 16

/* Reasons that need no archive: what is refused for them is not fetched. */
static bool refused_by_index(const struct candidate *c)
{
	static const char *const reasons[] = {"Malformed",    "Ambiguous",        "NotRequested",
					      "NotNewer",     "OutOfRange",       "Prerelease",
					      "NotInChannel", "PreviouslyFailed", "KubeVersion"};
	for (size_t i = 0; c->reason && i < ARRAY_LEN(reasons); i++)
		if (!strcmp(c->reason, reasons[i]))
			return true;
	return false;
}

static void plan_read(const struct view *v, const struct candidate *c, const char *id,
		      struct plan *plan)
{
	struct action *x = plan_work(plan, &fetch_work, id);
	x->key = arena_strdup(v->a, c->entry->digest);
}

int apptype_read(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	const struct app *app = apptype_pass(v);
	size_t n = 0;
	bool wait = false;
	(void)key;
	(void)err;
	for (size_t i = 0; i < app->resolution.n && n < READ_MAX; i++) {
		const struct candidate *c = &app->resolution.candidates[i];
		if (!c->entry || refused_by_index(c))
			continue;
		n++;
		if (!c->entry->unread)
			continue;
		const char *id = arena_fmt(v->a, "archive:%s", c->entry->digest);
		const struct outcome *o = view_outcome(v, id);
		bool failed = o && o->code;
		if (failed && o->code == E_INVALID)
			continue; /* it stays what it is until digest or source changes */
		if (failed && outcome_is_younger(o, v->now_ns, NS_PER_MIN)) {
			plan_requeue_after(plan, NS_PER_MIN - (v->now_ns - o->at_ns));
			continue;
		}
		plan_read(v, c, id, plan);
		wait = wait || !failed;
	}
	return wait ? STEP_STOP : STEP_CONTINUE;
}
