#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "alm/unit/canary.h"
#include "crds/marks.h"

#define ARENA_MAX ((size_t)16 << 20)
#define NOW       (1000 * NS_PER_S)

static struct obj *read(struct arena *a, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	if (!text)
		return NULL;
	if (yaml_parse_one(str_of(text), &o, &err) < 0)
		fail_msg("%s: %s", text, err.msg);
	return obj_keep(a, o);
}

static const struct canary *parse(struct arena *a, const char *text)
{
	struct error err = ERROR_INIT;
	struct canary *c = NULL;
	assert_ok(canary_parse(read(a, text), "c", a, &c, &err), &err);
	return c;
}

static const struct {
	const char *text, *message;
} refused[] = {
	{"[]", "c: found array, wanted object"},
	{"{}", "c.steps: has no step; want {weight: 25}"},
	{"{steps: [{pause: 1m}]}", "c.steps[0].weight: want percent"},
	{"{steps: [{weight: 0}]}", "c.steps[0].weight: want percent"},
	{"{steps: [{weight: 101}]}", "c.steps[0].weight: want percent"},
	{"{steps: [{weight: '25'}]}", "c.steps[0].weight: want percent"},
	{"{steps: [{weight: 100}]}", "c.steps: begins at 100"},
	{"{steps: [{weight: 50}, {weight: 50}]}", "c.steps[1].weight: want more than 50"},
	{"{steps: [{weight: 50}, {weight: 100, pause: 1m}]}", "c.steps[1]: at 100 there is no"},
	{"{steps: [{weight: 50, approval: Yes}]}", "c.steps[0].approval"},
	{"{steps: [{weight: 50, analysis: {}}]}", "c.steps[0].analysis: there is no such field"},
	{"{steps: [{weight: 50}], maxReplicas: 0}", "c.maxReplicas: want a whole number"},
};

static void test_canary__what_is_wrong_names_its_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
		struct error err = ERROR_INIT;
		struct canary *c;
		if (canary_parse(read(a, refused[i].text), "c", a, &c, &err) == 0)
			fail_msg("%s is taken", refused[i].text);
		if (!cstr_has_prefix(err.msg, refused[i].message))
			fail_msg("%s: %s", refused[i].text, err.msg);
	}
}

/* The c >= 1 nearest to r*w/(100-w), of two the smaller one. */
static void test_canary__so_many_pods(void **state)
{
	(void)state;
	static const int64_t rows[][4] = {
		/* r, w, max, c */
		{1, 25, 99, 1}, {3, 25, 99, 1}, {4, 25, 99, 1}, {5, 25, 99, 2},    {9, 25, 99, 3},
		{3, 50, 99, 3}, {3, 75, 99, 9}, {10, 1, 99, 1}, {1, 99, 99, 99},   {2, 99, 99, 99},
		{10, 50, 4, 4}, {1, 60, 99, 1}, {3, 60, 99, 4}, {100, 10, 99, 11},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (canary_replicas(rows[i][0], rows[i][1], rows[i][2]) != rows[i][3])
			fail_msg("row %zu: %lld", i,
				 (long long)canary_replicas(rows[i][0], rows[i][1], rows[i][2]));
}

#define DEPLOYMENT(image)                                                                   \
	"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, uid: u}, spec: {"    \
	"replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {" \
	"app: web}}, spec: {containers: [{name: c, image: " image                           \
	", resources: {limits: {cpu: 0.5}}}]}}}, status: {availableReplicas: 3}}"

static void test_canary__the_object(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	const struct obj *d = read(a, DEPLOYMENT("web:2"));
	const struct obj *c = obj_keep(a, canary_object(d, "prod", 2));
	assert_string_equal(meta_name(c), "web-canary");
	assert_string_equal(meta_namespace(c), "prod");
	assert_int_equal(obj_i64(c, "spec.replicas", 0), 2);
	const struct obj *labels = obj_path(c, "spec.selector.matchLabels");
	assert_string_equal(obj_str(labels, "app"), "web");
	assert_string_equal(obj_as_string(obj_get(labels, LABEL_CANARY)), "true");
	assert_string_equal(meta_label(obj_path(c, "spec.template"), LABEL_CANARY), "true");
	assert_string_equal(meta_label(obj_path(c, "spec.template"), "app"), "web");
	assert_null(meta_label(d, LABEL_CANARY));
	/* it goes, whatever is said of what it tries */
	struct obj *kept = obj_keep(a, obj_copy(d));
	meta_set_annotation(kept, "helm.sh/resource-policy", "keep");
	meta_set_annotation(kept, ANNOTATION_PRUNE, "disabled");
	meta_set_annotation(kept, "x.io/other", "stays");
	c = obj_keep(a, canary_object(kept, "prod", 2));
	assert_null(meta_annotation(c, "helm.sh/resource-policy"));
	assert_null(meta_annotation(c, ANNOTATION_PRUNE));
	assert_string_equal(meta_annotation(c, "x.io/other"), "stays");
	/* and who has none */
	assert_null(canary_refuses(d, a));
	static const char *const others[] = {
		"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}}",
		"{apiVersion: example.com/v1, kind: Deployment, metadata: {name: a}}",
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {}}",
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: "
		"a234567890123456789012345678901234567890123456789012345678}, spec: {selector: "
		"{matchLabels: {a: b}}}}",
	};
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		assert_non_null(canary_refuses(read(a, others[i]), a));
	}
}

