/* What an entry is: what it must have, what it names, what stands in it for secrets, and that it is the same again when it was
 * read as an object; and what a note is. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/audit/audit.h"
#include "alm/audit/checkpoint.h"
#include "alm/audit/export.h"
#include "alm/audit/log.h"
#include "alm/audit/record.h"
#include "alm/obj/json.h"
#include "tests/lib/audit_log.h"

#define ORIGIN "alm.example/prod"

/* A beginning of it is none, nor is it with anything but signatures of others behind it. */
static void test_audit_entry__a_note_is_whole(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct checkpoint c;
	static const unsigned char seed[SIGNER_SEED_BYTES] = {1}, root[SHA256_BYTES] = {2};
	CLEANUP(signer_freep) struct signer *s = NULL;
	CLEANUP(strbuf_release) struct strbuf note = STRBUF_INIT(CHECKPOINT_BYTES_MAX);
	assert_ok(signer_new(ORIGIN, seed, &s, &err), &err);
	assert_ok(checkpoint_sign(s, 2, root, &note, &err), &err);
	const char *vkey = signer_vkey(s);
	assert_ok(checkpoint_verify(strbuf_str(&note), ORIGIN, vkey, &c, &err), &err);
	/* The same line with another signature, by another key of the name, and by another name. */
	const char *line = strstr(note.buf, "\n\n") + 2, *base64 = strrchr(line, ' ') + 1;
	CLEANUP(strbuf_release) struct strbuf other_id = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf other_signature = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf of_another = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&other_id, line);
	char *c0 = &other_id.buf[base64 - line];
	*c0 = *c0 == 'A' ? 'B' : 'A';
	c0 = &other_id.buf[base64 - line + 40];
	*c0 = *c0 == 'A' ? 'B' : 'A';
	strbuf_adds(&other_signature, line);
	c0 = &other_signature.buf[base64 - line + 40];
	*c0 = *c0 == 'A' ? 'B' : 'A';
	strbuf_addf(&of_another, "\xe2\x80\x94 another %s", &other_signature.buf[base64 - line]);
	const char *const more[] = {other_signature.buf,
				    "xxxx another AAAA\n",
				    "x",
				    "x\n",
				    "\n",
				    "\xe2\x80\x94 x\n",
				    "\xe2\x80\x94 alm.example/prod x"};
	const char *const fine[] = {line,
				    other_id.buf,
				    of_another.buf,
				    "\xe2\x80\x94 x y\n",
				    "\xe2\x80\x94 witness AAAA\n",
				    "\xe2\x80\x94 alm.example/prod x\n"};
	for (size_t n = 0; n < note.len; n++)
		assert_int_equal(checkpoint_verify(str_n(note.buf, n), ORIGIN, vkey, &c, &err),
				 -E_ALTERED);
	for (size_t i = 0; i < ARRAY_LEN(more) + ARRAY_LEN(fine); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		bool is_fine = i >= ARRAY_LEN(more);
		strbuf_addf(&b, "%s%s", note.buf, is_fine ? fine[i - ARRAY_LEN(more)] : more[i]);
		int r = checkpoint_verify(strbuf_str(&b), ORIGIN, vkey, &c, &err);
		if (r != (is_fine ? 0 : -E_ALTERED))
			fail_msg("line %zu behind the note: %d", i, r);
	}
}

/* What stands for a value depends on its place and the value, not on those beside it. */
static void test_audit_entry__a_mac_is_of_one_value(void **state)
{
	(void)state;
	static const char *const secrets[] = {
		"{\"kind\":\"Secret\",\"data\":{\"a\":\"eA==\"}}",
		"{\"kind\":\"Secret\",\"data\":{\"b\":\"eQ==\",\"a\":\"eA==\",\"c\":\"eA==\"}}",
		"{\"kind\":\"Secret\",\"data\":{\"b\":\"eQ==\"},\"stringData\":{\"z\":\"z\",\"a\":"
		"\"x\"}}",
		"{\"kind\":\"Secret\",\"stringData\":{\"a\":\"y\"}}",
	};
	struct audit_log l;
	struct obj *redacted[ARRAY_LEN(secrets)];
	audit_log_open(&l, ":memory:", NULL);
	for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
		struct error err = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		assert_ok(json_parse(str_of(secrets[i]), &o, &err), &err);
		redacted[i] = audit_redact(l.audit, o);
		CLEANUP(xfreep) char *kept =
			json_text(o); /* what it shares with its copy is as it was */
		assert_string_equal(kept, secrets[i]);
	}
	const char *a = obj_str(redacted[0], "data.a");
	assert_string_equal(obj_str(redacted[1], "data.a"), a);
	assert_string_equal(obj_str(redacted[2], "stringData.a"), a);
	assert_string_not_equal(obj_str(redacted[3], "stringData.a"), a);
	assert_string_not_equal(obj_str(redacted[1], "data.c"), a);
	for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
		obj_unref(redacted[i]);
	audit_log_close(&l);
}

