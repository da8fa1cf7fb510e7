/* test_audit_gap.c: a gap that is accepted: the old log is kept as a file, and the new one begins with all that is known. */
#include "tests/lib/test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alm/audit/gap.h"
#include "alm/audit/head.h"
#include "alm/audit/objects.h"
#include "alm/audit/snapshot.h"
#include "alm/base/file.h"
#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/audit_log.h"
#include "tests/lib/db_failing.h"

#define ROWS      40
#define CALLS_MAX 500

static char dir[64];

/* What is live, and what is asked. */
struct world {
	struct audit_log log;
	struct obj *live[2];
	struct verify_anchor anchors[2];
	size_t n_anchors;
	bool anyway, has_objects;
};

static const char *path_of(const char *name)
{
	static char path[160];
	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static struct obj *object(const char *uid, int64_t tseq)
{
	struct obj *o = meta_skeleton("app.coreos.com/v1", "AppType", NULL, uid);
	obj_set_path(o, "metadata.uid", obj_string(uid));
	obj_set_path(o, "status.transitionSeq", obj_int(tseq));
	obj_set_path(o, "status.phase", obj_string("p"));
	return o;
}

static int64_t head_of(struct audit *a, const char *uid)
{
	struct error err = ERROR_INIT;
	int64_t tseq = 0, seq = 0;
	assert_ok(audit_head(a, uid, &tseq, &seq, &err), &err);
	return tseq;
}

/* A log of ROWS entries; each of its objects has ahead more transitions than it says. */
static void setup(struct world *w, int64_t ahead)
{
	*w = (struct world){.n_anchors = 0};
	(void)snprintf(dir, sizeof(dir), "/tmp/alm-gap-XXXXXX");
	assert_non_null(mkdtemp(dir));
	audit_log_open(&w->log, path_of("alm.db"), dir);
	audit_log_fill(&w->log, ROWS, 8);
	w->live[0] = object("uid-0", head_of(w->log.audit, "uid-0") + ahead);
	w->live[1] = object("uid-1", head_of(w->log.audit, "uid-1"));
	audit_close(STEAL(w->log.audit));
}

/* The file of the old log, which an attempt that failed leaves, too. NULL: none is there. */
static const char *kept_file(void)
{
	static char path[320];
	const struct dirent *e;
	DIR *d = opendir(dir);
	*path = '\0';
	assert_non_null(d);
	while ((e = readdir(d)))
		if (cstr_has_prefix(e->d_name, "audit-"))
			(void)snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
	closedir(d);
	return *path ? path : NULL;
}

static void teardown(struct world *w, struct gap_result *r)
{
	struct error err = ERROR_INIT;
	for (const char *kept = kept_file(); kept; kept = kept_file())
		assert_ok(file_remove(kept, &err), &err);
	gap_result_release(r);
	db_close(w->log.db);
	loop_release(&w->log.loop.base);
	for (size_t i = 0; i < ARRAY_LEN(w->live); i++)
		obj_unref(w->live[i]);
	audit_log_remove(dir);
}

static int each(void *arg, verify_object_fn fn, void *fn_arg, struct error *err)
{
	const struct world *w = arg;
	int r = 0;
	for (size_t i = 0; i < ARRAY_LEN(w->live) && r >= 0; i++)
		r = fn(fn_arg, w->live[i], err);
	return r;
}

static int take_gap(struct world *w, struct gap_result *ret, struct error *err)
{
	const struct gap_config c = {.db = w->log.db,
				     .loop = &w->log.loop.base,
				     .dir = dir,
				     .reason = "the disk was lost",
				     .anchors = w->anchors,
				     .n_anchors = w->n_anchors,
				     .each = each,
				     .each_arg = w,
				     .has_objects = w->has_objects,
				     .anyway = w->anyway};
	return gap_accept(&c, ret, err);
}

/* The new log, from its file, as the next process reads it. */
static struct obj *first_of(struct world *w)
{
	struct error err = ERROR_INIT;
	struct obj *row = NULL;
	struct audit_config ac = {.db = w->log.db, .loop = &w->log.loop.base, .key_dir = dir};
	assert_ok(audit_open(&ac, &w->log.audit, &err), &err);
	assert_null(audit_read_only(w->log.audit));
	assert_ok(audit_row_get(w->log.audit, 1, &row, &err), &err);
	return row;
}

static void test_audit_gap__there_must_be_one(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct error err = ERROR_INIT;
		struct gap_result r;
		struct world w;
		setup(&w, i == 1);
		w.anyway = i == 2;
		assert_int_equal(take_gap(&w, &r, &err), i ? 0 : -E_REFUSED);
		assert_int_equal(r.archive != NULL, i != 0);
		assert_int_equal(file_exists(path_of("audit.head")), 1);
		if (i) { /* the new log begins with what all objects are: it has none */
			struct gap_result again;
			w.anyway = false;
			assert_int_equal(take_gap(&w, &again, &err), -E_REFUSED);
			gap_result_release(&again);
		}
		teardown(&w, &r);
	}
}

