/* What a person says of the revision that a Bundle rolls out reaches the unit while it runs
 * (bundle_steer.h). */
#include <string.h>

#include "alm/controllers/fleet/bundle_steer.h"
#include "alm/controllers/manager_bundles.h"
#include "alm/obj/meta.h"

bool bundle_slot_steer(struct bundle_slot *s, const struct obj *bundle)
{
	CLEANUP(obj_unrefp) struct obj *now = bundle_steer(bundle, s->job.unit->digest);
	if (now == s->steer || (now && s->steer && obj_equal(now, s->steer)))
		return false;
	obj_unref(s->steer);
	s->steer = STEAL(now);
	s->job.steer = s->steer;
	return true;
}

/* What it says to a run that goes on, or that is through, is no reason to run the same revision once more. */
void manager_steer_bundle(struct manager *m, const struct obj *bundle)
{
	struct bundle_slot *s = m->bundles ? map_get(m->bundles->slots, meta_name(bundle)) : NULL;
	char rest[SHA256_HEX];
	if (!s || !s->job.unit || meta_is_deleting(bundle) || !bundle_slot_steer(s, bundle))
		return;
	bundle_steer_rest(bundle, rest);
	const char *state = obj_str(s->record, "state");
	bool stays = !state || unit_record_is_open(s->record) || cstr_eq(state, "Succeeded");
	if (stays && !strcmp(rest, s->job_rest))
		s->job_generation = meta_generation(bundle);
	if (m->bundles->units)
		manager_notice_unit(m->bundles->units, s->key);
}
