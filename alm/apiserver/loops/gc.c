/* gc: see gc.h. */
#include "alm/apiserver/loops/gc.h"

#include <string.h>

#include "alm/apiserver/kinds/crd.h"
#include "alm/apiserver/loops/engine.h"
#include "alm/apiserver/loops/later.h"
#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/base/map.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define COLLECTOR "system:serviceaccount:kube-system:generic-garbage-collector"

static const struct engine collector = {COLLECTOR, "kube-controller-manager", .asks = true};

struct gc {
	struct apiserver *server;
	struct map *uids; /* to look at, in order */
	struct task task;
	struct later_names refused; /* uids of owners with dependents that could not be deleted */
	size_t n_refused;           /* since the beginning */
	struct error refusal;       /* the last one */
	struct map *told;           /* uids of which that is in the log of the server already */
};

static void look_at(void *arg, const char *uid)
{
	struct gc *g = arg;
	if (!uid || !*uid)
		return;
	map_set(g->uids, uid, NULL);
	loop_post(g->server->loop, &g->task);
}

/* Something that names this owner could not be deleted. */
static void look_later(struct gc *g, const char *uid)
{
	if (!map_has(g->told, uid))
		log_warn("a dependent is not deleted; it is tried again", "owner", uid, "error",
			 g->refusal.msg);
	map_set(g->told, uid, NULL);
	later_add(&g->refused, uid);
}

static void delete_one(struct gc *g, struct head *h, enum propagation policy)
{
	struct error err = ERROR_INIT;
	if (engine_delete(g->server, &collector, h, policy, &err) >= 0)
		return;
	g->n_refused++;
	g->refusal = err;
}

static bool is_crd(const struct head *h)
{
	return cstr_eq(h->resource->group, CRD_GROUP) &&
	       cstr_eq(h->resource->plural, "customresourcedefinitions");
}

/* The owner that a reference means; NULL if there is none, or if it cannot own what is in ns. */
static struct head *owner_of(struct gc *g, const struct owner_ref *ref, const char *ns)
{
	struct head *o = ref->uid ? store_by_uid(g->server->store, ref->uid) : NULL;
	if (!o)
		return NULL;
	const struct kind *k = engine_kind(g->server, o->resource);
	bool same_kind = !k || !ref->kind || cstr_eq(k->kind, ref->kind);
	bool in_reach = *o->ns == '\0' || cstr_eq(o->ns, ns);
	return same_kind && in_reach ? o : NULL;
}

static bool has_finalizer(struct head *h, const char *name)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STORE_VALUE_BYTES_MAX * 4);
	const struct obj *o = strstr(h->text->bytes, name) ? head_obj(h, a) : NULL;
	return o && meta_is_deleting(o) && meta_has_finalizer(o, name);
}

struct edit {
	struct gc *gc;
	const struct head *head;
	const char *uid;       /* remove this owner, or NULL */
	const char *finalizer; /* remove this finalizer, or NULL */
};

/* Removes the owner that is named, else every owner that does not exist. */
static void edit_owners(void *arg, struct obj *o)
{
	const struct edit *e = arg;
	for (size_t i = meta_owner_count(o); i-- > 0;) {
		struct owner_ref ref;
		if (!meta_owner(o, i, &ref) || !ref.uid)
			continue;
		bool dead = e->uid ? cstr_eq(e->uid, ref.uid) : !owner_of(e->gc, &ref, e->head->ns);
		if (!dead)
			continue;
		CLEANUP(xfreep) char *uid = xstrdup(ref.uid);
		meta_remove_owner(o, uid);
	}
}

static void edit_finalizer(void *arg, struct obj *o)
{
	const struct edit *e = arg;
	meta_remove_finalizer(o, e->finalizer);
}

static void drop_owner(struct gc *g, struct head *h, const char *uid)
{
	struct error err = ERROR_INIT;
	struct edit e = {.gc = g, .head = h, .uid = uid};
	engine_update(g->server, &collector, h, "", edit_owners, &e, &err);
}

static void drop_finalizer(struct gc *g, struct head *h, const char *name)
{
	struct error err = ERROR_INIT;
	struct edit e = {.gc = g, .head = h, .finalizer = name};
	engine_update(g->server, &collector, h, "", edit_finalizer, &e, &err);
}

