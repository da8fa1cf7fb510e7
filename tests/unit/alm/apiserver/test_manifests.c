/*
 * test_manifests.c: what manifests of others showed (tests/fuzz/diff_manifests.py): a status that comes with the object is nobody's,
 * a status has defaults of its own, times are of any year, keys of managedFields are escaped as Go does. As a real 1.36 answers.
 */
#include <string.h>
#include <strings.h>

#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/apifake_expect.h"
#include "tests/lib/test.h"

#define APPLY "application/apply-patch+yaml"
#define CRDS  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define REPOS "/apis/x.io/v1/namespaces/default/repos"
#define PODS                                                                                \
	"\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{" \
	"\"name\":\"c\",\"image\":\"i\"}]}}"
#define WORK "\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}}," PODS "}"

static struct apifake *f;
static struct arena *arena;

static int setup(void **state)
{
	(void)state;
	f = apifake_new(NULL);
	arena = arena_new(1 << 20);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	apifake_free(f);
	arena_free(arena);
	return 0;
}

static struct answer apply(const char *target, const char *manager, const char *body, int status)
{
	struct answer a = apifake_do_type(
		f, "PATCH",
		arena_fmt(arena, "%s?fieldManager=%s&fieldValidation=Strict", target, manager),
		APPLY, body);
	if (a.status != status)
		fail_msg("%s: %d %.*s", target, a.status, STR_ARG(a.body));
	return a;
}

static bool owns_status(const struct obj *o, const char *manager)
{
	const struct obj *list = obj_path(o, "metadata.managedFields");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "manager"), manager) &&
		    obj_has(obj_get(obj_at(list, i), "fieldsV1"), "f:status"))
			return true;
	return false;
}

static const char definition[] = "{\"metadata\":{\"name\":\"repos.x.io\"},\"spec\":{\"group\":\"x."
				 "io\",\"scope\":\"Namespaced\",\"names\":{\"plural\":"
				 "\"repos\",\"kind\":\"Repo\"},\"versions\":[{\"name\":\"v1\","
				 "\"served\":true,\"storage\":true,\"subresources\":{"
				 "\"status\":{}},\"schema\":{\"openAPIV3Schema\":{\"type\":"
				 "\"object\",\"properties\":{\"spec\":{\"type\":\"object\","
				 "\"properties\":{\"n\":{\"type\":\"integer\",\"default\":3}}},"
				 "\"status\":{\"type\":\"object\",\"default\":{"
				 "\"observedGeneration\":-1},\"properties\":{"
				 "\"observedGeneration\":{\"type\":\"integer\"},\"url\":{\"type\":"
				 "\"string\"}}}}}}}]}}";

/* kubectl apply --server-side of what kubectl get printed; a controller writes the status afterwards. */
static void test_manifests__a_status_applied_is_nobodys(void **state)
{
	static const struct {
		const char *target, *api_version, *kind, *rest, *status, *written;
	} rows[] = {
		{"/apis/apps/v1/namespaces/default/deployments/x", "apps/v1", "Deployment", WORK,
		 "{\"replicas\":7}", "{\"replicas\":1}"},
		{"/api/v1/namespaces/default/services/x", "v1", "Service",
		 "\"spec\":{\"type\":\"LoadBalancer\",\"ports\":[{\"port\":80}]}",
		 "{\"loadBalancer\":{}}",
		 "{\"loadBalancer\":{\"ingress\":[{\"ip\":\"1.2.3.4\",\"ipMode\":\"VIP\"}]}}"},
		{REPOS "/x", "x.io/v1", "Repo", "\"spec\":{}", "{\"url\":\"a\"}",
		 "{\"observedGeneration\":1,\"url\":\"b\"}"},
	};
	(void)state;
	apifake_expect(f, "POST", CRDS, definition, 201);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *body =
			arena_fmt(arena,
				  "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{"
				  "\"name\":\"x\"},%s,\"status\":%s}",
				  rows[i].api_version, rows[i].kind, rows[i].rest, rows[i].status);
		struct answer a = apply(rows[i].target, "me", body, 201);
		assert_false(owns_status(a.json, "me"));
		apifake_expect(f, "PATCH", arena_fmt(arena, "%s/status", rows[i].target),
			       arena_fmt(arena, "{\"status\":%s}", rows[i].written), 200);
		a = apply(rows[i].target, "me", body, 200);
		assert_false(owns_status(a.json, "me"));
		if (!obj_equal(
			    obj_get(a.json, "status"),
			    obj_get(apifake_do(f, "GET", rows[i].target, NULL).json, "status")) ||
		    !str_contains(a.body, str_skip(str_of(rows[i].written), 1)))
			fail_msg("%s: %.*s", rows[i].target, STR_ARG(a.body));
	}
}

