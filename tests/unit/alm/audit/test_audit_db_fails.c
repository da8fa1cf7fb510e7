/* A call of the database that fails is told: each call that an operation of the log makes fails once, in turn, and the
 * operation fails, too. One that went on without an answer would vouch for what it has not read, or lose what it was
 * to write. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/audit/changes.h"
#include "alm/audit/export.h"
#include "alm/audit/export_form.h"
#include "alm/audit/kept.h"
#include "alm/audit/large.h"
#include "alm/audit/log.h"
#include "alm/audit/objects.h"
#include "alm/audit/proof.h"
#include "alm/audit/prune_delete.h"
#include "alm/audit/prune_facts.h"
#include "alm/audit/query.h"
#include "alm/audit/replay.h"
#include "alm/audit/tiles.h"
#include "alm/base/arena.h"
#include "alm/base/clock.h"
#include "alm/io/db.h"
#include "alm/obj/json.h"
#include "tests/lib/audit_log.h"
#include "tests/lib/db_failing.h"

enum { ROWS = 24, PRUNED = 12, POINTS_MAX = 4000 };

static struct audit_log l;
static int64_t last; /* entry of the log as it was made */
static struct verify_report rep;

/* --- a log in which everything occurs --- */

static struct obj *parsed(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

static void append(const char *type, const char *reason, int64_t tseq, const char *body)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	CLEANUP(obj_unrefp) struct obj *o = parsed(body);
	struct audit_row row = {.type = type,
				.reason = reason,
				.subject = {.kind = "AppType", .name = "etcd", .uid = "u"},
				.transition_seq = tseq,
				.cause = audit_last_seq(l.audit) - 1,
				.actor = "alice",
				.body = o};
	assert_ok(audit_append_now(l.audit, &row, &seq, &err), &err);
}

/* A decision with inputs, transitions that somebody disturbed, a key that was changed. */
static void fill(void)
{
	struct error err = ERROR_INIT;
	struct obj *ref = NULL;
	audit_log_fill(&l, ROWS, 8);
	append("Write", "Created", 0, "{\"after\":\"sha256:1\",\"changed\":[\"spec\"]}");
	append("Transition", "Resolving", 1,
	       "{\"to\":\"Resolving\",\"status\":\"{\\\"transitionSeq\\\":1}\"}");
	append("Transition", "Installed", 2,
	       "{\"from\":\"Failed\",\"to\":\"Installed\",\"version\":{\"to\":\"0.9.6\"},"
	       "\"status\":\"{\\\"transitionSeq\\\":2}\"}");
	append("Plan", "Planned", 0, "{\"digest\":\"p\",\"version\":\"0.9.6\"}");
	CLEANUP(obj_unrefp) struct obj *body = parsed("{\"verdict\":\"deny\"}");
	struct obj *list = obj_list(), *input = obj_map();
	assert_ok(audit_text_put(l.audit, STR("{}"), &ref, &err), &err);
	obj_set_str(input, "name", "resolve");
	obj_set(input, "digest", ref);
	obj_append(list, input);
	obj_set(body, "inputs", list);
	CLEANUP(xfreep) char *text = json_text(body);
	append("Decision", "Resolved", 0, text);
	assert_ok(db_begin(l.db, &err), &err);
	assert_ok(kept_append(l.audit, "Catalog", "c", "sha256:7", &err), &err);
	assert_ok(db_commit(l.db, &err), &err);
	audit_committed(l.audit);
	l.loop.now_ns += 10 * NS_PER_S;
	loop_run_due(&l.loop.base);
}

static void reopen(void)
{
	struct error err = ERROR_INIT;
	struct audit_config c = {.db = l.db, .loop = &l.loop.base};
	audit_close(l.audit);
	assert_ok(audit_open(&c, &l.audit, &err), &err);
}

/* --- what is done with it --- */

static int nothing(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	(void)arg;
	(void)depth;
	(void)row;
	(void)err;
	return 0;
}

static int no_line(void *arg, struct str line, struct error *err)
{
	(void)line;
	return nothing(arg, 0, NULL, err);
}

static int no_obj(void *arg, const struct obj *o, struct error *err)
{
	return nothing(arg, 0, o, err);
}

static int no_kept(void *arg, const char *name, const char *digest, struct error *err)
{
	(void)name;
	(void)digest;
	return nothing(arg, 0, NULL, err);
}

static int one_object(void *arg, verify_object_fn fn, void *fn_arg, struct error *err)
{
	(void)arg;
	CLEANUP(obj_unrefp) struct obj *o =
		parsed("{\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\",\"uid\":\"u\"},"
		       "\"status\":{\"transitionSeq\":2}}");
	return fn(fn_arg, o, err);
}

static int one_kept(void *arg, verify_kept_fn fn, void *fn_arg, struct error *err)
{
	(void)arg;
	return fn(fn_arg, "Catalog", "c", "sha256:7", err);
}

