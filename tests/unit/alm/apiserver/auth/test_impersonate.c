/* Impersonation: each part needs its own right, and the words are those of the real server. */
#include "alm/apiserver/auth/auth.h"

#include <string.h>

#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define RBAC "/apis/rbac.authorization.k8s.io/v1"

static void expect(struct answer a, int status, const char *message)
{
	const char *got = obj_str(a.json, "message");
	if (a.status != status)
		fail_msg("status %d: %.*s", a.status, STR_ARG(a.body));
	if (message)
		assert_string_equal(got ? got : "", message);
}

static void allow(struct apifake *f, const char *name, const char *rule)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b,
		    "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRole\","
		    "\"metadata\":{\"name\":\"%s\"},\"rules\":[{\"verbs\":[\"impersonate\"],%s}]}",
		    name, rule);
	expect(apifake_do(f, "POST", RBAC "/clusterroles", b.buf), 201, NULL);
	strbuf_clear(&b);
	strbuf_addf(&b,
		    "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":"
		    "\"ClusterRoleBinding\",\"metadata\":{\"name\":\"%s\"},\"subjects\":[{\"kind\":"
		    "\"User\",\"name\":\"alice\"}],\"roleRef\":{\"apiGroup\":"
		    "\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"%s\"}}",
		    name, name);
	expect(apifake_do(f, "POST", RBAC "/clusterrolebindings", b.buf), 201, NULL);
}

/* alice may impersonate the user jane, the group dev, account robot of default, uid 7 and scopes a.
 */
static int setup(void **state)
{
	struct apifake *f = apifake_new(NULL);
	allow(f, "users",
	      "\"apiGroups\":[\"\"],\"resources\":[\"users\"],\"resourceNames\":[\"jane\","
	      "\"system:serviceaccount:default:a:b\",\"system:anonymous\"]");
	allow(f, "groups",
	      "\"apiGroups\":[\"\"],\"resources\":[\"groups\"],\"resourceNames\":[\"dev\","
	      "\"system:unauthenticated\"]");
	allow(f, "accounts",
	      "\"apiGroups\":[\"\"],\"resources\":[\"serviceaccounts\"],\"resourceNames\":["
	      "\"robot\"]");
	allow(f, "uids",
	      "\"apiGroups\":[\"authentication.k8s.io\"],\"resources\":[\"uids\"],"
	      "\"resourceNames\":[\"7\"]");
	allow(f, "scopes",
	      "\"apiGroups\":[\"authentication.k8s.io\"],\"resources\":[\"userextras/scopes\","
	      "\"userextras/acme.com/x\"],\"resourceNames\":[\"a\",\"b\"]");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	apifake_free(*state);
	return 0;
}

static struct answer who_am_i(struct apifake *f)
{
	apifake_header(f, "Authorization", "Bearer alice");
	return apifake_do(
		f, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
		"{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"SelfSubjectReview\"}");
}

static void is_user(struct answer a, const char *want)
{
	expect(a, 201, NULL);
	CLEANUP(xfreep) char *got = json_text(obj_path(a.json, "status.userInfo"));
	assert_string_equal(got, want);
}

static void test_impersonate__a_service_account_has_its_groups(void **state)
{
	struct apifake *f = *state;
	apifake_header(f, "Impersonate-User", "system:serviceaccount:default:robot");
	is_user(who_am_i(f), "{\"username\":\"system:serviceaccount:default:robot\",\"groups\":["
			     "\"system:serviceaccounts\",\"system:serviceaccounts:default\","
			     "\"system:authenticated\"]}");
	apifake_header(f, "Impersonate-User", "system:serviceaccount:default:robot");
	apifake_header(f, "Impersonate-Group", "dev");
	is_user(who_am_i(f),
		"{\"username\":\"system:serviceaccount:default:robot\",\"groups\":[\"dev\","
		"\"system:authenticated\"]}");
	apifake_header(f, "Impersonate-User", "system:serviceaccount:kube-system:other");
	expect(who_am_i(f), 403,
	       "serviceaccounts \"other\" is forbidden: User \"alice\" cannot impersonate resource "
	       "\"serviceaccounts\" in API group \"\" in the namespace \"kube-system\"");
}

