/* A Bundle of mode Namespace, whose orphans wait for their grace, and of which too many wait for somebody; and one
 * with a Rollout: a canary that is good, one that fails, one without figures, and steps that fail and are rolled back. */
#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/unit/canary.h"
#include "crds/marks.h"
#include "tests/sim/bundles.h"
#include "tests/sim/scenarios.h"

#define TREE(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}
#define THEIRS(name) \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name "\"}}"

/* --- what nobody declared --- */

#define GRACE_NS (20 * SEC)

TREE(one, "a.yaml", CM("a", "1"), "b.yaml", CM("b", "1"));
TREE(declared, "a.yaml", CM("a", "1"), "stray-d.yaml", CM("stray-d", "1"));

static const struct git_table_commit sweep_commits[] = {{"one", one}, {"declared", declared}, {0}};

static const struct user_action sweep_actions[] = {
	PUSH(0, "1"),
	{0, DO_CREATE, MAPS, THEIRS("before"), NULL}, /* the mode is another one then */
	{0, DO_CREATE, BUNDLES,
	 BUNDLE("60s", "\"adopt\":\"Unowned\",\"prune\":{\"mode\":\"Namespace\",\"namespaces\":["
		       "\"default\"],\"grace\":\"20s\","
		       "\"maxDeletes\":2}"),
	 NULL},
	{0, DO_UNTIL, WEB, "status.state=Synced", NULL},
	{0, DO_GONE, MAPS "/before", NULL, NULL},
	{0, DO_CREATE, MAPS, THEIRS("stray-a"), NULL},
	{0, DO_GONE, MAPS "/stray-a", NULL, NULL},
	/* three are too many */
	{0, DO_CREATE, MAPS, THEIRS("stray-b"), NULL},
	{0, DO_CREATE, MAPS, THEIRS("stray-c"), NULL},
	{0, DO_CREATE, MAPS, THEIRS("stray-d"), NULL},
	{0, DO_UNTIL, WEB, "@PruneHeld=OrphansHeld", NULL},
	{60 * SEC, DO_APPEAR, MAPS "/stray-b", NULL, NULL},
	PUSH(0, "2"), /* one is declared, and b goes: a revision does not wait for orphans */
	{0, DO_UNTIL, MAPS "/stray-d", "data.v=1", NULL},
	{0, DO_GONE, MAPS "/b", NULL, NULL},
	{0, DO_GONE, MAPS "/stray-b", NULL, NULL},
	{0, DO_GONE, MAPS "/stray-c", NULL, NULL},
	{60 * SEC, DO_APPEAR, MAPS "/stray-d", NULL, NULL},
	{0},
};

static bool is_stray(const struct obj *o)
{
	const char *name = meta_name(o);
	return cstr_has_prefix(name, "stray") || !strcmp(name, "before");
}

/* What has no marks of ours goes when it has been there for its grace, and no sooner. */
static void sweep_observe(struct world *w, const struct http_request *r, bool faulty)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	const char *name = strrchr(r->path, '/') + 1;
	int64_t made = 0;
	if (strcmp(r->method, "DELETE") != 0 || !faulty) {
		runner_observe(w, r, faulty);
		return;
	}
	const struct obj *live = world_stored(w, arena_fmt(a, "/configmaps/default/%s", name), a);
	if (!live || meta_annotation(live, ANNOTATION_OWNER_ID)) {
		bundles_observe(w, r, faulty);
		return;
	}
	/* creationTimestamp has whole seconds */
	int64_t now = SIM_EPOCH_NS + w->sim.mono_ns + w->sim.wall_offset_ns;
	(void)clock_parse(str_of(obj_str(live, "metadata.creationTimestamp")), &made);
	if (!faults_move_clocks(&w->faults) && now - made < GRACE_NS)
		world_fail(w, "DELETE %s, which is there for %lld s", r->path,
			   (long long)((now - made) / SEC));
}

