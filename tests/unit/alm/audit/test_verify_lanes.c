/* Rows that other processes read and hash: the same rows, and so the same verdict, byte for byte. */
#include "tests/lib/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alm/audit/log.h"
#include "alm/audit/tables.h"
#include "alm/audit/verify.h"
#include "alm/audit/verify_lanes.h"
#include "alm/obj/json.h"
#include "tests/lib/audit_log.h"

enum { LANES = 2, TURN = VERIFY_ROWS_OF_A_LANE, ROWS = 3 * TURN + 50 };

static char dir[] = "/tmp/alm-verify-lanes-XXXXXX", path[64];

/* Of the text each # is the number. */
static void sql(struct db *d, const char *text, int64_t seq)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (; *text; text++)
		if (*text == '#')
			strbuf_addi(&b, seq);
		else
			strbuf_addc(&b, *text);
	assert_ok(db_exec(d, b.buf, &err), &err);
}

static struct db *open_db(bool read_only)
{
	struct error err = ERROR_INIT;
	struct db *d = NULL;
	struct db_config c = {.path = path, .read_only = read_only, .layout = DB_LAYOUT};
	assert_ok(db_open(&c, &d, &err), &err);
	return d;
}

static void append(struct audit_log *l, const char *reason, const char *uid)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	struct audit_row row = {.type = "Write",
				.reason = reason,
				.subject = {.kind = "AppType", .name = "etcd", .uid = uid}};
	assert_ok(db_begin(l->db, &err), &err);
	assert_ok(audit_append(l->audit, &row, &seq, &err), &err);
	assert_ok(db_commit(l->db, &err), &err);
	audit_committed(l->audit);
}

/* Triggers would not let anybody change a row; they are no question here. */
static int setup(void **state)
{
	(void)state;
	static struct audit_log l;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/alm.db", dir);
	audit_log_open(&l, path, NULL);
	append(&l, "Created", "uid-a");
	append(&l, "Deleted", "uid-b");
	audit_log_fill(&l, ROWS, 256);
	append(&l, "Updated", "");
	append(&l, "Updated", "uid-a");
	audit_log_close(&l);
	struct db *d = open_db(false);
	for (const struct tables_object *o = audit_tables; o->type; o++) {
		char drop[128];
		(void)snprintf(drop, sizeof(drop), "DROP TRIGGER %s", o->name);
		if (!strcmp(o->type, "trigger"))
			sql(d, drop, 0);
	}
	db_close(d);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	audit_log_remove(dir);
	return 0;
}

/* What a person and what a program is told; the exit status in front. */
static void verdict(struct db *d, struct verify_lanes *lanes, struct strbuf *b)
{
	struct error err = ERROR_INIT;
	struct verify_options o = {.skip_tables_check = true, .lanes = lanes, .lanes_path = path};
	struct verify_report *rep = xcalloc(1, sizeof(*rep));
	int r = verify_log(d, &o, rep, &err);
	strbuf_addf(b, "%d %d %s\n", r, r < 0 ? 0 : verify_exit(rep), err.msg);
	if (r >= 0) {
		CLEANUP(obj_unrefp) struct obj *data = verify_obj(rep);
		verify_print(rep, b);
		json_print(data, b);
	}
	xfree(rep);
}

/* Lanes are made while no database is open. want: 0, or the row that the verdict must name. */
static void assert_same(const char *change, const char *back, int64_t seq, const char *want)
{
	CLEANUP(strbuf_release) struct strbuf alone = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf together = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(verify_lanes_freep) struct verify_lanes *lanes = verify_lanes_new(LANES);
	assert_non_null(lanes);
	struct db *d = change ? open_db(false) : NULL;
	if (change)
		sql(d, change, seq);
	struct db *reader = open_db(true);
	verdict(reader, NULL, &alone);
	verdict(reader, lanes, &together);
	db_close(reader);
	assert_false(verify_lanes_ready(lanes)); /* they did read */
	assert_string_equal(together.buf, alone.buf);
	if (!strstr(alone.buf, want))
		fail_msg("no \"%s\" in: %s", want, alone.buf);
	if (back)
		sql(d, back, seq);
	db_close(d);
}

static const struct fault {
	const char *change, *back, *want; /* want: of a row in the midst */
} faults[] = {
	{"UPDATE audit SET reason = 'x' || reason WHERE seq = #",
	 "UPDATE audit SET reason = substr(reason, 2) WHERE seq = #", "\"Altered\""},
	{"UPDATE audit SET body = body || '}' WHERE seq = #",
	 "UPDATE audit SET body = substr(body, 1, length(body) - 1) WHERE seq = #",
	 "body is not one JSON object"},
	{"CREATE TABLE kept AS SELECT * FROM audit WHERE seq = #"
	 "; DELETE FROM audit WHERE seq = #",
	 "INSERT INTO audit SELECT * FROM kept; DROP TABLE kept", "\"Altered\""},
	{"CREATE TABLE kept AS SELECT * FROM audit WHERE seq = #"
	 "; UPDATE audit SET chain = randomblob(32) WHERE seq = #",
	 "UPDATE audit SET chain = (SELECT chain FROM kept) WHERE seq = #"
	 "; DROP TABLE kept",
	 "\"Altered\""},
};

static void test_verify_lanes__a_fault_is_named_as_one_process_does(void **state)
{
	(void)state;
	struct db *d = open_db(true);
	struct error err = ERROR_INIT;
	int64_t last = 0;
	assert_ok(db_number(d, "SELECT max(seq) FROM audit", NULL, &last, &err), &err);
	db_close(d);
	const int64_t rows[] = {1,        TURN / 2, TURN, TURN + 1, 2 * TURN + 1,
				3 * TURN, last - 1, last};
	assert_true(last > 3 * TURN + 1);
	assert_same(NULL, NULL, 0, "\"Intact\"");
	for (size_t f = 0; f < ARRAY_LEN(faults); f++)
		for (size_t i = 0; i < ARRAY_LEN(rows); i++)
			assert_same(faults[f].change, faults[f].back, rows[i], faults[f].want);
}

