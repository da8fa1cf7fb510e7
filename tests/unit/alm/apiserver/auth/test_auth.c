/* Who may what, through a whole server in process. */
#include "alm/apiserver/auth/auth.h"

#include <string.h>

#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define RBAC_PATH "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
#define CM_PATH   "/api/v1/namespaces/default/configmaps"
#define API       "\"apiVersion\":\"rbac.authorization.k8s.io/v1\""

static struct answer as_bob(struct apifake *f, const char *method, const char *target,
			    const char *body)
{
	apifake_header(f, "Impersonate-User", "bob");
	return apifake_do(f, method, target, body);
}

static void expect(struct answer a, int status, const char *message)
{
	const char *got = obj_str(a.json, "message");
	if (a.status != status)
		fail_msg("status %d: %.*s", a.status, STR_ARG(a.body));
	if (message)
		assert_string_equal(got ? got : "", message);
}

static int setup(void **state)
{
	struct apifake *f = apifake_new(NULL);
	expect(apifake_do(f, "POST", RBAC_PATH "/roles",
			  "{" API ",\"kind\":\"Role\",\"metadata\":{\"name\":\"r\"},\"rules\":["
			  "{\"verbs\":[\"get\",\"list\",\"watch\"],\"apiGroups\":[\"\"],"
			  "\"resources\":[\"configmaps\"],\"resourceNames\":[\"mine\"]},"
			  "{\"verbs\":[\"create\",\"get\",\"update\"],\"apiGroups\":["
			  "\"rbac.authorization.k8s.io\"],\"resources\":[\"roles\","
			  "\"rolebindings\"]}]}"),
	       201, NULL);
	expect(apifake_do(f, "POST", RBAC_PATH "/rolebindings",
			  "{" API ",\"kind\":\"RoleBinding\",\"metadata\":{\"name\":\"rb\"},"
			  "\"subjects\":[{\"kind\":\"User\",\"apiGroup\":"
			  "\"rbac.authorization.k8s.io\",\"name\":\"bob\"}],\"roleRef\":{\"kind\":"
			  "\"Role\",\"apiGroup\":\"rbac.authorization.k8s.io\",\"name\":\"r\"}}"),
	       201, NULL);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	apifake_free(*state);
	return 0;
}

static void test_auth__names_and_selectors_bound_what_is_read(void **state)
{
	struct apifake *f = *state;
	expect(as_bob(f, "GET", CM_PATH "/mine", NULL), 404, "configmaps \"mine\" not found");
	expect(as_bob(f, "GET", CM_PATH "?fieldSelector=metadata.name%3Dmine", NULL), 200, NULL);
	expect(as_bob(f, "GET", CM_PATH "/other", NULL), 403,
	       "configmaps \"other\" is forbidden: User \"bob\" cannot get resource "
	       "\"configmaps\" in API group \"\" in the namespace \"default\"");
	expect(as_bob(f, "GET", CM_PATH, NULL), 403,
	       "configmaps is forbidden: User \"bob\" cannot list resource \"configmaps\" in API "
	       "group \"\" in the namespace \"default\"");
	expect(as_bob(f, "GET", "/api/v1/configmaps", NULL), 403,
	       "configmaps is forbidden: User \"bob\" cannot list resource \"configmaps\" in API "
	       "group \"\" at the cluster scope");
	expect(as_bob(f, "GET", "/api/v1/namespaces/kube-system/configmaps/mine", NULL), 403, NULL);
	expect(as_bob(f, "GET", "/apis", NULL), 200, NULL);
	expect(as_bob(f, "GET", "/metrics", NULL), 403,
	       "forbidden: User \"bob\" cannot get path \"/metrics\"");
}

static void test_auth__rights_are_told_before_existence(void **state)
{
	struct apifake *f = *state;
	expect(as_bob(f, "GET", "/apis/nope.io/v1/namespaces/default/things/x", NULL), 403, NULL);
}

static void test_auth__nobody_writes_more_than_he_holds(void **state)
{
	struct apifake *f = *state;
	expect(as_bob(f, "POST", RBAC_PATH "/roles",
		      "{" API ",\"kind\":\"Role\",\"metadata\":{\"name\":\"s\"},\"rules\":[{"
		      "\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"secrets\"]}]}"),
	       403,
	       "roles.rbac.authorization.k8s.io \"s\" is forbidden: user \"bob\" "
	       "(groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not "
	       "currently held:\n{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}");
	expect(as_bob(f, "POST", RBAC_PATH "/roles",
		      "{" API ",\"kind\":\"Role\",\"metadata\":{\"name\":\"m\"},\"rules\":[{"
		      "\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"],"
		      "\"resourceNames\":[\"mine\"]}]}"),
	       201, NULL);
	expect(as_bob(f, "PUT", RBAC_PATH "/roles/m",
		      "{" API ",\"kind\":\"Role\",\"metadata\":{\"name\":\"m\"},\"rules\":[{"
		      "\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"]}]}"),
	       403, NULL);
	expect(as_bob(f, "POST", RBAC_PATH "/rolebindings",
		      "{" API ",\"kind\":\"RoleBinding\",\"metadata\":{\"name\":\"up\"},"
		      "\"subjects\":[{\"kind\":\"User\",\"name\":\"bob\"}],\"roleRef\":{\"kind\":"
		      "\"ClusterRole\",\"apiGroup\":\"rbac.authorization.k8s.io\",\"name\":"
		      "\"cluster-admin\"}}"),
	       403, NULL);
}

