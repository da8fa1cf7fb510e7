/* Tampering (audit.md 12): whatever is changed in the tables is found, and the row named. */
#include "tests/lib/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alm/audit/audit_internal.h"
#include "alm/audit/log.h"
#include "alm/audit/tables.h"
#include "alm/audit/verify.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/audit_log.h"

enum { ROWS = 64 };

static struct audit_log l;
static struct verify_report *rep;
static bool skip_tables; /* the triggers stay away while thousands of values are changed */

static void sql(const char *text)
{
	struct error err = ERROR_INIT;
	assert_ok(db_exec(l.db, text, &err), &err);
}

/* As a hostile root: the triggers go before and are back after. */
static void triggers(bool there)
{
	for (const struct tables_object *o = audit_tables; o->type; o++) {
		if (strcmp(o->type, "trigger") != 0)
			continue;
		char drop[128];
		(void)snprintf(drop, sizeof(drop), "DROP TRIGGER %s", o->name);
		sql(there ? o->sql : drop);
	}
}

static bool verify(void)
{
	struct error err = ERROR_INIT;
	struct verify_options o = {.skip_file_check = true, .skip_tables_check = skip_tables};
	assert_ok(verify_log(l.db, &o, rep, &err), &err);
	return rep->n_findings == 0;
}

static bool names_row(int64_t seq)
{
	for (size_t i = 0; i < rep->n_findings; i++)
		if (rep->findings[i].seq <= seq && rep->findings[i].to >= seq)
			return true;
	return false;
}

/* A checkpoint that does not fit accuses all rows up to it: only where none of them is known to be at fault. */
static void assert_no_row_is_accused_for_another(const char *what)
{
	for (size_t i = 0; i < rep->n_findings; i++) {
		const struct verify_finding *f = &rep->findings[i];
		if (!cstr_has_prefix(f->text, "rewritten: not what checkpoint"))
			continue;
		for (size_t k = 0; k < rep->n_findings; k++)
			if (k != i && rep->findings[k].seq > 0 && rep->findings[k].seq <= f->to)
				fail_msg("%s: %s, though %s", what, f->text, rep->findings[k].text);
	}
}

static void assert_found(int64_t seq, const char *what)
{
	if (verify())
		fail_msg("%s: not found", what);
	assert_no_row_is_accused_for_another(what);
	if (seq && !names_row(seq)) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		verify_print(rep, &b);
		fail_msg("%s: row %" PRId64 " not named:\n%s", what, seq, b.buf);
	}
}

static int64_t number(const char *text)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	assert_ok(db_prepare(l.db, text, &s, &err), &err);
	assert_int_equal(stmt_step(s, &err), 1);
	int64_t v = stmt_int(s, 0);
	stmt_reset(s);
	return v;
}

static int setup(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	rep = xcalloc(1, sizeof(*rep));
	audit_log_open(&l, ":memory:", NULL);
	audit_log_fill(&l, ROWS - 1, 16);
	/* The last checkpoint, as at shutdown. */
	l.loop.now_ns += INT64_C(2000000000);
	loop_run_due(&l.loop.base);
	assert_int_equal(number("SELECT max(size) FROM audit_checkpoint"), ROWS);
	triggers(false);
	(void)err;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	audit_log_close(&l);
	xfree(rep);
	return 0;
}

static void begin(void)
{
	struct error err = ERROR_INIT;
	assert_ok(db_begin(l.db, &err), &err);
}

/* Verifies what was just changed, then takes it back. */
static void check_and_undo(int64_t seq, const char *what)
{
	if (!skip_tables)
		triggers(true);
	assert_found(seq, what);
	db_rollback(l.db);
}

struct column {
	const char *table, *name, *key, *seq; /* seq: SQL for the row to be named; "0": none */
	bool is_int;
};

