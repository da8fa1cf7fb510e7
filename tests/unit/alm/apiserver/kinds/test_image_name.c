/* test_image_name.c: what is pulled every time, as a real kube-apiserver 1.36 defaults imagePullPolicy. */
#include "alm/apiserver/kinds/image_name.h"
#include "tests/lib/test.h"

static void test_image_name__latest(void **state)
{
	(void)state;
	static const char *const every[] = {
		"i",
		"a/b",
		"i:latest",
		"a.b/c",
		"a.b:5000/c",
		"localhost/a",
		"a_b",
		"a__b",
		"A/b",
		"a--b",
		"a.b:5000/c:latest",
		"a/b/c",
		"i:latest@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"};
	static const char *const once[] = {
		"i:1",
		"In",
		"*",
		"1Gi",
		"a b",
		" i",
		"a/",
		"/a",
		"a//b",
		"a___b",
		"a_",
		"i:",
		"i:-a",
		"https://a.b/c",
		"a@",
		"a.b:x/c",
		"",

		"/a/../b",
		"a:b",
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"};
	for (size_t i = 0; i < ARRAY_LEN(every); i++)
		if (!image_is_latest(every[i]))
			fail_msg("%s is not pulled every time", every[i]);
	for (size_t i = 0; i < ARRAY_LEN(once); i++)
		if (image_is_latest(once[i]))
			fail_msg("%s is pulled every time", once[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_image_name__latest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
