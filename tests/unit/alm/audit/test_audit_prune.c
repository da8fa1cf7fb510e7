/* Pruning (audit.md 9): only what an archive has and an anchor knows of goes; what is left is
 * intact, says what it no longer has, and answers as before. Stopped in any turn, nothing is lost
 * and the next start ends it. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alm/audit/export.h"
#include "alm/audit/log.h"
#include "alm/audit/proof.h"
#include "alm/audit/prune.h"
#include "alm/audit/pruned.h"
#include "alm/audit/query.h"
#include "alm/audit/replay.h"
#include "alm/audit/snapshot.h"
#include "alm/audit/tables.h"
#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "tests/lib/audit_log.h"

enum { ROWS = 700, TURNS = 4000 };
#define RETAIN_NS NS_PER_HOUR

static char dir[64];
static struct audit_log l;
static struct anchors *anchors;
static struct pruner *pruner;
static struct verify_report *rep;

static const char *path_of(const char *name)
{
	static char path[160];
	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int64_t number(const char *sql)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	assert_ok(db_prepare(l.db, sql, &s, &err), &err);
	assert_int_equal(stmt_step(s, &err), 1);
	int64_t v = stmt_int(s, 0);
	stmt_reset(s);
	return v;
}

static void sql(const char *text)
{
	struct error err = ERROR_INIT;
	assert_ok(db_exec(l.db, text, &err), &err);
}

static void open_log(int64_t now_ns)
{
	audit_log_open(&l, path_of("alm.db"), dir);
	if (now_ns)
		l.loop.now_ns = now_ns;
}

static void start(bool with_anchor)
{
	struct anchor *file = with_anchor ? anchor_file_new(ANCHOR_DEFAULT, dir) : NULL;
	if (file) /* as it is given: the folder may be moved */
		assert_string_equal(file->target, "file:audit.anchor");
	anchors = anchors_new(l.audit, &l.loop.base, l.db, &file, with_anchor);
	struct pruner_config c = {.audit = l.audit,
				  .loop = &l.loop.base,
				  .db = l.db,
				  .anchors = anchors,
				  .dir = dir,
				  .retain_ns = RETAIN_NS};
	pruner = pruner_new(&c);
}

static void stop(void)
{
	pruner_free(pruner);
	pruner = NULL;
	audit_close(l.audit);
	l.audit = NULL;
	anchors_free(anchors);
	anchors = NULL;
	db_close(l.db);
	l.db = NULL;
	loop_release(&l.loop.base);
}

static void run(int turns)
{
	for (int i = 0; i < turns; i++) {
		l.loop.now_ns += 5 * NS_PER_MS;
		loop_run_due(&l.loop.base);
	}
}

static int setup(void **state)
{
	(void)state;
	rep = xcalloc(1, sizeof(*rep));
	(void)snprintf(dir, sizeof(dir), "/tmp/alm-prune-XXXXXX");
	assert_non_null(mkdtemp(dir));
	open_log(0);
	audit_log_fill(&l, ROWS, 16);
	l.loop.now_ns += 2 * RETAIN_NS;
	audit_log_fill(&l, 60, 16); /* young ones */
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	char **names;
	size_t n;
	struct error err = ERROR_INIT;
	stop();
	xfree(rep);
	assert_ok(dir_list(dir, 100, &names, &n, &err), &err);
	for (size_t i = 0; i < n; i++)
		(void)unlink(path_of(names[i]));
	dir_list_free(names, n);
	(void)rmdir(dir);
	return 0;
}

static void verify_db(struct db *d, bool is_archive, bool with_anchor, struct verify_report *r)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf note = STRBUF_INIT(CHECKPOINT_BYTES_MAX);
	struct verify_anchor a = {.name = "file"};
	if (with_anchor)
		assert_ok(file_read(path_of(ANCHOR_DEFAULT), &note, &err), &err);
	a.note = strbuf_str(&note);
	struct verify_options o = {.is_archive = is_archive,
				   .anchors = &a,
				   .n_anchors = with_anchor && note.len,
				   .dir = is_archive ? NULL : dir};
	assert_ok(verify_log(d, &o, r, &err), &err);
	assert_ok(replay_log(d, &(struct verify_options){.is_archive = false}, r, &err), &err);
}

static const char *text_of(const struct verify_report *r)
{
	static struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	strbuf_clear(&b);
	verify_print(r, &b);
	return b.buf;
}

