#include "alm/controllers/manager.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/base/map.h"
#include "alm/client/informer.h"
#include "alm/client/queue.h"
#include "alm/controllers/app_metrics.h"
#include "alm/controllers/controller.h"
#include "alm/controllers/install_plan.h"
#include "alm/obj/condition.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define PASS_BYTES_MAX    ((size_t)256 << 20)
#define CONTROLLERS_MAX   8
#define PASSES_A_TURN_MAX 8

struct worker {
	struct manager *m;
	const struct controller *c;
	struct queue *queue;
};

/* One informer with what it stands for. */
struct source_watch {
	struct manager *m;
	enum watched kind;
	struct informer *informer;
};

struct catalog_slot {
	struct catalog_index *index;
	struct dir_watch *watch;
	struct manager *m;
	char *name, *dir;
	struct timer settle;
};

struct manager {
	struct manager_config c;
	struct discovery *discovery;
	struct executor *executor;
	struct stash *stash;
	struct source_cache *cache;
	struct source_watch fixed[WATCH_OWNED]; /* by enum watched */
	struct map *owned;                      /* "group/plural" -> struct source_watch */
	struct map *instances;                  /* "group/plural" -> struct source_watch */
	struct worker workers[CONTROLLERS_MAX];
	size_t n_workers;
	struct map *catalogs; /* name -> struct catalog_slot */
	const struct catalog_index **indexes;
	size_t n_indexes;
	char *kube_version;
	struct client_call *version_call;
	struct timer retry;
	bool started, ready;
	uint64_t passes;
};

/* --- view --- */

static struct obj *parse(const struct informer_object *io)
{
	struct error err;
	struct obj *o = NULL;
	return io && json_parse(io->text, &o, &err) == 0 ? o : NULL;
}

static struct obj *view_op_get(void *arg, enum watched kind, const char *name)
{
	struct manager *m = arg;
	const char *ns = kind == WATCH_PLAN_SECRET ? SYSTEM_NAMESPACE : "";
	return parse(informer_get(m->fixed[kind].informer, ns, name));
}

static void view_op_each(void *arg, enum watched kind, bool (*fn)(void *fn_arg, struct str json),
			 void *fn_arg)
{
	struct manager *m = arg;
	const struct informer_object *o = NULL;
	while ((o = informer_next(m->fixed[kind].informer, o)))
		if (!fn(fn_arg, o->text))
			return;
}

static void type_key(char out[512], const char *group, const char *plural)
{
	snprintf(out, 512, "%s/%s", group, plural);
}

static int view_op_live(void *arg, const struct resource *r, const char *ns, const char *name,
			struct obj **ret)
{
	struct manager *m = arg;
	char key[512];
	if (!strcmp(r->kind, "Namespace") && !*r->group) {
		*ret = parse(informer_get(m->fixed[WATCH_NAMESPACE].informer, "", name));
		return *ret ? 1 : 0;
	}
	type_key(key, r->group, r->plural);
	const struct source_watch *w = map_get(m->owned, key);
	if (!w || !informer_is_synced(w->informer))
		return -1;
	*ret = parse(informer_get(w->informer, ns ? ns : "", name));
	return *ret ? 1 : 0;
}

static bool view_op_instances(void *arg, const char *group, const char *plural,
			      bool (*fn)(void *fn_arg, struct str json), void *fn_arg)
{
	struct manager *m = arg;
	char key[512];
	const struct informer_object *o = NULL;
	type_key(key, group, plural);
	const struct source_watch *w = map_get(m->instances, key);
	if (!w || !informer_is_synced(w->informer))
		return false;
	while ((o = informer_next(w->informer, o)))
		if (!fn(fn_arg, o->text))
			break;
	return true;
}

static const struct resource *view_op_resource(void *arg, const char *group, const char *version,
					       const char *kind)
{
	struct manager *m = arg;
	return discovery_kind(m->discovery, group, version, kind);
}

static void view_op_digest(void *arg, const struct obj *o, char out[65])
{
	struct manager *m = arg;
	audit_object_digest(m->c.audit, o, out);
}

