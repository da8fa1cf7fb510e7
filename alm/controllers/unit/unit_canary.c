#include "alm/controllers/unit/unit_canary.h"

#include "alm/base/clock.h"
#include "alm/controllers/unit/unit_check.h"
#include "alm/controllers/unit/unit_pass.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/unit/canary.h"
#include "crds/marks.h"

/* One look at it. */
struct look {
	struct canary_pass *c;
	const struct canary *rule;
	struct obj *record;
	const struct unit_entry *e; /* of D, with P */
	struct unit_entry canary;   /* of C: object as it is to be, and live */
};

static const struct canary *rule_of(const struct unit_pass *s, const struct unit_step *step)
{
	return step->rule && !s->back ? step->rule->canary : NULL;
}

/* D is not what P is, and P is ours to judge. */
static bool begins(const struct unit_pass *s, const struct unit_entry *e, size_t row)
{
	return unit_found(s, row) && !s->foreign[row] && !unit_is_applied(e) &&
	       canary_is_needed(unit_found(s, row), e->object, s->plan->manager);
}

static const char *name_of(const struct unit_entry *e, struct arena *a)
{
	return arena_fmt(a, "%s" CANARY_SUFFIX, e->name);
}

/* --- C --- */

/* Its digest has the replicas: another number of them is to be applied. */
static void load(struct look *l, int64_t replicas)
{
	struct unit_pass *s = l->c->s;
	struct arena *a = s->v->a;
	char digest[SHA256_HEX];
	struct obj *row = obj_keep(a, obj_map());
	struct obj *o = canary_object(l->e->object, l->e->ns, replicas);
	json_digest(obj_get(o, "spec"), digest);
	obj_set(row, "object", o);
	obj_set_str(row, "digest", digest);
	l->canary = (struct unit_entry){0};
	unit_entry_load(s->v, row, s->unit->ns, unit_selector(s), &l->canary, s->plan);
}

/* What is there and has no mark of ours no informer shows. */
static const struct obj *foreign(struct look *l, bool *ret_known)
{
	struct unit_pass *s = l->c->s;
	struct obj *rows = obj_list();
	unit_survey_row(rows, "o", &l->canary);
	const char *id = unit_id(s, arena_fmt(s->v->a, "canary:%zu", l->c->row));
	const struct outcome *o = unit_survey(s, id, rows, 0);
	*ret_known = o != NULL;
	const struct obj *live = o ? obj_get(o->value, "o") : NULL;
	return live && !s->host->owns(s, live) ? live : NULL;
}

static enum canary_goes place(struct look *l)
{
	struct canary_pass *c = l->c;
	const struct unit_entry *e = &l->canary;
	struct arena *a = c->s->v->a;
	bool known = true;
	c->why = arena_fmt(a, "%s is being %s", name_of(l->e, a), e->live ? "changed" : "made");
	if (e->unknown || (e->live && meta_is_deleting(e->live)))
		return CANARY_GOES_ON;
	/* an informer shows what other instances and other bundles have, too */
	const struct obj *other = !e->live                          ? foreign(l, &known)
				  : c->s->host->owns(c->s, e->live) ? NULL
								    : e->live;
	const char *no = unit_refusal(c->s, e, c->record);
	if (other)
		canary_end(l->record, "ObjectNotOwned",
			   arena_fmt(a, "Deployment %s/%s is there, and not of this unit", e->ns,
				     e->name));
	else if (no)
		canary_end(l->record, "ServerRefused", no);
	if (other || no) {
		plan_requeue_after(c->s->plan, NS_PER_MS);
		return CANARY_GOES_ON;
	}
	if (!known)
		return CANARY_GOES_ON;
	struct obj *o = unit_decorate(c->s, e->object, e->digest, c->row);
	struct action *x = plan_apply(c->s->plan, o, c->stage, e->live != NULL);
	if (e->live)
		plan_over(c->s->plan, x, e->live);
	return CANARY_GOES_ON;
}

/* A deletion that we have seen is not waited for as one that nobody has. */
static void note_deleted(const struct look *l)
{
	const struct unit_pass *s = l->c->s;
	const struct inventory_line line = {.api_version = meta_api_version(l->e->object),
					    .kind = l->e->kind,
					    .ns = l->canary.ns,
					    .name = l->canary.name};
	char now[CLOCK_TEXT_MAX];
	struct obj *o = obj_map();
	clock_format(s->v->now_ns, CLOCK_SECONDS, now);
	obj_set_str(o, "since", now);
	obj_set(obj_need_map(s->record, "deleted"), inventory_id(&line, s->v->a), o);
}

