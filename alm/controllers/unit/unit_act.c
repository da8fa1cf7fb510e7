/* unit_act: see unit_act.h. How far a step is is read from its objects. */
#include "alm/controllers/unit/unit_act.h"

#include "alm/controllers/unit/hook_run.h"
#include "alm/controllers/unit/unit_canary.h"
#include "alm/controllers/unit/unit_check.h"
#include "alm/controllers/unit/unit_plugin.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

#define LOOK_AGAIN_NS NS_PER_S
#define TELL_EVERY_NS NS_PER_MIN

static void tell(struct acting *x, const struct unit_entry *e, const char *why)
{
	if (x->why.len < FAILURES_TOLD_MAX)
		strbuf_addf(&x->why, "%s%s: %s", x->why.len ? "; " : "",
			    unit_entry_text(e, x->s->v->a), why);
}

static void wait_for(struct acting *x, const struct unit_entry *e, const char *why)
{
	if (!x->failed)
		tell(x, e, why);
	x->waiting = true;
}

static void fail(struct acting *x, const struct unit_entry *e, const char *why)
{
	if (!x->failed)
		strbuf_clear(&x->why);
	x->failed = true;
	tell(x, e, why);
}

/* --- writing --- */

/* One that is made anew says at once that no deletion of before fits it: else it would be written again. */
static struct obj *decorate(const struct unit_pass *s, const struct unit_entry *e, size_t row)
{
	struct obj *o = s->host->decorate(s, e, row);
	const char *doubt = unit_doubt(s, row);
	if (s->doubts && !unit_found(s, row))
		doubt = s->doubts[row];
	if (doubt)
		meta_set_annotation(o, ANNOTATION_FENCE, doubt);
	return o;
}

/* An absent object is applied without force, so that somebody who was faster meets a conflict; ours,
 * and what is taken over, with force and as it was read. */
struct action *unit_write_object(struct unit_pass *s, const struct unit_entry *e, size_t row,
				 int stage)
{
	const struct obj *live = unit_found(s, row);
	struct obj *o = decorate(s, e, row);
	struct action *x = plan_apply(s->plan, o, stage, live != NULL);
	if (live)
		plan_over(s->plan, x, live);
	return x;
}

static const char *refusal(const struct acting *x, const struct unit_entry *e)
{
	return unit_refusal(x->s, e, x->record);
}

/* What the server said to the last write of this step, which may pass; NULL: nothing. */
static const char *trouble(const struct acting *x, const struct unit_entry *e)
{
	const struct outcome *o = view_refusal(x->s->v, e->object, e->ns);
	bool passes = o && o->code && o->code != E_CONFLICT && error_retry(o->code) != RETRY_NEVER;
	return passes && o->at_ns >= obj_i64(x->record, "sinceNs", 0) ? o->msg : NULL;
}

/* A write that fails ends its reconcile before the status of who waits is written: so what the server said is told
 * in one of its own, now and then, and tried again after it. WAITING: this is one. */
static enum ensured ensure_told(struct acting *x, const struct unit_entry *e, const char *doing)
{
	const char *why = trouble(x, e);
	int64_t now = x->s->v->now_ns, told = obj_i64(x->record, "toldNs", 0);
	wait_for(x, e, why ? arena_fmt(x->s->v->a, "%s: %s", doing, why) : doing);
	if (!why || (told != now && now - told < TELL_EVERY_NS))
		return DONE;
	obj_set_int(x->record, "toldNs", now);
	obj_set_str(x->record, "trouble", arena_strdup(x->s->v->a, x->why.buf));
	plan_requeue_after(x->s->plan, NS_PER_MS);
	return WAITING;
}

/* It has passed. */
static void end_trouble(struct acting *x)
{
	for (size_t i = 0; i < x->step->n; i++)
		if (trouble(x, &x->s->entries[x->step->rows[i]]))
			return;
	obj_del(x->record, "trouble");
	obj_del(x->record, "toldNs");
}

/* WAITING: what it was refused with may pass, and it is not its turn yet. DONE: *ret_no is why it has failed. */
static enum ensured await_schema(struct acting *x, const struct unit_entry *e, const char **ret_no)
{
	enum ensured state = unit_await_schema(x->s, e, x->record, ret_no);
	if (state == WAITING) {
		wait_for(x, e, *ret_no);
		obj_set_str(x->record, "trouble", *ret_no);
	}
	return state;
}

/* What was absent when it was looked for met a conflict: it is looked for again. Somebody may have
 * been faster, and then it is his. */
