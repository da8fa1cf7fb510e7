#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alm/audit/audit.h"
#include "alm/audit/checkpoint.h"
#include "alm/audit/log.h"
#include "alm/audit/record.h"
#include "alm/audit/verify.h"
#include "alm/base/file.h"
#include "alm/obj/json.h"
#include "tests/lib/audit_log.h"

#define ORIGIN "alm.example/prod"

static const char record_1[] =
	"{\"body\":{\"format\":1,\"version\":\"1.0.0\"},\"reason\":\"LogOpened\",\"seq\":1,"
	"\"subject\":{\"cluster\":\"\",\"kind\":\"Log\",\"name\":\"alm.example/prod\","
	"\"namespace\":\"\",\"uid\":\"\"},\"time\":1893571200000000,\"type\":\"System\"}";
static const char record_2[] =
	"{\"actor\":\"alice\",\"body\":{\"apiVersion\":\"opinstaller.coreos.com/v1beta1\","
	"\"approves\":\"sha256:91aa03c4d2e1f0b7\",\"justification\":\"CHG-4711\","
	"\"trigger\":\"Approval\",\"verdict\":\"approve\",\"version\":{\"from\":\"0.9.5\","
	"\"to\":\"0.9.6\"},\"who\":{\"address\":\"10.0.0.7\",\"trust\":\"admission\","
	"\"via\":\"kubectl\"}},\"cause\":1,\"reason\":\"Approved\",\"seq\":2,"
	"\"subject\":{\"cluster\":\"\",\"kind\":\"InstallStrategy\","
	"\"name\":\"install.0.9.6.etcd.com.tectonic.storage\",\"namespace\":\"\","
	"\"uid\":\"8657f388-6da6-11e7-8ab2-08002787f71a\"},\"time\":1893571200000113,"
	"\"type\":\"Approval\"}";
static const char body_2[] =
	"{\"who\":{\"via\":\"kubectl\",\"trust\":\"admission\",\"address\":\"10.0.0.7\"},"
	"\"verdict\":\"approve\",\"apiVersion\":\"opinstaller.coreos.com/v1beta1\",\"empty\":\"\","
	"\"approves\":\"sha256:91aa03c4d2e1f0b7\",\"justification\":\"CHG-4711\",\"none\":[],"
	"\"version\":{\"to\":\"0.9.6\",\"from\":\"0.9.5\"},\"trigger\":\"Approval\","
	"\"nested\":{\"x\":null,\"y\":{}}}";
static const char vkey[] = "alm.example/prod+a009253a+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4";
static const char note[] = "alm.example/prod\n2\nFHtobQ3gAIDkfiI484x4scvdFTrWSgqMA0eDSZ7gASI=\n\n"
			   "\xe2\x80\x94 alm.example/prod "
			   "oAklOs1bHQBLFB0wNtJPE+WuS2L+NQEOVg3PY7vYTUdDovhM1pLo9dHLaCeU2"
			   "D5eYg5FFEEPJGRg0PjSkTYjrCCr2QY=\n";

static void assert_hex(const unsigned char hash[SHA256_BYTES], const char *want)
{
	char hex[SHA256_HEX];
	hex_encode(hash, SHA256_BYTES, hex);
	assert_string_equal(hex, want);
}

static void print_vector(int n, struct strbuf *b)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct str text = n == 1 ? STR("{\"version\":\"1.0.0\",\"format\":1}")
				 : str_n(body_2, sizeof(body_2) - 1);
	assert_ok(json_parse(text, &o, &err), &err);
	assert_ok(record_body(o, NULL, &body, &err), &err);
	struct record r = {.seq = n, .cluster = STR(""), .ns = STR("")};
	r.body = strbuf_str(&body);
	r.time_us = n == 1 ? 1893571200000000 : 1893571200000113;
	r.type = n == 1 ? STR("System") : STR("Approval");
	r.reason = n == 1 ? STR("LogOpened") : STR("Approved");
	r.kind = n == 1 ? STR("Log") : STR("InstallStrategy");
	r.name = n == 1 ? STR(ORIGIN) : STR("install.0.9.6.etcd.com.tectonic.storage");
	r.uid = n == 1 ? STR("") : STR("8657f388-6da6-11e7-8ab2-08002787f71a");
	if (n == 2) {
		r.actor = STR("alice");
		r.has_cause = true;
		r.cause = 1;
	}
	record_print(&r, b);
}

