/* bundle_scope_of: of bundle_spec.h; in a room of its own, as the instances of a spec ask it, too. */
#include "alm/controllers/fleet/bundle_spec.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

static bool is_crd_of(const struct obj *crd, const struct gvk *g)
{
	return cstr_eq(meta_kind(crd), "CustomResourceDefinition") &&
	       cstr_eq(obj_str(crd, "spec.group"), g->group) &&
	       cstr_eq(obj_str(crd, "spec.names.kind"), g->kind);
}

int bundle_scope_of(const struct flat *f, const struct obj *o, const struct bundle_scopes *scopes)
{
	int known = scopes->fn(scopes->arg, o);
	struct gvk g = {"", "", ""};
	if (known >= 0)
		return known;
	gvk_of(o, f->a, &g);
	for (size_t i = 0; i < f->n; i++)
		if (is_crd_of(f->objects[i].object, &g))
			return cstr_eq(obj_str(f->objects[i].object, "spec.scope"), "Namespaced");
	return meta_namespace(o) ? 1 : -1; /* the server refuses it if that is wrong */
}
