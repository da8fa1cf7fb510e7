/* Bundles of a whole manager: what is asked of it too early, programs that ask for lists, what an account may not do, and
 * a process that begins anew. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/manager_bundles.h"
#include "alm/render/flat_job.h"
#include "tests/lib/manager_fixture.h"
#include "tests/lib/told.h"

#define WEB   FIXTURE_BUNDLES "/web"
#define MAP_A "/api/v1/namespaces/default/configmaps/a"
#define HEAD(spec)                                                                                \
	"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Bundle\",\"metadata\":{\"name\":" \
	"\"web\",\"uid\":\"u\",\"generation\":1},\"spec\":{\"trigger\":{\"interval\":\"5s\"},"    \
	"\"source\":{\"git\":{\"url\":\"" spec "}}}"
#define PLAIN  HEAD("file://" FIXTURE_GIT "\"}")
#define SECRET HEAD("https://git.example.com/web\",\"secretRef\":{\"name\":\"s\"}}")
#define VERIFY HEAD("file://" FIXTURE_GIT "\",\"verify\":{\"keysRef\":{\"name\":\"k\"}}}")
#define PROGRAM                                                                \
	HEAD("file://" FIXTURE_GIT                                             \
	     "\"}},\"serviceAccountName\":\"default/deployer\",\"renderer\":{" \
	     "\"type\":\"jsonnet\",\"entrypoint\":\"main.jsonnet\"")
#define MAP "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}"

static const char *const tree[] = {
	"a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {v: \"1\"}}",
	"main.jsonnet", "{}", NULL};
static const struct git_table_commit commits[] = {{"first", tree}, {0}};

/* --- what is asked too early --- */

struct answer_of {
	size_t n;
	struct error err;
};

static void read_ended(void *arg, const struct bundle_news *news UNUSED, const struct error *err)
{
	struct answer_of *a = arg;
	a->n++;
	a->err = err ? *err : ERROR_INIT;
}

static void start(struct manager_fixture *f, const struct sandbox_job *jobs)
{
	manager_fixture_init(f, &(struct manager_fixture_config){.commits = commits, .jobs = jobs});
	f->git.pushed = 1;
}

static void test_manager_bundles__nothing_was_read_yet(void **state)
{
	(void)state;
	struct manager_fixture f;
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *web = told_read(PLAIN);
	start(&f, NULL);
	assert_int_equal(manager_roll_bundle(f.manager, web, false, &err), -E_UNAVAILABLE);
	assert_string_equal(err.msg, "nothing was read of Bundle web yet");
	manager_fixture_release(&f);
}

static void test_manager_bundles__a_server_that_does_not_say_what_it_serves(void **state)
{
	static const struct {
		const char *bundle, *kind;
	} rows[] = {{SECRET, "Secret"}, {VERIFY, "ConfigMap"}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct manager_fixture f;
		struct answer_of a = {0};
		CLEANUP(obj_unrefp) struct obj *web = told_read(rows[i].bundle);
		start(&f, NULL);
		discovery_free(f.manager->discovery);
		f.manager->discovery = discovery_new(f.client);
		manager_read_bundle(f.manager, web, read_ended, &a);
		assert_int_equal(a.n, 0); /* nobody is called back from where he asks */
		apifake_run(f.server);
		assert_int_equal(a.n, 1);
		assert_int_equal(a.err.code, E_UNAVAILABLE);
		assert_string_equal(
			a.err.msg,
			arena_fmt(f.a, "the server does not say what a %s is", rows[i].kind));
		assert_int_equal(f.git.asked, 0);
		manager_fixture_release(&f);
	}
}

/* --- lists that a program wants --- */

static struct {
	unsigned n, asks; /* runs; the first so many ask for other lists than before */
	bool unnamed;
} program;

static int run_program(struct str input UNUSED, struct strbuf *output, struct error *err UNUSED)
{
	static const char *const lists[] = {"configmaps", "services", "pods", "namespaces"};
	unsigned n = program.n++;
	if (n < program.asks)
		strbuf_addf(output, "{\"lists\":{\"%s/list\":true}}",
			    program.unnamed ? "" : lists[n % ARRAY_LEN(lists)]);
	else
		strbuf_adds(output, "{\"objects\":[{\"key\":\"a\",\"file\":\"main.jsonnet\","
				    "\"doc\":0,\"line\":1,\"object\":" MAP "}]}");
	return 0;
}

static void let_all(struct manager_fixture *f)
{
	manager_fixture_do(f, "POST", "/api/v1/namespaces/default/serviceaccounts",
			   "{\"metadata\":{\"name\":\"deployer\"}}", 201);
	manager_fixture_do(f, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
			   "{\"metadata\":{\"name\":\"all\"},\"rules\":[{\"apiGroups\":[\"*\"],"
			   "\"resources\":[\"*\"],\"verbs\":[\"*\"]}]}",
			   201);
	manager_fixture_do(
		f, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
		"{\"metadata\":{\"name\":\"all\"},\"roleRef\":{\"apiGroup\":"
		"\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"all\"},"
		"\"subjects\":[{\"kind\":\"ServiceAccount\",\"namespace\":\"default\","
		"\"name\":\"deployer\"}]}",
		201);
}

