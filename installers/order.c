#include "installers/order.h"

/* clang-format off */
static const char *const kinds[] = {
	"PriorityClass", "Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange",
	"PodSecurityPolicy", "PodDisruptionBudget", "ServiceAccount", "Secret", "SecretList",
	"ConfigMap", "StorageClass", "PersistentVolume", "PersistentVolumeClaim",
	"CustomResourceDefinition", "ClusterRole", "ClusterRoleList", "ClusterRoleBinding",
	"ClusterRoleBindingList", "Role", "RoleList", "RoleBinding", "RoleBindingList", "Service",
	"DaemonSet", "Pod", "ReplicationController", "ReplicaSet", "Deployment",
	"HorizontalPodAutoscaler", "StatefulSet", "Job", "CronJob", "IngressClass", "Ingress",
	"APIService", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
};
/* clang-format on */
#define N_WEBHOOK_KINDS 2
#define N_KINDS         ARRAY_LEN(kinds)

static size_t rank_of(struct str kind, size_t n_known)
{
	for (size_t i = 0; i < n_known; i++)
		if (str_is(kind, kinds[i]))
			return i;
	return N_KINDS;
}

static int by_rank(struct str a, struct str b, size_t ra, size_t rb)
{
	if (ra != rb)
		return ra < rb ? -1 : 1;
	return ra == N_KINDS ? str_cmp(a, b) : 0;
}

int order_install_cmp(struct str a, struct str b, enum tmpl_profile profile)
{
	size_t n = profile == TMPL_PROFILE_3 ? N_KINDS - N_WEBHOOK_KINDS : N_KINDS;
	return by_rank(a, b, rank_of(a, n), rank_of(b, n));
}

/* The reverse, in doubled steps; Service comes right after IngressClass, unknown kinds last. */
static size_t uninstall_rank(struct str kind)
{
	size_t r = rank_of(kind, N_KINDS);
	if (r == N_KINDS)
		return 2 * N_KINDS;
	if (str_is(kind, "Service"))
		return 2 * (N_KINDS - 1 - rank_of(STR("IngressClass"), N_KINDS)) + 1;
	return 2 * (N_KINDS - 1 - r);
}

int order_uninstall_cmp(struct str a, struct str b)
{
	size_t ra = uninstall_rank(a), rb = uninstall_rank(b);
	if (ra != rb)
		return ra < rb ? -1 : 1;
	return ra == 2 * N_KINDS ? str_cmp(a, b) : 0;
}
