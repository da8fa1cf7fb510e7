/* What the simulated controllers and kubelet make of workloads: statuses, children, faults on request. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/apiserver/core.h"
#include "alm/apiserver/store/store.h"
#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define MERGE "application/merge-patch+json"
#define NS    "/namespaces/default/"
#define PODS  "/api/v1" NS "pods"
#define APPS  "/apis/apps/v1" NS
#define BATCH "/apis/batch/v1" NS

static int setup(void **state)
{
	static const struct apifake_options o = {.simulate = true};
	*state = apifake_new(&o);
	return 0;
}

static int teardown(void **state)
{
	apifake_free(*state);
	return 0;
}

/* One object is written, and what the simulator makes of it is there. */
static void put(struct apifake *f, const char *method, const char *target, const char *body)
{
	struct answer a = apifake_do_type(f, method, target,
					  method[1] == 'A' ? MERGE : "application/json", body);
	if (a.status != 200 && a.status != 201)
		fail_msg("%s %s: %d %.*s", method, target, a.status, STR_ARG(a.body));
	apifake_advance(f, NS_PER_S);
}

static const struct obj *get(struct apifake *f, const char *target)
{
	struct answer a = apifake_do(f, "GET", target, NULL);
	if (a.status != 200)
		fail_msg("GET %s: %d", target, a.status);
	return a.json;
}

/* The values at blank-separated paths, "-" for what is not there. Owned. */
static char *values(const struct obj *o, const char *paths)
{
	struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct str rest = str_of(paths), path;
	while (str_next(&rest, ' ', &path)) {
		CLEANUP(xfreep) char *name = str_dup(path);
		const struct obj *v = obj_path(o, name);
		strbuf_adds(&b, b.len ? " " : "");
		if (obj_as_string(v))
			strbuf_adds(&b, obj_as_string(v));
		else if (v)
			json_print(v, &b);
		else
			strbuf_adds(&b, "-");
	}
	return strbuf_detach(&b);
}

static void check(const char *what, const struct obj *o, const char *paths, const char *want)
{
	CLEANUP(xfreep) char *got = values(o, paths);
	if (strcmp(got, want) != 0)
		fail_msg("%s\n  want %s\n  got  %s", what, want, got);
}

static void check_at(struct apifake *f, const char *target, const char *paths, const char *want)
{
	check(target, get(f, target), paths, want);
}

