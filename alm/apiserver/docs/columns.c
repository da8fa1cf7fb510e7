/* columns: what kubectl get shows of the built-in kinds. Objects are stored unchecked, so every
 * field may be absent or of another type; a cell then says what an empty one would say. */
#include "alm/apiserver/docs/columns.h"

#include <stdlib.h>

#include "alm/apiserver/docs/columns_internal.h"
#include "alm/obj/condition.h"

static struct obj *columns_cell_created(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return columns_text(obj_str(o, "metadata.creationTimestamp"), "<unknown>");
}

/* "pods: 1/2, requests.cpu: 500m/1": what is used of what a quota has, of its limits or of all else. */
static struct obj *quota_cell(const struct obj *o, bool limits)
{
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	const struct obj *hard = obj_path(o, "status.hard"), *used = obj_path(o, "status.used");
	const char **names = xcalloc(obj_len(hard) + 1, sizeof(*names));
	size_t n = 0;
	OBJ_EACH (it, hard)
		if (cstr_has_prefix(it.key, "limits") == limits)
			names[n++] = it.key;
	qsort(names, n, sizeof(*names), cstr_cmpp);
	for (size_t i = 0; i < n; i++) {
		const char *have = obj_as_string(obj_get(used, names[i]));
		const char *all = obj_as_string(obj_get(hard, names[i]));
		strbuf_addf(&b, "%s%s: %s/%s", i ? ", " : "", names[i], have ? have : "0",
			    all ? all : "0");
	}
	xfree(names);
	return columns_take(&b, "");
}

static struct obj *cell_quota_request(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return quota_cell(o, false);
}

static struct obj *cell_quota_limit(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return quota_cell(o, true);
}

static struct obj *cell_data(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return obj_int((int64_t)(obj_len(obj_get(o, "data")) + obj_len(obj_get(o, "binaryData"))));
}

NUMBER_CELL(cell_value, "value")
TEXT_CELL(cell_preemption, "preemptionPolicy", "")
FLAG_CELL(cell_global_default, "globalDefault", false)
TEXT_CELL(cell_type, "type", "")
TEXT_CELL(cell_reason, "reason", "")
TEXT_CELL(cell_phase, "status.phase", "")
TEXT_CELL(cell_holder, "spec.holderIdentity", "")
TEXT_CELL(cell_fieldpath, "involvedObject.fieldPath", "")

static struct obj *cell_role(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const char *kind = obj_str(o, "roleRef.kind"), *name = obj_str(o, "roleRef.name");
	return obj_stringf("%s/%s", kind ? kind : "", name ? name : "");
}

static struct obj *cell_subjects(const struct obj *o, const char *kind)
{
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	const struct obj *list = obj_get(o, "subjects");
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *s = obj_at(list, i);
		const char *ns = obj_str(s, "namespace"), *name = obj_str(s, "name");
		if (!cstr_eq(obj_str(s, "kind"), kind))
			continue;
		bool account = cstr_eq(kind, "ServiceAccount");
		strbuf_addf(&b, "%s%s%s%s", b.len ? ", " : "", account && ns ? ns : "",
			    account ? "/" : "", name ? name : "");
	}
	return columns_take(&b, "");
}

static struct obj *cell_users(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return cell_subjects(o, "User");
}

static struct obj *cell_groups(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return cell_subjects(o, "Group");
}

static struct obj *cell_accounts(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return cell_subjects(o, "ServiceAccount");
}

static const char *event_time(const struct obj *o, const char *first, const char *second,
			      const char *third)
{
	const char *t = obj_str(o, first);
	if (!t && second)
		t = obj_str(o, second);
	return t ? t : obj_str(o, third);
}

static struct obj *cell_last_seen(const struct obj *o, int64_t now_ns)
{
	const char *t = event_time(o, "series.lastObservedTime", "lastTimestamp", "eventTime");
	return columns_age(t ? t : obj_str(o, "deprecatedLastTimestamp"), now_ns);
}

static struct obj *cell_first_seen(const struct obj *o, int64_t now_ns)
{
	const char *t = event_time(o, "firstTimestamp", "deprecatedFirstTimestamp", "eventTime");
	return columns_age(t, now_ns);
}

static struct obj *cell_event_object(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const struct obj *ref = obj_get(o, "involvedObject");
	if (!ref)
		ref = obj_get(o, "regarding");
	const char *kind = obj_str(ref, "kind"), *name = obj_str(ref, "name");
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	for (const char *p = kind ? kind : ""; *p; p++)
		strbuf_addc(&b, char_lower(*p));
	strbuf_addf(&b, "/%s", name ? name : "");
	return columns_take(&b, "");
}

