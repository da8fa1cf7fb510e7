/* unit_health: how what was rolled out does since (fleet.md 2.5, Degraded): what is not as declared and stays so, and
 * what was ready and is not any more, for longer than a moment. The record has a text of each, with the first
 * object by name, and since when; both go when it is well again. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/visible.h"
#include "alm/controllers/unit/unit_pass.h"
#include "alm/engine/repairs.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "alm/unit/drift.h"
#include "alm/unit/ready.h"
#include "crds/marks.h"

#define AILING_MAX    64 /* objects whose time is remembered; what is beyond is counted */
#define LOOK_AGAIN_NS (30 * NS_PER_S) /* at what no informer shows, while it is told */
#define WHY_BYTES     512
#define TRIES         3 /* of a repair that may pass, before it is said to stay */

struct health {
	struct unit_pass *s;
	struct obj *ailing; /* object -> since when */
	const struct obj *before;
	bool longer; /* what is unwell and not remembered was so before: beyond what was, or the process */
	bool awaits; /* the answer to a repair: whether what had drifted stays so is not known yet */
	const char *unhealthy, *drifted;
	const char *
		more; /* ": NAME, NAME": of those that have drifted besides, as far as there is room */
	size_t n_unhealthy, n_drifted, n_beyond;
	bool asks;          /* what it was told is old */
	const char *reason; /* of the first of the drifted */
};

static const char *clipped(struct arena *a, const char *text)
{
	struct str s = str_clip(str_of(text), WHY_BYTES);
	return visible_text(a, arena_strndup(a, s.ptr, s.len));
}

/* --- drift --- */

/* The Bundle or app whose marks it has; NULL: none. */
static const char *taken_by(const struct unit_pass *s, size_t row)
{
	const struct obj *o = unit_found(s, row);
	const char *bundle = meta_label(o, LABEL_BUNDLE), *app = meta_label(o, LABEL_APP);
	bool is_ours = cstr_eq(bundle, s->unit->bundle) && !meta_annotation(o, ANNOTATION_OWNER_ID);
	if (is_ours) /* somebody took the other mark off, or put this one on */
		return NULL;
	if (bundle)
		return arena_fmt(s->v->a, "bundle %s", bundle);
	return meta_label(o, LABEL_STRATEGY) ? arena_fmt(s->v->a, "app %s", app ? app : "?") : NULL;
}

/* Why it is not put back; NULL: it is, just now. */
static const char *why_left(const struct unit_pass *s, const struct unit_entry *e, size_t row,
			    const char **ret_reason)
{
	*ret_reason = s->job->keeps ? "RepairRefused" : "Reported";
	if (!s->job->keeps)
		return "spec.drift is Report";
	if (!unit_is_within(s, e))
		return "spec.prune.namespaces names its namespace no more";
	if (s->foreign[row] && taken_by(s, row))
		return "two that declare it take it from each other; take it out of one";
	if (s->foreign[row])
		return "it may be somebody else's; spec.adopt: Unowned takes it over";
	const struct outcome *no = view_refusal(s->v, e->object, e->ns);
	if (!no || !no->code) {
		*ret_reason = "RepairFought";
		return repairs_wait(s->v, e->object, e->ns) ? REPAIRS_WHY : NULL;
	}
	bool stays = error_retry(no->code) == RETRY_NEVER || no->code == E_FORBIDDEN;
	return stays || no->failures >= TRIES ? no->msg : NULL;
}

/* This process has written it, and the server took it. */
static bool is_repaired(const struct unit_pass *s, const struct unit_entry *e)
{
	return e->live && stash_applied_ns(s->v->stash, meta_uid(e->live));
}

