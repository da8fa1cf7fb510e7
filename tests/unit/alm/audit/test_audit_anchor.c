/* What places outside of the database remember: when they are told, and what follows if the log is
 * not what they remember. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alm/audit/anchor.h"
#include "alm/audit/audit_internal.h"
#include "alm/audit/head.h"
#include "alm/audit/restored.h"
#include "alm/audit/tables.h"
#include "alm/audit/tree.h"
#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "tests/lib/audit_log.h"

/* A place that keeps what it is told in memory, and fails when the test says so. */
struct place {
	struct anchor anchor;
	char note[CHECKPOINT_BYTES_MAX + 1];
	int64_t size;
	int told, asked;
	int failing; /* code of what keep() ends with */
};

static char dir[64];

static struct place *place_of(struct anchor *t)
{
	return CONTAINER_OF(t, struct place, anchor);
}

static void place_recall(struct anchor *t)
{
	struct place *p = place_of(t);
	p->asked++;
	anchor_recalled(t, p->note[0] ? str_of(p->note) : STR_NONE, NULL);
}

static void place_keep(struct anchor *t, int64_t size, struct str note, bool last)
{
	struct place *p = place_of(t);
	struct error err = ERROR_INIT;
	(void)last;
	p->told++;
	if (p->failing) {
		(void)error_set(&err, p->failing, "no room");
		anchor_kept(t, &err);
		return;
	}
	memcpy(p->note, note.ptr, note.len);
	p->note[note.len] = '\0';
	p->size = size;
	anchor_kept(t, NULL);
}

static void place_free(struct anchor *t)
{
	(void)t;
}

static const struct anchor_ops place_ops = {place_recall, place_keep, place_free};

static int setup(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof(dir), "/tmp/alm-anchor-XXXXXX");
	assert_non_null(mkdtemp(dir));
	return 0;
}

static const char *path_of(const char *name)
{
	static char path[96];
	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int teardown(void **state)
{
	(void)state;
	char **names = NULL;
	size_t n = 0;
	struct error err = ERROR_INIT;
	assert_ok(dir_list(dir, 100, &names, &n, &err), &err);
	for (size_t i = 0; i < n; i++)
		assert_ok(file_remove(path_of(names[i]), &err), &err);
	dir_list_free(names, n);
	assert_int_equal(rmdir(dir), 0);
	return 0;
}

static void open_log(struct audit_log *l)
{
	char path[96];
	(void)snprintf(path, sizeof(path), "%s/alm.db", dir);
	audit_log_open(l, path, dir);
}

static void advance(struct audit_log *l, int64_t ns)
{
	while (loop_next_deadline(&l->loop.base) <= l->loop.now_ns + ns) {
		int64_t at = loop_next_deadline(&l->loop.base);
		if (at > l->loop.now_ns) {
			ns -= at - l->loop.now_ns;
			l->loop.now_ns = at;
		}
		loop_run_due(&l->loop.base);
	}
	l->loop.now_ns += ns;
}

static int64_t count(struct audit_log *l, const char *reason)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	assert_ok(db_prepare(l->db, "SELECT count(*) FROM audit WHERE reason = ?", &s, &err), &err);
	stmt_bind_cstr(s, 1, reason);
	assert_int_equal(stmt_step(s, &err), 1);
	int64_t n = stmt_int(s, 0);
	stmt_reset(s);
	return n;
}

static struct place *place_new(struct audit_log *l, struct anchors **ret)
{
	struct place *p = xcalloc(1, sizeof(*p));
	anchor_init(&p->anchor, &place_ops, "place");
	struct anchor *t = &p->anchor;
	*ret = anchors_new(l->audit, &l->loop.base, l->db, &t, 1);
	return p;
}

