#include "tests/sim/operators.h"

#include <string.h>

#include "alm/controllers/manager.h"
#include "alm/main/our_crds.h"
#include "alm/render/flat_job.h"
#include "alm/render/render_job.h"
#include "alm/sources/inspect.h"
#include "tests/sim/charts_sim.h"
#include "tests/sim/digest.h"
#include "tests/sim/git_sim.h"
#include "tests/sim/home.h"
#include "tests/sim/program_sim.h"
#include "tests/sim/sandbox_sim.h"

#define LOG_DB DISK_CONTROLLER ".db"

struct operators {
	struct world *w;
	struct loop *loop;
	struct client *client;
	struct source_files files;
	struct sandbox *sandbox;
	struct program_fake_row rows[4];
	struct programs *programs; /* NULL: the scenario has no repository */
	struct db *db;             /* NULL: the server's */
	struct audit *audit;
	struct our_crds *crds;
	struct timer again;
	struct manager *manager;
};

static const struct sandbox_job jobs[] = {
	{RENDER_JOB, render_job, NULL}, {FILES_JOB, files_job, NULL}, SOURCE_JOBS, {0}};

static void apply_crds(void *arg);

/* The real program ends here and is started again by its supervisor. */
static void crds_applied(void *arg, const struct error *err)
{
	struct operators *o = arg;
	if (!err) {
		manager_start(o->manager);
		return;
	}
	loop_arm(o->loop, &o->again, 2 * NS_PER_S);
}

static void apply_crds(void *arg)
{
	struct operators *o = arg;
	our_crds_free(o->crds);
	o->crds = our_crds_new(o->client, NULL, crds_applied, o);
	our_crds_apply(o->crds);
}

static int open_log(struct operators *o, struct error *err)
{
	struct db_config dc = {.path = LOG_DB, .vfs = "sim"};
	if (db_open(&dc, &o->db, err) < 0)
		return -err->code;
	struct audit_config ac = {.db = o->db,
				  .loop = o->loop,
				  .origin = "alm.local/c0117011e4c0117e",
				  .key_dir = HOME_PROGRAM};
	return audit_open(&ac, &o->audit, err);
}

static void operators_stop(void *p)
{
	struct operators *o = p;
	manager_free(o->manager);
	our_crds_free(o->crds);
	loop_disarm(o->loop, &o->again);
	client_free(o->client);
	programs_free(o->programs);
	if (o->sandbox)
		sandbox_free(o->sandbox);
	if (o->db) {
		audit_close(o->audit);
		db_close(o->db);
	}
	xfree(o);
}

static int info(void *arg, const char *path, struct file_info *ret, struct error *err)
{
	if (strcmp(path, GIT_SIM_PATH) != 0)
		return charts_files.info(arg, path, ret, err);
	*ret = (struct file_info){.is_dir = true, .mode = 0755};
	return 0;
}

static void add_git(struct operators *o)
{
	const struct program_fake_row rows[] = {{"git", git_sim, o->w},
						{"rm", git_table_nothing, NULL},
						{"mv", git_table_nothing, NULL}};
	memcpy(o->rows, rows, sizeof(rows));
	o->files.info = info;
	o->programs = programs_sim_new(o->loop, &o->w->faults, o->rows);
}

/* NULL if its log could not be opened. */
static void *operators_start(struct world *w, struct loop *l, struct transport *t)
{
	struct error err = ERROR_INIT;
	struct operators *o = xcalloc(1, sizeof(*o));
	o->w = w;
	o->loop = l;
	o->client = client_new(l, t);
	o->files = charts_files;
	o->files.arg = w;
	o->again = (struct timer){.fn = apply_crds, .arg = o};
	if (!w->together && open_log(o, &err) < 0) {
		operators_stop(o);
		return NULL;
	}
	o->sandbox = sandbox_sim_new(l, &w->faults, jobs);
	if (w->scenario->commits)
		add_git(o);
	struct manager_config c = {
		.loop = l,
		.client = o->client,
		.audit = w->together ? w->audit : o->audit,
		.db = w->together ? w->db : o->db,
		.same_process = w->together,
		.files = &o->files,
		.settings = {.verify_soak_ns = 10 * NS_PER_S, .simulated = true},
		.sandbox = o->sandbox,
		.programs = o->programs,
		.metrics = w->metrics,
		.git_dir = "mirrors", /* it is not there: git_sim has no files */
	};
	o->manager = manager_new(&c);
	apply_crds(o);
	return o;
}

static bool operators_idle(void *p)
{
	struct operators *o = p;
	return manager_is_synced(o->manager) && manager_is_idle(o->manager);
}

static struct db *operators_db(void *p)
{
	return ((struct operators *)p)->db;
}

static void operators_digest(void *p, struct trace *t)
{
	digest_db(t, "program", operators_db(p));
}

static void operators_each_cache(void *p, void (*fn)(void *arg, const struct informer *cache),
				 void *arg)
{
	manager_each_cache(((struct operators *)p)->manager, fn, arg);
}

/* What ALM writes as itself: its own kinds, plans, Events, the rights of accounts, namespaces it
 * makes, and marks on definitions. All else is an app's, and written as the account of the app. */