static void assert_clean(bool with_anchor)
{
	verify_db(l.db, false, with_anchor, rep);
	if (rep->n_findings || rep->n_unchecked)
		fail_msg("%s", text_of(rep));
}

static struct db *archive_of(struct str text)
{
	struct error err = ERROR_INIT;
	struct db_config c = {.path = ":memory:"};
	struct db *d;
	assert_ok(db_open(&c, &d, &err), &err);
	assert_ok(export_read(d, text, &err), &err);
	return d;
}

static int collect(void *arg, struct str line, struct error *err)
{
	(void)err;
	strbuf_addstr(arg, line);
	return 0;
}

static void test_prune__old_entries_go_and_the_rest_is_intact(void **state)
{
	(void)state;
	unsigned char before[SHA256_BYTES], after[SHA256_BYTES];
	struct error err = ERROR_INIT;
	struct obj *row;
	assert_ok(proof_root(log_subtree, l.db, 300, before, &err), &err);
	start(true);
	run(TURNS);
	assert_int_equal(number("SELECT min(seq) FROM audit"), 513);
	assert_int_equal(number("SELECT min(seq) FROM audit_ref") > 512, 1);
	assert_int_equal(number("SELECT count(*) FROM audit_blob WHERE digest NOT IN"
				" (SELECT digest FROM audit_ref)"),
			 0);
	assert_clean(true);
	assert_non_null(strstr(rep->pruned, "entries 1..512 were pruned"));
	assert_non_null(strstr(rep->pruned, "anchor file vouches for it"));
	/* Its hash is there, its words are not. */
	assert_ok(proof_root(log_subtree, l.db, 300, after, &err), &err);
	assert_memory_equal(before, after, sizeof(before));
	assert_int_equal(query_row(l.db, 5, &row, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.msg, "was pruned: the log begins at 513"));
	assert_int_equal(audit_first_seq(l.audit), 513);
	struct verify_options since = {.since_checkpoint = true, .dir = dir};
	assert_ok(verify_log(l.db, &since, rep, &err), &err);
	if (verify_exit(rep))
		fail_msg("since the checkpoint: %s", text_of(rep));
	/* It goes on. */
	audit_log_fill(&l, 40, 8);
	run(300);
	assert_clean(true);
	int64_t now = l.loop.now_ns;
	stop();
	open_log(now);
	start(true);
	run(10);
	assert_null(audit_read_only(l.audit));
	assert_int_equal(audit_first_seq(l.audit), 513);
	assert_clean(true);
}

static void test_prune__archives_and_exports_make_the_whole(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	char tag[16], name[64];
	int64_t last;
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT((size_t)64 << 20);
	CLEANUP(strbuf_release) struct strbuf rest = STRBUF_INIT((size_t)64 << 20);
	start(true);
	run(TURNS);
	(void)snprintf(tag, sizeof(tag), "%s", audit_origin_tag(l.audit));
	(void)snprintf(name, sizeof(name), "audit-%s-1-512.jsonl", tag);
	assert_ok(file_read(path_of(name), &all, &err), &err);
	struct db *d = archive_of(strbuf_str(&all));
	verify_db(d, true, false, rep);
	if (verify_exit(rep))
		fail_msg("the archive: %s", text_of(rep));
	assert_int_equal(rep->rows, 512);
	assert_int_equal(rep->unsigned_rows, 0);
	db_close(d);
	/* A second round: its archive alone has the hashes of what is before it. */
	l.loop.now_ns += 2 * RETAIN_NS;
	audit_log_fill(&l, 300, 16);
	l.loop.now_ns += 2 * RETAIN_NS;
	run(TURNS);
	assert_int_equal(number("SELECT min(seq) FROM audit"), 1025);
	assert_clean(true);
	(void)snprintf(name, sizeof(name), "audit-%s-513-1024.jsonl", tag);
	assert_ok(file_read(path_of(name), &rest, &err), &err);
	d = archive_of(strbuf_str(&rest));
	verify_db(d, true, false, rep);
	if (rep->n_findings)
		fail_msg("the second archive: %s", text_of(rep));
	assert_int_equal(verify_exit(rep), 1);
	assert_non_null(strstr(rep->unchecked[0], "entries 1..512: only their hashes"));
	db_close(d);
	strbuf_addstr(&all, strbuf_str(&rest));
	assert_ok(export_write(l.db, 1, collect, &all, &last, &err), &err);
	d = archive_of(strbuf_str(&all));
	verify_db(d, true, false, rep);
	if (verify_exit(rep))
		fail_msg("all of it: %s", text_of(rep));
	assert_int_equal(rep->first, 1);
	assert_int_equal(rep->last, last);
	db_close(d);
	/* What is left alone. */
	strbuf_clear(&rest);
	assert_ok(export_write(l.db, 1, collect, &rest, &last, &err), &err);
	d = archive_of(strbuf_str(&rest));
	verify_db(d, true, true, rep);
	if (verify_exit(rep))
		fail_msg("what is left: %s", text_of(rep));
	verify_db(d, true, false, rep);
	assert_int_equal(verify_exit(rep), 1); /* nobody vouches for it */
	db_close(d);
}

