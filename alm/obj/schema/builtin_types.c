/* builtin_types.c: the table, and its compiled form. */
#include "alm/obj/schema/builtin_types.h"

#include <string.h>

#include "alm/base/map.h"
#include "alm/obj/schema/schema_node.h"

/* type, field, how: "struct T", "ptr T", "map" (of scalars), "atomic" (map), "set",
 * "list T KEY[,KEY[=DEFAULT]]", "slice T KEY..." for a list that Go always writes */
/* clang-format off */
static const struct { const char *type, *field, *how; } rows[] = {
	{"ObjectMeta", "labels", "map"},
	{"ObjectMeta", "annotations", "map"},
	{"ObjectMeta", "finalizers", "set"},
	{"ObjectMeta", "ownerReferences", "list OwnerReference uid"},
	{"OwnerReference", "", "atomic"},
	{"ObjectReference", "", "atomic"},
	{"LocalObjectReference", "", "atomic"},

	{"Pod", "spec", "struct PodSpec"},
	{"Pod", "status", "struct PodStatus"},
	{"PodSpec", "containers", "slice Container name"},
	{"PodSpec", "initContainers", "list Container name"},
	{"PodSpec", "ephemeralContainers", "list Container name"},
	{"PodSpec", "volumes", "list Volume name"},
	{"PodSpec", "imagePullSecrets", "list LocalObjectReference name"},
	{"PodSpec", "hostAliases", "list HostAlias ip"},
	{"PodSpec", "topologySpreadConstraints", "list Spread topologyKey,whenUnsatisfiable"},
	{"PodSpec", "resourceClaims", "list Claim name"},
	{"PodSpec", "schedulingGates", "list Gate name"},
	{"PodSpec", "nodeSelector", "atomic"},
	{"PodSpec", "overhead", "map"},
	{"Spread", "labelSelector", "atomic"},
	{"Container", "ports", "list ContainerPort containerPort,protocol=TCP"},
	{"Container", "env", "list EnvVar name"},
	{"Container", "volumeMounts", "list VolumeMount mountPath"},
	{"Container", "volumeDevices", "list VolumeDevice devicePath"},
	{"Container", "resources", "struct Resources"},
	{"EnvVar", "valueFrom", "ptr EnvVarSource"},
	{"EnvVarSource", "configMapKeyRef", "atomic"},
	{"EnvVarSource", "secretKeyRef", "atomic"},
	{"EnvVarSource", "fieldRef", "atomic"},
	{"EnvVarSource", "resourceFieldRef", "atomic"},
	{"Resources", "limits", "map"},
	{"Resources", "requests", "map"},
	{"Resources", "claims", "list Claim name"},
	{"PodStatus", "conditions", "list Condition type"},
	{"PodStatus", "podIPs", "list PodIP ip"},
	{"PodStatus", "hostIPs", "list PodIP ip"},
	{"PodTemplate", "template", "struct PodTemplateSpec"},
	{"PodTemplateSpec", "metadata", "struct ObjectMeta"},
	{"PodTemplateSpec", "spec", "struct PodSpec"},

	{"Deployment", "spec", "struct DeploymentSpec"},
	{"Deployment", "status", "struct ConditionsStatus"},
	{"DeploymentSpec", "selector", "atomic"},
	{"DeploymentSpec", "template", "struct PodTemplateSpec"},
	{"DeploymentSpec", "strategy", "struct Strategy"},
	{"ConditionsStatus", "conditions", "list Condition type"},
	{"ReplicaSet", "spec", "struct ReplicaSetSpec"},
	{"ReplicaSet", "status", "struct ConditionsStatus"},
	{"ReplicaSetSpec", "selector", "atomic"},
	{"ReplicaSetSpec", "template", "struct PodTemplateSpec"},
	{"ReplicationController", "spec", "struct ReplicationControllerSpec"},
	{"ReplicationController", "status", "struct ConditionsStatus"},
	{"ReplicationControllerSpec", "selector", "atomic"},
	{"ReplicationControllerSpec", "template", "ptr PodTemplateSpec"},
	{"StatefulSet", "spec", "struct StatefulSetSpec"},
	{"StatefulSet", "status", "struct ConditionsStatus"},
	{"StatefulSetSpec", "selector", "atomic"},
	{"StatefulSetSpec", "template", "struct PodTemplateSpec"},
	{"StatefulSetSpec", "updateStrategy", "struct Strategy"},
	{"DaemonSet", "spec", "struct DaemonSetSpec"},
	{"DaemonSet", "status", "struct ConditionsStatus"},
	{"DaemonSetSpec", "selector", "atomic"},
	{"DaemonSetSpec", "template", "struct PodTemplateSpec"},
	{"DaemonSetSpec", "updateStrategy", "struct Strategy"},
	{"Job", "spec", "struct JobSpec"},
	{"Job", "status", "struct JobStatus"},
	{"JobSpec", "selector", "atomic"},
	{"JobSpec", "template", "struct PodTemplateSpec"},
	{"JobStatus", "conditions", "list Condition type"},
	{"CronJob", "spec", "struct CronJobSpec"},
	{"CronJob", "status", "struct Plain"},
	{"CronJobSpec", "jobTemplate", "struct JobTemplateSpec"},
	{"JobTemplateSpec", "metadata", "struct ObjectMeta"},
	{"JobTemplateSpec", "spec", "struct JobSpec"},

	{"Service", "spec", "struct ServiceSpec"},
	{"Service", "status", "struct ServiceStatus"},
	{"ServiceSpec", "ports", "list ServicePort port,protocol=TCP"},
	{"ServiceSpec", "selector", "atomic"},
	{"ServiceStatus", "loadBalancer", "struct Plain"},
	{"ServiceStatus", "conditions", "list Condition type"},
	{"Endpoints", "metadata", "struct ObjectMeta"},
	{"EndpointSlice", "metadata", "struct ObjectMeta"},
	{"Ingress", "spec", "struct IngressSpec"},
	{"Ingress", "status", "struct ServiceStatus"},
	{"IngressSpec", "defaultBackend", "ptr IngressBackend"},
	{"IngressBackend", "resource", "atomic"},
	{"NetworkPolicy", "spec", "struct NetworkPolicySpec"},
	{"NetworkPolicySpec", "podSelector", "atomic"},

	{"ServiceAccount", "secrets", "list ObjectReference name"},
	{"ConfigMap", "data", "map"},
	{"ConfigMap", "binaryData", "map"},
	{"Secret", "data", "map"},
	{"Secret", "stringData", "map"},
	{"Namespace", "spec", "struct Plain"},
	{"Namespace", "status", "struct ConditionsStatus"},
	{"Node", "spec", "struct NodeSpec"},
	{"Node", "status", "struct NodeStatus"},
	{"NodeSpec", "podCIDRs", "set"},
	{"NodeStatus", "conditions", "list Condition type"},
	{"NodeStatus", "addresses", "list NodeAddress type"},
	{"PersistentVolume", "spec", "struct PersistentVolumeSpec"},
	{"PersistentVolume", "status", "struct Plain"},
	{"PersistentVolumeSpec", "capacity", "map"},
	{"PersistentVolumeSpec", "claimRef", "ptr Plain"},
	{"PersistentVolumeClaim", "spec", "struct ClaimSpec"},
	{"PersistentVolumeClaim", "status", "struct ConditionsStatus"},
	{"ClaimSpec", "selector", "atomic"},
	{"ClaimSpec", "resources", "struct Resources"},
	{"ClaimSpec", "dataSource", "atomic"},
	{"LimitRange", "spec", "struct Plain"},
	{"ResourceQuota", "spec", "struct QuotaSpec"},
	{"ResourceQuota", "status", "struct QuotaStatus"},
	{"QuotaSpec", "hard", "map"},
	{"QuotaSpec", "scopeSelector", "atomic"},
	{"QuotaStatus", "hard", "map"},
	{"QuotaStatus", "used", "map"},
	{"Event", "involvedObject", "struct Reference"},
	{"Event", "regarding", "struct Reference"},
	{"Event", "source", "struct Plain"},
	{"Reference", "", "atomic"},
	{"Lease", "spec", "struct Plain"},
	{"PodDisruptionBudget", "spec", "struct BudgetSpec"},
	{"PodDisruptionBudget", "status", "struct ConditionsStatus"},
	{"BudgetSpec", "selector", "atomic"},
	{"HorizontalPodAutoscaler", "spec", "struct AutoscalerSpec"},
	{"HorizontalPodAutoscaler", "status", "struct ConditionsStatus"},
	{"AutoscalerSpec", "scaleTargetRef", "struct Plain"},

	{"Role", "metadata", "struct ObjectMeta"},
	{"ClusterRole", "aggregationRule", "ptr Plain"},
	{"RoleBinding", "roleRef", "struct Reference"},
	{"ClusterRoleBinding", "roleRef", "struct Reference"},
	{"CustomResourceDefinition", "spec", "struct DefinitionSpec"},
	{"CustomResourceDefinition", "status", "struct DefinitionStatus"},
	{"DefinitionSpec", "names", "struct Plain"},
	{"DefinitionStatus", "acceptedNames", "struct Plain"},
	{"DefinitionStatus", "conditions", "slice Condition type"},
	{"APIService", "spec", "struct Plain"},
	{"APIService", "status", "struct ConditionsStatus"},
	{"ValidatingWebhookConfiguration", "webhooks", "list Webhook name"},
	{"MutatingWebhookConfiguration", "webhooks", "list Webhook name"},
	{"Webhook", "clientConfig", "struct Plain"},
	{"Webhook", "namespaceSelector", "atomic"},
	{"Webhook", "objectSelector", "atomic"},
	{"Webhook", "matchConditions", "list MatchCondition name"},
};
/* clang-format on */

