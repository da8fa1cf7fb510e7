/* test_differs.c: generated writes of built-in kinds that once were answered otherwise here, and what a real kube-apiserver 1.36
 * made of them (tests/fuzz/diff_api.py). */
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/replay.h"
#include "tests/lib/test.h"

#define CSRS "/apis/certificates.k8s.io/v1/certificatesigningrequests"
/* An ECDSA key, CN=a. */
#define CSR                                                                                \
	"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIRk1HNENBUUF3RERFS01BZ0dBMVVF" \
	"QXd3QllUQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCUFZsTGVseEp2OGdKWG55NFNC" \
	"QVJHdCtRL01UMkpRclpaaVp4YXJTNW5xV1RQdk1xdEcvQVgrY3IvTTVodGJUClQwczBLeDVTczVTVWNl" \
	"MXcxOXJVNnl1Z0FEQUtCZ2dxaGtqT1BRUURBZ05IQURCRUFpQlpWVWw2N0wvWVNHQlYKQyt4am54TmZq" \
	"Mk5aWDV6b0t4a01CVVYzbzdlS25RSWdKOGtCSjFQMDZaRUJVOXkrZnl2ZWRyVHJ1eFVUTWlNQwo3cnFE" \
	"SzNKYkwyaz0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=="

static void test_differs__answers_are_those_of_a_real_server(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/differs.jsonl", 500, NULL);
}

/* What Go writes always: structs that are no pointers, and in them what has no omitempty. */
static void test_differs__fields_that_nobody_wrote(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/bare.jsonl", 45, NULL);
}

/* Of the workloads and what they need, with who owns what. */
static void test_differs__of_workloads(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/differs_core.jsonl", 100, NULL);
}

/* Of those in which most fields stand, and of their statuses. */
static void test_differs__of_rich_workloads(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/differs_rich.jsonl", 150, NULL);
}

/* Of all other kinds, of definitions and of what they define. */
static void test_differs__of_other_kinds(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/differs_rest.jsonl", 100, NULL);
}

/* Each sentence of the validation of built-in kinds, aimed at (tests/fuzz/aimed.py). */
static void test_differs__what_is_aimed_at(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/aimed.jsonl", 1300, NULL);
}

/* What was stored before its schema was changed may stay as it is. */
static void test_differs__a_stricter_schema(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/ratchet.jsonl", 80, NULL);
}

/* What is kept of what two versions have other fields for. */
static void test_differs__forms_of_a_definition(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/forms.jsonl", 70, NULL);
}

/* Pods that are resized and bound, and components. */
static void test_differs__of_pods(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/pods.jsonl", 130, NULL);
}

/* What is rarely sent. */
static void test_differs__small_things(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/small.jsonl", 35, NULL);
}

/* What is null or empty, or set for one version of several. */
static void test_differs__what_is_null_or_empty(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/odd.jsonl", 200, NULL);
}

/* And what commands of kubectl showed (tests/fuzz/diff_kubectl.py). */
static void test_differs__what_kubectl_showed(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/kubectl.jsonl", 40, NULL);
}

/* Signers believe it: it is the server that says who asks, and nobody changes it. */
static void test_differs__who_asks_for_a_certificate(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct answer a = apifake_do(
		f, "POST", CSRS,
		"{\"metadata\":{\"name\":\"c\"},\"spec\":{\"request\":\"" CSR
		"\",\"signerName\":\"e.io/s\",\"usages\":[\"client auth\"],\"username\":\"root\","
		"\"groups\":[\"system:masters\",\"mine\"],\"uid\":\"0\"}}");
	assert_int_equal(a.status, 201);
	assert_string_not_equal(obj_str(a.json, "spec.username"), "root");
	CLEANUP(xfreep) char *groups = json_text(obj_path(a.json, "spec.groups"));
	assert_null(strstr(groups, "mine"));
	assert_non_null(strstr(groups, "system:"));
	CLEANUP(xfreep) char *was = json_text(obj_get(a.json, "spec"));
	a = apifake_do_type(f, "PATCH", CSRS "/c", "application/merge-patch+json",
			    "{\"spec\":{\"username\":\"root\",\"usages\":[\"server auth\"]}}");
	CLEANUP(xfreep) char *is = json_text(obj_get(a.json, "spec"));
	assert_int_equal(a.status, 200);
	assert_string_equal(is, was);
}

