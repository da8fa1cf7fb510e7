/* What a source has that is new is told commit by commit, in their order, whatever it has; and a Bundle is rolled as it was asked. */
#include "tests/lib/test.h"

#include <stdio.h>

#include "alm/audit/audit.h"
#include "alm/base/clock.h"
#include "alm/controllers/work/works.h"
#include "alm/io/db.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/db_failing.h"
#include "tests/lib/work_fixture.h"

enum { SKIPPED_MAX = 3, AUTHORS = 3, ID_MAX = 32 };

static const char *const authors[AUTHORS] = {"ann", "", NULL};

struct fixture {
	struct work_fixture w;
	struct work_host host;
	struct bundle_news news;
	const struct error *failed;
	bool is_there;
	size_t n_rolled;
};

static void read_bundle(void *arg, const struct obj *bundle, bundle_read_fn done, void *done_arg)
{
	struct fixture *f = arg;
	assert_string_equal(meta_name(bundle), "web");
	done(done_arg, f->failed ? NULL : &f->news, f->failed);
}

static int roll_bundle(void *arg, const struct obj *bundle, bool is_there, struct error *err)
{
	struct fixture *f = arg;
	assert_string_equal(meta_name(bundle), "web");
	f->is_there = is_there;
	f->n_rolled++;
	return f->failed ? error_copy(err, f->failed) : 0;
}

static void init(struct fixture *f)
{
	*f = (struct fixture){.host = {.read_bundle = read_bundle, .roll_bundle = roll_bundle}};
	f->host.arg = f;
	work_fixture_init_with(&f->w, &(struct work_fixture_config){.work_host = &f->host});
}

static void run(struct fixture *f, const struct work_kind *kind, bool row_only)
{
	struct plan p;
	work_fixture_plan(&p);
	struct obj *o = obj_keep(p.a, meta_skeleton("v1", "Bundle", NULL, "web"));
	obj_set_path(o, "metadata.uid", obj_string("u"));
	struct action *x = plan_work(&p, kind, "id");
	x->subject = x->body = o;
	x->key = "web";
	x->row_only = row_only;
	work_fixture_run(&f->w, &p);
	if (!f->w.n_done) /* the log could not be written */
		loop_fake_run(f->w.loop, 3 * NS_PER_S);
	if (!db_is_broken(f->w.db))
		assert_int_equal(f->w.n_done, 1);
}

static struct obj *commit(const char *id, const char *author)
{
	struct obj *o = obj_map();
	if (author)
		obj_set_str(o, "author", author);
	obj_set_str(o, "commit", id);
	obj_set_str(o, "committer", "carl");
	return o;
}

static void check_entry(struct fixture *f, int64_t seq, const char *reason,
			const struct obj *source, bool by_author)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	assert_ok(audit_row_get(f->w.audit, seq, &row, &err), &err);
	const char *author = by_author ? obj_str(source, "author") : NULL;
	author = author && *author ? author : NULL;
	assert_string_equal(obj_str(row, "type"), "Observe");
	assert_string_equal(obj_str(row, "reason"), reason);
	assert_string_equal(obj_str(row, "subject.kind"), "Bundle");
	assert_string_equal(obj_str(row, "subject.name"), "web");
	assert_string_equal(obj_str(row, "subject.uid"), "u");
	static const char *const fields[] = {"commit", "author", "committer"};
	const struct obj *told = obj_path(row, "body.source");
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const char *want =
			obj_str(source, fields[i]); /* the log leaves out what is empty */
		assert_true(cstr_eq(obj_str(told, fields[i]), want && *want ? want : NULL));
	}
	assert_true(cstr_eq(obj_str(row, "actor"), author));
	assert_true(cstr_eq(obj_str(row, "body.who.trust"), author ? "git" : NULL));
	assert_true(cstr_eq(obj_str(row, "body.who.committer"), author ? "carl" : NULL));
	assert_null(obj_str(row, "body.who.signer"));
}