static void test_prune__without_an_anchor_nothing_goes(void **state)
{
	(void)state;
	start(false);
	run(TURNS);
	assert_int_equal(number("SELECT min(seq) FROM audit"), 1);
	assert_int_equal(number("SELECT count(*) FROM audit_prune"), 0);
	verify_db(l.db, false, false, rep);
	assert_int_equal(rep->n_findings, 0);
}

static void triggers(bool there)
{
	for (const struct tables_object *o = audit_tables; o->type; o++) {
		char drop[128];
		if (strcmp(o->type, "trigger") != 0)
			continue;
		(void)snprintf(drop, sizeof(drop), "DROP TRIGGER %s", o->name);
		sql(there ? o->sql : drop);
	}
}

/* As a hostile root, who may write into every table. */
static void test_prune__a_log_that_was_cut_is_found(void **state)
{
	(void)state;
	start(true);
	run(20); /* told the anchor; nothing was pruned yet */
	triggers(false);
	sql("BEGIN; DELETE FROM audit WHERE seq <= 256; DELETE FROM audit_ref WHERE seq <= 256");
	verify_db(l.db, false, false, rep);
	assert_int_equal(verify_exit(rep), 4);
	assert_non_null(strstr(text_of(rep), "FAIL entries 1..256: missing"));
	/* A row of audit_prune with no entry that says so. */
	sql("INSERT INTO audit_prune VALUES (257, 700, 'x')");
	verify_db(l.db, false, true, rep);
	assert_int_equal(verify_exit(rep), 4);
	assert_non_null(strstr(text_of(rep), "entry 700 does not say so"));
	db_rollback(l.db);
	triggers(true);
	run(TURNS);
	assert_clean(true);
	triggers(false);
	sql("BEGIN; DELETE FROM audit WHERE seq <= 600; DELETE FROM audit_ref WHERE seq <= 600");
	verify_db(l.db, false, true, rep);
	assert_non_null(strstr(text_of(rep), "FAIL entries 513..600: missing"));
	db_rollback(l.db);
	sql("BEGIN; UPDATE audit_tile SET hashes = zeroblob(8192) WHERE id = 1");
	verify_db(l.db, false, true, rep);
	assert_int_equal(verify_exit(rep), 4);
	db_rollback(l.db);
	sql("BEGIN; DELETE FROM audit_tile WHERE id = 0");
	verify_db(l.db, false, true, rep);
	assert_non_null(strstr(text_of(rep), "tile 0/0 is missing"));
	db_rollback(l.db);
	sql("BEGIN; DELETE FROM audit_anchor");
	verify_db(l.db, false, true, rep);
	assert_non_null(strstr(text_of(rep), "no anchor was told"));
	db_rollback(l.db);
	sql("BEGIN; UPDATE audit SET body = replace(body, '\"below\":513', '\"below\":1025')"
	    " WHERE reason = 'Pruned'; UPDATE audit_prune SET below = 1025");
	verify_db(l.db, false, true, rep);
	assert_int_equal(verify_exit(rep), 4);
	db_rollback(l.db);
	triggers(true);
	/* Nobody can be asked: not altered, and not all checked. */
	verify_db(l.db, false, false, rep);
	assert_int_equal(verify_exit(rep), 1);
}