static void leaf_of(struct str record, unsigned char out[SHA256_BYTES])
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addc(&b, 0);
	strbuf_addstr(&b, record);
	sha256(strbuf_str(&b), out);
}

/* The vectors of audit.md 4. */
static void test_audit__vectors_hold(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	unsigned char leaf1[SHA256_BYTES], leaf2[SHA256_BYTES], chain[SHA256_BYTES];
	CLEANUP(strbuf_release) struct strbuf one = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf two = STRBUF_INIT(STRBUF_SMALL);
	print_vector(1, &one);
	print_vector(2, &two);
	assert_string_equal(one.buf, record_1);
	assert_string_equal(two.buf, record_2);
	leaf_of(strbuf_str(&one), leaf1);
	leaf_of(strbuf_str(&two), leaf2);
	assert_hex(leaf1, "9d8cb1675ea9caee6e511ba05384d4469718d87b871d42057784a85c6393059e");
	assert_hex(leaf2, "7464859f7f3cdcd7015869737876dccc90df2204ec47dba1ea9775fb80b5c11a");
	chain_start(ORIGIN, chain);
	assert_hex(chain, "d39b04492010801736a84d06568c927c0c13fc4b10056d4217d22a76f73f1c3f");
	chain_next(chain, leaf1, chain);
	chain_next(chain, leaf2, chain);
	assert_hex(chain, "df0eff5515656f4a1e3d56809b7d4ac9314e041e52b9f6b0efc0180cd3d8e932");

	struct tree *t = xcalloc(1, sizeof(*t));
	unsigned char root[SHA256_BYTES], seed[SIGNER_SEED_BYTES];
	assert_ok(tree_push(t, leaf1, NULL, NULL, &err), &err);
	assert_ok(tree_push(t, leaf2, NULL, NULL, &err), &err);
	tree_root(t, root);
	xfree(t);
	for (size_t i = 0; i < sizeof(seed); i++)
		seed[i] = (unsigned char)i;
	CLEANUP(signer_freep) struct signer *s = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CHECKPOINT_BYTES_MAX);
	assert_ok(signer_new(ORIGIN, seed, &s, &err), &err);
	assert_string_equal(signer_vkey(s), vkey);
	assert_ok(checkpoint_sign(s, 2, root, &b, &err), &err);
	assert_string_equal(b.buf, note);
}

static void test_audit__notes_are_refused_after_any_change(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct checkpoint c;
	char copy[sizeof(note)];
	assert_ok(checkpoint_verify(STR(note), ORIGIN, vkey, &c, &err), &err);
	assert_int_equal(c.size, 2);
	for (size_t i = 0; i + 1 < sizeof(note); i++)
		for (int bit = 0; bit < 8; bit++) {
			memcpy(copy, note, sizeof(note));
			copy[i] = (char)(copy[i] ^ 1 << bit);
			assert_int_equal(checkpoint_verify(str_n(copy, sizeof(note) - 1), ORIGIN,
							   vkey, &c, &err),
					 -E_ALTERED);
		}
}

/* MTH of RFC 6962 2.1, by its definition. */
/* NOLINTNEXTLINE(misc-no-recursion): halves */
static void naive_root(unsigned char (*leaves)[SHA256_BYTES], size_t n, unsigned char *out)
{
	unsigned char left[SHA256_BYTES], right[SHA256_BYTES];
	size_t k = 1;
	if (n == 0) {
		sha256(STR(""), out);
		return;
	}
	if (n == 1) {
		memcpy(out, leaves[0], SHA256_BYTES);
		return;
	}
	while (k * 2 < n)
		k *= 2;
	naive_root(leaves, k, left);
	naive_root(leaves + k, n - k, right);
	tree_node(left, right, out);
}

static void test_audit__tree_equals_the_naive_one(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	enum { N = 1030 };
	unsigned char(*leaves)[SHA256_BYTES] = xcalloc(N, SHA256_BYTES);
	unsigned char want[SHA256_BYTES], got[SHA256_BYTES];
	struct tree *t = xcalloc(1, sizeof(*t));
	for (size_t n = 0; n <= N; n++) {
		naive_root(leaves, n, want);
		tree_root(t, got);
		assert_memory_equal(want, got, SHA256_BYTES);
		if (n == N)
			break;
		sha256(str_n((const char *)&n, sizeof(n)), leaves[n]);
		assert_ok(tree_push(t, leaves[n], NULL, NULL, &err), &err);
	}
	xfree(t);
	xfree(leaves);
}

