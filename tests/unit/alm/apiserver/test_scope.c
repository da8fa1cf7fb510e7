/* The scope of a request: what a path through a namespace, or around it, never reaches. */
#include "alm/apiserver/route.h"

#include <string.h>

#include "alm/apiserver/core.h"
#include "tests/lib/apifake_expect.h"
#include "tests/lib/test.h"

#define EXT   "/apis/apiextensions.k8s.io/v1"
#define RBAC  "/apis/rbac.authorization.k8s.io/v1"
#define AUDIT "/apis/audit.app.coreos.com/v1alpha1"
#define NS    "/namespaces/default"
#define CRDS  EXT "/customresourcedefinitions"

#define CRD(name, group, scope, plural, kind, more)                                          \
	"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\"," \
	"\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"group\":\"" group                  \
	"\",\"scope\":\"" scope "\",\"names\":{\"plural\":\"" plural "\",\"kind\":\"" kind   \
	"\"},\"versions\":[{"                                                                \
	"\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{" \
	"\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}]}" more "}"

static void expect(struct answer a, int status, const char *text)
{
	if (a.status != status)
		fail_msg("status %d: %.*s", a.status, STR_ARG(a.body));
	if (text && str_find(a.body, str_of(text)) < 0)
		fail_msg("no '%s' in %.*s", text, STR_ARG(a.body));
}

/* bob holds everything in namespace default, and nothing elsewhere. */
static int setup(void **state)
{
	static const struct apifake_options o = {.with_audit = true};
	struct apifake *f = apifake_new(&o);
	expect(apifake_do(f, "POST", RBAC NS "/roles",
			  "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"Role\","
			  "\"metadata\":{\"name\":\"all\"},\"rules\":[{\"verbs\":[\"*\"],"
			  "\"apiGroups\":[\"*\"],\"resources\":[\"*\"]}]}"),
	       201, NULL);
	expect(apifake_do(f, "POST", RBAC NS "/rolebindings",
			  "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":"
			  "\"RoleBinding\",\"metadata\":{\"name\":\"all\"},\"subjects\":[{"
			  "\"kind\":\"User\",\"name\":\"bob\"}],\"roleRef\":{\"kind\":\"Role\","
			  "\"apiGroup\":\"rbac.authorization.k8s.io\",\"name\":\"all\"}}"),
	       201, NULL);
	expect(apifake_do(f, "POST", CRDS,
			  CRD("hubs.example.com", "example.com", "Cluster", "hubs", "Hub", "")),
	       201, NULL);
	expect(apifake_do(f, "POST", CRDS,
			  CRD("cogs.example.com", "example.com", "Namespaced", "cogs", "Cog", "")),
	       201, NULL);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	apifake_free(*state);
	return 0;
}

static const struct {
	const char *method, *suffix;
} requests[] = {
	{"GET", ""},
	{"GET", "/x"},
	{"GET", "?watch=true&timeoutSeconds=1"},
	{"POST", ""},
	{"POST", "/x"},
	{"PUT", "/x"},
	{"PATCH", "/x?fieldManager=t"},
	{"DELETE", "/x"},
	{"DELETE", ""},
	{"DELETE", "?dryRun=All"},
	{"GET", "/x/status"},
	{"PUT", "/x/status"},
	{"PATCH", "/x/scale"},
	{"PUT", "/x/finalize"},
	{"POST", "/x/token"},
};

/* One answer of each request on the path; none may be anything but the page. across: the kind is
 * namespaced, and its collection has answers of its own here. */
static void no_page(struct apifake *f, const char *user, const char *path, bool across)
{
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		CLEANUP(strbuf_release) struct strbuf target = STRBUF_INIT(STRBUF_SMALL);
		const char *type = cstr_eq(requests[i].method, "PATCH")
					   ? "application/apply-patch+yaml"
					   : "application/json";
		bool collection = requests[i].suffix[0] != '/';
		if (collection && across)
			continue;
		strbuf_addf(&target, "%s%s", path, requests[i].suffix);
		if (user)
			apifake_header(f, "Impersonate-User", user);
		struct answer a = apifake_do_type(
			f, requests[i].method, target.buf, type,
			cstr_eq(requests[i].method, "GET") ? NULL : "{\"metadata\":{}}");
		const char *says = obj_str(a.json, "message");
		if (a.status != 404 ||
		    (!str_is(a.body, "404 page not found\n") &&
		     !cstr_eq(says, "the server could not find the requested resource")))
			fail_msg("%s %s: %d %.*s", requests[i].method, target.buf, a.status,
				 STR_ARG(a.body));
	}
}

