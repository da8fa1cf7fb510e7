#include "alm/controllers/app/plan_access.h"

#include "alm/controllers/app/account.h"
#include "alm/controllers/app/install_plan.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

static const char *const parts[] = {"objects", "hooks"};

static const struct obj *object_at(const struct obj *doc, const char *part, size_t i)
{
	return obj_get(obj_at(obj_get(doc, part), i), "object");
}

static size_t count(const struct obj *doc)
{
	return obj_len(obj_get(doc, parts[0])) + obj_len(obj_get(doc, parts[1]));
}

static bool is_definition(const struct obj *o)
{
	return cstr_eq(meta_kind(o), "CustomResourceDefinition");
}

/* The definition that the plan itself brings for a kind; NULL. */
static const struct obj *definition_of(const struct obj *doc, const struct gvk *g)
{
	for (size_t i = 0; i < obj_len(obj_get(doc, parts[0])); i++) {
		const struct obj *o = object_at(doc, parts[0], i);
		if (is_definition(o) && cstr_eq(obj_str(o, "spec.group"), g->group) &&
		    cstr_eq(obj_str(o, "spec.names.kind"), g->kind))
			return o;
	}
	return NULL;
}

static struct access_object access_of(const struct obj *doc, const struct obj *o, bool hook,
				      const struct plan_kinds *kinds, struct arena *a)
{
	struct gvk g = {"", "", ""};
	gvk_of(o, a, &g);
	const struct resource *r = kinds->resource(kinds->arg, g.group, g.version, g.kind);
	const struct obj *crd = r ? NULL : definition_of(doc, &g);
	bool namespaced = r ? r->namespaced : cstr_eq(obj_str(crd, "spec.scope"), "Namespaced");
	const char *ns = meta_namespace(o) ? meta_namespace(o) : obj_str(doc, "namespace");
	return (struct access_object){.object = o,
				      .group = g.group,
				      .plural = r ? arena_strdup(a, r->plural)
						  : obj_str(crd, "spec.names.plural"),
				      .ns = namespaced ? ns : NULL,
				      .life = is_definition(o)  ? ACCESS_DEFINITION
					      : hook            ? ACCESS_HOOK
					      : unit_is_kept(o) ? ACCESS_KEPT
								: ACCESS_OBJECT};
}

struct access_input plan_access(const struct obj *doc, const struct plan_kinds *kinds,
				bool is_default, struct arena *a)
{
	size_t max = count(doc) + 1, n_own = 0;
	struct access_object *list = ARENA_ARRAY(a, struct access_object, max);
	const char **own = ARENA_ARRAY(a, const char *, max);
	struct access_input in = {.objects = list,
				  .ns = obj_str(doc, "namespace"),
				  .own = own,
				  .withholds = is_default};
	for (size_t p = 0; p < ARRAY_LEN(parts); p++)
		for (size_t i = 0; i < obj_len(obj_get(doc, parts[p])); i++) {
			const struct obj *o = object_at(doc, parts[p], i);
			const char *name = meta_name(o);
			if (install_plan_is_bare_namespace(o, in.ns))
				continue;
			list[in.n++] = access_of(doc, o, p == 1, kinds, a);
			if (is_default && is_definition(o) && name &&
			    !kinds->has_crd(kinds->arg, name))
				own[n_own++] = name;
		}
	return in;
}

struct access_input plan_grants(const struct obj *doc, const char *const *own, struct arena *a)
{
	struct access_object *list = ARENA_ARRAY(a, struct access_object, count(doc) + 1);
	struct access_input in = {.objects = list, .own = own};
	for (size_t p = 0; p < ARRAY_LEN(parts); p++)
		for (size_t i = 0; i < obj_len(obj_get(doc, parts[p])); i++) {
			const struct obj *o = object_at(doc, parts[p], i);
			const char *kind = meta_kind(o), *ns = meta_namespace(o);
			bool cluster = kind && cstr_has_prefix(kind, "Cluster");
			list[in.n++] =
				(struct access_object){.object = o,
						       .ns = cluster ? NULL
							     : ns    ? ns
								     : obj_str(doc, "namespace")};
		}
	return in;
}

struct access_grantee plan_grantee(const struct app *app, struct arena *a)
{
	return (struct access_grantee){.ns = app->account.ns,
				       .account = app->account.name,
				       .name = arena_fmt(a, ACCOUNT_PREFIX "%s", app->name),
				       .label = LABEL_APP,
				       .value = app->name};
}
