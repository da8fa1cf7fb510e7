/* Where a repository is that is read by ssh. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/source/git_url.h"

static const struct {
	const char *url, *want; /* "origin known text", "!message" */
} rows[] = {
	{"ssh://git@Git.example.com/a/b.git",
	 "ssh://git.example.com git.example.com ssh://git@git.example.com/a/b.git"},
	{"ssh://git@git.example.com:22/a", "ssh://git.example.com git.example.com "
					   "ssh://git@git.example.com/a"},
	{"ssh://git@git.example.com:2222/~/a",
	 "ssh://git.example.com:2222 [git.example.com]:2222 ssh://git@git.example.com:2222/~/a"},
	{"ssh://a@[FD00::1]:2222/x",
	 "ssh://[fd00::1]:2222 [fd00::1]:2222 ssh://a@[fd00::1]:2222/x"},
	{"ssh://a@[fd00::1]/x", "ssh://[fd00::1] fd00::1 ssh://a@[fd00::1]/x"},
	{"git@git.example.com:a/b.git",
	 "ssh://git.example.com git.example.com git@git.example.com:a/b.git"},
	{"git@git.example.com:/srv/b.git",
	 "ssh://git.example.com git.example.com git@git.example.com:/srv/b.git"},
	{"git@[fd00::1]:x", "ssh://[fd00::1] fd00::1 git@[fd00::1]:x"},
	/* as git would not read it */
	{"git@[git.example.com:2222]:x", "!\"[git.example.com:2222]\" is no HOST"},
	{"git@[12:34]:x", "!\"[12:34]\" is no HOST"},
	/* options of ssh, and what a shell would take apart */
	{"ssh://git@-oProxyCommand=id/x", "!\"-oProxyCommand=id\" is no HOST[:PORT]"},
	{"git@-oProxyCommand=id:x", "!\"-oProxyCommand=id\" is no HOST"},
	{"ssh://-oProxyCommand=id@h/x", "!it names no user, as git@ in git@HOST:PATH"},
	{"-l@h:x", "!it names no user, as git@ in git@HOST:PATH"},
	{"git@h:-x", "!USER@HOST:PATH is wanted"},
	{"git@h';id;':x", "!\"h';id;'\" is no HOST"},
	{"git@$(id):x", "!\"$(id)\" is no HOST"},
	{"git@h\n:x", "!\"h\n\" is no HOST"},
	{"ssh://git@h/x\ny", "!ssh://USER@HOST[:PORT]/PATH is wanted"},
	{"ssh://git@h/\xc3\xa4", "!ssh://USER@HOST[:PORT]/PATH is wanted"},
	{"git@h::x", "!USER@HOST:PATH is wanted"},
	{"git@h:", "!USER@HOST:PATH is wanted"},
	{"git@:x", "!\"\" is no HOST"},
	{"@h:x", "!it names no user, as git@ in git@HOST:PATH"},
	{"ssh://h/x", "!it names no user, as git@ in git@HOST:PATH"},
	{"ssh://git:pw@h/x", "!it has a password; ssh takes a key, which is in a Secret"},
	{"ssh://a@b@h/x", "!it names no user, as git@ in git@HOST:PATH"},
	{"ssh://git@h", "!ssh://USER@HOST[:PORT]/PATH is wanted"},
	{"ssh://git@h/", "!ssh://USER@HOST[:PORT]/PATH is wanted"},
	{"ssh://git@h.:22/x", "!\"h.:22\" is no HOST[:PORT]"},
	{"ssh://git@h:0/x", "!\"h:0\" is no HOST[:PORT]"},
	{"ssh://git@h:/x", "!\"h:\" is no HOST[:PORT]"},
	{"ssh://git@h:65536/x", "!\"h:65536\" is no HOST[:PORT]"},
	{"ssh://git@h:22:22/x", "!\"h:22:22\" is no HOST[:PORT]"},
	/* another host, or another port, to git */
	{"ssh://git@93.184.215.14/x@[10.0.0.1]/y", "!ssh://USER@HOST[:PORT]/PATH is wanted"},
	{"ssh://git@h/x%40%5B10.0.0.1%5D:99/y", "!ssh://USER@HOST[:PORT]/PATH is wanted"},
	{"ssh://git@h/x@[h]:25/y", "!ssh://USER@HOST[:PORT]/PATH is wanted"},
	{"git@93.184.215.14:x@[10.0.0.1]:y", "!USER@HOST:PATH is wanted"},
	{"git@h:x%5By", "ssh://h h git@h:x%5By"},
	{"ssh://", "!ssh://USER@HOST[:PORT]/PATH is wanted"},
};

static void test_git_url__by_ssh(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		struct error err = ERROR_INIT;
		struct git_ssh_url u;
		assert_true(git_url_is_ssh(rows[i].url));
		int r = git_url_ssh(rows[i].url, a, &u, &err);
		const char *got = r < 0 ? arena_fmt(a, "!%s", err.msg)
					: arena_fmt(a, "%s %s %s", u.origin, u.known, u.text);
		assert_string_equal(got, rows[i].want);
	}
}

static void test_git_url__others(void **state)
{
	(void)state;
	static const char *const others[] = {"https://h/a@b:c",
					     "file:///srv/a@b:c",
					     "/srv/a@b:c",
					     "ext::sh",
					     "git+ssh://git@h/x",
					     "h:x",
					     ""};
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (git_url_is_ssh(others[i]))
			fail_msg("%s", others[i]);
}

static void test_git_url__origins(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct error err = ERROR_INIT;
	const char *origin;
	assert_ok(git_url_ssh_origin(STR("ssh://H:22"), a, &origin, &err), &err);
	assert_string_equal(origin, "ssh://h");
	static const char *const bad[] = {"ssh://", "ssh://h/", "ssh://git@h", "h", "https://h"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(git_url_ssh_origin(str_of(bad[i]), a, &origin, &err), -E_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_git_url__by_ssh),
		cmocka_unit_test(test_git_url__others),
		cmocka_unit_test(test_git_url__origins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
