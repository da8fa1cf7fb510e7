/* admit_platform: see admit_platform.h. */
#include "alm/apiserver/admit_platform.h"

#include <string.h>

#include "alm/apiserver/auth/auth.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/claim_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/job_check.h"
#include "alm/base/clock.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "alm/obj/schema/api_same.h"

/* A list and the member that was there before it are one: the list's first. What states only one of them is heard; of two that
 * differ, the member. */
static void default_plural(struct obj *o, const char *one, const char *many, const char *key)
{
	const char *single = obj_str(o, one);
	const struct obj *first = obj_at(obj_get(o, many), 0);
	const char *listed = key ? obj_str(first, key) : obj_as_string(first);
	if (obj_type(o) != OBJ_MAP || cstr_eq(single, listed))
		return;
	if (!single || !*single) {
		obj_set_str(o, one, listed);
		return;
	}
	struct obj *list = obj_list(), *item = key ? obj_map() : obj_string(single);
	if (key)
		obj_set_str(item, key, single);
	obj_append(list, item);
	obj_set(o, many, list);
}

void admit_pod_default(struct mutation *m)
{
	static const char *const lists[] = {"containerStatuses", "initContainerStatuses",
					    "ephemeralContainerStatuses"};
	static const char *const states[] = {"state", "lastState"};
	struct obj *status = obj_get_mut(m->after, "status");
	default_plural(status, "podIP", "podIPs", "ip");
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; i < obj_len(obj_get(status, lists[k])); i++) {
			struct obj *c = obj_at_mut(obj_get_mut(status, lists[k]), i);
			for (size_t n = 0; n < ARRAY_LEN(states); n++)
				if (obj_type(c) == OBJ_MAP && !obj_is_set(obj_get(c, states[n])))
					obj_set(c, states[n], obj_map());
		}
}

void admit_node_default(struct mutation *m)
{
	const struct obj *amounts = obj_path(m->after, "status.capacity");
	default_plural(obj_get_mut(m->after, "spec"), "podCIDR", "podCIDRs", NULL);
	if (amounts && !obj_path(m->after, "status.allocatable"))
		obj_set_path(m->after, "status.allocatable", obj_ref(amounts));
}

/* It runs nothing before it was seen to be ready (TaintNodesByCondition). */
static void add_unready(struct mutation *m)
{
	static const char key[] = "node.kubernetes.io/not-ready";
	const struct obj *had = obj_path(m->after, "spec.taints");
	CLEANUP(obj_unrefp) struct obj *list =
		obj_type(had) == OBJ_LIST ? obj_copy(had) : obj_list();
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "key"), key))
			return;
	struct obj *taint = obj_map();
	obj_set_str(taint, "key", key);
	obj_set_str(taint, "effect", "NoSchedule");
	obj_append(list, taint);
	obj_set_path(m->after, "spec.taints", obj_ref(list));
}

/* What a node tells of itself is there from the start. */
void admit_node_late(struct mutation *m)
{
	static const char port[] = "status.daemonEndpoints.kubeletEndpoint.Port";
	static const char *const facts[] = {"machineID",       "systemUUID",
					    "bootID",          "kernelVersion",
					    "osImage",         "containerRuntimeVersion",
					    "kubeletVersion",  "kubeProxyVersion",
					    "operatingSystem", "architecture"};
	obj_del_path(m->after, "spec.configSource"); /* of a feature that is gone */
	if (!obj_path(m->before, "status.config"))
		obj_del_path(m->after, "status.config");
	if (!m->head)
		add_unready(m);
	if (!obj_path(m->after, port))
		obj_set_path(m->after, port, obj_int(0));
	for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
		const char *at = arena_fmt(m->r->arena, "status.nodeInfo.%s", facts[i]);
		if (!obj_path(m->after, at))
			obj_set_path(m->after, at, obj_string(""));
	}
}

/* Fields of features that are off by default go, unless they are there. */
static void drop_new(struct mutation *m, const char *path)
{
	if (!m->before || !obj_path(m->before, path))
		obj_del_path(m->after, path);
}

/* How containers end, the same. */
static void drop_signals(struct mutation *m, const char *at)
{
	const struct obj *list = obj_path(m->after, at);
	CLEANUP(obj_unrefp) struct obj *out = NULL;
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *was = obj_at(obj_path(m->before, at), i);
		if (!obj_path(obj_at(list, i), "lifecycle.stopSignal") ||
		    obj_path(was, "lifecycle.stopSignal"))
			continue;
		out = out ? out : obj_copy(list);
		obj_del_path(obj_at_mut(out, i), obj_len(obj_get(obj_at(list, i), "lifecycle")) > 1
							 ? "lifecycle.stopSignal"
							 : "lifecycle");
	}
	if (out)
		obj_set_path(m->after, at, obj_ref(out));
}

