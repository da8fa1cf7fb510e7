/* strategy_try.c: objects whose newer definition stays are tried before the older version comes back. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/strategy/strategy_try.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/strategy_fake.h"

#define MANY 300
#define CRD(group, kind)                                                                       \
	"{\"kind\":\"CustomResourceDefinition\",\"spec\":{\"group\":\"" group "\",\"names\":{" \
	"\"kind\":\"" kind "\"}}}"
#define LIVE(version)                                                                      \
	"{\"metadata\":{\"generation\":7,\"annotations\":{\"app.coreos.com/crd-version\":" \
	"\"" version "\"}}}"

static const struct resource as = {
	.group = "x.io", .version = "v1", .plural = "as", .kind = "A", .namespaced = true};

struct world {
	struct view_fake f;
	struct app app;
	struct strategy_ref ref;
	struct unit_entry entries[MANY + 1];
	struct install_plan install;
	struct strategy_pass s;
};

/* A definition, which version 2.0.0 applied last, and n objects of its kind; 1.0.0 is planned. */
static void begin(struct world *w, const char *crd, const char *live, size_t n)
{
	memset(w, 0, sizeof(*w));
	view_fake_init(&w->f);
	w->ref = (struct strategy_ref){
		.o = view_fake_obj(&w->f, "{\"apiVersion\":\"o/v1\",\"kind\":\"InstallStrategy\","
					  "\"metadata\":{\"name\":\"s\",\"uid\":\"u\"}}"),
		.name = "s",
		.version = "1.0.0"};
	w->app = (struct app){.name = "etcd", .self_ref = "etcd.io.x", .o = w->ref.o};
	w->entries[0] = (struct unit_entry){.object = view_fake_obj(&w->f, crd),
					    .live = view_fake_obj(&w->f, live),
					    .digest = "c",
					    .kind = "CustomResourceDefinition",
					    .name = "as.x.io",
					    .is_crd = true};
	for (size_t i = 1; i <= n; i++)
		w->entries[i] = (struct unit_entry){
			.object = view_fake_obj(
				&w->f,
				arena_fmt(
					w->f.a,
					"{\"apiVersion\":\"x.io/v1\",\"kind\":\"A\",\"metadata\":{"
					"\"name\":\"a%zu\",\"namespace\":\"n\"}}",
					i)),
			.digest = arena_fmt(w->f.a, "d%zu", i),
			.kind = "A",
			.name = arena_fmt(w->f.a, "a%zu", i),
			.ns = "n",
			.resource = &as};
	w->install = (struct install_plan){.release = "etcd",
					   .ns = "n",
					   .version = "1.0.0",
					   .entries = w->entries,
					   .n = n + 1};
	w->s = strategy_fake(&w->f, &w->app, &w->ref);
	w->s.install = &w->install;
}

static enum ensured try_back(struct world *w, const char **why)
{
	w->s.plan = view_fake_plan(&w->f);
	return strategy_try_back(&w->s, &w->ref, &w->install, why);
}

static size_t n_tried(struct world *w)
{
	const char *why;
	size_t n = 0;
	if (try_back(w, &why) == WAITING) {
		const struct action *x = view_fake_work(&w->f, &try_work);
		assert_non_null(x);
		assert_string_equal(x->as, VIEW_FAKE_ACCOUNT);
		n = obj_len(x->body);
	}
	assert_null(why);
	view_fake_release(&w->f);
	return n;
}

static void test_strategy_try__what_is_tried(void **state)
{
	static const struct {
		const char *crd, *live;
		size_t n;
	} rows[] = {
		{CRD("x.io", "A"), LIVE("2.0.0"), 2}, {CRD("x.io", "A"), LIVE("1.0.0"), 0},
		{CRD("x.io", "A"), LIVE("0.9.0"), 0}, {CRD("x.io", "B"), LIVE("2.0.0"), 0},
		{CRD("y.io", "A"), LIVE("2.0.0"), 0}, {CRD("x.io", "A"), "{}", 0},
		{CRD("x.io", "A"), LIVE("no-v"), 0},
	};
	struct world w;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		begin(&w, rows[i].crd, rows[i].live, 2);
		assert_int_equal(n_tried(&w), rows[i].n);
	}
	begin(&w, CRD("x.io", "A"), LIVE("2.0.0"), 2);
	w.entries[1].live = view_fake_obj(
		&w.f, "{\"metadata\":{\"annotations\":{\"app.coreos.com/applied\":\"d1\"}}}");
	assert_int_equal(n_tried(&w), 1); /* the first is as it shall be */
	begin(&w, CRD("x.io", "A"), LIVE("2.0.0"), 2);
	w.entries[1].resource = NULL; /* not served: the apply says so */
	assert_int_equal(n_tried(&w), 1);
	begin(&w, CRD("x.io", "A"), LIVE("2.0.0"), MANY);
	assert_int_equal(n_tried(&w), 256);
}

