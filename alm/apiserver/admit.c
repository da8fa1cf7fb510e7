/* admit: see admit.h. One function a kind; to add one, a row in the table. */
#include "alm/apiserver/admit.h"

#include <string.h>

#include "alm/apiserver/admission/hook_check.h"
#include "alm/apiserver/admission/match.h"
#include "alm/apiserver/admission/policy_check.h"
#include "alm/apiserver/admission/priority.h"
#include "alm/apiserver/admit_platform.h"
#include "alm/apiserver/auth/approval.h"
#include "alm/apiserver/auth/rbac.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/autoscale.h"
#include "alm/apiserver/kinds/builtin_check.h"
#include "alm/apiserver/kinds/crd.h"
#include "alm/apiserver/kinds/defaults.h"
#include "alm/apiserver/kinds/event_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/limit_range.h"
#include "alm/apiserver/kinds/own_crd.h"
#include "alm/apiserver/kinds/pod_amount.h"
#include "alm/apiserver/kinds/pod_kept.h"
#include "alm/apiserver/kinds/request_check.h"
#include "alm/apiserver/kinds/services.h"
#include "alm/apiserver/limits.h"
#include "alm/apiserver/resizing.h"
#include "alm/apiserver/status.h"
#include "alm/base/hash.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "alm/obj/schema/api_decode.h"

static void namespace_default(struct mutation *m)
{
	struct obj *o = m->after;
	if (m->name)
		meta_set_label(o, "kubernetes.io/metadata.name", m->name);
}

static void namespace_late(struct mutation *m)
{
	struct obj *o = m->after;
	if (m->head && !cstr_eq(m->r->subresource, "finalize")) {
		const struct obj *f = obj_path(m->before, "spec.finalizers");
		obj_del_path(o, "spec.finalizers");
		if (f)
			obj_set_path(o, "spec.finalizers", obj_ref(f));
	}
	if (m->is_status && check_is_empty(o, "status.phase"))
		obj_set_path(m->after, "status.phase", obj_string("Active"));
	if (m->head)
		return;
	const struct obj *given = obj_path(m->after, "spec.finalizers");
	struct obj *list = obj_list();
	bool has = false;
	for (size_t i = 0; i < obj_len(given); i++) {
		has = has || cstr_eq(obj_as_string(obj_at(given, i)), "kubernetes");
		obj_append(list, obj_ref(obj_at(given, i)));
	}
	if (!has)
		obj_append(list, obj_string("kubernetes"));
	obj_set_path(m->after, "spec.finalizers", list);
	obj_set_path(m->after, "status.phase", obj_string("Active"));
}

static void secret_default(struct mutation *m)
{
	struct obj *o = m->after;
	const struct obj *plain = obj_get(o, "stringData");
	OBJ_EACH (it, plain) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STORE_VALUE_BYTES_MAX);
		base64_encode(obj_as_str(it.value), &b);
		if (!obj_get(o, "data"))
			obj_set(o, "data", obj_map());
		obj_set(obj_get_mut(o, "data"), it.key, obj_string(b.buf));
	}
	obj_del(o, "stringData");
	if (!obj_str(o, "type") || !*obj_str(o, "type"))
		obj_set_str(o, "type", "Opaque");
}

static void event_late(struct mutation *m)
{
	struct obj *o = m->after;
	if (!obj_has(o, "eventTime"))
		obj_set(o, "eventTime", obj_null());
	if (!obj_has(o, "reportingComponent"))
		obj_set_str(o, "reportingComponent", "");
	if (!obj_has(o, "reportingInstance"))
		obj_set_str(o, "reportingInstance", "");
}

static void event_validate(struct mutation *m, struct field_errors *e)
{
	check_event(e, m->after, m->before, *m->kind->group != '\0');
}

static bool same(const struct obj *a, const struct obj *b)
{
	if (!obj_len(a) && !obj_len(b))
		return true;
	return a && b && obj_equal(a, b);
}

