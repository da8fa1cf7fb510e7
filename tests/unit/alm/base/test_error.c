#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

static const struct {
	enum error_reason reason;
	const char *text;
} rows[] = {
#define X(reason, text) {reason, text},
	ERROR_REASONS(X)
#undef X
};

static void test_error__each_reason(void **state)
{
	(void)state;
	assert_true(ARRAY_LEN(rows) > 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT, copy = ERROR_INIT;
		char want[64];
		(void)snprintf(want, sizeof(want), "%s: etcd 0.9.6", rows[i].text);
		assert_string_equal(error_reason_text(rows[i].reason), rows[i].text);
		assert_int_equal(error_reason_find(rows[i].text), rows[i].reason);
		assert_int_equal(error_because(&err, E_REFUSED, rows[i].reason, "etcd %s", "0.9.6"),
				 -E_REFUSED);
		assert_int_equal(err.reason, rows[i].reason);
		assert_string_equal(err.msg, want);
		assert_int_equal(error_wrap(&err, "catalog"), -E_REFUSED);
		assert_int_equal(err.reason, rows[i].reason);
		assert_true(strstr(err.msg, "catalog: ") == err.msg);
		assert_int_equal(error_copy(&copy, &err), -E_REFUSED);
		assert_int_equal(copy.reason, rows[i].reason);
		error_set(&err, E_IO, "another one");
		assert_int_equal(err.reason, REASON_NONE);
		error_set_reason(&err, rows[i].reason);
		assert_int_equal(err.code, E_IO);
		assert_int_equal(err.reason, rows[i].reason);
	}
}

static void test_error__a_reason_from_outside(void **state)
{
	(void)state;
	assert_true(error_is_reason(REASON_NONE));
	assert_true(error_is_reason(ARRAY_LEN(rows)));
	assert_false(error_is_reason((int64_t)ARRAY_LEN(rows) + 1));
	assert_false(error_is_reason(-1));
	assert_int_equal(error_reason_find(NULL), REASON_NONE);
	assert_int_equal(error_reason_find(""), REASON_NONE);
	assert_int_equal(error_reason_find("DigestMismatch: x"), REASON_NONE);
	assert_string_equal(error_reason_text(REASON_NONE), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_error__each_reason),
		cmocka_unit_test(test_error__a_reason_from_outside),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
