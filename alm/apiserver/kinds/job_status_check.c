/* job_status_check: how far a Job is (job_check.h), as batch/validation of Kubernetes 1.36 has it. What is not changed is not judged again
 * (check_said_of()): a status of before stays. */
#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/job_check.h"
#include "alm/base/clock.h"
#include "alm/obj/condition.h"

#define CONDITIONS "status.conditions"

static void check_indexes(struct field_errors *e, const char *path, const char *field,
			  const struct obj *v, const struct obj *completions)
{
	int64_t n = 0, total;
	const char *fault = v && obj_as_string(v) && obj_as_i64(completions, &n)
				    ? job_indexes_fault(e, obj_as_string(v), n, &total)
				    : NULL;
	size_t from = e->n;
	if (fault)
		check_invalid(e, path, v,
			      arena_fmt(e->arena, "error parsing %s: %s", field, fault));
	check_said_since(e, from, v);
}

/* One above zero where there may be none. */
static void check_none(struct field_errors *e, const struct obj *o, const char *path)
{
	const struct obj *n = obj_path(o, path);
	if (obj_i64(o, path, 0) <= 0)
		return;
	check_invalid(
		e, path, n,
		arena_fmt(e->arena, "%s>0 is invalid for finished job", path + strlen("status.")));
	check_said_of(e, n);
}

static void check_counts(struct field_errors *e, const struct obj *o)
{
	static const char *const counts[] = {"status.active", "status.succeeded", "status.failed",
					     "status.ready", "status.terminating"};
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		const struct obj *n = obj_path(o, counts[i]);
		size_t from = e->n;
		check_at_least(e, counts[i], n, 0);
		check_said_since(e, from, n);
	}
}

/* Pods that have ended and are not counted, each once. */
static void check_uncounted(struct field_errors *e, const struct obj *o)
{
	static const char *const lists[] = {"status.uncountedTerminatedPods.succeeded",
					    "status.uncountedTerminatedPods.failed"};
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	size_t from = e->n;
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const struct obj *list = obj_path(o, lists[k]);
		for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
			const char *uid = obj_as_string(obj_at(list, i));
			const char *at = check_at(e, lists[k], i);
			if (!uid || !*uid)
				check_invalid_text(e, at, "", "must not be empty");
			else if (check_again(seen, uid))
				field_errors_add_text(e, FIELD_DUPLICATE, at, uid);
		}
	}
	check_said_since(e, from, obj_path(o, "status.uncountedTerminatedPods"));
}

static void refuse_conditions(struct field_errors *e, const struct obj *o, const char *why)
{
	field_errors_add(e, FIELD_INVALID, CONDITIONS, "Invalid value: %s", why);
	check_said_of(e, obj_path(o, CONDITIONS));
}

static bool is_before(const struct obj *a, const struct obj *b)
{
	int64_t x, y;
	return a && b && clock_parse(obj_as_str(a), &x) && clock_parse(obj_as_str(b), &y) && x < y;
}

/* When it began and ended. */
static void check_times(struct field_errors *e, const struct obj *o, bool complete)
{
	static const char at[] = "status.completionTime";
	const struct obj *start = obj_path(o, "status.startTime"), *done = obj_path(o, at);
	size_t from = e->n;
	if (done && !complete)
		check_invalid(e, at, done,
			      "cannot set completionTime when there is no Complete=True condition");
	check_said_since(e, from, done);
	if (!done && complete) {
		check_required(e, at, "completionTime is required for Complete jobs");
		check_said_of(e, obj_path(o, CONDITIONS));
	}
	from = e->n;
	if (is_before(done, start))
		check_invalid(e, at, done, "must be equal to or after `startTime`");
	check_said_since(e, from, done);
}

static void check_ended(struct field_errors *e, const struct obj *o)
{
	bool nothing = obj_flag(o, "spec.suspend", false) && obj_i64(o, "spec.completions", 1) == 0;
	const struct obj *pods = obj_path(o, "status.uncountedTerminatedPods");
	check_none(e, o, "status.active");
	if (!nothing && !obj_path(o, "status.startTime")) {
		check_required(e, "status.startTime", "startTime is required for finished job");
		check_said_of(e, obj_path(o, CONDITIONS));
	}
	if (obj_len(obj_get(pods, "succeeded")) + obj_len(obj_get(pods, "failed")) == 0)
		return;
	check_invalid(e, "status.uncountedTerminatedPods", pods, "must be empty for finished job");
	check_said_of(e, pods);
}

static void check_overlap(struct field_errors *e, const struct obj *done, const struct obj *failed,
			  const struct obj *completions)
{
	int64_t most, at;
	if (!obj_as_str(done).len || !obj_as_str(failed).len || !obj_as_i64(completions, &most))
		return;
	at = job_indexes_overlap(e, obj_as_string(done), obj_as_string(failed), most);
	if (at < 0)
		return;
	check_invalid(e, "status.failedIndexes", failed,
		      arena_fmt(e->arena,
				"failedIndexes and completedIndexes overlap at index: %lld",
				(long long)at));
	check_said_of(e, failed);
}

