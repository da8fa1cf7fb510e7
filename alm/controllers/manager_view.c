/* What reconciles see: the informers' caches behind view_ops. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "alm/base/pool.h"
#include "alm/controllers/app/install_plan.h"
#include "alm/controllers/manager_bundles.h"
#include "alm/controllers/manager_internal.h"
#include "alm/controllers/object_metrics.h"
#include "alm/controllers/work/shared.h"
#include "alm/controllers/work/watched.h"
#include "alm/engine/chain.h"
#include "alm/engine/deadlines.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

struct trees *manager_trees(const struct manager *m, unsigned kind)
{
	return kind < WATCH_CRD ? m->trees : m->live;
}

struct obj *manager_tree(const struct manager *m, unsigned kind, const struct informer_object *io)
{
	return trees_get(manager_trees(m, kind), io);
}

struct obj *manager_read(const struct informer_object *io)
{
	return io ? informer_decode(io) : NULL;
}

static struct obj *op_get(void *arg, unsigned kind, const char *name)
{
	struct manager *m = arg;
	const char *ns = kind == WATCH_PLAN_SECRET ? SYSTEM_NAMESPACE
			 : kind == WATCH_INSTALL   ? INSTALL_NAMESPACE
						   : "";
	return manager_tree(m, kind, informer_get(m->fixed[kind].informer, ns, name));
}

static void op_each(void *arg, unsigned kind, bool (*fn)(void *fn_arg, struct str json),
		    void *fn_arg)
{
	struct manager *m = arg;
	const struct informer_object *o = NULL;
	CLEANUP(strbuf_release) struct strbuf room = STRBUF_INIT(UINT32_MAX);
	while ((o = informer_next(m->fixed[kind].informer, o)))
		if (!fn(fn_arg, informer_text(o, &room)))
			return;
}

/* --- definitions --- */

/* What all but the comparison with a plan ask of a definition is a hundredth of it. Made when it is
 * first asked for. */
struct crd_brief {
	char *resource_version, *text;
};

static void brief_free(void *p)
{
	struct crd_brief *b = p;
	xfree(b->resource_version);
	xfree(b->text);
	xfree(b);
}

struct map *manager_crds_new(void)
{
	return map_new(brief_free);
}

static struct crd_brief *brief_new(const struct informer_object *io)
{
	CLEANUP(obj_unrefp) struct obj *o = manager_read(io);
	struct crd_brief *b = xcalloc(1, sizeof(*b));
	struct obj *metadata = obj_has(o, "metadata") ? obj_get_mut(o, "metadata") : NULL;
	struct obj *spec = obj_has(o, "spec") ? obj_get_mut(o, "spec") : NULL;
	struct obj *versions = obj_has(spec, "versions") ? obj_get_mut(spec, "versions") : NULL;
	for (size_t i = 0; i < obj_len(versions); i++)
		obj_del(obj_at_mut(versions, i), "schema");
	if (metadata)
		obj_del(metadata, "managedFields");
	b->resource_version = xstrdup(io->resource_version);
	b->text = json_text(o);
	return b;
}

struct obj *manager_crd(struct manager *m, const char *name)
{
	const struct informer_object *io = informer_get(m->fixed[WATCH_CRD].informer, "", name);
	struct crd_brief *b = map_get(m->crds, name);
	struct error err;
	struct obj *o = NULL;
	if (!io)
		return NULL;
	if (!b || strcmp(b->resource_version, io->resource_version) != 0) {
		b = brief_new(io);
		map_set(m->crds, name, b);
	}
	return json_parse(str_of(b->text), &o, &err) == 0 ? o : NULL;
}

static struct obj *op_outline(void *arg, unsigned kind, const char *name)
{
	return kind == WATCH_CRD ? manager_crd(arg, name) : op_get(arg, kind, name);
}

/* --- the strategies of an app --- */

static void free_names(void *p)
{
	map_free(p);
}

void manager_strategies_init(struct manager *m)
{
	m->app_of = map_new(pool_text_free);
	m->strategies_of = map_new(free_names);
}

static void drop_strategy(struct manager *m, const char *app, const char *name)
{
	struct map *names = map_get(m->strategies_of, app);
	map_del(names, name);
	if (!map_count(names))
		map_del(m->strategies_of, app);
}

void manager_strategies_update(struct manager *m, const struct obj *o, bool gone)
{
	const char *name = meta_name(o), *old = map_get(m->app_of, name);
	const char *app = gone ? NULL : obj_str(o, "spec.appTypeRef.name");
	if (cstr_eq(old, app))
		return;
	if (old)
		drop_strategy(m, old, name);
	map_del(m->app_of, name);
	if (!app)
		return;
	if (!map_has(m->strategies_of, app))
		map_set(m->strategies_of, app, map_new(NULL));
	map_set(map_get(m->strategies_of, app), name, NULL);
	map_set(m->app_of, name, pool_text(app));
}

