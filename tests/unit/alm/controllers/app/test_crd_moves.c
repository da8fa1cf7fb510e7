/* test_crd_moves.c: a CRD with a converter is expanded, switched once the converter answers, put
 * back when a read fails, and stored last. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/app/crd_moves.h"
#include "alm/controllers/strategy/strategy_convert.h"
#include "alm/controllers/strategy/strategy_definition.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/view_fake.h"

#define NONE "{\"strategy\":\"None\"}"
#define HOOK                                                                                    \
	"{\"strategy\":\"Webhook\",\"webhook\":{\"conversionReviewVersions\":[\"v1\"],"         \
	"\"clientConfig\":{\"caBundle\":\"Q0E=\",\"service\":{\"name\":\"conv\",\"namespace\":" \
	"\"op\"}}}}"
#define V(name, served, storage) \
	"{\"name\":\"" name "\",\"served\":" served ",\"storage\":" storage "}"
#define V1_STORED V("v1", "true", "true")
#define BOTH      V("v1", "true", "false") "," V("v2", "true", "true")

struct world {
	struct view_fake f;
	struct app app;
	struct strategy_ref ref;
	struct unit_entry entries[2];
	struct install_plan install;
	struct strategy_pass s;
};

static struct obj *crd(struct world *w, const char *conversion, const char *versions,
		       const char *notes)
{
	CLEANUP(obj_unrefp) struct obj *text = obj_stringf(
		"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
		"\"metadata\":{\"name\":\"ws.e.io\",\"generation\":4,\"annotations\":{%s}},"
		"\"spec\":{\"group\":\"e.io\",\"scope\":\"Namespaced\",\"names\":{\"plural\":"
		"\"ws\",\"kind\":\"W\"},\"conversion\":%s,\"versions\":[%s]}}",
		notes, conversion, versions);
	return view_fake_obj(&w->f, obj_as_string(text));
}

static struct obj *deployment(struct world *w, int updated)
{
	CLEANUP(obj_unrefp) struct obj *text = obj_stringf(
		"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"op\","
		"\"namespace\":\"op\"},\"status\":{\"replicas\":2,\"readyReplicas\":2,"
		"\"updatedReplicas\":%d}}",
		updated);
	return view_fake_obj(&w->f, obj_as_string(text));
}

static void setup(struct world *w)
{
	memset(w, 0, sizeof(*w));
	view_fake_init(&w->f);
	w->app.name = "op";
	w->app.self_ref = "op.io.e";
	w->app.o =
		view_fake_obj(&w->f, "{\"apiVersion\":\"a/v1\",\"kind\":\"AppType\",\"metadata\":"
				     "{\"name\":\"op\",\"uid\":\"a\"}}");
	w->ref.o = view_fake_obj(&w->f, "{\"apiVersion\":\"o/v1\",\"kind\":\"InstallStrategy\","
					"\"metadata\":{\"name\":\"s\",\"uid\":\"u\"}}");
	w->ref.name = "s";
	w->ref.version = "2.0.0";
	w->entries[0] = (struct unit_entry){.object = crd(w, HOOK, BOTH, ""),
					    .digest = "d1",
					    .kind = "CustomResourceDefinition",
					    .name = "ws.e.io",
					    .is_crd = true,
					    .live = crd(w, NONE, V1_STORED, "")};
	w->entries[1] = (struct unit_entry){.object = deployment(w, 2),
					    .digest = "d2",
					    .kind = "Deployment",
					    .name = "op",
					    .ns = "op",
					    .live = deployment(w, 2)};
	w->install = (struct install_plan){.entries = w->entries, .n = 2};
	w->s = (struct strategy_pass){.v = &w->f.view,
				      .plan = &w->f.plan,
				      .app = &w->app,
				      .ref = &w->ref,
				      .phase = PHASE_INSTALLING,
				      .conditions = obj_keep(w->f.a, obj_list()),
				      .install = &w->install,
				      .revision = 1};
	view_fake_put(&w->f, WATCH_INSTANCE,
		      "{\"apiVersion\":\"e.io/v1\",\"kind\":\"W\",\"metadata\":{\"name\":"
		      "\"one\",\"namespace\":\"default\"}}");
}

/* What a move sends, as it would be live. */
static const struct obj *moved(struct world *w, enum crd_move to)
{
	struct obj *o = obj_copy(w->entries[0].object);
	meta_set_annotation(o, ANNOTATION_APPLIED, "d1");
	crd_moves_shape(o, w->entries[0].live, "d1", to);
	return obj_keep(w->f.a, o);
}