static void test_manifests__a_status_has_defaults_of_its_own(void **state)
{
	static const char path[] = "status.observedGeneration";
	int64_t n = 0;
	(void)state;
	apifake_expect(f, "POST", CRDS, definition, 201);
	struct answer a = apifake_expect(f, "POST", REPOS,
					 "{\"apiVersion\":\"x.io/"
					 "v1\",\"kind\":\"Repo\",\"metadata\":{\"name\":\"p\"},"
					 "\"status\":{\"url\":\"mine\"}}",
					 201);
	assert_true(obj_as_i64(obj_path(a.json, path), &n) && n == -1);
	assert_null(obj_path(a.json, "status.url"));
	assert_false(owns_status(a.json, "test"));
	a = apifake_do(f, "GET", REPOS "/p", NULL);
	assert_true(obj_as_i64(obj_path(a.json, path), &n) && n == -1);
	a = apply(REPOS "/q", "me",
		  "{\"apiVersion\":\"x.io/"
		  "v1\",\"kind\":\"Repo\",\"metadata\":{\"name\":\"q\"},\"spec\":{}}",
		  201);
	assert_true(obj_as_i64(obj_path(a.json, path), &n) && n == -1);
	assert_true(obj_as_i64(obj_path(a.json, "spec.n"), &n) && n == 3);
	/* who writes it leaves the default behind */
	apifake_expect(f, "PATCH", REPOS "/p/status", "{\"status\":{\"observedGeneration\":4}}",
		       200);
	a = apifake_expect(f, "PATCH", REPOS "/p", "{\"spec\":{\"n\":5}}", 200);
	assert_true(obj_as_i64(obj_path(a.json, path), &n) && n == 4);
}

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/default/leases"

static void test_manifests__times_are_of_any_year(void **state)
{
	static const struct {
		const char *text, *is; /* is NULL: it is none; "": refused */
	} rows[] = {
		{"0001-01-01T00:00:00.000000Z", NULL},
		{"0001-01-01T01:00:00.000000+01:00", NULL},
		{"0001-01-01T00:00:00.000001Z", "0001-01-01T00:00:00.000001Z"},
		{"0000-01-01T00:00:00.000000Z", "0000-01-01T00:00:00.000000Z"},
		{"1500-02-28T23:59:59.999999+02:00", "1500-02-28T21:59:59.999999Z"},
		{"2262-04-12T00:00:00.000000Z", "2262-04-12T00:00:00.000000Z"},
		{"9999-12-31T23:59:59.000000Z", "9999-12-31T23:59:59.000000Z"},
		{"9999-12-31T23:59:59.000000-01:00", ""},
		{"2100-02-29T00:00:00.000000Z", ""},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		bool refused = rows[i].is && !*rows[i].is;
		struct answer a = apifake_expect(
			f, "POST", LEASES "?dryRun=All",
			arena_fmt(arena,
				  "{\"metadata\":{\"name\":\"l\"},\"spec\":{\"renewTime\":\"%s\"}}",
				  rows[i].text),
			refused ? 400 : 201);
		const char *is = obj_str(a.json, "spec.renewTime");
		if (!refused && !cstr_eq(is, rows[i].is))
			fail_msg("%s: %s", rows[i].text, is ? is : "none");
	}
}

/* How often its template changed is taken over with it. */
static void test_manifests__a_daemon_set_keeps_its_count(void **state)
{
	static const char at[] = "metadata.annotations['deprecated.daemonset.template.generation']";
	static const char *const rows[][2] = {{"3", "3"}, {"03", "3"}, {"0", "1"}, {"-1", "1"}};
	static const char sets[] = "/apis/apps/v1/namespaces/default/daemonsets";
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *body =
			arena_fmt(arena,
				  "{\"metadata\":{\"name\":\"d%zu\",\"annotations\":{"
				  "\"deprecated.daemonset.template.generation\":\"%s\"}}," WORK "}",
				  i, rows[i][0]);
		struct answer a = apifake_expect(f, "POST", sets, body, 201);
		assert_string_equal(obj_str(a.json, at), rows[i][1]);
	}
	const char *one = arena_fmt(arena, "%s/d0", sets);
	static const char count[] = "{\"metadata\":{\"annotations\":{\"deprecated.daemonset."
				    "template.generation\":\"9\"}}}";
	static const char template[] =
		"{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"x\":\"y\"}}}}}";
	assert_string_equal(obj_str(apifake_expect(f, "PATCH", one, count, 200).json, at), "3");
	assert_string_equal(obj_str(apifake_expect(f, "PATCH", one, template, 200).json, at), "4");
}

