/* What of a Pod may change; whole answers of a real server are in test_differs.c. */
#include "alm/apiserver/kinds/defaults.h"
#include "alm/apiserver/kinds/pod_kept.h"
#include "alm/obj/json.h"
#include "tests/lib/test.h"

static struct obj *pod(const char *more, const char *image, bool defaulted)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	const char *text =
		arena_fmt(a, "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"%s\"}]%s%s}}",
			  image, *more ? "," : "", more);
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	if (defaulted)
		defaults_set(o, "", "pods");
	return o;
}

/* The fields told, joined. */
static const char *told(const char *before, const char *after, const char *image, bool old,
			struct arena *a)
{
	CLEANUP(obj_unrefp) struct obj *was = pod(before, "i", !old);
	CLEANUP(obj_unrefp) struct obj *is = pod(after, image, true);
	struct field_errors e;
	const char *out = "";
	field_errors_init(&e, a);
	pod_kept(&e, is, was);
	for (size_t i = 0; i < e.n; i++)
		out = arena_fmt(a, "%s%s%s", out, i ? " " : "", e.items[i].path);
	return out;
}

#define GATES(name) "\"schedulingGates\":[{\"name\":\"" name "\"}]"
#define NODES                                                                                 \
	"\"affinity\":{\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\"" \
	":[{\"weight\":1,\"preference\":{\"matchExpressions\":[{\"key\":\"a\","               \
	"\"operator\":\"Exists\"}]}}]}}"
#define TAINT(more) "\"tolerations\":[{\"key\":\"k\"" more "}]"
#define SECONDS     ",\"tolerationSeconds\":5"
#define AT_ONCE     ",\"effect\":\"NoExecute\""

static void test_pod_kept__all_but_a_little_stays(void **state)
{
	(void)state;
	static const struct {
		const char *before, *after, *fields;
	} cases[] = {
		{"", "", ""},
		{"", "\"nodeName\":\"n\"", "spec"},
		{"", "\"restartPolicy\":\"Never\"", "spec"},
		{"", "\"initContainers\":[{\"name\":\"i\",\"image\":\"i\"}]",
		 "spec.initContainers"},
		{"", "\"activeDeadlineSeconds\":5", ""},
		{"\"activeDeadlineSeconds\":5", "\"activeDeadlineSeconds\":4", ""},
		{"\"activeDeadlineSeconds\":5", "\"activeDeadlineSeconds\":6",
		 "spec.activeDeadlineSeconds"},
		{"\"activeDeadlineSeconds\":5", "", "spec.activeDeadlineSeconds"},
		{"", "\"activeDeadlineSeconds\":-1", "spec.activeDeadlineSeconds"},
		{"", TAINT(""), ""},
		{TAINT(AT_ONCE), TAINT(AT_ONCE SECONDS), ""},
		{"", TAINT(SECONDS), "spec.tolerations[0].effect"},
		{TAINT(SECONDS), TAINT(SECONDS) ",\"activeDeadlineSeconds\":5", ""},
		{TAINT(""), "", "spec.tolerations"},
		{TAINT(""), TAINT(AT_ONCE), "spec.tolerations"},
		{GATES("a") "," TAINT(""), GATES("a") "," TAINT(AT_ONCE), "spec.tolerations"},
		{GATES("a"), "", ""},
		{"", GATES("a"), "spec.schedulingGates[0].name"},
		{GATES("a"), GATES("a") ",\"nodeSelector\":{\"a\":\"b\"}", ""},
		{"", "\"nodeSelector\":{\"a\":\"b\"}", "spec"},
		{GATES("a") ",\"nodeSelector\":{\"a\":\"b\"}", GATES("a"), "spec.nodeSelector"},
		{GATES("a"), GATES("a") "," NODES, ""},
		{GATES("a"), GATES("a") ",\"affinity\":{\"podAffinity\":{}}", "spec"},
		{"", NODES, "spec"},
		{"\"terminationGracePeriodSeconds\":-1", "\"terminationGracePeriodSeconds\":1", ""},
		{"\"terminationGracePeriodSeconds\":5", "\"terminationGracePeriodSeconds\":1",
		 "spec"},
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(told(cases[i].before, cases[i].after, "i", false, a),
				    cases[i].fields);
}

/* The value that is refused is shown. */
static void test_pod_kept__a_narrower_place_is_shown(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	CLEANUP(obj_unrefp) struct obj *was =
		pod(GATES("a") ",\"nodeSelector\":{\"a\":\"b\"}", "i", true);
	CLEANUP(obj_unrefp) struct obj *is =
		pod(GATES("a") ",\"nodeSelector\":{\"a\":\"c\"}", "i", true);
	struct field_errors e;
	field_errors_init(&e, a);
	pod_kept(&e, is, was);
	assert_int_equal(e.n, 1);
	assert_string_equal(e.items[0].path, "spec.nodeSelector");
	assert_non_null(strstr(e.items[0].message, "{\"a\":\"c\"}"));
	assert_non_null(
		strstr(e.items[0].message, "only additions to spec.nodeSelector are allowed"));
}

static void test_pod_kept__an_image_changes_and_is_one(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	assert_string_equal(told("", "", "j", false, a), "");
	/* it is no name of an image, so it is pulled otherwise */
	assert_string_equal(told("", "", " j", false, a), "spec.containers[0].image spec");
	assert_string_equal(told("", "", "", false, a), "spec.containers[0].image spec");
}

static void test_pod_kept__defaults_that_came_later_are_no_change(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	assert_string_equal(told("", "", "i", true, a), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pod_kept__all_but_a_little_stays),
		cmocka_unit_test(test_pod_kept__a_narrower_place_is_shown),
		cmocka_unit_test(test_pod_kept__an_image_changes_and_is_one),
		cmocka_unit_test(test_pod_kept__defaults_that_came_later_are_no_change),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