static void check_all_indexes(struct field_errors *e, const struct obj *o)
{
	const struct obj *done = obj_path(o, "status.completedIndexes");
	const struct obj *failed = obj_path(o, "status.failedIndexes");
	const struct obj *most = obj_path(o, "spec.completions");
	bool limited = obj_path(o, "spec.backoffLimitPerIndex");
	check_indexes(e, "status.completedIndexes", "completedIndexes", done, most);
	if (limited)
		check_indexes(e, "status.failedIndexes", "failedIndexes", failed, most);
	size_t from = e->n;
	if (obj_as_str(done).len && !cstr_eq(obj_str(o, "spec.completionMode"), "Indexed"))
		check_invalid(e, "status.completedIndexes", done,
			      "cannot set non-empty completedIndexes when non-indexed completion "
			      "mode");
	check_said_since(e, from, done);
	from = e->n;
	if (failed && !limited)
		check_invalid(
			e, "status.failedIndexes", failed,
			"cannot set non-null failedIndexes when backoffLimitPerIndex is null");
	check_said_since(e, from, failed);
	check_overlap(e, done, failed, most);
}

void check_job_status(struct field_errors *e, const struct obj *o)
{
	const struct obj *ready = obj_path(o, "status.ready");
	bool complete = condition_is(o, "Complete", "True");
	bool failed = condition_is(o, "Failed", "True");
	bool fails = condition_is(o, "FailureTarget", "True");
	bool succeeds = condition_is(o, "SuccessCriteriaMet", "True");
	check_counts(e, o);
	check_uncounted(e, o);
	if (complete && failed)
		refuse_conditions(e, o, "cannot set Complete=True and Failed=true conditions");
	if (complete && fails)
		refuse_conditions(e, o,
				  "cannot set Complete=True and FailureTarget=true conditions");
	check_times(e, o, complete);
	if (failed && !fails)
		refuse_conditions(e, o,
				  "cannot set Failed=True condition without the "
				  "FailureTarget=true condition");
	if (complete && !succeeds)
		refuse_conditions(e, o,
				  "cannot set Complete=True condition without the "
				  "SuccessCriteriaMet=true condition");
	if (complete || failed)
		check_ended(e, o);
	check_all_indexes(e, o);
	if (complete || failed)
		check_none(e, o, "status.terminating");
	size_t from = e->n;
	if (ready && obj_i64(o, "status.ready", 0) > obj_i64(o, "status.active", 0))
		check_invalid(e, "status.ready", ready, "cannot set more ready pods than active");
	check_said_since(e, from, ready);
	if (succeeds && failed)
		refuse_conditions(e, o,
				  "cannot set SuccessCriteriaMet=True and Failed=true conditions");
	if (succeeds && fails)
		refuse_conditions(
			e, o,
			"cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
	if (obj_path(o, "spec.successPolicy") && complete && !succeeds)
		refuse_conditions(e, o,
				  "cannot set Complete=True for Job with SuccessPolicy unless "
				  "SuccessCriteriaMet=True");
}

/* --- what stays --- */

static void check_grows(struct field_errors *e, const char *path, const struct obj *now,
			const struct obj *then)
{
	if (obj_i64(now, path, 0) < obj_i64(then, path, 0))
		field_errors_add(e, FIELD_INVALID, path,
				 "Invalid value: %lld: cannot decrease the %s counter",
				 (long long)obj_i64(now, path, 0), path + strlen("status."));
}

static void check_stands(struct field_errors *e, const char *type, bool terminal,
			 const struct obj *now, const struct obj *then)
{
	if (condition_is(then, type, "True") && !condition_is(now, type, "True"))
		field_errors_add(e, FIELD_INVALID, CONDITIONS,
				 "Invalid value: cannot disable the %s%s=True condition",
				 terminal ? "terminal " : "", type);
}

static void check_times_kept(struct field_errors *e, const struct obj *now, const struct obj *then)
{
	static const char end[] = "status.completionTime", start[] = "status.startTime";
	const struct obj *was = obj_path(then, start), *is = obj_path(now, start);
	bool resumes =
		condition_is(then, "Suspended", "True") && condition_is(now, "Suspended", "False");
	if (obj_path(now, end) && obj_path(then, end))
		check_kept(e, end, now, then);
	if (was && !(is && obj_equal(is, was)) && !obj_flag(now, "spec.suspend", false) && !resumes)
		check_invalid(e, start, is, "field is immutable for unsuspended job once set");
}

void job_status_kept(struct field_errors *e, const struct obj *now, const struct obj *then)
{
	static const char *const terminal[] = {"Failed", "Complete", "FailureTarget"};
	static const char met[] = "SuccessCriteriaMet";
	const struct obj *completions = obj_path(now, "spec.completions");
	const struct obj *at_once = obj_path(now, "spec.parallelism");
	for (size_t i = 0; i < ARRAY_LEN(terminal); i++)
		check_stands(e, terminal[i], true, now, then);
	check_grows(e, "status.failed", now, then);
	/* an indexed one may be scaled down with its parallelism */
	if (!cstr_eq(obj_str(now, "spec.completionMode"), "Indexed") || !completions || !at_once ||
	    !obj_equal(completions, at_once))
		check_grows(e, "status.succeeded", now, then);
	check_times_kept(e, now, then);
	check_stands(e, met, false, now, then);
	if (condition_is(then, "Complete", "True") && !condition_is(then, met, "True") &&
	    condition_is(now, met, "True"))
		field_errors_add(
			e, FIELD_INVALID, CONDITIONS,
			"Invalid value: cannot set SuccessCriteriaMet=True for Job already "
			"has Complete=true conditions");
}
