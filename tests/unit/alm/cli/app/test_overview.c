/* What `alm status` says of objects as the server gives them. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/cli/app/overview.h"
#include "alm/obj/yaml.h"

static struct obj *parse(struct arena *a, const char *yaml)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(yaml_parse_one(str_of(yaml), &o, &err), &err);
	return obj_keep(a, o);
}

static struct obj *overview(struct arena *a, const char *apps, const char *strategies,
			    const char *catalogs, const char *only)
{
	const struct overview_input in = {.apps = parse(a, apps),
					  .strategies = parse(a, strategies),
					  .catalogs = parse(a, catalogs),
					  .only = only};
	return obj_keep(a, overview_new(&in, a));
}

static void expect(const char *apps, const char *strategies, const char *catalogs, const char *want)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	overview_print(overview(a, apps, strategies, catalogs, NULL), a, &b);
	assert_string_equal(b.buf, want);
}

#define NONE "items: []"
#define READY(status, reason, message)                                                        \
	"    - {type: Ready, status: \"" status "\", reason: " reason ", message: \"" message \
	"\"}\n"
#define READY_OF(message) "{type: Ready, status: \"False\", reason: x, message: \"" message "\"}"
#define APP(name, mode, status)                                                       \
	"items:\n- metadata: {name: " name "}\n  spec: {upgrade: {mode: " mode "}}\n" \
	"  status:\n    selfRef: " name ".x.io\n" status

static void test_overview__nothing_is_declared(void **state)
{
	(void)state;
	expect(NONE, NONE, NONE, "No app is declared: `kubectl create -f` an AppType.\n");
}

/* What took too long is said once, as the state that it is now. */
static void test_overview__an_overdue_state_is_told_once(void **state)
{
	(void)state;
	expect(APP("etcd", "Manual",
		   "    conditions:\n" READY(
			   "False", "Unresolved",
			   "catalog a was never read") "    - {type: StateOverdue, status: "
						       "\"True\", reason: Resolving, message: \""
						       "catalog a was never read\"}\n"),
	       NONE, NONE,
	       "APP    INSTALLED   AVAILABLE   MODE     READY   STATE\n"
	       "etcd   -           -           Manual   False   Unresolved\n\n"
	       "etcd: Unresolved: catalog a was never read\n"
	       "  next: alm why etcd\n");
}

static void test_overview__what_the_server_suffers_from_comes_first(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	const struct overview_input in = {.server = "its disk is full"};
	const struct obj *o = obj_keep(a, overview_new(&in, a));
	overview_print(o, a, &b);
	assert_string_equal(b.buf,
			    "server: its disk is full\n\nNo app is declared: `kubectl create "
			    "-f` an AppType.\n");
	assert_string_equal(obj_str(o, "server"), "its disk is full");
	assert_null(obj_str(o, "controller"));
}

static void test_overview__all_is_well(void **state)
{
	(void)state;
	expect(APP("etcd", "Automatic",
		   "    installedVersion: 0.9.4\n    availableVersion: 0.9.4\n    "
		   "conditions:\n" READY("True", "Installed", "0.9.4")),
	       "items: [{spec: {appTypeRef: {name: etcd}, version: 0.9.4}, status: {phase: "
	       "Succeeded, revision: 1}}]",
	       "items: [{metadata: {name: c}, status: {conditions: [{type: Synced, status: "
	       "\"True\", "
	       "reason: Synced}]}}]",
	       "APP    INSTALLED   AVAILABLE   MODE        READY   STATE\n"
	       "etcd   0.9.4       0.9.4       Automatic   True    Installed\n\nNothing waits.\n");
}

static const char waiting[] =
	APP("etcd", "Manual",
	    "    installedVersion: 0.9.4\n    availableVersion: 0.9.5\n    conditions:\n" READY(
		    "True", "AwaitingApproval", "x"));

