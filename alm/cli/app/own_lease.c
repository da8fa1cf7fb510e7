#include "alm/cli/app/own_lease.h"

#include "alm/base/clock.h"
#include "alm/base/str.h"

#define LEASE "Lease alm-system/alm-controller"
#define POD \
	"`kubectl -n alm-system get pods`, `kubectl -n alm-system logs deployment/alm-controller`"
#define GIVEN_UP_NS (30 * NS_PER_S)
#define LOST_NS     (90 * NS_PER_S) /* it lasts for 60 s (leader.h) */

const char *own_lease_trouble(const struct obj *lease, int64_t now_ns, struct arena *a)
{
	int64_t at;
	const char *holder = obj_str(lease, "spec.holderIdentity");
	const char *renewed = obj_str(lease, "spec.renewTime");
	bool given_up = !holder || !*holder;
	if (!lease)
		return "none works, there is no " LEASE ": `alm install --to-cluster --wait`";
	if (!renewed || !clock_parse(str_of(renewed), &at) ||
	    now_ns - at < (given_up ? GIVEN_UP_NS : LOST_NS))
		return NULL;
	return arena_fmt(a,
			 "none works, nothing goes on until one does: " LEASE " was %s at %s: " POD,
			 given_up ? "given up" : "renewed last", renewed);
}
