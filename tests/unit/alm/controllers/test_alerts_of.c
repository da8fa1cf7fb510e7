#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/controllers/alerts_of.h"
#include "alm/obj/json.h"

#define BLOCKED                                                                                \
	"{\"apiVersion\":\"app.coreos.com/"                                                    \
	"v1beta1\",\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\"},"                     \
	"\"spec\":{\"upgrade\":{\"mode\":\"%s\"}},\"status\":{\"availableVersion\":\"1.0.0\"," \
	"\"conditions\":[{\"type\":\"UpgradeBlocked\",\"status\":\"%s\",\"reason\":"           \
	"\"ResourceDropped\","                                                                 \
	"\"message\":\"1.0.0 drops v1\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}],"    \
	"\"candidates\":[{\"version\":\"1.0.0\",\"steps\":[\"alm crd migrate etcds\"]}]}}"

static struct obj *parsed(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

static struct obj *app(const char *mode, const char *blocked)
{
	char text[1024];
	snprintf(text, sizeof(text), BLOCKED, mode, blocked);
	return parsed(text);
}

static void test_alerts_of__a_blocked_upgrade_fires_in_mode_automatic_only(void **state)
{
	(void)state;
	static const char *const modes[] = {"Automatic", "Manual", "None"};
	for (size_t i = 0; i < 3; i++) {
		CLEANUP(obj_unrefp) struct obj *o = app(modes[i], "True");
		CLEANUP(obj_unrefp) struct obj *list = alerts_of(o);
		assert_int_equal(obj_len(list), i == 0);
		if (i)
			continue;
		const struct obj *a = obj_at(list, 0);
		assert_string_equal(obj_str(a, "labels.alertname"), "ALMUpgradeBlocked");
		assert_string_equal(obj_str(a, "labels.app"), "etcd");
		assert_string_equal(obj_str(a, "labels.version"), "1.0.0");
		assert_string_equal(obj_str(a, "labels.severity"), "warning");
		assert_string_equal(obj_str(a, "annotations.message"), "1.0.0 drops v1");
		assert_string_equal(obj_str(a, "annotations.steps"), "1. alm crd migrate etcds");
		assert_string_equal(obj_str(a, "startsAt"), "2026-01-01T00:00:00Z");
	}
	CLEANUP(obj_unrefp) struct obj *o = app("Automatic", "False");
	CLEANUP(obj_unrefp) struct obj *none = alerts_of(o);
	assert_int_equal(obj_len(none), 0);
}

static void test_alerts_of__each_kind_has_its_alerts(void **state)
{
	(void)state;
	static const struct {
		const char *object, *name;
	} cases[] = {
		{"{\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":\"i\"},\"spec\":{"
		 "\"version\":\"1\"},"
		 "\"status\":{\"phase\":\"RolledBack\"}}",
		 "ALMUpgradeFailed"},
		{"{\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":\"i\"},\"status\":{"
		 "\"phase\":"
		 "\"Succeeded\"}}",
		 NULL},
		{"{\"kind\":\"Catalog\",\"metadata\":{\"name\":\"c\"},\"status\":{\"conditions\":[{"
		 "\"type\":"
		 "\"Synced\",\"status\":\"False\",\"message\":\"gone\"}]}}",
		 "ALMCatalogStale"},
		{"{\"kind\":\"Catalog\",\"metadata\":{\"name\":\"c\"},\"status\":{\"quarantined\":{"
		 "\"reason\":\"SuspiciousShrink\"}}}",
		 "ALMCatalogQuarantined"},
		{"{\"kind\":\"AppType\",\"metadata\":{\"name\":\"a\"},\"status\":{\"conditions\":[{"
		 "\"type\":"
		 "\"Ready\",\"status\":\"False\",\"reason\":\"Degraded\",\"message\":\"m\"}]}}",
		 "ALMDegraded"},
		{"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(obj_unrefp) struct obj *o = parsed(cases[i].object);
		CLEANUP(obj_unrefp) struct obj *list = alerts_of(o);
		const char *name = obj_str(obj_at(list, 0), "labels.alertname");
		assert_true(cstr_eq(name, cases[i].name));
	}
}

/* lifecycle.md 4.6: a condition that is True has its alert, and takes it along. */
static void test_alerts_of__each_state_that_lasts_is_reported(void **state)
{
	(void)state;
	static const char *const rows[][2] = {{"StateOverdue", "ALMStateOverdue"},
					      {"ApprovalPending", "ALMApprovalPending"},
					      {"DeletionBlocked", "ALMDeletionBlocked"}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (int on = 0; on < 2; on++) {
			char text[512];
			snprintf(text, sizeof(text),
				 "{\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\"},"
				 "\"status\":{\"conditions\":[{\"type\":\"%s\",\"status\":\"%s\","
				 "\"message\":\"why\"}]}}",
				 rows[i][0], on ? "True" : "False");
			CLEANUP(obj_unrefp) struct obj *o = parsed(text);
			CLEANUP(obj_unrefp) struct obj *list = alerts_of(o);
			assert_int_equal(obj_len(list), on);
			if (on)
				assert_string_equal(obj_str(obj_at(list, 0), "labels.alertname"),
						    rows[i][1]);
		}
}

/* target 21: each way to rest in a failure, and what is held too long, has one alert. */
static void test_alerts_of__a_bundle_that_rests_or_is_held(void **state)
{
	(void)state;
	static const struct {
		const char *type, *status, *reason, *name; /* NULL: none */
	} rows[] = {
		{"Ready", "False", "Stopped", "ALMInstallFailed"},
		{"Ready", "False", "RolledBack", "ALMInstallFailed"},
		{"Ready", "False", "Blocked", "ALMInstallFailed"},
		{"Ready", "False", "Degraded", "ALMDegraded"},
		{"Ready", "False", "Invalid", "ALMBundleInvalid"},
		{"Ready", "True", "SourceFailed", "ALMSourceStale"}, /* what is there is kept */
		{"Ready", "True", "Synced", NULL},
		{"Ready", "True", "Rolling", NULL},
		{"PruneHeld", "True", "PruneHeld", "ALMPruneHeld"},
		{"AnalysisHeld", "True", "AnalysisHeld", "ALMAnalysisHeld"},
		{"AnalysisHeld", "False", "AnalysisHeld", NULL},
		{"ApprovalPending", "True", "ApprovalPending", "ALMApprovalPending"},
		{"StateOverdue", "True", "Pruning", "ALMStateOverdue"},
		{"DeletionBlocked", "True", "DeletionBlocked", "ALMDeletionBlocked"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[512];
		snprintf(
			text, sizeof(text),
			"{\"kind\":\"Bundle\",\"metadata\":{\"name\":\"web\"},\"status\":{"
			"\"revision\":\"git:1\",\"conditions\":[{\"type\":\"%s\",\"status\":\"%s\","
			"\"reason\":\"%s\",\"message\":\"why\"}]}}",
			rows[i].type, rows[i].status, rows[i].reason);
		CLEANUP(obj_unrefp) struct obj *o = parsed(text);
		CLEANUP(obj_unrefp) struct obj *list = alerts_of(o);
		const struct obj *a = obj_at(list, 0);
		assert_int_equal(obj_len(list), rows[i].name != NULL);
		if (!rows[i].name)
			continue;
		assert_string_equal(obj_str(a, "labels.alertname"), rows[i].name);
		assert_string_equal(obj_str(a, "labels.bundle"), "web");
		assert_string_equal(obj_str(a, "labels.version"), "git:1");
		assert_string_equal(obj_str(a, "annotations.message"), "why");
	}
}

static const struct {
	const char *object, *alerts;
} all_alerts[] = {
	{"{\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\"},\"spec\":{\"upgrad"
	 "e\":{\"mode\":\"Automatic\"}},\"status\":{\"installedVersion\":\"1\",\"c"
	 "onditions\":[{\"type\":\"StateOverdue\",\"status\":\"True\",\"reason\":"
	 "\"x\",\"message\":\"why\",\"lastTransitionTime\":\"T\"}]}}",
	 "[{\"labels\":{\"alertname\":\"ALMStateOverdue\",\"severity\":\"warnin"
	 "g\",\"app\":\"etcd\",\"version\":\"1\"},\"annotations\":{\"message\":\"why"
	 "\"},\"startsAt\":\"T\"}]"},
	{"{\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\"},\"spec\":{\"upgrad"
	 "e\":{\"mode\":\"Automatic\"}},\"status\":{\"installedVersion\":\"1\",\"c"
	 "onditions\":[{\"type\":\"ApprovalPending\",\"status\":\"True\",\"reaso"
	 "n\":\"x\",\"message\":\"why\",\"lastTransitionTime\":\"T\"}]}}",
	 "[{\"labels\":{\"alertname\":\"ALMApprovalPending\",\"severity\":\"war"
	 "ning\",\"app\":\"etcd\",\"version\":\"1\"},\"annotations\":{\"message\":\""
	 "why\"},\"startsAt\":\"T\"}]"},
	{"{\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\"},\"spec\":{\"upgrad"
	 "e\":{\"mode\":\"Automatic\"}},\"status\":{\"installedVersion\":\"1\",\"c"
	 "onditions\":[{\"type\":\"DeletionBlocked\",\"status\":\"True\",\"reaso"
	 "n\":\"x\",\"message\":\"why\",\"lastTransitionTime\":\"T\"}]}}",
	 "[{\"labels\":{\"alertname\":\"ALMDeletionBlocked\",\"severity\":\"war"
	 "ning\",\"app\":\"etcd\",\"version\":\"1\"},\"annotations\":{\"message\":\""
	 "why\"},\"startsAt\":\"T\"}]"},
	{"{\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\"},\"spec\":{\"upgrad"
	 "e\":{\"mode\":\"Automatic\"}},\"status\":{\"installedVersion\":\"1\",\"c"
	 "onditions\":[{\"type\":\"UpgradeBlocked\",\"status\":\"True\",\"reason"
	 "\":\"x\",\"message\":\"why\",\"lastTransitionTime\":\"T\"}],\"availableV"
	 "ersion\":\"2\",\"candidates\":[{\"version\":\"1\",\"steps\":[\"no\"]},{\"v"
	 "ersion\":\"2\",\"steps\":[\"one\",\"two\"]}]}}",
	 "[{\"labels\":{\"alertname\":\"ALMUpgradeBlocked\",\"severity\":\"warn"
	 "ing\",\"app\":\"etcd\",\"version\":\"2\"},\"annotations\":{\"message\":\"w"
	 "hy\",\"steps\":\"1. one\\n2. two\"},\"startsAt\":\"T\"}]"},
	{"{\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\"},\"spec\":{\"upgrad"
	 "e\":{\"mode\":\"Automatic\"}},\"status\":{\"installedVersion\":\"1\",\"c"
	 "onditions\":[{\"type\":\"UpgradeBlocked\",\"status\":\"True\",\"reason"
	 "\":\"x\",\"message\":\"why\",\"lastTransitionTime\":\"T\"}],\"availableV"
	 "ersion\":\"2\"}}",
	 "[{\"labels\":{\"alertname\":\"ALMUpgradeBlocked\",\"severity\":\"warn"
	 "ing\",\"app\":\"etcd\",\"version\":\"2\"},\"annotations\":{\"message\":\"w"
	 "hy\"},\"startsAt\":\"T\"}]"},
	{"{\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\"},\"spec\":{\"upgrad"
	 "e\":{\"mode\":\"Automatic\"}},\"status\":{\"installedVersion\":\"1\",\"c"
	 "onditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"reason\":\"Degra"
	 "ded\",\"message\":\"why\",\"lastTransitionTime\":\"T\"}]}}",
	 "[{\"labels\":{\"alertname\":\"ALMDegraded\",\"severity\":\"critical\","
	 "\"app\":\"etcd\",\"version\":\"1\"},\"annotations\":{\"message\":\"why\"},"
	 "\"startsAt\":\"T\"}]"},
	{"{\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\"},\"spec\":{\"upgrad"
	 "e\":{\"mode\":\"Automatic\"}},\"status\":{\"installedVersion\":\"1\",\"c"
	 "onditions\":[{\"type\":\"Stalled\",\"status\":\"True\",\"reason\":\"x\",\""
	 "message\":\"why\",\"lastTransitionTime\":\"T\"}]}}",
	 "[{\"labels\":{\"alertname\":\"ALMReconcileFailing\",\"severity\":\"wa"
	 "rning\",\"app\":\"etcd\"},\"annotations\":{\"message\":\"why\"},\"starts"
	 "At\":\"T\"}]"},
	{"{\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":\"i\"},\"spec\":{\"a"
	 "ppTypeRef\":{\"name\":\"etcd\"},\"version\":\"2\"},\"status\":{\"phase\":"
	 "\"RolledBack\",\"steps\":[\"one\"],\"conditions\":[]}}",
	 "[{\"labels\":{\"alertname\":\"ALMUpgradeFailed\",\"severity\":\"criti"
	 "cal\",\"app\":\"etcd\",\"version\":\"2\"},\"annotations\":{\"message\":\"R"
	 "olledBack\",\"steps\":\"1. one\"}}]"},
	{"{\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":\"i\"},\"spec\":{\"a"
	 "ppTypeRef\":{\"name\":\"etcd\"},\"version\":\"2\"},\"status\":{\"phase\":"
	 "\"RolledBack\",\"steps\":[\"one\"],\"conditions\":[{\"type\":\"Verified"
	 "\",\"status\":\"False\",\"reason\":\"x\",\"message\":\"why\",\"lastTransit"
	 "ionTime\":\"T\"}]}}",
	 "[{\"labels\":{\"alertname\":\"ALMUpgradeFailed\",\"severity\":\"criti"
	 "cal\",\"app\":\"etcd\",\"version\":\"2\"},\"annotations\":{\"message\":\"w"
	 "hy\",\"steps\":\"1. one\"}}]"},
	{"{\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":\"i\"},\"spec\":{\"a"
	 "ppTypeRef\":{\"name\":\"etcd\"},\"version\":\"2\"},\"status\":{\"phase\":"
	 "\"Failed\",\"steps\":[\"one\"],\"conditions\":[]}}",
	 "[{\"labels\":{\"alertname\":\"ALMUpgradeFailed\",\"severity\":\"criti"
	 "cal\",\"app\":\"etcd\",\"version\":\"2\"},\"annotations\":{\"message\":\"F"
	 "ailed\",\"steps\":\"1. one\"}}]"},
	{"{\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":\"i\"},\"spec\":{\"a"
	 "ppTypeRef\":{\"name\":\"etcd\"},\"version\":\"2\"},\"status\":{\"phase\":"
	 "\"Failed\",\"steps\":[\"one\"],\"conditions\":[{\"type\":\"Verified\",\"s"
	 "tatus\":\"False\",\"reason\":\"x\",\"message\":\"why\",\"lastTransitionT"
	 "ime\":\"T\"}]}}",
	 "[{\"labels\":{\"alertname\":\"ALMUpgradeFailed\",\"severity\":\"criti"
	 "cal\",\"app\":\"etcd\",\"version\":\"2\"},\"annotations\":{\"message\":\"w"
	 "hy\",\"steps\":\"1. one\"}}]"},
	{"{\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":\"i\"},\"spec\":{\"a"
	 "ppTypeRef\":{\"name\":\"etcd\"},\"version\":\"2\"},\"status\":{\"phase\":"
	 "\"Blocked\",\"steps\":[\"one\"],\"conditions\":[{\"type\":\"Stalled\",\"s"
	 "tatus\":\"True\",\"reason\":\"x\",\"message\":\"why\",\"lastTransitionTi"
	 "me\":\"T\"}]}}",
	 "[{\"labels\":{\"alertname\":\"ALMReconcileFailing\",\"severity\":\"wa"
	 "rning\",\"app\":\"etcd\",\"version\":\"2\"},\"annotations\":{\"message\":"
	 "\"why\"},\"startsAt\":\"T\"}]"},
	{"{\"kind\":\"Catalog\",\"metadata\":{\"name\":\"c\"},\"status\":{\"conditi"
	 "ons\":[{\"type\":\"Synced\",\"status\":\"False\",\"reason\":\"x\",\"messag"
	 "e\":\"why\",\"lastTransitionTime\":\"T\"}]}}",
	 "[{\"labels\":{\"alertname\":\"ALMCatalogStale\",\"severity\":\"warnin"
	 "g\",\"catalog\":\"c\"},\"annotations\":{\"message\":\"why\"},\"startsAt\""
	 ":\"T\"}]"},
	{"{\"kind\":\"Catalog\",\"metadata\":{\"name\":\"c\"},\"status\":{\"conditi"
	 "ons\":[{\"type\":\"Synced\",\"status\":\"False\",\"reason\":\"x\",\"messag"
	 "e\":\"why\",\"lastTransitionTime\":\"T\"}],\"quarantined\":{\"reason\":"
	 "\"SuspiciousShrink\",\"since\":\"S\"}}}",
	 "[{\"labels\":{\"alertname\":\"ALMCatalogQuarantined\",\"severity\":\""
	 "warning\",\"catalog\":\"c\"},\"annotations\":{\"message\":\"Suspicious"
	 "Shrink\"},\"startsAt\":\"S\"}]"},
	{"{\"kind\":\"Catalog\",\"metadata\":{\"name\":\"c\"},\"status\":{\"conditi"
	 "ons\":[{\"type\":\"Stalled\",\"status\":\"True\",\"reason\":\"x\",\"messag"
	 "e\":\"why\",\"lastTransitionTime\":\"T\"}]}}",
	 "[{\"labels\":{\"alertname\":\"ALMReconcileFailing\",\"severity\":\"wa"
	 "rning\",\"catalog\":\"c\"},\"annotations\":{\"message\":\"why\"},\"start"
	 "sAt\":\"T\"}]"},
	{"{\"kind\":\"Bundle\",\"metadata\":{\"name\":\"web\"},\"status\":{\"revisi"
	 "on\":\"r\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"reas"
	 "on\":\"Stopped\",\"message\":\"why\",\"lastTransitionTime\":\"T\"},{\"ty"
	 "pe\":\"PruneHeld\",\"status\":\"True\",\"reason\":\"x\",\"message\":\"why\""
	 ",\"lastTransitionTime\":\"T\"}]}}",
	 "[{\"labels\":{\"alertname\":\"ALMInstallFailed\",\"severity\":\"criti"
	 "cal\",\"version\":\"r\",\"bundle\":\"web\"},\"annotations\":{\"message\":"
	 "\"why\"},\"startsAt\":\"T\"},{\"labels\":{\"alertname\":\"ALMPruneHeld\""
	 ",\"severity\":\"warning\",\"version\":\"r\",\"bundle\":\"web\"},\"annotat"
	 "ions\":{\"message\":\"why\"},\"startsAt\":\"T\"}]"},
	{"{\"kind\":\"Bundle\",\"metadata\":{\"name\":\"web\"},\"status\":{\"condit"
	 "ions\":[{\"type\":\"Stalled\",\"status\":\"True\",\"reason\":\"x\",\"messa"
	 "ge\":\"why\",\"lastTransitionTime\":\"T\"}]}}",
	 "[{\"labels\":{\"alertname\":\"ALMReconcileFailing\",\"severity\":\"wa"
	 "rning\",\"bundle\":\"web\"},\"annotations\":{\"message\":\"why\"},\"star"
	 "tsAt\":\"T\"}]"},
};

/* Each with all it has, of every kind: who is called at night reads this, and rules go by the labels. */
static void test_alerts_of__each_says_all_it_knows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all_alerts); i++) {
		CLEANUP(obj_unrefp) struct obj *o = parsed(all_alerts[i].object);
		CLEANUP(obj_unrefp) struct obj *list = alerts_of(o);
		CLEANUP(obj_unrefp) struct obj *want = parsed(all_alerts[i].alerts);
		CLEANUP(xfreep) char *text = json_text(list);
		if (!obj_equal(list, want))
			fail_msg("%s\n%s\n%s", all_alerts[i].object, text, all_alerts[i].alerts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alerts_of__each_says_all_it_knows),
		cmocka_unit_test(test_alerts_of__each_state_that_lasts_is_reported),
		cmocka_unit_test(test_alerts_of__a_blocked_upgrade_fires_in_mode_automatic_only),
		cmocka_unit_test(test_alerts_of__each_kind_has_its_alerts),
		cmocka_unit_test(test_alerts_of__a_bundle_that_rests_or_is_held),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