static void test_overview__a_person_is_asked(void **state)
{
	(void)state;
	expect(waiting,
	       "items: [{spec: {appTypeRef: {name: etcd.x.io}, version: 0.9.5}, status: {phase: "
	       "AwaitingApproval, conditions: [{type: Approved, status: \"False\", reason: "
	       "ApprovalStale, message: \"approved plan sha256:0123456789abcdef0123, the plan is "
	       "now "
	       "sha256:fedcba9876543210fedc\"}]}}]",
	       NONE,
	       "APP    INSTALLED   AVAILABLE   MODE     READY   STATE\n"
	       "etcd   0.9.4       0.9.5       Manual   True    AwaitingApproval\n\n"
	       "etcd 0.9.5: ApprovalStale: approved plan sha256:0123456789ab…, the plan is now "
	       "sha256:fedcba987654…\n"
	       "  next: alm approve etcd 0.9.5 --reason TEXT\n");
}

static void test_overview__work_goes_on_by_itself(void **state)
{
	(void)state;
	expect(waiting,
	       "items: [{spec: {appTypeRef: {name: etcd}, version: 2}, status: {phase: Verifying, "
	       "conditions: [{type: Available, status: \"False\", reason: NotReady, message: "
	       "\"Deployment etcd/x: 1 of 2\"}]}}]",
	       NONE,
	       "APP    INSTALLED   AVAILABLE   MODE     READY   STATE\n"
	       "etcd   0.9.4       0.9.5       Manual   True    AwaitingApproval\n\n"
	       "etcd 2: Verifying: Deployment etcd/x: 1 of 2\n"
	       "  next: nothing to do, it goes on by itself\n");
}

/* Nothing goes on by itself where the step says what to correct. */
static void test_overview__what_is_refused_does_not_go_on_by_itself(void **state)
{
	(void)state;
	expect(waiting,
	       "items: [{metadata: {name: i.2}, spec: {appTypeRef: {name: etcd}, version: 2}, "
	       "status: {phase: Installing, conditions: [{type: Available, status: \"False\", "
	       "reason: Refused, message: \"no\"}, {type: Stalled, status: \"True\", reason: "
	       "Refused, message: \"Deployment etcd/x: no\"}]}}]",
	       NONE,
	       "APP    INSTALLED   AVAILABLE   MODE     READY   STATE\n"
	       "etcd   0.9.4       0.9.5       Manual   True    AwaitingApproval\n\n"
	       "etcd 2: Refused: Deployment etcd/x: no\n"
	       "  next: kubectl describe installstrategy/i.2\n"
	       "          correct what the message names: the server refuses it as it is\n");
}