static void test_canary__the_same_pods_need_none(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	const struct obj *d = read(a, DEPLOYMENT("web:2"));
	assert_false(canary_is_needed(NULL, d, "m"));
	assert_true(canary_is_needed(read(a, DEPLOYMENT("web:1")), d, "m"));
	struct obj *same = read(a, DEPLOYMENT("web:2"));
	obj_set_int(obj_get_mut(same, "spec"), "replicas", 9);
	assert_false(canary_is_needed(same, d, "m"));
}

#define APPLIED(more)                                                                              \
	"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, managedFields: [{manager: " \
	"m, operation: Apply, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {'f:spec': "    \
	"{'f:template': {'f:spec': {'f:containers': {'k:{\"name\":\"c\"}': {'.': {}, 'f:name': "   \
	"{}, "                                                                                     \
	"'f:image': {}, 'f:resources': {}, 'f:args': {}}}}}}}}]}, spec: {template: {spec: {"       \
	"containers: [{name: c, image: i, terminationMessagePath: x" more "}]}}}}"
#define WANTED(more)                                                                       \
	"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: " \
	"{spec: {containers: [{name: c, image: i" more "}]}}}}"

/* What goes is a change, too; but not what others have set, or a value that is kept in another form. */
static void test_canary__what_is_left_out_needs_one(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	const struct obj *args = read(a, APPLIED(", args: [x]"));
	assert_true(canary_is_needed(args, read(a, WANTED("")), "m"));
	assert_false(canary_is_needed(args, read(a, WANTED(", args: [x]")), "m"));
	assert_false(canary_is_needed(args, read(a, WANTED("")), "other"));
	const struct obj *cpu = read(a, APPLIED(", resources: {limits: {cpu: 500m}}"));
	assert_false(
		canary_is_needed(cpu, read(a, WANTED(", resources: {limits: {cpu: 0.5}}")), "m"));
	assert_true(canary_is_needed(cpu, read(a, WANTED(", resources: {limits: {cpu: 1}}")), "m"));
	assert_true(canary_is_needed(cpu, read(a, WANTED("")), "m"));
}

/* --- what is next --- */

#define LIVE_C(s) "{metadata: {name: web-canary, namespace: ns, uid: c, annotations: {" s "}}}"
#define APPROVED  "app.coreos.com/canary-approve: '25: looks good'"
#define OTHER     "app.coreos.com/canary-approve: '50: looks good'"
#define NO_REASON "app.coreos.com/canary-approve: '25'"
#define NOTHING   "app.coreos.com/canary-approve: '25: '"
#define SKIPPED   "app.coreos.com/canary-skip: now"
#define ABORTED   "app.coreos.com/canary-abort: I do not like it"

enum { NOT_ASKED = -1 };

