/* defaults_rules: how a rule of defaults is applied; see defaults_internal.h. */
#include "alm/apiserver/kinds/defaults_internal.h"
#include "alm/base/str.h"
#include "alm/obj/json.h"

bool default_is_absent(const struct obj *v)
{
	return !v || obj_type(v) == OBJ_NULL;
}

static bool has_value(const struct obj *o, const struct default_rule *r)
{
	return *r->if_value ? cstr_eq(obj_str(o, r->if_path), r->if_value)
			    : default_is_absent(obj_path(o, r->if_path));
}

void defaults_apply(struct obj *o, const struct default_rule *rules)
{
	struct error err;
	for (const struct default_rule *r = rules; obj_type(o) == OBJ_MAP && r->path; r++) {
		struct obj *value = NULL;
		if (!default_is_absent(obj_path(o, r->path)) || (r->if_path && !has_value(o, r)))
			continue;
		if (json_parse(str_of(r->json), &value, &err) == 0)
			obj_set_path(o, r->path, value);
	}
}

struct obj *default_list(struct obj *o, const char *key)
{
	struct obj *list = obj_get_mut(o, key);
	return obj_type(list) == OBJ_LIST ? list : NULL;
}

struct obj *default_map(struct obj *o, const char *key)
{
	struct obj *map = obj_type(o) == OBJ_MAP ? obj_get_mut(o, key) : NULL;
	return obj_type(map) == OBJ_MAP ? map : NULL;
}
