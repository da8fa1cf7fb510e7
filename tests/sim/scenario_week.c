/* A week with ten apps: they are installed, upgraded in each mode, wait for a person, a window, a soak,
 * run out of their approval, fail and go back, are paused, pruned, mended and removed; both sides are
 * killed on the way. Each day what is shown, what is recorded and what caused it must agree. */
#include <string.h>

#include "alm/audit/query.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "tests/sim/charts_sim.h"
#include "tests/sim/invariants.h"
#include "tests/sim/operators.h"
#include "tests/sim/scenarios.h"

#define SEC            NS_PER_S
#define HOUR           NS_PER_HOUR
#define DAY            NS_PER_DAY
#define APPS_N         10
#define CATALOGS       "/apis/app.coreos.com/v1alpha1/catalogs"
#define APPS           "/apis/app.coreos.com/v1beta1/apps"
#define STRATEGIES     "/apis/opinstaller.coreos.com/v1beta1/installstrategies"
#define STRATEGY(n, v) STRATEGIES "/install." v ".web" n ".io.ops"
#define CATALOG_BODY                                                                     \
	"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Catalog\",\"metadata\":" \
	"{\"name\":\"community\"},\"spec\":{\"interval\":\"30m\",\"source\":{\"url\":"   \
	"\"dir://" CATALOG_DIR "\"}}}"
#define APP_BODY(n, more)                                                               \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":" \
	"{\"name\":\"web" n "\"},\"spec\":{\"type\":\"io.ops\"" more "}}"
#define UPGRADE(text) ",\"upgrade\":{" text "}"
/* The simulation begins on a Thursday, at midnight. */
#define SATURDAY     "\"windows\":[{\"days\":[\"Sat\"],\"from\":\"02:00\",\"to\":\"04:00\"}]"
#define APPROVED(is) "{\"spec\":{\"approved\":" is ",\"approvalReason\":\"CHG-1\"}}"
#define BAD                 \
	"apiVersion: v1\n"  \
	"kind: ConfigMap\n" \
	"metadata: {name: Not_A_Name}\n"

/* --- what agrees --- */

struct week {
	struct world *w;
	struct error *err;
	const struct obj *strategies;
	int64_t root; /* the entry that query_why() came to */
	size_t n_rows, n_approvals;
};

static int on_row(void *arg, unsigned depth UNUSED, const struct obj *row, struct error *err UNUSED)
{
	struct week *x = arg;
	x->n_rows++;
	x->n_approvals += cstr_eq(obj_str(row, "type"), "Approval") && obj_str(row, "actor");
	x->root = obj_i64(row, "cause", 0) ? 0 : obj_i64(row, "seq", 0);
	return 0;
}

/* The strategy of that version, or in that phase; NULL: none. */
static const struct obj *strategy_of(const struct week *x, const char *app, const char *field,
				     const char *value)
{
	for (size_t i = 0; i < obj_len(x->strategies); i++) {
		const struct obj *s = obj_at(x->strategies, i);
		if (cstr_eq(obj_str(s, "spec.appTypeRef.name"), app) &&
		    cstr_eq(obj_str(s, field), value))
			return s;
	}
	return NULL;
}

static const struct obj *candidate(const struct obj *app, const char *version)
{
	const struct obj *list = obj_path(app, "status.candidates");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "version"), version))
			return obj_at(list, i);
	return NULL;
}