/* A version that strategy and app both call blocked is told once, with the steps of who has any. */
static void test_overview__a_blocked_version_is_told_once(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	static const char app[] =
		"items:\n- metadata: {name: etcd}\n  status:\n    installedVersion: 0.9.4\n"
		"    availableVersion: 0.9.5\n    candidates: [{version: 0.9.5, reason: "
		"CRDIncompatible%s}]\n    conditions:\n"
		"    - {type: UpgradeBlocked, status: \"True\", reason: CRDIncompatible, message: "
		"m}\n";
	static const char strategy[] =
		"items: [{spec: {appTypeRef: {name: etcd}, version: 0.9.5}, status: {phase: "
		"Blocked%s, conditions: [{type: CRDCompatible, status: \"False\", reason: "
		"CRDIncompatible, message: m}]}}]";
	static const struct {
		const char *app, *strategy, *want;
	} cases[] = {
		{"", "", "alm why-not etcd 0.9.5"},
		{", steps: [alm a]", "", "alm a"},
		{"", ", steps: [alm s]", "alm s"},
		{", steps: [alm a]", ", steps: [alm s]", "alm s"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct obj *o = overview(a, arena_fmt(a, app, cases[i].app),
					 arena_fmt(a, strategy, cases[i].strategy), NONE, "etcd");
		const struct obj *waits = obj_get(obj_at(obj_get(o, "apps"), 0), "waits");
		const struct obj *next = obj_get(obj_at(waits, 0), "next");
		assert_int_equal(obj_len(waits), 1);
		assert_int_equal(obj_len(next), 1);
		assert_string_equal(obj_as_string(obj_at(next, 0)), cases[i].want);
	}
}

static void test_overview__a_failure_is_told_until_a_later_success(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	static const char failed[] =
		"items: [{spec: {appTypeRef: {name: etcd}, version: 0.9.5}, status: {phase: "
		"RolledBack, revision: 2, conditions: [{type: Verified, status: \"False\", reason: "
		"CheckFailed, message: no}]}}, {spec: {appTypeRef: {name: etcd}, version: 0.9.4}, "
		"status: {phase: Succeeded, revision: %d}}]";
	for (int revision = 1; revision <= 3; revision += 2) {
		struct obj *o = overview(a, waiting, arena_fmt(a, failed, revision), NONE, "etcd");
		const struct obj *waits = obj_get(obj_at(obj_get(o, "apps"), 0), "waits");
		assert_int_equal(obj_len(waits), revision == 1);
		if (revision == 1)
			assert_string_equal(
				obj_as_string(obj_at(obj_get(obj_at(waits, 0), "next"), 0)),
				"alm retry etcd 0.9.5");
	}
}

/* Every step that is shown can be run as it is: a manifest is not one line. */
static void test_overview__a_manifest_is_no_line(void **state)
{
	(void)state;
	expect(APP("etcd", "Automatic",
		   "    installedVersion: 0.9.6\n    availableVersion: 1.0.0\n    candidates:\n"
		   "    - {version: 1.0.0, reason: ResourceDropped, steps: [\"alm rbac etcd | "
		   "kubectl "
		   "apply -f -\", \"kubectl apply -f - <<'END'\\nkind: Role\\nEND\"]}\n"
		   "    conditions:\n" READY("True", "UpgradeBlocked",
					     "m") "    - {type: "
						  "UpgradeBlocked, status: \"True\", reason: "
						  "ResourceDropped, message: m}\n"),
	       NONE, NONE,
	       "APP    INSTALLED   AVAILABLE   MODE        READY   STATE\n"
	       "etcd   0.9.6       1.0.0       Automatic   True    UpgradeBlocked\n\n"
	       "etcd 1.0.0: ResourceDropped: m\n"
	       "  next: alm rbac etcd | kubectl apply -f -\n");
}

static void test_overview__a_block_has_its_steps(void **state)
{
	(void)state;
	expect(APP("etcd", "Automatic",
		   "    installedVersion: 0.9.6\n    availableVersion: 1.0.0\n    candidates:\n"
		   "    - {version: 1.0.0, reason: ResourceDropped, steps: [\"alm crd migrate "
		   "etcds.x.io "
		   "--to v2 # rewrites 1 object\", \"alm wait x\"]}\n    conditions:\n" READY(
			   "True", "UpgradeBlocked",
			   "m") "    - {type: UpgradeBlocked, status: \"True\", reason: "
				"ResourceDropped, message: "
				"\"1.0.0 drops etcds.x.io/v1\"}\n"),
	       NONE, NONE,
	       "APP    INSTALLED   AVAILABLE   MODE        READY   STATE\n"
	       "etcd   0.9.6       1.0.0       Automatic   True    UpgradeBlocked\n\n"
	       "etcd 1.0.0: ResourceDropped: 1.0.0 drops etcds.x.io/v1\n"
	       "  next: alm crd migrate etcds.x.io --to v2\n"
	       "          rewrites 1 object\n"
	       "        alm wait x\n");
}

static void expect_gate(const char *reason, const char *message, const char *want)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	const char *app =
		arena_fmt(a,
			  "items: [{metadata: {name: etcd}, status: {conditions: [{type: Ready, "
			  "status: \"True\", reason: UpgradeAvailable}, {type: "
			  "UpgradeAvailable, status: \"True\", reason: %s, message: \"%s\"}]}}]",
			  reason, message);
	overview_print(overview(a, app, NONE, NONE, NULL), a, &b);
	assert_non_null(strstr(b.buf, want));
}

static void test_overview__time_and_mode_hold_a_version_back(void **state)
{
	(void)state;
	expect_gate("ModeNone", "0.9.6",
		    "etcd 0.9.6: ModeNone: it can be installed, but mode None "
		    "installs nothing by itself\n  next: alm upgrade etcd --to 0.9.6\n");
	expect_gate("Paused", "0.9.6",
		    "next: kubectl patch apptype etcd --type=merge -p "
		    "'{\"spec\":{\"paused\":false}}'\n");
	expect_gate("Soaking", "0.9.6; Soaking until Fri 18:00Z",
		    "etcd 0.9.6: Soaking: until Fri 18:00Z\n  next: nothing to do, it goes "
		    "on by "
		    "itself\n");
	expect_gate("Unreadable", "0.9.6; Unreadable: spec.upgrade.soak: \\\"x\\\" is no duration",
		    "etcd 0.9.6: Unreadable: spec.upgrade.soak: \"x\" is no "
		    "duration\n  next: kubectl edit apptype etcd\n");
	expect_gate("NewerInstallable", "0.9.6", "Nothing waits.\n");
}