/* clang-format off */
static const struct column columns[] = {
	{"audit", "seq", "seq", "seq", true},
	{"audit", "time", "seq", "seq", true},
	{"audit", "type", "seq", "seq", false},
	{"audit", "reason", "seq", "seq", false},
	{"audit", "cluster", "seq", "seq", false},
	{"audit", "kind", "seq", "seq", false},
	{"audit", "ns", "seq", "seq", false},
	{"audit", "name", "seq", "seq", false},
	{"audit", "uid", "seq", "seq", false},
	{"audit", "tseq", "seq", "seq", true},
	{"audit", "op", "seq", "seq", false},
	{"audit", "cause", "seq", "seq", true},
	{"audit", "actor", "seq", "seq", false},
	{"audit", "body", "seq", "seq", false},
	{"audit", "chain", "seq", "seq", false},
	{"audit_blob", "bytes", "rowid", "0", false},
	{"audit_blob", "digest", "rowid", "0", false},
	{"audit_head", "uid", "seq", "0", false},
	{"audit_head", "tseq", "seq", "0", true},
	{"audit_head", "seq", "seq", "0", true},
	{"audit_key", "size", "size", "0", true},
	{"audit_key", "vkey", "size", "0", false},
	{"audit_checkpoint", "size", "size", "0", true},
	{"audit_checkpoint", "note", "size", "0", false},
};
/* clang-format on */

static bool has_changed(void)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	assert_ok(db_prepare(l.db, "SELECT changes()", &s, &err), &err);
	assert_int_equal(stmt_step(s, &err), 1);
	int64_t n = stmt_int(s, 0);
	assert_int_equal(stmt_step(s, &err), 0);
	return n > 0;
}

/* A changed value that the table refuses (UNIQUE, CHECK) is no tampering: false. */
static bool try_update(const struct column *c, int64_t key, const char *value)
{
	struct error err = ERROR_INIT;
	char text[512];
	int n = snprintf(text, sizeof(text), "UPDATE %s SET %s = %s WHERE %s = %" PRId64, c->table,
			 c->name, value, c->key, key);
	assert_true(n > 0 && (size_t)n < sizeof(text));
	return db_exec(l.db, text, &err) >= 0 && has_changed();
}

static bool try_blob_update(const struct column *c, int64_t key, const char *hex, size_t at)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	bool binary = !strcmp(c->name, "chain") || !strcmp(c->table, "audit_blob");
	strbuf_addf(&b, "UPDATE %s SET %s = ", c->table, c->name);
	strbuf_adds(&b, binary ? "x'" : "CAST(x'");
	strbuf_adds(&b, hex);
	strbuf_adds(&b, binary ? "'" : "' AS TEXT)");
	strbuf_addf(&b, " WHERE %s = %" PRId64, c->key, key);
	(void)at;
	return db_exec(l.db, b.buf, &err) >= 0 && has_changed();
}

static void flip_int(const struct column *c, int64_t key, int64_t seq, int64_t value)
{
	for (int byte = 0; byte < 8; byte++) {
		char text[32], what[96];
		int64_t flipped = (int64_t)((uint64_t)value ^ UINT64_C(1) << (8 * byte + byte % 8));
		(void)snprintf(text, sizeof(text), "%" PRId64, flipped);
		(void)snprintf(what, sizeof(what), "%s.%s of %" PRId64 " byte %d", c->table,
			       c->name, key, byte);
		begin();
		if (try_update(c, key, text))
			check_and_undo(seq, what);
		else
			db_rollback(l.db);
	}
}

static void flip_bytes(const struct column *c, int64_t key, int64_t seq, struct str hex)
{
	for (size_t i = 0; i < hex.len; i += 2) {
		char what[96];
		CLEANUP(xfreep) char *copy = str_dup(hex);
		copy[i + 1] = (char)(copy[i + 1] == '0' ? '1' : '0');
		(void)snprintf(what, sizeof(what), "%s.%s of %" PRId64 " byte %zu", c->table,
			       c->name, key, i / 2);
		begin();
		if (try_blob_update(c, key, copy, i))
			check_and_undo(seq, what);
		else
			db_rollback(l.db);
	}
}

