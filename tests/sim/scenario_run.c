/* What `alm run` does, once, at an interval, and for the objects of a kind: objects come, change and
 * go, one's name is taken by somebody else, a step fails and is rolled back, a main object is
 * deleted. */
#include <string.h>

#include "tests/sim/runner.h"
#include "tests/sim/scenarios.h"

#define SEC  NS_PER_S
#define MAPS "/api/v1/namespaces/default/configmaps"
#define INV  "/api/v1/namespaces/alm-system/configmaps/inv.web."
#define CM(name, v) \
	"{apiVersion: v1, kind: ConfigMap, metadata: {name: " name "}, data: {v: \"" v "\"}}"
#define THEIRS(name)                                                            \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":" \
	"\"" name "\"},\"data\":{\"v\":\"theirs\"}}"
#define FILE_(after, name, text) {after, DO_FILE, RUN_DIR "/" name, text, NULL}
#define ROLLOUT(value)                                                                        \
	"{apiVersion: app.coreos.com/v1alpha1, kind: Rollout, metadata: {name: web}, spec: "  \
	"{groups: [{name: g, steps: [{object: b.yaml, action: CreateOrUpdate, timeout: 20s, " \
	"success: [{fieldComparisons: {timeout: 10s, expectedValues: [{name: v, path: "       \
	"'{.data.v}', value: {static: '" value "'}}]}}]}]}]}}"

/* --- files --- */

#define COMING                                                                           \
	FILE_(SEC, "a.yaml", CM("a", "1")), FILE_(0, "b.yaml", CM("b", "1")),            \
		FILE_(0, "c.yaml", CM("c", "1")), {0, DO_APPEAR, MAPS "/c", NULL, NULL}, \
		FILE_(SEC, "a.yaml", CM("a", "2")), FILE_(0, "c.yaml", NULL),            \
		FILE_(0, "d.yaml", CM("d", "1")), {0, DO_GONE, MAPS "/c", NULL, NULL},   \
		{0, DO_CREATE, MAPS, THEIRS("c"), NULL}, /* somebody else's now */       \
		{0, DO_UNTIL, MAPS "/a", "data.v=2", NULL},                              \
	{                                                                                \
		0, DO_APPEAR, MAPS "/d", NULL, NULL                                      \
	}
/* A step that never is as it should be: back to the unit before. */
#define FAILING                                                                                 \
	{30 * SEC, DO_APPEAR, MAPS "/a", NULL, NULL}, FILE_(0, "rollout.yaml", ROLLOUT("1")),   \
		{30 * SEC, DO_UNTIL, MAPS "/b", "data.v=1", NULL},                              \
		FILE_(0, "rollout.yaml", ROLLOUT("3")), FILE_(0, "b.yaml", CM("b", "2")),       \
		FILE_(0, "e.yaml", CM("e", "1")), {25 * SEC, DO_APPEAR, MAPS "/a", NULL, NULL}, \
		FILE_(0, "rollout.yaml", ROLLOUT("4")), FILE_(0, "b.yaml", CM("b", "4")),       \
	{                                                                                       \
		0, DO_UNTIL, MAPS "/b", "data.v=4", NULL                                        \
	}

static const struct user_action once_actions[] = {
	COMING,
	/* taken by another one while the inventory names it; no run makes it again in between, as
	 * none gets past a file that cannot be parsed, and one under way is over by then */
	FILE_(20 * SEC, "broken.yaml", "{"),
	{5 * 60 * SEC, DO_DELETE, MAPS "/d", NULL, NULL},
	{0, DO_CREATE, MAPS, THEIRS("d"), NULL},
	FILE_(0, "d.yaml", NULL),
	FILE_(0, "broken.yaml", NULL),
	FAILING,
	{0},
};

static const struct user_action interval_actions[] = {
	COMING,
	{SEC, DO_DELETE, MAPS "/d", NULL, NULL}, /* it is put back */
	{0, DO_APPEAR, MAPS "/d", NULL, NULL},
	{0, DO_PATCH, MAPS "/d", "{\"data\":{\"v\":\"by hand\"}}", NULL},
	{0, DO_UNTIL, MAPS "/d", "data.v=1", NULL},
	FILE_(0, "d.yaml", NULL),
	{0, DO_GONE, MAPS "/d", NULL, NULL},
	{0, DO_CREATE, MAPS, THEIRS("d"), NULL},
	FAILING,
	{0},
};

struct want {
	const char *name, *v; /* NULL: not there */
};

