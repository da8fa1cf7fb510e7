/* admit_platform: see admit_platform.h. */
#include "alm/apiserver/admit_platform.h"

#include "alm/obj/meta.h"

/* A list and the member that was there before it are one: the list's first. What states only one of them is heard; of two that
 * differ, the member. */
static void default_plural(struct obj *o, const char *one, const char *many, const char *key)
{
	const char *single = obj_str(o, one);
	const struct obj *first = obj_at(obj_get(o, many), 0);
	const char *listed = key ? obj_str(first, key) : obj_as_string(first);
	if (obj_type(o) != OBJ_MAP || cstr_eq(single, listed))
		return;
	if (!single || !*single) {
		obj_set_str(o, one, listed);
		return;
	}
	struct obj *list = obj_list(), *item = key ? obj_map() : obj_string(single);
	if (key)
		obj_set_str(item, key, single);
	obj_append(list, item);
	obj_set(o, many, list);
}

void admit_pod_default(struct mutation *m)
{
	default_plural(obj_get_mut(m->after, "status"), "podIP", "podIPs", "ip");
}

void admit_node_default(struct mutation *m)
{
	default_plural(obj_get_mut(m->after, "spec"), "podCIDR", "podCIDRs", NULL);
}

/* What a node tells of itself is there from the start. */
void admit_node_late(struct mutation *m)
{
	static const char *const facts[] = {"machineID",       "systemUUID",
					    "bootID",          "kernelVersion",
					    "osImage",         "containerRuntimeVersion",
					    "kubeletVersion",  "kubeProxyVersion",
					    "operatingSystem", "architecture"};
	obj_del_path(m->after, "spec.configSource"); /* of a feature that is gone */
	if (m->head || obj_path(m->after, "status.nodeInfo"))
		return;
	for (size_t i = 0; i < ARRAY_LEN(facts); i++)
		obj_set_path(m->after, arena_fmt(m->r->arena, "status.nodeInfo.%s", facts[i]),
			     obj_string(""));
	obj_set_path(m->after, "status.daemonEndpoints.kubeletEndpoint.Port", obj_int(0));
}

/* Fields of features that are off by default go, unless they are there. */
static void drop_new(struct mutation *m, const char *path)
{
	if (!m->before || !obj_path(m->before, path))
		obj_del_path(m->after, path);
}

void admit_lease_late(struct mutation *m)
{
	drop_new(m, "spec.strategy");
	drop_new(m, "spec.preferredHolder");
}

void admit_driver_late(struct mutation *m)
{
	drop_new(m, "spec.preventPodSchedulingIfMissing");
}

/* How often the template changed; what the client says of it does not count. */
#define TEMPLATES "deprecated.daemonset.template.generation"

void admit_daemon_default(struct mutation *m)
{
	const char *had = meta_annotation(m->before, TEMPLATES);
	if (!m->is_status)
		meta_set_annotation(m->after, TEMPLATES, had ? had : "1");
}

void admit_daemon_late(struct mutation *m)
{
	const char *had = meta_annotation(m->before, TEMPLATES);
	int64_t n = 0;
	if (m->is_status || !m->head || !had || !str_parse_i64(str_of(had), &n) ||
	    obj_equal(obj_path(m->before, "spec.template"), obj_path(m->after, "spec.template")))
		return;
	meta_set_annotation(m->after, TEMPLATES, arena_fmt(m->r->arena, "%lld", (long long)n + 1));
}
