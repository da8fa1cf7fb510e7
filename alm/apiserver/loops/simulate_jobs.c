/* simulate_jobs: Jobs run to their end at once; CronJobs make them. See simulate_internal.h. */
#include "alm/apiserver/loops/cron.h"
#include "alm/apiserver/loops/simulate_internal.h"
#include "alm/obj/condition.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

#define NAME_CUT   200
#define MISSED_MAX 100 /* times that passed while the server was down */

static bool has_ended(const struct obj *job)
{
	return condition_is(job, "Complete", "True") || condition_is(job, "Failed", "True");
}

static int64_t time_at(const struct obj *o, const char *path)
{
	int64_t ns = 0;
	const char *text = obj_str(o, path);
	return text && clock_parse(str_of(text), &ns) ? ns : 0;
}

/* --- Jobs --- */

/* ttlSecondsAfterFinished. */
static void expire(struct pass *p)
{
	int64_t ttl = obj_i64(p->o, "spec.ttlSecondsAfterFinished", -1);
	const struct obj *list = obj_path(p->o, "status.conditions");
	if (ttl < 0 || !obj_len(list))
		return;
	int64_t at = time_at(obj_at(list, obj_len(list) - 1), "lastTransitionTime");
	int64_t due = at + clock_ns(ttl, NS_PER_S);
	if (due <= p->now_ns)
		sim_delete(p, p->o);
	else
		p->again_ns = due;
}

/* Its Pods wait for what does not come. */
static bool stays_active(const struct fault *f)
{
	return f->kind == FAULT_HANGS || f->kind == FAULT_WAITS || f->kind == FAULT_EVENT ||
	       f->kind == FAULT_UNSCHEDULABLE;
}

/* As the Job controller: Pods that are refused are asked for again, and the Job waits. */
static void wait_for_room(struct pass *p, struct obj *job)
{
	struct obj *s = obj_get_mut(job, "status");
	int64_t n = sim_refused(p, meta_uid(p->o));
	if (!obj_has(s, "startTime"))
		obj_set_str(s, "startTime", p->now);
	if (n)
		obj_set_int(s, "succeeded",
			    n); /* those that were not refused ran to their end at once */
	sim_put(p, p->o, job);
}

static void end(struct pass *p, struct obj *job, int64_t n)
{
	const struct fault *f = &p->fault;
	struct obj *s = obj_get_mut(job, "status");
	bool failed = f->kind != FAULT_NONE && f->kind != FAULT_DEADLINE;
	obj_del(s, "active");
	obj_set_int(s, "ready", 0);
	obj_set_int(s, failed ? "failed" : "succeeded", n);
	obj_set(s, "uncountedTerminatedPods", obj_map());
	if (failed) {
		bool named = f->kind == FAULT_JOB;
		const char *message = named && *f->message
					      ? f->message
					      : "Job has reached the specified backoff limit";
		const char *reason = named ? f->reason : "BackoffLimitExceeded";
		sim_condition(p, job, "FailureTarget", true, reason, message);
		sim_condition(p, job, "Failed", true, reason, message);
		return;
	}
	obj_set_str(s, "completionTime", p->now);
	sim_condition(p, job, "SuccessCriteriaMet", true, "CompletionsReached",
		      "Reached expected number of succeeded pods");
	sim_condition(p, job, "Complete", true, "CompletionsReached",
		      "Reached expected number of succeeded pods");
}

static void suspend(struct pass *p, struct obj *job, bool on)
{
	if (on || condition_find(obj_path(job, "status.conditions"), "Suspended"))
		sim_condition(p, job, "Suspended", on, on ? "JobSuspended" : "JobResumed",
			      on ? "Job suspended" : "Job resumed");
}

void sim_job(struct pass *p)
{
	if (has_ended(p->o)) {
		expire(p);
		return;
	}
	struct obj *job = sim_copy(p, p->o);
	bool suspended = obj_flag(job, "spec.suspend", false), active = stays_active(&p->fault);
	int64_t width = obj_i64(job, "spec.parallelism", 1);
	int64_t n = obj_i64(job, "spec.completions", width);
	const struct pod_set pods = {.owner = p->o,
				     .template = obj_path(p->o, "spec.template"),
				     .want = suspended             ? 0
					     : active && width < n ? width
								   : n};
	if (obj_type(obj_get(job, "status")) != OBJ_MAP)
		obj_set(job, "status", obj_map());
	struct obj *s = obj_get_mut(job, "status");
	sim_pods(p, &pods);
	suspend(p, job, suspended);
	if (p->refused && !suspended) {
		wait_for_room(p, job);
		return;
	}
	if (!suspended && !obj_has(s, "startTime"))
		obj_set_str(s, "startTime", p->now);
	if (active && !suspended)
		obj_set_int(s, "active", pods.want);
	else if (!suspended)
		end(p, job, n);
	else
		obj_del(s, "active");
	sim_put(p, p->o, job);
	p->again_ns = p->now_ns; /* its end may be its last moment */
	if (active || suspended || obj_i64(job, "spec.ttlSecondsAfterFinished", -1) < 0)
		p->again_ns = 0;
}

