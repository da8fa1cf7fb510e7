/* What is kept of a catalog is what the log says of it, or it is not used. */
#include "alm/sources/catalog_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/base/clock.h"
#include "tests/lib/audit_log.h"
#include "tests/lib/test.h"

#define LINES  "{\"package\":\"etcd\",\"verified\":{\"by\":\"0123\"}}\n"
#define SOURCE "https://charts.example/"

struct fixture {
	char dir[64], path[96];
	struct audit_log log;
	struct error err;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/alm-test-kept-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	(void)snprintf(f->path, sizeof(f->path), "%s/alm.db", f->dir);
	audit_log_open(&f->log, f->path, NULL);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	audit_log_close(&f->log);
	audit_log_remove(f->dir);
	xfree(f);
	return 0;
}

static void save(struct fixture *f, const char *name, const char *lines)
{
	struct sync_validators v = {.etag = "\"1\"", .last_modified = "today"};
	assert_ok(catalog_store_save(f->log.db, f->log.audit, name, SOURCE, "aa11", &v,
				     str_of(lines), &f->err),
		  &f->err);
}

static int load(struct fixture *f, struct audit *a, const char *name, const char *want)
{
	struct sync_validators v = {0};
	CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(STRBUF_SMALL);
	f->err = ERROR_INIT;
	int r = catalog_store_load(f->log.db, a, name, SOURCE, &v, &lines, &f->err);
	if (r == 0) {
		assert_string_equal(lines.buf, want);
		assert_string_equal(v.etag, "\"1\"");
	}
	return r;
}

/* One finding or gap that has the text; NULL: all is well. */
static void verify(struct fixture *f, const char *finding, const char *unchecked)
{
	struct verify_options o = {.each_kept = catalog_store_each, .each_kept_arg = f->log.db};
	struct verify_report *r = xcalloc(1, sizeof(*r));
	assert_ok(verify_log(f->log.db, &o, r, &f->err), &f->err);
	assert_int_equal(r->n_findings, finding ? 1 : 0);
	assert_int_equal(r->n_unchecked, unchecked ? 1 : 0);
	if (finding && !strstr(r->findings[0].text, finding))
		fail_msg("%s, not %s", r->findings[0].text, finding);
	if (unchecked && !strstr(r->unchecked[0], unchecked))
		fail_msg("%s, not %s", r->unchecked[0], unchecked);
	xfree(r);
}

static void by_hand(struct fixture *f, const char *sql)
{
	assert_ok(db_exec(f->log.db, sql, &f->err), &f->err);
}

static void test_catalog_store__what_was_kept_is_used(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(load(f, f->log.audit, "c", ""), -E_NOTFOUND);
	save(f, "c", "old");
	save(f, "c", LINES);
	save(f, "d", "");
	assert_ok(load(f, f->log.audit, "c", LINES), &f->err);
	assert_ok(load(f, f->log.audit, "d", ""), &f->err);
	verify(f, NULL, NULL);
	assert_ok(catalog_store_drop(f->log.db, f->log.audit, "c", &f->err), &f->err);
	assert_int_equal(load(f, f->log.audit, "c", ""), -E_NOTFOUND);
	int64_t last = audit_last_seq(f->log.audit);
	assert_ok(catalog_store_drop(f->log.db, f->log.audit, "c", &f->err), &f->err);
	assert_int_equal(audit_last_seq(f->log.audit), last); /* nothing was there */
	verify(f, NULL, NULL);
}

static void test_catalog_store__every_change_by_hand_is_found(void **state)
{
	static const char *const changes[] = {
		"lines = CAST(replace(CAST(lines AS TEXT), '0123', '4567') AS BLOB)",
		"lines = CAST('old' AS BLOB)", /* what was kept before */
		"etag = etag || 'x'",
		"last_modified = ''",
		"revision = 'bb22'",
		"source = source || 'x'",
		"revision = '1', etag = '1\"1\"'",
	};
	struct fixture *f = *state;
	save(f, "d", LINES);
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		char sql[256];
		save(f, "c", "old");
		save(f, "c", LINES);
		(void)snprintf(sql, sizeof(sql), "UPDATE catalog_revision SET %s WHERE name = 'c'",
			       changes[i]);
		by_hand(f, sql);
		assert_int_equal(load(f, f->log.audit, "c", ""), -E_ALTERED);
		assert_non_null(strstr(f->err.msg, "somebody altered it; alm audit verify"));
		verify(f, "what is kept of Catalog c was altered", NULL);
		assert_ok(load(f, f->log.audit, "d", LINES), &f->err);
	}
	by_hand(f, "DELETE FROM catalog_revision WHERE name = 'c'");
	assert_int_equal(load(f, f->log.audit, "c", ""), -E_ALTERED);
	verify(f, "what is kept of Catalog c was removed", NULL);
	save(f, "c", LINES); /* it was read again */
	verify(f, NULL, NULL);
	by_hand(f,
		"UPDATE catalog_revision SET lines = (SELECT CAST('x' AS BLOB)) WHERE name = 'd'");
	verify(f, "what is kept of Catalog d was altered", NULL);
}

static void test_catalog_store__what_has_no_record_is_not_used(void **state)
{
	struct fixture *f = *state;
	save(f, "c", LINES);
	by_hand(f, "INSERT INTO catalog_revision SELECT 'planted', source, revision, etag, "
		   "last_modified, lines FROM catalog_revision");
	assert_int_equal(load(f, f->log.audit, "planted", ""), -E_NOTFOUND);
	verify(f, NULL, "Catalog planted: what is kept of it has no record");
	by_hand(f, "DELETE FROM catalog_revision WHERE name = 'planted'");
	/* Without a log nothing is recorded, and nothing is believed after. */
	struct audit_config c = {.db = f->log.db, .loop = &f->log.loop.base};
	audit_close(STEAL(f->log.audit));
	assert_ok(audit_bypass(&c, &f->err), &f->err);
	assert_ok(load(f, NULL, "c", LINES), &f->err);
	assert_ok(audit_open(&c, &f->log.audit, &f->err), &f->err);
	assert_int_equal(load(f, f->log.audit, "c", ""), -E_NOTFOUND);
	verify(f, NULL, "Catalog c: what is kept of it has no record");
}

static void test_catalog_store__row_and_record_are_written_together(void **state)
{
	struct fixture *f = *state;
	save(f, "c", LINES);
	assert_ok(db_begin(f->log.db, &f->err), &f->err);
	save(f, "c", "inside of a transaction of the server");
	db_rollback(f->log.db);
	audit_rolled_back(f->log.audit);
	assert_ok(load(f, f->log.audit, "c", LINES), &f->err);
	verify(f, NULL, NULL);
	by_hand(f, "CREATE TRIGGER stop BEFORE INSERT ON audit WHEN NEW.reason = 'RevisionKept' "
		   "BEGIN SELECT RAISE(ABORT, 'no'); END");
	struct sync_validators v = {0};
	assert_true(catalog_store_save(f->log.db, f->log.audit, "c", SOURCE, "bb", &v, STR("x"),
				       &f->err) < 0);
	by_hand(f, "DROP TRIGGER stop");
	assert_ok(load(f, f->log.audit, "c", LINES), &f->err);
	verify(f, NULL, NULL);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_catalog_store__what_was_kept_is_used),
		TEST(test_catalog_store__every_change_by_hand_is_found),
		TEST(test_catalog_store__what_has_no_record_is_not_used),
		TEST(test_catalog_store__row_and_record_are_written_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
