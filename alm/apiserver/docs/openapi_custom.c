/* openapi_custom: schemas of CRDs as documents say them, as apiextensions-apiserver has it. */
#include "alm/apiserver/docs/openapi.h"

#include <string.h>

#include "alm/base/error.h"
#include "alm/obj/json.h"

#define OPEN     "x-kubernetes-preserve-unknown-fields"
#define EMBEDDED "x-kubernetes-embedded-resource"

static void reduce(struct obj *schema, bool open)
{
	static const char *const never[] = {"default", "nullable", "allOf",
					    "anyOf",   "oneOf",    "not"};
	static const char *const typed[] = {"type", "properties", "items", "additionalProperties"};
	for (size_t i = 0; i < ARRAY_LEN(never); i++)
		obj_del(schema, never[i]);
	for (size_t i = 0; open && i < ARRAY_LEN(typed); i++)
		obj_del(schema, typed[i]);
}

static void embed(struct obj *schema, const char *ref)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(obj_unrefp) struct obj *fields = NULL;
	struct error err;
	const struct obj *required = obj_get(schema, "required");
	struct obj *all = required ? obj_copy_list(required) : obj_list();
	strbuf_addc(&text, '{');
	openapi_own_properties(ref, "ObjectMeta", &text);
	strbuf_addc(&text, '}');
	if (json_parse(strbuf_str(&text), &fields, &err) == 0)
		OBJ_EACH (it, fields)
			obj_set(obj_need_map(schema, "properties"), it.key, obj_copy(it.value));
	obj_append(all, obj_string("kind"));
	obj_append(all, obj_string("apiVersion"));
	obj_set(schema, "required", all);
}

bool openapi_is_open(const struct obj *schema)
{
	return obj_is_true(obj_get(schema, OPEN));
}

/* NOLINTBEGIN(misc-no-recursion): as deep as JSON is read */
void openapi_custom_schema(struct obj *schema, const char *ref)
{
	bool swagger = cstr_eq(ref, OPENAPI_V2_REF);
	static const char *const inner[] = {"items", "additionalProperties"};
	bool open = openapi_is_open(schema);
	if (swagger)
		reduce(schema, open || obj_flag(schema, "nullable", false));
	for (size_t i = 0; i < ARRAY_LEN(inner); i++) {
		struct obj *sub = obj_get_mut(schema, inner[i]);
		if (obj_type(sub) == OBJ_MAP)
			openapi_custom_schema(sub, ref);
	}
	struct obj *properties = obj_get_mut(schema, "properties");
	OBJ_EACH (it, properties)
		openapi_custom_schema(obj_get_mut(properties, it.key), ref);
	if (obj_is_true(obj_get(schema, EMBEDDED)) && !(swagger && open))
		embed(schema, ref);
}
/* NOLINTEND(misc-no-recursion) */