/* "Type=Status Reason: Message" of one. */
static void check_condition(struct apifake *f, const char *target, const char *type,
			    const char *want)
{
	struct condition c;
	const struct obj *o = get(f, target);
	char got[400] = "none";
	if (condition_get(o, type, &c))
		(void)snprintf(got, sizeof(got), "%s %s: %s", c.status, c.reason, c.message);
	if (strcmp(got, want) != 0)
		fail_msg("%s %s\n  want %s\n  got  %s", target, type, want, got);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The values of each item, sorted, with commas between. */
static void check_list(struct apifake *f, const char *target, const char *paths, const char *want)
{
	struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const struct obj *items = obj_get(get(f, target), "items");
	char *lines[100] = {NULL};
	size_t n = obj_len(items);
	assert_true(n <= ARRAY_LEN(lines));
	for (size_t i = 0; i < n; i++)
		lines[i] = values(obj_at(items, i), paths);
	qsort(lines, n, sizeof(*lines), compare);
	for (size_t i = 0; i < n; i++) {
		strbuf_addf(&b, "%s%s", i ? ", " : "", lines[i]);
		xfree(lines[i]);
	}
	if (strcmp(b.buf, want) != 0)
		fail_msg("%s\n  want %s\n  got  %s", target, want, b.buf);
	strbuf_release(&b);
}

static int64_t count(struct apifake *f, const char *target)
{
	return (int64_t)obj_len(obj_get(get(f, target), "items"));
}

#define TEMPLATE(note, tag, policy)                                                             \
	"{\"metadata\":{\"labels\":{\"a\":\"b\"},\"annotations\":{" note "}},\"spec\":{" policy \
	"\"containers\":[{\"name\":\"c\",\"image\":\"x:" tag "\"}]}}"
#define NOTE(text) "\"app.coreos.com/simulate\":\"" text "\""
#define SET(more, template)                                                                      \
	"{\"metadata\":{\"name\":\"d\"},\"spec\":{" more "\"selector\":{\"matchLabels\":{\"a\":" \
	"\"b\"}},\"template\":" template "}}"

/* --- a Pod alone --- */

static const char pod_paths[] =
	"status.phase status.reason spec.nodeName status.conditions[1].status "
	"status.containerStatuses[0].state.waiting.reason "
	"status.containerStatuses[0].state.waiting.message "
	"status.containerStatuses[0].state.terminated.reason "
	"status.containerStatuses[0].state.terminated.exitCode "
	"status.containerStatuses[0].lastState.terminated.reason "
	"status.containerStatuses[0].lastState.terminated.exitCode "
	"status.containerStatuses[0].ready status.containerStatuses[0].restartCount "
	"status.containerStatuses[0].started";

static const struct pod_case {
	const char *note, *tag, *policy, *want;
} pod_cases[] = {
	/* clang-format off */
	{"", "1", "Always", "Running - simulated True - - - - - - true 0 true"},
	{"", "1", "Never", "Succeeded - simulated False - - Completed 0 - - false 0 false"},
	{"", "1", "OnFailure", "Succeeded - simulated False - - Completed 0 - - false 0 false"},
	{"", "1-fail", "Always", "Pending - simulated False ContainerCreating - - - - - false 0 false"},
	{"", "1-fail", "Never", "Failed - simulated False - - Error 1 - - false 0 false"},
	{"", "hang", "Never", "Running - simulated True - - - - - - true 0 true"},
	{"ImagePullBackOff: no such image", "1", "Always", "Pending - simulated False ImagePullBackOff no such image - - - - false 0 false"},
	{"CrashLoopBackOff", "1", "Always", "Running - simulated False CrashLoopBackOff back-off restarting failed container - - Error 1 false 1 false"},
	{"OOMKilled", "1", "Always", "Running - simulated False CrashLoopBackOff back-off restarting failed container - - OOMKilled 137 false 1 false"},
	{"OOMKilled: too much", "1", "Never", "Failed - simulated False - - OOMKilled 137 - - false 0 false"},
	{"StartError: no such file", "1", "Always", "Running - simulated False CrashLoopBackOff back-off restarting failed container - - StartError 1 false 1 false"},
	{"Unschedulable: 0/1 nodes", "1", "Always", "Pending - - - - - - - - - - - -"},
	{"Evicted: low on memory", "1", "Always", "Failed Evicted - False - - - - - - - - -"},
	{"FailedMount: no such volume", "1", "Always", "Pending - simulated False ContainerCreating - - - - - false 0 false"},
	{"FailedMount: no such volume", "1", "Never", "Pending - simulated False ContainerCreating - - - - - false 0 false"},
	{"BackoffLimitExceeded", "1", "Never", "Failed - simulated False - - Error 1 - - false 0 false"},
	{"ProgressDeadlineExceeded", "1", "Always", "Running - simulated True - - - - - - true 0 true"},
	/* clang-format on */
};

static void test_simulate__a_pod_says_what_a_kubelet_would(void **state)
{
	struct apifake *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(pod_cases); i++) {
		const struct pod_case *c = &pod_cases[i];
		char body[600], what[200], target[100];
		(void)snprintf(body, sizeof(body),
			       "{\"metadata\":{\"name\":\"p%zu\",\"annotations\":{"
			       "\"app.coreos.com/simulate\":\"%s\"}},\"spec\":{\"restartPolicy\":"
			       "\"%s\",\"containers\":[{\"name\":\"c\",\"image\":\"x:%s\"}]}}",
			       i, c->note, c->policy, c->tag);
		(void)snprintf(what, sizeof(what), "%s x:%s %s", c->note, c->tag, c->policy);
		(void)snprintf(target, sizeof(target), PODS "/p%zu", i);
		put(f, "POST", PODS, body);
		check(what, get(f, target), pod_paths, c->want);
	}
	check_at(
		f, PODS "/p11",
		"status.conditions[0].type status.conditions[0].status status.conditions[0].reason "
		"status.conditions[0].message status.conditions[1] status.startTime",
		"PodScheduled False Unschedulable 0/1 nodes - -");
	check_at(f, PODS "/p12", "status.message status.conditions[1].reason",
		 "low on memory PodFailed");
	check_at(f, PODS "/p1", "status.conditions[1].reason status.startTime",
		 "PodCompleted 2030-01-02T08:00:01Z");
	check_at(f, PODS "/p10", "status.containerStatuses[0].lastState.terminated.message",
		 "no such file");
	check_at(f, PODS "/p0", "status.qosClass status.containerStatuses[0].image",
		 "BestEffort x:1");
	/* an Event tells, once of each */
	check_at(f, "/api/v1" NS "events?fieldSelector=involvedObject.name=p13",
		 "items[0].reason items[0].message items[0].type items[0].source.component "
		 "items[0].count items[1]",
		 "FailedMount no such volume Warning kubelet 1 -");
	assert_int_equal(count(f, "/api/v1" NS "events"), 2);
}