static void test_audit__bodies_are_canonical(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"{\"b\":1,\"a\":[true,null,\"\"],\"e\":{}}", "{\"a\":[true,\"\"],\"b\":1}"},
		{"{\"f\":1.50,\"i\":9007199254740992}",
		 "{\"f\":\"1.50\",\"i\":\"9007199254740992\"}"},
		{"{\"s\":\"\\u0001\\u001f\\n\\/\\\"\\u0000\"}",
		 "{\"s\":\"\\u0001\\u001f\\n/\\\"\xef\xbf\xbd\"}"},
		{"{\"\xc3\xa9\":1}", "{\"%C3%A9\":1}"},
		{"{\"blobs\":7,\"x\":1}", "{\"x\":1}"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		assert_ok(json_parse(str_of(cases[i].in), &o, &err), &err);
		assert_ok(record_body(o, NULL, &b, &err), &err);
		assert_string_equal(b.buf, cases[i].out);
		assert_true(record_body_is_closed(strbuf_str(&b)));
	}
	assert_false(record_body_is_closed(STR("{},\"x\":{}")));
	assert_false(record_body_is_closed(STR("{\"a\":\"}")));
	assert_true(record_body_is_closed(STR("{\"a\":\"\\\\\",\"b\":\"\\\"}\"}")));
	assert_false(record_body_is_closed(STR("{\"a\":\"\\\\\"},\"b\":{\"\"}")));
	assert_false(record_body_is_closed(STR("{\"a\":\"\\\"}")));
}

/* As deep as an object may be it is written; what is deeper is said to be. */
static void test_audit__a_body_is_as_deep_as_an_object(void **state)
{
	(void)state;
	for (int more = 0; more < 2; more++) {
		struct error err = ERROR_INIT;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
		CLEANUP(obj_unrefp) struct obj *body = obj_map();
		struct obj *o = obj_string("x");
		for (int i = 0; i < OBJ_DEPTH_MAX + more; i++) {
			struct obj *outer = obj_list();
			obj_append(outer, o);
			o = outer;
		}
		obj_set(body, "v", o);
		assert_ok(record_body(body, NULL, &b, &err), &err);
		assert_int_equal(strstr(b.buf, "[\"x\"]") != NULL, !more);
		assert_int_equal(strstr(b.buf, "[\"too deep\"]") != NULL, more);
		assert_true(record_body_is_closed(strbuf_str(&b)));
	}
}

static int64_t caused(struct audit_log *l, int64_t cause)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	const struct audit_row row = {.type = "Decision", .reason = "Resolved", .cause = cause};
	assert_int_equal(audit_append(l->audit, &row, &seq, &err), 0);
	return seq;
}

static int64_t root_of(struct audit_log *l, int64_t seq)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	assert_ok(audit_row_get(l->audit, seq, &o, &err), &err);
	return obj_i64(o, "body.root", 0);
}

/* The first cause of all, also of one that nobody keeps in mind any more, or of a log that did not say it. */
static void test_audit__an_entry_names_its_first_cause(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct audit_log l;
	audit_log_open(&l, ":memory:", NULL);
	assert_ok(db_begin(l.db, &err), &err);
	int64_t first = caused(&l, 0), second = caused(&l, first), third = caused(&l, second);
	assert_int_equal(root_of(&l, first), 0);
	assert_int_equal(root_of(&l, second), first);
	assert_int_equal(root_of(&l, third), first);
	for (int i = 0; i < 600; i++)
		(void)caused(&l, 0);
	assert_int_equal(root_of(&l, caused(&l, third)), first);
	assert_int_equal(root_of(&l, caused(&l, first)), first);
	/* what was rolled back was nobody's cause */
	assert_ok(db_savepoint(l.db, &err), &err);
	int64_t gone = caused(&l, third);
	db_rollback_to(l.db);
	audit_rolled_back(l.audit);
	assert_int_equal(caused(&l, 0), gone);
	assert_int_equal(root_of(&l, caused(&l, gone)), gone);
	/* entries of before root was there */
	assert_ok(db_exec(l.db,
			  "DROP TRIGGER audit_update;"
			  "UPDATE audit SET body = '{}'",
			  &err),
		  &err);
	audit_rolled_back(l.audit);
	assert_int_equal(root_of(&l, caused(&l, third)), first);
	db_rollback(l.db);
	audit_log_close(&l);
}

