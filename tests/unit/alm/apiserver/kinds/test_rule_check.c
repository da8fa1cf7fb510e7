/* test_rule_check.c: single fields of built-in kinds, DeviceClasses and ResourceSlices, and what a real kube-apiserver 1.36 says of
 * them (seen by tests/fuzz/diff_api.py). */
#include "alm/apiserver/kinds/builtin_check.h"
#include "alm/apiserver/kinds/job_check.h"
#include "alm/apiserver/kinds/pod_parts.h"
#include "alm/apiserver/kinds/request_check.h"
#include "alm/apiserver/kinds/rule_check.h"
#include "alm/apiserver/kinds/slice_check.h"
#include "tests/lib/test.h"
#include "tests/lib/told.h"

#define GREATER "must be greater than or equal to 0"
#define POD     "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]"

static const struct row {
	const char *group, *plural, *json, *want; /* all that is wrong, without brackets */
} rows[] = {
	{"policy", "poddisruptionbudgets", "{\"spec\":{\"unhealthyPodEvictionPolicy\":\"pods\"}}",
	 "spec.unhealthyPodEvictionPolicy: Unsupported value: \"pods\": supported values: "
	 "\"AlwaysAllow\", \"IfHealthyBudget\""},
	{"apps", "daemonsets", "{\"spec\":{\"minReadySeconds\":-1}}",
	 "spec.minReadySeconds: Invalid value: -1: " GREATER},
	{"node.k8s.io", "runtimeclasses",
	 "{\"scheduling\":{\"tolerations\":[{\"key\":\"a\",\"operator\":\"Exists\"},{"
	 "\"tolerationSeconds\":"
	 "101,\"effect\":\"PreferNoSchedule\"}]}}",
	 "[scheduling.tolerations[1].operator: Invalid value: \"\": operator must be Exists when "
	 "`key` "
	 "is empty, which means \"match all values and all keys\", "
	 "scheduling.tolerations[1].effect: "
	 "Invalid value: \"PreferNoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` "
	 "is "
	 "set]"},
	{"resource.k8s.io", "deviceclasses",
	 "{\"spec\":{\"selectors\":[{},{\"cel\":{\"expression\":\"device.driver=='a.b'\"}}]}}",
	 "spec.selectors[0].cel: Required value"},
	{"resource.k8s.io", "resourceslices",
	 "{\"spec\":{\"driver\":\"a.b\",\"pool\":{\"name\":\"p\",\"resourceSliceCount\":1},"
	 "\"devices\":"
	 "[{\"name\":"
	 "\"d\"},{\"name\":\"d\"}]}}",
	 "[spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
	 "`perDeviceNodeSelection` is required, spec.devices[1]: Duplicate value: \"d\"]"},
};

