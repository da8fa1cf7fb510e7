/* builtin_check: see builtin_check.h. One function a kind; to add one, a row in the table. */
#include "alm/apiserver/kinds/builtin_check.h"

#include <string.h>

#include "alm/apiserver/kinds/address_check.h"
#include "alm/apiserver/kinds/claim_check.h"
#include "alm/apiserver/kinds/class_check.h"
#include "alm/apiserver/kinds/device_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/flow_check.h"
#include "alm/apiserver/kinds/job_check.h"
#include "alm/apiserver/kinds/limit_range.h"
#include "alm/apiserver/kinds/network_check.h"
#include "alm/apiserver/kinds/node_check.h"
#include "alm/apiserver/kinds/pod_check.h"
#include "alm/apiserver/kinds/pod_notes.h"
#include "alm/apiserver/kinds/pod_parts.h"
#include "alm/apiserver/kinds/request_check.h"
#include "alm/apiserver/kinds/resource_quota.h"
#include "alm/apiserver/kinds/rights_check.h"
#include "alm/apiserver/kinds/rule_check.h"
#include "alm/apiserver/kinds/scaler_check.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/apiserver/kinds/slice_check.h"
#include "alm/apiserver/kinds/storage_check.h"
#include "alm/apiserver/kinds/volume_check.h"
#include "alm/apiserver/kinds/workload_check.h"
#include "alm/apiserver/wire/json_fault.h"
#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/query/selector.h"

#define SECRET_BYTES_MAX ((size_t)2 << 20)
#define ACCOUNT          "kubernetes.io/service-account.name"

static void pod_template(struct field_errors *e, const struct obj *o)
{
	check_pod_template(e, "template", obj_get(o, "template"), NULL);
}

static void namespace_finalizers(struct field_errors *e, const struct obj *o, bool by_place)
{
	static const char *const known[] = {"kubernetes", "orphan", "foregroundDeletion", NULL};
	const struct obj *list = obj_path(o, "spec.finalizers");
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *name = obj_as_string(obj_at(list, i));
		const char *at = by_place ? check_at(e, "spec.finalizers", i) : "spec.finalizers";
		if (!name)
			continue;
		check_qualified(e, at, name);
		if (!strchr(name, '/') && !cstr_in(name, known))
			check_invalid_text(e, at, name,
					   "name is neither a standard finalizer name nor is it "
					   "fully qualified");
	}
}

static void namespace_spec(struct field_errors *e, const struct obj *o)
{
	namespace_finalizers(e, o, false);
}

/* Through finalize, as any other update leaves them as they are. */
static void namespace_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	(void)before;
	namespace_finalizers(e, o, true);
}

static void pod(struct field_errors *e, const struct obj *o)
{
	static const char *const lists[] = {"spec.containers", "spec.initContainers"};
	pod_notes_check(e, "metadata.annotations", obj_path(o, "metadata.annotations"),
			obj_get(o, "spec"));
	check_pod_spec(e, "spec", obj_get(o, "spec"), NULL, meta_name(o));
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const struct obj *list = obj_path(o, lists[k]);
		for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++)
			pod_check_image(e, check_at(e, lists[k], i), obj_at(list, i));
	}
}

/* --- policy --- */

static void budget(struct field_errors *e, const struct obj *o)
{
	static const char *const numbers[] = {"spec.minAvailable", "spec.maxUnavailable"};
	if (obj_path(o, "spec.minAvailable") && obj_path(o, "spec.maxUnavailable"))
		check_invalid(e, "spec", obj_get(o, "spec"),
			      "minAvailable and maxUnavailable cannot be both set");
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		check_amount_or_percent(e, numbers[i], obj_path(o, numbers[i]));
		check_percent_most(e, numbers[i], obj_path(o, numbers[i]));
	}
	check_label_selector(e, "spec.selector", obj_path(o, "spec.selector"));
}

/* --- secrets --- */

/* NULL: it is an object, or null. */
static const char *docker_fault(struct field_errors *e, struct str text)
{
	static const struct {
		char first;
		const char *type;
	} types[] = {{'[', "array"}, {'"', "string"}, {'t', "bool"}, {'f', "bool"}};
	const char *fault = text.len ? json_fault(text, e->arena) : "unexpected end of JSON input";
	const char *type = "number";
	struct str trimmed = str_trim(text);
	if (fault || *trimmed.ptr == '{' || *trimmed.ptr == 'n')
		return fault;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (*trimmed.ptr == types[i].first)
			type = types[i].type;
	return arena_fmt(e->arena,
			 "json: cannot unmarshal %s into Go value of type map[string]interface {}",
			 type);
}

