/* What a version of a definition is served as. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/apiserver/kinds/crd_kind.h"
#include "alm/obj/json.h"
#include "alm/obj/obj.h"

/* The warning of v1beta1, which is deprecated, beside these versions. */
static const char *warning_beside(struct arena *a, const char *others)
{
	struct obj *crd = NULL;
	struct error err = ERROR_INIT;
	struct kind *k = NULL;
	const char *text = arena_fmt(
		a,
		"{\"metadata\":{\"name\":\"ws.g.io\"},\"spec\":{\"group\":\"g.io\",\"scope\":"
		"\"Cluster\",\"names\":{\"plural\":\"ws\",\"kind\":\"W\"},\"versions\":[{\"name\":"
		"\"v1beta1\",\"served\":true,\"storage\":true,\"deprecated\":true,\"schema\":{"
		"\"openAPIV3Schema\":{\"type\":\"object\"}}}%s]}}",
		others);
	assert_int_equal(json_parse(str_of(text), &crd, &err), 0);
	struct crd_forms *forms = crd_forms_new(crd);
	assert_int_equal(crd_kind_new(crd, obj_path(crd, "spec.versions[0]"), forms, 1, &k, &err),
			 0);
	crd_forms_unref(forms);
	const char *warning = arena_strdup(a, k->deprecation_warning);
	crd_kind_free(k);
	obj_unref(crd);
	return warning;
}

static void test_crd_kind__a_deprecated_version_names_the_one_to_use(void **state)
{
	(void)state;
	static const struct {
		const char *others, *use;
	} cases[] = {
		{"", ""},
		{",{\"name\":\"v1\",\"served\":true}", "; use g.io/v1 W"},
		{",{\"name\":\"v1\",\"served\":false}", ""},
		{",{\"name\":\"v1\",\"served\":true,\"deprecated\":true}", ""},
		{",{\"name\":\"v1alpha1\",\"served\":true}", ""},
		{",{\"name\":\"v1\",\"served\":true},{\"name\":\"v3\",\"served\":true},"
		 "{\"name\":\"v2\",\"served\":true}",
		 "; use g.io/v3 W"},
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(warning_beside(a, cases[i].others),
				    arena_fmt(a, "g.io/v1beta1 W is deprecated%s", cases[i].use));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crd_kind__a_deprecated_version_names_the_one_to_use),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
