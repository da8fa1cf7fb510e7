/* defaults_platform: of what runs no containers: storage, classes, devices, endpoints, flow control; see defaults.h. */
#include "alm/apiserver/kinds/autoscale.h"
#include "alm/apiserver/kinds/defaults_internal.h"

static const struct default_rule driver_rules[] = {
	{"spec.attachRequired", "true", NULL, NULL},
	{"spec.podInfoOnMount", "false", NULL, NULL},
	{"spec.storageCapacity", "false", NULL, NULL},
	{"spec.fsGroupPolicy", "\"ReadWriteOnceWithFSType\"", NULL, NULL},
	{"spec.volumeLifecycleModes", "[\"Persistent\"]", NULL, NULL},
	{"spec.requiresRepublish", "false", NULL, NULL},
	{"spec.seLinuxMount", "false", NULL, NULL},
	{0},
};
static const struct default_rule level_rules[] = {
	{"nominalConcurrencyShares", "30", NULL, NULL},
	{"lendablePercent", "0", NULL, NULL},
	{0},
};
/* 0 is none. */
static const struct {
	const char *field;
	int64_t value;
} queuing[] = {{"handSize", 8}, {"queues", 64}, {"queueLengthLimit", 50}};
static const struct default_rule volume_rules[] = {
	{"spec.persistentVolumeReclaimPolicy", "\"Retain\"", NULL, NULL},
	{"spec.volumeMode", "\"Filesystem\"", NULL, NULL},
	{0},
};
static const struct default_rule flow_rules[] = {{"spec.matchingPrecedence", "1000", NULL, NULL},
						 {0}};
static const struct default_rule port_rules[] = {{"protocol", "\"TCP\"", NULL, NULL}, {0}};
static const struct default_rule named_port_rules[] = {
	{"name", "\"\"", NULL, NULL},
	{"protocol", "\"TCP\"", NULL, NULL},
	{0},
};
/* Of kinds without spec. */
static const struct default_rule class_rules[] = {
	{"reclaimPolicy", "\"Delete\"", NULL, NULL},
	{"volumeBindingMode", "\"Immediate\"", NULL, NULL},
	{0},
};
static const struct default_rule priority_rules[] = {
	{"preemptionPolicy", "\"PreemptLowerPriority\"", NULL, NULL},
	{0},
};
static const struct default_rule device_rules[] = {
	{"allocationMode", "\"ExactCount\"", NULL, NULL},
	{"count", "1", "allocationMode", "ExactCount"},
	{0},
};

static const struct default_rule scaler_rules[] = {
	{"spec.minReplicas", "1", NULL, NULL},
	{"spec.metrics",
	 "[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":"
	 "\"Utilization\",\"averageUtilization\":80}}}]",
	 NULL, NULL},
	{0},
};
/* Both ways have all of it, as soon as one is said. */
static void set_scaler(struct obj *o)
{
	static const struct default_rule rules[] = {
		{"spec.behavior.scaleUp.stabilizationWindowSeconds", "0", NULL, NULL},
		{"spec.behavior.scaleUp.selectPolicy", "\"Max\"", NULL, NULL},
		{"spec.behavior.scaleUp.policies",
		 "[{\"type\":\"Pods\",\"value\":4,\"periodSeconds\":15},"
		 "{\"type\":\"Percent\",\"value\":100,\"periodSeconds\":15}]",
		 NULL, NULL},
		{"spec.behavior.scaleDown.selectPolicy", "\"Max\"", NULL, NULL},
		{"spec.behavior.scaleDown.policies",
		 "[{\"type\":\"Percent\",\"value\":100,\"periodSeconds\":15}]", NULL, NULL},
		{0},
	};
	autoscaler_forget(o);
	if (obj_type(obj_path(o, "spec.behavior")) == OBJ_MAP)
		defaults_apply(o, rules);
}

static void set_each(struct obj *list, const struct default_rule *rules)
{
	for (size_t i = 0; i < obj_len(list); i++)
		defaults_apply(obj_at_mut(list, i), rules);
}

static void set_slice(struct obj *o)
{
	set_each(default_list(o, "ports"), named_port_rules);
}

