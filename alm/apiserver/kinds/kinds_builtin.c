/*
 * kinds_builtin: the built-in kinds (kube-api.md 14), one row each. Their objects are stored as
 * they come, with the rules of metadata; what a kind needs beyond that is a flag. To add a kind:
 * one row, and its columns in columns.c if Name and Age are not enough.
 */
#include "alm/apiserver/kinds/kinds.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NONE      NULL
#define ALL       LIST("all")

#define NS     KIND_NAMESPACED
#define CLUS   0u
#define STAT   KIND_STATUS
#define SCALE  (KIND_STATUS | KIND_SCALE)
#define GEN    KIND_GENERATION
#define UNCOND KIND_UNCONDITIONAL_UPDATE
#define UPSERT KIND_CREATE_ON_UPDATE
#define LABEL  KIND_LABEL_NAME
#define FIRST  KIND_META_FIRST
#define LAST   KIND_META_LAST
#define ALONE  KIND_META_ALONE
#define BARE   (KIND_META_NONE | KIND_PATH_NAME)
#define RBAC   (KIND_META_FIRST | KIND_PATH_NAME | KIND_CREATE_ON_UPDATE | KIND_UNCONDITIONAL_UPDATE)

#define ROW(g, v, k, plural_, singular_, short_, cats, verbs_, flags_) \
	{.group = (g),                                                 \
	 .version = (v),                                               \
	 .kind = (k),                                                  \
	 .list_kind = k "List",                                        \
	 .plural = (plural_),                                          \
	 .singular = (singular_),                                      \
	 .short_names = (short_),                                      \
	 .categories = (cats),                                         \
	 .verbs = (verbs_),                                            \
	 .flags = (flags_),                                            \
	 .storage_version = (v)}
/* Stored in the version of the row. */
#define KIND(g, v, k, plural_, singular_, short_, cats, flags_) \
	ROW(g, v, k, plural_, singular_, short_, cats, VERB_ALL, (flags_) | KIND_STORAGE)
/* POST only, answered at once, nothing is stored. */
#define REVIEW(g, v, k, plural_, singular_, flags_) \
	ROW(g, v, k, plural_, singular_, NONE, NONE, VERB_CREATE, (flags_) | KIND_VIRTUAL)
#define REPLICAS(g, v, k, plural_, singular_, short_, flags_)          \
	{.group = (g),                                                 \
	 .version = (v),                                               \
	 .kind = (k),                                                  \
	 .list_kind = k "List",                                        \
	 .plural = (plural_),                                          \
	 .singular = (singular_),                                      \
	 .short_names = (short_),                                      \
	 .categories = ALL,                                            \
	 .verbs = VERB_ALL,                                            \
	 .flags = NS | SCALE | GEN | UNCOND | KIND_STORAGE | (flags_), \
	 .storage_version = (v),                                       \
	 .spec_replicas_path = ".spec.replicas",                       \
	 .status_replicas_path = ".status.replicas"}

#define AUTHN  "authentication.k8s.io"
#define AUTHZ  "authorization.k8s.io"
#define ADMREG "admissionregistration.k8s.io"
#define APIEXT "apiextensions.k8s.io"
#define RBAC_G "rbac.authorization.k8s.io"
#define NET    "networking.k8s.io"
#define FLOW   "flowcontrol.apiserver.k8s.io"
#define DRA    "resource.k8s.io"
#define STOR   "storage.k8s.io"
#define AUDIT  "audit.app.coreos.com"

/* clang-format off */
static const char *const event_fields[] = {
	"involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
	"involvedObject.uid", "involvedObject.apiVersion", "involvedObject.resourceVersion",
	"involvedObject.fieldPath", "reason", "type", "source", "reportingComponent", NULL};
static const char *const new_event_fields[] = {
	"regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid",
	"regarding.apiVersion", "regarding.resourceVersion", "regarding.fieldPath", "reason", "type",
	"reportingController", NULL};
static const char *const audit_fields[] = {
	"type", "reason", "subject.cluster", "subject.kind", "subject.namespace", "subject.name",
	"subject.uid", "actor", NULL};