static void test_audit_anchor__is_told_once_a_minute_or_a_thousand_rows(void **state)
{
	(void)state;
	struct audit_log l;
	struct anchors *s;
	open_log(&l);
	struct place *p = place_new(&l, &s);
	advance(&l, NS_PER_S);
	assert_int_equal(p->asked, 1);
	assert_int_equal(p->told, 1); /* what is there already */
	assert_int_equal(p->size, 1);
	advance(&l, NS_PER_HOUR);
	assert_int_equal(p->told, 1); /* the log has not grown */
	audit_log_fill(&l, 10, 10);
	advance(&l, 2 * NS_PER_S);
	assert_int_equal(p->told, 2);
	audit_log_fill(&l, 10, 10);
	advance(&l, 50 * NS_PER_S);
	assert_int_equal(p->told, 2); /* not within the minute */
	advance(&l, 10 * NS_PER_S);
	assert_int_equal(p->told, 3);
	assert_int_equal(p->size, 21);
	audit_log_fill(&l, 1000, 100);
	advance(&l, 2 * NS_PER_S);
	assert_int_equal(p->told, 4);
	audit_log_fill(&l, 5, 5);
	audit_close(l.audit); /* and when it closes */
	assert_int_equal(p->told, 5);
	assert_int_equal(p->size, 1026);
	anchors_free(s);
	db_close(l.db);
	loop_release(&l.loop.base);
	xfree(p);
}

static void test_audit_anchor__failures_are_told_once(void **state)
{
	(void)state;
	struct audit_log l;
	struct anchors *s;
	open_log(&l);
	struct place *p = place_new(&l, &s);
	p->failing = E_IO;
	advance(&l, 10 * NS_PER_MIN);
	assert_int_equal(count(&l, "AnchorFailing"), 1);
	assert_true(p->told > 5); /* tried again each minute */
	p->failing = E_FORBIDDEN;
	advance(&l, 5 * NS_PER_MIN);
	assert_int_equal(count(&l, "AnchorFailing"), 2);
	p->failing = 0;
	advance(&l, 5 * NS_PER_MIN);
	assert_int_equal(count(&l, "AnchorWorks"), 1);
	assert_true(p->size > 1);
	audit_log_assert_intact(&l);
	audit_close(l.audit);
	anchors_free(s);
	db_close(l.db);
	loop_release(&l.loop.base);
	xfree(p);
}

static bool appends(struct audit_log *l)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	struct audit_row row = {
		.type = "System", .reason = "Tested", .subject = {.kind = "Log", .name = "x"}};
	int r = audit_append_now(l->audit, &row, &seq, &err);
	if (r < 0)
		assert_int_equal(err.code, E_UNAVAILABLE);
	return r >= 0;
}

/* The note of another log: of another length, signed by nobody who counts, of other rows. */
static void test_audit_anchor__one_that_remembers_more_ends_the_writing(void **state)
{
	(void)state;
	struct audit_log l;
	struct anchors *s;
	struct error err = ERROR_INIT;
	open_log(&l);
	struct place *p = place_new(&l, &s);
	audit_log_fill(&l, 50, 50);
	advance(&l, NS_PER_MIN);
	assert_int_equal(p->size, 51);
	assert_ok(audit_check_note(l.audit, str_of(p->note), "place", &err), &err);
	CLEANUP(xfreep) char *newest = xstrdup(p->note);
	audit_log_fill(&l, 50, 50);
	assert_ok(audit_check_note(l.audit, str_of(newest), "place", &err), &err);
	newest[strlen(newest) - 3] ^= 1;
	assert_int_equal(audit_check_note(l.audit, str_of(newest), "place", &err), -E_CORRUPT);
	assert_true(appends(&l)); /* what nobody signed takes nothing away */
	char *more = strstr(p->note, "\n51\n");
	assert_non_null(more);
	audit_close(l.audit);
	anchors_free(s);
	assert_true(p->size > 51);
	db_close(l.db);
	loop_release(&l.loop.base);

	/* the database alone begins anew, with the same keys */
	assert_ok(file_remove(path_of("alm.db"), &err), &err);
	assert_ok(file_remove(path_of(HEAD_FILE), &err), &err);
	struct place old = *p;
	open_log(&l);
	assert_true(appends(&l));
	struct place *again = place_new(&l, &s);
	memcpy(again->note, old.note, sizeof(again->note));
	anchor_recalled(&again->anchor, str_of(again->note), NULL);
	assert_non_null(audit_read_only(l.audit));
	assert_true(strstr(audit_read_only(l.audit), "LogRolledBack: place remembers") != NULL);
	assert_int_equal(audit_check_note(l.audit, str_of(again->note), "place", &err), -E_ALTERED);
	assert_false(appends(&l));
	const struct audit_row row = {.type = "System", .reason = "Started"};
	int64_t seq;
	assert_int_equal(audit_append_now(l.audit, &row, &seq, &err), -E_UNAVAILABLE);
	assert_string_equal(err.msg,
			    audit_read_only(l.audit)); /* whoever wants to write reads why */
	int told = again->told;
	advance(&l, NS_PER_HOUR);
	assert_int_equal(again->told, told);
	assert_memory_equal(again->note, old.note, sizeof(old.note)); /* never overwritten */
	audit_close(l.audit);
	anchors_free(s);
	db_close(l.db);
	loop_release(&l.loop.base);
	xfree(p);
	xfree(again);
}