/* What the app shows, and what its strategies do. */
static int shown_agrees(struct week *x, const struct obj *app)
{
	struct condition c = {0};
	const char *name = meta_name(app), *is = obj_str(app, "status.installedVersion");
	const char *next = obj_str(app, "status.availableVersion");
	const struct obj *s = is ? strategy_of(x, name, "spec.version", is) : NULL;
	if (!s || !cstr_eq(obj_str(s, "status.phase"), "Succeeded"))
		return error_set(x->err, E_INTERNAL, "%s shows %s, whose strategy is %s", name,
				 is ? is : "no version", s ? obj_str(s, "status.phase") : "absent");
	if (!condition_is(app, "Ready", "True") || condition_is(app, "StateOverdue", "True"))
		return error_set(x->err, E_INTERNAL, "%s is not Ready, or late", name);
	if (!candidate(app, is) || !next || !candidate(app, next))
		return error_set(x->err, E_INTERNAL, "%s: %s or %s is no candidate", name, is,
				 next);
	bool waits = condition_is(app, "UpgradeAvailable", "True");
	bool blocked = condition_is(app, "UpgradeBlocked", "True");
	if ((waits || blocked) == cstr_eq(is, next))
		return error_set(x->err, E_INTERNAL, "%s has %s, could have %s, and %s", name, is,
				 next,
				 waits     ? "waits"
				 : blocked ? "is blocked"
					   : "says nothing");
	if (blocked && obj_flag(candidate(app, next), "installable", true))
		return error_set(x->err, E_INTERNAL, "%s: %s blocks and is installable", name,
				 next);
	bool asks = waits && condition_get(app, "UpgradeAvailable", &c) &&
		    cstr_eq(c.reason, "AwaitingApproval");
	if (asks && !strategy_of(x, name, "status.phase", "AwaitingApproval"))
		return error_set(x->err, E_INTERNAL, "%s waits for approval of nothing", name);
	return 0;
}

/* The log knows why that version is there, from its first cause on. */
static int why_agrees(struct week *x, const struct obj *app)
{
	struct world *w = x->w;
	struct db *log = w->scenario->program->db(w->program);
	const char *is = obj_str(app, "status.installedVersion");
	const struct query_selector sel = {.kind = "AppType", .name = meta_name(app)};
	x->n_rows = x->n_approvals = 0;
	x->root = 0;
	if (query_why(log ? log : w->db, &sel, is, on_row, x, x->err) < 0)
		return -x->err->code;
	bool was_approved =
		cstr_eq(obj_str(app, "spec.upgrade.mode"), "Manual") && !cstr_eq(is, "0.1.0");
	if (x->n_rows < 2 || !x->root)
		return error_set(x->err, E_INTERNAL,
				 "why %s has %s: %zu entries, the last is no root", sel.name, is,
				 x->n_rows);
	if (was_approved && !x->n_approvals)
		return error_set(x->err, E_INTERNAL, "why %s has %s: nobody approved it", sel.name,
				 is);
	return 0;
}

/* At rest, without a fault. */
static void all_agrees(struct world *w)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *apps = NULL, *strategies = NULL;
	if (!world_is_faultless(w))
		return;
	if (world_get(w, APPS, &apps, &err) != 200 ||
	    world_get(w, STRATEGIES, &strategies, &err) != 200) {
		world_fail(w, "no list: %s", err.msg);
		return;
	}
	struct week x = {.w = w, .err = &err, .strategies = obj_get(strategies, "items")};
	const struct obj *list = obj_get(apps, "items");
	int r = invariants_agree(w, &err);
	for (size_t i = 0; i < obj_len(list) && r == 0; i++) {
		r = shown_agrees(&x, obj_at(list, i));
		if (r == 0)
			r = why_agrees(&x, obj_at(list, i));
	}
	if (r < 0)
		world_fail(w, "hour %lld: %s", (long long)(w->sim.mono_ns / HOUR), err.msg);
}

/* --- what happens --- */

static void put_all(struct world *w, const char *version)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	for (int i = 0; i < APPS_N; i++)
		charts_put_plain(w, arena_fmt(a, "web%d", i), version);
}

static void put_1(struct world *w)
{
	put_all(w, "0.1.0");
}

static void put_2(struct world *w)
{
	put_all(w, "0.2.0");
}

static void put_bad(struct world *w)
{
	charts_put_text(w, "web0", "0.3.0", BAD);
}