/* Of {weight: 25, pause: 60s, approval: Manual}, {weight: 50}, {weight: 100}. */
static const struct {
	const char *record, *canary;
	bool placed;
	int ready, measured; /* enum check_state */
	enum canary_does does;
	int64_t replicas;
	const char *message, *record_after;
} turns[] = {
	{"{at: 0}", NULL, false, NOT_ASKED, NOT_ASKED, CANARY_PLACES, 1, NULL, NULL},
	{"{at: 0}", LIVE_C(""), true, CHECK_WAITING, NOT_ASKED, CANARY_WAITS, 1,
	 "canary step 1 of 3, weight 25 (1 of 4 Pods): w", NULL},
	{"{at: 0}", LIVE_C(""), true, CHECK_DONE, NOT_ASKED, CANARY_WAITS, 1,
	 "canary step 1 of 3, weight 25 (1 of 4 Pods): pause 1m0s", "readyNs"},
	{"{at: 0, readyNs: 940000000000}", LIVE_C(""), true, CHECK_DONE, NOT_ASKED, CANARY_MEASURES,
	 1, NULL, NULL},
	{"{at: 0, readyNs: 940000000001}", LIVE_C(""), true, CHECK_DONE, NOT_ASKED, CANARY_WAITS, 1,
	 "canary step 1 of 3, weight 25 (1 of 4 Pods): pause 1m0s", NULL},
	/* a Pod that fails in the pause begins it anew */
	{"{at: 0, readyNs: 1}", LIVE_C(""), true, CHECK_WAITING, NOT_ASKED, CANARY_WAITS, 1,
	 "canary step 1 of 3, weight 25 (1 of 4 Pods): w", "!readyNs"},
	{"{at: 0, readyNs: 1}", LIVE_C(""), true, CHECK_DONE, CHECK_WAITING, CANARY_WAITS, 1,
	 "canary step 1 of 3, weight 25 (1 of 4 Pods): w", NULL},
	{"{at: 0, readyNs: 1}", LIVE_C(""), true, CHECK_DONE, CHECK_DONE, CANARY_WAITS, 1,
	 "canary step 1 of 3, weight 25 (1 of 4 Pods): waits for approval: kubectl annotate "
	 "deployment -n ns web-canary app.coreos.com/canary-approve='25: REASON' --overwrite",
	 "askedNs"},
	{"{at: 0, readyNs: 1}", LIVE_C(OTHER), true, CHECK_DONE, CHECK_DONE, CANARY_WAITS, 1, NULL,
	 "askedNs"},
	{"{at: 0, readyNs: 1}", LIVE_C(NO_REASON), true, CHECK_DONE, CHECK_DONE, CANARY_WAITS, 1,
	 NULL, "askedNs"},
	{"{at: 0, readyNs: 1}", LIVE_C(NOTHING), true, CHECK_DONE, CHECK_DONE, CANARY_WAITS, 1,
	 NULL, "askedNs"},
	{"{at: 0, readyNs: 1}", LIVE_C(APPROVED), true, CHECK_DONE, CHECK_DONE, CANARY_PLACES, 3,
	 NULL, "!readyNs"},
	/* what a step remembers is not the next one's */
	{"{at: 0, readyNs: 1, checks: {seen: {}}}", LIVE_C(APPROVED), true, CHECK_DONE, CHECK_DONE,
	 CANARY_PLACES, 3, NULL, "!checks"},
	{"{at: 0, readyNs: 1, metrics: {x: {}}}", LIVE_C(APPROVED), true, CHECK_DONE, CHECK_DONE,
	 CANARY_PLACES, 3, NULL, "!metrics"},
	{"{at: 1, readyNs: 1}", LIVE_C(""), true, CHECK_DONE, CHECK_DONE, CANARY_PROMOTES, 3, NULL,
	 "end"},
	{"{at: 1, end: promote}", NULL, false, NOT_ASKED, NOT_ASKED, CANARY_PROMOTES, 0, NULL,
	 NULL},
	/* by hand */
	{"{at: 0}", LIVE_C(SKIPPED), true, CHECK_DONE, NOT_ASKED, CANARY_PLACES, 3, NULL, NULL},
	{"{at: 0}", LIVE_C(SKIPPED), true, CHECK_WAITING, NOT_ASKED, CANARY_WAITS, 1, NULL, NULL},
	{"{at: 0}", LIVE_C(SKIPPED), true, CHECK_FAILED, NOT_ASKED, CANARY_ABORTS, 1, NULL, NULL},
	{"{at: 1}", LIVE_C(SKIPPED), true, CHECK_DONE, NOT_ASKED, CANARY_PROMOTES, 3, NULL, NULL},
	{"{at: 0}", LIVE_C(ABORTED), true, CHECK_DONE, NOT_ASKED, CANARY_ABORTS, 1, NULL, "reason"},
	/* what fails */
	{"{at: 0}", LIVE_C(""), true, CHECK_FAILED, NOT_ASKED, CANARY_ABORTS, 1, NULL, "reason"},
	{"{at: 0, readyNs: 1}", LIVE_C(""), true, CHECK_DONE, CHECK_FAILED, CANARY_ABORTS, 1, NULL,
	 "reason"},
	{"{at: 0, end: abort}", NULL, false, NOT_ASKED, NOT_ASKED, CANARY_ABORTS, 0, NULL, NULL},
	{"{at: 0, uid: former}", LIVE_C(""), true, CHECK_DONE, NOT_ASKED, CANARY_ABORTS, 1, NULL,
	 "reason"},
	/* a record that somebody broke */
	{"{at: -1}", LIVE_C(""), true, CHECK_DONE, NOT_ASKED, CANARY_PROMOTES, 0, NULL, NULL},
	{"{at: 7}", LIVE_C(""), true, CHECK_DONE, NOT_ASKED, CANARY_PROMOTES, 0, NULL, NULL},
};

