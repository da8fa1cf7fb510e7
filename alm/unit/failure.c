#include "alm/unit/failure.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/visible.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

/* To add a check: a row, and where it is seen below, if that is no container's word. */
/* clang-format off */
static const struct failure_check table[] = {
	{"OOMKilled",                  0},
	{"CrashLoopBackOff",           0},
	{"ImagePullBackOff",           0},
	{"InvalidImageName",           0},
	{"ErrImageNeverPull",          0},
	{"RunContainerError",          0},
	{"StartError",                 0},
	{"CreateContainerConfigError", 30 * NS_PER_S},
	{"CreateContainerError",       30 * NS_PER_S},
	{"FailedMount",                2 * NS_PER_MIN},
	{"FailedAttachVolume",         2 * NS_PER_MIN},
	{"Unschedulable",              30 * NS_PER_S},
	{"DeadlineExceeded",           0},
	{"BackoffLimitExceeded",       0},
	{"Evicted",                    0},
	{"ProgressDeadlineExceeded",   0},
	{"ReplicaFailure",             0},
};
/* clang-format on */

const struct failure_check *failure_check_find(const char *name)
{
	if (!strcmp(name, "JobOOMKilled"))
		name = "OOMKilled";
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

const struct failure_check *failure_checks(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(table);
	return table;
}

void failure_names(struct strbuf *b)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		strbuf_addf(b, "%s%s", i ? ", " : "", table[i].name);
}

struct look {
	const struct failure_check *checks;
	size_t n, best; /* best: index of what failed, n for none */
	const struct failure_facts *f;
	const struct obj *seen;
	struct arena *a;
	struct failure_found *ret;
};

/* Something that is seen, of a Pod or of the object itself. */
struct sighting {
	const char *check, *reason, *message;
	const struct obj *of;  /* pod, or live */
	const char *container; /* NULL: none */
	int64_t at_ns;         /* since when; 0: not known */
};

static int64_t time_at(const struct obj *o, const char *path)
{
	int64_t ns = 0;
	const char *text = obj_str(o, path);
	return text && clock_parse(str_of(text), &ns) ? ns : 0;
}

static int64_t condition_at(const struct obj *o, const char *type)
{
	return time_at(condition_find(obj_path(o, "status.conditions"), type),
		       "lastTransitionTime");
}

static const char *text_of(const struct look *l, const struct sighting *s)
{
	char age[CLOCK_TEXT_MAX];
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	bool is_pod = s->of != l->f->live || cstr_eq(meta_kind(s->of), "Pod");
	int64_t span = l->f->now_ns - s->at_ns;
	duration_human(span > 0 ? span : 0, age);
	visible_adds(&b, s->reason);
	if (s->message && *s->message) {
		strbuf_adds(&b, ": ");
		visible_add(&b, str_clip(str_trim(str_of(s->message)), FAILURE_MESSAGE_MAX));
	}
	if (s->at_ns || is_pod)
		strbuf_adds(&b, " (");
	if (s->at_ns)
		strbuf_addf(&b, "%s ago%s", age, is_pod ? ", " : "");
	if (is_pod)
		visible_addf(&b, "pod %s", meta_name(s->of) ? meta_name(s->of) : "");
	if (s->container)
		visible_addf(&b, ", container %s", s->container);
	if (s->at_ns || is_pod)
		strbuf_addc(&b, ')');
	return arena_strdup(l->a, b.buf);
}

static void fail(struct look *l, size_t check, const struct sighting *s)
{
	if (check >= l->best)
		return;
	l->best = check;
	l->ret->reason = arena_strdup(l->a, s->reason);
	l->ret->text = text_of(l, s);
}

/* It is a failure once it was seen for its grace. */
static void wait_for(struct look *l, size_t check, const struct sighting *s)
{
	char now[CLOCK_TEXT_MAX];
	int64_t first = l->f->now_ns, grace = l->checks[check].grace_ns;
	const char *uid = meta_uid(s->of);
	const char *key = arena_fmt(l->a, "%s/%s", s->check, uid ? uid : "");
	const char *before = obj_as_string(obj_get(l->seen, key));
	if (obj_len(l->ret->seen) >= FAILURE_SEEN_MAX)
		return;
	if (before && !clock_parse(str_of(before), &first))
		first = l->f->now_ns;
	if (!l->ret->seen)
		l->ret->seen = obj_keep(l->a, obj_map());
	clock_format(first, CLOCK_MICROS, now);
	obj_set_str(l->ret->seen, key, now);
	if (l->f->now_ns - first >= grace) {
		fail(l, check, s);
		return;
	}
	if (!l->ret->again_ns || first + grace < l->ret->again_ns) {
		l->ret->again_ns = first + grace;
		if (!l->ret->reason)
			l->ret->text = text_of(l, s);
	}
}