static bool is_own_book(const struct http_request *r)
{
	static const char *const prefixes[] = {"/apis/app.coreos.com/",
					       "/apis/opinstaller.coreos.com/",
					       "/api/v1/namespaces/alm-system/"};
	static const char *const parts[] = {"/events", "clusterroles/alm%3A",
					    "clusterrolebindings/alm%3A", "rolebindings/alm%3A"};
	const char *type = http_header(&r->headers, "Content-Type");
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (cstr_has_prefix(r->path, prefixes[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (strstr(r->path, parts[i]))
			return true;
	if (strstr(r->path, "/customresourcedefinitions"))
		return cstr_eq(type, "application/merge-patch+json") ||
		       strstr(r->path, ".app.coreos.com") || strstr(r->path, ".opinstaller.");
	return !strcmp(r->path, "/api/v1/namespaces");
}

static bool is_in_store_with(struct world *w, const char *like, const char *value)
{
	static const char live[] =
		"SELECT 1 FROM objects o WHERE name LIKE ? AND CAST(value AS TEXT) LIKE ?"
		" AND deleted = 0 AND NOT EXISTS"
		" (SELECT 1 FROM objects p WHERE p.name = o.name AND p.id > o.id AND p.deleted)";
	struct stmt *s;
	struct error ignored;
	if (!w->db || db_prepare(w->db, live, &s, &ignored) < 0)
		return false;
	stmt_bind_cstr(s, 1, like);
	stmt_bind_cstr(s, 2, value);
	bool there = stmt_step(s, &ignored) > 0;
	stmt_reset(s);
	return there;
}

static bool is_in_store(struct world *w, const char *like)
{
	return is_in_store_with(w, like, "%");
}

/* What the gate has judged is what is overwritten. */
static void definitions_are_those_judged(struct world *w, const struct http_request *r)
{
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(STRBUF_SMALL);
	const char *name = strstr(r->path, "/customresourcedefinitions/");
	if (!name || !cstr_eq(r->method, "PATCH") || strstr(r->query, "dryRun") ||
	    strstr(r->path, ".app.coreos.com") || strstr(r->path, ".opinstaller."))
		return;
	strbuf_addf(&key, "apiextensions.k8s.io/customresourcedefinitions/%s", strrchr(name, '/'));
	if (is_in_store(w, key.buf) && !str_contains(r->body, STR("\"resourceVersion\"")))
		world_fail(w, "PATCH %s overwrites what nobody judged", r->path);
}

/* A crash, or a failure, leaves a release that Helm knows of. */
static void records_come_first(struct world *w, const struct http_request *r)
{
	if (http_header(&r->headers, "Impersonate-User") && !cstr_eq(r->method, "DELETE") &&
	    !cstr_eq(r->method, "GET") && strstr(r->path, "/namespaces/") &&
	    !strstr(r->path, "/secrets") && !is_in_store(w, "/secrets/%/sh.helm.release.%"))
		world_fail(w, "%s %s, and no release is recorded", r->method, r->path);
}

/* Removal of an app: what others need goes after them (the order of helm uninstall). */
static void needed_goes_last(struct world *w, const struct http_request *r)
{
	static const char *const needed[] = {"/serviceaccounts/", "/configmaps/", "/secrets/"};
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(STRBUF_SMALL);
	const char *ns = strstr(r->path, "/namespaces/");
	bool is_needed = false;
	for (size_t i = 0; i < ARRAY_LEN(needed); i++)
		is_needed = is_needed || strstr(r->path, needed[i]);
	if (!ns || !is_needed || !cstr_eq(r->method, "DELETE") ||
	    !http_header(&r->headers, "Impersonate-User"))
		return;
	ns += strlen("/namespaces/");
	int len = (int)strcspn(ns, "/");
	strbuf_addf(&key, "app.coreos.com/apps//%.*s", len, ns);
	if (!is_in_store_with(w, key.buf, "%\"deletionTimestamp\"%"))
		return; /* a version that has it no more */
	strbuf_clear(&key);
	strbuf_addf(&key, "apps/deployments/%.*s/%%", len, ns);
	if (is_in_store(w, key.buf))
		world_fail(w, "DELETE %s before the Deployment", r->path);
}

static void operators_observe(struct world *w, const struct http_request *r)
{
	bool is_bundle = w->scenario->commits; /* without an account it has the rights of ALM */
	if (strcmp(r->method, "GET") != 0 && !http_header(&r->headers, "Impersonate-User") &&
	    !is_bundle && !is_own_book(r))
		world_fail(w, "%s %s is an app's, and was written as ALM", r->method, r->path);
	if (!world_is_faultless(w))
		return; /* a request that comes late, or twice, is not what was decided now */
	definitions_are_those_judged(w, r);
	records_come_first(w, r);
	needed_goes_last(w, r);
}

const struct program operators_program = {.start = operators_start,
					  .observe = operators_observe,
					  .stop = operators_stop,
					  .idle = operators_idle,
					  .db = operators_db,
					  .digest = operators_digest,
					  .each_cache = operators_each_cache};