static struct obj *view_op_last_row(void *arg, const char *type, const char *kind, const char *name)
{
	struct manager *m = arg;
	return chain_last_row(m->c.audit, m->c.db, type, kind, name, false);
}

static const struct view_ops view_operations = {
	.get = view_op_get,
	.each = view_op_each,
	.live = view_op_live,
	.instances = view_op_instances,
	.resource = view_op_resource,
	.digest = view_op_digest,
	.last_row = view_op_last_row,
};

static void view_fill(struct manager *m, struct arena *a, void **pass, struct view *v)
{
	size_t n_catalogs = informer_count(m->fixed[WATCH_CATALOG].informer);
	*v = (struct view){.a = a,
			   .now_ns = loop_now(m->c.loop),
			   .settings = &m->c.settings,
			   .ops = &view_operations,
			   .ops_arg = m,
			   .stash = m->stash,
			   .indexes = m->indexes,
			   .n_indexes = m->n_indexes,
			   .n_unsynced = n_catalogs > m->n_indexes ? n_catalogs - m->n_indexes : 0,
			   .pass = pass};
}

/* --- queues --- */

static struct worker *worker_of(struct manager *m, const char *name)
{
	for (size_t i = 0; i < m->n_workers; i++)
		if (!strcmp(m->workers[i].c->name, name))
			return &m->workers[i];
	return NULL;
}

static void enqueue_strategies(struct manager *m, struct worker *w, const char *app)
{
	const struct informer_object *io = NULL;
	while ((io = informer_next(m->fixed[WATCH_STRATEGY].informer, io))) {
		CLEANUP(obj_unrefp) struct obj *o = parse(io);
		if (!app || cstr_eq(obj_str(o, "spec.appTypeRef.name"), app))
			queue_add(w->queue, io->name);
	}
}

static void apply_rules(struct manager *m, enum watched kind, const struct obj *o)
{
	if (!m->ready)
		return;
	CLEANUP(arena_freep) struct arena *a = arena_new(PASS_BYTES_MAX);
	struct view v;
	void *pass = NULL;
	view_fill(m, a, &pass, &v);
	for (size_t i = 0; i < m->n_workers; i++) {
		struct worker *w = &m->workers[i];
		for (const struct watch_rule *r = w->c->watches; r->key; r++) {
			const char *key = r->kind == kind ? r->key(&v, o, a) : NULL;
			if (key && r->by_app)
				enqueue_strategies(m, w, key);
			else if (key)
				queue_add(w->queue, key);
		}
	}
}

static void enqueue_kind(struct manager *m, const char *controller, enum watched kind)
{
	struct worker *w = worker_of(m, controller);
	const struct informer_object *io = NULL;
	while (w && (io = informer_next(m->fixed[kind].informer, io)))
		queue_add(w->queue, io->name);
}

static void enqueue_all(struct manager *m)
{
	enqueue_kind(m, "catalog", WATCH_CATALOG);
	enqueue_kind(m, "apptype", WATCH_APPTYPE);
	enqueue_kind(m, "strategy", WATCH_STRATEGY);
	enqueue_kind(m, "crdowner", WATCH_CRD);
	enqueue_kind(m, "instance", WATCH_CRD);
}

static void pass_done(void *arg, const char *controller, const char *key, bool changed,
		      int64_t requeue_after_ns, const struct error *err)
{
	struct manager *m = arg;
	struct worker *w = worker_of(m, controller);
	if (err && error_retry(err->code) != RETRY_NOW)
		log_warn("pass failed", "controller", controller, "key", key, "error", err->msg);
	if (err) {
		queue_add_rate_limited(w->queue, key);
	} else {
		queue_forget(w->queue, key);
		if (changed)
			queue_add(w->queue, key);
		if (requeue_after_ns)
			queue_add_after(w->queue, key, requeue_after_ns);
	}
	queue_done(w->queue, key);
}

