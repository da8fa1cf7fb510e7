#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/base/strbuf.h"
#include "alm/client/git_ssh.h"

struct fixture {
	char dir[64];
	struct arena *arena;
	struct error err;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/alm-git-ssh-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->arena = arena_new(1 << 20);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	(void)rmdir(arena_fmt(f->arena, "%s/ssh", f->dir));
	assert_int_equal(rmdir(f->dir), 0); /* nothing was left in it */
	arena_free(f->arena);
	xfree(f);
	return 0;
}

static void assert_file(struct fixture *f, const char *name, const char *text)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct file_info info;
	const char *path = arena_fmt(f->arena, "%s/ssh/%s", f->dir, name);
	assert_ok(file_info(path, &info, &f->err), &f->err);
	assert_int_equal(info.mode, 0600);
	assert_ok(file_read(path, &b, &f->err), &f->err);
	assert_string_equal(b.buf, text);
}

/* As lines, for their user alone; what a killed process left is replaced, and nothing stays. */
static void test_git_ssh__its_files_are_there_while_it_is_talked_to(void **state)
{
	struct fixture *f = *state;
	static const struct git_ssh one = {"KEY", "host key1\nhost key2"}, two = {"KEY2\n", ""};
	git_ssh_clear(f->dir, f->arena); /* there is none */
	assert_ok(git_ssh_put(f->dir, &one, f->arena, &f->err), &f->err);
	assert_file(f, "key", "KEY\n");
	assert_file(f, "known_hosts", "host key1\nhost key2\n");
	const char *left = arena_fmt(f->arena, "%s/ssh/left", f->dir);
	assert_ok(file_write_new(left, STR("x"), 0400, &f->err), &f->err);
	assert_ok(git_ssh_put(f->dir, &two, f->arena, &f->err), &f->err);
	assert_file(f, "key", "KEY2\n\n");
	assert_file(f, "known_hosts", "\n");
	assert_false(file_exists(left));
	git_ssh_clear(f->dir, f->arena);
	assert_false(file_exists(arena_fmt(f->arena, "%s/ssh/key", f->dir)));
	assert_false(file_exists(arena_fmt(f->arena, "%s/ssh/known_hosts", f->dir)));
}

static void test_git_ssh__a_folder_that_cannot_be_made(void **state)
{
	struct fixture *f = *state;
	static const struct git_ssh one = {"KEY", "host key"};
	const char *file = arena_fmt(f->arena, "%s/file", f->dir);
	assert_ok(file_write_new(file, STR("x"), 0600, &f->err), &f->err);
	assert_true(git_ssh_put(file, &one, f->arena, &f->err) < 0);
	assert_non_null(strstr(f->err.msg, file));
	assert_null(strstr(f->err.msg, "KEY"));
	assert_int_equal(unlink(file), 0);
}

static const struct git_ssh_url url = {
	.user = "git", .host = "git.example.com", .port = 2222, .known = "[git.example.com]:2222"};

static void test_git_ssh__it_goes_where_it_was_told(void **state)
{
	struct fixture *f = *state;
	static const char *const addresses[] = {NULL, "192.0.2.7"};
	for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
		struct git_environment e = {0};
		git_environment_init(&e, f->arena);
		size_t before = e.n;
		git_ssh_environment(&e, &url, addresses[i]);
		assert_int_equal(e.n, before + 2);
		const char *command = e.items[before];
		const char *want = arena_fmt(
			f->arena,
			" -o HostKeyAlias='[git.example.com]:2222' -o HostName=%s -o Port=2222 -o "
			"User=git",
			addresses[i] ? addresses[i] : "git.example.com");
		if (!cstr_has_prefix(command, "GIT_SSH_COMMAND=cd \"$HOME\" && exec " SSH_PROGRAM
					      " -F none -T -i ssh/key -o ") ||
		    !cstr_has_suffix(command, want) ||
		    !strstr(command, "StrictHostKeyChecking=yes"))
			fail_msg("%s", command);
		assert_string_equal(e.items[before + 1], "GIT_SSH_VARIANT=ssh");
	}
}

static const struct {
	const char *said;
	int code;
	enum error_reason reason;
	const char *text;
} faults[] = {
	{"@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
	 E_NOTALLOWED, REASON_HOST_KEY_CHANGED,
	 "[git.example.com]:2222 shows another host key than known_hosts has"},
	{"WARNING: REVOKED HOST KEY DETECTED\nHost key verification failed.", E_NOTALLOWED,
	 REASON_HOST_KEY_CHANGED,
	 "[git.example.com]:2222 shows a host key that known_hosts has as revoked"},
	{"Host key verification failed.", E_NOTALLOWED, REASON_HOST_KEY_UNKNOWN,
	 "known_hosts of the Secret has no host key of [git.example.com]:2222"},
	{"Load key \"ssh/key\": error in libcrypto\ngit@x: Permission denied (publickey).",
	 E_UNAUTHORIZED, REASON_CREDENTIALS_REJECTED, "ssh-privatekey is no private key that ssh"},
	{"git@x: Permission denied (publickey).", E_UNAUTHORIZED, REASON_CREDENTIALS_REJECTED,
	 "[git.example.com]:2222 does not take the private key for the user git"},
	{"Received disconnect: Too many authentication failures", E_UNAUTHORIZED,
	 REASON_CREDENTIALS_REJECTED, "[git.example.com]:2222 does not take the private key"},
	{"sh: /usr/bin/ssh: not found", E_NOTFOUND, REASON_GIT_MISSING,
	 "there is no /usr/bin/ssh; install the package openssh-client"},
	{"fatal: something else", E_OK, REASON_NONE, NULL},
};

static void test_git_ssh__what_ssh_says_has_its_reason(void **state)
{
	struct fixture *f = *state;
	const struct git_fault *table = git_ssh_faults(&url, f->arena);
	for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
		const struct git_fault *at = table; /* the first one that is found counts */
		while (at->word && !strstr(faults[i].said, at->word))
			at++;
		if (at->code != faults[i].code || at->reason != faults[i].reason ||
		    !at->text != !faults[i].text ||
		    (at->text && !cstr_has_prefix(at->text, faults[i].text)))
			fail_msg("%s: %d %s", faults[i].said, at->code, at->text ? at->text : "");
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_git_ssh__its_files_are_there_while_it_is_talked_to),
		TEST(test_git_ssh__a_folder_that_cannot_be_made),
		TEST(test_git_ssh__it_goes_where_it_was_told),
		TEST(test_git_ssh__what_ssh_says_has_its_reason),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