static void test_audit_anchor__a_lost_head_is_recorded_once(void **state)
{
	(void)state;
	struct audit_log l;
	struct error err = ERROR_INIT;
	open_log(&l);
	audit_log_fill(&l, 20, 5);
	audit_log_close(&l);
	assert_ok(file_remove(path_of(HEAD_FILE), &err), &err);
	for (int i = 0; i < 3; i++) {
		open_log(&l);
		assert_null(audit_read_only(l.audit));
		assert_int_equal(count(&l, "AnchorLost"), 1);
		audit_log_close(&l);
	}
}

/* Every damaged byte of the head: it counts as lost, or it contradicts the log; it never makes the
 * log another. */
static void test_audit_anchor__a_damaged_head_is_noticed(void **state)
{
	(void)state;
	struct audit_log l;
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(65536);
	CLEANUP(strbuf_release) struct strbuf database = STRBUF_INIT((size_t)16 << 20);
	open_log(&l);
	audit_log_fill(&l, 20, 5);
	audit_log_close(&l);
	assert_ok(file_read(path_of(HEAD_FILE), &text, &err), &err);
	assert_ok(file_read(path_of("alm.db"), &database, &err), &err);
	size_t note = (size_t)str_find(strbuf_str(&text), STR("\n\n")) + 2;
	for (size_t i = 0; i < text.len; i++) {
		CLEANUP(xfreep) char *copy = xstrdup(text.buf);
		copy[i] ^= 1;
		assert_ok(file_replace(path_of(HEAD_FILE), str_of(copy), 0600, &err), &err);
		assert_ok(file_replace(path_of("alm.db"), strbuf_str(&database), 0600, &err), &err);
		open_log(&l);
		bool noticed = audit_read_only(l.audit) || count(&l, "AnchorLost");
		if (!noticed && i >= note)
			fail_msg("byte %zu of the head changed, and nothing happened", i);
		audit_log_close(&l);
	}
}

static struct db *open_db(void)
{
	struct error err = ERROR_INIT;
	struct db *d;
	struct db_config dc = {.path = path_of("alm.db")};
	assert_ok(db_open(&dc, &d, &err), &err);
	return d;
}

