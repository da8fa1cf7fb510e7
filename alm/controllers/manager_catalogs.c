/* The catalogs' indexes: synced and fetched from through sync.c, swapped by one pointer, kept in
 * the database, read again when a folder changes. */
#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/controllers/manager_internal.h"
#include "alm/controllers/object_metrics.h"
#include "alm/controllers/work/policy.h"
#include "alm/controllers/work/watched.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"
#include "alm/sources/catalog_store.h"
#include "alm/sources/credentials.h"
#include "catalog/index/helm_index.h"

#define SECRET_REF "spec.source.secretRef"

/* One sync of a catalog, or one fetch of an archive: first the keys of its policy, then the Secret,
 * then the source. */
struct catalog_work {
	TAILQ_ENTRY(catalog_work) link;
	struct manager *m;
	char *name;
	struct obj *catalog, *secret;
	struct obj *keys;        /* of the policy; NULL: none */
	char policy[SHA256_HEX]; /* its digest */
	struct client_call *call;
	struct sync *sync;
	struct archive_fetch *fetch;
	char *digest; /* of the archive */
	size_t tried; /* catalogs that have it and could not give it */
	synced_fn synced;
	fetched_fn fetched;
	void *arg;
	struct task refuse; /* what cannot be started is reported in a later turn */
	struct error refused;
};

static struct catalog_slot *slot_get(struct manager *m, const char *name)
{
	return map_get(m->catalogs, name);
}

/* --- the life of a piece of work --- */

static void tell_refused(void *arg);

static struct catalog_work *catalog_work_new(struct manager *m, const char *name,
					     const struct obj *catalog)
{
	struct catalog_work *w = xcalloc(1, sizeof(*w));
	w->m = m;
	w->name = xstrdup(name);
	w->catalog = obj_ref(catalog);
	w->refuse = (struct task){.fn = tell_refused, .arg = w};
	TAILQ_INSERT_TAIL(&m->works, w, link);
	return w;
}

static void catalog_work_free(struct catalog_work *w)
{
	struct catalog_slot *s = slot_get(w->m, w->name);
	if (s && s->work == w)
		s->work = NULL;
	TAILQ_REMOVE(&w->m->works, w, link);
	loop_unpost(w->m->c.loop, &w->refuse);
	obj_unref(w->catalog);
	obj_unref(w->secret);
	obj_unref(w->keys);
	xfree(w->name);
	xfree(w->digest);
	xfree(w);
}

static void work_cancel(struct catalog_work *w)
{
	if (w->call)
		client_cancel(w->m->c.client, w->call);
	sync_cancel(w->sync);
	archive_fetch_cancel(w->fetch);
	catalog_work_free(w);
}

static void catalog_work_fail(struct catalog_work *w, const struct error *err)
{
	if (w->synced)
		w->synced(w->arg, NULL, "", err);
	else
		w->fetched(w->arg, STR_NONE, err);
	catalog_work_free(w);
}

static void tell_refused(void *arg)
{
	struct catalog_work *w = arg;
	catalog_work_fail(w, &w->refused);
}

static void work_refuse(struct catalog_work *w, const struct error *err)
{
	w->refused = *err;
	loop_post(w->m->c.loop, &w->refuse);
}

void manager_catalogs_stop(struct manager *m)
{
	struct catalog_work *w;
	while ((w = TAILQ_FIRST(&m->works)) != NULL)
		work_cancel(w);
}

static void work_run(struct catalog_work *w);

static void secret_came(void *arg, const struct client_reply *reply)
{
	struct catalog_work *w = arg;
	w->call = NULL;
	if (reply->err) {
		struct error err = *reply->err;
		if (err.code == E_NOTFOUND)
			credentials_absent(obj_str(w->catalog, SECRET_REF ".name"), &err);
		error_wrap(&err, SECRET_REF);
		catalog_work_fail(w, &err);
		return;
	}
	w->secret = obj_ref(reply->body);
	work_run(w);
}

/* Read again each time: a changed password is used at once, and none is kept. */
static void catalog_work_start(struct catalog_work *w)
{
	struct error err = ERROR_INIT;
	const char *name = obj_str(w->catalog, SECRET_REF ".name");
	const struct resource *r = discovery_kind(w->m->discovery, "", "v1", "Secret");
	if (!name || source_path(w->catalog, "dir://") || source_path(w->catalog, "file://")) {
		work_run(w);
		return;
	}
	if (!r)
		error_set(&err, E_UNAVAILABLE, "the server does not say what a Secret is");
	else
		credentials_check_namespace(obj_str(w->catalog, SECRET_REF ".namespace"), &err);
	if (err.code) {
		error_wrap(&err, SECRET_REF);
		work_refuse(w, &err);
		return;
	}
	w->call = client_get(w->m->c.client, r, CREDENTIALS_NAMESPACE, name, NULL, secret_came, w);
}

