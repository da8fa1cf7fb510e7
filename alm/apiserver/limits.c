/* limits: see limits.h. What a range says is in kinds/limit_range.h. */
#include "alm/apiserver/limits.h"

#include "alm/apiserver/admission/class.h"
#include "alm/apiserver/admission/priority.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/defaults.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/limit_range.h"
#include "alm/apiserver/resource_quotas.h"
#include "alm/apiserver/status.h"
#include "alm/obj/meta.h"

static bool is_core(const struct mutation *m, const char *plural)
{
	return *m->resource->group == '\0' && cstr_eq(m->resource->plural, plural);
}

/* The i-th range of the namespace, by name; NULL past the last. */
static const struct obj *range_at(struct apiserver *s, const char *ns, size_t i)
{
	const struct store_table *t = store_resource(s->store, "", "limitranges");
	i += resource_lower_bound(t, ns, "");
	if (i >= t->n_heads || !cstr_eq(t->heads[i]->ns, ns))
		return NULL;
	return head_obj_hot(t->heads[i]);
}

void limits_apply(struct mutation *m)
{
	static const char notes[] = "metadata.annotations";
	if (m->head && !cstr_eq(m->r->subresource, "resize"))
		return;
	const struct obj *range = range_at(m->r->server, m->ns, 0);
	for (size_t i = 1; range; range = range_at(m->r->server, m->ns, i++))
		limit_range_apply(range, m->after);
	if (m->head && obj_path(m->before, notes)) /* of it only amounts change */
		obj_set_path(m->after, notes, obj_copy(obj_path(m->before, notes)));
	else if (m->head)
		obj_del_path(m->after, notes);
}

int limits_check(struct mutation *m, struct error *err)
{
	bool pod = is_core(m, "pods"), claim = is_core(m, "persistentvolumeclaims");
	bool resizes = cstr_eq(m->r->subresource, "resize");
	/* Else a Pod's resources stay as they were, and what goes may go. */
	if ((!pod && !claim) || (m->r->subresource && *m->r->subresource && !resizes) ||
	    (pod && m->head && !resizes) || (m->head && meta_is_deleting(m->before)))
		return 0;
	const struct obj *range = range_at(m->r->server, m->ns, 0);
	for (size_t i = 1; range; range = range_at(m->r->server, m->ns, i++)) {
		const char *why = pod ? limit_range_fault(range, m->after, m->r->arena)
				      : limit_range_claim_fault(range, m->after, m->r->arena);
		if (why)
			return fail_forbidden(m->r, m->name, err, "%s", why);
	}
	return 0;
}

const char *limits_template_fault(struct apiserver *s, const char *ns, const struct obj *template,
				  struct arena *a)
{
	if (obj_type(template) != OBJ_MAP)
		return NULL;
	if (!range_at(s, ns, 0) && !quotas_has(s, ns) &&
	    check_is_empty(obj_get(template, "spec"), "priorityClassName") &&
	    !obj_path(template, "spec.runtimeClassName"))
		return NULL;
	struct obj *pod = obj_keep(a, obj_copy(template));
	defaults_set(pod, "", "pods");
	const char *why = priority_set(s, pod, a);
	why = why ? why : class_missing(s, pod, a);
	const struct obj *range = range_at(s, ns, 0);
	for (size_t i = 1; range; range = range_at(s, ns, i++))
		limit_range_apply(range, pod);
	range = range_at(s, ns, 0);
	for (size_t i = 1; range && !why; range = range_at(s, ns, i++))
		why = limit_range_fault(range, pod, a);
	return why ? why : quotas_pod_fault(s, ns, pod, a);
}
