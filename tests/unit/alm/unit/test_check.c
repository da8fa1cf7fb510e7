#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "alm/unit/check.h"

#define ARENA_MAX ((size_t)8 << 20)
#define SINCE     (1000 * NS_PER_S)

static const struct obj *read(struct arena *a, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	if (!text)
		return NULL;
	if (yaml_parse_one(str_of(text), &o, &err) < 0)
		fail_msg("%s: %s", text, err.msg);
	return obj_keep(a, o);
}

/* A step of that action, with more of its fields. */
static const struct rollout_step *step_of(struct arena *a, const char *action, const char *more)
{
	static const struct rollout_options options = {.file = "r.yaml"};
	struct error err = ERROR_INIT;
	struct rollout *r = NULL;
	const char *text = arena_fmt(a,
				     "{apiVersion: app.coreos.com/v1alpha1, kind: Rollout, spec: "
				     "{groups: [{steps: [{object: o, action: %s%s%s}]}]}}",
				     action, *more ? ", " : "", more);
	assert_ok(rollout_read(str_of(text), &options, a, &r, &err), &err);
	return &r->groups[0].steps[0];
}

struct row {
	const char *action, *more, *live;
	int after_s; /* of the first write */
	enum check_state state;
	const char *reason, *message;
	int again_s; /* after now; 0: never */
};

#define APPLY     "CreateOrUpdate"
#define FIELDS(s) "success: [{fieldComparisons: " s "}]"
#define WAIT(s)   "success: [{wait: " s "}]"
#define LIVE(s)   "{kind: Thing, metadata: {generation: 3}, " s "}"
#define GENERATION                                                          \
	"{name: Generation, path: '{.metadata.generation}', value: {path: " \
	"'{.status.observedGeneration}'}}"
#define REPLICAS    "{path: .status.replicas, value: {path: .status.updatedReplicas}}"
#define UNAVAILABLE "{path: .status.unavailable, default: 0, value: {static: 0}}"
#define THREE       "[" GENERATION ", " REPLICAS ", " UNAVAILABLE "]"
#define OBJECT(s)   "{expectedValues: " THREE s "}"
#define DONE        CHECK_DONE, NULL, NULL, 0
#define WAITING     CHECK_WAITING, NULL
#define NOT_READY_D "{kind: Deployment, metadata: {generation: 1}, status: {observedGeneration: 1}}"
#define READY_D                                                                          \
	"{kind: Deployment, metadata: {generation: 1}, status: {observedGeneration: 1, " \
	"updatedReplicas: 1, availableReplicas: 1}}"

