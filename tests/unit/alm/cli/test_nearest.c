/* test_nearest.c: "did you mean": the word that was meant, or none. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/cli/nearest.h"

static void test_nearest__table(void **state)
{
	(void)state;
	static const char *const names[] = {"cert-manager",      "external-dns", "keda",
					    "keda-add-ons-http", "prometheus",   "next-ext"};
	static const struct {
		const char *word, *want;
	} cases[] = {
		{"cert-manger", "cert-manager"},
		{"certmanager", "cert-manager"},
		{"Keda", "keda"},
		{"kedas", "keda"},
		{"prometeus", "prometheus"},
		{"add-ons", "keda-add-ons-http"},
		{"ext", "external-dns"}, /* begins with it */
		{"", NULL},
		{"nginx", NULL},
		{"zzzzzzzzzzzz", NULL},
	};
	CLEANUP(obj_unrefp) struct obj *list = obj_list();
	char longest[NEAREST_BYTES_MAX + 2];
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		obj_append(list, obj_string(names[i]));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got = nearest_name(cases[i].word, list);
		if (!cstr_eq(got, cases[i].want))
			fail_msg("%s: got %s, want %s", cases[i].word, got ? got : "none",
				 cases[i].want ? cases[i].want : "none");
	}
	memset(longest, 'k', sizeof(longest));
	longest[NEAREST_BYTES_MAX] = 0;
	obj_append(list, obj_string(longest));
	assert_string_equal(nearest_name(longest, list), longest); /* at the bound */
	longest[NEAREST_BYTES_MAX] = 'k';
	longest[NEAREST_BYTES_MAX + 1] = 0;
	assert_null(nearest_name(longest, list)); /* one over */
	assert_null(nearest_name("x", NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_nearest__table)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