/* In the form in which it would be applied, by the whole of which the answer goes. */
static void test_strategy_try__an_answer_is_that_of_its_inputs(void **state)
{
	struct world w;
	const char *why;
	(void)state;
	begin(&w, CRD("x.io", "A"), LIVE("2.0.0"), 1);
	assert_int_equal(try_back(&w, &why), WAITING);
	const struct action *x = view_fake_work(&w.f, &try_work);
	const char *id = x->id;
	assert_true(cstr_has_prefix(id, "try:u:"));
	assert_string_equal(meta_name(obj_at(x->body, 0)), "a1");
	assert_string_equal(meta_label(obj_at(x->body, 0), LABEL_APP), "etcd");
	assert_string_equal(meta_annotation(obj_at(x->body, 0), ANNOTATION_APPLIED), "d1");
	view_fake_outcome(&w.f, id, "{\"refused\":[]}");
	assert_int_equal(try_back(&w, &why), DONE);
	assert_null(why);
	assert_int_equal(w.f.plan.n, 0);
	w.f.view.now_ns += NS_PER_HOUR; /* what was not refused is not asked again */
	assert_int_equal(try_back(&w, &why), DONE);
	w.entries[1].digest = "e";
	assert_int_equal(try_back(&w, &why), WAITING);
	assert_string_not_equal(view_fake_work(&w.f, &try_work)->id, id);
	w.entries[1].digest = "d1";
	struct obj *live = obj_keep(w.f.a, obj_copy(w.entries[0].live));
	obj_set_path(live, "metadata.generation", obj_int(8));
	w.entries[0].live = live;
	assert_int_equal(try_back(&w, &why), WAITING);
	view_fake_release(&w.f);
}

static void test_strategy_try__a_refusal_blocks_and_is_tried_again(void **state)
{
	struct world w;
	const char *why;
	(void)state;
	begin(&w, CRD("x.io", "A"), LIVE("2.0.0"), 2);
	assert_int_equal(try_back(&w, &why), WAITING);
	view_fake_outcome(&w.f, view_fake_work(&w.f, &try_work)->id,
			  "{\"refused\":[{\"index\":0,\"message\":\"m\"},{\"index\":1,\"message\":"
			  "\"o\"},{\"index\":2,\"message\":\"none\"},{\"message\":\"none\"}]}");
	assert_int_equal(try_back(&w, &why), DONE);
	assert_string_equal(why, "A n/a1: m; A n/a2: o");
	w.s.plan = view_fake_plan(&w.f);
	assert_int_equal(strategy_try(&w.s), ENDED);
	assert_int_equal(w.s.phase, PHASE_BLOCKED);
	assert_int_equal(w.f.plan.requeue_after_ns, NS_PER_MIN);
	assert_int_equal(obj_len(w.s.steps), 1);
	CLEANUP(xfreep) char *steps = json_text(w.s.steps);
	assert_non_null(strstr(steps, "kubectl patch apptype etcd "));
	const struct obj *c = condition_find(w.s.conditions, "PlanReady");
	assert_string_equal(obj_str(c, "status"), "False");
	assert_string_equal(obj_str(c, "reason"), "RollbackRefused");
	assert_string_equal(obj_str(c, "message"), why);
	w.f.view.now_ns += NS_PER_MIN - 1;
	assert_int_equal(try_back(&w, &why), DONE);
	w.f.view.now_ns++;
	assert_int_equal(try_back(&w, &why), WAITING);
	assert_non_null(view_fake_work(&w.f, &try_work));
	/* who reads that it is blocked does so until there is another answer */
	w.s.was = w.s.phase = PHASE_BLOCKED;
	w.s.plan = view_fake_plan(&w.f);
	assert_int_equal(strategy_try(&w.s), WAITING);
	assert_true(w.s.keep_status);
	w.s.was = PHASE_AWAITING;
	w.s.keep_status = false;
	w.s.plan = view_fake_plan(&w.f);
	assert_int_equal(strategy_try(&w.s), WAITING);
	assert_false(w.s.keep_status);
	assert_int_equal(w.s.phase, PHASE_PENDING);
	view_fake_release(&w.f);
}

/* What nobody has reported yet may be there as it shall be. */
static void test_strategy_try__an_informer_has_yet_to_tell(void **state)
{
	struct world w;
	const char *why;
	(void)state;
	begin(&w, CRD("x.io", "A"), LIVE("2.0.0"), 2);
	w.entries[1].unknown = true;
	assert_int_equal(try_back(&w, &why), WAITING);
	assert_int_equal(w.f.plan.n, 0);
	w.entries[1].unknown = false;
	w.install.n = 1;
	assert_int_equal(try_back(&w, &why), DONE);
	assert_int_equal(strategy_try(&w.s), DONE);
	assert_int_equal(w.f.plan.n, 0);
	view_fake_release(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_try__what_is_tried),
		cmocka_unit_test(test_strategy_try__an_answer_is_that_of_its_inputs),
		cmocka_unit_test(test_strategy_try__a_refusal_blocks_and_is_tried_again),
		cmocka_unit_test(test_strategy_try__an_informer_has_yet_to_tell),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
