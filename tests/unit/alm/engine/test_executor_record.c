/* An entry whose appending fails, at whatever call of the database, is not in the log, which is whole; those before it and behind
 * it are, but where SQLite itself has rolled them back. */
#include "tests/lib/test.h"

#include "alm/audit/audit.h"
#include "alm/audit/verify.h"
#include "alm/base/clock.h"
#include "alm/engine/executor_run.h"
#include "alm/io/db.h"
#include "alm/obj/obj.h"
#include "tests/lib/db_failing.h"
#include "tests/lib/work_fixture.h"

/* A Transition, so that it is more than its row. */
static int record(struct work_fixture *f, const char *reason, int64_t n, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	const struct audit_row row = {
		.type = "Transition",
		.reason = reason,
		.subject = {.kind = "ConfigMap", .ns = "n", .name = "c", .uid = "u"},
		.transition_seq = n,
		.body = body};
	int64_t seq = 0;
	int r = record_soon(f->executor, &row, &seq, err);
	if (r >= 0)
		assert_int_equal(seq, audit_last_seq(f->audit));
	return r;
}

/* The reasons behind entry `from`, each with a blank behind it. */
static void read_log(struct work_fixture *f, int64_t from, struct strbuf *b)
{
	for (int64_t seq = from + 1; seq <= audit_last_seq(f->audit); seq++) {
		struct error err = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *row = NULL;
		assert_ok(audit_row_get(f->audit, seq, &row, &err), &err);
		strbuf_addf(b, "%s ", obj_str(row, "reason"));
	}
}

static void check_whole(struct work_fixture *f)
{
	static struct verify_report report;
	struct error err = ERROR_INIT;
	assert_ok(verify_log(f->db, &(struct verify_options){.is_archive = false}, &report, &err),
		  &err);
	if (report.n_findings)
		fail_msg("entry %lld: %s", (long long)report.findings[0].seq,
			 report.findings[0].text);
}

/* The clock is set in front of the second of three. Returns how many calls that one takes. */
static int play(int at, bool prepares)
{
	struct work_fixture f;
	struct error err = ERROR_INIT;
	work_fixture_init_as(&f, false, NULL);
	int64_t from = audit_last_seq(f.audit);
	db_failing_watch(f.db);
	assert_ok(record(&f, "First", 1, &err), &err);
	loop_fake_step(f.loop, NS_PER_MIN);
	db_failing_begin(f.db, at, prepares);
	int r = record(&f, "Second", 2, &err);
	int n = db_failing_end();
	bool stays = db_in_transaction(f.db); /* else SQLite has rolled back all of it */
	if (at)
		assert_true(r < 0);
	if (!db_is_broken(f.db)) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		assert_ok(record(&f, "Third", r >= 0 ? 3 : stays ? 2 : 1, &err), &err);
		loop_fake_run(f.loop, NS_PER_S);
		read_log(&f, from, &b);
		assert_string_equal(b.buf, r >= 0  ? "First ClockStepped Second Third "
					   : stays ? "First ClockStepped Third "
						   : "ClockStepped Third ");
		check_whole(&f);
	}
	work_fixture_drop(&f);
	return n;
}

static void test_executor_record__what_fails_takes_nothing_with_it(void **state)
{
	(void)state;
	for (int prepares = 0; prepares < 2; prepares++) {
		int n = play(0, prepares);
		assert_in_range(n, 4, 100);
		for (int at = 1; at <= n; at++)
			(void)play(at, prepares);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_executor_record__what_fails_takes_nothing_with_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
