/* Who approved an InstallStrategy: the user of the request, and nobody he names. */
#include "alm/apiserver/auth/approval.h"
#include "alm/base/carried.h"

#include "crds/kinds.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define IST   "/apis/opinstaller.coreos.com/v1beta1/installstrategies"
#define ONE   IST "/s"
#define RBAC  "/apis/rbac.authorization.k8s.io/v1"
#define MERGE "application/merge-patch+json"
#define PLAN  "sha256:0123456789012345678901234567890123456789012345678901234567890123"

static void expect(struct answer a, int status, const char *text)
{
	if (a.status != status)
		fail_msg("status %d: %.*s", a.status, STR_ARG(a.body));
	if (text && str_find(a.body, str_of(text)) < 0)
		fail_msg("no '%s' in %.*s", text, STR_ARG(a.body));
}

static void bind(struct apifake *f, const char *name, const char *user)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b,
		    "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":"
		    "\"ClusterRoleBinding\",\"metadata\":{\"name\":\"%s\"},\"subjects\":[{\"kind\":"
		    "\"User\",\"name\":\"%s\"}],\"roleRef\":{\"apiGroup\":"
		    "\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":"
		    "\"cluster-admin\"}}",
		    name, user);
	expect(apifake_do(f, "POST", RBAC "/clusterrolebindings", b.buf), 201, NULL);
}

/* Owned. */
static char *definition(const char *plural)
{
	for (size_t i = 0; i < n_crd_kinds; i++)
		if (!strcmp(crd_kinds[i]->plural, plural))
			return carried_read(crd_kinds[i]->yaml);
	fail_msg("no kind %s", plural);
	return NULL;
}

static int setup(void **state)
{
	static const struct apifake_options o = {.own_controllers = true};
	struct apifake *f = apifake_new(&o);
	CLEANUP(xfreep) char *yaml = definition("installstrategies");
	expect(apifake_do_type(f, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
			       "application/yaml", yaml),
	       201, NULL);
	bind(f, "alice", "alice");
	bind(f, "bob", "bob");
	expect(apifake_do(f, "POST", IST,
			  "{\"apiVersion\":\"opinstaller.coreos.com/v1beta1\",\"kind\":"
			  "\"InstallStrategy\",\"metadata\":{\"name\":\"s\"},\"spec\":{"
			  "\"appTypeRef\":{\"name\":\"etcd\"},\"version\":\"0.9.6\",\"strategy\":{"
			  "\"type\":\"helm\"}}}"),
	       201, NULL);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	apifake_free(*state);
	return 0;
}

static struct answer as(struct apifake *f, const char *user, const char *type, const char *body)
{
	apifake_header(f, "Impersonate-User", user);
	return apifake_do_type(f, "PATCH",
			       cstr_eq(type, MERGE) ? ONE : ONE "?fieldManager=t&force=true", type,
			       body);
}

static void is_by(struct answer a, const char *want)
{
	expect(a, 200, NULL);
	const char *got = obj_str(a.json, "spec.approvedBy");
	if (!cstr_eq(got, want))
		fail_msg("approvedBy %s, want %s", got ? got : "(none)", want ? want : "(none)");
}

