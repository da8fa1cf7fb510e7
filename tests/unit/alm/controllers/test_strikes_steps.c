/* What a whole manager does about each request of a Bundle in steps that fails: a Job and its log, what is made once, what
 * is deleted, and a revision that goes back (tests/lib/strikes.h). */
#include "tests/lib/test.h"

#include <string.h>

#include "tests/lib/strikes.h"

#define WEB         FIXTURE_BUNDLES "/web"
#define MAPS        "/api/v1/namespaces/default/configmaps"
#define JOBS        "/apis/batch/v1/namespaces/default/jobs"
#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"
#define CM(name, v) \
	"{apiVersion: v1, kind: ConfigMap, metadata: {name: " name "}, data: {v: '" v "'}}"
#define POD(v, annotations)                                                                   \
	"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {v: '" v       \
	"'}}, spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: " \
	"{labels: {app: web}, annotations: {" annotations                                     \
	"}}, spec: {containers: [{name: c, image: 'web:" v "'}]}}}}"
#define JOB(v)                                                                               \
	"{apiVersion: batch/v1, kind: Job, metadata: {name: load, labels: {v: '" v           \
	"'}}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: " \
	"'load:" v "'}]}}}}"
#define STEP(object, action, more) "{\"object\":\"" object "\",\"action\":\"" action "\"" more "}"
#define ROLLOUT                                                                                    \
	"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Rollout\",\"metadata\":{\"name\":" \
	"\"steps\"},\"spec\":{\"rest\":\"After\",\"groups\":[{\"name\":\"g\",\"steps\":[" STEP(    \
		"a.yaml", "CreateOrUpdate",                                                        \
		"") "," STEP("job.yaml", "Job",                                                    \
			     ",\"timeout\":\"1m\"") "," STEP("once.yaml", "CreateIfNotExist",      \
							     "") "," STEP("old.yaml",              \
									  "DeleteIfExist",         \
									  "") "," STEP("web.yaml", \
										       "CreateOrU" \
										       "pdate",    \
										       "") "]}]}}"
#define WEB_BUNDLE                                                                                \
	"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Bundle\",\"metadata\":{\"name\":" \
	"\"web\"},\"spec\":{\"source\":{\"git\":{\"url\":\"file://" FIXTURE_GIT "\"}},"           \
	"\"trigger\":{\"interval\":\"20s\"},\"rolloutRef\":{\"name\":\"steps\"}}}"
#define REST(v) "a.yaml", CM("a", v), "once.yaml", CM("once", v), "old.yaml", CM("old", v)

static const char *const first[] = {REST("1"),  "job.yaml",   JOB("1"),
				    "web.yaml", POD("1", ""), NULL};
static const char *const bad[] = {REST("2"),
				  "job.yaml",
				  JOB("2"),
				  "web.yaml",
				  POD("2", "app.coreos.com/simulate: ImagePullBackOff"),
				  NULL};
static const struct git_table_commit commits[] = {{"first", first}, {"bad", bad}, {0}};

static void phase(struct manager_fixture *f, size_t n)
{
	if (n == 0) {
		f->git.pushed = 1;
		manager_fixture_do(f, "POST", MAPS, "{\"metadata\":{\"name\":\"old\"}}", 201);
		manager_fixture_do(f, "POST", FIXTURE_ROLLOUTS, ROLLOUT, 201);
		manager_fixture_do(f, "POST", FIXTURE_BUNDLES, WEB_BUNDLE, 201);
	} else if (n == 1) {
		f->git.pushed = 2;
	}
}

/* How long ago, and the names of Pods, are nobody's business here. */
static void tell(struct manager_fixture *f, struct strbuf *b)
{
	const char *message = manager_fixture_str(f, WEB, "@Ready/message");
	strbuf_addf(b, "%s: %.*s; a %s once %s old %s web %s load %s",
		    manager_fixture_str(f, WEB, "status.state"), (int)strcspn(message, "("),
		    message, manager_fixture_str(f, MAPS "/a", "data.v"),
		    manager_fixture_str(f, MAPS "/once", "data.v"),
		    manager_fixture_str(f, MAPS "/old", "metadata.name"),
		    manager_fixture_str(f, DEPLOYMENTS "/web", "metadata.labels.v"),
		    manager_fixture_str(f, JOBS "/load", "metadata.labels.v"));
	const char *stalled = manager_fixture_str(f, WEB, "@Stalled/message");
	if (*stalled)
		strbuf_addf(b, "; stalled: %s", stalled);
}

static void test_strikes_steps__of_a_bundle_in_steps(void **state)
{
	static const char *const only[] = {"jobs", "/pods", "deployments", "replicasets",
					   "once", "old",   "unit.web",    NULL};
	static const struct story s = {.golden = "tests/golden/strikes/steps.txt",
				       .commits = commits,
				       .phase = phase,
				       .n_phases = 2,
				       .phase_ns = 70 * NS_PER_S,
				       .only = only,
				       .tell = tell};
	(void)state;
	strikes_hold(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strikes_steps__of_a_bundle_in_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