/* Another image is another start; what has ended stays so. */
static void test_simulate__a_pod_starts_again_with_another_image(void **state)
{
	static const char body[] =
		"{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"restartPolicy\":\"%s\","
		"\"containers\":[{\"name\":\"c\",\"image\":\"x:1\"}]}}";
	static const char image[] =
		"{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"x:%s\"}]}}";
	struct apifake *f = *state;
	char text[300];
	(void)snprintf(text, sizeof(text), body, "up", "Always");
	put(f, "POST", PODS, text);
	(void)snprintf(text, sizeof(text), body, "over", "Never");
	put(f, "POST", PODS, text);
	(void)snprintf(text, sizeof(text), image, "2-fail");
	put(f, "PATCH", PODS "/up", text);
	put(f, "PATCH", PODS "/over", text);
	check_at(f, PODS "/up", "status.phase status.containerStatuses[0].image",
		 "Pending x:2-fail");
	check_at(f, PODS "/over", "status.phase status.containerStatuses[0].image",
		 "Succeeded x:1");
	(void)snprintf(text, sizeof(text), image, "3");
	put(f, "PATCH", PODS "/up", text);
	check_at(f, PODS "/up", "status.phase status.containerStatuses[0].image", "Running x:3");
}

/* --- Deployments --- */

#define DEPLOYMENTS APPS "deployments"
#define SETS        APPS "replicasets"
static const char deployment_paths[] =
	"status.observedGeneration status.replicas status.updatedReplicas status.readyReplicas "
	"status.availableReplicas status.unavailableReplicas";
static const char set_paths[] = "spec.replicas status.observedGeneration status.replicas "
				"status.fullyLabeledReplicas status.readyReplicas "
				"status.availableReplicas";

#define AVAILABLE   "True MinimumReplicasAvailable: Deployment has minimum availability."
#define DOWN        "False MinimumReplicasUnavailable: Deployment does not have minimum availability."
#define OK          "True NewReplicaSetAvailable: ReplicaSet \"%s\" has successfully progressed."
#define PROGRESSING "True ReplicaSetUpdated: ReplicaSet \"%s\" is progressing."
#define LATE        "False ProgressDeadlineExceeded: ReplicaSet \"%s\" has timed out progressing."

/* format has one %s at most, the name. */
static const char *with_name(const char *format, const char *name, char out[300])
{
	struct str before, after;
	if (!str_cut(str_of(format), '%', &before, &after))
		return format;
	(void)snprintf(out, 300, "%.*s%s%.*s", STR_ARG(before), name, STR_ARG(str_skip(after, 1)));
	return out;
}

static void test_simulate__a_deployment_fails_on_request(void **state)
{
	(void)state;
	static const struct {
		const char *note, *tag, *want, *set, *available, *progressing, *failure;
		int pods;
	} rows[] = {
		/* clang-format off */
		{"", "1", "1 4 4 4 4 -", "4 1 4 4 4 4", AVAILABLE, OK, "none", 4},
		{"", "1-fail", "1 4 4 0 0 4", "4 1 4 4 0 0", DOWN, PROGRESSING, "none", 4},
		{"", "hang", "1 4 4 4 4 -", "4 1 4 4 4 4", AVAILABLE, OK, "none", 4},
		{"ImagePullBackOff", "1", "1 4 4 0 0 4", "4 1 4 4 0 0", DOWN, PROGRESSING, "none", 4},
		{"FailedMount: no", "1", "1 4 4 0 0 4", "4 1 4 4 0 0", DOWN, PROGRESSING, "none", 4},
		{"ReplicaFailure: quota", "1", "1 0 0 0 0 4", "4 1 0 0 0 0", DOWN, PROGRESSING, "True FailedCreate: quota", 0},
		{"ProgressDeadlineExceeded", "1", "1 4 4 0 0 4", "4 1 4 4 0 0", DOWN, LATE, "none", 4},
		{"ProgressDeadlineExceeded: too slow", "1", "1 4 4 0 0 4", "4 1 4 4 0 0", DOWN, "False ProgressDeadlineExceeded: too slow", "none", 4},
		/* clang-format on */
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		void *f = NULL;
		char body[700], set[200], text[300], *name;
		setup(&f);
		(void)snprintf(body, sizeof(body),
			       SET("\"replicas\":4,", TEMPLATE(NOTE("%s"), "%s", "")), rows[i].note,
			       rows[i].tag);
		put(f, "POST", DEPLOYMENTS, body);
		check_at(f, DEPLOYMENTS "/d", deployment_paths, rows[i].want);
		name = values(get(f, SETS), "items[0].metadata.name");
		(void)snprintf(set, sizeof(set), SETS "/%s", name);
		check_at(f, set, set_paths, rows[i].set);
		check_condition(f, DEPLOYMENTS "/d", "Available", rows[i].available);
		check_condition(f, DEPLOYMENTS "/d", "Progressing",
				with_name(rows[i].progressing, name, text));
		check_condition(f, DEPLOYMENTS "/d", "ReplicaFailure", rows[i].failure);
		assert_int_equal(count(f, PODS), rows[i].pods);
		xfree(name);
		teardown(&f);
	}
}

