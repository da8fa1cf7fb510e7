/* job_check: Jobs and CronJobs (builtin_check.h), as batch/validation of Kubernetes 1.36 has them. */
#include "alm/apiserver/kinds/job_check.h"

#include <string.h>

#include "alm/apiserver/kinds/defaults.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_check.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/apiserver/loops/cron.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "alm/obj/query/selector.h"
#include "alm/obj/schema/api_same.h"

#define MANAGER_MAX          63 /* letters of the name of who runs it */
#define INDEXED_PARALLEL_MAX 100000
/* Of a Job with more completions than this, of which each index has a limit of its own. */
#define COMPLETIONS_MANY 100000
#define OF_MANY_MAX      10000

static void check_at_most(struct field_errors *e, const char *path, const struct obj *v,
			  int64_t most, const char *why)
{
	int64_t n = 0;
	if (obj_as_i64(v, &n) && n > most)
		check_invalid(e, path, v, why);
}

static void check_many(struct field_errors *e, const char *path, const struct obj *spec)
{
	static const char why[] = "must be less than or equal to 10000 when completions are above "
				  "100000 and used with backoff limit per index";
	const struct obj *failed = obj_get(spec, "maxFailedIndexes");
	const char *at = check_below(e, path, "maxFailedIndexes");
	if (!failed)
		check_required(e, at, "must be specified when completions is above 100000");
	check_at_most(e, check_below(e, path, "parallelism"), obj_get(spec, "parallelism"),
		      OF_MANY_MAX, why);
	check_at_most(e, at, failed, OF_MANY_MAX, why);
}

/* Of a Job whose Pods have an index. */
static void check_indexed(struct field_errors *e, const char *path, const struct obj *spec)
{
	const struct obj *completions = obj_get(spec, "completions");
	const struct obj *failed = obj_get(spec, "maxFailedIndexes");
	const char *at = check_below(e, path, "maxFailedIndexes");
	int64_t n = INT64_MAX;
	if (!completions)
		check_required(e, check_below(e, path, "completions"),
			       "when completion mode is Indexed");
	check_at_most(e, check_below(e, path, "parallelism"), obj_get(spec, "parallelism"),
		      INDEXED_PARALLEL_MAX,
		      "must be less than or equal to 100000 when completion mode is Indexed");
	obj_as_i64(completions, &n);
	check_at_most(e, at, failed, n, "must be less than or equal to completions");
	check_at_most(e, at, failed, INDEXED_PARALLEL_MAX, "must be less than or equal to 100000");
	if (completions && n > COMPLETIONS_MANY && obj_has(spec, "backoffLimitPerIndex"))
		check_many(e, path, spec);
}

static void check_numbers(struct field_errors *e, const char *path, const struct obj *spec)
{
	static const char *const numbers[] = {"parallelism",
					      "completions",
					      "activeDeadlineSeconds",
					      "backoffLimit",
					      "ttlSecondsAfterFinished",
					      "backoffLimitPerIndex",
					      "maxFailedIndexes"};
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		check_at_least(e, check_below(e, path, numbers[i]), obj_get(spec, numbers[i]), 0);
	if (obj_has(spec, "maxFailedIndexes") && !obj_has(spec, "backoffLimitPerIndex"))
		check_required(e, check_below(e, path, "backoffLimitPerIndex"),
			       "when maxFailedIndexes is specified");
}

static void check_completion(struct field_errors *e, const char *path, const struct obj *spec)
{
	static const char *const indexes[] = {"backoffLimitPerIndex", "maxFailedIndexes"};
	static const char *const modes[] = {"NonIndexed", "Indexed", NULL};
	const char *mode = check_text(spec, "completionMode"), *by = obj_str(spec, "managedBy");
	bool indexed = strcmp(mode, "Indexed") == 0;
	if (by)
		check_domain_path(e, check_below(e, path, "managedBy"), by);
	if (by && strlen(by) > MANAGER_MAX)
		check_too_long(e, check_below(e, path, "managedBy"), MANAGER_MAX);
	if (obj_has(spec, "completionMode"))
		field_errors_one_of(e, check_below(e, path, "completionMode"), mode, modes);
	if (indexed)
		check_indexed(e, path, spec);
	for (size_t i = 0; i < ARRAY_LEN(indexes); i++)
		if (!indexed && (!*mode || strcmp(mode, "NonIndexed") == 0) &&
		    obj_has(spec, indexes[i]))
			check_invalid(e, check_below(e, path, indexes[i]),
				      obj_get(spec, indexes[i]),
				      "requires indexed completion mode");
}

/* What the rules of a Job look at: suspended or not, with whatever Pods, what was stored may stay. */
static const struct obj *judged(struct field_errors *e, const struct obj *spec)
{
	static const char *const other[] = {"suspend", "template", NULL};
	struct obj *o = obj_keep(e->arena, obj_map());
	OBJ_EACH (it, spec)
		if (!cstr_in(it.key, other))
			obj_set(o, it.key, obj_ref(it.value));
	return o;
}

