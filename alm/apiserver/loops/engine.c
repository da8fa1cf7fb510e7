/* engine: see engine.h. */
#include "alm/apiserver/loops/engine.h"

#include "alm/apiserver/deletion.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

#define ENGINE_ARENA_BYTES (STORE_VALUE_BYTES_MAX * 8)

const struct kind *engine_kind(const struct apiserver *s, const struct store_table *res)
{
	return kinds_storage(s->kinds, res->group, res->plural);
}

static int engine_begin(struct apiserver *s, const struct engine *e, struct head *h,
			struct arena *a, struct mutation *m, const char *subresource,
			struct error *err)
{
	const struct kind *k = engine_kind(s, h->resource);
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
	return deletion_run(&m, &opt, err);
}

int engine_ensure(struct apiserver *s, struct obj *o, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(8 << 20);
	const char *group, *version;
	struct mutation m;
	obj_keep(a, o);
	if (!meta_api_version(o) || !meta_kind(o) || !meta_name(o) ||
	    !gvk_split_api_version(meta_api_version(o), a, &group, &version))
		return error_set(err, E_INTERNAL, "a bootstrap object without kind or name");
	const struct kind *k = kinds_find_kind(s->kinds, group, version, meta_kind(o));
	const char *ns = meta_namespace(o) ? meta_namespace(o) : "";
	if (!k)
		return error_set(err, E_INTERNAL, "kind %s is not served", meta_kind(o));
	struct request *r = request_internal(s, a, "system:apiserver", "kube-apiserver", k, ns, "");
	r->verb = "create";
	if (resource_find(server_resource(s, k), ns, meta_name(o)))
		return 0;
	if (mutation_init(&m, r, r->ns, "", err) < 0)
		return -err->code;
	m.after = o;
	m.opt.manager = "kube-apiserver";
	return mutation_shape(&m, err) < 0 ? -err->code : mutation_create(&m, err);
}
