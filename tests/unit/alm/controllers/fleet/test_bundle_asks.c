/* What people ask of a Bundle has an entry each, and no second one, however long their reason is. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/fleet/bundle_asks.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"
#include "tests/lib/view_fake.h"

#define BUNDLE                                                                                \
	"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Bundle\",\"metadata\":{"      \
	"\"name\":\"b\",\"uid\":\"u\",\"generation\":7},\"spec\":{\"abort\":{\"plan\":\"p\"," \
	"\"since\":\"2030-01-01T00:00:00Z\"}}}"

struct world {
	struct view_fake f;
	struct view_ops ops;
	const struct obj *logged; /* body.asked of the last AbortAsked */
};

static struct world w;

static struct obj *last_reason(void *arg, const char *type, const char *reason, const char *kind,
			       const char *name)
{
	(void)arg;
	(void)type;
	(void)kind;
	(void)name;
	if (!w.logged || strcmp(reason, "AbortAsked") != 0)
		return NULL;
	struct obj *row = obj_map();
	obj_set_path(row, "subject.uid", obj_string("u"));
	obj_set_path(row, "body.asked", obj_ref(w.logged));
	return row;
}

static int setup(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	view_fake_init(&w.f);
	w.ops = *w.f.view.ops;
	w.ops.last_reason = last_reason;
	w.f.view.ops = &w.ops;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	view_fake_release(&w.f);
	return 0;
}

/* The entries of a Bundle that is to be aborted for a reason of n bytes; the log has the last of them. */
static size_t ask(size_t n, char of)
{
	CLEANUP(strbuf_release) struct strbuf reason = STRBUF_INIT((size_t)1 << 20);
	const struct bundle_now now = {0};
	struct obj *o = view_fake_obj(&w.f, BUNDLE);
	strbuf_pad(&reason, of, n);
	obj_set_path(o, "spec.abort.reason", obj_stringn(strbuf_str(&reason)));
	bundle_asks_plan(&w.f.view, o, &now, view_fake_plan(&w.f));
	size_t rows = view_fake_count(&w.f, ACT_ROW);
	if (rows) {
		w.logged = obj_keep(w.f.a, obj_copy(obj_get(w.f.plan.head->body, "asked")));
		assert_string_equal(w.f.plan.head->reason, "AbortAsked");
		assert_int_equal(strlen(obj_str(w.f.plan.head->body, "justification")), n);
	}
	return rows;
}

static void test_bundle_asks__a_reason_is_told_once_however_long(void **state)
{
	(void)state;
	static const size_t lengths[] = {10, 8000, 9000, 40000, 900000};
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		assert_int_equal(ask(lengths[i], 'x'), 1);
		assert_int_equal(ask(lengths[i], 'x'), 0);
		assert_int_equal(ask(lengths[i], 'y'), 1);
	}
}

/* An entry moves its largest member away from 60 KiB on: what is compared is never that. */
static void test_bundle_asks__what_is_compared_stays_in_the_entry(void **state)
{
	(void)state;
	assert_int_equal(ask(40000, 'x'), 1);
	assert_null(obj_get(w.logged, "reason"));
	assert_int_equal(strlen(obj_str(w.logged, "digest")), 64);
}

/* Another word than that which the attempt began with; none and an empty one ask for nothing. */
static void test_bundle_asks__another_word_asks_for_another_attempt(void **state)
{
	(void)state;
	static const struct {
		const char *word, *begun;
		bool asked;
	} rows[] = {{NULL, NULL, false}, {"", NULL, false},  {"1", NULL, true}, {"1", "1", false},
		    {"2", "1", true},    {NULL, "1", false}, {"", "1", false}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct obj *o = view_fake_obj(&w.f, BUNDLE);
		if (rows[i].word)
			meta_set_annotation(o, ANNOTATION_RETRY, rows[i].word);
		assert_int_equal(bundle_is_asked(o, rows[i].begun), rows[i].asked);
	}
}