static void test_scope__no_namespace_leads_to_a_cluster_scoped_kind(void **state)
{
	struct apifake *f = *state;
	size_t n;
	const struct kind *const *all = kinds_all(apifake_server(f)->kinds, &n);
	for (size_t i = 0; i < n; i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		if (all[i]->flags & KIND_NAMESPACED)
			continue;
		strbuf_addf(&b, "/%s%s/%s" NS "/%s", *all[i]->group ? "apis/" : "api",
			    all[i]->group, all[i]->version, all[i]->plural);
		no_page(f, NULL, b.buf, false);
		no_page(f, "bob", b.buf, false); /* may everything in the namespace */
		apifake_forget(f);
	}
}

static void test_scope__a_namespaced_kind_has_no_objects_outside_of_namespaces(void **state)
{
	struct apifake *f = *state;
	size_t n;
	const struct kind *const *all = kinds_all(apifake_server(f)->kinds, &n);
	for (size_t i = 0; i < n; i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		if (!(all[i]->flags & KIND_NAMESPACED))
			continue;
		strbuf_addf(&b, "/%s%s/%s/%s", *all[i]->group ? "apis/" : "api", all[i]->group,
			    all[i]->version, all[i]->plural);
		no_page(f, NULL, b.buf, true);
		/* Lists and watches go across namespaces, of built-in kinds other methods are
		 * known. */
		int want = all[i]->flags & KIND_CUSTOM || all[i]->verbs == VERB_CREATE ? 404 : 405;
		expect(apifake_do(f, "POST", b.buf, "{}"), want, NULL);
		expect(apifake_do(f, "DELETE", b.buf, NULL), want, NULL);
		apifake_forget(f);
	}
}

static void test_scope__a_refusal_still_comes_before_the_page(void **state)
{
	struct apifake *f = *state;
	apifake_header(f, "Impersonate-User", "eve");
	expect(apifake_do(f, "GET", AUDIT NS "/auditrecords", NULL), 403, NULL);
	apifake_header(f, "Impersonate-User", "eve");
	expect(apifake_do(f, "GET", "/api/v1/namespaces/default", NULL), 403,
	       "in the namespace \\\"default\\\"");
	apifake_header(f, "Impersonate-User", "bob");
	expect(apifake_do(f, "GET", "/api/v1/namespaces/default", NULL), 200, NULL);
	apifake_header(f, "Impersonate-User", "bob");
	expect(apifake_do(f, "GET", "/api/v1/namespaces/kube-system", NULL), 403, NULL);
	apifake_header(f, "Impersonate-User", "bob");
	expect(apifake_do(f, "GET", "/api/v1/namespaces", NULL), 403, NULL);
}

static void test_scope__a_post_names_no_object(void **state)
{
	struct apifake *f = *state;
	expect(apifake_do(f, "POST", "/api/v1" NS "/configmaps/allowed",
			  "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
			  "\"other\"}}"),
	       405, NULL);
	expect(apifake_do(f, "GET", "/api/v1" NS "/configmaps/other", NULL), 404, NULL);
	expect(apifake_do(f, "POST", "/apis/example.com/v1" NS "/cogs/allowed",
			  "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Cog\",\"metadata\":{"
			  "\"name\":\"other\"}}"),
	       405, NULL);
	expect(apifake_do(f, "GET", "/apis/example.com/v1" NS "/cogs/other", NULL), 404, NULL);
}

static void test_scope__a_watch_of_one_name_shows_that_object_alone(void **state)
{
	struct apifake *f = *state;
	static const char *const names[] = {"mine", "theirs"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b,
			    "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":"
			    "\"%s\"}}",
			    names[i]);
		expect(apifake_do(f, "POST", "/api/v1" NS "/secrets", b.buf), 201, NULL);
	}
	struct answer a = apifake_do(f, "GET", "/api/v1/watch" NS "/secrets/mine", NULL);
	expect(a, 200, "\"name\":\"mine\"");
	assert_true(str_find(a.body, STR("theirs")) < 0);
	expect(apifake_do(f, "GET",
			  "/api/v1/watch" NS "/secrets/mine?fieldSelector=metadata.name%3Dtheirs",
			  NULL),
	       400, "doesn't match requested name");
	expect(apifake_do(f, "DELETE", "/api/v1/watch" NS "/secrets/mine", NULL), 405, NULL);
	expect(apifake_do(f, "GET", "/api/v1" NS "/secrets/mine", NULL), 200, NULL);
}

/* The groups of built-in kinds, and names that could be split in two ways. */
static void test_scope__definitions_stay_beside_the_built_in_kinds(void **state)
{
	struct apifake *f = *state;
	expect(apifake_do(f, "POST", CRDS,
			  CRD("deployments.apps", "apps", "Namespaced", "deployments", "D", "")),
	       422, "spec.group: Invalid value");
	expect(apifake_do(f, "POST", CRDS,
			  CRD("a.b.example.com", "example.com", "Namespaced", "a.b", "D", "")),
	       422, "a DNS-1035 label must");
}

