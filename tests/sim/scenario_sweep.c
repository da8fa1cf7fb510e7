/* prune.mode Namespace: what somebody makes by hand in a namespace goes, but not what has an owner, what is
 * kept, and what becomes declared. */
#include <string.h>

#include "alm/obj/meta.h"
#include "crds/marks.h"
#include "tests/sim/runner.h"
#include "tests/sim/scenarios.h"

#define SEC                      NS_PER_S
#define CORE                     "/api/v1/namespaces/default/"
#define MAPS                     CORE "configmaps"
#define APPS                     "/apis/apps/v1/namespaces/default/"
#define CM(n)                    "{apiVersion: v1, kind: ConfigMap, metadata: {name: " n "}, data: {v: \"1\"}}"
#define FILE_(after, name, text) {after, DO_FILE, RUN_DIR "/" name, text, NULL}
#define THEIRS(kind, name, more) \
	"{\"apiVersion\":\"v1\",\"kind\":\"" kind "\",\"metadata\":{\"name\":\"" name "\"" more "}}"
#define KEPT ",\"annotations\":{\"app.coreos.com/prune\":\"disabled\"}"
#define DEPLOYMENT                                                                               \
	"{\"apiVersion\":\"apps/"                                                                \
	"v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"byhand\"" KEPT                    \
	"},\"spec\":{\"replicas\":1,\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{" \
	"\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\","     \
	"\"image\":"                                                                             \
	"\"x\"}]}}}}"

static const struct user_action actions[] = {
	FILE_(SEC, "a.yaml", CM("a")),
	FILE_(0, "b.yaml", CM("b")),
	{0, DO_APPEAR, MAPS "/b", NULL, NULL},
	{0, DO_CREATE, APPS "deployments", DEPLOYMENT, NULL}, /* what it makes has an owner */
	{0, DO_CREATE, MAPS, THEIRS("ConfigMap", "saved", KEPT), NULL},
	{0, DO_CREATE, MAPS, THEIRS("ConfigMap", "stray", ""), NULL},
	{0, DO_CREATE, CORE "secrets", THEIRS("Secret", "stray", ""), NULL},
	{0, DO_GONE, MAPS "/stray", NULL, NULL},
	{0, DO_GONE, CORE "secrets/stray", NULL, NULL},
	FILE_(0, "b.yaml", NULL),
	{0, DO_GONE, MAPS "/b", NULL, NULL},
	{0, DO_CREATE, MAPS, THEIRS("ConfigMap", "stray-c", ""), NULL},
	{0, DO_GONE, MAPS "/stray-c", NULL, NULL},
	FILE_(0, "c.yaml", CM("stray-c")), /* declared from now on: no late delete takes it */
	{0, DO_APPEAR, MAPS "/stray-c", NULL, NULL},
	{30 * SEC, DO_APPEAR, MAPS "/stray-c", NULL, NULL},
	{0},
};

/* What nobody needs and nobody wants kept; the rest of what has no mark of ours is somebody's. */
static bool is_stray(const struct obj *o)
{
	return cstr_has_prefix(meta_name(o), "stray") && !meta_owner_count(o) &&
	       !meta_annotation(o, ANNOTATION_PRUNE);
}

/* Whose deletes they are, is_stray() says. */
static void sweep_observe(struct world *w, const struct http_request *r, bool faulty)
{
	if (strcmp(r->method, "DELETE") != 0)
		runner_observe(w, r, faulty);
}

static int sweep_converged(struct world *w, struct error *err)
{
	static const struct {
		const char *path;
		int status;
	} rows[] = {{MAPS "/a", 200},
		    {MAPS "/b", 404},
		    {MAPS "/stray", 404},
		    {MAPS "/stray-c", 200},
		    {MAPS "/saved", 200},
		    {MAPS "/kube-root-ca.crt", 200},
		    {CORE "secrets/stray", 404},
		    {CORE "serviceaccounts/default", 200},
		    {APPS "deployments/byhand", 200}};
	CLEANUP(obj_unrefp) struct obj *sets = NULL;
	if (runner_at_rest(w, err) < 0)
		return -err->code;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		int status = world_get(w, rows[i].path, &o, err);
		if (status != rows[i].status)
			return error_set(err, E_INTERNAL, "%s is %d, want %d", rows[i].path, status,
					 rows[i].status);
	}
	bool one = world_get(w, APPS "replicasets", &sets, err) == 200 &&
		   obj_len(obj_get(sets, "items")) == 1;
	return one ? 0
		   : error_set(err, E_INTERNAL, "the Deployment made by hand has no ReplicaSet");
}

const struct scenario scenario_sweep = {
	.name = "sweep",
	.about = "what nobody has declared in a namespace, and what only looks so",
	.actions = actions,
	.program = &runner_sweep,
	.simulate_workloads = true,
	.observe = sweep_observe,
	.is_stray = is_stray,
	.converged = sweep_converged,
};