/* Each answer may name others, three times in one reading: then they are read with the next one. */
static void test_manager_bundles__a_program_asks_for_lists(void **state)
{
	static const struct sandbox_job jobs[] = {
		{FILES_JOB, files_job, NULL}, {JSONNET_JOB, run_program, NULL}, {0}};
	(void)state;
	for (unsigned asks = 0; asks < 6; asks++) {
		struct manager_fixture f;
		start(&f, jobs);
		let_all(&f);
		program.n = 0;
		program.asks = asks;
		manager_fixture_do(&f, "POST", FIXTURE_BUNDLES, PROGRAM, 201);
		manager_fixture_run(&f, 2 * NS_PER_S);
		const char *message = manager_fixture_str(&f, WEB, "@Ready/message");
		bool ends = asks <= 3;
		if (program.n != (ends ? asks + 1 : 4) ||
		    !!*manager_fixture_str(&f, MAP_A, "kind") != ends ||
		    !!strstr(message, "main.jsonnet: each push imports other live lists") == ends)
			fail_msg("%u: run %u times, %s", asks, program.n, message);
		/* as the account, and each that was named */
		size_t n = manager_fixture_sent(&f, "GET", "/api/v1/namespaces/default/services") +
			   manager_fixture_sent(&f, "GET", "/api/v1/services");
		assert_int_equal(n > 0, asks >= 2);
		manager_fixture_await(&f, WEB, "status.state", "Synced", 5 * NS_PER_MIN);
		manager_fixture_release(&f);
	}
}

/* One without a name is a fault of the program, told with its file. */
static void test_manager_bundles__a_list_has_a_name(void **state)
{
	static const struct sandbox_job jobs[] = {
		{FILES_JOB, files_job, NULL}, {JSONNET_JOB, run_program, NULL}, {0}};
	(void)state;
	struct manager_fixture f;
	start(&f, jobs);
	let_all(&f);
	program.n = 0;
	program.asks = 9;
	program.unnamed = true;
	manager_fixture_do(&f, "POST", FIXTURE_BUNDLES, PROGRAM, 201);
	manager_fixture_run(&f, 2 * NS_PER_S);
	program.unnamed = false;
	assert_string_equal(manager_fixture_str(&f, WEB, "status.state"), "Invalid");
	assert_non_null(strstr(manager_fixture_str(&f, WEB, "@Ready/message"),
			       "main.jsonnet: it imports a live list without a name"));
	manager_fixture_release(&f);
}

/* --- a process that begins anew --- */

/* What is there is read again, and written once more by nobody. */
static void test_manager_bundles__a_restart_writes_nothing(void **state)
{
	(void)state;
	struct manager_fixture f;
	start(&f, NULL);
	manager_fixture_do(&f, "POST", FIXTURE_BUNDLES, PLAIN, 201);
	manager_fixture_await(&f, WEB, "status.state", "Synced", NS_PER_MIN);
	manager_fixture_run(&f, 20 * NS_PER_S);
	const char *before = manager_fixture_str(&f, WEB, "metadata.resourceVersion");
	size_t told = manager_fixture_rows(&f, "Observe", "RevisionRead", "web");
	assert_int_equal(told, 1);
	for (int i = 0; i < 3; i++) {
		manager_fixture_restart(&f);
		manager_fixture_forget(&f);
		manager_fixture_run(&f, 30 * NS_PER_S);
		assert_string_equal(manager_fixture_str(&f, WEB, "metadata.resourceVersion"),
				    before);
		assert_int_equal(manager_fixture_sent(&f, "PATCH", "*"), 0);
		assert_int_equal(manager_fixture_sent(&f, "PUT", "*"), 0);
		assert_int_equal(manager_fixture_sent(&f, "DELETE", "*"), 0);
		/* each process says what it has read */
		assert_int_equal(manager_fixture_rows(&f, "Observe", "RevisionRead", "web"),
				 told + 1 + (size_t)i);
	}
	/* and it is kept as declared by the new one, too */
	manager_fixture_do(&f, "DELETE", MAP_A, NULL, 200);
	manager_fixture_await(&f, MAP_A, "data.v", "1", NS_PER_MIN);
	manager_fixture_do(&f, "DELETE", WEB, NULL, 200);
	manager_fixture_restart(&f);
	manager_fixture_await(&f, WEB, "kind", "", NS_PER_MIN);
	assert_string_equal(manager_fixture_str(&f, MAP_A, "kind"), "");
	manager_fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manager_bundles__nothing_was_read_yet),
		cmocka_unit_test(test_manager_bundles__a_server_that_does_not_say_what_it_serves),
		cmocka_unit_test(test_manager_bundles__a_program_asks_for_lists),
		cmocka_unit_test(test_manager_bundles__a_list_has_a_name),
		cmocka_unit_test(test_manager_bundles__a_restart_writes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
