/* Hostile and damaged requests through apiserver_handle(): every one is answered, none aborts. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"

#define ROUNDS 1500

static const char *const seeds[][2] = {
	{"/api/v1/namespaces/default/configmaps",
	 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\",\"labels\":{"
	 "\"x\":\"1\"},\"annotations\":{\"n\":\"v\"},\"finalizers\":[\"a.b/c\"],"
	 "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"X\",\"name\":\"x\",\"uid\":\"u\"}]"
	 ",\"managedFields\":[{\"manager\":\"m\",\"operation\":\"Update\",\"apiVersion\":\"v1\","
	 "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:data\":{\"f:k\":{}}}}]},\"data\":{\"k\":"
	 "\"1\"},\"immutable\":true}"},
	{"/api/v1/namespaces/default/secrets",
	 "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\"},\"stringData\":{"
	 "\"k\":\"1\"},\"data\":{\"j\":\"MQ==\"},\"type\":\"Opaque\"}"},
	{"/api/v1/namespaces",
	 "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"n\"},\"spec\":{"
	 "\"finalizers\":[\"kubernetes\"]},\"status\":{\"phase\":\"Active\"}}"},
	{"/api/v1/namespaces/default/events",
	 "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"e\"},"
	 "\"involvedObject\":{\"namespace\":\"default\"},\"source\":{\"component\":\"c\"}}"},
	{"/apis/apps/v1/namespaces/default/deployments",
	 "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\"},"
	 "\"spec\":{\"replicas\":1,\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{"
	 "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"x:1\",\"ports\":[{"
	 "\"containerPort\":1}]}]}}},\"status\":{\"conditions\":[{\"type\":\"A\"}]}}"},
	{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
	 "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
	 "\"metadata\":{\"name\":\"ws.e.io\"},\"spec\":{\"group\":\"e.io\",\"scope\":"
	 "\"Namespaced\","
	 "\"conversion\":{\"strategy\":\"None\"},\"names\":{\"plural\":\"ws\",\"singular\":\"w\","
	 "\"shortNames\":[\"x\"],\"kind\":\"W\",\"listKind\":\"WList\",\"categories\":[\"all\"]},"
	 "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"subresources\":{"
	 "\"status\":{},\"scale\":{\"specReplicasPath\":\".spec.n\",\"statusReplicasPath\":"
	 "\".status.n\"}},\"additionalPrinterColumns\":[{\"name\":\"N\",\"type\":\"integer\","
	 "\"jsonPath\":\".spec.n\"}],\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","
	 "\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":"
	 "\"integer\",\"default\":3}},\"x-kubernetes-validations\":[{\"rule\":\"self.n > 0\"}]}}}}"
	 "}]},\"status\":{\"storedVersions\":[\"v1\"],\"conditions\":[]}}"},
	{"/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
	 "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"RoleBinding\",\"metadata\":{"
	 "\"name\":\"r\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"alice\"}],\"roleRef\":{"
	 "\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"view\"}}"},
	{"/apis/rbac.authorization.k8s.io/v1/clusterroles",
	 "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRole\",\"metadata\":{"
	 "\"name\":\"r\"},\"rules\":[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":["
	 "\"pods\"]}],\"aggregationRule\":{\"clusterRoleSelectors\":[{\"matchLabels\":{\"a\":"
	 "\"b\"}}]}}"},
	{"/apis/coordination.k8s.io/v1/namespaces/default/leases",
	 "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":"
	 "\"l\"},\"spec\":{\"holderIdentity\":\"me\"}}"},
	{"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
	 "{\"apiVersion\":\"authorization.k8s.io/"
	 "v1\",\"kind\":\"SelfSubjectAccessReview\",\"spec\":"
	 "{\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"pods\"}}}"},
};

static uint64_t random_state;

static size_t below(size_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (size_t)((random_state >> 33) % n);
}

static struct obj *odd_value(void)
{
	switch (below(9)) {
	case 0:
		return obj_null();
	case 1:
		return obj_int(-1);
	case 2:
		return obj_string("");
	case 3:
		return obj_list();
	case 4:
		return obj_map();
	case 5:
		return obj_bool(true);
	case 6:
		return obj_double(1.5);
	case 7: {
		struct obj *l = obj_list();
		obj_append(l, obj_null());
		obj_append(l, obj_string("x"));
		obj_append(l, obj_map());
		return l;
	}
	default:
		return obj_string("../\"\n%s");
	}
}

/* Replaces, removes or adds one value somewhere below o. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the caller says */
static void damage(struct obj *o, int depth)
{
	size_t n = obj_len(o);
	if (obj_type(o) == OBJ_LIST) {
		if (n && depth && below(3))
			damage(obj_at_mut(o, below(n)), depth - 1);
		else if (n)
			obj_set_at(o, below(n), odd_value());
		else
			obj_append(o, odd_value());
		return;
	}
	if (obj_type(o) != OBJ_MAP || !n)
		return;
	CLEANUP(xfreep) char *key = NULL;
	size_t at = below(n), i = 0;
	OBJ_EACH (it, o)
		if (i++ == at)
			key = xstrdup(it.key);
	enum obj_type t = obj_type(obj_get(o, key));
	if (depth && (t == OBJ_MAP || t == OBJ_LIST) && below(4))
		damage(obj_get_mut(o, key), depth - 1);
	else if (below(5) == 0)
		obj_del(o, key);
	else
		obj_set(o, key, odd_value());
}