static void service_late(struct mutation *m)
{
	if (!m->is_status)
		services_allocate(m->resource, m->after, m->before);
}

static void service_validate(struct mutation *m, struct field_errors *e)
{
	if (!m->is_status)
		services_validate(m->resource, m->after, m->before, m->head, e);
}

static void request_validate(struct mutation *m, struct field_errors *e)
{
	if (m->head)
		check_decision(e, m->after, m->before, !m->is_status);
}

static bool is_crd(const struct mutation *m)
{
	return cstr_eq(m->resource->group, CRD_GROUP) &&
	       cstr_eq(m->resource->plural, "customresourcedefinitions");
}

static void crd_default_of(struct mutation *m)
{
	if (m->is_status &&
	    obj_type(obj_get(m->after, "status")) != OBJ_MAP) /* it is not emptied */
		crd_empty_status(m->after);
	crd_default(m->after);
	if (m->is_status || !m->r->server->config.own_controllers)
		return;
	if (own_crd_keep(m->after))
		request_warn(m->r,
			     "%s is a definition of ALM itself: its spec stays as alm " ALM_VERSION
			     ", which runs here, brings it",
			     meta_name(m->after));
	else if (!m->head && own_crd_is_unserved(m->after))
		request_warn(m->r,
			     "%s: no controller of alm " ALM_VERSION
			     " acts on this kind; its objects are only stored",
			     meta_name(m->after));
}

static void crd_late(struct mutation *m)
{
	if (!m->is_status)
		crd_set_status(m->r->server->crds, m->after, m->before, request_now(m->r));
}

static void crd_validate_of(struct mutation *m, struct field_errors *e)
{
	if (m->is_status)
		crd_validate_status(m->after, m->before, e);
	else
		crd_validate(mutation_definition(m), m->before, e);
}

static void aggregation_validate(struct mutation *m, struct field_errors *e)
{
	if (obj_len(obj_path(m->after, "aggregationRule.clusterRoleSelectors")) >
	    RBAC_SELECTORS_MAX)
		field_errors_add(e, FIELD_INVALID, "aggregationRule.clusterRoleSelectors",
				 "Invalid value: must have at most %d items", RBAC_SELECTORS_MAX);
}

/* It says itself that no scheduler looks at it. */
static void tell_gates(struct mutation *m)
{
	static const struct condition c = {
		"PodScheduled", "False", "SchedulingGated",
		"Scheduling is blocked due to non-empty scheduling gates", 0};
	struct obj *list = obj_list();
	condition_set(list, &c, request_now(m->r));
	obj_set(obj_at_mut(list, 0), "lastProbeTime", obj_null());
	obj_set_path(m->after, "status.conditions", list);
}

/* Controllers take a Pod without a phase for one that was not created. */
static void pod_late(struct mutation *m)
{
	limits_apply(m);
	const struct obj *quality = obj_path(m->before, "status.qosClass");
	admit_pod_late(m);
	if (m->is_status && quality && check_is_empty(m->after, "status.qosClass"))
		obj_set_path(m->after, "status.qosClass", obj_ref(quality)); /* given once */
	if (m->head || m->whole)
		return;
	admit_notes_late(m);
	admit_places_late(m);
	obj_set_path(m->after, "status.phase", obj_string("Pending"));
	obj_set_path(m->after, "status.qosClass", obj_string(pod_quality(m->after)));
	if (obj_len(obj_path(m->after, "spec.schedulingGates")))
		tell_gates(m);
}

static bool spec_changes(const struct mutation *m)
{
	return !m->is_status &&
	       (!m->head || !same(obj_get(m->before, "spec"), obj_get(m->after, "spec")));
}

/* It is told behind what is looked at first. */
static void tell_quality(struct field_errors *e, const char *path, const char *is)
{
	static const char *const first[] = {"status.conditions", "status.nominatedNodeName",
					    "status.observedGeneration"};
	size_t n = e->n, at = 0;
	for (size_t i = 0; i < n; i++) {
		bool before = !cstr_has_prefix(e->items[i].path, "status.");
		for (size_t k = 0; k < ARRAY_LEN(first); k++)
			before = before || cstr_has_prefix(e->items[i].path, first[k]);
		at = before ? i + 1 : at;
	}
	check_invalid_text(e, path, is, "field is immutable");
	if (e->n > n)
		field_errors_swap(e, at, n, e->n);
}