/* Where nothing has failed there is nothing to try again; its source is read all the same, and told so. */
static void test_bundle_asks__a_retry_of_what_is_well(void **state)
{
	(void)state;
	static const struct {
		const char *is;
		bool paused;
		const char *text;
	} rows[] = {
		{"Stopped", false, NULL},
		{"Synced", false,
		 "it is Synced: its source is read at once, and nothing is tried again"},
		{"AwaitingApproval", false,
		 "it is AwaitingApproval: its source is read at once, and nothing is tried again"},
		{"Degraded", true, "it is Degraded, and does nothing"},
	};
	const struct bundle_now now = {0};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct obj *o = view_fake_obj(&w.f, BUNDLE);
		obj_del_path(o, "spec.abort");
		meta_set_annotation(o, ANNOTATION_RETRY, "1");
		obj_set_path(o, "status.state", obj_string(rows[i].is));
		obj_set_path(o, "spec.paused", obj_bool(rows[i].paused));
		bundle_asks_plan(&w.f.view, o, &now, view_fake_plan(&w.f));
		const struct action *x = view_fake_action(&w.f, ACT_ROW, NULL, NULL);
		assert_string_equal(x->reason, "RetryAsked");
		if (rows[i].text)
			assert_string_equal(x->message, rows[i].text);
		else
			assert_null(x->message);
	}
}

/* An approval of deletes that is taken says nothing more; one that does nothing says why. */
static void test_bundle_asks__deletes_that_are_not_approved(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct { const char *prune, *instances, *why; } rows[] = {
		{"{\"commit\":\"c\",\"plan\":\"p\"}", "[]", NULL},
		{"{\"commit\":\"c\"}", "[]", NULL},
		{"{\"commit\":\"c\"}", "[{\"name\":\"a\"}]", "plan is missing"},
		{"{\"commit\":\"c\",\"plan\":\"before\"}", "[]", "plan is not status.revisionDigest"},
		{"{\"commit\":\"other\"}", "[]", "commit is not status.commit"},
		{"{\"commit\":\"next\",\"plan\":\"q\"}", "[]", NULL}, /* read, and not shown yet */
		{"{\"commit\":\"c\",\"orphans\":\"o\"}", "[]", NULL},
		{"{\"commit\":\"c\",\"orphans\":\"before\"}", "[]", "orphans is not status.orphansDigest"},
	};
	/* clang-format on */
	const struct bundle_now now = {
		.read = view_fake_obj(&w.f, "{\"commit\":\"next\",\"digest\":\"q\"}")};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct obj *o = view_fake_obj(&w.f, BUNDLE);
		obj_set(o, "spec", obj_map());
		obj_set_path(o, "spec.approvals.prune",
			     obj_ref(view_fake_obj(&w.f, rows[i].prune)));
		obj_set_path(o, "spec.instances", obj_ref(view_fake_obj(&w.f, rows[i].instances)));
		obj_set(o, "status",
			obj_ref(view_fake_obj(&w.f, "{\"commit\":\"c\",\"revisionDigest\":\"p\","
						    "\"orphansDigest\":\"o\"}")));
		bundle_asks_plan(&w.f.view, o, &now, view_fake_plan(&w.f));
		assert_int_equal(view_fake_count(&w.f, ACT_ROW), 1);
		const struct action *x = w.f.plan.head;
		assert_string_equal(x->reason, "PruneApproved");
		if (!rows[i].why && !x->message && !x->event_type)
			continue;
		if (!rows[i].why || !x->message || !strstr(x->message, rows[i].why))
			fail_msg("row %zu: %s", i, x->message ? x->message : "nothing is told");
		assert_string_equal(x->event_type, "Warning");
		assert_string_equal(obj_str(x->body, "message"), x->message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_bundle_asks__another_word_asks_for_another_attempt, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_bundle_asks__a_reason_is_told_once_however_long, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_bundle_asks__what_is_compared_stays_in_the_entry, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bundle_asks__a_retry_of_what_is_well, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_bundle_asks__deletes_that_are_not_approved,
						setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
