#include "alm/unit/check.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/visible.h"
#include "alm/obj/meta.h"
#include "alm/unit/check_fields.h"
#include "alm/unit/ready.h"
#include "crds/marks.h"

#define JOINED_BYTES_MAX 900

struct check {
	const struct rollout_step *s;
	const struct check_input *in;
	struct arena *a;
	struct check_result *ret;
	struct obj *fields; /* records of the field comparisons; NULL: none */
	int64_t again_ns;   /* 0: none */
};

static void look_again(struct check *c, int64_t at_ns)
{
	if (!c->again_ns || at_ns < c->again_ns)
		c->again_ns = at_ns;
}

static void failed(struct check *c, const char *reason, const char *message)
{
	if (c->ret->state == CHECK_FAILED)
		return;
	*c->ret = (struct check_result){CHECK_FAILED, reason, message, 0, false};
}

/* The first that is missing is told: what follows may depend on it. */
static void waits(struct check *c, const char *message)
{
	if (c->ret->state == CHECK_DONE)
		*c->ret = (struct check_result){CHECK_WAITING, NULL, message, 0, false};
}

/* What is missing, and that its time is over. */
static const char *over(struct check *c, const char *what, int64_t span_ns, const char *missing)
{
	char span[CLOCK_TEXT_MAX];
	duration_format(span_ns, span);
	return arena_fmt(c->a, "%s %s: %s", what, span, missing);
}

static void within(struct check *c, int64_t begin_ns, int64_t span_ns, const char *reason,
		   const char *what, const char *missing)
{
	int64_t begun_ns = begin_ns + c->in->held_ns;
	if (c->in->now_ns - begun_ns >= span_ns)
		failed(c, reason, over(c, what, span_ns, missing));
	else
		look_again(c, begun_ns + span_ns);
}

static void look_fields(struct check *c, const struct rollout_check *check, size_t i)
{
	struct fields_look look;
	const struct obj *records = obj_get(c->in->record, "fields");
	check_fields(check, c->in->live, c->in->now_ns, obj_at(records, i), c->a, &look);
	obj_set_at(c->fields, i, obj_ref(look.record));
	if (look.holds)
		return;
	waits(c, look.missing);
	within(c, c->in->since_ns, check->timeout_ns, "CheckFailed", "not so after", look.missing);
	within(c, look.moved_ns, check->progress_ns, "ProgressDeadline", "no value moved for",
	       look.missing);
	look_again(c, c->in->now_ns + check->poll_ns);
}

static void look_wait(struct check *c, const struct rollout_check *check)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf values = STRBUF_INIT(STRBUF_SMALL);
	const struct obj *live = c->in->live;
	if (wait_expr_holds(&check->wait, live, c->in->now_ns, NULL))
		return;
	visible_addf(&b, "wait %s", check->wait.text);
	if (!cstr_eq(meta_kind(live), "Secret"))
		wait_expr_values(&check->wait, live, &values);
	if (values.len) {
		strbuf_adds(&b, " (");
		visible_add(&b, str_clip(strbuf_str(&values), 256));
		strbuf_addc(&b, ')');
	}
	const char *missing = arena_strdup(c->a, b.buf);
	waits(c, missing);
	within(c, c->in->since_ns, check->timeout_ns, "CheckFailed", "not so after", missing);
	look_again(c, c->in->now_ns + check->poll_ns);
}

static void look_plugin(struct check *c, const struct rollout_check *check, size_t i)
{
	const struct obj *answer = obj_get(c->in->answers, arena_fmt(c->a, "%zu", i));
	const char *state = obj_str(answer, "state"), *said = obj_str(answer, "message");
	const char *text = arena_fmt(c->a, "check-%s: %s", check->plugin,
				     said    ? visible_text(c->a, said)
				     : state ? state
					     : "is being asked");
	if (cstr_eq(state, "Finished"))
		return;
	if (cstr_eq(state, "Failed")) {
		failed(c, "CheckFailed", text);
		return;
	}
	waits(c, text);
	within(c, c->in->since_ns, check->timeout_ns, "CheckFailed", "not so after", text);
	look_again(c, c->in->now_ns + check->poll_ns);
}

static void look_metric(struct check *c, const struct rollout_check *check, size_t i)
{
	const struct obj *state = obj_get(c->in->metrics, arena_fmt(c->a, "%zu", i));
	const char *text;
	enum prometheus_end end = prometheus_look(check->prometheus, state, c->a, &text);
	if (end == PROMETHEUS_PASSED)
		return;
	if (end == PROMETHEUS_FAILED) {
		failed(c, "AnalysisFailed", text);
		return;
	}
	int64_t left =
		c->in->since_ns + c->in->held_ns - c->in->now_ns +
		(check->timeout_ns < c->s->timeout_ns ? check->timeout_ns : c->s->timeout_ns);
	if (check->prometheus->dry_run && left <= 0)
		return; /* it decides nothing */
	waits(c, text);
	within(c, c->in->since_ns, check->timeout_ns, "CheckFailed", "not so after", text);
	look_again(c, c->in->now_ns + check->prometheus->interval_ns);
}

