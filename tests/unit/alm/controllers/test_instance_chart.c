/* test_instance_chart.c: an instance that names a chart has its AppType, which goes with it and not before. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/app/controllers.h"
#include "alm/controllers/app/instance_app.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/controller.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/view_fake.h"

#define CRD "sites.web.io"
#define KEY CRD "/default/www"
#define SITE(generation, spec)                                                            \
	"{\"apiVersion\":\"web.io/v1\",\"kind\":\"Site\",\"metadata\":{\"name\":\"www\"," \
	"\"namespace\":\"default\",\"uid\":\"u\",\"resourceVersion\":\"7\","              \
	"\"generation\":" generation "},\"spec\":" spec "}"
#define HELM(tag) "{\"type\":\"helm\",\"helmChart\":{\"template\":\"h.io/web:" tag "\"}}"
#define PARENT                                                                           \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":{" \
	"\"name\":\"web\",\"uid\":\"p\"},\"spec\":{\"type\":\"io\",\"resources\":["      \
	"{\"name\":\"" CRD "\",\"outputs\":[]}]}}"

static const struct resource sites = {"web.io", "v1", "sites", "Site", true};
static const char *cached;
static bool is_listed;

static int instance(void *arg, const char *crd, const char *ns, const char *name,
		    const struct resource **ret_resource, struct obj **ret)
{
	(void)arg;
	(void)crd;
	(void)ns;
	(void)name;
	struct error err = ERROR_INIT;
	*ret_resource = &sites;
	if (!is_listed)
		return -1;
	if (cached)
		assert_ok(json_parse(str_of(cached), ret, &err), &err);
	return *ret != NULL;
}

struct world {
	struct view_fake f;
	struct view_ops ops;
};

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	view_fake_init(&w->f);
	w->ops = *w->f.view.ops;
	w->ops.instance = instance;
	w->f.view.ops = &w->ops;
	view_fake_put(&w->f, WATCH_CRD,
		      "{\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":\"" CRD
		      "\",\"annotations\":{\"app.coreos.com/owner\":\"web.io\"}},\"spec\":{}}");
	view_fake_put(&w->f, WATCH_APPTYPE, PARENT);
	is_listed = true;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	view_fake_release(&w->f);
	xfree(w);
	return 0;
}

static void pass(struct world *w, const char *live)
{
	struct error err = ERROR_INIT;
	cached = live;
	if (live)
		view_fake_outcome(&w->f, "instance-chart:" KEY,
				  arena_fmt(w->f.a, "{\"object\":%s}", live));
	view_fake_plan(&w->f)->as = NULL;
	assert_ok(controller_run(&instance_chart_controller, &w->f.view, KEY, &w->f.plan, &err),
		  &err);
}

static const char *name_of_app(struct world *w)
{
	return instance_app_name(KEY, w->f.a);
}

static const struct obj *app_of(struct world *w)
{
	return view_get(&w->f.view, WATCH_APPTYPE, name_of_app(w));
}

static void put_app(struct world *w, const char *tag, const char *rest)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(arena_fmt(w->f.a, SITE("1", "%s"),
					      arena_fmt(w->f.a,
							"{\"type\":\"helm\",\"helmChart\":{"
							"\"template\":\"h.io/web:%s\"}}",
							tag))),
			     &o, &err),
		  &err);
	struct obj *app = obj_keep(w->f.a, instance_app(obj_keep(w->f.a, o), KEY,
							view_get(&w->f.view, WATCH_APPTYPE, "web"),
							NULL, w->f.a)),
		   *more = NULL;
	assert_ok(json_parse(str_of(rest), &more, &err), &err);
	obj_set_path(app, "metadata.uid", obj_string("a"));
	obj_set_path(app, "metadata.resourceVersion", obj_string("9"));
	obj_keep(w->f.a, more);
	for (struct obj_iter it = obj_iter(more); obj_iter_next(&it);)
		obj_set_path(app, it.key, obj_ref(it.value));
	CLEANUP(xfreep) char *text = json_text(app);
	view_fake_put(&w->f, WATCH_APPTYPE, text);
}

static const struct action *told(struct world *w)
{
	return view_fake_action(&w->f, ACT_PATCH, "Site", "www");
}

static void test_instance_chart__it_becomes_an_apptype(void **state)
{
	struct world *w = *state;
	pass(w, SITE("1", HELM("a")));
	const struct action *x = view_fake_action(&w->f, ACT_CREATE, "AppType", NULL);
	assert_non_null(x);
	assert_string_equal(x->name, name_of_app(w));
	assert_null(x->as);
	/* its status is written as the app that may */
	assert_string_equal(told(w)->subresource, "status");
	assert_string_equal(told(w)->as, "system:serviceaccount:alm-system:app-web");
	assert_string_equal(
		obj_str(obj_at(obj_path(told(w)->body, "status.conditions"), 0), "reason"),
		"Pending");
}

