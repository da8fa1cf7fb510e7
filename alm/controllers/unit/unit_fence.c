/* What a former run may be deleting still, and this one wants, is written once: the deletion that was
 * sent with another resourceVersion does nothing then (alm/unit/inventory.h). */
#include "alm/controllers/unit/unit_pass.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

void unit_note_doubtful(struct unit_pass *s, const struct inventory *wanted)
{
	s->doubts = ARENA_ARRAY(s->v->a, const char *, s->n + 1);
	for (size_t k = 0; k < wanted->n; k++)
		s->doubts[wanted->lines[k].row] = inventory_doubt(&wanted->lines[k]);
}

/* What the host of a chart applies has no inventory: nothing of it is doubtful. */
const char *unit_doubt(const struct unit_pass *s, size_t row)
{
	const struct obj *live = unit_found(s, row);
	const char *doubt = s->doubts ? s->doubts[row] : NULL;
	if (!doubt || !live || s->foreign[row] || meta_is_deleting(live) ||
	    cstr_eq(meta_annotation(live, ANNOTATION_FENCE), doubt))
		return NULL;
	return doubt;
}

/* By a manager of its own, as all else of the object stays as it is; over what was read: what is gone
 * meanwhile is a conflict, and looked for again. */
enum ensured unit_fence(struct unit_pass *s, size_t row, const struct obj *record,
			const char **ret_why)
{
	const struct unit_entry *e = &s->entries[row];
	const char *doubt = unit_doubt(s, row);
	if (!doubt)
		return DONE;
	*ret_why = unit_refusal(s, e, record);
	if (*ret_why)
		return ENDED;
	struct obj *o = meta_skeleton(meta_api_version(e->object), e->kind, e->ns, e->name);
	meta_set_annotation(o, ANNOTATION_FENCE, doubt);
	struct action *x = plan_apply(s->plan, o, 0, true);
	x->manager = arena_fmt(s->v->a, "%s:fence", s->plan->manager);
	plan_over(s->plan, x, unit_found(s, row));
	return WAITING;
}