/* What was measured counts, whatever becomes of the rest: its failure ends the step. */
static void look_metrics(struct check *c)
{
	bool holds = c->ret->state == CHECK_DONE;
	if (c->in->unmeasured)
		return;
	for (size_t i = 0; i < c->s->n_success; i++)
		if (c->s->success[i].type == CHECK_PROMETHEUS && (holds || c->in->metrics))
			look_metric(c, &c->s->success[i], i);
	c->ret->measures = holds && c->ret->state == CHECK_WAITING;
}

static void look_gone(struct check *c)
{
	const struct obj *live = c->in->live;
	const struct obj *finalizer = obj_at(obj_path(live, "metadata.finalizers"), 0);
	if (!live)
		return;
	waits(c, finalizer && obj_as_string(finalizer)
			 ? arena_fmt(c->a, "is being deleted: finalizer %s",
				     visible_text(c->a, obj_as_string(finalizer)))
			 : "is being deleted");
}

/* Without success checks: readiness, and what the package says of its kinds. */
static void look_ready(struct check *c)
{
	const struct obj *live = c->in->live;
	const char *why = NULL;
	if (!live) {
		waits(c, "is not there");
		return;
	}
	if (cstr_eq(meta_annotation(live, ANNOTATION_WAIT), "disabled"))
		return;
	enum health_state health = health_look(c->in->health, live, c->in->now_ns, c->a, &why);
	if (health == HEALTH_FAILED)
		failed(c, "CheckFailed", why);
	else if (health == HEALTH_IN_PROGRESS)
		waits(c, why);
	if (health != HEALTH_UNKNOWN)
		return;
	enum readiness r = ready_check(live, c->s->action == ACTION_JOB, c->a, &why);
	if (r == READY_FAILED)
		failed(c, "CheckFailed", why);
	else if (r == NOT_READY)
		waits(c, why);
}

static bool is_measured_alone(const struct rollout_step *s)
{
	for (size_t i = 0; i < s->n_success; i++)
		if (s->success[i].type != CHECK_PROMETHEUS)
			return false;
	return true;
}

static void look_success(struct check *c)
{
	const struct rollout_step *s = c->s;
	if (s->action == ACTION_DELETE_IF_EXIST)
		look_gone(c);
	else if (is_measured_alone(s))
		look_ready(c);
	for (size_t i = 0; i < s->n_success; i++) {
		obj_append(c->fields, obj_null());
		switch (s->success[i].type) {
		case CHECK_FIELDS:
			look_fields(c, &s->success[i], i);
			break;
		case CHECK_WAIT:
			look_wait(c, &s->success[i]);
			break;
		case CHECK_PLUGIN:
			look_plugin(c, &s->success[i], i);
			break;
		case CHECK_PROMETHEUS:
			break; /* look_metrics() */
		}
	}
	/* a Job that failed is not waited for, whatever else is asked of it */
	if (s->action == ACTION_JOB && !is_measured_alone(s))
		look_ready(c);
	look_metrics(c);
}

/* What is on its way out may fail as it likes. */
static const struct obj *look_failure(struct check *c)
{
	struct failure_found f;
	struct failure_facts facts = c->in->around;
	if (c->s->action == ACTION_DELETE_IF_EXIST || !c->in->live || meta_is_deleting(c->in->live))
		return NULL;
	facts.live = c->in->live;
	facts.since_ns = c->in->since_ns;
	facts.now_ns = c->in->now_ns;
	if (failure_look(c->s->failure, c->s->n_failure, &facts, obj_get(c->in->record, "seen"),
			 c->a, &f)) {
		c->ret->state = CHECK_WAITING; /* its words say more than a time that is over */
		failed(c, f.reason, f.text);
	} else if (f.again_ns) {
		if (c->ret->state == CHECK_WAITING)
			c->ret->message = f.text;
		look_again(c, f.again_ns);
	}
	return f.seen;
}

void check_step(const struct rollout_step *s, const struct check_input *in, struct arena *a,
		struct check_result *ret, const struct obj **ret_record)
{
	struct obj *record = obj_keep(a, obj_map());
	struct check c = {s, in, a, ret, obj_keep(a, obj_list()), 0};
	*ret = (struct check_result){.state = CHECK_DONE};
	*ret_record = NULL;
	look_success(&c);
	if (ret->state == CHECK_DONE)
		return;
	const struct obj *seen = look_failure(&c);
	if (ret->state == CHECK_WAITING)
		within(&c, in->since_ns, s->timeout_ns, "ProgressDeadline",
		       "the step is not done after", ret->message);
	if (ret->state == CHECK_WAITING)
		ret->again_ns = c.again_ns;
	if (seen)
		obj_set(record, "seen", obj_ref(seen));
	if (s->n_success)
		obj_set(record, "fields", obj_ref(c.fields));
	*ret_record = obj_len(record) ? record : NULL;
}

void check_join(struct check_result *into, const char *name, const struct check_result *one,
		struct arena *a)
{
	if (one->state == CHECK_DONE || (into->state == CHECK_FAILED && one->state != CHECK_FAILED))
		return;
	const char *said = arena_fmt(a, "%s: %s", visible_text(a, name), one->message);
	int64_t again_ns = one->again_ns;
	if (into->state == one->state) {
		if (strlen(into->message) < JOINED_BYTES_MAX)
			into->message = arena_fmt(a, "%s; %s", into->message, said);
		if (again_ns && (!into->again_ns || again_ns < into->again_ns))
			into->again_ns = again_ns;
		return;
	}
	*into = (struct check_result){one->state, one->reason, said, again_ns, false};
}
