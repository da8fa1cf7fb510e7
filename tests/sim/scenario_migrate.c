/*
 * scenario_migrate: an upgrade that drops a version is blocked, somebody migrates its objects, and
 * it goes on by itself. The one who migrates crashes like everybody else, and starts anew.
 */
#include <string.h>

#include "alm/live/migration.h"
#include "tests/sim/charts_sim.h"
#include "tests/sim/operators.h"
#include "tests/sim/scenarios.h"

#define SEC        NS_PER_S
#define MS         NS_PER_MS
#define CATALOGS   "/apis/app.coreos.com/v1alpha1/catalogs"
#define APPS       "/apis/app.coreos.com/v1beta1/apps"
#define ETCD       APPS "/etcd"
#define CRD_NAME   "etcds.etcd.coreos.com"
#define CRD        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" CRD_NAME
#define THROUGH(v) "/apis/etcd.coreos.com/" v "/namespaces/default/etcds"

#define CATALOG_BODY                                                                     \
	"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Catalog\",\"metadata\":" \
	"{\"name\":\"community\"},\"spec\":{\"interval\":\"30s\",\"source\":{\"url\":"   \
	"\"dir://" CATALOG_DIR "\"}}}"
#define APP_BODY                                                                        \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":" \
	"{\"name\":\"etcd\"},\"spec\":{\"type\":\"com.tectonic.storage\"}}"
#define INSTANCE(v, name)                                                                 \
	"{\"apiVersion\":\"etcd.coreos.com/" v "\",\"kind\":\"EtcdCluster\",\"metadata\"" \
	":{\"name\":\"" name "\"},\"spec\":{\"size\":3}}"
#define SIZE(n) "{\"spec\":{\"size\":" n "}}"

/* --- the program: the controllers, and `alm crd migrate` once somebody has called it --- */

static const char calls[] = "calls", insists[] = "insists", is_through[] = "through";

struct migrators {
	struct world *w;
	void *operators;
	struct loop *loop;
	struct client *client;
	struct migration *migration;
	struct timer again;
};

static void note(struct world *w, const char *text)
{
	xfree(w->noted);
	w->noted = xstrdup(text);
}

static void migrated(void *arg, const struct migration_result *r UNUSED, const struct error *err);

static void migrate(void *arg)
{
	struct migrators *p = arg;
	const struct migration_config c = {.client = p->client,
					   .crd = CRD_NAME,
					   .to = "v2",
					   .page = 2,
					   .ignore_writers = cstr_eq(p->w->noted, insists),
					   .done = migrated,
					   .arg = p};
	migration_free(p->migration);
	p->migration = migration_start(&c);
}

/* Whoever calls it does what it says: again, or again with --ignore-writers. */
static void migrated(void *arg, const struct migration_result *r UNUSED, const struct error *err)
{
	struct migrators *p = arg;
	if (!err) {
		note(p->w, is_through);
		return;
	}
	if (err->code == E_REFUSED)
		note(p->w, insists);
	p->again = (struct timer){.fn = migrate, .arg = p};
	loop_arm(p->loop, &p->again, 5 * SEC);
}

static void *migrators_start(struct world *w, struct loop *l, struct transport *t)
{
	struct migrators *p = xcalloc(1, sizeof(*p));
	p->w = w;
	p->loop = l;
	p->operators = operators_program.start(w, l, t);
	if (!p->operators) {
		xfree(p);
		return NULL;
	}
	p->client = client_new(l, t);
	if (w->noted && strcmp(w->noted, is_through) != 0) {
		p->again = (struct timer){.fn = migrate, .arg = p};
		loop_arm(l, &p->again, SEC);
	}
	return p;
}

static void migrators_stop(void *arg)
{
	struct migrators *p = arg;
	migration_free(p->migration);
	loop_disarm(p->loop, &p->again);
	client_free(p->client);
	operators_program.stop(p->operators);
	xfree(p);
}

static bool migrators_idle(void *arg)
{
	return operators_program.idle(((struct migrators *)arg)->operators);
}

static struct db *migrators_db(void *arg)
{
	return operators_program.db(((struct migrators *)arg)->operators);
}

static void migrators_each_cache(void *arg, void (*fn)(void *arg, const struct informer *cache),
				 void *to)
{
	operators_program.each_cache(((struct migrators *)arg)->operators, fn, to);
}

static const struct program program = {.start = migrators_start,
				       .stop = migrators_stop,
				       .idle = migrators_idle,
				       .db = migrators_db,
				       .each_cache = migrators_each_cache};

/* --- what the user does --- */

static void put_0_9_4(struct world *w)
{
	charts_put(w, "0.9.4", SERVES_V1);
}

static void put_0_9_5(struct world *w)
{
	charts_put(w, "0.9.5", SERVES_V1 | SERVES_V2 | STORES_V2);
}

static void put_1_0_0(struct world *w)
{
	charts_put(w, "1.0.0", SERVES_V2);
}

static void begin(struct world *w)
{
	note(w, calls);
	if (w->program)
		migrate(w->program);
}