/* Does a volume of the list have the source? */
static bool is_projected(const struct obj *volumes, const char *field)
{
	for (size_t i = 0; i < obj_len(volumes); i++) {
		const struct obj *list = obj_path(obj_at(volumes, i), "projected.sources");
		for (size_t k = 0; k < obj_len(list); k++)
			if (obj_has(obj_at(list, k), field))
				return true;
	}
	return false;
}

/* Sources of volumes, the same. */
static void drop_projected(struct mutation *m, const char *at)
{
	static const char *const fields[] = {"clusterTrustBundle", "podCertificate"};
	for (size_t n = 0; n < ARRAY_LEN(fields); n++) {
		const struct obj *volumes = obj_path(m->after, at);
		if (!is_projected(volumes, fields[n]) ||
		    is_projected(obj_path(m->before, at), fields[n]))
			continue;
		struct obj *out = obj_copy(volumes);
		for (size_t i = 0; i < obj_len(out); i++) {
			struct obj *list = obj_get_mut(obj_get_mut(obj_at_mut(out, i), "projected"),
						       "sources");
			for (size_t k = 0; k < obj_len(list); k++)
				obj_del(obj_at_mut(list, k), fields[n]);
		}
		obj_set_path(m->after, at, out);
	}
}

static void drop_of_pod(struct mutation *m, const char *spec)
{
	if (m->is_status || m->whole)
		return;
	drop_signals(m, arena_fmt(m->r->arena, "%s.ephemeralContainers", spec));
	if (*m->r->subresource)
		return;
	drop_new(m, arena_fmt(m->r->arena, "%s.schedulingGroup", spec));
	drop_projected(m, arena_fmt(m->r->arena, "%s.volumes", spec));
	drop_signals(m, arena_fmt(m->r->arena, "%s.containers", spec));
	drop_signals(m, arena_fmt(m->r->arena, "%s.initContainers", spec));
}

void admit_pod_late(struct mutation *m)
{
	drop_new(m, "status.nodeAllocatableResourceClaimStatuses");
	drop_of_pod(m, "spec");
}

void admit_cron_late(struct mutation *m)
{
	drop_of_pod(m, "spec.jobTemplate.spec.template.spec");
}

void admit_pod_template_late(struct mutation *m)
{
	drop_of_pod(m, "template.spec");
}

void admit_template_late(struct mutation *m)
{
	drop_of_pod(m, "spec.template.spec");
}

/* A Job without labels has those of its Pods. */
void admit_job_default(struct mutation *m)
{
	const struct obj *labels = obj_path(m->after, "spec.template.metadata.labels");
	if (obj_len(obj_path(m->after, "metadata.labels")) || !obj_len(labels))
		return;
	obj_set_path(m->after, "metadata.labels", obj_copy(labels));
	m->has_labels_of_pods = true;
}

/* A Job finds its Pods by its uid, and these labels are theirs and, if it has none, its own. */
void admit_job_late(struct mutation *m)
{
	struct obj *o = m->after;
	const char *uid = meta_uid(o);
	admit_template_late(m);
	if (m->head || !m->name || !uid || obj_flag(o, "spec.manualSelector", false))
		return;
	if (!obj_path(o, "spec.template.metadata"))
		obj_set_path(o, "spec.template.metadata", obj_map());
	if (obj_type(obj_path(o, "spec.template")) != OBJ_MAP)
		return;
	const struct {
		const char *key, *value;
	} labels[] = {{"batch.kubernetes.io/controller-uid", uid},
		      {"batch.kubernetes.io/job-name", m->name},
		      {"controller-uid", uid},
		      {"job-name", m->name}};
	struct obj *template = obj_get_mut(obj_get_mut(o, "spec"), "template");
	bool has_own = obj_len(obj_path(o, "metadata.labels")) && !m->has_labels_of_pods;
	for (size_t i = 0; i < ARRAY_LEN(labels); i++)
		if (!obj_has(obj_path(template, "metadata.labels"), labels[i].key))
			meta_set_label(template, labels[i].key, labels[i].value);
	/* there they become its own when it is read, so a name that is no label is told of those of the Pods alone */
	if (!has_own && (m->has_labels_of_pods || !name_fault(NAME_LABEL_VALUE, str_of(m->name))))
		obj_set_path(o, "metadata.labels", obj_copy(obj_path(template, "metadata.labels")));
	struct obj *match = obj_copy_map(obj_path(o, "spec.selector.matchLabels"));
	if (!obj_has(match, labels[0].key))
		obj_set_str(match, labels[0].key, uid);
	obj_set_path(o, "spec.selector.matchLabels", match);
}