static enum ensured ensure_absent(struct acting *x, const struct unit_entry *e)
{
	const struct outcome *o = view_refusal(x->s->v, e->object, e->ns);
	if (!o || o->code != E_CONFLICT || e->live || o->at_ns < x->s->absent_ns)
		return DONE;
	unit_forget(x->s, UNIT_ABSENT);
	plan_requeue_after(x->s->plan, NS_PER_MS);
	wait_for(x, e, "looked for again");
	return WAITING;
}

/* --- checking --- */

static void check(struct acting *x, const struct unit_entry *e, size_t row, const struct obj *live)
{
	struct check_result r;
	/* what the object says of itself counts before it is live, too */
	if (cstr_eq(meta_annotation(e->object, ANNOTATION_WAIT), "disabled"))
		return;
	if (live && cstr_eq(e->kind, "CustomResourceDefinition") &&
	    !condition_is(live, "Established", "True")) {
		wait_for(x, e, "not established yet");
		return;
	}
	unit_check(x->s, x->step, row, live, x->record, &r);
	if (r.state == CHECK_WAITING)
		wait_for(x, e, r.message);
	/* those of the failure table begin with their reason */
	bool named = cstr_eq(r.reason, "CheckFailed") || cstr_eq(r.reason, "ProgressDeadline") ||
		     cstr_eq(r.reason, "AnalysisFailed");
	if (r.state == CHECK_FAILED)
		fail(x, e,
		     named ? arena_fmt(x->s->v->a, "%s: %s", r.reason, r.message) : r.message);
}

/* Somebody wrote what is to hold then. */
static bool asks(const struct acting *x)
{
	return x->step->rule && x->step->rule->n_success;
}

/* --- the actions --- */

static enum ensured fence(struct acting *x, const struct unit_entry *e, size_t row)
{
	const char *why = NULL;
	/* the live read has it, no informer has: it may be gone by now */
	if (unit_doubt(x->s, row) && ensure_absent(x, e) == WAITING)
		return WAITING;
	enum ensured state = unit_fence(x->s, row, x->record, &why);
	if (state == ENDED)
		fail(x, e, why);
	if (state == WAITING) {
		wait_for(x, e, "being written once, as it was to be deleted before");
		x->writes = true;
	}
	return state;
}

/* ENDED: the step has failed. DONE: it stays. */
static enum ensured make_anew(struct acting *x, const struct unit_entry *e, size_t row,
			      const char *no)
{
	const char *why = NULL;
	enum ensured state = unit_make_anew(x->s, row, x->record, no, &why);
	if (state == ENDED)
		fail(x, e, why);
	if (state == WAITING) {
		wait_for(x, e, why);
		x->writes = true;
	}
	return state;
}

static void create_or_update(struct acting *x, const struct unit_entry *e, size_t row)
{
	if (unit_is_placed(x->s, e) && !unit_doubt(x->s, row)) {
		check(x, e, row, e->live);
		return;
	}
	const char *no = NULL;
	if (await_schema(x, e, &no) != DONE || make_anew(x, e, row, no) != DONE)
		return;
	if (no) {
		fail(x, e, no);
		return;
	}
	if (ensure_absent(x, e) == WAITING)
		return;
	const char *whose = x->s->foreign[row] ? x->s->host->refuses(x->s, e, row) : NULL;
	if (whose) {
		fail(x, e, whose);
		return;
	}
	if (ensure_told(x, e, e->live ? "being updated" : "being created") == WAITING ||
	    (e->live && meta_is_deleting(e->live)))
		return; /* its deletion brings the key back */
	x->writes = true;
	if (!e->unknown && unit_take_over(x->s, row) == DONE)
		(void)unit_write_object(x->s, e, row, x->stage);
}

/* The canary was good: it goes once the Deployment is as it is wanted, or cannot be made so. */
static void promote(struct acting *x, const struct unit_entry *e, size_t row, struct canary_pass *c)
{
	struct acting sub = *x;
	strbuf_init(&sub.why, 4 * (size_t)FAILURES_TOLD_MAX);
	sub.failed = sub.waiting = false;
	create_or_update(&sub, e, row);
	if (sub.failed)
		unit_canary_fail(c, sub.why.buf);
	const char *why = arena_strdup(x->s->v->a, sub.why.buf ? sub.why.buf : "");
	strbuf_release(&sub.why);
	if (sub.failed || sub.waiting)
		wait_for(x, e, arena_fmt(x->s->v->a, "the canary was good: %s", why));
	else if (unit_canary_end(c) == WAITING)
		wait_for(x, e, c->why);
	x->writes = x->writes || sub.writes;
}