/* clang-format off */
static const struct row rows[] = {
	/* fieldComparisons, list form: L28 */
	{APPLY, FIELDS(THREE), LIVE("status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2}"), 0, DONE},
	{APPLY, FIELDS(THREE), LIVE("status: {observedGeneration: 3.0, replicas: 2, updatedReplicas: 2, unavailable: 0}"), 0, DONE},
	{APPLY, FIELDS(THREE), LIVE("status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2}"), 0,
	 WAITING, "Generation: {.metadata.generation} is 3, wanted 2 of {.status.observedGeneration}", 2},
	{APPLY, FIELDS(THREE), LIVE("status: {observedGeneration: 3, replicas: 2, updatedReplicas: 1, unavailable: 1}"), 0,
	 WAITING, ".status.replicas is 2, wanted 1 of .status.updatedReplicas; .status.unavailable is 1, wanted 0", 2},
	{APPLY, FIELDS(THREE), LIVE("status: {observedGeneration: 3, replicas: 2}"), 0,
	 WAITING, ".status.updatedReplicas is not there yet", 2},
	{APPLY, FIELDS(THREE), LIVE("status: {observedGeneration: 3}"), 0,
	 WAITING, ".status.replicas is not there yet", 2},
	/* both sides missing are not equal */
	{APPLY, FIELDS("[{path: .a, value: {path: .b}}]"), LIVE("c: 1"), 0, WAITING, ".a is not there yet", 2},
	/* no object: its default does not stand in */
	{APPLY, FIELDS("[" UNAVAILABLE "]"), NULL, 0, WAITING, ".status.unavailable is not there yet", 2},
	/* static, of each type; staticInt64 */
	{APPLY, FIELDS("[{path: .a, value: {static: ready}}]"), LIVE("a: ready"), 0, DONE},
	{APPLY, FIELDS("[{path: .a, value: {static: '1'}}]"), LIVE("a: 1"), 0, WAITING, ".a is 1, wanted \"1\"", 2},
	{APPLY, FIELDS("[{path: .a, value: {static: true}}]"), LIVE("a: true"), 0, DONE},
	{APPLY, FIELDS("[{path: .a, value: {static: null}}]"), LIVE("a: null"), 0, DONE},
	{APPLY, FIELDS("[{path: .a, value: {static: [1, {b: 2}]}}]"), LIVE("a: [1, {b: 2}]"), 0, DONE},
	{APPLY, FIELDS("[{path: .a, value: {staticInt64: 7}}]"), LIVE("a: 7"), 0, DONE},
	{APPLY, FIELDS("[{path: .a, value: {staticInt64: 9007199254740993}}]"), LIVE("a: 9007199254740992"), 0,
	 WAITING, ".a is 9007199254740992, wanted 9007199254740993", 2},
	{APPLY, FIELDS("[{path: .a, default: x, value: {path: .b}}]"), LIVE("b: x"), 0, DONE},
	/* one value, not several */
	{APPLY, FIELDS("[{path: '{.c[*].s}', value: {static: 1}}]"), LIVE("c: [{s: 1}, {s: 1}]"), 0,
	 WAITING, "{.c[*].s} has 2 values, wanted one", 2},
	{APPLY, FIELDS("[{path: '{.c[?(@.t==\"R\")].s}', value: {static: 'True'}}]"), LIVE("c: [{t: R, s: 'True'}, {t: S, s: x}]"), 0, DONE},
	/* list form has the defaults: 2 min of no progress, 5 min in all */
	{APPLY, FIELDS(THREE), LIVE("a: 1"), 301, CHECK_FAILED, "CheckFailed",
	 "not so after 5m0s: Generation: {.status.observedGeneration} is not there yet; .status.replicas is not there yet", 0},
	{APPLY, FIELDS(THREE), LIVE("status: {observedGeneration: 3, replicas: 1, updatedReplicas: 1}"), 301, DONE},
	/* object form */
	{APPLY, FIELDS(OBJECT("")), LIVE("status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2}"), 0, DONE},
	{APPLY, FIELDS(OBJECT(", pollInterval: 7s")), LIVE("status: {observedGeneration: 3}"), 0, WAITING, ".status.replicas is not there yet", 7},
	{APPLY, FIELDS(OBJECT(", pollInterval: 7s, progressTimeout: 3s")), LIVE("status: {observedGeneration: 3}"), 0, WAITING, ".status.replicas is not there yet", 3},
	{APPLY, FIELDS(OBJECT(", pollInterval: 7s, timeout: 6s")), LIVE("status: {observedGeneration: 3}"), 4, WAITING, ".status.replicas is not there yet", 2},
	{APPLY, FIELDS(OBJECT(", timeout: 6s")), LIVE("status: {observedGeneration: 3}"), 6, CHECK_FAILED, "CheckFailed", "not so after 6s: .status.replicas is not there yet", 0},
	/* a timeout beside the list */
	{APPLY, "success: [{fieldComparisons: " THREE ", timeout: 9s}]", LIVE("status: {observedGeneration: 3}"), 9, CHECK_FAILED, "CheckFailed", "not so after 9s: .status.replicas is not there yet", 0},
	/* values of a Secret are not told */
	{APPLY, FIELDS("[{path: .data.p, value: {static: aHVudGVyMg==}}]"), "{kind: Secret, data: {p: c2VjcmV0}}", 0,
	 WAITING, ".data.p is (not shown), wanted (not shown)", 2},
	{APPLY, WAIT("data.p = 'x'"), "{kind: Secret, data: {p: c2VjcmV0}}", 0, WAITING, "wait data.p = 'x'", 2},
	/* long values are cut, and one line */
	{APPLY, FIELDS("[{path: .a, value: {static: 1}}]"), LIVE("a: \"\\e[1m0123456789012345678901234567890123456789012345678901234567890123456789\""), 0,
	 WAITING, ".a is \"\\u001b[1m012345678901234567890123456789012345678901234567890123..., wanted 1", 2},

	/* wait */
	{APPLY, WAIT("condition=Ready"), LIVE("status: {conditions: [{type: Ready, status: 'True'}]}"), 0, DONE},
	{APPLY, WAIT("condition=Ready"), LIVE("status: {conditions: [{type: Ready, status: 'False'}]}"), 0,
	 WAITING, "wait condition=Ready (status.conditions[?type='Ready'].status='False')", 2},
	{APPLY, WAIT("\"status.phase = 'Done' || age() > 5m\""), LIVE("status: {phase: Busy}"), 0,
	 WAITING, "wait status.phase = 'Done' || age() > 5m (status.phase='Busy')", 2},
	{APPLY, WAIT("\"jsonpath={.status.phase}=Done\""), LIVE("status: {phase: Done}"), 0, DONE},
	{APPLY, WAIT("create"), NULL, 0, WAITING, "wait create", 2},
	{APPLY, WAIT("create"), LIVE(""), 0, DONE},
	{APPLY, WAIT("condition=Ready"), NULL, 300, CHECK_FAILED, "CheckFailed", "not so after 5m0s: wait condition=Ready", 0},
	{APPLY, "success: [{wait: condition=Ready, timeout: 30s}]", LIVE(""), 29, WAITING, "wait condition=Ready", 1},
	/* all at one look */
	{APPLY, "success: [{wait: create}, {wait: condition=Ready}]", LIVE(""), 0, WAITING, "wait condition=Ready", 2},

	/* readiness, where there is no check */
	{APPLY, "", READY_D, 0, DONE},
	{APPLY, "", NOT_READY_D, 0, WAITING, "0 of 1 replicas updated", 600},
	{APPLY, "timeout: 1m", NOT_READY_D, 59, WAITING, "0 of 1 replicas updated", 1},
	{APPLY, "timeout: 1m", NOT_READY_D, 60, CHECK_FAILED, "ProgressDeadline", "the step is not done after 1m0s: 0 of 1 replicas updated", 0},
	{APPLY, "timeout: 1m", READY_D, 60, DONE},
	{APPLY, "", NULL, 0, WAITING, "is not there", 600},
	{"CreateIfNotExist", "", READY_D, 0, DONE},
	{APPLY, "", "{kind: Deployment, metadata: {annotations: {app.coreos.com/wait: disabled}}}", 0, DONE},
	{APPLY, "", "{kind: Thing, status: {conditions: [{type: Stalled, status: 'True'}]}}", 0, CHECK_FAILED, "CheckFailed", "Stalled", 0},
	/* its own checks stand instead of readiness */
	{APPLY, WAIT("create"), NOT_READY_D, 0, DONE},

	/* delete: gone */
	{"DeleteIfExist", "", NULL, 0, DONE},
	{"DeleteIfExist", "", LIVE(""), 0, WAITING, "is being deleted", 600},
	{"DeleteIfExist", "", "{kind: Thing, metadata: {finalizers: [a/b]}}", 0, WAITING, "is being deleted: finalizer a/b", 600},
	{"DeleteIfExist", "timeout: 5s", LIVE(""), 5, CHECK_FAILED, "ProgressDeadline", "the step is not done after 5s: is being deleted", 0},

	/* that its Pods fail meanwhile is no matter */
	{"DeleteIfExist", "", "{kind: Pod, metadata: {name: p}, status: {containerStatuses: [{name: c, state: {waiting: {reason: InvalidImageName, message: m}}}]}}", 0,
	 WAITING, "is being deleted", 600},
	{APPLY, "", "{kind: Pod, metadata: {name: p, deletionTimestamp: '2026-01-02T12:00:00Z'}, status: {containerStatuses: [{name: c, state: {waiting: {reason: InvalidImageName, message: m}}}]}}", 0,
	 WAITING, "container c: InvalidImageName", 600},

	/* a Job: to its end, also where other things are asked of it */
	{"Job", "", "{kind: Job}", 0, WAITING, "the Job is not complete", 600},
	{"Job", "", "{kind: Job, status: {conditions: [{type: Complete, status: 'True'}]}}", 0, DONE},
	{"Job", WAIT("create"), "{kind: Job}", 0, WAITING, "the Job is not complete", 600},
	{"Job", "", "{kind: Job, status: {conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded, message: m}]}}", 0,
	 CHECK_FAILED, "BackoffLimitExceeded", "BackoffLimitExceeded: m", 0},
	{"Job", "failure: []", "{kind: Job, status: {conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded, message: m}]}}", 0,
	 CHECK_FAILED, "CheckFailed", "the Job failed", 0},
	/* a grace that runs is told, and looked at when it is over */
	{APPLY, "", "{kind: Pod, metadata: {name: p}, status: {conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: no node}]}}", 0,
	 WAITING, "Unschedulable: no node (pod p)", 30},
	{APPLY, "failure: [{checkName: Unschedulable, grace: 5s}]", "{kind: Pod, metadata: {name: p}, status: {conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: no node}]}}", 0,
	 WAITING, "Unschedulable: no node (pod p)", 5},
	/* its words say more than a time that is over */
	{APPLY, "timeout: 1m", "{kind: Pod, metadata: {name: p}, status: {containerStatuses: [{name: c, state: {waiting: {reason: InvalidImageName, message: m}}}]}}", 60,
	 CHECK_FAILED, "InvalidImageName", "InvalidImageName: m (pod p, container c)", 0},
};
/* clang-format on */

