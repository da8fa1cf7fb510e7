#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "alm/unit/failure.h"

/* The step wrote at 12:00:00; it is 12:05:00. */
#define SINCE "2026-01-02T12:00:00Z"
#define NOW   "2026-01-02T12:05:00Z"

static int64_t at(const char *text)
{
	int64_t ns = 0;
	assert_true(clock_parse(str_of(text), &ns));
	return ns;
}

static const struct obj *read(struct arena *a, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	if (!text)
		return NULL;
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

struct row {
	const char *live, *pods, *replica_sets, *events;
	const char *reason; /* NULL: nothing has failed */
	const char *text;   /* also of a grace that runs */
	int again_s;        /* after now; 0: no grace runs */
};

#define DEPLOYMENT                                                                      \
	"{kind: Deployment, metadata: {name: web, uid: d, generation: 2, annotations: " \
	"{deployment.kubernetes.io/revision: '3'}}, status: {observedGeneration: 2}}"
#define SETS                                                                             \
	"[{metadata: {uid: old, annotations: {deployment.kubernetes.io/revision: '2'}, " \
	"ownerReferences: [{uid: d}]}}, {metadata: {uid: new, annotations: "             \
	"{deployment.kubernetes.io/revision: '3'}, ownerReferences: [{uid: d}]}}]"
#define POD_OF(owner, more, status)                                             \
	"{metadata: {name: x, uid: p, ownerReferences: [{uid: " owner "}]" more \
	"}, status: {startTime: '2026-01-02T12:02:00Z', " status "}}"
#define POD(status) "[" POD_OF("new", "", status) "]"
#define WAITS(reason, message)                                                  \
	POD("containerStatuses: [{name: 'y', state: {waiting: {reason: " reason \
	    ", message: '" message "'}}}]")
#define ENDED(state, reason, time, message)                                        \
	"containerStatuses: [{name: 'y', " state ": {terminated: {reason: " reason \
	", exitCode: 137, finishedAt: '2026-01-02T" time "Z'" message "}}}]"
#define OF(pods)    DEPLOYMENT, pods, SETS, NULL
#define ALONE(live) live, NULL, NULL, NULL
#define JOB(status) "{kind: Job, metadata: {name: j, uid: j, generation: 1}, status: {" status "}}"
#define FAILED(reason, message)                                                              \
	"conditions: [{type: Failed, status: 'True', reason: " reason ", message: '" message \
	"', lastTransitionTime: '2026-01-02T12:04:00Z'}]"
#define EVENT(reason, uid, last)                                                              \
	"[{reason: " reason ", message: 'MountVolume.SetUp failed: secret \"s\" not found', " \
	"involvedObject: {uid: " uid "}, firstTimestamp: '2026-01-02T12:01:00Z', "            \
	"lastTimestamp: '2026-01-02T" last "Z'}]"
#define CREATING                                                                         \
	POD("phase: Pending, containerStatuses: [{name: 'y', state: {waiting: {reason: " \
	    "ContainerCreating}}}]")
#define DEPLOYMENT_WITH(generation, condition)                                     \
	"{kind: Deployment, metadata: {name: web, uid: d, generation: " generation \
	"}, status: {observedGeneration: 2, conditions: [{" condition              \
	", lastTransitionTime: '2026-01-02T12:04:30Z'}]}}"

/* clang-format off */
static const struct row rows[] = {
	/* the table, word by word */
	{OF(POD(ENDED("state", "OOMKilled", "12:04:57", ""))), "OOMKilled",
	 "OOMKilled: exit code 137 (3s ago, pod x, container y)", 0},
	{OF(POD(ENDED("lastState", "OOMKilled", "12:04:57", ", message: 'too\nmuch'"))), "OOMKilled",
	 "OOMKilled: too much (3s ago, pod x, container y)", 0},
	{JOB(""), "[" POD_OF("j", "", ENDED("state", "OOMKilled", "12:04:00", "")) "]", NULL, NULL,
	 "OOMKilled", "OOMKilled: exit code 137 (60s ago, pod x, container y)", 0},
	{OF(WAITS("CrashLoopBackOff", "back-off 10s")), "CrashLoopBackOff",
	 "CrashLoopBackOff: back-off 10s (3m ago, pod x, container y)", 0},
	{OF(WAITS("ImagePullBackOff", "manifest unknown")), "ImagePullBackOff",
	 "ImagePullBackOff: manifest unknown (3m ago, pod x, container y)", 0},
	{OF(WAITS("InvalidImageName", "Failed to apply")), "InvalidImageName",
	 "InvalidImageName: Failed to apply (3m ago, pod x, container y)", 0},
	{OF(WAITS("ErrImageNeverPull", "is not present with pull policy of Never")),
	 "ErrImageNeverPull", "ErrImageNeverPull: is not present with pull policy of Never (3m ago, "
	 "pod x, container y)", 0},
	{OF(WAITS("RunContainerError", "no such file")), "RunContainerError",
	 "RunContainerError: no such file (3m ago, pod x, container y)", 0},
	{OF(POD(ENDED("lastState", "StartError", "12:04:00", ", message: exec failed"))), "StartError",
	 "StartError: exec failed (60s ago, pod x, container y)", 0},
	{OF(WAITS("CreateContainerConfigError", "secret \"s\" not found")), NULL,
	 "CreateContainerConfigError: secret \"s\" not found (3m ago, pod x, container y)", 30},
	{OF(WAITS("CreateContainerError", "")), NULL,
	 "CreateContainerError (3m ago, pod x, container y)", 30},
	{DEPLOYMENT, CREATING, SETS, EVENT("FailedMount", "p", "12:04:00"), NULL,
	 "FailedMount: MountVolume.SetUp failed: secret \"s\" not found (4m ago, pod x)", 120},
	{DEPLOYMENT, CREATING, SETS, EVENT("FailedAttachVolume", "p", "12:04:00"), NULL,
	 "FailedAttachVolume: MountVolume.SetUp failed: secret \"s\" not found (4m ago, pod x)", 120},
	{OF(POD("conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: "
	 "'0/3 nodes are available', lastTransitionTime: '2026-01-02T12:03:00Z'}]")), NULL,
	 "Unschedulable: 0/3 nodes are available (2m ago, pod x)", 30},
	{ALONE(JOB(FAILED("DeadlineExceeded", "Job was active longer than specified deadline"))),
	 "DeadlineExceeded",
	 "DeadlineExceeded: Job was active longer than specified deadline (60s ago)", 0},
	{ALONE(JOB(FAILED("BackoffLimitExceeded", "Job has reached the specified backoff limit"))),
	 "BackoffLimitExceeded",
	 "BackoffLimitExceeded: Job has reached the specified backoff limit (60s ago)", 0},
	{OF(POD("phase: Failed, reason: Evicted, message: The node was low on resource")), "Evicted",
	 "Evicted: The node was low on resource (pod x)", 0},
	{ALONE(DEPLOYMENT_WITH("2", "type: Progressing, status: 'False', reason: "
	 "ProgressDeadlineExceeded, message: ReplicaSet \"web-1\" has timed out")),
	 "ProgressDeadlineExceeded",
	 "ProgressDeadlineExceeded: ReplicaSet \"web-1\" has timed out (30s ago)", 0},
	{ALONE(DEPLOYMENT_WITH("2", "type: ReplicaFailure, status: 'True', reason: FailedCreate, "
	 "message: exceeded quota")), "FailedCreate", "FailedCreate: exceeded quota (30s ago)", 0},

	/* what is seen and is none */
	{ALONE(NULL), NULL, NULL, 0},
	{OF(WAITS("ContainerCreating", "")), NULL, NULL, 0},
	{OF(WAITS("PodInitializing", "")), NULL, NULL, 0},
	{OF(WAITS("ErrImagePull", "manifest unknown")), NULL, NULL, 0},
	{OF(POD(ENDED("state", "Completed", "12:04:00", ""))), NULL, NULL, 0},
	{OF(POD(ENDED("state", "Error", "12:04:00", ""))), NULL, NULL, 0},
	/* it ended before the step wrote */
	{OF(POD(ENDED("lastState", "OOMKilled", "11:59:59", ""))), NULL, NULL, 0},
	{OF(POD(ENDED("lastState", "OOMKilled", "12:00:00", ""))), "OOMKilled",
	 "OOMKilled: exit code 137 (5m ago, pod x, container y)", 0},
	{OF(POD("reason: Evicted, conditions: [{type: Ready, status: 'False', lastTransitionTime: "
	 "'2026-01-02T11:00:00Z'}]")), NULL, NULL, 0},
	/* of a former template, of somebody else, on its way out */
	{OF("[" POD_OF("old", "", ENDED("state", "OOMKilled", "12:04:00", "")) "]"), NULL, NULL, 0},
	{OF("[" POD_OF("z", "", ENDED("state", "OOMKilled", "12:04:00", "")) "]"), NULL, NULL, 0},
	{OF("[" POD_OF("new", ", deletionTimestamp: '2026-01-02T12:04:00Z'",
	 ENDED("state", "OOMKilled", "12:04:00", "")) "]"), NULL, NULL, 0},
	{"{kind: Deployment, metadata: {uid: d, generation: 3, annotations: "
	 "{deployment.kubernetes.io/revision: '3'}}, status: {observedGeneration: 2}}",
	 WAITS("CrashLoopBackOff", "m"), SETS, NULL, NULL, NULL, 0},
	{ALONE(DEPLOYMENT_WITH("3", "type: Progressing, status: 'False', reason: "
	 "ProgressDeadlineExceeded, message: m")), NULL, NULL, 0},
	{DEPLOYMENT, WAITS("CrashLoopBackOff", "m"), NULL, NULL, NULL, NULL, 0}, /* no ReplicaSets */
	{"{kind: StatefulSet, metadata: {uid: s}, status: {updateRevision: b}}",
	 "[" POD_OF("s", ", labels: {controller-revision-hash: a}",
	 ENDED("state", "OOMKilled", "12:04:00", "")) "]", NULL, NULL, NULL, NULL, 0},
	{"{kind: StatefulSet, metadata: {uid: s}, status: {updateRevision: b}}",
	 "[" POD_OF("s", ", labels: {controller-revision-hash: b}",
	 ENDED("state", "OOMKilled", "12:04:00", "")) "]", NULL, NULL, "OOMKilled",
	 "OOMKilled: exit code 137 (60s ago, pod x, container y)", 0},
	{"{kind: DaemonSet, metadata: {uid: s, annotations: {deprecated.daemonset.template.generation:"
	 " '2'}}}", "[" POD_OF("s", ", labels: {pod-template-generation: '1'}",
	 ENDED("state", "OOMKilled", "12:04:00", "")) "]", NULL, NULL, NULL, NULL, 0},
	{"{kind: Pod, metadata: {name: x}, status: {initContainerStatuses: [{name: i, state: {waiting:"
	 " {reason: InvalidImageName, message: m}}}]}}", NULL, NULL, NULL, "InvalidImageName",
	 "InvalidImageName: m (pod x, container i)", 0},
	/* a mount that came through, one of before, another Pod's */
	{DEPLOYMENT, POD("containerStatuses: [{name: 'y', state: {running: {}}}]"), SETS,
	 EVENT("FailedMount", "p", "12:04:00"), NULL, NULL, 0},
	{DEPLOYMENT, CREATING, SETS, EVENT("FailedMount", "p", "11:04:00"), NULL, NULL, 0},
	{DEPLOYMENT, CREATING, SETS, EVENT("FailedMount", "q", "12:04:00"), NULL, NULL, 0},
	{DEPLOYMENT, CREATING, SETS, EVENT("BackOff", "p", "12:04:00"), NULL, NULL, 0},
	/* two: the first of the table */
	{OF(POD("containerStatuses: [{name: 'y', state: {waiting: {reason: CrashLoopBackOff, message: "
	 "m}}, lastState: {terminated: {reason: OOMKilled, exitCode: 137, finishedAt: "
	 "'2026-01-02T12:04:00Z'}}}]")), "OOMKilled",
	 "OOMKilled: exit code 137 (60s ago, pod x, container y)", 0},
	/* hostile: other types, times that are none, escapes */
	{OF("[1, {metadata: []}, " POD_OF("new", "", "containerStatuses: {a: b}") "]"), NULL, NULL, 0},
	{"{kind: Pod, metadata: {name: x}, status: {startTime: x, containerStatuses: [{name: 1, state: "
	 "{waiting: {reason: CrashLoopBackOff, message: []}}}]}}", NULL, NULL, NULL,
	 "CrashLoopBackOff", "CrashLoopBackOff (pod x)", 0},
	{"{kind: Pod, metadata: {name: x}, status: {containerStatuses: [{name: 'y', state: {waiting: "
	 "{reason: CrashLoopBackOff, message: \"\\e[31mred\"}}}]}}", NULL, NULL, NULL,
	 "CrashLoopBackOff", "CrashLoopBackOff: \\u001b[31mred (pod x, container y)", 0},
};
/* clang-format on */

static struct failure_facts facts_of(struct arena *a, const struct row *r)
{
	return (struct failure_facts){
		read(a, r->live),   read(a, r->pods), read(a, r->replica_sets),
		read(a, r->events), at(SINCE),        at(NOW)};
}

static void test_failure__the_table_with_its_texts(void **state)
{
	(void)state;
	size_t n, n_wrong = 0;
	const struct failure_check *checks = failure_checks(&n);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
		const struct row *r = &rows[i];
		struct failure_facts f = facts_of(a, r);
		struct failure_found got;
		bool failed = failure_look(checks, n, &f, NULL, a, &got);
		int64_t again = got.again_ns ? (got.again_ns - f.now_ns) / NS_PER_S : 0;
		assert_int_equal(failed, got.reason != NULL);
		if (cstr_eq(got.reason, r->reason) && cstr_eq(got.text, r->text) &&
		    again == r->again_s && !got.seen == !r->again_s)
			continue;
		print_error("row %zu: %s, %s, again in %d s\n", i, got.reason, got.text,
			    (int)again);
		n_wrong++;
	}
	assert_int_equal(n_wrong, 0);
}

