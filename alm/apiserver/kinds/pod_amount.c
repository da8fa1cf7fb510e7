#include "alm/apiserver/kinds/pod_amount.h"

struct amount amount_in(const struct obj *resources, const char *list, const char *name)
{
	struct amount a = {0};
	a.is_there = quantity_read(obj_as_str(obj_get(obj_get(resources, list), name)), &a.q);
	return a;
}

static void amount_add(struct amount *a, const struct amount *more)
{
	a->is_there = a->is_there || more->is_there;
	quantity_add(&a->q, &more->q);
}

struct amount amount_of_pod(const struct obj *pod, const char *list, const char *name)
{
	struct amount sum = amount_in(obj_path(pod, "spec.resources"), list, name);
	if (sum.is_there)
		return sum;
	const struct obj *containers = obj_path(pod, "spec.containers");
	const struct obj *init = obj_path(pod, "spec.initContainers");
	struct amount beside = {0}, peak = {0};
	for (size_t i = 0; i < obj_len(containers); i++) {
		struct amount one =
			amount_in(obj_get(obj_at(containers, i), "resources"), list, name);
		amount_add(&sum, &one);
	}
	for (size_t i = 0; i < obj_len(init); i++) {
		const struct obj *c = obj_at(init, i);
		struct amount one = amount_in(obj_get(c, "resources"), list, name), now = beside;
		amount_add(&now, &one);
		if (cstr_eq(obj_str(c, "restartPolicy"), "Always")) {
			beside = now;
			amount_add(&sum, &one);
		}
		if (now.is_there && (!peak.is_there || now.q.nanos > peak.q.nanos))
			peak = now;
	}
	return peak.is_there && (!sum.is_there || peak.q.nanos > sum.q.nanos) ? peak : sum;
}

static bool is_guaranteed(const struct obj *container)
{
	static const char *const names[] = {"cpu", "memory"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct obj *limit =
			obj_get(obj_path(container, "resources.limits"), names[i]);
		const struct obj *request =
			obj_get(obj_path(container, "resources.requests"), names[i]);
		if (!limit || (request && !obj_equal(limit, request)))
			return false;
	}
	return true;
}

const char *pod_quality(const struct obj *pod)
{
	const struct obj *list = obj_path(pod, "spec.containers");
	bool any = false, all = obj_len(list) > 0;
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *c = obj_at(list, i);
		any = any || obj_len(obj_path(c, "resources.limits")) ||
		      obj_len(obj_path(c, "resources.requests"));
		all = all && is_guaranteed(c);
	}
	return all ? "Guaranteed" : any ? "Burstable" : "BestEffort";
}