static void run_pass(struct worker *w, const char *key)
{
	struct manager *m = w->m;
	struct arena *a = arena_new(PASS_BYTES_MAX);
	struct error err = ERROR_INIT;
	struct view v;
	struct plan plan;
	void *pass = NULL;
	view_fill(m, a, &pass, &v);
	plan_init(&plan, a);
	m->passes++;
	if (controller_run(w->c, &v, key, &plan, &err) < 0) {
		pass_done(m, w->c->name, key, false, 0, &err);
		arena_free(a);
		return;
	}
	if (!plan.n) {
		pass_done(m, w->c->name, key, false, plan.requeue_after_ns, NULL);
		arena_free(a);
		return;
	}
	executor_start(m->executor, w->c->name, key, &plan, a, pass_done, m);
}

static void queue_ready(void *arg)
{
	struct worker *w = arg;
	for (int i = 0; w->m->ready && i < PASSES_A_TURN_MAX; i++) {
		const char *key = queue_get(w->queue);
		if (!key)
			return;
		CLEANUP(xfreep) char *own = xstrdup(key);
		run_pass(w, own);
	}
}

/* --- informers --- */

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
		discovery_refresh(m->discovery, NULL, NULL);
}

static void object_changed(void *arg, enum informer_change change,
			   const struct informer_object *before,
			   const struct informer_object *after)
{
	struct source_watch *w = arg;
	struct manager *m = w->m;
	CLEANUP(obj_unrefp) struct obj *o = parse(after ? after : before);
	(void)change;
	if (!o)
		return;
	if (w->kind == WATCH_CRD)
		crd_changed(m, o);
	if (w->kind == WATCH_APPTYPE)
		app_metrics_update(m->c.metrics, o, !after);
	if (w->kind == WATCH_INSTANCE) { /* its CRD names the app */
		char name[GVK_NAME_MAX + 1];
		const struct resource *r = informer_resource(w->informer);
		snprintf(name, sizeof(name), "%s.%s", r->plural, r->group);
		CLEANUP(obj_unrefp) struct obj *crd =
			parse(informer_get(m->fixed[WATCH_CRD].informer, "", name));
		if (crd)
			apply_rules(m, WATCH_INSTANCE, crd);
		return;
	}
	apply_rules(m, w->kind, o);
	if (w->kind == WATCH_CATALOG && !after)
		manager_notice_catalog(m, meta_name(o));
}

static void synced(void *arg);

static void open_watch(struct manager *m, struct source_watch *w, const struct resource *r,
		       const char *selector, bool metadata_only)
{
	struct informer_config c = {.client = m->c.client,
				    .resource = *r,
				    .metadata_only = metadata_only,
				    .label_selector = selector,
				    .changed = object_changed,
				    .synced = synced,
				    .arg = w};
	w->m = m;
	w->informer = informer_new(&c);
	informer_start(w->informer);
}

static void start_working(struct manager *m)
{
	for (size_t i = 0; i < ARRAY_LEN(m->fixed); i++)
		if (!m->fixed[i].informer || !informer_is_synced(m->fixed[i].informer))
			return;
	if (m->ready)
		return;
	m->ready = true;
	enqueue_all(m);
}

static void synced(void *arg)
{
	struct source_watch *w = arg;
	if (w->kind < WATCH_OWNED)
		start_working(w->m);
	else
		enqueue_all(w->m);
}

static void watch_free(void *p)
{
	struct source_watch *w = p;
	informer_free(w->informer);
	xfree(w);
}

static void host_watch(void *arg, const struct resource *r, const char *selector,
		       bool metadata_only)
{
	struct manager *m = arg;
	struct map *all = metadata_only ? m->instances : m->owned;
	char key[512];
	type_key(key, r->group, r->plural);
	struct source_watch *w = map_get(all, key);
	if (w && (!metadata_only || !strcmp(informer_resource(w->informer)->version, r->version)))
		return;
	w = xcalloc(1, sizeof(*w));
	w->kind = metadata_only ? WATCH_INSTANCE : WATCH_OWNED;
	map_set(all, key, w);
	open_watch(m, w, r, selector, metadata_only);
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
	type_key(key, r->group, r->plural);
	struct source_watch *w = map_get(m->owned, key);
	return w ? w->informer : NULL;
}

