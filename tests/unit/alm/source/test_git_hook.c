/* A push that a server of git tells of: of which repository and branch, and who may say so. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/yaml.h"
#include "alm/source/git_hook.h"

#define SECRET STR("0123456789abcdef")

static struct git_hook hook(const char *body, struct arena *a)
{
	struct git_hook h = {.body = str_of(body)};
	struct error err = ERROR_INIT;
	assert_ok(git_hook_read(&h, a, &err), &err);
	return h;
}

static void test_git_hook__the_forms_of_one_address(void **state)
{
	(void)state;
	static const struct {
		const char *said, *url;
		bool same;
	} rows[] = {
		{"https://git.example.com/a/b.git", "https://git.example.com/a/b", true},
		{"https://git.example.com/a/b", "https://git.example.com/a/b.git", true},
		{"https://GIT.example.com:443/a/b/", "https://git.example.com/a/b", true},
		{"http://git.example.com/a/b", "https://git.example.com/a/b", true},
		{"git://me@git.example.com/a/b.git", "https://git.example.com/a/b", true},
		{"file:///srv/b.git", "file:///srv/b.git", true},
		{"https://git.example.com/a/B", "https://git.example.com/a/b", false},
		{"https://git.example.com:8443/a/b", "https://git.example.com/a/b", false},
		{"https://git.example.com/a/b/c", "https://git.example.com/a/b", false},
		{"https://git.example.com.evil.example/a/b", "https://git.example.com/a/b", false},
		{"https://evil.example/x@git.example.com/a/b", "https://git.example.com/a/b",
		 false},
		{"https://git.example.com/a/b", "git@git.example.com:a/b.git", true},
		{"git@git.example.com:a/b.git", "https://git.example.com/a/b", true},
		{"ssh://git@git.example.com:22/a/b", "git@GIT.example.com:/a/b", true},
		{"ssh://git@git.example.com:2222/a/b", "ssh://git@git.example.com:2222/a/b.git",
		 true},
		{"git@git.example.com:a/b", "ssh://git@git.example.com:2222/a/b", false},
		{"git@git.example.com:a/b", "git@git.example.com:a/c", false},
		{"", "https://git.example.com/a/b", false},
		{"https://", "https://git.example.com/a/b", false},
		{"/", "https://git.example.com/a/b", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct git_hook h = hook(
			arena_fmt(a, "{\"repository\":{\"clone_url\":\"%s\"}}", rows[i].said), a);
		if (git_hook_is_of(&h, rows[i].url, a) != rows[i].same)
			fail_msg("%s and %s", rows[i].said, rows[i].url);
	}
}

static void test_git_hook__servers_say_it_in_their_ways(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct git_hook gitlab = hook(
		"{\"ref\":\"refs/heads/a/b\",\"project\":{\"git_http_url\":\"https://h/p.git\"}}",
		a);
	assert_true(git_hook_is_of(&gitlab, "https://h/p.git", a));
	assert_true(git_hook_is_about(&gitlab, "a/b"));
	struct git_hook by_ssh = hook("{\"repository\":{\"ssh_url\":\"git@h:p.git\"},"
				      "\"project\":{\"git_ssh_url\":\"git@i:q.git\"}}",
				      a);
	assert_true(git_hook_is_of(&by_ssh, "git@h:p.git", a));
	assert_true(git_hook_is_of(&by_ssh, "ssh://git@i/q", a));
	assert_false(git_hook_is_about(&gitlab, "b"));
	struct git_hook ping =
		hook("{\"zen\":\"\",\"repository\":{\"html_url\":\"https://h/p\"}}", a);
	assert_true(git_hook_is_about(&ping, "main"));
	struct git_hook tag = hook(
		"{\"ref\":\"refs/tags/main\",\"repository\":{\"html_url\":\"https://h/p\"}}", a);
	assert_false(git_hook_is_about(&tag, "main"));
}

static void test_git_hook__what_is_no_push(void **state)
{
	(void)state;
	static const char *const bodies[] = {
		"", "x", "[]", "{}", "{\"repository\":7}", "{\"repository\":{\"clone_url\":7}}"};
	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct git_hook h = {.body = str_of(bodies[i])};
		struct error err = ERROR_INIT;
		assert_int_equal(git_hook_read(&h, a, &err), -E_BADREQUEST);
	}
}

static const char *signature(struct str secret, struct str body, struct arena *a)
{
	unsigned char mac[SHA256_BYTES];
	char hex[SHA256_HEX];
	hmac_sha256(secret, body, mac);
	hex_encode(mac, sizeof(mac), hex);
	return arena_fmt(a, "sha256=%s", hex);
}

static void test_git_hook__who_knows_the_secret(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct git_hook h = {.body = STR("{}")};
	assert_false(git_hook_is_signed(&h, SECRET));
	h.signature = signature(SECRET, h.body, a);
	assert_true(git_hook_is_signed(&h, SECRET));
	assert_false(git_hook_is_signed(&h, STR("0123456789abcdeF")));
	h.body = STR("{ }");
	assert_false(git_hook_is_signed(&h, SECRET));
	h.signature = signature(STR(""), h.body, a);
	assert_false(git_hook_is_signed(&h, STR("")));
	static const char *const wrong[] = {"", "sha256=", "sha1=00", "sha256=zz"};
	h.token = "0123456789abcdef"; /* a wrong signature is not mended by it */
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		h.signature = wrong[i];
		assert_false(git_hook_is_signed(&h, SECRET));
	}
	h.signature = NULL;
	assert_true(git_hook_is_signed(&h, SECRET));
	h.token = "0123456789abcde";
	assert_false(git_hook_is_signed(&h, SECRET));
}

static void test_git_hook__a_secret_says_that_it_is_one(void **state)
{
	(void)state;
	static const struct {
		const char *secret;
		bool is_one;
	} rows[] = {
		{"{type: app.coreos.com/git-hook, data: {secret: MDEyMzQ1Njc4OWFiY2RlZg==}}", true},
		{"{type: app.coreos.com/git-hook, data: {secret: c2hvcnQ=}}", false},
		{"{type: app.coreos.com/git-hook, data: {secret: '%'}}", false},
		{"{type: app.coreos.com/git-hook, data: {}}", false},
		{"{type: Opaque, data: {secret: MDEyMzQ1Njc4OWFiY2RlZg==}}", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct error err = ERROR_INIT;
		struct obj *o;
		struct str secret = STR_NONE;
		assert_ok(yaml_parse_one(str_of(rows[i].secret), &o, &err), &err);
		obj_set_path(obj_keep(a, o), "metadata.name", obj_string("hook"));
		int r = git_hook_secret(o, a, &secret, &err);
		assert_int_equal(r, rows[i].is_one ? 0 : -E_NOTALLOWED);
		assert_true(r < 0 || str_eq(secret, SECRET));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_git_hook__the_forms_of_one_address),
		cmocka_unit_test(test_git_hook__servers_say_it_in_their_ways),
		cmocka_unit_test(test_git_hook__what_is_no_push),
		cmocka_unit_test(test_git_hook__who_knows_the_secret),
		cmocka_unit_test(test_git_hook__a_secret_says_that_it_is_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
