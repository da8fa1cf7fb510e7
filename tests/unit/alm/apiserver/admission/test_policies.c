/* test_policies.c: writes under ValidatingAdmissionPolicies, and what a real kube-apiserver 1.36 made of them
 * (tests/golden/kube-api/policy.py). */
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/replay.h"
#include "tests/lib/test.h"

#define RECORDED "tests/golden/kube-api/policy.jsonl"
#define GROUP    "admissionregistration.k8s.io/v1"
#define POLICIES "/apis/" GROUP "/validatingadmissionpolicies"
#define BINDINGS "/apis/" GROUP "/validatingadmissionpolicybindings"
#define SPACE    "/api/v1/namespaces/default"
#define MAPS     SPACE "/configmaps"
#define MERGE    "application/merge-patch+json"

static void test_policies__answers_are_those_of_a_real_server(void **state)
{
	(void)state;
	replay(RECORDED, 650, NULL);
}

/* --- one policy of these rules in force --- */

#define RULE(groups, resources, operations)                                                    \
	"{\"apiGroups\":[" groups "],\"apiVersions\":[\"*\"],\"resources\":[" resources "],\"" \
	"operations\":[" operations "]}"
#define ALL_MAPS RULE("\"\"", "\"configmaps\"", "\"*\"")

static void expect(struct apifake *f, const char *method, const char *path, const char *body,
		   int status)
{
	struct answer a = apifake_do_type(
		f, method, path, strcmp(method, "PATCH") == 0 ? MERGE : "application/json", body);
	const char *message = obj_str(a.json, "message");
	if (a.status != status)
		fail_msg("%s %s: %d %s, wanted %d", method, path, a.status, message ? message : "",
			 status);
}

static void enforce(struct apifake *f, const char *name, const char *rule, const char *rest,
		    const char *actions)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	strbuf_addf(&b,
		    "{\"apiVersion\":\"" GROUP
		    "\",\"kind\":\"ValidatingAdmissionPolicy\",\"metadata\":{"
		    "\"name\":\"%s\"},\"spec\":{\"matchConstraints\":{\"resourceRules\":[%s]},%s}}",
		    name, rule, rest);
	expect(f, "POST", POLICIES, b.buf, 201);
	strbuf_truncate(&b, 0);
	strbuf_addf(&b,
		    "{\"apiVersion\":\"" GROUP "\",\"kind\":\"ValidatingAdmissionPolicyBinding\","
		    "\"metadata\":{\"name\":\"%s\"},\"spec\":{\"policyName\":\"%s\","
		    "\"validationActions\":[%s]}}",
		    name, name, actions);
	expect(f, "POST", BINDINGS, b.buf, 201);
}

#define NEVER "\"validations\":[{\"expression\":\"false\",\"message\":\"no\"}]"
#define MAP(name, data)                                                                       \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name "\"}," \
	"\"data\":{" data "}}"

/* A policy that is changed is obeyed as it is now; one that is gone, or made anew, too. */
static void test_policies__as_they_are_now(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	enforce(f, "p", ALL_MAPS, NEVER, "\"Deny\"");
	expect(f, "POST", MAPS, MAP("a", ""), 422);
	expect(f, "PATCH", POLICIES "/p",
	       "{\"spec\":{\"validations\":[{\"expression\":\"object.metadata.name == 'a'\"}]}}",
	       200);
	expect(f, "POST", MAPS, MAP("a", ""), 201);
	expect(f, "POST", MAPS, MAP("b", ""), 422);
	expect(f, "DELETE", POLICIES "/p", NULL, 200);
	expect(f, "POST", MAPS, MAP("b", ""), 201);
	expect(f, "DELETE", BINDINGS "/p", NULL, 200);
	enforce(f, "p", ALL_MAPS, NEVER, "\"Deny\"");
	expect(f, "POST", MAPS, MAP("c", ""), 422);
	apifake_restart(f);
	expect(f, "POST", MAPS, MAP("c", ""), 422);
}

