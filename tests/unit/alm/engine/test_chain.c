#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/engine/chain.h"
#include "tests/lib/audit_log.h"

/* More subjects than are kept: what was forgotten is read from the log again, so the same outcome
 * is not told twice, and causes stay what they are. */
static void test_chain__one_over_the_bound_is_read_again(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct audit_log l;
	int64_t seq;
	char text[32];
	audit_log_open(&l, ":memory:", NULL);
	struct chain *c = chain_new(l.audit, l.db);
	const struct audit_subject first = {.kind = "AppType", .name = "first", .uid = "u"};
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	obj_set_str(body, "key", "outcome");
	struct audit_row row = {
		.type = "Decision", .reason = "Resolved", .subject = first, .body = body};
	assert_ok(audit_append_now(l.audit, &row, &seq, &err), &err);
	for (int round = 0; round < 2; round++) {
		assert_string_equal(chain_key(c, "Decision", &first), "outcome");
		assert_int_equal(chain_head(c, "first"), seq);
		for (int i = 0; i < 40000; i++) {
			snprintf(text, sizeof(text), "u%d", i);
			const struct audit_subject other = {
				.kind = "AppType", .name = text, .uid = text};
			chain_set_key(c, "Decision", &other, "x");
			chain_advance(c, text, 1);
			if (i % 1000 == 0)
				assert_string_equal(chain_key(c, "Decision", &other), "x");
		}
	}
	chain_free(c);
	audit_log_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain__one_over_the_bound_is_read_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
