/* release_record.c: which of Helm's records are written when, and what they say. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/app/app.h"
#include "alm/controllers/app/release_record.h"
#include "alm/obj/meta.h"
#include "installers/release.h"
#include "tests/lib/view_fake.h"

#define DOC                                                                                      \
	"{\"release\":\"web\",\"namespace\":\"n\",\"revision\":3,\"isUpgrade\":%s,\"notes\":"    \
	"\"open it\",\"manifest\":\"---\\nkind: ConfigMap\\n\",\"config\":{\"a\":1},\"chart\":{" \
	"\"metadata\":{\"name\":\"c\",\"version\":\"1.0.0\"},\"values\":{\"b\":2}},\"hooks\":["  \
	"{\"object\":{\"kind\":\"Job\",\"metadata\":{\"name\":\"j\"}},\"record\":{\"name\":"     \
	"\"j\"}},{\"object\":{\"kind\":\"Job\",\"metadata\":{\"name\":\"k\"}},\"record\":{"      \
	"\"name\":\"k\"}},{\"object\":{\"kind\":\"Job\",\"metadata\":{\"name\":\"l\"}}}]}"
#define RUNS                                                                                  \
	"[{\"kind\":\"Job\",\"name\":\"j\",\"startedAt\":\"2023-01-02T03:04:05Z\",\"phase\":" \
	"\"Succeeded\"},{\"kind\":\"Pod\",\"name\":\"j\",\"phase\":\"Failed\"}]"

struct world {
	struct view_fake f;
	struct app app;
	struct release_record r;
};

static void begin(struct world *w, bool upgrade)
{
	*w = (struct world){.app = {.name = "web"}};
	view_fake_init(&w->f);
	w->app.o =
		view_fake_obj(&w->f, "{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":"
				     "\"AppType\",\"metadata\":{\"name\":\"web\",\"uid\":\"a\"}}");
	w->r = (struct release_record){
		.v = &w->f.view,
		.app = &w->app,
		.doc = view_fake_obj(&w->f, arena_fmt(w->f.a, DOC, upgrade ? "true" : "false")),
		.revision = 3,
		.runs = view_fake_obj(&w->f, RUNS)};
}

static enum ensured ensure(struct world *w, const char *status)
{
	w->r.status = status;
	w->r.plan = view_fake_plan(&w->f);
	return release_record_ensure(&w->r);
}

static const struct obj *record(struct world *w, int64_t n)
{
	static const struct resource secrets = {"", "v1", "secrets", "Secret", true};
	const struct obj *o = NULL;
	(void)view_live(&w->f.view, &secrets, "n", release_secret_name(w->f.a, "web", n), &o);
	return o;
}

/* A record that helm or ALM has made. */
static void put(struct world *w, int64_t n, const char *status, bool ours, int64_t first_ns)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	struct release rel = {.name = "web",
			      .ns = "n",
			      .revision = n,
			      .status = status,
			      .description = "as it was",
			      .first_deployed_ns = first_ns,
			      .metadata = obj_get(obj_get(w->r.doc, "chart"), "metadata"),
			      .manifest = ""};
	struct owner_ref owner = {
		.api_version = "g/v1", .kind = "AppType", .name = "web", .uid = "a"};
	assert_ok(release_to_secret(&rel, w->f.view.now_ns, &o, &err), &err);
	if (ours)
		meta_add_owner(o, &owner);
	obj_set_path(o, "metadata.uid", obj_string("u"));
	view_fake_live_obj(&w->f, o);
	obj_unref(o);
}

static struct release decoded(struct world *w, const struct obj *secret)
{
	struct error err = ERROR_INIT;
	struct release ret;
	assert_non_null(secret);
	assert_ok(release_from_secret(secret, w->f.a, &ret, &err), &err);
	return ret;
}