static void test_audit_anchor__a_head_that_nobody_signed_is_named(void **state)
{
	(void)state;
	struct audit_log l;
	struct error err = ERROR_INIT;
	struct verify_options o = {.skip_file_check = true, .dir = dir};
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(65536);
	CLEANUP(strbuf_release) struct strbuf said = STRBUF_INIT(65536);
	CLEANUP(xfreep) struct verify_report *rep = xcalloc(1, sizeof(*rep));
	open_log(&l);
	audit_log_fill(&l, 20, 5);
	audit_log_close(&l);
	assert_ok(file_read(path_of(HEAD_FILE), &text, &err), &err);
	char *c = &text.buf[text.len - 10]; /* of the signature */
	*c = *c == 'A' ? 'B' : 'A';
	assert_ok(file_replace(path_of(HEAD_FILE), strbuf_str(&text), 0600, &err), &err);
	struct db *d = open_db();
	assert_ok(verify_log(d, &o, rep, &err), &err);
	verify_print(rep, &said);
	db_close(d);
	if (!strstr(said.buf, HEAD_FILE ": no key of this log signed its note"))
		fail_msg("%s", said.buf);
}

/* The copy of a log says where it came from and goes on; what was remembered is in it. */
static void test_audit_anchor__a_restored_copy_says_so(void **state)
{
	(void)state;
	struct audit_log l;
	struct error err = ERROR_INIT;
	struct restored r;
	open_log(&l);
	audit_log_fill(&l, TREE_TILE - 2, 5); /* the record of it ends a tile */
	int64_t rows = audit_last_seq(l.audit);
	audit_log_close(&l);
	struct db *d = open_db();
	struct restored_config c = {.db = d,
				    .loop = &l.loop.base,
				    .dir = dir,
				    .reason = "a test",
				    .details = "of a tile"};
	loop_init(&l.loop.base, l.loop.base.ops);
	assert_ok(restored_append(&c, &r, &err), &err);
	assert_int_equal(r.rows, rows);
	assert_non_null(r.origin);
	assert_null(r.gap);
	restored_release(&r);
	db_close(d);
	loop_release(&l.loop.base);
	open_log(&l);
	assert_false(audit_read_only(l.audit));
	assert_int_equal(count(&l, "Restored"), 1);
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	assert_ok(audit_row_get(l.audit, rows + 1, &row, &err), &err);
	assert_string_equal(obj_str(row, "reason"), "Restored");
	assert_string_equal(obj_str(row, "body.details"), "of a tile");
	assert_string_equal(obj_str(row, "body.justification"), "a test");
	audit_log_assert_intact(&l);
	audit_log_close(&l);
}

static void test_audit_anchor__cosignatures_are_those_of_the_witness(void **state)
{
	(void)state;
	/* made by other code (tests/e2e/tlog.py) over the checkpoint of audit.md 4 */
	static const char note[] =
		"alm.example/prod\n2\nFHtobQ3gAIDkfiI484x4scvdFTrWSgqMA0eDSZ7gASI=\n\n"
		"\xe2\x80\x94 alm.example/prod "
		"oAklOs1bHQBLFB0wNtJPE+WuS2L+NQEOVg3PY7vYTUdDovhM1pLo9d"
		"HLaCeU2D5eYg5FFEEPJGRg0PjSkTYjrCCr2QY=\n";
	static const char line[] = "\xe2\x80\x94 witness.example/w1 "
				   "gHYYOgAAAABw3ZqAbFaFXF1pejbGC8Cf8p8mUl6XlAFRvzeXMcJXS0"
				   "oIs1O1GuigdrMwehTT8nShbHbo2x0kNNf76d4WXmmPj29CDA==\n";
	static const char vkey[] =
		"witness.example/w1+8076183a+BOjCEHV3UUlzlx2fCfFKtQ6uSVc8Y86JnxmKdvZunMBS";
	int64_t when = 0;
	assert_true(cosignature_fits(str_of(note), str_of(line), vkey, &when));
	assert_int_equal(when, 1893571200);
	for (size_t i = 4; i < sizeof(line) - 2; i++) {
		CLEANUP(xfreep) char *copy = xstrdup(line);
		copy[i] ^= 1;
		assert_false(cosignature_fits(str_of(note), str_of(copy), vkey, &when));
	}
	for (size_t i = 0; i < 60; i++) { /* another text */
		CLEANUP(xfreep) char *copy = xstrdup(note);
		copy[i] ^= 1;
		assert_false(cosignature_fits(str_of(copy), str_of(line), vkey, &when));
	}
	for (size_t i = 0; i < sizeof(vkey) - 1; i++) {
		CLEANUP(xfreep) char *copy = xstrdup(vkey);
		copy[i] ^= 1;
		assert_false(cosignature_fits(str_of(note), str_of(line), copy, &when));
	}
	assert_false(cosignature_fits(str_of(note), STR(""), vkey, &when));

	/* by the same code: at the first second there is, and before it, which no witness says */
	static const char another[] =
		"witness.example/w2+08e4812c+BOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs";
	static const char first[] = "\xe2\x80\x94 witness.example/w2 "
				    "COSBLAAAAAAAAAAA45Q7eLSTAR0eRNhpqJQAgu2Lu7dlJ49247lSWANi4RKQ"
				    "JoAvKB8UxJMdX4pQuMbQGIeRNtVNeva1wi0loFWlDA==\n";
	static const char before[] = "\xe2\x80\x94 witness.example/w2 "
				     "COSBLP//////////kn9OM1m8hmkRnr3kHepYqgcNuJAQ2qNJiEPua0YApR+G"
				     "cSLBHW2qOENC4McLYz/fmxE5pewMwk7wmCdhWGX0AQ==\n";
	assert_true(cosignature_fits(str_of(note), str_of(first), another, &when));
	assert_int_equal(when, 0);
	assert_false(cosignature_fits(str_of(note), str_of(before), another, &when));
}

