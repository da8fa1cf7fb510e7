/* resource_quota: see resource_quota.h. */
#include "alm/apiserver/kinds/resource_quota.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "alm/apiserver/kinds/pod_amount.h"
#include "alm/base/strbuf.h"
#include "alm/obj/meta.h"

#define CLASS_MARK     ".storageclass.storage.k8s.io/"
#define CLASS_BETA     "volume.beta.kubernetes.io/storage-class"
#define UNSTATED_MAX   6  /* names of which containers must state something */
#define CONTAINERS_MAX 64 /* that are named */
#define NAME_BYTES_MAX 64 /* of each: a label and a comma */
#define ONE_BYTES_MAX  ((size_t)CONTAINERS_MAX * NAME_BYTES_MAX)
#define ALL_BYTES_MAX  (UNSTATED_MAX * (ONE_BYTES_MAX + NAME_BYTES_MAX))

static bool is_core(const char *group, const char *plural, const char *wanted)
{
	return *group == '\0' && strcmp(plural, wanted) == 0;
}

bool quota_measures(const char *group, const char *plural)
{
	return is_core(group, plural, "pods") || is_core(group, plural, "services") ||
	       is_core(group, plural, "persistentvolumeclaims");
}

bool quota_counts(const char *name, struct str *ret_group, struct str *ret_plural)
{
	static const char *const plain[] = {"configmaps",
					    "persistentvolumeclaims",
					    "replicationcontrollers",
					    "resourcequotas",
					    "secrets",
					    "services"};
	*ret_group = STR("");
	if (cstr_has_prefix(name, "count/")) {
		if (!str_cut(str_of(name + strlen("count/")), '.', ret_plural, ret_group)) {
			*ret_plural = str_of(name + strlen("count/"));
			*ret_group = STR("");
		}
		return true;
	}
	*ret_plural = str_of(name);
	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		if (strcmp(name, plain[i]) == 0)
			return true;
	return false;
}

/* --- Pods --- */

/* The list of resources that the name is about, and the resource in it; NULL: it is not about Pods. */
static const char *list_of(const char *name, const char **ret_resource)
{
	static const char *const both[] = {"cpu", "memory", "ephemeral-storage"};
	const char *plain = name, *list = "requests";
	if (cstr_has_prefix(name, "requests."))
		plain += strlen("requests.");
	else if (cstr_has_prefix(name, "limits.")) {
		plain += strlen("limits.");
		list = "limits";
	}
	*ret_resource = plain;
	for (size_t i = 0; i < ARRAY_LEN(both); i++)
		if (strcmp(plain, both[i]) == 0)
			return list;
	if (strcmp(list, "limits") == 0)
		return NULL;
	if (cstr_has_prefix(plain, "hugepages-"))
		return list;
	/* an extended resource, of requests alone */
	return plain != name && strchr(plain, '/') && !strstr(plain, "kubernetes.io/") ? list
										       : NULL;
}

static bool has_ended(const struct obj *pod)
{
	const char *phase = obj_str(pod, "status.phase");
	return meta_is_deleting(pod) || cstr_eq(phase, "Succeeded") || cstr_eq(phase, "Failed");
}

static bool is_about_pods(const char *name)
{
	const char *ignored;
	return strcmp(name, "pods") == 0 || list_of(name, &ignored);
}

static bool pod_takes(const struct obj *pod, const char *name, struct quantity *ret)
{
	const char *resource, *list = list_of(name, &resource);
	if (has_ended(pod))
		return false;
	if (strcmp(name, "pods") == 0)
		return quantity_read(STR("1"), ret);
	if (!list)
		return false;
	struct amount x = amount_of_pod(pod, list, resource);
	*ret = x.q;
	return x.is_there;
}

/* --- Services --- */

static bool is_about_services(const char *name)
{
	return strcmp(name, "services.nodeports") == 0 ||
	       strcmp(name, "services.loadbalancers") == 0;
}

static size_t ports_with_node_port(const struct obj *ports)
{
	size_t n = 0;
	for (size_t i = 0; i < obj_len(ports); i++)
		n += obj_i64(obj_at(ports, i), "nodePort", 0) != 0;
	return n;
}