/* More policies than anybody has, changed over and over: what was compiled of them is not heaped up. */
static void test_policies__many(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	for (int i = 0; i < 100; i++) {
		CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(64);
		CLEANUP(strbuf_release) struct strbuf rest = STRBUF_INIT(1 << 12);
		strbuf_addf(&name, "p-%03d", i);
		strbuf_addf(&rest,
			    "\"validations\":[{\"expression\":\"object.metadata.name != 'm-%d'\"}]",
			    i);
		enforce(f, name.buf, ALL_MAPS, rest.buf, "\"Deny\"");
	}
	expect(f, "POST", MAPS, MAP("m-0", ""), 422);
	expect(f, "POST", MAPS, MAP("m-99", ""), 422);
	expect(f, "POST", MAPS, MAP("m-100", ""), 201);
	for (int i = 0; i < 99; i++) {
		CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(128);
		strbuf_addf(&path, POLICIES "/p-%03d", i);
		expect(f, "DELETE", path.buf, NULL, 200);
	}
	expect(f, "PATCH", POLICIES "/p-099",
	       "{\"spec\":{\"validations\":[{\"expression\":\"false\"}]}}", 200);
	expect(f, "POST", MAPS, MAP("m-101", ""), 422);
}

/* Which resource a policy is about may change; so may which policy a binding is of. */
static void test_policies__rules_that_change(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	enforce(f, "p", RULE("\"\"", "\"secrets\"", "\"*\""), NEVER, "\"Deny\"");
	enforce(f, "q", RULE("\"apps\"", "\"*\"", "\"*\""), NEVER, "\"Deny\"");
	expect(f, "POST", MAPS, MAP("a", ""), 201);
	expect(f, "PATCH", POLICIES "/p",
	       "{\"spec\":{\"matchConstraints\":{\"resourceRules\":[" ALL_MAPS "]}}}", 200);
	expect(f, "POST", MAPS, MAP("b", ""), 422);
	expect(f, "PATCH", BINDINGS "/p", "{\"spec\":{\"policyName\":\"q\"}}", 200);
	expect(f, "POST", MAPS, MAP("b", ""), 201);
	expect(f, "PATCH", POLICIES "/q",
	       "{\"spec\":{\"matchConstraints\":{\"resourceRules\":[" RULE("\"*\"", "\"*/*\"",
									   "\"*\"") "]}}}",
	       200);
	expect(f, "POST", MAPS, MAP("c", ""), 422);
	expect(f, "DELETE", POLICIES "/q", NULL, 200);
	expect(f, "POST", MAPS, MAP("c", ""), 201);
	enforce(f, "r", RULE("\"\"", "\"configmaps/status\",\"pods\"", "\"*\""), NEVER, "\"Deny\"");
	expect(f, "POST", MAPS, MAP("d", ""), 201);
}

/* Who asks, by whatever way: an account impersonated here. */
static void test_policies__who_asks(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	enforce(f, "p", ALL_MAPS,
		"\"validations\":[{\"expression\":\"request.userInfo.username != 'eve' && "
		"!('staff' in request.userInfo.groups)\"}]",
		"\"Deny\"");
	expect(f, "POST", MAPS, MAP("a", ""), 201);
	apifake_header(f, "Impersonate-User", "eve");
	apifake_header(f, "Impersonate-Group", "system:masters");
	expect(f, "POST", MAPS, MAP("b", ""), 422);
	apifake_header(f, "Impersonate-User", "alice");
	apifake_header(f, "Impersonate-Group", "system:masters");
	apifake_header(f, "Impersonate-Group", "staff");
	expect(f, "POST", MAPS, MAP("b", ""), 422);
}

#define POD                                                                                \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{" \
	"\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"
#define EVICTION \
	"{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"p\"}}"
#define BINDING                                                                                  \
	"{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"p\"},\"target\":{" \
	"\"name\":\"node-x\"}}"
#define TOKEN                                                                               \
	"{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenRequest\",\"spec\":{" \
	"\"expirationSeconds\":7200}}"

