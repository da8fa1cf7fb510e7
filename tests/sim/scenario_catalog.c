/* A catalog goes bad and comes back, loses the installed version, changes 100 times in 10 s; a
 * second one of equal priority has a newer version, which counts only when the first one is gone.
 */
#include <string.h>

#include "tests/sim/charts_sim.h"
#include "tests/sim/operators.h"
#include "tests/sim/scenarios.h"

#define SEC      NS_PER_S
#define CATALOGS "/apis/app.coreos.com/v1alpha1/catalogs"
#define APPS     "/apis/app.coreos.com/v1beta1/apps"
#define ETCD     APPS "/etcd"
#define FIRST    CATALOGS "/community"
#define ARCHIVE  CATALOG_DIR "/etcd-operator-0.9.5.tgz"
#define NOTICES  CATALOG_DIR "/catalog.yaml"
#define STRATEGY                                                  \
	"/apis/opinstaller.coreos.com/v1beta1/installstrategies/" \
	"install.0.9.6.etcd.com.tectonic.storage"
#define CATALOG(name, dir)                                                               \
	"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Catalog\",\"metadata\":" \
	"{\"name\":\"" name "\"},\"spec\":{\"interval\":\"30s\",\"source\":{\"url\":"    \
	"\"dir://" dir "\"}}}"
#define APP                                                                             \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":" \
	"{\"name\":\"etcd\"},\"spec\":{\"type\":\"com.tectonic.storage\"}}"

static void put_0_9_4(struct world *w)
{
	charts_put(w, "0.9.4", SERVES_V1);
}

static void put_0_9_5(struct world *w)
{
	charts_put(w, "0.9.5", SERVES_V1 | SERVES_V2);
}

/* Into the folder of the other catalog only. */
static void put_elsewhere(struct world *w)
{
	static const char *const name = CATALOG_DIR "/etcd-operator-0.9.6.tgz";
	charts_put(w, "0.9.6", SERVES_V1 | SERVES_V2);
	const struct world_file *f = map_get(w->files, name);
	CLEANUP(strbuf_release) struct strbuf copy = STRBUF_INIT((size_t)1 << 20);
	strbuf_add(&copy, f->bytes, f->n);
	world_put_file(w, name, STR_NONE);
	world_put_file(w, "/mirror/etcd-operator-0.9.6.tgz", strbuf_str(&copy));
}

/* The version that another catalog has is not taken. */
static void note_source(struct world *w)
{
	struct error err;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	if (world_get(w, ETCD, &o, &err) == 200 && !world_has(o, "status.installedVersion=0.9.5"))
		world_fail(w, "a catalog of equal priority took the app");
}

#define CALL(after, f)    {after, DO_CALL, "call", NULL, f}
#define FILE_(name, text) {SEC, DO_FILE, name, text, NULL}
#define NOTICE(text)      {100 * NS_PER_MS, DO_FILE, NOTICES, text, NULL}
#define TWO               NOTICE("deprecations: [{package: etcd-operator, versions: \"<0.9.4\"}]"), NOTICE("{}")
#define TEN               TWO, TWO, TWO, TWO, TWO
#define FIFTY             TEN, TEN, TEN, TEN, TEN

static const struct user_action actions[] = {
	CALL(0, put_0_9_4),
	{SEC, DO_CREATE, CATALOGS, CATALOG("community", CATALOG_DIR), NULL},
	{0, DO_CREATE, APPS, APP, NULL},
	{5 * SEC, DO_UNTIL, ETCD, "status.installedVersion=0.9.4", NULL},
	/* a bad entry, then a bad revision */
	FILE_(ARCHIVE, "this is no archive"),
	{5 * SEC, DO_UNTIL, FIRST, "@EntriesRejected=EntriesRejected", NULL},
	FILE_(NOTICES, "deprecations: ["),
	{5 * SEC, DO_UNTIL, FIRST, "@Synced=ParseError", NULL},
	FILE_(NOTICES, NULL),
	{5 * SEC, DO_UNTIL, FIRST, "@Synced=Synced", NULL},
	CALL(SEC, put_0_9_5),
	{5 * SEC, DO_UNTIL, ETCD, "status.installedVersion=0.9.5", NULL},
	/* what is installed goes, and other things happen */
	FILE_(ARCHIVE, NULL),
	{5 * SEC, DO_UNTIL, ETCD, "@Deprecated=VersionUnlisted", NULL},
	CALL(0, put_elsewhere),
	{SEC, DO_CREATE, CATALOGS, CATALOG("mirror", "/mirror"), NULL},
	{5 * SEC, DO_UNTIL, CATALOGS "/mirror", "@Synced=Synced", NULL},
	FIFTY,
	FIFTY,
	CALL(60 * SEC, note_source),
	{SEC, DO_DELETE, FIRST, NULL, NULL},
	{5 * SEC, DO_UNTIL, ETCD, "status.installedVersion=0.9.6", NULL},
	{0},
};

static int converged(struct world *w, struct error *err)
{
	static const struct {
		const char *target, *field_is_value;
	} wanted[] = {{ETCD, "status.installedVersion=0.9.6"},
		      {ETCD, "@Ready=Installed"},
		      {ETCD, "status.source.catalog=mirror"},
		      {STRATEGY, "status.phase=Succeeded"}};
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		int status = world_get(w, wanted[i].target, &o, err);
		if (status < 0)
			return status;
		if (!world_has(o, wanted[i].field_is_value))
			return error_set(err, E_INTERNAL, "%s: %d, want %s", wanted[i].target,
					 status, wanted[i].field_is_value);
	}
	return 0;
}

const struct scenario scenario_catalog = {
	.name = "catalog",
	.about = "a catalog goes bad, comes back, changes 100 times and is left for another",
	.actions = actions,
	.program = &operators_program,
	.simulate_workloads = true,
	.converged = converged,
};
