/* Programs that print credentials: what a kubeconfig says of them, what they are told, and what of their answers is taken. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/arena.h"
#include "alm/base/clock.h"
#include "alm/client/exec_plugin.h"
#include "alm/obj/json.h"

#define V1   "client.authentication.k8s.io/v1"
#define HEAD "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":"
#define NOW  ((int64_t)1800000000 * 1000000000) /* 2027-01-15T08:00:00Z */

static struct obj *parsed(const char *text)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

static void test_exec_plugin__what_the_kubeconfig_says(void **state)
{
	static const struct {
		const char *exec, *why; /* NULL: it is taken */
	} rows[] = {
		{"{\"apiVersion\":\"" V1 "\",\"command\":\"aws\",\"interactiveMode\":\"Never\"}",
		 NULL},
		{"{\"apiVersion\":\"" V1
		 "\",\"command\":\"aws\",\"interactiveMode\":\"IfAvailable\"}",
		 NULL},
		{"{\"apiVersion\":\"" V1 "beta1\",\"command\":\"aws\"}", NULL},
		{"{\"apiVersion\":\"" V1 "beta1\",\"command\":\"aws\",\"interactiveMode\":\"no\"}",
		 "found no, want Never"},
		{"{\"apiVersion\":\"" V1
		 "beta1\",\"command\":\"aws\",\"interactiveMode\":\"Always\"}",
		 "ask on the terminal"},
		{"{\"apiVersion\":\"" V1 "beta1\",\"command\":\"\"}",
		 "exec.command must be specified"},
		{"{\"apiVersion\":\"" V1
		 "beta1\",\"command\":\"aws\",\"env\":[{\"name\":\"\",\"value\":\"x\"}]}",
		 "exec.env[0]: want a name"},
		{"{\"apiVersion\":\"" V1
		 "beta1\",\"command\":\"aws\",\"env\":[{\"name\":\"A\"},\"B\"]}",
		 "exec.env[1]: want a name"},
		{"{\"apiVersion\":\"" V1 "\",\"command\":\"aws\"}",
		 "exec.interactiveMode must be specified"},
		{"{\"apiVersion\":\"" V1 "\",\"command\":\"aws\",\"interactiveMode\":\"Always\"}",
		 "ask on the terminal"},
		{"{\"apiVersion\":\"" V1 "\",\"command\":\"aws\",\"interactiveMode\":\"x\"}",
		 "found x, want Never"},
		{"{\"apiVersion\":\"" V1 "\",\"interactiveMode\":\"Never\"}",
		 "exec.command must be specified"},
		{"{\"command\":\"aws\"}", "exec.apiVersion: found nothing, want " V1},
		{"{\"apiVersion\":\"" V1 "alpha1\",\"command\":\"aws\"}",
		 "exec.apiVersion: found " V1 "alpha1"},
		{"{\"apiVersion\":\"" V1 "beta1\",\"command\":\"aws\",\"args\":[\"a\",7]}",
		 "exec.args[1]: want a text"},
		{"{\"apiVersion\":\"" V1 "beta1\",\"command\":\"aws\",\"env\":[{\"value\":\"x\"}]}",
		 "exec.env[0]: want a name"},
		{"{\"apiVersion\":\"" V1
		 "beta1\",\"command\":\"aws\",\"env\":[{\"name\":\"A=B\",\"value\":\"x\"}]}",
		 "exec.env[0]"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(65536);
		CLEANUP(obj_unrefp) struct obj *o = parsed(rows[i].exec);
		struct exec_plugin p;
		struct error err = ERROR_INIT;
		int r = exec_plugin_read(o, "/home/me", a, &p, &err);
		assert_int_equal(r, -(int)err.code);
		assert_int_equal(r < 0, rows[i].why != NULL);
		if (rows[i].why && !strstr(err.msg, rows[i].why))
			fail_msg("row %zu: %s", i, err.msg);
	}
}

/* Found in the path as it is, in the folder of the kubeconfig, or where it says. */
static void test_exec_plugin__where_the_command_is(void **state)
{
	static const char *const rows[][2] = {
		{"aws", "aws"}, {"./aws", "/home/me/./aws"}, {"/bin/aws", "/bin/aws"}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(65536);
		CLEANUP(obj_unrefp) struct obj *o = parsed("{\"apiVersion\":\"" V1 "beta1\"}");
		struct exec_plugin p;
		struct error err = ERROR_INIT;
		obj_set_str(o, "command", rows[i][0]);
		assert_ok(exec_plugin_read(o, "/home/me", a, &p, &err), &err);
		assert_string_equal(p.command, rows[i][1]);
		assert_string_equal(p.api_version, V1 "beta1");
		assert_null(p.install_hint);
		assert_false(p.wants_cluster);
		assert_null(p.args[0]);
		assert_null(p.env[0]);
	}
}

static void test_exec_plugin__no_more_arguments_than_fit(void **state)
{
	(void)state;
	for (size_t n = EXEC_PLUGIN_ARGS_MAX; n <= EXEC_PLUGIN_ARGS_MAX + 1; n++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		CLEANUP(obj_unrefp) struct obj *o =
			parsed("{\"apiVersion\":\"" V1 "beta1\",\"command\":\"aws\"}");
		struct obj *args = obj_list();
		struct exec_plugin p;
		struct error err = ERROR_INIT;
		for (size_t i = 0; i < n; i++)
			obj_append(args, obj_string("x"));
		obj_set(o, "args", args);
		int r = exec_plugin_read(o, "/", a, &p, &err);
		assert_int_equal(r, n > EXEC_PLUGIN_ARGS_MAX ? -E_INVALID : 0);
		assert_true(r < 0 ? strstr(err.msg, "exec.args: more than ") != NULL
				  : p.args[n - 1] && !p.args[n]);
	}
}

static void test_exec_plugin__what_it_is_told(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(65536);
	CLEANUP(obj_unrefp) struct obj *config = parsed("{\"audience\":\"x\"}");
	CLEANUP(obj_unrefp) struct obj *o =
		parsed("{\"apiVersion\":\"" V1 "\",\"command\":\"bin/"
		       "login\",\"interactiveMode\":\"Never\",\"args\":[\"-a\",\"b c\"],"
		       "\"env\":[{\"name\":\"K\",\"value\":\"v=w\"},{\"name\":\"E\"}],"
		       "\"installHint\":\"get it\",\"provideClusterInfo\":true}");
	const struct transport_config t = {.base_url = "https://one:6443",
					   .ca_pem = "CERT",
					   .tls_server_name = "api",
					   .proxy_url = "http://p"};
	struct exec_plugin p;
	struct error err = ERROR_INIT;
	(void)state;
	assert_ok(exec_plugin_read(o, "/home/me", a, &p, &err), &err);
	assert_string_equal(p.command, "/home/me/bin/login");
	assert_string_equal(p.args[1], "b c");
	assert_null(p.args[2]);
	assert_string_equal(p.env[0], "K=v=w");
	assert_string_equal(p.env[1], "E=");
	assert_null(p.env[2]);
	assert_string_equal(p.install_hint, "get it");
	p.cluster_config = config;
	assert_string_equal(exec_plugin_info(&p, &t, a),
			    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
			    "\",\"spec\":{\"cluster\":{\"server\":\"https://one:6443\","
			    "\"tls-server-name\":\"api\",\"certificate-authority-data\":\"Q0VSVA=="
			    "\",\"proxy-url\":\"http://p\","
			    "\"config\":{\"audience\":\"x\"}},\"interactive\":false}}");
	const struct transport_config bare = {.base_url = "https://two",
					      .insecure_skip_tls_verify = true};
	p.cluster_config = NULL;
	assert_string_equal(exec_plugin_info(&p, &bare, a),
			    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
			    "\",\"spec\":{\"cluster\":{\"server\":\"https://two\","
			    "\"insecure-skip-tls-verify\":true,\"config\":null},"
			    "\"interactive\":false}}");
	p.wants_cluster = false;
	assert_string_equal(exec_plugin_info(&p, &t, a),
			    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
			    "\",\"spec\":{\"interactive\":false}}");
}

static void test_exec_plugin__what_it_answers(void **state)
{
	static const struct {
		const char *answer, *why, *token, *cert; /* why NULL: it is taken */
	} rows[] = {
		{HEAD "{\"token\":\"t\"}}", NULL, "t", NULL},
		{HEAD "{\"token\":\"t\",\"expirationTimestamp\":\"2027-01-15T08:00:01Z\"}}", NULL,
		 "t", NULL},
		{HEAD "{\"clientCertificateData\":\"C\",\"clientKeyData\":\"K\"}}", NULL, "old",
		 "C"},
		{HEAD "{\"token\":\"t\",\"clientCertificateData\":\"C\",\"clientKeyData\":\"K\"}}",
		 NULL, "t", "C"},
		{HEAD "{\"token\":\"t\",\"expirationTimestamp\":\"2027-01-15T08:00:00Z\"}}",
		 "ended at 2027-01-15T08:00:00Z", NULL, NULL},
		{HEAD "{\"token\":\"t\",\"expirationTimestamp\":\"soon\"}}", "ended at soon", NULL,
		 NULL},
		{HEAD "{}}", "didn't return a token or cert/key pair", NULL, NULL},
		{HEAD "{\"token\":\"\"}}", "didn't return a token or cert/key pair", NULL, NULL},
		{HEAD "{\"token\":\"t\",\"clientKeyData\":\"K\"}}", "only certificate or key", NULL,
		 NULL},
		{HEAD "{\"clientKeyData\":\"K\"}}", "only certificate or key", NULL, NULL},
		{HEAD "{\"clientCertificateData\":\"C\"}}", "only certificate or key", NULL, NULL},
		{"{\"apiVersion\":\"" V1 "\"}", "plugin returned " V1 " and no kind", NULL, NULL},
		{"{\"kind\":\"ExecCredential\"}", "plugin returned no version ExecCredential", NULL,
		 NULL},
		{HEAD "null}", "didn't return a status field", NULL, NULL},
		{HEAD "[]}", "didn't return a status field", NULL, NULL},
		{"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
		 "beta1\",\"status\":{\"token\":\"t\"}}",
		 "is configured to use API version " V1 ", plugin returned " V1 "beta1", NULL,
		 NULL},
		{"{\"kind\":\"Secret\",\"apiVersion\":\"" V1 "\",\"status\":{\"token\":\"t\"}}",
		 "Secret", NULL, NULL},
		{"[]", "no version and no kind", NULL, NULL},
		{"s3cret", "printed no JSON", NULL, NULL},
		{"", "printed no JSON", NULL, NULL},
	};
	const struct exec_plugin p = {.api_version = V1};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(65536);
		struct transport_config t = {.token = "old", .token_file = "/f"};
		struct error err = ERROR_INIT;
		int64_t until = 0;
		int r = exec_plugin_answer(&p, str_of(rows[i].answer), NOW, a, &t, &until, &err);
		if (rows[i].why && (r != -E_UNAUTHORIZED || !strstr(err.msg, rows[i].why) ||
				    strstr(err.msg, "s3cret")))
			fail_msg("row %zu: %d %s", i, r, err.msg);
		assert_string_equal(t.token, rows[i].token ? rows[i].token : "old");
		assert_int_equal(t.token_file != NULL, !cstr_eq(rows[i].token, "t"));
		assert_int_equal(until, !rows[i].why && strstr(rows[i].answer, "expiration")
						? NOW + NS_PER_S
						: 0);
		assert_true(rows[i].why || r == 0);
		assert_true(rows[i].cert ? cstr_eq(t.cert_pem, "C") && cstr_eq(t.key_pem, "K")
					 : !t.cert_pem && !t.key_pem);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec_plugin__what_the_kubeconfig_says),
		cmocka_unit_test(test_exec_plugin__where_the_command_is),
		cmocka_unit_test(test_exec_plugin__no_more_arguments_than_fit),
		cmocka_unit_test(test_exec_plugin__what_it_is_told),
		cmocka_unit_test(test_exec_plugin__what_it_answers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
