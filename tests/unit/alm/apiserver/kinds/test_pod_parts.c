/* test_pod_parts.c: parts of Pods, in the words of Kubernetes 1.36. */
#include "alm/apiserver/kinds/pod_parts.h"

#include "alm/base/arena.h"
#include "tests/lib/test.h"
#include "tests/lib/told.h"

#define PATH "c"

static void check_claim_names(struct field_errors *e, const char *path, const struct obj *o)
{
	pod_check_claim_names(e, path, obj_get(o, "asked"), obj_get(o, "claims"));
}

static void check_resize(struct field_errors *e, const char *path, const struct obj *o)
{
	pod_check_resize(e, path, o, false);
}

static void check_resize_never(struct field_errors *e, const char *path, const struct obj *o)
{
	pod_check_resize(e, path, o, true);
}

static void check_restart(struct field_errors *e, const char *path, const struct obj *o)
{
	pod_check_restart(e, path, o, false);
}

static void check_restart_init(struct field_errors *e, const char *path, const struct obj *o)
{
	pod_check_restart(e, path, o, true);
}

#define PRINTABLE                                                                           \
	"a valid environment variable name must consist only of printable ASCII characters" \
	" other than '='"
#define NOT_AMONG "must be one of the names in pod.spec.resourceClaims"
#define ONE_OF                                                                    \
	"must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`," \
	" `secretKeyRef` or `fileKeyRef`"
#define FILE_KEY \
	"\"valueFrom\":{\"fileKeyRef\":{\"volumeName\":\"v\",\"path\":\"p\",\"key\":\"k\"}}"

