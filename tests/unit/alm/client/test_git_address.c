/* Which addresses of a name git may connect to, and that it resolves none itself. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/client/git_address.h"

static const struct {
	const char *about, *url, *listing, *want;
} rows[] = {
	{"a public one", "https://git.example.com/x",
	 "93.184.215.14  STREAM git.example.com\n93.184.215.14  DGRAM\n93.184.215.14  RAW\n",
	 "git.example.com:443:93.184.215.14"},
	{"several, each once, and a port", "https://git.example.com:8443/x",
	 "2606:2800:21f::1 STREAM a\n2606:2800:21f::1 DGRAM\n93.184.215.14 STREAM\n",
	 "git.example.com:8443:[2606:2800:21f::1],93.184.215.14"},
	{"what is not public is left out", "https://git.example.com/x",
	 "10.0.0.1 STREAM a\n93.184.215.14 STREAM\n::ffff:127.0.0.1 STREAM\n",
	 "git.example.com:443:93.184.215.14"},
	{"private", "https://git.example.com/x", "10.1.2.3 STREAM a\n", "!"},
	{"loopback", "https://git.example.com/x", "127.0.0.1 STREAM a\n::1 STREAM\n", "!"},
	{"the metadata of a cloud", "https://git.example.com/x", "169.254.169.254 STREAM a\n", "!"},
	{"of one link", "https://git.example.com/x", "fe80::1%eth0 STREAM a\n", "!"},
	{"unique local", "https://git.example.com/x", "fd00:ec2::254 STREAM a\n", "!"},
	{"an address in another form", "https://0x7f.1/x", "127.0.0.1 STREAM 0x7f.1\n", "!"},
	{"allowed by its name", "https://git.corp:8443/x", "10.1.2.3 STREAM a\n",
	 "git.corp:8443:10.1.2.3"},
	{"by its name and another port", "https://git.corp/x", "10.1.2.3 STREAM a\n", "!"},
	{"allowed by its network", "https://other.corp/x", "192.168.7.1 STREAM a\n",
	 "other.corp:443:192.168.7.1"},
	{"no address", "https://git.example.com/x", "",
	 "!SourceUnreachable: git.example.com has no address"},
	{"no listing", "https://git.example.com/x", "what?\n", "!"},
	{"by ssh, its port", "ssh://git@git.example.com/x", "93.184.215.14 STREAM a\n",
	 "git.example.com:22:93.184.215.14"},
	{"by ssh, as scp says it", "git@git.corp:x", "10.1.2.3 STREAM a\n", "!"},
	{"by ssh, allowed by its name", "ssh://git@git.corp:8443/x", "10.1.2.3 STREAM a\n",
	 "git.corp:8443:10.1.2.3"},
	{"a dot at the end", "https://git.corp./x", "", "!\"git.corp.\" is no name of a server"},
	{"an option", "https://-s/x", "", "!\"-s\" is no name of a server"},
	{"another scheme", "http://git.corp/x", "", "!https://HOST/PATH is wanted"},
	{"by ssh, no host", "ssh:///x", "", "!it names no user, as git@ in git@HOST:PATH"},
	{"no port", "https://git.corp:0/x", "", "!\"git.corp\" is no name of a server"},
};

static struct address_policy *policy(void)
{
	static const char *const rules[] = {"git.corp:8443", "192.168.0.0/16"};
	struct address_policy *p;
	struct error err = ERROR_INIT;
	assert_ok(address_policy_new(rules, ARRAY_LEN(rules), &p, &err), &err);
	return p;
}

static void test_git_address__names(void **state)
{
	(void)state;
	CLEANUP(address_policy_freep) struct address_policy *p = policy();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		struct error err = ERROR_INIT;
		struct git_host h;
		const char *got = "";
		int r = git_host_read(rows[i].url, a, &h, &err);
		assert_int_equal(r, -err.code);
		if (r == 0)
			(void)git_pin(&h, str_of(rows[i].listing), p, a, &got, &err);
		if (err.code)
			got = arena_fmt(a, "!%s", err.code == E_NOTALLOWED ? "" : err.msg);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: want %s, got %s", rows[i].about, rows[i].want, got);
	}
}

static void test_git_address__literals(void **state)
{
	(void)state;
	static const struct {
		const char *url;
		bool literal, allowed;
	} list[] = {
		{"https://93.184.215.14/x", true, true}, {"https://[::1]:8443/x", true, false},
		{"https://[fd00::1]/x", true, false},    {"https://127.0.0.1/x", true, false},
		{"https://192.168.1.1/x", true, true},   {"https://localhost/x", false, true},
		{"ssh://git@[::1]:8443/x", true, false}, {"git@[fd00::1]:x", true, false},
		{"git@192.168.1.1:x", true, true},       {"git@127.0.0.1:x", true, false},
	};
	CLEANUP(address_policy_freep) struct address_policy *p = policy();
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		struct error err = ERROR_INIT;
		struct git_host h;
		assert_ok(git_host_read(list[i].url, a, &h, &err), &err);
		assert_int_equal(h.literal, list[i].literal);
		assert_int_equal(git_host_check(&h, p, &err) == 0, list[i].allowed);
	}
}

static void test_git_address__versions_of_git(void **state)
{
	(void)state;
	assert_true(git_can_pin(STR("git version 2.39.5\n")));
	assert_true(git_can_pin(STR("git version 2.37\n")));
	assert_true(git_can_pin(STR("git version 3.0.0 (Apple Git-1)\n")));
	assert_false(git_can_pin(STR("git version 2.36.6\n")));
	assert_false(git_can_pin(STR("git version 1.99.0\n")));
	assert_false(git_can_pin(STR("2.39.5\n")));
	assert_false(git_can_pin(STR("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_git_address__names),
		cmocka_unit_test(test_git_address__literals),
		cmocka_unit_test(test_git_address__versions_of_git),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