static void put_3(struct world *w)
{
	charts_put_plain(w, "web1", "0.3.0");
	charts_put_plain(w, "web3", "0.3.0");
}

static void put_4(struct world *w)
{
	charts_put_plain(w, "web0", "0.4.0");
	charts_put_plain(w, "web1", "0.4.0");
}

static void nothing(struct world *w)
{
	(void)w;
}

static void kill_program(struct world *w)
{
	world_crash_program(w, KEEP_ALL);
}

static void kill_server(struct world *w)
{
	world_crash_server(w, KEEP_ALL);
}

#define CALL(after, f)   {after, DO_CALL, "call", NULL, f}
#define AGREE            CALL(5 * NS_PER_MIN, all_agrees)
#define APP(n, more)     {0, DO_CREATE, APPS, APP_BODY(n, more), NULL}
#define SET(n, spec)     {SEC, DO_PATCH, APPS "/web" n, "{\"spec\":{" spec "}}", NULL}
#define IS(n, v)         {SEC, DO_UNTIL, APPS "/web" n, "status.installedVersion=" v, NULL}
#define WAITS(n, reason) {SEC, DO_UNTIL, APPS "/web" n, "@UpgradeAvailable=" reason, NULL}
#define APPROVE(n, v)    {SEC, DO_PATCH, STRATEGY(n, v), APPROVED("true"), NULL}
#define TAKE_BACK(n, v)  {SEC, DO_PATCH, STRATEGY(n, v), APPROVED("false"), NULL}
#define REMOVE(n)        {SEC, DO_DELETE, APPS "/web" n, NULL, NULL}
#define GONE(target)     {SEC, DO_GONE, target, NULL, NULL}
#define LATER(after)     CALL(after, nothing)
#define EACH(f, ...)                                                                        \
	f("0", __VA_ARGS__), f("1", __VA_ARGS__), f("2", __VA_ARGS__), f("3", __VA_ARGS__), \
		f("4", __VA_ARGS__), f("5", __VA_ARGS__), f("6", __VA_ARGS__),              \
		f("7", __VA_ARGS__), f("8", __VA_ARGS__), f("9", __VA_ARGS__)

