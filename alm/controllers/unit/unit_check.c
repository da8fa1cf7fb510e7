#include "alm/controllers/unit/unit_check.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/unit/unit_metric.h"
#include "alm/controllers/unit/unit_plugin.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"
#include "alm/unit/workload.h"

#define LOOK_NS ROLLOUT_POLL_INTERVAL

static const struct rollout_step *rule_of(const struct unit_step *step, struct rollout_step *room)
{
	if (step->rule)
		return step->rule;
	*room = (struct rollout_step){
		.name = step->name, .action = step->action, .timeout_ns = ROLLOUT_STEP_TIMEOUT};
	room->failure = mem_unconst(failure_checks(&room->n_failure));
	return room;
}

/* --- what is around a workload --- */

static void need(struct obj *list, const char *api_version, const char *kind, const char *ns,
		 const char *selector)
{
	struct obj *o = obj_map();
	obj_set_str(o, "apiVersion", api_version);
	obj_set_str(o, "kind", kind);
	obj_set_str(o, "namespace", ns);
	obj_set_str(o, "selector", selector);
	obj_append(list, o);
}

static const struct obj *items(const struct obj *answers, size_t i)
{
	return obj_path(obj_at(answers, i), "value.items");
}

/* As far as it is known; asked for where it is not, or old. */
static void look_around(struct unit_pass *s, const struct unit_entry *e, size_t row,
			const struct obj *live, struct failure_facts *ret)
{
	const char *selector = workload_selector(live, s->v->a);
	const char *id = unit_id(s, arena_fmt(s->v->a, "around:%zu:%s", row, meta_name(live)));
	const struct outcome *o = view_outcome(s->v, id);
	if (!workload_has_pods(e->kind) || !selector)
		return;
	if (o && !o->code) {
		ret->pods = items(o->value, 0);
		ret->replica_sets = items(o->value, 1);
		ret->events = items(o->value, 2);
	}
	if (o && outcome_is_younger(o, s->v->now_ns, LOOK_NS))
		return;
	struct obj *needs = obj_keep(s->v->a, obj_list());
	need(needs, "v1", "Pod", e->ns, selector);
	need(needs, "apps/v1", "ReplicaSet", e->ns, selector);
	need(needs, "v1", "Event", e->ns, NULL);
	(void)plan_lookup(s->plan, id, needs);
}

enum ensured unit_read_log(struct unit_pass *s, const struct obj *job, bool well,
			   struct job_log *ret)
{
	const char *selector = workload_selector(job, s->v->a);
	const char *id = unit_id(s, arena_fmt(s->v->a, "log:%s", meta_uid(job)));
	const struct outcome *o = view_outcome(s->v, id);
	*ret = (struct job_log){.text = ""};
	if (!selector)
		return DONE;
	if (!o) {
		(void)plan_log(s->plan, id, meta_namespace(job), selector, well);
		return WAITING;
	}
	const char *text = obj_str(o->value, "text");
	ret->reason = obj_str(o->value, "reason");
	if (o->code)
		ret->text = arena_fmt(s->v->a, "; its log cannot be read: %s", o->msg);
	else if (text && *text)
		ret->text =
			arena_fmt(s->v->a, "; the end of its log (pod %s, container %s): %s",
				  obj_str(o->value, "pod"), obj_str(o->value, "container"), text);
	return DONE;
}

/* --- the look --- */

static void remember(struct obj *record, const char *key, const struct obj *seen)
{
	if (!obj_has(record, "checks"))
		obj_set(record, "checks", obj_map());
	struct obj *checks = obj_get_mut(record, "checks");
	if (seen)
		obj_set(checks, key, obj_ref(seen));
	else
		obj_del(checks, key);
	if (!obj_len(checks))
		obj_del(record, "checks");
}

/* A person has said that its canary needs no figures; then what it was the canary of needs none either. */
static bool is_skipped(const struct obj *record, const char *key)
{
	return obj_flag(obj_get(obj_get(record, "canary"), key), "skipped", false);
}

void unit_check(struct unit_pass *s, const struct unit_step *step, size_t row,
		const struct obj *live, struct obj *record, struct check_result *ret)
{
	const struct unit_entry *e = &s->entries[row];
	struct rollout_step room;
	const struct rollout_step *rule = rule_of(step, &room);
	const char *key = arena_fmt(s->v->a, "%zu", row);
	const struct obj *seen = NULL;
	struct check_input in = {.live = live,
				 .metrics = unit_metrics(s, rule, key, record, false),
				 /* readiness is all that it takes */
				 .unmeasured =
					 s->back || is_skipped(record, key) || unit_told(s, "skip"),
				 .held_ns = unit_held_ns(s, record),
				 .since_ns = obj_i64(record, "sinceNs", 0),
				 .now_ns = s->v->now_ns,
				 .record = obj_get(obj_get(record, "checks"), key),
				 .answers = unit_plugin_checks(s, step, row, live, record)};
	check_step(rule, &in, s->v->a, ret, &seen);
	if (ret->measures) {
		in.metrics = unit_metrics(s, rule, key, record, true);
		in.held_ns = unit_held_ns(s, record);
		check_step(rule, &in, s->v->a, ret, &seen);
	}
	if (ret->state == CHECK_WAITING) {
		look_around(s, e, row, live, &in.around);
		check_step(rule, &in, s->v->a, ret, &seen);
	}
	remember(record, key, ret->state == CHECK_WAITING ? seen : NULL);
	if (ret->state != CHECK_WAITING)
		return;
	int64_t again = ret->again_ns ? ret->again_ns - s->v->now_ns : LOOK_NS;
	plan_requeue_after(s->plan,
			   again < LOOK_NS || !workload_has_pods(e->kind) ? again : LOOK_NS);
}