static const char args[] =
	"{\"metadata\":{\"name\":\"args.x.io\"},\"spec\":{\"group\":\"x.io\",\"scope\":"
	"\"Namespaced\",\"names\":{\"plural\":\"args\","
	"\"kind\":\"Arg\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,"
	"\"schema\":{\"openAPIV3Schema\":{"
	"\"type\":\"object\",\"properties\":{\"list\":{\"type\":\"array\",\"x-kubernetes-list-"
	"type\":\"map\","
	"\"x-kubernetes-list-map-keys\":[\"value\"],\"items\":{\"type\":\"object\",\"required\":["
	"\"value\"],\"properties\":{"
	"\"value\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"}}}},\"set\":{\"type\":"
	"\"array\","
	"\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":\"string\"}}}}}}]}}";

/* A step that an older release, or a client, wrote without the escapes is the same step. */
static void test_manifests__keys_of_managed_fields_are_escaped(void **state)
{
	static const char body[] = "{\"apiVersion\":\"x.io/"
				   "v1\",\"kind\":\"Arg\",\"metadata\":{\"name\":\"a\"},\"list\":[{"
				   "\"value\":\"fs<0%&>\","
				   "\"n\":1}],\"set\":[\"a<b\"]}";
	static const char other[] = "{\"apiVersion\":\"x.io/"
				    "v1\",\"kind\":\"Arg\",\"metadata\":{\"name\":\"a\"},\"list\":["
				    "{\"value\":\"fs<0%&>\","
				    "\"n\":2}]}";
	static const char plain[] = "k:{\\\"value\\\":\\\"fs<0%&>\\\"}",
			  escaped[] = "k:{\\\"value\\\":\\\"fs\\\\u003c0%\\\\u0026\\\\u003e\\\"}";
	static const char at[] = "/apis/x.io/v1/namespaces/default/args/a";
	(void)state;
	apifake_expect(f, "POST", CRDS, args, 201);
	struct answer a = apply(at, "me", body, 201);
	assert_true(str_contains(a.body, STR(escaped)));
	assert_true(str_contains(a.body, STR("v:\\\"a\\\\u003cb\\\"")));
	assert_false(str_contains(a.body, STR(plain)));
	a = apply(at, "you", other, 409);
	assert_non_null(strstr(obj_str(a.json, "message"), ".list[value=\"fs<0%&>\"].n"));
	/* as an older release had it */
	const char *stored = arena_fmt(arena,
				       "{\"metadata\":{\"managedFields\":[{\"manager\":\"me\","
				       "\"operation\":\"Apply\",\"apiVersion\":\"x.io/v1\","
				       "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:list\":{\"%"
				       "s\":{\".\":{},\"f:n\":{},\"f:value\":{}}}}}]}}",
				       plain);
	apifake_expect(f, "PATCH", at, stored, 200);
	a = apply(at, "you", other, 409);
	a = apply(at, "me", other, 200);
	assert_false(str_contains(a.body, STR(plain)));
}

/* A kubelet registers its Node with all that it knows. */
static void test_manifests__a_node_comes_with_its_status(void **state)
{
	(void)state;
	struct answer a =
		apifake_expect(f, "POST", "/api/v1/nodes",
			       "{\"metadata\":{\"name\":\"n\"},\"status\":{\"capacity\":{\"cpu\":"
			       "\"4\"},\"nodeInfo\":{\"architecture\":\"amd64\"}}}",
			       201);
	assert_string_equal(obj_str(a.json, "status.capacity.cpu"), "4");
	assert_string_equal(obj_str(a.json, "status.nodeInfo.architecture"), "amd64");
	assert_string_equal(obj_str(a.json, "status.nodeInfo.osImage"), "");
	int64_t port = 1;
	assert_true(obj_as_i64(obj_path(a.json, "status.daemonEndpoints.kubeletEndpoint.Port"),
			       &port) &&
		    port == 0);
	a = apifake_expect(f, "PATCH", "/api/v1/nodes/n",
			   "{\"status\":{\"capacity\":{\"cpu\":\"8\"}}}", 200);
	assert_string_equal(obj_str(a.json, "status.capacity.cpu"), "4");
	apifake_expect(f, "POST", "/api/v1/nodes",
		       "{\"metadata\":{\"name\":\"m\"},\"status\":{\"capacity\":{\"cpu\":\"-4\"}}}",
		       422);
}

