/* test_pods.c: subresources of pods and of certificate requests; texts as a real 1.36 has them. */
#include <string.h>

#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define PODS     "/api/v1/namespaces/default/pods"
#define BUDGETS  "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
#define APPROVED "{\"type\":\"Approved\",\"status\":\"True\",\"message\":\"mine\"}"
#define DENIED   "{\"type\":\"Denied\",\"status\":\"True\"}"
#define CSRS     "/apis/certificates.k8s.io/v1/certificatesigningrequests"

static struct apifake *f;

static int setup(void **state)
{
	(void)state;
	f = apifake_new(NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	apifake_free(f);
	return 0;
}

static struct answer expect(int status, const char *method, const char *path, const char *body)
{
	struct answer a = apifake_do(f, method, path, body);
	if (a.status != status)
		fail_msg("%s %s: want %d, got %d %.*s", method, path, status, a.status,
			 STR_ARG(a.body));
	return a;
}

static void make_pod(const char *name, const char *ready)
{
	struct arena *a = arena_new(1 << 16);
	expect(201, "POST", PODS,
	       arena_fmt(a,
			 "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"app\":\"ev\"}},\"spec\":{"
			 "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
			 name));
	expect(200, "PUT", arena_fmt(a, PODS "/%s/status", name),
	       arena_fmt(a,
			 "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"app\":\"ev\"}},"
			 "\"status\":{\"phase\":\"Running\","
			 "\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}}",
			 name, ready));
	arena_free(a);
}

static void test_pods__what_needs_a_kubelet_is_refused_with_the_reason(void **state)
{
	(void)state;
	make_pod("ev", "True");
	static const char *const paths[] = {
		PODS "/ev/log",           PODS "/ev/exec?command=ls",
		PODS "/ev/attach",        PODS "/ev/portforward",
		PODS "/ev/proxy",         "/api/v1/namespaces/default/services/web/proxy",
		"/api/v1/nodes/box/proxy"};
	expect(201, "POST", "/api/v1/nodes", "{\"metadata\":{\"name\":\"box\"}}");
	expect(201, "POST", "/api/v1/namespaces/default/services",
	       "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"ports\":[{\"port\":80}]}}");
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct answer a = expect(501, "GET", paths[i], NULL);
		assert_true(str_contains(a.body, STR("it has no kubelet")));
	}
	struct answer a = expect(404, "GET", PODS "/nope/log", NULL);
	assert_true(str_contains(a.body, STR("pods \\\"nope\\\" not found")));
}

/* Whose Pods are simulated has one line for each of its containers. */
static void test_pods__what_is_simulated_has_a_log_of_one_line(void **state)
{
	static const struct {
		const char *target;
		int status;
		const char *says;
	} rows[] = {
		{PODS "/one/log", 200, "pod one, container c: simulated"},
		{PODS "/one/log?container=", 200, "pod one, container c: simulated"},
		{PODS "/one/log?container=no", 400, "container no is not valid for pod one"},
		{PODS "/two/log", 400,
		 "a container name must be specified for pod two, choose one of: [a b]"},
		{PODS "/two/log?container=b", 200, "pod two, container b: simulated"},
		{PODS "/two/log?container=i", 200, "pod two, container i: simulated"},
		{PODS "/none/log", 404, "not found"},
	};
	(void)state;
	apifake_free(f);
	f = apifake_new(&(struct apifake_options){.simulate = true});
	expect(201, "POST", PODS,
	       "{\"metadata\":{\"name\":\"one\"},\"spec\":{\"containers\":[{\"name\":\"c\","
	       "\"image\":"
	       "\"i\"}]}}");
	expect(201, "POST", PODS,
	       "{\"metadata\":{\"name\":\"two\"},\"spec\":{\"containers\":[{\"name\":\"a\","
	       "\"image\":"
	       "\"i\"},{\"name\":\"b\",\"image\":\"i\"}],\"initContainers\":[{\"name\":\"i\","
	       "\"image\":\"i\"}]}}");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct answer a = expect(rows[i].status, "GET", rows[i].target, NULL);
		if (!str_contains(a.body, str_of(rows[i].says)))
			fail_msg("%s: %.*s", rows[i].target, STR_ARG(a.body));
	}
}