static void flip_column(const struct column *c)
{
	int64_t keys[256];
	size_t n = 0;
	struct stmt *s;
	struct error err = ERROR_INIT;
	char text[256];
	(void)snprintf(text, sizeof(text),
		       "SELECT %s FROM %s WHERE %s IS NOT NULL ORDER BY 1 LIMIT 64", c->key,
		       c->table, c->name);
	assert_ok(db_prepare(l.db, text, &s, &err), &err);
	while (stmt_step(s, &err) > 0 && n < ARRAY_LEN(keys))
		keys[n++] = stmt_int(s, 0);
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(text, sizeof(text),
			       "SELECT %s, hex(%s), %s FROM %s WHERE %s = %" PRId64, c->name,
			       c->name, c->seq, c->table, c->key, keys[i]);
		assert_ok(db_prepare(l.db, text, &s, &err), &err);
		assert_int_equal(stmt_step(s, &err), 1);
		int64_t value = c->is_int ? stmt_int(s, 0) : 0, seq = stmt_int(s, 2);
		CLEANUP(xfreep) char *hex = str_dup(stmt_text(s, 1));
		stmt_reset(s);
		if (c->is_int)
			flip_int(c, keys[i], seq, value);
		else
			flip_bytes(c, keys[i], seq, str_of(hex));
	}
}

static void test_audit_verify__every_flipped_byte_is_found(void **state)
{
	(void)state;
	skip_tables = true;
	assert_true(verify());
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		flip_column(&columns[i]);
	skip_tables = false;
}

static void test_audit_verify__absent_is_not_empty(void **state)
{
	(void)state;
	static const char *const changes[] = {
		"UPDATE audit SET actor = '' WHERE seq = 20 AND actor IS NULL",
		"UPDATE audit SET op=NULL WHERE seq=(SELECT max(seq) FROM audit WHERE op NOTNULL)",
		"UPDATE audit SET cause = NULL WHERE seq = 20",
		"UPDATE audit SET tseq=NULL WHERE seq=(SELECT max(seq) FROM audit WHERE tseq>0)",
		/* the same bytes by another split of columns */
		"UPDATE audit SET body = body || ',\"cause\":' || cause, cause = NULL WHERE seq=20",
		"DELETE FROM audit_ref WHERE seq = (SELECT max(seq) FROM audit_ref)",
		"DELETE FROM audit_blob WHERE rowid = 1",
		"DELETE FROM audit_head WHERE uid = 'uid-1'",
		"INSERT INTO audit_head VALUES ('x', 1, 2)",
		"UPDATE audit_head SET tseq = 9223372036854775807",
		"INSERT INTO audit_ref SELECT 20, digest FROM audit_blob LIMIT 1",
		"DELETE FROM audit_key",
		"INSERT INTO audit_key SELECT 30, vkey FROM audit_key",
		"DROP INDEX audit_tseq",
		"CREATE TRIGGER t AFTER INSERT ON audit BEGIN SELECT 1; END",
		"INSERT INTO audit_prune VALUES (10, 20, 'x')",
		/* on another table: what is acknowledged is not there */
		"CREATE TABLE o(v); CREATE TRIGGER t BEFORE INSERT ON o BEGIN SELECT 1; END",
		"CREATE VIEW v AS SELECT 1",
	};
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		begin();
		sql(changes[i]);
		check_and_undo(0, changes[i]);
	}
}

/* A head of an object without transitions, before, between and behind those of the others, which begin with "uid-". */
static void test_audit_verify__a_head_of_nothing_is_found(void **state)
{
	static const char *const uids[] = {"a", "uid-", "uid-0x", "uid-1x", "x"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(uids); i++) {
		char text[128];
		begin();
		(void)snprintf(text, sizeof(text), "INSERT INTO audit_head VALUES ('%s', 1, 5)",
			       uids[i]);
		sql(text);
		triggers(true);
		assert_found(5, text);
		bool named = false;
		for (size_t k = 0; k < rep->n_findings; k++)
			named |= !strcmp(rep->findings[k].text,
					 "the head that names it was altered");
		assert_true(named);
		db_rollback(l.db);
	}
}