static void keys_known(struct catalog_work *w);

static void keys_came(void *arg, const struct client_reply *reply)
{
	struct catalog_work *w = arg;
	struct error err = ERROR_INIT;
	const struct obj *keys;
	w->call = NULL;
	if (reply->err) {
		err = *reply->err;
		error_wrap(&err, "spec.verify.keysRef");
		error_set_reason(&err, REASON_SIGNATURE_INVALID);
	} else if (policy_keys(w->catalog, reply->body, &keys, w->policy, &err) == 0) {
		w->keys = obj_ref(keys);
		keys_known(w);
		return;
	}
	catalog_work_fail(w, &err);
}

/* Read again each time, as the Secret is: a key that was taken out counts no more. */
static void read_keys(struct catalog_work *w)
{
	struct error err = ERROR_INIT;
	const char *name;
	const struct resource *r = discovery_kind(w->m->discovery, "", "v1", "ConfigMap");
	obj_unref(STEAL(w->keys));
	w->policy[0] = 0;
	if (!policy_wanted(w->catalog)) {
		keys_known(w);
		return;
	}
	if (!r)
		error_set(&err, E_UNAVAILABLE, "the server does not say what a ConfigMap is");
	else
		policy_keys_name(w->catalog, &name, &err);
	if (err.code)
		work_refuse(w, &err);
	else
		w->call = client_get(w->m->c.client, r, POLICY_NAMESPACE, name, NULL, keys_came, w);
}

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
	struct catalog_slot *s = slot_get(m, name);
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

static struct sync_host host_of(struct manager *m)
{
	return (struct sync_host){.loop = m->c.loop,
				  .files = m->c.files,
				  .sandbox = m->c.sandbox,
				  .addresses = m->c.addresses};
}