static struct obj *cell_event_source(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const char *component = obj_str(o, "source.component"), *host = obj_str(o, "source.host");
	if (!component || !*component) {
		component = obj_str(o, "reportingComponent");
		if (!component)
			component = obj_str(o, "reportingController");
		host = obj_str(o, "reportingInstance");
	}
	if (!host || !*host)
		return columns_text(component, "");
	return obj_stringf("%s, %s", component ? component : "", host);
}

static struct obj *cell_event_message(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const char *s = obj_str(o, "message");
	struct str text = str_trim(str_of(s ? s : obj_str(o, "note")));
	return text.ptr ? obj_stringn(text) : obj_string("");
}

static struct obj *cell_event_count(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	int64_t n = obj_i64(o, "series.count", 0);
	if (!n)
		n = obj_i64(o, "count", 0);
	if (!n)
		n = obj_i64(o, "deprecatedCount", 0);
	return obj_int(n ? n : 1);
}

static struct obj *cell_service_ref(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const char *ns = obj_str(o, "spec.service.namespace");
	const char *name = obj_str(o, "spec.service.name");
	return name ? obj_stringf("%s/%s", ns ? ns : "", name) : obj_string("Local");
}

static struct obj *cell_api_available(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	bool local = !obj_str(o, "spec.service.name");
	return obj_string(local || condition_is(o, "Available", "True") ? "True" : "False");
}

static struct obj *cell_webhooks(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return obj_int((int64_t)obj_len(obj_get(o, "webhooks")));
}

static struct obj *cell_validations(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return obj_int((int64_t)obj_len(obj_path(o, "spec.validations")));
}

static struct obj *cell_mutations(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return obj_int((int64_t)obj_len(obj_path(o, "spec.mutations")));
}

static struct obj *cell_param_kind(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const char *api = obj_str(o, "spec.paramKind.apiVersion");
	const char *kind = obj_str(o, "spec.paramKind.kind");
	return api && kind ? obj_stringf("%s/%s", api, kind) : obj_string("<unset>");
}

TEXT_CELL(cell_policy_name, "spec.policyName", "")

/* Of a selector its text, where the real server prints a struct of Go. */
static struct obj *cell_param_ref(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const char *ns = obj_str(o, "spec.paramRef.namespace");
	const char *name = obj_str(o, "spec.paramRef.name");
	const struct obj *selector = obj_path(o, "spec.paramRef.selector");
	if (name && *name)
		return obj_stringf("%s/%s", ns && *ns ? ns : "*", name);
	return selector ? columns_selector(selector) : obj_string("<unset>");
}

static struct obj *audit_text(const struct obj *o, const char *path)
{
	return columns_text(obj_str(o, path), "");
}

static struct obj *cell_audit_type(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return audit_text(o, "type");
}

static struct obj *cell_audit_subject(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const char *kind = obj_str(o, "subject.kind"), *name = obj_str(o, "subject.name");
	return kind && name ? obj_stringf("%s/%s", kind, name) : obj_string("");
}

static struct obj *cell_audit_actor(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return audit_text(o, "actor");
}

#define SEEN_NAME                                                             \
	{"Name", "string", "name", "Name must be unique within a namespace.", \
	 NULL,   1,        NULL,   columns_cell_name}
#define CREATED_AT                                                   \
	{"Created At", "date", "",   "When the object was created.", \
	 NULL,         0,      NULL, columns_cell_created}

/* clang-format off */
static const struct kind_column of_any[] = {NAME, AGE};
static const struct kind_column of_created[] = {NAME, CREATED_AT};
static const struct kind_column of_namespace[] = {NAME, COLUMN("Status", "string", cell_phase, 0), AGE};
static const struct kind_column of_quota[] = {NAME, COLUMN("Request", "string", cell_quota_request, 0),
					      COLUMN("Limit", "string", cell_quota_limit, 0), AGE};
static const struct kind_column of_configmap[] = {NAME, COLUMN("Data", "string", cell_data, 0), AGE};
static const struct kind_column of_secret[] = {
	NAME, COLUMN("Type", "string", cell_type, 0), COLUMN("Data", "string", cell_data, 0), AGE};
