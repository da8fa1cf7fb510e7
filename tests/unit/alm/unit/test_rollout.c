#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/meta.h"
#include "alm/unit/rollout.h"

#define ARENA_MAX ((size_t)64 << 20)

static const char *const plugins[] = {"Restart", NULL};

static int read_text(const char *text, struct arena *a, struct rollout **ret, struct error *err)
{
	struct rollout_options options = {.file = "rollout.yaml", .plugins = plugins};
	return rollout_read(str_of(text), &options, a, ret, err);
}

/* The file of the seed's README, as it stands there. */
static const char seed[] = "apiVersion: workflow.kubernetes.io/v1alpha1\n"
			   "kind: Rollout\n"
			   "metadata:\n"
			   "  name: grafana-rollout-0\n"
			   "spec:\n"
			   "  groups:\n"
			   "  - steps:\n"
			   "    - object: \"grafana/deployment.json\"\n"
			   "      action: \"CreateOrUpdate\"\n";

static void test_rollout__the_seeds_file_loads(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	struct error err = ERROR_INIT;
	struct rollout *r = NULL;
	assert_ok(read_text(seed, a, &r, &err), &err);
	assert_string_equal(r->name, "grafana-rollout-0");
	assert_int_equal(r->rest, REST_IGNORE);
	assert_int_equal(r->rollback, ROLLBACK_NONE);
	assert_false(r->parallel);
	assert_int_equal(r->n, 1);
	assert_string_equal(r->groups[0].name, "group-1");
	assert_int_equal(r->groups[0].n, 1);
	const struct rollout_step *s = &r->groups[0].steps[0];
	assert_string_equal(s->name, "grafana/deployment.json");
	assert_string_equal(s->object, "grafana/deployment.json");
	assert_string_equal(s->field, "spec.groups[0].steps[0]");
	assert_int_equal(s->action, ACTION_CREATE_OR_UPDATE);
	assert_int_equal(s->n_success, 0);
	assert_true(s->n_failure > 16); /* the whole table */
	assert_true(s->timeout_ns == ROLLOUT_STEP_TIMEOUT);
	assert_false(s->continue_on_error);
}

static const char full[] =
	"apiVersion: app.coreos.com/v1alpha1\n"
	"kind: Rollout\n"
	"metadata: {name: all, uid: x, labels: {a: b}}\n"
	"spec:\n"
	"  parallel: true\n"
	"  rest: After\n"
	"  rollback: {onFailure: None}\n"
	"  groups:\n"
	"  - name: first\n"
	"    parallel: true\n"
	"    steps:\n"
	"    - {name: crds, object: crds/*, action: CreateIfNotExist, continueOnError: true}\n"
	"    - {object: job.yaml, action: Job, timeout: 90s, failure: []}\n"
	"    - {object: old.yaml, action: DeleteIfExist, success: [{wait: delete, timeout: 30s}]}\n"
	"  - steps:\n"
	"    - object: a.yaml\n"
	"      action: Restart\n"
	"      config: {every: 3}\n"
	"      failure: [{checkName: JobOOMKilled}, {checkName: Unschedulable, grace: 2m}]\n"
	"      success:\n"
	"      - fieldComparisons:\n"
	"        - {name: g, path: '{.metadata.generation}', value: {path: .status.generation}}\n"
	"        - {path: '{.status.x}', default: 0, value: {staticInt64: 0}}\n"
	"      - fieldComparisons:\n"
	"          timeout: 300000000000\n"
	"          progressTimeout: 1m\n"
	"          pollInterval: 500ms\n"
	"          expectedValues: [{path: .a, default: null, value: {static: null}}]\n"
	"        failure: [{checkName: Evicted, grace: 1s}]\n"
	"      - wait: condition=Ready\n";