/* Where there never was a log, none is begun: that is no gap. */
static void test_audit_gap__nothing_follows_on_nothing(void **state)
{
	struct error err = ERROR_INIT;
	struct gap_result r = {0};
	struct world w = {.n_anchors = 0, .anyway = true};
	int64_t tables = -1;
	(void)state;
	(void)snprintf(dir, sizeof(dir), "/tmp/alm-gap-XXXXXX");
	assert_non_null(mkdtemp(dir));
	audit_log_open(&w.log, path_of("alm.db"), NULL);
	audit_log_close(&w.log);
	assert_ok(file_remove(path_of("alm.db"), &err), &err);
	const struct db_config c = {.path = path_of("alm.db"), .layout = DB_LAYOUT};
	assert_ok(db_open(&c, &w.log.db, &err), &err);
	assert_int_equal(take_gap(&w, &r, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.msg, "and nothing remembers one"));
	assert_ok(db_number(w.log.db, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'audit%'",
			    NULL, &tables, &err),
		  &err);
	assert_int_equal(tables, 0);
	gap_result_release(&r);
	db_close(w.log.db);
	audit_log_remove(dir);
}

/* Nobody starts below what a status says: its object goes on with the next number. */
static void test_audit_gap__the_new_log_goes_on_where_the_objects_are(void **state)
{
	struct error err = ERROR_INIT;
	struct gap_result r;
	struct world w;
	struct audit_head_state old;
	struct str origin;
	struct checkpoint c;
	(void)state;
	setup(&w, 3);
	assert_ok(head_read(dir, &old, &err), &err);
	assert_ok(checkpoint_read(str_of(old.note), &origin, &c, &err), &err);
	int64_t had[] = {obj_i64(w.live[0], "status.transitionSeq", 0),
			 obj_i64(w.live[1], "status.transitionSeq", 0)};
	assert_ok(take_gap(&w, &r, &err), &err);
	assert_int_equal(r.rows, ROWS + 1); /* LogOpened */
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	char hex[SHA256_HEX];
	assert_ok(file_read(r.archive, &b, &err), &err);
	sha256_hex(strbuf_str(&b), hex);
	assert_string_equal(hex, r.sha256);
	CLEANUP(obj_unrefp) struct obj *row = first_of(&w);
	assert_string_equal(audit_origin(w.log.audit), r.origin);
	assert_non_null(strstr(r.origin, "/2"));
	const struct obj *gap = obj_path(row, "body.gap");
	assert_true(str_is(origin, obj_str(gap, "origin")));
	assert_string_equal(obj_str(row, "body.what"), "gap accepted");
	CLEANUP(obj_unrefp) struct obj *archive = obj_stringf("sha256:%s", r.sha256);
	assert_string_equal(obj_str(gap, "archive"), obj_as_string(archive));
	assert_int_equal(obj_i64(gap, "had.size", 0), ROWS + 1);
	assert_int_equal(obj_i64(gap, "size", 0), ROWS + 1);
	assert_string_equal(obj_str(gap, "known.root"), obj_str(gap, "had.root"));
	assert_string_equal(obj_str(gap, "file"), strrchr(r.archive, '/') + 1);
	assert_string_equal(obj_str(row, "body.justification"), "the disk was lost");
	assert_false(obj_has(gap, "others"));
	for (size_t i = 0; i < ARRAY_LEN(had); i++) {
		const char *uid = meta_uid(w.live[i]);
		struct obj *said = NULL;
		assert_int_equal(head_of(w.log.audit, uid), had[i]);
		assert_ok(audit_announced(w.log.audit, uid, had[i], &said, &err), &err);
		assert_true(obj_equal(said, obj_get(w.live[i], "status")));
		obj_unref(said);
		/* nobody has said that in this log: it is what stood there */
		assert_int_equal(audit_said(w.log.audit, uid, &said, &err), -E_NOTFOUND);
	}
	assert_int_equal(head_of(w.log.audit, "uid-2"), 0); /* it is not live */
	audit_log_fill(&w.log, 8, 8);
	assert_int_equal(head_of(w.log.audit, "uid-2"), 1);
	CLEANUP(obj_unrefp) struct obj *status = NULL;
	assert_ok(audit_said(w.log.audit, "uid-2", &status, &err), &err);
	assert_non_null(status);
	assert_int_equal(audit_said(w.log.audit, "uid-nobody", &status, &err), -E_NOTFOUND);
	audit_close(w.log.audit);
	teardown(&w, &r);
}