static void test_pods__eviction_keeps_to_the_budget(void **state)
{
	(void)state;
	static const char body[] = "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\","
				   "\"metadata\":{\"name\":\"ev\"}}";
	make_pod("ev", "True");
	expect(404, "POST", PODS "/nope/eviction", body);
	struct answer a = expect(400, "POST", PODS "/ev/eviction", "{}");
	assert_string_equal(obj_str(a.json, "message"),
			    "name in URL does not match name in Eviction object");
	expect(405, "GET", PODS "/ev/eviction", NULL);
	expect(201, "POST", BUDGETS,
	       "{\"metadata\":{\"name\":\"ev\"},\"spec\":{\"minAvailable\":1,\"selector\":{"
	       "\"matchLabels\":{\"app\":\"ev\"}}}}");
	a = expect(429, "POST", PODS "/ev/eviction", body);
	assert_string_equal(obj_str(a.json, "message"),
			    "Cannot evict pod as it would violate the pod's disruption budget.");
	assert_string_equal(obj_str(obj_at(obj_path(a.json, "details.causes"), 0), "message"),
			    "The disruption budget ev needs 1 healthy pods and has 1 currently");
	make_pod("other", "False");
	expect(429, "POST", PODS "/ev/eviction", body);
	make_pod("third", "True");
	expect(201, "POST", PODS "/ev/eviction?dryRun=All", body);
	expect(201, "POST", PODS "/ev/eviction?dryRun=All",
	       "{\"metadata\":{\"name\":\"ev\"},\"deleteOptions\":{\"gracePeriodSeconds\":0}}");
	expect(200, "GET", PODS "/ev", NULL);
	a = expect(201, "POST", PODS "/ev/eviction", body);
	assert_string_equal(obj_str(a.json, "status"), "Success");
	expect(404, "GET", PODS "/ev", NULL);
	/* One that is not ready is in nobody's way. */
	expect(201, "POST", PODS "/other/eviction", "{\"metadata\":{\"name\":\"other\"}}");
}

#define BINDING(pod, node, more) \
	"{\"metadata\":{\"name\":\"" pod "\"},\"target\":{\"name\":\"" node "\"" more "}}"

static void test_pods__binding_gives_a_node_once(void **state)
{
	(void)state;
	make_pod("b", "True");
	expect(500, "POST", PODS "/b/binding", "{\"metadata\":{\"name\":\"b\"}}");
	expect(400, "POST", PODS "/b/binding", "{\"target\":{\"name\":\"n\"}}");
	expect(400, "POST", PODS "/b/binding", BINDING("q", "n", ""));
	expect(500, "POST", PODS "/b/binding", BINDING("b", "n", ",\"kind\":\"Pod\""));
	expect(409, "POST", PODS "/b/binding",
	       "{\"metadata\":{\"name\":\"b\",\"uid\":\"other\"},\"target\":{\"name\":\"n\"}}");
	expect(201, "POST", PODS "/b/binding",
	       "{\"metadata\":{\"name\":\"b\",\"labels\":{\"zone\":\"z\"},\"annotations\":{\"by\":"
	       "\"s\"}},"
	       "\"target\":{\"kind\":\"Node\",\"name\":\"n\"}}");
	struct answer a = expect(200, "GET", PODS "/b", NULL);
	assert_string_equal(obj_str(a.json, "spec.nodeName"), "n");
	assert_string_equal(obj_str(a.json, "metadata.labels.zone"), "z");
	assert_string_equal(obj_str(a.json, "metadata.annotations.by"), "s");
	assert_true(condition_is(a.json, "PodScheduled", "True"));
	assert_true(condition_is(a.json, "Ready", "True"));
	const struct obj *placed =
		condition_find(obj_path(a.json, "status.conditions"), "PodScheduled");
	assert_true(obj_has(placed, "lastProbeTime"));
	assert_int_equal(obj_i64(a.json, "metadata.generation", 0), 1);
	expect(409, "POST", PODS "/b/binding", BINDING("b", "m", ""));
}

