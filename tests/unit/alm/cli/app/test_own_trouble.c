/* What `alm install --to-cluster --wait` says of a Pod that does not come. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/cli/app/own_trouble.h"
#include "alm/obj/yaml.h"

static struct obj *parse(struct arena *a, const char *yaml)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	if (!yaml)
		return NULL;
	assert_ok(yaml_parse_one(str_of(yaml), &o, &err), &err);
	return obj_keep(a, o);
}

static void expect(const char *deployment, const char *claim, const char *pods, const char *want)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	const char *got = own_trouble(parse(a, deployment), parse(a, claim), parse(a, pods), a);
	if (!want)
		assert_null(got);
	else if (!got || !strstr(got, want))
		fail_msg("want %s, got %s", want, got ? got : "nothing");
}

#define POD(status)     "items: [{metadata: {name: p}, status: {" status "}}]"
#define CONTAINER(text) POD("containerStatuses: [{name: alm, " text "}]")
#define UNSCHEDULED                                                                             \
	"conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable, message: " \
	"0/3 nodes are available}]"

static void test_own_trouble__claim(void **state)
{
	(void)state;
	/* the scheduler's words are of the Pod, the cause is the claim's */
	expect(NULL, "{spec: {}, status: {phase: Pending}}", POD(UNSCHEDULED),
	       "names no StorageClass");
	expect(NULL, "{spec: {storageClassName: a}, status: {phase: Pending}}", POD(UNSCHEDULED),
	       "Pod p: Unschedulable: 0/3 nodes are available");
	expect(NULL, "{spec: {volumeName: v}, status: {phase: Pending}}", NULL, NULL);
	expect(NULL, "{spec: {}, status: {phase: Bound}}", NULL, NULL);
	expect(NULL, NULL, NULL, NULL);
}

static void test_own_trouble__pod(void **state)
{
	(void)state;
	expect(NULL, NULL, CONTAINER("state: {waiting: {reason: ContainerCreating}}"), NULL);
	expect(NULL, NULL, CONTAINER("state: {waiting: {reason: PodInitializing}}"), NULL);
	expect(NULL, NULL,
	       CONTAINER("state: {waiting: {reason: ErrImagePull, message: no such host}}"),
	       "Pod p: ErrImagePull: no such host");
	expect(NULL, NULL, CONTAINER("state: {waiting: {reason: ImagePullBackOff}}"),
	       "Pod p: ImagePullBackOff: ");
	expect(NULL, NULL,
	       CONTAINER("state: {waiting: {reason: CrashLoopBackOff, message: back-off}}, "
			 "lastState: {terminated: {exitCode: 1}}"),
	       "Pod p ends again and again (CrashLoopBackOff): `kubectl -n alm-system logs p "
	       "--previous`");
	expect(NULL, NULL, CONTAINER("ready: false, state: {running: {}}"),
	       "Pod p runs and is not ready: `kubectl -n alm-system logs p`");
	expect(NULL, NULL, CONTAINER("ready: true, state: {running: {}}"), NULL);
	expect(NULL, NULL,
	       "items: [{metadata: {name: old, deletionTimestamp: now}, status: "
	       "{" UNSCHEDULED "}}, {status: {" UNSCHEDULED "}}]",
	       "Pod without a name: Unschedulable");
}

static void test_own_trouble__deployment(void **state)
{
	(void)state;
	expect("status: {conditions: [{type: ReplicaFailure, status: \"True\", message: exceeded "
	       "quota}]}",
	       NULL, "items: []", "no Pod is made: exceeded quota");
	expect("status: {conditions: [{type: ReplicaFailure, status: \"False\", message: was}]}",
	       NULL, "items: []", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_trouble__claim),
		cmocka_unit_test(test_own_trouble__pod),
		cmocka_unit_test(test_own_trouble__deployment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
