/* test_carried.c: what the program carries is the file it was made of, to the byte. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/carried.h"
#include "alm/base/file.h"
#include "crds/kinds.h"

static void test_texts_are_the_files(void **state UNUSED)
{
	char path[64];
	struct error err = ERROR_INIT;
	for (size_t i = 0; i < n_crd_kinds; i++) {
		const struct crd_kind *k = crd_kinds[i];
		const char *name = !strcmp(k->kind, "InstallStrategy") ? "strategy" : k->singular;
		snprintf(path, sizeof(path), "crds/%s.yaml", name);
		CLEANUP(xfreep) char *text = carried_read(k->yaml);
		CLEANUP(strbuf_release) struct strbuf file = STRBUF_INIT(STRBUF_SMALL);
		assert_ok(file_read(path, &file, &err), &err);
		assert_string_equal(text, file.buf);
		assert_int_equal(strlen(text), k->yaml->text_len);
		assert_true(k->yaml->len < k->yaml->text_len / 2);
	}
}

static void test_a_text_of_nothing(void **state UNUSED)
{
	static const unsigned char gz[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3,
					   3,    0,    0, 0, 0, 0, 0, 0, 0, 0};
	const struct carried_text t = {gz, sizeof(gz), 0};
	CLEANUP(xfreep) char *text = carried_read(&t);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts_are_the_files),
		cmocka_unit_test(test_a_text_of_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