/* What is created below an object is an object of its own; an eviction is no deletion. */
static void test_policies__subresources(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	enforce(f, "bind", RULE("\"\"", "\"pods/binding\"", "\"CREATE\""),
		"\"validations\":[{\"expression\":\"object.target.name != 'node-x'\"}]",
		"\"Deny\"");
	enforce(f, "evict", RULE("\"\"", "\"pods/eviction\"", "\"CREATE\""),
		"\"validations\":[{\"expression\":\"request.kind.kind != 'Eviction' || "
		"object.metadata.name != 'p'\"}]",
		"\"Deny\"");
	enforce(f, "token", RULE("\"\"", "\"serviceaccounts/token\"", "\"CREATE\""),
		"\"validations\":[{\"expression\":\"object.spec.expirationSeconds <= 3600\"}]",
		"\"Deny\"");
	expect(f, "POST", SPACE "/pods", POD, 201);
	expect(f, "POST", SPACE "/pods/p/binding", BINDING, 422);
	expect(f, "POST", SPACE "/pods/p/eviction", EVICTION, 422);
	expect(f, "POST", SPACE "/serviceaccounts/default/token", TOKEN, 422);
	expect(f, "DELETE", BINDINGS "/bind", NULL, 200);
	expect(f, "DELETE", BINDINGS "/evict", NULL, 200);
	enforce(f, "delete", RULE("\"\"", "\"pods\"", "\"DELETE\""), NEVER, "\"Deny\"");
	expect(f, "POST", SPACE "/pods/p/binding", BINDING, 201);
	expect(f, "DELETE", SPACE "/pods/p", NULL, 422);
	expect(f, "POST", SPACE "/pods/p/eviction", EVICTION, 201);
	expect(f, "GET", SPACE "/pods/p", NULL, 404);
}

#define MAY(account, verb)                                                           \
	"\"validations\":[{\"expression\":\"authorizer." account "resource('pods')." \
	"fieldSelector('spec.nodeName=n').labelSelector('a in (b)').check('" verb    \
	"').allowed()\"}]"

/* Rights are of all objects here, so a check of fewer is answered as one of all. */
static void test_policies__selectors_of_an_authorizer(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	enforce(f, "p", ALL_MAPS, MAY("group('').", "list"), "\"Deny\"");
	expect(f, "POST", MAPS, MAP("a", ""), 201);
	enforce(f, "q", ALL_MAPS, MAY("serviceAccount('default', 'default').group('').", "list"),
		"\"Deny\"");
	expect(f, "POST", MAPS, MAP("b", ""), 422);
}

#define OF(kind, name) \
	"{\"apiVersion\":\"v1\",\"kind\":\"" kind "\",\"metadata\":{\"name\":\"" name "\"}}"

/* requestResource is what is written, each part of it: who asks may "bless" one ConfigMap alone. */
static void test_policies__the_resource_of_the_request(void **state)
{
	static const struct {
		const char *path, *body;
		int status;
	} rows[] = {
		{SPACE "/configmaps", OF("ConfigMap", "m"), 201},
		{SPACE "/configmaps", OF("ConfigMap", "other"), 422},
		{SPACE "/secrets", OF("Secret", "m"), 422},
		{"/apis/events.k8s.io/v1/namespaces/default/events",
		 "{\"metadata\":{\"name\":\"m\"},\"eventTime\":\"2026-01-01T00:00:00.000000Z\","
		 "\"reportingController\":\"e.io/c\",\"reportingInstance\":\"i\",\"action\":\"a\","
		 "\"reason\":\"r\",\"type\":\"Normal\",\"regarding\":{\"namespace\":\"default\"}}",
		 422},
		{SPACE "/events",
		 "{\"metadata\":{\"name\":\"m\"},\"involvedObject\":{\"namespace\":\"default\"}}",
		 201},
		{"/api/v1/namespaces/kube-system/configmaps", OF("ConfigMap", "m"), 422},
	};
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	expect(f, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
	       "{\"metadata\":{\"name\":\"writes\"},\"rules\":[{\"verbs\":[\"create\"],"
	       "\"apiGroups\":"
	       "[\"*\"],\"resources\":[\"*\"]}]}",
	       201);
	expect(f, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
	       "{\"metadata\":{\"name\":\"writes\"},\"subjects\":[{\"kind\":\"User\",\"apiGroup\":"
	       "\"rbac.authorization.k8s.io\",\"name\":\"bob\"}],\"roleRef\":{\"kind\":"
	       "\"ClusterRole\","
	       "\"apiGroup\":\"rbac.authorization.k8s.io\",\"name\":\"writes\"}}",
	       201);
	expect(f, "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
	       "{\"metadata\":{\"name\":\"r\"},\"rules\":[{\"verbs\":[\"bless\"],\"apiGroups\":["
	       "\"\"],"
	       "\"resources\":[\"configmaps\",\"events\"],\"resourceNames\":[\"m\"]}]}",
	       201);
	expect(f, "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
	       "{\"metadata\":{\"name\":\"r\"},\"subjects\":[{\"kind\":\"User\",\"apiGroup\":"
	       "\"rbac.authorization.k8s.io\",\"name\":\"bob\"}],\"roleRef\":{\"kind\":\"Role\","
	       "\"apiGroup\":\"rbac.authorization.k8s.io\",\"name\":\"r\"}}",
	       201);
	enforce(f, "p", RULE("\"*\"", "\"configmaps\",\"secrets\",\"events\"", "\"*\""),
		"\"validations\":[{\"expression\":\"authorizer.requestResource.check('bless')."
		"allowed()\"}]",
		"\"Deny\"");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b, "%s?dryRun=All", rows[i].path);
		expect(f, "POST", b.buf, rows[i].body, 201); /* who may do all */
		apifake_header(f, "Impersonate-User", "bob");
		expect(f, "POST", rows[i].path, rows[i].body, rows[i].status);
	}
}

