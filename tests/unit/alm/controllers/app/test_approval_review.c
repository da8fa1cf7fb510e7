/* The webhook's verdicts of an InstallStrategy's approval: those of approver.yaml and blocked.yaml. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/controllers/app/approval_review.h"
#include "alm/obj/json.h"

#define REVIEW_MAX 8192

static struct obj *parse(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

/* By alice; the objects are JSON, before "null" of a create. */
static const char *review_of(const char *before, const char *after)
{
	static char text[REVIEW_MAX];
	int n = snprintf(
		text, sizeof(text),
		"{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{"
		"\"uid\":\"u-1\",\"resource\":{\"group\":\"opinstaller.coreos.com\",\"version\":"
		"\"v1beta1\",\"resource\":\"installstrategies\"},\"operation\":\"%s\","
		"\"userInfo\":{\"username\":\"alice\"},\"object\":%s,\"oldObject\":%s}}",
		strcmp(before, "null") ? "UPDATE" : "CREATE", after, before);
	assert_true(n > 0 && n < REVIEW_MAX);
	return text;
}

/* want NULL: allowed. */
static void assert_verdict(const char *before, const char *after, const char *want)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *review = parse(review_of(before, after));
	CLEANUP(obj_unrefp) struct obj *verdict = NULL;
	assert_ok(approval_review(review, &verdict, &err), &err);
	assert_string_equal(obj_str(verdict, "apiVersion"), "admission.k8s.io/v1");
	assert_string_equal(obj_str(verdict, "kind"), "AdmissionReview");
	assert_string_equal(obj_str(verdict, "response.uid"), "u-1");
	assert_int_equal(obj_flag(verdict, "response.allowed", !!want), !want);
	if (!want) {
		assert_null(obj_path(verdict, "response.status"));
		return;
	}
	assert_string_equal(obj_str(verdict, "response.status.message"), want);
	assert_int_equal(obj_i64(verdict, "response.status.code", 0), 403);
}

#define NOT_ALICE "an approval is of the user who gives it: spec.approvedBy must be \"alice\""
#define WAITS     "\"status\":{\"phase\":\"AwaitingApproval\"}"
#define IS_BLOCKED                                                                \
	"\"status\":{\"phase\":\"Blocked\",\"conditions\":[{\"status\":\"True\"," \
	"\"reason\":\"Fine\"},{\"status\":\"False\",\"reason\":\"DigestMismatch\"}]}"
#define SPEC(more) "\"spec\":{\"approved\":true," more "}"
#define BY(who)    "\"approvedBy\":\"" who "\""
#define WHY(text)  ",\"approvalReason\":\"" text "\""

static void test_approval_review__an_approval_is_of_who_gives_it(void **state)
{
	(void)state;
	const char *open = "{\"spec\":{}," WAITS "}";
	assert_verdict(open, "{" SPEC(BY("alice")) "}", NULL);
	assert_verdict(open, "{" SPEC(BY("bob")) "}", NOT_ALICE);
	assert_verdict(open, "{\"spec\":{\"approved\":true}}", NOT_ALICE);
	assert_verdict("null", "{" SPEC(BY("bob")) "}", NOT_ALICE);
	assert_verdict("null", "{" SPEC(BY("alice")) "}", NULL);
	assert_verdict("null", "{\"spec\":{}}", NULL);
	assert_verdict(open, "{\"spec\":{\"approved\":false," BY("alice") "}}",
		       "spec.approvedBy without spec.approved: leave it out");
}

static void test_approval_review__what_was_approved_stays_so_as_it_is(void **state)
{
	(void)state;
	const char *by_bob = "{" SPEC(BY("bob") WHY("CHG-1")) "," WAITS "}";
	assert_verdict(by_bob, by_bob, NULL);
	assert_verdict(by_bob, "{" SPEC(BY("bob") WHY("CHG-2")) "}", NOT_ALICE);
	assert_verdict(by_bob,
		       "{" SPEC(BY("bob") WHY("CHG-1") ",\"approvedPlan\":\"sha256:1\"") "}",
		       NOT_ALICE);
	assert_verdict(by_bob, "{" SPEC(BY("carol") WHY("CHG-1")) "}", NOT_ALICE);
	assert_verdict(by_bob, "{\"spec\":{}}", NULL); /* taken back */
}