static void test_audit_verify__moved_rows_are_found(void **state)
{
	(void)state;
	char text[512];
	for (int64_t n = 1; n <= ROWS; n++) {
		begin();
		(void)snprintf(text, sizeof(text), "DELETE FROM audit WHERE seq = %" PRId64, n);
		sql(text);
		check_and_undo(n, "deleted");

		begin(); /* deleted, and the gap closed */
		sql(text);
		(void)snprintf(text, sizeof(text),
			       "UPDATE audit SET seq = -seq WHERE seq > %" PRId64
			       "; UPDATE audit SET seq = -seq - 1 WHERE seq < 0",
			       n);
		sql(text);
		check_and_undo(n, "deleted and closed up");

		begin(); /* a copy of the row behind it */
		(void)snprintf(
			text, sizeof(text),
			"UPDATE audit SET seq = -seq WHERE seq > %" PRId64
			"; UPDATE audit SET seq = 1 - seq WHERE seq < 0;"
			"INSERT INTO audit SELECT seq + 1, time, type, reason, cluster, kind, ns,"
			" name, uid, NULL, NULL, cause, actor, body, chain FROM audit WHERE seq ="
			" %" PRId64,
			n, n);
		sql(text);
		check_and_undo(n + 1, "duplicated");
		if (n == ROWS)
			break;
		begin();
		(void)snprintf(text, sizeof(text),
			       "UPDATE audit SET seq = -1 WHERE seq = %" PRId64
			       "; UPDATE audit SET seq = %" PRId64 " WHERE seq = %" PRId64
			       "; UPDATE audit SET seq = %" PRId64 " WHERE seq = -1",
			       n, n, n + 1, n + 1);
		sql(text);
		check_and_undo(n, "swapped");
	}
	begin();
	sql("DELETE FROM audit WHERE seq > 60");
	check_and_undo(61, "truncated below a checkpoint");
}

/* As the attacker who knows the algorithm but not the key. */
static void rechain(int64_t from)
{
	struct error err = ERROR_INIT;
	struct record rec;
	unsigned char chain[SHA256_BYTES], leaf[SHA256_BYTES];
	CLEANUP(strbuf_release) struct strbuf scratch = STRBUF_INIT(RECORD_BYTES_MAX);
	chain_start(audit_origin(l.audit), chain);
	for (int64_t n = 1; n <= ROWS; n++) {
		struct stmt *s;
		assert_ok(db_prepare(l.db, "SELECT " LOG_COLUMNS " FROM audit WHERE seq = ?", &s,
				     &err),
			  &err);
		stmt_bind_int(s, 1, n);
		assert_int_equal(stmt_step(s, &err), 1);
		log_record(s, &rec);
		record_leaf(&rec, &scratch, leaf);
		stmt_reset(s);
		chain_next(chain, leaf, chain);
		if (n < from)
			continue;
		assert_ok(db_prepare(l.db, "UPDATE audit SET chain = ? WHERE seq = ?", &s, &err),
			  &err);
		stmt_bind_blob(s, 1, str_n((const char *)chain, sizeof(chain)));
		stmt_bind_int(s, 2, n);
		assert_ok(stmt_step(s, &err), &err);
	}
}

static void test_audit_verify__a_rewritten_log_is_found_by_its_checkpoints(void **state)
{
	(void)state;
	char text[128];
	for (int64_t n = 2; n <= ROWS; n++) {
		begin();
		(void)snprintf(text, sizeof(text),
			       "UPDATE audit SET reason = 'Forged' WHERE seq = %" PRId64, n);
		sql(text);
		rechain(n);
		check_and_undo(n, "rewritten");
	}
}

static void test_audit_verify__a_rewritten_row_is_named_by_its_tile(void **state)
{
	(void)state;
	struct audit_log saved = l;
	struct error err = ERROR_INIT;
	audit_log_open(&l, ":memory:", NULL);
	audit_log_fill(&l, 600, 100);
	audit_log_assert_intact(&l);
	triggers(false);
	begin();
	sql("UPDATE audit_tile SET hashes = CAST(substr(hashes, 1, 320) || zeroblob(32) ||"
	    " substr(hashes, 353) AS BLOB) WHERE id = 1");
	triggers(true);
	assert_int_equal(verify_tail(l.db, audit_origin(l.audit), 600, &err), -E_ALTERED);
	triggers(false);
	assert_string_equal(err.msg, "entry 267 is not the one of its tile");
	check_and_undo(256 + 11, "tile altered");
	audit_log_close(&l);
	l = saved;
}