static void send(struct apifake *f, const char *method, const char *target, const char *type,
		 const char *body)
{
	struct answer a = apifake_do_type(f, method, target, type, body);
	if (a.status < 200 || a.status > 599)
		fail_msg("%s %s answered %d: %s", method, target, a.status, body);
}

static void one_round(struct apifake *f, size_t i)
{
	static const char *const patches[] = {"application/merge-patch+json",
					      "application/strategic-merge-patch+json",
					      "application/apply-patch+yaml"};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(str_of(seeds[i][1]), &o, &err), &err);
	const char *name =
		arena_strdup(a, obj_str(o, "metadata.name") ? obj_str(o, "metadata.name") : "x");
	for (size_t n = below(3); n < 3; n++)
		damage(o, 6);
	CLEANUP(xfreep) char *text = json_text(o);
	const char *one = arena_fmt(a, "%s/%s", seeds[i][0], name);
	send(f, "POST", seeds[i][0], NULL, seeds[i][1]);
	send(f, "POST", seeds[i][0], NULL, text);
	send(f, "PUT", one, NULL, text);
	send(f, "PATCH", below(2) ? one : arena_fmt(a, "%s/status", one), patches[below(2)], text);
	send(f, "PATCH", arena_fmt(a, "%s?fieldManager=m&force=true", one), patches[2], text);
	if (below(4) == 0)
		send(f, "DELETE", one, NULL, below(2) ? text : "{}");
}

static void test_apiserver__survives_damaged_objects(void **state)
{
	(void)state;
	struct apifake_options o = {.with_audit = true, .simulate = true};
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(&o);
	random_state = 42;
	for (int i = 0; i < ROUNDS; i++) {
		one_round(f, below(ARRAY_LEN(seeds)));
		if (i % 100 == 0)
			apifake_forget(f);
	}
	apifake_restart(f);
	assert_int_equal(apifake_do(f, "GET", "/api/v1/namespaces", NULL).status, 200);
}

/* Nothing of a path is left out: what has a bad segment names no other resource. */
static void test_apiserver__a_bad_segment_is_refused(void **state)
{
	static const char *const paths[] = {
		"/api/v1/namespaces/default/configmaps/%2e%2e",
		"/api/v1/namespaces/default/configmaps/.",
		"/api/v1/namespaces/default/configmaps/a%2fb",
		"/api/v1/namespaces/default/configmaps/%zz",
		"/api/v1/namespaces/default/configmaps/%00",
		"/api/v1/namespaces/default/configmaps/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r",
	};
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct answer a = apifake_do(f, "GET", paths[i], NULL);
		if (a.status != 400)
			fail_msg("%s: %d", paths[i], a.status);
	}
}