static void check_docker(struct field_errors *e, const char *key, const struct obj *v)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SECRET_BYTES_MAX);
	const char *fault = NULL;
	if (base64_decode(obj_as_str(v), &b))
		fault = docker_fault(e, strbuf_str(&b));
	if (!fault)
		return;
	check_invalid_text(e, arena_fmt(e->arena, "data[%s]", key), "<secret contents redacted>",
			   fault);
	check_said_of(e, v);
}

static void secret(struct field_errors *e, const struct obj *o)
{
	static const struct {
		const char *type, *key;
		bool may_be_empty;
	} needs[] = {
		{"kubernetes.io/tls", "tls.crt", true},
		{"kubernetes.io/tls", "tls.key", true},
		{"kubernetes.io/ssh-auth", "ssh-privatekey", false},
		{"kubernetes.io/dockerconfigjson", ".dockerconfigjson", true},
		{"kubernetes.io/dockercfg", ".dockercfg", true},
	};
	const char *type = obj_str(o, "type");
	const struct obj *data = obj_get(o, "data");
	check_secret_data(e, data);
	for (size_t i = 0; i < ARRAY_LEN(needs); i++) {
		const struct obj *v = obj_get(data, needs[i].key);
		bool there = v && (needs[i].may_be_empty || obj_as_str(v).len);
		if (cstr_eq(type, needs[i].type) && !there)
			check_required(e, arena_fmt(e->arena, "data[%s]", needs[i].key), NULL);
		else if (there && cstr_eq(type, needs[i].type) &&
			 cstr_has_prefix(type, "kubernetes.io/dockerc"))
			check_docker(e, needs[i].key, v);
	}
	if (cstr_eq(type, "kubernetes.io/basic-auth") && !obj_has(data, "username") &&
	    !obj_has(data, "password")) {
		check_required(e, "data[username]", NULL);
		check_required(e, "data[password]", NULL);
	}
	const char *account = meta_annotation(o, ACCOUNT);
	if (cstr_eq(type, "kubernetes.io/service-account-token") && (!account || !*account)) {
		check_required(e, "metadata.annotations[" ACCOUNT "]", NULL);
		check_said_of(e, obj_get(o, "type"));
	}
}

/* --- what stays as it was made --- */

static void kept_where_set(struct field_errors *e, const struct obj *o, const struct obj *before,
			   const char *path)
{
	if (obj_path(before, path))
		check_kept(e, path, o, before);
}

/* What says of itself that it stays. */
static void immutable_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	static const char *const fields[] = {"data", "binaryData"};
	static const char why[] = "field is immutable when `immutable` is set";
	if (!obj_flag(before, "immutable", false))
		return;
	if (!obj_flag(o, "immutable", false))
		check_forbidden(e, "immutable", why);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct obj *is = obj_get(o, fields[i]), *was = obj_get(before, fields[i]);
		bool none = !obj_len(is) && !obj_len(was);
		if (!none && (!is || !was || !obj_equal(is, was)))
			check_forbidden(e, fields[i], why);
	}
}

static void secret_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	const char *type = check_text(o, "type");
	if (strcmp(type, check_text(before, "type")) != 0)
		check_invalid_text(e, "type", type, "field is immutable");
	immutable_kept(e, o, before);
}

static void selector_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	kept_where_set(e, o, before, "spec.selector");
}

/* --- all of them --- */

/* In which order an update is judged. */
enum order {
	CHECK_FIRST,
	KEEP_FIRST, /* what may not change is told in front of what is wrong */
	KEEP_ALONE, /* of an update nothing else is judged */
	CHECK_TWICE /* the real server does, so each cause stands twice */
};