/* An owner of another namespace owns nothing; a Warning says so, once an object and owner. */
static void tell_out_of_reach(struct gc *g, const struct head *h, const struct obj *o,
			      const struct owner_ref *ref)
{
	const struct head *owner = ref->uid ? store_by_uid(g->server->store, ref->uid) : NULL;
	struct error err = ERROR_INIT;
	char now[CLOCK_TEXT_MAX];
	if (!owner || !*owner->ns || strcmp(owner->ns, h->ns) == 0)
		return;
	const char *ns = *h->ns ? h->ns : "default";
	CLEANUP(arena_freep) struct arena *a = arena_new(4096);
	struct obj *e = meta_skeleton("v1", "Event", ns,
				      arena_fmt(a, "%s.%.8s", name_cut(h->name, 200, a), ref->uid));
	struct obj *on = obj_map();
	obj_set_str(on, "kind", meta_kind(o));
	obj_set_str(on, "namespace", *h->ns ? h->ns : NULL);
	obj_set_str(on, "name", h->name);
	obj_set_str(on, "uid", h->uid);
	obj_set_str(on, "apiVersion", meta_api_version(o));
	obj_set(e, "involvedObject", on);
	obj_set_str(e, "reason", "OwnerRefInvalidNamespace");
	obj_set(e, "message",
		obj_stringf("ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in "
			    "namespace \"%s\"",
			    ref->api_version ? ref->api_version : "", ref->kind ? ref->kind : "",
			    h->ns, ref->name ? ref->name : "", ref->uid, h->ns));
	obj_set_str(e, "type", "Warning");
	obj_set_path(e, "source.component", obj_string("garbage-collector-controller"));
	clock_format(loop_now(g->server->loop), CLOCK_SECONDS, now);
	obj_set_str(e, "firstTimestamp", now);
	obj_set_str(e, "lastTimestamp", now);
	obj_set_int(e, "count", 1);
	engine_ensure(g->server, e, &err);
}

/* One object that names a dead owner. */
static void collect(struct gc *g, struct head *h)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STORE_VALUE_BYTES_MAX * 4);
	const struct obj *o = head_obj(h, a);
	size_t n = meta_owner_count(o), alive = 0, dead = 0;
	for (size_t i = 0; i < n; i++) {
		struct owner_ref ref;
		if (!meta_owner(o, i, &ref))
			continue;
		if (owner_of(g, &ref, h->ns)) {
			alive++;
			continue;
		}
		dead++;
		tell_out_of_reach(g, h, o, &ref);
	}
	if (!dead || meta_is_deleting(o))
		return;
	if (alive)
		drop_owner(g, h, NULL);
	else if (!is_crd(h))
		delete_one(g, h, PROPAGATE_BACKGROUND);
}

/* Does another owner of h live, and is not itself waiting for its dependents? */
static bool has_other_owner(struct gc *g, struct head *h, const char *uid)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STORE_VALUE_BYTES_MAX * 4);
	const struct obj *o = head_obj(h, a);
	for (size_t i = 0; i < meta_owner_count(o); i++) {
		struct owner_ref ref;
		if (!meta_owner(o, i, &ref) || cstr_eq(ref.uid, uid))
			continue;
		struct head *owner = owner_of(g, &ref, h->ns);
		if (owner && !has_finalizer(owner, "foregroundDeletion"))
			return true;
	}
	return false;
}

static bool blocks(struct head *h, const char *uid)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(STORE_VALUE_BYTES_MAX * 4);
	const struct obj *o = head_obj(h, a);
	for (size_t i = 0; i < meta_owner_count(o); i++) {
		struct owner_ref ref;
		if (meta_owner(o, i, &ref) && cstr_eq(ref.uid, uid))
			return ref.block_owner_deletion;
	}
	return false;
}

/* Does something wait for h that h, in turn, waits for? As the real collector asks: is a dependent of
 * it being deleted in the foreground? */
static bool closes_circle(struct gc *g, const struct head *h)
{
	size_t n;
	void *const *list = store_dependents(g->server->store, h->uid, &n);
	for (size_t i = 0; i < n && i < ENGINE_BATCH; i++)
		if (has_finalizer(list[i], "foregroundDeletion"))
			return true;
	return false;
}

static void edit_unblock(void *arg, struct obj *o)
{
	(void)arg;
	struct obj *list = obj_get_mut(obj_get_mut(o, "metadata"), "ownerReferences");
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_flag(obj_at(list, i), "blockOwnerDeletion", false))
			obj_set_bool(obj_at_mut(list, i), "blockOwnerDeletion", false);
}

/* No owner waits for h any more: each would wait for the other for ever. */
static void unblock(struct gc *g, struct head *h)
{
	struct error err = ERROR_INIT;
	engine_update(g->server, &collector, h, "", edit_unblock, NULL, &err);
}

/* The dependents of uid may change while they are handled: names are copied first. */
struct name_list {
	struct {
		struct store_table *resource;
		char *ns, *name;
	} items[ENGINE_BATCH];
	size_t n;
	bool more;
};

static void dependents_of(struct gc *g, const char *uid, struct arena *a, struct name_list *ret)
{
	size_t n;
	void *const *list = store_dependents(g->server->store, uid, &n);
	ret->more = n > ENGINE_BATCH;
	ret->n = ret->more ? ENGINE_BATCH : n;
	for (size_t i = 0; i < ret->n; i++) {
		const struct head *h = list[i];
		ret->items[i].resource = h->resource;
		ret->items[i].ns = arena_strdup(a, h->ns);
		ret->items[i].name = arena_strdup(a, h->name);
	}
}