#define IMAGE(tag)                                                                              \
	"{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"x:" tag \
	"\"}]}}}}"
#define REPLICAS(n) "{\"spec\":{\"replicas\":" n "}}"

static const char set_line[] =
	"metadata.annotations['deployment.kubernetes.io/revision'] "
	"spec.template.spec.containers[0].image spec.replicas status.replicas "
	"metadata.annotations['deployment.kubernetes.io/revision-history']";

static void test_simulate__a_deployment_keeps_its_history(void **state)
{
	struct apifake *f = *state;
	static const char at[] = DEPLOYMENTS "/d";
	static const char revision[] = "metadata.annotations['deployment.kubernetes.io/revision']";
	put(f, "POST", DEPLOYMENTS,
	    SET("\"replicas\":2,\"revisionHistoryLimit\":2,", TEMPLATE("", "1", "")));
	check_list(f, SETS, set_line, "1 x:1 2 2 -");
	put(f, "PATCH", at, IMAGE("2"));
	put(f, "PATCH", at, IMAGE("1"));
	put(f, "PATCH", at, IMAGE("2"));
	check_list(f, SETS, set_line, "3 x:1 0 0 1, 4 x:2 2 2 2");
	put(f, "PATCH", at, IMAGE("1"));
	check_list(f, SETS, set_line, "4 x:2 0 0 2, 5 x:1 2 2 1,3");
	check_at(f, at, revision, "5");
	put(f, "PATCH", at, REPLICAS("12"));
	check_list(f, SETS, set_line, "4 x:2 0 0 2, 5 x:1 12 12 1,3");
	assert_int_equal(count(f, PODS), 10); /* they are only looked at */
	check_at(f, at, deployment_paths, "6 12 12 12 12 -");
	put(f, "PATCH", at, REPLICAS("1"));
	assert_int_equal(count(f, PODS), 1);
	/* those that are too many go, the oldest first */
	put(f, "PATCH", at, IMAGE("3"));
	put(f, "PATCH", at, IMAGE("4"));
	check_list(f, SETS, set_line, "5 x:1 0 0 1,3, 6 x:3 0 0 -, 7 x:4 1 1 -");
	/* a paused one is scaled, and not rolled out */
	put(f, "PATCH", at, "{\"spec\":{\"paused\":true}}");
	put(f, "PATCH", at, IMAGE("5"));
	put(f, "PATCH", at, REPLICAS("3"));
	check_list(f, SETS, set_line, "5 x:1 0 0 1,3, 6 x:3 0 0 -, 7 x:4 3 3 -");
	check_at(f, at, deployment_paths, "12 3 0 3 3 -");
	put(f, "PATCH", at, "{\"spec\":{\"paused\":false}}");
	check_list(f, SETS, set_line, "6 x:3 0 0 -, 7 x:4 0 0 -, 8 x:5 3 3 -");
	check_at(f, at, deployment_paths, "13 3 3 3 3 -");
	put(f, "PATCH", at, REPLICAS("0"));
	check_condition(f, at, "Available", AVAILABLE);
	assert_int_equal(count(f, PODS), 0);
}

/* At rest nothing is written. */
static void test_simulate__at_rest_nothing_is_written(void **state)
{
	struct apifake *f = *state;
	put(f, "POST", DEPLOYMENTS, SET("\"replicas\":2,", TEMPLATE("", "1", "")));
	put(f, "POST", APPS "statefulsets", SET("\"serviceName\":\"s\",", TEMPLATE("", "1", "")));
	put(f, "POST", APPS "daemonsets", SET("", TEMPLATE("", "1", "")));
	apifake_advance(f, NS_PER_MIN);
	int64_t before = store_rv(apifake_server(f)->store);
	apifake_advance(f, NS_PER_HOUR);
	assert_true(store_rv(apifake_server(f)->store) == before);
}

/* --- StatefulSets --- */

#define STATEFULSETS APPS "statefulsets"
static const char stateful_paths[] =
	"status.replicas status.readyReplicas status.availableReplicas status.currentReplicas "
	"status.updatedReplicas status.collisionCount";