static bool is_plan_secret(const struct resource *r, const struct obj *o)
{
	return !strcmp(r->plural, "secrets") && !*r->group && meta_label(o, LABEL_PLAN);
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

/* --- catalogs --- */

static void slot_free(void *p)
{
	struct catalog_slot *s = p;
	index_free(s->index);
	dir_watch_free(s->watch);
	loop_disarm(s->m->c.loop, &s->settle);
	xfree(s->name);
	xfree(s->dir);
	xfree(s);
}

static void settled(void *arg)
{
	struct catalog_slot *s = arg;
	manager_notice_catalog(s->m, s->name);
}

static struct catalog_slot *slot_of(struct manager *m, const char *name)
{
	struct catalog_slot *s = map_get(m->catalogs, name);
	if (s)
		return s;
	s = xcalloc(1, sizeof(*s));
	s->m = m;
	s->name = xstrdup(name);
	s->settle = (struct timer){.fn = settled, .arg = s};
	map_set(m->catalogs, name, s);
	return s;
}

/* Notices are merged: 500 ms quiet. */
static void dir_changed(void *arg)
{
	struct catalog_slot *s = arg;
	loop_arm(s->m->c.loop, &s->settle, SOURCE_QUIET_NS);
}

static void watch_dir(struct manager *m, struct catalog_slot *s, const char *dir)
{
	struct error err;
	if (!m->c.watch_dirs || !dir || cstr_eq(s->dir, dir))
		return;
	dir_watch_free(s->watch);
	xfree(s->dir);
	s->dir = xstrdup(dir);
	s->watch = loop_watch_dir(m->c.loop, dir, dir_changed, s, &err);
	if (!s->watch)
		log_warn("catalog folder is not watched, only polled", "catalog", s->name, "error",
			 err.msg);
}

static int host_read_source(void *arg, const char *name, const struct obj *catalog,
			    struct catalog_index **ret, struct error *err)
{
	struct manager *m = arg;
	int64_t wait_ns = 0;
	struct catalog_slot *s = slot_of(m, name);
	watch_dir(m, s, source_dir(catalog));
	int r = source_read(m->c.files, m->cache, catalog, loop_now(m->c.loop), ret, &wait_ns, err);
	if (wait_ns)
		loop_arm(m->c.loop, &s->settle, wait_ns);
	return r;
}

static int host_read_archive(void *arg, const char *digest, struct strbuf *ret, struct error *err)
{
	struct manager *m = arg;
	for (size_t i = 0; i < m->n_indexes; i++) {
		const struct package_version *p = index_by_digest(m->indexes[i], str_of(digest));
		if (p)
			return source_read_archive(m->c.files, p->locator, digest, ret, err);
	}
	return error_set(err, E_NOTFOUND, "no catalog has an archive with sha256 %s", digest);
}

static void collect_indexes(struct manager *m)
{
	size_t n = 0;
	m->indexes = xreallocarray(m->indexes, map_count(m->catalogs), sizeof(*m->indexes));
	struct map_entry **sorted = map_sorted(m->catalogs);
	for (size_t i = 0; i < map_count(m->catalogs); i++) {
		const struct catalog_slot *s = sorted[i]->value;
		if (s->index)
			m->indexes[n++] = s->index;
	}
	xfree(sorted);
	m->n_indexes = n;
}

static void catalogs_changed(struct manager *m)
{
	collect_indexes(m);
	enqueue_kind(m, "apptype", WATCH_APPTYPE);
	enqueue_kind(m, "strategy", WATCH_STRATEGY);
	enqueue_kind(m, "crdowner", WATCH_CRD);
}

static void host_swap_index(void *arg, const char *catalog, struct catalog_index *index)
{
	struct manager *m = arg;
	struct catalog_slot *s = slot_of(m, catalog);
	index_free(s->index);
	s->index = index;
	catalogs_changed(m);
}

static const struct catalog_index *host_index(void *arg, const char *catalog)
{
	struct manager *m = arg;
	const struct catalog_slot *s = map_get(m->catalogs, catalog);
	return s ? s->index : NULL;
}

void manager_notice_catalog(struct manager *m, const char *name)
{
	const struct informer_object *io = informer_get(m->fixed[WATCH_CATALOG].informer, "", name);
	CLEANUP(obj_unrefp) struct obj *o = parse(io);
	CLEANUP(xfreep) char *own = xstrdup(name);
	if (!o) {
		map_del(m->catalogs, own);
		catalogs_changed(m);
		return;
	}
	char id[512];
	snprintf(id, sizeof(id), "sync:%s:%lld", meta_uid(o), (long long)meta_generation(o));
	stash_drop(m->stash, id);
	queue_add(worker_of(m, "catalog")->queue, own);
}

/* --- life --- */

static void host_render(void *arg, struct str archive, const struct obj *request, render_done done,
			void *done_arg)
{
	struct manager *m = arg;
	m->c.render(m->c.render_arg, archive, request, done, done_arg);
}

struct manager *manager_new(const struct manager_config *c)
{
	struct manager *m = xcalloc(1, sizeof(*m));
	m->c = *c;
	if (!m->c.files)
		m->c.files = &source_files_real;
	m->stash = stash_new();
	m->cache = source_cache_new();
	m->discovery = discovery_new(c->client);
	m->owned = map_new(watch_free);
	m->instances = map_new(watch_free);
	m->catalogs = map_new(slot_free);
	struct executor_config ec = {
		.loop = c->loop,
		.client = c->client,
		.discovery = m->discovery,
		.audit = c->audit,
		.db = c->db,
		.stash = m->stash,
		.same_process = c->same_process,
		.host = {host_render, host_read_source, host_read_archive, host_swap_index,
			 host_index, host_watch, host_observed, host_observed_deleted, m},
	};
	m->executor = executor_new(&ec);
	for (const struct controller *const *p = all_controllers; *p; p++) {
		struct worker *w = &m->workers[m->n_workers++];
		w->m = m;
		w->c = *p;
		w->queue = queue_new(c->loop, queue_ready, w);
	}
	return m;
}

static void begin(void *arg);

static void discovered(void *arg, const struct error *err)
{
	static const struct {
		enum watched kind;
		const char *group, *name, *selector;
	} rows[] = {
		{WATCH_APPTYPE, "app.coreos.com", "AppType", NULL},
		{WATCH_STRATEGY, "opinstaller.coreos.com", "InstallStrategy", NULL},
		{WATCH_CATALOG, "app.coreos.com", "Catalog", NULL},
		{WATCH_CRD, "apiextensions.k8s.io", "CustomResourceDefinition", NULL},
		{WATCH_NAMESPACE, "", "Namespace", NULL},
		{WATCH_PLAN_SECRET, "", "Secret", LABEL_PLAN},
	};
	struct manager *m = arg;
	const struct resource *found[ARRAY_LEN(rows)];
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
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
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		m->fixed[rows[i].kind].kind = rows[i].kind;
		open_watch(m, &m->fixed[rows[i].kind], found[i], rows[i].selector, false);
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

void manager_free(struct manager *m)
{
	if (!m)
		return;
	if (m->version_call)
		client_cancel(m->c.client, m->version_call);
	loop_disarm(m->c.loop, &m->retry);
	executor_free(m->executor);
	for (size_t i = 0; i < m->n_workers; i++)
		queue_free(m->workers[i].queue);
	for (size_t i = 0; i < ARRAY_LEN(m->fixed); i++)
		informer_free(m->fixed[i].informer);
	map_free(m->owned);
	map_free(m->instances);
	map_free(m->catalogs);
	xfree(m->indexes);
	discovery_free(m->discovery);
	stash_free(m->stash);
	source_cache_free(m->cache);
	xfree(m->kube_version);
	xfree(m);
}

bool manager_is_synced(const struct manager *m)
{
	return m->ready;
}

bool manager_is_idle(const struct manager *m)
{
	for (size_t i = 0; i < m->n_workers; i++)
		if (!queue_is_idle(m->workers[i].queue))
			return false;
	return m->ready && !executor_running(m->executor);
}

uint64_t manager_passes(const struct manager *m)
{
	return m->passes;
}
