#include "alm/apiserver/docs/openapi.h"

#include <string.h>

#include "alm/apiserver/kinds/crd_kind.h"
#include "alm/obj/json.h"
#include "installers/chart/gzip.h"
#include "tests/lib/golden.h"
#include "tests/lib/test.h"

static void leave(struct kind *k)
{
	(void)k;
}

static struct kind widget = {.group = "golden.example.com",
			     .version = "v1",
			     .kind = "Widget",
			     .list_kind = "WidgetList",
			     .plural = "widgets",
			     .singular = "widget",
			     .verbs = VERB_ALL,
			     .flags = KIND_NAMESPACED | KIND_CUSTOM | KIND_STATUS | KIND_STORAGE,
			     .storage_version = "v1",
			     .crd_name = "widgets.golden.example.com"};

/* As a kind has it. */
static struct str pack(const struct obj *schema, struct strbuf *b)
{
	struct error err = ERROR_INIT;
	CLEANUP(xfreep) char *text = json_text(schema);
	assert_ok(gzip_pack_fast(str_of(text), b, &err), &err);
	return strbuf_str(b);
}

static struct obj *document(struct kinds *k, const char *group, const char *version)
{
	struct error err = ERROR_INIT;
	struct obj *o;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OPENAPI_BYTES_MAX);
	assert_true(openapi_v3_document(k, group, version, &b));
	assert_ok(json_parse(strbuf_str(&b), &o, &err), &err);
	return o;
}

/* Every $ref of the document points at a schema of it. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as our documents */
static void assert_refs(const struct obj *o, const struct obj *schemas)
{
	static const char prefix[] = "#/components/schemas/";
	const char *ref = obj_as_string(obj_get(o, "$ref"));
	if (ref) {
		assert_true(cstr_has_prefix(ref, prefix));
		if (!obj_has(schemas, ref + strlen(prefix)))
			fail_msg("%s points nowhere", ref);
	}
	if (obj_type(o) == OBJ_MAP) {
		OBJ_EACH (it, o)
			assert_refs(it.value, schemas);
		return;
	}
	for (size_t i = 0; i < obj_len(o); i++)
		assert_refs(obj_at(o, i), schemas);
}

static void test_openapi__every_document_is_json_and_complete(void **state)
{
	(void)state;
	CLEANUP(kinds_freep) struct kinds *k = kinds_new();
	size_t n;
	const struct kind *const *all = kinds_all(k, &n);
	for (size_t i = 0; i < n; i++) {
		if (i && cstr_eq(all[i]->group, all[i - 1]->group) &&
		    cstr_eq(all[i]->version, all[i - 1]->version))
			continue;
		CLEANUP(obj_unrefp) struct obj *o = document(k, all[i]->group, all[i]->version);
		assert_refs(o, obj_path(o, "components.schemas"));
	}
}

/* Go's reader makes none of a list or map that is empty, and does not find what it wrote again (seen
 * by the tests of Kubernetes). */
static void test_openapi__nothing_is_empty(void **state)
{
	(void)state;
	CLEANUP(kinds_freep) struct kinds *k = kinds_new();
	CLEANUP(obj_unrefp) struct obj *o = document(k, "", "v1");
	CLEANUP(obj_unrefp) struct obj *crds = document(k, "apiextensions.k8s.io", "v1");
	assert_true(obj_has(obj_get(obj_get(o, "paths"), "/api/v1/pods"), "get"));
	OBJ_EACH (it, obj_get(o, "paths"))
		assert_true(!obj_has(it.value, "parameters") ||
			    obj_len(obj_get(it.value, "parameters")));
	OBJ_EACH (it, obj_path(crds, "components.schemas"))
		assert_true(!obj_has(it.value, "properties") ||
			    obj_len(obj_get(it.value, "properties")));
}

/* kubectl looks here whether the server judges unknown fields itself. */
static void test_openapi__namespace_patch_takes_field_validation(void **state)
{
	(void)state;
	CLEANUP(kinds_freep) struct kinds *k = kinds_new();
	CLEANUP(obj_unrefp) struct obj *o = document(k, "", "v1");
	const struct obj *patch =
		obj_get(obj_get(obj_get(o, "paths"), "/api/v1/namespaces/{name}"), "patch");
	const struct obj *parameters = obj_get(patch, "parameters");
	bool found = false;
	assert_non_null(patch);
	for (size_t i = 0; i < obj_len(parameters); i++)
		found |= cstr_eq(obj_str(obj_at(parameters, i), "name"), "fieldValidation");
	assert_true(found);
	assert_string_equal(obj_str(obj_get(patch, "x-kubernetes-group-version-kind"), "kind"),
			    "Namespace");
	assert_non_null(obj_get(obj_path(o, "components.schemas"), "io.k8s.api.core.v1.ConfigMap"));
}

