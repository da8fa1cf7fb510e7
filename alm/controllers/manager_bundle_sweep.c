/* What a Bundle says of objects that nobody has declared, asked anew in each pass of its unit: a pause, a
 * deletion, another spec is to hold at once, not only with the next revision. */
#include "alm/client/informer.h"
#include "alm/controllers/manager_bundles.h"
#include "alm/obj/meta.h"

#define SPEC_BYTES ((size_t)1 << 20) /* of what is read of a spec */

static struct obj *bundle_now(const struct bundle_slot *s)
{
	const struct informer *i = s->b->m->fixed[WATCH_BUNDLE].informer;
	const struct informer_object *io = informer_get(i, "", s->name);
	return io ? manager_read(io) : NULL;
}

/* What was read last declares something else than what runs. */
static bool is_behind(const struct bundle_slot *s)
{
	return s->next && !cstr_eq(s->next->digest, s->job.unit->digest);
}

/* The unit that runs was begun by this spec: what that declares is what may stay. */
static bool may_sweep(const struct bundle_slot *s, const struct obj *o, const struct bundle_spec *b)
{
	return b->sweeps && !b->paused && !meta_is_deleting(o) &&
	       meta_generation(o) == s->job_generation && !is_behind(s);
}

/* The one that was taken before in this turn may be in use. */
static void take(struct bundle_slot *s, struct obj *bundle)
{
	if (s->steers && cstr_eq(meta_resource_version(s->steers), meta_resource_version(bundle))) {
		obj_unref(bundle);
		return;
	}
	obj_unref(s->steers);
	s->steers = bundle;
}

void bundle_sweep_keep(struct bundle_slot *s, bool deleting)
{
	struct obj *orphans = deleting ? NULL : obj_ref(obj_get(s->record, "orphans"));
	if (orphans || deleting) {
		obj_unref(s->told);
		s->told = orphans;
	}
}

/* Since when they are: what this process told of the attempt before, or what the log says that a former
 * one did. What stands in the status anybody may have written who may write that. */
static const struct obj *told_before(struct bundle_slot *s)
{
	if (obj_has(s->record, "orphans"))
		return NULL;
	if (!s->told) {
		CLEANUP(obj_unrefp) struct obj *said = manager_said(s->b->m, meta_uid(s->steers));
		const struct obj *orphans = obj_get(said, "orphans");
		s->told = orphans ? obj_ref(orphans) : obj_list();
	}
	return s->told;
}

void bundle_sweep_steer(struct bundle_slot *s)
{
	struct error ignored = ERROR_INIT;
	struct bundle_spec b;
	s->job.sweep = NULL;
	if (!s->sweeps)
		return;
	take(s, bundle_now(s));
	CLEANUP(arena_freep) struct arena *a = arena_new(SPEC_BYTES);
	if (!s->steers || bundle_spec_read(s->steers, a, &b, &ignored) < 0 ||
	    !may_sweep(s, s->steers, &b))
		return;
	/* texts of it are the Bundle's */
	s->sweep = (struct unit_sweep){.namespaces = b.namespaces,
				       .interval_ns = b.interval_ns,
				       .grace_ns = b.grace_ns,
				       .max_deletes = b.max_deletes,
				       .approved = b.orphans_approved,
				       .known = told_before(s)};
	s->job.sweep = &s->sweep;
}
