/* run_watch: the objects that begin a run each, and those that concern one (struct run_watch). */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/base/map.h"
#include "alm/client/informer.h"
#include "alm/controllers/run_internal.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define WATCH_RETRY_NS (2 * NS_PER_S) /* until the kind is served */

struct watched_kind {
	struct run *r;
	const struct keymap_resource *resource;
	struct informer *informer;
	struct timer retry;
};

/* "NS.NAME"; one that is too long for a label ends in its hash. */
static const char *instance_of(const char *ns, const char *name, struct arena *a)
{
	char hex[SHA256_HEX];
	const char *text = ns && *ns ? arena_fmt(a, "%s.%s", ns, name) : name;
	if (strlen(text) <= RUN_INSTANCE_MAX)
		return text;
	sha256_hex(str_of(text), hex);
	return arena_fmt(a, "%.*s-%.8s", RUN_INSTANCE_MAX - 9, text, hex);
}

static struct obj *object_of(const struct informer_object *io)
{
	CLEANUP(strbuf_release) struct strbuf room = STRBUF_INIT(UINT32_MAX);
	struct error err;
	struct obj *o = NULL;
	return json_parse(informer_text(io, &room), &o, &err) < 0 ? NULL : o;
}

/* Some kinds have no generation (ConfigMap, Secret): whatever is no metadata is what somebody wants. */
static bool has_other_content(const struct obj *was, const struct obj *is)
{
	static const char *const ours[] = {"metadata", "status"};
	CLEANUP(obj_unrefp) struct obj *a = obj_copy(was);
	CLEANUP(obj_unrefp) struct obj *b = obj_copy(is);
	for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
		obj_del(a, ours[i]);
		obj_del(b, ours[i]);
	}
	return !obj_equal(a, b);
}

/* A status that we write ourselves, and our finalizer, begin nothing. */
static bool is_other(const struct obj *was, const struct obj *is)
{
	return !was || !is || meta_generation(was) != meta_generation(is) ||
	       (!meta_generation(is) && has_other_content(was, is)) ||
	       !cstr_eq(meta_uid(was), meta_uid(is)) ||
	       meta_is_deleting(was) != meta_is_deleting(is);
}

static bool is_watched(const struct keymap_resource *k, const struct obj *o)
{
	return o && (!k->ns || cstr_eq(k->ns, meta_namespace(o))) &&
	       (!k->selector || selector_matches(k->selector, obj_path(o, "metadata.labels")));
}

/* now: owned; NULL: it is gone, or not of the watch any more. */
static void main_changed(struct run *r, const struct informer_object *io, struct obj *now)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	const char *instance = instance_of(io->ns, io->name, a);
	CLEANUP(xfreep) char *key = run_unit_key(r, instance);
	bool known = map_has(r->units, key);
	if (!known && now && map_count(r->units) >= RUN_UNITS_MAX)
		log_warn("too many objects: this one is left out", "object", instance);
	if (!known && (!now || map_count(r->units) >= RUN_UNITS_MAX)) {
		obj_unref(now);
		return;
	}
	struct run_unit *u = run_unit_of(r, instance);
	bool other = is_other(u->main, now);
	obj_unref(u->main);
	u->main = now;
	/* one that was made again is none that goes: its own attempt comes after that of the former */
	bool anew = u->job.deleting && now && !meta_is_deleting(now);
	u->job.main = anew ? NULL : now;
	if (other)
		run_unit_begin(u);
	else
		manager_notice_unit(r->manager, u->key);
}

/* An object that a main one is made of, too: it is looked at again. */
static void other_changed(struct run *r, const struct keymap_resource *k,
			  const struct informer_object *io)
{
	struct error err = ERROR_INIT;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	const char *main = NULL,
		   *key = *io->ns ? arena_fmt(a, "%s/%s", io->ns, io->name) : io->name;
	if (keymap_key(r->c.watch->map, k, key, a, &main, &err) < 0) {
		log_warn("no key of a main object", "object", key, "error", err.msg);
		return;
	}
	struct str ns, name;
	if (!main)
		return;
	bool namespaced = str_cut(str_of(main), '/', &ns, &name);
	const char *instance =
		namespaced ? instance_of(arena_strndup(a, ns.ptr, ns.len), name.ptr, a) : main;
	CLEANUP(xfreep) char *unit_key = run_unit_key(r, instance);
	struct run_unit *u = map_get(r->units, unit_key);
	if (u)
		run_unit_begin(u);
}

/* Its status is nothing that a run is made of. */
static bool is_same(const struct informer_object *before, const struct informer_object *after)
{
	CLEANUP(obj_unrefp) struct obj *was = before ? object_of(before) : NULL;
	CLEANUP(obj_unrefp) struct obj *is = after ? object_of(after) : NULL;
	return was && is && meta_generation(is) && !is_other(was, is);
}

static void watched_changed(void *arg, enum informer_change change,
			    const struct informer_object *before,
			    const struct informer_object *after)
{
	const struct watched_kind *w = arg;
	const struct informer_object *io = after ? after : before;
	struct obj *o = object_of(io);
	(void)change;
	bool watched = is_watched(w->resource, o);
	if (w->resource == w->r->c.watch->map->main) {
		main_changed(w->r, io, after && watched ? STEAL(o) : NULL);
	} else if (watched && !is_same(before, after)) {
		other_changed(w->r, w->resource, io);
	}
	obj_unref(o);
}

static void watched_synced(void *arg)
{
	const struct watched_kind *w = arg;
	if (w->resource == w->r->c.watch->map->main)
		run_left_start(w->r, w->informer);
}

static void find_watched(void *arg);

static void watched_found(void *arg, const struct resource *found, const struct error *err)
{
	struct watched_kind *w = arg;
	struct run *r = w->r;
	if (err) {
		log_warn("waiting for the server to serve a kind", "kind", w->resource->kind,
			 "error", err->msg);
		w->retry = (struct timer){.fn = find_watched, .arg = w};
		loop_arm(r->c.loop, &w->retry, WATCH_RETRY_NS);
		return;
	}
	struct informer_config c = {.client = r->c.client,
				    .resource = *found,
				    .changed = watched_changed,
				    .synced = watched_synced,
				    .arg = w};
	w->informer = informer_new(&c);
	informer_start(w->informer);
}

static void find_watched(void *arg)
{
	struct watched_kind *w = arg;
	struct str group = STR(""), version = str_of(w->resource->api_version);
	if (str_find_char(version, '/') >= 0)
		(void)str_cut(version, '/', &group, &version);
	CLEANUP(xfreep) char *g = str_dup(group), *v = str_dup(version);
	discovery_require_kind(w->r->discovery, g, v, w->resource->kind, watched_found, w);
}

void run_watch_start(struct run *r)
{
	struct keymap *map = r->c.watch->map;
	r->discovery = discovery_new(r->c.client);
	r->n_watched = map->n;
	r->watched = xcalloc(map->n, sizeof(*r->watched));
	for (size_t i = 0; i < map->n; i++) {
		r->watched[i] = (struct watched_kind){.r = r, .resource = &map->resources[i]};
		find_watched(&r->watched[i]);
	}
}

void run_watch_stop(struct run *r)
{
	run_left_stop(r);
	for (size_t i = 0; i < r->n_watched; i++) {
		loop_disarm(r->c.loop, &r->watched[i].retry);
		informer_free(r->watched[i].informer);
	}
	r->n_watched = 0;
	xfree(STEAL(r->watched));
	discovery_free(STEAL(r->discovery));
}
