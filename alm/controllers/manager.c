#include <assert.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/base/map.h"
#include "alm/client/informer.h"
#include "alm/client/queue.h"
#include "alm/controllers/app/controllers.h"
#include "alm/controllers/app/install_plan.h"
#include "alm/controllers/app/keys.h"
#include "alm/controllers/apptype/app_metrics.h"
#include "alm/controllers/manager_bundles.h"
#include "alm/controllers/manager_internal.h"
#include "alm/controllers/object_metrics.h"
#include "alm/controllers/unit/unit_side.h"
#include "alm/controllers/work/watched.h"
#include "alm/engine/controller.h"
#include "alm/engine/deadlines.h"
#include "alm/io/program.h"
#include "alm/live/shadow.h"
#include "alm/render/render_job.h"

#define RIGHTS_SETTLE_NS (3 * NS_PER_S) /* watch caches of authorizers lag by less */

#define KEYS_AT_ONCE    64  /* of a controller, several times what the client sends at a time */
#define SOURCES_AT_ONCE 120 /* of each of two that run programs */
#define TREES_TEXT_MAX  ((size_t)1 << 20)   /* AppTypes and strategies of 150 apps */
#define LIVE_TEXT_MAX   ((size_t)512 << 10) /* what 30 apps of ten objects have */
#define BRIEF_TEXT_MAX  ((size_t)4 << 20)   /* of a run that ends: it looks at each object thrice */

static_assert(2 * SOURCES_AT_ONCE < PROGRAM_WAITING_MAX,
	      "a git that waits is no source that failed");

static void host_render(void *arg, struct str archive, const struct obj *request,
			struct render_call *call)
{
	struct manager *m = arg;
	render_job_start(m->c.sandbox, m->c.loop, archive, request, call);
}

static int64_t now(void *arg)
{
	return loop_now(arg);
}

static struct manager *open_units(const struct manager_config *c)
{
	struct manager *units = manager_new(c);
	manager_start(units);
	return units;
}

struct manager *manager_new(const struct manager_config *c)
{
	struct manager *m = xcalloc(1, sizeof(*m));
	m->c = *c;
	m->c.settings.rights_settle_ns = c->same_process ? 0 : RIGHTS_SETTLE_NS;
	m->c.settings.foreign = !c->same_process;
	m->c.settings.late_write_ns = c->same_process ? 0 : LATE_WRITE_NS;
	m->stash = stash_new();
	if (c->metrics)
		metrics_set_clock(c->metrics, now, c->loop);
	if (c->metrics && c->audit)
		audit_on_row(c->audit, object_metrics_row, c->metrics);
	m->discovery = discovery_new(c->client);
	m->owned = map_new(manager_watch_free);
	m->instances = map_new(manager_watch_free);
	m->learnt = (struct timer){.fn = manager_learnt, .arg = m};
	m->trees = trees_new(TREES_TEXT_MAX);
	m->live = trees_new(c->brief ? BRIEF_TEXT_MAX : LIVE_TEXT_MAX);
	m->claims = claims_new();
	m->plans = plan_cache_new();
	manager_strategies_init(m);
	m->crds = manager_crds_new();
	m->waiting = map_new(NULL);
	m->failing = manager_failing_new(c->metrics);
	m->deadlines = deadlines_new();
	m->catalogs = manager_catalogs_new();
	m->sweep = manager_sweep_new(m);
	TAILQ_INIT(&m->works);
	m->work_host = (struct work_host){
		host_render,   manager_sync,        manager_fetch,       manager_swap_index,
		manager_index, manager_read_bundle, manager_roll_bundle, m,
		c->plugins,    c->addresses};
	if (c->programs && !c->units)
		m->bundles = manager_bundles_new(m, open_units);
	struct executor_config ec = {
		.loop = c->loop,
		.client = c->client,
		.discovery = m->discovery,
		.audit = c->audit,
		.db = c->db,
		.disk = c->disk,
		.stash = m->stash,
		.same_process = c->same_process,
		.chains = app_chains,
		.host = manager_host(m),
		.work_host = &m->work_host,
	};
	m->executor = executor_new(&ec);
	static const struct controller *const of_units[] = {&unit_controller, NULL};
	for (const struct controller *const *p = c->units ? of_units : all_controllers; *p; p++) {
		struct worker *w = &m->workers[m->n_workers++];
		w->m = m;
		w->c = *p;
		w->queue = queue_new(c->loop, (*p)->reads_sources ? SOURCES_AT_ONCE : KEYS_AT_ONCE,
				     manager_queue_ready, w);
	}
	return m;
}