static struct check_result look(struct arena *a, const struct rollout_step *s,
				const struct obj *live, int64_t now, const struct obj **record)
{
	struct check_result got;
	struct check_input in = {.live = live, .since_ns = SINCE, .now_ns = now, .record = *record};
	check_step(s, &in, a, &got, record);
	return got;
}

static void test_check__the_table(void **state)
{
	(void)state;
	size_t n_wrong = 0;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
		const struct row *r = &rows[i];
		const struct obj *record = NULL;
		int64_t now = SINCE + r->after_s * NS_PER_S;
		struct check_result got =
			look(a, step_of(a, r->action, r->more), read(a, r->live), now, &record);
		int64_t again = got.again_ns ? (got.again_ns - now) / NS_PER_S : 0;
		if (got.state == r->state && cstr_eq(got.reason, r->reason) &&
		    cstr_eq(got.message, r->message) && again == r->again_s)
			continue;
		print_error("row %zu (%s %s): state %d, %s, %s, again in %d s\n", i, r->action,
			    r->more, (int)got.state, got.reason, got.message, (int)again);
		n_wrong++;
	}
	assert_int_equal(n_wrong, 0);
}

static const char progress[] =
	FIELDS("{expectedValues: [" REPLICAS "], progressTimeout: 10s, timeout: 1m}");