static const char *what_drifted(const struct unit_pass *s, const struct unit_entry *e, size_t row)
{
	struct drift d;
	struct arena *a = s->v->a;
	const struct obj *live = unit_found(s, row);
	if (!live)
		return "it is missing";
	if (s->foreign[row] && taken_by(s, row))
		return arena_fmt(a, "it belongs to %s now", taken_by(s, row));
	if (s->foreign[row])
		return "it is there without the marks of ALM";
	drift_find(obj_keep(a, s->host->decorate(s, e, row)), live, s->plan->manager, a, &d);
	if (!e->live) /* no watch shows it */
		return arena_fmt(a, "marks of ALM were taken off it%s%s", d.manager ? " by " : "",
				 d.manager ? d.manager : "");
	return arena_fmt(a, "%s%s%s%s", d.n ? d.paths[0] : "it",
			 d.n > 1 || d.cut ? " and more" : "",
			 d.manager ? " changed by " : " changed", d.manager ? d.manager : "");
}

/* A webhook made it so when it was applied. The process that did may be gone (unit_is_as_left()), and nobody
 * applies it again where drift is left: the managers of its fields know. */
static bool is_own_doing(const struct unit_pass *s, const struct unit_entry *e)
{
	return unit_is_applied(e) && s->host->owns(s, e->live) &&
	       !unit_loses_main(s, e->live, e->object) &&
	       drift_is_ours(e->object, e->live, s->plan->manager);
}

/* It was read live, and may be otherwise by now: long ago, or before a write that was not refused if it were so. */
static bool is_old(const struct unit_pass *s, const struct unit_entry *e, size_t row)
{
	int64_t age = s->v->now_ns - s->absent_ns;
	const struct outcome *no = view_refusal(s->v, e->object, e->ns);
	bool conflicts = no && no->code == E_CONFLICT && no->at_ns > s->absent_ns;
	bool told = !s->job->keeps || s->foreign[row];
	return !e->live && e->resource &&
	       (conflicts || (told && (age < 0 || age >= LOOK_AGAIN_NS)));
}

static bool has_drifted(const struct unit_pass *s, const struct unit_step *step, size_t row)
{
	const struct unit_entry *e = &s->entries[row];
	if (unit_action(step, e) != ACTION_CREATE_OR_UPDATE || s->host->is_left(s, e) ||
	    e->unknown || (e->live && meta_is_deleting(e->live)))
		return false;
	if (s->foreign[row]) /* made again, or taken over: no informer shows it */
		return true;
	return !unit_is_placed(s, e) && !unit_has_run_out(s, row) &&
	       (s->job->keeps || !is_own_doing(s, e));
}

static void look_for_drift(struct health *h, const struct unit_step *step, size_t row)
{
	struct unit_pass *s = h->s;
	const struct unit_entry *e = &s->entries[row];
	const char *reason;
	if (!has_drifted(s, step, row))
		return;
	h->asks = h->asks || is_old(s, e, row);
	const char *why = why_left(s, e, row, &reason);
	h->awaits = h->awaits || (!why && !is_repaired(s, e));
	if (why && !e->live)
		plan_requeue_after(s->plan, LOOK_AGAIN_NS);
	if (why && h->n_drifted && strlen(h->more) < WHY_BYTES)
		h->more = arena_fmt(s->v->a, "%s%s%s", h->more, *h->more ? ", " : ": ",
				    unit_entry_text(e, s->v->a));
	if (!why || h->n_drifted++)
		return;
	h->reason = reason;
	h->drifted = arena_fmt(s->v->a, "%s: %s; not put back: %s", unit_entry_text(e, s->v->a),
			       clipped(s->v->a, what_drifted(s, e, row)), clipped(s->v->a, why));
}

/* --- health --- */

/* A step that says itself when it is done said nothing of what comes after. */
static bool has_own_checks(const struct unit_step *step)
{
	return step->rule && step->rule->n_success;
}

