/*
 * informer: see informer.h. Two states: listing (pages into `fresh`, then a diff against the cache)
 * and watching from the last resourceVersion. Every way out of a state but success goes through
 * retry(), which waits.
 */
#include "alm/client/informer.h"

#include <assert.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/base/log.h"
#include "alm/client/cache.h"
#include "alm/client/trees.h"
#include "alm/client/watch.h"
#include "alm/obj/meta.h"

#define PAGE_OBJECTS   500              /* a quarter of it each time a page is too large to read */
#define WATCH_MIN_NS   (5 * NS_PER_MIN) /* timeoutSeconds, random up to twice that */
#define WATCH_IDLE_NS  (150 * NS_PER_S) /* two bookmarks, one a minute, and slack */
#define WATCH_SHORT_NS NS_PER_S         /* a watch that ends sooner is followed by a pause */
#define BACKOFF_MIN    (800 * NS_PER_MS)
#define BACKOFF_MAX    (30 * NS_PER_S)
#define SLOW_NS        (30 * NS_PER_S) /* 401, 403: somebody must act first */
#define LIST_ACCEPT    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
#define WATCH_ACCEPT   "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

struct informer {
	struct informer_config config;
	struct arena *arena; /* of config's strings */
	struct loop *loop;
	struct cache *cache;
	struct pack *pack;        /* of the texts of both; NULL: plain */
	struct cache *fresh;      /* pages of the list under way, else NULL */
	struct client_call *call; /* list */
	struct watch *watch;
	struct timer timer;
	struct task sweep;
	char *rv; /* the watch goes on behind it; NULL: list first */
	uint64_t seen_before_list;
	uint64_t seen; /* highest resourceVersion seen; 0: none, or not a number */
	int64_t watch_began;
	unsigned failures, page_objects;
	bool synced, started;
};

static void list(struct informer *i, const char *token);
static void watch(struct informer *i);

static void sweep(void *arg)
{
	struct informer *i = arg;
	cache_sweep(i->cache);
}

static void on_timer(void *arg)
{
	struct informer *i = arg;
	if (i->rv)
		watch(i);
	else
		list(i, NULL);
}

struct informer *informer_new(const struct informer_config *c)
{
	struct informer *i = xcalloc(1, sizeof(*i));
	struct arena *a = arena_new(65536);
	i->config = *c;
	i->arena = a;
	i->config.resource.group = arena_strdup(a, c->resource.group);
	i->config.resource.version = arena_strdup(a, c->resource.version);
	i->config.resource.plural = arena_strdup(a, c->resource.plural);
	i->config.resource.kind = arena_strdup(a, c->resource.kind);
	if (c->label_selector)
		i->config.label_selector = url_encode(str_of(c->label_selector), a);
	i->seen = c->seen;
	i->page_objects = PAGE_OBJECTS;
	i->loop = client_loop(c->client);
	i->cache = cache_new();
	i->pack = c->plain ? NULL : pack_new();
	i->timer.fn = on_timer;
	i->timer.arg = i;
	i->sweep.fn = sweep;
	i->sweep.arg = i;
	return i;
}

void informer_free(struct informer *i)
{
	if (!i)
		return;
	loop_disarm(i->loop, &i->timer);
	loop_unpost(i->loop, &i->sweep);
	if (i->call)
		client_cancel(i->config.client, i->call);
	watch_free(i->watch);
	cache_free(i->fresh);
	cache_free(i->cache);
	pack_free(i->pack);
	xfree(i->rv);
	arena_free(i->arena);
	xfree(i);
}

void informer_start(struct informer *i)
{
	assert(!i->started);
	i->started = true;
	loop_arm(i->loop, &i->timer, 0);
}

/* Resource versions are compared as integers of one resource of one server (kube-api.md 16). */
static uint64_t rv_number(const char *rv)
{
	uint64_t v;
	return rv && str_parse_u64(str_of(rv), &v) ? v : 0;
}

static void saw(struct informer *i, const char *rv)
{
	uint64_t v = rv_number(rv);
	i->seen = v > i->seen ? v : i->seen;
}

static void set_rv(struct informer *i, const char *rv)
{
	xfree(i->rv);
	i->rv = rv ? xstrdup(rv) : NULL;
	saw(i, rv);
}