#define PASS_NS (INT64_C(11) * 1000 * 1000 * 1000) /* more than ENGINE_RETRY_NS */
#define MANY    120                                /* ENGINE_BATCH: 100 */

static bool is_there(struct apifake *f, const char *path)
{
	return apifake_do(f, "GET", path, NULL).status == 200;
}

/* What may not be deleted holds its namespace, which says so; once it may, it is tried again (seen at a real 1.36). */
static void test_policies__hold_a_namespace(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	expect(f, "POST", "/api/v1/namespaces",
	       "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"n\"}}", 201);
	for (int i = 0; i < MANY; i++)
		expect(f, "POST", "/api/v1/namespaces/n/configmaps",
		       arena_fmt(a, "{\"metadata\":{\"name\":\"m%d\"}}", i), 201);
	expect(f, "POST", "/api/v1/namespaces/n/secrets", "{\"metadata\":{\"name\":\"s\"}}", 201);
	enforce(f, "p", RULE("\"\"", "\"configmaps\"", "\"DELETE\""),
		"\"validations\":[{\"expression\":\"!oldObject.metadata.name.startsWith('m')\","
		"\"message\":\"no\"}]",
		"\"Deny\"");
	expect(f, "DELETE", "/api/v1/namespaces/n/configmaps/m7", NULL, 422);
	expect(f, "DELETE", "/api/v1/namespaces/n", NULL, 200);
	apifake_advance(f, PASS_NS);
	assert_true(is_there(f, "/api/v1/namespaces/n/configmaps/m7"));
	assert_false(is_there(f, "/api/v1/namespaces/n/secrets/s"));
	struct answer held = apifake_do(f, "GET", "/api/v1/namespaces/n", NULL);
	assert_string_equal(obj_str(held.json, "status.conditions[2].message"),
			    "Failed to delete all resource types, 1 remaining: configmaps \"m0\" "
			    "is forbidden: "
			    "ValidatingAdmissionPolicy 'p' with binding 'p' denied request: no");
	assert_string_equal(obj_str(held.json, "status.conditions[3].message"),
			    "Some resources are remaining: configmaps. has 120 resource instances");
	expect(f, "DELETE", BINDINGS "/p", NULL, 200);
	apifake_advance(f, PASS_NS);
	assert_false(is_there(f, "/api/v1/namespaces/n"));
}

