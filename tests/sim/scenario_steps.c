/* A Bundle whose Rollout has groups behind each other: steps beside each other, a Job and what is made once, a check. A revision
 * fails at its last step and all goes back; of one a step fails that stops nothing, and it goes back at its end. */
#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/sim/bundles.h"
#include "tests/sim/scenarios.h"

#define TREE(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}
#define ROLLOUTS        "/apis/app.coreos.com/v1alpha1/rollouts"
#define DEPLOYMENTS     "/apis/apps/v1/namespaces/default/deployments"
#define JOBS            "/apis/batch/v1/namespaces/default/jobs"
#define POD(name, v, annotations)                                                            \
	"{apiVersion: apps/v1, kind: Deployment, metadata: {name: " name ", labels: {v: '" v \
	"'}}, spec: {replicas: 2, selector: {matchLabels: {app: " name                       \
	"}}, template: {metadata: {labels: {app: " name "}, annotations: {" annotations      \
	"}}, spec: {containers: [{name: c, image: 'web:" v "'}]}}}}"
#define FAILS "app.coreos.com/simulate: ImagePullBackOff"
#define JOB(v)                                                                               \
	"{apiVersion: batch/v1, kind: Job, metadata: {name: load, labels: {v: '" v           \
	"'}}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: " \
	"'load:" v "'}]}}}}"
#define STEP(object, action, more) "{\"object\":\"" object "\",\"action\":\"" action "\"" more "}"

/* clang-format off */
/* The replicas of the version before keep the condition Available true. */
#define CHECK ",\"success\":[{\"fieldComparisons\":{\"timeout\":\"5m\",\"expectedValues\":[" \
	"{\"path\":\"{.metadata.generation}\",\"value\":{\"path\":\"{.status.observedGeneration}\"}}," \
	"{\"path\":\"{.status.updatedReplicas}\",\"value\":{\"static\":2}}," \
	"{\"path\":\"{.status.unavailableReplicas}\",\"default\":0,\"value\":{\"static\":0}}]}}]"
static const char rollout[] =
	"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Rollout\",\"metadata\":{\"name\":"
	"\"steps\"},\"spec\":{\"rest\":\"After\",\"groups\":["
	"{\"name\":\"beside\",\"parallel\":true,\"steps\":["
		STEP("a.yaml", "CreateOrUpdate", "") ","
		STEP("b.yaml", "CreateOrUpdate", "") "]},"
	"{\"name\":\"behind\",\"steps\":["
		STEP("job.yaml", "Job", ",\"timeout\":\"5m\"") ","
		STEP("once.yaml", "CreateIfNotExist", "") ","
		STEP("old.yaml", "DeleteIfExist", "") "]},"
	"{\"name\":\"checked\",\"steps\":["
		STEP("soft.yaml", "CreateOrUpdate", ",\"continueOnError\":true,\"timeout\":\"1m\"") ","
		STEP("web.yaml", "CreateOrUpdate", CHECK) "]}]}}";
/* clang-format on */

#define REST(n) \
	"a.yaml", CM("a", n), "b.yaml", CM("b", n), "once.yaml", CM("once", n), "r.yaml", CM("r", n)
#define OLD "old.yaml", CM("old", "0")
TREE(first, REST("1"), OLD, "job.yaml", JOB("1"), "soft.yaml", POD("soft", "1", ""), "web.yaml",
     POD("web", "1", ""));
TREE(second, REST("2"), OLD, "job.yaml", JOB("2"), "soft.yaml", POD("soft", "2", ""), "web.yaml",
     POD("web", "2", ""));
TREE(bad, REST("3"), OLD, "job.yaml", JOB("2"), "soft.yaml", POD("soft", "2", ""), "web.yaml",
     POD("web", "3", FAILS));
TREE(soft, REST("4"), OLD, "job.yaml", JOB("2"), "soft.yaml", POD("soft", "4", FAILS), "web.yaml",
     POD("web", "4", ""));
TREE(last, REST("5"), OLD, "job.yaml", JOB("5"), "soft.yaml", POD("soft", "5", ""), "web.yaml",
     POD("web", "5", ""));

static const struct git_table_commit commits[] = {
	{"first", first}, {"second", second}, {"bad", bad}, {"soft", soft}, {"last", last}, {0}};

/* With faults a step may have failed otherwise, or nobody knows what was before. */
static void is_back(struct world *w)
{
	static const char *const want[][2] = {{WEB, "status.state=RolledBack"},
					      {DEPLOYMENTS "/web", "metadata.labels.v=2"},
					      {DEPLOYMENTS "/soft", "metadata.labels.v=2"},
					      {JOBS "/load", "metadata.labels.v=2"},
					      {MAPS "/a", "data.v=2"},
					      {MAPS "/once", "data.v=mine"},
					      {MAPS "/r", "data.v=2"}};
	for (size_t i = 0; i < ARRAY_LEN(want) && world_is_faultless(w); i++) {
		struct error err = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		if (world_get(w, want[i][0], &o, &err) != 200 || !world_has(o, want[i][1]))
			world_fail(w, "%s: not %s after a revision that failed", want[i][0],
				   want[i][1]);
	}
}