/* The head names a checkpoint that the database must have. */
static void test_audit_anchor__a_checkpoint_that_the_head_knows_is_missed(void **state)
{
	(void)state;
	for (int lost = 0; lost < 2; lost++) {
		struct audit_log l;
		struct error err = ERROR_INIT;
		open_log(&l);
		audit_log_fill(&l, 20, 10);
		audit_close(STEAL(l.audit));
		for (const struct tables_object *o = audit_tables; lost && o->type; o++)
			if (!strcmp(o->name, "audit_checkpoint_delete")) {
				assert_ok(
					db_exec(l.db, "DROP TRIGGER audit_checkpoint_delete", &err),
					&err);
				assert_ok(db_exec(l.db, "DELETE FROM audit_checkpoint", &err),
					  &err);
				assert_ok(db_exec(l.db, o->sql, &err), &err);
			}
		struct audit_config c = {.db = l.db, .loop = &l.loop.base, .key_dir = dir};
		assert_ok(audit_open(&c, &l.audit, &err), &err);
		assert_int_equal(audit_read_only(l.audit) != NULL, lost);
		if (lost && !strstr(audit_read_only(l.audit), HEAD_FILE " remembers "))
			fail_msg("%s", audit_read_only(l.audit));
		if (lost && !strstr(audit_read_only(l.audit),
				    " records, and the database lacks the checkpoint of them"))
			fail_msg("%s", audit_read_only(l.audit));
		audit_log_close(&l);
	}
}

/* What a log that was closed has more than its head says was appended by somebody else; one that was cut off goes on
 * behind its head. */
static void test_audit_anchor__nothing_follows_a_log_that_was_closed(void **state)
{
	(void)state;
	for (int closed = 0; closed < 2; closed++) {
		struct audit_log l;
		struct error err = ERROR_INIT;
		struct audit_head_state head;
		open_log(&l);
		audit_log_fill(&l, 20, 10);
		audit_log_close(&l);
		assert_ok(head_read(dir, &head, &err), &err);
		assert_true(head.closed);
		open_log(&l);
		audit_log_fill(&l, 20, 10);
		audit_log_close(&l);
		for (int later = 0; later < 2;
		     later++) { /* the head of then, and the one that is of now */
			if (later)
				assert_ok(head_read(dir, &head, &err), &err);
			head.closed = closed;
			assert_ok(head_write(dir, &head, true, &err), &err);
			open_log(&l);
			const char *why = audit_read_only(l.audit);
			assert_int_equal(why != NULL, closed && !later);
			if (why && !strstr(why, HEAD_FILE " remembers "))
				fail_msg("%s", why);
			if (why &&
			    !strstr(why,
				    " records, and more were appended after the log was closed"))
				fail_msg("%s", why);
			assert_int_equal(count(&l, "AnchorLost"), 0);
			audit_log_close(&l);
			if (why)
				break;
		}
	}
}

