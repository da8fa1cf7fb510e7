#include <stdio.h>

#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

/* Of every webhook and every rule of it, not of the first. */
static void test_hook_check__each_has_its_defaults(void **state)
{
	(void)state;
	static const char *const kinds[][2] = {{"Mutating", "mutatingwebhookconfigurations"},
					       {"Validating", "validatingwebhookconfigurations"}};
#define RULES                                                                                    \
	"\"rules\":[{\"apiGroups\":[\"\"],\"apiVersions\":[\"v1\"],\"resources\":[\"a\"],"       \
	"\"operations\":[\"*\"]},{\"apiGroups\":[\"\"],\"apiVersions\":[\"v1\"],\"resources\":[" \
	"\"b\"],\"operations\":[\"*\"]}],\"sideEffects\":\"None\",\"admissionReviewVersions\":[" \
	"\"v1\"],\"clientConfig\":{\"service\":{\"namespace\":\"n\",\"name\":\"s\"}}"
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		char path[128], body[2048];
		(void)snprintf(path, sizeof(path), "/apis/admissionregistration.k8s.io/v1/%s",
			       kinds[i][1]);
		(void)snprintf(body, sizeof(body),
			       "{\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"kind\":"
			       "\"%sWebhookConfiguration\",\"metadata\":{\"name\":\"c\"},"
			       "\"webhooks\":[{\"name\":\"a.x.io\"," RULES
			       "},{\"name\":\"b.x.io\"," RULES "}]}",
			       kinds[i][0]);
		struct answer a = apifake_do(f, "POST", path, body);
		assert_int_equal(a.status, 201);
		for (size_t k = 0; k < 2; k++) {
			const struct obj *h = obj_at(obj_get(a.json, "webhooks"), k);
			assert_string_equal(obj_str(h, "failurePolicy"), "Fail");
			assert_string_equal(obj_str(h, "matchPolicy"), "Equivalent");
			assert_true(obj_has(h, "namespaceSelector") &&
				    obj_has(h, "objectSelector"));
			assert_int_equal(obj_i64(h, "timeoutSeconds", 0), 10);
			assert_int_equal(obj_i64(h, "clientConfig.service.port", 0), 443);
			assert_int_equal(obj_has(h, "reinvocationPolicy"), i == 0);
			for (size_t n = 0; n < 2; n++)
				assert_string_equal(
					obj_str(obj_at(obj_get(h, "rules"), n), "scope"), "*");
		}
	}
#undef RULES
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hook_check__each_has_its_defaults),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