/* What is wrong with the file as a whole explains no row: both are told. */
static void test_audit_verify__a_missing_trigger_hides_no_forgery(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	const struct verify_options o = {.skip_file_check = true};
	begin();
	sql("UPDATE audit SET reason = 'Forged' WHERE seq = 3");
	rechain(3);
	assert_ok(verify_log(l.db, &o, rep, &err), &err);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	verify_print(rep, &b);
	assert_int_equal(rep->findings[0].seq, 0);
	if (!strstr(b.buf, "rewritten"))
		fail_msg("%s", b.buf);
	db_rollback(l.db);
}

static size_t findings_since_checkpoint(void)
{
	struct error err = ERROR_INIT;
	struct verify_options o = {.skip_file_check = true, .since_checkpoint = true};
	assert_ok(verify_log(l.db, &o, rep, &err), &err);
	return rep->n_findings;
}

static char *note_of(int64_t size)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	assert_ok(db_prepare(l.db, "SELECT note FROM audit_checkpoint WHERE size = ?", &s, &err),
		  &err);
	stmt_bind_int(s, 1, size);
	assert_int_equal(stmt_step(s, &err), 1);
	char *ret = xstrndup(stmt_text(s, 0).ptr, stmt_text(s, 0).len);
	stmt_reset(s);
	return ret;
}

/* What places remember is compared below and behind the checkpoint that is begun with; the one behind is not in the
 * database any more. */
static void compare_places(int64_t size)
{
	struct error err = ERROR_INIT;
	l.loop.now_ns += INT64_C(2000000000);
	loop_run_due(&l.loop.base);
	int64_t last = number("SELECT max(size) FROM audit_checkpoint");
	assert_true(last > size);
	CLEANUP(xfreep) char *below = note_of(size), *behind = note_of(last);
	const struct verify_anchor anchors[] = {{.name = "file a", .note = str_of(below)},
						{.name = "file b", .note = str_of(behind)}};
	struct verify_options o = {.skip_file_check = true,
				   .since_checkpoint = true,
				   .anchors = anchors,
				   .n_anchors = ARRAY_LEN(anchors)};
	begin(); /* without its triggers */
	sql("DELETE FROM audit_checkpoint WHERE size = (SELECT max(size) FROM audit_checkpoint)");
	triggers(true);
	assert_ok(verify_log(l.db, &o, rep, &err), &err);
	assert_int_equal(rep->rows, last - size);
	assert_int_equal(rep->n_anchors, 2);
	assert_int_equal(rep->n_findings, 0);
	db_rollback(l.db);
}

static void test_audit_verify__since_the_checkpoint_reads_the_rest_only(void **state)
{
	(void)state;
	struct audit_log saved = l;
	audit_log_open(&l, ":memory:", NULL);
	audit_log_fill(&l, 300, 100);
	l.loop.now_ns += INT64_C(2000000000);
	loop_run_due(&l.loop.base);
	int64_t size = number("SELECT max(size) FROM audit_checkpoint");
	audit_log_fill(&l, 30, 30);
	assert_true(number("SELECT max(seq) FROM audit") > size);
	assert_int_equal(findings_since_checkpoint(), 0);
	assert_int_equal(rep->rows, 331 - size);
	triggers(false);
	begin();
	sql("UPDATE audit SET reason = 'x' WHERE seq = 5");
	triggers(true);
	assert_int_equal(findings_since_checkpoint(), 0); /* below: not read */
	db_rollback(l.db);
	begin();
	sql("UPDATE audit SET reason = 'x' WHERE seq = 325");
	triggers(true);
	assert_int_equal(findings_since_checkpoint(), 1);
	assert_true(names_row(325));
	db_rollback(l.db);
	compare_places(size);
	audit_log_close(&l);
	l = saved;
}

static const struct obj *live[3];

/* The statuses of a cluster: objects uid-0 to uid-2. */
static int each_status(void *arg, verify_object_fn fn, void *fn_arg, struct error *err)
{
	(void)arg;
	int r = 0;
	char uid[] = "uid-0";
	for (size_t i = 0; i < ARRAY_LEN(live) && r >= 0; i++) {
		uid[4] = (char)('0' + i);
		CLEANUP(obj_unrefp) struct obj *o = meta_skeleton("v1", "AppType", NULL, "a");
		obj_set_path(o, "metadata.uid", obj_string(uid));
		if (live[i])
			obj_set(o, "status", obj_ref(live[i]));
		if (live[i])
			r = fn(fn_arg, o, err);
	}
	return r;
}