static void check_spec(struct field_errors *e, const char *path, const struct obj *spec)
{
	static const char *const policies[] = {"OnFailure", "Never", NULL};
	const struct obj *pod_spec = obj_path(spec, "template.spec");
	const char *policy = obj_str(pod_spec, "restartPolicy");
	const char *field = check_below(e, path, "template.spec.restartPolicy");
	size_t from = e->n;
	check_numbers(e, path, spec);
	check_completion(e, path, spec);
	job_check_policies(e, path, spec);
	check_said_since(e, from, judged(e, spec)); /* younger than what may be stored */
	check_pod_template(e, check_below(e, path, "template"), obj_get(spec, "template"), NULL);
	if (!policy || !*policy || cstr_eq(policy, "Always"))
		check_required(e, field, "valid values: \"OnFailure\", \"Never\"");
	else
		field_errors_one_of(e, field, policy, policies);
	if (obj_has(spec, "podFailurePolicy") && cstr_eq(policy, "OnFailure"))
		check_invalid_text(e, field, policy,
				   "only \"Never\" is supported when podFailurePolicy is "
				   "specified");
}

/* Which are its Pods: made with it, and never without. */
static void check_job_selector(struct field_errors *e, const struct obj *o)
{
	const struct obj *selector = obj_path(o, "spec.selector");
	const struct obj *labels = obj_path(o, "spec.template.metadata.labels");
	CLEANUP(selector_freep) struct selector *s = NULL;
	size_t from = e->n;
	if (!selector)
		check_required(e, "spec.selector", NULL);
	check_label_selector(e, "spec.selector", selector);
	if (!selector || (check_selector_reads(selector, &s) && !selector_matches(s, labels)))
		check_invalid(e, "spec.template.metadata.labels", labels,
			      "`selector` does not match template `labels`");
	for (size_t i = from; i < e->n; i++)
		e->items[i].is_of_text = true; /* what was said of it before is forgiven */
}

/* The Pod of the last index is called so. */
static void check_index_name(struct field_errors *e, const struct obj *o)
{
	const char *name = meta_name(o);
	int64_t n = obj_i64(o, "spec.completions", 0);
	if (!name || n <= 0 || !cstr_eq(obj_str(o, "spec.completionMode"), "Indexed"))
		return;
	const char *last = arena_fmt(e->arena, "%s-%lld", name, (long long)n - 1);
	if (name_fault(NAME_DNS_LABEL, str_of(last)))
		check_invalid_text(
			e, "metadata.name", name,
			arena_fmt(e->arena,
				  "will not able to create pod with invalid DNS label: %s", last));
}

/* It and its Pods are told from others by the uid, unless somebody chose the labels. */
static void check_generated(struct field_errors *e, const struct obj *o)
{
	static const char at[] = "spec.template.metadata.labels";
	const char *uid = meta_uid(o), *name = meta_name(o);
	const struct obj *selector = obj_path(o, "spec.selector"), *labels = obj_path(o, at);
	const struct {
		const char *key, *value;
	} own[] = {{"controller-uid", uid},
		   {"job-name", name},
		   {"batch.kubernetes.io/controller-uid", uid},
		   {"batch.kubernetes.io/job-name", name}};
	CLEANUP(obj_unrefp) struct obj *all = obj_map();
	CLEANUP(selector_freep) struct selector *s = NULL;
	for (size_t i = 0; i < e->n; i++)
		if (cstr_has_prefix(e->items[i].path, "spec."))
			return; /* told the first time */
	if (obj_flag(o, "spec.manualSelector", false) || !selector || !uid || !name)
		return;
	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		const char *is = obj_as_string(obj_get(labels, own[i].key));
		const char *path = arena_fmt(e->arena, "%s[%s]", at, own[i].key);
		const char *why = arena_fmt(e->arena, "must be '%s'", own[i].value);
		if (!is)
			check_required(e, path, why);
		else if (strcmp(is, own[i].value) != 0)
			check_invalid(e, path, labels, why);
		obj_set_str(all, own[i].key, own[i].value);
	}
	if (check_selector_reads(selector, &s) && !selector_matches(s, all))
		check_invalid(e, "spec.selector", selector, "`selector` not auto-generated");
}

void check_job(struct field_errors *e, const struct obj *o)
{
	check_generated(e, o);
	check_spec(e, "spec", obj_get(o, "spec"));
	check_job_selector(e, o);
	check_index_name(e, o);
}

static void check_schedule(struct field_errors *e, const char *schedule)
{
	struct cron c;
	struct error err = ERROR_INIT;
	if (!*schedule)
		check_required(e, "spec.schedule", NULL);
	else if (strstr(schedule, "TZ"))
		check_invalid_text(e, "spec.schedule", schedule,
				   "cannot use TZ or CRON_TZ in schedule, use timeZone field "
				   "instead");
	else if (cron_parse(str_of(schedule), &c, &err) < 0)
		check_invalid_text(e, "spec.schedule", schedule, err.msg);
}