static void retry(struct informer *i, const struct error *err, int64_t at_least)
{
	int64_t pause = client_backoff(i->loop, i->failures++, BACKOFF_MIN, BACKOFF_MAX);
	/* Once, when it is more than a connection that ended; a kind may come later. */
	if (i->failures == 2 && err->code != E_NOTFOUND)
		log_warn("a resource cannot be read, its cache is old", "resource",
			 i->config.resource.plural, "error", err->msg);
	if (err->code == E_UNAUTHORIZED || err->code == E_FORBIDDEN)
		at_least = at_least > SLOW_NS ? at_least : SLOW_NS;
	loop_arm(i->loop, &i->timer, pause > at_least ? pause : at_least);
}

static void recovered(struct informer *i)
{
	i->failures = 0;
}

static void tell(struct informer *i, const struct informer_object *before,
		 const struct informer_object *after)
{
	enum informer_change change = !before  ? INFORMER_ADDED
				      : !after ? INFORMER_DELETED
					       : INFORMER_UPDATED;
	if (cache_has_garbage(i->cache))
		loop_post(i->loop, &i->sweep);
	if (i->config.changed)
		i->config.changed(i->config.arg, change, before, after);
}

static uint64_t uid_of(const char *uid)
{
	return hash_key(str_of(uid ? uid : ""));
}

/* The cache holds this object, or a later state of it (our own write came back first). */
static bool is_known(const struct informer *i, const char *ns, const char *name, uint64_t uid,
		     const char *rv)
{
	const struct informer_object *have = cache_get(i->cache, ns, name);
	if (!have)
		return false;
	if (have->uid == uid && cstr_eq(have->resource_version, rv))
		return true;
	uint64_t theirs = rv_number(rv);
	return theirs && theirs <= rv_number(have->resource_version);
}

/* Consumes o. An object made again under the same name is a deletion and an addition. */
static void put(struct informer *i, struct informer_object *o)
{
	const struct informer_object *have = cache_get(i->cache, o->ns, o->name);
	if (is_known(i, o->ns, o->name, o->uid, o->resource_version)) {
		cache_object_free(o);
		return;
	}
	if (have && have->uid != o->uid) {
		cache_remove(i->cache, o->ns, o->name);
		tell(i, have, NULL);
	}
	const struct informer_object *before = cache_put(i->cache, o);
	tell(i, before, o);
}

static void take_away(struct informer *i, const char *ns, const char *name)
{
	const struct informer_object *before = cache_remove(i->cache, ns, name);
	if (before)
		tell(i, before, NULL);
}

/* Items of a list of built-in kinds come without apiVersion and kind. */
static struct obj *completed(const struct informer *i, const struct obj *o)
{
	const struct resource *r = &i->config.resource;
	if (meta_kind(o) && meta_api_version(o))
		return obj_ref(o);
	struct obj *copy = obj_copy(o);
	obj_set(copy, "kind", obj_string(r->kind));
	obj_set(copy, "apiVersion",
		*r->group ? obj_stringf("%s/%s", r->group, r->version) : obj_string(r->version));
	return copy;
}

static struct informer_object *object_of(const struct informer *i, const struct obj *o,
					 struct error *err)
{
	if (obj_type(o) != OBJ_MAP) {
		error_set(err, E_INTERNAL, "the server sent something that is no %s",
			  i->config.resource.kind);
		return NULL;
	}
	CLEANUP(obj_unrefp) struct obj *whole = completed(i, o);
	struct informer_object *ret = NULL;
	if (cache_object_new(whole, i->pack, &ret, err) < 0)
		return NULL;
	if (i->config.trees && i->synced)
		trees_put(i->config.trees, ret, whole);
	return ret;
}

/* ---- list ---- */

/* The whole list is there: what it lacks was deleted while nobody watched, but for our own writes
 * that are younger than the list. */
static void swap_in(struct informer *i, uint64_t list_rv)
{
	size_t n;
	CLEANUP(cache_freep) struct cache *fresh = STEAL(i->fresh);
	for (size_t at = 0; at < cache_count(i->cache);) {
		const struct informer_object *have = cache_at(i->cache, at);
		uint64_t rv = rv_number(have->resource_version);
		if (cache_get(fresh, have->ns, have->name) || (list_rv && rv > list_rv))
			at++;
		else
			take_away(i, have->ns, have->name);
	}
	CLEANUP(xfreep) struct informer_object **objects = cache_detach(fresh, &n);
	for (size_t k = 0; k < n; k++)
		put(i, objects[k]);
	if (i->synced)
		return;
	i->synced = true;
	if (i->config.synced)
		i->config.synced(i->config.arg);
}