static void test_simulate__a_statefulset_has_numbered_pods(void **state)
{
	struct apifake *f = *state;
	static const char at[] = STATEFULSETS "/d";
	put(f, "POST", STATEFULSETS,
	    SET("\"replicas\":3,\"serviceName\":\"s\",\"volumeClaimTemplates\":[{\"metadata\":{"
		"\"name\":"
		"\"v\",\"labels\":{\"l\":\"m\"}},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],"
		"\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}],",
		TEMPLATE("", "1", "")));
	check_list(f, PODS, "metadata.name spec.containers[0].image", "d-0 x:1, d-1 x:1, d-2 x:1");
	check_at(f, at, stateful_paths, "3 3 3 3 3 0");
	check_at(f, PODS "/d-1",
		 "spec.hostname spec.subdomain "
		 "metadata.labels['statefulset.kubernetes.io/pod-name'] "
		 "metadata.labels['apps.kubernetes.io/pod-index'] metadata.labels.a "
		 "spec.volumes[0].name spec.volumes[0].persistentVolumeClaim.claimName",
		 "d-1 s d-1 1 b v v-d-1");
	check_at(f, "/api/v1" NS "persistentvolumeclaims/v-d-2",
		 "status.phase status.capacity.storage status.accessModes metadata.labels",
		 "Bound 1Gi [\"ReadWriteOnce\"] {\"l\":\"m\",\"a\":\"b\"}");
	assert_int_equal(count(f, "/api/v1" NS "persistentvolumeclaims"), 3);
	/* the highest go, and a missing one comes back */
	put(f, "PATCH", at, REPLICAS("2"));
	put(f, "DELETE", PODS "/d-0", NULL);
	check_list(f, PODS, "metadata.name spec.containers[0].image", "d-0 x:1, d-1 x:1");
	/* below the partition the former ones stay */
	put(f, "PATCH", at,
	    "{\"spec\":{\"updateStrategy\":{\"rollingUpdate\":{\"partition\":1}}}}");
	put(f, "PATCH", at, IMAGE("2"));
	check_at(f, at, stateful_paths, "2 2 2 1 1 0");
	put(f, "PATCH", at,
	    "{\"spec\":{\"updateStrategy\":{\"rollingUpdate\":{\"partition\":0}}}}");
	check_list(f, PODS, "metadata.name spec.containers[0].image", "d-0 x:2, d-1 x:2");
	check_at(f, at, stateful_paths, "2 2 2 2 2 0");
	/* on deletion only */
	put(f, "PATCH", at,
	    "{\"spec\":{\"updateStrategy\":{\"type\":\"OnDelete\",\"rollingUpdate\":null}}}");
	put(f, "PATCH", at, IMAGE("3"));
	put(f, "DELETE", PODS "/d-1", NULL);
	check_list(f, PODS, "metadata.name spec.containers[0].image", "d-0 x:2, d-1 x:3");
}

#define REVISIONS APPS "controllerrevisions"
static const char revision_line[] = "revision data.spec.template.spec.containers[0].image";

static void test_simulate__revisions_are_numbered_as_they_are_taken(void **state)
{
	struct apifake *f = *state;
	static const char at[] = APPS "daemonsets/d";
	put(f, "POST", APPS "daemonsets",
	    SET("\"revisionHistoryLimit\":1,", TEMPLATE("", "1", "")));
	check_list(f, REVISIONS, revision_line, "1 x:1");
	assert_int_equal(count(f, PODS), 1);
	put(f, "PATCH", at, IMAGE("2"));
	check_list(f, REVISIONS, revision_line, "1 x:1, 2 x:2");
	put(f, "PATCH", at, IMAGE("1"));
	check_list(f, REVISIONS, revision_line, "2 x:2, 3 x:1");
	put(f, "PATCH", at, IMAGE("3-fail"));
	apifake_advance(f, NS_PER_S);
	check_list(f, REVISIONS, revision_line, "3 x:1, 4 x:3-fail");
	check_at(f, APPS "daemonsets/d",
		 "status.desiredNumberScheduled status.currentNumberScheduled "
		 "status.updatedNumberScheduled status.numberMisscheduled status.numberReady "
		 "status.numberAvailable",
		 "1 1 1 0 0 0");
	CLEANUP(xfreep) char *image = values(get(f, PODS), "items[0].spec.containers[0].image");
	assert_string_equal(image, "x:3-fail");
	put(f, "PATCH", at,
	    "{\"spec\":{\"template\":{\"metadata\":{\"annotations\":{\"app.coreos.com/"
	    "simulate\":\"FailedCreate: no\"}}}}}");
	check_at(f, at, "status.desiredNumberScheduled status.currentNumberScheduled", "1 0");
	assert_int_equal(count(f, PODS), 0);
}

/* --- Jobs --- */

#define JOBS BATCH "jobs"
static const char job_paths[] = "status.active status.ready status.succeeded status.failed "
				"status.startTime status.completionTime";

#define JOB(name, more, note, tag)                              \
	"{\"metadata\":{\"name\":\"" name "\"},\"spec\":{" more \
	"\"template\":" TEMPLATE(NOTE(note), tag, "\"restartPolicy\":\"Never\",") "}}"

#define NOW     "2030-01-02T08:00:00Z"
#define DONE    "True CompletionsReached: Reached expected number of succeeded pods"
#define GAVE_UP "True BackoffLimitExceeded: Job has reached the specified backoff limit"