/* What depends on more than one field. */
static const struct row whole[] = {
	{"", "pods",
	 "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"env\":[{\"name\":\"A\","
	 "\"valueFrom\":{\"fileKeyRef\":{\"key\":\"k\",\"volumeName\":\"v\",\"path\":\"p\"}}}],"
	 "\"resizePolicy\":[{\"resourceName\":\"x\",\"restartPolicy\":\"NotRequired\"}]}]}}",
	 "[spec.containers[0].resizePolicy: Unsupported value: \"x\": supported values: \"cpu\", "
	 "\"memory\", spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: "
	 "\"v\"]"},
	{"", "pods",
	 "{\"spec\":{" POD ",\"volumes\":[{\"name\":\"v\",\"secret\":{},\"configMap\":{}},"
	 "{\"name\":\"w\",\"iscsi\":{\"iqn\":\"x\",\"lun\":-1}}],\"resourceClaims\":[{}]}}",
	 "[spec.volumes[0].secret.secretName: Required value, spec.volumes[0].configMap: "
	 "Forbidden: "
	 "may not specify more than 1 volume type, spec.volumes[1].iscsi.targetPortal: Required "
	 "value, "
	 "spec.volumes[1].iscsi.iqn: Invalid value: \"x\": must be valid format starting with iqn, "
	 "eui, or naa, spec.volumes[1].iscsi.lun: Invalid value: -1: must be between 0 and 255, "
	 "inclusive, spec.resourceClaims[0].name: Required value, spec.resourceClaims[0]: Invalid "
	 "value: {\"Name\":\"\",\"ResourceClaimName\":null,\"ResourceClaimTemplateName\":null}: "
	 "must "
	 "specify one of: `resourceClaimName`, `resourceClaimTemplateName`]"},
	{"networking.k8s.io", "ingresses",
	 "{\"spec\":{\"defaultBackend\":{\"service\":{\"name\":\"A\",\"port\":{\"name\":\"a\","
	 "\"number\":1}}},\"tls\":[{\"secretName\":\"-\"}]}}",
	 "[spec.defaultBackend.service.name: Invalid value: \"A\": a lowercase RFC 1123 label must "
	 "consist of lower case alphanumeric characters or '-', and must start and end with an "
	 "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
	 "'[a-z0-9]([-a-z0-9]*[a-z0-9])?'), spec.defaultBackend: Invalid value: \"\": cannot set "
	 "both "
	 "port name & port number, spec.tls[0].secretName: Invalid value: \"-\": a lowercase RFC "
	 "1123 "
	 "subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
	 "and "
	 "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
	 "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')]"},
	{"batch", "cronjobs",
	 "{\"spec\":{\"schedule\":\"a b\",\"jobTemplate\":{\"spec\":{\"maxFailedIndexes\":1,"
	 "\"template\":{\"spec\":{" POD ",\"restartPolicy\":\"Never\"}}}}}}",
	 "[spec.schedule: Invalid value: \"a b\": expected exactly 5 fields, found 2: [a b], "
	 "spec.jobTemplate.spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is "
	 "specified, spec.jobTemplate.spec.maxFailedIndexes: Invalid value: 1: requires indexed "
	 "completion mode]"},
	{"certificates.k8s.io", "certificatesigningrequests",
	 "{\"spec\":{\"request\":\"YQ==\",\"usages\":[\"client auth\"],\"signerName\":\"x\","
	 "\"expirationSeconds\":1}}",
	 "[spec.request: Invalid value: \"YQ==\": PEM block type must be CERTIFICATE REQUEST, "
	 "spec.signerName: Invalid value: \"x\": must be a fully qualified domain and path of the "
	 "form "
	 "'example.com/signer-name', spec.expirationSeconds: Invalid value: 1: may not specify a "
	 "duration less than 600 seconds (10 minutes)]"},
	{"", "pods",
	 "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"limits\":{"
	 "\"a.b/c\":\"1500m\"},\"requests\":{\"cpu\":\"-1\"}}}],\"volumes\":[{\"name\":\"v\","
	 "\"fc\":{}}]}}",
	 "[spec.volumes[0].fc.targetWWNs: Required value: must specify either targetWWNs or wwids, "
	 "but "
	 "not both, spec.containers[0].resources.limits[a.b/c]: Invalid value: \"1500m\": must be "
	 "an "
	 "integer, spec.containers[0].resources.requests[cpu]: Invalid value: \"-1\": must be "
	 "greater "
	 "than or equal to 0]"},
	{"", "replicationcontrollers",
	 "{\"spec\":{\"selector\":{\"a\":\"-\"},\"template\":{\"metadata\":{\"labels\":{\"a\":\"-"
	 "\"}},"
	 "\"spec\":{" POD "}}}}",
	 "spec.template.labels: Invalid value: \"-\": a valid label must be an empty string or "
	 "consist "
	 "of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
	 "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
	 "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
	{"storage.k8s.io", "volumeattachments",
	 "{\"spec\":{\"attacher\":\"a.b\",\"nodeName\":\"n\",\"source\":{\"inlineVolumeSpec\":{}}}"
	 "}",
	 "[spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of "
	 "inline volumes, spec.source.inlineVolumeSpec.accessModes: Required value, "
	 "spec.source.inlineVolumeSpec: Required value: must specify a volume type]"},
	{"", "persistentvolumes",
	 "{\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"hostPath\":{\"path\":\"/a\"},"
	 "\"volumeAttributesClassName\":\"a\"}}",
	 "[spec.capacity: Required value, spec.capacity: Unsupported value: null: supported "
	 "values: "
	 "\"storage\", spec.csi: Required value: has to be specified when using "
	 "volumeAttributesClassName]"},
	{"", "secrets",
	 "{\"type\":\"kubernetes.io/dockerconfigjson\",\"data\":{\".dockerconfigjson\":\"YQ==\"}}",
	 "data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\": invalid "
	 "character "
	 "'a' looking for beginning of value"},
	{"", "pods", "{\"spec\":{" POD ",\"os\":{\"name\":\"x\"}}}",
	 "spec.os: Unsupported value: \"x\": supported values: \"linux\", \"windows\""},
	{"", "podtemplates",
	 "{\"template\":{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"i\"},{\"name\":"
	 "\"b\","
	 "\"image\":\"i\",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/"
	 "\",\"mountPropagation\":\"A\"}]}],"
	 "\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]}}}",
	 "template.spec.containers[1].volumeMounts.mountPropagation: Unsupported value: \"A\": "
	 "supported values: \"Bidirectional\", \"HostToContainer\", \"None\""},
	{"", "pods", "{\"spec\":{" POD ",\"hostname\":\"a.b\",\"dnsPolicy\":\"x\"}}",
	 "[spec.dnsPolicy: Unsupported value: \"x\": supported values: "
	 "\"ClusterFirstWithHostNet\", "
	 "\"ClusterFirst\", \"Default\", \"None\", spec.hostname: Invalid value: \"a.b\": must not "
	 "contain dots]"},
	{"", "podtemplates",
	 "{\"template\":{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"i\",\"ports\":[{"
	 "\"name\":\"p\","
	 "\"containerPort\":1,\"hostPort\":65536},{\"name\":\"p\",\"containerPort\":2,\"protocol\":"
	 "\"x\"}],"
	 "\"resources\":{\"claims\":[{\"name\":\"r\"}]}}],\"resources\":{\"claims\":[]},"
	 "\"schedulingGates\":[{\"name\":\"\\u00e9\"}],"
	 "\"ephemeralContainers\":[{\"name\":\"e\",\"image\":\"i\",\"ports\":[{\"containerPort\":1}"
	 "]}]}}}",
	 "[template.spec.containers[0].ports[0].hostPort: Invalid value: 65536: must be between 1 "
	 "and 65535, inclusive, "
	 "template.spec.containers[0].ports[1].name: Duplicate value: \"p\", "
	 "template.spec.containers[0].ports[1].protocol: Unsupported value: \"x\": supported "
	 "values: \"SCTP\", \"TCP\", \"UDP\", "
	 "template.spec.containers[0].resources.claims[0]: Not found: \"r\": must be one of the "
	 "names in pod.spec.resourceClaims which is empty, "
	 "template.spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral "
	 "Container, "
	 "template.spec.resources.claims: Forbidden: claims may not be set for Resources at "
	 "pod-level, "
	 "template.spec.schedulingGates[0]: Invalid value: \"\u00e9\": name part must consist of "
	 "alphanumeric characters, '-', '_' or '.', and "
	 "must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
	 "'123-abc', regex used for validation is "
	 "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), "
	 "template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod "
	 "template]"},
	{"resource.k8s.io", "resourceclaims",
	 "{\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\",\"firstAvailable\":[{\"name\":\"a."
	 "b\",\"deviceClassName\":\"c\"}]}],"
	 "\"constraints\":[{\"requests\":[\"r\",\"x\"],\"matchAttribute\":\"b\"}]}}}",
	 "[spec.devices.requests[0].firstAvailable[0].name: Invalid value: \"a.b\": must not "
	 "contain dots, "
	 "spec.devices.constraints[0].requests[1]: Invalid value: \"x\": must be the name of a "
	 "request in the claim or the name of a request "
	 "and a subrequest separated by '/', "
	 "spec.devices.constraints[0].matchAttribute: Invalid value: \"b\": a fully qualified name "
	 "must be a domain and a name separated by a "
	 "slash]"},
	{"storage.k8s.io", "storageclasses",
	 "{\"provisioner\":\"p\",\"reclaimPolicy\":\"Delete\",\"volumeBindingMode\":\"Immediate\","
	 "\"allowedTopologies\":["
	 "{\"matchLabelExpressions\":[{\"key\":\"a\"}]},{\"matchLabelExpressions\":[{\"key\":\"a\"}"
	 "]}]}",
	 "[allowedTopologies[0].matchLabelExpressions[0].values: Required value, "
	 "allowedTopologies[1].matchLabelExpressions[0].values: Required value, "
	 "allowedTopologies[1].matchLabelExpressions: Duplicate value: \"\"]"},
	{"apps", "deployments",
	 "{\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"progressDeadlineSeconds\":3,"
	 "\"minReadySeconds\":3,"
	 "\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{" POD "}}}}",
	 "spec.progressDeadlineSeconds: Invalid value: 3: must be greater than minReadySeconds"},
	{"apiregistration.k8s.io", "apiservices",
	 "{\"metadata\":{\"name\":\"v1.a\"},\"spec\":{\"group\":\"a\",\"version\":\"v1\","
	 "\"groupPriorityMinimum\":1,\"versionPriority\":1,\"caBundle\":\"YQ==\","
	 "\"insecureSkipTLSVerify\":true,\"service\":{\"name\":\"s\",\"namespace\":\"n\"}}}",
	 "spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present"},
};

static void test_rule_check__in_the_real_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(FIELD_ERRORS_BYTES_MAX);
		CLEANUP(obj_unrefp) struct obj *o = told_read(rows[i].json);
		struct field_errors e;
		field_errors_init(&e, a);
		if (cstr_eq(rows[i].plural, "deviceclasses"))
			check_device_class(&e, o);
		else if (cstr_eq(rows[i].plural, "resourceslices"))
			check_resource_slice(&e, o);
		else
			rule_check(&e, rows[i].group, rows[i].plural, o, false);
		assert_told(&e, rows[i].want);
	}
}

