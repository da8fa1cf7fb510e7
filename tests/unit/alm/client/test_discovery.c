#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/client/discovery.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/transport_fake.h"

struct fixture {
	struct loop *loop;
	struct transport_fake *fake;
	struct client *client;
	struct discovery *discovery;
	int n;
	struct error err;
	char found[128];
};

static void setup(struct fixture *f)
{
	*f = (struct fixture){.loop = loop_fake_new(0)};
	f->fake = transport_fake_new(f->loop);
	f->client = client_new(f->loop, transport_fake_transport(f->fake));
	f->discovery = discovery_new(f->client);
}

static void teardown(struct fixture *f)
{
	assert_int_equal(fake_unused(f->fake), 0);
	discovery_free(f->discovery);
	assert_int_equal(fake_open(f->fake), 0);
	client_free(f->client);
	transport_fake_free(f->fake);
	loop_free(f->loop);
}

static void on_refreshed(void *arg, const struct error *err)
{
	struct fixture *f = arg;
	f->n++;
	f->err = err ? *err : ERROR_INIT;
}

static void on_found(void *arg, const struct resource *r, const struct error *err)
{
	struct fixture *f = arg;
	on_refreshed(arg, err);
	snprintf(f->found, sizeof(f->found), "%s", r ? r->plural : "");
}

#define R(plural, kind, singular, shorts, scope)                                                   \
	"{\"resource\":\"" plural                                                                  \
	"\",\"responseKind\":{\"group\":\"\",\"version\":\"\",\"kind\":\"" kind                    \
	"\"},\"singularResource\":\"" singular "\",\"shortNames\":[" shorts "],\"scope\":\"" scope \
	"\",\"verbs\":[\"get\"]}"
#define LIST(groups)                                                                \
	"{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/" \
	"v2\",\"items\":[" groups "]}"
#define GROUP(name, versions) "{\"metadata\":{\"name\":\"" name "\"},\"versions\":[" versions "]}"
#define V(version, resources) "{\"version\":\"" version "\",\"resources\":[" resources "]}"

static void answer_aggregated(struct fixture *f)
{
	fake_answer(f->fake, "GET", "/api", 200,
		    LIST("{\"metadata\":{},\"versions\":[" V(
			    "v1", R("pods", "Pod", "pod", "\"po\"", "Namespaced") "," R(
					  "nodes", "Node", "node", "", "Cluster")) "]}"));
	fake_answer(
		f->fake, "GET", "/apis", 200,
		LIST(GROUP(
			"app.coreos.com",
			V("v1beta1", R("apps", "AppType", "apptype", "\"apptypes\"", "Cluster")) "," V(
				"v1alpha1",
				R("catalogs", "Catalog", "catalog", "", "Cluster") "," R(
					"../x", "Evil", "", "",
					"Cluster"))) "," GROUP("g.io",
							       V("v2", R("widgets", "Widget", "widget", "\"w\",\"po\"", "Namespaced")) "," V(
								       "v1",
								       R("widgets", "Widget",
									 "widget", "",
									 "Namespac"
									 "ed"))) "," GROUP("x.io",
											   "{\"vers"
											   "ion\":"
											   "\"v1\","
											   "\"fresh"
											   "ness\":"
											   "\"Stale"
											   "\","
											   "\"resou"
											   "rces\":"
											   "[]}")));
}

static void assert_name(const struct fixture *f, const char *name, const char *want)
{
	char got[128] = "";
	const struct resource *r = discovery_name(f->discovery, name);
	if (r)
		snprintf(got, sizeof(got), "%s.%s.%s", r->plural, r->version, r->group);
	if (strcmp(got, want) != 0)
		fail_msg("%s: got %s, wanted %s", name, got, want);
}

