#include "tests/lib/test.h"

#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "alm/unit/feedback.h"

static struct unit_step steps[2] = {{.name = "one.yaml"}, {.name = "two.yaml"}};
static struct unit_group groups[2] = {{.name = "first", .steps = steps, .n = 2},
				      {.name = "second", .steps = steps, .n = 1}};
static const struct unit unit = {.parts[UNIT_ROLLOUT] = {.groups = groups, .n = 2}};

static const struct obj *read(struct arena *a, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	if (!text)
		return NULL;
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

/* clang-format off */
static const struct { const char *record, *want; } rows[] = {
	{NULL, "[{\"name\":\"first\",\"state\":\"NotStarted\"},{\"name\":\"second\",\"state\":\"NotStarted\"}]"},
	{"{steps: {'1.1.1 first/one.yaml': {state: InProgress}}}",
	 "[{\"name\":\"first\",\"state\":\"InProgress\"},{\"name\":\"second\",\"state\":\"NotStarted\"}]"},
	/* one of its two steps is through */
	{"{steps: {'1.1.1 first/one.yaml': {state: Finished}}}",
	 "[{\"name\":\"first\",\"state\":\"InProgress\"},{\"name\":\"second\",\"state\":\"NotStarted\"}]"},
	{"{steps: {'1.1.1 first/one.yaml': {state: Finished}, '1.1.2 first/two.yaml': {state: Finished}, "
	 "'1.2.1 second/one.yaml': {state: InProgress}}}",
	 "[{\"name\":\"first\",\"state\":\"Finished\"},{\"name\":\"second\",\"state\":\"InProgress\"}]"},
	/* the message names the steps that failed, all of them */
	{"{steps: {'1.1.1 first/one.yaml': {state: Failed, message: m}, '1.1.2 first/two.yaml': {state: Failed}}}",
	 "[{\"name\":\"first\",\"state\":\"Failed\",\"message\":\"step first/one.yaml: m; step first/two.yaml: \"},"
	 "{\"name\":\"second\",\"state\":\"NotStarted\"}]"},
	/* of another group whose number begins alike, and of another part */
	{"{steps: {'1.12.1 x/y': {state: Failed}, '0.1.1 x/y': {state: Failed}}}",
	 "[{\"name\":\"first\",\"state\":\"NotStarted\"},{\"name\":\"second\",\"state\":\"NotStarted\"}]"},
};
/* clang-format on */

static void test_feedback__groups(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
		struct obj *got = obj_keep(a, feedback_groups(&unit, read(a, rows[i].record)));
		CLEANUP(xfreep) char *text = json_text(got);
		assert_string_equal(text, rows[i].want);
	}
}

static void test_feedback__nothing_begun_says_nothing(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	assert_null(feedback_status(&unit, read(a, "{state: Running, steps: {}}")));
	struct obj *failed = obj_keep(
		a, feedback_status(&unit,
				   read(a, "{state: Failed, reason: R, message: m, attempt: 3}")));
	assert_string_equal(obj_str(failed, "phase"), "Failed");
	assert_string_equal(obj_str(failed, "reason"), "R");
	assert_null(obj_get(failed, "attempt"));
	assert_int_equal(obj_len(obj_get(failed, "groups")), 2);
}

static void test_feedback__changes_name_steps(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	const struct obj *before =
		read(a, "{steps: {'1.1.1 a/b': {state: InProgress, message: x}}}");
	const struct obj *same = read(a, "{steps: {'1.1.1 a/b': {state: InProgress, message: y}}}");
	const struct obj *after = read(
		a, "{steps: {'1.1.1 a/b': {state: Finished}, '1.2.1 c/d': {state: InProgress}}}");
	assert_string_equal(feedback_changes(before, after, a), "a/b: Finished; c/d: InProgress");
	assert_string_equal(feedback_changes(before, same, a), "");
	assert_string_equal(feedback_changes(NULL, before, a), "a/b: InProgress");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_feedback__groups),
		cmocka_unit_test(test_feedback__nothing_begun_says_nothing),
		cmocka_unit_test(test_feedback__changes_name_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