/* So do dependents of an owner that is gone, or that waits for them. */
static void test_policies__hold_a_dependent(void **state)
{
	static const char *const options[] = {"Background", "Foreground"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct answer o = apifake_do(f, "POST", MAPS, MAP("owner", ""));
		const char *uid = arena_strdup(a, obj_str(o.json, "metadata.uid"));
		for (int k = 0; k < MANY; k++)
			expect(f, "POST", MAPS,
			       arena_fmt(a,
					 "{\"metadata\":{\"name\":\"m%d\",\"ownerReferences\":[{"
					 "\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":"
					 "\"owner\",\"uid\":\"%s\",\"blockOwnerDeletion\":true}]}}",
					 k, uid),
			       201);
		enforce(f, "p", RULE("\"\"", "\"configmaps\"", "\"DELETE\""),
			"\"validations\":[{\"expression\":\"oldObject.metadata.name == 'owner'\"}]",
			"\"Deny\"");
		expect(f, "DELETE", arena_fmt(a, MAPS "/owner?propagationPolicy=%s", options[i]),
		       NULL, 200);
		apifake_advance(f, PASS_NS);
		assert_int_equal(is_there(f, MAPS "/owner"), i);
		assert_true(is_there(f, MAPS "/m0"));
		expect(f, "DELETE", BINDINGS "/p", NULL, 200);
		apifake_advance(f, PASS_NS);
		assert_false(is_there(f, MAPS "/owner"));
		assert_false(is_there(f, MAPS "/m0"));
		assert_false(is_there(f, MAPS "/m119"));
	}
}

static const struct obj *newest(struct apifake *f, struct obj **row)
{
	struct error err = ERROR_INIT;
	int64_t seq = audit_last_seq(apifake_audit(f));
	assert_ok(audit_row_get(apifake_audit(f), seq, row, &err), &err);
	return obj_path(*row, "body.annotations");
}

/* What a policy notes of a write stands in the entry of the write; of one write, not of the next. */
static void test_policies__notes_are_in_the_log(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f =
		apifake_new(&(struct apifake_options){.with_audit = true});
	CLEANUP(obj_unrefp) struct obj *first = NULL, *second = NULL;
	enforce(f, "p", ALL_MAPS,
		"\"validations\":[{\"expression\":\"has(object.data)\",\"message\":\"it is "
		"empty\"}],"
		"\"auditAnnotations\":[{\"key\":\"size\",\"valueExpression\":"
		"\"'data: ' + string(has(object.data))\"}]",
		"\"Audit\"");
	expect(f, "POST", MAPS, MAP("a", "\"a\":\"b\""), 201);
	const struct obj *notes = newest(f, &first);
	assert_string_equal(obj_as_string(obj_get(notes, "p/size")), "data: true");
	assert_int_equal(obj_len(notes), 1);
	expect(f, "POST", MAPS, MAP("b", ""), 201);
	notes = newest(f, &second);
	assert_string_equal(obj_as_string(obj_get(notes, "p/size")), "data: false");
	const char *failed = obj_as_string(
		obj_get(notes, "validation.policy.admission.k8s.io/validation_failure"));
	assert_non_null(failed);
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *list = NULL;
	assert_ok(json_parse(str_of(failed), &list, &err), &err);
	assert_int_equal(obj_len(list), 1);
	const struct obj *one = obj_at(list, 0);
	assert_string_equal(obj_str(one, "message"), "it is empty");
	assert_string_equal(obj_str(one, "policy"), "p");
	assert_string_equal(obj_str(one, "binding"), "p");
	assert_int_equal(obj_i64(one, "expressionIndex", -1), 0);
	assert_int_equal(obj_len(obj_get(one, "validationActions")), 1);
	assert_int_equal(obj_len(one), 5);
}

/* Who may do what is asked in reviews: a policy that forbids all leaves them alone, as a real server does. */
static void test_policies__reviews_are_not_asked_for(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	enforce(f, "p", RULE("\"*\"", "\"*\"", "\"*\""), NEVER, "\"Deny\"");
	expect(f, "POST", MAPS, MAP("a", ""), 422);
	expect(f, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
	       "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":"
	       "\"SelfSubjectAccessReview\",\"spec\":{\"nonResourceAttributes\":{\"path\":\"/"
	       "\",\"verb\":\"get\"}}}",
	       201);
	expect(f, "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
	       "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
	       "\"spec\":{\"token\":\"x\"}}",
	       201);
}