#define TYPES_BYTES_MAX ((size_t)4 << 20)

/* Built once, immutable afterwards, and good for the life of the process. */
static struct arena *types_arena;
static struct map *types;

static struct schema *type_of(struct str name);

static struct schema *new_node(unsigned type)
{
	struct schema *s = ARENA_NEW(types_arena, struct schema);
	s->type = type;
	s->preserve = true;
	s->min_length = s->max_length = s->min_items = s->max_items = SCHEMA_UNSET;
	s->min_properties = s->max_properties = SCHEMA_UNSET;
	return s;
}

/* KEY[=DEFAULT], with a property in the item type that carries the default. */
static void add_key(struct schema *list, struct str text)
{
	struct str key, value;
	bool has_default = str_cut(text, '=', &key, &value);
	const char *name = arena_strndup(types_arena, key.ptr, key.len);
	const char **keys = ARENA_ARRAY(types_arena, const char *, list->n_list_keys + 1);
	for (size_t i = 0; i < list->n_list_keys; i++)
		keys[i] = list->list_keys[i];
	keys[list->n_list_keys++] = name;
	list->list_keys = keys;
	if (!has_default || schema_property(list->items, name))
		return;
	struct schema *property = new_node(SCHEMA_STRING);
	property->default_value = obj_stringn(value);
	schema_set_property(types_arena, list->items, name, property);
}