/* Whatever value moves, the progress timeout begins again; the other does not. */
static void test_check__progress_begins_again_with_each_value(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	const struct rollout_step *s = step_of(a, APPLY, progress);
	const struct obj *record = NULL;
	struct check_result got = {0};
	for (int t = 0; t < 60; t += 9) {
		const char *live =
			arena_fmt(a, LIVE("status: {replicas: 9, updatedReplicas: %d}"), t / 9);
		got = look(a, s, read(a, live), SINCE + t * NS_PER_S, &record);
		assert_int_equal(got.state, CHECK_WAITING);
	}
	const struct obj *last = read(a, LIVE("status: {replicas: 9, updatedReplicas: 6}"));
	got = look(a, s, last, SINCE + 60 * NS_PER_S, &record);
	assert_int_equal(got.state, CHECK_FAILED);
	assert_string_equal(got.reason, "CheckFailed");
}

static void test_check__no_progress_fails(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	const struct rollout_step *s = step_of(a, APPLY, progress);
	const struct obj *live = read(a, LIVE("status: {replicas: 9, updatedReplicas: 1}"));
	const struct obj *record = NULL;
	struct check_result got = look(a, s, live, SINCE + 5 * NS_PER_S, &record);
	assert_int_equal(got.state, CHECK_WAITING);
	got = look(a, s, live, SINCE + 14 * NS_PER_S, &record);
	assert_int_equal(got.state, CHECK_WAITING);
	assert_true(got.again_ns == SINCE + 15 * NS_PER_S);
	got = look(a, s, live, SINCE + 15 * NS_PER_S, &record);
	assert_int_equal(got.state, CHECK_FAILED);
	assert_string_equal(got.reason, "ProgressDeadline");
	assert_string_equal(got.message, "no value moved for 10s: .status.replicas is 9, wanted 1 "
					 "of .status.updatedReplicas");
}

