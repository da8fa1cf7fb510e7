/* engine: see engine.h. */
#include "alm/apiserver/loops/engine.h"

#include <string.h>

#include "alm/apiserver/deletion.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

#define ENGINE_ARENA_BYTES (STORE_VALUE_BYTES_MAX * 8)

const struct kind *engine_kind(const struct apiserver *s, const struct store_table *res)
{
	const struct kind *k = kinds_storage(s->kinds, res->group, res->plural);
	return k ? k : kinds_any(s->kinds, res->group, res->plural);
}

/* The version that the object is stored in, which with a converter may be an older one: nobody is
 * asked for another. One that is not served has no schema here. */
static const struct kind *kind_of_head(const struct apiserver *s, const struct head *h,
				       struct arena *a)
{
	const struct kind *k = engine_kind(s, h->resource);
	const char *group, *version;
	if (!k || (k->flags & KIND_STORAGE && !k->converter))
		return k;
	struct str said = text_api_version(text_str(h->text));
	if (!gvk_split_api_version(arena_strndup(a, said.ptr, said.len), a, &group, &version))
		return k;
	const struct kind *own = kinds_find(s->kinds, group, version, k->plural);
	if (own && k->converter)
		return own;
	struct kind *gone = arena_memdup(a, k, sizeof(*k));
	gone->version = version;
	gone->schema = NULL;
	gone->stamp = 0;
	return gone;
}

static int engine_begin(struct apiserver *s, const struct engine *e, struct head *h,
			struct arena *a, struct mutation *m, const char *subresource,
			struct error *err)
{
	const struct kind *k = kind_of_head(s, h, a);
	if (!k)
		return error_set(err, E_NOTFOUND, "%s.%s is not served", h->resource->plural,
				 h->resource->group);
	struct request *r = request_internal(s, a, e->user, e->manager, k, h->ns, h->name);
	r->subresource = subresource;
	if (mutation_init(m, r, r->ns, r->name, err) < 0)
		return -err->code;
	m->opt.manager = e->manager;
	m->opt.validation = VALIDATE_IGNORE;
	return 0;
}

int engine_update(struct apiserver *s, const struct engine *e, struct head *h,
		  const char *subresource, void (*edit)(void *arg, struct obj *o), void *arg,
		  struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ENGINE_ARENA_BYTES);
	struct mutation m;
	if (engine_begin(s, e, h, a, &m, subresource, err) < 0)
		return -err->code;
	m.after = obj_keep(a, obj_copy(m.before));
	edit(arg, m.after);
	return mutation_update(&m, err);
}

int engine_delete(struct apiserver *s, const struct engine *e, struct head *h,
		  enum propagation policy, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ENGINE_ARENA_BYTES);
	struct mutation m;
	struct delete_options opt = {.propagation = policy};
	if (engine_begin(s, e, h, a, &m, "", err) < 0)
		return -err->code;
	m.asks = e->asks;
	return deletion_run(&m, &opt, err);
}

int engine_replace(struct apiserver *s, const struct engine *e, struct head *h, const struct obj *o,
		   struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ENGINE_ARENA_BYTES);
	struct mutation m;
	if (engine_begin(s, e, h, a, &m, "", err) < 0)
		return -err->code;
	m.whole = true;
	m.after = obj_keep(a, obj_copy(o));
	return mutation_update(&m, err);
}

/* The kind of o, whose memory goes to the arena, and the request that creates it. */
static int create_begin(struct apiserver *s, const struct engine *e, struct obj *o, struct arena *a,
			struct mutation *m, struct error *err)
{
	const char *group, *version;
	obj_keep(a, o);
	if (!meta_kind(o) || !gvk_split_api_version(meta_api_version(o), a, &group, &version))
		return error_set(err, E_INTERNAL, "an object of the server without kind");
	const struct kind *k = kinds_find_kind(s->kinds, group, version, meta_kind(o));
	const char *ns = meta_namespace(o) ? meta_namespace(o) : "";
	if (!k)
		return error_set(err, E_INTERNAL, "kind %s is not served", meta_kind(o));
	struct request *r = request_internal(s, a, e->user, e->manager, k, ns, "");
	r->verb = "create";
	if (mutation_init(m, r, r->ns, "", err) < 0)
		return -err->code;
	m->after = o;
	m->opt.manager = e->manager;
	return 0;
}

static int create_unless_there(struct mutation *m, char ret_uid[STORE_UID_TEXT], struct error *err)
{
	const char *name = meta_name(m->after);
	const struct head *there = name ? resource_find(m->resource, m->ns, name) : NULL;
	if (there) {
		memcpy(ret_uid, there->uid, STORE_UID_TEXT);
		return error_set(err, E_EXISTS, "%s is there", name);
	}
	if (mutation_create(m, err) < 0)
		return -err->code;
	return text_uid(text_str(m->text), ret_uid)
		       ? 0
		       : error_set(err, E_INTERNAL, "%s has no uid", m->name);
}

int engine_create(struct apiserver *s, const struct engine *e, struct obj *o,
		  char ret_uid[STORE_UID_TEXT], struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ENGINE_ARENA_BYTES);
	struct mutation m;
	if (create_begin(s, e, o, a, &m, err) < 0)
		return -err->code;
	m.whole = m.keep_managers = true;
	return create_unless_there(&m, ret_uid, err);
}

int engine_ensure(struct apiserver *s, struct obj *o, struct error *err)
{
	static const struct engine self = {.user = "system:apiserver", .manager = "kube-apiserver"};
	CLEANUP(arena_freep) struct arena *a = arena_new(8 << 20);
	char uid[STORE_UID_TEXT];
	struct mutation m;
	if (create_begin(s, &self, o, a, &m, err) < 0)
		return -err->code;
	if (!meta_name(o))
		return error_set(err, E_INTERNAL, "a bootstrap object without name");
	if (resource_find(m.resource, m.ns, meta_name(o)))
		return 0;
	return mutation_shape(&m, err) < 0 ? -err->code : create_unless_there(&m, uid, err);
}
