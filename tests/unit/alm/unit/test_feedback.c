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
	/* of a process before this one */
	{"{state: Succeeded}", "[{\"name\":\"first\",\"state\":\"Finished\"},{\"name\":\"second\",\"state\":\"Finished\"}]"},
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

/* --- instances --- */

static size_t row_numbers[] = {0, 1, 2, 3};
static struct unit_step step_files = {.name = "ConfigMap", .rows = &row_numbers[0], .n = 1},
			step_db = {.name = "ConfigMap", .rows = &row_numbers[1], .n = 1},
			step_web[] = {{.name = "ConfigMap", .rows = &row_numbers[2], .n = 1},
				      {.name = "Secret", .rows = &row_numbers[3], .n = 1}};
static struct unit_group groups_of[] = {{.name = "ConfigMap", .steps = &step_files, .n = 1},
					{.name = "db/ConfigMap", .steps = &step_db, .n = 1},
					{.name = "web/ConfigMap", .steps = &step_web[0], .n = 1},
					{.name = "web/Secret", .steps = &step_web[1], .n = 1}};

#define DB(state)  "{\"name\":\"db\",\"state\":\"" state "\",\"objects\":1"
#define WEB(state) "{\"name\":\"web\",\"state\":\"" state "\",\"objects\":2"
#define S0         "'2.1.1 ConfigMap/ConfigMap': {state: Finished}"
#define S1         "'2.2.1 db/ConfigMap/ConfigMap': {state: Finished}"
#define S2         "'2.3.1 web/ConfigMap/ConfigMap': {state: Finished}"
#define S3(rest)   "'2.4.1 web/Secret/Secret': {" rest "}"

/* clang-format off */
static const struct { const char *record, *want; } instance_rows[] = {
	{NULL, DB("NotStarted") "}," WEB("NotStarted") "}"},
	{"{state: Running, steps: {" S0 "}}", DB("NotStarted") "}," WEB("NotStarted") "}"},
	{"{state: Running, steps: {" S0 ", '2.2.1 db/ConfigMap/ConfigMap': {state: InProgress, message: m}}}",
	 DB("InProgress") ",\"message\":\"m\"}," WEB("NotStarted") "}"},
	{"{state: Running, steps: {" S0 ", " S1 ", " S2 "}}", DB("Ready") "}," WEB("InProgress") "}"},
	{"{state: Running, steps: {" S0 ", " S1 ", " S2 ", " S3("state: Finished, message: m") "}}",
	 DB("Ready") "}," WEB("Ready") "}"},
	{"{state: Failed, steps: {" S0 ", " S1 ", " S2 ", " S3("state: Failed, message: bad") "}}",
	 DB("Ready") "}," WEB("Failed") ",\"message\":\"bad\"}"},
	{"{state: RollingBack, steps: {" S0 ", " S1 ", " S2 ", " S3("state: Failed, message: bad") "}}",
	 DB("RollingBack") "}," WEB("Failed") ",\"message\":\"bad\"}"},
	{"{state: RolledBack, steps: {" S0 ", " S1 "}}", DB("RolledBack") "}," WEB("NotStarted") "}"},
	/* of a process before this one */
	{"{state: Succeeded}", DB("Ready") "}," WEB("Ready") "}"},
};
/* clang-format on */

static void test_feedback__instances(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(instance_rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
		const struct unit u = {
			.doc = read(a,
				    "{objects: [{key: a}, {key: db/a, instance: db}, "
				    "{key: web/a, instance: web}, {key: web/b, instance: web}]}"),
			.parts[UNIT_AFTER] = {.groups = groups_of, .n = ARRAY_LEN(groups_of)}};
		struct obj *got =
			obj_keep(a, feedback_instances(&u, read(a, instance_rows[i].record)));
		CLEANUP(xfreep) char *text = json_text(got);
		assert_string_equal(text, arena_fmt(a, "[%s]", instance_rows[i].want));
		const struct unit none = {.doc = read(a, "{objects: [{key: a}]}")};
		assert_null(feedback_instances(&none, NULL));
	}
}