void admit_job_validate(struct mutation *m, struct field_errors *e)
{
	if (m->is_status)
		job_status_kept(e, m->after, m->before);
}

void admit_stateful_late(struct mutation *m)
{
	admit_template_late(m);
	if (!m->is_status && !m->whole)
		drop_new(m, "spec.updateStrategy.rollingUpdate.maxUnavailable");
}

void admit_lease_late(struct mutation *m)
{
	drop_new(m, "spec.strategy");
	drop_new(m, "spec.preferredHolder");
}

void admit_driver_late(struct mutation *m)
{
	drop_new(m, "spec.preventPodSchedulingIfMissing");
}

void admit_priority_late(struct mutation *m)
{
	if (!obj_has(m->after, "value"))
		obj_set_int(m->after, "value", 0);
}

void admit_revision_late(struct mutation *m)
{
	if (!obj_has(m->after, "revision"))
		obj_set_int(m->after, "revision", 0);
}

/* How often the template changed; what the client says of it counts where the object is new. */
#define TEMPLATES "deprecated.daemonset.template.generation"

void admit_daemon_default(struct mutation *m)
{
	const char *had = meta_annotation(m->before, TEMPLATES);
	const char *said = meta_annotation(m->after, TEMPLATES);
	int64_t n = 1;
	if (!had && (!said || !str_parse_i64(str_of(said), &n) || n < 1))
		n = 1;
	if (!m->is_status)
		meta_set_annotation(m->after, TEMPLATES,
				    had ? had : arena_fmt(m->r->arena, "%lld", (long long)n));
}

void admit_daemon_late(struct mutation *m)
{
	const char *had = meta_annotation(m->before, TEMPLATES);
	int64_t n = 0;
	admit_template_late(m);
	if (m->is_status || !m->head || !had || !str_parse_i64(str_of(had), &n) ||
	    api_same(api_type_named("core.v1.PodTemplateSpec"),
		     obj_path(m->before, "spec.template"), obj_path(m->after, "spec.template")))
		return;
	meta_set_annotation(m->after, TEMPLATES, arena_fmt(m->r->arena, "%lld", (long long)n + 1));
}

/* --- Pods --- */

#define TOLERATION_SECONDS 300

static bool tolerates(const struct obj *list, const char *key)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *is = obj_str(obj_at(list, i), "key");
		const char *effect = obj_str(obj_at(list, i), "effect");
		if ((!is || !*is || cstr_eq(is, key)) &&
		    (!effect || !*effect || cstr_eq(effect, "NoExecute")))
			return true;
	}
	return false;
}

void admit_tolerations(struct mutation *m)
{
	static const char *const keys[] = {"node.kubernetes.io/not-ready",
					   "node.kubernetes.io/unreachable"};
	if (*m->resource->group || !cstr_eq(m->resource->plural, "pods") || m->is_status ||
	    (m->r->subresource && *m->r->subresource) || (m->head && m->whole))
		return;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const struct obj *list = obj_path(m->after, "spec.tolerations");
		if (tolerates(list, keys[i]))
			continue;
		struct obj *out = obj_type(list) == OBJ_LIST ? obj_copy(list) : obj_list(),
			   *one = obj_map();
		obj_set_str(one, "key", keys[i]);
		obj_set_str(one, "operator", "Exists");
		obj_set_str(one, "effect", "NoExecute");
		obj_set_int(one, "tolerationSeconds", TOLERATION_SECONDS);
		obj_append(out, one);
		obj_set_path(m->after, "spec.tolerations", out);
	}
}

/* A field of v1beta1: it may stay where it stood. */
void admit_slice_late(struct mutation *m)
{
	const struct obj *list = obj_path(m->after, "endpoints");
	CLEANUP(obj_unrefp) struct obj *out = NULL;
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *is = obj_get(obj_at(list, i), "deprecatedTopology");
		const struct obj *was =
			obj_get(obj_at(obj_path(m->before, "endpoints"), i), "deprecatedTopology");
		if (!is || (was && obj_equal(is, was)))
			continue;
		out = out ? out : obj_copy(list);
		obj_del(obj_at_mut(out, i), "deprecatedTopology");
	}
	if (out)
		obj_set_path(m->after, "endpoints", obj_ref(out));
}

/* --- storage --- */