/* Where the server is here, each object as it is now is what the new log knows, and no other is. */
static void judge(const struct objects_log *log, const struct obj *live)
{
	struct error err = ERROR_INIT;
	struct objects_verdict v;
	CLEANUP(obj_unrefp) struct obj *other = obj_copy(live);
	obj_set_path(other, "data.token", obj_string("YW5vdGhlcg=="));
	assert_ok(objects_judge(log, live, &v, &err), &err);
	assert_string_equal(v.text, "");
	assert_ok(objects_judge(log, other, &v, &err), &err);
	assert_int_equal(v.seq, 1);
}

static void test_audit_gap__objects_are_those_that_the_new_log_knows(void **state)
{
	(void)state;
	for (int embedded = 0; embedded < 2; embedded++) {
		struct error err = ERROR_INIT;
		struct gap_result r;
		struct world w;
		CLEANUP(snapshot_freep) struct snapshot *s = NULL;
		setup(&w, 3);
		w.has_objects = embedded;
		obj_unref(w.live[1]);
		w.live[1] = meta_skeleton("v1", "Secret", "ns", "a-token");
		obj_set_path(w.live[1], "metadata.uid", obj_string("uid-of-it"));
		obj_set_path(w.live[1], "data.token", obj_string("c2VjcmV0"));
		assert_ok(take_gap(&w, &r, &err), &err);
		CLEANUP(obj_unrefp) struct obj *row = first_of(&w);
		assert_ok(snapshot_load(w.log.db, &s, &err), &err);
		const struct objects_log log = {
			.db = w.log.db, .key = audit_redact_key(w.log.audit), .snapshot = s};
		for (int i = 0; i < 2; i++) {
			CLEANUP(obj_unrefp) struct obj *e = snapshot_find(s, meta_uid(w.live[i]));
			assert_string_equal(obj_str(e, "kind"), meta_kind(w.live[i]));
			assert_string_equal(obj_str(e, "name"), meta_name(w.live[i]));
			assert_int_equal(cstr_eq(obj_str(e, "reason"), "LogOpened"), !i);
			assert_int_equal(obj_has(e, "transitionSeq"), !i);
			assert_int_equal(obj_has(e, "status"), !i);
			if (embedded)
				judge(&log, w.live[i]);
		}
		audit_close(w.log.audit);
		teardown(&w, &r);
	}
}

/* One that was damaged is part of what is accepted. */
static void test_audit_gap__a_damaged_snapshot_is_no_hindrance(void **state)
{
	struct error err = ERROR_INIT;
	struct gap_result r, again;
	struct world w;
	(void)state;
	setup(&w, 3);
	assert_ok(take_gap(&w, &r, &err), &err);
	assert_ok(db_exec(w.log.db, "DROP TRIGGER audit_blob_delete; DELETE FROM audit_blob", &err),
		  &err);
	w.anyway = true;
	assert_ok(take_gap(&w, &again, &err), &err);
	CLEANUP(obj_unrefp) struct obj *row = first_of(&w);
	assert_int_equal(head_of(w.log.audit, "uid-0"),
			 obj_i64(w.live[0], "status.transitionSeq", 0));
	audit_close(w.log.audit);
	gap_result_release(&again);
	teardown(&w, &r);
}

