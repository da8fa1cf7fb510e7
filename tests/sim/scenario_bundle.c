/* A Bundle: pushes that add, change and take away, one that cannot be parsed, one that takes away too
 * much, one taken back, twenty behind one that never becomes ready, and its deletion; and its inventory is
 * lost before a push, and before the deletion. */
#include <string.h>

#include "tests/sim/bundles.h"
#include "tests/sim/scenarios.h"

#define FIRST                                                                                \
	"a.yaml", CM("a", "1"), "b.yaml", CM("b", "1"), "h1.yaml", CM("h1", "1"), "h2.yaml", \
		CM("h2", "1"), "h3.yaml", CM("h3", "1")
#define TREE(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}
/* Its Pods never become ready, and nothing says that they will not. */
#define STUCK                                                                                     \
	"{apiVersion: apps/v1, kind: Deployment, metadata: {name: stuck}, spec: {selector: "      \
	"{matchLabels: {app: s}}, template: {metadata: {labels: {app: s}}, spec: {containers: [{" \
	"name: c, image: 's:1-fail'}]}}}}"
#define PUSHED(n) "q.yaml", CM("q", #n)

TREE(first, FIRST);
TREE(second, "a.yaml", CM("a", "2"), "c.yaml", CM("c", "1"), "h1.yaml", CM("h1", "1"), "h2.yaml",
     CM("h2", "1"), "h3.yaml", CM("h3", "1"));
TREE(broken, "a.yaml", CM("a", "3"), "c.yaml", "{");
TREE(little, "a.yaml", CM("a", "1"));
TREE(last, "a.yaml", CM("a", "9"), "h1.yaml", CM("h1", "1"), "h2.yaml", CM("h2", "1"), "h3.yaml",
     CM("h3", "1"));
TREE(stuck, FIRST, "stuck.yaml", STUCK);
/* clang-format off */
#define QUICK(X) \
	X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) \
	X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26)
/* clang-format on */
#define X(n) TREE(quick_##n, FIRST, PUSHED(n));
QUICK(X)
#undef X

static const struct git_table_commit commits[] = {
	{"first", first},
	{"second", second},
	{"broken", broken},
	{"Revert \"second\"", first},
	{"nearly nothing", little},
	{"stuck", stuck},
#define X(n) {"quick " #n, quick_##n},
	QUICK(X)
#undef X
		{"last", last},
	{0},
};
#define LAST      27
#define INVENTORY "/api/v1/namespaces/alm-system/configmaps/inv." RUN_BUNDLE ".files"

static const struct user_action actions[] = {
	PUSH(0, "1"),
	{0, DO_CREATE, BUNDLES, BUNDLE("5s", "\"prune\":{\"maxDeletes\":2}"), NULL},
	{0, DO_UNTIL, MAPS "/h3", "data.v=1", NULL},
	{0, DO_UNTIL, WEB, "status.state=Synced", NULL},
	PUSH(SEC, "2"),
	{0, DO_UNTIL, MAPS "/a", "data.v=2", NULL},
	{0, DO_GONE, MAPS "/b", NULL, NULL},
	{0, DO_APPEAR, MAPS "/c", NULL, NULL},
	/* by hand: undone, and put back */
	{0, DO_PATCH, MAPS "/a", "{\"data\":{\"v\":\"by hand\"}}", NULL},
	{0, DO_UNTIL, MAPS "/a", "data.v=2", NULL},
	{0, DO_DELETE, MAPS "/c", NULL, NULL},
	{0, DO_APPEAR, MAPS "/c", NULL, NULL},
	PUSH(SEC, "3"),
	{0, DO_UNTIL, WEB, "status.state=Invalid", NULL},
	{0, DO_UNTIL, MAPS "/a", "data.v=2", NULL},
	PUSH(SEC, "4"),
	{0, DO_UNTIL, MAPS "/b", "data.v=1", NULL},
	{0, DO_GONE, MAPS "/c", NULL, NULL},
	/* somebody else's, of a name that was ours */
	{0, DO_CREATE, MAPS,
	 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"},\"data\":{"
	 "\"v\":\"theirs\"}}",
	 NULL},
	PUSH(SEC, "5"),
	{0, DO_UNTIL, WEB, "status.state=AwaitingApproval", NULL},
	{0, DO_APPEAR, MAPS "/h3", NULL, NULL},
	PUSH(SEC, "6"),
	{0, DO_APPEAR, "/apis/apps/v1/namespaces/default/deployments/stuck", NULL, NULL},
#define X(n) PUSH(200 * NS_PER_MS, #n),
	QUICK(X)
#undef X
		{0, DO_UNTIL, MAPS "/q", "data.v=26", NULL},
	{0, DO_UNTIL, WEB, "status.state=Synced", NULL},
	{0, DO_GONE, "/apis/apps/v1/namespaces/default/deployments/stuck", NULL, NULL},
	/* what it had is found by its marks: two go, and nothing else (target 9) */
	{10 * SEC, DO_DELETE, INVENTORY, NULL, NULL},
	PUSH(0, "27"),
	{0, DO_GONE, MAPS "/b", NULL, NULL},
	{0, DO_GONE, MAPS "/q", NULL, NULL},
	{0, DO_UNTIL, WEB, "status.state=Synced", NULL},
	{10 * SEC, DO_DELETE, INVENTORY, NULL, NULL},
	{0, DO_DELETE, WEB, NULL, NULL},
	{0, DO_GONE, WEB, NULL, NULL},
	{0},
};

/* What comes of the commit that takes away too much is held, whoever crashes. */
static void observe(struct world *w, const struct http_request *r, bool faulty)
{
	bundles_observe(w, r, faulty);
	if (faulty && !strcmp(r->method, "DELETE") && git_sim_pushed(w) < LAST &&
	    cstr_has_prefix(r->path, MAPS "/h"))
		world_fail(w, "DELETE %s, and nobody has approved it", r->path);
}

static int converged(struct world *w, struct error *err)
{
	static const struct bundles_want list[] = {{"a", NULL},  {"b", NULL},  {"c", "theirs"},
						   {"h1", NULL}, {"h2", NULL}, {"h3", NULL},
						   {"q", NULL},  {0}};
	return bundles_converged(w, list, err);
}

const struct scenario scenario_bundle = {
	.name = "bundle",
	.about = "a Bundle, from its first push to its deletion",
	.actions = actions,
	.program = &operators_program,
	.commits = commits,
	.simulate_workloads = true,
	.observe = observe,
	.converged = converged,
};
