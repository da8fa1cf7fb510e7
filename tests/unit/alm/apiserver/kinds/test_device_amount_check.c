/* test_device_amount_check.c: amounts of a device that may be asked for, and its network, in the words of Kubernetes 1.36. */
#include "alm/apiserver/kinds/device_amount_check.h"

#include "alm/obj/json.h"
#include "tests/lib/test.h"

static struct arena *a;

static int setup(void **state)
{
	(void)state;
	a = arena_new((size_t)1 << 20);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(a);
	return 0;
}

/* What is told of the JSON, or "". */
static const char *
told(void (*check)(struct field_errors *e, const char *path, const struct obj *o), const char *json)
{
	struct field_errors *e = ARENA_NEW(a, struct field_errors);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FIELD_ERRORS_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(str_of(json), &o, &err), &err);
	field_errors_init(e, a);
	check(e, "p", o);
	field_errors_text(e, &b);
	return arena_strndup(a, b.buf ? b.buf : "", b.len);
}

/* As a real 1.36.3 told them, but for the step of 0, on which its handler panics. */
static void test_device_amount__policies(void **state)
{
	(void)state;
	static const struct {
		const char *policy, *want;
	} rows[] = {
		{"{}", ""},
		{"{\"default\":\"9\"}", ""},
		{"{\"default\":\"1\",\"validValues\":[\"1\",\"2\"]}", ""},
		{"{\"default\":\"1\",\"validRange\":{\"min\":\"1\",\"max\":\"5\",\"step\":\"2\"}}",
		 ""},
		{"{\"validValues\":[\"1\"],\"validRange\":{\"min\":\"1\"}}",
		 "p: Forbidden: exactly one policy can be specified, cannot specify "
		 "\"validValues\" and \"validRange\" at the same time"},
		{"{\"validValues\":[\"1\"]}",
		 "p.default: Required value: required when validValues is defined"},
		{"{\"validRange\":{\"min\":\"1\"}}",
		 "p.default: Required value: required when validRange is defined"},
		{"{\"default\":\"1\",\"validRange\":{}}",
		 "p.validRange.min: Required value: required when validRange is defined"},
		{"{\"default\":\"1\",\"validValues\":[\"2\"]}",
		 "p.validValues: Invalid value: \"1\": default value is not valid according to the "
		 "requestPolicy"},
		{"{\"default\":\"1\",\"validValues\":[\"6\",\"1\",\"1\"]}",
		 "[p.validValues[1]: Invalid value: \"1\": values must be sorted in ascending "
		 "order, "
		 "p.validValues[0]: Invalid value: \"6\": option is larger than capacity value: 5, "
		 "p.validValues[2]: Duplicate value: \"1\"]"},
		{"{\"default\":\"1\",\"validValues\":[\"1\",\"1\",\"1\",\"1\",\"1\",\"1\",\"1\","
		 "\"1\",\"1\",\"1\",\"1\"]}",
		 "[p.validValues: Too many: 11: must have at most 10 items, p.validValues: Invalid "
		 "value: \"1\": default value is not valid according to the requestPolicy]"},
		{"{\"default\":\"1\",\"validRange\":{\"min\":\"2\",\"max\":\"1500m\","
		 "\"step\":\"4\"}}",
		 "[p.validRange.min: Invalid value: \"1\": default is less than min: 2, "
		 "p.validRange.max: Invalid value: \"2\": min is larger than max: 1500m, "
		 "p.validRange.step: Invalid value: \"4\": one step 6 is larger than capacity "
		 "value: "
		 "5, p.validRange.step: Invalid value: \"1\": value is not a multiple of a given "
		 "step (4) from (2)]"},
		{"{\"default\":\"9\",\"validRange\":{\"min\":\"6\",\"max\":\"7\"}}",
		 "[p.validRange.min: Invalid value: \"6\": min is larger than capacity value: 5, "
		 "p.validRange.max: Invalid value: \"7\": max is larger than capacity value: 5, "
		 "p.validRange.max: Invalid value: \"9\": default is more than max: 7]"},
		{"{\"default\":\"1\",\"validRange\":{\"min\":\"1\",\"step\":\"0\"}}",
		 "p.validRange.step: Invalid value: \"1\": value is not a multiple of a given step "
		 "(0) "
		 "from (1)"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(told(check_request_policy,
					 arena_fmt(a, "{\"value\":\"5\",\"requestPolicy\":%s}",
						   rows[i].policy)),
				    rows[i].want);
}

static void test_device_amount__networks(void **state)
{
	(void)state;
	static const struct {
		const char *data, *want;
	} rows[] = {
		{"{\"ips\":[\"10.9.8.7/24\",\"2001:db8::1/64\"],\"interfaceName\":\"eth0\"}", ""},
		{"{\"ips\":[\"10.9.8.7\"]}", "p.ips[0]: Invalid value: \"10.9.8.7\": must be a "
					     "valid address in CIDR form, (e.g. "
					     "10.9.8.7/24 or 2001:db8::1/64)"},
		{"{\"ips\":[\"10.9.08.7/24\"]}",
		 "p.ips[0]: Invalid value: \"10.9.08.7/24\": must be in canonical form "
		 "(\"10.9.8.7/24\")"},
		{"{\"ips\":[\"::ffff:192.168.0.1/120\"]}",
		 "p.ips[0]: Invalid value: \"::ffff:192.168.0.1/120\": must be in canonical form "
		 "(\"192.168.0.1/24\")"},
		{"{\"ips\":[\"10.9.8.7/24\",\"10.9.8.7/24\"]}",
		 "p.ips[1]: Duplicate value: \"10.9.8.7/24\""},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(told(check_device_network, rows[i].data), rows[i].want);
	char name[300] = {0};
	memset(name, 'a', 257);
	assert_string_equal(
		told(check_device_network, arena_fmt(a, "{\"interfaceName\":\"%s\"}", name)),
		"p.interfaceName: Too long: may not be more than 256 bytes");
	assert_string_equal(
		told(check_device_network, arena_fmt(a, "{\"hardwareAddress\":\"%.129s\"}", name)),
		"p.hardwareAddress: Too long: may not be more than 128 bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device_amount__policies),
		cmocka_unit_test(test_device_amount__networks),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