static void check_first_group(const struct rollout_group *g)
{
	assert_string_equal(g->name, "first");
	assert_true(g->parallel);
	assert_int_equal(g->n, 3);
	assert_string_equal(g->steps[0].name, "crds");
	assert_int_equal(g->steps[0].action, ACTION_CREATE_IF_NOT_EXIST);
	assert_true(g->steps[0].continue_on_error);
	assert_int_equal(g->steps[1].action, ACTION_JOB);
	assert_true(g->steps[1].timeout_ns == 90 * NS_PER_S);
	assert_int_equal(g->steps[1].n_failure, 0); /* replaced by nothing */
	assert_int_equal(g->steps[2].action, ACTION_DELETE_IF_EXIST);
	assert_int_equal(g->steps[2].success[0].type, CHECK_WAIT);
	assert_int_equal(g->steps[2].success[0].wait.type, WAIT_DELETE);
	assert_true(g->steps[2].success[0].timeout_ns == 30 * NS_PER_S);
}

static void check_success(const struct rollout_step *s)
{
	const struct rollout_check *list = &s->success[0], *object = &s->success[1];
	assert_int_equal(s->n_success, 3);
	assert_int_equal(list->type, CHECK_FIELDS);
	assert_true(list->timeout_ns == 5 * NS_PER_MIN);
	assert_true(list->progress_ns == 2 * NS_PER_MIN);
	assert_true(list->poll_ns == 2 * NS_PER_S);
	assert_int_equal(list->n_values, 2);
	assert_string_equal(list->values[0].name, "g");
	assert_non_null(list->values[0].value_path);
	assert_null(list->values[0].fallback);
	assert_string_equal(list->values[1].name, "{.status.x}");
	assert_non_null(list->values[1].fallback);
	assert_non_null(list->values[1].want);
	assert_true(object->timeout_ns == 5 * NS_PER_MIN);
	assert_true(object->progress_ns == NS_PER_MIN);
	assert_true(object->poll_ns == 500 * NS_PER_MS);
	assert_int_equal(obj_type(object->values[0].want), OBJ_NULL);
	assert_int_equal(obj_type(object->values[0].fallback), OBJ_NULL);
	assert_int_equal(s->success[2].type, CHECK_WAIT);
	assert_string_equal(s->success[2].field, "spec.groups[1].steps[0].success[2]");
}

static void test_rollout__every_field_is_read(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	struct error err = ERROR_INIT;
	struct rollout *r = NULL;
	assert_ok(read_text(full, a, &r, &err), &err);
	assert_true(r->parallel);
	assert_int_equal(r->rest, REST_AFTER);
	assert_int_equal(r->rollback, ROLLBACK_NONE);
	assert_int_equal(r->n, 2);
	check_first_group(&r->groups[0]);
	assert_string_equal(r->groups[1].name, "group-2");
	const struct rollout_step *s = &r->groups[1].steps[0];
	assert_int_equal(s->action, ACTION_PLUGIN);
	assert_string_equal(s->action_name, "Restart");
	assert_int_equal(obj_i64(s->config, "every", 0), 3);
	assert_int_equal(s->n_failure, 3);
	assert_string_equal(s->failure[0].name, "OOMKilled");
	assert_true(s->failure[0].grace_ns == 0);
	assert_true(s->failure[1].grace_ns == 2 * NS_PER_MIN);
	assert_string_equal(s->failure[2].name, "Evicted");
	assert_true(s->failure[2].grace_ns == NS_PER_S);
	check_success(s);
}

static void test_rollout__a_resource_has_defaults_of_its_own(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	struct error err = ERROR_INIT;
	struct rollout *r = NULL;
	assert_ok(read_text("{apiVersion: app.coreos.com/v1alpha1, kind: Rollout, spec: {groups: "
			    "[{steps: [{object: a, action: Job}]}]}}",
			    a, &r, &err),
		  &err);
	assert_string_equal(r->name, "");
	assert_int_equal(r->rest, REST_BEFORE);
	assert_int_equal(r->rollback, ROLLBACK_PREVIOUS);
}

