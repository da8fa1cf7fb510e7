/* manager_watch: informers, what a change of an object means, and what the executor asks of the caches. */
#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/map.h"
#include "alm/client/informer.h"
#include "alm/controllers/app/controllers.h"
#include "alm/controllers/app/install_plan.h"
#include "alm/controllers/apptype/app_metrics.h"
#include "alm/controllers/manager_internal.h"
#include "alm/controllers/object_metrics.h"
#include "alm/controllers/unit/unit_side.h"
#include "alm/controllers/unit/unit_store.h"
#include "alm/controllers/work/watched.h"
#include "alm/engine/alerts.h"
#include "alm/engine/chain.h"
#include "alm/engine/controller.h"
#include "alm/obj/condition.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

#define LEARNT_NS (20 * NS_PER_MS)

/* More can be looked up than before: objects of new kinds, or of one more informer. Apps and
 * versions may have waited for that. A chart brings dozens of kinds, so they are asked once for
 * what comes together. */
void manager_learnt(void *arg)
{
	struct manager *m = arg;
	manager_enqueue_kind(m, "apptype", WATCH_APPTYPE, "Resource");
	manager_enqueue_kind(m, "strategy", WATCH_STRATEGY, "Resource");
	manager_enqueue_units(m);
}

static void learn(struct manager *m)
{
	if (!heap_holds(&m->learnt.node))
		loop_arm(m->c.loop, &m->learnt, LEARNT_NS);
}

static void kinds_known(void *arg, const struct error *err)
{
	if (!err)
		learn(arg);
}

static void crd_changed(struct manager *m, const struct obj *crd)
{
	const char *group = obj_str(crd, "spec.group"), *kind = obj_str(crd, "spec.names.kind");
	const struct obj *versions = obj_path(crd, "spec.versions");
	bool unknown = false;
	for (size_t i = 0; i < obj_len(versions); i++) {
		const struct obj *o = obj_at(versions, i);
		unknown =
			unknown || (obj_flag(o, "served", false) && group && kind &&
				    !discovery_kind(m->discovery, group, obj_str(o, "name"), kind));
	}
	if (unknown && condition_is(crd, "Established", "True") && m->ready)
		discovery_refresh(m->discovery, kinds_known, m);
}

/* "PLURAL.GROUP/NAMESPACE/NAME". */
static void enqueue_instance(struct source_watch *w, const char *controller, const char *ns,
			     const char *name)
{
	const struct resource *r = informer_resource(w->informer);
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&key, "%s.%s/%s/%s", r->plural, r->group, ns, name);
	manager_enqueue(w->m, controller, key.buf, "Resource");
}

/* A status concerns nobody. Beside the server the log has its Write records already. */
static void instance_changed(struct source_watch *w, const struct informer_object *before,
			     const struct informer_object *after, const struct obj *now)
{
	const struct informer_object *io = after ? after : before;
	CLEANUP(obj_unrefp) struct obj *old = after ? manager_read(before) : NULL;
	if (old && meta_generation(old) == meta_generation(now) &&
	    cstr_eq(meta_uid(old), meta_uid(now)))
		return;
	enqueue_instance(w, instance_chart_controller.name, io->ns, io->name);
	if (!w->m->c.same_process)
		enqueue_instance(w, instancelog_controller.name, io->ns, io->name);
}

/* Those that went while nobody looked. */
static void log_gone_instance(void *arg, const char *ns, const char *name)
{
	struct source_watch *w = arg;
	if (!informer_get(w->informer, ns, name))
		enqueue_instance(w, instancelog_controller.name, ns, name);
}

static void count_object(struct source_watch *w, const struct informer_object *before,
			 const struct obj *o, bool gone)
{
	struct metrics *m = w->m->c.metrics;
	if (w->kind == WATCH_APPTYPE)
		app_metrics_update(m, o, gone);
	if (w->kind == WATCH_APPTYPE || w->kind == WATCH_STRATEGY || w->kind == WATCH_BUNDLE)
		object_metrics_overdue(m, o, gone);
	if (w->kind == WATCH_STRATEGY) {
		CLEANUP(obj_unrefp) struct obj *was = gone || !before ? NULL : manager_read(before);
		object_metrics_strategy(m, gone ? o : was, o, gone);
	}
	if (w->kind == WATCH_CATALOG)
		object_metrics_catalog(m, o, gone);
	if (w->kind == WATCH_CRD)
		object_metrics_crd(m, o, gone);
	if (w->kind == WATCH_BUNDLE)
		object_metrics_bundle(m, o, gone);
}