/* Every check of the table stands in a row, so that none is only a name. */
static void test_failure__each_check_has_a_row(void **state)
{
	(void)state;
	size_t n;
	const struct failure_check *checks = failure_checks(&n);
	for (size_t c = 0; c < n; c++) {
		bool found = !strcmp(checks[c].name, "ReplicaFailure"); /* FailedCreate */
		for (size_t i = 0; i < ARRAY_LEN(rows); i++)
			found = found ||
				(rows[i].text && cstr_has_prefix(rows[i].text, checks[c].name) &&
				 !rows[i].reason == (checks[c].grace_ns > 0));
		if (!found)
			fail_msg("%s has no row", checks[c].name);
	}
}

static const struct row config_error = {
	OF(WAITS("CreateContainerConfigError", "secret \"s\" not found")), NULL, NULL, 0};

static void test_failure__a_grace_is_over_once_it_was_seen_for_so_long(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	static const struct failure_check checks[] = {
		{"CreateContainerConfigError", 30 * NS_PER_S}};
	struct failure_facts f = facts_of(a, &config_error);
	struct failure_found first, later, over;
	assert_false(failure_look(checks, 1, &f, NULL, a, &first));
	f.now_ns += 29 * NS_PER_S;
	assert_false(failure_look(checks, 1, &f, first.seen, a, &later));
	assert_true(later.again_ns == f.now_ns + NS_PER_S);
	f.now_ns += NS_PER_S;
	assert_true(failure_look(checks, 1, &f, later.seen, a, &over));
	assert_string_equal(over.reason, "CreateContainerConfigError");
}

