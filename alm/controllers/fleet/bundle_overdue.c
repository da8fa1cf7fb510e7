#include "alm/controllers/fleet/bundle_overdue.h"

#include "alm/obj/meta.h"

static bool is_over(int64_t since_ns, int64_t limit_ns, int64_t now_ns, struct bundle_overdue *ret)
{
	int64_t left = since_ns + limit_ns - now_ns;
	if (left > 0)
		ret->again_ns = left;
	return left <= 0;
}

void bundle_overdue_judge(const struct obj *bundle, const struct obj *record, int64_t now_ns,
			  struct bundle_overdue *ret)
{
	const char *asked = obj_str(bundle, "metadata.deletionTimestamp");
	int64_t since = obj_i64(record, "waitsSinceNs", 0), asked_ns;
	*ret = (struct bundle_overdue){0};
	if (meta_is_deleting(bundle))
		ret->is_blocked = asked && clock_parse(str_of(asked), &asked_ns) &&
				  is_over(asked_ns, BUNDLE_DELETING_NS, now_ns, ret);
	else if (since && is_over(since, BUNDLE_PRUNING_NS, now_ns, ret))
		ret->deletes = obj_str(record, "waits");
}
