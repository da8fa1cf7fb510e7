/* modern: see modern.h. */
#include "alm/apiserver/modern.h"

#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/crd.h"
#include "alm/apiserver/status.h"
#include "alm/obj/meta.h"
#include "crds/legacy.h"
#include "crds/marks.h"

static bool is_definition(const struct kind *k)
{
	return cstr_eq(k->group, CRD_GROUP) && cstr_eq(k->plural, "customresourcedefinitions");
}

/* A group may be named like one of 2017 today. */
static bool is_of(const struct obj *o, const struct kind *k, struct arena *a)
{
	return cstr_eq(meta_api_version(o), kind_api_version(k, a));
}

int modern_form(struct request *r, struct obj **o, struct error *err)
{
	struct error inner = ERROR_INIT;
	struct legacy now;
	if (r->server->config.no_legacy || *r->subresource)
		return 0;
	if (legacy_convert(*o, r->arena, &now, &inner) < 0)
		return fail_code(r, E_BADREQUEST, err, "%s", inner.msg);
	if (!now.o || (now.is_instance && !is_of(now.o, r->kind, r->arena)))
		return 0;
	const char *was = obj_str(*o, "spec.group");
	if (is_definition(r->kind) && was && !cstr_eq(was, obj_str(now.o, "spec.group")))
		meta_set_annotation(now.o, ANNOTATION_LEGACY_GROUP, was);
	for (size_t i = 0; i < now.n_warnings; i++)
		request_warn(r, "%s", now.warnings[i]);
	*o = now.o;
	return 0;
}