static void test_scope__misplaced_objects_of_the_store_are_left_out(void **state)
{
	struct apifake *f = *state;
	apifake_plant(
		f, "rbac.authorization.k8s.io/clusterrolebindings/default/evil",
		"{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRoleBinding\","
		"\"metadata\":{\"name\":\"evil\",\"namespace\":\"default\",\"uid\":"
		"\"11111111-2222-4333-8444-555555555555\"}}");
	apifake_plant(f, "apiextensions.k8s.io/customresourcedefinitions/default/hubs.example.com",
		      CRD("hubs.example.com", "example.com", "Namespaced", "hubs", "Evil",
			  ",\"status\":{\"conditions\":[{\"type\":\"Established\",\"status\":"
			  "\"True\"}]}"));
	apifake_plant(
		f, "example.com/hubs/default/h",
		"{\"apiVersion\":\"example.com/v1\",\"kind\":\"Hub\",\"metadata\":{\"name\":\"h\","
		"\"namespace\":\"default\",\"uid\":\"11111111-2222-4333-8444-555555555556\"}}");
	apifake_plant(
		f, "/configmaps//loose",
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"loose\","
		"\"uid\":\"11111111-2222-4333-8444-555555555557\"}}");
	apifake_restart(f);
	struct apiserver *s = apifake_server(f);
	for (size_t i = 0; i < 4; i++)
		assert_non_null(apiserver_notice(s, i));
	assert_null(apiserver_notice(s, 4));
	struct answer a = apifake_do(f, "GET", RBAC "/clusterrolebindings", NULL);
	expect(a, 200, "cluster-admin");
	assert_true(str_find(a.body, STR("evil")) < 0);
	expect(apifake_do(f, "GET", "/apis/example.com/v1/hubs", NULL), 200, "HubList");
	expect(apifake_do(f, "GET", "/apis/example.com/v1/hubs/h", NULL), 404, NULL);
	a = apifake_do(f, "GET", "/api/v1/configmaps", NULL);
	assert_true(str_find(a.body, STR("loose")) < 0);
}

static void test_scope__a_definition_never_takes_the_place_of_a_built_in_kind(void **state)
{
	struct apifake *f = *state;
	static const char name[] = CRDS "/ingresses.networking.k8s.io";
	expect(apifake_do(f, "POST", CRDS,
			  CRD("ingresses.networking.k8s.io", "networking.k8s.io", "Cluster",
			      "ingresses", "Evil",
			      ",\"metadata\":{\"name\":\"ingresses.networking.k8s.io\","
			      "\"annotations\":{\"api-approved.kubernetes.io\":\"unapproved\"}}")),
	       201, "PluralConflict");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "%s/status", name);
	expect(apifake_do_type(f, "PATCH", b.buf, "application/merge-patch+json",
			       "{\"status\":{\"conditions\":[{\"type\":\"Established\",\"status\":"
			       "\"True\"}]}}"),
	       200, NULL);
	expect(apifake_do(f, "GET", "/apis/networking.k8s.io/v1" NS "/ingresses", NULL), 200,
	       "IngressList");
}

/* No kind is freed under a watch: whatever removes it ends its watches first. */
static void test_scope__watches_of_a_kind_end_before_it_goes(void **state)
{
	struct apifake *f = *state;
	static const char *const paths[] = {"/apis/example.com/v1/hubs?watch=true",
					    "/apis/example.com/v1/cogs?watch=true"};
	size_t n[2];
	for (size_t i = 0; i < 2; i++) {
		n[i] = apifake_send(f, "GET", paths[i], NULL, NULL);
		apifake_run(f);
		assert_false(apifake_answer(f, n[i]).ended);
	}
	kinds_remove_crd(apifake_server(f)->kinds, "hubs.example.com");
	assert_true(apifake_answer(f, n[0]).ended);
	assert_false(apifake_answer(f, n[1]).ended);
	expect(apifake_do(f, "POST", "/apis/example.com/v1" NS "/cogs",
			  "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Cog\",\"metadata\":{"
			  "\"name\":\"c\"}}"),
	       201, NULL);
	assert_true(str_find(apifake_answer(f, n[1]).body, STR("ADDED")) >= 0);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_scope__no_namespace_leads_to_a_cluster_scoped_kind),
		TEST(test_scope__a_namespaced_kind_has_no_objects_outside_of_namespaces),
		TEST(test_scope__a_refusal_still_comes_before_the_page),
		TEST(test_scope__a_post_names_no_object),
		TEST(test_scope__a_watch_of_one_name_shows_that_object_alone),
		TEST(test_scope__definitions_stay_beside_the_built_in_kinds),
		TEST(test_scope__misplaced_objects_of_the_store_are_left_out),
		TEST(test_scope__a_definition_never_takes_the_place_of_a_built_in_kind),
		TEST(test_scope__watches_of_a_kind_end_before_it_goes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