/* What is empty where nothing may stand comes before that a Pod may not change, which a real server says with a diff of its structs. */
static void test_differs__empty_rules_of_a_later_container(void **state)
{
	static const char pods[] = "/api/v1/namespaces/default/pods";
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct answer a = apifake_do(f, "POST", pods,
				     "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"containers\":[{"
				     "\"name\":\"a\",\"image\":\"i\"}]}}");
	assert_int_equal(a.status, 201);
	a = apifake_do_type(f, "PATCH", "/api/v1/namespaces/default/pods/a",
			    "application/merge-patch+json",
			    "{\"spec\":{\"ephemeralContainers\":[{\"name\":\"b\",\"image\":\"i\","
			    "\"restartPolicyRules\":[]}]}}");
	assert_int_equal(a.status, 422);
	const struct obj *causes = obj_path(a.json, "details.causes");
	assert_int_equal(obj_len(causes), 2);
	assert_string_equal(obj_str(obj_at(causes, 0), "field"),
			    "spec.ephemeralContainers[0].restartPolicyRules");
	assert_string_equal(obj_str(obj_at(causes, 1), "field"), "spec");
}

/* As a real 1.36 tells them: of each such container in turn, and in the order of its fields. */
static void test_differs__empty_fields_of_later_containers(void **state)
{
	static const char *const fields[] = {"[0].resizePolicy", "[0].startupProbe", "[1].image",
					     "spec.ephemeralContainers"};
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct answer a = apifake_do(
		f, "POST", "/api/v1/namespaces/default/podtemplates",
		"{\"metadata\":{\"name\":\"a\"},\"template\":{\"spec\":{\"containers\":[{\"name\":"
		"\"a\","
		"\"image\":\"i\"}],\"ephemeralContainers\":[{\"name\":\"b\",\"image\":\"i\","
		"\"startupProbe\":{\"exec\":{\"command\":[\"a\"]}},\"resizePolicy\":[]},{\"name\":"
		"\"c\"}]"
		"}}}");
	assert_int_equal(a.status, 422);
	const struct obj *causes = obj_path(a.json, "details.causes");
	assert_int_equal(obj_len(causes), ARRAY_LEN(fields));
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		assert_true(cstr_has_suffix(obj_str(obj_at(causes, i), "field"), fields[i]));
}

/* What a check looks at is as long as a body may be. */
static void test_differs__a_long_text(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	strbuf_adds(&b, "{\"metadata\":{\"name\":\"a\"},\"provisioner\":\"");
	strbuf_pad(&b, 'A', 600000);
	strbuf_adds(&b, "\"}");
	struct answer a = apifake_do(f, "POST", "/apis/storage.k8s.io/v1/storageclasses", b.buf);
	assert_int_equal(a.status, 422);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differs__a_stricter_schema),
		cmocka_unit_test(test_differs__forms_of_a_definition),
		cmocka_unit_test(test_differs__of_pods),
		cmocka_unit_test(test_differs__small_things),
		cmocka_unit_test(test_differs__fields_that_nobody_wrote),
		cmocka_unit_test(test_differs__what_is_null_or_empty),
		cmocka_unit_test(test_differs__what_kubectl_showed),
		cmocka_unit_test(test_differs__who_asks_for_a_certificate),
		cmocka_unit_test(test_differs__answers_are_those_of_a_real_server),
		cmocka_unit_test(test_differs__of_workloads),
		cmocka_unit_test(test_differs__of_rich_workloads),
		cmocka_unit_test(test_differs__of_other_kinds),
		cmocka_unit_test(test_differs__what_is_aimed_at),
		cmocka_unit_test(test_differs__empty_rules_of_a_later_container),
		cmocka_unit_test(test_differs__empty_fields_of_later_containers),
		cmocka_unit_test(test_differs__a_long_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
