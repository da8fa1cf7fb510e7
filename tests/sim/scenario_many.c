/* Many at once, and one after the other: more versions of an app, and more apps of a catalog, than
 * any queue or table of the controllers takes in one turn. */
#include "tests/sim/charts_sim.h"
#include "tests/sim/operators.h"
#include "tests/sim/scenarios.h"

#define SEC      NS_PER_S
#define CATALOGS "/apis/app.coreos.com/v1alpha1/catalogs"
#define APPS     "/apis/app.coreos.com/v1beta1/apps"
#define CATALOG_BODY                                                                     \
	"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Catalog\",\"metadata\":" \
	"{\"name\":\"community\"},\"spec\":{\"interval\":\"30s\",\"source\":{\"url\":"   \
	"\"dir://" CATALOG_DIR "\"}}}"
#define APP_BODY(name)                                                                  \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":" \
	"{\"name\":\"" name "\"},\"spec\":{\"type\":\"io.ops\"}}"

#define CALL(after, f) {after, DO_CALL, "call", NULL, f}
#define APP(name)      {0, DO_CREATE, APPS, APP_BODY(name), NULL}
#define FIRST_CATALOG  {SEC, DO_CREATE, CATALOGS, CATALOG_BODY, NULL}
#define IS(app, v)     {5 * SEC, DO_UNTIL, APPS "/" app, "status.installedVersion=" v, NULL}

/* --- one app, version after version --- */

#define PUT(minor)                                            \
	static void put_##minor(struct world *w)              \
	{                                                     \
		charts_put_plain(w, "web", "0." #minor ".0"); \
	}
PUT(1)
PUT(2)
PUT(3)
PUT(4)
PUT(5)
PUT(6)
PUT(7)
PUT(8)
PUT(9)
PUT(10)

#define NEXT(minor) CALL(SEC, put_##minor), IS("web", "0." #minor ".0")

static const struct user_action versions[] = {
	CALL(0, put_1), FIRST_CATALOG, APP("web"), IS("web", "0.1.0"),
	NEXT(2),        NEXT(3),       NEXT(4),    NEXT(5),
	NEXT(6),        NEXT(7),       NEXT(8),    NEXT(9),
	NEXT(10),       {0},
};

static int app_is(struct world *w, const char *app, const char *field_is_value, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	int status = world_get(w, arena_fmt(a, APPS "/%s", app), &o, err);
	if (status < 0)
		return status;
	if (!world_has(o, field_is_value))
		return error_set(err, E_INTERNAL, "%s: %d, want %s", app, status, field_is_value);
	return 0;
}

static int versions_end(struct world *w, struct error *err)
{
	int r = app_is(w, "web", "status.installedVersion=0.10.0", err);
	return r < 0 ? r : app_is(w, "web", "@Ready=Installed", err);
}

/* --- many apps of one catalog --- */

/* web0 ... web(n-1) */
static void put_all(struct world *w, int n, const char *version)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	for (int i = 0; i < n; i++)
		charts_put_plain(w, arena_fmt(a, "web%d", i), version);
}

static int all_are(struct world *w, int n, const char *version, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	const char *wanted = arena_fmt(a, "status.installedVersion=%s", version);
	for (int i = 0; i < n; i++)
		if (app_is(w, arena_fmt(a, "web%d", i), wanted, err) < 0)
			return -err->code;
	return 0;
}

#define CROWD 12

static void put_crowd_1(struct world *w)
{
	put_all(w, CROWD, "0.1.0");
}

static void put_crowd_2(struct world *w)
{
	put_all(w, CROWD, "0.2.0");
}

#define TEN(t)                                                                                    \
	APP("web" t "0"), APP("web" t "1"), APP("web" t "2"), APP("web" t "3"), APP("web" t "4"), \
		APP("web" t "5"), APP("web" t "6"), APP("web" t "7"), APP("web" t "8"),           \
		APP("web" t "9")
#define TEN_ARE(t, v)                                                                           \
	IS("web" t "0", v), IS("web" t "1", v), IS("web" t "2", v), IS("web" t "3", v),         \
		IS("web" t "4", v), IS("web" t "5", v), IS("web" t "6", v), IS("web" t "7", v), \
		IS("web" t "8", v), IS("web" t "9", v)

/* Where plans are kept: of twelve that make it if it is absent, several come too late. */
#define SYSTEM                                                                                    \
	{0, DO_CREATE, "/api/v1/namespaces",                                                      \
	 "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"alm-system\"}}", \
	 NULL}

static const struct user_action crowd[] = {
	CALL(0, put_crowd_1),
	SYSTEM,
	TEN(""),
	APP("web10"),
	APP("web11"),
	FIRST_CATALOG,
	TEN_ARE("", "0.1.0"),
	IS("web10", "0.1.0"),
	IS("web11", "0.1.0"),
	CALL(SEC, put_crowd_2),
	TEN_ARE("", "0.2.0"),
	IS("web10", "0.2.0"),
	IS("web11", "0.2.0"),
	{0},
};

static int crowd_ends(struct world *w, struct error *err)
{
	return all_are(w, CROWD, "0.2.0", err);
}

const struct scenario scenario_versions = {
	.name = "versions",
	.about = "an app gets ten versions, one after the other",
	.actions = versions,
	.program = &operators_program,
	.simulate_workloads = true,
	.writes = 320,
	.converged = versions_end,
};

const struct scenario scenario_crowd = {
	.name = "crowd",
	.about = "twelve apps of one catalog are installed, and upgraded, at once",
	.actions = crowd,
	.program = &operators_program,
	.simulate_workloads = true,
	.writes = 740,
	.converged = crowd_ends,
};
