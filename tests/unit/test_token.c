#include "alm/apiserver/token.h"

#include <string.h>

#include "tests/lib/test.h"

static const unsigned char key[TOKEN_KEY_BYTES] = {1, 2, 3};
static const unsigned char other_key[TOKEN_KEY_BYTES] = {1, 2, 4};
static const struct token_claims claims = {"ns", "builder", "u-1", NULL, 1000, 4600};

static void test_token__a_signed_token_reads_back(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TOKEN_BYTES_MAX);
	token_sign(key, &claims, &b);
	assert_ok(token_verify(key, strbuf_str(&b), 2000, &o, &err), &err);
	assert_string_equal(obj_str(o, "sub"), "system:serviceaccount:ns:builder");
	assert_string_equal(obj_str(o, "['kubernetes.io'].serviceaccount.uid"), "u-1");
}

static void test_token__expired_foreign_and_altered_ones_are_refused(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TOKEN_BYTES_MAX);
	token_sign(key, &claims, &b);
	assert_int_equal(token_verify(key, strbuf_str(&b), 4600, &o, &err), -E_UNAUTHORIZED);
	assert_int_equal(token_verify(key, strbuf_str(&b), 100, &o, &err), -E_UNAUTHORIZED);
	assert_int_equal(token_verify(other_key, strbuf_str(&b), 2000, &o, &err), -E_UNAUTHORIZED);
	for (size_t n = 0; n < b.len; n++)
		assert_int_equal(token_verify(key, str_n(b.buf, n), 2000, &o, &err),
				 -E_UNAUTHORIZED);
	for (size_t i = 0; i + 1 < b.len; i += 3) {
		CLEANUP(xfreep) char *bad = xstrndup(b.buf, b.len);
		bad[i] = bad[i] == 'A' ? 'B' : 'A';
		assert_int_equal(token_verify(key, str_n(bad, b.len), 2000, &o, &err),
				 -E_UNAUTHORIZED);
	}
	assert_int_equal(token_verify(key, STR("eyJhbGciOiJub25lIn0.e30."), 2000, &o, &err),
			 -E_UNAUTHORIZED);
	assert_null(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_token__a_signed_token_reads_back),
		cmocka_unit_test(test_token__expired_foreign_and_altered_ones_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