static const struct row {
	void (*check)(struct field_errors *e, const char *path, const struct obj *o);
	const char *json, *want;
} rows[] = {
	/* which there are is told in the order of their names */
	{check_claim_names,
	 "{\"asked\":[{\"name\":\"x\"}],\"claims\":[{\"name\":\"m\"},{\"name\":\"z\"},{\"name\":"
	 "\"a\"},{\"name\":\"\"}]}",
	 "c[0]: Not found: \"x\": " NOT_AMONG ": a, m, z"},
	{check_claim_names, "{\"asked\":[{\"name\":\"x\"}]}",
	 "c[0]: Not found: \"x\": " NOT_AMONG " which is empty"},
	{check_claim_names, "{\"asked\":[{},{\"name\":\"a\"}],\"claims\":[{\"name\":\"a\"}]}",
	 "c[0]: Required value"},
	{check_claim_names,
	 "{\"asked\":[{\"name\":\"a\",\"request\":\"r\"},{\"name\":\"a\",\"request\":\"s\"},{"
	 "\"name\":\"a\",\"request\":\"r\"},{\"name\":\"a\"},{\"name\":\"a\",\"request\":\"t\"}],"
	 "\"claims\":[{\"name\":\"a\"}]}",
	 "[c[2]: Duplicate value: \"a/r\", c[4]: Duplicate value: \"a\"]"},
	{pod_check_image, "{\"image\":\"a\"}", ""},
	{pod_check_image, "{\"image\":\"a \"}",
	 "c.image: Invalid value: \"a \": must not have leading or trailing whitespace"},
	{pod_check_image, "{\"image\":\" a\"}",
	 "c.image: Invalid value: \" a\": must not have leading or trailing whitespace"},
	{pod_check_env,
	 "{\"env\":[{\"name\":\"A b~\"},{},{\"name\":\"a=\"},{\"name\":\"\\u007f\"}]}",
	 "[c.env[1].name: Required value, c.env[2].name: Invalid value: \"a=\": " PRINTABLE
	 ", c.env[3].name: Invalid value: \"\\x7f\": " PRINTABLE "]"},
	{pod_check_env, "{\"env\":[{\"name\":\"A\",\"valueFrom\":{}}]}",
	 "c.env[0].valueFrom: Invalid value: \"\": " ONE_OF},
	{pod_check_env, "{\"env\":[{\"name\":\"A\",\"value\":\"x\"," FILE_KEY "}]}",
	 "c.env[0].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty"},
	{pod_check_env, "{\"env\":[{\"name\":\"A\",\"value\":\"\"," FILE_KEY "}]}", ""},
	{pod_check_env,
	 "{\"env\":[{\"name\":\"A\",\"valueFrom\":{\"configMapKeyRef\":{\"name\":\"m\",\"key\":"
	 "\"k\"},\"secretKeyRef\":{\"name\":\"s\",\"key\":\"\"}}}]}",
	 "[c.env[0].valueFrom.secretKeyRef.key: Required value, c.env[0].valueFrom: Invalid value:"
	 " \"\": may not have more than one field specified at a time]"},
	{pod_check_env,
	 "{\"env\":[{\"name\":\"A\",\"valueFrom\":{\"fileKeyRef\":{\"path\":\"a/../b\",\"key\":"
	 "\"=\"}}}]}",
	 "[c.env[0].valueFrom.fileKeyRef.key: Invalid value: \"=\": " PRINTABLE
	 ", c.env[0].valueFrom.fileKeyRef.volumeName: Required value, "
	 "c.env[0].valueFrom.fileKeyRef.path: Invalid value: \"a/../b\": must not contain '..']"},
	{pod_check_env,
	 "{\"envFrom\":[{\"configMapRef\":{\"name\":\"W-\"},\"prefix\":\"=\"},{\"secretRef\":{}},"
	 "{},{\"configMapRef\":{\"name\":\"a\"},\"secretRef\":{\"name\":\"a\"}}]}",
	 "[c.envFrom[0].prefix: Invalid value: \"=\": " PRINTABLE
	 ", c.envFrom[1].secretRef.name: Required value, c.envFrom: Invalid value: \"\": must "
	 "specify one of: `configMapRef` or `secretRef`, c.envFrom: Invalid value: \"\": may not "
	 "have more than one field specified at a time]"},
	{check_resize,
	 "{\"resizePolicy\":[{\"resourceName\":\"cpu\",\"restartPolicy\":\"RestartContainer\"},{"
	 "\"resourceName\":\"cpu\",\"restartPolicy\":\"NotRequired\"},{\"resourceName\":\"x\"}]}",
	 "[c.resizePolicy[1]: Duplicate value: \"cpu\", c.resizePolicy: Unsupported value: \"x\": "
	 "supported values: \"cpu\", \"memory\", c.resizePolicy: Required value]"},
	{check_resize_never,
	 "{\"resizePolicy\":[{\"resourceName\":\"cpu\",\"restartPolicy\":\"NotRequired\"},{"
	 "\"resourceName\":\"memory\",\"restartPolicy\":\"RestartContainer\"}]}",
	 "c.resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when pod "
	 "`restartPolicy` is 'Never'"},
	{check_restart, "{\"restartPolicy\":\"Never\"}", ""},
	{check_restart, "{\"restartPolicy\":\"x\"}",
	 "c.restartPolicy: Unsupported value: \"x\": supported values: \"Always\", \"Never\", "
	 "\"OnFailure\""},
	{check_restart, "{\"restartPolicyRules\":[{\"action\":\"Restart\"}]}",
	 "[c.restartPolicy: Required value: must specify restartPolicy when restart rules are used"
	 ", c.restartPolicyRules[0].exitCodes: Required value: must be specified]"},
	{check_restart_init, "{\"restartPolicyRules\":[{\"action\":\"Restart\"}]}",
	 "c.restartPolicy: Required value: must specify restartPolicy when restart rules are used"},
	{check_restart_init,
	 "{\"restartPolicy\":\"Never\",\"restartPolicyRules\":[{\"action\":\"x\",\"exitCodes\":{"
	 "\"operator\":\"In\",\"values\":[1]}}]}",
	 "c.restartPolicyRules[0].action: Unsupported value: \"x\": supported values: \"Restart\", "
	 "\"RestartAllContainers\""},
	{pod_check_files,
	 "{\"volumes\":[{\"name\":\"v\",\"hostPath\":{}}],\"containers\":[{\"env\":[{\"name\":"
	 "\"A\"},{" FILE_KEY "}]}]}",
	 "c.containers[0].env[1].valueFrom.fileKeyRef.volumeName: Invalid value: \"v\": referenced "
	 "volume must be of type emptyDir"},
	{pod_check_files,
	 "{\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}],\"initContainers\":[{\"env\":[{" FILE_KEY
	 "}]}]}",
	 ""},
	{pod_check_files, "{\"ephemeralContainers\":[{\"env\":[{" FILE_KEY "}]}]}",
	 "c.ephemeralContainers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: \"v\""},
};

static void test_pod_parts__in_the_real_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
		CLEANUP(obj_unrefp) struct obj *o = told_read(rows[i].json);
		struct field_errors *e = ARENA_NEW(a, struct field_errors);
		field_errors_init(e, a);
		rows[i].check(e, PATH, o);
		assert_told(e, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pod_parts__in_the_real_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