static const struct kind builtin[] = {
	ROW("", "v1", "Binding", "bindings", "binding", NONE, NONE, VERB_CREATE, NS | KIND_VIRTUAL),
	{.group = "", .version = "v1", .kind = "ComponentStatus", .list_kind = "ComponentStatusList",
	 .plural = "componentstatuses", .singular = "componentstatus", .short_names = LIST("cs"),
	 .verbs = VERB_GET | VERB_LIST, .flags = CLUS | KIND_VIRTUAL, .storage_version = "v1",
	 .deprecation_warning = "v1 ComponentStatus is deprecated in v1.19+"},
	KIND("", "v1", "ConfigMap", "configmaps", "configmap", LIST("cm"), NONE, NS | UNCOND | LAST),
	{.group = "", .version = "v1", .kind = "Endpoints", .list_kind = "EndpointsList",
	 .plural = "endpoints", .singular = "endpoints", .short_names = LIST("ep"), .verbs = VERB_ALL,
	 .flags = NS | UNCOND | UPSERT | LAST | KIND_STORAGE, .storage_version = "v1",
	 .deprecation_warning = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"},
	{.group = "", .version = "v1", .kind = "Event", .list_kind = "EventList", .plural = "events",
	 .singular = "event", .short_names = LIST("ev"), .verbs = VERB_ALL, .storage_version = "v1",
	 .flags = NS | UNCOND | UPSERT | BARE | KIND_NO_AUDIT | KIND_STORAGE, .selectable = event_fields},
	KIND("", "v1", "LimitRange", "limitranges", "limitrange", LIST("limits"), NONE, NS | UNCOND | UPSERT | ALONE),
	{.group = "", .version = "v1", .kind = "Namespace", .list_kind = "NamespaceList",
	 .plural = "namespaces", .singular = "namespace", .short_names = LIST("ns"),
	 .verbs = VERB_ALL & ~(unsigned)VERB_DELETECOLLECTION, .storage_version = "v1",
	 .flags = CLUS | STAT | UNCOND | LABEL | FIRST | KIND_STORAGE, .selectable = LIST("status.phase")},
	KIND("", "v1", "Node", "nodes", "node", LIST("no"), NONE, CLUS | STAT | UNCOND | FIRST),
	KIND("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaim", LIST("pvc"), NONE, NS | STAT | UNCOND | LAST),
	KIND("", "v1", "PersistentVolume", "persistentvolumes", "persistentvolume", LIST("pv"), NONE, CLUS | STAT | UNCOND | ALONE | LAST),
	{.group = "", .version = "v1", .kind = "Pod", .list_kind = "PodList", .plural = "pods",
	 .singular = "pod", .short_names = LIST("po"), .categories = ALL, .verbs = VERB_ALL,
	 .flags = NS | STAT | GEN | UNCOND | LAST | KIND_STORAGE, .storage_version = "v1",
	 .selectable = LIST("spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
			    "spec.serviceAccountName", "status.phase")},
	KIND("", "v1", "PodTemplate", "podtemplates", "podtemplate", NONE, NONE, NS | GEN | UNCOND),
	REPLICAS("", "v1", "ReplicationController", "replicationcontrollers", "replicationcontroller", LIST("rc"), 0),
	KIND("", "v1", "ResourceQuota", "resourcequotas", "resourcequota", LIST("quota"), NONE, NS | STAT | UNCOND),
	{.group = "", .version = "v1", .kind = "Secret", .list_kind = "SecretList", .plural = "secrets",
	 .singular = "secret", .verbs = VERB_ALL, .flags = NS | UNCOND | LAST | KIND_STORAGE,
	 .storage_version = "v1", .selectable = LIST("type")},
	KIND("", "v1", "ServiceAccount", "serviceaccounts", "serviceaccount", LIST("sa"), NONE, NS | UNCOND | LAST),
	KIND("", "v1", "Service", "services", "service", LIST("svc"), ALL, NS | STAT | UNCOND | UPSERT | LABEL),

	KIND(ADMREG, "v1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies", "mutatingadmissionpolicy", NONE, LIST("api-extensions"), CLUS | GEN | ALONE),
	KIND(ADMREG, "v1", "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", "mutatingadmissionpolicybinding", NONE, LIST("api-extensions"), CLUS | GEN | ALONE),
	KIND(ADMREG, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", "mutatingwebhookconfiguration", NONE, LIST("api-extensions"), CLUS | GEN | ALONE),
	KIND(ADMREG, "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", "validatingadmissionpolicy", NONE, LIST("api-extensions"), CLUS | STAT | GEN | ALONE),
	KIND(ADMREG, "v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", "validatingadmissionpolicybinding", NONE, LIST("api-extensions"), CLUS | GEN | ALONE),
	KIND(ADMREG, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", "validatingwebhookconfiguration", NONE, LIST("api-extensions"), CLUS | GEN | ALONE),

	KIND(APIEXT, "v1", "CustomResourceDefinition", "customresourcedefinitions", "customresourcedefinition", LIST("crd", "crds"), LIST("api-extensions"), CLUS | STAT | GEN),
	{.group = APIEXT, .version = "v1beta1", .kind = "CustomResourceDefinition",
	 .list_kind = "CustomResourceDefinitionList", .plural = "customresourcedefinitions",
	 .singular = "customresourcedefinition", .short_names = LIST("crd", "crds"),
	 .categories = LIST("api-extensions"), .verbs = VERB_READ, .flags = CLUS | GEN,
	 .storage_version = "v1", .legacy_group = APIEXT, .legacy_version = "v1"}, /* kubectl 1.20 lists it before a dry run */

	KIND("apiregistration.k8s.io", "v1", "APIService", "apiservices", "apiservice", NONE, LIST("api-extensions"), CLUS | STAT | LAST | KIND_PATH_NAME),

	KIND("apps", "v1", "ControllerRevision", "controllerrevisions", "controllerrevision", NONE, NONE, NS | UNCOND | LAST),
	KIND("apps", "v1", "DaemonSet", "daemonsets", "daemonset", LIST("ds"), ALL, NS | STAT | GEN | UNCOND),
	REPLICAS("apps", "v1", "Deployment", "deployments", "deployment", LIST("deploy"), 0),
	REPLICAS("apps", "v1", "ReplicaSet", "replicasets", "replicaset", LIST("rs"), 0),
	REPLICAS("apps", "v1", "StatefulSet", "statefulsets", "statefulset", LIST("sts"), LABEL),

	{.group = AUDIT, .version = "v1alpha1", .kind = "AuditRecord",
	 .list_kind = "AuditRecordList", .plural = "auditrecords", .singular = "auditrecord",
	 .verbs = VERB_READ, .flags = CLUS | KIND_VIRTUAL, .storage_version = "v1alpha1",
	 .selectable = audit_fields},

	REVIEW(AUTHN, "v1", "SelfSubjectReview", "selfsubjectreviews", "selfsubjectreview", CLUS),
	REVIEW(AUTHN, "v1", "TokenReview", "tokenreviews", "tokenreview", CLUS),
	REVIEW(AUTHN, "v1beta1", "SelfSubjectReview", "selfsubjectreviews", "selfsubjectreview", CLUS),
	REVIEW(AUTHZ, "v1", "LocalSubjectAccessReview", "localsubjectaccessreviews", "localsubjectaccessreview", NS),
	REVIEW(AUTHZ, "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", "selfsubjectaccessreview", CLUS),
	REVIEW(AUTHZ, "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", "selfsubjectrulesreview", CLUS),
	REVIEW(AUTHZ, "v1", "SubjectAccessReview", "subjectaccessreviews", "subjectaccessreview", CLUS),

	KIND("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", "horizontalpodautoscaler", LIST("hpa"), ALL, NS | STAT | UNCOND),

	{.group = "autoscaling", .version = "v1", .kind = "HorizontalPodAutoscaler",
	 .list_kind = "HorizontalPodAutoscalerList", .plural = "horizontalpodautoscalers",
	 .singular = "horizontalpodautoscaler", .short_names = LIST("hpa"), .categories = ALL,
	 .verbs = VERB_ALL, .flags = NS | STAT | UNCOND, .storage_version = "v2"}, /* autoscale.h */

	KIND("batch", "v1", "CronJob", "cronjobs", "cronjob", LIST("cj"), ALL, NS | STAT | GEN | UNCOND),
	KIND("batch", "v1", "Job", "jobs", "job", NONE, ALL, NS | STAT | GEN | UNCOND | FIRST),

	KIND("certificates.k8s.io", "v1", "CertificateSigningRequest", "certificatesigningrequests", "certificatesigningrequest", LIST("csr"), NONE, CLUS | STAT | UNCOND | FIRST | KIND_FREE_PREFIX | KIND_PATH_NAME),

	KIND("coordination.k8s.io", "v1", "Lease", "leases", "lease", NONE, NONE, NS | UPSERT | KIND_NO_AUDIT),

	KIND("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", "endpointslice", NONE, NONE, NS | GEN | UNCOND | ALONE),

	{.group = "events.k8s.io", .version = "v1", .kind = "Event", .list_kind = "EventList",
	 .plural = "events", .singular = "event", .short_names = LIST("ev"), .verbs = VERB_ALL,
	 .flags = NS | UNCOND | UPSERT | KIND_NO_AUDIT, .storage_version = "v1",
	 .storage_group = "", .selectable = new_event_fields},

	KIND(FLOW, "v1", "FlowSchema", "flowschemas", "flowschema", NONE, NONE, CLUS | STAT | GEN | UNCOND | ALONE),
	KIND(FLOW, "v1", "PriorityLevelConfiguration", "prioritylevelconfigurations", "prioritylevelconfiguration", NONE, NONE, CLUS | STAT | GEN | UNCOND | ALONE),

	KIND(NET, "v1", "IPAddress", "ipaddresses", "ipaddress", LIST("ip"), NONE, CLUS | UNCOND | FIRST),
	KIND(NET, "v1", "ServiceCIDR", "servicecidrs", "servicecidr", NONE, NONE, CLUS | STAT | UNCOND),
	KIND(NET, "v1", "IngressClass", "ingressclasses", "ingressclass", NONE, NONE, CLUS | GEN | UNCOND | LAST),
	KIND(NET, "v1", "Ingress", "ingresses", "ingress", LIST("ing"), NONE, NS | STAT | GEN | UNCOND | LAST),
	KIND(NET, "v1", "NetworkPolicy", "networkpolicies", "networkpolicy", LIST("netpol"), NONE, NS | GEN | UNCOND),

	KIND("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", "runtimeclass", NONE, NONE, CLUS | UPSERT | FIRST),

	KIND("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "poddisruptionbudget", LIST("pdb"), NONE, NS | STAT | GEN | BARE),

	KIND(RBAC_G, "v1", "ClusterRoleBinding", "clusterrolebindings", "clusterrolebinding", NONE, NONE, CLUS | RBAC),
	KIND(RBAC_G, "v1", "ClusterRole", "clusterroles", "clusterrole", NONE, NONE, CLUS | RBAC),
	KIND(RBAC_G, "v1", "RoleBinding", "rolebindings", "rolebinding", NONE, NONE, NS | RBAC),
	KIND(RBAC_G, "v1", "Role", "roles", "role", NONE, NONE, NS | RBAC),

	KIND(DRA, "v1", "DeviceClass", "deviceclasses", "deviceclass", NONE, NONE, CLUS | GEN | UNCOND | FIRST | KIND_META_TOGETHER | KIND_FREE_PREFIX),
	KIND(DRA, "v1", "ResourceClaim", "resourceclaims", "resourceclaim", NONE, NONE, NS | STAT | UNCOND | FIRST),
	KIND(DRA, "v1", "ResourceClaimTemplate", "resourceclaimtemplates", "resourceclaimtemplate", NONE, NONE, NS | UNCOND | FIRST),
	KIND(DRA, "v1", "ResourceSlice", "resourceslices", "resourceslice", NONE, NONE, CLUS | GEN | UNCOND),

	KIND("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "priorityclass", LIST("pc"), NONE, CLUS | GEN | UNCOND),

	KIND(STOR, "v1", "CSIDriver", "csidrivers", "csidriver", NONE, NONE, CLUS),
	KIND(STOR, "v1", "CSINode", "csinodes", "csinode", NONE, NONE, CLUS | ALONE),
	KIND(STOR, "v1", "CSIStorageCapacity", "csistoragecapacities", "csistoragecapacity", NONE, NONE, NS | FIRST),
	KIND(STOR, "v1", "StorageClass", "storageclasses", "storageclass", LIST("sc"), NONE, CLUS | UNCOND | FIRST),
	KIND(STOR, "v1", "VolumeAttributesClass", "volumeattributesclasses", "volumeattributesclass", LIST("vac"), NONE, CLUS | UNCOND | LAST),
	KIND(STOR, "v1", "VolumeAttachment", "volumeattachments", "volumeattachment", NONE, NONE, CLUS | STAT | ALONE),
};
/* clang-format on */

const struct kind *kinds_builtin(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(builtin);
	return builtin;
}

bool kinds_has_builtin_group(const char *group)
{
	for (size_t i = 0; i < ARRAY_LEN(builtin); i++)
		if (cstr_eq(builtin[i].group, group))
			return true;
	return false;
}