static const struct user_action actions[] = {
	PUSH(0, "1"),
	{0, DO_CREATE, MAPS,
	 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"theirs\"}}", NULL},
	{0, DO_CREATE, ROLLOUTS, rollout, NULL},
	{SEC, DO_CREATE, BUNDLES, BUNDLE("5s", "\"rolloutRef\":{\"name\":\"steps\"}"), NULL},
	{0, DO_UNTIL, MAPS "/r", "data.v=1", NULL},
	{0, DO_UNTIL, WEB, "status.state=Synced", NULL},
	/* what is made once is the user's from then on */
	{0, DO_PATCH, MAPS "/once", "{\"data\":{\"v\":\"mine\"}}", NULL},
	PUSH(SEC, "2"),
	{0, DO_UNTIL, DEPLOYMENTS "/web", "metadata.labels.v=2", NULL},
	{0, DO_UNTIL, WEB, "status.state=Synced", NULL},
	{0, DO_UNTIL, JOBS "/load", "metadata.labels.v=2", NULL},
	PUSH(SEC, "3"),
	{60 * SEC, DO_CALL, "", NULL, is_back},
	/* web goes on although soft has failed, see observe(); then both go back */
	PUSH(0, "4"),
	{60 * SEC, DO_CALL, "", NULL, is_back},
	PUSH(SEC, "5"),
	{0, DO_UNTIL, MAPS "/r", "data.v=5", NULL},
	{0, DO_UNTIL, WEB, "status.state=Synced", NULL},
	{0, DO_UNTIL, DEPLOYMENTS "/web", "metadata.labels.v=5", NULL},
	{0, DO_UNTIL, MAPS "/once", "data.v=mine", NULL},
	{10 * SEC, DO_DELETE, WEB, NULL, NULL},
	{0, DO_GONE, WEB, NULL, NULL},
	{0},
};

/* A group begins when the one before it is through. */
static void in_order(struct world *w, const struct http_request *r, const char *v, struct arena *a)
{
	static const char *const first_ones[] = {"a", "b"};
	if (!cstr_has_prefix(r->path, DEPLOYMENTS "/") || !v)
		return;
	for (size_t i = 0; i < ARRAY_LEN(first_ones); i++) {
		const struct obj *o =
			world_stored(w, arena_fmt(a, "/configmaps/default/%s", first_ones[i]), a);
		if (!o)
			world_fail(w, "PATCH %s before %s is there", r->path, first_ones[i]);
	}
}

static void observe(struct world *w, const struct http_request *r, bool faulty)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	struct obj *body = NULL;
	struct error ignored;
	bundles_observe(w, r, faulty);
	if (!faulty || strcmp(r->method, "PATCH") != 0 || json_parse(r->body, &body, &ignored) < 0)
		return;
	obj_keep(a, body);
	const char *v = obj_str(body, "metadata.labels.v");
	in_order(w, r, v, a);
	if (!strcmp(r->path, DEPLOYMENTS "/web") && cstr_eq(v, "4") && !w->noted)
		w->noted = xstrdup("the step behind one that failed has begun");
	const struct obj *once = world_stored(w, "/configmaps/default/once", a);
	if (!strcmp(r->path, MAPS "/once") && once && obj_get(body, "data") &&
	    !strstr(r->query, "dryRun") &&
	    !cstr_eq(obj_str(body, "data.v"), obj_str(once, "data.v")) &&
	    cstr_eq(obj_str(once, "data.v"), "mine"))
		world_fail(w, "PATCH %s: it is made once, and the user has changed it", r->path);
}

static int converged(struct world *w, struct error *err)
{
	static const struct bundles_want list[] = {{"a", NULL}, {"b", NULL},   {"once", NULL},
						   {"r", NULL}, {"old", NULL}, {0}};
	static const char *const gone[] = {DEPLOYMENTS "/web", DEPLOYMENTS "/soft", JOBS "/load"};
	for (size_t i = 0; i < ARRAY_LEN(gone); i++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		if (world_get(w, gone[i], &o, err) != 404)
			return error_set(err, E_INTERNAL, "%s is left", gone[i]);
	}
	if (!w->noted && world_is_faultless(w))
		return error_set(err, E_INTERNAL,
				 "a step that stops nothing has stopped the next one");
	return bundles_converged(w, list, err);
}

const struct scenario scenario_steps = {
	.name = "steps",
	.about = "a Bundle in steps: groups, Jobs, what is made once, and back",
	.actions = actions,
	.program = &operators_program,
	.commits = commits,
	.simulate_workloads = true,
	.observe = observe,
	.converged = converged,
};
