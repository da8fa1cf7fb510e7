/* The catalogs' indexes: read through source.c, swapped by one pointer, read again when a folder
 * changes. */
#include <stdio.h>
#include <string.h>

#include "alm/base/log.h"
#include "alm/controllers/manager_internal.h"
#include "alm/obj/meta.h"

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

int manager_read_source(void *arg, const char *name, const struct obj *catalog,
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

int manager_read_archive(void *arg, const char *digest, struct strbuf *ret, struct error *err)
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
	manager_enqueue_kind(m, "apptype", WATCH_APPTYPE);
	manager_enqueue_kind(m, "strategy", WATCH_STRATEGY);
	manager_enqueue_kind(m, "crdowner", WATCH_CRD);
}

void manager_swap_index(void *arg, const char *catalog, struct catalog_index *index)
{
	struct manager *m = arg;
	struct catalog_slot *s = slot_of(m, catalog);
	index_free(s->index);
	s->index = index;
	catalogs_changed(m);
}

const struct catalog_index *manager_index(void *arg, const char *catalog)
{
	struct manager *m = arg;
	const struct catalog_slot *s = map_get(m->catalogs, catalog);
	return s ? s->index : NULL;
}

void manager_notice_catalog(struct manager *m, const char *name)
{
	const struct informer_object *io = informer_get(m->fixed[WATCH_CATALOG].informer, "", name);
	CLEANUP(obj_unrefp) struct obj *o = manager_parse(io);
	CLEANUP(xfreep) char *own = xstrdup(name);
	if (!o) {
		map_del(m->catalogs, own);
		catalogs_changed(m);
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
