/* catalog.c: when a source is read again, and what the status says of what came. */
#include "tests/lib/test.h"

#include "alm/base/clock.h"
#include "alm/controllers/app/controllers.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/controller.h"
#include "alm/obj/condition.h"
#include "tests/lib/view_fake.h"

#define NOW   "2023-11-14T22:13:20Z"
#define SINCE "2020-01-02T03:04:05Z"
#define CATALOG(spec, status, accept)                                                     \
	"{\"apiVersion\":\"app.coreos.com/v1alpha2\",\"kind\":\"Catalog\",\"metadata\":{" \
	"\"name\":\"c\",\"uid\":\"u\",\"generation\":2,\"annotations\":{"                 \
	"\"app.coreos.com/accept-digest\":\"" accept "\"}},\"spec\":{\"source\":{}" spec  \
	"},\"status\":{" status "}}"
#define SYNCED(value)                                                                          \
	"\"conditions\":[{\"type\":\"Synced\",\"status\":\"" value "\",\"reason\":\"Synced\"," \
	"\"message\":\"\",\"lastTransitionTime\":\"" SINCE "\",\"observedGeneration\":2}]"
#define ID "sync:u:2"

static void put(struct view_fake *f, const char *value, int code, int64_t age_ns)
{
	struct error err = ERROR_INIT;
	if (code)
		error_set(&err, code, "m");
	stash_put(f->stash, ID, code ? &err : NULL, STR_NONE, obj_copy(view_fake_obj(f, value)),
		  f->view.now_ns - age_ns);
}

static void pass(struct view_fake *f)
{
	struct error err = ERROR_INIT;
	struct plan *p = view_fake_plan(f);
	for (const struct step *s = catalog_controller.steps; s->fn; s++)
		if (s->fn(&f->view, "c", p, &err) != STEP_CONTINUE)
			break;
}

static const struct obj *status(struct view_fake *f)
{
	pass(f);
	const struct action *x = view_fake_action(f, ACT_STATUS, NULL, NULL);
	return x ? x->body : NULL;
}

static const char *condition(const struct obj *status, const char *type, const char *field)
{
	return obj_str(condition_find(obj_get(status, "conditions"), type), field);
}

static void test_catalog__what_the_status_says_of_a_revision(void **state)
{
	struct view_fake f;
	(void)state;
	view_fake_init(&f);
	view_fake_put(&f, WATCH_CATALOG,
		      CATALOG("",
			      "\"digest\":\"old\",\"lastSync\":\"" SINCE
			      "\",\"packages\":9,\"versions\":9,"
			      "\"rejected\":[{\"name\":\"x\"}],\"rejectedOmitted\":4,"
			      "\"packageNames\":[\"x\"],"
			      "\"quarantined\":{\"digest\":\"q\"}",
			      ""));
	put(&f,
	    "{\"digest\":\"new\",\"packages\":1,\"versions\":2,\"packageNames\":[\"p\"],"
	    "\"nRejected\":3,"
	    "\"rejected\":[{\"name\":\"r\"}]}",
	    0, 0);
	const struct obj *s = status(&f);
	assert_non_null(s);
	assert_string_equal(obj_str(s, "digest"), "new");
	assert_string_equal(obj_str(s, "lastSync"), NOW);
	assert_int_equal(obj_i64(s, "packages", -1), 1);
	assert_int_equal(obj_i64(s, "versions", -1), 2);
	assert_int_equal(obj_i64(s, "observedGeneration", -1), 2);
	assert_int_equal(obj_i64(s, "rejectedOmitted", -1), 2);
	assert_true(obj_equal(obj_get(s, "rejected"), view_fake_obj(&f, "[{\"name\":\"r\"}]")));
	assert_true(obj_equal(obj_get(s, "packageNames"), view_fake_obj(&f, "[\"p\"]")));
	assert_false(obj_has(s, "quarantined"));
	assert_string_equal(condition(s, "Synced", "status"), "True");
	assert_string_equal(condition(s, "Synced", "reason"), "Synced");
	assert_string_equal(condition(s, "EntriesRejected", "message"),
			    "3 entries, see status.rejected");
	const struct action *x = view_fake_action(&f, ACT_STATUS, NULL, NULL);
	assert_string_equal(x->reason, "Synced");
	assert_string_equal(x->chain, "catalog:c");
	assert_string_equal(x->event_type, "Normal");
	view_fake_release(&f);
}

