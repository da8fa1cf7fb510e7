/* The Rollout of a Bundle: a change of it is another unit, even of the same commit. */
#include "alm/controllers/manager_bundles.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

/* A changed label makes no other unit. */
static int take(const struct obj *o, const char *name, struct arena *a, struct bundle_rollout *ret,
		struct error *err)
{
	const struct rollout_options options = {.file = arena_fmt(a, "Rollout %s", name)};
	struct obj *text =
		obj_keep(a, meta_skeleton(meta_api_version(o), meta_kind(o), NULL, name));
	obj_set(text, "spec", obj_ref(obj_get(o, "spec")));
	if (rollout_parse(text, &options, a, &ret->rollout, err) < 0)
		return error_wrap(err, "spec.rolloutRef");
	ret->text = text;
	json_digest(text, ret->digest);
	return 0;
}

int bundle_rollout_read(const struct manager *m, const char *name, struct arena *a,
			struct bundle_rollout *ret, struct error *err)
{
	const struct source_watch *w = &m->fixed[WATCH_ROLLOUT];
	*ret = (struct bundle_rollout){0};
	if (!name)
		return 0;
	if (!w->informer || !informer_is_synced(w->informer))
		return error_set(err, E_UNAVAILABLE, "Rollouts are not known yet");
	struct obj *o = manager_read(informer_get(w->informer, "", name));
	if (!o)
		return error_set(
			err, E_INVALID,
			"spec.rolloutRef: there is no Rollout %s; create it, or remove the "
			"field",
			name);
	return take(obj_keep(a, o), name, a, ret, err);
}
