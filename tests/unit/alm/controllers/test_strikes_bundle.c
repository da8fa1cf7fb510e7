/* What a whole manager does about each request of a Bundle that fails (tests/lib/strikes.h). */
#include "tests/lib/test.h"

#include "tests/lib/strikes.h"

#define WEB  FIXTURE_BUNDLES "/web"
#define MAPS "/api/v1/namespaces/default/configmaps/"
#define CM(name, v) \
	"{apiVersion: v1, kind: ConfigMap, metadata: {name: " name "}, data: {v: \"" v "\"}}"
#define GIT_SECRET                                                                        \
	"{\"metadata\":{\"name\":\"s\"},\"type\":\"app.coreos.com/catalog-credentials\"," \
	"\"stringData\":{\"username\":\"u\",\"password\":\"pa55word\",\"origins\":"       \
	"\"https://git.example.com\"}}"
#define WEB_BUNDLE                                                                                \
	"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Bundle\",\"metadata\":{\"name\":" \
	"\"web\"},\"spec\":{\"source\":{\"git\":{\"url\":\"https://git.example.com/web\","        \
	"\"secretRef\":{\"name\":\"s\"}}},\"trigger\":{\"interval\":\"20s\"}}}"

static const char *const first[] = {"a.yaml", CM("a", "1"), "b.yaml", CM("b", "1"), NULL};
static const char *const second[] = {"a.yaml", CM("a", "2"), "c.yaml", CM("c", "2"), NULL};
static const struct git_table_commit commits[] = {{"first", first}, {"second", second}, {0}};

static void bundle_phase(struct manager_fixture *f, size_t n)
{
	if (n == 0) {
		f->git.pushed = 1;
		manager_fixture_do(f, "POST", FIXTURE_SECRETS, GIT_SECRET, 201);
		manager_fixture_do(f, "POST", FIXTURE_BUNDLES, WEB_BUNDLE, 201);
	} else if (n == 1) {
		f->git.pushed = 2;
	} else if (*manager_fixture_str(f, MAPS "a", "data.v")) {
		manager_fixture_do(f, "DELETE", MAPS "a", NULL, 200);
	}
}

static void removal_phase(struct manager_fixture *f, size_t n)
{
	if (n == 0)
		bundle_phase(f, 0);
	else if (n == 1)
		manager_fixture_do(f, "DELETE", WEB, NULL, 200);
}

static void bundle_tell(struct manager_fixture *f, struct strbuf *b)
{
	strbuf_addf(b, "%s: %s", manager_fixture_str(f, WEB, "status.state"),
		    manager_fixture_str(f, WEB, "@Ready/message"));
	strbuf_addf(b, "; a %s b %s c %s", manager_fixture_str(f, MAPS "a", "data.v"),
		    manager_fixture_str(f, MAPS "b", "data.v"),
		    manager_fixture_str(f, MAPS "c", "data.v"));
	const char *stalled = manager_fixture_str(f, WEB, "@Stalled/message");
	if (*stalled)
		strbuf_addf(b, "; Stalled: %s", stalled);
}

static void test_strikes_bundle__of_a_bundle(void **state)
{
	static const struct story s = {.golden = "tests/golden/strikes/bundle.txt",
				       .commits = commits,
				       .phase = bundle_phase,
				       .n_phases = 3,
				       .phase_ns = 70 * NS_PER_S,
				       .tell = bundle_tell};
	(void)state;
	strikes_hold(&s);
}

static void test_strikes_bundle__of_a_bundle_that_goes(void **state)
{
	static const struct story s = {.golden = "tests/golden/strikes/bundle_goes.txt",
				       .commits = commits,
				       .phase = removal_phase,
				       .n_phases = 4,
				       .struck = 1,
				       .phase_ns = 70 * NS_PER_S,
				       .tell = bundle_tell};
	(void)state;
	strikes_hold(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strikes_bundle__of_a_bundle),
		cmocka_unit_test(test_strikes_bundle__of_a_bundle_that_goes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