/* What the revision before had is gone with it. */
static void test_catalog__what_is_gone_is_not_told(void **state)
{
	struct view_fake f;
	(void)state;
	view_fake_init(&f);
	view_fake_put(
		&f, WATCH_CATALOG,
		CATALOG("",
			"\"digest\":\"old\",\"rejected\":[{\"name\":\"x\"}],\"rejectedOmitted\":4,"
			"\"packageNames\":[\"x\"],\"conditions\":[{\"type\":\"EntriesRejected\","
			"\"status\":\"True\",\"reason\":\"EntriesRejected\",\"message\":\"\"}]",
			""));
	put(&f, "{\"digest\":\"new\",\"packages\":0,\"versions\":0,\"packageNames\":[]}", 0, 0);
	const struct obj *s = status(&f);
	assert_non_null(s);
	assert_false(obj_has(s, "rejected"));
	assert_false(obj_has(s, "rejectedOmitted"));
	assert_false(obj_has(s, "packageNames"));
	assert_null(condition(s, "EntriesRejected", "status"));
	assert_int_equal(obj_i64(s, "packages", -1), 0);
	view_fake_release(&f);
}

/* Idle means no writes: the time is that of a change. */
static void test_catalog__when_it_was_synced(void **state)
{
	static const struct {
		const char *status, *want;
	} rows[] = {
		{"\"digest\":\"d\",\"lastSync\":\"" SINCE "\"," SYNCED("True"), SINCE},
		{"\"digest\":\"d\",\"lastSync\":\"" SINCE "\"," SYNCED("False"), NOW},
		{"\"digest\":\"e\",\"lastSync\":\"" SINCE "\"," SYNCED("True"), NOW},
		{"\"digest\":\"d\"," SYNCED("True"), NOW},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		CLEANUP(obj_unrefp) struct obj *text =
			obj_stringf(CATALOG("", "%s", ""), rows[i].status);
		view_fake_put(&f, WATCH_CATALOG, obj_as_string(text));
		put(&f, "{\"digest\":\"d\"}", 0, 0);
		const struct obj *s = status(&f);
		assert_non_null(s);
		assert_string_equal(obj_str(s, "lastSync"), rows[i].want);
		view_fake_release(&f);
	}
	struct view_fake f;
	view_fake_init(&f);
	view_fake_put(&f, WATCH_CATALOG,
		      CATALOG("",
			      "\"digest\":\"d\",\"lastSync\":\"" SINCE
			      "\",\"observedGeneration\":2,"
			      "\"packages\":1,\"versions\":2," SYNCED("True"),
			      ""));
	put(&f, "{\"digest\":\"d\",\"packages\":1,\"versions\":2}", 0, 0);
	assert_null(status(&f));
	assert_int_equal(f.plan.n, 0);
	view_fake_release(&f);
}