static void test_simulate__a_job_ends_as_it_is_told(void **state)
{
	static const struct {
		const char *body, *want, *complete, *failed;
		int pods;
	} rows[] = {
		/* clang-format off */
		{JOB("j", "", "", "1"), "- 0 1 - " NOW " " NOW, DONE, "none", 1},
		{JOB("j", "\"completions\":3,\"parallelism\":2,", "", "1"), "- 0 3 - " NOW " " NOW, DONE, "none", 3},
		{JOB("j", "\"parallelism\":2,", "", "1"), "- 0 2 - " NOW " " NOW, DONE, "none", 2},
		{JOB("j", "", "", "fail"), "- 0 - 1 " NOW " -", "none", GAVE_UP, 1},
		{JOB("j", "\"completions\":3,\"parallelism\":2,", "", "hang"), "2 - - - " NOW " -", "none", "none", 2},
		{JOB("j", "", "ImagePullBackOff", "1"), "1 - - - " NOW " -", "none", "none", 1},
		{JOB("j", "", "FailedMount: no", "1"), "1 - - - " NOW " -", "none", "none", 1},
		{JOB("j", "", "Unschedulable: no", "1"), "1 - - - " NOW " -", "none", "none", 1},
		{JOB("j", "", "JobOOMKilled", "1"), "- 0 - 1 " NOW " -", "none", GAVE_UP, 1},
		{JOB("j", "", "Evicted", "1"), "- 0 - 1 " NOW " -", "none", GAVE_UP, 1},
		{JOB("j", "", "DeadlineExceeded: late", "1"), "- 0 - 1 " NOW " -", "none", "True DeadlineExceeded: late", 1},
		{JOB("j", "", "BackoffLimitExceeded", "1"), "- 0 - 1 " NOW " -", "none", GAVE_UP, 1},
		{JOB("j", "\"suspend\":true,", "", "1"), "- - - - - -", "none", "none", 0},
		/* clang-format on */
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		void *f = NULL;
		setup(&f);
		put(f, "POST", JOBS, rows[i].body);
		check_at(f, JOBS "/j", job_paths, rows[i].want);
		check_condition(f, JOBS "/j", "Complete", rows[i].complete);
		check_condition(f, JOBS "/j", "Failed", rows[i].failed);
		if (count(f, PODS) != rows[i].pods)
			fail_msg("row %zu: %lld Pods", i, (long long)count(f, PODS));
		teardown(&f);
	}
}

static void test_simulate__a_suspended_job_goes_on_later(void **state)
{
	struct apifake *f = *state;
	put(f, "POST", JOBS, JOB("j", "", "", "hang"));
	check_at(f, JOBS "/j", "status.active", "1");
	put(f, "PATCH", JOBS "/j", "{\"spec\":{\"suspend\":true}}");
	check_at(f, JOBS "/j", "status.active", "-");
	check_condition(f, JOBS "/j", "Suspended", "True JobSuspended: Job suspended");
	assert_int_equal(count(f, PODS), 0);
	put(f, "PATCH", JOBS "/j", "{\"spec\":{\"suspend\":false}}");
	check_at(f, JOBS "/j", "status.active", "1");
	check_condition(f, JOBS "/j", "Suspended", "False JobResumed: Job resumed");
	assert_int_equal(count(f, PODS), 1);
}

static void test_simulate__an_ended_job_has_its_time(void **state)
{
	struct apifake *f = *state;
	put(f, "POST", JOBS, JOB("gone", "\"ttlSecondsAfterFinished\":100,", "", "1"));
	put(f, "POST", JOBS, JOB("failed", "\"ttlSecondsAfterFinished\":100,", "", "fail"));
	put(f, "POST", JOBS, JOB("at-once", "\"ttlSecondsAfterFinished\":0,", "", "1"));
	put(f, "POST", JOBS, JOB("runs", "\"ttlSecondsAfterFinished\":100,", "", "hang"));
	put(f, "POST", JOBS, JOB("stays", "", "", "1"));
	assert_int_equal(count(f, JOBS), 4);
	apifake_advance(f, 94 * NS_PER_S);
	assert_int_equal(count(f, JOBS), 4);
	apifake_advance(f, 7 * NS_PER_S);
	assert_int_equal(count(f, JOBS), 2);
	check_at(f, JOBS "/runs", "status.active", "1");
	check_at(f, JOBS "/stays", "status.succeeded", "1");
}

/* --- CronJobs: the clock begins at 08:00:00 --- */

#define CRONJOBS BATCH "cronjobs"
#define CRON(more, tag)                                                                     \
	"{\"metadata\":{\"name\":\"c\"},\"spec\":{" more                                    \
	"\"schedule\":\"*/10 * * * *\",\"jobTemplate\":"                                    \
	"{\"metadata\":{\"labels\":{\"l\":\"m\"},\"annotations\":{\"n\":\"o\"}},\"spec\":{" \
	"\"template\":" TEMPLATE("", tag, "\"restartPolicy\":\"Never\",") "}}}}"

