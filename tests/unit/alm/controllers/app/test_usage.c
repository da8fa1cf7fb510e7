/* usage.c: what the resolver learns of the cluster; requirement.c: in which words. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/app/app.h"
#include "alm/controllers/app/requirement.h"
#include "alm/controllers/app/usage.h"
#include "tests/lib/view_fake.h"

struct world {
	struct view_fake f;
	struct app app;
	struct strategy_ref ref;
};

static void begin(struct world *w)
{
	*w = (struct world){0};
	view_fake_init(&w->f);
	w->app = (struct app){.name = "etcd",
			      .install_namespace = "n",
			      .o = view_fake_obj(&w->f, "{}"),
			      .strategies = &w->ref,
			      .n = 1};
	usage_bind(&w->f.view, &w->app);
}

static void put_crd(struct world *w, const char *annotations)
{
	view_fake_put(
		&w->f, WATCH_CRD,
		arena_fmt(w->f.a,
			  "{\"metadata\":{\"name\":\"as.x.io\",\"annotations\":{%s}},\"spec\":{"
			  "\"group\":\"x.io\",\"versions\":[{\"name\":\"v1\",\"served\":true,"
			  "\"storage\":"
			  "true},{\"name\":\"v2\",\"served\":false},{\"name\":\"v3\",\"served\":"
			  "true}]},"
			  "\"status\":{\"storedVersions\":[\"v1\",\"v0\"]}}",
			  annotations));
}

#define RELEASE(name, ns)                             \
	"\"meta.helm.sh/release-name\":\"" name "\"," \
	"\"meta.helm.sh/release-namespace\":\"" ns "\""

static void test_usage__of_a_definition(void **state)
{
	static const struct {
		const char *annotations, *owner, *foreign;
		bool released;
	} rows[] = {
		{"", NULL, NULL, false},
		{"\"app.coreos.com/owner\":\"etcd.io\"", "etcd.io", NULL, false},
		{"\"app.coreos.com/owner\":\"alm\"", NULL, NULL, false},
		{"\"app.coreos.com/owner\":\"e.io\",\"app.coreos.com/released\":\"e.io\"", "e.io",
		 NULL, true},
		{RELEASE("etcd", "n"), NULL, NULL, false},
		{RELEASE("etcd", "m"), NULL, "meta.helm.sh/release-name etcd in m", false},
		{RELEASE("web", "n"), NULL, "meta.helm.sh/release-name web in n", false},
		{"\"meta.helm.sh/release-name\":\"web\"", NULL, "meta.helm.sh/release-name web in ",
		 false},
		{RELEASE("web", "n") ",\"app.coreos.com/owner\":\"e.io\"", "e.io", NULL, false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w);
		put_crd(&w, rows[i].annotations);
		const struct resolve_crd *crd = w.app.in.crd(w.app.in.arg, "as.x.io");
		assert_non_null(crd);
		assert_string_equal(crd->name, "as.x.io");
		if (!cstr_eq(crd->owner, rows[i].owner) ||
		    !cstr_eq(crd->foreign_owner, rows[i].foreign))
			fail_msg("%s: %s, %s", rows[i].annotations, crd->owner, crd->foreign_owner);
		assert_int_equal(crd->released, rows[i].released);
		assert_string_equal(crd->served[0], "v1");
		assert_string_equal(crd->served[1], "v3");
		assert_null(crd->served[2]);
		assert_string_equal(crd->stored[0], "v1");
		assert_string_equal(crd->stored[1], "v0");
		assert_null(crd->stored[2]);
		assert_null(w.app.in.crd(w.app.in.arg, "bs.x.io"));
		view_fake_release(&w.f);
	}
}

static struct resolve_usage usage(struct world *w, const char *resource)
{
	struct resolve_usage ret;
	w->app.in.usage(w->app.in.arg, resource, &ret);
	return ret;
}

static void test_usage__of_a_resource(void **state)
{
	struct world w;
	(void)state;
	begin(&w);
	struct resolve_usage u = usage(&w, "as.x.io/v1");
	assert_true(u.known && !u.objects && !u.stored); /* there is no such definition */
	assert_false(usage(&w, "no resource").known);
	assert_int_equal(usage_count(&w.f.view, "as.x.io"), 0);
	static const char *const managed[] = {"as.x.io/v1", NULL};
	assert_false(usage_any_instance(&w.f.view, managed));
	put_crd(&w, "");
	u = usage(&w, "as.x.io/v1");
	assert_true(u.known && u.stored && !u.objects);
	assert_null(u.writer);
	assert_false(usage(&w, "as.x.io/v3").stored);
	view_fake_put(&w.f, WATCH_INSTANCE,
		      "{\"apiVersion\":\"x.io/"
		      "v1\",\"kind\":\"A\",\"metadata\":{\"name\":\"a\",\"namespace\":"
		      "\"n\",\"managedFields\":[{\"manager\":\"m\",\"operation\":\"Update\","
		      "\"apiVersion\":"
		      "\"x.io/v3\",\"time\":\"2023-01-02T03:04:05Z\"}]}}");
	view_fake_put(&w.f, WATCH_INSTANCE,
		      "{\"apiVersion\":\"x.io/v1\",\"kind\":\"A\",\"metadata\":{\"name\":\"b\"}}");
	u = usage(&w, "as.x.io/v3");
	assert_int_equal(u.objects, 2);
	assert_string_equal(u.writer, "m");
	assert_string_equal(u.first_object, "n/a");
	assert_int_equal(usage_count(&w.f.view, "as.x.io"), 2);
	assert_int_equal(usage_count(&w.f.view, "as"), 0);
	assert_int_equal(usage_count(&w.f.view, "bs.x.io"), 0);
	assert_int_equal(usage_count(&w.f.view, "as.y.io"), 0);
	assert_true(usage_any_instance(&w.f.view, managed));
	assert_false(usage_any_instance(&w.f.view, NULL));
	view_fake_release(&w.f);
}

