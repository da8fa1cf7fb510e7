/* The catalogs' indexes: synced and fetched from through sync.c, swapped by one pointer, kept in
 * the database, read again when a folder changes. */
#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/controllers/catalog_work.h"
#include "alm/controllers/manager_internal.h"
#include "alm/controllers/object_metrics.h"
#include "alm/controllers/work/watched.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"
#include "alm/sources/catalog_store.h"
#include "catalog/index/helm_index.h"

/* --- slots --- */

static void unref(void *p)
{
	obj_unref(p);
}

static void slot_free(void *p)
{
	struct catalog_slot *s = p;
	index_free(s->index);
	dir_watch_free(s->watch);
	loop_disarm(s->m->c.loop, &s->settle);
	source_cache_free(s->cache);
	map_free(s->learned);
	strbuf_release(&s->pending);
	xfree(s->source);
	xfree(s->name);
	xfree(s->dir);
	xfree(s);
}

static void settled(void *arg)
{
	struct catalog_slot *s = arg;
	s->noticed_ns = 0;
	manager_notice_catalog(s->m, s->name);
}

static struct catalog_slot *slot_of(struct manager *m, const char *name)
{
	struct catalog_slot *s = catalog_slot_get(m, name);
	if (s)
		return s;
	s = xcalloc(1, sizeof(*s));
	s->m = m;
	s->name = xstrdup(name);
	s->settle = (struct timer){.fn = settled, .arg = s};
	s->cache = source_cache_new();
	s->learned = map_new(unref);
	strbuf_init(&s->pending, HELM_LINES_BYTES_MAX);
	map_set(m->catalogs, name, s);
	return s;
}

static void dir_changed(void *arg)
{
	struct catalog_slot *s = arg;
	int64_t now = loop_mono(s->m->c.loop);
	loop_arm(s->m->c.loop, &s->settle, source_notice(&s->noticed_ns, now));
}

/* The folder of dir://, or the one that file:// lies in. */
static const char *watched_dir(const struct obj *catalog, struct strbuf *b)
{
	struct str dir, name;
	const char *path = source_path(catalog, "dir://"), *file = source_path(catalog, "file://");
	if (path || !file)
		return path;
	str_rcut(str_of(file), '/', &dir, &name);
	strbuf_addf(b, "%.*s/", STR_ARG(dir));
	return b->buf;
}

static void watch_dir(struct manager *m, struct catalog_slot *s, const struct obj *catalog)
{
	struct error err;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const char *dir = watched_dir(catalog, &b);
	if (!m->c.watch_dirs || cstr_eq(s->dir, dir))
		return;
	struct file_info info;
	if (dir && (m->c.files->info(m->c.files->arg, dir, &info, &err) < 0 || !info.is_dir))
		dir = NULL; /* not there, or not to be read */
	dir_watch_free(s->watch);
	s->watch = NULL;
	xfree(s->dir);
	s->dir = dir ? xstrdup(dir) : NULL;
	if (!dir)
		return;
	s->watch = loop_watch_dir(m->c.loop, dir, dir_changed, s, &err);
	if (!s->watch)
		log_warn("catalog folder is not watched, only polled", "catalog", s->name, "error",
			 err.msg);
}

/* --- sync --- */

static void sync_came(void *arg, struct sync_result *result)
{
	struct catalog_work *w = arg;
	struct catalog_slot *s = catalog_slot_get(w->m, w->name);
	w->sync = NULL;
	if (s && result->wait_ns)
		loop_arm(w->m->c.loop, &s->settle, result->wait_ns);
	if (s) {
		strbuf_clear(&s->pending);
		strbuf_addstr(&s->pending, result->lines);
		s->pending_validators = result->validators;
	}
	if (!result->err)
		object_metrics_synced(w->m->c.metrics, w->name, loop_now(w->m->c.loop));
	w->synced(w->arg, STEAL(result->index), result->bad_digest, result->err);
	catalog_work_free(w);
}

static void saved_came(void *arg, struct sync_result *result);

