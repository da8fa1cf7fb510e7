/* The volume of --log-volume: one of the same name that somebody else made is not taken, and so not deleted later. */
#include "tests/lib/test.h"

#include "alm/cli/app/own_volume.h"

/* clang-format off */
static const struct { const char *volume; bool is_ours; } rows[] = {
	{"{metadata: {labels: {app.kubernetes.io/managed-by: alm-cli}}, spec: {claimRef: {namespace: alm-system, name: alm-log}}}", true},
	{"{metadata: {}, spec: {claimRef: {namespace: alm-system, name: alm-log}}}", false},
	{"{metadata: {labels: {app.kubernetes.io/managed-by: Helm}}, spec: {claimRef: {namespace: alm-system, name: alm-log}}}", false},
	{"{metadata: {labels: {app.kubernetes.io/managed-by: alm-cli}}, spec: {claimRef: {namespace: team, name: alm-log}}}", false},
	{"{metadata: {labels: {app.kubernetes.io/managed-by: alm-cli}}, spec: {}}", false},
};
/* clang-format on */

static void test_own_volume__takes_its_own(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		assert_ok(yaml_parse_one(str_of(rows[i].volume), &o, &err), &err);
		assert_int_equal(own_volume_is_ours(o), rows[i].is_ours);
		assert_int_equal(own_volume_take(o, &err), rows[i].is_ours ? 0 : -E_REFUSED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_volume__takes_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