/* The Pod that was looked at, as it was then. */
static void test_pods__binding_is_of_what_it_states(void **state)
{
	(void)state;
	struct arena *a = arena_new(1 << 16);
	make_pod("b", "True");
	struct answer is = expect(200, "GET", PODS "/b", NULL);
	const char *rv = obj_str(is.json, "metadata.resourceVersion");
	static const char form[] = "{\"metadata\":{\"name\":\"b\",\"uid\":\"%s\","
				   "\"resourceVersion\":\"%s\"},\"target\":{\"name\":\"n\"}}";
	is = expect(409, "POST", PODS "/b/binding", arena_fmt(a, form, meta_uid(is.json), "1"));
	assert_non_null(strstr(obj_str(is.json, "message"),
			       arena_fmt(a,
					 "Precondition failed: ResourceVersion in precondition: 1, "
					 "ResourceVersion in object meta: %s",
					 rv)));
	is = expect(200, "GET", PODS "/b", NULL);
	expect(201, "POST", PODS "/b/binding", arena_fmt(a, form, meta_uid(is.json), rv));
	arena_free(a);
}

/* The body of an action is of the action's kind. */
static void test_pods__bodies_of_actions_are_of_their_kind(void **state)
{
	static const struct {
		const char *target, *body;
		int status;
		const char *says;
	} table[] = {
		{"eviction", "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"}}", 400, "Eviction"},
		{"eviction", "[]", 400, "Eviction"},
		{"eviction",
		 "{\"apiVersion\":\"policy/"
		 "v9\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"b\"}}",
		 400, "policy/v9"},
		{"eviction",
		 "{\"metadata\":{\"name\":\"b\"},\"deleteOptions\":{\"gracePeriodSeconds\":\"x\"}}",
		 400, "gracePeriodSeconds"},
		{"eviction", "{\"metadata\":{\"name\":\"b\",\"namespace\":\"other\"}}", 400,
		 "does not match the namespace"},
		{"eviction?fieldValidation=Strict", "{\"metadata\":{\"name\":\"b\"},\"speck\":1}",
		 400, "unknown field \\\"speck\\\""},
		{"binding", "{\"kind\":\"Eviction\",\"metadata\":{\"name\":\"b\"}}", 400,
		 "Binding"},
		{"binding", "{\"metadata\":{\"name\":\"b\"},\"target\":\"n\"}", 400, "target"},
		{"eviction?dryRun=All",
		 "{\"apiVersion\":\"policy/"
		 "v1beta1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"b\"}}",
		 201, "Success"},
	};
	struct arena *a = arena_new(1 << 16);
	(void)state;
	make_pod("b", "True");
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct answer is =
			expect(table[i].status, "POST", arena_fmt(a, PODS "/b/%s", table[i].target),
			       table[i].body);
		if (!str_contains(is.body, str_of(table[i].says)))
			fail_msg("%s: %.*s", table[i].body, STR_ARG(is.body));
	}
	struct answer is = expect(200, "GET", PODS "/b", NULL);
	assert_null(obj_path(is.json, "spec.nodeName"));
	arena_free(a);
}

/* Neither what waits at a gate nor what goes. */
static void test_pods__binding_looks_at_the_pod(void **state)
{
	(void)state;
	static const char gated[] =
		"{\"metadata\":{\"name\":\"g\"},\"spec\":{\"schedulingGates\":[{"
		"\"name\":\"a\"}],\"containers\":[{\"name\":\"c\",\"image\":"
		"\"i\"}]}}";
	static const char held[] =
		"{\"metadata\":{\"name\":\"h\",\"finalizers\":[\"a.b/c\"]},\"spec\":{"
		"\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}";
	expect(201, "POST", PODS, gated);
	expect(409, "POST", PODS "/g/binding", BINDING("g", "n", ""));
	expect(201, "POST", PODS, held);
	expect(200, "DELETE", PODS "/h", NULL);
	expect(409, "POST", PODS "/h/binding", BINDING("h", "n", ""));
}

/* Base64 of the first line of one. */
#define REQUEST "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0="