/* A record that went through storage, or that somebody broke, is read as well. */
static void test_check__a_record_is_json(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	const struct rollout_step *s = step_of(a, APPLY, progress);
	const struct obj *live = read(a, LIVE("status: {replicas: 9}")), *record = NULL;
	struct error err = ERROR_INIT;
	struct obj *back = NULL;
	(void)look(a, s, live, SINCE, &record);
	char *text = json_text(record);
	assert_ok(json_parse(str_of(text), &back, &err), &err);
	xfree(text);
	record = obj_keep(a, back);
	assert_int_equal(look(a, s, live, SINCE + 10 * NS_PER_S, &record).state, CHECK_FAILED);
	record = read(a, "{fields: x, seen: [1]}");
	assert_int_equal(look(a, s, live, SINCE + 10 * NS_PER_S, &record).state, CHECK_WAITING);
}

static void test_check__a_step_of_several_objects(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	static const struct check_result done = {CHECK_DONE, NULL, NULL, 0, false};
	static const struct check_result waits = {CHECK_WAITING, NULL, "w", 9, false};
	static const struct check_result sooner = {CHECK_WAITING, NULL, "s", 5, false};
	static const struct check_result failed = {CHECK_FAILED, "Evicted", "f", 0, false};
	static const struct check_result other = {CHECK_FAILED, "OOMKilled", "g", 0, false};
	struct check_result all = {0};
	check_join(&all, "a", &done, a);
	assert_int_equal(all.state, CHECK_DONE);
	check_join(&all, "b", &waits, a);
	check_join(&all, "c", &done, a);
	check_join(&all, "d", &sooner, a);
	assert_int_equal(all.state, CHECK_WAITING);
	assert_string_equal(all.message, "b: w; d: s");
	assert_true(all.again_ns == 5);
	check_join(&all, "e", &failed, a);
	check_join(&all, "f", &waits, a);
	check_join(&all, "g", &other, a);
	assert_int_equal(all.state, CHECK_FAILED);
	assert_string_equal(all.reason, "Evicted");
	assert_string_equal(all.message, "e: f; g: g");
	assert_true(all.again_ns == 0);
}

#define METRIC \
	"{prometheus: {address: 'https://p', query: up, successCondition: result < 1, count: 1}}"