static void test_rollout__without_a_file_the_field_begins(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	CLEANUP(obj_unrefp) struct obj *o =
		meta_skeleton("app.coreos.com/v1alpha1", "Rollout", NULL, "x");
	struct rollout_options options = {0};
	struct error err = ERROR_INIT;
	struct rollout *r = NULL;
	assert_int_equal(rollout_parse(o, &options, a, &r, &err), -E_INVALID);
	assert_string_equal(err.msg, "spec: is missing; it has groups of steps");
}

#define TOP     "apiVersion: workflow.kubernetes.io/v1alpha1\nkind: Rollout\n"
#define STEP(s) TOP "spec: {groups: [{steps: [" s "]}]}"
/* of a step that is right otherwise */
#define WITH(s)    STEP("{object: a, action: Job, " s "}")
#define SUCCESS(s) WITH("success: [" s "]")
#define FIELDS(s)  SUCCESS("{fieldComparisons: " s "}")
#define AT         "spec.groups[0].steps[0]"
#define AT_FIELDS  AT ".success[0].fieldComparisons"
#define ACTIONS    "CreateOrUpdate, CreateIfNotExist, DeleteIfExist, Job, Canary, Restart"
#define CHECKS                                                                                 \
	"OOMKilled, CrashLoopBackOff, ImagePullBackOff, InvalidImageName, ErrImageNeverPull, " \
	"RunContainerError, StartError, CreateContainerConfigError, CreateContainerError, "    \
	"FailedMount, FailedAttachVolume, Unschedulable, DeadlineExceeded, "                   \
	"BackoffLimitExceeded, Evicted, ProgressDeadlineExceeded, ReplicaFailure"