/* Of what is missing, what does not change and what is asked for a certificate, which the server keeps as it was. */
static bool stays(const struct field_error *x)
{
	static const char *const said[] = {"field is immutable", "more than 1", "PEM block",
					   "600 seconds", "supported values: \"storage\""};
	bool is = x->type == FIELD_REQUIRED;
	for (size_t i = 0; i < ARRAY_LEN(said); i++)
		is = is || strstr(x->message, said[i]);
	return is;
}

static void test_rule_check__of_the_whole_in_the_real_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(whole); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(8 << 20);
		CLEANUP(obj_unrefp) struct obj *o = told_read(whole[i].json);
		struct field_errors *e = ARENA_NEW(a, struct field_errors);
		field_errors_init(e, a);
		builtin_check(whole[i].group, whole[i].plural, o, NULL, e);
		assert_told(e, whole[i].want);
		/* What is stored so may be changed elsewhere, but for what is missing. */
		CLEANUP(obj_unrefp) struct obj *changed = obj_copy(o);
		obj_set_path(changed, "spec.other", obj_int(1));
		field_errors_init(e, a);
		builtin_check(whole[i].group, whole[i].plural, changed, o, e);
		for (size_t k = 0; k < e->n; k++)
			assert_true(stays(&e->items[k]));
	}
}

