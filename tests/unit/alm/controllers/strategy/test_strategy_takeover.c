/* test_strategy_takeover.c: a release that helm made: when it may be taken over, which of its objects change hands, and what of it is deleted. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/strategy/strategy_takeover.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "catalog/index/index.h"
#include "installers/release.h"
#include "tests/lib/view_fake.h"

#define APP                                                                                       \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":{\"name\":" \
	"\"web\",\"uid\":\"a\"},\"spec\":{\"type\":\"io.ops\"%s}}"
#define STRATEGY                                                                             \
	"{\"apiVersion\":\"opinstaller.coreos.com/v1beta1\",\"kind\":\"InstallStrategy\","   \
	"\"metadata\":{\"name\":\"s\",\"uid\":\"s1\",\"ownerReferences\":[{\"apiVersion\":"  \
	"\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"name\":\"web\",\"uid\":\"a\"}]}," \
	"\"spec\":{\"appTypeRef\":{\"name\":\"web\"},\"version\":\"1.0.0\",\"strategy\":{"   \
	"\"namespace\":\"n\"}},\"status\":{\"phase\":\"Pending\"}}"

struct world {
	struct view_fake f;
	struct strategy_pass s;
	struct install_plan install;
};

static void begin(struct world *w, const char *values)
{
	struct arena *a;
	view_fake_init(&w->f);
	a = w->f.a;
	view_fake_put(&w->f, WATCH_APPTYPE, arena_fmt(a, APP, values));
	view_fake_put(&w->f, WATCH_STRATEGY, STRATEGY);
	w->s = (struct strategy_pass){.v = &w->f.view,
				      .plan = view_fake_plan(&w->f),
				      .app = app_load(&w->f.view, "web"),
				      .was = PHASE_PENDING,
				      .phase = PHASE_PENDING,
				      .conditions = obj_keep(a, obj_list()),
				      .steps = obj_keep(a, obj_list()),
				      .revision = 1};
	w->s.ref = app_strategy(w->s.app, "1.0.0");
	assert_non_null(w->s.ref);
}

/* A record of helm, or of ALM, as the server lists it. */
static struct obj *record(struct world *w, int64_t revision, const char *status, bool ours,
			  bool config)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	struct release r = {
		.name = "web",
		.ns = "n",
		.revision = revision,
		.status = status,
		.metadata = view_fake_obj(&w->f, "{\"name\":\"web\",\"version\":\"1.0.0\"}"),
		.config = view_fake_obj(&w->f, config ? "{\"color\":\"blue\"}" : "{}"),
		.manifest = arena_fmt(w->f.a, "# r%lld\n", (long long)revision)};
	struct owner_ref owner = {.api_version = "app.coreos.com/v1beta1",
				  .kind = "AppType",
				  .name = "web",
				  .uid = "a"};
	assert_ok(release_to_secret(&r, w->f.view.now_ns, &o, &err), &err);
	if (ours)
		meta_add_owner(o, &owner);
	return obj_keep(w->f.a, o);
}

/* What the server tells to the question of that id: all of the list, or each by itself. */
static void answered(struct world *w, const char *id, const struct obj *items, bool as_list)
{
	struct obj *all = obj_list();
	for (size_t i = 0; i < (as_list ? 1 : obj_len(items)); i++) {
		struct obj *one = obj_map();
		if (as_list)
			obj_set_path(one, "value.items", obj_ref(items));
		else
			obj_set(one, "value", obj_ref(obj_at(items, i)));
		obj_append(all, one);
	}
	stash_put(w->f.stash, id, NULL, STR_NONE, all, w->f.view.now_ns);
}

static struct obj *list_of(struct world *w, struct obj *one)
{
	struct obj *list = obj_keep(w->f.a, obj_list());
	if (one)
		obj_append(list, obj_ref(one));
	return list;
}

/* --- before the plan --- */