/* Nothing runs, and nothing starts: one line, one step. */
static void test_overview__a_pause_is_told_once(void **state)
{
	(void)state;
	expect(APP("etcd", "Automatic",
		   "    conditions:\n" READY("False", "Unresolved",
					     "Paused") "    - {type: Paused, "
						       "status: \"True\", reason: Paused, message: "
						       "\"nothing new starts\"}\n"),
	       NONE, NONE,
	       "APP    INSTALLED   AVAILABLE   MODE        READY   STATE\n"
	       "etcd   -           -           Automatic   False   Unresolved\n\n"
	       "etcd: Paused: nothing new starts\n"
	       "  next: kubectl patch apptype etcd --type=merge -p "
	       "'{\"spec\":{\"paused\":false}}'\n");
}

static void test_overview__a_catalog_in_trouble(void **state)
{
	(void)state;
	expect(NONE, NONE,
	       "items: [{metadata: {name: community}, status: {conditions: [{type: Synced, status: "
	       "\"False\", reason: SourceUnreachable, message: no such folder}]}}]",
	       "No app is declared: `kubectl create -f` an AppType.\n\n"
	       "catalog community: SourceUnreachable: no such folder\n"
	       "  next: alm describe catalog community\n");
}

/* Objects of another program's making: nothing is taken for granted. */
static void test_overview__empty_objects(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	overview_print(overview(a, "items: [{metadata: {name: x}}, {}]",
				"items: [{}, {spec: 1}, {spec: {appTypeRef: {name: x}}, status: "
				"{phase: Blocked}}]",
				"items: [{}]", NULL),
		       a, &b);
	assert_non_null(strstr(b.buf, "alm why-not x"));
}

/* Five kinds of trouble at once: each is told, none hides another. */
static void test_overview__all_that_is_wrong_is_named(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	static const char *const want[] = {"Paused", "CatalogStale", "Drifted", "ReplicasLow",
					   "DependencyUnresolved"};
	const struct obj *o = overview(a,
				       APP("etcd", "Automatic",
					   "    installedVersion: 0.9.4\n    "
					   "conditions:\n" READY("False", "DependencyUnresolved",
								 "no catalog offers "
								 "certificates.cert-manager.io/"
								 "v1") "    - {type: "
								       "UpgradeAvailable, "
								       "status: \"True\", "
								       "reason: "
								       "AwaitingApproval, "
								       "message: 0.9.5}\n"
								       "    - {type: Paused, "
								       "status: \"True\", "
								       "reason: Paused, "
								       "message: stop}\n"
								       "    - {type: "
								       "CatalogStale, status: "
								       "\"True\", reason: "
								       "CatalogStale, message: "
								       "old}\n"
								       "    - {type: Drifted, "
								       "status: \"True\", "
								       "reason: Drifted, "
								       "message: two}\n"
								       "    - {type: Degraded, "
								       "status: \"True\", "
								       "reason: ReplicasLow, "
								       "message: "
								       "one}\n"),
				       NONE, NONE, NULL);
	const struct obj *waits = obj_get(obj_at(obj_get(o, "apps"), 0), "waits");
	assert_int_equal(obj_len(waits), ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		bool found = false;
		for (size_t k = 0; k < obj_len(waits); k++)
			found |= !strcmp(obj_str(obj_at(waits, k), "reason"), want[i]);
		if (!found)
			fail_msg("%s is not named", want[i]);
	}
}

/* An app on its way out is no app for which nothing waits. */
static void test_overview__a_deletion_goes_on(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	const struct obj *o = overview(
		a,
		"items:\n- metadata: {name: etcd, deletionTimestamp: \"2026-11-20T12:00:00Z\"}\n"
		"  status:\n    conditions:\n" READY("True", "Installed", "0.9.4"),
		NONE, NONE, NULL);
	const struct obj *waits = obj_get(obj_at(obj_get(o, "apps"), 0), "waits");
	assert_int_equal(obj_len(waits), 1);
	assert_string_equal(obj_str(obj_at(waits, 0), "reason"), "Deleting");
}