static void test_approval__the_name_is_the_users(void **state)
{
	struct apifake *f = *state;
	is_by(as(f, "alice", MERGE, "{\"spec\":{\"approved\":true,\"approvedPlan\":\"" PLAN "\"}}"),
	      "alice");
	is_by(as(f, "bob", MERGE, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"), "alice");
	is_by(as(f, "bob", MERGE, "{\"spec\":{\"approved\":true}}"), "alice");
	is_by(as(f, "bob", MERGE, "{\"spec\":{\"approvedBy\":null}}"), "alice");
	is_by(as(f, "bob", MERGE, "{\"spec\":{\"approvalReason\":\"CHG-1\"}}"), "bob");
	is_by(as(f, "alice", MERGE, "{\"spec\":{\"approved\":false}}"), NULL);
	is_by(as(f, "alice", MERGE, "{\"spec\":{\"approved\":true,\"approvedBy\":\"alice\"}}"),
	      "alice");
}

static void test_approval__nobody_approves_for_another(void **state)
{
	struct apifake *f = *state;
	static const char *const forged[] = {
		"{\"spec\":{\"approved\":true,\"approvedBy\":\"ciso@corp\"}}",
		"{\"spec\":{\"approvedBy\":\"ciso@corp\"}}",
	};
	static const char words[] =
		"spec.approvedBy: Invalid value: \\\"ciso@corp\\\": an approval "
		"is of the user who gives it, \\\"alice\\\"";
	for (size_t i = 0; i < ARRAY_LEN(forged); i++)
		expect(as(f, "alice", MERGE, forged[i]), 422, words);
	expect(as(f, "alice", "application/apply-patch+yaml",
		  "{\"apiVersion\":\"opinstaller.coreos.com/v1beta1\",\"kind\":\"InstallStrategy\","
		  "\"metadata\":{\"name\":\"s\"},\"spec\":{\"approved\":true,\"approvedBy\":"
		  "\"ciso@corp\"}}"),
	       422, words);
	is_by(as(f, "bob", MERGE, "{\"spec\":{\"approved\":true}}"), "bob");
	expect(as(f, "alice", MERGE, forged[1]), 422, NULL);
	apifake_header(f, "Impersonate-User", "alice");
	expect(apifake_do(f, "POST", IST,
			  "{\"apiVersion\":\"opinstaller.coreos.com/v1beta1\",\"kind\":"
			  "\"InstallStrategy\",\"metadata\":{\"name\":\"t\"},\"spec\":{"
			  "\"appTypeRef\":{\"name\":\"etcd\"},\"version\":\"0.9.6\",\"strategy\":{"
			  "\"type\":\"helm\"},\"approved\":true,\"approvedBy\":"
			  "\"ciso@corp\"}}"),
	       422, words);
}

static void test_approval__the_status_of_it_is_the_controllers(void **state)
{
	struct apifake *f = *state;
	static const char status[] = "{\"status\":{\"approval\":{\"by\":\"ciso@corp\"}}}";
	apifake_header(f, "Impersonate-User", "alice");
	expect(apifake_do_type(f, "PATCH", ONE "/status", MERGE, status), 422, "status.approval");
	apifake_header(f, "Impersonate-User", "alice");
	expect(apifake_do_type(f, "PATCH", ONE "/status", MERGE,
			       "{\"status\":{\"phase\":\"Pending\"}}"),
	       200, NULL);
	apifake_trust(f, "alm-00000000-1-0-1");
	expect(apifake_do_type(f, "PATCH", ONE "/status", MERGE, status), 200, NULL);
}

static void test_approval__what_is_blocked_is_not_approved(void **state)
{
	struct apifake *f = *state;
	static const char words[] = "spec.approved: Forbidden: the version is Blocked, there is "
				    "nothing to approve: alm status has the steps";
	static const char approve[] = "{\"spec\":{\"approved\":true}}";
	static const char *const phases[] = {"{\"status\":{\"phase\":\"Blocked\"}}",
					     "{\"status\":{\"phase\":\"AwaitingApproval\"}}"};
	expect(apifake_do_type(f, "PATCH", ONE "/status", MERGE, phases[0]), 200, NULL);
	struct answer no = as(f, "alice", MERGE, approve);
	expect(no, 422, words);
	assert_string_equal(obj_str(no.json, "details.causes[0].reason"), "FieldValueForbidden");
	is_by(as(f, "alice", MERGE, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"), NULL);
	expect(apifake_do_type(f, "PATCH", ONE "/status", MERGE, phases[1]), 200, NULL);
	is_by(as(f, "alice", MERGE, approve), "alice");
	expect(apifake_do_type(f, "PATCH", ONE "/status", MERGE, phases[0]), 200, NULL);
	is_by(as(f, "bob", MERGE, "{\"spec\":{\"approved\":true},\"metadata\":{\"labels\":null}}"),
	      "alice");
	expect(as(f, "bob", MERGE, "{\"spec\":{\"approvalReason\":\"CHG-1\"}}"), 422, words);
	is_by(as(f, "bob", MERGE, "{\"spec\":{\"approved\":false}}"), NULL);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_approval__the_name_is_the_users),
		TEST(test_approval__nobody_approves_for_another),
		TEST(test_approval__the_status_of_it_is_the_controllers),
		TEST(test_approval__what_is_blocked_is_not_approved),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