static void test_release_record__says_all_that_helm_wants(void **state)
{
	struct world w;
	(void)state;
	begin(&w, false);
	assert_int_equal(ensure(&w, "pending-install"), WAITING);
	assert_int_equal(w.f.plan.n, 1);
	view_fake_perform(&w.f);
	const struct obj *o = record(&w, 3);
	struct release r = decoded(&w, o);
	assert_string_equal(r.name, "web");
	assert_string_equal(r.ns, "n");
	assert_int_equal(r.revision, 3);
	assert_string_equal(r.status, "pending-install");
	assert_string_equal(r.notes, "open it");
	assert_string_equal(r.manifest, "---\nkind: ConfigMap\n");
	assert_true(r.first_deployed_ns == w.f.view.now_ns);
	assert_true(r.last_deployed_ns == w.f.view.now_ns);
	assert_true(obj_equal(r.config, obj_get(w.r.doc, "config")));
	assert_string_equal(obj_str(r.metadata, "version"), "1.0.0");
	assert_true(obj_equal(r.chart_values, obj_path(w.r.doc, "chart.values")));
	assert_int_equal(obj_len(r.hooks), 2); /* the third has no form of helm's */
	assert_true(obj_equal(
		obj_get(obj_at(r.hooks, 0), "last_run"),
		view_fake_obj(&w.f,
			      "{\"started_at\":\"2023-01-02T03:04:05Z\",\"completed_at\":\"\","
			      "\"phase\":\"Succeeded\"}")));
	assert_null(obj_get(obj_at(r.hooks, 1), "last_run"));
	/* whose it is: lists and the garbage collector go by it */
	assert_string_equal(meta_label(o, LABEL_APP), "web");
	assert_string_equal(meta_label(o, "createdAt"), "1700000000");
	struct owner_ref owner;
	assert_true(meta_owner(o, 0, &owner));
	assert_string_equal(owner.api_version, "app.coreos.com/v1beta1");
	assert_string_equal(owner.kind, "AppType");
	assert_string_equal(owner.name, "web");
	assert_string_equal(owner.uid, "a");
	assert_int_equal(ensure(&w, "pending-install"), DONE);
	assert_int_equal(w.f.plan.n, 0);
	view_fake_release(&w.f);
}

static void test_release_record__helms_own_words(void **state)
{
	static const struct {
		const char *status, *own, *want;
		bool upgrade;
	} rows[] = {
		{"deployed", NULL, "Install complete", false},
		{"deployed", NULL, "Upgrade complete", true},
		{"deployed", "mine", "mine", true},
		{"failed", NULL, "Release \"web\" failed", false},
		{"failed", NULL, "Upgrade \"web\" failed", true},
		{"uninstalling", NULL, "Deletion in progress (or silently failed)", true},
		{"pending-install", NULL, "Initial install underway", false},
		{"pending-upgrade", NULL, "Preparing upgrade", true},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, rows[i].upgrade);
		bool made = cstr_has_prefix(rows[i].status, "pending");
		if (!made)
			put(&w, 3, "pending-upgrade", true, 1);
		w.r.description = rows[i].own;
		assert_int_equal(ensure(&w, rows[i].status), WAITING);
		view_fake_perform(&w.f);
		struct release r = decoded(&w, record(&w, 3));
		assert_string_equal(r.status, rows[i].status);
		assert_string_equal(r.description, rows[i].want);
		if (!made) /* its hooks have run meanwhile */
			assert_int_equal(obj_len(r.hooks), 2);
		assert_string_equal(meta_label(record(&w, 3), "status"), rows[i].status);
		assert_int_equal(ensure(&w, rows[i].status), DONE);
		view_fake_release(&w.f);
	}
}

/* One that is there has gone further; one that is not there is no failure's. */
static void test_release_record__what_is_made_and_what_is_changed(void **state)
{
	static const struct {
		const char *is, *wanted; /* is NULL: there is none */
		enum act_type act;
		bool waits;
	} rows[] = {
		{NULL, "pending-upgrade", ACT_CREATE, true},
		{NULL, "deployed", ACT_CREATE, true},
		{NULL, "failed", ACT_PATCH, false},
		{NULL, "uninstalling", ACT_PATCH, false},
		{"deployed", "pending-upgrade", ACT_PATCH, false},
		{"pending-upgrade", "failed", ACT_PATCH, true},
		{"failed", "failed", ACT_PATCH, false},
		{"deployed", "deployed", ACT_PATCH, false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, true);
		if (rows[i].is)
			put(&w, 3, rows[i].is, true, 1);
		assert_int_equal(ensure(&w, rows[i].wanted), rows[i].waits ? WAITING : DONE);
		assert_int_equal(w.f.plan.n, rows[i].waits);
		if (rows[i].waits)
			assert_int_equal(w.f.plan.head->type, rows[i].act);
		view_fake_release(&w.f);
	}
}