/* What was good before the restart is in use until the source answers. True: it is being read. */
static bool load_saved(struct catalog_work *w, struct catalog_slot *s)
{
	struct error err = ERROR_INIT;
	const struct sync_host h = catalog_work_host(w->m);
	CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(HELM_LINES_BYTES_MAX);
	if (s->index || !w->m->c.db)
		return false;
	if (catalog_store_load(w->m->c.db, w->m->c.audit, s->name, s->source, &s->validators,
			       &lines, &err) < 0) {
		if (err.code != E_NOTFOUND)
			log_warn("the kept revision is not used", "catalog", s->name, "error",
				 err.msg);
		return false;
	}
	struct sync_request r = {
		.catalog = w->catalog, .policy = w->policy, .saved = strbuf_str(&lines)};
	if (!lines.len)
		return false;
	w->sync = sync_start(&h, &r, saved_came, w);
	return true;
}

static int last_lines(void *arg, struct strbuf *ret_lines, struct error *err)
{
	struct catalog_slot *s = arg;
	struct sync_validators ignored;
	return catalog_store_load(s->m->c.db, s->m->c.audit, s->name, s->source, &ignored,
				  ret_lines, err);
}

static void read_source(struct catalog_work *w)
{
	struct catalog_slot *s = slot_of(w->m, w->name);
	const struct sync_host h = catalog_work_host(w->m);
	int64_t until_s = s->index ? s->index->verified_until_s : 0;
	bool ended = until_s && loop_now(h.loop) / NS_PER_S >= until_s;
	struct sync_request r = {.catalog = w->catalog,
				 .secret = w->secret,
				 .keys = w->keys,
				 .policy = w->policy,
				 .cache = s->cache,
				 .last = s->index && w->m->c.db ? last_lines : NULL,
				 .last_arg = s,
				 .validators = s->index && !ended ? &s->validators : NULL};
	w->sync = sync_start(&h, &r, sync_came, w);
}

static char *source_text(const struct obj *catalog, const char *policy)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const char *url = obj_str(catalog, "spec.source.url");
	strbuf_addf(&b, "%s %s%s", meta_uid(catalog) ? meta_uid(catalog) : "", url ? url : "",
		    obj_flag(catalog, "spec.source.allowUnpinned", false) ? " unpinned" : "");
	if (*policy)
		strbuf_addf(&b, " verify=%s", policy);
	return strbuf_detach(&b);
}

/* What was kept of another source, or was judged by other keys, is not used. */
static void keys_known(struct catalog_work *w)
{
	struct catalog_slot *s;
	CLEANUP(xfreep) char *source = source_text(w->catalog, w->policy);
	s = slot_of(w->m, w->name);
	if (!cstr_eq(s->source, source)) {
		s->validators = (struct sync_validators){0};
		xfree(s->source);
		s->source = STEAL(source);
	}
	if (!load_saved(w, s))
		catalog_work_start(w);
}

void manager_sync(void *arg, const char *name, const struct obj *catalog, synced_fn done,
		  void *done_arg)
{
	struct manager *m = arg;
	struct catalog_slot *s = slot_of(m, name);
	struct catalog_work *w = catalog_work_new(m, name, catalog);
	w->keys_known = keys_known;
	w->run = read_source;
	w->synced = done;
	w->arg = done_arg;
	s->work = w;
	watch_dir(m, s, catalog);
	catalog_work_begin(w);
}

/* --- the swap --- */

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
	claims_drop_entries(m->claims);
}

static void note_change(void *arg, const char *package)
{
	map_set(arg, package, NULL);
}

static void catalogs_changed(struct manager *m, const struct map *changed)
{
	collect_indexes(m);
	if (!map_count(changed) || !m->ready)
		return;
	manager_sweep(m->sweep, changed);
	manager_enqueue_kind(m, "crdowner", WATCH_CRD, "Catalog");
}