static void test_apiserver__survives_damaged_paths_and_queries(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	static const char *const targets[] = {
		"/",
		"//",
		"/api",
		"/api/",
		"/api/v1/",
		"/api/v1/namespaces/default/configmaps/%2e%2e",
		"/api/v1/namespaces/default/configmaps/a%2fb",
		"/api/v1/namespaces/default/configmaps/%zz",
		"/api/v1/namespaces/default/configmaps/%00",
		"/api/v1/namespaces/default/configmaps/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r",
		"/api/v1/namespaces//configmaps",
		"/api/v1/watch",
		"/apis/a/b/watch/namespaces",
		"/api/v1/namespaces/default/status",
		"/api/v1/configmaps/a",
		"/api/v1/namespaces/default/configmaps?limit=99999999999999999999",
		"/api/v1/namespaces/default/configmaps?continue=AAAA&limit=-5",
		"/api/v1/namespaces/default/configmaps?continue=eyJ2IjoxfQ",
		"/api/v1/namespaces/default/configmaps?resourceVersion=-1",
		"/api/v1/namespaces/default/configmaps?labelSelector=(((",
		"/api/v1/namespaces/default/configmaps?fieldSelector==,=,",
		"/api/v1/namespaces/default/configmaps?labelSelector=%ff%fe",
		"/apis/audit.app.coreos.com/v1alpha1/auditrecords?limit=1&continue=zz",
		"/apis/audit.app.coreos.com/v1alpha1/auditrecords/x",
	};
	static const char *const methods[] = {"GET",    "POST",    "PUT", "PATCH",
					      "DELETE", "OPTIONS", "HEAD"};
	static const char *const bodies[] = {NULL, "", "null", "[]", "{}", "\"x\"", "{", "\xff"};
	for (size_t i = 0; i < ARRAY_LEN(targets); i++)
		for (size_t j = 0; j < ARRAY_LEN(methods); j++) {
			for (size_t k = 0; k < ARRAY_LEN(bodies); k++)
				send(f, methods[j], targets[i],
				     j == 3 ? "application/merge-patch+json" : NULL, bodies[k]);
			apifake_forget(f);
		}
}

/* Nothing is told to who has no credential, and nothing done for who has no rights. */
static void test_apiserver__asks_who_and_whether(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	apifake_header(f, "Authorization", "Bearer wrong");
	assert_int_equal(apifake_do(f, "GET", "/api/v1/namespaces", NULL).status, 401);
	apifake_header(f, "Authorization", "Bearer alice");
	assert_int_equal(apifake_do(f, "GET", "/api/v1/namespaces", NULL).status, 403);
	apifake_header(f, "Authorization", "Bearer alice");
	assert_int_equal(apifake_do(f, "POST", seeds[0][0], seeds[0][1]).status, 403);
	apifake_header(f, "Authorization", "Bearer alice");
	assert_int_equal(apifake_do(f, "GET", "/api/v1/namespaces?watch=1", NULL).status, 403);
}

/* What the cluster itself stands on. */
static void test_apiserver__some_namespaces_may_not_be_deleted(void **state)
{
	(void)state;
	static const char *const names[] = {"default", "kube-system", "kube-public"};
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char target[64], want[160];
		(void)snprintf(target, sizeof(target), "/api/v1/namespaces/%s", names[i]);
		(void)snprintf(want, sizeof(want),
			       "namespaces \"%s\" is forbidden: this namespace may not be deleted",
			       names[i]);
		struct answer a = apifake_do(f, "DELETE", target, NULL);
		assert_int_equal(a.status, 403);
		assert_string_equal(obj_str(a.json, "message"), want);
		assert_string_equal(obj_str(a.json, "details.name"), names[i]);
		a = apifake_do(f, "GET", target, NULL);
		assert_int_equal(a.status, 200);
		assert_string_equal(obj_str(a.json, "status.phase"), "Active");
	}
}

/* Two items of one key: nobody could say whose fields they are. */
static void test_apiserver__an_apply_that_cannot_be_merged_changes_nothing(void **state)
{
	(void)state;
#define POD_PATH "/api/v1/namespaces/default/pods/p?fieldManager=m"
#define POD_WITH(containers)                                                               \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{" \
	"\"containers\":[" containers "]}}"
#define CONTAINER "{\"name\":\"c\",\"image\":\"i\"}"
	static const char type[] = "application/apply-patch+yaml";
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	assert_int_equal(apifake_do_type(f, "PATCH", POD_PATH, type, POD_WITH(CONTAINER)).status,
			 201);
	struct answer a =
		apifake_do_type(f, "PATCH", POD_PATH, type, POD_WITH(CONTAINER "," CONTAINER));
	assert_int_equal(a.status, 400);
	assert_non_null(strstr(obj_str(a.json, "message"),
			       ".spec.containers: duplicate entries for key [name=\"c\"]"));
	a = apifake_do(f, "GET", POD_PATH, NULL);
	assert_int_equal(obj_len(obj_path(a.json, "spec.containers")), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_apiserver__a_bad_segment_is_refused),
		cmocka_unit_test(test_apiserver__survives_damaged_objects),
		cmocka_unit_test(test_apiserver__survives_damaged_paths_and_queries),
		cmocka_unit_test(test_apiserver__asks_who_and_whether),
		cmocka_unit_test(test_apiserver__some_namespaces_may_not_be_deleted),
		cmocka_unit_test(test_apiserver__an_apply_that_cannot_be_merged_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