/* clang-format off */
static const struct { const char *text, *want; } bad[] = {
	{"", "yaml: found 0 documents, wanted 1"},
	{"a: [", "yaml: line 1: did not find expected node content"},
	{"[]", "found array, wanted a Rollout of app.coreos.com/v1alpha1"},
	{"kind: Deployment", "kind: found \"Deployment\", wanted Rollout"},
	{"kind: 7", "kind: found integer, wanted string"},
	{"kind: Rollout", "apiVersion: found \"\", wanted app.coreos.com/v1alpha1 or "
	 "workflow.kubernetes.io/v1alpha1"},
	{"kind: Rollout\napiVersion: app.coreos.com/v1", "apiVersion: found \"app.coreos.com/v1\", "
	 "wanted app.coreos.com/v1alpha1 or workflow.kubernetes.io/v1alpha1"},
	{TOP, "spec: is missing; it has groups of steps"},
	{TOP "spec: []", "spec: found array, wanted object"},
	{TOP "metadata: x\nspec: {}", "metadata: found string, wanted object"},
	{TOP "spec: {}", "spec.groups: has no group"},
	{TOP "spec: {groups: {}}", "spec.groups: found object, wanted array"},
	{TOP "spec: {group: []}", "spec.group: there is no such field; known are parallel, rest, "
	 "groups, rollback"},
	{TOP "spec: {groups: [{}], parallel: 1}", "spec.parallel: found integer, wanted boolean"},
	{TOP "spec: {groups: [{}], rest: Never}",
	 "spec.rest: \"Never\" is none of Before, After, Ignore"},
	{TOP "spec: {groups: [{}], rollback: {onFailure: Always}}",
	 "spec.rollback.onFailure: \"Always\" is none of Previous, None"},
	{TOP "spec: {groups: [{}], rollback: {when: x}}",
	 "spec.rollback.when: there is no such field; known are onFailure"},
	{TOP "spec: {groups: [x]}", "spec.groups[0]: found string, wanted object"},
	{TOP "spec: {groups: [{name: a}]}", "spec.groups[0].steps: has no step"},
	{TOP "spec: {groups: [{step: []}]}",
	 "spec.groups[0].step: there is no such field; known are name, parallel, steps"},
	{STEP(""), "spec.groups[0].steps: has no step"},
	{STEP("x"), AT ": found string, wanted object"},
	{STEP("{object: a}"), AT ".action: is missing; known are " ACTIONS},
	{STEP("{object: a, action: Foo}"), AT ".action: \"Foo\" is unknown; known are " ACTIONS
	 ", and NAME for a program action-NAME in $ALM_PLUGIN_DIR"},
	{STEP("{object: a, action: Canary}"),
	 AT ".canary: is missing; want {steps: [{weight: 25, pause: 5m}]}"},
	{STEP("{object: a, action: Canary, canary: {steps: [{weight: 0}]}}"),
	 AT ".canary.steps[0].weight: want percent of the Pods, a whole number from 1 to 100"},
	{STEP("{object: a, action: Canary, timeout: 5m, canary: {steps: [{weight: 5, pause: 5m}]}}"),
	 AT ".timeout: pauses and figures of the canary take at least 5m0s"},
	{STEP("{action: Job}"), AT ".object: is missing; name an object by its key, or several by a "
	 "pattern like crds/*"},
	{STEP("{object: '[', action: Job}"),
	 AT ".object: \"[\" is no pattern; \\[ is the character ["},
	{WITH("canary: {}"), AT ".canary: only the action Canary has one"},
	{WITH("config: {a: 1}"),
	 AT ".config: Job reads none; only the action of a plugin does"},
	{WITH("timeout: 30"), AT ".timeout: \"30\" is no duration from 1ms to 7d; write it like "
	 "\"30s\" or \"5m\""},
	{WITH("timeout: 8d"), AT ".timeout: \"8d\" is no duration from 1ms to 7d; write it like "
	 "\"30s\" or \"5m\""},
	{WITH("timeout: soon"), AT ".timeout: \"soon\" is no duration from 1ms to 7d; write it like "
	 "\"30s\" or \"5m\""},
	{WITH("timeout: []"), AT ".timeout: found array, wanted a duration like \"30s\""},
	{WITH("continueOnError: 'yes'"), AT ".continueOnError: found string, wanted boolean"},
	{WITH("retries: 3"), AT ".retries: there is no such field; known are name, object, action, "
	 "success, failure, canary, config, timeout, continueOnError"},
	{WITH("success: {}"), AT ".success: found object, wanted array"},
	{SUCCESS("x"), AT ".success[0]: found string, wanted object"},
	{SUCCESS("{plugin: P, config: {a: 1}}"),
	 AT ".success[0].plugin: \"P\" is unknown; it is the NAME of a program check-NAME in "
	    "$ALM_PLUGIN_DIR, which has none"},
	{SUCCESS("{wait: delete, config: 1}"), AT ".success[0].config: only a plugin has one"},
	{SUCCESS("{}"), AT ".success[0]: want one of fieldComparisons, wait, prometheus and plugin"},
	{SUCCESS("{wait: delete, fieldComparisons: []}"),
	 AT ".success[0]: want one of fieldComparisons, wait, prometheus and plugin"},
	{SUCCESS("{wait: delete, prometheus: {}}"),
	 AT ".success[0]: want one of fieldComparisons, wait, prometheus and plugin"},
	{SUCCESS("{prometheus: {query: up, address: 'https://p'}}"),
	 AT ".success[0].prometheus.successCondition: is missing, as is failureCondition; want "
	    "JSONQL like result < 0.01"},
	{SUCCESS("{prometheus: {query: up, address: 'https://p', successCondition: result = 1, "
		 "count: 61}}"),
	 AT ".success[0].prometheus.count: 61 samples take at least 10m0s, and the step has 10m0s; "
	    "raise its timeout"},
	{SUCCESS("{wait: 'a = '}"), AT ".success[0].wait: column 5: an operand is missing"},
	{SUCCESS("{wait: cel=true}"),
	 AT ".success[0].wait: cel= is not supported; write it as JSONQL"},
	{FIELDS("x"), AT_FIELDS ": found string, wanted object"},
	{FIELDS("[]"), AT_FIELDS ": has no comparison"},
	{FIELDS("{}"), AT_FIELDS ".expectedValues: has no comparison"},
	{FIELDS("{values: []}"), AT_FIELDS ".values: there is no such field; known are "
	 "expectedValues, timeout, progressTimeout, pollInterval, failure"},
	{FIELDS("[{value: {static: 1}}]"),
	 AT_FIELDS "[0].path: is missing; want a JSONPath like {.status.replicas}"},
	{FIELDS("[{path: '', value: {static: 1}}]"),
	 AT_FIELDS "[0].path: is empty; want a JSONPath like {.status.replicas}"},
	{FIELDS("[{path: .a}]"),
	 AT_FIELDS "[0].value: is missing; want {path: JSONPATH} or {static: VALUE}"},
	{FIELDS("[{path: '{.a', value: {static: 1}}]"),
	 AT_FIELDS "[0].path: \"{.a\" has one brace; want both or none"},
	{FIELDS("[{path: .a, value: {path: '.a}'}}]"),
	 AT_FIELDS "[0].value.path: \".a}\" has one brace; want both or none"},
	{FIELDS("[{path: '{.a[}', value: {static: 1}}]"),
	 AT_FIELDS "[0].path: jsonpath .a[: expected a number at byte 3"},
	{FIELDS("[{path: .a, value: {}}]"),
	 AT_FIELDS "[0].value: has none of path, static, staticInt64; one is wanted"},
	{FIELDS("[{path: .a, value: {path: .b, static: 1}}]"),
	 AT_FIELDS "[0].value: has several of path, static, staticInt64; one is wanted"},
	{FIELDS("[{path: .a, value: {staticInt64: x}}]"),
	 AT_FIELDS "[0].value.staticInt64: found string, wanted integer"},
	{FIELDS("{expectedValues: [{path: .a, value: {equals: 1}}]}"),
	 AT_FIELDS ".expectedValues[0].value.equals: there is no such field; known are path, static, "
	 "staticInt64"},
	{WITH("failure: [{checkName: Slow}]"),
	 AT ".failure[0].checkName: \"Slow\" is unknown; known are " CHECKS},
	{WITH("failure: [{grace: 1s}]"),
	 AT ".failure[0].checkName: \"\" is unknown; known are " CHECKS},
	{FIELDS("{expectedValues: [{path: .a, value: {static: 1}}], failure: [{report: {}}]}"),
	 AT_FIELDS ".failure[0].report: there is no such field; known are checkName, grace"},
};
/* clang-format on */

