/* test_library_memory.c: pieces of OpenSSL and libcurl are the pool's, of whatever length, and keep what they hold. */
#include "tests/lib/test.h"

#include <string.h>

#include <openssl/crypto.h>

#include "alm/base/pool.h"
#include "alm/base/sanitizer.h"
#include "alm/io/library_memory.h"

/* Some thousand: pages of the pool, which are counted. */
static void test_library_memory__pieces_are_of_the_pool(void **state)
{
	(void)state;
	enum { N = 2000, BYTES = 40 };
	static unsigned char *all[N];
	size_t before = pool_pages();
	for (size_t i = 0; i < N; i++)
		all[i] = memset(OPENSSL_malloc(BYTES), (int)(i % 256), BYTES);
	size_t with = pool_pages();
	if (!SANITIZER_RUNS && with < before + (size_t)N * BYTES / 4096)
		fail_msg("%zu pages, %zu before", with, before);
	for (size_t i = 0; i < N; i++) {
		for (size_t k = 0; k < BYTES; k++)
			assert_int_equal(all[i][k], i % 256);
		OPENSSL_free(all[i]);
	}
	assert_true(SANITIZER_RUNS || pool_pages() < with);
}

/* Over each bound of the pool, both ways; from nothing and to nothing. */
static void test_library_memory__changed_length(void **state)
{
	(void)state;
	static const size_t sizes[] = {1, 16, 17, 992, 993, 1008, 4064, 4065, 4080, 4081, 70000};
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		for (size_t j = 0; j < ARRAY_LEN(sizes); j++) {
			size_t n = sizes[i] < sizes[j] ? sizes[i] : sizes[j];
			unsigned char *p = OPENSSL_realloc(NULL, sizes[i]);
			memset(p, (int)(i + 1), sizes[i]);
			p = OPENSSL_realloc(p, sizes[j]);
			for (size_t k = 0; k < n; k++)
				assert_int_equal(p[k], i + 1);
			memset(p, 0, sizes[j]);
			assert_null(OPENSSL_realloc(p, 0));
		}
	assert_null(OPENSSL_malloc(0));
	OPENSSL_free(NULL);
}

/* As C's: a piece of no bytes is one, what is counted twice does not wrap, all bytes are 0. */
static void test_library_memory__as_c_has_them(void **state)
{
	(void)state;
	void *none = library_malloc(0);
	assert_non_null(none);
	none = library_realloc(none, 5);
	memcpy(none, "four", 5);
	none = library_realloc(none, 0);
	assert_non_null(none);
	library_free(none);
	library_free(NULL);
	static const unsigned char zero[24];
	void *dirty = memset(library_malloc(24), 0xff, 24);
	library_free(dirty);
	void *clear = library_calloc(3, 8);
	assert_memory_equal(clear, zero, 24);
	library_free(clear);
	assert_null(library_calloc(SIZE_MAX / 2, 3));
	assert_null(library_malloc(SIZE_MAX));
	char *s = library_strdup("text");
	assert_string_equal(s, "text");
	library_free(s);
}

int main(void)
{
	library_memory_crypto();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_library_memory__pieces_are_of_the_pool),
		cmocka_unit_test(test_library_memory__changed_length),
		cmocka_unit_test(test_library_memory__as_c_has_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