/* NOLINTBEGIN(misc-no-recursion): over the table of this file, whose types are made once each */
static struct schema *new_list(struct str how)
{
	struct schema *s = new_node(SCHEMA_ARRAY);
	struct str item, keys, key;
	str_cut(how, ' ', &item, &keys);
	s->has_list_type = true;
	s->list_type = LIST_MAP;
	s->items = type_of(item);
	while (str_next(&keys, ',', &key))
		add_key(s, key);
	return s;
}

static struct schema *new_field(struct str how)
{
	struct str word, rest;
	struct schema *s = new_node(SCHEMA_OBJECT);
	str_cut(how, ' ', &word, &rest);
	if (str_is(word, "list") || str_is(word, "slice")) {
		s = new_list(rest);
		s->value_struct = str_is(word, "slice");
		return s;
	}
	if (str_is(word, "struct") || str_is(word, "ptr")) {
		*s = *type_of(rest);
		s->value_struct = str_is(word, "struct");
	} else if (str_is(word, "atomic")) {
		s->map_atomic = true;
	} else if (str_is(word, "set")) {
		s->type = SCHEMA_ARRAY;
		s->has_list_type = true;
		s->list_type = LIST_SET;
	} else {
		s->additional = new_node(SCHEMA_STRING);
	}
	return s;
}

static struct schema *type_of(struct str name)
{
	struct schema *s = map_getn(types, name);
	if (s)
		return s;
	s = new_node(SCHEMA_OBJECT);
	char *owned = str_dup(name);
	map_set(types, owned, s);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (strcmp(rows[i].type, owned) != 0)
			continue;
		if (!*rows[i].field)
			s->map_atomic = true;
		else
			schema_set_property(types_arena, s, rows[i].field,
					    new_field(str_of(rows[i].how)));
	}
	xfree(owned);
	return s;
}
/* NOLINTEND(misc-no-recursion) */

static void build(void)
{
	if (types)
		return;
	types_arena = arena_new(TYPES_BYTES_MAX);
	types = map_new(NULL);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		type_of(str_of(rows[i].type));
}

const struct schema *builtin_schema(const char *kind)
{
	build();
	return map_get(types, kind);
}

const struct schema *builtin_object_meta(void)
{
	return builtin_schema("ObjectMeta");
}