static void no_progress(void *arg, int64_t at, int64_t n)
{
	(void)arg;
	(void)at;
	(void)n;
}

static int do_verify(struct error *err)
{
	struct verify_options o = {.each_object = one_object,
				   .each_kept = one_kept,
				   .progress = no_progress,
				   .redact_key = audit_redact_key(l.audit)};
	memset(&rep, 0, sizeof(rep));
	return verify_log(l.db, &o, &rep, err);
}

static int do_verify_recent(struct error *err)
{
	memset(&rep, 0, sizeof(rep));
	return verify_log(l.db, &(struct verify_options){.since_checkpoint = true}, &rep, err);
}

static int do_tail(struct error *err)
{
	return verify_tail(l.db, audit_origin(l.audit), 16, err);
}

static int do_replay(struct error *err)
{
	memset(&rep, 0, sizeof(rep));
	return replay_log(l.db, &(struct verify_options){.is_archive = false}, &rep, err);
}

static const struct query_selector etcd = {.kind = "AppType", .name = "etcd"};

static int do_rows(struct error *err)
{
	return query_rows(l.db, &etcd, nothing, NULL, err);
}

static int do_why(struct error *err)
{
	return query_why(l.db, &etcd, NULL, nothing, NULL, err);
}

static int do_why_version(struct error *err)
{
	return query_why(l.db, &etcd, "0.9.6", nothing, NULL, err);
}

static int do_forward(struct error *err)
{
	return query_forward(l.db, last - 6, nothing, NULL, err);
}

static int do_why_not(struct error *err)
{
	return query_why_not(l.db, &etcd, NULL, nothing, NULL, err);
}

static int do_state(struct error *err)
{
	return query_state(l.db, &etcd, last, nothing, NULL, err);
}

static int do_seq_at(struct error *err)
{
	int64_t seq;
	return query_seq_at(l.db, l.loop.now_ns / 1000, &seq, err);
}

static int do_about_row(struct error *err)
{
	int64_t time_us;
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	CLEANUP(obj_unrefp) struct obj *who = NULL;
	CLEANUP(obj_unrefp) struct obj *installed = NULL;
	CLEANUP(obj_unrefp) struct obj *plan = NULL;
	int r = query_row(l.db, last - 3, &row, err);
	if (r >= 0)
		r = query_decided_again(l.db, row, &time_us, err);
	if (r >= 0)
		r = query_authority(l.db, row, &who, err);
	if (r >= 0)
		r = query_installed(l.db, row, "0.9.6", &installed, err);
	return r < 0 ? r : query_plan(l.db, row, &plan, err);
}

static int do_subject(struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct query_selector sel = {0};
	return query_subject(l.db, "apptype/etcd", a, &sel, err);
}

static int do_changes(struct error *err)
{
	return changes_read(l.db, &(struct query_selector){0}, 13, last, no_obj, NULL, err);
}

static int do_export(struct error *err)
{
	int64_t to;
	return export_write(l.db, 1, no_line, NULL, &to, err);
}

static int do_export_rows(struct error *err)
{
	int64_t to;
	return export_rows(l.db, export_form_find("csv"), &(struct query_selector){0}, no_line,
			   NULL, &to, err);
}

static int do_proofs(struct error *err)
{
	struct proof p;
	unsigned char root[SHA256_BYTES];
	int r = proof_root(log_subtree, l.db, last, root, err);
	if (r >= 0)
		r = proof_inclusion(log_subtree, l.db, last - 2, last, &p, err);
	return r < 0 ? r : proof_consistency(log_subtree, l.db, 17, last, &p, err);
}

static int do_tiles(struct error *err)
{
	static const char *const paths[] = {"checkpoint", "tile/0/000.p/20"};
	struct tiles_answer t;
	int r = 0;
	for (size_t i = 0; i < ARRAY_LEN(paths) && r >= 0; i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
		r = tiles_read(l.db, paths[i], &b, &t, err);
	}
	return r;
}

static int do_ask_log(struct error *err)
{
	int64_t tseq, seq;
	CLEANUP(obj_unrefp) struct obj *said = NULL;
	CLEANUP(obj_unrefp) struct obj *announced = NULL;
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	int r = audit_head(l.audit, "u", &tseq, &seq, err);
	if (r >= 0)
		r = audit_said(l.audit, "u", &said, err);
	if (r >= 0)
		r = audit_announced(l.audit, "u", 1, &announced, err);
	if (r >= 0)
		r = audit_row_get(l.audit, last, &row, err);
	return r < 0 ? r : audit_row_by_op(l.audit, "22-0-1", &seq, err);
}