static void test_audit__entries_name_their_lease(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct audit_log l;
	CLEANUP(obj_unrefp) struct obj *before = NULL, *after = NULL;
	audit_log_open(&l, ":memory:", NULL);
	assert_ok(db_begin(l.db, &err), &err);
	int64_t one = caused(&l, 0);
	audit_set_epoch(l.audit, 0);
	int64_t other = caused(&l, 0);
	assert_ok(audit_row_get(l.audit, one, &before, &err), &err);
	assert_ok(audit_row_get(l.audit, other, &after, &err), &err);
	assert_int_equal(obj_i64(before, "body.epoch", -7), -7);
	assert_int_equal(obj_i64(after, "body.epoch", -7), 0);
	db_rollback(l.db);
	audit_log_close(&l);
}

static void test_audit__append_is_once_per_op_and_transition(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct audit_log l;
	int64_t seq, again, tseq;
	audit_log_open(&l, ":memory:", NULL);
	struct audit_row row = {.type = "Write", .reason = "Applied", .op = "1-0-1"};
	assert_ok(db_begin(l.db, &err), &err);
	assert_int_equal(audit_append(l.audit, &row, &seq, &err), 0);
	assert_int_equal(audit_append(l.audit, &row, &again, &err), 1);
	assert_int_equal(seq, again);
	struct audit_row t = {.type = "Transition",
			      .reason = "Installed",
			      .subject = {.kind = "AppType", .name = "etcd", .uid = "u1"},
			      .transition_seq = 1,
			      .cause = seq};
	assert_int_equal(audit_append(l.audit, &t, &seq, &err), 0);
	assert_ok(db_savepoint(l.db, &err), &err);
	assert_int_equal(audit_append(l.audit, &t, &again, &err), -E_CONFLICT);
	db_rollback_to(l.db);
	audit_rolled_back(l.audit);
	assert_int_equal(audit_last_seq(l.audit), seq);
	assert_ok(db_commit(l.db, &err), &err);
	audit_committed(l.audit);
	assert_ok(audit_head(l.audit, "u1", &tseq, &again, &err), &err);
	assert_int_equal(tseq, 1);
	assert_int_equal(again, seq);
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	assert_ok(audit_row_get(l.audit, seq, &o, &err), &err);
	assert_string_equal(obj_str(o, "subject.name"), "etcd");
	assert_int_equal(obj_i64(o, "transitionSeq", 0), 1);
	t.transition_seq = 2;
	assert_ok(db_begin(l.db, &err), &err);
	assert_int_equal(audit_append(l.audit, &t, &again, &err), 0);
	db_rollback(l.db);
	audit_rolled_back(l.audit);
	assert_int_equal(audit_last_seq(l.audit), seq);
	assert_int_equal(db_exec(l.db, "UPDATE audit SET reason = 'x'", &err), -E_CONFLICT);
	assert_non_null(strstr(err.msg, "audit is append-only"));
	audit_log_close(&l);
}

static void test_audit__roll_back_over_a_tile_border_keeps_the_tree(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct audit_log l;
	audit_log_open(&l, ":memory:", NULL);
	audit_log_fill(&l, 250, 1);
	assert_ok(db_begin(l.db, &err), &err);
	for (int i = 0; i < 20; i++) {
		int64_t seq;
		struct audit_row row = {.type = "System", .reason = "Exported"};
		assert_ok(audit_append(l.audit, &row, &seq, &err), &err);
	}
	db_rollback(l.db);
	audit_rolled_back(l.audit);
	audit_log_fill(&l, 300, 7);
	audit_log_assert_intact(&l);
	audit_log_close(&l);
}

static void test_audit__a_reopened_log_goes_on(void **state)
{
	(void)state;
	struct audit_log l;
	char dir[] = "/tmp/alm-audit-XXXXXX";
	assert_non_null(mkdtemp(dir));
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&path, "%s/alm.db", dir);
	audit_log_open(&l, path.buf, dir);
	CLEANUP(xfreep) char *origin = xstrdup(audit_origin(l.audit));
	audit_log_fill(&l, 300, 3);
	audit_log_close(&l);
	audit_log_open(&l, path.buf, dir);
	assert_string_equal(audit_origin(l.audit), origin);
	assert_int_equal(audit_last_seq(l.audit), 301);
	audit_log_fill(&l, 300, 3);
	audit_log_assert_intact(&l);
	audit_log_close(&l);
	audit_log_remove(dir);
}