static void test_failure__what_was_gone_in_between_begins_again(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	static const struct failure_check checks[] = {
		{"CreateContainerConfigError", 30 * NS_PER_S}};
	struct failure_facts f = facts_of(a, &config_error);
	struct failure_facts well = f;
	struct failure_found first, gone, again;
	well.pods = NULL;
	assert_false(failure_look(checks, 1, &f, NULL, a, &first));
	assert_false(failure_look(checks, 1, &well, first.seen, a, &gone));
	assert_null(gone.seen);
	f.now_ns += 60 * NS_PER_S;
	assert_false(failure_look(checks, 1, &f, gone.seen, a, &again));
	assert_true(again.again_ns == f.now_ns + 30 * NS_PER_S);
}

static void test_failure__a_list_of_its_own_replaces_the_table(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	static const struct row row = {OF(WAITS("CrashLoopBackOff", "m")), NULL, NULL, 0};
	static const struct failure_check other[] = {{"Evicted", 0}};
	static const struct failure_check patient[] = {{"CrashLoopBackOff", 10 * NS_PER_S}};
	struct failure_facts f = facts_of(a, &row);
	struct failure_found got;
	assert_false(failure_look(NULL, 0, &f, NULL, a, &got));
	assert_false(failure_look(other, 1, &f, NULL, a, &got));
	assert_null(got.text);
	assert_false(failure_look(patient, 1, &f, NULL, a, &got));
	assert_true(got.again_ns == f.now_ns + 10 * NS_PER_S);
}

static void test_failure__what_it_has_seen_is_bounded(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	size_t n;
	const struct failure_check *checks = failure_checks(&n);
	struct obj *pods = obj_keep(a, obj_list());
	struct failure_facts f = facts_of(a, &config_error);
	struct failure_found got;
	for (int i = 0; i < 3 * FAILURE_SEEN_MAX; i++) {
		struct obj *pod = obj_copy(obj_at(f.pods, 0));
		obj_set_path(pod, "metadata.uid", obj_stringf("p%d", i));
		obj_append(pods, pod);
	}
	f.pods = pods;
	assert_false(failure_look(checks, n, &f, NULL, a, &got));
	assert_int_equal(obj_len(got.seen), FAILURE_SEEN_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failure__the_table_with_its_texts),
		cmocka_unit_test(test_failure__each_check_has_a_row),
		cmocka_unit_test(test_failure__a_grace_is_over_once_it_was_seen_for_so_long),
		cmocka_unit_test(test_failure__what_was_gone_in_between_begins_again),
		cmocka_unit_test(test_failure__a_list_of_its_own_replaces_the_table),
		cmocka_unit_test(test_failure__what_it_has_seen_is_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