void manager_strategies_each(struct manager *m, const char *app,
			     bool (*fn)(void *arg, const struct informer_object *io), void *arg)
{
	const struct map *names = map_get(m->strategies_of, app);
	struct map_entry **sorted = names ? map_sorted(names) : NULL;
	bool on = true;
	for (size_t i = 0; on && sorted && i < map_count(names); i++) {
		const struct informer_object *io =
			informer_get(m->fixed[WATCH_STRATEGY].informer, "", sorted[i]->key);
		on = !io || fn(arg, io);
	}
	xfree(sorted);
}

struct tree_fn {
	struct manager *m;
	void (*fn)(void *arg, struct obj *o);
	void *arg;
};

static bool give_tree(void *arg, const struct informer_object *io)
{
	const struct tree_fn *x = arg;
	x->fn(x->arg, manager_tree(x->m, WATCH_STRATEGY, io));
	return true;
}

static void op_referring(void *arg, unsigned kind, const char *name,
			 void (*fn)(void *fn_arg, struct obj *o), void *fn_arg)
{
	assert(kind == WATCH_STRATEGY); /* to its app; nobody asks of others */
	struct tree_fn x = {arg, fn, fn_arg};
	manager_strategies_each(arg, name, give_tree, &x);
}

void manager_type_key(char out[512], const char *group, const char *plural)
{
	snprintf(out, 512, "%s/%s", group, plural);
}

static int op_live(void *arg, const struct resource *r, const char *ns, const char *name,
		   struct obj **ret)
{
	struct manager *m = arg;
	char key[512];
	if (!m->c.units && !strcmp(r->kind, "Namespace") && !*r->group) {
		*ret = manager_tree(m, WATCH_NAMESPACE,
				    informer_get(m->fixed[WATCH_NAMESPACE].informer, "", name));
		return *ret ? 1 : 0;
	}
	manager_type_key(key, r->group, r->plural);
	const struct source_watch *w = map_get(m->owned, key);
	if (!w || !informer_is_synced(w->informer))
		return -1;
	*ret = manager_tree(m, WATCH_OWNED, informer_get(w->informer, ns ? ns : "", name));
	return *ret ? 1 : 0;
}

static bool each_of(const struct map *watches, const char *group, const char *plural,
		    bool (*fn)(void *fn_arg, struct str json), void *fn_arg)
{
	char key[512];
	const struct informer_object *o = NULL;
	manager_type_key(key, group, plural);
	const struct source_watch *w = map_get(watches, key);
	if (!w || !informer_is_synced(w->informer))
		return false;
	CLEANUP(strbuf_release) struct strbuf room = STRBUF_INIT(UINT32_MAX);
	while ((o = informer_next(w->informer, o)))
		if (!fn(fn_arg, informer_text(o, &room)))
			break;
	return true;
}

static bool op_instances(void *arg, const char *group, const char *plural,
			 bool (*fn)(void *fn_arg, struct str json), void *fn_arg)
{
	const struct manager *m = arg;
	return each_of(m->instances, group, plural, fn, fn_arg);
}

static bool op_owned(void *arg, const char *group, const char *plural, const char *name,
		     bool (*fn)(void *fn_arg, struct obj *o), void *fn_arg)
{
	const struct manager *m = arg;
	char key[512];
	manager_type_key(key, group, plural);
	const struct source_watch *w = map_get(m->owned, key);
	if (!w || !informer_is_synced(w->informer))
		return false;
	size_t n;
	struct informer_object *const *objects = informer_named(w->informer, name, &n);
	for (size_t i = 0; i < n; i++) {
		struct obj *o = manager_tree(m, WATCH_OWNED, objects[i]);
		if (o && !fn(fn_arg, o))
			break;
	}
	return true;
}

static uint64_t version_of(const struct map *watches, const char *group, const char *plural)
{
	char key[512];
	manager_type_key(key, group, plural);
	const struct source_watch *w = map_get(watches, key);
	return w && informer_is_synced(w->informer) ? w->n_changes + 1 : 0;
}

static uint64_t op_instances_version(void *arg, const char *group, const char *plural)
{
	const struct manager *m = arg;
	return version_of(m->instances, group, plural);
}

static uint64_t op_owned_version(void *arg, const char *group, const char *plural)
{
	const struct manager *m = arg;
	return version_of(m->owned, group, plural);
}

static const struct resource *op_resource(void *arg, const char *group, const char *version,
					  const char *kind)
{
	struct manager *m = arg;
	return discovery_kind(m->discovery, group, version, kind);
}

static void op_digest(void *arg, const struct obj *o, char out[65])
{
	struct manager *m = arg;
	audit_object_digest(m->c.audit, o, out);
}

