#include "alm/base/mem.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/test.h"

#define BYTES ((size_t)1 << 20)

/* Does a process that writes there end well? */
static bool may_write(volatile char *p)
{
	int how = 0;
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child) {
		const struct rlimit no_core = {0};
		(void)setrlimit(RLIMIT_CORE, &no_core);
		(void)signal(SIGSEGV, SIG_DFL); /* cmocka, or a sanitizer, would go on */
		*p = 1;
		_exit(0);
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	return WIFEXITED(how) && WEXITSTATUS(how) == 0;
}

static void test_mem__below_a_stack_nobody_writes(void **state)
{
	(void)state;
	char *p = mem_stack(BYTES);
	assert_false(may_write(p));
	assert_false(may_write(p + STACK_GUARD_BYTES - 1));
	assert_true(may_write(p + STACK_GUARD_BYTES));
	assert_true(may_write(p + BYTES - 1));
	mem_region_free(p, BYTES);
}

static void test_mem__a_region_stands_at_a_multiple_of_its_size(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		char *p = mem_region(BYTES);
		assert_int_equal((uintptr_t)p % BYTES, 0);
		assert_int_equal(p[0] | p[BYTES - 1], 0);
		memset(p, 1, BYTES);
		mem_region_clear(p, BYTES);
		assert_int_equal(p[0] | p[BYTES - 1], 0);
		mem_region_free(p, BYTES);
	}
}

static void test_mem__grows_by_half(void **state)
{
	(void)state;
	assert_int_equal(mem_grown(0, 1), 8);
	assert_int_equal(mem_grown(8, 9), 12);
	assert_int_equal(mem_grown(100, 1000), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mem__below_a_stack_nobody_writes),
		cmocka_unit_test(test_mem__a_region_stands_at_a_multiple_of_its_size),
		cmocka_unit_test(test_mem__grows_by_half),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
