/*
 * openapi_types: the schemas of the built-in kinds, from the table of their types
 * (alm/obj/schema/api_types.h), deep enough for kubectl explain --recursive.
 */
#include <string.h>

#include "alm/apiserver/docs/openapi.h"

#define MACHINERY "io.k8s.apimachinery.pkg."

/* clang-format off */
static const struct { const char *prefix, *name; } rooms[] = {
	{"apis.", MACHINERY "apis."},
	{"apiextensions.", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions."},
	{"apiregistration.", "io.k8s.kube-aggregator.pkg.apis.apiregistration."},
	{"", "io.k8s.api."},
};
#define V2_QUANTITY      "\"type\":\"string\""
#define V2_INT_OR_STRING "\"type\":\"string\",\"format\":\"int-or-string\""
#define CRD "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
/* By enum api_shape: those that are a schema of their own, and those that are a type. */
static const struct { const char *type, *name, *schema; } shapes[] = {
	[API_STRUCT] = {NULL, NULL, NULL},
	[API_STRING] = {"\"type\":\"string\"", NULL, NULL},
	[API_BOOL] = {"\"type\":\"boolean\"", NULL, NULL},
	[API_INT32] = {"\"type\":\"integer\",\"format\":\"int32\"", NULL, NULL},
	[API_INT64] = {"\"type\":\"integer\",\"format\":\"int64\"", NULL, NULL},
	[API_DOUBLE] = {"\"type\":\"number\",\"format\":\"double\"", NULL, NULL},
	[API_BYTES] = {"\"type\":\"string\",\"format\":\"byte\"", NULL, NULL},
	[API_QUANTITY] = {NULL, MACHINERY "api.resource.Quantity",
		"\"oneOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]"},
	[API_INT_OR_STRING] = {NULL, MACHINERY "util.intstr.IntOrString",
		"\"format\":\"int-or-string\",\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]"},
	[API_TIME] = {NULL, MACHINERY "apis.meta.v1.Time", NULL}, /* of openapi_common_schemas() */
	[API_MICRO_TIME] = {NULL, MACHINERY "apis.meta.v1.MicroTime",
		"\"type\":\"string\",\"format\":\"date-time\""},
	[API_FIELDS] = {NULL, MACHINERY "apis.meta.v1.FieldsV1", NULL},
	[API_RAW] = {NULL, MACHINERY "runtime.RawExtension", "\"type\":\"object\""},
	[API_JSON] = {NULL, CRD "JSON", "\"description\":\"Any JSON value.\""},
	[API_SCHEMA_OR_ARRAY] = {NULL, CRD "JSONSchemaPropsOrArray", "\"description\":\"A schema, or a list of them.\""},
	[API_SCHEMA_OR_BOOL] = {NULL, CRD "JSONSchemaPropsOrBool", "\"description\":\"A schema, or true or false.\""},
	[API_SCHEMA_OR_STRINGS] = {NULL, CRD "JSONSchemaPropsOrStringArray", "\"description\":\"A schema, or a list of names.\""},
};

/* What stands in many kinds; the rest has names that tell. */
static const struct { const char *field, *description; } descriptions[] = {
	{"apiVersion", "APIVersion defines the version of the schema of this object."},
	{"kind", "Kind is what this object is, in CamelCase."},
	{"metadata", "Standard object's metadata."},
	{"spec", "The desired state."},
	{"status", "The observed state, written by controllers."},
	{"conditions", "What is true of the object now, one entry a type."},
	{"selector", "Which objects it is about, by their labels."},
	{"replicas", "How many there are to be, or are."},
	{"template", "What each object that is made looks like."},
	{"observedGeneration", "The generation that the status was written for."},
};
/* clang-format on */

static void add_name(const struct api_type *t, struct strbuf *b)
{
	const char *name = api_text(t->name);
	for (size_t i = 0; i < ARRAY_LEN(rooms); i++) {
		if (!cstr_has_prefix(name, rooms[i].prefix))
			continue;
		strbuf_addf(b, "%s%s", rooms[i].name, name + strlen(rooms[i].prefix));
		break;
	}
}

static bool is_v2(const char *ref)
{
	return !strstr(ref, "components");
}

static bool is_kind(const struct api_type *t)
{
	return t->flags & API_IS_KIND;
}

/* --- what a document needs --- */

static size_t index_of(const struct api_type *t)
{
	return (size_t)(t - api_types);
}

/* NOLINTNEXTLINE(misc-no-recursion): each type once */
void openapi_types_need(struct openapi_types *need, const struct api_type *t)
{
	size_t n;
	const struct api_field *fields = api_fields_of(t, &n);
	for (size_t i = 0; i < n; i++) {
		const struct api_type *of = api_struct_of(&fields[i]);
		need->shapes[fields[i].shape] = true;
		if (of && (fields[i].flags & API_EMBEDDED || !need->types[index_of(of)])) {
			need->types[index_of(of)] |= !(fields[i].flags & API_EMBEDDED);
			openapi_types_need(need, of);
		}
		if (fields[i].shape >= API_SCHEMA_OR_ARRAY)
			need->shapes[API_JSON] = true;
	}
}

void openapi_types_have(struct openapi_types *need, const struct api_type *t)
{
	need->types[index_of(t)] = true;
	need->made[index_of(t)] = true;
}

/* --- text --- */

static void add_text(struct strbuf *b, const char *key, const char *value)
{
	strbuf_addf(b, ",\"%s\":\"%s\"", key, value);
}

/* "port,protocol" as a list. */
static void add_keys(struct strbuf *b, const char *keys)
{
	struct str rest = str_of(keys), key;
	const char *sep = "";
	strbuf_adds(b, ",\"x-kubernetes-list-map-keys\":[");
	while (str_next(&rest, ',', &key)) {
		strbuf_addf(b, "%s\"%.*s\"", sep, STR_ARG(key));
		sep = ",";
	}
	strbuf_addc(b, ']');
}

static bool is_ref(const struct api_field *f)
{
	return shapes[f->shape].name || f->shape == API_STRUCT;
}

static void add_ref(const struct api_field *f, const char *ref, struct strbuf *b)
{
	strbuf_addf(b, "\"$ref\":\"%s", ref);
	if (f->shape == API_STRUCT)
		add_name(api_struct_of(f), b);
	else
		strbuf_adds(b, shapes[f->shape].name);
	strbuf_addc(b, '"');
}

static void add_element(const struct api_field *f, const char *ref, struct strbuf *b)
{
	strbuf_addc(b, '{');
	if (is_ref(f))
		add_ref(f, ref, b);
	else
		strbuf_adds(b, shapes[f->shape].type);
	strbuf_addc(b, '}');
}

static void add_list_type(const struct api_field *f, struct strbuf *b)
{
	const char *keys = api_text(f->list_keys);
	add_text(b, "x-kubernetes-list-type",
		 *keys                ? "map"
		 : f->flags & API_SET ? "set"
				      : "atomic");
	if (*keys)
		add_keys(b, keys);
	if (!(f->flags & API_MERGE))
		return;
	const char *key = api_text(f->merge_key);
	if (*key)
		add_text(b, "x-kubernetes-patch-merge-key", key);
	add_text(b, "x-kubernetes-patch-strategy",
		 f->flags & API_RETAIN_KEYS ? "merge,retainKeys" : "merge");
}

static const char *description_of(const char *field)
{
	for (size_t i = 0; i < ARRAY_LEN(descriptions); i++)
		if (cstr_eq(descriptions[i].field, field))
			return descriptions[i].description;
	return "";
}

/* A single reference stands in allOf where it has brothers: v2 takes it as it is. */
static void add_type(const struct api_field *f, const char *ref, bool v2, struct strbuf *b)
{
	bool plain = f->marks & API_LIST || f->marks & API_MAP;
	if (f->marks & API_MAP) {
		strbuf_adds(b, ",\"type\":\"object\",\"additionalProperties\":");
		if (f->marks & API_LIST)
			strbuf_adds(b, "{\"type\":\"array\",\"items\":");
		add_element(f, ref, b);
		if (f->marks & API_LIST)
			strbuf_addc(b, '}');
		if (f->flags & API_ATOMIC)
			add_text(b, "x-kubernetes-map-type", "atomic");
	} else if (f->marks & API_LIST) {
		strbuf_adds(b, ",\"type\":\"array\",\"items\":");
		add_element(f, ref, b);
		add_list_type(f, b);
	} else if (is_ref(f)) {
		strbuf_adds(b, v2 ? "," : ",\"allOf\":[{");
		add_ref(f, ref, b);
		strbuf_adds(b, v2 ? "" : "}]");
	} else {
		strbuf_addf(b, ",%s", shapes[f->shape].type);
	}
	if (!plain && *api_text(f->default_json))
		strbuf_addf(b, ",\"default\":%s", api_text(f->default_json));
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as structs are embedded */
static void add_properties(const struct api_type *t, const char *ref, bool v2, struct strbuf *b)
{
	size_t n;
	const struct api_field *fields = api_fields_of(t, &n);
	for (size_t i = 0; i < n; i++) {
		const struct api_field *f = &fields[i];
		if (f->flags & API_EMBEDDED) {
			add_properties(api_struct_of(f), ref, v2, b);
			continue;
		}
		if (b->buf[b->len - 1] != '{')
			strbuf_addc(b, ',');
		strbuf_addf(b, "\"%s\":{\"description\":\"%s\"", api_text(f->name),
			    description_of(api_text(f->name)));
		add_type(f, ref, v2, b);
		strbuf_addc(b, '}');
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as structs are embedded */
static void add_required(const struct api_type *t, struct strbuf *b)
{
	size_t n;
	const struct api_field *fields = api_fields_of(t, &n);
	for (size_t i = 0; i < n; i++) {
		if (fields[i].flags & API_EMBEDDED)
			add_required(api_struct_of(&fields[i]), b);
		else if (fields[i].flags & API_REQUIRED)
			strbuf_addf(b, "%s\"%s\"", b->buf[b->len - 1] == '[' ? "" : ",",
				    api_text(fields[i].name));
	}
}

void openapi_type_members(const struct api_type *t, const char *ref, struct strbuf *b)
{
	bool v2 = is_v2(ref);
	strbuf_adds(b, "\"type\":\"object\"");
	size_t before = b->len;
	strbuf_adds(b, ",\"properties\":{");
	if (is_kind(t))
		strbuf_addf(b,
			    "\"apiVersion\":{\"description\":\"%s\",\"type\":\"string\"},"
			    "\"kind\":{\"description\":\"%s\",\"type\":\"string\"}",
			    description_of("apiVersion"), description_of("kind"));
	add_properties(t, ref, v2, b);
	if (b->buf[b->len - 1] == '{')
		strbuf_truncate(b, before);
	else
		strbuf_addc(b, '}');
	size_t at = b->len;
	strbuf_adds(b, ",\"required\":[");
	add_required(t, b);
	if (b->buf[b->len - 1] == '[')
		strbuf_truncate(b, at);
	else
		strbuf_addc(b, ']');
	if (t->flags & API_ATOMIC)
		add_text(b, "x-kubernetes-map-type", "atomic");
}

void openapi_types_add(const struct openapi_types *need, const char *ref, struct strbuf *b)
{
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < api_n_types; i++) {
		strbuf_clear(&name);
		add_name(&api_types[i], &name);
		if (!need->types[i] || need->made[i] || openapi_is_common(name.buf))
			continue;
		strbuf_addf(b, ",\"%s\":{\"description\":\"\",", name.buf);
		openapi_type_members(&api_types[i], ref, b);
		strbuf_addc(b, '}');
	}
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		if (!need->shapes[i] || !shapes[i].schema)
			continue;
		const char *schema = shapes[i].schema;
		if (is_v2(ref) && strstr(schema, "oneOf")) /* v2 has no such word */
			schema = i == API_QUANTITY ? V2_QUANTITY : V2_INT_OR_STRING;
		strbuf_addf(b, ",\"%s\":{%s}", shapes[i].name, schema);
	}
}