static void test_pods__approval_writes_conditions_alone(void **state)
{
	(void)state;
	expect(201, "POST", CSRS,
	       "{\"metadata\":{\"name\":\"carol\"},\"spec\":{\"request\":\"" REQUEST
	       "\",\"signerName\":"
	       "\"a.b/c\",\"usages\":[\"client auth\"]}}");
	struct answer a = expect(
		200, "PUT", CSRS "/carol/approval",
		"{\"metadata\":{\"name\":\"carol\"},\"spec\":{\"request\":\"YQ==\",\"signerName\":"
		"\"x.y/z\"},\"status\":{\"certificate\":\"YQ==\",\"conditions\":[{\"type\":"
		"\"Approved\",\"status\":\"True\",\"reason\":\"KubectlApprove\"}]}}");
	assert_string_equal(obj_str(a.json, "spec.signerName"), "a.b/c");
	assert_null(obj_path(a.json, "status.certificate"));
	assert_int_equal(obj_len(obj_path(a.json, "status.conditions")), 1);
	/* a signer, who may write the status, neither decides nor takes back; what he says of a decision is not heard */
	static const struct {
		const char *conditions, *said; /* NULL: 200 */
	} rows[] = {
		{"", "updates may not remove a condition of type \"Approved\""},
		{DENIED, "updates may not remove a condition of type \"Approved\""},
		{APPROVED "," DENIED, "updates may not add a condition of type \"Denied\""},
		{APPROVED "," DENIED, "Approved and Denied conditions are mutually exclusive"},
		{APPROVED ",{\"type\":\"Failed\",\"status\":\"True\"}", NULL},
		{APPROVED, "updates may not remove a condition of type \"Failed\""},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b, "{\"status\":{\"conditions\":[%s]}}", rows[i].conditions);
		a = apifake_do_type(f, "PATCH", CSRS "/carol/status",
				    "application/merge-patch+json", b.buf);
		const char *said = obj_str(a.json, "message");
		if (rows[i].said ? a.status != 422 || !strstr(said, rows[i].said) : a.status != 200)
			fail_msg("%s: %d %s", b.buf, a.status, said ? said : "");
	}
	a = apifake_do(f, "GET", CSRS "/carol", NULL);
	assert_string_equal(obj_str(a.json, "status.conditions[0].reason"), "KubectlApprove");
	assert_null(obj_path(a.json, "status.conditions[0].message"));
}

/* Nobody says who he is, nor changes what he asked. */
static void test_pods__a_request_is_of_who_asks(void **state)
{
	(void)state;
	struct answer a = expect(
		201, "POST", CSRS,
		"{\"metadata\":{\"name\":\"dora\"},\"spec\":{\"request\":\"" REQUEST
		"\",\"signerName\":\"a.b/c\",\"usages\":[\"client auth\"],\"username\":\"x\","
		"\"groups\":[\"x\"],\"extra\":{\"x\":[\"y\"]}}}");
	const char *who = obj_str(a.json, "spec.username");
	assert_non_null(who);
	assert_string_not_equal(who, "x");
	assert_string_not_equal(obj_as_string(obj_at(obj_path(a.json, "spec.groups"), 0)), "x");
	assert_null(obj_path(a.json, "spec.extra.x"));
	assert_null(obj_path(a.json, "metadata.managedFields"));
	a = expect(200, "PUT", CSRS "/dora",
		   "{\"metadata\":{\"name\":\"dora\"},\"spec\":{\"signerName\":\"d.e/f\"}}");
	assert_string_equal(obj_str(a.json, "spec.signerName"), "a.b/c");
}

/* What the plugins of a 1.36 add: tolerations, a taint; and the phase that a claim begins with. */
static void test_pods__what_plugins_add(void **state)
{
	(void)state;
	make_pod("e", "True");
	struct answer a = expect(200, "GET", PODS "/e", NULL);
	const struct obj *list = obj_path(a.json, "spec.tolerations");
	assert_int_equal(obj_len(list), 2);
	assert_string_equal(obj_str(obj_at(list, 1), "key"), "node.kubernetes.io/unreachable");
	assert_int_equal(obj_i64(obj_at(list, 1), "tolerationSeconds", 0), 300);
	a = expect(201, "POST", "/api/v1/nodes", "{\"metadata\":{\"name\":\"fresh\"}}");
	list = obj_path(a.json, "spec.taints");
	assert_int_equal(obj_len(list), 1);
	assert_string_equal(obj_str(obj_at(list, 0), "key"), "node.kubernetes.io/not-ready");
	a = expect(201, "POST", "/api/v1/namespaces/default/persistentvolumeclaims",
		   "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],"
		   "\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}");
	assert_string_equal(obj_str(a.json, "status.phase"), "Pending");
}

