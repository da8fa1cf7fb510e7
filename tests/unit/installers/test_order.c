/* In which order kinds come and go: for every two of them, known or not. */
#include "tests/lib/test.h"

#include <string.h>

#include "installers/order.h"

/* In order of install; the unknown ones by name, behind. */
static const char *const kinds[] = {
	"PriorityClass",
	"Namespace",
	"NetworkPolicy",
	"ResourceQuota",
	"LimitRange",
	"PodSecurityPolicy",
	"PodDisruptionBudget",
	"ServiceAccount",
	"Secret",
	"SecretList",
	"ConfigMap",
	"StorageClass",
	"PersistentVolume",
	"PersistentVolumeClaim",
	"CustomResourceDefinition",
	"ClusterRole",
	"ClusterRoleList",
	"ClusterRoleBinding",
	"ClusterRoleBindingList",
	"Role",
	"RoleList",
	"RoleBinding",
	"RoleBindingList",
	"Service",
	"DaemonSet",
	"Pod",
	"ReplicationController",
	"ReplicaSet",
	"Deployment",
	"HorizontalPodAutoscaler",
	"StatefulSet",
	"Job",
	"CronJob",
	"IngressClass",
	"Ingress",
	"APIService",
	"MutatingWebhookConfiguration",
	"ValidatingWebhookConfiguration",
	"Aardvark",
	"Etcd",
	"Zebra",
};
#define N ((int)ARRAY_LEN(kinds))

static int sign(int r)
{
	return (r > 0) - (r < 0);
}

static int place_of(const char *kind)
{
	int i = 0;
	while (strcmp(kinds[i], kind) != 0)
		i++;
	return i;
}

/* Where profile 3 has it: webhooks are strangers there. */
static int place_in_3(int i)
{
	const int first = place_of("MutatingWebhookConfiguration"), unknown = first + 2;
	if (i < first)
		return i;
	if (i == unknown) /* Aardvark */
		return first;
	if (i == unknown + 1) /* Etcd */
		return first + 1;
	return i < unknown ? i + 2 : i;
}

static void test_order__of_install(void **state)
{
	(void)state;
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++) {
			struct str a = str_of(kinds[i]), b = str_of(kinds[k]);
			assert_int_equal(sign(order_install_cmp(a, b, TMPL_PROFILE_4_1)),
					 sign(i - k));
			assert_int_equal(sign(order_install_cmp(a, b, TMPL_PROFILE_4_2)),
					 sign(i - k));
			assert_int_equal(sign(order_install_cmp(a, b, TMPL_PROFILE_3)),
					 sign(place_in_3(i) - place_in_3(k)));
		}
}

/* The reverse, but for what is reached through it: a Service goes right after IngressClass; strangers last. */
static int place_of_end(int i)
{
	if (i >= place_of("Aardvark"))
		return 1000 + i;
	if (i == place_of("Service"))
		return 2 * (N - place_of("IngressClass")) + 1;
	return 2 * (N - i);
}

static void test_order__of_uninstall(void **state)
{
	(void)state;
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			assert_int_equal(
				sign(order_uninstall_cmp(str_of(kinds[i]), str_of(kinds[k]))),
				sign(place_of_end(i) - place_of_end(k)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order__of_install),
		cmocka_unit_test(test_order__of_uninstall),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
