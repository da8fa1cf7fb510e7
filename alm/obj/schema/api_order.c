/* api_order: in which order Go's structs have their fields, where that is not the order of their numbers in protobuf
 * (api_types.h). The converter of what was patched goes by it, and tells the first field that is wrong. */
#include "alm/obj/schema/api_types.h"

#include <string.h>

#define RUN_MAX   8    /* names of a row */
#define INNER_MAX 4096 /* places of a struct */

/* Fields that stand right behind the first of the row; "-": in front of all others. */
/* clang-format off */
static const struct {
	const char *type, *run;
} moved[] = {
	{"admissionregistration.v1.MutatingWebhook", "failurePolicy matchPolicy"},
	{"admissionregistration.v1.MutatingWebhook", "namespaceSelector objectSelector"},
	{"admissionregistration.v1.ValidatingWebhook", "failurePolicy matchPolicy"},
	{"admissionregistration.v1.ValidatingWebhook", "namespaceSelector objectSelector"},
	{"admissionregistration.v1.WebhookClientConfig", "- url"},
	{"apiextensions.v1.CustomResourceDefinitionVersion", "storage deprecated deprecationWarning"},
	{"apiextensions.v1.WebhookClientConfig", "- url"},
	{"apis.meta.v1.OwnerReference", "- apiVersion"},
	{"apis.meta.v1.StatusDetails", "kind uid"},
	{"apps.v1.DeploymentCondition", "lastTransitionTime reason message"},
	{"apps.v1.DeploymentStatus", "unavailableReplicas terminatingReplicas"},
	{"apps.v1.DeploymentStatus", "updatedReplicas readyReplicas"},
	{"apps.v1.ReplicaSetSpec", "replicas minReadySeconds"},
	{"apps.v1.ReplicaSetStatus", "terminatingReplicas observedGeneration conditions"},
	{"authentication.v1.TokenRequestSpec", "expirationSeconds boundObjectRef"},
	{"authentication.v1.TokenReviewStatus", "audiences error"},
	{"authorization.v1.SubjectAccessReviewStatus", "allowed denied"},
	{"autoscaling.v2.HPAScalingRules", "- stabilizationWindowSeconds"},
	{"autoscaling.v2.MetricSpec", "containerResource external"},
	{"autoscaling.v2.MetricStatus", "containerResource external"},
	{"batch.v1.CronJobSpec", "schedule timeZone"},
	{"batch.v1.JobSpec", "activeDeadlineSeconds podFailurePolicy successPolicy backoffLimit backoffLimitPerIndex maxFailedIndexes"},
	{"batch.v1.JobStatus", "completedIndexes failedIndexes"},
	{"batch.v1.JobStatus", "failed terminating"},
	{"certificates.v1.CertificateSigningRequestCondition", "type status"},
	{"certificates.v1.CertificateSigningRequestSpec", "request signerName expirationSeconds usages"},
	{"core.v1.ClusterTrustBundleProjection", "optional path"},
	{"core.v1.ConfigMap", "metadata immutable"},
	{"core.v1.Container", "ports envFrom"},
	{"core.v1.Container", "readinessProbe startupProbe"},
	{"core.v1.Container", "resources resizePolicy restartPolicy restartPolicyRules"},
	{"core.v1.Container", "terminationMessagePath terminationMessagePolicy"},
	{"core.v1.Container", "volumeMounts volumeDevices"},
	{"core.v1.EndpointAddress", "nodeName targetRef"},
	{"core.v1.EphemeralContainerCommon", "ports envFrom"},
	{"core.v1.EphemeralContainerCommon", "readinessProbe startupProbe"},
	{"core.v1.EphemeralContainerCommon", "resources resizePolicy restartPolicy restartPolicyRules"},
	{"core.v1.EphemeralContainerCommon", "terminationMessagePath terminationMessagePolicy"},
	{"core.v1.EphemeralContainerCommon", "volumeMounts volumeDevices"},
	{"core.v1.ISCSIPersistentVolumeSource", "chapAuthSession secretRef"},
	{"core.v1.ISCSIVolumeSource", "chapAuthSession secretRef"},
	{"core.v1.NodeSpec", "configSource externalID"},
	{"core.v1.NodeSpec", "podCIDR podCIDRs"},
	{"core.v1.PersistentVolumeClaimSpec", "accessModes selector"},
	{"core.v1.PodCondition", "type observedGeneration"},
	{"core.v1.PodSecurityContext", "runAsUser runAsGroup"},
	{"core.v1.PodSecurityContext", "seLinuxOptions windowsOptions"},
	{"core.v1.PodSecurityContext", "supplementalGroups supplementalGroupsPolicy"},
	{"core.v1.PodSpec", "containers ephemeralContainers"},
	{"core.v1.PodSpec", "hostIPC shareProcessNamespace"},
	{"core.v1.PodSpec", "serviceAccount automountServiceAccountToken"},
	{"core.v1.PodSpec", "volumes initContainers"},
	{"core.v1.PodStatus", "- observedGeneration"},
	{"core.v1.PodStatus", "hostIP hostIPs"},
	{"core.v1.PodStatus", "podIP podIPs"},
	{"core.v1.PodStatus", "reason nominatedNodeName"},
	{"core.v1.PodStatus", "startTime initContainerStatuses"},
	{"core.v1.ReplicationControllerSpec", "replicas minReadySeconds"},
	{"core.v1.ReplicationControllerStatus", "availableReplicas observedGeneration"},
	{"core.v1.Secret", "metadata immutable"},
	{"core.v1.Secret", "stringData type"},
	{"core.v1.SecurityContext", "runAsUser runAsGroup"},
	{"core.v1.SecurityContext", "seLinuxOptions windowsOptions"},
	{"core.v1.ServicePort", "protocol appProtocol"},
	{"core.v1.ServiceSpec", "clusterIP clusterIPs"},
	{"core.v1.ServiceSpec", "ipFamilies ipFamilyPolicy"},
	{"core.v1.VolumeMount", "readOnly recursiveReadOnly"},
	{"core.v1.VolumeSource", "photonPersistentDisk projected"},
	{"discovery.v1.EndpointSlice", "metadata addressType"},
	{"networking.v1.HTTPIngressPath", "pathType backend"},
	{"networking.v1.IngressBackend", "service resource"},
	{"networking.v1.IngressSpec", "- ingressClassName"},
	{"resource.v1.AllocatedDeviceStatus", "device shareID"},
};
/* clang-format on */

