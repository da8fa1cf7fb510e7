/* test_api_types.c: the table of built-in kinds: its form, look-ups, and the schemas made of it. */
#include <string.h>

#include "alm/obj/schema/api_types.h"
#include "alm/obj/schema/builtin_types.h"
#include "alm/obj/schema/schema_node.h"
#include "tests/lib/test.h"

static const struct api_field *field(const char *api_version, const char *kind, const char *path)
{
	const struct api_type *t = api_type_of_kind(api_version, kind);
	const struct api_field *f = NULL;
	struct str rest = str_of(path), name;
	while (str_next(&rest, '.', &name)) {
		char text[64] = {0};
		memcpy(text, name.ptr, name.len);
		assert_non_null(t);
		f = api_find(t, text, NULL);
		assert_non_null(f);
		t = api_struct_of(f);
	}
	return f;
}

static void test_api_types__fields_say_what_kubernetes_does(void **state)
{
	(void)state;
	const struct api_field *f = field("apps/v1", "Deployment", "spec.template.spec.containers");
	assert_int_equal(f->marks, API_LIST);
	assert_int_equal(f->number, 2);
	assert_true(f->flags & API_REQUIRED);
	assert_string_equal(api_text(f->merge_key), "name");
	f = field("v1", "Service", "spec.ports");
	assert_string_equal(api_text(f->list_keys), "port,protocol");
	assert_string_equal(api_text(f->merge_key), "port");
	f = field("v1", "Service", "spec.ports.protocol");
	assert_string_equal(api_text(f->default_json), "\"TCP\"");
	f = field("v1", "Pod", "spec.volumes.emptyDir.sizeLimit"); /* through an embedded struct */
	assert_int_equal(f->shape, API_QUANTITY);
	assert_int_equal(f->marks, API_POINTER);
	f = field("v1", "Pod", "spec.containers.livenessProbe.httpGet.port");
	assert_int_equal(f->shape, API_INT_OR_STRING);
	f = field("authentication.k8s.io/v1", "TokenReview", "status.user.extra");
	assert_int_equal(f->marks, API_MAP | API_LIST);
	assert_null(api_find(api_type_of_kind("v1", "Pod"), "specc", NULL));
	assert_null(api_type_of_kind("apps/v2", "Deployment"));
	assert_null(api_type_named("core.v1.Nope"));
}

static void test_api_types__go_names(void **state)
{
	(void)state;
	const struct api_type *t = api_type_named("core.v1.Container");
	assert_string_equal(api_go_name(t), "v1.Container");
	assert_string_equal(api_short_name(t), "Container");
}

static void test_api_types__every_field_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < api_n_types; i++) {
		size_t n;
		const struct api_field *fields = api_fields_of(&api_types[i], &n);
		assert_ptr_equal(api_type_named(api_text(api_types[i].name)), &api_types[i]);
		for (size_t k = 0; k < n; k++) {
			const struct api_type *holder = NULL;
			if (fields[k].flags & API_EMBEDDED)
				continue;
			assert_ptr_equal(api_find(&api_types[i], api_text(fields[k].name), &holder),
					 &fields[k]);
			assert_ptr_equal(holder, &api_types[i]);
			assert_true(fields[k].number > 0);
		}
	}
}

/* Types hold each other; a node that was copied while it was made would lack its fields. */
static void test_api_types__every_schema_is_whole(void **state)
{
	(void)state;
	for (size_t i = api_n_kinds; i-- > 0;)
		assert_non_null(builtin_schema(api_text(api_kinds[i].api_version),
					       api_text(api_kinds[i].kind)));
	const struct schema *s =
		builtin_schema("apiextensions.k8s.io/v1", "CustomResourceDefinition");
	static const char *const way[] = {"spec", "versions",   "schema", "openAPIV3Schema",
					  "not",  "properties", "not",    "title"};
	for (size_t i = 0; i < ARRAY_LEN(way); i++) {
		s = schema_property(s, way[i]);
		assert_non_null(s);
		if (s->items)
			s = s->items;
		if (s->additional)
			s = s->additional;
	}
	s = builtin_schema("v1", "Pod");
	assert_true(schema_property(s, "spec")->value_struct);
	assert_true(schema_property(s, "spec")->n_properties > 40);
	assert_false(schema_is_declared(s, "specc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_api_types__fields_say_what_kubernetes_does),
		cmocka_unit_test(test_api_types__go_names),
		cmocka_unit_test(test_api_types__every_field_is_found),
		cmocka_unit_test(test_api_types__every_schema_is_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
