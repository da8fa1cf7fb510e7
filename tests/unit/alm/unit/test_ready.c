/* Readiness by kind, as `helm install --wait` judges it (charts.md 10.4). */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/unit/ready.h"

struct row {
	const char *kind, *rest; /* members besides kind and metadata.generation 2 */
	enum readiness want, hook;
	const char *why; /* part of the text; NULL: none is looked for */
};

#define SEEN "\"observedGeneration\": 2"
#define CONDITION(type, status)                                           \
	"\"conditions\": [{\"type\": \"" type "\", \"status\": \"" status \
	"\", \"reason\": \"R\", \"message\": \"M\"}]"

/* clang-format off */
static const struct row rows[] = {
	{"Deployment", "{}", NOT_READY, NOT_READY, "generation is not observed"},
	{"Deployment", "{\"status\": {\"observedGeneration\": 1, \"updatedReplicas\": 1, \"availableReplicas\": 1}}", NOT_READY, NOT_READY, "generation"},
	{"Deployment", "{\"status\": {" SEEN ", \"updatedReplicas\": 1, \"availableReplicas\": 1}}", READY, READY, NULL},
	{"Deployment", "{\"status\": {" SEEN ", \"updatedReplicas\": 1}}", NOT_READY, NOT_READY, "0 of 1 replicas available"},
	{"Deployment", "{\"spec\": {\"replicas\": 3}, \"status\": {" SEEN ", \"updatedReplicas\": 2, \"availableReplicas\": 3}}", NOT_READY, NOT_READY, "2 of 3 replicas updated"},
	{"Deployment", "{\"spec\": {\"replicas\": 0}, \"status\": {" SEEN "}}", READY, READY, NULL},
	{"Deployment", "{\"spec\": {\"paused\": true}}", READY, READY, NULL},
	/* 25 % of 1 is 0, of 4 is 1 */
	{"Deployment", "{\"spec\": {\"replicas\": 1, \"strategy\": {\"rollingUpdate\": {\"maxSurge\": \"25%\", \"maxUnavailable\": \"25%\"}}}, \"status\": {" SEEN ", \"updatedReplicas\": 1}}", NOT_READY, NOT_READY, "0 of 1"},
	{"Deployment", "{\"spec\": {\"replicas\": 4, \"strategy\": {\"rollingUpdate\": {\"maxSurge\": \"25%\", \"maxUnavailable\": \"25%\"}}}, \"status\": {" SEEN ", \"updatedReplicas\": 4, \"availableReplicas\": 3}}", READY, READY, NULL},
	{"Deployment", "{\"spec\": {\"replicas\": 2, \"strategy\": {\"rollingUpdate\": {\"maxSurge\": 0, \"maxUnavailable\": 0}}}, \"status\": {" SEEN ", \"updatedReplicas\": 2, \"availableReplicas\": 1}}", READY, READY, NULL},
	{"Deployment", "{\"status\": {\"conditions\": [{\"type\": \"Progressing\", \"status\": \"False\", \"reason\": \"ProgressDeadlineExceeded\", \"message\": \"\"}]}}", READY_FAILED, READY_FAILED, "ProgressDeadlineExceeded"},

	{"StatefulSet", "{\"status\": {" SEEN ", \"updatedReplicas\": 1, \"readyReplicas\": 1, \"currentRevision\": \"a\", \"updateRevision\": \"a\"}}", READY, READY, NULL},
	{"StatefulSet", "{\"status\": {" SEEN ", \"updatedReplicas\": 1, \"readyReplicas\": 1, \"currentRevision\": \"a\", \"updateRevision\": \"b\"}}", NOT_READY, NOT_READY, "former revision"},
	{"Deployment", "{\"status\": {" SEEN ", " CONDITION("ReplicaFailure", "True") "}}", NOT_READY, NOT_READY, "M"},
	{"Deployment", "{\"metadata\": {\"namespace\": \"n\"}, \"status\": {" SEEN ", \"conditions\": [{\"type\": \"ReplicaFailure\", \"status\": \"True\", \"reason\": \"FailedCreate\", \"message\": \"pods \\\"x\\\" is forbidden: violates PodSecurity \\\"baseline:latest\\\"\"}]}}", NOT_READY, NOT_READY, "pods \"x\" is forbidden: violates PodSecurity \"baseline:latest\"; if it is PodSecurity, and these Pods may have what they ask for: kubectl label namespace n pod-security.kubernetes.io/enforce=privileged --overwrite"},
	{"Deployment", "{\"status\": {" SEEN ", \"updatedReplicas\": 1, \"availableReplicas\": 1, " CONDITION("ReplicaFailure", "True") "}}", READY, READY, NULL},
	{"StatefulSet", "{\"status\": {" SEEN "}}", NOT_READY, NOT_READY, "no Pod of 1 was made yet"},
	{"DaemonSet", "{\"metadata\": {\"namespace\": \"n\", \"name\": \"speaker\", \"generation\": 2}, \"status\": {" SEEN ", \"desiredNumberScheduled\": 1}}", NOT_READY, NOT_READY, "kubectl -n n describe DaemonSet"},
	{"StatefulSet", "{\"status\": {" SEEN ", \"updatedReplicas\": 1}}", NOT_READY, NOT_READY, "0 of 1 replicas ready"},
	{"StatefulSet", "{\"spec\": {\"replicas\": 3, \"updateStrategy\": {\"rollingUpdate\": {\"partition\": 2}}}, \"status\": {" SEEN ", \"updatedReplicas\": 1, \"readyReplicas\": 3, \"currentRevision\": \"a\", \"updateRevision\": \"b\"}}", READY, READY, NULL},
	{"StatefulSet", "{\"spec\": {\"replicas\": 3, \"updateStrategy\": {\"rollingUpdate\": {\"partition\": 1}}}, \"status\": {" SEEN ", \"updatedReplicas\": 1, \"readyReplicas\": 3}}", NOT_READY, NOT_READY, "1 of 2 replicas updated"},
	{"StatefulSet", "{\"spec\": {\"updateStrategy\": {\"type\": \"OnDelete\"}}, \"status\": {" SEEN "}}", READY, READY, NULL},

	{"DaemonSet", "{\"status\": {" SEEN ", \"desiredNumberScheduled\": 3, \"updatedNumberScheduled\": 3, \"numberReady\": 2}}", READY, READY, NULL},
	{"DaemonSet", "{\"status\": {" SEEN ", \"desiredNumberScheduled\": 3, \"updatedNumberScheduled\": 3, \"numberReady\": 1}}", NOT_READY, NOT_READY, "1 of 3 replicas ready"},
	{"DaemonSet", "{\"status\": {" SEEN ", \"desiredNumberScheduled\": 3, \"updatedNumberScheduled\": 2, \"numberReady\": 3}}", NOT_READY, NOT_READY, "2 of 3 replicas updated"},
	{"DaemonSet", "{\"spec\": {\"updateStrategy\": {\"rollingUpdate\": {\"maxUnavailable\": \"34%\"}}}, \"status\": {" SEEN ", \"desiredNumberScheduled\": 3, \"updatedNumberScheduled\": 3, \"numberReady\": 1}}", READY, READY, NULL},
	{"DaemonSet", "{\"spec\": {\"updateStrategy\": {\"type\": \"OnDelete\"}}, \"status\": {" SEEN ", \"desiredNumberScheduled\": 3}}", READY, READY, NULL},

	{"ReplicaSet", "{\"spec\": {\"replicas\": 2}, \"status\": {" SEEN ", \"readyReplicas\": 1}}", NOT_READY, NOT_READY, "1 of 2"},
	{"ReplicaSet", "{\"spec\": {\"replicas\": 2}, \"status\": {" SEEN ", \"readyReplicas\": 2}}", READY, READY, NULL},
	{"ReplicationController", "{\"status\": {\"observedGeneration\": 1, \"readyReplicas\": 1}}", NOT_READY, NOT_READY, NULL},

	{"Job", "{}", READY, NOT_READY, "not complete"},
	{"Job", "{\"status\": {" CONDITION("Complete", "True") "}}", READY, READY, NULL},
	{"Job", "{\"status\": {" CONDITION("Failed", "True") "}}", READY_FAILED, READY_FAILED, "the Job failed"},
	{"Job", "{\"spec\": {\"backoffLimit\": 0}, \"status\": {\"failed\": 1}}", READY_FAILED, READY_FAILED, "backoffLimit"},
	{"Job", "{\"status\": {\"failed\": 6}}", READY, NOT_READY, NULL},

	{"Pod", "{\"status\": {\"phase\": \"Running\", " CONDITION("Ready", "True") "}}", READY, NOT_READY, "has not succeeded"},
	{"Pod", "{\"status\": {\"phase\": \"Succeeded\"}}", NOT_READY, READY, NULL},
	{"Pod", "{\"status\": {\"phase\": \"Failed\"}}", READY_FAILED, READY_FAILED, "the Pod failed"},
	{"Pod", "{\"status\": {\"phase\": \"Pending\", " CONDITION("PodScheduled", "False") "}}", NOT_READY, NOT_READY, "R: M"},
	{"Pod", "{\"status\": {\"phase\": \"Pending\", \"containerStatuses\": [{\"name\": \"c\", \"state\": {\"waiting\": {\"reason\": \"ErrImagePull\"}}}]}}", NOT_READY, NOT_READY, "container c: ErrImagePull"},

	{"PersistentVolumeClaim", "{\"status\": {\"phase\": \"Bound\"}}", READY, READY, NULL},
	{"PersistentVolumeClaim", "{\"status\": {\"phase\": \"Lost\"}}", READY_FAILED, READY_FAILED, "Lost"},
	{"PersistentVolumeClaim", "{\"status\": {\"phase\": \"Pending\"}}", READY, READY, NULL}, /* WaitForFirstConsumer */
	{"PersistentVolumeClaim", "{\"spec\": {\"volumeName\": \"v\"}, \"status\": {\"phase\": \"Pending\"}}", NOT_READY, NOT_READY, "not Bound"},

	{"Service", "{\"spec\": {\"clusterIP\": \"10.0.0.1\"}}", READY, READY, NULL},
	{"Service", "{\"spec\": {\"clusterIP\": \"\"}}", NOT_READY, NOT_READY, "no cluster IP"},
	{"Service", "{\"spec\": {\"type\": \"ExternalName\"}}", READY, READY, NULL},
	{"Service", "{\"spec\": {\"type\": \"LoadBalancer\"}}", NOT_READY, NOT_READY, "no address"},
	{"Service", "{\"spec\": {\"type\": \"LoadBalancer\", \"externalIPs\": [\"1.2.3.4\"]}}", READY, READY, NULL},
	{"Service", "{\"spec\": {\"type\": \"LoadBalancer\"}, \"status\": {\"loadBalancer\": {\"ingress\": [{\"ip\": \"1.2.3.4\"}]}}}", READY, READY, NULL},

	{"CustomResourceDefinition", "{}", NOT_READY, NOT_READY, "not Established"},
	{"CustomResourceDefinition", "{\"status\": {" CONDITION("Established", "True") "}}", READY, READY, NULL},
	{"CustomResourceDefinition", "{\"status\": {" CONDITION("NamesAccepted", "False") "}}", READY_FAILED, READY_FAILED, "M"},
	{"APIService", "{}", NOT_READY, NOT_READY, "not Available"},
	{"APIService", "{\"status\": {" CONDITION("Available", "True") "}}", READY, READY, NULL},

	{"ConfigMap", "{}", READY, READY, NULL},
	{"Widget", "{\"status\": {" CONDITION("Ready", "False") "}}", NOT_READY, NOT_READY, "Ready is not True"},
	{"Widget", "{\"status\": {" CONDITION("Ready", "True") "}}", READY, READY, NULL},
	{"Widget", "{\"status\": {\"observedGeneration\": 1}}", NOT_READY, NOT_READY, "generation"},
	{"Widget", "{\"status\": {" CONDITION("Stalled", "True") "}}", READY_FAILED, READY_FAILED, "Stalled"},
	{"Widget", "{\"status\": {" CONDITION("Reconciling", "True") "}}", NOT_READY, NOT_READY, "Reconciling"},

	/* what is ours and was not looked at yet; what has the same kind and is not */
	{"AppType", "{\"apiVersion\": \"app.coreos.com/v1beta1\"}", NOT_READY, NOT_READY, "not looked at it"},
	{"Catalog", "{\"apiVersion\": \"app.coreos.com/v1alpha1\", \"status\": {}}", NOT_READY, NOT_READY, "not looked at it"},
	{"InstallStrategy", "{\"apiVersion\": \"opinstaller.coreos.com/v1beta1\"}", NOT_READY, NOT_READY, "not looked at it"},
	{"Bundle", "{\"apiVersion\": \"app.coreos.com/v1alpha1\", \"status\": {\"observedGeneration\": 1}}", NOT_READY, NOT_READY, "generation"},
	{"AppType", "{\"apiVersion\": \"app.coreos.com/v1beta1\", \"status\": {" SEEN ", " CONDITION("Ready", "False") "}}", NOT_READY, NOT_READY, "Ready is not True"},
	{"AppType", "{\"apiVersion\": \"app.coreos.com/v1beta1\", \"status\": {" SEEN ", " CONDITION("Ready", "True") "}}", READY, READY, NULL},
	{"Bundle", "{\"apiVersion\": \"fleet.example.com/v1\"}", READY, READY, NULL},
};
/* clang-format on */

static void check(const struct row *r, bool hook)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	const char *why = NULL;
	enum readiness want = hook ? r->hook : r->want;
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	assert_ok(json_parse(str_of(r->rest), &o, &err), &err);
	obj_set_str(o, "kind", r->kind);
	obj_set_path(o, "metadata.generation", obj_int(2));
	enum readiness got = ready_check(o, hook, a, &why);
	if (got != want)
		fail_msg("%s %s: %d, wanted %d (%s)", r->kind, r->rest, got, want, why ? why : "");
	if (got == READY)
		assert_null(why);
	else if (r->why && !strstr(why, r->why))
		fail_msg("%s %s: %s, wanted %s", r->kind, r->rest, why, r->why);
	obj_unref(o);
}

static void test_ready__every_kind_as_helm_waits(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check(&rows[i], false);
}

static void test_ready__hooks_run_to_their_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check(&rows[i], true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ready__every_kind_as_helm_waits),
		cmocka_unit_test(test_ready__hooks_run_to_their_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
