/* Rights that a write needs besides those for its verb: to create, and to grant. */
#include "alm/apiserver/auth/auth.h"

#include <string.h>

#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define RBAC  "/apis/rbac.authorization.k8s.io/v1"
#define API   "\"apiVersion\":\"rbac.authorization.k8s.io/v1\""
#define MERGE "application/merge-patch+json"
#define APPLY "application/apply-patch+yaml"

static void expect(struct answer a, int status, const char *message)
{
	const char *got = obj_str(a.json, "message");
	if (a.status != status)
		fail_msg("status %d: %.*s", a.status, STR_ARG(a.body));
	if (message)
		assert_string_equal(got ? got : "", message);
}

static struct answer as_alice(struct apifake *f, const char *method, const char *target,
			      const char *type, const char *body)
{
	apifake_header(f, "Authorization", "Bearer alice");
	return apifake_do_type(f, method, target, type, body);
}

static void grant(struct apifake *f, const char *name, const char *rules)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "{" API ",\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"%s\"},%s}",
		    name, rules);
	expect(apifake_do(f, "POST", RBAC "/clusterroles", b.buf), 201, NULL);
	strbuf_clear(&b);
	strbuf_addf(&b,
		    "{" API ",\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":\"%s\"},"
		    "\"subjects\":[{\"kind\":\"User\",\"name\":\"alice\"}],\"roleRef\":{"
		    "\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\","
		    "\"name\":\"%s\"}}",
		    name, name);
	expect(apifake_do(f, "POST", RBAC "/clusterrolebindings", b.buf), 201, NULL);
}

/* alice edits roles and bindings and reads pods; she creates nothing. */
static int setup(void **state)
{
	struct apifake *f = apifake_new(NULL);
	grant(f, "editor",
	      "\"rules\":[{\"verbs\":[\"get\",\"update\",\"patch\"],\"apiGroups\":[\"*\"],"
	      "\"resources\":[\"*\"]}]");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	apifake_free(*state);
	return 0;
}

static void test_escalation__a_label_that_aggregates_needs_the_rights(void **state)
{
	struct apifake *f = *state;
	static const char label[] =
		"{\"metadata\":{\"labels\":{\"rbac.authorization.k8s.io/aggregate-to-view\":"
		"\"true\"}}}";
	struct answer a = as_alice(f, "PATCH", RBAC "/clusterroles/cluster-admin", MERGE, label);
	expect(a, 403, NULL);
	assert_non_null(strstr(obj_str(a.json, "message"),
			       "is attempting to grant RBAC permissions not currently held:\n"
			       "{APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}"));
	expect(as_alice(f, "PATCH", RBAC "/clusterroles/cluster-admin?dryRun=All", MERGE, label),
	       403, NULL);
	expect(as_alice(f, "PATCH", RBAC "/clusterroles/editor", MERGE, label), 200, NULL);
	expect(as_alice(f, "PATCH", RBAC "/clusterroles/cluster-admin", MERGE,
			"{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}"),
	       403, NULL);
}

static void test_escalation__the_collector_needs_no_rights(void **state)
{
	struct apifake *f = *state;
	expect(as_alice(f, "PATCH", RBAC "/clusterroles/cluster-admin", MERGE,
			"{\"metadata\":{\"finalizers\":[\"example.com/x\"],\"ownerReferences\":[{"
			"\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"name\":\"default\","
			"\"uid\":\"u\"}]}}"),
	       200, NULL);
	expect(as_alice(f, "PATCH", RBAC "/clusterrolebindings/cluster-admin", MERGE, "{}"), 200,
	       NULL);
}

static void test_escalation__every_write_of_a_binding_counts(void **state)
{
	struct apifake *f = *state;
	static const char note[] = "{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}";
	expect(as_alice(f, "PATCH", RBAC "/clusterrolebindings/cluster-admin", MERGE, note), 403,
	       NULL);
	expect(as_alice(f, "PATCH", RBAC "/clusterrolebindings/editor", MERGE, note), 200, NULL);
	grant(f, "binder",
	      "\"rules\":[{\"verbs\":[\"bind\"],\"apiGroups\":[\"rbac.authorization.k8s.io\"],"
	      "\"resources\":[\"clusterroles\"],\"resourceNames\":[\"cluster-admin\"]}]");
	expect(as_alice(f, "PATCH", RBAC "/clusterrolebindings/cluster-admin", MERGE, note), 200,
	       NULL);
}

static void test_escalation__an_aggregation_rule_needs_all_rights(void **state)
{
	struct apifake *f = *state;
	static const char path[] = RBAC "/clusterroles/gather";
	expect(apifake_do(f, "POST", RBAC "/clusterroles",
			  "{" API ",\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"gather\"},"
			  "\"aggregationRule\":{\"clusterRoleSelectors\":[{\"matchLabels\":{"
			  "\"a\":\"b\"}}]}}"),
	       201, NULL);
	expect(as_alice(f, "PATCH", path, MERGE, "{\"aggregationRule\":null}"), 403, NULL);
	expect(as_alice(f, "PATCH", path, MERGE, "{\"metadata\":{\"labels\":{\"c\":\"d\"}}}"), 403,
	       NULL);
	grant(f, "all-resources",
	      "\"rules\":[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]}]");
	expect(as_alice(f, "PATCH", path, MERGE, "{\"metadata\":{\"labels\":{\"c\":\"d\"}}}"), 200,
	       NULL); /* "*" has escalate in it */
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, "{\"aggregationRule\":{\"clusterRoleSelectors\":[{}");
	for (int i = 0; i < 64; i++)
		strbuf_adds(&b, ",{}");
	strbuf_adds(&b, "]}}");
	expect(apifake_do_type(f, "PATCH", path, MERGE, b.buf), 422, NULL);
}