static void test_rollout__bad_input_names_file_field_and_remedy(void **state)
{
	(void)state;
	size_t n_wrong = 0;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
		struct error err = ERROR_INIT;
		struct rollout *r = NULL;
		char want[ERROR_MSG_MAX + 64];
		snprintf(want, sizeof(want), "rollout.yaml: %s", bad[i].want);
		want[ERROR_MSG_MAX - 1] = '\0';
		if (read_text(bad[i].text, a, &r, &err) >= 0 || strcmp(err.msg, want) != 0) {
			print_error("%s\n  want %s\n  got  %s\n", bad[i].text, want, err.msg);
			n_wrong++;
		}
		assert_null(r);
	}
	assert_int_equal(n_wrong, 0);
}

static void repeat(struct strbuf *b, const char *begin, const char *item, size_t n, const char *end)
{
	strbuf_adds(b, begin);
	for (size_t i = 0; i < n; i++)
		strbuf_adds(b, item);
	strbuf_adds(b, end);
}

/* clang-format off */
static const struct { const char *begin, *item, *end; size_t max; const char *want; } limits[] = {
	{TOP "spec: {groups: [", "{steps: [{object: a, action: Job}]},", "]}", ROLLOUT_GROUPS_MAX,
	 "spec.groups: has 101 entries, at most 100 are taken"},
	{TOP "spec: {groups: [{steps: [", "{object: a, action: Job},", "]}]}", ROLLOUT_STEPS_MAX,
	 "spec.groups[0].steps: has 1001 entries, at most 1000 are taken"},
	{TOP "spec: {groups: [{steps: [{object: a, action: Job, success: [", "{wait: create},", "]}]}]}",
	 ROLLOUT_CHECKS_MAX, AT ".success: has 17 entries, at most 16 are taken"},
	{TOP "spec: {groups: [{steps: [{object: a, action: Job, failure: [", "{checkName: Evicted},",
	 "]}]}]}", ROLLOUT_FAILURES_MAX, AT ".failure: more than 32 checks"},
	{TOP "spec: {groups: [{steps: [{object: a, action: Job, success: [{fieldComparisons: [",
	 "{path: .a, value: {static: 1}},", "]}]}]}]}", ROLLOUT_VALUES_MAX,
	 AT_FIELDS ": has 65 entries, at most 64 are taken"},
	{TOP "spec: {groups: [{steps: [{action: Job, object: ", "a", "}]}]}", ROLLOUT_OBJECT_MAX,
	 AT ".object: is longer than 1024 bytes"},
};
/* clang-format on */