static void test_strategy_takeover__what_helm_has_decides(void **state)
{
	(void)state;
	static const struct {
		const char *about;
		int64_t helms; /* revision of the newest record; 0: there is none */
		const char *status;
		bool ours, config;
		const char *values; /* of the AppType */
		int64_t age_s, revision;
		enum ensured want;
		const char *reason;
		int64_t then; /* the revision afterwards */
	} rows[] = {
		{"none", 0, "", false, false, "", 0, 1, DONE, NULL, 1},
		{"the next number", 1, "deployed", false, false, "", 0, 1, WAITING, NULL, 2},
		{"that is free", 1, "deployed", false, false, "", 0, 2, DONE, NULL, 2},
		{"taken by helm", 2, "deployed", false, false, "", 0, 2, WAITING, NULL, 3},
		{"our own", 2, "deployed", true, false, "", 0, 2, DONE, NULL, 2},
		{"a newer one of ours", 3, "deployed", true, false, "", 0, 2, WAITING, NULL, 4},
		{"values", 1, "deployed", false, true, "", 0, 2, ENDED, "ValuesNotTaken", 2},
		{"said to be none", 1, "deployed", false, true, ",\"values\":{}", 0, 2, DONE, NULL,
		 2},
		{"at work", 1, "pending-upgrade", false, false, "", 0, 2, ENDED, "OtherInProgress",
		 2},
		{"removing", 1, "uninstalling", false, false, "", 599, 2, ENDED, "OtherInProgress",
		 2},
		{"killed", 1, "pending-upgrade", false, false, "", 600, 2, DONE, NULL, 2},
		{"ALM at work", 2, "pending-upgrade", true, false, "", 0, 2, DONE, NULL, 2},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, rows[i].values);
		w.s.revision = rows[i].revision;
		struct obj *o = rows[i].helms ? record(&w, rows[i].helms, rows[i].status,
						       rows[i].ours, rows[i].config)
					      : NULL;
		w.f.view.now_ns += rows[i].age_s * NS_PER_S;
		answered(&w, arena_fmt(w.f.a, "release:s1:r%lld", (long long)rows[i].revision),
			 list_of(&w, o), true);
		if (strategy_take_over(&w.s) != rows[i].want)
			fail_msg("%s", rows[i].about);
		assert_true(cstr_eq(w.s.reason, rows[i].reason));
		assert_int_equal(w.s.phase == PHASE_BLOCKED, rows[i].reason != NULL);
		assert_int_equal(w.s.revision, rows[i].then);
		bool helms = rows[i].helms && !rows[i].ours && !rows[i].reason;
		if (rows[i].want == DONE) {
			assert_int_equal(w.s.former != NULL, helms);
			assert_int_equal(w.s.is_upgrade, helms);
		}
		view_fake_release(&w.f);
	}
}

/* The record of helm is of chart web: what is to be installed there is that, or is refused. */
static void test_strategy_takeover__another_chart_is_somebody_elses(void **state)
{
	static const struct {
		const char *package; /* of the archive; NULL: no catalog has it any more */
		enum ensured want;
	} rows[] = {{"web", DONE}, {"etcd", ENDED}, {NULL, DONE}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		struct error err = ERROR_INIT;
		char digest[SHA256_HEX];
		begin(&w, "");
		sha256_hex(STR("a"), digest);
		struct catalog_index *x = index_new("c", 0);
		const char *name = rows[i].package ? rows[i].package : "none";
		const struct package_source source = {
			.chart_yaml = str_of(arena_fmt(
				w.f.a, "apiVersion: v2\nname: %s\nversion: 1.0.0\n", name)),
			.digest = digest,
			.locator = "x"};
		index_add(x, &source);
		assert_ok(index_finish(x, STR_NONE, &err), &err);
		const struct catalog_index *indexes[] = {x};
		w.f.shared.indexes = indexes;
		w.f.shared.n_indexes = rows[i].package ? 1 : 0;
		w.s.archive = digest;
		w.s.revision = 2;
		answered(&w, "release:s1:r2", list_of(&w, record(&w, 1, "deployed", false, false)),
			 true);
		assert_int_equal(strategy_take_over(&w.s), rows[i].want);
		bool refused = rows[i].want == ENDED;
		assert_true(cstr_eq(w.s.reason, refused ? "ObjectNotOwned" : NULL));
		if (refused) {
			assert_non_null(strstr(w.s.message, "release web in n is chart web, made "
							    "by helm; this is chart etcd"));
			assert_int_equal(w.s.plan->requeue_after_ns, NS_PER_MIN / 4);
		}
		index_free(x);
		view_fake_release(&w.f);
	}
}

static void test_strategy_takeover__what_cannot_be_told_is_not_passed_over(void **state)
{
	(void)state;
	static const struct {
		const char *answer, *reason;
		int code;
	} rows[] = {
		{"[{\"large\":true}]", "RecordsTooLarge", 0},
		{"[{\"error\":\"forbidden\"}]", NULL, E_UNAVAILABLE},
		{"[{\"value\":{\"items\":[{\"type\":\"helm.sh/"
		 "release.v1\",\"metadata\":{\"labels\":"
		 "{\"status\":\"deployed\",\"version\":\"1\"}},\"data\":{\"release\":\"eA==\"}}]}}"
		 "]",
		 "RecordUnreadable", 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, "");
		view_fake_outcome(&w.f, "release:s1:r1", rows[i].answer);
		assert_int_equal(strategy_take_over(&w.s), ENDED);
		assert_true(cstr_eq(w.s.reason, rows[i].reason));
		assert_int_equal(w.s.error.code, rows[i].code);
		view_fake_release(&w.f);
	}
}