/* A registry's password is named where the resource is offered, in its own row. */
static void test_instance_chart__its_charts_are_read_as_its_parent_says(void **state)
{
	struct world *w = *state;
	view_fake_put(
		&w->f, WATCH_APPTYPE,
		"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":{"
		"\"name\":\"web\",\"uid\":\"p\"},\"spec\":{\"type\":\"io\",\"resources\":["
		"{\"name\":\"others.web.io\",\"secretRef\":{\"name\":\"another\"}},{\"name\":\"" CRD
		"\",\"secretRef\":{\"name\":\"k\"}}]}}");
	pass(w, SITE("1", HELM("a")));
	const struct action *x = view_fake_action(&w->f, ACT_CREATE, "AppType", NULL);
	assert_non_null(x);
	CLEANUP(xfreep) char *text = json_text(x->body);
	assert_non_null(strstr(text, "\"secretRef\":{\"name\":\"k\"}"));
	assert_null(strstr(text, "another"));
}

/* The owner that the definition names, and no other, offers its charts, as long as it is not going. */
static void test_instance_chart__without_a_parent_it_has_no_chart(void **state)
{
#define OWNER(more, type, resource)                                                      \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":{" \
	"\"name\":\"web\",\"uid\":\"p\"" more "},\"spec\":{\"type\":\"" type             \
	"\",\"resources\":[{\"name\":\"" resource "\"}]}}"
	static const struct {
		const char *parent; /* NULL: there is none */
		bool is_one;
	} rows[] = {
		{NULL, false},
		{OWNER(",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"", "io", CRD), false},
		{OWNER("", "com", CRD), false},
		{OWNER("", "io", "others.web.io"), false},
		{OWNER("", "io", CRD), true},
	};
	struct world *w = *state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].parent)
			view_fake_put(&w->f, WATCH_APPTYPE, rows[i].parent);
		else
			map_del(w->f.watched[WATCH_APPTYPE], "web");
		pass(w, SITE("1", HELM("a")));
		assert_int_equal(view_fake_count(&w->f, ACT_CREATE), rows[i].is_one);
	}
}

static void test_instance_chart__a_generation_is_read_before_it_counts(void **state)
{
	struct world *w = *state;
	struct error err = ERROR_INIT;
	pass(w, SITE("1", HELM("a")));
	cached = SITE("2", HELM("b"));
	view_fake_plan(&w->f)->as = NULL;
	assert_ok(controller_run(&instance_chart_controller, &w->f.view, KEY, &w->f.plan, &err),
		  &err);
	assert_int_equal(view_fake_works(&w->f, &survey_work), 1);
	assert_false(plan_has_writes(&w->f.plan));
}

static void test_instance_chart__what_it_says_is_followed(void **state)
{
	struct world *w = *state;
	put_app(w, "a", "{\"spec.paused\":true,\"spec.operator.helmChart.values\":{\"x\":1}}");
	pass(w, SITE("2", HELM("b")));
	const struct action *x = view_fake_action(&w->f, ACT_PATCH, "AppType", NULL);
	assert_non_null(x);
	assert_string_equal(obj_str(x->body, "spec.operator.helmChart.template"), "h.io/web:b");
	assert_int_equal(obj_type(obj_path(x->body, "spec.operator.helmChart.values")), OBJ_NULL);
	assert_null(obj_path(x->body, "spec.paused")); /* a person's */
	put_app(w, "b", "{}");
	pass(w, SITE("2", HELM("b")));
	assert_null(view_fake_action(&w->f, ACT_PATCH, "AppType", NULL));
}

static void test_instance_chart__its_state_is_told_once(void **state)
{
	struct world *w = *state;
	put_app(w, "a",
		"{\"status\":{\"installedVersion\":\"1.0.1\",\"conditions\":[{\"type\":\"Ready\","
		"\"status\":\"True\",\"reason\":\"Installed\",\"message\":\"1.0.1\"}]}}");
	pass(w, SITE("1", HELM("a")));
	const struct obj *status = obj_get(told(w)->body, "status");
	assert_string_equal(obj_str(status, "installedVersion"), "1.0.1");
	assert_string_equal(obj_str(obj_at(obj_get(status, "conditions"), 0), "reason"),
			    "Installed");
	CLEANUP(xfreep) char *text = json_text(status);
	pass(w, arena_fmt(w->f.a,
			  "{\"apiVersion\":\"web.io/v1\",\"kind\":\"Site\",\"metadata\":{"
			  "\"name\":\"www\",\"namespace\":\"default\",\"uid\":\"u\","
			  "\"resourceVersion\":\"8\",\"generation\":1},\"spec\":" HELM(
				  "a") ","
				       "\"status\":%s}",
			  text));
	assert_null(told(w));
	assert_false(plan_has_writes(&w->f.plan));
}

#define INSTALLED                                                                          \
	"{\"status\":{\"installedVersion\":\"1.0.1\",\"conditions\":[{\"type\":\"Ready\"," \
	"\"status\":\"True\",\"reason\":\"Installed\",\"message\":\"1.0.1\"}]}}"
