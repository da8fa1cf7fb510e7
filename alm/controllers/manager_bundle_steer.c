/* What a person says of the revision that a Bundle rolls out reaches the unit while it runs
 * (bundle_steer.h). */
#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/fleet/bundle_steer.h"
#include "alm/controllers/manager_bundles.h"
#include "alm/engine/chain.h"
#include "alm/obj/meta.h"

static bool is_retried(const struct bundle_slot *s, const struct obj *bundle, const char *since)
{
	const struct manager_config *c = &s->b->m->c;
	CLEANUP(obj_unrefp) struct obj *last = chain_last_reason(
		c->audit, c->db, "Approval", "RetryAsked", "Bundle", meta_name(bundle));
	return bundle_steer_ends(last, meta_uid(bundle), since);
}

void bundle_slot_since(struct bundle_slot *s, const struct obj *bundle)
{
	bool first = !s->job_since[0] && !meta_is_deleting(bundle);
	CLEANUP(obj_unrefp) struct obj *said =
		first ? manager_said(s->b->m, meta_uid(bundle)) : NULL;
	const char *went_on = bundle_steer_resumes(said, s->job.unit->digest);
	if (went_on && !is_retried(s, bundle, went_on))
		snprintf(s->job_since, sizeof(s->job_since), "%s", went_on);
	else
		clock_format(loop_now(s->b->m->c.loop), CLOCK_MICROS, s->job_since);
}

/* Where something may be written at rest is said by the spec as it is, whatever becomes of its revision. */
static bool steer_namespaces(struct bundle_slot *s, const struct obj *bundle)
{
	const struct obj *now = obj_path(bundle, "spec.prune.namespaces");
	now = obj_type(now) == OBJ_LIST && obj_len(now) ? now : NULL;
	if (now == s->namespaces || (now && s->namespaces && obj_equal(now, s->namespaces)))
		return false;
	obj_unref(s->namespaces);
	s->namespaces = now ? obj_ref(now) : NULL;
	s->job.namespaces = s->namespaces;
	return true;
}

bool bundle_slot_steer(struct bundle_slot *s, const struct obj *bundle)
{
	bool moved = steer_namespaces(s, bundle);
	CLEANUP(obj_unrefp) struct obj *now =
		bundle_steer(bundle, s->job.unit->digest, s->job_since);
	if (now == s->steer || (now && s->steer && obj_equal(now, s->steer)))
		return moved;
	obj_unref(s->steer);
	s->steer = STEAL(now);
	s->job.steer = s->steer;
	return true;
}

/* What it says to a run, or to one that has ended, is no reason to run the same revision once more. */
void manager_steer_bundle(struct manager *m, const struct obj *bundle)
{
	struct bundle_slot *s = m->bundles ? map_get(m->bundles->slots, meta_name(bundle)) : NULL;
	char rest[SHA256_HEX];
	if (!s || !s->job.unit || meta_is_deleting(bundle))
		return;
	bool is_told = bundle_slot_steer(s, bundle);
	if (s->job_generation != meta_generation(bundle)) {
		bundle_steer_rest(bundle, rest);
		if (!strcmp(rest, s->job_rest))
			s->job_generation = meta_generation(bundle);
	}
	if (is_told && m->bundles->units)
		manager_notice_unit(m->bundles->units, s->key);
}
