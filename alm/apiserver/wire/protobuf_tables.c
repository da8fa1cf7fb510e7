/*
 * protobuf_tables: the fields of the kinds that kubectl's create commands send (kube-api.md 5.3;
 * numbers as in the published generated.proto files of k8s.io/api).
 * To add a kind: its fields, and a row in the table at the end.
 */
#include "alm/apiserver/wire/protobuf.h"

#define R    PB_REPEATED
#define KEEP PB_KEEP

#define S(n, name)           {(n), (name), PB_STRING, 0, NULL}
#define SS(n, name)          {(n), (name), PB_STRING, R, NULL}
#define I(n, name)           {(n), (name), PB_INT, 0, NULL}
#define IP(n, name)          {(n), (name), PB_INT, KEEP, NULL}
#define B(n, name)           {(n), (name), PB_BOOL, 0, NULL}
#define BP(n, name)          {(n), (name), PB_BOOL, KEEP, NULL}
#define M(n, name, message)  {(n), (name), PB_MESSAGE, 0, &(message)}
#define MM(n, name, message) {(n), (name), PB_MESSAGE, R, &(message)}
#define F(n, name, type)     {(n), (name), (type), 0, NULL}
#define MESSAGE(id, ...)                                                 \
	static const struct pb_field id##_fields[] = {__VA_ARGS__, {0}}; \
	static const struct pb_message id = {id##_fields}

/* clang-format off */
MESSAGE(owner_reference, S(1, "kind"), S(3, "name"), S(4, "uid"), S(5, "apiVersion"),
	BP(6, "controller"), BP(7, "blockOwnerDeletion"));
MESSAGE(object_meta, S(1, "name"), S(2, "generateName"), S(3, "namespace"), S(5, "uid"),
	S(6, "resourceVersion"), I(7, "generation"), F(8, "creationTimestamp", PB_TIME),
	F(9, "deletionTimestamp", PB_TIME), IP(10, "deletionGracePeriodSeconds"),
	F(11, "labels", PB_STRING_MAP), F(12, "annotations", PB_STRING_MAP),
	MM(13, "ownerReferences", owner_reference), SS(14, "finalizers"));
#define META M(1, "metadata", object_meta)

MESSAGE(label_requirement, S(1, "key"), S(2, "operator"), SS(3, "values"));
MESSAGE(label_selector, F(1, "matchLabels", PB_STRING_MAP),
	MM(2, "matchExpressions", label_requirement));
MESSAGE(object_reference, S(1, "kind"), S(2, "namespace"), S(3, "name"), S(4, "uid"),
	S(5, "apiVersion"), S(6, "resourceVersion"), S(7, "fieldPath"));
MESSAGE(local_reference, S(1, "name"));

MESSAGE(namespace_spec, SS(1, "finalizers"));
MESSAGE(namespace_status, S(1, "phase"));
MESSAGE(namespace_, META, M(2, "spec", namespace_spec), M(3, "status", namespace_status));
MESSAGE(config_map, META, F(2, "data", PB_STRING_MAP), F(3, "binaryData", PB_BYTES_MAP),
	BP(4, "immutable"));
MESSAGE(secret, META, F(2, "data", PB_BYTES_MAP), S(3, "type"),
	F(4, "stringData", PB_STRING_MAP), BP(5, "immutable"));
MESSAGE(service_account, META, MM(2, "secrets", object_reference),
	MM(3, "imagePullSecrets", local_reference), BP(4, "automountServiceAccountToken"));

MESSAGE(policy_rule, SS(1, "verbs"), SS(2, "apiGroups"), SS(3, "resources"),
	SS(4, "resourceNames"), SS(5, "nonResourceURLs"));
MESSAGE(aggregation_rule, MM(1, "clusterRoleSelectors", label_selector));
MESSAGE(role, META, MM(2, "rules", policy_rule));
MESSAGE(cluster_role, META, MM(2, "rules", policy_rule),
	M(3, "aggregationRule", aggregation_rule));
MESSAGE(subject, S(1, "kind"), S(2, "apiGroup"), S(3, "name"), S(4, "namespace"));
MESSAGE(role_ref, S(1, "apiGroup"), S(2, "kind"), S(3, "name"));
MESSAGE(role_binding, META, MM(2, "subjects", subject), M(3, "roleRef", role_ref));

MESSAGE(resource_attributes, S(1, "namespace"), S(2, "verb"), S(3, "group"), S(4, "version"),
	S(5, "resource"), S(6, "subresource"), S(7, "name"));
MESSAGE(non_resource_attributes, S(1, "path"), S(2, "verb"));
MESSAGE(self_access_spec, M(1, "resourceAttributes", resource_attributes),
	M(2, "nonResourceAttributes", non_resource_attributes));
MESSAGE(access_spec, M(1, "resourceAttributes", resource_attributes),
	M(2, "nonResourceAttributes", non_resource_attributes), S(3, "user"), SS(4, "groups"),
	S(6, "uid"));
MESSAGE(self_access_review, META, M(2, "spec", self_access_spec));
MESSAGE(access_review, META, M(2, "spec", access_spec));
MESSAGE(rules_review_spec, S(1, "namespace"));
MESSAGE(rules_review, META, M(2, "spec", rules_review_spec));
MESSAGE(self_subject_review, META);
MESSAGE(token_review_spec, S(1, "token"), SS(2, "audiences"));
MESSAGE(token_review, META, M(2, "spec", token_review_spec));
MESSAGE(bound_object, S(1, "kind"), S(2, "apiVersion"), S(3, "name"), S(4, "uid"));
MESSAGE(token_request_spec, SS(1, "audiences"), M(3, "boundObjectRef", bound_object),
	IP(4, "expirationSeconds"));
MESSAGE(token_request, META, M(2, "spec", token_request_spec));

MESSAGE(quota_spec, F(1, "hard", PB_QUANTITY_MAP), SS(2, "scopes"));
MESSAGE(resource_quota, META, M(2, "spec", quota_spec));
MESSAGE(preconditions, S(1, "uid"), S(2, "resourceVersion"));
MESSAGE(delete_options, IP(1, "gracePeriodSeconds"), M(2, "preconditions", preconditions),
	BP(3, "orphanDependents"), S(4, "propagationPolicy"), SS(5, "dryRun"));

MESSAGE(container_port, S(1, "name"), I(2, "hostPort"), I(3, "containerPort"), S(4, "protocol"),
	S(5, "hostIP"));
MESSAGE(env_var, S(1, "name"), S(2, "value"));
MESSAGE(resources, F(1, "limits", PB_QUANTITY_MAP), F(2, "requests", PB_QUANTITY_MAP));
MESSAGE(container, S(1, "name"), S(2, "image"), SS(3, "command"), SS(4, "args"),
	S(5, "workingDir"), MM(6, "ports", container_port), MM(7, "env", env_var),
	M(8, "resources", resources), S(14, "imagePullPolicy"), B(16, "stdin"),
	B(17, "stdinOnce"), B(18, "tty"));
MESSAGE(pod_spec, MM(2, "containers", container), S(3, "restartPolicy"),
	IP(4, "terminationGracePeriodSeconds"), S(6, "dnsPolicy"),
	F(7, "nodeSelector", PB_STRING_MAP), S(8, "serviceAccountName"), S(10, "nodeName"),
	MM(15, "imagePullSecrets", local_reference));
MESSAGE(pod, META, M(2, "spec", pod_spec));
MESSAGE(pod_template, META, M(2, "spec", pod_spec));
MESSAGE(strategy, S(1, "type"));
MESSAGE(deployment_spec, IP(1, "replicas"), M(2, "selector", label_selector),
	M(3, "template", pod_template), M(4, "strategy", strategy), I(5, "minReadySeconds"),
	IP(6, "revisionHistoryLimit"), B(7, "paused"), IP(9, "progressDeadlineSeconds"));
MESSAGE(deployment, META, M(2, "spec", deployment_spec));
MESSAGE(job_spec, IP(1, "parallelism"), IP(2, "completions"), IP(3, "activeDeadlineSeconds"),
	M(4, "selector", label_selector), BP(5, "manualSelector"), M(6, "template", pod_template),
	IP(7, "backoffLimit"), IP(8, "ttlSecondsAfterFinished"));
MESSAGE(job, META, M(2, "spec", job_spec));
MESSAGE(job_template, META, M(2, "spec", job_spec));
MESSAGE(cron_job_spec, S(1, "schedule"), IP(2, "startingDeadlineSeconds"),
	S(3, "concurrencyPolicy"), BP(4, "suspend"), M(5, "jobTemplate", job_template),
	IP(6, "successfulJobsHistoryLimit"), IP(7, "failedJobsHistoryLimit"));
MESSAGE(cron_job, META, M(2, "spec", cron_job_spec));
MESSAGE(service_port, S(1, "name"), S(2, "protocol"), I(3, "port"),
	F(4, "targetPort", PB_INT_OR_STRING), I(5, "nodePort"), S(6, "appProtocol"));
MESSAGE(service_spec, MM(1, "ports", service_port), F(2, "selector", PB_STRING_MAP),
	S(3, "clusterIP"), S(4, "type"), SS(5, "externalIPs"), S(7, "sessionAffinity"),
	S(8, "loadBalancerIP"), SS(9, "loadBalancerSourceRanges"), S(10, "externalName"));
MESSAGE(service, META, M(2, "spec", service_spec));
MESSAGE(budget_spec, F(1, "minAvailable", PB_INT_OR_STRING), M(2, "selector", label_selector),
	F(3, "maxUnavailable", PB_INT_OR_STRING));
MESSAGE(budget, META, M(2, "spec", budget_spec));
MESSAGE(priority_class, META, I(2, "value"), B(3, "globalDefault"), S(4, "description"),
	S(5, "preemptionPolicy"));

#define AUTHN "authentication.k8s.io"
#define AUTHZ "authorization.k8s.io"
#define RBAC  "rbac.authorization.k8s.io"
static const struct {
	const char *group; /* NULL: any */
	const char *kind;
	const struct pb_message *message;
} table[] = {
	{"", "Namespace", &namespace_},
	{"", "ConfigMap", &config_map},
	{"", "Secret", &secret},
	{"", "ServiceAccount", &service_account},
	{"", "ResourceQuota", &resource_quota},
	{"", "Service", &service},
	{"", "Pod", &pod},
	{RBAC, "Role", &role},
	{RBAC, "ClusterRole", &cluster_role},
	{RBAC, "RoleBinding", &role_binding},
	{RBAC, "ClusterRoleBinding", &role_binding},
	{AUTHZ, "SelfSubjectAccessReview", &self_access_review},
	{AUTHZ, "SubjectAccessReview", &access_review},
	{AUTHZ, "LocalSubjectAccessReview", &access_review},
	{AUTHZ, "SelfSubjectRulesReview", &rules_review},
	{AUTHN, "SelfSubjectReview", &self_subject_review},
	{AUTHN, "TokenReview", &token_review},
	{AUTHN, "TokenRequest", &token_request},
	{"apps", "Deployment", &deployment},
	{"batch", "Job", &job},
	{"batch", "CronJob", &cron_job},
	{"policy", "PodDisruptionBudget", &budget},
	{"scheduling.k8s.io", "PriorityClass", &priority_class},
	{NULL, "DeleteOptions", &delete_options},
};
/* clang-format on */

const struct pb_message *protobuf_message(const char *group, const char *kind)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (cstr_eq(table[i].kind, kind) &&
		    (!table[i].group || cstr_eq(table[i].group, group)))
			return table[i].message;
	return NULL;
}