static void assert_versions(const struct obj *o, const char *want)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const struct obj *list = obj_path(o, "spec.versions");
	strbuf_adds(&b, obj_str(o, "spec.conversion.strategy"));
	for (size_t i = 0; i < obj_len(list); i++)
		strbuf_addf(&b, " %s%s%s", obj_str(obj_at(list, i), "name"),
			    obj_flag(obj_at(list, i), "served", false) ? " served" : "",
			    obj_flag(obj_at(list, i), "storage", false) ? " stored" : "");
	assert_string_equal(b.buf, want);
}

static void test_crd_moves__shapes(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	const struct obj *expanded = moved(&w, CRD_EXPANDED);
	assert_versions(expanded, "None v1 served stored v2");
	assert_int_equal(crd_moves_at(expanded, "d1"), CRD_EXPANDED);
	assert_int_equal(crd_moves_at(expanded, "d"), CRD_UNTOUCHED);
	w.entries[0].live = expanded;
	const struct obj *switched = moved(&w, CRD_SWITCHED);
	assert_versions(switched, "Webhook v1 served stored v2 served");
	assert_int_equal(crd_moves_at(switched, "d1"), CRD_SWITCHED);
	w.entries[0].live = switched;
	assert_versions(moved(&w, CRD_EXPANDED), "None v1 served stored v2"); /* put back */
	const struct obj *stored = moved(&w, CRD_STORED);
	assert_versions(stored, "Webhook v1 served v2 served stored");
	assert_int_equal(crd_moves_at(stored, "d1"), CRD_STORED);
	assert_null(meta_annotation(stored, ANNOTATION_FORMER));
	view_fake_release(&w.f);
}

/* A version that the plan lacks goes when nothing is stored so any more. */
static void test_crd_moves__a_version_that_goes(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	w.entries[0].object = crd(&w, HOOK, V("v2", "true", "true"), "");
	w.entries[0].live = moved(&w, CRD_EXPANDED);
	assert_versions(w.entries[0].live, "None v2 v1 served stored");
	w.entries[0].live = moved(&w, CRD_SWITCHED);
	assert_versions(w.entries[0].live, "Webhook v2 served v1 served stored");
	assert_versions(moved(&w, CRD_STORED), "Webhook v2 served stored");
	view_fake_release(&w.f);
}

static void test_crd_moves__only_under_a_converter(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	const struct obj *none = crd(&w, NONE, V1_STORED, ""), *hook = crd(&w, HOOK, V1_STORED, "");
	assert_false(crd_moves_needed(none, crd(&w, NONE, BOTH, "")));
	assert_true(crd_moves_needed(none, hook));
	assert_true(crd_moves_needed(hook, none));
	assert_false(crd_moves_needed(hook, hook));
	assert_true(crd_moves_needed(hook, crd(&w, HOOK, BOTH, "")));
	assert_int_equal(strategy_crd_move(&w.s, &w.entries[0]), CRD_EXPANDED);
	w.app.in.waivers = (const struct resolve_waiver[]){
		{.rule = "ConversionAdded", .resource = "ws.e.io/v2"}};
	w.app.in.n_waivers = 1;
	assert_int_equal(strategy_crd_move(&w.s, &w.entries[0]), CRD_STORED);
	view_fake_release(&w.f);
}

static const char *why(struct world *w)
{
	struct condition c;
	struct obj *o = obj_keep(w->f.a, obj_map());
	obj_set_path(o, "status.conditions", obj_ref(w->s.conditions));
	return condition_get(o, "Verified", &c) ? arena_strdup(w->f.a, c.message) : "";
}

static bool converted(struct world *w)
{
	view_fake_plan(&w->f);
	w->s.phase = PHASE_VERIFYING;
	return strategy_convert(&w->s) == DONE;
}

static struct action *asks(struct world *w)
{
	return view_fake_work(&w->f, &ask_work);
}

static struct action *applies(struct world *w)
{
	return view_fake_action(&w->f, ACT_APPLY, "CustomResourceDefinition", "ws.e.io");
}

