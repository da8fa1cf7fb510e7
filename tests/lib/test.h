/* test: what every cmocka program starts with. */
#ifndef TESTS_LIB_TEST_H
#define TESTS_LIB_TEST_H

/* cmocka needs these first, in this order */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "alm/base/error.h"
#include "alm/base/str.h"

#ifdef __clang_analyzer__
/* The analyser does not see that cmocka's do not come back. */
#undef assert_true
#undef assert_false
#undef assert_null
#undef assert_non_null
#undef assert_int_equal
#undef fail_msg
#define assert_true(c)         ((c) ? (void)0 : __builtin_trap())
#define assert_false(c)        ((c) ? __builtin_trap() : (void)0)
#define assert_null(p)         assert_false((p) != NULL)
#define assert_non_null(p)     assert_true((p) != NULL)
#define assert_int_equal(a, b) assert_true((int64_t)(a) == (int64_t)(b))
#define fail_msg(...)          (print_error(__VA_ARGS__), __builtin_trap())
#endif

/* The call must return 0 or more; prints the error otherwise. */
#define assert_ok(call, err)                                   \
	do {                                                   \
		if ((call) < 0)                                \
			fail_msg("%s: %s", #call, (err)->msg); \
	} while (0)

#define assert_str(s, text) assert_true(str_is((s), (text)))

#endif