static struct obj *op_last_row(void *arg, const char *type, const char *kind, const char *name)
{
	struct manager *m = arg;
	struct error err;
	struct obj *row = NULL;
	(void)chain_last_row(m->c.audit, m->c.db, type, kind, name, false, &row, &err);
	return row;
}

static struct obj *op_last_reason(void *arg, const char *type, const char *reason, const char *kind,
				  const char *name)
{
	struct manager *m = arg;
	return chain_last_reason(m->c.audit, m->c.db, type, reason, kind, name);
}

static int op_instance(void *arg, const char *crd, const char *ns, const char *name,
		       const struct resource **ret_resource, struct obj **ret)
{
	const struct manager *m = arg;
	char key[512];
	struct str plural, group;
	(void)str_cut(str_of(crd), '.', &plural, &group);
	CLEANUP(xfreep) char *p = str_dup(plural);
	manager_type_key(key, group.ptr, p);
	const struct source_watch *w = map_get(m->instances, key);
	if (!w || !informer_is_synced(w->informer))
		return -1;
	*ret_resource = informer_resource(w->informer);
	*ret = manager_read(informer_get(w->informer, ns ? ns : "", name));
	return *ret != NULL;
}

static struct obj *op_last_observed(void *arg, const char *kind, const char *ns, const char *name)
{
	struct manager *m = arg;
	return chain_last_observed(m->c.audit, m->c.db, kind, ns, name);
}

static struct obj *op_redacted(void *arg, const struct obj *o)
{
	struct manager *m = arg;
	return audit_redact(m->c.audit, o);
}

static int64_t op_head(void *arg, const char *uid)
{
	struct manager *m = arg;
	struct error err;
	int64_t tseq = 0, seq = 0;
	return audit_head(m->c.audit, uid, &tseq, &seq, &err) < 0 ? 0 : tseq;
}

struct obj *manager_said(struct manager *m, const char *uid)
{
	struct error ignored;
	struct obj *status = NULL;
	return audit_said(m->c.audit, uid, &status, &ignored) < 0 ? NULL : status;
}

static struct obj *op_said(void *arg, const char *uid)
{
	return manager_said(arg, uid);
}

static int64_t op_left(void *arg, const char *id, int64_t deadline_ns, int64_t by_wall_ns)
{
	struct manager *m = arg;
	return deadlines_left(m->deadlines, id, deadline_ns, by_wall_ns, loop_mono(m->c.loop));
}

static void op_resolving(void *arg, int64_t decisions)
{
	struct manager *m = arg;
	int64_t now = loop_mono(m->c.loop);
	if (decisions < 0)
		m->resolving_ns = now;
	else
		object_metrics_resolved(m->c.metrics, now - m->resolving_ns, decisions);
}

static const struct view_ops view_operations = {
	.get = op_get,
	.outline = op_outline,
	.each = op_each,
	.referring = op_referring,
	.live = op_live,
	.instances = op_instances,
	.instances_version = op_instances_version,
	.owned = op_owned,
	.owned_version = op_owned_version,
	.resource = op_resource,
	.digest = op_digest,
	.last_row = op_last_row,
	.last_reason = op_last_reason,
	.instance = op_instance,
	.last_observed = op_last_observed,
	.redacted = op_redacted,
	.head = op_head,
	.said = op_said,
	.left = op_left,
	.resolving = op_resolving,
};

void manager_each_cache(const struct manager *m,
			void (*fn)(void *arg, const struct informer *cache), void *arg)
{
	for (size_t i = 0; i < ARRAY_LEN(m->fixed); i++)
		if (m->fixed[i].informer)
			fn(arg, m->fixed[i].informer);
	for (struct map_entry *e = map_first(m->owned); e; e = map_next(e)) {
		const struct source_watch *w = e->value;
		fn(arg, w->informer);
	}
}

static void free_memo(void *p)
{
	map_free(p);
}

void manager_view(struct manager *m, struct arena *a, void **pass, struct view *v)
{
	struct map *memo = map_new(NULL);
	arena_defer(a, free_memo, memo);
	const struct informer *catalogs = m->fixed[WATCH_CATALOG].informer;
	size_t n_catalogs = catalogs ? informer_count(catalogs) : 0;
	struct shared *shared = ARENA_NEW(a, struct shared);
	*shared = (struct shared){.indexes = m->indexes,
				  .n_indexes = m->n_indexes,
				  .n_unsynced =
					  n_catalogs > m->n_indexes ? n_catalogs - m->n_indexes : 0,
				  .claims = m->claims,
				  .plans = m->plans,
				  .units = m->c.units,
				  .bundles = m->bundles ? &m->bundles->shared : NULL};
	*v = (struct view){.a = a,
			   .now_ns = loop_now(m->c.loop),
			   .settings = &m->c.settings,
			   .ops = &view_operations,
			   .ops_arg = m,
			   .stash = m->stash,
			   .shared = shared,
			   .pass = pass,
			   .memo = memo};
}