/* As deep as an object may be nothing of it is left out. */
static void test_audit_entry__what_is_deep_is_redacted(void **state)
{
	(void)state;
	struct audit_log l;
	struct obj *deep = obj_int(1);
	for (int i = 0; i < OBJ_DEPTH_MAX; i++) {
		struct obj *outer = i % 2 ? obj_list() : obj_map();
		if (i % 2)
			obj_append(outer, deep);
		else
			obj_set(outer, "a", deep);
		deep = outer;
	}
	CLEANUP(obj_unrefp) struct obj *own = deep, *around = obj_list();
	audit_log_open(&l, ":memory:", NULL);
	CLEANUP(obj_unrefp) struct obj *redacted = audit_redact(l.audit, own);
	assert_true(obj_equal(redacted, own));
	obj_append(around, obj_ref(own));
	CLEANUP(obj_unrefp) struct obj *cut = audit_redact(l.audit, around);
	assert_false(obj_equal(cut, around));
	audit_log_close(&l);
}

/* What an entry must have, and what it must not. */
static void test_audit_entry__what_is_no_entry_is_refused(void **state)
{
	(void)state;
	static const char op64[] =
		"0123456789012345678901234567890123456789012345678901234567890123";
	static const char op65[] =
		"01234567890123456789012345678901234567890123456789012345678901234";
	static const struct {
		struct audit_row row;
		int code;
	} cases[] = {
		{{.type = "T", .reason = "R"}, 0},
		{{.type = NULL, .reason = "R"}, E_INVALID},
		{{.type = "", .reason = "R"}, E_INVALID},
		{{.type = "T", .reason = NULL}, E_INVALID},
		{{.type = "T", .reason = ""}, E_INVALID},
		{{.type = "T", .reason = "R", .op = op64}, 0},
		{{.type = "T", .reason = "R", .op = op65}, E_LIMIT},
		{{.type = "T", .reason = "R", .cause = -1}, E_INVALID},
		{{.type = "T", .reason = "R", .cause = 1}, 0},
		{{.type = "T", .reason = "R", .cause = 100}, E_INVALID},
		{{.type = "T", .reason = "R", .transition_seq = 1}, E_INVALID},
		{{.type = "T", .reason = "R", .transition_seq = 1, .subject = {.uid = ""}},
		 E_INVALID},
		{{.type = "Transition",
		  .reason = "R",
		  .transition_seq = 1,
		  .subject = {.uid = "u"}},
		 0},
	};
	struct audit_log l;
	audit_log_open(&l, ":memory:", NULL);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		int64_t seq = -7, before = audit_last_seq(l.audit);
		int r = audit_append_now(l.audit, &cases[i].row, &seq, &err);
		if (r != -cases[i].code || audit_last_seq(l.audit) != before + !cases[i].code ||
		    seq != (cases[i].code ? -7 : before + 1))
			fail_msg("case %zu: %d %s", i, r, err.msg);
	}
	/* A body is a map. */
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *text = obj_string("x");
	const struct audit_row no_map = {.type = "T", .reason = "R", .body = text};
	int64_t last = audit_last_seq(l.audit);
	assert_int_equal(audit_append_now(l.audit, &no_map, &last, &err), -E_INVALID);
	assert_int_equal(audit_last_seq(l.audit), last);
	/* The one that is next may be no cause yet. */
	err = ERROR_INIT;
	int64_t seq, next = audit_last_seq(l.audit) + 1;
	struct audit_row row = {.type = "T", .reason = "R", .cause = next};
	assert_int_equal(audit_append_now(l.audit, &row, &seq, &err), -E_INVALID);
	row.cause--;
	assert_ok(audit_append_now(l.audit, &row, &seq, &err), &err);
	audit_log_assert_intact(&l);
	audit_log_close(&l);
}

static int64_t number_of(struct audit_log *l, const char *sql)
{
	struct error err = ERROR_INIT;
	int64_t n = -1;
	assert_ok(db_number(l->db, sql, NULL, &n, &err), &err);
	return n;
}