/* Which name of the run; -1: none. */
static int place_in_run(const char *run, const char *name, struct str *ret_first)
{
	struct str rest = str_of(run), word;
	for (int i = 0; str_next(&rest, ' ', &word); i++) {
		if (i == 0)
			*ret_first = word;
		if (str_is(word, name))
			return i;
	}
	return -1;
}

static const struct api_field *find_own(const struct api_type *t, struct str name)
{
	size_t n;
	const struct api_field *fields = api_fields_of(t, &n);
	for (size_t i = 0; i < n; i++)
		if (str_is(name, api_text(fields[i].name)))
			return &fields[i];
	return NULL;
}

/* f is a field of t itself. */
static unsigned place_of(const struct api_type *t, const struct api_field *f)
{
	for (size_t i = 0; i < sizeof(moved) / sizeof(*moved); i++) {
		struct str first = STR("");
		if (strcmp(moved[i].type, api_text(t->name)) != 0)
			continue;
		int at = place_in_run(moved[i].run, api_text(f->name), &first);
		if (at <= 0)
			continue;
		const struct api_field *before = find_own(t, first);
		return (before ? before->number * (unsigned)RUN_MAX : 0) + (unsigned)at;
	}
	return f->number * (unsigned)RUN_MAX;
}

unsigned api_place_in_struct(const struct api_type *t, const char *key)
{
	size_t n;
	const struct api_field *fields = api_fields_of(t, &n);
	const struct api_type *holder = NULL;
	const struct api_field *f = api_find(t, key, &holder);
	if (!f || holder == t)
		return f ? place_of(t, f) * INNER_MAX : 0;
	for (size_t i = 0; i < n && fields[i].flags & API_EMBEDDED; i++)
		if (api_find(api_struct_of(&fields[i]), key, NULL) == f)
			return place_of(t, &fields[i]) * INNER_MAX + place_of(holder, f);
	return 0;
}
