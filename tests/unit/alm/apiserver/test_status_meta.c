/* What of metadata a write through /status changes: recorded of a real 1.36, kind by kind. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/meta.h"
#include "tests/lib/exchange_fake.h"

#define MERGE "application/merge-patch+json"
#define ALL   "labels annotations finalizers ownerReferences"
#define POD   "{\"containers\":[{\"name\":\"c\",\"image\":\"x\"}]}"
#define WORKS                                                                                 \
	"\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{" \
	"\"labels\":{\"a\":\"b\"}},\"spec\":" POD "}}"

static const struct {
	const char *path, *subresource, *body, *changes;
} kinds[] = {
	{"/api/v1/namespaces/default/pods", "status", "\"spec\":" POD,
	 "labels annotations finalizers"},
	{"/api/v1/namespaces/default/services", "status", "\"spec\":{\"ports\":[{\"port\":80}]}",
	 ALL},
	{"/api/v1/namespaces/default/resourcequotas", "status",
	 "\"spec\":{\"hard\":{\"pods\":\"10\"}}", ALL},
	{"/api/v1/nodes", "status", "\"spec\":{}", ALL},
	{"/apis/apps/v1/namespaces/default/deployments", "status", WORKS,
	 "annotations finalizers ownerReferences"},
	{"/apis/apps/v1/namespaces/default/replicasets", "status", WORKS, ALL},
	{"/apis/certificates.k8s.io/v1/certificatesigningrequests", "approval",
	 "\"spec\":{\"request\":\"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0=\","
	 "\"signerName\":"
	 "\"x.io/y\",\"usages\":[\"client auth\"]}",
	 ALL},
	{"/apis/networking.k8s.io/v1/servicecidrs", "status",
	 "\"spec\":{\"cidrs\":[\"10.9.0.0/24\"]}", ""},
	{"/apis/resource.k8s.io/v1/namespaces/default/resourceclaims", "status",
	 "\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":"
	 "\"d\"}}]}}",
	 ""},
	{"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", "status",
	 "\"spec\":{\"priorityLevelConfiguration\":{\"name\":\"p\"}}", ""},
	{"/api/v1/namespaces/default/pods", "ephemeralcontainers", "\"spec\":" POD, ""},
};

static void test_status_meta__each_kind(void **state)
{
	static const char *const fields[] = {"labels", "annotations", "finalizers",
					     "ownerReferences"};
	static const char patch[] =
		"{\"metadata\":{\"labels\":{\"x\":\"y\"},\"annotations\":{\"x\":\"y\"},"
		"\"finalizers\":[\"a.b/c\"],\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":"
		"\"Node\",\"name\":\"q\",\"uid\":\"1-2\"}]}}";
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct answer x = apifake_do(
			f, "POST", kinds[i].path,
			arena_fmt(a, "{\"metadata\":{\"name\":\"m%zu\"},%s}", i, kinds[i].body));
		if (x.status != 201)
			fail_msg("%s: %.*s", kinds[i].path, STR_ARG(x.body));
		x = apifake_do_type(
			f, "PATCH",
			arena_fmt(a, "%s/m%zu/%s", kinds[i].path, i, kinds[i].subresource), MERGE,
			patch);
		if (x.status != 200)
			fail_msg("%s: %.*s", kinds[i].path, STR_ARG(x.body));
		for (size_t k = 0; k < ARRAY_LEN(fields); k++) {
			bool has =
				obj_len(obj_path(x.json, arena_fmt(a, "metadata.%s", fields[k])));
			if (has != (strstr(kinds[i].changes, fields[k]) != NULL))
				fail_msg("%s: %s", kinds[i].path, fields[k]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_meta__each_kind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
