#include "tests/lib/golden_text.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/file.h"
#include "tests/lib/test.h"

#define TEXT_BYTES_MAX ((size_t)4 << 20)

void golden_text_hold(const char *path, struct str text)
{
	CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT(TEXT_BYTES_MAX);
	struct error err = ERROR_INIT;
	struct str is = text, was, a = STR(""), b = STR("");
	if (getenv("UPDATE")) /* a person reads the difference */
		assert_ok(file_write_atomic(path, text, 0644, &err), &err);
	assert_ok(file_read(path, &want, &err), &err);
	was = strbuf_str(&want);
	if (str_eq(is, was))
		return;
	for (int line = 1;; line++) {
		bool more = str_next_line(&is, &a), others = str_next_line(&was, &b);
		if (more && others && str_eq(a, b))
			continue;
		fail_msg("%s:%d:\n%.*s\nwanted\n%.*s", path, line, STR_ARG(a), STR_ARG(b));
	}
}