/* clang-format off */
static const struct {
	const char *group, *plural;
	const char *parts[6]; /* what is judged: if none of it changed, nothing is; {NULL}: all, and always */
	void (*check)(struct field_errors *e, const struct obj *o);
	void (*keep)(struct field_errors *e, const struct obj *o, const struct obj *before);
	enum order order;
} kinds[] = {
	{"", "configmaps", {"data", "binaryData", "immutable"}, check_config_keys, immutable_kept, KEEP_FIRST},
	{"", "endpoints", {"subsets"}, check_endpoints, NULL, 0},
	{"", "limitranges", {"spec"}, limit_range_check, NULL, 0},
	{"", "nodes", {"spec"}, check_node, node_kept, 0},
	{"", "namespaces", {"spec"}, namespace_spec, namespace_kept, KEEP_ALONE},
	{"", "persistentvolumeclaims", {"spec"}, check_claim, claim_kept, 0},
	{"", "persistentvolumes", {"spec"}, check_volume, volume_kept, CHECK_TWICE},
	{"", "pods", {"spec"}, pod, NULL, 0},
	{"", "podtemplates", {"template"}, pod_template, NULL, 0},
	{"", "replicationcontrollers", {"spec"}, check_replication_controller, NULL, 0},
	{"", "resourcequotas", {"spec"}, quota_check_spec, quota_check_kept, 0},
	{"", "secrets", {"data", "type", "immutable", "metadata"}, secret, secret_kept, KEEP_FIRST},
	{"apiregistration.k8s.io", "apiservices", {"spec", "metadata"}, check_api_service, NULL, 0},
	{"apps", "controllerrevisions", {NULL}, check_revision, revision_kept, 0},
	{"apps", "daemonsets", {"spec"}, check_daemon_set, selector_kept, KEEP_FIRST},
	{"apps", "deployments", {"spec"}, check_deployment, selector_kept, 0},
	{"apps", "replicasets", {"spec"}, check_replica_set, selector_kept, 0},
	{"apps", "statefulsets", {"spec"}, check_stateful_set, stateful_set_kept, 0},
	{"autoscaling", "horizontalpodautoscalers", {"spec"}, check_autoscaler, NULL, 0},
	{"batch", "cronjobs", {"spec"}, check_cron_job, NULL, 0},
	{"batch", "jobs", {"spec", "metadata"}, check_job, job_kept, CHECK_TWICE},
	{"certificates.k8s.io", "certificatesigningrequests", {"spec"}, check_certificate_request, NULL, 0},
	{"discovery.k8s.io", "endpointslices", {"addressType", "endpoints", "ports"}, check_endpoint_slice, endpoint_slice_kept, 0},
	{"flowcontrol.apiserver.k8s.io", "flowschemas", {"spec"}, check_flow_schema, NULL, 0},
	{"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", {"spec"}, check_priority_level, NULL, 0},
	{"networking.k8s.io", "ingressclasses", {"spec"}, check_ingress_class, ingress_class_kept, KEEP_FIRST},
	{"networking.k8s.io", "ingresses", {"spec"}, check_ingress, NULL, 0},
	{"networking.k8s.io", "ipaddresses", {"spec"}, check_ip_address, ip_address_kept, 0},
	{"networking.k8s.io", "networkpolicies", {"spec"}, check_network_policy, NULL, 0},
	{"networking.k8s.io", "servicecidrs", {"spec"}, check_service_cidr, service_cidr_kept, KEEP_ALONE},
	{"node.k8s.io", "runtimeclasses", {"handler", "overhead", "scheduling"}, check_runtime_class, runtime_class_kept, 0},
	{"policy", "poddisruptionbudgets", {"spec"}, budget, NULL, 0},
	{"rbac.authorization.k8s.io", "clusterrolebindings", {"subjects", "roleRef"}, check_cluster_role_binding, role_ref_kept, 0},
	{"rbac.authorization.k8s.io", "clusterroles", {"rules", "aggregationRule"}, check_cluster_role, NULL, 0},
	{"rbac.authorization.k8s.io", "rolebindings", {"subjects", "roleRef"}, check_role_binding, role_ref_kept, 0},
	{"rbac.authorization.k8s.io", "roles", {"rules"}, check_role, NULL, 0},
	{"resource.k8s.io", "deviceclasses", {"spec"}, check_device_class, NULL, 0},
	{"resource.k8s.io", "resourceclaims", {"spec"}, check_device_claim, device_claim_kept, KEEP_ALONE},
	{"resource.k8s.io", "resourceclaimtemplates", {"spec"}, check_device_template, device_claim_kept, 0},
	{"resource.k8s.io", "resourceslices", {"spec"}, check_resource_slice, resource_slice_kept, 0},
	{"scheduling.k8s.io", "priorityclasses", {"value", "preemptionPolicy", "globalDefault"}, check_priority_class, priority_class_kept, KEEP_ALONE},
	{"storage.k8s.io", "csidrivers", {"spec"}, check_csi_driver, csi_driver_kept, 0},
	{"storage.k8s.io", "csinodes", {"spec"}, check_csi_node, csi_node_kept, 0},
	{"storage.k8s.io", "csistoragecapacities", {"storageClassName", "capacity", "nodeTopology"}, check_storage_capacity, storage_capacity_kept, 0},
	{"storage.k8s.io", "storageclasses", {"provisioner", "parameters", "reclaimPolicy", "volumeBindingMode", "allowedTopologies"}, check_storage_class, storage_class_kept, 0},
	{"storage.k8s.io", "volumeattachments", {"spec"}, check_volume_attachment, volume_attachment_kept, 0},
	{"storage.k8s.io", "volumeattributesclasses", {"driverName", "parameters"}, check_volume_attributes, volume_attributes_kept, KEEP_FIRST},
};
/* clang-format on */