/* DONE: there is none of ours. */
static enum ensured remove_canary(struct look *l)
{
	struct canary_pass *c = l->c;
	const struct obj *live = l->canary.live;
	if (l->canary.unknown)
		return WAITING;
	if (!live || !c->s->host->owns(c->s, live))
		return DONE;
	c->why = arena_fmt(c->s->v->a, "%s is being deleted", l->canary.name);
	if (!meta_is_deleting(live)) {
		note_deleted(l);
		plan_delete(c->s->plan, live, "Foreground");
	}
	return WAITING;
}

/* --- what is told --- */

static struct action *row(const struct look *l, const struct obj *subject, const char *reason,
			  const char *key, const char *message)
{
	struct unit_pass *s = l->c->s;
	struct obj *body = obj_map();
	obj_set_str(body, "bundle", s->unit->bundle);
	obj_set_str(body, "canary", l->canary.name);
	obj_set_str(body, "what", message);
	struct action *x = plan_row(s->plan, "Observe", subject, reason, key, body);
	x->message = message;
	return x;
}

/* The words of the failure table begin with their reason. */
static const char *why_of(const struct look *l, const char *reason, const char *message)
{
	return failure_check_find(reason) ? message
					  : arena_fmt(l->c->s->v->a, "%s: %s", reason, message);
}

static void tell_abort(const struct look *l, const char *text)
{
	struct unit_pass *s = l->c->s;
	const struct obj *live = unit_found(s, l->c->row), *p = live ? live : l->e->object;
	const char *uid = meta_uid(p);
	row(l, p, "CanaryAborted",
	    arena_fmt(s->v->a, "%s@%s:%s", uid ? uid : "", obj_str(s->record, "run"), text), text)
		->event_type = "Warning";
}

/* "50: REASON (claimed by BY)" of its Bundle. */
static const char *approval(const struct look *l)
{
	const struct unit_pass *s = l->c->s;
	const char *told = unit_told(s, "approve");
	int64_t weight = obj_i64(obj_get(s->job->steer, "approve"), "weight", 0);
	return told ? arena_fmt(s->v->a, "%lld: %s", (long long)weight, told) : NULL;
}

/* What a person has told the canary: who it was is in the log of the server. */
static void tell_hand(const struct look *l)
{
	struct arena *a = l->c->s->v->a;
	const struct obj *live = l->canary.live;
	const char *approve = meta_annotation(live, CANARY_APPROVE),
		   *skip = meta_annotation(live, CANARY_SKIP);
	approve = approve ? approve : approval(l);
	skip = skip ? skip : unit_told(l->c->s, "skip");
	if (!live || (!approve && !skip))
		return;
	const char *text =
		arena_fmt(a, "%s%s%s%s", approve ? "approved: " : "", approve ? approve : "",
			  skip ? (approve ? "; skipped: " : "skipped: ") : "", skip ? skip : "");
	row(l, live, "CanarySteered", arena_fmt(a, "%s:%s", meta_uid(live), text), text);
}

/* --- the look --- */

static struct rollout_step *checks_of(const struct look *l, bool figures)
{
	struct arena *a = l->c->s->v->a;
	const struct rollout_step *all = l->c->step->rule;
	struct rollout_step *r = arena_memdup(a, all, sizeof(*all));
	r->success = ARENA_ARRAY(a, struct rollout_check, all->n_success + 1);
	r->n_success = 0;
	for (size_t i = 0; i < all->n_success && figures; i++)
		if (all->success[i].type == CHECK_PROMETHEUS)
			r->success[r->n_success++] = all->success[i];
	return r;
}

static void check(const struct look *l, bool figures, struct check_result *ret)
{
	struct canary_pass *c = l->c;
	struct unit_step step = *c->step;
	step.rule = checks_of(l, figures);
	unit_check(c->s, &step, c->row, l->canary.live, l->record, ret);
}