#define CALL(after, f) {after, DO_CALL, "call", NULL, f}
#define BLOCKED                                                                                   \
	CALL(0, put_0_9_4), {SEC, DO_CREATE, CATALOGS, CATALOG_BODY, NULL},                       \
		{0, DO_CREATE, APPS, APP_BODY, NULL},                                             \
		{5 * SEC, DO_UNTIL, ETCD, "status.installedVersion=0.9.4", NULL},                 \
		{SEC, DO_CREATE, THROUGH("v1"), INSTANCE("v1", "ant"), NULL},                     \
		{0, DO_CREATE, THROUGH("v1"), INSTANCE("v1", "bee"), NULL},                       \
		{0, DO_CREATE, THROUGH("v1"), INSTANCE("v1", "cow"), NULL},                       \
		{0, DO_CREATE, THROUGH("v1"), INSTANCE("v1", "dog"), NULL},                       \
		{0, DO_CREATE, THROUGH("v1"), INSTANCE("v1", "elk"), NULL}, CALL(SEC, put_0_9_5), \
		{5 * SEC, DO_UNTIL, ETCD, "status.installedVersion=0.9.5", NULL},                 \
		CALL(SEC, put_1_0_0),                                                             \
		{5 * SEC, DO_UNTIL, ETCD, "@UpgradeBlocked=ResourceDropped", NULL},               \
	{                                                                                         \
		0, DO_UNTIL, CRD, "status.storedVersions=[\"v1\",\"v2\"]", NULL                   \
	}
#define BLOCKED_ACTIONS 14

static const struct user_action alone[] = {
	BLOCKED,
	CALL(SEC, begin),
	{5 * SEC, DO_UNTIL, ETCD, "status.installedVersion=1.0.0", NULL},
	{0},
};

/* Others write, create and delete meanwhile, through both versions. What is written through v1
 * after the migration holds the upgrade up until it is written through v2. */
#define PAUSED(p) "{\"spec\":{\"paused\":" p "}}"

static const struct user_action beside[] = {
	BLOCKED,
	{0, DO_PATCH, ETCD, PAUSED("true"), NULL},
	CALL(SEC, begin),
	{5 * MS, DO_PATCH, THROUGH("v1") "/bee", SIZE("5"), NULL},
	{0, DO_CREATE, THROUGH("v1"), INSTANCE("v1", "fox"), NULL},
	{0, DO_PATCH, THROUGH("v2") "/cow", SIZE("7"), NULL},
	{0, DO_DELETE, THROUGH("v1") "/dog", NULL, NULL},
	{0, DO_PATCH, THROUGH("v1") "/elk", SIZE("9"), NULL},
	{5 * SEC, DO_UNTIL, CRD, "status.storedVersions=[\"v2\"]", NULL},
	/* One that a crash has ended is called once more, and ignores writers until it is through. */
	{5 * SEC, DO_UNTIL, CRD, "metadata.annotations[app.coreos.com/migration]=", NULL},
	{0, DO_PATCH, THROUGH("v1") "/bee", SIZE("6"), NULL},
	{SEC, DO_PATCH, ETCD, PAUSED("false"), NULL},
	{5 * SEC, DO_UNTIL, ETCD, "@UpgradeBlocked=ResourceDropped", NULL},
	{0, DO_PATCH, THROUGH("v2") "/bee", SIZE("7"), NULL},
	{0, DO_PATCH, THROUGH("v2") "/elk", SIZE("10"), NULL},
	{0, DO_PATCH, THROUGH("v2") "/fox", SIZE("4"), NULL},
	{5 * SEC, DO_UNTIL, ETCD, "status.installedVersion=1.0.0", NULL},
	{0},
};

/* --- the end --- */

struct wanted {
	const char *target, *field_is_value; /* NULL: the object is not there */
};

static int check_all(struct world *w, const struct wanted *wanted, struct error *err)
{
	for (; wanted->target; wanted++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		int status = world_get(w, wanted->target, &o, err);
		if (status < 0)
			return status;
		bool holds = wanted->field_is_value ? world_has(o, wanted->field_is_value)
						    : status == 404;
		if (!holds)
			return error_set(err, E_INTERNAL, "%s: %d, want %s", wanted->target, status,
					 wanted->field_is_value ? wanted->field_is_value : "none");
	}
	return 0;
}

#define SETTLED                                                              \
	{ETCD, "status.installedVersion=1.0.0"}, {ETCD, "@Ready=Installed"}, \
		{CRD, "status.storedVersions=[\"v2\"]"},                     \
		{CRD, "metadata.annotations[app.coreos.com/migration]="},    \
		{THROUGH("v1") "/ant", NULL}, {THROUGH("v2") "/ant", "spec.size=3"}

static int alone_ends(struct world *w, struct error *err)
{
	static const struct wanted wanted[] = {SETTLED,
					       {THROUGH("v2") "/bee", "spec.size=3"},
					       {THROUGH("v2") "/cow", "spec.size=3"},
					       {THROUGH("v2") "/dog", "spec.size=3"},
					       {THROUGH("v2") "/elk", "spec.size=3"},
					       {0}};
	return check_all(w, wanted, err);
}

static int beside_ends(struct world *w, struct error *err)
{
	static const struct wanted wanted[] = {SETTLED,
					       {THROUGH("v2") "/bee", "spec.size=7"},
					       {THROUGH("v2") "/cow", "spec.size=7"},
					       {THROUGH("v2") "/dog", NULL},
					       {THROUGH("v2") "/elk", "spec.size=10"},
					       {THROUGH("v2") "/fox", "spec.size=4"},
					       {0}};
	return check_all(w, wanted, err);
}

const struct scenario scenario_migrate = {
	.name = "migrate",
	.about = "an upgrade is blocked, the objects are migrated, it goes on",
	.actions = alone,
	.points_from = BLOCKED_ACTIONS,
	.program = &program,
	.simulate_workloads = true,
	.converged = alone_ends,
};

const struct scenario scenario_writers = {
	.name = "writers",
	.about = "the same while others write, create and delete through both versions",
	.actions = beside,
	.points_from = BLOCKED_ACTIONS,
	.program = &program,
	.simulate_workloads = true,
	.converged = beside_ends,
};