/* Of what places remember the largest counts, in whatever order they are asked. */
static void test_audit_gap__the_largest_that_is_remembered(void **state)
{
	(void)state;
	for (size_t first = 0; first < 2; first++) {
		struct error err = ERROR_INIT;
		struct gap_result r;
		struct world w;
		static struct audit_head_state small, large;
		setup(&w, 0);
		assert_ok(head_read(dir, &small, &err), &err);
		CLEANUP(obj_unrefp) struct obj *again = NULL;
		struct audit_config ac = {.db = w.log.db, .loop = &w.log.loop.base, .key_dir = dir};
		assert_ok(audit_open(&ac, &w.log.audit, &err), &err);
		audit_log_fill(&w.log, ROWS, 8);
		audit_close(STEAL(w.log.audit));
		assert_ok(head_read(dir, &large, &err), &err);
		assert_true(large.checkpoint.size > small.checkpoint.size);
		assert_ok(head_write(dir, &small, false, &err), &err);
		w.anchors[first].name = "file one";
		w.anchors[first].note = str_of(large.note);
		w.anchors[1 - first].name = "file two";
		w.anchors[1 - first].note = str_of(small.note);
		w.n_anchors = 2;
		w.anyway = true;
		assert_ok(take_gap(&w, &r, &err), &err);
		again = first_of(&w);
		assert_int_equal(obj_i64(again, "body.gap.known.size", 0), large.checkpoint.size);
		assert_int_equal(obj_i64(again, "body.gap.size", 0), large.checkpoint.size);
		audit_close(w.log.audit);
		teardown(&w, &r);
	}
}

/* A folder that was lost began with a log of its own: what places remember of that is told, the
 * largest of it, and is not taken for what this log had. */
static void test_audit_gap__a_foreign_note_is_told(void **state)
{
	(void)state;
	for (size_t first = 0; first < 2; first++) {
		struct error err = ERROR_INIT;
		struct gap_result r;
		struct world w;
		static struct audit_head_state own;
		setup(&w, 0);
		assert_ok(head_read(dir, &own, &err), &err);
		const char *rest = strchr(strchr(own.note, '\n') + 1, '\n');
		CLEANUP(obj_unrefp) struct obj *small = obj_stringf("another-log\n%d%s", 41, rest);
		CLEANUP(obj_unrefp) struct obj *large =
			obj_stringf("another-log\n%d%s", 5000, rest);
		w.anchors[first] =
			(struct verify_anchor){.name = "file one", .note = obj_as_str(small)};
		w.anchors[1 - first] =
			(struct verify_anchor){.name = "file two", .note = obj_as_str(large)};
		w.n_anchors = 2;
		w.anyway = true;
		assert_ok(take_gap(&w, &r, &err), &err);
		CLEANUP(obj_unrefp) struct obj *row = first_of(&w);
		const struct obj *others = obj_path(row, "body.gap.others");
		assert_int_equal(obj_len(others), 1);
		assert_string_equal(obj_str(obj_at(others, 0), "origin"), "another-log");
		assert_int_equal(obj_i64(obj_at(others, 0), "size", 0), 5000);
		assert_int_equal(obj_i64(row, "body.gap.known.size", 0), own.checkpoint.size);
		audit_close(w.log.audit);
		teardown(&w, &r);
	}
}

/* The old log goes and the new one begins at once: where no transaction can begin all stays as it is. */
static void test_audit_gap__what_cannot_begin_changes_nothing(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct gap_result r;
	struct world w;
	int64_t rows = 0;
	setup(&w, 3);
	/* opened once, so that nothing is left to be written to the old one */
	struct audit_config ac = {.db = w.log.db, .loop = &w.log.loop.base, .key_dir = dir};
	assert_ok(audit_open(&ac, &w.log.audit, &err), &err);
	audit_close(STEAL(w.log.audit));
	assert_ok(db_begin(w.log.db, &err), &err);
	assert_true(take_gap(&w, &r, &err) < 0);
	assert_null(r.archive);
	assert_ok(db_commit(w.log.db, &err), &err);
	assert_ok(db_number(w.log.db, "SELECT count(*) FROM audit", NULL, &rows, &err), &err);
	assert_int_equal(rows, ROWS + 1);
	assert_int_equal(take_gap(&w, &r, &err), 0);
	assert_int_equal(r.rows, ROWS + 1);
	teardown(&w, &r);
}

/* What fails in the middle leaves the old log as it was. */
static void test_audit_gap__what_fails_is_taken_back(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct gap_result r;
	struct world w;
	int64_t rows = 0;
	setup(&w, 3);
	/* a name that the new log needs is taken */
	assert_ok(db_exec(w.log.db,
			  "DROP INDEX audit_tseq; CREATE TABLE o (v);"
			  "CREATE INDEX audit_tseq ON o (v)",
			  &err),
		  &err);
	assert_true(take_gap(&w, &r, &err) < 0);
	assert_null(r.archive);
	assert_false(db_in_transaction(w.log.db));
	assert_ok(db_number(w.log.db, "SELECT count(*) FROM audit", NULL, &rows, &err), &err);
	assert_int_equal(rows, ROWS + 1);
	assert_ok(db_exec(w.log.db, "DROP TABLE o", &err), &err);
	assert_int_equal(take_gap(&w, &r, &err), 0);
	teardown(&w, &r);
}