static enum canary_goes abort_it(struct look *l)
{
	const char *reason = obj_str(l->record, "reason"), *message = obj_str(l->record, "message");
	struct arena *a = l->c->s->v->a;
	if (remove_canary(l) == WAITING)
		return CANARY_GOES_ON;
	reason = arena_strdup(a, reason ? reason : "Aborted");
	message = arena_strdup(a, message ? message : "");
	l->c->why = why_of(l, reason, message);
	if (obj_flag(l->record, "promoted", false))
		return CANARY_HAS_ENDED;
	tell_abort(l, l->c->why);
	l->c->why = arena_fmt(a, "CanaryAborted: %s", l->c->why);
	return CANARY_HAS_ENDED;
}

static enum canary_goes act(struct look *l, const struct canary_turn *turn)
{
	struct canary_pass *c = l->c;
	switch (turn->does) {
	case CANARY_PLACES:
		load(l, turn->replicas);
		return place(l);
	case CANARY_PROMOTES:
		return CANARY_IS_GOOD;
	case CANARY_ABORTS:
		return abort_it(l);
	case CANARY_WAITS:
	case CANARY_MEASURES:
		break;
	}
	c->why = turn->message;
	if (turn->again_ns)
		plan_requeue_after(c->s->plan, turn->again_ns - c->s->v->now_ns);
	return CANARY_GOES_ON;
}

/* Of a Bundle there is one word for all of its canaries. */
static const char *how_to_approve(const struct unit_pass *s)
{
	return s->job->is_steered
		       ? arena_fmt(s->v->a, "alm approve bundle/%s --canary --reason TEXT",
				   s->unit->bundle)
		       : NULL;
}

static enum canary_goes go_on(struct look *l)
{
	struct unit_pass *s = l->c->s;
	struct check_result ready, measured;
	struct canary_turn turn;
	int64_t replicas = canary_wants(l->rule, l->record);
	load(l, replicas ? replicas : 1);
	struct canary_facts f = {.primary = unit_found(s, l->c->row),
				 .canary = l->canary.live,
				 .told = s->job->steer,
				 .how = how_to_approve(s),
				 .placed = unit_is_placed(s, &l->canary),
				 .now_ns = s->v->now_ns};
	tell_hand(l);
	if (f.placed && !obj_has(l->record, "end")) {
		check(l, false, &ready);
		f.ready = &ready;
	}
	canary_next(l->rule, &f, l->record, s->v->a, &turn);
	if (turn.does == CANARY_MEASURES) {
		check(l, true, &measured);
		f.measured = &measured;
		canary_next(l->rule, &f, l->record, s->v->a, &turn);
	}
	return act(l, &turn);
}

/* Of another revision, or of a canary that is over: it goes, and that is told. */
static enum ensured clear(struct look *l)
{
	if (!l->canary.live || !l->c->s->host->owns(l->c->s, l->canary.live))
		return l->canary.unknown ? WAITING : DONE;
	if (!meta_is_deleting(l->canary.live))
		tell_abort(l, "Superseded: the run that began it has ended");
	return remove_canary(l);
}

/* Only one that tries the same Pods goes on. */
static bool is_left_over(const struct look *l)
{
	return l->canary.live &&
	       canary_is_needed(l->canary.live, l->canary.object, l->c->s->plan->manager);
}

static bool is_healthy(const struct obj *p)
{
	return obj_i64(p, "status.availableReplicas", 0) >= 1;
}

static enum canary_goes begin(struct look *l, struct obj *all, const char *key)
{
	struct canary_pass *c = l->c;
	const struct obj *p = unit_found(c->s, c->row);
	bool needed = begins(c->s, l->e, c->row);
	c->why = arena_fmt(c->s->v->a, "%s is looked for", name_of(l->e, c->s->v->a));
	load(l, 1);
	if (!needed || is_left_over(l)) {
		if (clear(l) == WAITING)
			return CANARY_GOES_ON;
		if (!needed)
			return CANARY_NONE;
	}
	const char *told = unit_told(c->s, "abort");
	if (told) { /* of another Deployment of its step one goes */
		c->why = arena_fmt(c->s->v->a, "Aborted: %s", told);
		return CANARY_HAS_ENDED;
	}
	if (!is_healthy(p)) {
		c->why =
			"PrimaryNotHealthy: the live Deployment has no available replica to compare"
			" with; mend it first, or use the action CreateOrUpdate";
		return CANARY_HAS_ENDED;
	}
	l->record = obj_need_map(all, key);
	canary_begin(l->record, p, c->s->v->now_ns);
	return go_on(l);
}

