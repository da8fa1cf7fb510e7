/* Which paths name a part of the log, and that nothing beyond the checkpoint is given. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/audit/tiles.h"
#include "alm/base/hash.h"
#include "tests/lib/audit_log.h"

static struct audit_log l;

static int setup(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	int64_t seq;
	audit_log_open(&l, ":memory:", NULL);
	for (int i = 1; i < 300; i++) {
		struct audit_row row = {.type = "Write", .reason = "Created"};
		assert_ok(audit_append_now(l.audit, &row, &seq, &err), &err);
	}
	assert_ok(db_exec(l.db, "INSERT INTO audit_checkpoint VALUES (299, 'note')", &err), &err);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	audit_log_close(&l);
	return 0;
}

static int64_t bytes_of(const char *path)
{
	struct error err = ERROR_INIT;
	struct tiles_answer a;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TILES_BYTES_MAX);
	int r = tiles_read(l.db, path, &b, &a, &err);
	return r < 0 ? r : (int64_t)b.len;
}

static void test_tiles__full_and_partial_ones(void **state)
{
	(void)state;
	assert_int_equal(bytes_of("checkpoint"), strlen("note"));
	assert_int_equal(bytes_of("tile/0/000"), 256 * SHA256_BYTES);
	assert_int_equal(bytes_of("tile/0/000.p/7"), 7 * SHA256_BYTES);
	assert_int_equal(bytes_of("tile/0/001.p/43"), 43 * SHA256_BYTES);
	assert_int_equal(bytes_of("tile/1/000.p/1"), SHA256_BYTES);
	assert_true(bytes_of("tile/entries/000") > (int64_t)256 * 100);
	assert_true(bytes_of("tile/entries/001.p/43") > (int64_t)43 * 100);
}

static void test_tiles__nothing_else(void **state)
{
	(void)state;
	static const char *const paths[] = {
		"",
		"tile",
		"tile/0",
		"tile/0/",
		"tile/0/001",
		"tile/0/001.p/44", /* row 300, which nobody signed */
		"tile/entries/001.p/44",
		"tile/0/000.p/0",
		"tile/0/000.p/256",
		"tile/0/000.p/07",
		"tile/0/000.p/",
		"tile/0/0",
		"tile/0/-01",
		"tile/0/x000/000",
		"tile/0/000/000",
		"tile/-1/000",
		"tile/1/000",
		"tile/7/000.p/1",
		"tile/64/000",
		"tile/0/x999/x999/x999/x999/999",
		"tile/entries",
		"checkpoint/",
	};
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		if (bytes_of(paths[i]) != -E_NOTFOUND)
			fail_msg("%s was answered", paths[i]);
}

/* Its length would not fit in front of it: such a bundle is an error, and what is beside it is given. */
static void test_tiles__a_record_too_long_for_a_bundle(void **state)
{
	(void)state;
	enum { ACTOR = 8000, MESSAGE = 60000 };
	struct error err = ERROR_INIT;
	int64_t seq;
	CLEANUP(xfreep) char *actor = xcalloc(ACTOR + 1, 1), *message = xcalloc(MESSAGE + 1, 1);
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	memset(actor, 'a', ACTOR);
	memset(message, 'm', MESSAGE);
	obj_set_str(body, "message", message);
	struct audit_row row = {.type = "Write", .reason = "Created", .actor = actor, .body = body};
	assert_ok(audit_append_now(l.audit, &row, &seq, &err), &err);
	assert_int_equal(seq, 301);
	assert_ok(db_exec(l.db, "INSERT INTO audit_checkpoint VALUES (301, 'note')", &err), &err);
	assert_int_equal(bytes_of("tile/entries/001.p/45"), -E_LIMIT);
	assert_true(bytes_of("tile/entries/001.p/44") > 0);
	assert_int_equal(bytes_of("tile/0/001.p/45"), 45 * SHA256_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tiles__full_and_partial_ones, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tiles__a_record_too_long_for_a_bundle, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_tiles__nothing_else, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