static void sync_came(void *arg, struct sync_result *result)
{
	struct catalog_work *w = arg;
	struct catalog_slot *s = slot_get(w->m, w->name);
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
	const struct sync_host h = host_of(w->m);
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

static void read_source(struct catalog_work *w, struct catalog_slot *s)
{
	const struct sync_host h = host_of(w->m);
	int64_t until_s = s->index ? s->index->verified_until_s : 0;
	bool ended = until_s && loop_now(h.loop) / NS_PER_S >= until_s;
	struct sync_request r = {.catalog = w->catalog,
				 .secret = w->secret,
				 .keys = w->keys,
				 .policy = w->policy,
				 .cache = s->cache,
				 .validators = s->index && !ended ? &s->validators : NULL};
	w->sync = sync_start(&h, &r, sync_came, w);
}

static void fetch_source(struct catalog_work *w);

static void work_run(struct catalog_work *w)
{
	if (w->fetched)
		fetch_source(w);
	else
		read_source(w, slot_of(w->m, w->name));
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
	if (w->fetched) {
		catalog_work_start(w);
		return;
	}
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
	w->synced = done;
	w->arg = done_arg;
	s->work = w;
	watch_dir(m, s, catalog);
	read_keys(w);
}

/* --- fetch --- */

/* What an archive told of a version that only the index had spoken for. One that cannot be had, or
 * is another than the index says, is no candidate. */
static void learn(struct catalog_slot *s, struct package_version *p,
		  const struct archive_result *result)
{
	struct error ignored = ERROR_INIT;
	if (!p->unread)
		return;
	if (result->err && (!p->withdrawn || p->is_unusable)) {
		const char *text = arena_fmt(s->index->arena, "its archive cannot be used: %s",
					     result->err->msg);
		p->is_unusable = true;
		if (!cstr_eq(p->withdrawn, text))
			p->withdrawn = text;
		return;
	}
	if (result->err || !result->entry)
		return;
	if (p->is_unusable)
		p->withdrawn = NULL;
	p->is_unusable = false;
	map_set(s->learned, p->digest, obj_ref(obj_get(result->entry, "ownCrds")));
	package_learn(p, map_get(s->learned, p->digest), s->index->arena, &ignored);
}

static void learn_again(const struct catalog_slot *s, struct catalog_index *x)
{
	struct error ignored = ERROR_INIT;
	for (size_t i = 0; map_count(s->learned) && i < x->n; i++) {
		struct package_version *p = x->versions[i];
		const struct obj *own = p->unread ? map_get(s->learned, p->digest) : NULL;
		if (own)
			package_learn(p, own, x->arena, &ignored);
	}
}

/* The k-th catalog that has the archive: highest priority first, then by name. */
static const struct catalog_index *holder(const struct manager *m, const char *digest, size_t k)
{
	const struct catalog_index *last = NULL;
	for (size_t round = 0; round <= k; round++) {
		const struct catalog_index *best = NULL;
		for (size_t i = 0; i < m->n_indexes; i++) {
			const struct catalog_index *x = m->indexes[i];
			bool later =
				!last || x->priority < last->priority ||
				(x->priority == last->priority && strcmp(x->name, last->name) > 0);
			if (later && (!best || x->priority > best->priority) &&
			    index_by_digest(x, str_of(digest)))
				best = x;
		}
		if (!best)
			return NULL;
		last = best;
	}
	return last;
}

static void learn_everywhere(struct catalog_work *w, const struct archive_result *result)
{
	for (struct map_entry *e = map_first(w->m->catalogs); e; e = map_next(e)) {
		struct catalog_slot *s = e->value;
		struct package_version *p =
			s->index ? index_by_digest(s->index, str_of(w->digest)) : NULL;
		if (p && (!result->err || !strcmp(e->key, w->name)))
			learn(s, p, result);
	}
	claims_drop_entries(w->m->claims);
}

static bool fetch_from(struct catalog_work *w, const struct catalog_index *x)
{
	if (!x)
		return false;
	const struct informer_object *io =
		informer_get(w->m->fixed[WATCH_CATALOG].informer, "", x->name);
	xfree(w->name);
	w->name = xstrdup(x->name);
	obj_unref(w->catalog);
	w->catalog = manager_tree(w->m, WATCH_CATALOG, io);
	obj_unref(w->secret);
	w->secret = NULL;
	read_keys(w);
	return true;
}

/* One catalog that cannot give an archive, or gives another, does not keep it from the next. */
static void archive_came(void *arg, const struct archive_result *result)
{
	struct catalog_work *w = arg;
	w->fetch = NULL;
	learn_everywhere(w, result);
	if (result->err && fetch_from(w, holder(w->m, w->digest, ++w->tried)))
		return;
	w->fetched(w->arg, result->bytes, result->err);
	catalog_work_free(w);
}

static void fetch_source(struct catalog_work *w)
{
	const struct sync_host h = host_of(w->m);
	const struct catalog_slot *s = slot_get(w->m, w->name);
	const struct package_version *p =
		s && s->index ? index_by_digest(s->index, str_of(w->digest)) : NULL;
	struct error err;
	if (!p) {
		error_set(&err, E_NOTFOUND, "catalog %s has no archive with sha256 %s any more",
			  w->name, w->digest);
		work_refuse(w, &err);
		return;
	}
	const struct archive_request r = {
		.catalog = w->catalog, .secret = w->secret, .policy = w->policy, .version = p};
	w->fetch = archive_fetch_start(&h, &r, archive_came, w);
}

void manager_fetch(void *arg, const char *digest, fetched_fn done, void *done_arg)
{
	struct manager *m = arg;
	struct error err;
	struct catalog_work *w = catalog_work_new(m, "", NULL);
	w->digest = xstrdup(digest);
	w->fetched = done;
	w->arg = done_arg;
	if (fetch_from(w, holder(m, digest, 0)))
		return;
	error_set(&err, E_NOTFOUND, "no catalog has an archive with sha256 %s", digest);
	work_refuse(w, &err);
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
	manager_enqueue_kind(m, "crdowner", WATCH_CRD);
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
		manager_enqueue_kind(m, "apptype", WATCH_APPTYPE);
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
	learn_again(s, index);
	swap(m, s, index);
}

const struct catalog_index *manager_index(void *arg, const char *catalog)
{
	struct manager *m = arg;
	const struct catalog_slot *s = slot_get(m, catalog);
	return s ? s->index : NULL;
}

static void forget(struct manager *m, const char *name)
{
	CLEANUP(map_freep) struct map *changed = map_new(NULL);
	struct catalog_slot *s = slot_get(m, name);
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
	manager_enqueue(m, "catalog", own);
}

struct map *manager_catalogs_new(void)
{
	return map_new(slot_free);
}