enum canary_goes unit_canary(struct canary_pass *c)
{
	struct look l = {.c = c, .rule = rule_of(c->s, c->step), .e = &c->s->entries[c->row]};
	const char *key = arena_fmt(c->s->v->a, "%zu", c->row);
	if (!l.rule)
		return CANARY_NONE;
	struct obj *all = obj_need_map(c->record, "canary");
	if (!obj_has(all, key))
		return begin(&l, all, key);
	l.record = obj_get_mut(all, key);
	return go_on(&l);
}

enum ensured unit_canary_end(struct canary_pass *c)
{
	struct look l = {.c = c, .e = &c->s->entries[c->row]};
	load(&l, 1);
	return remove_canary(&l);
}

void unit_canary_fail(struct canary_pass *c, const char *message)
{
	struct obj *all = obj_need_map(c->record, "canary");
	struct obj *record = obj_need_map(all, arena_fmt(c->s->v->a, "%zu", c->row));
	canary_end(record, "PrimaryFailed", message);
	plan_requeue_after(c->s->plan, NS_PER_MS);
}

enum ensured unit_canary_stop(struct unit_pass *s, struct obj *record, const char *reason,
			      const char *why)
{
	struct obj *all = obj_has(record, "canary") ? obj_get_mut(record, "canary") : NULL;
	CLEANUP(xfreep) char *text = xstrdup(why ? why : "");
	OBJ_EACH (it, all) {
		struct obj *one = obj_get_mut(all, it.key);
		const char *end = obj_str(one, "end");
		if (cstr_eq(end, "abort"))
			continue;
		if (end)
			obj_set_bool(one, "promoted", true);
		canary_end(one, reason, text);
		plan_requeue_after(s->plan, NS_PER_MS);
	}
	return obj_len(all) ? WAITING : DONE;
}

/* --- of the whole unit --- */

static void add_line(const struct unit_pass *s, size_t row_of, struct inventory *to)
{
	const struct unit_entry *e = &s->entries[row_of];
	if (begins(s, e, row_of))
		to->lines[to->n++] = (struct inventory_line){
			.api_version = meta_api_version(e->object),
			.kind = e->kind,
			.ns = e->ns,
			.name = name_of(e, s->v->a),
			.digest = e->digest,
			.key = obj_str(obj_at(obj_get(s->unit->doc, "objects"), row_of), "key")};
}

/* Each step with a canary, until fn says something. */
static const char *each(const struct unit_pass *s,
			const char *(*fn)(const struct unit_pass *s, size_t row_of, void *arg),
			void *arg)
{
	const char *why = NULL;
	for (size_t p = 0; p < UNIT_PARTS; p++)
		for (size_t g = 0; g < s->unit->parts[p].n; g++)
			for (size_t i = 0; i < s->unit->parts[p].groups[g].n; i++) {
				const struct unit_step *step =
					&s->unit->parts[p].groups[g].steps[i];
				for (size_t k = 0; k < step->n && rule_of(s, step) && !why; k++)
					why = fn(s, step->rows[k], arg);
			}
	return why;
}

static const char *line_of(const struct unit_pass *s, size_t row_of, void *arg)
{
	add_line(s, row_of, arg);
	return NULL;
}

static const char *refusal_of(const struct unit_pass *s, size_t row_of, void *arg)
{
	(void)arg;
	const struct unit_entry *e = &s->entries[row_of];
	const char *why = canary_refuses(e->object, s->v->a), *name = name_of(e, s->v->a);
	for (size_t i = 0; i < s->n && !why; i++)
		if (cstr_eq(s->entries[i].kind, "Deployment") && cstr_eq(s->entries[i].ns, e->ns) &&
		    cstr_eq(s->entries[i].name, name))
			why = arena_fmt(s->v->a,
					"the unit has a Deployment %s, which is its canary's name",
					name);
	return why ? arena_fmt(s->v->a, "%s: %s", unit_entry_text(e, s->v->a), why) : NULL;
}

void unit_canary_lines(const struct unit_pass *s, struct inventory *to)
{
	(void)each(s, line_of, to);
}

const char *unit_canary_judge(const struct unit_pass *s)
{
	return each(s, refusal_of, NULL);
}
