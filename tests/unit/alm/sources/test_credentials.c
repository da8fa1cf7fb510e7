/* Which Secret gives what to whom (credentials.h). */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/yaml.h"
#include "alm/sources/credentials.h"

#define HERE  "https://charts.example:8443"
#define REALM "https://auth.example"

struct fixture {
	struct arena *a;
	struct credentials c;
	struct error err;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	f->a = arena_new(1 << 20);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	arena_free(f->a);
	xfree(f);
	return 0;
}

static int read_text(struct fixture *f, const char *text, const char *origin)
{
	struct obj *o = NULL;
	f->c = (struct credentials){0};
	assert_ok(yaml_parse_one(str_of(text), &o, &f->err), &f->err);
	obj_set_path(o, "metadata.name", obj_string("s"));
	return credentials_read(obj_keep(f->a, o), origin, f->a, &f->c, &f->err);
}

#define PLAIN                                                                                    \
	"stringData: {username: u, password: CANARY, origins: \"https://other " HERE "\\n" REALM \
	"\"}\n"

static void test_credentials__are_for_the_origins_they_name(void **state)
{
	struct fixture *f = *state;
	static const char *const types[] = {"app.coreos.com/catalog-credentials",
					    "kubernetes.io/basic-auth"};
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		const char *text = arena_fmt(f->a, "type: %s\n" PLAIN, types[i]);
		assert_ok(read_text(f, text, HERE), &f->err);
		assert_string_equal(f->c.username, "u");
		assert_true(credentials_are_for(&f->c, HERE));
		assert_true(credentials_are_for(&f->c, REALM));
		assert_true(credentials_are_for(&f->c, "https://other"));
		/* the host alone is not the origin, nor is what only begins like it */
		assert_false(credentials_are_for(&f->c, "https://charts.example"));
		assert_false(credentials_are_for(&f->c, "https://charts.example:8444"));
		assert_false(credentials_are_for(&f->c, "https://auth.example.evil"));
		assert_int_equal(read_text(f, text, "https://evil"), -E_NOTALLOWED);
		assert_non_null(strstr(f->err.msg, "is not for https://evil"));
		assert_null(strstr(f->err.msg, "CANARY"));
		assert_null(f->c.username);
	}
}

/* A Secret of another type is told in the words for one that is not there. */
static void test_credentials__of_another_type_are_not_there(void **state)
{
	struct fixture *f = *state;
	static const char *const types[] = {"Opaque", "kubernetes.io/service-account-token",
					    "kubernetes.io/tls", "helm.sh/release.v1", ""};
	credentials_absent("s", &f->err);
	const char *absent = arena_strdup(f->a, f->err.msg);
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		const char *text = arena_fmt(f->a, "type: \"%s\"\n" PLAIN, types[i]);
		assert_int_equal(read_text(f, text, HERE), -E_NOTALLOWED);
		assert_string_equal(f->err.msg, absent);
		assert_null(f->c.username);
	}
	assert_int_equal(read_text(f, PLAIN, HERE), -E_NOTALLOWED);
}

static void test_credentials__docker_ones_are_for_their_host(void **state)
{
	struct fixture *f = *state;
	/* {"auths":{"charts.example:8443":{"auth":"dTpw"},"https://hub.example/v1/":
	 * {"username":"h","password":"q"}}}; dTpw is u:p */
	static const char text[] =
		"type: kubernetes.io/dockerconfigjson\n"
		"stringData: {origins: \"" REALM "\", .dockerconfigjson: '{\"auths\":"
		"{\"charts.example:8443\":{\"auth\":\"dTpw\"},\"https://hub.example/v1/\":"
		"{\"username\":\"h\",\"password\":\"q\"}}}'}\n";
	assert_ok(read_text(f, text, HERE), &f->err);
	assert_string_equal(f->c.username, "u");
	assert_string_equal(f->c.password, "p");
	assert_true(credentials_are_for(&f->c, REALM));
	assert_false(credentials_are_for(&f->c, "https://hub.example"));
	assert_ok(read_text(f, text, "https://hub.example"), &f->err);
	assert_string_equal(f->c.username, "h");
	assert_int_equal(read_text(f, text, "https://charts.example"), -E_NOTALLOWED);
	assert_int_equal(read_text(f, "type: kubernetes.io/dockerconfigjson\n", HERE),
			 -E_NOTALLOWED);
}