static bool is_crd(const struct source_watch *w)
{
	return !strcmp(informer_resource(w->informer)->kind, "CustomResourceDefinition");
}

/* Whom an object named before and names no more, it concerns as well: consent that is taken back (account.h), what one
 * Bundle took from another. */
static void apply_rules_of_before(struct manager *m, const struct source_watch *w,
				  const struct informer_object *before, const struct obj *after)
{
	bool taken = w->kind == WATCH_OWNED && meta_label(after, LABEL_BUNDLE);
	if ((w->kind != WATCH_NAMESPACE && !taken) || !m->ready)
		return;
	CLEANUP(obj_unrefp) struct obj *o = manager_read(before);
	if (o && !obj_equal(obj_path(o, "metadata.annotations"),
			    obj_path(after, "metadata.annotations")))
		manager_apply_rules(m, w->kind, o);
}

static void object_changed(void *arg, enum informer_change change,
			   const struct informer_object *before,
			   const struct informer_object *after)
{
	struct source_watch *w = arg;
	struct manager *m = w->m;
	const struct informer_object *io = after ? after : before;
	CLEANUP(obj_unrefp) struct obj *o = manager_tree(m, w->kind, io);
	(void)change;
	w->n_changes++;
	if (!o)
		return;
	if (w->kind == WATCH_CRD || (m->c.units && is_crd(w)))
		crd_changed(m, o);
	if (w->kind == WATCH_CRD && m->c.crd_seen)
		m->c.crd_seen(m->c.crd_seen_arg, o, !after);
	if (w->kind == WATCH_CRD && !after)
		map_del(m->crds, meta_name(o));
	if (w->kind < WATCH_OWNED)
		claims_update(m->claims, o, !after);
	if (w->kind == WATCH_STRATEGY)
		manager_strategies_update(m, o, !after);
	count_object(w, before, o, !after);
	if (w->kind == WATCH_APPTYPE || w->kind == WATCH_STRATEGY || w->kind == WATCH_CATALOG ||
	    w->kind == WATCH_BUNDLE)
		alerts_update(m->c.alerts, o, !after);
	if (w->kind == WATCH_INSTANCE) { /* its CRD names the app */
		instance_changed(w, before, after, o);
		char name[GVK_NAME_MAX + 1];
		const struct resource *r = informer_resource(w->informer);
		snprintf(name, sizeof(name), "%s.%s", r->plural, r->group);
		CLEANUP(obj_unrefp) struct obj *crd = manager_crd(m, name);
		if (crd)
			manager_apply_rules(m, WATCH_INSTANCE, crd);
		return;
	}
	manager_apply_rules(m, w->kind, o);
	if (before && after)
		apply_rules_of_before(m, w, before, o);
	if (w->kind == WATCH_CATALOG && !after)
		manager_notice_catalog(m, meta_name(o));
	if (w->kind == WATCH_BUNDLE && !after)
		manager_forget_bundle(m, meta_name(o));
	if (w->kind == WATCH_BUNDLE && after)
		manager_steer_bundle(m, o);
}

static void synced(void *arg);

void manager_open_watch(struct manager *m, struct source_watch *w, const struct resource *r,
			const char *selector, bool metadata_only)
{
	struct informer_config c = {.client = m->c.client,
				    .resource = *r,
				    .metadata_only = metadata_only,
				    .plain = m->c.brief || w->kind == WATCH_CRD ||
					     w->kind == WATCH_CATALOG,
				    .label_selector = selector,
				    .trees = manager_trees(m, w->kind),
				    .seen = chain_revision(m->c.db, r->kind),
				    .changed = object_changed,
				    .synced = synced,
				    .arg = w};
	w->m = m;
	w->informer = informer_new(&c);
	informer_start(w->informer);
}

static void begin_work(void *arg)
{
	struct manager *m = arg;
	m->c.is_settled = true;
	m->ready = true;
	manager_await_catalogs(m);
	manager_enqueue_all(m);
}

