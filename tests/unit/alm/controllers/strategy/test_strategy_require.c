/* strategy_require.c: what a package requires of the cluster is asked as the account, and its lack blocks. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/condition.h"
#include "tests/lib/strategy_fake.h"

#define OBJECT(name) "{\"kind\":\"Object\",\"ref\":\"Secret/n/" name "\"}"
#define PERMISSION                                                                                \
	"{\"kind\":\"Permission\",\"group\":\"apps\",\"resource\":\"deployments\",\"namespace\":" \
	"\"n\",\"verbs\":[\"get\",\"list\"]}"

struct world {
	struct view_fake f;
	struct app app;
	struct strategy_ref ref;
	struct strategy_pass s;
};

static void begin(struct world *w, const char *requirements)
{
	*w = (struct world){0};
	view_fake_init(&w->f);
	w->ref = (struct strategy_ref){
		.o = view_fake_obj(&w->f,
				   arena_fmt(w->f.a,
					     "{\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":"
					     "\"s\",\"uid\":\"u\"},\"spec\":{\"requirements\":%s}}",
					     requirements)),
		.name = "s",
		.version = "1.0.0"};
	w->app = (struct app){.name = "etcd", .o = w->ref.o, .account = {.user = "them"}};
	w->s = strategy_fake(&w->f, &w->app, &w->ref);
}

static enum ensured run(struct world *w)
{
	w->s.plan = view_fake_plan(&w->f);
	w->s.phase = PHASE_PENDING;
	return strategy_require(&w->s);
}

/* What is seen without a question. */
static void test_strategy_require__what_nobody_can_look_for(void **state)
{
	static const struct {
		const char *q, *why; /* why NULL: it is met */
	} rows[] = {
		{"{\"kind\":\"CRD\",\"name\":\"as.x.io\"}", NULL},
		{"{\"kind\":\"CRD\",\"name\":\"bs.x.io\"}", "CRD bs.x.io is missing"},
		{"{\"kind\":\"CRD\",\"name\":\"bs.x.io\",\"message\":\"get it\"}",
		 "CRD bs.x.io is missing: get it"},
		{"{\"kind\":\"CRD\"}", "CRD  wants name: PLURAL.GROUP"},
		{"{\"kind\":\"Feature\",\"name\":\"f\"}", "Feature f cannot be asked of a server"},
		{"{\"kind\":\"Object\",\"ref\":\"Secret/n\"}",
		 "Object Secret/n wants ref: KIND/NAMESPACE/NAME"},
		{"{\"kind\":\"Object\",\"ref\":\"/n/a\"}",
		 "Object /n/a wants ref: KIND/NAMESPACE/NAME"},
		{"{\"kind\":\"Object\",\"ref\":\"Secret/n/\"}",
		 "Object Secret/n/ wants ref: KIND/NAMESPACE/NAME"},
		{"{\"kind\":\"Object\"}", "Object  wants ref: KIND/NAMESPACE/NAME"},
		{"{\"kind\":\"Permission\",\"resource\":\"r\"}",
		 "Permission  r wants verbs and resource"},
		{"{\"kind\":\"Permission\",\"verbs\":[\"get\"]}",
		 "Permission get  wants verbs and resource"},
		{"{\"kind\":\"Other\",\"name\":\"o\"}",
		 "Other o is none of CRD, Object, Permission, Feature"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		CLEANUP(obj_unrefp) struct obj *list = obj_stringf("[%s]", rows[i].q);
		begin(&w, obj_as_string(list));
		view_fake_put(&w.f, WATCH_CRD, "{\"metadata\":{\"name\":\"as.x.io\"}}");
		assert_int_equal(run(&w), rows[i].why ? ENDED : DONE);
		assert_int_equal(w.s.phase, rows[i].why ? PHASE_BLOCKED : PHASE_PENDING);
		assert_int_equal(w.f.plan.requeue_after_ns, rows[i].why ? 10 * NS_PER_S : 0);
		if (rows[i].why) {
			const struct obj *c = condition_find(w.s.conditions, "RequirementsMet");
			assert_string_equal(obj_str(c, "status"), "False");
			assert_string_equal(obj_str(c, "reason"), "RequirementUnmet");
			assert_string_equal(obj_str(c, "message"), rows[i].why);
			assert_int_equal(obj_len(w.s.unmet), 1);
		} else {
			assert_null(w.s.unmet);
		}
		assert_null(w.s.lacks);
		view_fake_release(&w.f);
	}
}

/* An optional one is told and blocks nothing; of the others all are told. */
static void test_strategy_require__all_that_is_not_met(void **state)
{
	struct world w;
	(void)state;
	begin(&w,
	      "[{\"kind\":\"CRD\",\"name\":\"a.x\",\"optional\":true},{\"kind\":\"CRD\",\"name\":"
	      "\"b.x\",\"optional\":true}]");
	assert_int_equal(run(&w), DONE);
	assert_string_equal(w.s.lacks,
			    "optional: CRD a.x is missing; optional: CRD b.x is missing");
	view_fake_release(&w.f);
	begin(&w, "[{\"kind\":\"CRD\",\"name\":\"a.x\"},{\"kind\":\"CRD\",\"name\":\"b.x\","
		  "\"optional\":"
		  "true},{\"kind\":\"CRD\",\"name\":\"c.x\"}]");
	assert_int_equal(run(&w), ENDED);
	assert_string_equal(w.s.message, "CRD a.x is missing; CRD c.x is missing");
	assert_true(obj_equal(w.s.unmet, view_fake_obj(&w.f, "[\"CRD a.x\",\"CRD c.x\"]")));
	assert_string_equal(w.s.lacks, "optional: CRD b.x is missing");
	view_fake_release(&w.f);
	begin(&w, "[]");
	assert_int_equal(run(&w), DONE);
	view_fake_release(&w.f);
}

static const char *asked(struct world *w, const struct work_kind *kind)
{
	const struct action *x = view_fake_work(&w->f, kind);
	assert_non_null(x);
	assert_int_equal(w->f.plan.n, 1);
	assert_string_equal(x->as, VIEW_FAKE_ACCOUNT);
	return x->id;
}

static void test_strategy_require__objects_are_looked_up(void **state)
{
	struct world w;
	(void)state;
	begin(&w, "[{\"kind\":\"CRD\",\"name\":\"as.x.io\"}," OBJECT("a") "," OBJECT("b") "]");
	view_fake_put(&w.f, WATCH_CRD, "{\"metadata\":{\"name\":\"as.x.io\"}}");
	assert_int_equal(run(&w), WAITING);
	const char *id = asked(&w, &ask_work);
	assert_true(obj_equal(
		view_fake_work(&w.f, &ask_work)->body,
		view_fake_obj(&w.f, "[{\"kind\":\"Secret\",\"namespace\":\"n\",\"name\":\"a\"},{"
				    "\"kind\":\"Secret\",\"namespace\":\"n\",\"name\":\"b\"}]")));
	view_fake_outcome(&w.f, id, "[{\"value\":{}},{\"value\":{}}]");
	assert_int_equal(run(&w), DONE);
	assert_int_equal(w.f.plan.n, 0);
	w.f.view.now_ns += NS_PER_MIN - 1;
	assert_int_equal(run(&w), DONE);
	w.f.view.now_ns++; /* it may be gone */
	assert_int_equal(run(&w), WAITING);
	assert_string_equal(asked(&w, &ask_work), id);
	view_fake_outcome(&w.f, id, "[{\"value\":{}},{\"value\":null}]");
	assert_int_equal(run(&w), ENDED);
	assert_string_equal(w.s.message, "Object Secret/n/b is missing");
	assert_int_equal(w.f.plan.requeue_after_ns, 10 * NS_PER_S);
	view_fake_outcome(&w.f, id, "[{\"error\":\"no\"},{\"value\":{}}]");
	assert_int_equal(run(&w), ENDED);
	assert_string_equal(w.s.message, "Object Secret/n/a cannot be read: no");
	w.f.view.now_ns += 10 * NS_PER_S - 1;
	assert_int_equal(run(&w), ENDED);
	w.f.view.now_ns++; /* somebody may have brought it */
	assert_int_equal(run(&w), WAITING);
	struct obj *other = obj_keep(w.f.a, obj_copy(w.ref.o));
	obj_set_path(other, "spec.requirements", obj_ref(view_fake_obj(&w.f, "[" OBJECT("c") "]")));
	w.ref.o = other; /* another question */
	assert_int_equal(run(&w), WAITING);
	assert_string_not_equal(asked(&w, &ask_work), id);
	w.app.account.user = "others"; /* may see other things */
	assert_int_equal(run(&w), WAITING);
	assert_string_not_equal(asked(&w, &ask_work), id);
	view_fake_release(&w.f);
}

static void test_strategy_require__permissions_are_reviewed(void **state)
{
	struct world w;
	struct error err = ERROR_INIT;
	(void)state;
	begin(&w, "[{\"kind\":\"CRD\",\"name\":\"as.x.io\",\"optional\":true}," PERMISSION
		  ",{\"kind\":\"Permission\",\"resource\":\"pods\",\"verbs\":[\"watch\"]}]");
	assert_int_equal(run(&w), WAITING);
	const char *id = asked(&w, &review_work);
	assert_true(obj_equal(
		view_fake_work(&w.f, &review_work)->body,
		view_fake_obj(
			&w.f,
			"[{\"verb\":\"get\",\"group\":\"apps\",\"resource\":\"deployments\","
			"\"namespace\":\"n\"},{\"verb\":\"list\",\"group\":\"apps\",\"resource\":"
			"\"deployments\",\"namespace\":\"n\"},{\"verb\":\"watch\",\"group\":\"\","
			"\"resource\":\"pods\"}]")));
	view_fake_outcome(&w.f, id, "{}");
	assert_int_equal(run(&w), DONE);
	error_set(&err, E_FORBIDDEN, "not all");
	assert_string_equal(w.s.lacks, "optional: CRD as.x.io is missing");
	w.s.lacks = NULL;
	stash_put(w.f.stash, id, &err, STR_NONE,
		  obj_copy(view_fake_obj(&w.f, "{\"denied\":[1,3,-1]}")), w.f.view.now_ns);
	assert_int_equal(run(&w), ENDED);
	assert_string_equal(w.s.message,
			    "Permission get,list deployments.apps is not given to them");
	assert_string_equal(w.s.lacks, "optional: CRD as.x.io is missing");
	stash_put(w.f.stash, id, &err, STR_NONE,
		  obj_copy(view_fake_obj(&w.f, "{\"denied\":[0,2]}")), w.f.view.now_ns);
	assert_int_equal(run(&w), ENDED);
	assert_string_equal(w.s.message,
			    "Permission get,list deployments.apps is not given to them; "
			    "Permission watch pods is not given to them");
	view_fake_release(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_require__what_nobody_can_look_for),
		cmocka_unit_test(test_strategy_require__all_that_is_not_met),
		cmocka_unit_test(test_strategy_require__objects_are_looked_up),
		cmocka_unit_test(test_strategy_require__permissions_are_reviewed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
