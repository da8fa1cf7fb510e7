/* test_workload_check.c: Pods and what keeps them running, volumes and devices: what a real kube-apiserver 1.36 said of them, and
 * that what was stored before a rule stays writable. */
#include "alm/apiserver/kinds/builtin_check.h"
#include "alm/apiserver/kinds/defaults.h"
#include "alm/apiserver/kinds/pod_place.h"
#include "alm/apiserver/kinds/pod_probe.h"
#include "alm/apiserver/kinds/pod_security.h"
#include "alm/apiserver/kinds/workload_check.h"
#include "tests/lib/test.h"
#include "tests/lib/told.h"

static const struct row {
	const char *group, *plural, *json, *want; /* all that is wrong */
} rows[] = {
	{"", "pods",
	 "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"affinity\":{\"nodeAff"
	 "inity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":["
	 "]},\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":0,\"preference\""
	 ":{}}]}}}}",
	 "[spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelec"
	 "torTerms: Required value: must have at least one node selector term, spec.affinity.n"
	 "odeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value"
	 ": 0: must be in the range 1-100]"},
	{"", "pods",
	 "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"affinity\":{\"nodeAff"
	 "inity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":["
	 "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Lt\"},{\"key\":\"a\",\"operator"
	 "\":\"Gt\",\"values\":[\"x\"]},{\"key\":\"a\",\"operator\":\"x\"}],\"matchFields\":[{"
	 "\"key\":\"metadata.name\",\"operator\":\"In\"},{\"key\":\"x\",\"operator\":\"Gt\"}]}"
	 "]}}}}}",
	 "[spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelec"
	 "torTerms[0].matchExpressions[0].values: Required value: must be specified single val"
	 "ue when `operator` is 'Lt' or 'Gt', spec.affinity.nodeAffinity.requiredDuringSchedul"
	 "ingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[2].operator: Invalid"
	 " value: \"x\": not a valid selector operator, spec.affinity.nodeAffinity.requiredDur"
	 "ingSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].values: Requ"
	 "ired value: must be only one value when `operator` is 'In' or 'NotIn' for node field"
	 " selector, spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
	 ".nodeSelectorTerms[0].matchFields[1].operator: Invalid value: \"Gt\": not a valid se"
	 "lector operator, spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExe"
	 "cution.nodeSelectorTerms[0].matchFields[1].key: Invalid value: \"x\": not a valid fi"
	 "eld selector key]"},
	{"", "pods",
	 "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"affinity\":{\"podAnti"
	 "Affinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":\"t"
	 "\",\"matchLabelKeys\":[\"a\"],\"mismatchLabelKeys\":[\"a\"]}],\"preferredDuringSched"
	 "ulingIgnoredDuringExecution\":[{\"weight\":101,\"podAffinityTerm\":{\"topologyKey\":"
	 "\"a\"}}]}}}}",
	 "[spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].mat"
	 "chLabelKeys: Forbidden: must not be specified when labelSelector is not set, spec.af"
	 "finity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].mismatchLab"
	 "elKeys: Forbidden: must not be specified when labelSelector is not set, spec.affinit"
	 "y.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys[0"
	 "]: Invalid value: \"a\": exists in both matchLabelKeys and mismatchLabelKeys, spec.a"
	 "ffinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: I"
	 "nvalid value: 101: must be in the range 1-100]"},
	{"", "pods",
	 "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"topologySpreadConstra"
	 "ints\":[{\"maxSkew\":0,\"topologyKey\":\"\",\"whenUnsatisfiable\":\"x\",\"minDomains"
	 "\":0},{\"maxSkew\":1,\"topologyKey\":\"a\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}"
	 ",{\"maxSkew\":1,\"topologyKey\":\"a\",\"whenUnsatisfiable\":\"ScheduleAnyway\",\"nod"
	 "eAffinityPolicy\":\"x\",\"matchLabelKeys\":[\"a\"]}]}}",
	 "[spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than z"
	 "ero, spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty"
	 ", spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: \"x\": sup"
	 "ported values: \"DoNotSchedule\", \"ScheduleAnyway\", spec.topologySpreadConstraints"
	 "[0].minDomains: Invalid value: 0: must be greater than zero, spec.topologySpreadCons"
	 "traints[0].minDomains: Invalid value: 0: can only use minDomains if whenUnsatisfiabl"
	 "e=DoNotSchedule, not x, spec.topologySpreadConstraints[1].{topologyKey, whenUnsatisf"
	 "iable}: Duplicate value: \"{a, ScheduleAnyway}\", spec.topologySpreadConstraints[2]."
	 "nodeAffinityPolicy: Unsupported value: \"x\": supported values: \"Honor\", \"Ignore"
	 "\", spec.topologySpreadConstraints[2].matchLabelKeys: Forbidden: must not be specifi"
	 "ed when labelSelector is not set]"},
	{"", "pods",
	 "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"securityContext\":{\""
	 "runAsUser\":-1,\"supplementalGroups\":[-1],\"sysctls\":[{\"name\":\"\"},{\"name\":\""
	 "a.b\"},{\"name\":\"a.b\"},{\"name\":\"net.core.x\"}],\"seccompProfile\":{\"type\":\""
	 "Localhost\"},\"appArmorProfile\":{\"type\":\"x\"},\"fsGroupChangePolicy\":\"x\"},\"h"
	 "ostNetwork\":true}}",
	 "[spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647"
	 ", inclusive, spec.securityContext.supplementalGroups[0]: Invalid value: -1: must be "
	 "between 0 and 2147483647, inclusive, spec.securityContext.sysctls[0].name: Required "
	 "value, spec.securityContext.sysctls[2].name: Duplicate value: \"a.b\", spec.security"
	 "Context.sysctls[3].name: Invalid value: \"net.core.x\": may not be specified when 'h"
	 "ostNetwork' is true, spec.securityContext.fsGroupChangePolicy: Unsupported value: \""
	 "x\": supported values: \"Always\", \"OnRootMismatch\", spec.securityContext.seccompP"
	 "rofile.localhostProfile: Required value: must be set when seccomp type is Localhost,"
	 " spec.securityContext.appArmorProfile.type: Unsupported value: \"x\": supported valu"
	 "es: \"Localhost\", \"RuntimeDefault\", \"Unconfined\"]"},
	{"", "pods",
	 "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"securityContext\":{\"ru"
	 "nAsGroup\":-1,\"procMount\":\"x\",\"seccompProfile\":{\"type\":\"Localhost\",\"local"
	 "hostProfile\":\"../a\"},\"appArmorProfile\":{\"type\":\"Unconfined\",\"localhostProf"
	 "ile\":\"x\"}}}]}}",
	 "[spec.containers[0].securityContext.runAsGroup: Invalid value: -1: must be between 0"
	 " and 2147483647, inclusive, spec.containers[0].securityContext.procMount: Unsupporte"
	 "d value: \"x\": supported values: \"Default\", \"Unmasked\", spec.containers[0].secu"
	 "rityContext.seccompProfile.localhostProfile: Invalid value: \"../a\": must not conta"
	 "in '..', spec.containers[0].securityContext.appArmorProfile.localhostProfile: Invali"
	 "d value: \"x\": can only be set when AppArmor type is Localhost]"},
	{"", "pods",
	 "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"hostPID\":true,\"shar"
	 "eProcessNamespace\":true,\"dnsPolicy\":\"None\"}}",
	 "[spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamesp"
	 "ace and HostPID cannot both be enabled, spec.dnsConfig: Required value: must provide"
	 " `dnsConfig` when `dnsPolicy` is None]"},
	{"", "pods",
	 "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"volumes\":[{\"name\":"
	 "\"v\",\"hostPath\":{\"path\":\"/a/../b\",\"type\":\"x\"}},{\"name\":\"w\",\"emptyDir"
	 "\":{\"sizeLimit\":\"-1\"}}]}}",
	 "[spec.volumes[0].hostPath.path: Invalid value: \"/a/../b\": must not contain '..', s"
	 "pec.volumes[0].hostPath.type: Unsupported value: \"x\": supported values: \"\", \"Bl"
	 "ockDevice\", \"CharDevice\", \"Directory\", \"DirectoryOrCreate\", \"File\", \"FileO"
	 "rCreate\", \"Socket\", spec.volumes[1].emptyDir.sizeLimit: Forbidden: SizeLimit fiel"
	 "d must be a valid resource quantity]"},
	{"", "pods",
	 "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"volumeMounts\":[{\"name"
	 "\":\"v\",\"mountPath\":\"/x\",\"subPath\":\"../a\",\"subPathExpr\":\"b\"}],\"lifecyc"
	 "le\":{\"preStop\":{\"sleep\":{\"seconds\":31}}},\"readinessProbe\":{\"tcpSocket\":{"
	 "\"port\":1},\"terminationGracePeriodSeconds\":0}}],\"volumes\":[{\"name\":\"v\",\"em"
	 "ptyDir\":{}}]}}",
	 "[spec.containers[0].volumeMounts.subPath: Invalid value: \"../a\": must not contain "
	 "'..', spec.containers[0].volumeMounts[0].subPathExpr: Invalid value: \"b\": subPathE"
	 "xpr and subPath are mutually exclusive, spec.containers[0].lifecycle.preStop.sleep: "
	 "Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds "
	 "(30), spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value"
	 ": 0: must be greater than 0, spec.containers[0].readinessProbe.terminationGracePerio"
	 "dSeconds: Invalid value: 0: must not be set for readinessProbes]"},
	{"apps", "deployments",
	 "{\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{"
	 "\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}"
	 "]}},\"strategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxSurge\":\"0%\","
	 "\"maxUnavailable\":\"0%\"}}}}",
	 "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"0%\": may not be 0 when"
	 " `maxSurge` is 0"},
	{"apps", "deployments",
	 "{\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{"
	 "\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}"
	 "]}},\"strategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxSurge\":\"150%"
	 "\",\"maxUnavailable\":\"150%\"}}}}",
	 "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"150%\": must not be gre"
	 "ater than 100%"},
	{"apps", "replicasets",
	 "{\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{"
	 "\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}"
	 "],\"activeDeadlineSeconds\":3}}}}",
	 "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in Replic"
	 "aSet is not Supported"},
	{"apps", "daemonsets",
	 "{\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{"
	 "\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}"
	 "]}},\"updateStrategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxSurge\":0"
	 ",\"maxUnavailable\":0}}}}",
	 "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when m"
	 "axSurge is 0"},
	{"apps", "daemonsets",
	 "{\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{"
	 "\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}"
	 "]}},\"updateStrategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxSurge\":1"
	 ",\"maxUnavailable\":\"101%\"}}}}",
	 "[spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: \"101%\": must not"
	 " be greater than 100%, spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1:"
	 " may not be set when maxUnavailable is non-zero]"},
	{"apps", "statefulsets",
	 "{\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{"
	 "\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}"
	 "]}},\"podManagementPolicy\":\"x\",\"updateStrategy\":{\"type\":\"RollingUpdate\",\"r"
	 "ollingUpdate\":{\"partition\":-1}},\"persistentVolumeClaimRetentionPolicy\":{\"whenS"
	 "caled\":\"x\"},\"ordinals\":{\"start\":-1},\"minReadySeconds\":-1}}",
	 "[spec.podManagementPolicy: Invalid value: \"x\": must be 'OrderedReady' or 'Parallel"
	 "', spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater t"
	 "han or equal to 0, spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported"
	 " value: \"x\": supported values: \"Retain\", \"Delete\", spec.minReadySeconds: Inval"
	 "id value: -1: must be greater than or equal to 0, spec.ordinals.start: Invalid value"
	 ": -1: must be greater than or equal to 0]"},
	{"", "persistentvolumes",
	 "{\"spec\":{\"capacity\":{\"storage\":\"1Gi\"},\"accessModes\":[\"ReadWriteOnce\",\"R"
	 "eadWriteOncePod\"],\"hostPath\":{\"path\":\"/a\",\"type\":\"x\"},\"nodeAffinity\":{}"
	 "}}",
	 "[spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes, "
	 "spec.nodeAffinity.required: Required value: must specify required node constraints, "
	 "spec.hostPath.type: Unsupported value: \"x\": supported values: \"\", \"BlockDevice"
	 "\", \"CharDevice\", \"Directory\", \"DirectoryOrCreate\", \"File\", \"FileOrCreate\""
	 ", \"Socket\"]"},
	{"resource.k8s.io", "resourceclaimtemplates",
	 "{\"spec\":{\"metadata\":{\"name\":\"a\",\"uid\":\"e\",\"generation\":1},\"spec\":{}}"
	 "}",
	 "[spec.metadata.name: Forbidden: cannot be set, spec.metadata.uID: Forbidden: cannot "
	 "be set, spec.metadata.generation: Forbidden: cannot be set]"},
	{"resource.k8s.io", "resourceslices",
	 "{\"spec\":{\"driver\":\"a.b\",\"nodeName\":\"n\",\"pool\":{\"name\":\"p\",\"resource"
	 "SliceCount\":1},\"devices\":[{\"name\":\"d\",\"bindingConditions\":[\"a\",\"a\"],\"b"
	 "indingFailureConditions\":[\"a\"]},{\"name\":\"e\",\"bindingConditions\":[\"a\"]}]}}",
	 "[spec.devices[0].bindingConditions[1]: Duplicate value: \"a\", spec.devices[0].bindi"
	 "ngFailureConditions[0]: Invalid value: \"a\": bindingFailureConditions must not over"
	 "lap with bindingConditions, spec.devices[1].bindingFailureConditions: Invalid value:"
	 " null: bindingFailureConditions are required to use bindingConditions]"},
	{"", "pods",
	 "{\"spec\":{\"hostNetwork\":true,\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"po"
	 "rts\":[{\"containerPort\":80,\"hostPort\":81},{\"containerPort\":80,\"hostPort\":80}"
	 "]},{\"name\":\"d\",\"image\":\"i\",\"ports\":[{\"containerPort\":80,\"hostPort\":80}"
	 "]}]}}",
	 "[spec.containers[1].ports[0].hostPort: Duplicate value: \"TCP//80\", spec.containers"
	 "[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwo"
	 "rk` is true]"},
	{"networking.k8s.io", "ingresses",
	 "{\"spec\":{\"rules\":[{\"http\":{\"paths\":[{\"path\":\"/a/../b//c/.\",\"pathType\":"
	 "\"Prefix\",\"backend\":{\"service\":{\"name\":\"s\",\"port\":{\"number\":80}}}},{\"p"
	 "ath\":\"a\",\"pathType\":\"ImplementationSpecific\",\"backend\":{\"service\":{\"name"
	 "\":\"s\",\"port\":{\"number\":80}}}}]}}]}}",
	 "[spec.rules[0].http.paths[0].path: Invalid value: \"/a/../b//c/.\": must not contain"
	 " '//', spec.rules[0].http.paths[0].path: Invalid value: \"/a/../b//c/.\": must not c"
	 "ontain '/../', spec.rules[0].http.paths[0].path: Invalid value: \"/a/../b//c/.\": ca"
	 "nnot end with '/.', spec.rules[0].http.paths[1].path: Invalid value: \"a\": must be "
	 "an absolute path]"},
	{"storage.k8s.io", "storageclasses",
	 "{\"provisioner\":\"a.b/c\",\"allowedTopologies\":[{},{}]}",
	 "[allowedTopologies[0].matchLabelExpressions: Duplicate value: \"\", allowedTopologie"
	 "s[1].matchLabelExpressions: Duplicate value: \"\"]"},
	{"rbac.authorization.k8s.io", "clusterroles",
	 "{\"aggregationRule\":{\"clusterRoleSelectors\":[{},{\"matchExpressions\":[{\"key\":"
	 "\"a\",\"operator\":\"x\"}]}]}}",
	 "[aggregationRule.clusterRoleSelectors[1].matchExpressions[0].operator: Invalid value"
	 ": \"x\": not a valid selector operator, aggregationRule.clusterRoleSelectors[1]: Inv"
	 "alid value: null: invalid label selector.]"},
};

static void test_workload_check__in_the_real_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(8 << 20);
		CLEANUP(obj_unrefp) struct obj *o = told_read(rows[i].json);
		struct field_errors e;
		defaults_set(o, rows[i].group, rows[i].plural);
		field_errors_init(&e, a);
		builtin_check(rows[i].group, rows[i].plural, o, NULL, &e);
		assert_told(&e, rows[i].want);
		CLEANUP(obj_unrefp) struct obj *changed = obj_copy(o);
		obj_set_path(changed, "spec.template.metadata.annotations.a", obj_string("b"));
		field_errors_init(&e, a);
		builtin_check(rows[i].group, rows[i].plural, changed, o, &e);
		for (size_t k = 0; k < e.n; k++)
			if (!strstr(e.items[k].message, "immutable"))
				fail_msg("%zu: %s: %s", i, e.items[k].path, e.items[k].message);
	}
}

