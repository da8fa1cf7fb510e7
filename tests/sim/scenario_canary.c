/* A canary of `alm run` at an interval: one that is good, one that fails, one of which nothing is known, and one whose run is
 * killed and never comes again. The live Deployment is written by the good ones alone, and no canary is left. */
#include <string.h>

#include "alm/obj/json.h"
#include "alm/unit/canary.h"
#include "tests/sim/runner.h"
#include "tests/sim/scenarios.h"

#define SEC         NS_PER_S
#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"
#define P           DEPLOYMENTS "/web"
#define C           DEPLOYMENTS "/web-canary"
#define WEB(v, annotations)                                                                    \
	"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {v: '" v        \
	"'}}, spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: "             \
	"{metadata: {labels: {app: web}, annotations: {" annotations "}}, spec: {containers: " \
	"[{name: c, image: 'web:" v "'}]}}}}"
#define ROLLOUT(steps, more)                                                                     \
	"{apiVersion: app.coreos.com/v1alpha1, kind: Rollout, metadata: {name: web}, spec: "     \
	"{groups: [{name: g, steps: [{object: web.yaml, action: Canary, canary: {steps: [" steps \
	"]}" more "}]}]}}"
/* Nobody answers there. */
#define METRIC                                                                                 \
	", success: [{prometheus: {address: 'service://mon/p:9090', query: up, interval: 5s, " \
	"count: 2, successCondition: result > 0}}]"
#define FILE_(after, name, text) {after, DO_FILE, RUN_DIR "/" name, text, NULL}

#define SKIPPED "skipped" /* the user has said that the fourth needs no figures */

static void is_untouched(struct world *w)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *p = NULL;
	if (world_get(w, P, &p, &err) != 200 || !world_has(p, "metadata.labels.v=2"))
		world_fail(w, "without data the live Deployment is not as it was");
}

static const struct user_action actions[] = {
	FILE_(SEC, "rollout.yaml", ROLLOUT("{weight: 25, pause: 10s}, {weight: 50}", "")),
	FILE_(0, "web.yaml", WEB("1", "")),
	{0, DO_UNTIL, P, "status.availableReplicas=3", NULL},
	FILE_(SEC, "web.yaml", WEB("2", "")),
	{0, DO_APPEAR, C, NULL, NULL},
	{0, DO_UNTIL, P, "metadata.labels.v=2", NULL},
	{0, DO_GONE, C, NULL, NULL},
	/* its Pods do not start */
	FILE_(30 * SEC, "web.yaml", WEB("3", "app.coreos.com/simulate: ImagePullBackOff")),
	{0, DO_APPEAR, C, NULL, NULL},
	{0, DO_GONE, C, NULL, NULL},
	/* nobody knows how it does */
	FILE_(0, "rollout.yaml", ROLLOUT("{weight: 25}", METRIC)),
	FILE_(0, "web.yaml", WEB("4", "")),
	{0, DO_UNTIL, C, "metadata.labels.v=4", NULL},
	{3 * 60 * SEC, DO_CALL, "", NULL, is_untouched},
	{0, DO_PATCH, C,
	 "{\"metadata\":{\"annotations\":{\"" CANARY_SKIP "\":\"we have looked\"}}}", NULL},
	{0, DO_UNTIL, P, "metadata.labels.v=4", NULL},
	{0, DO_GONE, C, NULL, NULL},
	/* its run is killed, and the next one has no Deployment at all */
	FILE_(5 * SEC, "rollout.yaml", ROLLOUT("{weight: 25, pause: 1h}", "")),
	FILE_(0, "web.yaml", WEB("5", "")),
	{0, DO_CALL, "", NULL, runner_kill}, /* it may wait for figures of the live one, for ever */
	{0, DO_UNTIL, C, "metadata.labels.v=5", NULL},
	FILE_(5 * SEC, "rollout.yaml", NULL),
	FILE_(0, "web.yaml", NULL),
	FILE_(0, "one.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: one}}"),
	{0, DO_CALL, "", NULL, runner_kill},
	{0, DO_GONE, P, NULL, NULL},
	{0, DO_GONE, C, NULL, NULL},
	{0},
};

/* Who writes the live Deployment writes what its canary has shown to be good. */
static void observe(struct world *w, const struct http_request *r, bool faulty)
{
	CLEANUP(obj_unrefp) struct obj *body = NULL;
	struct error ignored = ERROR_INIT;
	runner_observe(w, r, faulty);
	if (strcmp(r->method, "PATCH") != 0 || json_parse(r->body, &body, &ignored) < 0)
		return;
	if (!faulty && !strcmp(r->path, C) && !w->noted)
		w->noted = xstrdup(SKIPPED);
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

static int converged(struct world *w, struct error *err)
{
	static const char *const gone[] = {P, C};
	for (size_t i = 0; i < ARRAY_LEN(gone); i++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		if (world_get(w, gone[i], &o, err) != 404)
			return error_set(err, E_INTERNAL, "%s is left", gone[i]);
	}
	return runner_at_rest(w, err);
}

const struct scenario scenario_canary = {
	.name = "canary",
	.about = "alm run at an interval, with a canary",
	.actions = actions,
	.program = &runner_interval,
	.simulate_workloads = true,
	.observe = observe,
	.converged = converged,
};
