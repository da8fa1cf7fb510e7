#include "tests/lib/test.h"

#include <string.h>

#include "alm/io/hosts.h"

static void test_hosts__names_and_addresses(void **state)
{
	(void)state;
	static const char *const names[] = {"alm.example.com", "", "box"};
	static const struct {
		const char *authority;
		bool known;
	} cases[] = {
		{"localhost", true},
		{"LocalHost:6443", true},
		{"localhost.", true},
		{"127.0.0.1:80", true},
		{"192.168.7.7", true},
		{"[::1]:80", true},
		{"[fd00::1]", true},
		{"ALM.example.com.:1", true},
		{"box", true},
		{"", false},
		{":80", false},
		{"evil.example", false},
		{"localhost.evil.example", false},
		{"127.0.0.1.evil.example", false},
		{"xbox", false},
		{"bo", false},
		{"localhost:80x", false},
		{"localhost:123456", false},
		{"a@localhost", false},
		{"localhost/", false},
		{"[::1", false},
		{"[::1]x", false},
		{"[localhost]x:1", false},
		{"::1", false},
		{"0x7f.1", false},
		{"2130706433", false},
		{".", false},
		{"localhost:", true},
		{"localhost:99999", true},
		{"[]", false},
		{"[]:80", false},
		{"a]", false},
		{"alm.example.com..", false},
		{"box.", true},
		{"b ox", false},
		{"255.255.255.255", true},
		{"ffff:ffff::1", false},
		{"[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]", true},
		{"[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.2555]", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct str host = host_of(str_of(cases[i].authority));
		if (host_is_known(host, names, ARRAY_LEN(names)) != cases[i].known)
			fail_msg("%s", cases[i].authority);
	}
}

static void test_hosts__the_host_is_cut_out(void **state)
{
	(void)state;
	char longest[300];
	memset(longest, 'a', sizeof(longest));
	static const char *const rows[][2] = {
		{"[::1]", "::1"},       {"[::1]:80", "::1"}, {"host:80", "host"},
		{"h_o-s.t", "h_o-s.t"}, {"host:", "host"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_str(host_of(str_of(rows[i][0])), rows[i][1]);
	assert_int_equal(host_of(str_n(longest, 255)).len, 255);
	assert_int_equal(host_of(str_n(longest, 256)).len, 0);
	assert_int_equal(host_of(STR("a\0b")).len, 0);
	assert_false(host_is_known(str_n(longest, 45), NULL, 0));
	assert_false(host_is_known(str_n(longest, 46), NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts__names_and_addresses),
		cmocka_unit_test(test_hosts__the_host_is_cut_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