static void test_impersonate__rights_of_the_account_count(void **state)
{
	struct apifake *f = *state;
	static const char path[] = "/api/v1/namespaces/default/configmaps";
	expect(apifake_do(f, "POST", RBAC "/namespaces/default/rolebindings",
			  "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":"
			  "\"RoleBinding\",\"metadata\":{\"name\":\"accounts\"},\"subjects\":[{"
			  "\"kind\":\"Group\",\"name\":\"system:serviceaccounts:default\"}],"
			  "\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":"
			  "\"ClusterRole\",\"name\":\"view\"}}"),
	       201, NULL);
	apifake_header(f, "Authorization", "Bearer alice");
	expect(apifake_do(f, "GET", path, NULL), 403, NULL);
	apifake_header(f, "Authorization", "Bearer alice");
	apifake_header(f, "Impersonate-User", "system:serviceaccount:default:robot");
	expect(apifake_do(f, "GET", path, NULL), 200, NULL);
}

static void test_impersonate__what_is_no_account_name_is_a_user(void **state)
{
	struct apifake *f = *state;
	apifake_header(f, "Impersonate-User", "system:serviceaccount:default:a:b");
	is_user(who_am_i(f), "{\"username\":\"system:serviceaccount:default:a:b\",\"groups\":["
			     "\"system:authenticated\"]}");
	apifake_header(f, "Impersonate-User", "system:serviceaccount::robot");
	expect(who_am_i(f), 403,
	       "users \"system:serviceaccount::robot\" is forbidden: User \"alice\" cannot "
	       "impersonate resource \"users\" in API group \"\" at the cluster scope");
}

static void test_impersonate__uid_and_extra_are_taken_and_checked(void **state)
{
	struct apifake *f = *state;
	apifake_header(f, "Impersonate-User", "jane");
	apifake_header(f, "Impersonate-Uid", "7");
	apifake_header(f, "Impersonate-Extra-Scopes", "a");
	apifake_header(f, "impersonate-extra-scopes", "b");
	apifake_header(f, "Impersonate-Extra-acme.com%2Fx", "a");
	is_user(who_am_i(f), "{\"username\":\"jane\",\"uid\":\"7\",\"groups\":["
			     "\"system:authenticated\"],\"extra\":{\"scopes\":[\"a\",\"b\"],"
			     "\"acme.com/x\":[\"a\"]}}");
	apifake_header(f, "Impersonate-User", "jane");
	apifake_header(f, "Impersonate-Uid", "8");
	struct answer a = who_am_i(f);
	expect(a, 403,
	       "uids.authentication.k8s.io \"8\" is forbidden: User \"alice\" cannot impersonate "
	       "resource \"uids\" in API group \"authentication.k8s.io\" at the cluster scope");
	assert_string_equal(obj_str(a.json, "details.kind"), "uids");
	assert_string_equal(obj_str(a.json, "details.name"), "8");
	apifake_header(f, "Impersonate-User", "jane");
	apifake_header(f, "Impersonate-Extra-Scopes", "c");
	expect(who_am_i(f), 403,
	       "userextras.authentication.k8s.io \"c\" is forbidden: User \"alice\" cannot "
	       "impersonate resource \"userextras/scopes\" in API group \"authentication.k8s.io\" "
	       "at the cluster scope");
}

static void test_impersonate__parts_without_a_user_are_refused(void **state)
{
	struct apifake *f = *state;
	static const char *const names[] = {"Impersonate-Group", "Impersonate-Uid",
					    "Impersonate-Extra-scopes"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		apifake_header(f, names[i], "a");
		expect(who_am_i(f), 400,
		       "Impersonate-Group, Impersonate-Uid and Impersonate-Extra-* need "
		       "Impersonate-User");
	}
}

static void test_impersonate__masters_need_the_right_to_the_group(void **state)
{
	struct apifake *f = *state;
	apifake_header(f, "Impersonate-User", "jane");
	apifake_header(f, "Impersonate-Group", "dev");
	apifake_header(f, "Impersonate-Group", "system:masters");
	expect(who_am_i(f), 403,
	       "groups \"system:masters\" is forbidden: User \"alice\" cannot impersonate resource "
	       "\"groups\" in API group \"\" at the cluster scope");
}

static void test_impersonate__the_anonymous_is_not_authenticated(void **state)
{
	struct apifake *f = *state;
	apifake_header(f, "Impersonate-User", "system:anonymous");
	expect(who_am_i(f), 403, NULL);
	apifake_header(f, "Impersonate-User", "jane");
	apifake_header(f, "Impersonate-Group", "system:unauthenticated");
	expect(who_am_i(f), 403, NULL);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_impersonate__a_service_account_has_its_groups),
		TEST(test_impersonate__rights_of_the_account_count),
		TEST(test_impersonate__what_is_no_account_name_is_a_user),
		TEST(test_impersonate__uid_and_extra_are_taken_and_checked),
		TEST(test_impersonate__parts_without_a_user_are_refused),
		TEST(test_impersonate__masters_need_the_right_to_the_group),
		TEST(test_impersonate__the_anonymous_is_not_authenticated),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