static void test_approval_review__a_blocked_version_takes_no_new_one(void **state)
{
	(void)state;
	const char *blocked = "the version is Blocked (DigestMismatch): there is nothing to "
			      "approve; alm status has the steps";
	const char *kept = "{" SPEC(BY("bob") WHY("CHG-1")) "," IS_BLOCKED "}";
	assert_verdict("{\"spec\":{}," IS_BLOCKED "}", "{" SPEC(BY("alice")) "}", blocked);
	assert_verdict("{\"spec\":{},\"status\":{\"phase\":\"Blocked\"}}",
		       "{" SPEC(BY("alice")) "}",
		       "the version is Blocked: there is nothing to approve; alm status has the "
		       "steps");
	assert_verdict("{\"spec\":{}," IS_BLOCKED "}", "{\"spec\":{}}", NULL);
	assert_verdict(kept, kept, NULL);
	assert_verdict(kept, "{" SPEC(BY("alice") WHY("CHG-2")) "}", blocked);
}

static void assert_no_review(const char *text)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *review = parse(text);
	struct obj *verdict = NULL;
	assert_int_equal(approval_review(review, &verdict, &err), -E_INVALID);
	assert_null(verdict);
	assert_true(*err.msg != '\0');
}

/* from becomes to in a review that is one. */
static void assert_no_review_with(const char *from, const char *to)
{
	char text[REVIEW_MAX];
	const char *whole = review_of("{}", "{}"), *at = strstr(whole, from);
	assert_non_null(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - whole), whole, to, at + strlen(from));
	assert_no_review(text);
}

static void test_approval_review__of_nothing_else_there_is_a_verdict(void **state)
{
	(void)state;
	assert_verdict("{}", "{}", NULL);
	assert_no_review("{}");
	assert_no_review("[]");
	assert_no_review("{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\"}");
	assert_no_review_with("admission.k8s.io/v1", "admission.k8s.io/v1beta1");
	assert_no_review_with("\"AdmissionReview\"", "\"Review\"");
	assert_no_review_with("\"uid\":\"u-1\",", "");
	assert_no_review_with("\"username\":\"alice\"", "\"username\":7");
	assert_no_review_with("opinstaller.coreos.com", "example.com");
	assert_no_review_with("installstrategies", "catalogs");
	assert_no_review_with("UPDATE", "DELETE");
	assert_no_review_with("\"operation\"", "\"subResource\":\"status\",\"operation\"");
	assert_no_review_with("\"object\":{}", "\"object\":[]");
	char uid[300];
	snprintf(uid, sizeof(uid), "%0*d", 290, 1);
	assert_no_review_with("u-1", uid);
}

static void assert_wants(const char *message, const char *want)
{
	struct str is = approval_review_wants(message);
	assert_int_equal(is.len, strlen(want));
	assert_memory_equal(is.len ? is.ptr : want, want, is.len);
}

#define BY_WEBHOOK "admission webhook \"approvals.opinstaller.coreos.com\" denied the request: "
#define BY_POLICY                                                                   \
	"installstrategies.opinstaller.coreos.com \"a-1\" is forbidden: "           \
	"ValidatingAdmissionPolicy 'approver.opinstaller.coreos.com' with binding " \
	"'approver.opinstaller.coreos.com' denied request: "

static void test_approval_review__a_refusal_says_who_is_wanted(void **state)
{
	(void)state;
	assert_wants(BY_WEBHOOK NOT_ALICE, "alice");
	assert_wants(BY_POLICY NOT_ALICE, "alice");
	assert_wants(BY_WEBHOOK "spec.approvedBy must be \"system:serviceaccount:a:b\"",
		     "system:serviceaccount:a:b");
	assert_wants("", "");
	assert_wants("installstrategies \"a-1\" not found", "");
	assert_wants(BY_WEBHOOK "spec.approvedBy without spec.approved: leave it out", "");
	assert_wants("spec.approvedBy must be \"\"", "");
	assert_wants("spec.approvedBy must be \"a name that was cut o", "");
	assert_wants("spec.approvedBy must be ", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_approval_review__an_approval_is_of_who_gives_it),
		cmocka_unit_test(test_approval_review__what_was_approved_stays_so_as_it_is),
		cmocka_unit_test(test_approval_review__a_blocked_version_takes_no_new_one),
		cmocka_unit_test(test_approval_review__of_nothing_else_there_is_a_verdict),
		cmocka_unit_test(test_approval_review__a_refusal_says_who_is_wanted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
