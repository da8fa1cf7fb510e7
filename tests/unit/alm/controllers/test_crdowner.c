/* crdowner.c: whose a definition is, and what it says of that. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/app/controllers.h"
#include "alm/engine/controller.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "tests/lib/view_fake.h"

#define NS_SYSTEM                                                               \
	"{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":" \
	"\"kube-system\",\"uid\":\"sys\"}}"
#define OWNER(kind, name, uid)                                                                     \
	"{\"apiVersion\":\"g/v1\",\"kind\":\"" kind "\",\"name\":\"" name "\",\"uid\":\"" uid "\"" \
	"}"

static void put_crd(struct view_fake *f, const char *annotations, const char *owners)
{
	view_fake_put(
		f, WATCH_CRD,
		arena_fmt(f->a,
			  "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":"
			  "\"CustomResourceDefinition\",\"metadata\":{\"name\":\"as.x.io\",\"uid\":"
			  "\"c\",\"resourceVersion\":\"5\",\"annotations\":{%s},"
			  "\"ownerReferences\":[%s]},\"spec\":{\"group\":\"x.io\",\"names\":{"
			  "\"plural\":\"as\",\"kind\":\"A\"},\"versions\":[{\"name\":\"v1\","
			  "\"served\":true,\"storage\":true}]}}",
			  annotations, owners));
}

static void put_app(struct view_fake *f, const char *name, const char *type, const char *more)
{
	view_fake_put(
		f, WATCH_APPTYPE,
		arena_fmt(
			f->a,
			"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\","
			"\"metadata\":{\"name\":\"%s\",\"uid\":\"a\",\"resourceVersion\":\"7\"%s},"
			"\"spec\":{\"type\":\"%s\"}}",
			name, more, type));
}

static void pass(struct view_fake *f)
{
	struct error err = ERROR_INIT;
	struct plan *p = view_fake_plan(f);
	assert_ok(controller_run(&crdowner_controller, &f->view, "as.x.io", p, &err), &err);
}

static const struct obj *told(struct view_fake *f)
{
	for (const struct action *x = f->plan.head; x; x = x->next)
		if (x->type == ACT_PATCH && cstr_eq(x->subresource, "status"))
			return condition_find(obj_path(x->body, "status.conditions"),
					      "app.coreos.com/Resolved");
	return NULL;
}

static void is_told(struct view_fake *f, const char *status, const char *reason,
		    const char *message)
{
	const struct obj *c = told(f);
	assert_non_null(c);
	assert_string_equal(obj_str(c, "status"), status);
	assert_string_equal(obj_str(c, "reason"), reason);
	assert_non_null(strstr(obj_str(c, "message"), message));
}

#define OWNED "\"app.coreos.com/owner\":\"etcd.io.x\""

/* An owner that goes in the foreground would take every custom resource: the second one stays. */
static void test_crdowner__two_owners(void **state)
{
	static const struct {
		const char *owners;
		size_t n; /* afterwards; 0: nothing is written */
	} rows[] = {
		{"", 2},
		{OWNER("AppType", "etcd", "a"), 2},
		{OWNER("Namespace", "kube-system", "sys"), 2},
		{OWNER("X", "other", "o"), 3},
		{OWNER("AppType", "etcd", "a") "," OWNER("Namespace", "kube-system", "sys"), 0},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		struct owner_ref owner;
		view_fake_init(&f);
		view_fake_put(&f, WATCH_NAMESPACE, NS_SYSTEM);
		put_app(&f, "etcd", "io.x", "");
		put_crd(&f, OWNED, rows[i].owners);
		pass(&f);
		is_told(&f, "True", "Installed", "owned by AppType etcd");
		const struct action *x = f.plan.head;
		assert_int_equal(f.plan.n, rows[i].n ? 2 : 1);
		if (!rows[i].n)
			goto next;
		assert_int_equal(x->type, ACT_PATCH);
		assert_null(x->subresource);
		assert_null(x->as);
		assert_string_equal(meta_resource_version(x->body), "5");
		assert_int_equal(obj_len(obj_path(x->body, "metadata.ownerReferences")), rows[i].n);
		assert_true(meta_is_owned_by(x->body, "a") && meta_is_owned_by(x->body, "sys"));
		assert_false(obj_has(obj_get(x->body, "metadata"), "annotations"));
		if (i)
			goto next;
		assert_true(meta_owner(x->body, 0, &owner));
		assert_string_equal(owner.api_version, "app.coreos.com/v1beta1");
		assert_string_equal(owner.kind, "AppType");
		assert_string_equal(owner.name, "etcd");
		assert_true(meta_owner(x->body, 1, &owner));
		assert_string_equal(owner.api_version, "v1");
		assert_string_equal(owner.kind, "Namespace");
		assert_string_equal(owner.name, "kube-system");
	next:
		view_fake_release(&f);
	}
}