/* n commits that were never run, of these authors in turn. */
static void check_news(size_t n, size_t who, bool is_new, bool unknown)
{
	struct fixture f;
	char id[ID_MAX];
	init(&f);
	CLEANUP(obj_unrefp) struct obj *skipped = obj_list(); /* newest first */
	CLEANUP(obj_unrefp) struct obj *head = commit("head", authors[who]);
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(id, sizeof(id), "c%zu", n - i);
		obj_append(skipped, commit(id, authors[(who + i) % AUTHORS]));
	}
	f.news = (struct bundle_news){
		.read = head, .skipped = skipped, .is_new = is_new, .unknown = unknown};
	int64_t seq = audit_last_seq(f.w.audit);
	run(&f, &read_work, false);
	assert_int_equal(f.w.code, 0);
	if (is_new) {
		if (unknown)
			check_entry(&f, ++seq, "HistoryUnknown", head, false);
		for (size_t i = n; i > 0; i--)
			check_entry(&f, ++seq, "Superseded", obj_at(skipped, i - 1), true);
		check_entry(&f, ++seq, "RevisionRead", head, true);
	}
	assert_int_equal(audit_last_seq(f.w.audit), seq);
	const struct outcome *o = stash_get(f.w.stash, "id");
	CLEANUP(xfreep) char *text = json_text(head);
	assert_true(o && !o->code && str_is(o->text, text));
	if (!n && !unknown) { /* the same once more is not told again */
		run(&f, &read_work, false);
		assert_int_equal(audit_last_seq(f.w.audit), seq);
	}
	work_fixture_release(&f.w);
}

static void test_work_bundle__each_commit_once_in_their_order(void **state)
{
	(void)state;
	for (size_t n = 0; n <= SKIPPED_MAX; n++)
		for (size_t who = 0; who < AUTHORS; who++)
			for (int way = 0; way < 4; way++)
				check_news(n, who, way & 1, way & 2);
}

/* Whatever call of the log's database fails: what is told are the first ones, and the reading is not done unless all are. */
static void test_work_bundle__what_is_not_told_is_not_read(void **state)
{
	static const char *const wanted[] = {"HistoryUnknown", "Superseded", "RevisionRead"};
	(void)state;
	int n_calls = 1;
	for (int at = 0; at <= n_calls; at++) {
		struct fixture f;
		init(&f);
		CLEANUP(obj_unrefp) struct obj *skipped = obj_list();
		CLEANUP(obj_unrefp) struct obj *head = commit("head", "ann");
		obj_append(skipped, commit("c1", "ann"));
		f.news = (struct bundle_news){
			.read = head, .skipped = skipped, .is_new = true, .unknown = true};
		int64_t from = audit_last_seq(f.w.audit);
		db_failing_watch(f.w.db);
		db_failing_begin(f.w.db, at, false);
		run(&f, &read_work, false);
		int n = db_failing_end();
		n_calls = at ? n_calls : n;
		bool broken = db_is_broken(f.w.db); /* until it is opened again */
		const struct outcome *o = broken ? NULL : stash_get(f.w.stash, "id");
		int64_t told = broken ? 0 : audit_last_seq(f.w.audit) - from;
		assert_in_range(told, 0, ARRAY_LEN(wanted));
		if (o && !o->code != (told == ARRAY_LEN(wanted)))
			fail_msg("%lld entries, %d: %s", (long long)told, o->code,
				 db_failing_sql());
		for (int64_t i = 0; i < told; i++) {
			struct error err = ERROR_INIT;
			CLEANUP(obj_unrefp) struct obj *row = NULL;
			assert_ok(audit_row_get(f.w.audit, from + 1 + i, &row, &err), &err);
			assert_string_equal(obj_str(row, "reason"), wanted[i]);
		}
		work_fixture_release(&f.w);
	}
	assert_true(n_calls > 9);
}

static void test_work_bundle__what_fails_is_the_outcome(void **state)
{
	(void)state;
	struct fixture f;
	struct error err = ERROR_INIT;
	init(&f);
	error_set(&err, E_UNAVAILABLE, "no repository");
	f.failed = &err;
	int64_t seq = audit_last_seq(f.w.audit);
	run(&f, &read_work, false);
	assert_int_equal(f.w.code, 0); /* of the reconcile */
	const struct outcome *o = stash_get(f.w.stash, "id");
	assert_true(o && o->code == E_UNAVAILABLE && !o->text.ptr);
	assert_string_equal(o->msg, "no repository");
	assert_int_equal(audit_last_seq(f.w.audit), seq);
	run(&f, &roll_work, false); /* but nothing is begun: then it is the reconcile's */
	assert_int_equal(f.w.code, E_UNAVAILABLE);
	f.failed = NULL;
	for (int there = 0; there < 2; there++) {
		run(&f, &roll_work, there);
		assert_int_equal(f.w.code, 0);
		assert_int_equal(f.is_there, there);
	}
	assert_int_equal(f.n_rolled, 3);
	work_fixture_release(&f.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_bundle__each_commit_once_in_their_order),
		cmocka_unit_test(test_work_bundle__what_is_not_told_is_not_read),
		cmocka_unit_test(test_work_bundle__what_fails_is_the_outcome),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