/* Older than what was known when the list was asked for. */
static bool goes_back(const struct informer *i, const char *rv)
{
	uint64_t v = rv_number(rv);
	return v && v < i->seen_before_list;
}

static void drop_list(struct informer *i, const struct error *err, int64_t at_least)
{
	cache_free(STEAL(i->fresh));
	if (err->code == E_LIMIT)
		i->page_objects = i->page_objects > 4 ? i->page_objects / 4 : 1;
	retry(i, err, at_least);
}

/* Up to the first that cannot be read, which err says. */
static void take_page(struct informer *i, const struct obj *page, struct error *err)
{
	const struct obj *items = obj_get(page, "items");
	for (size_t n = 0; n < obj_len(items); n++) {
		struct informer_object *o = object_of(i, obj_at(items, n), err);
		if (!o)
			return;
		cache_put(i->fresh, o);
	}
}

static void on_page(void *arg, const struct client_reply *reply)
{
	struct informer *i = arg;
	struct error err = ERROR_INIT;
	i->call = NULL;
	if (reply->err) {
		drop_list(i, reply->err, reply->retry_after_ns);
		return;
	}
	const char *rv = obj_str(reply->body, "metadata.resourceVersion");
	const char *token = obj_str(reply->body, "metadata.continue");
	if (!rv || !*rv || !client_is_list(reply->body))
		error_set(&err, E_INTERNAL, "list of %s without a resourceVersion, or none",
			  i->config.resource.plural);
	else if (goes_back(i, rv))
		error_set(&err, E_UNAVAILABLE,
			  "list of %s goes back in time: found %s, have seen %llu",
			  i->config.resource.plural, rv, (unsigned long long)i->seen_before_list);
	else
		take_page(i, reply->body, &err);
	if (err.code) {
		drop_list(i, &err, 0);
		return;
	}
	if (token && *token) {
		list(i, token);
		return;
	}
	recovered(i);
	set_rv(i, rv);
	loop_arm(i->loop, &i->timer, 0); /* the handlers may not free the informer */
	swap_in(i, rv_number(rv));
}

/* The first page, or the one that token leads to. An expired token starts over (kube-api.md 16). */
static void list(struct informer *i, const char *token)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(65536);
	const char *selector = i->config.label_selector;
	const char *target = arena_fmt(
		a, "%s?limit=%u%s%s%s%s", resource_path(&i->config.resource, NULL, NULL, NULL, a),
		i->page_objects, selector ? "&labelSelector=" : "", selector ? selector : "",
		token ? "&continue=" : "", token ? url_encode(str_of(token), a) : "");
	if (!token) {
		cache_free(i->fresh);
		i->fresh = cache_new();
		i->seen_before_list = i->seen;
	}
	i->call = client_read(i->config.client, target,
			      i->config.metadata_only ? LIST_ACCEPT : NULL, NULL, on_page, i);
}

/* ---- watch ---- */

static void on_event(void *arg, enum watch_event event, const struct obj *o)
{
	struct informer *i = arg;
	struct error err = ERROR_INIT;
	const char *rv = meta_resource_version(o);
	recovered(i);
	const char *name = meta_name(o), *ns = meta_namespace(o) ? meta_namespace(o) : "";
	if (event == WATCH_BOOKMARK) {
		if (rv)
			set_rv(i, rv);
		return;
	}
	if (name && event == WATCH_DELETED) {
		set_rv(i, rv);
		informer_observe_deleted(i, ns, name, meta_uid(o));
		return;
	}
	if (name && is_known(i, ns, name, uid_of(meta_uid(o)), rv)) { /* most are our own writes */
		set_rv(i, rv);
		return;
	}
	struct informer_object *e = object_of(i, o, &err);
	if (!e)
		return;
	set_rv(i, rv);
	put(i, e);
}