static void test_auth__a_role_ref_never_changes(void **state)
{
	struct apifake *f = *state;
	expect(apifake_do_type(f, "PATCH", RBAC_PATH "/rolebindings/rb",
			       "application/merge-patch+json",
			       "{\"roleRef\":{\"name\":\"other\"}}"),
	       422, NULL);
}

static struct answer review(struct apifake *f, const char *token)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(
		&b,
		"{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\",\"spec\":"
		"{\"token\":\"%s\"}}",
		token);
	return apifake_do(f, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", b.buf);
}

static void test_auth__service_account_tokens_end_with_the_account(void **state)
{
	struct apifake *f = *state;
	static const char account[] = "/api/v1/namespaces/default/serviceaccounts";
	static const char robot[] = "{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\","
				    "\"metadata\":{\"name\":\"robot\"}}";
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	expect(apifake_do(f, "POST", account, robot), 201, NULL);
	strbuf_addf(&path, "%s/robot/token", account);
	struct answer t =
		apifake_do(f, "POST", path.buf,
			   "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenRequest\","
			   "\"spec\":{\"audiences\":null}}");
	expect(t, 201, NULL);
	const char *token = obj_str(t.json, "status.token");
	assert_non_null(token);
	struct answer a = review(f, token);
	assert_true(obj_flag(a.json, "status.authenticated", false));
	assert_string_equal(obj_str(a.json, "status.user.username"),
			    "system:serviceaccount:default:robot");
	strbuf_truncate(&path, path.len - strlen("/token"));
	expect(apifake_do(f, "DELETE", path.buf, NULL), 200, NULL);
	assert_false(obj_flag(review(f, token).json, "status.authenticated", false));
	assert_false(obj_flag(review(f, "nope").json, "status.authenticated", false));
	/* another one of its name is not the one that the token was made for */
	expect(apifake_do(f, "POST", account, robot), 201, NULL);
	assert_false(obj_flag(review(f, token).json, "status.authenticated", false));
}

static void test_auth__reviews_answer_for_the_asker(void **state)
{
	struct apifake *f = *state;
	static const char body[] =
		"{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SelfSubjectAccessReview\","
		"\"spec\":{\"resourceAttributes\":{\"namespace\":\"default\",\"verb\":\"get\","
		"\"resource\":\"configmaps\",\"name\":\"mine\"}}}";
	static const char path[] = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
	struct answer a = as_bob(f, "POST", path, body);
	expect(a, 201, NULL);
	assert_true(obj_flag(a.json, "status.allowed", false));
	assert_string_equal(obj_str(a.json, "status.reason"),
			    "RBAC: allowed by RoleBinding \"rb/default\" of Role \"r\" to User "
			    "\"bob\"");
	expect(apifake_do(f, "POST", path, "{\"kind\":\"Other\"}"), 400, NULL);
}

/* Lists of it are of one piece. */
static void test_auth__a_review_tells_whose_fields_it_has(void **state)
{
	struct apifake *f = *state;
	struct answer a = apifake_do(
		f, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews?fieldManager=me",
		"{\"spec\":{\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"configmaps\","
		"\"labelSelector\":{\"requirements\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}}}"
		"}");
	expect(a, 201, NULL);
	const struct obj *m = obj_at(obj_path(a.json, "metadata.managedFields"), 0);
	assert_string_equal(obj_str(m, "manager"), "me");
	assert_string_equal(obj_str(m, "apiVersion"), "authorization.k8s.io/v1");
	CLEANUP(xfreep) char *fields = json_text(obj_get(m, "fieldsV1"));
	assert_string_equal(
		fields,
		"{\"f:spec\":{\"f:resourceAttributes\":{\".\":{},\"f:labelSelector\":{\".\":{},"
		"\"f:requirements\":{}},\"f:resource\":{},\"f:verb\":{}}}}");
}

/* Accounts cost nothing: with a share for each, who makes many has the whole server. */
static void test_auth__accounts_of_a_namespace_have_one_share(void **state)
{
	(void)state;
	static const char *const cases[][3] = {
		/* user, who impersonates it, share */
		{"alice", NULL, "alice"},
		{"system:serviceaccount:team-a:one", NULL, "system:serviceaccount:team-a"},
		{"system:serviceaccount:team-a:two", NULL, "system:serviceaccount:team-a"},
		{"system:serviceaccount:team-b:one", NULL, "system:serviceaccount:team-b"},
		{"system:serviceaccount:team-b:one", "alice", "alice"},
	};
	struct request r = {.arena = arena_new(4096)};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		r.user = (struct user_info){.name = cases[i][0], .impersonator = cases[i][1]};
		assert_string_equal(auth_share(&r), cases[i][2]);
	}
	arena_free(r.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_auth__accounts_of_a_namespace_have_one_share),
		cmocka_unit_test_setup_teardown(test_auth__names_and_selectors_bound_what_is_read,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_auth__rights_are_told_before_existence, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_auth__nobody_writes_more_than_he_holds, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_auth__a_role_ref_never_changes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_auth__service_account_tokens_end_with_the_account, setup, teardown),
		cmocka_unit_test_setup_teardown(test_auth__a_review_tells_whose_fields_it_has,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_auth__reviews_answer_for_the_asker, setup,
						teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