/* A revision that is not used: which, why and since when; what is used stays. */
static void test_catalog__quarantine(void **state)
{
	static const struct {
		const char *quarantined, *want; /* want: since */
	} rows[] = {
		{"", NOW},
		{",\"quarantined\":{\"digest\":\"bad\",\"since\":\"" SINCE "\"}", SINCE},
		{",\"quarantined\":{\"digest\":\"other\",\"since\":\"" SINCE "\"}", NOW},
		{",\"quarantined\":{\"digest\":\"bad\"}", NOW},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		CLEANUP(obj_unrefp) struct obj *text = obj_stringf(
			CATALOG("", "\"digest\":\"d\",\"packages\":5%s," SYNCED("True"), ""),
			rows[i].quarantined);
		view_fake_put(&f, WATCH_CATALOG, obj_as_string(text));
		put(&f, "{\"badDigest\":\"bad\"}", E_INVALID, 0);
		const struct obj *s = status(&f);
		assert_non_null(s);
		assert_string_equal(obj_str(s, "quarantined.digest"), "bad");
		assert_string_equal(obj_str(s, "quarantined.reason"), "ParseError");
		assert_string_equal(obj_str(s, "quarantined.since"), rows[i].want);
		assert_string_equal(obj_str(s, "digest"), "d");
		assert_int_equal(obj_i64(s, "packages", -1), 5);
		assert_string_equal(condition(s, "Synced", "status"), "False");
		assert_string_equal(condition(s, "Synced", "message"), "m");
		const struct action *x = view_fake_action(&f, ACT_STATUS, NULL, NULL);
		assert_string_equal(x->reason, "ParseError");
		assert_string_equal(x->event_type, "Warning");
		x = view_fake_action(&f, ACT_ROW, NULL, NULL);
		assert_non_null(x);
		assert_string_equal(x->row_type, "Decision");
		assert_string_equal(x->reason, "Quarantined");
		assert_string_equal(x->key, "Quarantined bad ParseError");
		assert_string_equal(x->chain, "catalog:c");
		assert_string_equal(obj_str(x->body, "verdict"), "deny");
		assert_string_equal(obj_str(x->body, "message"), "m");
		assert_string_equal(obj_str(x->body, "digest"), "bad");
		view_fake_release(&f);
	}
}

/* A source that cannot be read has nothing that could be refused. */
static void test_catalog__one_that_is_not_there(void **state)
{
	struct view_fake f;
	(void)state;
	view_fake_init(&f);
	view_fake_put(&f, WATCH_CATALOG, CATALOG("", "\"digest\":\"d\"," SYNCED("False"), ""));
	put(&f, "{}", E_UNAVAILABLE, 0);
	const struct obj *s = status(&f);
	assert_non_null(s);
	assert_false(obj_has(s, "quarantined"));
	assert_null(view_fake_action(&f, ACT_ROW, NULL, NULL));
	const struct action *x = view_fake_action(&f, ACT_STATUS, NULL, NULL);
	assert_string_equal(x->reason, "Refreshed"); /* it was told when it began */
	assert_null(x->event_type);
	view_fake_release(&f);
}