static void begin(void *arg);

static void discovered(void *arg, const struct error *err)
{
	static const struct {
		unsigned kind;
		const char *group, *name, *selector;
	} rows[] = {
		{WATCH_APPTYPE, "app.coreos.com", "AppType", NULL},
		{WATCH_STRATEGY, "opinstaller.coreos.com", "InstallStrategy", NULL},
		{WATCH_CATALOG, "app.coreos.com", "Catalog", NULL},
		{WATCH_ROLLOUT, "app.coreos.com", "Rollout", NULL},
		{WATCH_CRD, "apiextensions.k8s.io", "CustomResourceDefinition", NULL},
		{WATCH_NAMESPACE, "", "Namespace", NULL},
		{WATCH_PLAN_SECRET, "", "Secret", LABEL_PLAN},
		{WATCH_BUNDLE, "app.coreos.com", "Bundle", NULL},
		{WATCH_INSTALL, "store.app.coreos.com", "Install", NULL},
	};
	size_t n = ARRAY_LEN(rows);
	struct manager *m = arg;
	const struct resource *found[ARRAY_LEN(rows)];
	if (m->c.units && !err) { /* its kinds are watched when a unit names them */
		manager_start_working(m);
		return;
	}
	if (!m->bundles)
		n -= 2; /* Bundles and what is told of them */
	for (size_t i = 0; i < n; i++) {
		found[i] = err ? NULL
			       : discovery_kind(m->discovery, rows[i].group, NULL, rows[i].name);
		if (!found[i]) {
			log_warn("waiting for the server to serve a kind", "kind", rows[i].name,
				 "error", err ? err->msg : NULL);
			m->retry = (struct timer){.fn = begin, .arg = m};
			loop_arm(m->c.loop, &m->retry, 2 * NS_PER_S);
			return;
		}
	}
	shadow_sweep(m->c.client);
	for (size_t i = 0; i < n; i++) {
		m->fixed[rows[i].kind].kind = rows[i].kind;
		manager_open_watch(m, &m->fixed[rows[i].kind], found[i], rows[i].selector, false);
	}
}

static void version_known(void *arg, const struct client_reply *reply)
{
	struct manager *m = arg;
	m->version_call = NULL;
	const char *version = obj_str(reply->body, "gitVersion");
	if (version) {
		xfree(m->kube_version);
		m->kube_version = xstrdup(version);
		m->c.settings.kube_version = m->kube_version;
		discovery_refresh(m->discovery, discovered, m);
		return;
	}
	m->retry = (struct timer){.fn = begin, .arg = m};
	loop_arm(m->c.loop, &m->retry, 2 * NS_PER_S);
}

static void begin(void *arg)
{
	struct manager *m = arg;
	m->version_call =
		client_raw(m->c.client, "GET", "/version", STR_NONE, NULL, version_known, m);
}

void manager_start(struct manager *m)
{
	if (m->started)
		return;
	m->started = true;
	begin(m);
}

/* NOLINTNEXTLINE(misc-no-recursion): the manager of units has no bundles */
void manager_free(struct manager *m)
{
	if (!m)
		return;
	if (m->version_call)
		client_cancel(m->c.client, m->version_call);
	loop_disarm(m->c.loop, &m->retry);
	loop_disarm(m->c.loop, &m->learnt);
	loop_disarm(m->c.loop, &m->trim);
	loop_disarm(m->c.loop, &m->unread_over);
	manager_catalogs_stop(m);
	manager_sweep_free(m->sweep);
	settle_free(m->settle);
	if (m->bundles)
		manager_free(m->bundles->units);
	manager_bundles_free(STEAL(m->bundles));
	executor_free(m->executor);
	for (size_t i = 0; i < m->n_workers; i++)
		queue_free(m->workers[i].queue);
	for (size_t i = 0; i < ARRAY_LEN(m->fixed); i++)
		informer_free(m->fixed[i].informer);
	map_free(m->owned);
	map_free(m->instances);
	trees_free(m->trees);
	trees_free(m->live);
	claims_free(m->claims);
	plan_cache_free(m->plans);
	map_free(m->app_of);
	map_free(m->strategies_of);
	map_free(m->crds);
	map_free(m->waiting);
	map_free(m->unread);
	manager_failing_free(m);
	deadlines_free(m->deadlines);
	map_free(m->catalogs);
	xfree(m->indexes);
	discovery_free(m->discovery);
	stash_free(m->stash);
	xfree(m->kube_version);
	xfree(m);
}

bool manager_is_synced(const struct manager *m)
{
	return m->ready;
}