/* What blocked it may have changed since, as may an error; what has begun goes on with one answer. */
static void test_strategy_takeover__an_old_answer_is_asked_for_again(void **state)
{
	(void)state;
	static const struct {
		int64_t age_ns;
		enum phase phase;
		bool error, asks;
	} rows[] = {
		{5 * NS_PER_S, PHASE_BLOCKED, false, false},
		{5 * NS_PER_S + 1, PHASE_BLOCKED, false, true},
		{5 * NS_PER_S + 1, PHASE_PENDING, false, false},
		{5 * NS_PER_S + 1, PHASE_PENDING, true, true},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, "");
		w.s.phase = rows[i].phase;
		view_fake_outcome(&w.f, "release:s1:r1",
				  rows[i].error ? "[{\"error\":\"no\"}]"
						: "[{\"value\":{\"items\":[]}}]");
		w.f.view.now_ns += rows[i].age_ns;
		enum ensured how = strategy_take_over(&w.s);
		assert_int_equal(view_fake_works(&w.f, &ask_work), rows[i].asks);
		assert_int_equal(how, rows[i].asks ? WAITING : DONE);
		view_fake_release(&w.f);
	}
}

/* --- when it is carried out --- */

static const struct obj *object(struct world *w, const char *name, const char *release,
				const char *ns, const char *more)
{
	return view_fake_obj(
		&w->f,
		arena_fmt(w->f.a,
			  "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
			  "\"name\":\"%s\",\"namespace\":\"n\",\"uid\":\"%s\","
			  "\"resourceVersion\":\"7\",\"annotations\":{\"meta.helm.sh/"
			  "release-name\":\"%s\",\"meta.helm.sh/release-namespace\":\"%s\"%s}}}",
			  name, name, release, ns, more));
}

static void install(struct world *w, const char *doc, size_t n)
{
	struct arena *a = w->f.a;
	w->install = (struct install_plan){.doc = view_fake_obj(&w->f, doc),
					   .release = "web",
					   .ns = "n",
					   .revision = 2,
					   .n = n};
	w->install.entries = ARENA_ARRAY(a, struct unit_entry, n + 1);
	static const struct resource maps = {"", "v1", "configmaps", "ConfigMap", true};
	for (size_t i = 0; i < n; i++) {
		const char *name = arena_fmt(a, "c%zu", i);
		w->install.entries[i] = (struct unit_entry){
			.object = obj_keep(a, meta_skeleton("v1", "ConfigMap", "n", name)),
			.kind = "ConfigMap",
			.name = name,
			.ns = "n",
			.resource = &maps};
	}
	w->s.install = &w->install;
	w->s.plan = view_fake_plan(&w->f);
}

/* Those with both marks of the release; the others are somebody's. */
static void test_strategy_takeover__what_has_the_marks_changes_hands(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "");
	install(&w, "{\"takesOver\":true}", 4);
	assert_int_equal(strategy_adopt_release(&w.s), WAITING);
	assert_non_null(view_fake_work(&w.f, &ask_work));
	answered(&w, "release:s1:r1:adopt", list_of(&w, NULL), true);
	struct obj *found = list_of(&w, NULL);
	obj_append(found, obj_ref(object(&w, "c0", "web", "n", "")));
	obj_append(found, obj_ref(object(&w, "c1", "web", "other", "")));
	obj_append(found, obj_ref(object(&w, "c2", "shop", "n", "")));
	struct obj *ours = obj_keep(w.f.a, obj_copy(object(&w, "c3", "web", "n", "")));
	meta_set_label(ours, LABEL_APP, "web");
	obj_append(found, obj_ref(ours));
	answered(&w, "release:s1:r1:adopt:0", found, false);
	w.s.plan = view_fake_plan(&w.f);
	assert_int_equal(strategy_adopt_release(&w.s), WAITING);
	assert_int_equal(view_fake_count(&w.f, ACT_PATCH), 1);
	const struct action *x = view_fake_action(&w.f, ACT_PATCH, "ConfigMap", "c0");
	assert_non_null(x);
	assert_string_equal(meta_label(x->body, LABEL_APP), "web");
	/* it is asked whether that was done; an old answer writes nothing */
	w.f.view.now_ns += 5 * NS_PER_S;
	w.s.plan = view_fake_plan(&w.f);
	assert_int_equal(strategy_adopt_release(&w.s), WAITING);
	assert_int_equal(view_fake_count(&w.f, ACT_PATCH), 0);
	assert_int_equal(view_fake_works(&w.f, &ask_work), 1);
	view_fake_release(&w.f);
}