static bool is_changed(const struct obj *a, const struct obj *b, const char *const *parts)
{
	for (; *parts; parts++) {
		const struct obj *x = obj_get(a, *parts), *y = obj_get(b, *parts);
		if (!x != !y || (x && !obj_equal(x, y)))
			return true;
	}
	return false;
}

/* On an update, without what is said of a text that stood in the same field before. */
static void check_anew(void (*check)(struct field_errors *e, const struct obj *o),
		       struct field_errors *e, const struct obj *o, const struct obj *before)
{
	CLEANUP(arena_freep) struct arena *a = NULL;
	struct field_errors was;
	size_t from = e->n;
	check(e, o);
	if (!before || e->n == from)
		return;
	a = arena_new(ARENA_REQUEST_BYTES_MAX);
	field_errors_init(&was, a);
	check(&was, before);
	check_forgive(e, from, &was);
}

/* The rules of single fields, as check_anew() does. */
static void check_rules(const char *group, const char *plural, const struct obj *o,
			const struct obj *before, bool of_status, struct field_errors *e)
{
	size_t from = e->n;
	rule_check(e, group, plural, o, of_status);
	if (!before || e->n == from)
		return;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_REQUEST_BYTES_MAX);
	struct field_errors was;
	field_errors_init(&was, a);
	rule_check(&was, group, plural, before, of_status);
	check_forgive(e, from, &was);
}

void builtin_check_status(const char *group, const char *plural, const struct obj *o,
			  const struct obj *before, struct field_errors *e)
{
	check_rules(group, plural, o, before, true, e);
}

/* An object and where what is wrong with it is told. */
struct judged {
	const char *group, *plural;
	const struct obj *o, *before;
	struct field_errors *e;
	bool by_rules;    /* the table of rules judges it */
	bool rules_stand; /* and has */
};

/* By the row of its kind. */
static void check_kind(size_t row, struct judged *x, struct check_parts *ret)
{
	bool keeps = x->before && kinds[row].keep;
	enum order order = kinds[row].order;
	bool keep_later = order == CHECK_FIRST || order == CHECK_TWICE;
	if (keeps && !keep_later)
		kinds[row].keep(x->e, x->o, x->before);
	if (keeps && order == KEEP_FIRST)
		ret->kept = x->e->n;
	if (x->before && order == CHECK_TWICE) {
		check_anew(kinds[row].check, x->e, x->o, x->before);
		ret->checked = ret->kept = x->e->n;
	}
	if (!keeps || order != KEEP_ALONE)
		check_anew(kinds[row].check, x->e, x->o, x->before);
	ret->changed = x->e->n;
	x->rules_stand = keeps && order == CHECK_FIRST;
	if (x->rules_stand) /* of what did not change all is forgiven */
		check_rules(x->group, x->plural, x->o, x->before, false, x->e);
	if (order == CHECK_FIRST)
		ret->checked = x->e->n;
	if (keeps && keep_later)
		kinds[row].keep(x->e, x->o, x->before);
}

void builtin_check_parts(const char *group, const char *plural, const struct obj *o,
			 const struct obj *before, struct check_parts *ret, struct field_errors *e)
{
	static const char *const parts[] = {"spec",      "template",     "scheduling",
					    "endpoints", "nodeTopology", NULL};
	const size_t from = e->n;
	struct judged x = {.group = group, .plural = plural, .o = o, .before = before, .e = e};
	*ret = (struct check_parts){from, from, from};
	x.by_rules = !before || is_changed(before, o, parts); /* of what has no spec, the whole */
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].group, group) == 0 && strcmp(kinds[i].plural, plural) == 0 &&
		    (!before || !kinds[i].parts[0] || is_changed(before, o, kinds[i].parts)))
			check_kind(i, &x, ret);
	if (!x.by_rules || x.rules_stand)
		return;
	check_rules(group, plural, o, before, false, e);
	if (ret->checked > from && ret->kept == from)
		ret->checked = e->n;
}