/* The file of the old log, as far as it is there, is always the same: all of it. */
static void assert_kept_is_whole(char hex[SHA256_HEX])
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	char now[SHA256_HEX];
	const char *kept = kept_file();
	if (!kept)
		return;
	assert_ok(file_read(kept, &b, &err), &err);
	sha256_hex(strbuf_str(&b), now);
	if (*hex)
		assert_string_equal(now, hex);
	memcpy(hex, now, sizeof(now));
}

static void reopen(struct world *w)
{
	struct error err = ERROR_INIT;
	const struct db_config c = {.path = path_of("alm.db"), .layout = DB_LAYOUT};
	db_close(w->log.db);
	assert_ok(db_open(&c, &w->log.db, &err), &err);
}

/* Whatever call of the database fails, there is an error; asked again all is well at last. */
static void test_audit_gap__no_failed_call_is_swallowed(void **state)
{
	(void)state;
	for (int prepares = 0; prepares < 2; prepares++) {
		struct gap_result r;
		struct world w;
		char hex[SHA256_HEX] = "";
		int at = 1;
		setup(&w, 3);
		for (bool failed = true; failed; at++) {
			struct error err = ERROR_INIT;
			reopen(&w); /* what a failed commit came to only a new connection knows */
			db_failing_watch(w.log.db);
			db_failing_begin(w.log.db, at, prepares);
			int rc = take_gap(&w, &r, &err);
			failed = db_failing_end() >= at;
			assert_in_range(at, 1, CALLS_MAX);
			assert_kept_is_whole(hex);
			if (failed && rc >= 0)
				fail_msg("call %d is swallowed: %s", at, db_failing_sql());
			if (failed)
				assert_null(r.archive);
			else if (rc < 0) /* the last call that failed was behind the commit */
				assert_int_equal(rc, -E_REFUSED);
		}
		assert_true(at > 20);
		if (r.sha256)
			assert_string_equal(hex, r.sha256);
		CLEANUP(obj_unrefp) struct obj *row = first_of(&w);
		assert_true(obj_has(obj_get(row, "body"), "gap"));
		audit_close(STEAL(w.log.audit));
		teardown(&w, &r);
	}
}

/* Nor is it where the old one cannot be kept: something else has the name of its file. */
static void test_audit_gap__what_cannot_be_kept_does_not_go(void **state)
{
	struct error err = ERROR_INIT;
	struct gap_result r;
	struct world w;
	char kept[256];
	int64_t rows = 0;
	(void)state;
	setup(&w, 3);
	struct audit_config ac = {.db = w.log.db, .loop = &w.log.loop.base, .key_dir = dir};
	assert_ok(audit_open(&ac, &w.log.audit, &err), &err);
	(void)snprintf(kept, sizeof(kept), "%s/audit-%s-%d.jsonl", dir,
		       audit_origin_tag(w.log.audit), ROWS + 1);
	audit_close(STEAL(w.log.audit));
	assert_int_equal(mkdir(kept, 0700), 0);
	assert_true(take_gap(&w, &r, &err) < 0);
	assert_null(r.archive);
	assert_ok(db_number(w.log.db, "SELECT count(*) FROM audit", NULL, &rows, &err), &err);
	assert_int_equal(rows, ROWS + 1);
	assert_int_equal(rmdir(kept), 0);
	assert_ok(take_gap(&w, &r, &err), &err);
	assert_string_equal(r.archive, kept);
	teardown(&w, &r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit_gap__there_must_be_one),
		cmocka_unit_test(test_audit_gap__nothing_follows_on_nothing),
		cmocka_unit_test(test_audit_gap__the_new_log_goes_on_where_the_objects_are),
		cmocka_unit_test(test_audit_gap__objects_are_those_that_the_new_log_knows),
		cmocka_unit_test(test_audit_gap__a_damaged_snapshot_is_no_hindrance),
		cmocka_unit_test(test_audit_gap__the_largest_that_is_remembered),
		cmocka_unit_test(test_audit_gap__a_foreign_note_is_told),
		cmocka_unit_test(test_audit_gap__what_cannot_begin_changes_nothing),
		cmocka_unit_test(test_audit_gap__what_fails_is_taken_back),
		cmocka_unit_test(test_audit_gap__no_failed_call_is_swallowed),
		cmocka_unit_test(test_audit_gap__what_cannot_be_kept_does_not_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