static bool statuses_fit(void)
{
	struct error err = ERROR_INIT;
	struct verify_options o = {.skip_file_check = true, .each_status = each_status};
	assert_ok(verify_log(l.db, &o, rep, &err), &err);
	assert_true(rep->statuses_compared);
	return rep->n_findings == 0;
}

static struct obj *status_of(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

static int64_t transit(int64_t tseq, const char *reason, const struct obj *status)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	CLEANUP(xfreep) char *text = json_text(status);
	obj_set_str(body, "status", text);
	struct audit_row row = {.type = "Transition",
				.reason = reason,
				.subject = {.kind = "AppType", .name = "a", .uid = "uid-0"},
				.transition_seq = tseq,
				.body = body};
	assert_ok(audit_append_now(l.audit, &row, &seq, &err), &err);
	return seq;
}

static void test_audit_verify__transitions_equal_statuses(void **state)
{
	(void)state;
	struct audit_log saved = l;
	audit_log_open(&l, ":memory:", NULL);
	CLEANUP(obj_unrefp) struct obj *first =
		status_of("{\"transitionSeq\":1,\"phase\":\"Ready\",\"f\":1.5}");
	CLEANUP(obj_unrefp) struct obj *second =
		status_of("{\"transitionSeq\":2,\"phase\":\"Failed\"}");
	CLEANUP(obj_unrefp) struct obj *third =
		status_of("{\"transitionSeq\":3,\"phase\":\"Ready\"}");
	CLEANUP(obj_unrefp) struct obj *forged =
		status_of("{\"transitionSeq\":2,\"phase\":\"Ready\"}");
	transit(1, "Ready", first);
	live[0] = first;
	assert_true(statuses_fit());
	int64_t seq = transit(2, "Failed", second);
	assert_true(statuses_fit()); /* announced, not yet written */
	live[0] = second;
	assert_true(statuses_fit());
	live[0] = forged;
	assert_false(statuses_fit());
	assert_true(names_row(seq));
	live[0] = third; /* announced by nobody */
	assert_false(statuses_fit());
	live[0] = NULL; /* others may delete it when they like */
	assert_true(statuses_fit());
	live[1] = first; /* of an object that this log does not know */
	assert_true(statuses_fit());
	live[0] = second;
	transit(3, "Ready", third);
	transit(4, "Deleted", third);
	assert_false(statuses_fit()); /* two behind */
	live[0] = live[1] = NULL;
	audit_log_close(&l);
	l = saved;
}

static void remember(void *arg, int64_t at, int64_t n)
{
	int64_t *seen = arg;
	seen[0] = seen[1] ? seen[0] : at; /* the first, and how it ends */
	seen[1]++;
	seen[2] = at;
	seen[3] = n;
}

static void test_audit_verify__who_waits_is_told_how_far_it_is(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	int64_t seen[4] = {0};
	struct verify_options o = {
		.skip_file_check = true, .progress = remember, .progress_arg = seen};
	assert_ok(verify_log(l.db, &o, rep, &err), &err);
	assert_int_equal(seen[0], 0);
	assert_int_equal(seen[2], number("SELECT max(seq) FROM audit"));
	assert_int_equal(seen[2], seen[3]);
	assert_true(seen[1] >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit_verify__every_flipped_byte_is_found),
		cmocka_unit_test(test_audit_verify__who_waits_is_told_how_far_it_is),
		cmocka_unit_test(test_audit_verify__absent_is_not_empty),
		cmocka_unit_test(test_audit_verify__moved_rows_are_found),
		cmocka_unit_test(test_audit_verify__a_head_of_nothing_is_found),
		cmocka_unit_test(test_audit_verify__a_rewritten_log_is_found_by_its_checkpoints),
		cmocka_unit_test(test_audit_verify__a_rewritten_row_is_named_by_its_tile),
		cmocka_unit_test(test_audit_verify__a_missing_trigger_hides_no_forgery),
		cmocka_unit_test(test_audit_verify__transitions_equal_statuses),
		cmocka_unit_test(test_audit_verify__since_the_checkpoint_reads_the_rest_only),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