static void test_discovery__aggregated(void **state)
{
	(void)state;
	struct fixture f;
	size_t n;
	setup(&f);
	answer_aggregated(&f);
	discovery_refresh(f.discovery, on_refreshed, &f);
	loop_fake_settle(f.loop);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.err.code, 0);
	discovery_all(f.discovery, &n);
	assert_int_equal(n, 6);
	assert_name(&f, "Apps", "apps.v1beta1.app.coreos.com");
	assert_name(&f, "AppType", "apps.v1beta1.app.coreos.com");
	assert_name(&f, "apptypes", "apps.v1beta1.app.coreos.com");
	assert_name(&f, "apps.app.coreos.com", "apps.v1beta1.app.coreos.com");
	assert_name(&f, "apps.v1beta1.app.coreos.com", "apps.v1beta1.app.coreos.com");
	assert_name(&f, "apps.v9.app.coreos.com", "");
	assert_name(&f, "widgets", "widgets.v2.g.io");
	assert_name(&f, "widgets.v1.g.io", "widgets.v1.g.io");
	assert_name(&f, "po", "pods.v1.");
	assert_name(&f, "pods.v1", "pods.v1.");
	assert_name(&f, "../x", "");
	const struct resource *r = discovery_kind(f.discovery, "g.io", NULL, "Widget");
	assert_string_equal(r->version, "v2");
	assert_true(r->namespaced);
	assert_string_equal(discovery_short_names(f.discovery, r), "w,po");
	assert_string_equal(discovery_singular(f.discovery, r), "widget");
	assert_false(discovery_kind(f.discovery, "", "v1", "Node")->namespaced);
	assert_null(discovery_kind(f.discovery, "", "v2", "Node"));
	assert_non_null(discovery_group_trouble(f.discovery, "x.io"));
	assert_null(discovery_group_trouble(f.discovery, "g.io"));
	teardown(&f);
}

static void test_discovery__legacy_with_a_failed_group(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	fake_answer(f.fake, "GET", "/api", 200, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"]}");
	fake_answer(f.fake, "GET", "/apis", 200,
		    "{\"kind\":\"APIGroupList\",\"groups\":[{\"name\":\"g.io\",\"versions\":["
		    "{\"groupVersion\":\"g.io/v1\"},{\"groupVersion\":\"g.io/v2\"}],"
		    "\"preferredVersion\":{\"groupVersion\":\"g.io/v2\"}},{\"name\":\"bad.io\","
		    "\"versions\":[{\"groupVersion\":\"bad.io/v1\"}]}]}");
	fake_answer(f.fake, "GET", "/api/v1", 200,
		    "{\"groupVersion\":\"v1\",\"resources\":[{\"name\":\"pods\",\"kind\":\"Pod\","
		    "\"singularName\":\"pod\",\"namespaced\":true,\"shortNames\":[\"po\"]},"
		    "{\"name\":\"pods/status\",\"kind\":\"Pod\"}]}");
	fake_answer(
		f.fake, "GET", "/apis/g.io/v2", 200,
		"{\"groupVersion\":\"g.io/v2\",\"resources\":[{\"name\":\"ws\",\"kind\":\"W\"}]}");
	fake_answer(
		f.fake, "GET", "/apis/g.io/v1", 200,
		"{\"groupVersion\":\"g.io/v1\",\"resources\":[{\"name\":\"ws\",\"kind\":\"W\"}]}");
	/* a server that is away keeps the others no longer: it is asked once */
	fake_answer(f.fake, "GET", "/apis/bad.io/v1", 503, "{\"message\":\"gone\"}");
	discovery_refresh(f.discovery, on_refreshed, &f);
	loop_fake_settle(f.loop);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.err.code, 0);
	assert_name(&f, "po", "pods.v1.");
	assert_name(&f, "ws", "ws.v2.g.io");
	assert_string_equal(discovery_group_trouble(f.discovery, "bad.io"), "gone");
	teardown(&f);
}