/* A group of an instance is told while it is under way; how far the others are, the instances tell. */
static void test_feedback__groups_of_instances(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	const struct unit u = {
		.doc = read(a, "{objects: [{key: a}, {key: db/a, instance: db}, "
			       "{key: web/a, instance: web}, {key: web/b, instance: web}]}"),
		.parts[UNIT_AFTER] = {.groups = groups_of, .n = ARRAY_LEN(groups_of)}};
	static const struct {
		const char *record, *want;
	} told[] = {
		{NULL, "ConfigMap NotStarted;"},
		{"{state: Running, steps: {" S0 ", " S1
		 ", '2.3.1 web/ConfigMap/ConfigMap': {state: InProgress}}}",
		 "ConfigMap Finished;web/ConfigMap InProgress;"},
		{"{state: Failed, steps: {" S0 ", " S1 ", " S2 ", " S3("state: Failed") "}}",
		 "ConfigMap Finished;web/Secret Failed;"},
		{"{state: Succeeded}", "ConfigMap Finished;"},
	};
	for (size_t i = 0; i < ARRAY_LEN(told); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(obj_unrefp) struct obj *got = feedback_groups(&u, read(a, told[i].record));
		for (size_t k = 0; k < obj_len(got); k++)
			strbuf_addf(&b, "%s %s;", obj_str(obj_at(got, k), "name"),
				    obj_str(obj_at(got, k), "state"));
		assert_string_equal(b.buf ? b.buf : "", told[i].want);
	}
}

#define OBJECTS 10000 /* FLAT_OBJECTS_MAX */
#define KINDS   10

/* The CPU of the feedback of that many instances, each with as many objects, of ten kinds; s. */
static void check_many(size_t n_instances)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
	struct obj *doc = obj_keep(a, obj_map()), *list = obj_list(), *ended = obj_map();
	struct error err = ERROR_INIT;
	struct unit u = {.doc = doc};
	for (size_t i = 0; i < OBJECTS; i++) {
		struct obj *row = obj_map();
		size_t each = OBJECTS / n_instances;
		obj_set(row, "instance", obj_stringf("instance%zu", i / each));
		obj_set_path(row, "object.kind",
			     obj_stringf("Kind%zu", i % each / ((each + KINDS - 1) / KINDS)));
		obj_append(list, row);
	}
	obj_set(doc, "objects", list);
	assert_ok(unit_lay_out(&u, NULL, a, &err), &err);
	for (size_t g = 0; g < u.parts[UNIT_AFTER].n; g++) {
		const struct unit_group *group = &u.parts[UNIT_AFTER].groups[g];
		struct obj *step = obj_map();
		obj_set_str(step, "state", "Finished");
		obj_set(ended,
			arena_fmt(a, "2.%zu.1 %s/%s", g + 1, group->name, group->steps[0].name),
			step);
	}
	struct obj *record = obj_keep(a, obj_map());
	obj_set_str(record, "state", "Running");
	obj_set(record, "steps", ended);
	CLEANUP(obj_unrefp) struct obj *told = feedback_groups(&u, record);
	CLEANUP(obj_unrefp) struct obj *instances = feedback_instances(&u, record);
	assert_int_equal(obj_len(instances), n_instances);
	assert_string_equal(obj_str(obj_at(instances, n_instances - 1), "state"), "Ready");
	assert_int_equal(obj_len(told), 0);
}

/* What is over has a row for each instance, and no group. */
static void test_feedback__as_many_instances_as_there_may_be(void **state)
{
	(void)state;
	check_many(1);
	check_many(FLAT_INSTANCES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_feedback__instances),
		cmocka_unit_test(test_feedback__groups_of_instances),
		cmocka_unit_test(test_feedback__as_many_instances_as_there_may_be),
		cmocka_unit_test(test_feedback__groups),
		cmocka_unit_test(test_feedback__nothing_begun_says_nothing),
		cmocka_unit_test(test_feedback__changes_name_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
