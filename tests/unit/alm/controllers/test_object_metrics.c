/* Each series of lifecycle.md 4.5 that no object of an app tells, moved and taken away. */
#include "tests/lib/test.h"

#include "alm/audit/audit.h"
#include "alm/base/arena.h"
#include "alm/base/clock.h"
#include "alm/controllers/object_metrics.h"
#include "alm/io/metrics.h"
#include "alm/obj/yaml.h"

static int64_t now_ns;

static int64_t now(void *arg)
{
	(void)arg;
	return now_ns;
}

static struct obj *yaml(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o;
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return o;
}

/* want NULL: nothing of that name */
static void check(const struct metrics *m, const char *name, const char *want)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	metrics_print(m, &b);
	bool there = str_contains(strbuf_str(&b), str_of(want ? want : name));
	if (there != (want != NULL))
		fail_msg("%s of %s\n%s", want ? want : "something", name, b.buf);
}

static void test_object_metrics__phases_and_approvals(void **state)
{
	(void)state;
	CLEANUP(metrics_freep) struct metrics *m = metrics_new();
	CLEANUP(obj_unrefp) struct obj *pending =
		yaml("kind: InstallStrategy\nmetadata: {name: i}\nspec: {appTypeRef: {name: a}}\n"
		     "status: {phase: Pending, phaseSince: '2026-01-01T00:00:00Z'}");
	CLEANUP(obj_unrefp) struct obj *waiting =
		yaml("kind: InstallStrategy\nmetadata: {name: i}\nspec: {appTypeRef: {name: a}}\n"
		     "status: {phase: AwaitingApproval, phaseSince: '2026-01-01T00:00:30Z'}");
	assert_true(clock_parse(STR("2026-01-01T00:01:00Z"), &now_ns));
	metrics_set_clock(m, now, NULL);
	object_metrics_strategy(m, NULL, pending, false);
	check(m, "alm_phase_seconds", NULL);
	object_metrics_strategy(m, pending, waiting, false);
	check(m, "alm_phase_seconds", "alm_phase_seconds_sum{phase=\"Pending\"} 30.000000000\n");
	check(m, "alm_phase_seconds", "# TYPE alm_phase_seconds summary\n");
	check(m, "pending", "alm_approval_pending_seconds{app=\"a\"} 30.000000000\n");
	now_ns += NS_PER_MIN;
	metrics_drop(m, "app=\"a\"");
	check(m, "pending", "alm_approval_pending_seconds{app=\"a\"} 90.000000000\n");
	object_metrics_strategy(m, waiting, pending, false);
	check(m, "alm_approval_pending_seconds", NULL);
	object_metrics_strategy(m, pending, waiting, false);
	object_metrics_strategy(m, waiting, waiting, true);
	check(m, "alm_approval_pending_seconds", NULL);
	CLEANUP(obj_unrefp) struct obj *timeless =
		yaml("kind: InstallStrategy\nmetadata: {name: i}\nspec: {appTypeRef: {name: a}}\n"
		     "status: {phase: AwaitingApproval}");
	object_metrics_strategy(m, pending, timeless, false);
	check(m, "alm_approval_pending_seconds", NULL);
}

static void test_object_metrics__what_is_overdue(void **state)
{
	(void)state;
	CLEANUP(metrics_freep) struct metrics *m = metrics_new();
	CLEANUP(obj_unrefp) struct obj *o =
		yaml("kind: AppType\nmetadata: {name: a}\nstatus: {conditions: [{type: "
		     "StateOverdue, status: 'True', reason: x, message: y}]}");
	CLEANUP(obj_unrefp) struct obj *fine = yaml("kind: AppType\nmetadata: {name: a}");
	object_metrics_overdue(m, o, false);
	check(m, "overdue", "alm_state_overdue{kind=\"AppType\",name=\"a\"} 1\n");
	object_metrics_overdue(m, fine, false);
	check(m, "alm_state_overdue", NULL);
}

static void test_object_metrics__catalogs(void **state)
{
	(void)state;
	CLEANUP(metrics_freep) struct metrics *m = metrics_new();
	CLEANUP(obj_unrefp) struct obj *one = yaml("metadata: {name: c}\nstatus: {digest: d1, "
						   "rejected: [{}, {}], rejectedOmitted: 5}");
	CLEANUP(obj_unrefp) struct obj *two = yaml("metadata: {name: c}\nstatus: {digest: d2}");
	object_metrics_synced(m, "c", 7 * NS_PER_S);
	object_metrics_catalog(m, one, false);
	check(m, "info", "alm_catalog_info{catalog=\"c\",digest=\"d1\"} 1\n");
	check(m, "rejected", "alm_catalog_entries_rejected{catalog=\"c\"} 7\n");
	object_metrics_catalog(m, two, false);
	check(m, "d1", NULL);
	check(m, "info", "alm_catalog_info{catalog=\"c\",digest=\"d2\"} 1\n");
	check(m, "rejected", "alm_catalog_entries_rejected{catalog=\"c\"} 0\n");
	check(m, "last", "alm_catalog_last_success_timestamp_seconds{catalog=\"c\"} 7\n");
	object_metrics_catalog(m, two, true);
	check(m, "alm_catalog", NULL);
}