static size_t n_of(const struct http_headers *h, const char *name)
{
	size_t n = 0;
	for (size_t i = 0; i < h->n; i++)
		n += strcasecmp(h->items[i].name, name) == 0;
	return n;
}

static void test_manifests__a_warning_is_told_once(void **state)
{
	static const char body[] =
		"{\"metadata\":{\"name\":\"ips.x.io\"},\"spec\":{\"group\":\"x.io\",\"scope\":"
		"\"Cluster\",\"names\":{\"plural\":\"ips\","
		"\"kind\":\"Ip\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,"
		"\"schema\":{\"openAPIV3Schema\":{"
		"\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"format\":\"ip\"},"
		"\"b\":{\"type\":\"string\","
		"\"format\":\"ip\"},\"c\":{\"type\":\"string\",\"format\":\"other\"}}}}}]}}";
	(void)state;
	struct answer a = apifake_expect(f, "POST", CRDS, body, 201);
	assert_int_equal(n_of(a.headers, "Warning"), 2);
}

/* Kinds whose status is written without their metadata: none of it is applied, owned or looked at. */
static void test_manifests__metadata_that_a_status_leaves_alone(void **state)
{
	static const char path[] = "/apis/networking.k8s.io/v1/servicecidrs";
	static const char body[] =
		"{\"apiVersion\":\"networking.k8s.io/"
		"v1\",\"kind\":\"ServiceCIDR\",\"metadata\":{\"name\":\"s\","
		"\"labels\":{\"a\":\"mine\"}},\"status\":{\"conditions\":[{\"type\":\"A\","
		"\"status\":\"True\",\"reason\":\"R\","
		"\"message\":\"m\",\"lastTransitionTime\":\"2029-01-01T00:00:00Z\"}]}}";
	(void)state;
	apifake_expect(f, "POST", path,
		       "{\"metadata\":{\"name\":\"s\",\"labels\":{\"a\":\"theirs\"}},\"spec\":{"
		       "\"cidrs\":[\"10.9.0.0/24\"]}}",
		       201);
	struct answer a = apply(arena_fmt(arena, "%s/s/status", path), "me", body, 200);
	assert_string_equal(obj_str(a.json, "metadata.labels.a"), "theirs");
	assert_true(owns_status(a.json, "me"));
	const struct obj *list = obj_path(a.json, "metadata.managedFields");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "manager"), "me"))
			assert_null(obj_get(obj_get(obj_at(list, i), "fieldsV1"), "f:metadata"));
}

/* What is wrong with labels is told as often as a real server looks at them. */
static void test_manifests__labels_are_looked_at_as_often(void **state)
{
	static const struct {
		const char *path, *rest;
		size_t main, status;
	} rows[] = {
		{"/api/v1/namespaces/default/pods",
		 "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}", 4, 3},
		{"/api/v1/nodes", "\"spec\":{}", 4, 3},
		{"/apis/batch/v1/namespaces/default/cronjobs",
		 "\"spec\":{\"schedule\":\"* * * * "
		 "*\",\"jobTemplate\":{\"spec\":{\"template\":{\"spec\":{\"restartPolicy\":"
		 "\"Never\","
		 "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}}",
		 3, 2},
		{"/apis/apps/v1/namespaces/default/deployments", WORK, 3, 3},
	};
	static const char bad[] = "{\"metadata\":{\"annotations\":{\"-\":\"x\"}}}";
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		apifake_expect(f, "POST", rows[i].path,
			       arena_fmt(arena, "{\"metadata\":{\"name\":\"x\"},%s}", rows[i].rest),
			       201);
		struct answer a = apifake_expect(f, "PATCH", arena_fmt(arena, "%s/x", rows[i].path),
						 bad, 422);
		struct answer b = apifake_expect(
			f, "PATCH", arena_fmt(arena, "%s/x/status", rows[i].path), bad, 422);
		size_t n = obj_len(obj_path(a.json, "details.causes")),
		       k = obj_len(obj_path(b.json, "details.causes"));
		if (n != rows[i].main || k != rows[i].status)
			fail_msg("%s: %zu, %zu", rows[i].path, n, k);
	}
}