/* The former version stays as it is until a canary has shown that the new one is good. */
static void try_and_update(struct acting *x, const struct unit_entry *e, size_t row)
{
	struct canary_pass c = {x->s, x->step, row, x->record, x->stage, NULL};
	switch (unit_canary(&c)) {
	case CANARY_NONE:
		create_or_update(x, e, row);
		break;
	case CANARY_GOES_ON:
		wait_for(x, e, c.why);
		x->writes = true;
		break;
	case CANARY_IS_GOOD:
		promote(x, e, row, &c);
		break;
	case CANARY_HAS_ENDED:
		fail(x, e, c.why);
		break;
	}
}

static void create_if_not_exist(struct acting *x, const struct unit_entry *e, size_t row)
{
	const struct obj *live = unit_found(x->s, row);
	const char *no = NULL;
	if (live) {
		if (x->s->foreign[row] || !unit_is_applied(e)) /* made of another text: it stays */
			obj_set_str(x->record, "note", "exists");
		if (!x->s->foreign[row] || asks(x))
			check(x, e, row, live);
		return;
	}
	if (await_schema(x, e, &no) != DONE)
		return;
	if (no) {
		fail(x, e, no);
		return;
	}
	wait_for(x, e, "being created");
	x->writes = true;
	plan_create(x->s->plan, decorate(x->s, e, row));
	/* somebody may be faster: then it is read again, and exists */
	unit_forget(x->s, UNIT_ABSENT);
}

static void delete_if_exist(struct acting *x, const struct unit_entry *e, size_t row)
{
	struct unit_pass *s = x->s;
	const char *what = arena_fmt(s->v->a, "gone:%zu", row), *id = unit_id(s, what);
	const struct outcome *o = view_outcome(s->v, id);
	struct obj *rows = obj_list();
	unit_survey_row(rows, "o", e);
	if (!e->resource) { /* a kind that is not served has no objects */
		obj_unref(rows);
		return;
	}
	bool old = o && !outcome_is_younger(o, s->v->now_ns, LOOK_AGAIN_NS);
	o = unit_survey(s, id, rows, old ? 1 : 0);
	const struct obj *live = o ? obj_get(o->value, "o") : NULL;
	if (o && !live) {
		if (asks(x))
			check(x, e, row, NULL);
		return;
	}
	const char *no = refusal(x, e);
	if (no) {
		fail(x, e, no);
		return;
	}
	wait_for(x, e, "being deleted");
	x->writes = true;
	if (!o)
		return;
	if (!meta_is_deleting(live)) {
		plan_delete(s->plan, live, "Foreground");
		unit_forget(s, what);
	}
	plan_requeue_after(s->plan, LOOK_AGAIN_NS);
}

/* What the plugin calls finished is, unless the step has checks of its own. */
static void run_plugin(struct acting *x, const struct unit_entry *e, size_t row)
{
	const struct plugin_turn turn = {x->s, x->step, row, x->id, x->record, x->stage};
	const char *why = NULL;
	enum ensured state = unit_plugin(&turn, &why);
	if (state == ENDED) {
		fail(x, e, why);
	} else if (state == WAITING) {
		wait_for(x, e, why);
		x->writes = true;
	} else if (x->step->rule && x->step->rule->n_success) {
		check(x, e, row, e->live);
	}
}

static bool is_of_run(const struct hook_run *h, const struct obj *live)
{
	return cstr_eq(meta_annotation(live, ANNOTATION_HOOK_RUN),
		       arena_fmt(h->v->a, "%s/%s/%s", meta_uid(h->owner), h->run, h->event));
}

/* The one that gave up, else the first that was begun. */
static const struct obj *failed_job(const struct acting *x, const struct hook_run *h)
{
	const struct obj *first = NULL;
	for (size_t i = 0; i < x->step->n; i++) {
		const struct obj *live = x->s->entries[x->step->rows[i]].live;
		if (!live || !is_of_run(h, live))
			continue;
		if (condition_is(live, "Failed", "True"))
			return live;
		first = first ? first : live;
	}
	return first;
}

static bool is_word(const char *reason)
{
	return reason && failure_check_find(reason);
}

/* The words of the failure table, its Pod's before its own: what the memory ended is no error of its program. */
static void tell_reason(struct acting *x, const struct obj *job, const struct job_log *log)
{
	struct condition c;
	if (!condition_is(job, "Failed", "True") || !condition_get(job, "Failed", &c))
		return;
	const char *reason = is_word(log->reason) ? log->reason : c.reason;
	if (!is_word(reason))
		return;
	strbuf_clear(&x->why);
	strbuf_addf(&x->why, "Job %s/%s: %s: the Job failed", meta_namespace(job), meta_name(job),
		    reason);
}