void manager_start_working(struct manager *m)
{
	for (size_t i = 0; i < ARRAY_LEN(m->fixed) && !m->c.units; i++)
		if (i < WATCH_BUNDLE || m->bundles)
			if (!m->fixed[i].informer || !informer_is_synced(m->fixed[i].informer))
				return;
	if (m->ready || m->settle)
		return;
	if (m->c.is_settled) {
		begin_work(m);
		return;
	}
	struct settle_config c = {.client = m->c.client,
				  .discovery = m->discovery,
				  .audit = m->c.audit,
				  .db = m->c.db,
				  .same_process = m->c.same_process};
	m->settle = settle_start(&c, begin_work, m);
}

static void synced(void *arg)
{
	struct source_watch *w = arg;
	if (w->kind == WATCH_INSTANCE && !w->m->c.same_process)
		chain_each_observed(w->m->c.audit, w->m->c.db, informer_resource(w->informer)->kind,
				    log_gone_instance, w);
	if (w->kind < WATCH_OWNED)
		manager_start_working(w->m);
	else
		learn(w->m);
}

void manager_watch_free(void *p)
{
	struct source_watch *w = p;
	informer_free(w->informer);
	xfree(w);
}

void manager_kinds_back(struct manager *m)
{
	executor_say_again(m->executor);
	if (m->ready)
		manager_enqueue_all(m);
}

static void host_watch(void *arg, const struct resource *r, const char *selector,
		       bool metadata_only)
{
	struct manager *m = arg;
	struct map *all = metadata_only ? m->instances : m->owned;
	char key[512];
	manager_type_key(key, r->group, r->plural);
	struct source_watch *w = map_get(all, key);
	if (w && (!metadata_only || !strcmp(informer_resource(w->informer)->version, r->version)))
		return;
	w = xcalloc(1, sizeof(*w));
	w->kind = metadata_only ? WATCH_INSTANCE : WATCH_OWNED;
	map_set(all, key, w);
	manager_open_watch(m, w, r, selector, metadata_only);
}

static struct informer *informer_of(struct manager *m, const struct resource *r)
{
	char key[512];
	for (size_t i = 0; i < ARRAY_LEN(m->fixed); i++) {
		const struct resource *own =
			m->fixed[i].informer ? informer_resource(m->fixed[i].informer) : NULL;
		if (own && i != WATCH_PLAN_SECRET && !strcmp(own->plural, r->plural) &&
		    !strcmp(own->group, r->group))
			return m->fixed[i].informer;
	}
	manager_type_key(key, r->group, r->plural);
	struct source_watch *w = map_get(m->owned, key);
	return w ? w->informer : NULL;
}

static struct obj *host_cached(void *arg, const struct resource *r, const char *ns,
			       const char *name)
{
	struct manager *m = arg;
	struct informer *i = informer_of(m, r);
	return i ? manager_read(informer_get(i, ns ? ns : "", name)) : NULL;
}

static bool is_plan_secret(const struct resource *r, const struct obj *o)
{
	return !strcmp(r->plural, "secrets") && !*r->group &&
	       (meta_label(o, LABEL_PLAN) || cstr_eq(obj_str(o, "type"), STORE_TYPE));
}

static void host_observed(void *arg, const struct resource *r, const struct obj *o)
{
	struct manager *m = arg;
	struct informer *i =
		is_plan_secret(r, o) ? m->fixed[WATCH_PLAN_SECRET].informer : informer_of(m, r);
	if (i)
		informer_observe(i, o);
}

static void host_observed_deleted(void *arg, const struct resource *r, const char *ns,
				  const char *name, const char *uid)
{
	struct manager *m = arg;
	struct informer *i = informer_of(m, r);
	if (i)
		informer_observe_deleted(i, ns ? ns : "", name, uid);
}

static void host_record(void *arg, const char *key, const struct obj *record)
{
	const struct manager *m = arg;
	m->c.units->record(m->c.units->arg, key, record);
}

struct executor_host manager_host(struct manager *m)
{
	return (struct executor_host){host_cached,           host_watch,  host_observed,
				      host_observed_deleted, host_record, m};
}