#define ENDPOINTS(ready) \
	"[{\"value\":{\"items\":[{\"endpoints\":[{\"conditions\":{\"ready\":" ready "}}]}]}}]"

static void test_crd_moves__switched_when_the_converter_answers(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	w.entries[0].live = moved(&w, CRD_EXPANDED);
	assert_true(strategy_crd_is_placed(&w.s, &w.entries[0]));
	w.entries[1].live = deployment(&w, 1);
	assert_false(converted(&w));
	assert_string_equal(why(&w), "Deployment op has Pods of another version");
	w.entries[1].live = deployment(&w, 2);
	assert_false(converted(&w));
	assert_string_equal(asks(&w)->id, "endpoints:op/conv");
	view_fake_outcome(&w.f, "endpoints:op/conv", ENDPOINTS("false"));
	assert_false(converted(&w));
	assert_string_equal(why(&w), "Service op/conv has no ready endpoint");
	assert_null(applies(&w));
	view_fake_outcome(&w.f, "endpoints:op/conv", ENDPOINTS("true"));
	assert_false(converted(&w));
	assert_versions(applies(&w)->body, "Webhook v1 served stored v2 served");

	w.entries[0].live = moved(&w, CRD_SWITCHED);
	assert_false(converted(&w)); /* read it through both */
	assert_int_equal(obj_len(asks(&w)->body), 2);
	assert_string_equal(obj_str(obj_at(asks(&w)->body, 1), "apiVersion"), "e.io/v2");
	view_fake_outcome(&w.f, asks(&w)->id, "[{\"value\":{}},{\"value\":{}}]");
	assert_true(converted(&w));
	assert_int_equal(strategy_crd_move(&w.s, &w.entries[0]), CRD_SWITCHED);
	w.s.phase = PHASE_SUCCEEDED;
	assert_int_equal(strategy_crd_move(&w.s, &w.entries[0]), CRD_STORED);
	view_fake_release(&w.f);
}

static struct obj *next_generation(struct world *w, const struct obj *o, int64_t generation)
{
	struct obj *copy = obj_keep(w->f.a, obj_copy(o));
	obj_set_path(copy, "metadata.generation", obj_int(generation));
	return copy;
}

static void test_crd_moves__put_back_when_a_read_fails(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	w.entries[0].live = moved(&w, CRD_EXPANDED);
	w.entries[0].live = next_generation(&w, moved(&w, CRD_SWITCHED), 7);
	assert_false(converted(&w));
	view_fake_outcome(&w.f, asks(&w)->id,
			  "[{\"value\":{}},{\"apiVersion\":\"e.io/v2\",\"error\":\"refused\"}]");
	assert_false(converted(&w));
	assert_string_equal(why(&w), "a read as e.io/v2 failed: refused");
	assert_versions(applies(&w)->body, "None v1 served stored v2");

	w.entries[0].live = next_generation(&w, moved(&w, CRD_EXPANDED), 8);
	view_fake_outcome(&w.f, "endpoints:op/conv", ENDPOINTS("true"));
	assert_false(converted(&w)); /* not at once */
	assert_null(applies(&w));
	w.f.view.now_ns += 31 * NS_PER_S;
	view_fake_outcome(&w.f, "endpoints:op/conv", ENDPOINTS("true"));
	assert_false(converted(&w));
	assert_versions(applies(&w)->body, "Webhook v1 served stored v2 served");
	view_fake_release(&w.f);
}

static void test_crd_moves__a_rollback_puts_it_back(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	w.s.phase = PHASE_ROLLING_BACK;
	w.entries[0].live = moved(&w, CRD_EXPANDED);
	assert_int_equal(strategy_revert(&w.s, w.s.install), DONE);
	w.entries[0].live = moved(&w, CRD_SWITCHED);
	view_fake_plan(&w.f);
	assert_int_equal(strategy_revert(&w.s, w.s.install), WAITING);
	assert_versions(applies(&w)->body, "None v1 served stored v2");
	view_fake_release(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crd_moves__shapes),
		cmocka_unit_test(test_crd_moves__a_version_that_goes),
		cmocka_unit_test(test_crd_moves__only_under_a_converter),
		cmocka_unit_test(test_crd_moves__switched_when_the_converter_answers),
		cmocka_unit_test(test_crd_moves__put_back_when_a_read_fails),
		cmocka_unit_test(test_crd_moves__a_rollback_puts_it_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
