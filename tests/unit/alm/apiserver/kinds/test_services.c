/* test_services.c: Services as a real 1.36 refuses them: what has to be given out alone, then the rest in its order (seen by tests/fuzz/diff_api.py). */
#include "alm/apiserver/kinds/services.h"
#include "alm/base/arena.h"
#include "alm/base/strbuf.h"
#include "alm/obj/field_error.h"
#include "alm/obj/json.h"
#include "tests/lib/test.h"

#define IP "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"

#define CLIENT(seconds)                                                                       \
	"{\"spec\":{\"type\":\"ClusterIP\",\"clusterIP\":\"None\",\"clusterIPs\":[\"None\"]," \
	"\"sessionAffinity\":\"ClientIP\",\"sessionAffinityConfig\":{\"clientIP\":{"          \
	"\"timeoutSeconds\":" seconds "}}}}"
#define TIMEOUT(seconds)                                                              \
	"spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: " seconds \
	": must be greater than 0 and less than 86400"

static const struct {
	const char *json, *want;
} rows[] = {
	{CLIENT("0"), TIMEOUT("0")},
	{CLIENT("1"), ""},
	{CLIENT("86400"), ""},
	{CLIENT("86401"), TIMEOUT("86401")},
	{"{\"spec\":{\"type\":\"ClusterIP\",\"clusterIP\":\"x\",\"clusterIPs\":[\"x\"],"
	 "\"loadBalancerClass\":\"a\"}}",
	 "spec.clusterIPs[0]: Invalid value: \"x\": " IP},
	{"{\"spec\":{\"type\":\"ClusterIP\",\"clusterIPs\":[\"None\",\"y\"],\"clusterIP\":\"None\"}"
	 "}",
	 "[spec.clusterIPs: Invalid value: [\"None\",\"y\"]: 'None' must be the first and only "
	 "value, spec.clusterIPs[1]: "
	 "Invalid value: \"y\": " IP "]"},
	{"{\"spec\":{\"type\":\"ClusterIP\",\"ipFamilies\":[\"IPv4\",\"IPv4\",\"\"]}}",
	 "[spec.ipFamilies[1]: Duplicate value: \"IPv4\", spec.ipFamilies[2]: Unsupported value: "
	 "\"\": supported values: \"IPv4\", "
	 "\"IPv6\"]"},
	{"{\"spec\":{\"type\":\"ClusterIP\",\"clusterIP\":\"10.0.0.9\",\"clusterIPs\":[\"10.0.0."
	 "9\"],\"ipFamilies\":[\"IPv6\"]}}",
	 "spec.clusterIPs[0]: Invalid value: \"10.0.0.9\": expected an IPv6 value as indicated by "
	 "`ipFamilies[0]`"},
	{"{\"spec\":{\"type\":\"ClusterIP\",\"clusterIP\":\"::1\",\"clusterIPs\":[\"::1\"]}}",
	 "spec.clusterIPs[0]: Invalid value: [\"::1\"]: IPv6 is not configured on this cluster"},
	{"{\"spec\":{\"type\":\"ClusterIP\",\"clusterIP\":\"None\",\"clusterIPs\":[\"None\"],"
	 "\"selector\":{\"a\":\"b\"},\"ports\":["
	 "{\"port\":80,\"protocol\":\"x\",\"targetPort\":\"-a\",\"nodePort\":30000}],"
	 "\"externalIPs\":[\"\"],\"loadBalancerClass\":\"a\","
	 "\"trafficDistribution\":\"y\"}}",
	 "[spec.ports[0].protocol: Unsupported value: \"x\": supported values: \"SCTP\", \"TCP\", "
	 "\"UDP\", spec.ports[0].targetPort: "
	 "Invalid value: \"-a\": must not begin or end with a hyphen, spec.externalIPs[0]: Invalid "
	 "value: \"\": " IP ", spec.ports[0].nodePort: Forbidden: may not be used when `type` is "
	 "'ClusterIP', spec.loadBalancerClass: Forbidden: may only be "
	 "used when `type` is 'LoadBalancer', spec.trafficDistribution: Unsupported value: \"y\": "
	 "supported values: \"PreferClose\", "
	 "\"PreferSameZone\", \"PreferSameNode\"]"},
};

static void test_services__in_the_real_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(FIELD_ERRORS_BYTES_MAX);
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FIELD_ERRORS_BYTES_MAX);
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		struct field_errors e;
		struct error err = ERROR_INIT;
		assert_ok(json_parse(str_of(rows[i].json), &o, &err), &err);
		field_errors_init(&e, a);
		services_validate(NULL, o, NULL, NULL, &e);
		field_errors_text(&e, &b);
		assert_string_equal(b.buf ? b.buf : "", rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_services__in_the_real_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