static void swap(struct manager *m, struct catalog_slot *s, struct catalog_index *index)
{
	CLEANUP(map_freep) struct map *changed = map_new(NULL);
	struct catalog_index *old = s->index;
	bool all =
		!old || old->priority != index->priority; /* CatalogNotReady ends; another wins */
	bool vouched = old && (strcmp(old->policy, index->policy) != 0 ||
			       old->verified_until_s != index->verified_until_s);
	index_changes(old, index, note_change, changed);
	s->index = index;
	catalogs_changed(m, changed);
	index_free(old);
	if (all)
		manager_enqueue_kind(m, "apptype", WATCH_APPTYPE, "Catalog");
	if (vouched && m->ready)
		manager_sweep(m->sweep, NULL);
}

static void saved_came(void *arg, struct sync_result *result)
{
	struct catalog_work *w = arg;
	struct catalog_slot *s = slot_of(w->m, w->name);
	w->sync = NULL;
	if (result->err)
		log_warn("the kept revision cannot be used", "catalog", w->name, "error",
			 result->err->msg);
	else
		swap(w->m, s, STEAL(result->index));
	catalog_work_start(w);
}

void manager_swap_index(void *arg, const char *catalog, struct catalog_index *index)
{
	struct manager *m = arg;
	struct catalog_slot *s = slot_of(m, catalog);
	struct error err = ERROR_INIT;
	bool same = s->index && !strcmp(s->index->revision, index->revision) &&
		    s->index->n_rejected == index->n_rejected &&
		    !strcmp(s->index->policy, index->policy) &&
		    s->index->verified_until_s == index->verified_until_s &&
		    s->index->generated_ns == index->generated_ns;
	s->validators = s->pending_validators;
	if (same && s->index->priority == index->priority) {
		index_free(index); /* what was learned of its archives stays */
		return;
	}
	if (m->c.db && catalog_store_save(m->c.db, m->c.audit, s->name, s->source, index->revision,
					  &s->validators, strbuf_str(&s->pending), &err) < 0)
		log_warn("the revision is not kept for a restart", "catalog", s->name, "error",
			 err.msg);
	strbuf_release(&s->pending);
	manager_learn_again(s, index);
	swap(m, s, index);
}

const struct catalog_index *manager_index(void *arg, const char *catalog)
{
	struct manager *m = arg;
	const struct catalog_slot *s = catalog_slot_get(m, catalog);
	return s ? s->index : NULL;
}

static void forget(struct manager *m, const char *name)
{
	CLEANUP(map_freep) struct map *changed = map_new(NULL);
	struct catalog_slot *s = catalog_slot_get(m, name);
	struct error err = ERROR_INIT;
	if (!s)
		return;
	if (s->work) {
		struct catalog_work *w = s->work;
		error_set(&err, E_CANCELLED, "catalog %s is gone", name);
		sync_cancel(STEAL(w->sync));
		if (w->call)
			client_cancel(m->c.client, STEAL(w->call));
		catalog_work_fail(w, &err);
	}
	index_changes(s->index, NULL, note_change, changed);
	map_del(m->catalogs, name);
	catalogs_changed(m, changed);
	if (m->c.db && catalog_store_drop(m->c.db, m->c.audit, name, &err) < 0)
		log_warn("its kept revision is not dropped", "catalog", name, "error", err.msg);
}

void manager_notice_catalog(struct manager *m, const char *name)
{
	const struct informer_object *io = informer_get(m->fixed[WATCH_CATALOG].informer, "", name);
	CLEANUP(obj_unrefp) struct obj *o = manager_tree(m, WATCH_CATALOG, io);
	CLEANUP(xfreep) char *own = xstrdup(name);
	if (!o) {
		forget(m, own);
		return;
	}
	char id[512];
	snprintf(id, sizeof(id), "sync:%s:%lld", meta_uid(o), (long long)meta_generation(o));
	stash_drop(m->stash, id);
	manager_enqueue(m, "catalog", own, "Catalog");
}

struct map *manager_catalogs_new(void)
{
	return map_new(slot_free);
}
