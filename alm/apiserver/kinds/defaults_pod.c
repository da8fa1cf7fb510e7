/* defaults_pod: what a Pod as a whole asks for where only a part of that is said, by its containers (SetDefaults_Pod of Kubernetes
 * 1.36); see defaults.h. */
#include <string.h>

#include "alm/apiserver/kinds/defaults_internal.h"
#include "alm/apiserver/kinds/pod_amount.h"

static const char *const lists[] = {"containers", "initContainers"};

static bool is_pages(const char *name)
{
	return cstr_has_prefix(name, "hugepages-");
}

static bool is_of_requests(const char *name)
{
	return strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0;
}

/* A map that is no object is refused later. */
static struct obj *map_at(struct obj *resources, const char *list)
{
	if (default_is_absent(obj_get(resources, list)))
		obj_set(resources, list, obj_map());
	return default_map(resources, list);
}

static void take_sum(struct obj *resources, const struct obj *spec, const char *list,
		     const char *name)
{
	char text[QUANTITY_TEXT_MAX];
	struct amount sum = amount_of_containers(spec, list, name);
	struct obj *of = sum.is_there ? map_at(resources, list) : NULL;
	if (!of || obj_has(of, name))
		return;
	quantity_print(&sum.q, text);
	obj_set_str(of, name, text);
}

/* Of every resource that a container names in that list. */
static void take_sums(struct obj *resources, const struct obj *spec, const char *list,
		      bool (*is_taken)(const char *name))
{
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; i < obj_len(obj_get(spec, lists[k])); i++) {
			const struct obj *c = obj_at(obj_get(spec, lists[k]), i);
			OBJ_EACH (it, obj_get(obj_get(c, "resources"), list))
				if (is_taken(it.key) &&
				    !(is_pages(it.key) &&
				      obj_has(obj_get(resources, "requests"), it.key)))
					take_sum(resources, spec, list, it.key);
		}
}

void defaults_of_whole_pod(struct obj *spec)
{
	struct obj *resources = default_map(spec, "resources");
	if (obj_len(obj_get(resources, "limits")) + obj_len(obj_get(resources, "requests")) == 0)
		return;
	take_sums(resources, spec, "limits", is_pages);
	if (!obj_len(obj_get(resources, "limits")))
		return;
	take_sums(resources, spec, "requests", is_of_requests);
	OBJ_EACH (it, obj_get(resources, "limits")) {
		struct obj *requests = map_at(resources, "requests");
		bool known = is_of_requests(it.key) || is_pages(it.key);
		if (requests && known && !obj_has(requests, it.key))
			obj_set(requests, it.key, obj_copy(it.value));
	}
}