/* Two faults in two turns, a row from before the first one, and one behind a gap of many turns. */
static void test_verify_lanes__several_faults_and_rows_out_of_place(void **state)
{
	(void)state;
	assert_same("UPDATE audit SET name = name || 'x' WHERE seq IN (#, 900)",
		    "UPDATE audit SET name = rtrim(name, 'x') WHERE seq IN (#, 900)", 2 * TURN + 9,
		    "FAIL entry 900");
	assert_same("UPDATE audit SET seq = -5 WHERE seq = #",
		    "UPDATE audit SET seq = # WHERE seq = -5", 77, "entry inserted");
	assert_same("UPDATE audit SET seq = 900000 WHERE seq = #",
		    "UPDATE audit SET seq = # WHERE seq = 900000", 77, "missing");
}

static void assert_row(const struct row_digest *a, const struct row_digest *b)
{
	assert_int_equal(a->seq, b->seq);
	assert_int_equal(a->n_blobs, b->n_blobs);
	assert_memory_equal(a->leaf, b->leaf, SHA256_BYTES);
	assert_memory_equal(a->chain, b->chain, SHA256_BYTES);
	assert_int_equal(a->has_chain, b->has_chain);
	assert_int_equal(a->is_closed, b->is_closed);
	assert_int_equal(a->is_transition, b->is_transition);
	assert_int_equal(a->change, b->change);
	assert_true(str_eq(a->uid, b->uid));
}

static void test_verify_lanes__every_row_is_what_one_process_reads(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct stmt *s;
	struct row_digest far, near;
	size_t changes[3] = {0};
	int64_t n = 0;
	CLEANUP(strbuf_release) struct strbuf scratch = STRBUF_INIT(RECORD_BYTES_MAX);
	CLEANUP(verify_lanes_freep) struct verify_lanes *lanes = verify_lanes_new(LANES);
	struct db *d = open_db(true);
	assert_ok(log_range(d, 3, ROWS + 2 * TURN, &s, &err), &err);
	assert_ok(verify_lanes_begin(lanes, path, 3, ROWS + 2 * TURN, false, &err), &err);
	for (; verify_lanes_next(lanes, &far, &err) > 0; n++) {
		assert_int_equal(stmt_step(s, &err), 1);
		row_digest_of(s, &scratch, &near);
		assert_row(&far, &near);
		changes[far.change]++;
	}
	assert_int_equal(stmt_step(s, &err), 0);
	assert_true(n > ROWS - 3);
	assert_true(changes[ROW_CHANGES_NOTHING] > 0);
	assert_int_equal(changes[ROW_WRITES], 1);
	db_close(d);
}

/* Of the database file: how many pages are free. No row is where this is wrong, so only the check of the
 * file sees it, which is a process of its own. */
static void flip_free_pages(void)
{
	unsigned char n;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &n, 1, 39), 1);
	n ^= 64;
	assert_int_equal(pwrite(fd, &n, 1, 39), 1);
	close(fd);
}

static void test_verify_lanes__what_is_wrong_with_the_file(void **state)
{
	(void)state;
	flip_free_pages();
	assert_same(NULL, NULL, 0, "FAIL: database file: ");
	flip_free_pages();
	assert_same(NULL, NULL, 0, "\"Intact\"");
}

/* Of this process group: lanes take every signal as a new process does, this one ignores it. */
static void kill_lanes(void)
{
	siginfo_t ended = {.si_pid = 0};
	(void)signal(SIGUSR1, SIG_IGN);
	while (!ended.si_pid) {
		(void)kill(0, SIGUSR1);
		(void)waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT);
	}
}

static void test_verify_lanes__a_process_that_dies_is_an_error(void **state)
{
	(void)state;
	pid_t group = getpgrp();
	(void)setpgid(0, 0); /* the lanes are born into it */
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(verify_lanes_freep) struct verify_lanes *lanes = verify_lanes_new(LANES);
	kill_lanes();
	(void)setpgid(0, group);
	struct db *d = open_db(true);
	verdict(d, lanes, &b);
	assert_int_equal(b.buf[0], '-');
	assert_non_null(strstr(b.buf, "which works for this one, has ended"));
	assert_null(strstr(b.buf, "Intact"));
	db_close(d);
}

static void test_verify_lanes__what_a_process_cannot_read_is_its_error(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct row_digest row;
	CLEANUP(verify_lanes_freep) struct verify_lanes *lanes = verify_lanes_new(LANES);
	assert_ok(verify_lanes_begin(lanes, "verify-lanes-not-there/alm.db", 0, 5000, true, &err),
		  &err);
	assert_true(verify_lanes_next(lanes, &row, &err) < 0);
	assert_non_null(strstr(err.msg, "verify-lanes-not-there/alm.db"));
	assert_int_equal(err.code, E_IO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verify_lanes__a_fault_is_named_as_one_process_does),
		cmocka_unit_test(test_verify_lanes__several_faults_and_rows_out_of_place),
		cmocka_unit_test(test_verify_lanes__every_row_is_what_one_process_reads),
		cmocka_unit_test(test_verify_lanes__what_is_wrong_with_the_file),
		cmocka_unit_test(test_verify_lanes__a_process_that_dies_is_an_error),
		cmocka_unit_test(test_verify_lanes__what_a_process_cannot_read_is_its_error),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