/* Of an update without what is said of a text that stood in the same field before. */
static void check_anew(const struct mutation *m,
		       void (*check)(const struct obj *o, struct field_errors *e),
		       struct field_errors *e)
{
	struct field_errors was;
	size_t from = e->n;
	check(m->after, e);
	if (!m->head || e->n == from)
		return;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_REQUEST_BYTES_MAX);
	field_errors_init(&was, a);
	check(m->before, &was);
	check_forgive(e, from, &was);
}

/* Subresources and the server's own writers change more of it. */
static void pod_validate(struct mutation *m, struct field_errors *e)
{
	static const char quality[] = "status.qosClass";
	const char *was = obj_str(m->before, quality);
	if (!m->head && obj_len(obj_path(m->after, "spec.ephemeralContainers")))
		check_forbidden(e, "spec.ephemeralContainers", "cannot be set on create");
	admit_notes_validate(m, e);
	if (m->head && spec_changes(m) && !m->whole && !*m->r->subresource)
		pod_kept(e, m->after, m->before);
	resizing_validate(m, e);
	if (m->is_status && was && !cstr_eq(was, obj_str(m->after, quality)))
		tell_quality(e, quality, check_text(m->after, quality));
}

static void range_default(struct mutation *m)
{
	limit_range_default(m->after);
}

static void policy_default_of(struct mutation *m)
{
	policy_default(m->after);
}

static void binding_default_of(struct mutation *m)
{
	binding_default(m->after);
}

/* Its expressions have no types that could be checked beyond what is checked when it is written. */
static void policy_late(struct mutation *m)
{
	if (m->is_status)
		return;
	obj_set_path(m->after, "status.observedGeneration", obj_int(meta_generation(m->after)));
	obj_set_path(m->after, "status.typeChecking", obj_map());
}

static void policy_validate(struct mutation *m, struct field_errors *e)
{
	if (spec_changes(m))
		check_anew(m, policy_check, e);
}

static bool is_mutating(const struct mutation *m)
{
	return cstr_eq(m->resource->plural, "mutatingwebhookconfigurations");
}

static void hooks_default_of(struct mutation *m)
{
	hook_default(m->after, is_mutating(m));
}

static void check_validating_hooks(const struct obj *o, struct field_errors *e)
{
	hook_check(o, false, e);
}

static void check_mutating_hooks(const struct obj *o, struct field_errors *e)
{
	hook_check(o, true, e);
}

static void hooks_validate_of(struct mutation *m, struct field_errors *e)
{
	if (!m->head || !same(obj_get(m->before, "webhooks"), obj_get(m->after, "webhooks")))
		check_anew(m, is_mutating(m) ? check_mutating_hooks : check_validating_hooks, e);
}

static void binding_validate(struct mutation *m, struct field_errors *e)
{
	if (spec_changes(m))
		check_anew(m, binding_check, e);
}

static void mutating_validate(struct mutation *m, struct field_errors *e)
{
	if (spec_changes(m))
		check_anew(m, mutating_policy_check, e);
}

static void mutating_binding_validate(struct mutation *m, struct field_errors *e)
{
	if (spec_changes(m))
		check_anew(m, mutating_binding_check, e);
}