static void test_openapi__custom_kinds_show_their_schema(void **state)
{
	(void)state;
	CLEANUP(kinds_freep) struct kinds *k = kinds_new();
	CLEANUP(obj_unrefp) struct obj *golden = golden_case(26);
	CLEANUP(obj_unrefp) struct obj *crd = golden_case(14);
	struct kind w = widget;
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(1 << 20);
	w.openapi = pack(obj_path(crd, "resp.spec.versions[0].schema.openAPIV3Schema"), &packed);
	kinds_add(k, &w, leave);
	CLEANUP(obj_unrefp) struct obj *o = document(k, "golden.example.com", "v1");
	const struct obj *ours =
		obj_get(obj_path(o, "components.schemas"), "com.example.golden.v1.Widget");
	const struct obj *theirs = obj_get(obj_path(golden, "resp.components.schemas"),
					   "com.example.golden.v1.Widget");
	assert_non_null(ours);
	assert_true(obj_equal(obj_get(ours, "x-kubernetes-group-version-kind"),
			      obj_get(theirs, "x-kubernetes-group-version-kind")));
	assert_true(obj_equal(obj_path(ours, "properties.status"),
			      obj_path(theirs, "properties.status")));
	assert_refs(o, obj_path(o, "components.schemas"));
	OBJ_EACH (it, obj_path(golden, "resp.paths"))
		if (strstr(it.key, "widgets") && !strstr(it.key, "scale"))
			assert_true(obj_has(obj_get(o, "paths"), it.key));
}

static void test_openapi__the_hash_follows_the_schema(void **state)
{
	(void)state;
	CLEANUP(kinds_freep) struct kinds *k = kinds_new();
	CLEANUP(obj_unrefp) struct obj *schema = obj_map();
	char before[SHA256_HEX], after[SHA256_HEX], core1[SHA256_HEX], core2[SHA256_HEX];
	struct kind w = widget;
	CLEANUP(strbuf_release) struct strbuf old = STRBUF_INIT(4096);
	CLEANUP(strbuf_release) struct strbuf new = STRBUF_INIT(4096);
	w.openapi = pack(schema, &old);
	openapi_hash(k, "", "v1", core1);
	kinds_add(k, &w, leave);
	openapi_hash(k, "golden.example.com", "v1", before);
	obj_set_str(schema, "description", "new");
	w.openapi = pack(schema, &new);
	openapi_hash(k, "golden.example.com", "v1", after);
	openapi_hash(k, "", "v1", core2);
	assert_string_not_equal(before, after);
	assert_string_equal(core1, core2);
}

static void test_openapi__built_in_kinds_are_described_to_the_leaves(void **state)
{
	(void)state;
	CLEANUP(kinds_freep) struct kinds *k = kinds_new();
	CLEANUP(obj_unrefp) struct obj *o = document(k, "apps", "v1");
	const struct obj *schemas = obj_path(o, "components.schemas");
	const struct obj *rolling = obj_get(schemas, "io.k8s.api.apps.v1.RollingUpdateDeployment");
	assert_non_null(obj_path(rolling, "properties.maxSurge"));
	const struct obj *pod = obj_get(schemas, "io.k8s.api.core.v1.PodSpec");
	const struct obj *containers = obj_path(pod, "properties.containers");
	assert_string_equal(obj_str(containers, "type"), "array");
	assert_string_equal(obj_as_string(obj_get(containers, "x-kubernetes-patch-merge-key")),
			    "name");
	assert_string_equal(obj_str(obj_path(pod, "properties"), "hostNetwork.type"), "boolean");
	assert_string_equal(obj_as_string(obj_at(obj_get(pod, "required"), 0)), "containers");
}