static void test_overview__a_strategy_that_is_deleted_while_its_app_lives(void **state)
{
	(void)state;
	expect(APP("web", "Automatic",
		   "    installedVersion: 0.1.0\n    availableVersion: 0.1.0\n    "
		   "conditions:\n" READY("True", "Installed", "0.1.0")),
	       "items: [{metadata: {name: install.0.1.0.web, deletionTimestamp: "
	       "\"2026-01-01T00:00:00Z\"}, spec: {appTypeRef: {name: web}, version: 0.1.0}, "
	       "status: {phase: Succeeded, revision: 1}}]",
	       NONE,
	       "APP   INSTALLED   AVAILABLE   MODE        READY   STATE\n"
	       "web   0.1.0       0.1.0       Automatic   True    Installed\n"
	       "\nweb 0.1.0: Deleting: what its strategy installed is the app's now; the strategy "
	       "goes, and is made again if it is still chosen, when no late write of it can come "
	       "any more: a minute after its last one\n"
	       "  next: nothing to do, it goes on by itself\n");
}

static void test_overview__bundles(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	struct overview_input in = {
		.apps = parse(a, NONE),
		.strategies = parse(a, NONE),
		.catalogs = parse(a, NONE),
		.bundles = parse(
			a, "items:\n- metadata: {name: web}\n  status: {state: AwaitingApproval, "
			   "revision: \"git:1\", conditions: [" READY_OF(
				   "PruneHeld: 15") "]}\n"
						    "- metadata: {name: base}\n  status: {state: "
						    "Synced, revision: \"git:2\"}\n"
						    "- metadata: {name: new}\n"),
	};
	overview_print(obj_keep(a, overview_new(&in, a)), a, &b);
	assert_string_equal(b.buf, "bundle web: AwaitingApproval git:1: PruneHeld: 15\n"
				   "  next: alm approve bundle/web --prune --reason TEXT\n"
				   "\nbundle base: Synced git:2\n\nbundle new: - -\n");
	strbuf_clear(&b);
	in.only = "etcd"; /* of one app */
	assert_int_equal(obj_len(obj_get(obj_keep(a, overview_new(&in, a)), "bundles")), 0);
}

static void test_overview__a_bundle_that_rests_in_a_failure(void **state)
{
	(void)state;
	static const char *const rests[] = {"Invalid", "SourceFailed", "Blocked", "Stopped",
					    "RolledBack"};
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	for (size_t i = 0; i <= ARRAY_LEN(rests); i++) {
		const char *is = i < ARRAY_LEN(rests) ? rests[i] : "Degraded";
		struct overview_input in = {
			.bundles = parse(a, arena_fmt(a,
						      "items: [{metadata: {name: web}, status: "
						      "{state: %s}}]",
						      is))};
		const struct obj *o = obj_keep(a, overview_new(&in, a));
		const struct obj *row = obj_at(obj_get(o, "bundles"), 0);
		assert_string_equal(obj_as_string(obj_at(obj_get(row, "next"), 0)),
				    i < ARRAY_LEN(rests) ? "alm retry bundle/web"
							 : "alm describe bundle web");
	}
}