static void test_credentials__origins_are_read_strictly(void **state)
{
	struct fixture *f = *state;
	static const char *const bad[] = {"http://charts.example:8443",
					  "charts.example:8443",
					  HERE "/path",
					  HERE "?q",
					  "https://u@charts.example:8443",
					  "oci://charts.example:8443",
					  "*",
					  "https://*"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(read_text(f,
					   arena_fmt(f->a,
						     "type: app.coreos.com/catalog-credentials\n"
						     "stringData: {token: t, origins: \"%s\"}\n",
						     bad[i]),
					   HERE),
				 -E_INVALID);
	/* data is base64: "a\0b", a user name that a C string would cut */
	assert_int_equal(read_text(f,
				   "type: app.coreos.com/catalog-credentials\n"
				   "data: {username: YQBi}\n"
				   "stringData: {origins: \"" HERE "\"}\n",
				   HERE),
			 -E_INVALID);
	assert_int_equal(read_text(f, "type: app.coreos.com/catalog-credentials\n", HERE),
			 -E_NOTALLOWED);
}

/* What is of ssh goes to servers of ssh, and the other way round; never half of it. */
static void test_credentials__of_ssh(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *type, *keys, *origin;
		int code;
		const char *says;
	} rows[] = {
#define OPEN "-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUCANARY"
#define SSH_KEYS                  \
	"ssh-privatekey: \"" OPEN \
	"\", known_hosts: KNOWN, origins: \"ssh://GIT.example ssh://b:2222\""
		{"kubernetes.io/ssh-auth", SSH_KEYS, "ssh://git.example", 0, ""},
		{"app.coreos.com/catalog-credentials", SSH_KEYS, "ssh://b:2222", 0, ""},
		{"kubernetes.io/ssh-auth", SSH_KEYS, "ssh://b", E_NOTALLOWED,
		 "is not for ssh://b;"},
		{"kubernetes.io/ssh-auth", SSH_KEYS, "https://git.example", E_NOTALLOWED,
		 "is not for https://"},
		{"Opaque", SSH_KEYS, "ssh://git.example", E_NOTALLOWED,
		 "kubernetes.io/ssh-auth with known_hosts"},
		{"kubernetes.io/dockerconfigjson", SSH_KEYS, "ssh://git.example", E_NOTALLOWED,
		 "is no Secret for"},
		{"kubernetes.io/ssh-auth",
		 "ssh-privatekey: \"" OPEN "\", origins: \"ssh://git.example\"",
		 "ssh://git.example", E_NOTALLOWED, "ssh takes the key known_hosts"},
		{"kubernetes.io/ssh-auth",
		 "ssh-privatekey: CANARY, known_hosts: KNOWN, origins: \"ssh://git.example\"",
		 "ssh://git.example", E_NOTALLOWED,
		 "ssh-privatekey, and what it has is no private key"},
		{"kubernetes.io/ssh-auth",
		 "ssh-privatekey: \"-----BEGIN OPENSSH PRIVATE "
		 "KEY-----\\nb3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHICANARY\", "
		 "known_hosts: KNOWN, origins: \"ssh://git.example\"",
		 "ssh://git.example", E_NOTALLOWED, "ssh-privatekey without a passphrase"},
		{"kubernetes.io/ssh-auth",
		 "ssh-privatekey: \"-----BEGIN ENCRYPTED PRIVATE KEY-----\\nCANARY\", "
		 "known_hosts: KNOWN, origins: \"ssh://git.example\"",
		 "ssh://git.example", E_NOTALLOWED, "ssh-privatekey without a passphrase"},
		{"kubernetes.io/ssh-auth",
		 "ssh-privatekey: \"-----BEGIN RSA PRIVATE KEY-----\\nProc-Type: "
		 "4,ENCRYPTED\\nCANARY\", "
		 "known_hosts: KNOWN, origins: \"ssh://git.example\"",
		 "ssh://git.example", E_NOTALLOWED, "ssh-privatekey without a passphrase"},
		{"kubernetes.io/ssh-auth", "known_hosts: KNOWN, origins: \"ssh://git.example\"",
		 "ssh://git.example", E_NOTALLOWED, "ssh takes the key ssh-privatekey"},
		{"kubernetes.io/ssh-auth",
		 "ssh-privatekey: \"" OPEN
		 "\", known_hosts: KNOWN, origins: \"ssh://git@git.example\"",
		 "ssh://git.example", E_INVALID, "is no HOST"},
		{"kubernetes.io/ssh-auth",
		 "ssh-privatekey: \"" OPEN
		 "\", known_hosts: KNOWN, origins: \"ssh://git.example/a\"",
		 "ssh://git.example", E_INVALID, "is no HOST"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *text =
			arena_fmt(f->a, "type: %s\nstringData: {%s}\n", rows[i].type, rows[i].keys);
		f->err = ERROR_INIT;
		assert_int_equal(read_text(f, text, rows[i].origin), -rows[i].code);
		assert_non_null(strstr(f->err.msg, rows[i].says));
		assert_null(strstr(f->err.msg, "CANARY"));
		if (rows[i].code)
			continue;
		assert_non_null(strstr(f->c.ssh_key, "CANARY"));
		assert_string_equal(f->c.known_hosts, "KNOWN");
		assert_null(credentials_header(&f->c, f->a));
	}
}

static void test_credentials__lie_in_one_namespace(void **state)
{
	struct fixture *f = *state;
	assert_ok(credentials_check_namespace(NULL, &f->err), &f->err);
	assert_ok(credentials_check_namespace("alm-system", &f->err), &f->err);
	assert_int_equal(credentials_check_namespace("kube-system", &f->err), -E_NOTALLOWED);
	assert_int_equal(credentials_check_namespace("", &f->err), -E_NOTALLOWED);
}

static void test_credentials__none_is_fine(void **state)
{
	struct fixture *f = *state;
	assert_ok(credentials_read(NULL, HERE, f->a, &f->c, &f->err), &f->err);
	assert_false(credentials_are_for(&f->c, HERE));
	assert_null(credentials_header(&f->c, f->a));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_credentials__are_for_the_origins_they_name),
		TEST(test_credentials__of_another_type_are_not_there),
		TEST(test_credentials__docker_ones_are_for_their_host),
		TEST(test_credentials__origins_are_read_strictly),
		TEST(test_credentials__of_ssh),
		TEST(test_credentials__lie_in_one_namespace),
		TEST(test_credentials__none_is_fine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