static const struct {
	const char *group, *plural;
	void (*set_default)(struct mutation *m);
	void (*late)(struct mutation *m);
	void (*validate)(struct mutation *m, struct field_errors *e);
} rules[] = {
	{"", "namespaces", namespace_default, namespace_late, NULL},
	{"", "secrets", secret_default, NULL, admit_secret_validate},
	{"", "services", NULL, service_late, service_validate},
	{"", "events", NULL, event_late, event_validate},
	{"", "limitranges", range_default, NULL, NULL},
	{"", "nodes", admit_node_default, admit_node_late, NULL},
	{"", "persistentvolumeclaims", NULL, admit_claim_late, NULL},
	{"", "persistentvolumes", NULL, admit_volume_late, NULL},
	{"", "pods", admit_pod_default, pod_late, pod_validate},
	{ADMISSION_GROUP, "mutatingadmissionpolicies", policy_default_of, NULL, mutating_validate},
	{ADMISSION_GROUP, "mutatingadmissionpolicybindings", binding_default_of, NULL,
	 mutating_binding_validate},
	{ADMISSION_GROUP, "mutatingwebhookconfigurations", hooks_default_of, NULL,
	 hooks_validate_of},
	{ADMISSION_GROUP, "validatingadmissionpolicies", policy_default_of, policy_late,
	 policy_validate},
	{ADMISSION_GROUP, "validatingadmissionpolicybindings", binding_default_of, NULL,
	 binding_validate},
	{ADMISSION_GROUP, "validatingwebhookconfigurations", hooks_default_of, NULL,
	 hooks_validate_of},
	{"apps", "daemonsets", admit_daemon_default, admit_daemon_late, NULL},
	{"apps", "deployments", NULL, admit_template_late, NULL},
	{"apps", "replicasets", NULL, admit_template_late, NULL},
	{"apps", "statefulsets", NULL, admit_stateful_late, NULL},
	{"", "replicationcontrollers", NULL, admit_template_late, NULL},
	{"batch", "cronjobs", NULL, admit_cron_late, admit_cron_validate},
	{"", "podtemplates", NULL, admit_pod_template_late, NULL},
	{"networking.k8s.io", "ingresses", NULL, NULL, admit_ingress_validate},
	{"batch", "jobs", admit_job_default, admit_job_late, admit_job_validate},
	{"resource.k8s.io", "resourceclaims", NULL, NULL, admit_device_validate},
	{"resource.k8s.io", "resourceclaimtemplates", NULL, NULL, admit_device_validate},
	{"resource.k8s.io", "resourceslices", admit_devices_default, admit_devices_late, NULL},
	{"certificates.k8s.io", "certificatesigningrequests", NULL, admit_request_late,
	 request_validate},
	{"coordination.k8s.io", "leases", NULL, admit_lease_late, NULL},
	{"apps", "controllerrevisions", NULL, admit_revision_late, NULL},
	{"discovery.k8s.io", "endpointslices", NULL, admit_slice_late, NULL},
	{"scheduling.k8s.io", "priorityclasses", NULL, admit_priority_late, NULL},
	{"storage.k8s.io", "csidrivers", NULL, admit_driver_late, NULL},
	{RBAC_GROUP, "clusterroles", NULL, NULL, aggregation_validate},
	{APPROVAL_GROUP, APPROVAL_PLURAL, approval_default, NULL, approval_validate},
	{CRD_GROUP, "customresourcedefinitions", crd_default_of, crd_late, crd_validate_of},
};

/* NOLINTBEGIN(bugprone-macro-parentheses): a name */
#define EACH_RULE(i, m)                                              \
	for (size_t i = 0; i < ARRAY_LEN(rules); i++)                \
		if (cstr_eq(rules[i].group, (m)->resource->group) && \
		    cstr_eq(rules[i].plural, (m)->resource->plural))

/* NOLINTEND(bugprone-macro-parentheses) */

/* A status that came was taken away. */
static void fill(struct mutation *m)
{
	const struct api_type *t =
		api_type_of_kind(kind_api_version(m->kind, m->r->arena), m->kind->kind);
	if (t && m->after && !(m->kind->flags & KIND_CUSTOM))
		api_fill(t, m->after);
}