/* kubectl 1.20 reads this form: the smallest one, with Namespace alone, is known to work. */
static void test_openapi__protobuf_is_well_formed(void **state)
{
	(void)state;
	CLEANUP(kinds_freep) struct kinds *k = kinds_new();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OPENAPI_BYTES_MAX);
	openapi_v2_protobuf(k, &b);
	assert_memory_equal(b.buf, "\n\0032.0", 5);
	assert_true(
		str_contains(strbuf_str(&b), STR("{group: \"\", version: v1, kind: Namespace}")));
	assert_true(str_contains(strbuf_str(&b), STR("\x12\x05query\x22\x06"
						     "dryRun")));
	/* kubectl explain of 1.20 to 1.26 reads the definitions. */
	assert_true(
		str_contains(strbuf_str(&b), STR("io.k8s.api.apps.v1.RollingUpdateDeployment")));
	assert_true(str_contains(strbuf_str(&b), STR("maxSurge")));
}

/* What apiextensions-apiserver 1.36 made of these schemas of properties. */
static const struct {
	const char *schema, *swagger;
} reduced[] = {
	{"{\"type\":\"string\",\"minLength\":1,\"maxLength\":5,\"pattern\":\"^a{2}$\",\"enum\":["
	 "\"aa\",\"bb\"],\"default\":\"aa\"}",
	 "{\"type\":\"string\",\"maxLength\":5,\"minLength\":1,\"pattern\":\"^a{2}$\",\"enum\":["
	 "\"aa\",\"bb\"]}"},
	{"{\"type\":\"string\",\"nullable\":true,\"maxLength\":3,\"description\":\"nul\"}",
	 "{\"description\":\"nul\",\"maxLength\":3}"},
	{"{\"type\":\"object\",\"nullable\":true,\"properties\":{\"x\":{\"type\":\"string\"}},"
	 "\"required\":[\"x\"]}",
	 "{\"required\":[\"x\"]}"},
	{"{\"type\":\"array\",\"nullable\":true,\"items\":{\"type\":\"string\"}}", "{}"},
	{"{\"x-kubernetes-int-or-string\":true,\"description\":\"ios\"}",
	 "{\"description\":\"ios\",\"x-kubernetes-int-or-string\":true}"},
	{"{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}],\"x-kubernetes-int-or-string\":"
	 "true}",
	 "{\"x-kubernetes-int-or-string\":true}"},
	{"{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,\"properties\":{\"x\":"
	 "{\"type\":\"string\"}},\"required\":[\"x\"],\"description\":\"p\"}",
	 "{\"description\":\"p\",\"required\":[\"x\"],\"x-kubernetes-preserve-unknown-fields\":"
	 "true}"},
	{"{\"x-kubernetes-preserve-unknown-fields\":true}",
	 "{\"x-kubernetes-preserve-unknown-fields\":true}"},
	{"{\"type\":\"array\",\"items\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-"
	 "fields\":true}}",
	 "{\"type\":\"array\",\"items\":{\"x-kubernetes-preserve-unknown-fields\":true}}"},
	{"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\",\"format\":\"int32\","
	 "\"minimum\":1,\"maximum\":9,\"multipleOf\":2}}",
	 "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\",\"format\":\"int32\","
	 "\"maximum\":9,\"minimum\":1,\"multipleOf\":2}}"},
	{"{\"type\":\"array\",\"minItems\":1,\"maxItems\":4,\"x-kubernetes-"
	 "list-type\":\"map\",\"x-kubernetes-list-map-keys\":[\"k\"],\"items\":{\"type\":"
	 "\"object\",\"required\":[\"k\"],\"properties\":{\"k\":{\"type\":\"string\",\"default\":"
	 "\"z\"},\"v\":{\"type\":\"number\",\"exclusiveMinimum\":true,\"minimum\":0}}}}",
	 "{\"type\":\"array\",\"maxItems\":4,\"minItems\":1,\"items\":{\"type\":\"object\","
	 "\"required\":[\"k\"],\"properties\":{\"k\":{\"type\":\"string\"},\"v\":{\"type\":"
	 "\"number\",\"minimum\":0,\"exclusiveMinimum\":true}}},\"x-kubernetes-list-map-keys\":["
	 "\"k\"],\"x-kubernetes-list-type\":\"map\"}"},
	{"{\"type\":\"object\",\"x-kubernetes-embedded-resource\":true,\"x-kubernetes-preserve-"
	 "unknown-fields\":true}",
	 "{\"x-kubernetes-embedded-resource\":true,\"x-kubernetes-preserve-unknown-fields\":true}"},
	{"{\"type\":\"object\",\"properties\":{\"p\":{\"type\":\"string\"},\"q\":{\"type\":"
	 "\"string\"}},\"oneOf\":[{\"required\":[\"p\"]},{\"required\":[\"q\"]}],\"allOf\":[{"
	 "\"required\":[\"p\"]}],\"not\":{\"required\":[\"z\"]},\"minProperties\":1,"
	 "\"maxProperties\":4}",
	 "{\"type\":\"object\",\"maxProperties\":4,\"minProperties\":1,\"properties\":{\"p\":{"
	 "\"type\":\"string\"},\"q\":{\"type\":\"string\"}}}"},
	{"{\"type\":\"object\",\"x-kubernetes-validations\":[{\"rule\":\"true\"}],\"x-kubernetes-"
	 "map-type\":\"atomic\",\"properties\":{\"x\":{\"type\":\"string\",\"title\":\"T\","
	 "\"example\":\"e\",\"externalDocs\":{\"url\":\"u\"}}}}",
	 "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"string\",\"title\":\"T\","
	 "\"externalDocs\":{\"url\":\"u\"},\"example\":\"e\"}},\"x-kubernetes-map-type\":"
	 "\"atomic\",\"x-kubernetes-validations\":[{\"rule\":\"true\"}]}"},
};