/* What is beside the recorded ones: the same subresource of two resources is fine, selectors are not all. */
static void test_policies__rules_and_selectors(void **state)
{
	(void)state;
	static const struct {
		const char *match, *message; /* NULL: fine */
	} rows[] = {
		{"\"resourceRules\":[" RULE("\"apps\"", "\"a/scale\",\"b/scale\"",
					    "\"CREATE\"") "]",
		 NULL},
		{"\"resourceRules\":[" RULE("\"apps\"", "\"*/*\",\"b/scale\"", "\"CREATE\"") "]",
		 "must not specify other resources"},
		{"\"resourceRules\":[" ALL_MAPS "],\"objectSelector\":{\"matchExpressions\":[{"
		 "\"key\":\"a\",\"operator\":\"Near\"}]}",
		 "matchExpressions[0].operator: Invalid value: \"Near\": not a valid selector "
		 "operator"},
		{"\"resourceRules\":[" ALL_MAPS "],\"objectSelector\":{\"matchExpressions\":[{"
		 "\"key\":\"a\",\"operator\":\"Exists\",\"values\":[\"b\"]}]}",
		 "matchExpressions[0].values: Forbidden: may not be specified"},
		{"\"resourceRules\":[" ALL_MAPS "],\"objectSelector\":{\"matchExpressions\":[{"
		 "\"key\":\"a b\",\"operator\":\"Exists\"}]}",
		 "matchExpressions[0].key: Invalid value: \"a b\""},
		{"\"resourceRules\":[" ALL_MAPS "],\"objectSelector\":{\"matchExpressions\":[{"
		 "\"key\":\"a\",\"operator\":\"In\",\"values\":[\"b c\"]}]}",
		 "matchExpressions[0].values[0]: Invalid value: \"b c\""},
	};
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
		strbuf_addf(&b,
			    "{\"apiVersion\":\"" GROUP
			    "\",\"kind\":\"ValidatingAdmissionPolicy\",\"metadata\":{"
			    "\"name\":\"p-%zu\"},\"spec\":{\"matchConstraints\":{%s}," NEVER "}}",
			    i, rows[i].match);
		struct answer a = apifake_do(f, "POST", POLICIES, b.buf);
		const char *message = obj_str(a.json, "message");
		assert_int_equal(a.status, rows[i].message ? 422 : 201);
		if (rows[i].message && !strstr(message, rows[i].message))
			fail_msg("%s, wanted %s", message, rows[i].message);
	}
}