/* The same bytes are one blob, named once by the entry behind them, as are those of a text in parts. */
static void test_audit_entry__an_entry_names_each_blob_once(void **state)
{
	(void)state;
	struct audit_log l;
	struct error err = ERROR_INIT;
	char digest[SHA256_HEX];
	int64_t seq;
	audit_log_open(&l, ":memory:", NULL);
	int64_t names_before = number_of(&l, "SELECT count(*) FROM audit_ref");
	int64_t blobs_before = number_of(&l, "SELECT count(*) FROM audit_blob");
	for (int entry = 0; entry < 2; entry++) {
		static const char *const texts[] = {"a", "b", "a", "a", "b", ""};
		CLEANUP(obj_unrefp) struct obj *o = NULL, *body = obj_map(), *list = obj_list();
		const struct audit_row row = {.type = "Observe", .reason = "Seen", .body = body};
		obj_set(body, "list", obj_ref(list));
		assert_ok(db_begin(l.db, &err), &err);
		for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
			assert_ok(audit_blob_put(l.audit, str_of(texts[i]), digest, &err), &err);
			obj_append(list, obj_stringf("sha256:%s", digest));
		}
		assert_ok(audit_append(l.audit, &row, &seq, &err), &err);
		assert_ok(db_commit(l.db, &err), &err);
		audit_committed(l.audit);
		assert_ok(audit_row_get(l.audit, seq, &o, &err), &err);
		assert_int_equal(obj_i64(o, "body.blobs", 0), 3);
		assert_int_equal(number_of(&l, "SELECT count(*) FROM audit_ref"),
				 names_before + 3 * ((int64_t)entry + 1));
		assert_int_equal(number_of(&l, "SELECT count(*) FROM audit_blob"),
				 blobs_before + 3);
	}
	audit_log_assert_intact(&l);
	audit_log_close(&l);
}

/* How large a blob may be, and how many an entry may name. */
static void test_audit_entry__blobs_have_bounds(void **state)
{
	(void)state;
	enum { BLOBS = 64 };
	struct audit_log l;
	struct error err = ERROR_INIT;
	char digest[SHA256_HEX];
	int64_t seq;
	static const struct audit_row row = {.type = "Observe", .reason = "Seen"};
	CLEANUP(xfreep) char *large = xcalloc(AUDIT_BLOB_BYTES_MAX + 1, 1);
	audit_log_open(&l, ":memory:", NULL);
	assert_ok(db_begin(l.db, &err), &err);
	assert_int_equal(
		audit_blob_put(l.audit, str_n(large, AUDIT_BLOB_BYTES_MAX + 1), digest, &err),
		-E_LIMIT);
	for (int entry = 0; entry < 2; entry++) {
		for (size_t i = 0; i < BLOBS; i++)
			assert_ok(audit_blob_put(l.audit, str_n(large, AUDIT_BLOB_BYTES_MAX - i),
						 digest, &err),
				  &err);
		assert_int_equal(audit_blob_put(l.audit, STR("one more"), digest, &err), -E_LIMIT);
		assert_ok(audit_append(l.audit, &row, &seq, &err), &err); /* the next has its own */
	}
	assert_int_equal(number_of(&l, "SELECT count(*) FROM audit_ref WHERE seq > 1"), 2 * BLOBS);
	db_rollback(l.db);
	audit_rolled_back(l.audit);
	/* Where nothing can be kept nothing counts as named. */
	assert_ok(db_exec(l.db, "ALTER TABLE audit_blob RENAME TO gone", &err), &err);
	assert_true(audit_blob_put(l.audit, STR("x"), digest, &err) < 0);
	assert_ok(db_exec(l.db, "ALTER TABLE gone RENAME TO audit_blob", &err), &err);
	audit_log_close(&l);
}

static void print_entry(struct db *d, int64_t seq, struct strbuf *b)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	struct record rec;
	assert_ok(log_range(d, seq - 1, seq, &s, &err), &err);
	assert_int_equal(stmt_step(s, &err), 1);
	log_record(s, &rec);
	record_print(&rec, b);
	stmt_reset(s);
}

/* An entry that was read as an object, as AuditRecords are, is the same one in a log of its own. */
static void test_audit_entry__an_entry_is_the_same_from_its_object(void **state)
{
	(void)state;
	struct audit_log l, other;
	struct error err = ERROR_INIT;
	audit_log_open(&l, ":memory:", NULL);
	audit_log_fill(&l, 40, 8);
	audit_log_open(&other, ":memory:", NULL);
	/* without its own rows, and what guards them */
	assert_ok(db_exec(other.db,
			  "DROP TRIGGER audit_delete; DROP TRIGGER audit_ref_delete;"
			  "DELETE FROM audit_ref; DELETE FROM audit",
			  &err),
		  &err);
	for (int64_t seq = 1; seq <= audit_last_seq(l.audit); seq++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		CLEANUP(strbuf_release) struct strbuf a = STRBUF_INIT(1 << 18);
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 18);
		assert_ok(audit_row_get(l.audit, seq, &o, &err), &err);
		assert_ok(export_add_object(other.db, o, &err), &err);
		print_entry(l.db, seq, &a);
		print_entry(other.db, seq, &b);
		assert_string_equal(a.buf, b.buf);
	}
	audit_log_close(&other);
	audit_log_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit_entry__a_note_is_whole),
		cmocka_unit_test(test_audit_entry__what_is_no_entry_is_refused),
		cmocka_unit_test(test_audit_entry__a_mac_is_of_one_value),
		cmocka_unit_test(test_audit_entry__what_is_deep_is_redacted),
		cmocka_unit_test(test_audit_entry__an_entry_names_each_blob_once),
		cmocka_unit_test(test_audit_entry__blobs_have_bounds),
		cmocka_unit_test(test_audit_entry__an_entry_is_the_same_from_its_object),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