static bool service_takes(const struct obj *o, const char *name, struct quantity *ret)
{
	const char *type = obj_str(o, "spec.type");
	const struct obj *ports = obj_path(o, "spec.ports");
	bool balanced = cstr_eq(type, "LoadBalancer");
	size_t n = 0;
	if (!is_about_services(name))
		return false;
	if (strcmp(name, "services.loadbalancers") == 0)
		n = balanced;
	else if (balanced && !obj_flag(o, "spec.allocateLoadBalancerNodePorts", true))
		n = ports_with_node_port(ports);
	else if (balanced || cstr_eq(type, "NodePort"))
		n = obj_len(ports);
	*ret = (struct quantity){.nanos = (quantity_nanos)n * 1000000000};
	return true;
}

/* --- claims --- */

/* "CLASS.storageclass.storage.k8s.io/REST", or REST alone. */
static const char *class_of(const char *name, struct str *ret_class)
{
	const char *mark = strstr(name, CLASS_MARK);
	*ret_class = mark ? str_n(name, (size_t)(mark - name)) : STR_NONE;
	return mark ? mark + strlen(CLASS_MARK) : name;
}

static bool is_about_claims(const char *name)
{
	struct str class;
	const char *rest = class_of(name, &class);
	return strcmp(rest, "requests.storage") == 0 ||
	       (class.ptr && strcmp(rest, "persistentvolumeclaims") == 0);
}

static bool claim_takes(const struct obj *o, const char *name, struct quantity *ret)
{
	struct str class;
	const char *rest = class_of(name, &class);
	const char *own = meta_annotation(o, CLASS_BETA);
	if (!own)
		own = obj_str(o, "spec.storageClassName");
	if (!is_about_claims(name) || (class.ptr && !str_is(class, own ? own : "")))
		return false;
	if (strcmp(rest, "requests.storage") != 0)
		return quantity_read(STR("1"), ret);
	struct amount x = amount_in(obj_path(o, "spec.resources"), "requests", "storage");
	*ret = x.q;
	return x.is_there;
}

bool quota_takes(const char *group, const char *plural, const struct obj *o, const char *name,
		 struct quantity *ret)
{
	*ret = (struct quantity){0};
	if (is_core(group, plural, "pods"))
		return pod_takes(o, name, ret);
	if (is_core(group, plural, "services"))
		return service_takes(o, name, ret);
	return is_core(group, plural, "persistentvolumeclaims") && claim_takes(o, name, ret);
}

bool quota_is_measured(const char *name)
{
	return is_about_pods(name) || is_about_services(name) || is_about_claims(name);
}

/* --- scopes --- */

static bool states_compute(const struct obj *resources)
{
	static const char *const lists[] = {"requests", "limits"}, *const names[] = {"cpu",
										     "memory"};
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (size_t k = 0; k < ARRAY_LEN(names); k++)
			if (amount_in(resources, lists[i], names[k]).q.nanos > 0)
				return true;
	return false;
}

static bool is_best_effort(const struct obj *pod)
{
	static const char *const lists[] = {"spec.containers", "spec.initContainers"};
	if (states_compute(obj_path(pod, "spec.resources")))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const struct obj *list = obj_path(pod, lists[i]);
		for (size_t k = 0; k < obj_len(list); k++)
			if (states_compute(obj_get(obj_at(list, k), "resources")))
				return false;
	}
	return true;
}

static bool leaves_namespace(const struct obj *term)
{
	return obj_len(obj_get(term, "namespaces")) ||
	       obj_type(obj_get(term, "namespaceSelector")) == OBJ_MAP;
}

static bool has_cross_affinity(const struct obj *pod)
{
	static const char *const kinds[] = {"podAffinity", "podAntiAffinity"};
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct obj *a = obj_get(obj_path(pod, "spec.affinity"), kinds[i]);
		const struct obj *hard =
			obj_get(a, "requiredDuringSchedulingIgnoredDuringExecution");
		const struct obj *soft =
			obj_get(a, "preferredDuringSchedulingIgnoredDuringExecution");
		for (size_t k = 0; k < obj_len(hard); k++)
			if (leaves_namespace(obj_at(hard, k)))
				return true;
		for (size_t k = 0; k < obj_len(soft); k++)
			if (leaves_namespace(obj_get(obj_at(soft, k), "podAffinityTerm")))
				return true;
	}
	return false;
}

/* A class by name, as a selector has it. */
static bool selects(const char *operator, const struct obj * values, const char *class)
{
	bool is_in = false;
	bool is_there = class && *class;
	for (size_t i = 0; i < obj_len(values); i++)
		is_in = is_in || (is_there && cstr_eq(obj_as_string(obj_at(values, i)), class));
	if (cstr_eq(operator, "In"))
		return is_in;
	if (cstr_eq(operator, "NotIn"))
		return !is_in;
	return cstr_eq(operator, "DoesNotExist") ? !is_there : is_there;
}

