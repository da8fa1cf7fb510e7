/* unit_schema: custom resources of a kind that the unit itself defines. A server takes up a definition that
 * has changed a while after it was written, and says nothing of it (Established it was before): until then it
 * refuses what only the new one allows. */
#include "alm/controllers/unit/unit_pass.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

#define LATE_NS  (5 * NS_PER_S) /* since the step began; after it what is refused is wrong */
#define PAUSE_NS NS_PER_S       /* between two writes: one that fails ends its reconcile */

const struct obj *unit_definition(const struct unit_pass *s, const struct obj *o)
{
	const struct obj *rows = obj_get(s->unit->doc, "objects");
	struct gvk g = {"", "", ""};
	gvk_of(o, s->v->a, &g);
	for (size_t i = 0; i < obj_len(rows); i++) {
		const struct obj *crd = obj_get(obj_at(rows, i), "object");
		if (cstr_eq(meta_kind(crd), "CustomResourceDefinition") &&
		    cstr_eq(obj_str(crd, "spec.group"), g.group) &&
		    cstr_eq(obj_str(crd, "spec.names.kind"), g.kind))
			return crd;
	}
	return NULL;
}

enum ensured unit_await_schema(struct unit_pass *s, const struct unit_entry *e,
			       const struct obj *record, const char **ret_no)
{
	const struct outcome *o = view_refusal(s->v, e->object, e->ns);
	int64_t now = s->v->now_ns, since = obj_i64(record, "sinceNs", 0);
	*ret_no = unit_refusal(s, e, record);
	if (!*ret_no || (o->code != E_INVALID && o->code != E_BADREQUEST) ||
	    now - since >= LATE_NS || !unit_definition(s, e->object))
		return DONE;
	if (plan_await(s->plan, o->at_ns + PAUSE_NS - now) != DONE)
		return WAITING;
	*ret_no = NULL;
	return DONE;
}