void admit_claim_late(struct mutation *m)
{
	static const char *const fields[] = {"spec.dataSource", "spec.dataSourceRef"};
	const struct obj *source = obj_path(m->after, fields[0]);
	if (m->is_status && !obj_path(m->after, "status.phase"))
		obj_set_path(m->after, "status.phase", obj_string("Pending"));
	if (m->is_status || m->whole)
		return;
	if (!check_is_empty(m->after, "spec.dataSourceRef.namespace") &&
	    !(m->before && obj_path(m->before, fields[1])))
		obj_del_path(m->after, fields[1]); /* of a feature that is off */
	if (source && !claim_has_source(source) && !obj_path(m->after, fields[1]) &&
	    !(m->before && (obj_path(m->before, fields[0]) || obj_path(m->before, fields[1]))))
		obj_del_path(m->after, fields[0]);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) { /* either stands for both */
		const struct obj *v = obj_path(m->after, fields[i]);
		const char *ns = obj_str(v, "namespace");
		bool had = !m->before || !obj_path(m->before, fields[i]) ||
			   obj_path(m->before, fields[1 - i]); /* a spec stays as it is */
		if (!v || !had || obj_path(m->after, fields[1 - i]) || (ns && *ns))
			continue;
		struct obj *copy = obj_copy(v);
		obj_del(copy, "namespace"); /* which an old one does not have */
		obj_set_path(m->after, fields[1 - i], copy);
	}
	if (!m->head)
		obj_set_path(m->after, "status.phase", obj_string("Pending"));
}

void admit_volume_late(struct mutation *m)
{
	static const char at[] = "status.lastPhaseTransitionTime";
	const struct obj *since = obj_path(m->before, at);
	char now[CLOCK_TEXT_MAX];
	if ((m->head && !m->is_status) || m->whole)
		return;
	clock_format(request_now(m->r), CLOCK_SECONDS, now);
	if (!m->is_status || !obj_path(m->after, "status.phase"))
		obj_set_path(m->after, "status.phase", obj_string("Pending"));
	bool same = cstr_eq(obj_str(m->before, "status.phase"), obj_str(m->after, "status.phase"));
	if (!m->is_status || (!same && !obj_path(m->after, at)))
		obj_set_path(m->after, at, obj_string(now));
	else if (same && since && !obj_path(m->after, at))
		obj_set_path(m->after, at, obj_ref(since));
}

/* --- requests of certificates --- */

/* Nobody owns what the server writes or keeps. */
static void disown_spec(struct obj *o)
{
	const struct obj *list = obj_path(o, "metadata.managedFields");
	struct obj *out = obj_list();
	for (size_t i = 0; i < obj_len(list); i++) {
		struct obj *one = obj_copy(obj_at(list, i));
		obj_del_path(one, "fieldsV1['f:spec']");
		if (obj_len(obj_get(one, "fieldsV1")))
			obj_append(out, one);
		else
			obj_unref(one);
	}
	if (obj_len(out)) {
		obj_set_path(o, "metadata.managedFields", out);
		return;
	}
	obj_unref(out);
	obj_del_path(o, "metadata.managedFields");
}

/* What was decided stays as it is under a new status. */
static void keep_decision(struct obj *status, const struct obj *before)
{
	static const char *const types[] = {"Approved", "Denied"};
	const struct obj *is = obj_get(status, "conditions");
	if (obj_type(is) != OBJ_LIST)
		return;
	struct obj *list = obj_copy_list(is);
	for (size_t t = 0; t < ARRAY_LEN(types); t++) {
		const struct obj *was =
			condition_find(obj_path(before, "status.conditions"), types[t]);
		for (size_t i = 0; was && i < obj_len(list); i++)
			if (cstr_eq(obj_str(obj_at(list, i), "type"), types[t]))
				obj_set_at(list, i, obj_ref(was));
	}
	obj_set(status, "conditions", list);
}

void admit_request_late(struct mutation *m)
{
	static const char *const who[] = {"username", "uid", "groups", "extra"};
	CLEANUP(obj_unrefp) struct obj *user = auth_user_obj(&m->r->user);
	if (m->head) {
		const struct obj *spec = obj_get(m->before, "spec");
		if (spec)
			obj_set(m->after, "spec", obj_ref(spec));
		if (m->is_status)
			keep_decision(obj_get_mut(m->after, "status"), m->before);
	}
	for (size_t i = 0; !m->head && i < ARRAY_LEN(who); i++) {
		const struct obj *v = obj_get(user, who[i]);
		const char *path = arena_fmt(m->r->arena, "spec.%s", who[i]);
		bool empty = obj_type(v) == OBJ_STRING ? !obj_as_str(v).len : !obj_len(v);
		obj_del_path(m->after, path);
		if (v && !empty)
			obj_set_path(m->after, path, obj_ref(v));
	}
	disown_spec(m->after);
}