static void test_usage__since_when_a_version_is_listed(void **state)
{
	struct world w;
	(void)state;
	begin(&w);
	w.app.o = view_fake_obj(&w.f,
				"{\"status\":{\"candidates\":[{\"version\":\"1.0.0\",\"firstSeen\":"
				"\"1970-01-01T00:00:05Z\"},{\"version\":\"1.1.0\",\"firstSeen\":"
				"\"x\"},{\"version\":"
				"\"1.2.0\"}]}}");
	const struct resolve_input *in = &w.app.in;
	assert_true(in->first_seen(in->arg, "1.0.0") == INT64_C(5000000000));
	assert_true(in->first_seen(in->arg, "1.1.0") == 0);
	assert_true(in->first_seen(in->arg, "1.2.0") == 0);
	assert_true(in->first_seen(in->arg, "1.3.0") == 0);
	view_fake_release(&w.f);
}

#define SAYS(type, status, reason)                                                              \
	"\"conditions\":[{\"type\":\"" type "\",\"status\":\"" status "\",\"reason\":\"" reason \
	"\",\"message\":\"m\"}]"

/* What the server alone knows is remembered by the strategy that has asked: while it says so. */
static void test_usage__what_a_strategy_remembers(void **state)
{
	static const struct {
		enum phase phase;
		const char *status;
		bool gate, unmet;
	} rows[] = {
		{PHASE_BLOCKED, SAYS("CRDCompatible", "False", "CRDIncompatible"), true, false},
		{PHASE_PENDING, SAYS("CRDCompatible", "False", "CRDIncompatible"), false, false},
		{PHASE_BLOCKED, SAYS("CRDCompatible", "True", "CRDIncompatible"), false, false},
		{PHASE_BLOCKED, SAYS("CRDCompatible", "False", "Other"), false, false},
		{PHASE_BLOCKED, SAYS("Other", "False", "CRDIncompatible"), false, false},
		{PHASE_BLOCKED, SAYS("RequirementsMet", "False", "RequirementUnmet"), false, true},
		{PHASE_PENDING, SAYS("RequirementsMet", "False", "RequirementUnmet"), false, false},
		{PHASE_BLOCKED, SAYS("RequirementsMet", "True", "RequirementUnmet"), false, false},
		{PHASE_BLOCKED, SAYS("RequirementsMet", "False", "Other"), false, false},
		{PHASE_BLOCKED, SAYS("Other", "False", "RequirementUnmet"), false, false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		const char *message = NULL;
		const char *const *steps = NULL;
		begin(&w);
		w.ref = (struct strategy_ref){
			.o = view_fake_obj(&w.f, arena_fmt(w.f.a,
							   "{\"status\":{\"unmet\":[\"Feature "
							   "e\",\"Feature f\"],\"steps\":["
							   "\"s\",\"t\"],%s}}",
							   rows[i].status)),
			.phase = rows[i].phase,
			.sha256 = "d"};
		const struct resolve_input *in = &w.app.in;
		assert_int_equal(in->gate(in->arg, "d", &message, &steps),
				 rows[i].gate ? GATE_REFUSE : GATE_UNKNOWN);
		assert_true(cstr_eq(message, rows[i].gate ? "m" : NULL));
		if (rows[i].gate) {
			assert_string_equal(steps[0], "s");
			assert_string_equal(steps[1], "t");
			assert_null(steps[2]);
		}
		assert_int_equal(in->gate(in->arg, "other", &message, &steps), GATE_UNKNOWN);
		const char *why = in->unmet(
			in->arg, view_fake_obj(&w.f, "{\"kind\":\"Feature\",\"name\":\"f\"}"),
			w.f.a);
		assert_true(cstr_eq(why, rows[i].unmet ? "m" : NULL));
		assert_null(in->unmet(in->arg,
				      view_fake_obj(&w.f, "{\"kind\":\"Feature\",\"name\":\"g\"}"),
				      w.f.a));
		view_fake_release(&w.f);
	}
}

static void test_usage__a_definition_is_seen_here(void **state)
{
	struct world w;
	(void)state;
	begin(&w);
	const struct obj *q = view_fake_obj(&w.f, "{\"kind\":\"CRD\",\"name\":\"as.x.io\"}");
	const struct resolve_input *in = &w.app.in;
	assert_string_equal(in->unmet(in->arg, q, w.f.a), "CRD as.x.io is missing");
	put_crd(&w, "");
	assert_null(in->unmet(in->arg, q, w.f.a));
	assert_null(in->unmet(in->arg, view_fake_obj(&w.f, "{\"kind\":\"CRD\"}"), w.f.a));
	view_fake_release(&w.f);
}

static void test_usage__the_words_of_a_requirement(void **state)
{
	static const struct {
		const char *q, *want;
	} rows[] = {
		{"{\"kind\":\"CRD\",\"name\":\"a\"}", "CRD a no"},
		{"{\"kind\":\"Object\",\"name\":\"a\",\"ref\":\"r\"}", "Object r no"},
		{"{\"kind\":\"Permission\",\"verbs\":[\"get\",1,\"list\"],\"resource\":\"pods\","
		 "\"message\":"
		 "\"ask\"}",
		 "Permission get,?,list pods no: ask"},
		{"{\"kind\":\"Permission\",\"verbs\":[\"get\"],\"resource\":\"r\",\"group\":\"g\"}",
		 "Permission get r.g no"},
		{"{}", "  no"},
	};
	struct world w;
	(void)state;
	begin(&w);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(requirement_unmet(view_fake_obj(&w.f, rows[i].q), "no", w.f.a),
				    rows[i].want);
	view_fake_release(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usage__of_a_definition),
		cmocka_unit_test(test_usage__of_a_resource),
		cmocka_unit_test(test_usage__since_when_a_version_is_listed),
		cmocka_unit_test(test_usage__what_a_strategy_remembers),
		cmocka_unit_test(test_usage__a_definition_is_seen_here),
		cmocka_unit_test(test_usage__the_words_of_a_requirement),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
