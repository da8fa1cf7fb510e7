/* apptype_status.c: what an app shows is of now: nothing that was said of it stays by itself. */
#include "tests/lib/test.h"

#include "alm/controllers/apptype/apptype.h"
#include "alm/obj/condition.h"
#include "tests/lib/view_fake.h"

/* All that a condition of an app may say was wrong (lifecycle.md 2.2, 4.3). */
static const char *const types[] = {"Resolved",     "UpgradeAvailable", "UpgradeBlocked",
				    "Deprecated",   "Drifted",          "Degraded",
				    "StateOverdue", "ApprovalPending",  "Paused"};
static const char *const reasons[] = {"Malformed",
				      "Ambiguous",
				      "Withdrawn",
				      "NotRequested",
				      "NotNewer",
				      "OutOfRange",
				      "Prerelease",
				      "NotInChannel",
				      "PreviouslyFailed",
				      "KubeVersion",
				      "NoUpgradePath",
				      "ResourceDropped",
				      "ResourceConflict",
				      "NeededByOther",
				      "RequirementUnmet",
				      "ResourceMissing",
				      "DependencyUnresolved",
				      "CRDIncompatible",
				      "AwaitingApproval",
				      "ModeNone",
				      "Paused",
				      "OutsideWindow",
				      "Soaking",
				      "Unreadable",
				      "NewerInstallable",
				      "Unsupported",
				      "Deprecated",
				      "VersionUnlisted",
				      "WorkloadUnavailable",
				      "ObjectMissing",
				      "DriftNotRepaired",
				      "UpgradeFailed",
				      "NoPackage",
				      "AmbiguousProvider",
				      "AmbiguousSource",
				      "CatalogNotReady"};

/* What is shown of an app that runs ALM's strategy of 0.9.4, after this status. */
static struct obj *shown(struct view_fake *f, const char *status)
{
	struct error err = ERROR_INIT;
	struct strategy_ref s = {
		.o = view_fake_obj(f,
				   "{\"metadata\":{\"name\":\"s\",\"uid\":\"u\"},\"status\":{}}"),
		.version = "0.9.4",
		.sha256 = "d4",
		.by_alm = true,
		.phase = PHASE_SUCCEEDED};
	const char *text = arena_fmt(
		f->a,
		"{\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\",\"uid\":\"a\"},\"spec\":{},"
		"\"status\":%s}",
		status);
	struct app app = {.o = view_fake_obj(f, text),
			  .installed = &s,
			  .mode = "Automatic",
			  .self_ref = "etcd.t"};
	static const char *const none[] = {NULL};
	app.in.failed = none;
	app.resolution.reason = "Resolved";
	struct plan *plan = view_fake_plan(f);
	*f->view.pass = &app;
	assert_ok(apptype_status(&f->view, "etcd", plan, &err), &err);
	const struct action *x = view_fake_action(f, ACT_STATUS, NULL, NULL);
	assert_non_null(x);
	struct obj *o = obj_keep(f->a, obj_map());
	obj_set(o, "status", obj_ref(x->body));
	return o;
}

/* An app that runs and lacks nothing, of which this was said in the pass before. */
static struct obj *shown_after(struct view_fake *f, const char *type, const char *reason)
{
	view_fake_init(f);
	return shown(f, arena_fmt(f->a,
				  "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\","
				  "\"reason\":\"Installed\"},{\"type\":\"%s\",\"status\":\"True\","
				  "\"reason\":\"%s\",\"message\":\"then\"}]}",
				  type, reason));
}

static void test_apptype_status__no_reason_outlives_its_cause(void **state)
{
	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(types); t++)
		for (size_t r = 0; r < ARRAY_LEN(reasons); r++) {
			struct view_fake f;
			struct condition c = {0};
			const struct obj *o = shown_after(&f, types[t], reasons[r]);
			assert_true(condition_is(o, "Ready", "True"));
			if (condition_get(o, types[t], &c) &&
			    (cstr_eq(c.reason, reasons[r]) || cstr_eq(c.message, "then")))
				fail_msg("%s stays %s %s: %s", types[t], c.status, c.reason,
					 c.message);
			view_fake_release(&f);
		}
}

/* The way back to 0.9.4 after its catalog dropped it: the digest was another version's. */
static void test_apptype_status__the_digest_is_of_the_version(void **state)
{
	struct view_fake f;
	(void)state;
	view_fake_init(&f);
	const struct obj *o = shown(&f, "{\"source\":{\"package\":\"p\",\"catalog\":\"c\","
					"\"version\":\"0.9.6\",\"digest\":\"d6\"}}");
	assert_string_equal(obj_str(o, "status.source.version"), "0.9.4");
	assert_string_equal(obj_str(o, "status.source.digest"), "d4");
	assert_string_equal(obj_str(o, "status.source.package"), "p");
	assert_string_equal(obj_str(o, "status.source.catalog"), "c");
	view_fake_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_apptype_status__no_reason_outlives_its_cause),
		cmocka_unit_test(test_apptype_status__the_digest_is_of_the_version),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