static void test_release_record__nothing_before_it_is_known(void **state)
{
	struct world w;
	const struct obj *newest;
	(void)state;
	begin(&w, false);
	w.f.blind = true;
	assert_int_equal(ensure(&w, "deployed"), WAITING);
	assert_int_equal(w.f.plan.n, 1);
	const struct action *x = view_fake_action(&w.f, ACT_WATCH, "Secret", NULL);
	assert_non_null(x);
	assert_string_equal(x->selector, LABEL_APP);
	struct plan *p = view_fake_plan(&w.f);
	assert_int_equal(release_record_state(&w.f.view, p, w.r.doc, 3, &newest), RECORD_UNKNOWN);
	assert_null(newest);
	assert_int_equal(release_record_remove(&w.f.view, p, w.r.doc, 3), WAITING);
	assert_null(view_fake_action(&w.f, ACT_DELETE, NULL, NULL));
	assert_int_equal(release_record_ensure_free(&w.f.view, p, w.r.doc), DONE);
	view_fake_release(&w.f);
}

/* A release is as old as the first of its records that tells. */
static void test_release_record__since_when(void **state)
{
	static const struct {
		int64_t before, want;
	} rows[] = {{19, 7}, {10, 7}, {9, 0}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, true);
		w.r.revision = 20;
		put(&w, rows[i].before, "superseded", true, 7 * NS_PER_S);
		assert_int_equal(ensure(&w, "pending-upgrade"), WAITING);
		view_fake_perform(&w.f);
		struct release r = decoded(&w, record(&w, 20));
		assert_true(r.first_deployed_ns ==
			    (rows[i].want ? rows[i].want * NS_PER_S : w.f.view.now_ns));
		view_fake_release(&w.f);
	}
	struct world w;
	begin(&w, true);
	put(&w, 1, "superseded", true, 9 * NS_PER_S);
	put(&w, 2, "superseded", true, 0); /* it does not say */
	(void)ensure(&w, "pending-upgrade");
	view_fake_perform(&w.f);
	assert_true(decoded(&w, record(&w, 3)).first_deployed_ns == 9 * NS_PER_S);
	view_fake_release(&w.f);
}

/* Only the newest is deployed, and ten are kept. */
static void test_release_record__those_before(void **state)
{
	struct world w;
	(void)state;
	begin(&w, true);
	w.r.revision = 13;
	put(&w, 2, "superseded", true, 1);
	put(&w, 3, "deployed", true, 1);
	put(&w, 4, "deployed", true, 1);
	put(&w, 5, "pending-upgrade", true, 1);
	put(&w, 6, "failed", true, 1);
	put(&w, 12, "deployed", false, 1);
	put(&w, 13, "pending-upgrade", true, 1);
	assert_int_equal(ensure(&w, "deployed"), WAITING);
	assert_null(record(&w, 1));
	assert_int_equal(view_fake_count(&w.f, ACT_PATCH), 4);
	assert_int_equal(view_fake_count(&w.f, ACT_DELETE), 2);
	const struct action *x = view_fake_action(&w.f, ACT_DELETE, "Secret", NULL);
	assert_string_equal(x->propagation, "Background");
	assert_string_equal(x->uid, "u");
	assert_string_equal(x->resource_version, "1");
	/* its own is first: what fails behind it has deployed it all the same */
	assert_string_equal(w.f.plan.head->name, "sh.helm.release.v1.web.v13");
	view_fake_perform(&w.f);
	assert_null(record(&w, 2));
	assert_null(record(&w, 3));
	static const struct {
		int64_t n;
		const char *status, *description;
	} want[] = {{4, "superseded", "as it was"},
		    {5, "failed", "given up for a newer revision"},
		    {6, "failed", "as it was"},
		    {12, "superseded", "as it was"},
		    {13, "deployed", "Upgrade complete"}};
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		struct release r = decoded(&w, record(&w, want[i].n));
		assert_string_equal(r.status, want[i].status);
		assert_string_equal(r.description, want[i].description);
	}
	assert_int_equal(ensure(&w, "deployed"), DONE);
	assert_int_equal(w.f.plan.n, 0);
	view_fake_release(&w.f);
}