static int do_append(struct error *err)
{
	int64_t seq;
	char digest[SHA256_HEX];
	CLEANUP(obj_unrefp) struct obj *body = parsed("{\"status\":\"{}\"}");
	struct audit_row row = {.type = "Transition",
				.reason = "Refreshed",
				.subject = {.kind = "AppType", .name = "etcd", .uid = "u"},
				.transition_seq = 3,
				.op = "an-op",
				.body = body};
	int r = db_begin(l.db, err);
	if (r >= 0)
		r = audit_blob_put(l.audit, STR("a blob"), digest, err);
	if (r >= 0) {
		obj_set_str(body, "explain", digest);
		r = audit_append(l.audit, &row, &seq, err);
	}
	return r < 0 ? r : kept_append(l.audit, "Catalog", "d", "sha256:8", err);
}

static int do_kept(struct error *err)
{
	char digest[SHA256_HEX];
	int64_t seq;
	return kept_digest(l.db, "Catalog", "c", digest, &seq, err);
}

static int do_prune(struct error *err)
{
	CLEANUP(prune_facts_freep) struct prune_facts *f = NULL;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	struct snapshot_writer w;
	int r = db_begin(l.db, err);
	if (r >= 0)
		r = db_exec(l.db, "DROP TRIGGER audit_prune_gate", err);
	if (r >= 0)
		r = prune_facts_new(l.db, &f, err);
	if (r < 0)
		return r;
	snapshot_begin(&w, l.audit);
	r = prune_facts_put(f, &w, 12, body, err);
	snapshot_release(&w);
	if (r >= 0)
		r = prune_facts_each_kept(f, no_kept, NULL, err);
	if (r >= 0)
		r = prune_facts_drop_heads(f, 13, err);
	if (r >= 0)
		r = prune_mark(l.audit, 13, 17, last, err);
	return r < 0 ? r : prune_delete_slice(l.db, 13, err);
}

static int do_objects(struct error *err)
{
	struct objects_log log = {.db = l.db, .key = audit_redact_key(l.audit)};
	struct objects_cursor c = {.seq = 0};
	struct objects_verdict v;
	int64_t tseq;
	CLEANUP(obj_unrefp) struct obj *o = parsed("{\"kind\":\"AppType\",\"metadata\":{\"name\":"
						   "\"etcd\",\"uid\":\"u\"},\"status\":{}}");
	int r = objects_digests_fit(l.db, log.key, err);
	if (r >= 0)
		r = objects_judge(&log, o, &v, err);
	if (r >= 0)
		r = objects_judge_gone(&log, "u", last - 6, &v, err);
	if (r >= 0)
		r = objects_judge_status(&log, o, last, &v, err);
	if (r >= 0)
		r = objects_transition(&log, "u", last, &tseq, err);
	while (r >= 0 && (r = objects_next_written(&log, &c, err)) > 0)
		;
	objects_cursor_release(&c);
	return r;
}

/* --- each call in turn --- */

#define DO(name) {#name, do_##name}

static const struct {
	const char *name;
	int (*fn)(struct error *err);
} operations[] = {
	DO(verify),      DO(verify_recent), DO(tail),    DO(replay),  DO(rows),
	DO(why),         DO(why_version),   DO(forward), DO(why_not), DO(state),
	DO(seq_at),      DO(about_row),     DO(subject), DO(changes), DO(export),
	DO(export_rows), DO(proofs),        DO(tiles),   DO(ask_log), DO(append),
	DO(kept),        DO(prune),         DO(objects),
};

/* Its result. */
static int attempt(size_t i, bool prepares, int at, int *ret_n, struct error *err)
{
	db_failing_begin(l.db, at, prepares);
	int r = operations[i].fn(err);
	*ret_n = db_failing_end();
	if (db_in_transaction(l.db)) {
		db_rollback(l.db);
		audit_rolled_back(l.audit);
	}
	return r;
}

static int swallowed(size_t i, bool prepares)
{
	struct error none = ERROR_INIT;
	int n_bad = 0, n = 0;
	assert_ok(attempt(i, prepares, 0, &n, &none), &none);
	assert_in_range(n, 1, POINTS_MAX);
	for (int at = 1; at <= n; at++) {
		struct error err = ERROR_INIT;
		int r = attempt(i, prepares, at, &(int){0}, &err);
		if (r < 0 && err.code == -r)
			continue;
		print_error("%s: %s %d of %d is swallowed: %s\n", operations[i].name,
			    prepares ? "statement" : "call", at, n, db_failing_sql());
		n_bad++;
	}
	return n_bad;
}

static void test_audit_db_fails__no_failed_call_is_swallowed(void **state)
{
	(void)state;
	int n_bad = 0;
	audit_log_open(&l, ":memory:", NULL);
	fill();
	reopen();
	last = audit_last_seq(l.audit);
	audit_log_prune(&l, PRUNED);
	db_failing_watch(l.db);
	for (size_t i = 0; i < ARRAY_LEN(operations); i++)
		n_bad += swallowed(i, false) + swallowed(i, true);
	audit_log_close(&l);
	assert_int_equal(n_bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit_db_fails__no_failed_call_is_swallowed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