/* What it says becomes paths: no name, no request. */
static void test_discovery__a_legacy_list_may_say_anything(void **state)
{
	(void)state;
	struct fixture f;
	size_t n;
	setup(&f);
	fake_answer(f.fake, "GET", "/api", 200,
		    "{\"kind\":\"APIVersions\",\"versions\":[\"../v1\",7,null,\"v1\"]}");
	fake_answer(f.fake, "GET", "/apis", 200,
		    "{\"kind\":\"APIGroupList\",\"groups\":["
		    "{\"versions\":[{\"groupVersion\":\"nameless.io/v1\"}],"
		    "\"preferredVersion\":{\"groupVersion\":\"nameless.io/v1\"}},"
		    "{\"name\":7},7,null,{\"name\":\"empty.io\"},"
		    "{\"name\":\"bad.io\",\"versions\":[{\"groupVersion\":\"../x\"},"
		    "{\"groupVersion\":\"bad.io/..\"},{\"groupVersion\":\"v1\"},{},7],"
		    "\"preferredVersion\":{\"groupVersion\":\"bad.io\"}},"
		    "{\"name\":\"g.io\",\"versions\":[{\"groupVersion\":\"g.io/v1\"}]}]}");
	fake_answer(f.fake, "GET", "/api/v1", 200,
		    "{\"groupVersion\":\"v1\",\"resources\":[{\"kind\":\"NoName\"},"
		    "{\"name\":\"pods\",\"kind\":\"Pod\"},7]}");
	fake_answer(f.fake, "GET", "/apis/g.io/v1", 200, "{\"resources\":[{\"name\":\"x\"}]}");
	discovery_refresh(f.discovery, on_refreshed, &f);
	loop_fake_settle(f.loop);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.err.code, 0);
	assert_int_equal(fake_count(f.fake), 4);
	discovery_all(f.discovery, &n);
	assert_int_equal(n, 1);
	assert_name(&f, "pods", "pods.v1.");
	teardown(&f);
}

static void test_discovery__a_cluster_with_nothing(void **state)
{
	(void)state;
	struct fixture f;
	size_t n = 7;
	setup(&f);
	fake_answer(f.fake, "GET", "/api", 200, LIST(""));
	fake_answer(f.fake, "GET", "/apis", 200, LIST(""));
	discovery_refresh(f.discovery, on_refreshed, &f);
	loop_fake_settle(f.loop);
	assert_int_equal(f.err.code, 0);
	discovery_all(f.discovery, &n);
	assert_int_equal(n, 0);
	assert_name(&f, "pods", "");
	teardown(&f);
}

static void test_discovery__reads_again_once_on_no_match(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	answer_aggregated(&f);
	discovery_require_name(f.discovery, "widget", on_found, &f);
	assert_int_equal(f.n, 0);
	loop_fake_settle(f.loop);
	assert_string_equal(f.found, "widgets");
	discovery_require_kind(f.discovery, "g.io", "v1", "Widget", on_found, &f);
	loop_fake_settle(f.loop);
	assert_int_equal(f.n, 2);
	assert_int_equal(fake_count(f.fake), 2); /* from the cache */
	answer_aggregated(&f);
	discovery_require_kind(f.discovery, "g.io", "v3", "Widget", on_found, &f);
	discovery_require_kind(f.discovery, "x.io", "v1", "X", on_found, &f);
	loop_fake_settle(f.loop);
	assert_int_equal(f.n, 4);
	assert_int_equal(fake_count(f.fake), 4);
	assert_int_equal(f.err.code, E_UNAVAILABLE);
	teardown(&f);
}

static void test_discovery__a_failed_reading_keeps_the_cache(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	answer_aggregated(&f);
	discovery_refresh(f.discovery, on_refreshed, &f);
	loop_fake_settle(f.loop);
	fake_answer(f.fake, "GET", "/api", 403, "{\"reason\":\"Forbidden\",\"message\":\"no\"}");
	discovery_refresh(f.discovery, on_refreshed, &f);
	loop_fake_settle(f.loop);
	assert_int_equal(f.err.code, E_FORBIDDEN);
	assert_name(&f, "widget", "widgets.v2.g.io");
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_discovery__aggregated),
		cmocka_unit_test(test_discovery__legacy_with_a_failed_group),
		cmocka_unit_test(test_discovery__a_legacy_list_may_say_anything),
		cmocka_unit_test(test_discovery__a_cluster_with_nothing),
		cmocka_unit_test(test_discovery__reads_again_once_on_no_match),
		cmocka_unit_test(test_discovery__a_failed_reading_keeps_the_cache),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