static void test_release_record__one_that_is_going_is_left(void **state)
{
	struct world w;
	(void)state;
	begin(&w, true);
	put(&w, 2, "deployed", true, 1);
	put(&w, 3, "deployed", true, 1);
	struct obj *o = obj_copy(record(&w, 2));
	obj_set_path(o, "metadata.deletionTimestamp", obj_string("2023-01-02T03:04:05Z"));
	view_fake_live_obj(&w.f, o);
	obj_unref(o);
	assert_int_equal(ensure(&w, "deployed"), DONE);
	assert_int_equal(release_record_remove(&w.f.view, &w.f.plan, w.r.doc, 3), WAITING);
	assert_int_equal(w.f.plan.n, 1);
	assert_string_equal(w.f.plan.head->name, "sh.helm.release.v1.web.v3");
	view_fake_gone(&w.f, "Secret", "n", "sh.helm.release.v1.web.v2");
	view_fake_gone(&w.f, "Secret", "n", "sh.helm.release.v1.web.v3");
	assert_int_equal(release_record_remove(&w.f.view, view_fake_plan(&w.f), w.r.doc, 3), DONE);
	view_fake_release(&w.f);
}

/* A record that nobody can read keeps its data: the label alone is changed. */
static void test_release_record__an_unreadable_one(void **state)
{
	struct world w;
	(void)state;
	begin(&w, true);
	view_fake_live(&w.f, "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":"
			     "\"sh.helm.release.v1.web.v3\",\"namespace\":\"n\",\"labels\":{"
			     "\"status\":\"pending-upgrade\"}},\"data\":{\"release\":\"AA\"}}");
	assert_int_equal(ensure(&w, "deployed"), WAITING);
	view_fake_perform(&w.f);
	assert_string_equal(meta_label(record(&w, 3), "status"), "deployed");
	assert_string_equal(obj_str(record(&w, 3), "data.release"), "AA");
	view_fake_release(&w.f);
}

static void test_release_record__one_too_large_goes_without(void **state)
{
	struct world w;
	(void)state;
	begin(&w, false);
	assert_null(release_record_too_large(&w.f.view, w.r.doc));
	struct obj *large = obj_keep(w.f.a, obj_copy(w.r.doc));
	size_t n = (size_t)3 << 20;
	char *text = arena_alloc(w.f.a, n + 1);
	uint64_t x = 1;
	for (size_t i = 0; i < n; i++) {
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		text[i] = (char)('A' + (x >> 33) % 26);
	}
	text[n] = 0;
	obj_set_str(large, "manifest", text);
	assert_non_null(release_record_too_large(&w.f.view, large));
	w.r.doc = large;
	assert_int_equal(ensure(&w, "pending-install"), DONE);
	struct obj *told = obj_keep(w.f.a, obj_copy(w.r.doc));
	obj_set_str(told, "manifest", "small");
	obj_set_str(told, "unrecorded", "too large");
	w.r.doc = told;
	assert_int_equal(ensure(&w, "deployed"), DONE);
	assert_int_equal(w.f.plan.n, 0);
	view_fake_release(&w.f);
}

#define MINUTE(n) ((n) * NS_PER_MIN)

static void test_release_record__what_others_have_done(void **state)
{
	static const struct {
		const char *status; /* of revision 4; NULL: there is none */
		bool ours;
		int64_t age_ns;
		enum record_state want;
	} rows[] = {
		{"deployed", true, 0, RECORD_OURS},
		{"pending-upgrade", true, 0, RECORD_OURS},
		{"deployed", false, 0, RECORD_NEWER},
		{"failed", false, 0, RECORD_NEWER},
		{"pending-upgrade", false, 0, RECORD_BUSY},
		{"pending-rollback", false, MINUTE(10) - NS_PER_S, RECORD_BUSY},
		{"pending-upgrade", false, MINUTE(10), RECORD_NEWER},
		{"uninstalling", false, 0, RECORD_BUSY},
		{"uninstalling", true, 0, RECORD_BUSY},
		{"uninstalling", true, MINUTE(10), RECORD_LOST},
		{"uninstalled", true, 0, RECORD_LOST},
		{"uninstalled", false, 0, RECORD_LOST},
		{NULL, true, 0, RECORD_LOST},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		const struct obj *newest = NULL;
		begin(&w, true);
		if (rows[i].status)
			put(&w, 4, rows[i].status, rows[i].ours, 1);
		w.f.view.now_ns += rows[i].age_ns;
		struct plan *p = view_fake_plan(&w.f);
		enum record_state got = release_record_state(&w.f.view, p, w.r.doc, 4, &newest);
		if (got != rows[i].want)
			fail_msg("%s: %d", rows[i].status, (int)got);
		assert_int_equal(newest != NULL, rows[i].status != NULL);
		assert_int_equal(p->requeue_after_ns,
				 got == RECORD_BUSY ? MINUTE(10) - rows[i].age_ns : 0);
		view_fake_release(&w.f);
	}
}

