/* What a step writes and what it says of it: what is taken over, and what a server says. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"
#include "tests/lib/unit_fixture.h"

/* First whose fields and marks they were, then what is wanted: so nothing is kubectl's and Helm's afterwards. */
static void test_unit_act__what_is_taken_over_is_nobody_elses(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 1);
	x.job.adopts = true;
	view_fake_live(
		&x.f, "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": "
		      "{\"name\": \"c0\", \"namespace\": \"default\", \"uid\": \"u0\", "
		      "\"resourceVersion\": \"7\", \"annotations\": {"
		      "\"meta.helm.sh/release-name\": \"web\"}, \"managedFields\": [{"
		      "\"manager\": \"kubectl\", \"operation\": \"Apply\", \"apiVersion\": \"v1\", "
		      "\"fieldsV1\": {\"f:data\": {\"f:old\": {}}}}]}}");
	const struct action *patch = NULL;
	for (int i = 0; i < 10 && !patch; i++) {
		unit_fixture_pass(&x);
		patch = view_fake_action(&x.f, ACT_PATCH, "ConfigMap", "c0");
		assert_null(view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c0"));
		view_fake_survey(&x.f);
		view_fake_perform(&x.f);
	}
	assert_non_null(patch);
	CLEANUP(xfreep) char *managers = json_text(obj_path(patch->body, "metadata.managedFields"));
	assert_string_equal(managers,
			    "[{\"manager\":\"alm:cli:b\",\"operation\":\"Apply\","
			    "\"apiVersion\":\"v1\",\"fieldsV1\":{\"f:data\":{\"f:old\":{}}}}]");
	/* who goes on after a crash knows that it is ours */
	assert_string_equal(meta_annotation(patch->body, ANNOTATION_OWNER_ID), "cli.b.i");
	assert_string_equal(meta_label(patch->body, LABEL_BUNDLE), "b");
	x.job.adopts = false;
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	assert_null(strstr(unit_fixture_map(&x, "c0"), "helm.sh"));
	unit_fixture_release(&x);
}

/* A field that is somebody else's stays when its object is taken over: no watch shows what the live read has found. */
static void test_unit_act__what_is_taken_over_keeps_what_is_theirs(void **state)
{
	(void)state;
	static const char *const found[] = {
		/* what spec.ignore says */
		"{\"o0\": {\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {"
		"\"name\": \"c0\", \"namespace\": \"default\", \"uid\": \"u0\", "
		"\"resourceVersion\": \"7\"}, \"data\": {\"v\": \"10\"}}}",
		/* what an autoscaler has set */
		"{\"o0\": {\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {"
		"\"name\": \"c0\", \"namespace\": \"default\", \"uid\": \"u0\", "
		"\"resourceVersion\": \"7\", \"managedFields\": [{\"manager\": \"hpa\", "
		"\"operation\": \"Update\", \"apiVersion\": \"v1\", \"subresource\": \"scale\", "
		"\"fieldsV1\": {\"f:data\": {\"f:v\": {}}}}]}, \"data\": {\"v\": \"10\"}}}",
	};
	static const char *const ignored[] = {"data.v", NULL, "data.other"};
	static const char *const want[] = {"10", NULL, "1"};
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		struct unit_fixture x;
		unit_fixture_init(&x, 1);
		x.job.adopts = true;
		x.ignore = ignored[i];
		x.job.unit = unit_fixture_unit(&x, 1);
		view_fake_outcome(&x.f, "unit:" UNIT_FIXTURE_KEY ":1:books",
				  "{\"namespace\": {}, \"system\": {}}");
		view_fake_outcome(&x.f, "unit:" UNIT_FIXTURE_KEY ":1:absent", found[i == 1]);
		const struct action *made = NULL;
		for (int k = 0; k < 10 && !made; k++) {
			unit_fixture_pass(&x);
			made = view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c0");
			if (!made)
				view_fake_perform(&x.f);
		}
		assert_non_null(made);
		assert_true(cstr_eq(obj_str(made->body, "data.v"), want[i]));
		unit_fixture_release(&x);
	}
}

static void test_unit_act__what_a_strategy_applies_is_not_adopted(void **state)
{
	(void)state;
	static const char theirs[] = "{\"o0\": {\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", "
				     "\"metadata\": {\"name\": \"c0\", \"namespace\": \"default\", "
				     "\"labels\": {\"app.coreos.com/app\": \"etcd\", "
				     "\"app.coreos.com/strategy\": \"etcd-1\"}}}}";
	for (int takes = 0; takes < 2; takes++) {
		struct unit_fixture x;
		unit_fixture_init(&x, 1);
		x.job.adopts = true;
		x.job.takes = takes;
		view_fake_outcome(&x.f, "unit:" UNIT_FIXTURE_KEY ":1:books",
				  "{\"namespace\": {}, \"system\": {}}");
		view_fake_outcome(&x.f, "unit:" UNIT_FIXTURE_KEY ":1:absent", theirs);
		assert_string_equal(unit_fixture_pass(&x), takes ? "Running" : "Failed");
		const char *why = obj_str(x.job.record, "message");
		assert_true(takes || strstr(why, "c0 belongs to app etcd"));
		unit_fixture_release(&x);
	}
}

/* A reconcile in which a write fails ends there: the status comes in one without, and then it is tried again. */
static void test_unit_act__what_the_server_says_reaches_the_status(void **state)
{
	(void)state;
	struct unit_fixture x;
	struct error err = ERROR_INIT;
	unit_fixture_init(&x, 1);
	x.job.main = view_fake_obj(
		&x.f,
		"{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"m\", "
		"\"namespace\": \"default\", \"uid\": \"u\", \"resourceVersion\": \"1\", "
		"\"finalizers\": [\"app.coreos.com/unit\"]}}");
	x.job.watched = x.job.touches = true;
	for (int i = 0; i < 9 && !view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c0"); i++) {
		view_fake_survey(&x.f);
		view_fake_perform(&x.f);
		unit_fixture_pass(&x);
	}
	const struct action *made = view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c0");
	struct owner_ref owner;
	assert_true(meta_owner(made->body, 0, &owner)); /* what it is run for */
	assert_string_equal(owner.uid, "u");
	assert_false(owner.controller);
	error_set(&err, E_UNAVAILABLE, "webhook x is away");
	stash_put(x.f.stash, "refused:/ConfigMap/default/c0", &err, STR_NONE, NULL,
		  x.f.view.now_ns);
	unit_fixture_pass(&x);
	assert_null(view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c0"));
	const struct action *told = view_fake_action(&x.f, ACT_PATCH, "ConfigMap", "m");
	assert_non_null(told);
	CLEANUP(xfreep) char *text = json_text(told->body);
	assert_non_null(strstr(text, "ConfigMap default/c0: being created: webhook x is away"));
	x.f.view.now_ns += NS_PER_MS;
	unit_fixture_pass(&x);
	assert_non_null(view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c0"));
	unit_fixture_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_act__what_is_taken_over_is_nobody_elses),
		cmocka_unit_test(test_unit_act__what_is_taken_over_keeps_what_is_theirs),
		cmocka_unit_test(test_unit_act__what_a_strategy_applies_is_not_adopted),
		cmocka_unit_test(test_unit_act__what_the_server_says_reaches_the_status),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