static void test_rollout__limits_are_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		for (size_t more = 0; more < 2; more++) {
			CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
			struct error err = ERROR_INIT;
			struct rollout *r = NULL;
			repeat(&b, limits[i].begin, limits[i].item, limits[i].max + more,
			       limits[i].end);
			int got = read_text(b.buf, a, &r, &err);
			assert_int_equal(got, more ? -E_LIMIT : 0);
			if (more)
				assert_string_equal(err.msg + strlen("rollout.yaml: "),
						    limits[i].want);
		}
}

static void test_rollout__a_file_has_a_limit(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ROLLOUT_BYTES_MAX * 2);
	struct error err = ERROR_INIT;
	struct rollout *r = NULL;
	strbuf_adds(&b, seed);
	strbuf_pad(&b, '\n', ROLLOUT_BYTES_MAX);
	assert_int_equal(read_text(b.buf, a, &r, &err), -E_LIMIT);
	assert_non_null(strstr(err.msg, "a rollout at most 1048576"));
}

/* clang-format off */
static const struct { const char *object, *key; bool want; } takes[] = {
	{"a.yaml", "a.yaml", true},
	{"a.yaml", "a.yaml!0", true},
	{"a.yaml", "a.yaml!1.2", true},
	{"a.yaml", "a.yaml2", false},
	{"a.yaml!1", "a.yaml!1", true},
	{"a.yaml!1", "a.yaml!1.2", false},
	{"a.yaml!1", "a.yaml!10", false},
	{"crds/*", "crds/a.yaml", true},
	{"crds/*", "crds/a.yaml!0", true},
	{"crds/*", "crds/deep/a.yaml", false},
	{"*", "a.yaml", true},
	{"*/[a-c].yaml", "x/b.yaml", true},
	{"*/[a-c].yaml", "x/d.yaml", false},
	{"a\\*", "a*", true},
	{"a\\*", "ab", false},
};
/* clang-format on */

static void test_rollout__a_step_takes_keys(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(takes); i++) {
		struct rollout_step s = {.object = takes[i].object};
		if (rollout_step_takes(&s, takes[i].key) != takes[i].want)
			fail_msg("%s %s", takes[i].object, takes[i].key);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rollout__the_seeds_file_loads),
		cmocka_unit_test(test_rollout__every_field_is_read),
		cmocka_unit_test(test_rollout__a_resource_has_defaults_of_its_own),
		cmocka_unit_test(test_rollout__without_a_file_the_field_begins),
		cmocka_unit_test(test_rollout__bad_input_names_file_field_and_remedy),
		cmocka_unit_test(test_rollout__limits_are_told),
		cmocka_unit_test(test_rollout__a_file_has_a_limit),
		cmocka_unit_test(test_rollout__a_step_takes_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
