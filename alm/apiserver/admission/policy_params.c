/* policy_params: see policy_params.h. */
#include "alm/apiserver/admission/policy_params.h"

#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/convert.h"
#include "alm/obj/gvk.h"
#include "alm/obj/query/selector.h"

static void add(struct policy_params *p, const struct kind *k, struct head *h, struct arena *a)
{
	const struct obj *o = convert_read(k, h->text, a);
	if (p->n == POLICY_PARAMS_MAX)
		p->wrong = arena_fmt(a, "failed to configure binding: more than %d params",
				     POLICY_PARAMS_MAX);
	else if (o)
		p->items[p->n++] = o;
}

static void select_all(struct apiserver *server, const struct obj *ref, const struct kind *k,
		       const char *ns, struct arena *a, struct policy_params *ret)
{
	CLEANUP(selector_freep) struct selector *s = NULL;
	struct error err = ERROR_INIT;
	const struct store_table *t = server_resource(server, k);
	if (selector_from_obj(obj_get(ref, "selector"), &s, &err) < 0) {
		ret->wrong = arena_fmt(a, "failed to configure binding: %s", err.msg);
		return;
	}
	for (size_t i = resource_lower_bound(t, ns, "");
	     i < t->n_heads && cstr_eq(t->heads[i]->ns, ns) && !ret->wrong; i++)
		if (selector_matches(s, obj_path(head_obj_hot(t->heads[i]), "metadata.labels")))
			add(ret, k, t->heads[i], a);
}

/* Where they are; NULL: nowhere, and ret->wrong says why. */
static const char *namespace_of(const struct obj *ref, const struct kind *k, const char *ns,
				struct policy_params *ret)
{
	const char *stated = obj_str(ref, "namespace");
	if (!(k->flags & KIND_NAMESPACED)) {
		if (stated && *stated)
			ret->wrong = "failed to configure binding: paramRef.namespace must not be "
				     "provided for a cluster-scoped `paramKind`";
		return ret->wrong ? NULL : "";
	}
	if (stated && *stated)
		return stated;
	if (*ns == '\0')
		ret->wrong =
			"failed to configure binding: cannot use namespaced paramRef in policy "
			"binding that matches cluster-scoped resources";
	return ret->wrong ? NULL : ns;
}

void policy_params_find(struct apiserver *s, const struct obj *binding, const struct kind *k,
			const char *ns, struct arena *a, struct policy_params *ret)
{
	const struct obj *ref = obj_path(binding, "spec.paramRef");
	const char *name = obj_str(ref, "name");
	const char *in = namespace_of(ref, k, ns, ret);
	if (!in)
		return;
	if (name && *name) {
		struct head *h = resource_find(server_resource(s, k), in, name);
		if (h)
			add(ret, k, h, a);
	} else {
		select_all(s, ref, k, in, a, ret);
	}
	if (ret->n == 0 && !ret->wrong &&
	    !cstr_eq(obj_str(ref, "parameterNotFoundAction"), "Allow"))
		ret->wrong = "failed to configure binding: no params found for policy binding with "
			     "`Deny` parameterNotFoundAction";
}

const struct kind *policy_param_kind(const struct apiserver *s, const struct obj *policy,
				     struct arena *a)
{
	const struct obj *o = obj_path(policy, "spec.paramKind");
	const char *api = obj_str(o, "apiVersion"), *kind = obj_str(o, "kind"), *group, *version;
	if (!api || !kind || !gvk_split_api_version(api, a, &group, &version))
		return NULL;
	return kinds_find_kind(s->kinds, group, version, kind);
}
