#include "alm/apiserver/kinds/own_crd.h"

#include <string.h>

#include "alm/apiserver/kinds/crd.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "crds/kinds.h"

static const struct crd_kind *named(const char *name)
{
	for (size_t i = 0; name && i < n_crd_kinds; i++) {
		size_t n = strlen(crd_kinds[i]->plural);
		if (!strncmp(name, crd_kinds[i]->plural, n) && name[n] == '.' &&
		    cstr_eq(name + n + 1, crd_kinds[i]->group))
			return crd_kinds[i];
	}
	return NULL;
}

bool own_crd_is(const char *name)
{
	return named(name) != NULL;
}

bool own_crd_keep(struct obj *o)
{
	const struct crd_kind *k = named(meta_name(o));
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *own = NULL;
	if (!k || yaml_parse_carried(k->yaml, &own, &err) < 0)
		return false;
	crd_default(own);
	if (obj_equal(obj_get(own, "spec"), obj_get(o, "spec")))
		return false;
	obj_set(o, "spec", obj_ref(obj_get(own, "spec")));
	return true;
}

bool own_crd_is_unserved(const struct obj *o)
{
	const char *group = obj_str(o, "spec.group");
	bool is_ours = false;
	for (size_t i = 0; i < n_crd_kinds; i++)
		is_ours = is_ours || cstr_eq(crd_kinds[i]->group, group);
	return is_ours && !named(meta_name(o));
}
