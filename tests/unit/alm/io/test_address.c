#include "tests/lib/test.h"

#include "alm/io/address.h"

static struct address parsed(const char *text)
{
	struct address a;
	if (!address_parse(str_of(text), &a))
		fail_msg("%s is no address", text);
	return a;
}

static void test_address__what_is_not_public(void **state)
{
	static const char *const rows[] = {
		"0.0.0.0",
		"0.1.2.3",
		"10.0.0.1",
		"10.255.255.255",
		"100.64.0.1",
		"100.127.255.255",
		"127.0.0.1",
		"127.255.0.1",
		"169.254.169.254",
		"172.16.0.1",
		"172.31.255.255",
		"192.0.0.1",
		"192.0.2.1",
		"192.168.1.1",
		"198.18.0.1",
		"198.19.255.255",
		"198.51.100.7",
		"203.0.113.7",
		"224.0.0.1",
		"239.1.2.3",
		"240.0.0.1",
		"255.255.255.255",
		"::",
		"::1",
		"::7f00:1",
		"::ffff:10.0.0.1",
		"::ffff:127.0.0.1",
		"64:ff9b::a00:1",
		"64:ff9b:1::1",
		"100::1",
		"2001::1",
		"2001:db8::1",
		"2002:a00:1::1",
		"2002:7f00:1::",
		"3fff::1",
		"4000::1",
		"fc00::1",
		"fd00:ec2::254",
		"fe80::1",
		"febf::1",
		"fec0::1",
		"ff02::1",
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct address a = parsed(rows[i]);
		if (address_is_public(&a))
			fail_msg("%s is taken as public", rows[i]);
	}
}

static void test_address__what_is_public(void **state)
{
	static const char *const rows[] = {
		"1.1.1.1",         "9.255.255.255", "11.0.0.1",        "100.63.255.255",
		"100.128.0.1",     "126.0.0.1",     "128.0.0.1",       "169.253.0.1",
		"172.15.0.1",      "172.32.0.1",    "192.167.1.1",     "192.169.0.1",
		"198.17.0.1",      "223.255.255.1", "2606:4700::1111", "2a00:1450:4001::1",
		"2400::1",         "2001:200::1",   "::ffff:1.1.1.1",  "64:ff9b::101:101",
		"2002:101:101::1",
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct address a = parsed(rows[i]);
		if (!address_is_public(&a))
			fail_msg("%s is taken as not public", rows[i]);
	}
}

static const char *const rules[] = {"charts.corp",    "Cache.Corp:8443", "10.1.0.0/16",
				    "127.0.0.1:5000", "[fd00::1]:443",   "fd01::/16",
				    "192.168.7.7",    "::ffff:10.9.9.9"};

static bool allows(const struct address_policy *p, const char *host, unsigned port, const char *to)
{
	struct address a = parsed(to);
	return address_policy_allows(p, host, port, &a);
}

static void test_address__the_administrator_lists_more(void **state)
{
	struct error err = ERROR_INIT;
	CLEANUP(address_policy_freep) struct address_policy *p = NULL;
	(void)state;
	assert_ok(address_policy_new(rules, ARRAY_LEN(rules), &p, &err), &err);
	assert_true(allows(p, "anything", 443, "1.1.1.1"));
	/* a name stands for whatever it leads to, others do not */
	assert_true(allows(p, "charts.corp", 443, "10.0.0.1"));
	assert_true(allows(p, "charts.corp", 6443, "127.0.0.1"));
	assert_false(allows(p, "evil.charts.corp", 443, "10.0.0.1"));
	assert_false(allows(p, "charts.corp.evil", 443, "10.0.0.1"));
	assert_true(allows(p, "cache.corp", 8443, "10.0.0.1"));
	assert_false(allows(p, "cache.corp", 443, "10.0.0.1"));
	/* an address is one, whatever name leads to it */
	assert_true(allows(p, "evil", 443, "10.1.255.1"));
	assert_true(allows(p, "evil", 443, "::ffff:10.1.255.1"));
	assert_false(allows(p, "evil", 443, "10.2.0.1"));
	assert_true(allows(p, "localhost", 5000, "127.0.0.1"));
	assert_false(allows(p, "localhost", 5001, "127.0.0.1"));
	assert_false(allows(p, "127.0.0.1", 443, "127.0.0.2"));
	assert_true(allows(p, "x", 443, "fd00::1"));
	assert_false(allows(p, "x", 444, "fd00::1"));
	assert_true(allows(p, "x", 444, "fd01:2::1"));
	assert_true(allows(p, "x", 1, "192.168.7.7"));
	assert_true(allows(p, "x", 1, "10.9.9.9"));
	assert_false(allows(p, "169.254.169.254", 443, "169.254.169.254"));
}

static void test_address__rules_are_read_strictly(void **state)
{
	static const char *const bad[] = {
		"",           "a b",       "10.0.0.0/33", "10.0.0/8", "/8",         "host/8",
		"host:",      "host:0",    "host:65536",  "host:x",   "[fd00::1",   "[fd00::1]x",
		"fd00::/129", "https://h", "-h",          "*.corp",   "10.0.0.0/-1"};
	struct error err = ERROR_INIT;
	struct address_policy *p = NULL;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (address_policy_new(&bad[i], 1, &p, &err) != -E_USAGE)
			fail_msg("\"%s\" is taken", bad[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_address__what_is_not_public),
		cmocka_unit_test(test_address__what_is_public),
		cmocka_unit_test(test_address__the_administrator_lists_more),
		cmocka_unit_test(test_address__rules_are_read_strictly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