static void foreground(struct gc *g, struct head *owner, const struct name_list *l)
{
	CLEANUP(xfreep) char *uid = xstrdup(owner->uid);
	bool waiting = l->more;
	for (size_t i = 0; i < l->n; i++) {
		struct head *h =
			resource_find(l->items[i].resource, l->items[i].ns, l->items[i].name);
		if (!h || is_crd(h))
			continue;
		if (has_other_owner(g, h, uid)) {
			drop_owner(g, h, uid);
			continue;
		}
		CLEANUP(arena_freep) struct arena *a = arena_new(STORE_VALUE_BYTES_MAX * 4);
		bool deleting = meta_is_deleting(head_obj(h, a));
		if (!deleting && closes_circle(g, h))
			unblock(g, h);
		h = resource_find(l->items[i].resource, l->items[i].ns, l->items[i].name);
		if (!h)
			continue;
		bool blocking = blocks(h, uid);
		if (!deleting)
			delete_one(g, h, PROPAGATE_FOREGROUND);
		/* Still there: held by a finalizer, its own dependents among them. */
		waiting = waiting || (blocking && resource_find(l->items[i].resource,
								l->items[i].ns, l->items[i].name));
	}
	owner = store_by_uid(g->server->store, uid);
	if (!waiting && owner)
		drop_finalizer(g, owner, "foregroundDeletion");
}

static void orphan(struct gc *g, struct head *owner, const struct name_list *l)
{
	CLEANUP(xfreep) char *uid = xstrdup(owner->uid);
	for (size_t i = 0; i < l->n; i++) {
		struct head *h =
			resource_find(l->items[i].resource, l->items[i].ns, l->items[i].name);
		if (h)
			drop_owner(g, h, uid);
	}
	owner = store_by_uid(g->server->store, uid);
	if (!l->more && owner)
		drop_finalizer(g, owner, "orphan");
}

static void process(struct gc *g, const char *uid)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct name_list l;
	size_t before = g->n_refused;
	struct head *owner = store_by_uid(g->server->store, uid);
	dependents_of(g, uid, a, &l);
	if (owner && has_finalizer(owner, "orphan"))
		orphan(g, owner, &l);
	else if (owner && has_finalizer(owner, "foregroundDeletion"))
		foreground(g, owner, &l);
	for (size_t i = 0; i < l.n; i++) {
		struct head *h = resource_find(l.items[i].resource, l.items[i].ns, l.items[i].name);
		/* An owner that is there is of the wrong kind or out of reach. */
		if (h && (owner || !store_by_uid(g->server->store, uid)))
			collect(g, h);
	}
	if (g->n_refused > before) {
		look_later(g, uid);
		return;
	}
	(void)map_del(g->told, uid);
	if (l.more)
		look_at(g, uid);
}

static void run(void *arg)
{
	struct gc *g = arg;
	struct map *uids = g->uids;
	int left = ENGINE_BATCH;
	for (struct map_entry *e = map_first(uids); e && left; e = map_first(uids), left--) {
		CLEANUP(xfreep) char *uid = xstrdup(e->key);
		map_del(uids, uid);
		process(g, uid);
	}
	if (map_count(uids))
		loop_post(g->server->loop, &g->task);
}

static void owners_look(struct gc *g, struct text *t, bool absent_only)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	if (!strstr(t->bytes, "\"ownerReferences\":") || json_parse(text_str(t), &o, &err) < 0)
		return;
	for (size_t i = 0; i < meta_owner_count(o); i++) {
		struct owner_ref ref;
		if (!meta_owner(o, i, &ref) || !ref.uid)
			continue;
		if (!absent_only || !owner_of(g, &ref, meta_namespace(o)))
			look_at(g, ref.uid);
	}
	obj_unref(o);
}

static void changed(void *arg, const struct change *c)
{
	struct gc *g = arg;
	char uid[STORE_UID_TEXT];
	/* Owners that wait for this dependent, or that are not there. */
	owners_look(g, c->after, !c->deleted);
	if (!text_uid(text_str(c->after), uid))
		return;
	size_t n;
	store_dependents(g->server->store, uid, &n);
	if ((c->deleted && n) || strstr(c->after->bytes, "\"foregroundDeletion\"") ||
	    strstr(c->after->bytes, "\"orphan\""))
		look_at(g, uid);
}

void gc_load(struct gc *g)
{
	struct store *s = g->server->store;
	for (size_t i = 0; i < store_n_resources(s); i++) {
		struct store_table *res = store_resource_at(s, i);
		for (size_t j = 0; j < res->n_heads; j++) {
			owners_look(g, res->heads[j]->text, true);
			if (strstr(res->heads[j]->text->bytes, "\"deletionTimestamp\":"))
				look_at(g, res->heads[j]->uid);
		}
	}
}

struct gc *gc_new(struct apiserver *s)
{
	struct gc *g = xcalloc(1, sizeof(*g));
	g->server = s;
	g->uids = map_new(NULL);
	later_init(&g->refused, s->loop, look_at, g);
	g->told = map_new(NULL);
	g->task.fn = run;
	g->task.arg = g;
	store_on_change(s->store, changed, g);
	return g;
}

void gc_free(struct gc *g)
{
	if (!g)
		return;
	loop_unpost(g->server->loop, &g->task);
	later_release(&g->refused);
	map_free(g->told);
	map_free(g->uids);
	xfree(g);
}