static int is_as_wanted(struct world *w, const struct want *list, struct error *err)
{
	for (; list->name; list++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		strbuf_addf(&b, MAPS "/%s", list->name);
		int status = world_get(w, b.buf, &o, err);
		const char *v = status == 200 ? obj_str(o, "data.v") : NULL;
		if (!cstr_eq(v, list->v) && (v || list->v))
			return error_set(err, E_INTERNAL, "%s is %s, want %s", list->name,
					 v ? v : "(absent)", list->v ? list->v : "(absent)");
	}
	return 0;
}

static int files_converged(struct world *w, struct error *err)
{
	static const struct want list[] = {{"a", "2"},      {"b", "4"}, {"c", "theirs"},
					   {"d", "theirs"}, {"e", "1"}, {NULL, NULL}};
	return runner_at_rest(w, err) < 0 ? -err->code : is_as_wanted(w, list, err);
}

const struct scenario scenario_oneoff = {
	.name = "oneoff",
	.about = "alm run once, as often as the files change",
	.actions = once_actions,
	.program = &runner_oneoff,
	.writes = 60,
	.observe = runner_observe,
	.converged = files_converged,
};

const struct scenario scenario_interval = {
	.name = "interval",
	.about = "alm run at an interval",
	.actions = interval_actions,
	.program = &runner_interval,
	.writes = 60,
	.observe = runner_observe,
	.converged = files_converged,
};

/* --- two at once --- */

#define LEASE "/apis/coordination.k8s.io/v1/namespaces/alm-system/leases/alm.web"
#define KILL  {5 * SEC, DO_CALL, "", NULL, runner_pair_kill}

/* Longer than a Lease lasts: it is lost while its holder lives, and who looks first has it then. */
static void cut_off(struct world *w)
{
	net_revoke(w->net, 80 * SEC);
}

static const struct user_action pair_actions[] = {
	FILE_(SEC, "a.yaml", CM("a", "1")),
	FILE_(0, "b.yaml", CM("b", "1")),
	{0, DO_APPEAR, MAPS "/b", NULL, NULL},
	KILL,
	FILE_(SEC, "a.yaml", CM("a", "2")),
	FILE_(0, "b.yaml", NULL),
	{0, DO_UNTIL, MAPS "/a", "data.v=2", NULL},
	{0, DO_GONE, MAPS "/b", NULL, NULL},
	FILE_(0, "c.yaml", CM("c", "1")),
	KILL, /* in the middle */
	{0, DO_APPEAR, MAPS "/c", NULL, NULL},
	{5 * SEC, DO_CALL, "", NULL, cut_off},
	{100 * SEC, DO_PATCH, MAPS "/a", "{\"data\":{\"v\":\"by hand\"}}", NULL},
	{0, DO_UNTIL, MAPS "/a", "data.v=2", NULL},
	{0},
};

/* All is as the one wants it that has the Lease, and not as the other does. */
static int pair_converged(struct world *w, struct error *err)
{
	static const struct want list[] = {{"a", "2"}, {"b", NULL}, {"c", "1"}, {NULL, NULL}};
	static const char *const names[] = {MAPS "/a", MAPS "/c"};
	CLEANUP(obj_unrefp) struct obj *lease = NULL;
	if (runner_at_rest(w, err) < 0 || is_as_wanted(w, list, err) < 0)
		return -err->code;
	if (world_get(w, LEASE, &lease, err) != 200)
		return error_set(err, E_INTERNAL, "there is no Lease");
	const char *holder = obj_str(lease, "spec.holderIdentity");
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		const char *by =
			world_get(w, names[i], &o, err) == 200 ? obj_str(o, "data.by") : "";
		if (!holder || !by || !*by || strncmp(holder, by, strlen(by)) != 0)
			return error_set(err, E_INTERNAL, "%s is of %s, and %s holds the Lease",
					 names[i], by ? by : "nobody", holder ? holder : "nobody");
	}
	return 0;
}

const struct scenario scenario_pair = {
	.name = "pair",
	.about = "two alm run of one bundle, which want two things",
	.actions = pair_actions,
	.program = &runner_pair,
	.observe = runner_observe,
	.converged = pair_converged,
};

/* --- the objects of a kind --- */

#define GRAFANAS "/apis/monitoring.coreos.com/v1/namespaces/default/grafanas"
#define CRD                                                                                      \
	"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","     \
	"\"metadata\":{\"name\":\"grafanas.monitoring.coreos.com\"},\"spec\":{\"group\":"        \
	"\"monitoring.coreos.com\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"grafanas\"," \
	"\"singular\":\"grafana\",\"kind\":\"Grafana\",\"listKind\":\"GrafanaList\"},"           \
	"\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"subresources\":"      \
	"{\"status\":{}},\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","                  \
	"\"x-kubernetes-preserve-unknown-fields\":true}}}]}}"
