#include "alm/source/config.h"

#include "alm/obj/json.h"
#include "alm/obj/patch/patch.h"
#include "alm/obj/yaml.h"

static int check(const struct config_layer *l, struct error *err)
{
	return obj_type(l->value) == OBJ_MAP
		       ? 0
		       : error_set(err, E_INVALID, "%s: a configuration is an object, not %s",
				   l->name, obj_type_name(obj_type(l->value)));
}

int config_parse(struct str text, const char *name, struct obj **ret, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	if (text.len > CONFIG_BYTES_MAX)
		return error_set(err, E_LIMIT, "%s is larger than %zu MiB", name,
				 CONFIG_BYTES_MAX >> 20);
	int r = cstr_has_suffix(name, ".json")
			? json_parse(text, &o, err)
			: yaml_parse_one_max(text, CONFIG_NODES_MAX, &o, err);
	if (r < 0)
		return error_wrap(err, "%s", name);
	const struct config_layer l = {name, o};
	if (check(&l, err) < 0)
		return -err->code;
	*ret = STEAL(o);
	return 0;
}

int config_merge(const struct config_layer *layers, size_t n, struct obj **ret, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *merged = NULL;
	if (n > CONFIG_LAYERS_MAX)
		return error_set(err, E_LIMIT, "more than %d configurations", CONFIG_LAYERS_MAX);
	for (size_t i = 0; i < n; i++) {
		struct obj *next = NULL;
		if (!layers[i].value)
			continue;
		if (check(&layers[i], err) < 0)
			return -err->code;
		if (!merged)
			next = obj_ref(layers[i].value);
		else if (patch_merge(merged, layers[i].value, &next, err) < 0)
			return error_wrap(err, "%s", layers[i].name);
		obj_unref(merged);
		merged = next;
	}
	*ret = STEAL(merged);
	return 0;
}