static int sweep_converged(struct world *w, struct error *err)
{
	static const struct bundles_want list[] = {
		{"a", "1"},        {"b", NULL},       {"before", NULL}, {"stray-a", NULL},
		{"stray-b", NULL}, {"stray-c", NULL}, {"stray-d", "1"}, {0}};
	return bundles_converged(w, list, err);
}

const struct scenario scenario_bundle_sweep = {
	.name = "bundle-sweep",
	.about = "a Bundle, and what nobody has declared in its namespace",
	.actions = sweep_actions,
	.program = &operators_program,
	.commits = sweep_commits,
	.observe = sweep_observe,
	.is_stray = is_stray,
	.converged = sweep_converged,
};

/* --- a canary, and a rollback --- */

#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"
#define P           DEPLOYMENTS "/web"
#define C           DEPLOYMENTS "/web-canary"
#define ROLLOUTS    "/apis/app.coreos.com/v1alpha1/rollouts"
#define POD(v, annotations)                                                                    \
	"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {v: '" v        \
	"'}}, spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: "             \
	"{metadata: {labels: {app: web}, annotations: {" annotations "}}, spec: {containers: " \
	"[{name: c, image: 'web:" v "'}]}}}}"
#define CANARY(steps, more)                                                            \
	"{\"groups\":[{\"name\":\"g\",\"steps\":[{\"object\":\"web.yaml\",\"action\":" \
	"\"Canary\",\"canary\":{\"steps\":[" steps "]}" more "}]}]}"
/* Nobody answers there. */
#define METRIC                                                                                  \
	",\"success\":[{\"prometheus\":{\"address\":\"service://mon/p:9090\",\"query\":\"up\"," \
	"\"interval\":\"5s\",\"count\":2,\"successCondition\":\"result > 0\"}}]"

TREE(good, "web.yaml", POD("1", ""), "cm.yaml", CM("cm", "1"));
TREE(better, "web.yaml", POD("2", ""), "cm.yaml", CM("cm", "2"));
TREE(bad, "web.yaml", POD("3", "app.coreos.com/simulate: ImagePullBackOff"), "cm.yaml",
     CM("cm", "3"), "new.yaml", CM("new", "3"));
TREE(unknown, "web.yaml", POD("4", ""), "cm.yaml", CM("cm", "4"));

TREE(lasting, "web.yaml", POD("5", ""), "cm.yaml", CM("cm", "5"));
TREE(without, "cm.yaml", CM("cm", "6"));

static const struct git_table_commit canary_commits[] = {
	{"good", good},    {"better", better},   {"bad", bad}, {"unknown", unknown},
	{"long", lasting}, {"without", without}, {0}};

static void is_untouched(struct world *w)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *p = NULL;
	if (world_get(w, P, &p, &err) != 200 || !world_has(p, "metadata.labels.v=2"))
		world_fail(w, "without data the live Deployment is not as it was");
}

static void crash(struct world *w)
{
	world_crash_program(w, KEEP_ALL);
}

