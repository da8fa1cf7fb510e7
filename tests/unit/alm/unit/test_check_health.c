#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/yaml.h"
#include "alm/unit/check.h"

#define ARENA_MAX ((size_t)1 << 20)

static struct obj *read(struct arena *a, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	if (yaml_parse_one(str_of(text), &o, &err) < 0)
		fail_msg("%s: %s", text, err.msg);
	return obj_keep(a, o);
}

static const char rules[] = "- {kind: Cluster, apiVersion: db/v1, failed: status.phase = 'Failed',"
			    " inProgress: status.phase = 'Setup', current: status.phase != ''}\n"
			    "- {kind: Cluster, current: status.ready = true}\n";

/* clang-format off */
static const struct { const char *live; enum health_state state; const char *why; } rows[] = {
	{"{kind: Other}", HEALTH_UNKNOWN, NULL},
	{"{apiVersion: db/v1, kind: Cluster, status: {phase: Failed}}", HEALTH_FAILED,
	 "health: status.phase = 'Failed' holds (status.phase='Failed')"},
	{"{apiVersion: db/v1, kind: Cluster, status: {phase: Setup}}", HEALTH_IN_PROGRESS,
	 "health: status.phase = 'Setup' holds (status.phase='Setup')"},
	{"{apiVersion: db/v1, kind: Cluster, status: {phase: Healthy}}", HEALTH_CURRENT, NULL},
	{"{apiVersion: db/v1, kind: Cluster}", HEALTH_IN_PROGRESS,
	 "health: status.phase != '' does not hold"},
	{"{apiVersion: db/v2, kind: Cluster, status: {ready: true}}", HEALTH_CURRENT, NULL},
	{"{apiVersion: db/v2, kind: Cluster, status: {ready: false}}", HEALTH_IN_PROGRESS,
	 "health: status.ready = true does not hold (status.ready=false)"},
	/* what a former generation failed with */
	{"{apiVersion: db/v1, kind: Cluster, metadata: {generation: 2}, status: {observedGeneration: "
	 "1, phase: Failed}}", HEALTH_IN_PROGRESS, "the new generation is not observed yet"},
};

static const struct { const char *text, *want; } bad[] = {
	{"{}", "health: found object, wanted array"},
	{"[x]", "health[0]: found string, wanted object"},
	{"[{current: a}]", "health[0].kind: is missing"},
	{"[{kind: A}]", "health[0].current: is missing; want a JSONQL expression like status.phase = "
	 "'Ready'"},
	{"[{kind: A, current: 'a ='}]", "health[0].current: column 4: an operand is missing"},
	{"[{kind: A, current: a, failed: '('}]",
	 "health[0].failed: column 2: an operand is missing"},
	{"[{kind: A, ready: a}]", "health[0].ready: there is no such field; known are kind, "
	 "apiVersion, failed, inProgress, current"},
};
/* clang-format on */

static void test_check_health__in_that_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
		struct error err = ERROR_INIT;
		struct health *h = NULL;
		const char *why;
		assert_ok(health_parse(read(a, rules), "health", a, &h, &err), &err);
		enum health_state got = health_look(h, read(a, rows[i].live), 0, a, &why);
		if (got != rows[i].state || !cstr_eq(why, rows[i].why))
			fail_msg("%s: %d, %s", rows[i].live, (int)got, why);
	}
}

static void test_check_health__bad_rules_are_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
		struct error err = ERROR_INIT;
		struct health *h = NULL;
		assert_true(health_parse(read(a, bad[i].text), "health", a, &h, &err) < 0);
		assert_string_equal(err.msg, bad[i].want);
	}
}

static void test_check_health__stands_instead_of_readiness(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	struct error err = ERROR_INIT;
	struct rollout_step step = {.action = ACTION_CREATE_OR_UPDATE, .timeout_ns = NS_PER_MIN};
	struct health *h = NULL;
	const struct obj *record;
	struct check_result got;
	assert_ok(health_parse(read(a, rules), "health", a, &h, &err), &err);
	struct check_input in = {.health = h, .now_ns = 1};
	in.live = read(a, "{apiVersion: db/v1, kind: Cluster, status: {phase: Setup}}");
	check_step(&step, &in, a, &got, &record);
	assert_int_equal(got.state, CHECK_WAITING);
	in.live = read(a, "{apiVersion: db/v1, kind: Cluster, status: {phase: Failed}}");
	check_step(&step, &in, a, &got, &record);
	assert_int_equal(got.state, CHECK_FAILED);
	in.live = read(a, "{apiVersion: db/v1, kind: Cluster, status: {phase: A, conditions: "
			  "[{type: Ready, status: 'False'}]}}");
	check_step(&step, &in, a, &got, &record);
	assert_int_equal(got.state, CHECK_DONE);
}

static void test_check_health__has_a_limit(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	struct obj *list = obj_keep(a, obj_list());
	struct error err = ERROR_INIT;
	struct health *h = NULL;
	for (int i = 0; i <= HEALTH_RULES_MAX; i++)
		obj_append(list, obj_ref(read(a, "{kind: A, current: a}")));
	assert_int_equal(health_parse(list, "health", a, &h, &err), -E_LIMIT);
	assert_string_equal(err.msg, "health: has 65 entries, at most 64 are taken");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check_health__in_that_order),
		cmocka_unit_test(test_check_health__bad_rules_are_told),
		cmocka_unit_test(test_check_health__stands_instead_of_readiness),
		cmocka_unit_test(test_check_health__has_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
