/* exec_run: how the program of a kubeconfig is called, what comes of its ends, and when it is called again. The program is this test's. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/client/exec_run.h"
#include "alm/io/server.h"
#include "tests/lib/http_client.h"
#include "tests/lib/server_fixture.h"

#define V1   "client.authentication.k8s.io/v1"
#define HEAD "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":{\"token\":"

/* What the program does when it is called the next time. */
struct act {
	const char *output, *errors;
	int status, code; /* code: it could not be run */
	int64_t good_ns;  /* its answer says until when it is good, from now; 0: it does not */
};

struct world {
	struct programs programs; /* first: ops */
	struct fixture *f;
	struct arena *a;
	const struct act *acts;
	size_t n_calls, n_acts;
	struct task later;
	program_done done;
	void *arg;
	struct program_call call; /* the last one */
	int64_t at_ns[8];         /* of the calls */
	int n_failures;
	char failure[700];
};

static struct world *world; /* on_failure has no argument */

static void answer(void *arg)
{
	struct world *w = arg;
	const struct act *act = &w->acts[w->n_calls - 1];
	struct error err = ERROR_INIT;
	char until[CLOCK_TEXT_MAX];
	const char *output = act->output;
	if (act->good_ns) {
		clock_format(loop_now(w->f->loop) + act->good_ns, CLOCK_MICROS, until);
		output = arena_fmt(w->a, "%s,\"expirationTimestamp\":\"%s\"}}", act->output, until);
	}
	struct program_result r = {.status = act->status,
				   .output = str_of(output ? output : ""),
				   .errors = str_of(act->errors ? act->errors : "")};
	if (act->code)
		error_set(&err, act->code, "it cannot be run");
	w->done(w->arg, &r, act->code ? &err : NULL);
}

static struct program_run *run(struct programs *p, const struct program_call *call,
			       program_done done, void *arg)
{
	struct world *w = (struct world *)p;
	assert_true(w->n_calls < w->n_acts);
	w->call = *call;
	w->done = done;
	w->arg = arg;
	w->at_ns[w->n_calls++] = loop_mono(w->f->loop);
	w->later = (struct task){.fn = answer, .arg = w};
	loop_post(w->f->loop, &w->later);
	return NULL;
}

static void on_failure(const char *message)
{
	world->n_failures++;
	(void)snprintf(world->failure, sizeof(world->failure), "%s", message);
}

static const struct programs_ops ops = {.run = run};
static const char *const no_texts[] = {NULL};

static void begin(struct world *w, void **state, const struct act *acts, size_t n)
{
	*w = (struct world){.programs = {&ops}, .f = *state, .acts = acts, .n_acts = n};
	w->a = arena_new(1 << 20);
	world = w;
}

static struct exec_run_config config_of(struct world *w, const struct exec_plugin *p)
{
	return (struct exec_run_config){.loop = w->f->loop,
					.programs = &w->programs,
					.plugin = p,
					.path = "/bin/login",
					.dir = "/home/me",
					.env = no_texts,
					.wall_ns = 7,
					.on_failure = on_failure};
}

/* A variable of the kubeconfig takes the place of the one with that name, not of one whose name it begins. */
static void test_exec_run__what_it_is_called_with(void **state)
{
	static const struct act acts[] = {{.output = HEAD "\"t\"}}"}};
	static const char *const args[] = {"-a", "b c", NULL}, *const own[] = {"KEY=mine",
									       "NEW=", NULL};
	static const char *const env[] = {"KEY=theirs",   "KEYS=theirs",
					  "KE=theirs",    "KUBERNETES_EXEC_INFO=theirs",
					  "NEWER=theirs", NULL};
	static const char *const want[] = {"KEYS=theirs", "KE=theirs", "NEWER=theirs", "KEY=mine",
					   "NEW="};
	const struct exec_plugin p = {
		.command = "login", .args = args, .env = own, .api_version = V1};
	struct transport_config t = {.base_url = "https://one"};
	CLEANUP(exec_run_freep) struct exec_run *x = NULL;
	struct error err = ERROR_INIT;
	struct world w;
	begin(&w, state, acts, ARRAY_LEN(acts));
	struct exec_run_config c = config_of(&w, &p);
	c.env = env;
	c.is_users = true;
	assert_ok(exec_run_new(&c, &t, w.a, &x, &err), &err);
	assert_string_equal(t.token, "t");
	assert_string_equal(w.call.path, "/bin/login");
	assert_string_equal(w.call.dir, "/home/me");
	assert_true(w.call.is_users);
	assert_int_equal(w.call.limits.output_bytes, EXEC_PLUGIN_ANSWER_BYTES);
	assert_int_equal(w.call.limits.wall_ns, 7);
	assert_string_equal(w.call.argv[0], "login");
	assert_string_equal(w.call.argv[1], "-a");
	assert_string_equal(w.call.argv[2], "b c");
	assert_null(w.call.argv[3]);
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		assert_string_equal(w.call.env[i], want[i]);
	const char *info = w.call.env[ARRAY_LEN(want)];
	assert_true(cstr_has_prefix(info, "KUBERNETES_EXEC_INFO={\"kind\":\"ExecCredential\""));
	assert_null(w.call.env[ARRAY_LEN(want) + 1]);
	arena_free(w.a);
}