/* What a server lists is no object: nothing is written of it. */
static void test_strategy_takeover__what_is_no_object_is_passed_over(void **state)
{
	static const char *const answers[] = {"[{\"value\":{\"items\":[null,1,\"x\",[]]}}]",
					      "[{\"value\":null}]", "[{\"value\":{}}]"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct world w;
		begin(&w, "");
		install(&w, "{\"takesOver\":true}", 0);
		view_fake_outcome(&w.f, "release:s1:r1:adopt", answers[i]);
		assert_int_equal(strategy_adopt_release(&w.s), DONE);
		assert_int_equal(view_fake_count(&w.f, ACT_PATCH), 0);
		view_fake_release(&w.f);
	}
}

static void test_strategy_takeover__it_ends_when_all_batches_are_through(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "");
	install(&w, "{\"takesOver\":true}", 201);
	answered(&w, "release:s1:r1:adopt", list_of(&w, NULL), true);
	size_t n_asked = 0, n = 0;
	while (strategy_adopt_release(&w.s) == WAITING) {
		struct action *x = view_fake_work(&w.f, &ask_work);
		assert_non_null(x);
		assert_true(obj_len(x->body) <= 100);
		n_asked += obj_len(x->body);
		answered(&w, x->id, list_of(&w, NULL), false);
		w.s.plan = view_fake_plan(&w.f);
		assert_true(++n <= 3);
	}
	assert_int_equal(n_asked, 201);
	view_fake_release(&w.f);
}

static void test_strategy_takeover__what_is_not_answered_is_not_done(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "");
	install(&w, "{\"takesOver\":true}", 1);
	view_fake_outcome(&w.f, "release:s1:r1:adopt",
			  "[{\"kind\":\"Secret\",\"name\":\"\",\"error\":\"forbidden\"}]");
	assert_int_equal(strategy_adopt_release(&w.s), ENDED);
	assert_string_equal(w.s.reason, "TakeoverFailed");
	assert_non_null(strstr(w.s.message, "cannot be read: forbidden"));
	w.f.view.now_ns += 5 * NS_PER_S; /* an old one is no reason to go on, nor to fail */
	w.s.plan = view_fake_plan(&w.f);
	assert_int_equal(strategy_adopt_release(&w.s), WAITING);
	assert_int_equal(view_fake_works(&w.f, &ask_work), 1);
	view_fake_release(&w.f);
}

/* Of helm's manifest what the plan lacks: only by an answer that is young, and never what is kept, or another's by now. */
static void test_strategy_takeover__leftovers_go_by_what_was_read_just_now(void **state)
{
	(void)state;
	static const struct {
		const char *release, *ns, *more;
		bool deleting;
		int64_t age_ns;
		bool goes;
		enum ensured want;
	} rows[] = {
		{"web", "n", "", false, NS_PER_S - 1, true, WAITING},
		{"web", "n", "", false, NS_PER_S, false, WAITING},
		{"web", "n", "", true, 0, false, WAITING},
		{"web", "other", "", false, 0, false, DONE},
		{"shop", "n", "", false, 0, false, DONE},
		{"web", "n", ",\"helm.sh/resource-policy\":\"keep\"", false, 0, false, DONE},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, "");
		install(&w,
			"{\"former\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"namespace\":"
			"\"n\",\"name\":\"old\"}]}",
			0);
		assert_int_equal(strategy_delete_former(&w.s), WAITING);
		assert_int_equal(view_fake_count(&w.f, ACT_DELETE), 0);
		struct obj *o = obj_keep(w.f.a, obj_copy(object(&w, "old", rows[i].release,
								rows[i].ns, rows[i].more)));
		if (rows[i].deleting)
			obj_set_path(o, "metadata.deletionTimestamp",
				     obj_string("2023-11-14T22:13:20Z"));
		answered(&w, "release:s1:r1:former", list_of(&w, o), false);
		w.f.view.now_ns += rows[i].age_ns;
		w.s.plan = view_fake_plan(&w.f);
		assert_int_equal(strategy_delete_former(&w.s), rows[i].want);
		assert_int_equal(view_fake_count(&w.f, ACT_DELETE), rows[i].goes);
		view_fake_release(&w.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_takeover__what_helm_has_decides),
		cmocka_unit_test(test_strategy_takeover__another_chart_is_somebody_elses),
		cmocka_unit_test(test_strategy_takeover__what_cannot_be_told_is_not_passed_over),
		cmocka_unit_test(test_strategy_takeover__an_old_answer_is_asked_for_again),
		cmocka_unit_test(test_strategy_takeover__what_has_the_marks_changes_hands),
		cmocka_unit_test(test_strategy_takeover__what_is_no_object_is_passed_over),
		cmocka_unit_test(test_strategy_takeover__it_ends_when_all_batches_are_through),
		cmocka_unit_test(test_strategy_takeover__what_is_not_answered_is_not_done),
		cmocka_unit_test(test_strategy_takeover__leftovers_go_by_what_was_read_just_now),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
