/* What an object says of itself. */
#include "tests/lib/test.h"

#include "alm/base/arena.h"
#include "alm/obj/meta.h"
#include "alm/unit/switches.h"
#include "crds/marks.h"

static struct obj *object(struct arena *a, const char *kind, const char *annotation,
			  const char *value)
{
	struct obj *o = obj_keep(a, meta_skeleton("v1", kind, NULL, "x"));
	if (annotation)
		meta_set_annotation(o, annotation, value);
	return o;
}

static void test_switches__a_value_that_says_nothing_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *name, *value;
		bool taken;
	} cases[] = {
		{ANNOTATION_FORCE, "true", true},     {ANNOTATION_FORCE, "false", true},
		{ANNOTATION_FORCE, "enabled", false}, {ANNOTATION_FORCE, "", false},
		{ANNOTATION_ONE_OFF, "true", true},   {ANNOTATION_ONE_OFF, "yes", false},
		{ANNOTATION_PRUNE, "disabled", true}, {ANNOTATION_PRUNE, "enabled", true},
		{ANNOTATION_PRUNE, "false", false},   {ANNOTATION_WAIT, "disabled", true},
		{ANNOTATION_WAIT, "Disabled", false}, {"example.com/force", "enabled", true},
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		int r = switches_check(object(a, "ConfigMap", cases[i].name, cases[i].value), &err);
		assert_int_equal(r, cases[i].taken ? 0 : -E_INVALID);
		if (!cases[i].taken)
			assert_non_null(strstr(err.msg, cases[i].name));
	}
}

static void test_switches__what_a_server_says_of_an_immutable_field(void **state)
{
	(void)state;
	static const char *const said[] = {
		"Deployment.apps \"d\" is invalid: spec.selector: Invalid value: {}: field is "
		"immutable",
		"Service \"s\" is invalid: spec.clusterIPs[0]: Invalid value: []: may not change "
		"once set",
		"roleRef: Invalid value: {}: cannot change roleRef",
		"spec: Forbidden: updates to statefulset spec for fields other than 'replicas' are "
		"forbidden",
		"parameters: Forbidden: updates to parameters are forbidden.",
		"spec: Forbidden: pod updates may not change fields other than `spec.tolerations`",
	};
	for (size_t i = 0; i < ARRAY_LEN(said); i++) {
		assert_true(switches_is_immutable(E_INVALID, said[i]));
		assert_false(switches_is_immutable(E_FORBIDDEN, said[i]));
	}
	assert_false(switches_is_immutable(E_INVALID, "spec.replicas: Invalid value: -1"));
	assert_false(switches_is_immutable(E_INVALID, "metadata.name: Forbidden: not here"));
	assert_false(switches_is_immutable(0, NULL));
}

static void test_switches__what_is_never_made_anew(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	static const char *const kinds[] = {"PersistentVolumeClaim", "PersistentVolume",
					    "Namespace", "CustomResourceDefinition"};
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		assert_non_null(
			switches_spare(object(a, kinds[i], ANNOTATION_FORCE, "true"), NULL));
	const struct obj *plain = object(a, "Service", ANNOTATION_FORCE, "true");
	assert_true(switches_force(plain));
	assert_null(switches_spare(plain, NULL));
	assert_null(switches_spare(plain, plain));
	/* what somebody has marked by hand counts as what the files say */
	const struct obj *spared = object(a, "Service", ANNOTATION_PRUNE, "disabled");
	assert_non_null(switches_spare(plain, spared));
	assert_non_null(switches_spare(spared, plain));
	assert_non_null(
		switches_spare(plain, object(a, "Service", "helm.sh/resource-policy", "keep")));
	assert_false(switches_force(spared));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switches__a_value_that_says_nothing_is_refused),
		cmocka_unit_test(test_switches__what_a_server_says_of_an_immutable_field),
		cmocka_unit_test(test_switches__what_is_never_made_anew),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