/* Why it failed its log may say, which is read before the step ends. */
static void add_log(struct acting *x, const struct hook_run *h)
{
	const struct obj *job = failed_job(x, h);
	struct job_log log = {.text = ""};
	if (job && unit_read_log(x->s, job, false, &log) == WAITING) {
		x->failed = false;
		x->waiting = true;
		return;
	}
	if (job)
		tell_reason(x, job, &log);
	struct str end = str_clip(str_of(log.text), FAILURES_TOLD_MAX);
	strbuf_add(&x->why, end.ptr, end.len);
}

/* What it did its log says, which goes with its Pods: it is kept in the step. */
static void keep_logs(struct acting *x, const struct hook_run *h)
{
	for (size_t i = 0; i < x->step->n && x->why.len < FAILURES_TOLD_MAX; i++) {
		const struct unit_entry *e = &x->s->entries[x->step->rows[i]];
		struct job_log log = {.text = ""};
		if (!e->live || !is_of_run(h, e->live))
			continue;
		if (unit_read_log(x->s, e->live, true, &log) == WAITING)
			wait_for(x, e, "its log is read");
		else if (*log.text)
			tell(x, e, arena_fmt(x->s->v->a, "it has run%s", log.text));
	}
	x->writes = x->writes || x->waiting;
}

/* A Job of a former attempt goes first; one that ran in this attempt does not run again. */
static void run_job(struct acting *x)
{
	struct unit_pass *s = x->s;
	struct obj *doc = obj_keep(s->v->a, obj_map()), *hooks = obj_list();
	const char *why = NULL;
	for (size_t i = 0; i < x->step->n; i++) {
		const struct unit_entry *e = &s->entries[x->step->rows[i]];
		struct obj *row = obj_map(), *events = obj_list(), *policies = obj_list();
		obj_append(events, obj_string(x->id));
		obj_append(policies, obj_string("before-hook-creation"));
		obj_set(row, "object", s->host->decorate(s, e, x->step->rows[i]));
		obj_set(row, "events", events);
		obj_set(row, "policies", policies);
		obj_append(hooks, row);
	}
	obj_set(doc, "hooks", hooks);
	obj_set_str(doc, "namespace", s->unit->ns);
	struct hook_run h = {.v = s->v,
			     .plan = s->plan,
			     .doc = doc,
			     .event = x->id,
			     .run = obj_str(s->course, "run"),
			     .records = obj_get_mut(s->course, "hooks")};
	s->host->own_jobs(s, &h);
	enum ensured state = hook_run(&h, &why);
	x->waiting = state == WAITING;
	x->failed = state == ENDED;
	x->writes = state == WAITING;
	if (why)
		strbuf_adds(&x->why, why);
	/* while it runs for its time and the failure table; after that for what is asked of it besides */
	bool looks = x->waiting || (state == DONE && asks(x));
	for (size_t i = 0; i < x->step->n && looks; i++) {
		size_t row = x->step->rows[i];
		const struct unit_entry *e = &s->entries[row];
		if (e->live && is_of_run(&h, e->live))
			check(x, e, row, e->live);
	}
	if (x->failed)
		add_log(x, &h);
	else if (!x->waiting)
		keep_logs(x, &h);
}

void unit_act(struct acting *x)
{
	if (x->step->action == ACTION_JOB && x->s->host->has_run_jobs(x->s))
		return;
	if (x->step->action == ACTION_JOB) {
		run_job(x);
		return;
	}
	if (obj_has(x->record, "trouble"))
		end_trouble(x);
	for (size_t i = 0; i < x->step->n; i++) {
		size_t row = x->step->rows[i];
		const struct unit_entry *e = &x->s->entries[row];
		enum rollout_action action = unit_action(x->step, e);
		if (x->s->host->is_left(x->s, e) ||
		    ((action == ACTION_CREATE_IF_NOT_EXIST || action == ACTION_PLUGIN) &&
		     fence(x, e, row) != DONE))
			continue;
		switch (action) {
		case ACTION_CREATE_OR_UPDATE:
			try_and_update(x, e, row);
			break;
		case ACTION_CREATE_IF_NOT_EXIST:
			create_if_not_exist(x, e, row);
			break;
		case ACTION_DELETE_IF_EXIST:
			delete_if_exist(x, e, row);
			break;
		case ACTION_PLUGIN:
			run_plugin(x, e, row);
			break;
		case ACTION_JOB:
			break;
		}
	}
}
