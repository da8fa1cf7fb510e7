/* test_scale.c: server-side apply through scale, step by step as a real 1.36 answered. */
#include "alm/apiserver/kinds/scale.h"

#include <stdio.h>
#include <string.h>

#include "alm/obj/json.h"
#include "tests/lib/apifake_expect.h"
#include "tests/lib/test.h"

#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"
#define NAMED(more, spec)                                                               \
	"{\"apiVersion\":\"autoscaling/v1\",\"kind\":\"Scale\",\"metadata\":{\"name\":" \
	"\"d\"" more "},\"spec\":{" spec "}}"
#define SCALE(n) NAMED("", "\"replicas\":" n)

static const struct {
	const char *query, *body;
	int status;
	const char *said;   /* of a refusal, the whole message; else of the Scale, its spec */
	const char *owners; /* of replicas, afterwards */
	int64_t replicas, generation;
} steps[] = {
	{"fieldManager=foo", SCALE("5"), 409,
	 "Apply failed with 1 conflict: conflict with \"made\" using autoscaling/v1: "
	 ".spec.replicas",
	 "made", 2, 1},
	{"fieldManager=foo&force=true", SCALE("5"), 200, "{\"replicas\":5}", "foo/scale", 5, 2},
	{"fieldManager=bar", SCALE("6"), 409,
	 "Apply failed with 1 conflict: conflict with \"foo\" with subresource \"scale\": "
	 ".spec.replicas",
	 "foo/scale", 5, 2},
	{"fieldManager=bar", SCALE("5"), 200, "{\"replicas\":5}", "bar/scale foo/scale", 5, 2},
	{"fieldManager=foo", NAMED("", ""), 200, "{\"replicas\":5}", "bar/scale foo/scale", 5, 2},
	{"fieldManager=bar&force=true", SCALE("7"), 200, "{\"replicas\":7}", "bar/scale", 7, 3},
	{"fieldManager=bar", SCALE("null"), 200, "{}", "bar/scale", 0, 4},
	{"fieldManager=bar&dryRun=All", SCALE("12"), 200, "{\"replicas\":12}", "bar/scale", 0, 4},
	{"fieldManager=baz&force=true", SCALE("-1"), 422,
	 "Scale.autoscaling \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater "
	 "than "
	 "or equal to 0",
	 "bar/scale", 0, 4},
	{"fieldManager=bar", SCALE("\"8\""), 500,
	 "failed to create typed patch object (/d; autoscaling/v1, Kind=Scale): .spec.replicas: "
	 "expected numeric (int or float), got string",
	 "bar/scale", 0, 4},
	{"fieldManager=bar", NAMED("", "\"replicas\":8,\"x\":1"), 500,
	 "failed to create typed patch object (/d; autoscaling/v1, Kind=Scale): .spec.x: field not "
	 "declared in schema",
	 "bar/scale", 0, 4},
	{"fieldManager=bar", NAMED(",\"namespace\":\"x\"", "\"replicas\":8"), 400,
	 "the namespace of the provided object does not match the namespace sent on the request",
	 "bar/scale", 0, 4},
	{"fieldManager=bar", NAMED(",\"managedFields\":[]", "\"replicas\":8"), 400,
	 "metadata.managedFields must be nil", "bar/scale", 0, 4},
	{"fieldManager=bar", NAMED(",\"resourceVersion\":\"1\"", "\"replicas\":8"), 409,
	 "Operation cannot be fulfilled on deployments.apps \"d\": the object has been modified; "
	 "please apply your changes to the latest version and try again",
	 "bar/scale", 0, 4},
	{"fieldManager=bar", "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}", 400,
	 "invalid object type: apps/v1, Kind=Deployment", "bar/scale", 0, 4},
	/* A key that stands twice is told when all else has gone well. */
	{"fieldManager=foo&fieldValidation=Strict", SCALE("8,\"replicas\":9"), 409,
	 "Apply failed with 1 conflict: conflict with \"bar\" with subresource \"scale\": "
	 ".spec.replicas",
	 "bar/scale", 0, 4},
	{"fieldManager=bar&fieldValidation=Strict", SCALE("8,\"replicas\":9"), 400,
	 "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n"
	 "  line 1: key \"replicas\" already set in map",
	 "bar/scale", 0, 4},
	{"fieldManager=bar&dryRun=All", SCALE("8,\"replicas\":9"), 200, "{\"replicas\":9}",
	 "bar/scale", 0, 4},
	{"fieldManager=bar",
	 "{\"apiVersion\":\"autoscaling/v1\",\"kind\":\"Scale\",\"kind metadata\":1}", 500,
	 "failed to create typed patch object (/; autoscaling/v1, Kind=Scale): .kind metadata: "
	 "field not declared in schema",
	 "bar/scale", 0, 4},
	{"force=true", SCALE("8"), 422,
	 "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for "
	 "apply patch",
	 "bar/scale", 0, 4},
};

static void owners_of(const struct obj *o, struct strbuf *b)
{
	const struct obj *list = obj_path(o, "metadata.managedFields");
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *m = obj_at(list, i);
		const char *of = obj_str(m, "subresource");
		if (!obj_path(m, "fieldsV1['f:spec']['f:replicas']"))
			continue;
		strbuf_addf(b, "%s%s%s%s", b->len ? " " : "", obj_str(m, "manager"), of ? "/" : "",
			    of ? of : "");
	}
}

static void test_scale__applied(void **state)
{
	struct apifake *f = *state;
	apifake_expect(f, "POST", DEPLOYMENTS "?fieldManager=made",
		       "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":2,\"selector\":{"
		       "\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{"
		       "\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"
		       "}}",
		       201);
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		CLEANUP(strbuf_release) struct strbuf said = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(strbuf_release) struct strbuf owners = STRBUF_INIT(STRBUF_SMALL);
		char target[200];
		(void)snprintf(target, sizeof(target), DEPLOYMENTS "/d/scale?%s", steps[i].query);
		struct answer a = apifake_do_type(f, "PATCH", target,
						  "application/apply-patch+yaml", steps[i].body);
		if (a.status == 200)
			json_print_canonical(obj_get(a.json, "spec"), &said);
		else
			strbuf_adds(&said, obj_str(a.json, "message"));
		if (a.status != steps[i].status || strcmp(said.buf, steps[i].said) != 0)
			fail_msg("step %zu: %d %s", i, a.status, said.buf);
		a = apifake_expect(f, "GET", DEPLOYMENTS "/d", NULL, 200);
		owners_of(a.json, &owners);
		if (strcmp(owners.buf, steps[i].owners) != 0)
			fail_msg("step %zu: replicas are owned by %s", i, owners.buf);
		assert_int_equal(obj_i64(a.json, "spec.replicas", -1), steps[i].replicas);
		assert_int_equal(obj_i64(a.json, "metadata.generation", -1), steps[i].generation);
	}
}

static int setup(void **state)
{
	*state = apifake_new(NULL);
	return 0;
}

static int teardown(void **state)
{
	apifake_free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_scale__applied, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