static struct check_result result_of(int state)
{
	struct check_result r = {.state = (enum check_state)state};
	r.message = state == CHECK_DONE ? NULL : "w";
	r.reason = state == CHECK_FAILED ? "OOMKilled" : NULL;
	return r;
}

static bool has_member(const struct obj *record, const char *name)
{
	return !name || (name[0] == '!' ? !obj_has(record, name + 1) : obj_has(record, name));
}

static void test_canary__what_is_next(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(turns); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
		const struct canary *c = parse(a, "{steps: [{weight: 25, pause: 60s, approval: "
						  "Manual}, {weight: 50}, {weight: 100}]}");
		struct obj *record = read(a, turns[i].record);
		struct canary_turn turn;
		struct check_result ready = result_of(turns[i].ready),
				    measured = result_of(turns[i].measured);
		struct canary_facts f = {.primary = read(a, DEPLOYMENT("web:1")),
					 .canary = read(a, turns[i].canary),
					 .placed = turns[i].placed,
					 .now_ns = NOW};
		obj_set_int(record, "available", 3);
		if (!obj_has(record, "uid"))
			obj_set_str(record, "uid", "u");
		f.ready = turns[i].ready == NOT_ASKED ? NULL : &ready;
		f.measured = turns[i].measured == NOT_ASKED ? NULL : &measured;
		canary_next(c, &f, record, a, &turn);
		const char *want = turns[i].message;
		if (turn.does != turns[i].does || turn.replicas != turns[i].replicas ||
		    (want && !cstr_eq(turn.message, want)) ||
		    !has_member(record, turns[i].record_after))
			fail_msg("row %zu: %d, %lld, %s", i, (int)turn.does,
				 (long long)turn.replicas, turn.message);
	}
}

/* A person's time is not the step's. */
static void test_canary__approval_takes_no_time(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	const struct obj *record = read(a, "{heldNs: 5, askedNs: 10}");
	assert_true(canary_held_ns(record, 30) == 25);
	assert_true(canary_held_ns(NULL, 30) == 0);
}

/* Skipped while a person was waited for, or while there were no data: the next step has what was held. */
static void test_canary__what_was_held_is_carried_on(void **state)
{
	(void)state;
	static const char *const records[] = {
		"{at: 0, available: 3, uid: u, heldNs: 5, readyNs: 1, askedNs: 940000000000}",
		"{at: 0, available: 3, uid: u, heldNs: 5, readyNs: 1, metrics: {x: {heldSinceNs: "
		"940000000000, nextNs: 999000000000}}}",
		"{at: 0, available: 3, uid: u, heldNs: 5, readyNs: 1, askedNs: 940000000000}",
	};
	for (size_t i = 0; i < ARRAY_LEN(records); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
		const struct canary *c =
			parse(a, "{steps: [{weight: 25, approval: Manual}, {weight: 50}]}");
		struct obj *record = read(a, records[i]);
		struct check_result ready = result_of(CHECK_DONE);
		const struct canary_facts f = {
			.primary = read(a, DEPLOYMENT("web:1")),
			.canary = read(a, i < 2 ? LIVE_C(SKIPPED) : LIVE_C(APPROVED)),
			.placed = true,
			.ready = &ready,
			.measured = i < 2 ? NULL : &ready,
			.now_ns = NOW};
		struct canary_turn turn;
		canary_next(c, &f, record, a, &turn);
		assert_int_equal(obj_i64(record, "at", 0), 1);
		assert_int_equal(obj_i64(record, "sinceNs", 0), NOW);
		assert_int_equal(canary_held_ns(record, NOW), 5 + NOW - INT64_C(940000000000));
		assert_int_equal(obj_i64(record, "heldBeforeNs", 0), canary_held_ns(record, NOW));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_canary__what_is_wrong_names_its_field),
		cmocka_unit_test(test_canary__so_many_pods),
		cmocka_unit_test(test_canary__the_object),
		cmocka_unit_test(test_canary__the_same_pods_need_none),
		cmocka_unit_test(test_canary__what_is_left_out_needs_one),
		cmocka_unit_test(test_canary__what_is_next),
		cmocka_unit_test(test_canary__approval_takes_no_time),
		cmocka_unit_test(test_canary__what_was_held_is_carried_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