static void test_pods__ephemeral_containers_are_added_by_their_own_path(void **state)
{
	(void)state;
	make_pod("d", "True");
	struct answer a = apifake_do_type(
		f, "PATCH", PODS "/d/ephemeralcontainers", "application/strategic-merge-patch+json",
		"{\"spec\":{\"nodeName\":\"x\",\"ephemeralContainers\":[{\"name\":\"debugger\","
		"\"image\":\"busybox\"}]}}");
	assert_int_equal(a.status, 200);
	assert_int_equal(obj_len(obj_path(a.json, "spec.ephemeralContainers")), 1);
	assert_null(obj_path(a.json, "spec.nodeName"));
}

/* The real StatefulSet controller takes a Pod without a phase for one that was not created, and kwok states one address. */
static void test_pods__what_controllers_look_for(void **state)
{
	(void)state;
	static const struct {
		const char *resources, *quality;
	} rows[] = {
		{"{}", "BestEffort"},
		{"{\"requests\":{\"cpu\":\"1\"}}", "Burstable"},
		{"{\"limits\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}", "Guaranteed"},
		{"{\"limits\":{\"cpu\":\"1\",\"memory\":\"1Gi\"},\"requests\":{\"cpu\":\"1000m\"}}",
		 "Guaranteed"},
		{"{\"requests\":{\"cpu\":\"0\"}}", "BestEffort"},
		{"{\"requests\":{\"ephemeral-storage\":\"1Gi\"}}", "BestEffort"},
		{"{\"limits\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}}],\"initContainers\":[{\"name\":"
		 "\"i\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}",
		 "Burstable"},
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct answer x = expect(
			201, "POST", PODS,
			arena_fmt(a,
				  "{\"metadata\":{\"name\":\"q%zu\"},\"spec\":{\"containers\":[{"
				  "\"name\":"
				  "\"c\",\"image\":\"i\",\"resources\":%s}]},\"status\":{\"phase\":"
				  "\"Running\"}}",
				  i, rows[i].resources));
		assert_string_equal(obj_str(x.json, "status.phase"), "Pending");
		assert_string_equal(obj_str(x.json, "status.qosClass"), rows[i].quality);
		CLEANUP(xfreep) char *managed =
			json_text(obj_path(x.json, "metadata.managedFields"));
		assert_null(strstr(managed, "f:status"));
	}
	struct answer x =
		apifake_do_type(f, "PATCH", PODS "/q0/status", "application/merge-patch+json",
				"{\"status\":{\"podIP\":\"10.0.0.8\"}}");
	assert_string_equal(obj_str(obj_at(obj_path(x.json, "status.podIPs"), 0), "ip"),
			    "10.0.0.8");
	assert_string_equal(obj_str(x.json, "status.qosClass"), "BestEffort");
	x = expect(201, "POST", "/api/v1/nodes",
		   "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"podCIDR\":\"10.1.0.0/24\"}}");
	assert_string_equal(obj_as_string(obj_at(obj_path(x.json, "spec.podCIDRs"), 0)),
			    "10.1.0.0/24");
	x = expect(201, "POST", "/api/v1/nodes",
		   "{\"metadata\":{\"name\":\"n2\"},\"spec\":{\"podCIDRs\":[\"10.2.0.0/24\"]}}");
	assert_string_equal(obj_str(x.json, "spec.podCIDR"), "10.2.0.0/24");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_pods__##name, setup, teardown)
		TEST(what_needs_a_kubelet_is_refused_with_the_reason),
		TEST(what_is_simulated_has_a_log_of_one_line),
		TEST(eviction_keeps_to_the_budget),
		TEST(binding_gives_a_node_once),
		TEST(binding_looks_at_the_pod),
		TEST(binding_is_of_what_it_states),
		TEST(bodies_of_actions_are_of_their_kind),
		TEST(approval_writes_conditions_alone),
		TEST(a_request_is_of_who_asks),
		TEST(what_plugins_add),
		TEST(ephemeral_containers_are_added_by_their_own_path),
		TEST(what_controllers_look_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