/* --- CronJobs --- */

static void run_once(struct pass *p, int64_t at_ns)
{
	char uid[STORE_UID_TEXT];
	const struct obj *template = obj_path(p->o, "spec.jobTemplate");
	struct obj *job =
		sim_child("batch/v1", "Job",
			  arena_fmt(p->a, "%s-%lld", name_cut(meta_name(p->o), NAME_CUT, p->a),
				    (long long)(at_ns / NS_PER_MIN)),
			  p->o);
	const struct obj *notes = obj_path(template, "metadata.annotations");
	char at[CLOCK_TEXT_MAX];
	clock_format(at_ns, CLOCK_SECONDS, at);
	sim_labels(job, obj_path(template, "metadata.labels"));
	OBJ_EACH (it, notes)
		meta_set_annotation(job, it.key, obj_as_string(it.value));
	meta_set_annotation(job, "batch.kubernetes.io/cronjob-scheduled-timestamp", at);
	obj_set(job, "spec", obj_copy_map(obj_get(template, "spec")));
	sim_create(p, job, uid);
}

/* Deletes the oldest that ended so, until the limit holds. */
static void prune(struct pass *p, const struct children *jobs, const char *how, int64_t limit)
{
	bool gone[SIM_CHILDREN_MAX] = {false};
	int64_t n = 0;
	for (size_t i = 0; i < jobs->n; i++)
		n += condition_is(jobs->items[i], how, "True");
	for (; n > limit; n--) {
		size_t oldest = jobs->n;
		int64_t since = INT64_MAX;
		for (size_t i = 0; i < jobs->n; i++) {
			int64_t at = time_at(jobs->items[i], "metadata.creationTimestamp");
			if (gone[i] || !condition_is(jobs->items[i], how, "True") || at >= since)
				continue;
			oldest = i;
			since = at;
		}
		if (oldest == jobs->n)
			return;
		gone[oldest] = true;
		sim_delete(p, jobs->items[oldest]);
	}
}

/* May a new one run beside those that are active? */
static bool makes_room(struct pass *p, const struct children *jobs)
{
	const char *policy = obj_str(p->o, "spec.concurrencyPolicy");
	for (size_t i = 0; i < jobs->n; i++) {
		if (has_ended(jobs->items[i]))
			continue;
		if (cstr_eq(policy, "Forbid"))
			return false;
		if (cstr_eq(policy, "Replace"))
			sim_delete(p, jobs->items[i]);
	}
	return true;
}

void sim_cronjob(struct pass *p)
{
	struct cron c;
	struct error unreadable;
	struct children jobs;
	sim_children(p, meta_uid(p->o), "batch", "jobs", &jobs);
	prune(p, &jobs, "Complete", obj_i64(p->o, "spec.successfulJobsHistoryLimit", 3));
	prune(p, &jobs, "Failed", obj_i64(p->o, "spec.failedJobsHistoryLimit", 1));
	if (obj_flag(p->o, "spec.suspend", false) ||
	    cron_parse(obj_as_str(obj_path(p->o, "spec.schedule")), &c, &unreadable) < 0)
		return;
	int64_t last = time_at(p->o, "status.lastScheduleTime");
	if (!last)
		last = time_at(p->o, "metadata.creationTimestamp");
	int64_t due = cron_next(&c, last), next = due;
	for (int i = 0; i < MISSED_MAX && next && next <= p->now_ns; i++) {
		due = next;
		next = cron_next(&c, due);
	}
	p->again_ns = due > p->now_ns ? due : next;
	if (!due || due > p->now_ns || !makes_room(p, &jobs))
		return;
	struct obj *o = sim_copy(p, p->o);
	char at[CLOCK_TEXT_MAX];
	clock_format(due, CLOCK_SECONDS, at);
	run_once(p, due);
	obj_set_path(o, "status.lastScheduleTime", obj_string(at));
	obj_set_path(o, "status.lastSuccessfulTime", obj_string(p->now));
	sim_put(p, p->o, o);
}
