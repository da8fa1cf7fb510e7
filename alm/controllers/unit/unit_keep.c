/* unit_keep: what has drifted since the rollout is put back, and whose it was is told. */
#include <inttypes.h>

#include "alm/base/clock.h"
#include "alm/controllers/unit/unit_act.h"
#include "alm/engine/repairs.h"
#include "alm/obj/meta.h"
#include "alm/unit/drift.h"

/* What is put back, or is not yet, and whose it was: once for each state that somebody left it in. */
static struct action *tell_drift(struct unit_pass *s, const struct unit_entry *e, size_t row,
				 const char *reason, const char *key)
{
	struct arena *a = s->v->a;
	const struct obj *live = unit_found(s, row);
	const struct obj *want = obj_keep(a, s->host->decorate(s, e, row));
	struct obj *body = obj_map();
	const char *by = drift_tell(want, live, s->plan->manager, a, body);
	obj_set_str(body, "what",
		    arena_fmt(a, "%s %s", unit_entry_text(e, a),
			      e->live ? "changed"
			      : live  ? "has lost marks of ALM"
				      : "is missing"));
	obj_set_str(body, "bundle", s->unit->bundle);
	struct action *x = plan_row(s->plan, "Observe", live ? live : want, reason, key, body);
	x->actor = by;
	s->plan->trigger = "Drift";
	return x;
}

static void repair(struct unit_pass *s, const struct unit_entry *e, size_t row)
{
	struct arena *a = s->v->a;
	const struct obj *live = unit_found(s, row);
	const char *uid = meta_uid(live);
	/* one that is deleted again has gone another time */
	const char *state = live ? meta_resource_version(live)
				 : arena_fmt(a, "missing:%lld:%" PRId64, (long long)s->job->attempt,
					     repairs_last(s->v, e->object, e->ns));
	(void)tell_drift(s, e, row, "DriftRepaired", arena_fmt(a, "%s@%s", uid ? uid : "", state));
	unit_write_object(s, e, row, 0)->repairs = true;
}

/* Somebody else puts it back, too, to what he wants: that is for a person to end. Once a pause. */
static void tell_fight(struct unit_pass *s, const struct unit_entry *e, size_t row, int64_t left)
{
	struct arena *a = s->v->a;
	struct action *x = tell_drift(s, e, row, "DriftFought",
				      arena_fmt(a, "until:%" PRId64, s->v->now_ns + left));
	x->event_type = "Warning";
	x->message = x->actor ? arena_fmt(a, "changed by %s: " REPAIRS_WHY, x->actor) : REPAIRS_WHY;
}

static void put_back(struct unit_pass *s, const struct unit_step *step)
{
	for (size_t k = 0; k < step->n; k++) {
		size_t row = step->rows[k];
		const struct unit_entry *e = &s->entries[row];
		if (unit_action(step, e) != ACTION_CREATE_OR_UPDATE || s->foreign[row] ||
		    s->host->is_left(s, e) || e->unknown || !unit_is_within(s, e) ||
		    (e->live && meta_is_deleting(e->live)) || unit_is_placed(s, e) ||
		    unit_has_run_out(s, row))
			continue;
		const struct outcome *no = view_refusal(s->v, e->object, e->ns);
		int64_t left = no && no->code ? outcome_retry_in(no, s->v->now_ns) : 0;
		if (plan_await(s->plan, left) != DONE)
			continue;
		left = repairs_wait(s->v, e->object, e->ns);
		if (plan_await(s->plan, left) == DONE)
			repair(s, e, row);
		else
			tell_fight(s, e, row, left);
	}
}

enum ensured unit_keep(struct unit_pass *s)
{
	for (size_t p = 0; p < UNIT_PARTS; p++)
		for (size_t g = 0; g < s->unit->parts[p].n; g++)
			for (size_t i = 0; i < s->unit->parts[p].groups[g].n; i++)
				put_back(s, &s->unit->parts[p].groups[g].steps[i]);
	return DONE;
}