#define CSRS "/apis/certificates.k8s.io/v1/certificatesigningrequests"
#define NOT(verb)                                                                                \
	"certificatesigningrequests.certificates.k8s.io \"c\" is forbidden: user not permitted " \
	"to " verb " requests with signerName \"x.io/y\""
#define CONDITION(type) \
	"{\"status\":{\"conditions\":[{\"type\":\"" type "\",\"status\":\"True\"}]}}"

#define BOTH                                                                                \
	"{\"status\":{\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\"},{\"type\":" \
	"\"Approved\",\"status\":\"True\"}]}}"

/* alice may update all of them. */
static void test_escalation__a_signer_is_a_right_of_its_own(void **state)
{
	static const char right[] = "\"rules\":[{\"verbs\":[\"%s\"],\"apiGroups\":["
				    "\"certificates.k8s.io\"],\"resources\":[\"signers\"],"
				    "\"resourceNames\":[\"%s\"]}]";
	static const struct {
		const char *path, *body;
		const char *grant, *of; /* before it is sent; NULL: nothing */
		const char *refused;
	} rows[] = {
		{CSRS "/c/approval", CONDITION("Approved"), NULL, NULL, NOT("approve")},
		{CSRS "/c/status", CONDITION("Failed"), NULL, NULL, NOT("sign")},
		/* what is no part of it needs no right */
		{CSRS "/c/status", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}", NULL, NULL, NULL},
		{CSRS "/c", "{\"metadata\":{\"labels\":{\"a\":\"c\"}}}", NULL, NULL, NULL},
		{CSRS "/c/approval", CONDITION("Approved"), "sign", "x.io/y", NOT("approve")},
		{CSRS "/c/status", CONDITION("Failed"), NULL, NULL, NULL},
		{CSRS "/c/approval", BOTH, "approve", "y.io/*", NOT("approve")},
		{CSRS "/c/approval", BOTH, "approve", "x.io/*", NULL},
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct apifake *f = *state;
	expect(apifake_do(f, "POST", CSRS,
			  "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"request\":"
			  "\"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0=\",\"signerName\":"
			  "\"x.io/y\",\"usages\":[\"client auth\"]}}"),
	       201, NULL);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].grant)
			grant(f, arena_fmt(a, "signer-%zu", i),
			      arena_fmt(a, right, rows[i].grant, rows[i].of));
		expect(as_alice(f, "PATCH", rows[i].path, MERGE, rows[i].body),
		       rows[i].refused ? 403 : 200, rows[i].refused);
	}
}

static const struct {
	const char *method, *path, *type, *body, *what;
} creations[] = {
	{"PATCH", "/api/v1/namespaces/default/secrets/x?fieldManager=t", APPLY,
	 "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"x\"}}",
	 "secrets \"x\" is forbidden: User \"alice\" cannot create resource \"secrets\" in API "
	 "group \"\" in the namespace \"default\""},
	{"PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/x", NULL,
	 "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":"
	 "\"x\"}}",
	 "leases.coordination.k8s.io \"x\" is forbidden: User \"alice\" cannot create resource "
	 "\"leases\" in API group \"coordination.k8s.io\" in the namespace \"default\""},
	{"PUT", "/api/v1/namespaces/default/services/x", NULL,
	 "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"x\"},\"spec\":{"
	 "\"ports\":[{\"port\":80}]}}",
	 NULL},
	{"PUT", "/api/v1/namespaces/default/events/x", NULL,
	 "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"x\"},"
	 "\"involvedObject\":{\"namespace\":\"default\"}}",
	 NULL},
	{"PUT", RBAC "/namespaces/default/roles/x", NULL,
	 "{" API ",\"kind\":\"Role\",\"metadata\":{\"name\":\"x\"}}", NULL},
	{"PATCH", RBAC "/clusterroles/x?fieldManager=t&dryRun=All", APPLY,
	 "{" API ",\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"x\"}}", NULL},
	{"PATCH", "/api/v1/namespaces/x?fieldManager=t", APPLY,
	 "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"x\"}}", NULL},
};

static void test_escalation__what_creates_needs_create(void **state)
{
	struct apifake *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(creations); i++)
		expect(as_alice(f, creations[i].method, creations[i].path, creations[i].type,
				creations[i].body),
		       403, creations[i].what);
	/* The name is in the path, so a rule may name it. */
	grant(f, "creator",
	      "\"rules\":[{\"verbs\":[\"create\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"],"
	      "\"resourceNames\":[\"x\"]}]");
	for (size_t i = 0; i < ARRAY_LEN(creations); i++) {
		expect(as_alice(f, creations[i].method, creations[i].path, creations[i].type,
				creations[i].body),
		       201, NULL);
	}
	expect(as_alice(f, "POST", "/api/v1/namespaces/default/secrets", NULL,
			"{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":"
			"\"x\"}}"),
	       403, NULL);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_escalation__a_label_that_aggregates_needs_the_rights),
		TEST(test_escalation__the_collector_needs_no_rights),
		TEST(test_escalation__every_write_of_a_binding_counts),
		TEST(test_escalation__an_aggregation_rule_needs_all_rights),
		TEST(test_escalation__a_signer_is_a_right_of_its_own),
		TEST(test_escalation__what_creates_needs_create),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