/* Where parameters cannot be looked for, the write is refused with the reason. */
static void test_policies__parameters_that_are_nowhere(void **state)
{
	(void)state;
	static const struct {
		const char *kind, *ref, *resource, *path, *body, *message;
	} rows[] = {
		{"Namespace", "\"name\":\"default\",\"namespace\":\"default\"", "configmaps", MAPS,
		 MAP("a", ""),
		 "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"},
		{"ConfigMap", "\"name\":\"a\"", "namespaces", "/api/v1/namespaces",
		 "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"n\"}}",
		 "cannot use namespaced paramRef in policy binding that matches cluster-scoped "
		 "resources"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
		strbuf_addf(&b,
			    "{\"apiVersion\":\"" GROUP
			    "\",\"kind\":\"ValidatingAdmissionPolicy\",\"metadata\":{"
			    "\"name\":\"p\"},\"spec\":{\"matchConstraints\":{\"resourceRules\":["
			    "{\"apiGroups\":[\"\"],\"apiVersions\":[\"v1\"],\"operations\":["
			    "\"CREATE\"],"
			    "\"resources\":[\"%s\"]}]},\"paramKind\":{\"apiVersion\":\"v1\","
			    "\"kind\":\"%s\"}," NEVER "}}",
			    rows[i].resource, rows[i].kind);
		expect(f, "POST", POLICIES, b.buf, 201);
		strbuf_truncate(&b, 0);
		strbuf_addf(&b,
			    "{\"apiVersion\":\"" GROUP
			    "\",\"kind\":\"ValidatingAdmissionPolicyBinding\","
			    "\"metadata\":{\"name\":\"p\"},\"spec\":{\"policyName\":\"p\","
			    "\"validationActions\":["
			    "\"Deny\"],\"paramRef\":{%s,\"parameterNotFoundAction\":\"Deny\"}}}",
			    rows[i].ref);
		expect(f, "POST", BINDINGS, b.buf, 201);
		struct answer a = apifake_do(f, "POST", rows[i].path, rows[i].body);
		assert_int_equal(a.status, 422);
		assert_non_null(strstr(obj_str(a.json, "message"), rows[i].message));
	}
}

/* n of "ITEM" with its number; ITEM has one %d. */
static void add_list(struct strbuf *b, const char *key, const char *before, const char *after,
		     int n)
{
	strbuf_addf(b, "\"%s\":[", key);
	for (int i = 0; i < n; i++)
		strbuf_addf(b, "%s%s%d%s", i ? "," : "", before, i, after);
	strbuf_addc(b, ']');
}

/* As many as Kubernetes takes, and one more. */
static void test_policies__lists_have_limits(void **state)
{
	(void)state;
	static const struct {
		const char *key, *before, *after;
		int max;
	} rows[] = {
		{"matchConditions", "{\"name\":\"c", "\",\"expression\":\"true\"}", 64},
		{"variables", "{\"name\":\"v", "\",\"expression\":\"1\"}", 128},
		{"auditAnnotations", "{\"key\":\"k", "\",\"valueExpression\":\"'a'\"}", 20},
	};
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (int more = 0; more < 2; more++) {
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
			strbuf_addf(&b,
				    "{\"apiVersion\":\"" GROUP
				    "\",\"kind\":\"ValidatingAdmissionPolicy\","
				    "\"metadata\":{\"name\":\"p-%zu-%d\"},\"spec\":{"
				    "\"matchConstraints\":{"
				    "\"resourceRules\":[" ALL_MAPS "]}," NEVER ",",
				    i, more);
			add_list(&b, rows[i].key, rows[i].before, rows[i].after,
				 rows[i].max + more);
			strbuf_adds(&b, "}}");
			struct answer a = apifake_do(f, "POST", POLICIES, b.buf);
			assert_int_equal(a.status, more ? 422 : 201);
			if (more)
				assert_non_null(strstr(obj_str(a.json, "message"), "Too many"));
		}
}

/* What all validations of a policy take together is bounded, too: a write that is not judged is refused. */
static void test_policies__the_budget_is_of_the_whole_policy(void **state)
{
	(void)state;
#define TEN "[1,2,3,4,5,6,7,8,9,10]"
#define LONG \
	"[1,2,3,4].all(a," TEN ".all(b," TEN ".all(c," TEN ".all(d," TEN ".all(e,a+b+c+d+e>0)))))"
	static const int many[] = {1, 30};
	for (size_t i = 0; i < ARRAY_LEN(many); i++) {
		CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
		CLEANUP(strbuf_release) struct strbuf rest = STRBUF_INIT(1 << 16);
		add_list(&rest, "validations", "{\"expression\":\"" LONG " && ", " >= 0\"}",
			 many[i]);
		enforce(f, "p", ALL_MAPS, rest.buf, "\"Deny\",\"Audit\"");
		struct answer a = apifake_do(f, "POST", MAPS, MAP("a", ""));
		const char *message = obj_str(a.json, "message");
		assert_int_equal(a.status, many[i] == 1 ? 201 : 422);
		assert_true(many[i] == 1 || strstr(message, "actual cost limit exceeded"));
	}
#undef LONG
#undef TEN
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policies__answers_are_those_of_a_real_server),
		cmocka_unit_test(test_policies__as_they_are_now),
		cmocka_unit_test(test_policies__many),
		cmocka_unit_test(test_policies__rules_that_change),
		cmocka_unit_test(test_policies__who_asks),
		cmocka_unit_test(test_policies__subresources),
		cmocka_unit_test(test_policies__selectors_of_an_authorizer),
		cmocka_unit_test(test_policies__the_resource_of_the_request),
		cmocka_unit_test(test_policies__hold_a_namespace),
		cmocka_unit_test(test_policies__hold_a_dependent),
		cmocka_unit_test(test_policies__notes_are_in_the_log),
		cmocka_unit_test(test_policies__reviews_are_not_asked_for),
		cmocka_unit_test(test_policies__rules_and_selectors),
		cmocka_unit_test(test_policies__parameters_that_are_nowhere),
		cmocka_unit_test(test_policies__lists_have_limits),
		cmocka_unit_test(test_policies__the_budget_is_of_the_whole_policy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
