/* admit_places: see admit_platform.h. */
#include "alm/apiserver/admit_platform.h"

static void add_keys(struct obj *selector, const struct obj *keys, const char *operator,
		     const struct obj * labels)
{
	for (size_t i = 0; i < obj_len(keys); i++) {
		const char *key = obj_as_string(obj_at(keys, i));
		const struct obj *value = key ? obj_get(labels, key) : NULL;
		if (!value)
			continue;
		struct obj *rule = obj_map(), *values = obj_list();
		struct obj *list = obj_get_mut(selector, "matchExpressions");
		obj_set_str(rule, "key", key);
		obj_set_str(rule, "operator", operator);
		obj_append(values, obj_ref(value));
		obj_set(rule, "values", values);
		if (obj_type(list) != OBJ_LIST) {
			list = obj_list();
			obj_set(selector, "matchExpressions", list);
		}
		obj_append(list, rule);
	}
}

static void add_to(struct obj *term, const struct obj *labels)
{
	struct obj *selector = obj_get_mut(term, "labelSelector");
	if (obj_type(selector) != OBJ_MAP)
		return;
	add_keys(selector, obj_get(term, "matchLabelKeys"), "In", labels);
	add_keys(selector, obj_get(term, "mismatchLabelKeys"), "NotIn", labels);
}

void admit_places_late(struct mutation *m)
{
	static const char *const sides[] = {"podAffinity", "podAntiAffinity"};
	const struct obj *labels = obj_path(m->after, "metadata.labels");
	struct obj *spec = obj_get_mut(m->after, "spec"), *affinity = obj_get_mut(spec, "affinity");
	struct obj *spread = obj_get_mut(spec, "topologySpreadConstraints");
	for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
		struct obj *side = obj_get_mut(affinity, sides[i]);
		struct obj *may =
			obj_get_mut(side, "preferredDuringSchedulingIgnoredDuringExecution");
		struct obj *must =
			obj_get_mut(side, "requiredDuringSchedulingIgnoredDuringExecution");
		for (size_t k = 0; k < obj_len(may); k++)
			add_to(obj_get_mut(obj_at_mut(may, k), "podAffinityTerm"), labels);
		for (size_t k = 0; k < obj_len(must); k++)
			add_to(obj_at_mut(must, k), labels);
	}
	for (size_t k = 0; k < obj_len(spread); k++)
		add_to(obj_at_mut(spread, k), labels);
}
