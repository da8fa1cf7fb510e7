#include "tests/lib/test.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alm/io/curl_lib.h"

/* As on a machine without it: no file can be opened. 0 if that is told, and mended later on. */
static int without(void)
{
	const struct curl_lib *lib = NULL;
	struct error err = ERROR_INIT;
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return 1;
	const struct rlimit none = {.rlim_cur = 0, .rlim_max = files.rlim_max};
	if (setrlimit(RLIMIT_NOFILE, &none) < 0)
		return 2;
	if (curl_lib_load(&lib, &err) != -E_UNSUPPORTED || lib)
		return 3;
	if (!cstr_has_prefix(err.msg, "no network without libcurl.so.4: libcurl.so.4: "))
		return 4;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0 || curl_lib_load(&lib, &err) < 0 || !lib)
		return 5;
	return 0;
}

static void test_curl_lib__a_machine_without_it_is_told(void **state)
{
	(void)state;
	int status = -1;
	pid_t pid = fork();
	if (pid == 0)
		_exit(without());
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	assert_int_equal(status, 0);
}

static void test_curl_lib__is_the_same_for_all(void **state)
{
	(void)state;
	const struct curl_lib *one = NULL, *two = NULL;
	struct error err = ERROR_INIT;
	assert_ok(curl_lib_load(&one, &err), &err);
	assert_ok(curl_lib_load(&two, &err), &err);
	assert_ptr_equal(one, two);
#define X(name) assert_true(one->name != NULL);
	CURL_FUNCTIONS(X)
#undef X
	CURL *easy = one->easy_init();
	assert_non_null(easy);
	one->easy_cleanup(easy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_curl_lib__a_machine_without_it_is_told),
		cmocka_unit_test(test_curl_lib__is_the_same_for_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