/* clang-format off */
/* Prometheus is asked once all else holds; readiness, where there is nothing else. */
static const struct {
	const char *more, *live, *metrics;
	int after_s, held_s;
	enum check_state state;
	bool measures;
	const char *reason;
} measured[] = {
	{"success: [" METRIC "]", NOT_READY_D, NULL, 0, 0, CHECK_WAITING, false, NULL},
	{"success: [" METRIC "]", READY_D, NULL, 0, 0, CHECK_WAITING, true, NULL},
	{"success: [" METRIC ", {wait: create}]", NOT_READY_D, NULL, 0, 0, CHECK_WAITING, true, NULL},
	{"success: [" METRIC ", {wait: delete}]", READY_D, NULL, 0, 0, CHECK_WAITING, false, NULL},
	{"success: [" METRIC "]", READY_D, "{'0': {taken: 1, last: success}}", 0, 0, CHECK_DONE, false, NULL},
	/* what was measured counts whatever becomes of the rest */
	{"success: [" METRIC "]", NOT_READY_D, "{'0': {taken: 1, failed: 1}}", 0, 0, CHECK_FAILED, false, "AnalysisFailed"},
	{"success: [" METRIC "]", NOT_READY_D, "{'0': {taken: 1, last: success}}", 0, 0, CHECK_WAITING, false, NULL},
	/* time without data is not the step's */
	{"timeout: 1m, success: [" METRIC "]", READY_D, "{'0': {errors: 1}}", 60, 0, CHECK_FAILED, false, "ProgressDeadline"},
	{"timeout: 1m, success: [" METRIC "]", READY_D, "{'0': {errors: 1}}", 60, 1, CHECK_WAITING, true, NULL},
	{"timeout: 1m, success: [" METRIC "]", READY_D, "{'0': {errors: 1}}", 61, 1, CHECK_FAILED, false, "ProgressDeadline"},
	/* its own time is the step's unless it says another one */
	{"timeout: 20m, success: [" METRIC "]", READY_D, NULL, 600, 0, CHECK_WAITING, true, NULL},
	{"success: [{timeout: 1m, prometheus: {address: 'https://p', query: up, successCondition: result < 1}}]", READY_D, NULL, 60, 0, CHECK_FAILED, false, "CheckFailed"},
};
/* clang-format on */

static void test_check__what_is_measured(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(measured); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
		struct check_result got;
		const struct obj *record;
		struct check_input in = {.live = read(a, measured[i].live),
					 .since_ns = SINCE,
					 .now_ns = SINCE + measured[i].after_s * NS_PER_S,
					 .metrics = read(a, measured[i].metrics),
					 .held_ns = measured[i].held_s * NS_PER_S};
		const struct rollout_step *step = step_of(a, APPLY, measured[i].more);
		check_step(step, &in, a, &got, &record);
		if (got.state != measured[i].state || got.measures != measured[i].measures ||
		    !cstr_eq(got.reason, measured[i].reason))
			fail_msg("row %zu: state %d, measures %d, %s: %s", i, (int)got.state,
				 got.measures, got.reason, got.message);
	}
}

/* Not where the unit before is applied again: what is there is read, whatever the figures say. */
static void test_check__on_the_way_back_nothing_is_measured(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	struct check_result got;
	const struct obj *record;
	struct check_input in = {
		.live = read(a, READY_D), .now_ns = SINCE, .since_ns = SINCE, .unmeasured = true};
	check_step(step_of(a, APPLY, "success: [" METRIC "]"), &in, a, &got, &record);
	assert_int_equal(got.state, CHECK_DONE);
	in.live = read(a, NOT_READY_D);
	check_step(step_of(a, APPLY, "success: [" METRIC "]"), &in, a, &got, &record);
	assert_int_equal(got.state, CHECK_WAITING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check__the_table),
		cmocka_unit_test(test_check__progress_begins_again_with_each_value),
		cmocka_unit_test(test_check__no_progress_fails),
		cmocka_unit_test(test_check__a_record_is_json),
		cmocka_unit_test(test_check__a_step_of_several_objects),
		cmocka_unit_test(test_check__what_is_measured),
		cmocka_unit_test(test_check__on_the_way_back_nothing_is_measured),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