/* Why it is not ready; NULL: it is, or nobody asks. */
static const char *why_unready(const struct unit_pass *s, const struct unit_step *step,
			       const struct unit_entry *e)
{
	const char *why = NULL;
	enum rollout_action action = unit_action(step, e);
	bool applied = action == ACTION_CREATE_OR_UPDATE || action == ACTION_CREATE_IF_NOT_EXIST;
	if (!applied || has_own_checks(step) || !e->live || e->unknown ||
	    meta_is_deleting(e->live) || s->host->is_left(s, e) ||
	    cstr_eq(meta_annotation(e->object, ANNOTATION_WAIT), "disabled") ||
	    (cstr_eq(e->kind, "Pod") && cstr_eq(obj_str(e->live, "status.phase"), "Succeeded")))
		return NULL;
	return ready_check(e->live, false, s->v->a, &why) == READY ? NULL : why ? why : "not ready";
}

static void look_for_illness(struct health *h, const struct unit_step *step, size_t row)
{
	struct unit_pass *s = h->s;
	const struct unit_entry *e = &s->entries[row];
	const char *why = s->foreign[row] ? NULL : why_unready(s, step, e);
	const char *name = unit_entry_text(e, s->v->a);
	if (!why)
		return;
	if (obj_len(h->ailing) >= AILING_MAX) {
		h->n_beyond++;
		return;
	}
	int64_t now = s->v->now_ns;
	int64_t since =
		obj_i64(obj_get(h->before, name), "ns", h->longer ? now - UNIT_AILING_NS : now);
	if (since > now) /* the clock was set back */
		since = now;
	struct obj *one = obj_map();
	obj_set_int(one, "ns", since);
	obj_set(h->ailing, name, one);
	if (plan_await(s->plan, since + UNIT_AILING_NS - now) != DONE || h->n_unhealthy++)
		return;
	h->unhealthy = arena_fmt(s->v->a, "%s is not ready: %s", name, clipped(s->v->a, why));
}

/* --- what is told --- */

static void tell(struct obj *record, const char *field, const char *text, size_t n,
		 const char *more, struct arena *a)
{
	if (!text)
		obj_del(record, field);
	else if (n > 1)
		obj_set_str(record, field, arena_fmt(a, "%s; and %zu more%s", text, n - 1, more));
	else
		obj_set_str(record, field, text);
}

static void look_at(struct health *h, const struct unit_step *step)
{
	for (size_t k = 0; k < step->n; k++) {
		look_for_drift(h, step, step->rows[k]);
		look_for_illness(h, step, step->rows[k]);
	}
}

void unit_health(struct unit_pass *s)
{
	const struct obj *before = obj_get(s->record, "ailing");
	bool resumed = obj_flag(s->record, "resumed", false);
	bool was_full = obj_len(before) >= AILING_MAX && obj_has(s->record, "unhealthy");
	struct health h = {.s = s,
			   .more = "",
			   .ailing = obj_map(),
			   .before = before,
			   .longer = was_full || (resumed && !before)};
	for (size_t p = 0; p < UNIT_PARTS; p++)
		for (size_t g = 0; g < s->unit->parts[p].n; g++)
			for (size_t i = 0; i < s->unit->parts[p].groups[g].n; i++)
				look_at(&h, &s->unit->parts[p].groups[g].steps[i]);
	if (h.asks) { /* what was told stays so until it is read */
		unit_forget(s, UNIT_ABSENT);
		plan_requeue_after(s->plan, NS_PER_MS);
		obj_unref(h.ailing);
		return;
	}
	bool awaits = resumed && h.awaits && !h.drifted;
	if (!awaits)
		obj_del(s->record, "resumed");
	if (obj_len(h.ailing) || awaits) /* an empty one says that it was looked at */
		obj_set(s->record, "ailing", STEAL(h.ailing));
	else
		obj_del(s->record, "ailing");
	obj_unref(h.ailing);
	tell(s->record, "unhealthy", h.unhealthy, h.n_unhealthy + h.n_beyond, "", s->v->a);
	tell(s->record, "drifted", h.drifted, h.n_drifted, h.more, s->v->a);
	if (h.drifted)
		obj_set_str(s->record, "driftedWhy", h.reason);
	else
		obj_del(s->record, "driftedWhy");
}