static void test_catalog__the_end_of_a_quarantine(void **state)
{
	static const struct {
		const char *accepted, *used, *rule; /* rule NULL: it was none */
	} rows[] = {
		{"bad", "bad", "Accepted"},
		{"", "new", "GoodRevision"},
		{"bad", "new", "GoodRevision"},
		{"", "bad", "GoodRevision"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		CLEANUP(obj_unrefp) struct obj *text = obj_stringf(
			CATALOG("", "\"digest\":\"d\",\"quarantined\":{\"digest\":\"bad\"}", "%s"),
			rows[i].accepted);
		view_fake_put(&f, WATCH_CATALOG, obj_as_string(text));
		put(&f, arena_fmt(f.a, "{\"digest\":\"%s\",\"badDigest\":\"old\"}", rows[i].used),
		    0, 0);
		const struct obj *s = status(&f);
		assert_false(obj_has(s, "quarantined"));
		const struct action *x = view_fake_action(&f, ACT_ROW, NULL, NULL);
		assert_non_null(x);
		assert_string_equal(x->reason, "QuarantineEnded");
		assert_string_equal(x->key, "QuarantineEnded bad");
		assert_string_equal(obj_str(x->body, "verdict"), "allow");
		assert_string_equal(obj_str(x->body, "digest"), rows[i].used);
		assert_string_equal(obj_str(obj_at(obj_get(x->body, "rules"), 0), "id"),
				    rows[i].rule);
		view_fake_release(&f);
	}
}

static bool is_read(struct view_fake *f)
{
	pass(f);
	const struct action *x = view_fake_work(f, &sync_work);
	if (!x)
		return false;
	assert_string_equal(x->id, ID);
	assert_string_equal(x->key, "c");
	assert_string_equal(obj_str(x->body, "metadata.uid"), "u");
	assert_ptr_equal(x->subject, x->body);
	return true;
}

/* Each interval, a tenth to either side. */
static void test_catalog__when_it_is_read(void **state)
{
	static const struct {
		const char *spec;
		int64_t ns;
	} rows[] = {{"", 5 * NS_PER_MIN},
		    {",\"interval\":\"1h\"", NS_PER_HOUR},
		    {",\"interval\":\"1ms\"", NS_PER_S},
		    {",\"interval\":\"x\"", 5 * NS_PER_MIN}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t ns = rows[i].ns;
		const struct {
			int64_t age_ns;
			bool read;
		} ages[] = {{0, false},
			    {ns / 100 * 90 - 1, false},
			    {ns / 100 * 110 + 1, true},
			    {-1, true}}; /* the clock was set back */
		for (size_t k = 0; k < ARRAY_LEN(ages); k++) {
			struct view_fake f;
			view_fake_init(&f);
			CLEANUP(obj_unrefp) struct obj *text =
				obj_stringf(CATALOG("%s", "", ""), rows[i].spec);
			view_fake_put(&f, WATCH_CATALOG, obj_as_string(text));
			put(&f, "{\"digest\":\"d\"}", 0, ages[k].age_ns);
			assert_int_equal(is_read(&f), ages[k].read);
			assert_int_equal(f.plan.requeue_after_ns > 0, !ages[k].read);
			if (!ages[k].read) {
				int64_t at = f.plan.requeue_after_ns + ages[k].age_ns;
				assert_true(at >= ns / 100 * 90 && at <= ns / 100 * 110);
				f.view.now_ns += f.plan.requeue_after_ns - 1;
				assert_false(is_read(&f));
				f.view.now_ns++;
				assert_true(is_read(&f));
			}
			view_fake_release(&f);
		}
	}
}

/* Many catalogs of one server do not ask together, and none always at the same time. */
static void test_catalog__not_all_at_once(void **state)
{
	struct view_fake f;
	int64_t least = INT64_MAX, most = 0;
	(void)state;
	view_fake_init(&f);
	view_fake_put(&f, WATCH_CATALOG, CATALOG("", "", ""));
	for (int i = 0; i < 100; i++) {
		f.view.now_ns += NS_PER_S;
		put(&f, "{\"digest\":\"d\"}", 0, 0);
		assert_false(is_read(&f));
		int64_t ns = f.plan.requeue_after_ns;
		least = ns < least ? ns : least;
		most = ns > most ? ns : most;
	}
	assert_true(least < 5 * NS_PER_MIN / 100 * 93);
	assert_true(most > 5 * NS_PER_MIN / 100 * 107);
	view_fake_release(&f);
}

static void test_catalog__the_first_reading_comes_before_any_status(void **state)
{
	struct view_fake f;
	(void)state;
	view_fake_init(&f);
	view_fake_put(&f, WATCH_CATALOG, CATALOG("", "", ""));
	assert_true(is_read(&f));
	assert_int_equal(f.plan.n, 1);
	view_fake_put(
		&f, WATCH_CATALOG,
		"{\"kind\":\"Catalog\",\"metadata\":{\"name\":\"c\",\"uid\":\"u\",\"generation\":2,"
		"\"deletionTimestamp\":\"" SINCE "\"},\"spec\":{}}");
	assert_false(is_read(&f));
	assert_int_equal(f.plan.n, 0);
	view_fake_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_catalog__what_the_status_says_of_a_revision),
		cmocka_unit_test(test_catalog__what_is_gone_is_not_told),
		cmocka_unit_test(test_catalog__when_it_was_synced),
		cmocka_unit_test(test_catalog__quarantine),
		cmocka_unit_test(test_catalog__one_that_is_not_there),
		cmocka_unit_test(test_catalog__the_end_of_a_quarantine),
		cmocka_unit_test(test_catalog__when_it_is_read),
		cmocka_unit_test(test_catalog__not_all_at_once),
		cmocka_unit_test(test_catalog__the_first_reading_comes_before_any_status),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