static const char cron_paths[] = "status.lastScheduleTime status.lastSuccessfulTime";

static void test_simulate__a_cronjob_runs_when_its_time_comes(void **state)
{
	struct apifake *f = *state;
	put(f, "POST", CRONJOBS, CRON("\"successfulJobsHistoryLimit\":2,", "1"));
	assert_int_equal(count(f, JOBS), 0);
	apifake_advance(f, 9 * NS_PER_MIN);
	assert_int_equal(count(f, JOBS), 0);
	apifake_advance(f, 2 * NS_PER_MIN);
	assert_int_equal(count(f, JOBS), 1);
	check_at(f, CRONJOBS "/c", cron_paths, "2030-01-02T08:10:00Z 2030-01-02T08:10:00Z");
	check_at(f, JOBS,
		 "items[0].metadata.name items[0].metadata.labels.l items[0].metadata.annotations "
		 "items[0].metadata.ownerReferences[0].name items[0].status.succeeded",
		 "c-31559530 m "
		 "{\"n\":\"o\",\"batch.kubernetes.io/"
		 "cronjob-scheduled-timestamp\":\"2030-01-02T08:10:00Z\"} c 1");
	apifake_advance(f, 40 * NS_PER_MIN);
	check_at(f, CRONJOBS "/c", cron_paths, "2030-01-02T08:50:00Z 2030-01-02T08:50:00Z");
	check_at(f, JOBS,
		 "items[0].metadata.creationTimestamp items[1].metadata.creationTimestamp "
		 "items[2].metadata.creationTimestamp items[3]",
		 "2030-01-02T08:40:00Z 2030-01-02T08:50:00Z - -");
	put(f, "PATCH", CRONJOBS "/c", "{\"spec\":{\"suspend\":true}}");
	apifake_advance(f, NS_PER_HOUR);
	check_at(f, CRONJOBS "/c", "status.lastScheduleTime", "2030-01-02T08:50:00Z");
}

static void test_simulate__a_cronjob_beside_one_that_runs(void **state)
{
	static const struct {
		const char *policy;
		int jobs;
	} rows[] = {{"Allow", 3}, {"Forbid", 1}, {"Replace", 1}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		void *f = NULL;
		char body[900];
		setup(&f);
		(void)snprintf(body, sizeof(body), CRON("\"concurrencyPolicy\":\"%s\",", "hang"),
			       rows[i].policy);
		put(f, "POST", CRONJOBS, body);
		apifake_advance(f, 11 * NS_PER_MIN);
		CLEANUP(xfreep) char *first = values(get(f, JOBS), "items[0].metadata.name");
		apifake_advance(f, 20 * NS_PER_MIN);
		CLEANUP(xfreep) char *now = values(get(f, JOBS), "items[0].metadata.name");
		if (count(f, JOBS) != rows[i].jobs || cstr_eq(first, now) != (i < 2))
			fail_msg("%s: %lld", rows[i].policy, (long long)count(f, JOBS));
		teardown(&f);
	}
}

static void test_simulate__a_cronjob_keeps_one_that_failed(void **state)
{
	struct apifake *f = *state;
	put(f, "POST", CRONJOBS, CRON("", "fail"));
	apifake_advance(f, 55 * NS_PER_MIN);
	/* upstream's default */
	check_at(f, JOBS,
		 "items[0].metadata.creationTimestamp items[1].metadata.creationTimestamp items[2]",
		 "2030-01-02T08:50:00Z - -");
}

/* --- Services --- */

#define SERVICES "/api/v1" NS "services"
#define SLICES   "/apis/discovery.k8s.io/v1" NS "endpointslices"