static void saw(struct look *l, const struct sighting *s)
{
	for (size_t i = 0; i < l->n; i++) {
		if (strcmp(l->checks[i].name, s->check) != 0)
			continue;
		if (l->checks[i].grace_ns)
			wait_for(l, i, s);
		else
			fail(l, i, s);
		return;
	}
}

/* Times of Kubernetes have whole seconds. */
static bool is_ours(const struct look *l, int64_t at_ns)
{
	return at_ns >= l->f->since_ns - l->f->since_ns % NS_PER_S;
}

static void look_terminated(struct look *l, const struct obj *pod, const struct obj *status,
			    const char *state)
{
	const struct obj *t = obj_get(obj_get(status, state), "terminated");
	int64_t at = time_at(t, "finishedAt");
	const char *reason = obj_str(t, "reason"), *message = obj_str(t, "message");
	if (!reason || !is_ours(l, at))
		return;
	if (!message || !*message)
		message = arena_fmt(l->a, "exit code %lld", (long long)obj_i64(t, "exitCode", 0));
	saw(l, &(struct sighting){reason, reason, message, pod, obj_str(status, "name"), at});
}

/* A container that fell back has ended then; one that never ran waits since its Pod began. */
static void look_waiting(struct look *l, const struct obj *pod, const struct obj *status)
{
	const char *reason = obj_str(status, "state.waiting.reason");
	int64_t at = time_at(status, "lastState.terminated.finishedAt");
	if (!reason)
		return;
	if (!at)
		at = time_at(pod, "status.startTime");
	if (!at)
		at = time_at(pod, "metadata.creationTimestamp");
	saw(l, &(struct sighting){reason, reason, obj_str(status, "state.waiting.message"), pod,
				  obj_str(status, "name"), at});
}

static void look_containers(struct look *l, const struct obj *pod, const char *list)
{
	const struct obj *statuses = obj_path(pod, list);
	for (size_t i = 0; i < obj_len(statuses); i++) {
		const struct obj *s = obj_at(statuses, i);
		look_terminated(l, pod, s, "state");
		look_terminated(l, pod, s, "lastState");
		look_waiting(l, pod, s);
	}
}

/* Volumes are mounted before the first container; an Event stays for an hour after that. */
static bool has_begun(const struct obj *pod)
{
	static const char *const lists[] = {"status.initContainerStatuses",
					    "status.containerStatuses"};
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const struct obj *statuses = obj_path(pod, lists[k]);
		for (size_t i = 0; i < obj_len(statuses); i++)
			if (obj_path(obj_at(statuses, i), "state.running") ||
			    obj_path(obj_at(statuses, i), "state.terminated") ||
			    obj_path(obj_at(statuses, i), "lastState.terminated"))
				return true;
	}
	return false;
}

static int64_t event_time(const struct obj *event, bool last)
{
	int64_t at = time_at(event, last ? "lastTimestamp" : "firstTimestamp");
	if (!at && last)
		at = time_at(event, "series.lastObservedTime");
	return at ? at : time_at(event, "eventTime");
}

static void look_events(struct look *l, const struct obj *pod)
{
	if (has_begun(pod))
		return;
	for (size_t i = 0; i < obj_len(l->f->events); i++) {
		const struct obj *e = obj_at(l->f->events, i);
		const char *reason = obj_str(e, "reason"), *uid = obj_str(e, "involvedObject.uid");
		if (!uid || !cstr_eq(uid, meta_uid(pod)) || !is_ours(l, event_time(e, true)) ||
		    (!cstr_eq(reason, "FailedMount") && !cstr_eq(reason, "FailedAttachVolume")))
			continue;
		saw(l, &(struct sighting){reason, reason, obj_str(e, "message"), pod, NULL,
					  event_time(e, false)});
	}
}