static void test_object_metrics__a_bundle(void **state)
{
	(void)state;
	CLEANUP(metrics_freep) struct metrics *m = metrics_new();
	CLEANUP(obj_unrefp) struct obj *held =
		yaml("metadata: {name: web}\nstatus: {state: Rolling, conditions: [{type: "
		     "AnalysisHeld, status: 'True', reason: x, message: y}]}");
	CLEANUP(obj_unrefp) struct obj *done =
		yaml("metadata: {name: web}\nstatus: {state: Synced}");
	object_metrics_bundle(m, held, false);
	check(m, "alm_bundle_state{", "alm_bundle_state{bundle=\"web\",state=\"Rolling\"} 1\n");
	check(m, "alm_bundle_held{", "alm_bundle_held{bundle=\"web\",reason=\"AnalysisHeld\"} 1\n");
	object_metrics_bundle(m, done, false);
	check(m, "alm_bundle_state{", "alm_bundle_state{bundle=\"web\",state=\"Synced\"} 1\n");
	check(m, "alm_bundle_held", NULL);
	object_metrics_bundle(m, done, true);
	check(m, "alm_bundle", NULL);
}

static void test_object_metrics__a_migration(void **state)
{
	(void)state;
	CLEANUP(metrics_freep) struct metrics *m = metrics_new();
	CLEANUP(obj_unrefp) struct obj *o =
		yaml("metadata: {name: x, annotations: {app.coreos.com/migration: "
		     "'{\"remaining\":5}'}}");
	CLEANUP(obj_unrefp) struct obj *over = yaml("metadata: {name: x}");
	object_metrics_crd(m, o, false);
	check(m, "remaining", "alm_migration_remaining{crd=\"x\"} 5\n");
	object_metrics_crd(m, over, false);
	check(m, "alm_migration_remaining", NULL);
}

static void test_object_metrics__records_and_searches(void **state)
{
	(void)state;
	CLEANUP(metrics_freep) struct metrics *m = metrics_new();
	CLEANUP(obj_unrefp) struct obj *judged =
		yaml("findings: [{rule: EnumNarrowed, outcome: warn}, {rule: EnumNarrowed, "
		     "outcome: warn}]");
	CLEANUP(obj_unrefp) struct obj *drift = yaml("app: a");
	struct audit_row row = {.type = "Observe", .reason = "CRDJudged", .body = judged};
	object_metrics_row(m, &row);
	row = (struct audit_row){.type = "Observe", .reason = "Drifted", .body = drift};
	object_metrics_row(m, &row);
	object_metrics_row(m, &row);
	object_metrics_resolved(m, NS_PER_S / 2, 3);
	check(m, "rows", "alm_audit_rows_total{type=\"Observe\",reason=\"Drifted\"} 2\n");
	check(m, "gate", "alm_gate_findings_total{rule=\"EnumNarrowed\",outcome=\"warn\"} 2\n");
	check(m, "drift", "alm_drift_repaired_total{app=\"a\"} 2\n");
	check(m, "took", "alm_resolve_seconds_count 1\nalm_resolve_seconds_sum 0.500000000\n");
	check(m, "tried", "alm_resolve_decisions_sum 3\n");
	object_metrics_resolved(NULL, 0, 0);
}

/* Who has none asked for is told nothing. */
static void test_object_metrics__without_any(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *o =
		yaml("{kind: Catalog, metadata: {name: n, annotations: {app.coreos.com/migration: "
		     "'{\"remaining\":1}'}}, status: {state: Ready, phase: Failed, digest: d}}");
	for (int gone = 0; gone < 2; gone++) {
		object_metrics_overdue(NULL, o, gone);
		object_metrics_strategy(NULL, NULL, o, gone);
		object_metrics_strategy(NULL, o, o, gone);
		object_metrics_catalog(NULL, o, gone);
		object_metrics_crd(NULL, o, gone);
		object_metrics_bundle(NULL, o, gone);
	}
	object_metrics_synced(NULL, "n", 1);
	object_metrics_resolved(NULL, 1, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_object_metrics__without_any),
		cmocka_unit_test(test_object_metrics__phases_and_approvals),
		cmocka_unit_test(test_object_metrics__what_is_overdue),
		cmocka_unit_test(test_object_metrics__catalogs),
		cmocka_unit_test(test_object_metrics__a_bundle),
		cmocka_unit_test(test_object_metrics__a_migration),
		cmocka_unit_test(test_object_metrics__records_and_searches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
