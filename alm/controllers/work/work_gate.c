/* A planned CRD is judged by the cluster; the outcome is that of live_gate.h. */
#include <string.h>

#include "alm/controllers/work/works.h"
#include "alm/live/live_gate.h"

static struct live_gate **gate_of(struct work *w)
{
	return (struct live_gate **)w->state;
}

/* What follows a gate that guards happens only after the outcome it was planned for, and to the
 * very definition that was judged. */
static void guard(struct work *w, const struct obj *value)
{
	const struct action *a = w->action;
	const char *key = live_gate_key(obj_get(value, "findings"), w->a);
	if (cstr_eq(obj_str(value, "outcome"), "refuse") || obj_flag(value, "taken", false) ||
	    (a->expect && strcmp(a->expect, key) != 0)) {
		work_stop(w);
		return;
	}
	struct action *next = work_next(w);
	const char *rv = obj_str(value, "resourceVersion"), *uid = obj_str(value, "uid");
	if (next && rv && next->type == ACT_APPLY && cstr_eq(next->name, obj_str(value, "crd"))) {
		next->resource_version = arena_strdup(w->a, rv);
		next->uid = arena_strdup(w->a, uid); /* of one that is gone it makes none */
	}
}

static void judged(void *arg, struct obj *value, const struct error *err)
{
	struct work *w = arg;
	*gate_of(w) = NULL;
	if (err) {
		work_fail(w, err);
		return;
	}
	if (w->action->guards)
		guard(w, value);
	work_put(w, NULL, STR_NONE, value);
	work_done(w);
}

static void start(struct work *w)
{
	const struct live_gate_config config = {.client = w->client,
						.as = w->action->as,
						.loop = w->loop,
						.request = w->action->body,
						.done = judged,
						.arg = w};
	*gate_of(w) = live_gate_start(&config);
}

static void cancel(struct work *w)
{
	live_gate_free(*gate_of(w));
}

const struct work_kind gate_work = {.name = "gate", .start = start, .cancel = cancel};
