#include "alm/controllers/app/retry.h"

#include "alm/base/clock.h"
#include "alm/obj/meta.h"

#define DOUBLED_MAX 7 /* 1, 2, 4 ... 32 minutes, then every hour */

int64_t retry_wait_ns(int64_t failures)
{
	if (failures >= DOUBLED_MAX)
		return NS_PER_HOUR;
	return NS_PER_MIN << (failures > 0 ? failures - 1 : 0);
}

/* When the newest condition turned; now if none says. */
static int64_t turned_at(const struct obj *conditions, int64_t now_ns)
{
	int64_t newest = INT64_MIN, at;
	for (size_t i = 0; i < obj_len(conditions); i++) {
		const char *since = obj_str(obj_at(conditions, i), "lastTransitionTime");
		if (since && clock_parse(str_of(since), &at) && at > newest)
			newest = at;
	}
	return newest == INT64_MIN ? now_ns : newest;
}

int64_t retry_at_ns(const struct obj *conditions, int64_t failures, int64_t now_ns)
{
	return turned_at(conditions, now_ns) + retry_wait_ns(failures);
}

bool retry_is_asked(const struct app *app, const char *version)
{
	const char *asked = meta_annotation(app->o, ANNOTATION_RETRY);
	return asked && cstr_eq(asked, version);
}

bool retry_would_repeat(const struct app *app, const struct strategy_ref *s, struct arena *a)
{
	const struct obj *failed = obj_path(s->o, "status.failed");
	if (!failed || retry_is_asked(app, s->version))
		return false;
	struct obj *values = obj_keep(a, strategy_values(app, s->o));
	return cstr_eq(obj_str(failed, "values"), values_digest(values, a)) &&
	       cstr_eq(obj_str(failed, "account"), app->account.user);
}
