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

/* The call must return 0 or more; prints the error otherwise. */
#define assert_ok(call, err)                                   \
	do {                                                   \
		if ((call) < 0)                                \
			fail_msg("%s: %s", #call, (err)->msg); \
	} while (0)

#define assert_str(s, text) assert_true(str_is((s), (text)))

#endif
