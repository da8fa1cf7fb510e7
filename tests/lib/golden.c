#include "tests/lib/golden.h"

#include "alm/base/file.h"
#include "alm/obj/json.h"
#include "tests/lib/test.h"

#define GOLDEN_PATH      "tests/golden/kube-api/kube-apiserver-1.33.13.jsonl"
#define GOLDEN_BYTES_MAX ((size_t)4 << 20)

struct obj *golden_case(int n)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(GOLDEN_BYTES_MAX);
	struct str rest, line;
	assert_ok(file_read(GOLDEN_PATH, &b, &err), &err);
	rest = strbuf_str(&b);
	for (int i = 1; str_next_line(&rest, &line); i++) {
		struct obj *o;
		if (i != n)
			continue;
		assert_ok(json_parse(line, &o, &err), &err);
		assert_int_equal(obj_i64(o, "n", 0), n);
		return o;
	}
	fail_msg("no recording G%d", n);
	return NULL;
}