static const char lists[] = "{\"metadata\":{\"name\":\"pipes.x.io\"},\"spec\":{\"group\":\"x.io\","
			    "\"scope\":\"Namespaced\",\"names\":{\"plural\":\"pipes\","
			    "\"kind\":\"Pipe\"},\"versions\":[{\"name\":\"v1\",\"served\":true,"
			    "\"storage\":true,\"schema\":{\"openAPIV3Schema\":{"
			    "\"type\":\"object\",\"properties\":{\"kept\":{\"type\":\"array\",\"x-"
			    "kubernetes-preserve-unknown-fields\":true,\"items\":{"
			    "\"type\":\"object\"}},\"known\":{\"type\":\"array\",\"x-kubernetes-"
			    "preserve-unknown-fields\":true,\"items\":{\"type\":"
			    "\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"a\":{"
			    "\"type\":\"object\",\"properties\":{\"b\":{\"type\":"
			    "\"string\"}}}}}}},\"pruned\":{\"type\":\"array\",\"items\":{\"type\":"
			    "\"object\"}},\"free\":{\"type\":\"object\"}}}}}]}}";

/* A list that preserves what it does not know does so of its items, and of lists in them, but not of what these know. */
static void test_manifests__a_list_preserves_its_items(void **state)
{
	static const char body[] = "{\"apiVersion\":\"x.io/"
				   "v1\",\"kind\":\"Pipe\",\"metadata\":{\"name\":\"p\"},\"kept\":["
				   "{\"pipeline.id\":\"main\"}],"
				   "\"known\":[[{\"a\":{\"b\":\"c\",\"d\":\"e\"},\"f\":1}]],"
				   "\"pruned\":[{\"x\":1}],\"free\":{\"y\":1}}";
	static const char *const paths[] = {"/apis/x.io/v1/namespaces/default/pipes",
					    "/apis/x.io/v1/namespaces/default/pipes/q"};
	static const char strict[] =
		"/apis/x.io/v1/namespaces/default/pipes?fieldValidation=Strict";
	(void)state;
	apifake_expect(f, "POST", CRDS, lists, 201);
	apifake_expect(f, "POST", strict, body, 400);
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct answer a = i ? apply(paths[i], "me",
					    "{\"apiVersion\":\"x.io/"
					    "v1\",\"kind\":\"Pipe\",\"metadata\":{\"name\":\"q\"},"
					    "\"kept\":[{\"pipeline.id\":\"main\"}],\"known\":[[{"
					    "\"a\":{\"b\":\"c\","
					    "\"d\":\"e\"},\"f\":1}]],\"pruned\":[{\"x\":1}],"
					    "\"free\":{\"y\":1}}",
					    201)
				    : apifake_expect(f, "POST", paths[i], body, 201);
		CLEANUP(xfreep) char *kept = json_text(obj_get(a.json, "kept"));
		CLEANUP(xfreep) char *known = json_text(obj_get(a.json, "known"));
		CLEANUP(xfreep) char *pruned = json_text(obj_get(a.json, "pruned"));
		assert_string_equal(kept, "[{\"pipeline.id\":\"main\"}]");
		assert_string_equal(known, "[[{\"a\":{\"b\":\"c\"},\"f\":1}]]");
		assert_string_equal(pruned, "[{}]");
		assert_int_equal(obj_len(obj_get(a.json, "free")), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_manifests__##name, setup, teardown)
		TEST(a_status_applied_is_nobodys),
		TEST(a_status_has_defaults_of_its_own),
		TEST(times_are_of_any_year),
		TEST(a_daemon_set_keeps_its_count),
		TEST(keys_of_managed_fields_are_escaped),
		TEST(a_node_comes_with_its_status),
		TEST(a_warning_is_told_once),
		TEST(metadata_that_a_status_leaves_alone),
		TEST(labels_are_looked_at_as_often),
		TEST(a_list_preserves_its_items),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
