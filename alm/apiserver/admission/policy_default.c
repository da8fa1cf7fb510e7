/* policy_default: what a policy and a binding leave out; see policy_check.h. */
#include "alm/apiserver/admission/policy_check.h"

#include "alm/obj/json.h"

static void set_text(struct obj *o, const char *key, const char *value)
{
	const struct obj *has = obj_get(o, key);
	if (obj_type(has) <= OBJ_NULL)
		obj_set_str(o, key, value);
}

static void set_map(struct obj *o, const char *key)
{
	if (obj_type(obj_get(o, key)) <= OBJ_NULL)
		obj_set(o, key, obj_map());
}

static void default_rules(struct obj *match, const char *key)
{
	struct obj *list = obj_get_mut(match, key);
	for (size_t i = 0; i < obj_len(list); i++) {
		struct obj *rule = obj_at_mut(list, i);
		if (obj_type(rule) == OBJ_MAP)
			set_text(rule, "scope", "*");
	}
}

static void default_match(struct obj *spec, const char *key)
{
	struct obj *match = obj_get_mut(spec, key);
	if (obj_type(match) != OBJ_MAP)
		return;
	set_text(match, "matchPolicy", "Equivalent");
	set_map(match, "namespaceSelector");
	set_map(match, "objectSelector");
	default_rules(match, "resourceRules");
	default_rules(match, "excludeResourceRules");
}

void policy_default(struct obj *policy)
{
	struct obj *spec = obj_get_mut(policy, "spec");
	if (obj_type(spec) != OBJ_MAP)
		return;
	set_text(spec, "failurePolicy", "Fail");
	default_match(spec, "matchConstraints");
}

void binding_default(struct obj *binding)
{
	struct obj *spec = obj_get_mut(binding, "spec");
	if (obj_type(spec) == OBJ_MAP)
		default_match(spec, "matchResources");
}