static void on_ended(void *arg, const struct error *err, int64_t retry_after)
{
	struct informer *i = arg;
	bool was_short = loop_mono(i->loop) - i->watch_began < WATCH_SHORT_NS;
	watch_free(STEAL(i->watch));
	if (!err || err->code == E_TIMEOUT || err->code == E_IO) {
		/* closed or lost: goes on at the last resourceVersion, without a list */
		if (!was_short)
			i->failures = 0;
		int64_t pause =
			was_short ? client_backoff(i->loop, i->failures++, BACKOFF_MIN, BACKOFF_MAX)
				  : 0;
		loop_arm(i->loop, &i->timer, pause);
		return;
	}
	if (err->code == E_EXPIRED) {
		set_rv(i, NULL);
		loop_arm(i->loop, &i->timer,
			 was_short
				 ? client_backoff(i->loop, i->failures++, BACKOFF_MIN, BACKOFF_MAX)
				 : 0);
		return;
	}
	if (err->code != E_TOOMANY && err->code != E_UNAVAILABLE)
		set_rv(i, NULL);
	retry(i, err, retry_after);
}

static void watch(struct informer *i)
{
	static const struct watch_handlers template = {on_event, on_ended, NULL};
	struct watch_handlers handlers = template;
	CLEANUP(arena_freep) struct arena *a = arena_new(65536);
	const char *selector = i->config.label_selector;
	uint64_t span = WATCH_MIN_NS / NS_PER_S, seconds = span + loop_random_below(i->loop, span);
	const char *target = arena_fmt(
		a, "%s?watch=1&allowWatchBookmarks=true&resourceVersion=%s&timeoutSeconds=%llu%s%s",
		resource_path(&i->config.resource, NULL, NULL, NULL, a), i->rv,
		(unsigned long long)seconds, selector ? "&labelSelector=" : "",
		selector ? selector : "");
	handlers.arg = i;
	i->watch_began = loop_mono(i->loop);
	i->watch =
		watch_start(i->config.client, target, i->config.metadata_only ? WATCH_ACCEPT : NULL,
			    WATCH_IDLE_NS, &handlers);
}

/* ---- reading ---- */

bool informer_is_synced(const struct informer *i)
{
	return i->synced;
}

const struct resource *informer_resource(const struct informer *i)
{
	return &i->config.resource;
}

const struct informer_object *informer_get(const struct informer *i, const char *ns,
					   const char *name)
{
	return cache_get(i->cache, ns, name);
}

size_t informer_count(const struct informer *i)
{
	return cache_count(i->cache);
}

struct informer_object *const *informer_named(const struct informer *i, const char *name,
					      size_t *ret_n)
{
	return cache_named(i->cache, name, ret_n);
}

const struct informer_object *informer_next(const struct informer *i,
					    const struct informer_object *after)
{
	return after ? informer_after(i, after->ns, after->name) : cache_at(i->cache, 0);
}

const struct informer_object *informer_after(const struct informer *i, const char *ns,
					     const char *name)
{
	return cache_at(i->cache, cache_after(i->cache, ns, name));
}

/* ---- own writes ---- */

/* The answer to the write that let the last finalizer go, or one that the watch has overtaken: what
 * it shows is gone already. */
static bool is_gone(const struct informer *i, const struct obj *o)
{
	const char *ns = meta_namespace(o) ? meta_namespace(o) : "", *name = meta_name(o);
	const struct informer_object *have = name ? cache_get(i->cache, ns, name) : NULL;
	if (meta_is_deleting(o) && !obj_len(obj_path(o, "metadata.finalizers")) &&
	    obj_i64(o, "metadata.deletionGracePeriodSeconds", 0) == 0)
		return true;
	return !have && rv_number(meta_resource_version(o)) <= rv_number(i->rv);
}

void informer_observe(struct informer *i, const struct obj *o)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *partial = NULL;
	if (is_gone(i, o)) {
		informer_observe_deleted(i, meta_namespace(o) ? meta_namespace(o) : "",
					 meta_name(o), meta_uid(o));
		return;
	}
	if (i->config.metadata_only) {
		partial = obj_map();
		obj_set_str(partial, "kind", "PartialObjectMetadata");
		obj_set_str(partial, "apiVersion", "meta.k8s.io/v1");
		obj_set(partial, "metadata", obj_ref(obj_get(o, "metadata")));
		o = partial;
	}
	struct informer_object *e = object_of(i, o, &err);
	if (!e)
		return;
	saw(i, e->resource_version);
	put(i, e);
}

void informer_observe_deleted(struct informer *i, const char *ns, const char *name, const char *uid)
{
	const struct informer_object *have = cache_get(i->cache, ns, name);
	if (have && have->uid == uid_of(uid)) /* else made again, and already seen */
		take_away(i, ns, name);
}