void admit_default(struct mutation *m)
{
	fill(m);
	if (autoscaler_is_v1(m->kind) && m->after) { /* gets those of v2 when it is stored */
		m->too_large = autoscaler_too_much(m->after, m->is_status);
		autoscaler_default_v1(m->after);
		if (m->is_status) { /* what v1 has no field for is there before owners are told */
			autoscaler_from_v1(m->after);
			m->metrics = obj_keep(m->r->arena,
					      obj_ref(obj_path(m->after, "status.currentMetrics")));
			autoscaler_to_v1(m->after);
		}
	} else if (!(m->kind->flags & KIND_CUSTOM) && m->after)
		defaults_set(m->after, m->resource->group, m->resource->plural);
	EACH_RULE(i, m)
	if (rules[i].set_default)
		rules[i].set_default(m);
}

void admit_late(struct mutation *m)
{
	EACH_RULE(i, m)
	if (rules[i].late)
		rules[i].late(m);
}

/* In the version that the checks know. What is told of a Job's selector is told of the uid that a patch gave it, which is refused, too. */
static const struct obj *judged(const struct mutation *m, const struct obj *o)
{
	if (o == m->after && m->other_uid && cstr_eq(m->resource->plural, "jobs")) {
		struct obj *meta = obj_copy_map(obj_get(o, "metadata"));
		struct obj *other = obj_keep(m->r->arena, obj_copy_shallow(o));
		obj_set_str(meta, "uid", m->other_uid);
		obj_set(other, "metadata", meta);
		return other;
	}
	if (!o || !autoscaler_is_v1(m->kind))
		return o;
	struct obj *copy = obj_keep(m->r->arena, obj_copy_shallow(o));
	autoscaler_from_v1(copy);
	return copy;
}

void admit_validate(struct mutation *m, struct check_parts *ret, struct field_errors *e)
{
	if (m->too_large)
		field_errors_add(e, FIELD_TOO_MANY,
				 arena_fmt(e->arena, "metadata.annotations[%s]", m->too_large),
				 "Too many: must have at most %d maps and lists; write it as "
				 "autoscaling/v2",
				 AUTOSCALE_NODES_MAX);
	if (!m->is_status && !(m->kind->flags & KIND_CUSTOM))
		builtin_check_parts(m->resource->group, m->resource->plural, judged(m, m->after),
				    judged(m, m->before), ret, e);
	else if (m->is_status && !same(obj_get(m->before, "status"), obj_get(m->after, "status")))
		builtin_check_status(m->resource->group, m->resource->plural, judged(m, m->after),
				     judged(m, m->before), e);
	EACH_RULE(i, m)
	if (rules[i].validate)
		rules[i].validate(m, e);
}

static bool is_namespace(const struct mutation *m)
{
	return *m->resource->group == '\0' && cstr_eq(m->resource->plural, "namespaces");
}

int admit_delete(struct mutation *m, struct error *err)
{
	static const char *const kept[] = {"default", "kube-system", "kube-public"};
	for (size_t i = 0; is_namespace(m) && i < ARRAY_LEN(kept); i++)
		if (cstr_eq(m->name, kept[i]))
			return fail_forbidden(m->r, m->name, err,
					      "this namespace may not be deleted");
	if (m->r->server->config.own_controllers && is_crd(m) && own_crd_is(m->name))
		return fail_forbidden(m->r, m->name, err,
				      "it is a definition of ALM itself, which runs here and "
				      "needs it; its objects can be deleted: kubectl delete %s "
				      "--all",
				      m->name);
	return priority_check_delete(m, err);
}

bool admit_mark(struct mutation *m)
{
	if (is_namespace(m) && obj_len(obj_path(m->after, "spec.finalizers"))) {
		obj_set_path(m->after, "status.phase", obj_string("Terminating"));
		obj_del_path(m->after, "metadata.deletionGracePeriodSeconds");
		return true;
	}
	if (is_crd(m)) {
		meta_add_finalizer(m->after, CRD_FINALIZER);
		crd_set_terminating(m->after, request_now(m->r));
		obj_del_path(m->after, "metadata.deletionGracePeriodSeconds");
		return true;
	}
	return false;
}
