#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/client/kubeconfig.h"

struct fixture {
	char dir[64];
	struct arena *arena;
	struct error err;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	f->arena = arena_new(1 << 20);
	f->err = ERROR_INIT;
	snprintf(f->dir, sizeof(f->dir), "/tmp/alm-kubeconfig-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char **names;
	size_t n;
	assert_ok(dir_list(f->dir, 100, &names, &n, &f->err), &f->err);
	for (size_t i = 0; i < n; i++)
		(void)remove(arena_fmt(f->arena, "%s/%s", f->dir, names[i]));
	dir_list_free(names, n);
	(void)remove(f->dir);
	arena_free(f->arena);
	xfree(f);
	return 0;
}

static const char *write_file(struct fixture *f, const char *name, const char *text, unsigned mode)
{
	const char *path = arena_fmt(f->arena, "%s/%s", f->dir, name);
	assert_ok(file_write_atomic(path, str_of(text), mode, &f->err), &f->err);
	return path;
}

static const char one[] = "apiVersion: v1\nkind: Config\ncurrent-context: a\n"
			  "clusters:\n- name: c\n  cluster:\n    server: https://one:6443\n"
			  "    certificate-authority: ca.crt\n    tls-server-name: api\n"
			  "users:\n- name: u\n  user: {token: t1, tokenFile: sub/token}\n"
			  "contexts:\n- name: a\n  context: {cluster: c, user: u, namespace: ns}\n";
static const char two[] =
	"current-context: b\n"
	"clusters:\n- name: c\n  cluster: {server: https://two:6443}\n"
	"- name: d\n  cluster: {server: https://two, insecure-skip-tls-verify: true}\n"
	"users:\n- name: x\n  user: {exec: {command: aws, apiVersion: "
	"client.authentication.k8s.io/v1beta1}}\n"
	"- name: k\n  user: {client-certificate-data: Q0VSVA==,\n"
	"    client-key-data: S0VZ, username: n, password: p}\n"
	"contexts:\n- name: b\n  context: {cluster: c, user: k}\n"
	"- name: i\n  context: {cluster: d}\n- name: e\n"
	"  context: {cluster: c, user: x}\n- name: z\n"
	"  context: {cluster: nope}\n";

static void test_kubeconfig__first_file_wins(void **state)
{
	struct fixture *f = *state;
	struct kubeconfig *k;
	struct kubeconfig_target t;
	write_file(f, "ca.crt", "CA", 0644);
	const char *a = write_file(f, "one", one, 0600), *b = write_file(f, "two", two, 0600);
	const struct kubeconfig_sources s = {
		.env = arena_fmt(f->arena, "%s/absent:%s:%s", f->dir, a, b), .home = "/nowhere"};
	assert_ok(kubeconfig_load(&s, &k, &f->err), &f->err);
	assert_int_equal(kubeconfig_n_contexts(k), 5);
	assert_string_equal(kubeconfig_context(k, 1), "b");
	assert_null(kubeconfig_context(k, 5));
	assert_ok(kubeconfig_resolve(k, NULL, false, f->arena, &t, &f->err), &f->err);
	assert_string_equal(t.transport.base_url, "https://one:6443");
	assert_string_equal(t.transport.ca_pem, "CA");
	assert_string_equal(t.transport.ca_file, arena_fmt(f->arena, "%s/ca.crt", f->dir));
	assert_string_equal(t.transport.tls_server_name, "api");
	assert_string_equal(t.transport.token, "t1");
	assert_string_equal(t.transport.token_file, arena_fmt(f->arena, "%s/sub/token", f->dir));
	assert_string_equal(t.ns, "ns");
	assert_ok(kubeconfig_resolve(k, "b", false, f->arena, &t, &f->err), &f->err);
	assert_string_equal(t.transport.base_url, "https://one:6443");
	assert_string_equal(t.transport.cert_pem, "CERT");
	assert_string_equal(t.transport.key_pem, "KEY");
	assert_string_equal(t.transport.password, "p");
	assert_string_equal(t.ns, "default");
	assert_string_equal(t.context, "b");
	kubeconfig_free(k);
}

static void test_kubeconfig__refusals(void **state)
{
	struct fixture *f = *state;
	struct kubeconfig *k;
	struct kubeconfig_target t;
	struct kubeconfig_sources s = {.path = write_file(f, "two", two, 0640)};
	assert_ok(kubeconfig_load(&s, &k, &f->err), &f->err);
	assert_ok(kubeconfig_resolve(k, "e", true, f->arena, &t, &f->err), &f->err);
	assert_string_equal(t.exec->command, "aws");
	assert_int_equal(kubeconfig_refuse_exec(&t, &f->err), -E_UNSUPPORTED);
	assert_non_null(
		strstr(f->err.msg, "user of context e: exec (aws) is run for commands alone"));
	assert_int_equal(kubeconfig_resolve(k, "z", true, f->arena, &t, &f->err), -E_NOTFOUND);
	assert_string_equal(f->err.msg, "context z: no cluster \"nope\" in kubeconfig");
	assert_int_equal(kubeconfig_resolve(k, "q", true, f->arena, &t, &f->err), -E_NOTFOUND);
	kubeconfig_free(k);
	s.path = write_file(f, "bad", "a: [", 0600);
	assert_int_equal(kubeconfig_load(&s, &k, &f->err), -E_BADREQUEST);
	s.path = arena_fmt(f->arena, "%s/absent", f->dir);
	assert_int_equal(kubeconfig_load(&s, &k, &f->err), -E_NOTFOUND);
	s = (struct kubeconfig_sources){.home = f->dir};
	assert_int_equal(kubeconfig_load(&s, &k, &f->err), -E_NOTFOUND);
}

/* What kubectl takes is taken; the caller is told what is unsafe about it. */
static void test_kubeconfig__warnings(void **state)
{
	struct fixture *f = *state;
	struct kubeconfig *k;
	struct kubeconfig_target t;
	struct kubeconfig_sources s = {.path = write_file(f, "private", two, 0640)};
	assert_ok(kubeconfig_load(&s, &k, &f->err), &f->err);
	assert_ok(kubeconfig_resolve(k, "b", false, f->arena, &t, &f->err), &f->err);
	assert_int_equal(t.n_warnings, 0);
	assert_ok(kubeconfig_resolve(k, "i", false, f->arena, &t, &f->err), &f->err);
	assert_true(t.transport.insecure_skip_tls_verify);
	assert_int_equal(t.n_warnings, 1);
	assert_non_null(strstr(t.warnings[0], "https://two"));
	assert_ok(kubeconfig_resolve(k, "i", true, f->arena, &t, &f->err), &f->err);
	assert_int_equal(t.n_warnings, 0);
	kubeconfig_free(k);
	static const char keyed[] = "current-context: a\nclusters:\n- name: c\n"
				    "  cluster: {server: https://one:6443}\n"
				    "users:\n- name: u\n  user: {token: t, client-key: key}\n"
				    "contexts:\n- name: a\n  context: {cluster: c, user: u}\n";
	write_file(f, "key", "K", 0644);
	s.path = write_file(f, "open", keyed, 0644);
	assert_ok(kubeconfig_load(&s, &k, &f->err), &f->err);
	assert_ok(kubeconfig_resolve(k, NULL, false, f->arena, &t, &f->err), &f->err);
	assert_int_equal(t.n_warnings, 2);
	assert_non_null(strstr(t.warnings[0], "open holds credentials"));
	assert_non_null(strstr(t.warnings[1], "key holds credentials"));
	assert_string_equal(t.transport.key_pem, "K");
	kubeconfig_free(k);
}

static void test_kubeconfig__in_a_cluster(void **state)
{
	struct fixture *f = *state;
	struct kubeconfig_target t;
	assert_int_equal(kubeconfig_in_cluster("10.0.0.1", "443", f->dir, f->arena, &t, &f->err),
			 -E_NOTFOUND);
	write_file(f, "token", "T", 0644);
	write_file(f, "ca.crt", "CA", 0644);
	write_file(f, "namespace", "alm-system\n", 0644);
	assert_ok(kubeconfig_in_cluster("10.0.0.1", "443", f->dir, f->arena, &t, &f->err), &f->err);
	assert_string_equal(t.transport.base_url, "https://10.0.0.1:443");
	assert_string_equal(t.ns, "alm-system");
	assert_string_equal(t.transport.ca_pem, "CA");
	assert_string_equal(t.transport.ca_file, arena_fmt(f->arena, "%s/ca.crt", f->dir));
	assert_ok(kubeconfig_in_cluster("fd00::1", "443", f->dir, f->arena, &t, &f->err), &f->err);
	assert_string_equal(t.transport.base_url, "https://[fd00::1]:443");
	assert_int_equal(kubeconfig_in_cluster(NULL, NULL, f->dir, f->arena, &t, &f->err),
			 -E_NOTFOUND);
}

/* FIELD of the cluster or the user, and what is said of it. */
static void test_kubeconfig__what_is_wrong_is_named(void **state)
{
	static const struct {
		const char *cluster, *user, *want;
	} rows[] = {
		{"{}", "{}", "cluster c: server: found nothing"},
		{"{server: \"\"}", "{}", "server: found nothing"},
		{"{server: one}", "{}", "server: found one, wanted a https:// address"},
		{"{server: ftp://one}", "{}", "server: found ftp://one"},
		{"{server: https://one, certificate-authority: absent}", "{}",
		 "cluster c: certificate-authority"},
		{"{server: https://one, certificate-authority-data: \"!\"}", "{}",
		 "cluster c: certificate-authority-data is no base64"},
		{"{server: https://one}", "{client-certificate: absent}",
		 "user u: client-certificate"},
		{"{server: https://one}", "{client-key: absent}", "user u: client-key"},
		{"{server: https://one}", "{client-key-data: \"!\"}", "client-key-data is no"},
		{"{server: https://one}", "{auth-provider: {}}", "auth-provider"},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct kubeconfig *k;
		struct kubeconfig_target t;
		const char *text =
			arena_fmt(f->arena,
				  "current-context: a\nclusters: [{name: c, cluster: %s}]\n"
				  "users: [{name: u, user: %s}]\n"
				  "contexts: [{name: a, context: {cluster: c, user: u}}]\n",
				  rows[i].cluster, rows[i].user);
		struct kubeconfig_sources s = {.path = write_file(f, "wrong", text, 0600)};
		assert_ok(kubeconfig_load(&s, &k, &f->err), &f->err);
		if (kubeconfig_resolve(k, NULL, false, f->arena, &t, &f->err) == 0)
			fail_msg("%s", rows[i].want);
		if (!strstr(f->err.msg, rows[i].want))
			fail_msg("%s, want %s", f->err.msg, rows[i].want);
		kubeconfig_free(k);
	}
}

static void test_kubeconfig__a_context_that_leads_nowhere(void **state)
{
	struct fixture *f = *state;
	struct kubeconfig *k;
	struct kubeconfig_target t;
	struct kubeconfig_sources s = {
		.path = write_file(f, "nowhere",
				   "clusters: [{name: c, cluster: {server: http://one}}]\n"
				   "contexts: [{name: a, context: {cluster: c, user: nobody}}, "
				   "{name: b, context: {cluster: c, user: \"\"}}]\n",
				   0600)};
	assert_ok(kubeconfig_load(&s, &k, &f->err), &f->err);
	assert_int_equal(kubeconfig_resolve(k, NULL, false, f->arena, &t, &f->err), -E_INVALID);
	assert_int_equal(kubeconfig_resolve(k, "a", false, f->arena, &t, &f->err), -E_NOTFOUND);
	assert_non_null(strstr(f->err.msg, "no user \"nobody\""));
	assert_ok(kubeconfig_resolve(k, "b", false, f->arena, &t, &f->err), &f->err);
	assert_string_equal(t.transport.base_url, "http://one");
	assert_null(t.transport.token);
	kubeconfig_free(k);
	s = (struct kubeconfig_sources){.env = arena_fmt(f->arena, "%s/x:%s/y", f->dir, f->dir),
					.home = f->dir};
	assert_int_equal(kubeconfig_load(&s, &k, &f->err), -E_NOTFOUND);
	assert_non_null(strstr(f->err.msg, "no file of KUBECONFIG="));
	s.env = "";
	assert_int_equal(kubeconfig_load(&s, &k, &f->err), -E_NOTFOUND);
	assert_non_null(strstr(f->err.msg, ".kube/config does not exist"));
}

static void test_kubeconfig__a_pod_lacks_something(void **state)
{
	struct fixture *f = *state;
	struct kubeconfig_target t;
	write_file(f, "token", "T", 0644);
	assert_true(kubeconfig_in_cluster("h", "1", f->dir, f->arena, &t, &f->err) < 0);
	assert_non_null(strstr(f->err.msg, "ca.crt"));
	write_file(f, "ca.crt", "CA", 0644);
	assert_ok(kubeconfig_in_cluster("h", "1", f->dir, f->arena, &t, &f->err), &f->err);
	assert_string_equal(t.ns, "default");
	assert_string_equal(t.transport.token_file, arena_fmt(f->arena, "%s/token", f->dir));
	write_file(f, "namespace", " \n", 0644);
	assert_ok(kubeconfig_in_cluster("h", "1", f->dir, f->arena, &t, &f->err), &f->err);
	assert_string_equal(t.ns, "default");
	static const char *const lacking[][2] = {{"", "1"}, {"h", ""}, {"h", NULL}};
	for (size_t i = 0; i < ARRAY_LEN(lacking); i++)
		assert_int_equal(kubeconfig_in_cluster(lacking[i][0], lacking[i][1], f->dir,
						       f->arena, &t, &f->err),
				 -E_NOTFOUND);
}

/* A program is allowed by its whole path, however the file was named. */
static void test_kubeconfig__a_program_beside_a_file_named_from_here(void **state)
{
	struct fixture *f = *state;
	struct kubeconfig *k;
	struct kubeconfig_target t;
	static const char text[] =
		"clusters:\n- name: c\n  cluster: {server: https://one}\nusers:\n- name: u\n  "
		"user: "
		"{exec: {command: bin/login, interactiveMode: Never, apiVersion: "
		"client.authentication.k8s.io/v1}}\ncontexts:\n- name: a\n  context: {cluster: c, "
		"user: u}\n";
	write_file(f, "one", text, 0600);
	/* up to the root, however deep this is run */
	struct kubeconfig_sources s = {
		.path = arena_fmt(f->arena, "../../../../../../../../../../../..%s/one", f->dir)};
	assert_ok(kubeconfig_load(&s, &k, &f->err), &f->err);
	assert_ok(kubeconfig_resolve(k, "a", false, f->arena, &t, &f->err), &f->err);
	assert_string_equal(t.exec->command, arena_fmt(f->arena, "%s/bin/login", f->dir));
	kubeconfig_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_kubeconfig__first_file_wins, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kubeconfig__refusals, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kubeconfig__warnings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kubeconfig__in_a_cluster, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kubeconfig__what_is_wrong_is_named, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_kubeconfig__a_context_that_leads_nowhere,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_kubeconfig__a_pod_lacks_something, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_kubeconfig__a_program_beside_a_file_named_from_here, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