static void test_simulate__a_service_has_the_pods_that_it_selects(void **state)
{
	struct apifake *f = *state;
	static const char pod[] =
		"{\"metadata\":{\"name\":\"%s\",\"labels\":{\"app\":\"%s\",\"more\":\"x\"}},"
		"\"spec\":{"
		"\"containers\":[{\"name\":\"c\",\"image\":\"x:%s\",\"ports\":[{\"name\":\"web\","
		"\"containerPort\":8080}]}]}}";
	char body[400];
	put(f, "POST", SERVICES,
	    "{\"metadata\":{\"name\":\"s\",\"labels\":{\"of\":\"s\"}},\"spec\":{\"type\":"
	    "\"LoadBalancer\",\"selector\":{\"app\":\"a\"},\"ports\":[{\"name\":\"web\",\"port\":"
	    "80,"
	    "\"targetPort\":\"web\",\"appProtocol\":\"http\"},{\"name\":\"plain\",\"port\":81,"
	    "\"targetPort\":9090},{\"name\":\"none\",\"port\":82,\"targetPort\":\"lost\"}]}}");
	check_at(f, SERVICES "/s", "status.loadBalancer.ingress",
		 "[{\"ip\":\"192.0.2.1\",\"ipMode\":\"VIP\"}]");
	check_at(f, SLICES, "items[0].endpoints items[0].ports items[0].metadata.labels",
		 "[] [] "
		 "{\"of\":\"s\",\"endpointslice.kubernetes.io/"
		 "managed-by\":\"endpointslice-controller.k8s.io\",\"kubernetes.io/"
		 "service-name\":\"s\"}");
	check_at(f, "/api/v1" NS "endpoints/s", "subsets metadata.labels",
		 "- {\"of\":\"s\",\"endpoints.kubernetes.io/managed-by\":\"endpoint-controller\"}");
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = {"up", "other", "crash"};
		(void)snprintf(body, sizeof(body), pod, names[i], i == 1 ? "b" : "a", "1");
		if (i == 2)
			(void)snprintf(
				body, sizeof(body),
				"{\"metadata\":{\"name\":\"crash\",\"labels\":{\"app\":\"a\"},"
				"\"annotations\":{\"app.coreos.com/simulate\":"
				"\"CrashLoopBackOff\"}},\"spec\":{\"containers\":[{\"name\":"
				"\"c\",\"image\":\"x:1\",\"ports\":[{\"name\":\"web\","
				"\"containerPort\":8080}]}]}}");
		put(f, "POST", PODS, body);
	}
	check_at(f, SLICES,
		 "items[0].addressType items[0].ports items[0].endpoints[0].targetRef.name "
		 "items[0].endpoints[0].conditions items[0].endpoints[0].nodeName "
		 "items[0].endpoints[1].targetRef.name items[0].endpoints[1].conditions "
		 "items[0].endpoints[2] items[1]",
		 "IPv4 "
		 "[{\"name\":\"web\",\"port\":8080,\"protocol\":\"TCP\",\"appProtocol\":\"http\"},{"
		 "\"name\":\"plain\",\"port\":9090,\"protocol\":\"TCP\"}] crash "
		 "{\"ready\":false,\"serving\":false,\"terminating\":false} simulated up "
		 "{\"ready\":true,\"serving\":true,\"terminating\":false} - -");
	check_at(f, "/api/v1" NS "endpoints/s",
		 "subsets[0].ports subsets[0].addresses[0].targetRef.name subsets[0].addresses[1] "
		 "subsets[0].notReadyAddresses[0].targetRef.name subsets[0].notReadyAddresses[1]",
		 "[{\"name\":\"web\",\"port\":8080,\"protocol\":\"TCP\",\"appProtocol\":\"http\"},{"
		 "\"name\":\"plain\",\"port\":9090,\"protocol\":\"TCP\"}] up - crash -");
	put(f, "DELETE", PODS "/up", NULL);
	put(f, "DELETE", PODS "/crash", NULL);
	check_at(f, SLICES, "items[0].endpoints items[0].ports", "[] []");
	check_at(f, "/api/v1" NS "endpoints/s", "subsets", "-");
}

static void test_simulate__what_selects_nothing_has_no_endpoints(void **state)
{
	struct apifake *f = *state;
	put(f, "POST", SERVICES,
	    "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"ports\":[{\"port\":80}]}}");
	put(f, "POST", SERVICES,
	    "{\"metadata\":{\"name\":\"e\"},\"spec\":{\"type\":\"ExternalName\",\"externalName\":"
	    "\"x.example\",\"selector\":{\"a\":\"b\"}}}");
	assert_int_equal(count(f, SLICES), 0);
	check_at(f, SERVICES "/s", "status.loadBalancer", "{}");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_simulate__a_pod_says_what_a_kubelet_would),
		T(test_simulate__a_pod_starts_again_with_another_image),
		cmocka_unit_test(test_simulate__a_deployment_fails_on_request),
		T(test_simulate__a_deployment_keeps_its_history),
		T(test_simulate__at_rest_nothing_is_written),
		T(test_simulate__a_statefulset_has_numbered_pods),
		T(test_simulate__revisions_are_numbered_as_they_are_taken),
		cmocka_unit_test(test_simulate__a_job_ends_as_it_is_told),
		T(test_simulate__a_suspended_job_goes_on_later),
		T(test_simulate__an_ended_job_has_its_time),
		T(test_simulate__a_cronjob_runs_when_its_time_comes),
		cmocka_unit_test(test_simulate__a_cronjob_beside_one_that_runs),
		T(test_simulate__a_cronjob_keeps_one_that_failed),
		T(test_simulate__a_service_has_the_pods_that_it_selects),
		T(test_simulate__what_selects_nothing_has_no_endpoints),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
