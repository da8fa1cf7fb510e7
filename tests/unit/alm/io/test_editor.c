#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/base/strbuf.h"
#include "alm/io/editor.h"

/* It has arguments of its own, and the path is one, whatever is in it. */
static void test_editor__what_it_did_or_that_it_failed(void **state)
{
	(void)state;
	static const struct {
		const char *command;
		int code;
		const char *then; /* the text of the file */
	} rows[] = {
		{"printf one >", 0, "one"},
		{"sh -c 'printf two >\"$1\"' sh", 0, "two"},
		{"test -f", 0, "two"},
		{"test -d", E_IO, "two"},
		{"/no/such/editor --wait", E_IO, "two"},
		{"kill -9 $$;", E_IO, "two"},
		{"exit 255;", E_IO, "two"},
	};
	char dir[] = "/tmp/alm-editor-XXXXXX", path[64], want[256];
	struct error err = ERROR_INIT;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/a b$(c)'\"", dir);
	assert_ok(file_write_new(path, STR(""), 0600, &err), &err);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(100);
		err = ERROR_INIT;
		int r = editor_run(rows[i].command, path, &err);
		(void)snprintf(want, sizeof(want), "%s %s: it failed, nothing is changed",
			       rows[i].command, path);
		if (r != -rows[i].code || strcmp(err.msg, r < 0 ? want : "") != 0)
			fail_msg("%s: %d %s", rows[i].command, r, err.msg);
		assert_ok(file_read(path, &b, &err), &err);
		assert_string_equal(b.buf, rows[i].then);
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_editor__what_it_did_or_that_it_failed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