static void test_prune__what_still_holds_is_kept(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct obj *row = NULL, *status = NULL;
	int64_t seq = 0, tseq = 0, head = 0;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	obj_set_str(body, "key", "k1");
	obj_set_path(body, "status.phase", obj_string("Ready"));
	obj_set(body, "status", obj_stringf("{\"phase\":\"Ready\",\"transitionSeq\":1}"));
	struct audit_row r = {.type = "Approval",
			      .reason = "Paused",
			      .subject = {.kind = "AppType", .name = "old", .uid = "u-old"},
			      .actor = "alice",
			      .body = body};
	l.loop.now_ns += NS_PER_MS;
	assert_ok(audit_append_now(l.audit, &r, &seq, &err), &err);
	r.type = "Transition";
	r.reason = "Installed";
	r.transition_seq = 1;
	assert_ok(audit_append_now(l.audit, &r, &seq, &err), &err);
	r.subject.uid = "u-gone";
	r.reason = "Deleted";
	assert_ok(audit_append_now(l.audit, &r, &seq, &err), &err);
	int64_t old = seq;
	l.loop.now_ns += 2 * RETAIN_NS;
	audit_log_fill(&l, 300, 16);
	l.loop.now_ns += 2 * RETAIN_NS;
	start(true);
	run(TURNS);
	assert_int_equal(audit_first_seq(l.audit) > old, 1);
	row = audit_standing(l.audit, "Approval", &r.subject, NULL, NULL);
	assert_non_null(row);
	assert_string_equal(obj_str(row, "reason"), "Paused");
	assert_string_equal(obj_str(row, "actor"), "alice");
	obj_unref(row);
	assert_ok(audit_head(l.audit, "u-old", &tseq, &head, &err), &err);
	assert_int_equal(tseq, 1);
	assert_ok(audit_announced(l.audit, "u-old", 1, &status, &err), &err);
	assert_string_equal(obj_str(status, "phase"), "Ready");
	obj_unref(status);
	assert_int_equal(audit_is_deleted(l.audit, "u-gone", old), 1);
	assert_int_equal(audit_is_deleted(l.audit, "u-old", head), 0);
	assert_clean(true);
	/* Told once: the next pruning forgets what is gone, and keeps what is not. */
	l.loop.now_ns += 2 * RETAIN_NS;
	audit_log_fill(&l, 400, 16);
	l.loop.now_ns += 2 * RETAIN_NS;
	run(TURNS);
	assert_int_equal(number("SELECT count(*) FROM audit_prune"), 2);
	assert_int_equal(number("SELECT count(*) FROM audit_head WHERE uid = 'u-gone'"), 0);
	assert_int_equal(number("SELECT count(*) FROM audit_head WHERE uid = 'u-old'"), 1);
	row = audit_standing(l.audit, "Approval", &r.subject, NULL, NULL);
	assert_non_null(row);
	obj_unref(row);
	assert_ok(audit_announced(l.audit, "u-old", 1, &status, &err), &err);
	obj_unref(status);
	assert_clean(true);
}

/* Until it is marked which entries go none of them does; what cannot be written now is later. */
static void test_prune__what_is_not_marked_does_not_go(void **state)
{
	(void)state;
	int64_t rows = number("SELECT count(*) FROM audit");
	sql("CREATE TRIGGER full BEFORE INSERT ON audit_prune BEGIN SELECT RAISE(ABORT, 'full'); "
	    "END");
	start(true);
	run(TURNS);
	assert_int_equal(number("SELECT count(*) FROM audit WHERE reason = 'Pruned'"), 1);
	assert_int_equal(number("SELECT count(*) FROM audit_prune"), 0);
	assert_true(number("SELECT count(*) FROM audit") > rows);
	assert_int_equal(number("SELECT min(seq) FROM audit"), 1);
	sql("DROP TRIGGER full");
	l.loop.now_ns += PRUNE_EVERY_NS;
	run(TURNS);
	assert_int_equal(number("SELECT min(seq) FROM audit"), 513);
	assert_clean(true);
}

/* What was said before the end is not said again: the next start goes on with that archive. */
static void test_prune__one_entry_of_one_pruning(void **state)
{
	(void)state;
	int turns = 0;
	start(true);
	while (turns++ < TURNS && !number("SELECT count(*) FROM audit WHERE reason = 'Pruned'"))
		run(1);
	assert_int_equal(number("SELECT count(*) FROM audit_prune"), 0);
	int64_t now = l.loop.now_ns;
	stop();
	open_log(now);
	start(true);
	run(TURNS);
	assert_int_equal(number("SELECT count(*) FROM audit WHERE reason = 'Pruned'"), 1);
	assert_int_equal(number("SELECT count(*) FROM audit_prune"), 1);
	assert_int_equal(number("SELECT min(seq) FROM audit"), 513);
	assert_clean(true);
}

