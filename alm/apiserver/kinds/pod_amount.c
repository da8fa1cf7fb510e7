#include "alm/apiserver/kinds/pod_amount.h"

#include <string.h>

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

struct amount amount_of_containers(const struct obj *spec, const char *list, const char *name)
{
	const struct obj *containers = obj_get(spec, "containers");
	const struct obj *init = obj_get(spec, "initContainers");
	struct amount sum = {0}, beside = {0}, peak = {0};
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

struct amount amount_of_pod(const struct obj *pod, const char *list, const char *name)
{
	struct amount own = amount_in(obj_path(pod, "spec.resources"), list, name);
	return own.is_there ? own : amount_of_containers(obj_get(pod, "spec"), list, name);
}

/* What cpu and memory are asked for and limited to, together; what is 0 is not there. */
struct quality {
	struct amount requests[2], limits[2];
	bool limits_all; /* each container has both limits */
};

static const char *const judged[] = {"cpu", "memory"};

static size_t add_positive(struct amount sums[2], const struct obj *resources, const char *list)
{
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(judged); i++) {
		struct amount one = amount_in(resources, list, judged[i]);
		if (!one.is_there || one.q.nanos <= 0)
			continue;
		amount_add(&sums[i], &one);
		n++;
	}
	return n;
}

static void add_quality(struct quality *q, const struct obj *resources)
{
	add_positive(q->requests, resources, "requests");
	if (add_positive(q->limits, resources, "limits") < ARRAY_LEN(judged))
		q->limits_all = false;
}

const char *pod_quality(const struct obj *pod)
{
	static const char *const lists[] = {"spec.containers", "spec.initContainers"};
	const struct obj *own = obj_path(pod, "spec.resources");
	struct quality q = {.limits_all = true};
	bool any = false, same = true;
	if (own) /* also where it asks for nothing */
		add_quality(&q, own);
	else
		for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
			const struct obj *list = obj_path(pod, lists[k]);
			for (size_t i = 0; i < obj_len(list); i++)
				add_quality(&q, obj_get(obj_at(list, i), "resources"));
		}
	for (size_t i = 0; i < ARRAY_LEN(judged); i++) {
		const struct amount *request = &q.requests[i], *limit = &q.limits[i];
		any = any || request->is_there || limit->is_there;
		same = same && request->is_there == limit->is_there &&
		       request->q.nanos == limit->q.nanos;
	}
	return !any ? "BestEffort" : q.limits_all && same ? "Guaranteed" : "Burstable";
}

bool resource_is_shared(const char *name)
{
	return (!strchr(name, '/') || strstr(name, "kubernetes.io/")) &&
	       !cstr_has_prefix(name, "hugepages-");
}
