/* test_differs.c: generated writes of built-in kinds that once were answered otherwise here, and what a real kube-apiserver 1.36
 * made of them (tests/fuzz/diff_api.py). */
#include "alm/base/strbuf.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/replay.h"
#include "tests/lib/test.h"

static void test_differs__answers_are_those_of_a_real_server(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/differs.jsonl", 500, NULL);
}

/* What a check looks at is as long as a body may be. */
static void test_differs__a_long_text(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	strbuf_adds(&b, "{\"metadata\":{\"name\":\"a\"},\"provisioner\":\"");
	strbuf_pad(&b, 'A', 600000);
	strbuf_adds(&b, "\"}");
	struct answer a = apifake_do(f, "POST", "/apis/storage.k8s.io/v1/storageclasses", b.buf);
	assert_int_equal(a.status, 422);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differs__answers_are_those_of_a_real_server),
		cmocka_unit_test(test_differs__a_long_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