/* Without the second one the first alone is not written. */
static void test_crdowner__never_one_owner_alone(void **state)
{
	struct view_fake f;
	(void)state;
	view_fake_init(&f);
	put_app(&f, "etcd", "io.x", "");
	put_crd(&f, OWNED, "");
	pass(&f);
	assert_int_equal(f.plan.n, 1);
	is_told(&f, "True", "Installed", "");
	view_fake_release(&f);
}

/* What was left behind is taken again by an app that a person has made: the app is still there, then
 * the mark goes with the owners. */
static void test_crdowner__taken_again(void **state)
{
	struct view_fake f;
	(void)state;
	view_fake_init(&f);
	view_fake_put(&f, WATCH_NAMESPACE, NS_SYSTEM);
	put_app(&f, "etcd", "io.x", "");
	put_crd(&f, OWNED ",\"app.coreos.com/released\":\"etcd.io.x\"",
		OWNER("AppType", "etcd", "a") "," OWNER("Namespace", "kube-system", "sys"));
	pass(&f);
	const struct action *x = f.plan.head;
	assert_int_equal(f.plan.n, 3);
	assert_string_equal(x->resource.kind, "AppType");
	assert_string_equal(meta_resource_version(x->body), "7");
	assert_int_equal(obj_len(x->body), 1); /* of nothing */
	x = x->next;
	assert_string_equal(x->resource.kind, "CustomResourceDefinition");
	assert_int_equal(obj_type(obj_get(obj_path(x->body, "metadata.annotations"),
					  "app.coreos.com/released")),
			 OBJ_NULL);
	view_fake_release(&f);
}

#define GOING    ",\"deletionTimestamp\":\"2023-01-02T03:04:05Z\""
#define RELEASED OWNED ",\"app.coreos.com/released\":\"etcd.io.x\""

static void test_crdowner__what_is_left_behind(void **state)
{
	struct view_fake f;
	(void)state;
	view_fake_init(&f);
	put_crd(&f, RELEASED, "");
	pass(&f);
	assert_int_equal(f.plan.n, 0); /* it has never said anything else */
	view_fake_put(
		&f, WATCH_CRD,
		"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
		"\"metadata\":{\"name\":\"as.x.io\",\"uid\":\"c\",\"annotations\":{" RELEASED "}},"
		"\"spec\":{\"group\":\"x.io\"},\"status\":{\"conditions\":[{\"type\":"
		"\"Established\","
		"\"status\":\"True\"},{\"type\":\"app.coreos.com/Resolved\",\"status\":\"True\","
		"\"reason\":\"Installed\",\"message\":\"\"}]}}");
	for (int i = 0; i < 2; i++) {
		if (i)
			put_app(&f, "etcd", "io.x", GOING);
		pass(&f);
		assert_int_equal(f.plan.n, 1);
		is_told(&f, "False", "Released", "has left it behind");
		assert_string_equal(f.plan.head->event_type, "Normal");
		assert_string_equal(f.plan.head->reason, "Released");
		assert_int_equal(obj_len(obj_path(f.plan.head->body, "status.conditions")), 2);
	}
	view_fake_release(&f);
}