#define TOLD                                                                                       \
	",\"status\":{\"appType\":\"www-x\",\"installedVersion\":\"1.0.0\",\"of\":\"others\","     \
	"\"outputs\":{\"former\":\"x\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}," \
	"{\"type\":\"Seen\",\"status\":\"True\"}]}}"

/* SITE() with a status. */
static const char *site_told(struct world *w, const char *spec)
{
	const char *plain = arena_fmt(w->f.a, SITE("2", "%s"), spec);
	return arena_fmt(w->f.a, "%.*s" TOLD, (int)strlen(plain) - 1, plain);
}

/* A merge patch keeps what it does not name. */
static void test_instance_chart__an_output_that_is_none_any_more_goes(void **state)
{
	struct world *w = *state;
	put_app(w, "a", INSTALLED);
	pass(w, site_told(w, HELM("a")));
	assert_int_equal(obj_type(obj_path(told(w)->body, "status.outputs.former")), OBJ_NULL);
	assert_null(obj_path(told(w)->body, "status.of"));
}

static void test_instance_chart__without_a_chart_nothing_is_told_of_one(void **state)
{
	struct world *w = *state;
	pass(w, site_told(w, "{\"size\":3}"));
	const struct obj *status = obj_get(told(w)->body, "status");
	assert_int_equal(obj_type(obj_get(status, "appType")), OBJ_NULL);
	assert_int_equal(obj_type(obj_get(status, "installedVersion")), OBJ_NULL);
	assert_int_equal(obj_type(obj_get(status, "outputs")), OBJ_NULL);
	assert_int_equal(obj_len(obj_get(status, "conditions")), 1);
	assert_string_equal(obj_str(obj_at(obj_get(status, "conditions"), 0), "type"), "Seen");
	pass(w, SITE("2", "{\"size\":3}")); /* nor is one touched that never named a chart */
	assert_null(told(w));
}

static void test_instance_chart__bad_input_changes_nothing_that_runs(void **state)
{
	struct world *w = *state;
	put_app(w, "a", "{}");
	pass(w, SITE("2", "{\"type\":\"helm\",\"helmChart\":{}}"));
	assert_string_equal(
		obj_str(obj_at(obj_path(told(w)->body, "status.conditions"), 0), "reason"),
		"Invalid");
	assert_null(view_fake_action(&w->f, ACT_PATCH, "AppType", NULL));
	assert_int_equal(view_fake_count(&w->f, ACT_DELETE), 0);
}

static void test_instance_chart__an_apptype_of_others_stays_theirs(void **state)
{
	struct world *w = *state;
	put_app(w, "z", "{\"metadata.annotations\":{}}");
	pass(w, SITE("1", HELM("a")));
	assert_string_equal(
		obj_str(obj_at(obj_path(told(w)->body, "status.conditions"), 0), "reason"),
		"NameTaken");
	assert_null(view_fake_action(&w->f, ACT_PATCH, "AppType", NULL));
	pass(w, NULL);
	assert_int_equal(w->f.plan.n, 0);
}

static void test_instance_chart__it_goes_when_the_instance_is_gone(void **state)
{
	struct world *w = *state;
	put_app(w, "a", "{}");
	is_listed = false; /* not known is not gone */
	pass(w, NULL);
	assert_int_equal(w->f.plan.n, 0);
	assert_true(w->f.plan.requeue_after_ns > 0);
	is_listed = true;
	pass(w, NULL);
	assert_non_null(view_fake_action(&w->f, ACT_DELETE, "AppType", name_of_app(w)));
	pass(w, SITE("2", "{\"size\":3}")); /* or names no chart any more */
	assert_non_null(view_fake_action(&w->f, ACT_DELETE, "AppType", name_of_app(w)));
	view_fake_gone(&w->f, "CustomResourceDefinition", NULL, CRD);
	map_del(w->f.watched[WATCH_CRD], CRD);
	pass(w, NULL);
	assert_non_null(view_fake_action(&w->f, ACT_DELETE, "AppType", name_of_app(w)));
}

static void test_instance_chart__it_outlives_who_brought_the_resource(void **state)
{
	struct world *w = *state;
	put_app(w, "a", "{}");
	map_del(w->f.watched[WATCH_APPTYPE], "web");
	pass(w, SITE("2", HELM("b")));
	assert_int_equal(w->f.plan.n, 0);
	assert_non_null(app_of(w));
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_instance_chart__##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_becomes_an_apptype),
		TEST(its_charts_are_read_as_its_parent_says),
		TEST(without_a_parent_it_has_no_chart),
		TEST(a_generation_is_read_before_it_counts),
		TEST(what_it_says_is_followed),
		TEST(its_state_is_told_once),
		TEST(an_output_that_is_none_any_more_goes),
		TEST(without_a_chart_nothing_is_told_of_one),
		TEST(bad_input_changes_nothing_that_runs),
		TEST(an_apptype_of_others_stays_theirs),
		TEST(it_goes_when_the_instance_is_gone),
		TEST(it_outlives_who_brought_the_resource),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
