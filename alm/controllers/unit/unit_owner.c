/* unit_owner: the object that a unit is run for is the owner of what is made for it. The garbage collector asks
 * nobody: no finalizer, no limit, no prune_spares(). So what pruning keeps has no such owner, and where nothing
 * is written to that object (unit_job.touches), and it goes at once, nothing has. */
#include "alm/controllers/unit/unit_pass.h"
#include "alm/obj/meta.h"
#include "alm/unit/prune.h"

static bool is_to_own(const struct unit_pass *s, const struct obj *live, const struct obj *o)
{
	return s->job && s->job->touches && !prune_keeps(live) && !prune_keeps(o);
}

/* Where the garbage collector takes it for one: in the same namespace, or in none. */
void unit_add_main(const struct unit_pass *s, const struct obj *live, struct obj *o)
{
	const struct obj *main = s->job ? s->job->main : NULL;
	const char *ns = meta_namespace(main);
	const struct owner_ref ref = {.api_version = meta_api_version(main),
				      .kind = meta_kind(main),
				      .name = meta_name(main),
				      .uid = meta_uid(main)};
	if (!ref.uid || (ns && !cstr_eq(ns, meta_namespace(o))) || meta_is_owned_by(o, ref.uid))
		return;
	if (is_to_own(s, live, o))
		meta_add_owner(o, &ref);
}

static bool has_main(const struct unit_pass *s, const struct obj *live)
{
	return s->job && s->job->main &&
	       meta_is_owned_through(live, meta_uid(s->job->main), s->plan->manager);
}

bool unit_loses_main(const struct unit_pass *s, const struct obj *live, const struct obj *want)
{
	return has_main(s, live) && !meta_is_owned_by(want, meta_uid(s->job->main)) &&
	       !is_to_own(s, live, want);
}

enum ensured unit_part_main(struct unit_pass *s, const struct obj *live)
{
	if (!has_main(s, live) || meta_is_deleting(live))
		return DONE;
	struct obj *patch = obj_map();
	CLEANUP(obj_unrefp) struct obj *copy = obj_copy(live);
	meta_remove_owner(copy, meta_uid(s->job->main));
	const struct obj *left = obj_path(copy, "metadata.ownerReferences");
	obj_set_path(patch, "metadata.ownerReferences", left ? obj_ref(left) : obj_null());
	plan_patch(s->plan, live, patch);
	return WAITING;
}