/* The first answer: what is wrong with it is told to who waits. */
static void test_exec_run__a_first_answer_that_is_none(void **state)
{
	char flood[600 + 1];
	memset(flood, 'e', 600);
	flood[600] = '\0';
	const struct {
		struct act act;
		int code;
		const char *why;
	} rows[] = {
		{{.output = HEAD "\"t\"}}", .status = 1, .errors = " who are you? \n"},
		 E_UNAUTHORIZED,
		 "exec plugin /bin/login failed with exit code 1: who are you?"},
		{{.status = 3}, E_UNAUTHORIZED, "exec plugin /bin/login failed with exit code 3: "},
		{{.status = 3, .errors = flood}, E_UNAUTHORIZED, NULL},
		{{.code = E_NOTALLOWED, .status = -1}, E_NOTALLOWED, "it cannot be run"},
		{{.output = "no JSON"}, E_UNAUTHORIZED, NULL},
	};
	const struct exec_plugin p = {
		.command = "login", .args = no_texts, .env = no_texts, .api_version = V1};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct transport_config t = {.token = "old"};
		struct exec_run *x = NULL;
		struct error err = ERROR_INIT;
		struct world w;
		begin(&w, state, &rows[i].act, 1);
		struct exec_run_config c = config_of(&w, &p);
		assert_int_equal(exec_run_new(&c, &t, w.a, &x, &err), -rows[i].code);
		assert_null(x);
		assert_int_equal(err.code, rows[i].code);
		if (rows[i].why)
			assert_string_equal(err.msg, rows[i].why);
		assert_string_equal(t.token, "old");
		assert_int_equal(w.n_failures, 0);
		arena_free(w.a);
	}
	exec_run_free(NULL);
}

static void wait_calls(struct world *w, size_t n)
{
	int64_t until = loop_mono(w->f->loop) + 10 * NS_PER_S;
	while (w->n_calls < n && loop_mono(w->f->loop) < until)
		loop_turn(w->f->loop);
	assert_int_equal(w->n_calls, n);
	while (w->later.posted)
		loop_turn(w->f->loop);
}

static void assert_sends(struct fixture *f, struct transport *t, const char *token)
{
	struct result res = RESULT_INIT;
	assert_int_equal(call_wait(f->loop, t, "GET", "/echo", STR_NONE, &res), 200);
	assert_non_null(strstr(res.body.buf, token));
	strbuf_release(&res.body);
}

/* Asked again when four fifths of the time are over, and never faster than each second; then as config says where no answer tells a time,
 * and after a failure, which keeps the token. */
static void test_exec_run__it_is_asked_again_before_the_end(void **state)
{
	static const struct act acts[] = {
		{.output = HEAD "\"one\"", .good_ns = 1500 * NS_PER_MS},
		{.output = HEAD "\"two\"", .good_ns = 10 * NS_PER_MS},
		{.status = 1, .errors = "gone"},
		{.output = HEAD "\"three\"}}"},
		{.output = HEAD "\"four\"", .good_ns = NS_PER_HOUR},
	};
	static const int64_t after_ms[] = {1200, 1000, 1500, 1500};
	const struct exec_plugin p = {
		.command = "login", .args = no_texts, .env = no_texts, .api_version = V1};
	struct fixture *f = *state;
	struct world w;
	struct exec_run *x = NULL;
	CLEANUP(transport_freep) struct transport *t = NULL;
	begin(&w, state, acts, ARRAY_LEN(acts));
	listen_tls(f);
	struct transport_config tc = {.base_url = f->url, .ca_pem = f->ca};
	struct exec_run_config c = config_of(&w, &p);
	c.again_ns = 1500 * NS_PER_MS;
	assert_ok(exec_run_new(&c, &tc, w.a, &x, &f->err), &f->err);
	assert_ok(transport_curl_new(f->loop, &tc, &t, &f->err), &f->err);
	exec_run_keep(x, t);
	assert_sends(f, t, "Bearer one");
	for (size_t n = 2; n <= ARRAY_LEN(acts); n++) {
		wait_calls(&w, n);
		int64_t ms = (w.at_ns[n - 1] - w.at_ns[n - 2]) / NS_PER_MS;
		if (ms < after_ms[n - 2] - 30 || ms > after_ms[n - 2] + 5000)
			fail_msg("call %zu comes after %d ms, not %d", n, (int)ms,
				 (int)after_ms[n - 2]);
		assert_int_equal(w.n_failures, n >= 3);
		if (n == 3)
			assert_sends(f, t, "Bearer two");
	}
	assert_string_equal(w.failure, "exec plugin /bin/login failed with exit code 1: gone");
	assert_sends(f, t, "Bearer four");
	exec_run_free(x);
	arena_free(w.a);
}

