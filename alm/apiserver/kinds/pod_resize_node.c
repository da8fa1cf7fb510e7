/* pod_resize_node: what a node has for a Pod that is resized, by the admission of Kubernetes 1.36; see pod_resize.h. */
#include "alm/apiserver/kinds/pod_resize.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_amount.h"

/* What its kubelet has to be able to, with commas; NULL: nothing more. */
static const char *needed(const struct obj *o, const struct obj *before, const struct obj *node,
			  struct arena *a)
{
	const struct obj *is = obj_path(o, "spec.initContainers");
	const struct obj *was = obj_path(before, "spec.initContainers");
	const struct obj *has = obj_path(node, "status.declaredFeatures");
	bool init = false;
	for (size_t i = 0; i < obj_len(is); i++)
		init = init || (!cstr_eq(obj_str(obj_at(was, i), "restartPolicy"), "Always") &&
				!pod_resize_same(obj_at(is, i), obj_at(was, i)));
	const struct {
		const char *name;
		bool is_needed;
	} features[] = {
		{"InPlacePodVerticalScalingInitContainers", init},
		{"InPlacePodLevelResourcesVerticalScaling",
		 !pod_resize_same(obj_get(o, "spec"), obj_get(before, "spec"))},
	};
	const char *text = NULL;
	for (size_t i = 0; i < ARRAY_LEN(features); i++) {
		bool there = !features[i].is_needed;
		for (size_t k = 0; k < obj_len(has); k++)
			there = there || cstr_eq(obj_as_string(obj_at(has, k)), features[i].name);
		if (!there)
			text = arena_fmt(a, "%s%s%s", text ? text : "", text ? ", " : "",
					 features[i].name);
	}
	return text;
}

static long long rounded_up(quantity_nanos nanos, int64_t unit)
{
	return (long long)(nanos / unit + (nanos % unit > 0));
}

static const char *too_much(const struct obj *o, const struct obj *node, struct arena *a)
{
	static const char *const names[] = {"cpu", "memory"};
	static const int64_t units[] = {1000000, 1000000000};
	const struct obj *status = obj_get(node, "status");
	const char *text = NULL;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct amount want = amount_of_pod(o, "requests", names[i]);
		struct amount has = amount_in(status, "allocatable", names[i]);
		if (want.q.nanos <= has.q.nanos)
			continue;
		text = arena_fmt(a, "%s%s%s, requested: %lld, allocatable: %lld", text ? text : "",
				 text ? "; " : "", names[i], rounded_up(want.q.nanos, units[i]),
				 rounded_up(has.q.nanos, units[i]));
	}
	return text;
}

const char *pod_resize_node_fault(const struct obj *o, const struct obj *before,
				  const struct obj *node, struct arena *a, const char **ret_cause)
{
	const char *name = check_text(obj_get(o, "spec"), "nodeName");
	const char *os =
		obj_as_string(obj_get(obj_path(node, "metadata.labels"), "kubernetes.io/os"));
	*ret_cause = NULL;
	if (!node)
		return arena_fmt(a, "node \"%s\" not found", name);
	const char *why = needed(o, before, node, a);
	if (why)
		return arena_fmt(a,
				 "pod update requires features %s which are not available on node "
				 "\"%s\"",
				 why, name);
	*ret_cause = "UnsupportedPlatform";
	if (os && strcmp(os, "linux") != 0)
		return arena_fmt(a,
				 "pod resize is only supported on linux nodes, node \"%s\" is "
				 "\"%s\"",
				 name, os);
	*ret_cause = "NodeCapacity";
	why = too_much(o, node, a);
	return why ? arena_fmt(a, "node didn't have enough allocatable resources: %s", why) : NULL;
}