/* Opens the log as a service does, closes it, and says with how many entries. */
static int64_t opened_and_closed(const char *path, const char *dir, int n, struct strbuf *reason)
{
	struct audit_log l;
	struct error err;
	CLEANUP(obj_unrefp) struct obj *last = NULL;
	audit_log_open(&l, path, dir);
	audit_close(l.audit);
	struct audit_config ac = {
		.db = l.db, .loop = &l.loop.base, .key_dir = dir, .tells_end = true};
	assert_ok(audit_open(&ac, &l.audit, &err), &err);
	if (n)
		audit_log_fill(&l, n, 1);
	audit_log_close(&l);
	audit_log_open(&l, path, dir);
	int64_t seq = audit_last_seq(l.audit);
	assert_ok(audit_row_get(l.audit, seq, &last, &err), &err);
	strbuf_clear(reason);
	strbuf_adds(reason, obj_str(last, "reason"));
	audit_log_assert_intact(&l);
	audit_log_close(&l);
	return seq;
}

static void test_audit__an_end_in_good_order_has_an_entry(void **state)
{
	(void)state;
	char dir[] = "/tmp/alm-audit-XXXXXX";
	assert_non_null(mkdtemp(dir));
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf reason = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&path, "%s/alm.db", dir);
	/* a new log whose objects were never recorded stays one */
	assert_int_equal(opened_and_closed(path.buf, dir, 0, &reason), 1);
	assert_string_equal(reason.buf, "LogOpened");
	assert_int_equal(opened_and_closed(path.buf, dir, 3, &reason), 5);
	assert_string_equal(reason.buf, "LogClosed");
	/* who had nothing to say leaves it as it was */
	assert_int_equal(opened_and_closed(path.buf, dir, 0, &reason), 5);
	assert_int_equal(opened_and_closed(path.buf, dir, 1, &reason), 7);
	assert_string_equal(reason.buf, "LogClosed");
	audit_log_remove(dir);
}

static void test_audit__time_never_goes_back(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct audit_log l;
	audit_log_open(&l, ":memory:", NULL);
	audit_log_fill(&l, 1, 1);
	l.loop.now_ns -= INT64_C(86400) * 1000000000;
	audit_log_fill(&l, 1, 1);
	CLEANUP(obj_unrefp) struct obj *before = NULL;
	CLEANUP(obj_unrefp) struct obj *after = NULL;
	assert_ok(audit_row_get(l.audit, 2, &before, &err), &err);
	assert_ok(audit_row_get(l.audit, 3, &after, &err), &err);
	assert_true(obj_i64(after, "time", 0) >= obj_i64(before, "time", 1));
	assert_true(obj_i64(after, "body.clock", 0) > 0);
	audit_log_close(&l);
}

/* Either way has an entry before the first one of the new clock; what is less than a second none. */
static void test_audit__a_clock_that_steps_is_recorded(void **state)
{
	(void)state;
	static const int64_t by[] = {3600, -86400};
	static const char *const said[] = {"+3600 s", "-90000 s"};
	struct error err = ERROR_INIT;
	struct audit_log l;
	audit_log_open(&l, ":memory:", NULL);
	for (size_t i = 0; i < ARRAY_LEN(by); i++) {
		CLEANUP(obj_unrefp) struct obj *row = NULL;
		int64_t last = audit_last_seq(l.audit);
		l.loop.set_ns = by[i] * 1000000000;
		audit_log_fill(&l, 5, 2);
		l.loop.set_ns += 900000000;
		audit_log_fill(&l, 1, 1);
		assert_int_equal(audit_last_seq(l.audit), last + 7);
		assert_ok(audit_row_get(l.audit, last + 1, &row, &err), &err);
		assert_string_equal(obj_str(row, "reason"), "ClockStepped");
		assert_string_equal(obj_str(row, "body.details"), said[i]);
	}
	audit_log_assert_intact(&l);
	audit_log_close(&l);
}

static int heard_count(void *arg, const char *reason)
{
	const char *const *heard = arg;
	int n = 0;
	for (; *heard; heard++)
		n += !strcmp(*heard, reason);
	return n;
}