static void look_evicted(struct look *l, const struct obj *pod)
{
	int64_t at = condition_at(pod, "Ready");
	if (cstr_eq(obj_str(pod, "status.reason"), "Evicted") && (!at || is_ours(l, at)))
		saw(l, &(struct sighting){"Evicted", "Evicted", obj_str(pod, "status.message"), pod,
					  NULL, at});
}

/* check NULL: the condition's reason is the check. */
static void look_condition(struct look *l, const struct obj *o, const char *type,
			   const char *status, const char *check)
{
	struct condition c;
	if (condition_get(o, type, &c) && !strcmp(c.status, status) && c.reason)
		saw(l, &(struct sighting){check ? check : c.reason, c.reason, c.message, o, NULL,
					  condition_at(o, type)});
}

static void look_pod(struct look *l, const struct obj *pod)
{
	if (meta_is_deleting(pod))
		return;
	look_evicted(l, pod);
	look_condition(l, pod, "PodScheduled", "False", NULL);
	look_containers(l, pod, "status.initContainerStatuses");
	look_containers(l, pod, "status.containerStatuses");
	look_events(l, pod);
}

static bool is_observed(const struct obj *live)
{
	return obj_i64(live, "status.observedGeneration", 0) >= meta_generation(live);
}

static void look_object(struct look *l)
{
	const struct obj *live = l->f->live;
	const char *kind = meta_kind(live);
	bool is_deployment = cstr_eq(kind, "Deployment");
	if (cstr_eq(kind, "Job"))
		look_condition(l, live, "Failed", "True", NULL);
	if (is_deployment && is_observed(live))
		look_condition(l, live, "Progressing", "False", NULL);
	if ((is_deployment || cstr_eq(kind, "ReplicaSet")) && is_observed(live))
		look_condition(l, live, "ReplicaFailure", "True", "ReplicaFailure");
}

/* uid of the ReplicaSet of a Deployment's newest template: both bear its revision. */
static const char *newest_replica_set(const struct failure_facts *f)
{
	static const char key[] = "deployment.kubernetes.io/revision";
	const char *revision = meta_annotation(f->live, key);
	for (size_t i = 0; revision && i < obj_len(f->replica_sets); i++) {
		const struct obj *rs = obj_at(f->replica_sets, i);
		if (meta_is_owned_by(rs, meta_uid(f->live)) &&
		    cstr_eq(meta_annotation(rs, key), revision))
			return meta_uid(rs);
	}
	return NULL;
}

/* Is that Pod, of the object's own, made from its newest template? */
static bool is_newest(const struct obj *live, const struct obj *pod)
{
	const char *kind = meta_kind(live), *want = NULL, *has = NULL;
	if (cstr_eq(kind, "StatefulSet")) {
		want = obj_str(live, "status.updateRevision");
		has = meta_label(pod, "controller-revision-hash");
	} else if (cstr_eq(kind, "DaemonSet")) {
		want = meta_annotation(live, "deprecated.daemonset.template.generation");
		has = meta_label(pod, "pod-template-generation");
	}
	return !want || !has || !strcmp(want, has);
}

/* As long as a controller has not seen the new generation, no Pod is of the newest template. */
static void look_pods(struct look *l)
{
	const struct obj *live = l->f->live;
	const char *kind = meta_kind(live);
	bool is_deployment = cstr_eq(kind, "Deployment");
	const char *owner = is_deployment ? newest_replica_set(l->f) : meta_uid(live);
	if ((is_deployment || cstr_eq(kind, "StatefulSet") || cstr_eq(kind, "DaemonSet")) &&
	    !is_observed(live))
		return;
	for (size_t i = 0; owner && i < obj_len(l->f->pods); i++) {
		const struct obj *pod = obj_at(l->f->pods, i);
		if (meta_is_owned_by(pod, owner) && is_newest(live, pod))
			look_pod(l, pod);
	}
}

bool failure_look(const struct failure_check *checks, size_t n, const struct failure_facts *facts,
		  const struct obj *seen, struct arena *a, struct failure_found *ret)
{
	struct look l = {checks, n, n, facts, seen, a, ret};
	*ret = (struct failure_found){0};
	if (!facts->live)
		return false;
	look_object(&l);
	if (cstr_eq(meta_kind(facts->live), "Pod"))
		look_pod(&l, facts->live);
	else
		look_pods(&l);
	return ret->reason != NULL;
}