static int collect_state(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct strbuf *b = arg;
	(void)depth;
	(void)err;
	strbuf_addf(b, "%s/%s/%s %s\n", obj_str(row, "subject.kind"),
		    obj_str(row, "subject.namespace"), obj_str(row, "subject.name"),
		    obj_str(row, "reason"));
	return 0;
}

static void append(const char *ns, const char *name, const char *reason, int64_t tseq)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	char uid[64];
	(void)snprintf(uid, sizeof(uid), "u-%s-%s", ns, name);
	struct audit_row r = {.type = "Transition",
			      .reason = reason,
			      .subject = {.kind = "Unit", .ns = ns, .name = name, .uid = uid},
			      .transition_seq = tseq,
			      .body = body};
	l.loop.now_ns += NS_PER_MS;
	assert_ok(audit_append_now(l.audit, &r, &seq, &err), &err);
}

/* The newest of each object once, whether it was pruned or not, and nothing of what is gone. */
static void test_prune__what_is_known_of_each_object_is_told_once(void **state)
{
	static const char want[] = "Unit/a/same Newer\nUnit/a/stays Old\nUnit/b/same Old\n";
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 16);
	const struct query_selector sel = {.kind = "Unit"};
	append("a", "same", "Old", 1);
	append("b", "same", "Old", 1);
	append("a", "stays", "Old", 1);
	append("a", "gone", "Deleted", 1);
	append("a", "ends", "Old", 1);
	l.loop.now_ns += 2 * RETAIN_NS;
	audit_log_fill(&l, 300, 16);
	l.loop.now_ns += 2 * RETAIN_NS;
	append("a", "same", "Newer", 2);
	append("a", "ends", "Deleted", 2);
	start(true);
	run(TURNS);
	assert_true(audit_first_seq(l.audit) > ROWS + 60);
	assert_int_equal(query_state(l.db, &sel, audit_last_seq(l.audit), collect_state, &b, &err),
			 3);
	assert_string_equal(b.buf, want);
	/* what was known at a time that is not in it any more it does not say */
	int64_t first = audit_first_seq(l.audit);
	assert_int_equal(query_state(l.db, &sel, first - 1, collect_state, &b, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.msg, "was pruned: the log begins at"));
	assert_string_equal(b.buf, want);
	strbuf_clear(&b);
	assert_true(query_state(l.db, &sel, first, collect_state, &b, &err) > 0);
}

/* As kill -9 does: the tables are as the last commit left them, and files as they were. */
static void test_prune__stopped_in_any_turn_nothing_is_lost(void **state)
{
	(void)state;
	int n = 0;
	int64_t rows = number("SELECT count(*) FROM audit"), low = 1;
	for (; n < 300 && low < 513; n++) {
		start(true);
		run(201 + n % 67); /* the first look comes after a second */
		verify_db(l.db, false, true, rep);
		if (rep->n_findings)
			fail_msg("stopped after %d turns: %s", 201 + n % 67, text_of(rep));
		low = number("SELECT min(seq) FROM audit");
		/* Whatever is gone is in an archive, and vouched for. */
		if (low > 1)
			assert_int_equal(number("SELECT count(*) FROM audit_prune"), 1);
		else
			assert_int_equal(number("SELECT count(*) FROM audit") >= rows, 1);
		int64_t now = l.loop.now_ns;
		stop();
		open_log(now);
		assert_null(audit_read_only(l.audit));
	}
	assert_int_equal(low, 513);
	start(true);
	run(TURNS);
	assert_clean(true);
	assert_int_equal(number("SELECT count(*) FROM audit_prune"), 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_prune__old_entries_go_and_the_rest_is_intact),
		T(test_prune__archives_and_exports_make_the_whole),
		T(test_prune__without_an_anchor_nothing_goes),
		T(test_prune__a_log_that_was_cut_is_found),
		T(test_prune__what_still_holds_is_kept),
		T(test_prune__stopped_in_any_turn_nothing_is_lost),
		T(test_prune__what_is_not_marked_does_not_go),
		T(test_prune__one_entry_of_one_pruning),
		T(test_prune__what_is_known_of_each_object_is_told_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