static void hear(void *arg, const struct audit_row *row)
{
	const char **at = arg;
	while (*at)
		at++;
	*at = !strcmp(row->reason, "Kept") ? "Kept" : "Lost";
	assert_int_equal(obj_i64(row->body, "n", 0), 7);
}

/* What counts entries hears of those that stay: a commit that fails wrote none. */
static void test_audit__rows_are_told_of_when_they_are_committed(void **state)
{
	(void)state;
	struct audit_log l;
	struct error err = ERROR_INIT;
	const char *heard[8] = {NULL};
	int64_t seq;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	struct audit_row kept = {.type = "System", .reason = "Kept", .body = body};
	struct audit_row lost = {.type = "System", .reason = "Lost", .body = body};
	obj_set_int(body, "n", 7);
	audit_log_open(&l, ":memory:", NULL);
	audit_on_row(l.audit, hear, heard);
	assert_ok(db_begin(l.db, &err), &err);
	assert_ok(audit_append(l.audit, &kept, &seq, &err), &err);
	assert_ok(db_savepoint(l.db, &err), &err);
	assert_ok(audit_append(l.audit, &lost, &seq, &err), &err);
	db_rollback_to(l.db);
	audit_rolled_back(l.audit);
	assert_null(heard[0]);
	assert_ok(audit_append(l.audit, &kept, &seq, &err), &err);
	assert_ok(db_commit(l.db, &err), &err);
	audit_committed(l.audit);
	assert_int_equal(heard_count(heard, "Kept"), 2);
	assert_int_equal(heard_count(heard, "Lost"), 0);
	assert_ok(db_begin(l.db, &err), &err);
	assert_ok(audit_append(l.audit, &lost, &seq, &err), &err);
	db_rollback(l.db);
	audit_rolled_back(l.audit);
	assert_int_equal(heard_count(heard, "Lost"), 0);
	audit_log_close(&l);
}

static void test_audit__secrets_become_macs(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct audit_log l;
	CLEANUP(obj_unrefp) struct obj *a = NULL;
	CLEANUP(obj_unrefp) struct obj *b = NULL;
	CLEANUP(obj_unrefp) struct obj *c = NULL;
	audit_log_open(&l, ":memory:", NULL);
	assert_ok(
		json_parse(STR("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":"
			       "\"s\",\"namespace\":\"n\",\"generation\":4},\"data\":{\"k\":"
			       "\"aHVudGVyMg==\"}}"),
			   &a, &err),
		&err);
	assert_ok(
		json_parse(STR("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":"
			       "\"s\",\"namespace\":\"n\"},\"stringData\":{\"k\":\"hunter2\"}}"),
			   &b, &err),
		&err);
	assert_ok(json_parse(STR("{\"kind\":\"Pod\",\"spec\":{\"env\":[{\"name\":\"DB_PASSWORD\","
				 "\"value\":\"hunter2\"},{\"name\":\"A\",\"value\":\"b\"}],\"url\":"
				 "\"http://u:hunter2@h/x\",\"apiKey\":\"hunter2\"}}"),
			     &c, &err),
		  &err);
	CLEANUP(obj_unrefp) struct obj *ra = audit_redact(l.audit, a);
	CLEANUP(obj_unrefp) struct obj *rb = audit_redact(l.audit, b);
	CLEANUP(obj_unrefp) struct obj *rc = audit_redact(l.audit, c);
	assert_string_equal(obj_str(ra, "data.k"), obj_str(rb, "stringData.k"));
	assert_true(cstr_has_prefix(obj_str(ra, "data.k"), "hmac:"));
	assert_false(obj_has(obj_get(ra, "metadata"), "generation"));
	CLEANUP(xfreep) char *text = json_text(rc);
	assert_null(strstr(text, "hunter2"));
	assert_string_equal(obj_str(rc, "spec.env[1].value"), "b");
	assert_true(cstr_has_suffix(obj_str(rc, "spec.url"), "@h/x"));
	audit_log_close(&l);
}

/* Every byte at every place of a text: eight are looked at at a time. */
static void test_audit__every_byte_is_quoted_as_it_must(void **state)
{
	(void)state;
	for (size_t len = 1; len <= 20; len++)
		for (size_t at = 0; at < len; at++)
			for (int c = 1; c < 0x80; c++) {
				char text[24];
				struct error err = ERROR_INIT;
				CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
				CLEANUP(obj_unrefp) struct obj *back = NULL;
				memset(text, 'x', len);
				text[at] = (char)c;
				text[len] = '\0';
				CLEANUP(obj_unrefp) struct obj *o = obj_string(text);
				record_value(o, &b);
				bool escaped = c < 0x20 || c == '"' || c == '\\';
				assert_int_equal(b.len > len + 2, escaped);
				assert_ok(json_parse(strbuf_str(&b), &back, &err), &err);
				assert_string_equal(obj_as_string(back), text);
			}
}

