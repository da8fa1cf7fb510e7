/* A Bundle whose next revisions are refused or cannot be read: what is applied is kept as it was declared until one
 * of them goes through. */
#include <string.h>

#include "alm/obj/condition.h"
#include "tests/sim/bundles.h"
#include "tests/sim/scenarios.h"

#define TREE(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}
#define THEIRS          "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"x\"}}"
#define CHANGE          "{\"data\":{\"v\":\"theirs\"}}"

TREE(first, "a.yaml", CM("a", "1"), "b.yaml", CM("b", "1"), "c.yaml", CM("c", "1"), "d.yaml",
     CM("d", "1"));
TREE(blocked, "a.yaml", CM("a", "2"), "b.yaml", CM("b", "2"), "c.yaml", CM("c", "2"), "d.yaml",
     CM("d", "2"), "x.yaml", CM("x", "2"));
TREE(broken, "a.yaml", "{");
TREE(held, "a.yaml", CM("a", "3"));
TREE(last, "a.yaml", CM("a", "4"), "b.yaml", CM("b", "4"), "x.yaml", CM("x", "4"));

static const struct git_table_commit commits[] = {{"first", first},   {"blocked", blocked},
						  {"broken", broken}, {"held", held},
						  {"last", last},     {0}};

/* What a process that began since does not know it cannot put back: it says so. */
static void wait_for(struct world *w, bool kept)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct error err;
	if (kept)
		return;
	if (w->program_starts > 1 && world_get(w, WEB, &o, &err) == 200 &&
	    !world_has(o, "status.state=Synced")) {
		const struct obj *ready = condition_find(obj_path(o, "status.conditions"), "Ready");
		const char *text = obj_str(ready, "message");
		if (text && strstr(text, "is not kept as declared meanwhile"))
			return;
	}
	w->next_action--;
}

static void await_kept(struct world *w)
{
	CLEANUP(obj_unrefp) struct obj *a = NULL;
	CLEANUP(obj_unrefp) struct obj *b = NULL;
	struct error err;
	wait_for(w, world_get(w, MAPS "/a", &a, &err) == 200 && world_has(a, "data.v=1") &&
			    world_get(w, MAPS "/b", &b, &err) == 200 && world_has(b, "data.v=1"));
}

static void await_told(struct world *w)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct error err;
	wait_for(w, world_get(w, WEB, &o, &err) == 200 && world_has(o, "@Drifted=Reported"));
}

/* Where the Bundle may write no more it does not, and says so. */
static void is_left(struct world *w)
{
	CLEANUP(obj_unrefp) struct obj *a = NULL;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct error err;
	if (!world_is_faultless(w))
		return;
	if (world_get(w, MAPS "/a", &a, &err) != 200 || !world_has(a, "data.v=theirs"))
		world_fail(w, "it is written where the whitelist does not allow it any more");
	if (world_get(w, WEB, &o, &err) != 200 || !world_has(o, "@Drifted=RepairRefused"))
		world_fail(w, "that it is not put back is not told");
}

/* clang-format off */
#define IS_KEPT \
	{0, DO_PATCH, MAPS "/a", CHANGE, NULL}, \
	{0, DO_DELETE, MAPS "/b", NULL, NULL}, \
	{SEC, DO_CALL, "call", NULL, await_kept}
/* clang-format on */

static const struct user_action actions[] = {
	PUSH(0, "1"),
	{0, DO_CREATE, MAPS, THEIRS, NULL},
	{0, DO_CREATE, BUNDLES, BUNDLE("60s", "\"prune\":{\"maxDeletes\":1}"), NULL},
	{0, DO_UNTIL, WEB, "status.state=Synced", NULL},
	{0, DO_PATCH, WEB, "{\"spec\":{\"prune\":{\"namespaces\":[\"elsewhere\"]}}}", NULL},
	{0, DO_UNTIL, WEB, "status.state=Invalid", NULL},
	{0, DO_PATCH, MAPS "/a", CHANGE, NULL},
	{60 * SEC, DO_CALL, "call", NULL, is_left},
	{0, DO_PATCH, WEB, "{\"spec\":{\"prune\":{\"namespaces\":null}}}", NULL},
	{0, DO_UNTIL, MAPS "/a", "data.v=1", NULL},
	{0, DO_UNTIL, WEB, "status.state=Synced", NULL},
	PUSH(0, "2"),
	{0, DO_UNTIL, WEB, "status.state=Blocked", NULL},
	IS_KEPT,
	PUSH(0, "3"),
	{0, DO_UNTIL, WEB, "status.state=Invalid", NULL},
	IS_KEPT,
	PUSH(0, "4"), /* three go, and one may */
	{0, DO_UNTIL, WEB, "status.state=AwaitingApproval", NULL},
	IS_KEPT,
	PUSH(0, "5"),
	{0, DO_UNTIL, WEB, "status.state=Blocked", NULL},
	{0, DO_PATCH, WEB, "{\"spec\":{\"drift\":\"Report\"}}", NULL},
	{60 * SEC, DO_PATCH, MAPS "/a", CHANGE, NULL},
	{SEC, DO_CALL, "call", NULL, await_told},
	{0, DO_PATCH, WEB,
	 "{\"spec\":{\"drift\":\"Repair\",\"adopt\":\"Unowned\",\"prune\":{\"maxDeletes\":2}}}",
	 NULL},
	{0, DO_UNTIL, WEB, "status.state=Synced", NULL},
	{0},
};

static int converged(struct world *w, struct error *err)
{
	static const struct bundles_want list[] = {{"a", "4"},  {"b", "4"}, {"c", NULL},
						   {"d", NULL}, {"x", "4"}, {0}};
	return bundles_converged(w, list, err);
}

const struct scenario scenario_held = {
	.name = "held",
	.about = "a Bundle, whose next revisions are refused while what is applied drifts",
	.actions = actions,
	.program = &operators_program,
	.commits = commits,
	.observe = bundles_observe,
	.converged = converged,
};
