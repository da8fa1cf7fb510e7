/* Kinds of Kubernetes that are or were given up: since which 1.x, gone in which 1.x, what to use.
 */
#include "alm/cli/chart/chart_lint_rules.h"

struct row {
	const char *kind;
	int since, gone; /* gone 0: it stays */
	const char *instead;
};

/* As the API types say of themselves in Kubernetes 1.35; lists of objects are left out. */
/* clang-format off */
static const struct row rows[] = {
	{"extensions/v1beta1 Deployment", 8, 16, "apps/v1 Deployment"},
	{"extensions/v1beta1 DaemonSet", 8, 16, "apps/v1 DaemonSet"},
	{"extensions/v1beta1 ReplicaSet", 8, 16, "apps/v1 ReplicaSet"},
	{"extensions/v1beta1 Ingress", 14, 22, "networking.k8s.io/v1 Ingress"},
	{"extensions/v1beta1 NetworkPolicy", 9, 16, "networking.k8s.io/v1 NetworkPolicy"},
	{"extensions/v1beta1 Scale", 2, 16, NULL},
	{"extensions/v1beta1 DeploymentRollback", 8, 16, NULL},
	{"apps/v1beta1 Deployment", 8, 16, "apps/v1 Deployment"},
	{"apps/v1beta1 StatefulSet", 8, 16, "apps/v1 StatefulSet"},
	{"apps/v1beta1 ControllerRevision", 8, 16, "apps/v1 ControllerRevision"},
	{"apps/v1beta1 Scale", 8, 16, "autoscaling/v1 Scale"},
	{"apps/v1beta1 DeploymentRollback", 8, 16, "apps/v1 DeploymentRollback"},
	{"apps/v1beta2 Deployment", 9, 16, "apps/v1 Deployment"},
	{"apps/v1beta2 StatefulSet", 9, 16, "apps/v1 StatefulSet"},
	{"apps/v1beta2 DaemonSet", 9, 16, "apps/v1 DaemonSet"},
	{"apps/v1beta2 ReplicaSet", 9, 16, "apps/v1 ReplicaSet"},
	{"apps/v1beta2 ControllerRevision", 9, 16, "apps/v1 ControllerRevision"},
	{"apps/v1beta2 Scale", 9, 16, "autoscaling/v1 Scale"},
	{"batch/v1beta1 CronJob", 21, 25, "batch/v1 CronJob"},
	{"policy/v1beta1 PodDisruptionBudget", 21, 25, "policy/v1 PodDisruptionBudget"},
	{"policy/v1beta1 Eviction", 22, 25, NULL},
	{"autoscaling/v2beta1 HorizontalPodAutoscaler", 22, 25, "autoscaling/v2 HorizontalPodAutoscaler"},
	{"autoscaling/v2beta2 HorizontalPodAutoscaler", 23, 26, "autoscaling/v2 HorizontalPodAutoscaler"},
	{"networking.k8s.io/v1beta1 Ingress", 19, 22, "networking.k8s.io/v1 Ingress"},
	{"networking.k8s.io/v1beta1 IngressClass", 19, 22, "networking.k8s.io/v1 IngressClassList"},
	{"networking.k8s.io/v1beta1 IPAddress", 34, 37, NULL},
	{"networking.k8s.io/v1beta1 ServiceCIDR", 34, 37, NULL},
	{"scheduling.k8s.io/v1beta1 PriorityClass", 14, 22, "scheduling.k8s.io/v1 PriorityClass"},
	{"storage.k8s.io/v1beta1 StorageClass", 19, 22, "storage.k8s.io/v1 StorageClass"},
	{"storage.k8s.io/v1beta1 CSIDriver", 19, 22, "storage.k8s.io/v1 CSIDriver"},
	{"storage.k8s.io/v1beta1 CSINode", 17, 22, "storage.k8s.io/v1 CSINode"},
	{"storage.k8s.io/v1beta1 VolumeAttachment", 19, 22, "storage.k8s.io/v1 VolumeAttachment"},
	{"storage.k8s.io/v1beta1 CSIStorageCapacity", 24, 27, "storage.k8s.io/v1 CSIStorageCapacity"},
	{"storage.k8s.io/v1beta1 VolumeAttributesClass", 34, 37, "storage.k8s.io/v1 VolumeAttributesClass"},
	{"storage.k8s.io/v1alpha1 VolumeAttachment", 21, 24, "storage.k8s.io/v1 VolumeAttachment"},
	{"storage.k8s.io/v1alpha1 CSIStorageCapacity", 21, 24, "storage.k8s.io/v1beta1 CSIStorageCapacity"},
	{"storage.k8s.io/v1alpha1 VolumeAttributesClass", 32, 35, "storage.k8s.io/v1 VolumeAttributesClass"},
	{"coordination.k8s.io/v1beta1 Lease", 19, 22, "coordination.k8s.io/v1 Lease"},
	{"coordination.k8s.io/v1alpha2 LeaseCandidate", 35, 38, NULL},
	{"discovery.k8s.io/v1beta1 EndpointSlice", 21, 25, "discovery.k8s.io/v1 EndpointSlice"},
	{"events.k8s.io/v1beta1 Event", 22, 25, NULL},
	{"node.k8s.io/v1beta1 RuntimeClass", 22, 25, NULL},
	{"admissionregistration.k8s.io/v1beta1 MutatingWebhookConfiguration", 16, 22, "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration"},
	{"admissionregistration.k8s.io/v1beta1 ValidatingWebhookConfiguration", 16, 22, "admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration"},
	{"admissionregistration.k8s.io/v1beta1 ValidatingAdmissionPolicy", 31, 34, NULL},
	{"admissionregistration.k8s.io/v1beta1 ValidatingAdmissionPolicyBinding", 31, 34, NULL},
	{"admissionregistration.k8s.io/v1alpha1 ValidatingAdmissionPolicy", 29, 32, NULL},
	{"admissionregistration.k8s.io/v1alpha1 ValidatingAdmissionPolicyBinding", 29, 32, NULL},
	{"admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy", 35, 38, NULL},
	{"admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicyBinding", 35, 38, NULL},
	{"certificates.k8s.io/v1beta1 CertificateSigningRequest", 19, 22, "certificates.k8s.io/v1 CertificateSigningRequest"},
	{"certificates.k8s.io/v1alpha1 ClusterTrustBundle", 34, 37, NULL},
	{"authentication.k8s.io/v1beta1 TokenReview", 19, 22, "authentication.k8s.io/v1 TokenReview"},
	{"authentication.k8s.io/v1beta1 SelfSubjectReview", 30, 33, NULL},
	{"authentication.k8s.io/v1alpha1 SelfSubjectReview", 29, 32, NULL},
	{"authorization.k8s.io/v1beta1 SubjectAccessReview", 19, 22, "authorization.k8s.io/v1 SubjectAccessReview"},
	{"authorization.k8s.io/v1beta1 LocalSubjectAccessReview", 19, 22, "authorization.k8s.io/v1 LocalSubjectAccessReview"},
	{"authorization.k8s.io/v1beta1 SelfSubjectAccessReview", 19, 22, "authorization.k8s.io/v1 SelfSubjectAccessReview"},
	{"authorization.k8s.io/v1beta1 SelfSubjectRulesReview", 19, 22, "authorization.k8s.io/v1 SelfSubjectRulesReview"},
	{"v1 Endpoints", 33, 0, "discovery.k8s.io/v1 EndpointSlice"},
	{"v1 ComponentStatus", 19, 0, NULL},
	{"rbac.authorization.k8s.io/v1beta1 Role", 17, 22, "rbac.authorization.k8s.io/v1 Role"},
	{"rbac.authorization.k8s.io/v1beta1 RoleBinding", 17, 22, "rbac.authorization.k8s.io/v1 RoleBinding"},
	{"rbac.authorization.k8s.io/v1beta1 ClusterRole", 17, 22, "rbac.authorization.k8s.io/v1 ClusterRole"},
	{"rbac.authorization.k8s.io/v1beta1 ClusterRoleBinding", 17, 22, "rbac.authorization.k8s.io/v1 ClusterRoleBinding"},
	{"flowcontrol.apiserver.k8s.io/v1beta1 FlowSchema", 23, 26, "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema"},
	{"flowcontrol.apiserver.k8s.io/v1beta1 PriorityLevelConfiguration", 23, 26, "flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfiguration"},
	{"flowcontrol.apiserver.k8s.io/v1beta2 FlowSchema", 26, 29, "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema"},
	{"flowcontrol.apiserver.k8s.io/v1beta2 PriorityLevelConfiguration", 26, 29, "flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfiguration"},
	{"flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema", 29, 32, "flowcontrol.apiserver.k8s.io/v1 FlowSchema"},
	{"flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfiguration", 29, 32, "flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration"},
	{"resource.k8s.io/v1beta1 ResourceClaim", 35, 38, NULL},
	{"resource.k8s.io/v1beta1 ResourceClaimTemplate", 35, 38, NULL},
	{"resource.k8s.io/v1beta1 DeviceClass", 35, 38, NULL},
	{"resource.k8s.io/v1beta1 ResourceSlice", 35, 38, NULL},
};
/* clang-format on */

const char *chart_lint_deprecated(struct arena *a, struct str api_version, struct str kind,
				  int minor)
{
	const char *name = arena_fmt(a, "%.*s %.*s", STR_ARG(api_version), STR_ARG(kind));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *r = &rows[i];
		if (!cstr_eq(r->kind, name) || r->since > minor)
			continue;
		const char *gone = r->gone ? arena_fmt(a, ", unavailable in v1.%d+", r->gone) : "";
		return arena_fmt(a, "%s is deprecated in v1.%d+%s%s%s", name, r->since, gone,
				 r->instead ? "; use " : "", r->instead ? r->instead : "");
	}
	return NULL;
}