/* helm goes on from the newest, and a hundred may have been pruned between. */
static void test_release_record__the_newest(void **state)
{
	static const struct {
		int64_t there, highest;
		bool found;
	} rows[] = {{200, 200, true}, {201, 200, true},  {202, 200, false},
		    {101, 200, true}, {100, 200, false}, {1, 5, true}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		const struct obj *newest = NULL;
		begin(&w, true);
		put(&w, rows[i].there, "deployed", false, 1);
		(void)release_record_state(&w.f.view, view_fake_plan(&w.f), w.r.doc,
					   rows[i].highest, &newest);
		if ((newest != NULL) != rows[i].found)
			fail_msg("row %zu", i);
		if (newest)
			assert_int_equal(release_record_revision(newest), rows[i].there);
		view_fake_release(&w.f);
	}
	struct world w;
	const struct obj *newest = NULL;
	begin(&w, true);
	for (int64_t n = 3; n < 8; n++)
		put(&w, n, n == 7 ? "deployed" : "superseded", false, 1);
	(void)release_record_state(&w.f.view, view_fake_plan(&w.f), w.r.doc, 5, &newest);
	assert_int_equal(release_record_revision(newest), 7);
	view_fake_release(&w.f);
}

static void test_release_record__whose_is_the_revision(void **state)
{
	struct world w;
	(void)state;
	begin(&w, true);
	struct plan *p = view_fake_plan(&w.f);
	assert_int_equal(release_record_ensure_free(&w.f.view, p, w.r.doc), DONE);
	put(&w, 3, "pending-upgrade", true, 1);
	assert_int_equal(release_record_ensure_free(&w.f.view, p, w.r.doc), DONE);
	put(&w, 3, "pending-upgrade", false, 1);
	assert_int_equal(release_record_ensure_free(&w.f.view, p, w.r.doc), ENDED);
	view_fake_release(&w.f);
}

static void test_release_record__its_labels(void **state)
{
	static const struct {
		const char *labels;
		int64_t revision, changed_s;
	} rows[] = {
		{"\"version\":\"7\",\"createdAt\":\"5\"", 7, 5},
		{"\"version\":\"1\",\"createdAt\":\"5\",\"modifiedAt\":\"9\"", 1, 9},
		{"\"version\":\"0\",\"modifiedAt\":\"0\"", 0, 0},
		{"\"version\":\"-1\",\"modifiedAt\":\"x\"", 0, 0},
		{"\"modifiedAt\":\"9223372036\"", 0, 0},
		{"\"modifiedAt\":\"9223372035\"", 0, 9223372035},
	};
	struct world w;
	(void)state;
	begin(&w, true);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct obj *o = view_fake_obj(
			&w.f, arena_fmt(w.f.a, "{\"metadata\":{\"labels\":{%s}}}", rows[i].labels));
		assert_int_equal(release_record_revision(o), rows[i].revision);
		assert_true(release_record_changed(o) == rows[i].changed_s * NS_PER_S);
	}
	view_fake_release(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_release_record__says_all_that_helm_wants),
		cmocka_unit_test(test_release_record__helms_own_words),
		cmocka_unit_test(test_release_record__what_is_made_and_what_is_changed),
		cmocka_unit_test(test_release_record__nothing_before_it_is_known),
		cmocka_unit_test(test_release_record__since_when),
		cmocka_unit_test(test_release_record__those_before),
		cmocka_unit_test(test_release_record__one_that_is_going_is_left),
		cmocka_unit_test(test_release_record__an_unreadable_one),
		cmocka_unit_test(test_release_record__one_too_large_goes_without),
		cmocka_unit_test(test_release_record__what_others_have_done),
		cmocka_unit_test(test_release_record__the_newest),
		cmocka_unit_test(test_release_record__whose_is_the_revision),
		cmocka_unit_test(test_release_record__its_labels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
