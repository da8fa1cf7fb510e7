/* U+0000: refused wherever the server compares texts, kept where it is data. */
#include "alm/apiserver/texts.h"

#include <string.h>

#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define RBAC "/apis/rbac.authorization.k8s.io/v1"
#define API  "\"apiVersion\":\"rbac.authorization.k8s.io/v1\""
#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define NUL  "\\u0000"

static int setup(void **state)
{
	*state = apifake_new(NULL);
	return 0;
}

static int teardown(void **state)
{
	apifake_free(*state);
	return 0;
}

static void expect(struct answer a, int status, const char *text)
{
	if (a.status != status)
		fail_msg("status %d: %.*s", a.status, STR_ARG(a.body));
	if (text && str_find(a.body, str_of(text)) < 0)
		fail_msg("no '%s' in %.*s", text, STR_ARG(a.body));
}

#define CM          "/api/v1/namespaces/default/configmaps"
#define CM_OF(meta) "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{" meta "}}"
#define ROLE(rule)                                                                                \
	"{" API ",\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"r\"},\"rules\":[{\"verbs\":[" \
	"\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]," rule "}]}"
#define BINDING(more) \
	"{" API ",\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":\"b\"}," more "}"
#define REF "\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"view\"}"
#define CRD(plural, more)                                                                    \
	"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\"," \
	"\"metadata\":{\"name\":\"cogs.example.com\"},\"spec\":{\"group\":\"example.com\","  \
	"\"scope\":\"Namespaced\",\"names\":{\"plural\":\"" plural "\",\"kind\":\"Cog\"},"   \
	"\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true," more              \
	"\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{"    \
	"\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"enum\":[\"x" NUL   \
	"y\"]}}}}}}}]}}"

static const struct {
	const char *path, *body, *field;
} refused[] = {
	{CM, CM_OF("\"name\":\"zz" NUL "../x\""), "metadata.name"},
	{CM, CM_OF("\"generateName\":\"zz" NUL "x\""), "metadata.generateName"},
	{CM, CM_OF("\"name\":\"a\",\"labels\":{\"a\":\"b" NUL "<x>\"}"), "metadata.labels.a"},
	{CM, CM_OF("\"name\":\"a\",\"annotations\":{\"a\":\"b" NUL "c\"}"),
	 "metadata.annotations.a"},
	{CM, CM_OF("\"name\":\"a\",\"finalizers\":[\"a.b/c" NUL "d\"]"), "metadata.finalizers[0]"},
	{CM,
	 CM_OF("\"name\":\"a\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
	       "\"name\":\"p\",\"uid\":\"u" NUL "v\"}]"),
	 "metadata.ownerReferences[0].uid"},
	{RBAC "/clusterroles", ROLE("\"resourceNames\":[\"a" NUL "b\"]"),
	 "rules[0].resourceNames[0]"},
	{RBAC "/clusterrolebindings",
	 BINDING(REF ",\"subjects\":[{\"kind\":\"User\",\"name\":\"bob" NUL "not-bob\"}]"),
	 "subjects[0].name"},
	{RBAC "/clusterrolebindings",
	 BINDING("\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"view" NUL "x\"}"),
	 "roleRef.name"},
	{RBAC "/clusterroles",
	 "{" API ",\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"r\"},\"aggregationRule\":{"
	 "\"clusterRoleSelectors\":[{\"matchLabels\":{\"a\":\"b" NUL "c\"}}]}}",
	 "aggregationRule.clusterRoleSelectors[0].matchLabels.a"},
	{CRDS, CRD("cogs" NUL "x", ""), "spec.names.plural"},
	{CRDS, CRD("cogs", "\"deprecationWarning\":\"a" NUL "b\","),
	 "spec.versions[0].deprecationWarning"},
	{"/api/v1/namespaces/default/services",
	 "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"s\"},\"spec\":{"
	 "\"selector\":{\"a\":\"b" NUL "c\"}}}",
	 "spec.selector.a"},
	{"/api/v1/namespaces/default/secrets",
	 "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\"},\"type\":"
	 "\"a" NUL "b\"}",
	 "type"},
	{"/api/v1/namespaces/default/events",
	 "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"e\"},"
	 "\"involvedObject\":{\"namespace\":\"default" NUL "x\"}}",
	 "involvedObject.namespace"},
};

static void test_texts__what_is_compared_holds_no_nul(void **state)
{
	struct apifake *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b, "%s: Invalid value: must not contain U+0000", refused[i].field);
		expect(apifake_do(f, "POST", refused[i].path, refused[i].body), 422, b.buf);
	}
}

static void test_texts__reviews_are_asked_about_whole_texts(void **state)
{
	struct apifake *f = *state;
	expect(apifake_do(f, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
			  "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":"
			  "\"SubjectAccessReview\",\"spec\":{\"user\":\"bob" NUL "x\","
			  "\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"pods\"}}}"),
	       400, "spec.user: must not contain U+0000");
	expect(apifake_do(f, "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
			  "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
			  "\"spec\":{\"token\":\"secret" NUL "x\"}}"),
	       400, "spec.token: must not contain U+0000");
	expect(apifake_do(f, "DELETE", CM "/kube-root-ca.crt",
			  "{\"preconditions\":{\"uid\":\"u" NUL "x\"}}"),
	       400, "preconditions.uid: must not contain U+0000");
}

static void test_texts__patches_name_whole_keys(void **state)
{
	struct apifake *f = *state;
	static const char *const patches[] = {
		"[{\"op\":\"add\",\"path\":\"/metadata/labels/a" NUL "b\",\"value\":\"c\"}]",
		"[{\"op\":\"copy\",\"from\":\"/metadata/name" NUL "b\",\"path\":\"/data/a\"}]",
	};
	expect(apifake_do(f, "POST", CM, CM_OF("\"name\":\"a\",\"labels\":{\"x\":\"y\"}")), 201,
	       NULL);
	for (size_t i = 0; i < ARRAY_LEN(patches); i++)
		expect(apifake_do_type(f, "PATCH", CM "/a", "application/json-patch+json",
				       patches[i]),
		       422, NULL);
	expect(apifake_do_type(f, "PATCH", CM "/a", "application/merge-patch+json",
			       "{\"metadata\":{\"labels\":{\"x\":\"a" NUL "b\"}}}"),
	       422, "metadata.labels.x");
	expect(apifake_do_type(f, "PATCH", CM "/b?fieldManager=t", "application/apply-patch+yaml",
			       CM_OF("\"name\":\"b\",\"labels\":{\"x\":\"a" NUL "b\"}")),
	       422, "metadata.labels.x");
	expect(apifake_do_type(f, "POST", CM, "application/yaml",
			       "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: \"c\\0d\"\n"),
	       422, "metadata.name");
}

static void test_texts__data_stays_as_it_is(void **state)
{
	struct apifake *f = *state;
	expect(apifake_do(f, "POST", CM,
			  "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
			  "\"d\"},\"data\":{\"a\":\"x" NUL "y\"}}"),
	       201, "x" NUL "y");
	expect(apifake_do(f, "POST", CRDS, CRD("cogs", "")), 201, NULL);
	expect(apifake_do(f, "POST", "/apis/example.com/v1/namespaces/default/cogs",
			  "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Cog\",\"metadata\":{"
			  "\"name\":\"c\"},\"spec\":{\"a\":\"x" NUL "y\"}}"),
	       201, "x" NUL "y");
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_texts__what_is_compared_holds_no_nul),
		TEST(test_texts__reviews_are_asked_about_whole_texts),
		TEST(test_texts__patches_name_whole_keys),
		TEST(test_texts__data_stays_as_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