static void test_openapi__swagger_says_less_of_custom_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(reduced); i++) {
		struct error err = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *schema = NULL, *swagger = NULL;
		assert_ok(json_parse(str_of(reduced[i].schema), &schema, &err), &err);
		assert_ok(json_parse(str_of(reduced[i].swagger), &swagger, &err), &err);
		openapi_custom_schema(schema, OPENAPI_V2_REF);
		CLEANUP(xfreep) char *text = json_text(schema);
		if (!obj_equal(schema, swagger))
			fail_msg("%s", text);
	}
}

static void test_openapi__an_embedded_resource_has_the_fields_of_every_object(void **state)
{
	(void)state;
	for (int swagger = 0; swagger < 2; swagger++) {
		struct error err = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *s = NULL;
		assert_ok(json_parse(STR("{\"type\":\"array\",\"items\":{\"type\":\"object\","
					 "\"x-kubernetes-embedded-resource\":true,\"required\":["
					 "\"spec\"],"
					 "\"properties\":{\"spec\":{\"type\":\"object\"}}}}"),
				     &s, &err),
			  &err);
		openapi_custom_schema(s, swagger ? OPENAPI_V2_REF : "#/components/schemas/");
		CLEANUP(xfreep) char *required = json_text(obj_path(s, "items.required"));
		assert_string_equal(required, "[\"spec\",\"kind\",\"apiVersion\"]");
		assert_string_equal(obj_str(s, "items.properties.kind.type"), "string");
		assert_string_equal(obj_str(s, "items.properties.spec.type"), "object");
		assert_int_equal(obj_has(obj_path(s, "items.properties.metadata"), "$ref"),
				 swagger);
		assert_int_equal(obj_has(obj_path(s, "items.properties.metadata"), "allOf"),
				 !swagger);
	}
}

/* kubectl explain and apply of 1.20 to 1.28 ask for these; braces in texts once ended a definition early. */
static void test_openapi__protobuf_has_custom_kinds(void **state)
{
	(void)state;
	CLEANUP(kinds_freep) struct kinds *k = kinds_new();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OPENAPI_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(4096);
	CLEANUP(obj_unrefp) struct obj *schema = NULL;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(STR("{\"type\":\"object\",\"description\":\"a \\\"{ "
				 "brace\\\\\",\"properties\":{"
				 "\"gearing\":{\"type\":\"string\",\"description\":\"of }}\"}}}"),
			     &schema, &err),
		  &err);
	struct kind w = widget;
	w.openapi = pack(schema, &packed);
	kinds_add(k, &w, leave);
	openapi_v2_protobuf(k, &b);
	struct str all = strbuf_str(&b);
	assert_true(str_contains(all, STR("com.example.golden.v1.Widget")));
	assert_true(str_contains(all, STR("com.example.golden.v1.WidgetList")));
	assert_true(str_contains(all, STR("gearing")));
	assert_true(str_contains(all, STR("kind: Widget}")));
	assert_true(str_contains(all, STR("io.k8s.api.apps.v1.RollingUpdateDeployment")));
}