void check_cron_job(struct field_errors *e, const struct obj *o)
{
	static const char *const limits[] = {"spec.successfulJobsHistoryLimit",
					     "spec.failedJobsHistoryLimit"};
	static const char *const policies[] = {"Allow", "Forbid", "Replace", NULL};
	const struct obj *spec = obj_path(o, "spec.jobTemplate.spec");
	const char *policy = obj_str(o, "spec.concurrencyPolicy");
	check_schedule(e, check_text(o, "spec.schedule"));
	check_at_least(e, "spec.startingDeadlineSeconds",
		       obj_path(o, "spec.startingDeadlineSeconds"), 0);
	size_t from = e->n;
	if (policy) {
		field_errors_one_of(e, "spec.concurrencyPolicy", policy, policies);
		check_said_since(e, from, obj_path(o, "spec.concurrencyPolicy"));
	}
	check_spec(e, "spec.jobTemplate.spec", spec);
	if (obj_has(spec, "selector")) {
		check_invalid(e, "spec.jobTemplate.spec.selector", obj_get(spec, "selector"),
			      "`selector` will be auto-generated");
		check_said_of(e, obj_get(spec, "selector"));
	}
	if (obj_flag(spec, "manualSelector", false)) {
		field_errors_add(e, FIELD_NOT_SUPPORTED, "spec.jobTemplate.spec.manualSelector",
				 "Unsupported value: true: supported values: \"nil\", \"false\"");
		check_said_of(e, obj_get(spec, "manualSelector"));
	}
	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		check_at_least(e, limits[i], obj_path(o, limits[i]), 0);
}

static void kept_where_set(struct field_errors *e, const struct obj *o, const struct obj *before,
			   const char *path)
{
	if (obj_path(before, path))
		check_kept(e, path, o, before);
}

/* A suspended Job without Pods may be placed anew, and given other amounts. */
static bool is_open(const struct obj *job)
{
	return obj_flag(job, "spec.suspend", false) && obj_i64(job, "status.active", 0) == 0 &&
	       (!obj_path(job, "status.startTime") || condition_is(job, "Suspended", "True"));
}

/* Of a Pod without what may be other then: containers of one name may ask for more or less. */
static struct obj *fixed_pod(const struct obj *spec, const struct obj *other)
{
	static const char *const may[] = {"nodeSelector", "tolerations", "schedulingGates"};
	static const char *const lists[] = {"containers", "initContainers"};
	struct obj *o = obj_copy(spec);
	for (size_t i = 0; i < ARRAY_LEN(may); i++)
		obj_del(o, may[i]);
	obj_del_path(o, "affinity.nodeAffinity");
	if (!obj_len(obj_get(o, "affinity")))
		obj_del(o, "affinity");
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const struct obj *is = obj_get(spec, lists[k]), *was = obj_get(other, lists[k]);
		for (size_t i = 0; obj_len(is) == obj_len(was) && i < obj_len(is); i++)
			if (strcmp(check_text(obj_at(is, i), "name"),
				   check_text(obj_at(was, i), "name")) == 0)
				obj_del(obj_at_mut(obj_get_mut(o, lists[k]), i), "resources");
	}
	return o;
}

static void check_template_kept(struct field_errors *e, const struct obj *o,
				const struct obj *before)
{
	static const char at[] = "spec.template", pod_at[] = "spec.template.spec";
	const struct obj *is = obj_path(o, pod_at), *was = obj_path(before, pod_at);
	if (!is_open(before)) {
		if (!api_same(api_type_named("core.v1.PodTemplateSpec"), obj_path(o, at),
			      obj_path(before, at)))
			check_invalid(e, at, obj_path(o, at), "field is immutable");
		return;
	}
	CLEANUP(obj_unrefp) struct obj *a = fixed_pod(is, was), *b = fixed_pod(was, is);
	if (!api_same(api_type_named("core.v1.PodSpec"), a, b))
		check_invalid(e, pod_at, is, "field is immutable");
}

/* Of an indexed one they follow how many run at once. */
static void check_completions_kept(struct field_errors *e, const struct obj *o,
				   const struct obj *before)
{
	static const char at[] = "spec.completions";
	const struct obj *is = obj_path(o, at), *was = obj_path(before, at);
	const struct obj *at_once = obj_path(o, "spec.parallelism");
	if (!cstr_eq(obj_str(o, "spec.completionMode"), "Indexed"))
		check_kept(e, at, o, before);
	else if (is && !(was && obj_equal(is, was)) && !(at_once && obj_equal(is, at_once)))
		check_invalid(e, at, is, "can only be modified in tandem with spec.parallelism");
}

/* What was stored before there was a default has it now. */
void job_kept(struct field_errors *e, const struct obj *now, const struct obj *then)
{
	static const char *const fixed[] = {"spec.completionMode", "spec.podFailurePolicy",
					    "spec.backoffLimitPerIndex", "spec.managedBy",
					    "spec.successPolicy"};
	CLEANUP(obj_unrefp) struct obj *o = obj_copy(now);
	CLEANUP(obj_unrefp) struct obj *before = obj_copy(then);
	defaults_set(o, "batch", "jobs");
	defaults_set(before, "batch", "jobs");
	check_completions_kept(e, o, before);
	kept_where_set(e, o, before, "spec.selector");
	check_template_kept(e, o, before);
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		check_kept(e, fixed[i], o, before);
}