/* A command's: nothing is asked again where no time is told, nor after a failure, and nothing once it is gone. */
static void test_exec_run__asked_no_more(void **state)
{
	static const struct act acts[] = {
		{.output = HEAD "\"one\"}}"},
		{.output = HEAD "\"one\"", .good_ns = NS_PER_S},
		{.code = E_IO},
	};
	const struct exec_plugin p = {
		.command = "login", .args = no_texts, .env = no_texts, .api_version = V1};
	struct fixture *f = *state;
	struct transport_config tc = {.base_url = "https://127.0.0.1:1"};
	CLEANUP(transport_freep) struct transport *t = NULL;
	assert_ok(transport_curl_new(f->loop, &tc, &t, &f->err), &f->err);
	for (size_t i = 0; i < 2; i++) {
		struct world w;
		struct exec_run *x = NULL;
		begin(&w, state, acts + i, ARRAY_LEN(acts) - i);
		struct exec_run_config c = config_of(&w, &p);
		assert_ok(exec_run_new(&c, &tc, w.a, &x, &f->err), &f->err);
		assert_int_equal(loop_next_deadline(f->loop), INT64_MAX);
		exec_run_keep(x, t);
		if (i) {
			wait_calls(&w, 2);
			assert_int_equal(w.n_failures, 1);
			assert_string_equal(w.failure, "it cannot be run");
		}
		assert_int_equal(loop_next_deadline(f->loop), INT64_MAX);
		exec_run_free(x);
		arena_free(w.a);
	}
}

static void test_exec_run__gone_is_not_asked(void **state)
{
	static const struct act acts[] = {{.output = HEAD "\"one\"", .good_ns = NS_PER_HOUR}};
	const struct exec_plugin p = {
		.command = "login", .args = no_texts, .env = no_texts, .api_version = V1};
	struct fixture *f = *state;
	struct transport_config tc = {.base_url = "https://127.0.0.1:1"};
	CLEANUP(transport_freep) struct transport *t = NULL;
	struct exec_run *x = NULL;
	struct world w;
	begin(&w, state, acts, 1);
	assert_ok(transport_curl_new(f->loop, &tc, &t, &f->err), &f->err);
	struct exec_run_config c = config_of(&w, &p);
	assert_ok(exec_run_new(&c, &tc, w.a, &x, &f->err), &f->err);
	exec_run_keep(x, t);
	assert_true(loop_next_deadline(f->loop) < INT64_MAX);
	exec_run_free(x);
	assert_int_equal(loop_next_deadline(f->loop), INT64_MAX);
	arena_free(w.a);
}

/* Its file is the first executable one of the folders of $PATH, of which the relative ones do not count. */
static void test_exec_run__where_it_is(void **state)
{
	char dir[] = "/tmp/alm-exec-XXXXXX", one[64], two[64], cwd[4096];
	struct fixture *f = *state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	assert_non_null(mkdtemp(dir));
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	(void)snprintf(one, sizeof(one), "%s/one", dir);
	(void)snprintf(two, sizeof(two), "%s/two", dir);
	assert_int_equal(mkdir(one, 0700) + mkdir(two, 0700), 0);
	const char *plain = arena_fmt(a, "%s/login", one), *program = arena_fmt(a, "%s/login", two);
	assert_ok(file_write_atomic(plain, STR("x"), 0600, &f->err), &f->err);
	assert_ok(file_write_atomic(program, STR("x"), 0700, &f->err), &f->err);
	const struct {
		const char *command, *path, *want;
	} rows[] = {
		{"login", two, program},
		{"login", arena_fmt(a, "%s:%s", one, two), program},
		{"login", arena_fmt(a, "::/nowhere:%s", two), program},
		{"login", one, NULL},
		{"run.sh", arena_fmt(a, "%s/tests/lib", cwd),
		 arena_fmt(a, "%s/tests/lib/run.sh", cwd)},
		{"run.sh", "tests/lib", NULL}, /* below the current folder */
		{"tests/lib/run.sh", ".", NULL},
		{"login", "", NULL},
		{"login", NULL, NULL},
		{program, NULL, program},
		{plain, two, NULL},
		{"/nowhere", two, NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		struct exec_plugin p = {.command = rows[i].command,
					.install_hint = i % 2 ? "get it" : NULL};
		const char *found = NULL;
		int r = exec_run_find(&p, rows[i].path, a, &found, &err);
		assert_int_equal(r, rows[i].want ? 0 : -E_NOTFOUND);
		if (rows[i].want)
			assert_string_equal(found, rows[i].want);
		else
			assert_string_equal(err.msg,
					    arena_fmt(a, "exec: executable %s not found%s",
						      rows[i].command, i % 2 ? "; get it" : ""));
	}
	assert_int_equal(unlink(plain) + unlink(program) + rmdir(one) + rmdir(two) + rmdir(dir), 0);
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_exec_run__##name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_it_is_called_with),
		TEST(a_first_answer_that_is_none),
		TEST(it_is_asked_again_before_the_end),
		TEST(asked_no_more),
		TEST(gone_is_not_asked),
		TEST(where_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