static void test_openapi__v2_is_json(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	CLEANUP(kinds_freep) struct kinds *k = kinds_new();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OPENAPI_BYTES_MAX);
	openapi_v2_document(k, &b);
	assert_ok(json_parse(strbuf_str(&b), &o, &err), &err);
	assert_string_equal(obj_str(o, "swagger"), "2.0");
}

/* As a real 1.36 says it: kubectl refuses fields that are not among those named. */
static void test_openapi__v2_names_no_field_of_an_open_kind(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL, *schema = NULL;
	CLEANUP(kinds_freep) struct kinds *k = kinds_new();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OPENAPI_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(4096);
	assert_ok(
		json_parse(STR("{\"type\":\"object\",\"description\":\"d\",\"x-kubernetes-"
			       "preserve-unknown-fields\":true,\"properties\":{\"spec\":{\"type\":"
			       "\"object\"}}}"),
			   &schema, &err),
		&err);
	struct kind w = widget;
	w.openapi = pack(schema, &packed);
	kinds_add(k, &w, leave);
	openapi_v2_document(k, &b);
	assert_ok(json_parse(strbuf_str(&b), &o, &err), &err);
	CLEANUP(xfreep) char *said =
		json_text(obj_get(obj_get(o, "definitions"), "com.example.golden.v1.Widget"));
	assert_string_equal(said, "{\"type\":\"object\",\"x-kubernetes-group-version-kind\":[{"
				  "\"group\":\"golden.example.com\",\"kind\":\"Widget\","
				  "\"version\":\"v1\"}]}");
}

static void test_openapi__index_names_every_group_version(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	CLEANUP(kinds_freep) struct kinds *k = kinds_new();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OPENAPI_BYTES_MAX);
	openapi_v3_index(k, &b);
	assert_ok(json_parse(strbuf_str(&b), &o, &err), &err);
	const char *url = obj_str(obj_get(obj_get(o, "paths"), "api/v1"), "serverRelativeURL");
	assert_true(cstr_has_prefix(url, "/openapi/v3/api/v1?hash="));
	url = obj_str(obj_get(obj_get(o, "paths"), "apis/apps/v1"), "serverRelativeURL");
	assert_true(cstr_has_prefix(url, "/openapi/v3/apis/apps/v1?hash="));
}

static void test_openapi__a_kind_keeps_no_tree(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *golden = golden_case(14);
	size_t before = obj_bytes();
	struct obj *crd = obj_copy(obj_path(golden, "resp"));
	struct error err = ERROR_INIT;
	struct kind *k = NULL;
	CLEANUP(xfreep) char *text = json_text(crd);
	obj_unref(crd);
	assert_ok(json_parse(str_of(text), &crd, &err), &err);
	size_t whole = obj_bytes() - before;
	struct crd_forms *forms = crd_forms_new(crd);
	assert_ok(crd_kind_new(crd, obj_path(crd, "spec.versions[0]"), forms, 1, &k, &err), &err);
	crd_forms_unref(forms);
	obj_unref(crd);
	assert_true(obj_bytes() - before < whole / 4); /* defaults and enums */
	assert_true(k->openapi.len > 0 && k->openapi.len < strlen(text) / 2);
	crd_kind_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_openapi__every_document_is_json_and_complete),
		cmocka_unit_test(test_openapi__nothing_is_empty),
		cmocka_unit_test(test_openapi__namespace_patch_takes_field_validation),
		cmocka_unit_test(test_openapi__custom_kinds_show_their_schema),
		cmocka_unit_test(test_openapi__built_in_kinds_are_described_to_the_leaves),
		cmocka_unit_test(test_openapi__the_hash_follows_the_schema),
		cmocka_unit_test(test_openapi__protobuf_is_well_formed),
		cmocka_unit_test(test_openapi__swagger_says_less_of_custom_kinds),
		cmocka_unit_test(test_openapi__an_embedded_resource_has_the_fields_of_every_object),
		cmocka_unit_test(test_openapi__protobuf_has_custom_kinds),
		cmocka_unit_test(test_openapi__v2_is_json),
		cmocka_unit_test(test_openapi__v2_names_no_field_of_an_open_kind),
		cmocka_unit_test(test_openapi__index_names_every_group_version),
		cmocka_unit_test(test_openapi__a_kind_keeps_no_tree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
