/* manager_fetch: archives by their digest, from the first catalog that can give them, and what they
 * tell of versions that only an index had spoken for. */
#include <stdio.h>
#include <string.h>

#include "alm/controllers/catalog_work.h"
#include "alm/controllers/manager_internal.h"
#include "alm/controllers/object_metrics.h"
#include "alm/controllers/work/watched.h"
#include "alm/controllers/work/works.h"

/* What an archive told of a version that only the index had spoken for. One that cannot be had, or
 * is another than the index says, is no candidate. */
static void learn(struct catalog_slot *s, struct package_version *p,
		  const struct archive_result *result)
{
	struct error ignored = ERROR_INIT;
	if (!p->unread)
		return;
	if (result->err && (!p->withdrawn || p->is_unusable)) {
		char text[ERROR_MSG_MAX + 64];
		(void)snprintf(text, sizeof(text), "its archive cannot be used: %s",
			       result->err->msg);
		p->is_unusable = true;
		if (!cstr_eq(p->withdrawn, text)) /* it is tried as long as the index is there */
			p->withdrawn = arena_strdup(s->index->arena, text);
		return;
	}
	if (result->err)
		return;
	if (p->is_unusable)
		p->withdrawn = NULL;
	p->is_unusable = false;
	map_set(s->learned, p->digest, obj_ref(obj_get(result->entry, "ownCrds")));
	package_learn(p, map_get(s->learned, p->digest), s->index->arena, &ignored);
}

void manager_learn_again(const struct catalog_slot *s, struct catalog_index *x)
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
	catalog_work_begin(w);
	return true;
}

/* One catalog that cannot give an archive, gives another, or whose keys or Secret cannot be had, does not keep it from the
 * next: the bytes are judged by their digest, and whether they may be installed by policy_refuses(). */
static bool next_holder(struct catalog_work *w)
{
	return fetch_from(w, holder(w->m, w->digest, ++w->tried));
}

static void archive_came(void *arg, const struct archive_result *result)
{
	struct catalog_work *w = arg;
	w->fetch = NULL;
	learn_everywhere(w, result);
	if (result->err) {
		catalog_work_fail(w, result->err);
		return;
	}
	w->fetched(w->arg, result->bytes, NULL);
	catalog_work_free(w);
}

static void fetch_source(struct catalog_work *w)
{
	const struct sync_host h = catalog_work_host(w->m);
	const struct catalog_slot *s = catalog_slot_get(w->m, w->name);
	const struct package_version *p =
		s && s->index ? index_by_digest(s->index, str_of(w->digest)) : NULL;
	struct error err;
	if (!p) {
		error_set(&err, E_NOTFOUND, "catalog %s has no archive with sha256 %s any more",
			  w->name, w->digest);
		catalog_work_refuse(w, &err);
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
	w->keys_known = catalog_work_start;
	w->run = fetch_source;
	w->next = next_holder;
	w->fetched = done;
	w->arg = done_arg;
	if (fetch_from(w, holder(m, digest, 0)))
		return;
	error_set(&err, E_NOTFOUND, "no catalog has an archive with sha256 %s", digest);
	catalog_work_refuse(w, &err);
}