static void set_endpoints(struct obj *o)
{
	struct obj *list = default_list(o, "subsets");
	for (size_t i = 0; i < obj_len(list); i++)
		set_each(default_list(obj_at_mut(list, i), "ports"), port_rules);
}

static void set_service_reference(struct obj *o)
{
	struct obj *service = default_map(default_map(o, "spec"), "service");
	if (service && default_is_absent(obj_get(service, "port")))
		obj_set_int(service, "port", 443);
}

static void set_path_type(struct obj *o)
{
	struct obj *path = default_map(default_map(o, "spec"), "hostPath");
	if (path && default_is_absent(obj_get(path, "type")))
		obj_set_str(path, "type", "");
}

static void set_scope(struct obj *o)
{
	struct obj *p = default_map(default_map(o, "spec"), "parameters");
	if (p && default_is_absent(obj_get(p, "scope")))
		obj_set_str(p, "scope", "Cluster");
}

static const struct default_rule toleration_rules[] = {{"operator", "\"Equal\"", NULL, NULL}, {0}};

static void set_devices(struct obj *spec)
{
	struct obj *list = spec ? default_list(default_map(spec, "devices"), "requests") : NULL;
	for (size_t i = 0; i < obj_len(list); i++) {
		defaults_apply(default_map(obj_at_mut(list, i), "exactly"), device_rules);
		set_each(default_list(obj_at_mut(list, i), "firstAvailable"), device_rules);
		set_each(default_list(default_map(obj_at_mut(list, i), "exactly"), "tolerations"),
			 toleration_rules);
	}
}

static void set_limits(struct obj *limited)
{
	struct obj *queues = default_map(default_map(limited, "limitResponse"), "queuing");
	defaults_apply(limited, level_rules);
	for (size_t i = 0; i < ARRAY_LEN(queuing) && queues; i++)
		if (obj_i64(queues, queuing[i].field, 0) == 0)
			obj_set_int(queues, queuing[i].field, queuing[i].value);
}

static void set_level(struct obj *o)
{
	struct obj *spec = default_map(o, "spec");
	if (cstr_eq(obj_str(spec, "type"), "Limited"))
		set_limits(default_map(spec, "limited"));
}

static void set_claim(struct obj *o)
{
	set_devices(default_map(o, "spec"));
}

static void set_claim_template(struct obj *o)
{
	set_devices(default_map(default_map(o, "spec"), "spec"));
}

static void set_class(struct obj *o)
{
	defaults_apply(o, class_rules);
}

static void set_priority(struct obj *o)
{
	defaults_apply(o, priority_rules);
}

/* Of an account's Secrets only the names are kept. */
static void set_account_secrets(struct obj *o)
{
	struct obj *list = default_list(o, "secrets");
	for (size_t i = 0; i < obj_len(list); i++) {
		struct obj *one = obj_map();
		const char *name = obj_str(obj_at(list, i), "name");
		obj_set_str(one, "name", name);
		obj_set_at(list, i, one);
	}
}

/* clang-format off */
static const struct default_kind kinds[] = {
	{"",      "endpoints",              NULL,             set_endpoints},
	{"",      "persistentvolumes",      volume_rules,     set_path_type},
	{"",      "serviceaccounts",        NULL,             set_account_secrets},
	{"apiregistration.k8s.io", "apiservices", NULL,       set_service_reference},
	{"autoscaling", "horizontalpodautoscalers", scaler_rules, set_scaler},
	{"discovery.k8s.io", "endpointslices", NULL,          set_slice},
	{"flowcontrol.apiserver.k8s.io", "flowschemas", flow_rules, NULL},
	{"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", NULL, set_level},
	{"networking.k8s.io", "ingressclasses", NULL,         set_scope},
	{"resource.k8s.io", "resourceclaims", NULL,           set_claim},
	{"resource.k8s.io", "resourceclaimtemplates", NULL,   set_claim_template},
	{"scheduling.k8s.io", "priorityclasses", NULL,        set_priority},
	{"storage.k8s.io", "csidrivers",    driver_rules,     NULL},
	{"storage.k8s.io", "storageclasses", NULL,            set_class},
};
/* clang-format on */

const struct default_kind *defaults_of_platform(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(kinds);
	return kinds;
}