#define MAIN(name, parts, value)                                                          \
	"{\"apiVersion\":\"monitoring.coreos.com/v1\",\"kind\":\"Grafana\",\"metadata\":" \
	"{\"name\":\"" name "\"},\"spec\":{\"parts\":\"" parts "\",\"value\":\"" value "\"}}"
#define SPEC(parts, value) "{\"spec\":{\"parts\":\"" parts "\",\"value\":\"" value "\"}}"

static const struct user_action resource_actions[] = {
	{0, DO_CREATE, "/api/v1/namespaces",
	 "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"alm-system\"}}",
	 NULL},
	{SEC, DO_CREATE, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD, NULL},
	{5 * SEC, DO_CREATE, GRAFANAS, MAIN("one", "a b", "1"), NULL},
	{0, DO_CREATE, GRAFANAS, MAIN("two", "a", "1"), NULL},
	{0, DO_APPEAR, MAPS "/one-b", NULL, NULL},
	{0, DO_PATCH, GRAFANAS "/one", SPEC("a c", "2"), NULL},
	{0, DO_PATCH, MAPS "/one-a", "{\"data\":{\"v\":\"by hand\"}}", NULL},
	{0, DO_UNTIL, MAPS "/one-a", "data.v=2", NULL},
	{0, DO_GONE, MAPS "/one-b", NULL, NULL},
	{0, DO_APPEAR, MAPS "/two-a", NULL, NULL},
	{0, DO_DELETE, GRAFANAS "/two", NULL, NULL},
	{0, DO_GONE, GRAFANAS "/two", NULL, NULL},
	{0, DO_CREATE, GRAFANAS, MAIN("two", "b", "9"), NULL}, /* another one of the name */
	{0, DO_CREATE, GRAFANAS, MAIN("three", "a", "1"), NULL},
	{0, DO_DELETE, GRAFANAS "/three", NULL, NULL}, /* before it was through */
	{0, DO_UNTIL, MAPS "/two-b", "data.v=9", NULL},
	{SEC, DO_DELETE, MAPS "/one-c", NULL, NULL}, /* by hand: it is put back */
	{0, DO_APPEAR, MAPS "/one-c", NULL, NULL},
	{0, DO_GONE, GRAFANAS "/three", NULL, NULL},
	{0},
};

#define SOON_NS SEC /* L6, L26: an object is reconciled within a second, where nothing fails */

/* From the request that makes or changes "one" to the one that makes what it wants since. */
static void observe_resource(struct world *w, const struct http_request *r, bool faulty)
{
	static const struct {
		const char *method, *path, *makes;
	} rows[] = {{"POST", GRAFANAS, MAPS "/one-b"}, {"PATCH", GRAFANAS "/one", MAPS "/one-c"}};
	runner_observe(w, r, faulty);
	if (!world_is_faultless(w)) {
		xfree(STEAL(
			w->noted)); /* the fault came in between: nothing is promised any more */
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(rows) && !faulty; i++)
		if (!strcmp(r->method, rows[i].method) && !strcmp(r->path, rows[i].path) &&
		    str_contains(r->body, STR("\"parts\":\"a "))) {
			xfree(w->noted);
			w->noted = xstrdup(rows[i].makes);
			w->noted_ns = w->sim.mono_ns;
		}
	if (!faulty || !cstr_eq(w->noted, r->path))
		return;
	if (w->sim.mono_ns - w->noted_ns > SOON_NS)
		world_fail(w, "%s %s: after %lld ms", r->method, r->path,
			   (long long)((w->sim.mono_ns - w->noted_ns) / NS_PER_MS));
	xfree(STEAL(w->noted));
}

static int resource_converged(struct world *w, struct error *err)
{
	static const struct want list[] = {{"one-a", "2"},  {"one-b", NULL}, {"one-c", "2"},
					   {"two-a", NULL}, {"two-b", "9"},  {"three-a", NULL},
					   {NULL, NULL}};
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	if (runner_at_rest(w, err) < 0 || is_as_wanted(w, list, err) < 0)
		return -err->code;
	if (world_get(w, INV "default.three", &o, err) != 404)
		return error_set(err, E_INTERNAL, "the inventory of what is gone is there");
	obj_unref(STEAL(o));
	if (w->noted && world_is_faultless(w))
		return error_set(err, E_INTERNAL, "nothing has made %s", w->noted);
	if (world_get(w, GRAFANAS "/one", &o, err) != 200 || !world_has(o, "@Ready=RolledOut"))
		return error_set(err, E_INTERNAL, "one does not tell that it is rolled out");
	return 0;
}

const struct scenario scenario_resource = {
	.name = "resource",
	.about = "alm run for the objects of a kind, and their deletion",
	.actions = resource_actions,
	.program = &runner_resource,
	.writes = 90,
	.observe = observe_resource,
	.converged = resource_converged,
};