static const struct user_action week[] = {
	/* Thursday */
	CALL(0, put_1),
	{SEC, DO_CREATE, CATALOGS, CATALOG_BODY, NULL},
	APP("0", UPGRADE("\"deadlines\":{\"installing\":\"1m\"}")),
	APP("1", ",\"historyLimit\":1"),
	APP("2", ""),
	APP("3", ""),
	APP("4", ""),
	APP("5", UPGRADE("\"mode\":\"Manual\"")),
	APP("6", UPGRADE(SATURDAY)),
	APP("7", UPGRADE("\"soak\":\"48h\"")),
	APP("8", UPGRADE("\"mode\":\"Manual\",\"approvalTTL\":\"2h\"")),
	APP("9", ""),
	EACH(IS, "0.1.0"),
	SET("9", "\"upgrade\":{\"mode\":\"None\"}"),
	AGREE,
	CALL(2 * HOUR, put_2),
	IS("0", "0.2.0"),
	IS("1", "0.2.0"),
	IS("2", "0.2.0"),
	IS("3", "0.2.0"),
	IS("4", "0.2.0"),
	WAITS("5", "AwaitingApproval"),
	WAITS("6", "OutsideWindow"),
	WAITS("7", "Soaking"),
	{SEC, DO_UNTIL, STRATEGY("8", "0.2.0"), "status.phase=AwaitingApproval", NULL},
	WAITS("9", "ModeNone"),
	SET("8", "\"paused\":true"),
	{SEC, DO_UNTIL, STRATEGY("8", "0.2.0"), "@Approved=Paused", NULL},
	APPROVE("8", "0.2.0"), /* and nobody goes on with it in time */
	AGREE,
	LATER(3 * HOUR),
	SET("8", "\"paused\":false"),
	{SEC, DO_UNTIL, STRATEGY("8", "0.2.0"), "@Approved=ApprovalExpired", NULL},
	AGREE,
	/* Friday */
	CALL(20 * HOUR, kill_program),
	APPROVE("5", "0.2.0"),
	IS("5", "0.2.0"),
	AGREE,
	LATER(12 * HOUR),
	CALL(SEC, kill_server),
	WAITS("7", "Soaking"),
	WAITS("6", "OutsideWindow"),
	/* Saturday, after two: the window is open, and the 48 hours are over */
	LATER(15 * HOUR),
	IS("6", "0.2.0"),
	IS("7", "0.2.0"),
	{SEC, DO_UNTIL, APPS "/web8", "status.installedVersion=0.1.0", NULL},
	AGREE,
	TAKE_BACK("8", "0.2.0"),
	{SEC, DO_UNTIL, STRATEGY("8", "0.2.0"), "@Approved=ApprovalRequired", NULL},
	APPROVE("8", "0.2.0"),
	IS("8", "0.2.0"),
	AGREE,
	/* Sunday: one that fails */
	CALL(DAY, put_bad),
	{SEC, DO_UNTIL, STRATEGY("0", "0.3.0"), "status.phase=RolledBack", NULL},
	{SEC, DO_UNTIL, APPS "/web0", "@Ready=UpgradeBlocked", NULL},
	IS("0", "0.2.0"),
	AGREE,
	SET("3", "\"paused\":true"),
	CALL(SEC, put_3),
	WAITS("3", "Paused"),
	IS("1", "0.3.0"),
	GONE(STRATEGY("1", "0.1.0")),
	AGREE,
	/* Monday: the next one is good; what somebody deletes is back */
	CALL(DAY, put_4),
	IS("0", "0.4.0"),
	IS("1", "0.4.0"),
	GONE(STRATEGY("1", "0.2.0")),
	{SEC, DO_DELETE, "/api/v1/namespaces/web2/configmaps/web2", NULL, NULL},
	{NS_PER_MIN, DO_APPEAR, "/api/v1/namespaces/web2/configmaps/web2", NULL, NULL},
	SET("9", "\"upgrade\":{\"mode\":\"Automatic\"}"),
	IS("9", "0.2.0"),
	SET("3", "\"paused\":false"),
	IS("3", "0.3.0"),
	CALL(SEC, kill_program),
	AGREE,
	/* Wednesday: all go, and one comes back */
	LATER(2 * DAY),
	REMOVE("0"),
	REMOVE("1"),
	REMOVE("2"),
	REMOVE("3"),
	REMOVE("4"),
	REMOVE("5"),
	REMOVE("6"),
	REMOVE("7"),
	REMOVE("8"),
	REMOVE("9"),
	GONE(APPS "/web0"),
	GONE(APPS "/web9"),
	GONE(STRATEGY("5", "0.2.0")),
	AGREE,
	APP("0", ""),
	IS("0", "0.4.0"),
	AGREE,
	{0},
};

static int week_ends(struct world *w, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *apps = NULL;
	if (world_get(w, APPS, &apps, err) != 200)
		return error_set(err, E_INTERNAL, "no list of apps");
	const struct obj *list = obj_get(apps, "items"), *one = obj_at(list, 0);
	if (obj_len(list) != 1 || !world_has(one, "status.installedVersion=0.4.0"))
		return error_set(err, E_INTERNAL, "%zu apps are left", obj_len(list));
	return w->sim.mono_ns >= 6 * DAY ? 0 : error_set(err, E_INTERNAL, "that was no week");
}

const struct scenario scenario_week = {
	.name = "week",
	.about = "ten apps live through a week",
	.actions = week,
	.program = &operators_program,
	.simulate_workloads = true,
	.lasts_ns = 8 * DAY,
	.by_clock = true,
	.converged = week_ends,
};
