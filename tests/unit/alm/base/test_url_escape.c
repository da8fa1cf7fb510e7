#include "alm/base/url_escape.h"

#include "alm/base/strbuf.h"
#include "tests/lib/test.h"

static void test_url_escape__encoding_comes_back(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	assert_string_equal(url_encode(STR("a b/c?d=\xc3\xa9~-._"), a),
			    "a%20b%2Fc%3Fd%3D%C3%A9~-._");
	assert_string_equal(url_decode(STR("%41+%2b"), false, a), "A++");
	assert_string_equal(url_decode(STR("%41+%2b"), true, a), "A +");
	char all[255];
	for (int i = 0; i < 255; i++)
		all[i] = (char)(i + 1);
	const char *back = url_decode(str_of(url_encode(str_n(all, 255), a)), true, a);
	assert_memory_equal(back, all, 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_url_escape__encoding_comes_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