static const struct kind_column of_lease[] = {NAME, COLUMN("Holder", "string", cell_holder, 0), AGE};
static const struct kind_column of_event[] = {
	COLUMN("Last Seen", "string", cell_last_seen, 0),
	COLUMN("Type", "string", cell_type, 0),
	COLUMN("Reason", "string", cell_reason, 0),
	COLUMN("Object", "string", cell_event_object, 0),
	COLUMN("Subobject", "string", cell_fieldpath, 1),
	COLUMN("Source", "string", cell_event_source, 1),
	COLUMN("Message", "string", cell_event_message, 0),
	COLUMN("First Seen", "string", cell_first_seen, 1),
	COLUMN("Count", "string", cell_event_count, 1),
	SEEN_NAME};
static const struct kind_column of_binding[] = {
	NAME, COLUMN("Role", "string", cell_role, 0), AGE,
	COLUMN("Users", "string", cell_users, 1), COLUMN("Groups", "string", cell_groups, 1),
	COLUMN("ServiceAccounts", "string", cell_accounts, 1)};
static const struct kind_column of_priorityclass[] = {
	NAME, COLUMN("Value", "integer", cell_value, 0),
	COLUMN("Global-Default", "boolean", cell_global_default, 0), AGE,
	COLUMN("PreemptionPolicy", "string", cell_preemption, 0)};
static const struct kind_column of_apiservice[] = {
	NAME, COLUMN("Service", "string", cell_service_ref, 0),
	COLUMN("Available", "string", cell_api_available, 0), AGE};
static const struct kind_column of_webhooks[] = {
	NAME, COLUMN("Webhooks", "integer", cell_webhooks, 0), AGE};
static const struct kind_column of_policy[] = {
	NAME, COLUMN("Validations", "integer", cell_validations, 0),
	COLUMN("ParamKind", "string", cell_param_kind, 0), AGE};
static const struct kind_column of_mutating_policy[] = {
	NAME, COLUMN("Mutations", "integer", cell_mutations, 0),
	COLUMN("ParamKind", "string", cell_param_kind, 0), AGE};
static const struct kind_column of_policy_binding[] = {
	NAME, COLUMN("PolicyName", "string", cell_policy_name, 0),
	COLUMN("ParamRef", "string", cell_param_ref, 0), AGE};
static const struct kind_column of_audit[] = {
	NAME, COLUMN("Type", "string", cell_audit_type, 0),
	COLUMN("Reason", "string", cell_reason, 0),
	COLUMN("Subject", "string", cell_audit_subject, 0),
	COLUMN("Actor", "string", cell_audit_actor, 0), AGE};

static const struct columns_row columns_general[] = {
	OF("", "Namespace", of_namespace),
	OF("", "ConfigMap", of_configmap),
	OF("", "LimitRange", of_created),
	OF("", "ResourceQuota", of_quota),
	OF("", "Secret", of_secret),
	OF("", "Event", of_event),
	OF("events.k8s.io", "Event", of_event),
	OF("coordination.k8s.io", "Lease", of_lease),
	OF("apiextensions.k8s.io", "CustomResourceDefinition", of_created),
	OF("apiregistration.k8s.io", "APIService", of_apiservice),
	OF("admissionregistration.k8s.io", "MutatingWebhookConfiguration", of_webhooks),
	OF("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", of_webhooks),
	OF("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", of_policy),
	OF("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", of_policy_binding),
	OF("admissionregistration.k8s.io", "MutatingAdmissionPolicy", of_mutating_policy),
	OF("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding", of_policy_binding),
	OF("storage.k8s.io", "CSIStorageCapacity", of_created),
	OF("rbac.authorization.k8s.io", "Role", of_created),
	OF("rbac.authorization.k8s.io", "ClusterRole", of_created),
	OF("rbac.authorization.k8s.io", "RoleBinding", of_binding),
	OF("rbac.authorization.k8s.io", "ClusterRoleBinding", of_binding),
	OF("scheduling.k8s.io", "PriorityClass", of_priorityclass),
	OF("audit.app.coreos.com", "AuditRecord", of_audit),
	{0},
};
/* clang-format on */

static bool find(const struct columns_row *rows, const char *group, const char *kind,
		 struct columns *ret)
{
	for (; rows->group; rows++) {
		if (!cstr_eq(rows->group, group) || !cstr_eq(rows->kind, kind))
			continue;
		*ret = rows->columns;
		return true;
	}
	return false;
}

struct columns columns_of(const char *group, const char *kind)
{
	struct columns c = {of_any, ARRAY_LEN(of_any)};
	(void)(find(columns_general, group, kind, &c) || find(columns_workloads, group, kind, &c) ||
	       find(columns_network, group, kind, &c) || find(columns_scaler, group, kind, &c) ||
	       find(columns_cluster, group, kind, &c));
	return c;
}