static void test_crdowner__nothing_is_said_of(void **state)
{
	static const char *const crds[] = {
		"\"metadata\":{\"name\":\"as.x.io\"},\"spec\":{\"group\":\"x.io\"}",
		"\"metadata\":{\"name\":\"as.x.io\",\"annotations\":{" OWNED "}" GOING
		"},\"spec\":{\"group\":\"x.io\"}",
		"\"metadata\":{\"name\":\"as.x.io\",\"annotations\":{" OWNED
		"}},\"spec\":{\"group\":\"app.coreos.com\"}",
	};
	struct view_fake f;
	(void)state;
	view_fake_init(&f);
	view_fake_put(&f, WATCH_NAMESPACE, NS_SYSTEM);
	put_app(&f, "etcd", "io.x", "");
	for (size_t i = 0; i < ARRAY_LEN(crds); i++) {
		view_fake_put(&f, WATCH_CRD, arena_fmt(f.a, "{%s}", crds[i]));
		pass(&f);
		assert_int_equal(f.plan.n, 0);
	}
	put_crd(&f, OWNED, ""); /* its app is going, and will say what becomes of it */
	put_app(&f, "etcd", "io.x", GOING);
	pass(&f);
	assert_int_equal(f.plan.n, 0);
	view_fake_release(&f);
}

/* Names and types both may have dots. */
static void test_crdowner__the_app_of_a_self_ref(void **state)
{
	struct view_fake f;
	(void)state;
	view_fake_init(&f);
	put_crd(&f, "\"app.coreos.com/owner\":\"a.b.io.x\"", "");
	put_app(&f, "a", "io.x", "");
	put_app(&f, "a.b", "io.x", "");
	pass(&f);
	is_told(&f, "True", "Installed", "owned by AppType a.b");
	assert_string_equal(f.plan.head->event_type, "Normal");
	view_fake_release(&f);
}

static void test_crdowner__no_catalog_provides_it(void **state)
{
	struct view_fake f;
	(void)state;
	view_fake_init(&f);
	put_crd(&f, OWNED, "");
	pass(&f);
	assert_int_equal(f.plan.n, 1);
	is_told(&f, "False", "NoPackageProvides",
		"no catalog provides as.x.io/v1 (asked: no catalog)");
	assert_string_equal(f.plan.head->event_type, "Warning");
	assert_string_equal(meta_uid(f.plan.head->subject), "c");
	view_fake_release(&f);
}

/* The CRD says why nobody serves its objects. */
static void test_crdowner__an_app_that_cannot_be_installed(void **state)
{
	static const struct {
		const char *status;
		bool refused;
	} rows[] = {
		{"\"conditions\":[{\"type\":\"Resolved\",\"status\":\"False\",\"reason\":\"R\","
		 "\"message\":"
		 "\"m\"}]",
		 true},
		{"\"installedVersion\":\"1.0.0\",\"conditions\":[{\"type\":\"Resolved\",\"status\":"
		 "\"False\","
		 "\"reason\":\"R\",\"message\":\"m\"}]",
		 false},
		{"\"conditions\":[{\"type\":\"Resolved\",\"status\":\"True\",\"reason\":\"R\","
		 "\"message\":"
		 "\"m\"}]",
		 false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		put_crd(&f, OWNED, "");
		view_fake_put(&f, WATCH_APPTYPE,
			      arena_fmt(f.a,
					"{\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\","
					"\"uid\":\"a\"},"
					"\"spec\":{\"type\":\"io.x\"},\"status\":{%s}}",
					rows[i].status));
		pass(&f);
		is_told(&f, rows[i].refused ? "False" : "True",
			rows[i].refused ? "NotInstallable" : "Installed",
			rows[i].refused ? "AppType etcd: R: m" : "owned by");
		assert_int_equal(f.plan.requeue_after_ns, rows[i].refused ? NS_PER_MIN : 0);
		view_fake_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crdowner__two_owners),
		cmocka_unit_test(test_crdowner__never_one_owner_alone),
		cmocka_unit_test(test_crdowner__taken_again),
		cmocka_unit_test(test_crdowner__what_is_left_behind),
		cmocka_unit_test(test_crdowner__nothing_is_said_of),
		cmocka_unit_test(test_crdowner__the_app_of_a_self_ref),
		cmocka_unit_test(test_crdowner__no_catalog_provides_it),
		cmocka_unit_test(test_crdowner__an_app_that_cannot_be_installed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
