/* Before the first write: does the server know every kind of the plan? helm refuses a release with
 * one that it does not; half of it applied would wait for ever. */
#include "alm/controllers/strategy/strategy.h"
#include "alm/obj/meta.h"
#include "alm/obj/nextstep.h"

#define ASK_AGAIN_NS (10 * NS_PER_S) /* somebody may bring the CRD meanwhile */

static bool is_brought(const struct install_plan *p, const struct gvk *g)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct obj *crd = p->entries[i].object;
		if (p->entries[i].is_crd && cstr_eq(obj_str(crd, "spec.group"), g->group) &&
		    cstr_eq(obj_str(crd, "spec.names.kind"), g->kind))
			return true;
	}
	return false;
}

/* False: the answer is on its way. */
static bool ask(struct strategy_pass *s, const struct plan_entry *e, const struct obj **ret)
{
	const char *api_version = meta_api_version(e->object);
	struct obj *needs = obj_list(), *need = obj_map();
	obj_set_str(need, "apiVersion", api_version);
	obj_set_str(need, "kind", e->kind);
	obj_set_str(need, "namespace", e->ns);
	obj_set_str(need, "name", e->name);
	obj_append(needs, need);
	const struct outcome *o = strategy_asked(
		s, arena_fmt(s->v->a, "served:%s:%s", api_version, plan_entry_text(e, s->v->a)),
		needs, ASK_AGAIN_NS);
	*ret = o ? obj_at(o->value, 0) : NULL;
	return o != NULL;
}

bool strategy_kinds_are_served(struct strategy_pass *s)
{
	for (size_t i = 0; i < s->install->n; i++) {
		const struct plan_entry *e = &s->install->entries[i];
		const struct obj *answer;
		struct gvk g;
		if (e->resource || e->is_crd || !gvk_of(e->object, s->v->a, &g) ||
		    is_brought(s->install, &g))
			continue;
		if (!ask(s, e, &answer)) {
			s->phase = PHASE_PENDING;
			s->stop = true;
			return false;
		}
		if (!obj_str(answer, "error"))
			continue; /* known by now */
		nextstep_add(s->steps,
			     nextstep_new(s->v->a,
					  "what the server has of the group: install what serves "
					  "the kind, or take a version of the chart without it",
					  "kubectl api-resources --api-group=%s",
					  nextstep_word(s->v->a, g.group)));
		strategy_block(s, "PlanReady", "KindNotServed",
			       arena_fmt(s->v->a, "the server does not know the kind of %s: %s",
					 plan_entry_text(e, s->v->a), meta_api_version(e->object)));
		plan_requeue_after(s->plan, ASK_AGAIN_NS);
		return false;
	}
	return true;
}
