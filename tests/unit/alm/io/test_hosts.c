#include "tests/lib/test.h"

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
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct str host = host_of(str_of(cases[i].authority));
		if (host_is_known(host, names, ARRAY_LEN(names)) != cases[i].known)
			fail_msg("%s", cases[i].authority);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts__names_and_addresses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