static const struct user_action canary_actions[] = {
	PUSH(0, "1"),
	{0, DO_CREATE, ROLLOUTS,
	 "{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Rollout\",\"metadata\":{\"name\":"
	 "\"web\"},\"spec\":" CANARY("{\"weight\":25,\"pause\":\"10s\"},{\"weight\":50}", "") "}",
	 NULL},
	{SEC, DO_CREATE, BUNDLES, BUNDLE("5s", "\"rolloutRef\":{\"name\":\"web\"}"), NULL},
	{0, DO_UNTIL, P, "status.availableReplicas=3", NULL},
	{0, DO_UNTIL, WEB, "status.state=Synced", NULL},
	PUSH(SEC, "2"),
	{0, DO_APPEAR, C, NULL, NULL},
	{0, DO_UNTIL, P, "metadata.labels.v=2", NULL},
	{0, DO_GONE, C, NULL, NULL},
	{0, DO_UNTIL, WEB, "status.state=Synced", NULL},
	PUSH(30 * SEC, "3"), /* its Pods do not start: what it made besides goes back */
	{0, DO_UNTIL, WEB, "status.state=RolledBack", NULL},
	{0, DO_GONE, C, NULL, NULL},
	{0, DO_GONE, MAPS "/new", NULL, NULL},
	{0, DO_UNTIL, MAPS "/cm", "data.v=2", NULL},
	/* nobody knows how it does */
	{0, DO_PATCH, ROLLOUTS "/web", "{\"spec\":" CANARY("{\"weight\":25}", METRIC) "}", NULL},
	PUSH(0, "4"),
	{0, DO_UNTIL, C, "metadata.labels.v=4", NULL},
	{3 * 60 * SEC, DO_CALL, "", NULL, is_untouched},
	{0, DO_PATCH, C,
	 "{\"metadata\":{\"annotations\":{\"" CANARY_SKIP "\":\"we have looked\"}}}", NULL},
	{0, DO_UNTIL, P, "metadata.labels.v=4", NULL},
	{0, DO_GONE, C, NULL, NULL},
	{0, DO_UNTIL, WEB, "status.state=Synced", NULL},
	/* who made it is killed, and the next revision has no Deployment at all */
	{0, DO_PATCH, ROLLOUTS "/web",
	 "{\"spec\":" CANARY("{\"weight\":25,\"pause\":\"1h\"}", "") "}", NULL},
	PUSH(0, "5"),
	{0, DO_UNTIL, C, "metadata.labels.v=5", NULL},
	{0, DO_CALL, "", NULL, crash},
	PUSH(0, "6"),
	{0, DO_PATCH, WEB, "{\"spec\":{\"rolloutRef\":null}}", NULL},
	{0, DO_GONE, P, NULL, NULL},
	{0, DO_GONE, C, NULL, NULL},
	{0, DO_UNTIL, MAPS "/cm", "data.v=6", NULL},
	{10 * SEC, DO_DELETE, WEB, NULL, NULL},
	{0, DO_GONE, WEB, NULL, NULL},
	{0},
};

/* Who writes the live Deployment writes what its canary has shown to be good. */
static void canary_observe(struct world *w, const struct http_request *r, bool faulty)
{
	CLEANUP(obj_unrefp) struct obj *body = NULL;
	struct error ignored = ERROR_INIT;
	runner_observe(w, r, faulty);
	if (strcmp(r->method, "PATCH") != 0 || json_parse(r->body, &body, &ignored) < 0)
		return;
	if (!faulty && !strcmp(r->path, C) && !w->noted)
		w->noted = xstrdup("the user has said that the fourth needs no figures");
	const char *v = strcmp(r->path, P) == 0 ? obj_str(body, "metadata.labels.v") : NULL;
	if (!faulty || !v)
		return;
	if (!strcmp(v, "3"))
		world_fail(w, "PATCH %s: it is written with what its canary has failed", r->path);
	if (!strcmp(v, "4") && !w->noted)
		world_fail(w, "PATCH %s: it is written without data", r->path);
	if (!strcmp(v, "5"))
		world_fail(w, "PATCH %s: it is written in the pause of its canary", r->path);
}

static int canary_converged(struct world *w, struct error *err)
{
	static const struct bundles_want list[] = {{"cm", NULL}, {"new", NULL}, {0}};
	static const char *const gone[] = {P, C};
	for (size_t i = 0; i < ARRAY_LEN(gone); i++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		if (world_get(w, gone[i], &o, err) != 404)
			return error_set(err, E_INTERNAL, "%s is left", gone[i]);
	}
	return bundles_converged(w, list, err);
}

const struct scenario scenario_bundle_canary = {
	.name = "bundle-canary",
	.about = "a Bundle with canaries, one of which fails and is rolled back",
	.actions = canary_actions,
	.program = &operators_program,
	.commits = canary_commits,
	.simulate_workloads = true,
	.observe = canary_observe,
	.converged = canary_converged,
};