/* As many as may be named, and the head: each is compared. */
static void test_audit_anchor__as_many_places_as_may_be_named(void **state)
{
	(void)state;
	struct audit_log l;
	struct error err = ERROR_INIT;
	struct audit_head_state head;
	struct verify_anchor anchors[VERIFY_ANCHORS_MAX];
	struct verify_report *rep = xcalloc(1, sizeof(*rep));
	open_log(&l);
	audit_log_fill(&l, 20, 10);
	audit_close(STEAL(l.audit));
	assert_ok(head_read(dir, &head, &err), &err);
	for (size_t i = 0; i < VERIFY_ANCHORS_MAX; i++)
		anchors[i] = (struct verify_anchor){.name = "file", .note = str_of(head.note)};
	const struct verify_options o = {.skip_file_check = true,
					 .dir = dir,
					 .anchors = anchors,
					 .n_anchors = VERIFY_ANCHORS_MAX};
	assert_ok(verify_log(l.db, &o, rep, &err), &err);
	assert_int_equal(verify_exit(rep), 0);
	assert_int_equal(rep->n_anchors, VERIFY_ANCHORS_MAX);
	xfree(rep);
	audit_log_close(&l);
}

/* As long as it has none it says so, whatever stood there; then the newest. */
static void test_audit_anchor__the_newest_note(void **state)
{
	(void)state;
	static struct audit_log l;
	char note[CHECKPOINT_BYTES_MAX + 1] = "what stood there";
	struct error err = ERROR_INIT;
	audit_log_open(&l, ":memory:", NULL);
	for (const struct tables_object *o = audit_tables; o->type; o++) {
		char drop[128];
		(void)snprintf(drop, sizeof(drop), "DROP TRIGGER %s", o->name);
		if (!strcmp(o->type, "trigger"))
			assert_ok(db_exec(l.db, drop, &err), &err);
	}
	assert_ok(db_exec(l.db, "DELETE FROM audit_checkpoint", &err), &err);
	assert_ok(audit_newest_note(l.audit, note, &err), &err);
	assert_string_equal(note, "");
	for (int i = 0; i < 3; i++) {
		char size[32];
		l.loop.now_ns += 2 * NS_PER_S;
		audit_log_fill(&l, 1, 1);
		assert_ok(audit_newest_note(l.audit, note, &err), &err);
		(void)snprintf(size, sizeof(size), "\n%lld\n", (long long)audit_last_seq(l.audit));
		assert_non_null(strstr(note, size));
	}
	audit_log_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit_anchor__the_newest_note),
		cmocka_unit_test_setup_teardown(
			test_audit_anchor__is_told_once_a_minute_or_a_thousand_rows, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			test_audit_anchor__a_checkpoint_that_the_head_knows_is_missed, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			test_audit_anchor__nothing_follows_a_log_that_was_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_audit_anchor__as_many_places_as_may_be_named,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_audit_anchor__failures_are_told_once, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_audit_anchor__one_that_remembers_more_ends_the_writing, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_audit_anchor__a_lost_head_is_recorded_once,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_audit_anchor__a_damaged_head_is_noticed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_audit_anchor__a_head_that_nobody_signed_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(test_audit_anchor__a_restored_copy_says_so, setup,
						teardown),
		cmocka_unit_test(test_audit_anchor__cosignatures_are_those_of_the_witness),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