static void test_rule_check__counts_of_a_status(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(FIELD_ERRORS_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *o =
		told_read("{\"status\":{\"replicas\":-1,\"fullyLabeledReplicas\":80}}");
	struct field_errors e;
	field_errors_init(&e, a);
	rule_check(&e, "apps", "replicasets", o, true);
	assert_told(
		&e,
		"[status.replicas: Invalid value: -1: " GREATER
		", status.fullyLabeledReplicas: Invalid value: 80: cannot be greater than "
		"status.replicas, status.readyReplicas: Invalid value: 0: cannot be greater than "
		"status.replicas, status.availableReplicas: Invalid value: 0: cannot be greater "
		"than status.replicas]");
}

/* What stands there from before is not held against another change. */
static void test_rule_check__what_was_stored_stays(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(FIELD_ERRORS_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *was =
		told_read("{\"spec\":{\"runtimeClassName\":\"TCP\"," POD "}}");
	CLEANUP(obj_unrefp) struct obj *is = told_read(
		"{\"spec\":{\"runtimeClassName\":\"TCP\",\"hostNetwork\":false," POD "}}");
	struct field_errors e;
	field_errors_init(&e, a);
	builtin_check("", "pods", is, was, &e);
	assert_int_equal(e.n, 0);
	builtin_check("", "pods", is, NULL, &e);
	assert_int_equal(e.n, 1);
}

#define DEPLOYMENT(replicas, image, policy, more)                                                 \
	"{\"spec\":{\"replicas\":" replicas                                                       \
	",\"minReadySeconds\":-1,\"selector\":{\"matchLabels\":{"                                 \
	"\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{"          \
	"\"restartPolicy\":\"Always\",\"dnsPolicy\":\"ClusterFirst\",\"tolerations\":[{\"key\":"  \
	"\"k\","                                                                                  \
	"\"operator\":\"is\"" more "}],\"topologySpreadConstraints\":[{\"maxSkew\":0,"            \
	"\"topologyKey\":\"k\",\"whenUnsatisfiable\":\"DoNotSchedule\"}],\"volumes\":[{\"name\":" \
	"\"v\",\"secret\":{\"secretName\":\"s\",\"defaultMode\":99999}}],\"containers\":[{"       \
	"\"name\":"                                                                               \
	"\"c\",\"image\":\"" image "\",\"terminationMessagePolicy\":\"File\","                    \
	"\"imagePullPolicy\":\"" policy "\",\"ports\":[{\"name\":\"eighteen-characters\","        \
	"\"containerPort\":80,\"protocol\":\"TCP\"}]}]}}}}"

/* Words, numbers, names, modes and maps: any rule. */
static void test_rule_check__an_old_deployment_can_be_changed(void **state)
{
	static const struct {
		const char *after, *refused; /* NULL: nothing */
	} cases[] = {
		{DEPLOYMENT("2", "i:1", "always", ""), NULL},
		{DEPLOYMENT("1", "i:2", "always", ""), NULL},
		{DEPLOYMENT("1", "i:1", "Always", ""), NULL},
		{DEPLOYMENT("1", "i:1", "never", ""),
		 "spec.template.spec.containers[0].imagePullPolicy"},
		{DEPLOYMENT("1", "i:1", "always", ",\"value\":\"w\""),
		 "spec.template.spec.tolerations[0].operator"},
	};
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_REQUEST_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *was = told_read(DEPLOYMENT("1", "i:1", "always", ""));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(obj_unrefp) struct obj *is = told_read(cases[i].after);
		struct field_errors e;
		field_errors_init(&e, a);
		builtin_check("apps", "deployments", is, was, &e);
		if (e.n != (cases[i].refused ? 1 : 0))
			fail_msg("%zu: %zu errors, %s: %s", i, e.n, e.n ? e.items[0].path : "",
				 e.n ? e.items[0].message : "");
		if (cases[i].refused)
			assert_string_equal(e.items[0].path, cases[i].refused);
	}
}

#define INGRESS(ip, more)                        \
	"{\"spec\":{\"type\":\"LoadBalancer\"}," \
	"\"status\":{\"loadBalancer\":{\"ingress\":[{\"ip\":\"" ip "\"}" more "]}}}"

static void test_rule_check__an_old_status_can_be_changed(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(FIELD_ERRORS_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *was = told_read(INGRESS("host", ""));
	CLEANUP(obj_unrefp) struct obj *is = told_read(INGRESS("host", ",{\"ip\":\"1.2.3.4\"}"));
	CLEANUP(obj_unrefp) struct obj *other = told_read(INGRESS("guest", ""));
	struct field_errors e;
	field_errors_init(&e, a);
	builtin_check_status("", "services", is, was, &e);
	assert_int_equal(e.n, 0);
	builtin_check_status("", "services", other, was, &e);
	assert_int_equal(e.n, 1);
	builtin_check_status("", "services", was, NULL, &e);
	assert_int_equal(e.n, 2);
}

/* Where not all are judged, one may be new: none is forgiven. */
static void test_rule_check__too_many_are_not_forgiven(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_REQUEST_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *was = told_read("{\"spec\":{" POD ",\"dnsConfig\":{}}}");
	struct obj *list = obj_list();
	for (size_t i = 0; i < FIELD_ERRORS_MAX; i++)
		obj_append(list, obj_string("a:b"));
	obj_set_path(was, "spec.dnsConfig.nameservers", list);
	for (size_t more = 0; more < 2; more++) {
		CLEANUP(obj_unrefp) struct obj *is = obj_copy(was);
		struct field_errors e;
		struct obj *config = obj_get_mut(obj_get_mut(is, "spec"), "dnsConfig");
		obj_append(obj_get_mut(config, "nameservers"), obj_string(more ? "c:d" : "a:b"));
		field_errors_init(&e, a);
		builtin_check("", "pods", is, was, &e);
		assert_int_equal(e.n, FIELD_ERRORS_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rule_check__in_the_real_words),
		cmocka_unit_test(test_rule_check__of_the_whole_in_the_real_words),
		cmocka_unit_test(test_rule_check__counts_of_a_status),
		cmocka_unit_test(test_rule_check__what_was_stored_stays),
		cmocka_unit_test(test_rule_check__an_old_deployment_can_be_changed),
		cmocka_unit_test(test_rule_check__an_old_status_can_be_changed),
		cmocka_unit_test(test_rule_check__too_many_are_not_forgiven),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