static void test_overview__orphans_count_down(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	struct overview_input in = {
		.now_ns = 10 * NS_PER_S,
		.bundles = parse(
			a,
			"items:\n"
			"- metadata: {name: web}\n"
			"  status:\n"
			"    state: Synced\n"
			"    revision: \"git:1\"\n"
			"    orphans:\n"
			"    - {kind: Pod, namespace: team, name: a, deleteAt: "
			"\"1970-01-01T00:05:00Z\"}\n"
			"    - {kind: Pod, namespace: team, name: b, message: \"being deleted: "
			"finalizer x/y\"}\n"
			"- metadata: {name: held}\n"
			"  status:\n"
			"    state: Synced\n"
			"    orphans: [{kind: Pod, namespace: team, name: c}]\n"
			"    conditions: [{type: PruneHeld, status: \"True\", reason: "
			"OrphansHeld, message: 11 objects}]\n"
			"- metadata: {name: blind}\n"
			"  status:\n"
			"    state: Synced\n"
			"    conditions: [{type: OrphansUnknown, status: \"True\", reason: "
			"ListFailed, message: forbidden}]\n"
			"- {metadata: {name: rests}, status: {state: Synced, conditions: [{type: "
			"Paused, status: \"True\", reason: Paused, message: spec.paused}]}}\n"),
	};
	overview_print(obj_keep(a, overview_new(&in, a)), a, &b);
	assert_string_equal(b.buf,
			    "bundle web: Synced git:1\n"
			    "  Orphan Pod team/a: not declared; deleted in 4m50s\n"
			    "  Orphan Pod team/b: not declared; being deleted: finalizer x/y\n"
			    "\nbundle held: Synced -\n"
			    "  Orphan Pod team/c: not declared; it is held\n"
			    "  PruneHeld: 11 objects\n"
			    "  next: alm approve bundle/held --prune --reason TEXT\n"
			    "\nbundle blind: Synced -\n"
			    "  Orphans are not known: forbidden\n"
			    "  next: alm describe bundle blind\n"
			    "\nbundle rests: Synced -\n"
			    "  spec.paused is true: no push is applied\n");
}

static void test_overview__a_reconcile_that_fails_is_named(void **state)
{
	(void)state;
	expect(APP("web", "Automatic",
		   "    installedVersion: 0.1.0\n    availableVersion: 0.1.0\n    "
		   "conditions:\n" READY("True", "Installed", "0.1.0")),
	       "items: [{metadata: {name: install.0.2.0.web}, spec: {appTypeRef: {name: web}, "
	       "version: 0.2.0}, status: {phase: Succeeded, revision: 2, conditions: [{type: "
	       "Stalled, status: \"True\", reason: Conflict, message: who}]}}]",
	       "items: [{metadata: {name: c}, status: {conditions: [{type: Synced, status: "
	       "\"True\", reason: Synced}, {type: Stalled, status: \"True\", reason: "
	       "LimitExceeded, message: large}]}}]",
	       "APP   INSTALLED   AVAILABLE   MODE        READY   STATE\n"
	       "web   0.1.0       0.1.0       Automatic   True    Installed\n"
	       "\nweb 0.2.0: Conflict: who\n"
	       "  next: kubectl get -o yaml --show-managed-fields "
	       "installstrategy/install.0.2.0.web\n"
	       "          find who else writes what the message names, and let one of them go\n"
	       "\ncatalog c: LimitExceeded: large\n  next: alm describe catalog c\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overview__nothing_is_declared),
		cmocka_unit_test(test_overview__an_overdue_state_is_told_once),
		cmocka_unit_test(test_overview__what_the_server_suffers_from_comes_first),
		cmocka_unit_test(test_overview__all_is_well),
		cmocka_unit_test(test_overview__a_person_is_asked),
		cmocka_unit_test(test_overview__work_goes_on_by_itself),
		cmocka_unit_test(test_overview__a_blocked_version_is_told_once),
		cmocka_unit_test(test_overview__what_is_refused_does_not_go_on_by_itself),
		cmocka_unit_test(test_overview__a_failure_is_told_until_a_later_success),
		cmocka_unit_test(test_overview__a_block_has_its_steps),
		cmocka_unit_test(test_overview__a_manifest_is_no_line),
		cmocka_unit_test(test_overview__time_and_mode_hold_a_version_back),
		cmocka_unit_test(test_overview__a_pause_is_told_once),
		cmocka_unit_test(test_overview__a_catalog_in_trouble),
		cmocka_unit_test(test_overview__empty_objects),
		cmocka_unit_test(test_overview__all_that_is_wrong_is_named),
		cmocka_unit_test(test_overview__a_deletion_goes_on),
		cmocka_unit_test(test_overview__a_strategy_that_is_deleted_while_its_app_lives),
		cmocka_unit_test(test_overview__bundles),
		cmocka_unit_test(test_overview__a_bundle_that_rests_in_a_failure),
		cmocka_unit_test(test_overview__orphans_count_down),
		cmocka_unit_test(test_overview__a_reconcile_that_fails_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