/* What changes is judged as if it were new. */
static void test_workload_check__a_change_is_not_forgiven(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(8 << 20);
	CLEANUP(obj_unrefp) struct obj *was = told_read(
		"{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"securityContext\":{"
		"\"runAsUser\":-1}}]}}");
	CLEANUP(obj_unrefp) struct obj *is = told_read(
		"{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"securityContext\":{"
		"\"runAsUser\":-2}}]}}");
	struct field_errors e;
	field_errors_init(&e, a);
	builtin_check("", "pods", is, was, &e);
	assert_told(&e, "spec.containers[0].securityContext.runAsUser: Invalid value: -2: must be "
			"between 0 and 2147483647, inclusive");
}

/* Names of settings of the kernel. */
static void test_workload_check__sysctls(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		bool good;
	} names[] = {{"a", true},     {"a.b", true},   {"a/b", true},   {"a-b.c_d", true},
		     {"a_", false},   {"-a", false},   {"a..b", false}, {"a./b", false},
		     {"a.-b", false}, {"a-.b", false}, {"A", false},    {"a/", false}};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		CLEANUP(obj_unrefp) struct obj *spec =
			told_read("{\"securityContext\":{\"sysctls\":[{}]}}");
		struct obj *list = obj_get_mut(obj_get_mut(spec, "securityContext"), "sysctls");
		obj_set_str(obj_at_mut(list, 0), "name", names[i].name);
		struct field_errors e;
		field_errors_init(&e, a);
		pod_check_security(&e, "spec", spec);
		if ((e.n == 0) != names[i].good)
			fail_msg("%s: %zu", names[i].name, e.n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_workload_check__in_the_real_words),
		cmocka_unit_test(test_workload_check__a_change_is_not_forgiven),
		cmocka_unit_test(test_workload_check__sysctls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
