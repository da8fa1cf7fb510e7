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
enum ensured unit_fence(struct unit_pass *s, size_t row, const struct obj *record,
			const char **ret_why)
{
	const struct obj *live = unit_found(s, row);
	const char *doubt = s->doubts ? s->doubts[row] : NULL;
	if (!doubt || !live || s->foreign[row] || meta_is_deleting(live) ||
	    cstr_eq(meta_annotation(live, ANNOTATION_FENCE), doubt))
		return DONE;
	*ret_why = unit_refusal(s, &s->entries[row], record);
	if (*ret_why)
		return ENDED;
	struct obj *patch = obj_map();
	meta_set_annotation(patch, ANNOTATION_FENCE, doubt);
	plan_patch(s->plan, live, patch);
	return WAITING;
}