static bool pod_in_scope(const struct obj *pod, const char *scope, const char *operator,
			 const struct obj * values)
{
	bool ends = obj_i64(pod, "spec.activeDeadlineSeconds", -1) >= 0;
	if (cstr_eq(scope, "Terminating"))
		return ends;
	if (cstr_eq(scope, "NotTerminating"))
		return !ends;
	if (cstr_eq(scope, "BestEffort"))
		return is_best_effort(pod);
	if (cstr_eq(scope, "NotBestEffort"))
		return !is_best_effort(pod);
	if (cstr_eq(scope, "PriorityClass"))
		return selects(operator, values, obj_str(pod, "spec.priorityClassName"));
	return cstr_eq(scope, "CrossNamespacePodAffinity") && has_cross_affinity(pod);
}

static bool in_scope(const char *group, const char *plural, const struct obj *o, const char *scope,
		     const char *operator, const struct obj * values)
{
	if (is_core(group, plural, "pods"))
		return pod_in_scope(o, scope, operator, values);
	return is_core(group, plural, "persistentvolumeclaims") &&
	       cstr_eq(scope, "VolumeAttributesClass") &&
	       selects(operator, values, obj_str(o, "spec.volumeAttributesClassName"));
}

static bool concerns(const char *group, const char *plural, const char *name)
{
	struct str g, p;
	if (quota_counts(name, &g, &p) && str_is(g, group) && str_is(p, plural))
		return true;
	return (is_core(group, plural, "pods") && is_about_pods(name)) ||
	       (is_core(group, plural, "services") && is_about_services(name)) ||
	       (is_core(group, plural, "persistentvolumeclaims") && is_about_claims(name));
}

bool quota_covers(const struct obj *quota, const char *group, const char *plural,
		  const struct obj *o)
{
	const struct obj *scopes = obj_path(quota, "spec.scopes");
	const struct obj *terms = obj_path(quota, "spec.scopeSelector.matchExpressions");
	bool is_concerned = false;
	OBJ_EACH (it, obj_path(quota, "spec.hard"))
		is_concerned = is_concerned || concerns(group, plural, it.key);
	for (size_t i = 0; is_concerned && i < obj_len(scopes); i++)
		is_concerned = in_scope(group, plural, o, obj_as_string(obj_at(scopes, i)),
					"Exists", NULL);
	for (size_t i = 0; is_concerned && i < obj_len(terms); i++) {
		const struct obj *t = obj_at(terms, i);
		is_concerned = in_scope(group, plural, o, obj_str(t, "scopeName"),
					obj_str(t, "operator"), obj_get(t, "values"));
	}
	return is_concerned;
}

/* --- what must be stated --- */

/* Names of the containers whose list has no such resource, in order and once each; "" if all have. */
static void unstated_in(const struct obj *pod, const char *list, const char *resource,
			struct strbuf *b)
{
	static const char *const fields[] = {"spec.containers", "spec.initContainers"};
	const char *names[CONTAINERS_MAX];
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct obj *containers = obj_path(pod, fields[i]);
		for (size_t k = 0; k < obj_len(containers) && n < CONTAINERS_MAX; k++) {
			const struct obj *c = obj_at(containers, k);
			if (!amount_in(obj_get(c, "resources"), list, resource).is_there)
				names[n++] = obj_str(c, "name") ? obj_str(c, "name") : "";
		}
	}
	qsort(names, n, sizeof(*names), cstr_cmpp);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
			strbuf_addf(b, "%s%.63s", i ? "," : "", names[i]);
}

const char *quota_unstated(const struct obj *quota, const struct obj *pod, struct arena *a)
{
	static const char *const names[UNSTATED_MAX] = {
		"cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"};
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT(ALL_BYTES_MAX);
	for (size_t i = 0; i < UNSTATED_MAX; i++) {
		CLEANUP(strbuf_release) struct strbuf one = STRBUF_INIT(ONE_BYTES_MAX);
		const char *resource, *list = list_of(names[i], &resource);
		if (!obj_has(obj_path(quota, "spec.hard"), names[i]) ||
		    amount_in(obj_path(pod, "spec.resources"), list, resource).is_there)
			continue;
		unstated_in(pod, list, resource, &one);
		if (one.len)
			strbuf_addf(&all, "%s%s for: %s", all.len ? "; " : "", names[i], one.buf);
	}
	assert(!all.over); /* or what is not told would pass */
	return all.len ? arena_strdup(a, all.buf) : NULL;
}