static void test_audit__integers_of_any_size(void **state)
{
	static const struct {
		int64_t n;
		const char *text;
	} of[] = {{0, "0"},
		  {-1, "-1"},
		  {RECORD_INT_MAX, "9007199254740991"},
		  {INT64_MAX, "9223372036854775807"},
		  {INT64_MIN, "-9223372036854775808"}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addi(&b, of[i].n);
		assert_string_equal(b.buf, of[i].text);
	}
}

static void test_audit__members_are_sorted_however_many(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 40; n++) {
		CLEANUP(obj_unrefp) struct obj *o = obj_map();
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT(STRBUF_SMALL);
		for (size_t i = 0; i < n; i++) {
			char key[3] = {(char)('a' + (i * 7 + 3) % 41 / 26),
				       (char)('a' + (i * 7 + 3) % 41 % 26), '\0'};
			obj_set_int(o, key, 1);
		}
		record_value(o, &b);
		for (int k = 0; k < 41; k++) {
			char key[3] = {(char)('a' + k / 26), (char)('a' + k % 26), '\0'};
			if (obj_has(o, key))
				strbuf_addf(&want, "%s\"%s\":1", want.len ? "," : "{", key);
		}
		strbuf_addc(&want, '}');
		assert_string_equal(b.buf, want.buf);
	}
}

/* What was put is read by its digest, and nothing by anything else. */
static void test_audit__blobs_are_read_by_their_digest(void **state)
{
	(void)state;
	struct audit_log l;
	struct error err = ERROR_INIT;
	char digest[SHA256_HEX], again[SHA256_HEX];
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	audit_log_open(&l, ":memory:", NULL);
	assert_ok(db_begin(l.db, &err), &err);
	assert_ok(audit_blob_put(l.audit, STR("some bytes"), digest, &err), &err);
	assert_ok(audit_blob_put(l.audit, STR("some bytes"), again, &err), &err);
	assert_ok(db_commit(l.db, &err), &err);
	audit_committed(l.audit);
	assert_string_equal(digest, again);
	assert_true(log_blob(l.db, digest, &b, &err) > 0);
	assert_string_equal(b.buf, "some bytes");
	digest[0] = digest[0] == '0' ? '1' : '0';
	assert_int_equal(log_blob(l.db, digest, &b, &err), -E_NOTFOUND);
	static const char *const bad[] = {"", "0", "no digest", "sha256:00"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(log_blob(l.db, bad[i], &b, &err), -E_BADREQUEST);
	assert_string_equal(b.buf, "some bytes");
	audit_log_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit__vectors_hold),
		cmocka_unit_test(test_audit__blobs_are_read_by_their_digest),
		cmocka_unit_test(test_audit__notes_are_refused_after_any_change),
		cmocka_unit_test(test_audit__tree_equals_the_naive_one),
		cmocka_unit_test(test_audit__bodies_are_canonical),
		cmocka_unit_test(test_audit__a_body_is_as_deep_as_an_object),
		cmocka_unit_test(test_audit__append_is_once_per_op_and_transition),
		cmocka_unit_test(test_audit__an_entry_names_its_first_cause),
		cmocka_unit_test(test_audit__entries_name_their_lease),
		cmocka_unit_test(test_audit__roll_back_over_a_tile_border_keeps_the_tree),
		cmocka_unit_test(test_audit__a_reopened_log_goes_on),
		cmocka_unit_test(test_audit__an_end_in_good_order_has_an_entry),
		cmocka_unit_test(test_audit__every_byte_is_quoted_as_it_must),
		cmocka_unit_test(test_audit__integers_of_any_size),
		cmocka_unit_test(test_audit__members_are_sorted_however_many),
		cmocka_unit_test(test_audit__time_never_goes_back),
		cmocka_unit_test(test_audit__a_clock_that_steps_is_recorded),
		cmocka_unit_test(test_audit__rows_are_told_of_when_they_are_committed),
		cmocka_unit_test(test_audit__secrets_become_macs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
