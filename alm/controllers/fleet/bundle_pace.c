#include "alm/controllers/fleet/bundle_pace.h"

#include "alm/base/clock.h"
#include "alm/base/str.h"
#include "alm/engine/status.h"
#include "alm/obj/meta.h"

/* Other than how far the same is. */
static bool is_news(const struct obj *old, const struct obj *status, struct arena *a)
{
	static const char *const fields[] = {"state", "revision", "revisionDigest", "rollingSince"};
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (!cstr_eq(obj_str(old, fields[i]), obj_str(status, fields[i])))
			return true;
	return obj_i64(old, "observedGeneration", 0) != obj_i64(status, "observedGeneration", 0) ||
	       status_turns(old, status, a);
}

enum ensured bundle_pace(const struct view *v, const struct obj *bundle, const struct obj *status,
			 struct plan *plan)
{
	const struct obj *old = obj_get(bundle, "status");
	const char *id = arena_fmt(v->a, "bundle:told:%s:%lld", meta_uid(bundle),
				   (long long)obj_i64(old, "transitionSeq", 0));
	int64_t left = v->ops->left(v->ops_arg, id, NS_PER_S, NS_PER_S);
	return is_news(old, status, v->a) || status_is_equal(old, status) ? DONE
									  : plan_await(plan, left);
}
