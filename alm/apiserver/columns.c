/* columns: what kubectl get shows of the built-in kinds. Objects are stored unchecked, so every
 * field may be absent or of another type; a cell then says what an empty one would say. */
#include "alm/apiserver/columns.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"

#define CELL_BYTES_MAX ((size_t)64 << 10)

static struct obj *text_or(const char *s, const char *fallback)
{
	return obj_string(s && *s ? s : fallback);
}

static struct obj *take(struct strbuf *b, const char *fallback)
{
	struct obj *o = text_or(b->len ? b->buf : NULL, fallback);
	strbuf_release(b);
	return o;
}

struct obj *columns_age(const char *timestamp, int64_t now_ns)
{
	char text[CLOCK_TEXT_MAX];
	int64_t then;
	if (!timestamp)
		return obj_string("<unknown>");
	if (!clock_parse(str_of(timestamp), &then))
		return obj_string("<invalid>");
	duration_human(now_ns - then, text);
	return obj_string(text);
}

static struct obj *cell_age(const struct obj *o, int64_t now_ns)
{
	return columns_age(obj_str(o, "metadata.creationTimestamp"), now_ns);
}

static struct obj *cell_name(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return text_or(obj_str(o, "metadata.name"), "");
}

static struct obj *cell_created(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return text_or(obj_str(o, "metadata.creationTimestamp"), "<unknown>");
}

static void add_item(struct strbuf *b, const char *sep, const char *s)
{
	if (!s)
		return;
	if (b->len)
		strbuf_adds(b, sep);
	strbuf_adds(b, s);
}

/* "a=b,c=d", or the fallback. */
static struct obj *pairs(const struct obj *map, const char *fallback)
{
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	OBJ_EACH (it, map) {
		const char *value = obj_as_string(it.value);
		strbuf_addf(&b, "%s%s=%s", b.len ? "," : "", it.key, value ? value : "");
	}
	return take(&b, fallback);
}

static struct obj *label_selector(const struct obj *selector)
{
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	OBJ_EACH (it, obj_get(selector, "matchLabels")) {
		const char *value = obj_as_string(it.value);
		strbuf_addf(&b, "%s%s=%s", b.len ? "," : "", it.key, value ? value : "");
	}
	const struct obj *list = obj_get(selector, "matchExpressions");
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *e = obj_at(list, i);
		const char *key = obj_str(e, "key"), *op = obj_str(e, "operator");
		const struct obj *values = obj_get(e, "values");
		bool negated = cstr_eq(op, "DoesNotExist");
		strbuf_addf(&b, "%s%s%s", b.len ? "," : "", negated ? "!" : "", key ? key : "");
		if (negated || cstr_eq(op, "Exists"))
			continue;
		strbuf_addf(&b, " %s (", cstr_eq(op, "NotIn") ? "notin" : "in");
		for (size_t j = 0; j < obj_len(values); j++) {
			const char *v = obj_as_string(obj_at(values, j));
			strbuf_addf(&b, "%s%s", j ? "," : "", v ? v : "");
		}
		strbuf_addc(&b, ')');
	}
	return take(&b, "<none>");
}

static struct obj *cell_selector(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return label_selector(obj_path(o, "spec.selector"));
}

static struct obj *cell_plain_selector(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return pairs(obj_path(o, "spec.selector"), "<none>");
}

static struct obj *cell_pod_selector(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return label_selector(obj_path(o, "spec.podSelector"));
}

static struct obj *cell_node_selector(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return pairs(obj_path(o, "spec.template.spec.nodeSelector"), "<none>");
}

static struct obj *joined(const struct obj *list, const char *member, const char *fallback)
{
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *item = obj_at(list, i);
		add_item(&b, ",", member ? obj_str(item, member) : obj_as_string(item));
	}
	return take(&b, fallback);
}

static struct obj *cell_containers(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return joined(obj_path(o, "spec.template.spec.containers"), "name", "");
}

static struct obj *cell_images(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return joined(obj_path(o, "spec.template.spec.containers"), "image", "");
}

static struct obj *cell_data(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return obj_int((int64_t)(obj_len(obj_get(o, "data")) + obj_len(obj_get(o, "binaryData"))));
}

static struct obj *cell_ready(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return obj_stringf("%lld/%lld", (long long)obj_i64(o, "status.readyReplicas", 0),
			   (long long)obj_i64(o, "spec.replicas", 1));
}

static struct obj *number_at(const struct obj *o, const char *path)
{
	return obj_int(obj_i64(o, path, 0));
}

#define NUMBER_CELL(fn, path)                                      \
	static struct obj *fn(const struct obj *o, int64_t now_ns) \
	{                                                          \
		(void)now_ns;                                      \
		return number_at(o, path);                         \
	}
NUMBER_CELL(cell_updated, "status.updatedReplicas")
NUMBER_CELL(cell_available, "status.availableReplicas")
NUMBER_CELL(cell_spec_replicas, "spec.replicas")
NUMBER_CELL(cell_status_replicas, "status.replicas")
NUMBER_CELL(cell_ready_replicas, "status.readyReplicas")
NUMBER_CELL(cell_current_replicas, "status.currentReplicas")
NUMBER_CELL(cell_ds_desired, "status.desiredNumberScheduled")
NUMBER_CELL(cell_ds_current, "status.currentNumberScheduled")
NUMBER_CELL(cell_ds_ready, "status.numberReady")
NUMBER_CELL(cell_ds_updated, "status.updatedNumberScheduled")
NUMBER_CELL(cell_ds_available, "status.numberAvailable")
NUMBER_CELL(cell_value, "value")

#define TEXT_CELL(fn, path, fallback)                              \
	static struct obj *fn(const struct obj *o, int64_t now_ns) \
	{                                                          \
		(void)now_ns;                                      \
		return text_or(obj_str(o, path), fallback);        \
	}
TEXT_CELL(cell_type, "type", "")
TEXT_CELL(cell_reason, "reason", "")
TEXT_CELL(cell_phase, "status.phase", "")
TEXT_CELL(cell_holder, "spec.holderIdentity", "")
TEXT_CELL(cell_fieldpath, "involvedObject.fieldPath", "")
TEXT_CELL(cell_service_type, "spec.type", "ClusterIP")
TEXT_CELL(cell_cluster_ip, "spec.clusterIP", "<none>")
TEXT_CELL(cell_ingress_class, "spec.ingressClassName", "<none>")
TEXT_CELL(cell_schedule, "spec.schedule", "")
TEXT_CELL(cell_time_zone, "spec.timeZone", "<none>")
TEXT_CELL(cell_provisioner, "provisioner", "")
TEXT_CELL(cell_reclaim, "reclaimPolicy", "Delete")
TEXT_CELL(cell_binding_mode, "volumeBindingMode", "Immediate")
TEXT_CELL(cell_volume, "spec.volumeName", "")
TEXT_CELL(cell_capacity, "status.capacity.storage", "")
TEXT_CELL(cell_storage_class, "spec.storageClassName", "")
TEXT_CELL(cell_node_version, "status.nodeInfo.kubeletVersion", "")
TEXT_CELL(cell_node_name, "spec.nodeName", "<none>")
TEXT_CELL(cell_pod_ip, "status.podIP", "<none>")
TEXT_CELL(cell_controller, "spec.controller", "")

static struct obj *cell_external_ip(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const char *type = obj_str(o, "spec.type");
	if (cstr_eq(type, "ExternalName"))
		return text_or(obj_str(o, "spec.externalName"), "<none>");
	if (!cstr_eq(type, "LoadBalancer"))
		return joined(obj_path(o, "spec.externalIPs"), NULL, "<none>");
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	const struct obj *ingress = obj_path(o, "status.loadBalancer.ingress");
	for (size_t i = 0; i < obj_len(ingress); i++) {
		const char *ip = obj_str(obj_at(ingress, i), "ip");
		add_item(&b, ",", ip ? ip : obj_str(obj_at(ingress, i), "hostname"));
	}
	return take(&b, "<pending>");
}

static struct obj *cell_ports(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	const struct obj *ports = obj_path(o, "spec.ports");
	for (size_t i = 0; i < obj_len(ports); i++) {
		const struct obj *p = obj_at(ports, i);
		const char *protocol = obj_str(p, "protocol");
		int64_t node_port = obj_i64(p, "nodePort", 0);
		strbuf_addf(&b, "%s%lld", i ? "," : "", (long long)obj_i64(p, "port", 0));
		if (node_port)
			strbuf_addf(&b, ":%lld", (long long)node_port);
		strbuf_addf(&b, "/%s", protocol ? protocol : "TCP");
	}
	return take(&b, "<none>");
}

static struct obj *cell_endpoints(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	const struct obj *subsets = obj_get(o, "subsets");
	for (size_t i = 0; i < obj_len(subsets); i++) {
		const struct obj *addresses = obj_get(obj_at(subsets, i), "addresses");
		const struct obj *ports = obj_get(obj_at(subsets, i), "ports");
		for (size_t j = 0; j < obj_len(addresses); j++) {
			add_item(&b, ",", obj_str(obj_at(addresses, j), "ip"));
			if (obj_len(ports))
				strbuf_addf(&b, ":%lld",
					    (long long)obj_i64(obj_at(ports, 0), "port", 0));
		}
	}
	return take(&b, "<none>");
}

static struct obj *cell_pod_ready(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const struct obj *list = obj_path(o, "status.containerStatuses");
	size_t ready = 0;
	for (size_t i = 0; i < obj_len(list); i++)
		ready += obj_flag(obj_at(list, i), "ready", false);
	return obj_stringf("%zu/%zu", ready, obj_len(obj_path(o, "spec.containers")));
}

static struct obj *cell_pod_status(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	if (obj_str(o, "metadata.deletionTimestamp"))
		return obj_string("Terminating");
	const struct obj *list = obj_path(o, "status.containerStatuses");
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *waiting = obj_str(obj_at(list, i), "state.waiting.reason");
		if (waiting)
			return obj_string(waiting);
	}
	const char *reason = obj_str(o, "status.reason");
	return text_or(reason ? reason : obj_str(o, "status.phase"), "Unknown");
}

static struct obj *cell_restarts(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const struct obj *list = obj_path(o, "status.containerStatuses");
	int64_t n = 0;
	for (size_t i = 0; i < obj_len(list); i++) {
		int64_t one = obj_i64(obj_at(list, i), "restartCount", 0);
		n += one > 0 && one < INT32_MAX ? one : 0;
	}
	return obj_int(n);
}

static bool condition_is(const struct obj *o, const char *type, const char *status)
{
	const struct obj *list = obj_path(o, "status.conditions");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "type"), type))
			return cstr_eq(obj_str(obj_at(list, i), "status"), status);
	return false;
}

static struct obj *cell_job_status(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	if (condition_is(o, "Complete", "True"))
		return obj_string("Complete");
	if (condition_is(o, "Failed", "True"))
		return obj_string("Failed");
	if (obj_str(o, "metadata.deletionTimestamp"))
		return obj_string("Terminating");
	return obj_string(condition_is(o, "Suspended", "True") ? "Suspended" : "Running");
}

static struct obj *cell_completions(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	int64_t done = obj_i64(o, "status.succeeded", 0);
	int64_t wanted = obj_i64(o, "spec.completions", -1);
	int64_t parallel = obj_i64(o, "spec.parallelism", 1);
	if (wanted >= 0)
		return obj_stringf("%lld/%lld", (long long)done, (long long)wanted);
	return parallel > 1 ? obj_stringf("%lld/1 of %lld", (long long)done, (long long)parallel)
			    : obj_stringf("%lld/1", (long long)done);
}

static struct obj *cell_job_duration(const struct obj *o, int64_t now_ns)
{
	const char *start = obj_str(o, "status.startTime");
	const char *end = obj_str(o, "status.completionTime");
	int64_t from, to = now_ns;
	char text[CLOCK_TEXT_MAX];
	if (!start || !clock_parse(str_of(start), &from) || (end && !clock_parse(str_of(end), &to)))
		return obj_string("");
	duration_human(to - from, text);
	return obj_string(text);
}

static struct obj *cell_suspend(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return obj_string(obj_flag(o, "spec.suspend", false) ? "True" : "False");
}

static struct obj *cell_active(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return obj_int((int64_t)obj_len(obj_path(o, "status.active")));
}

static struct obj *cell_last_schedule(const struct obj *o, int64_t now_ns)
{
	const char *last = obj_str(o, "status.lastScheduleTime");
	return last ? columns_age(last, now_ns) : obj_string("<none>");
}

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
	return take(&b, "");
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
	return take(&b, "");
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
		return text_or(component, "");
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

static struct obj *cell_hosts(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return joined(obj_path(o, "spec.rules"), "host", "*");
}

static struct obj *cell_addresses(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const struct obj *list = obj_path(o, "status.loadBalancer.ingress");
	return joined(list, obj_str(obj_at(list, 0), "ip") ? "ip" : "hostname", "");
}

static struct obj *cell_ingress_ports(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return obj_string(obj_len(obj_path(o, "spec.tls")) ? "80, 443" : "80");
}

static struct obj *cell_access_modes(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	static const char *const names[][2] = {{"ReadWriteOnce", "RWO"},
					       {"ReadOnlyMany", "ROX"},
					       {"ReadWriteMany", "RWX"},
					       {"ReadWriteOncePod", "RWOP"}};
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	const struct obj *list = obj_path(o, "status.accessModes");
	for (size_t i = 0; i < obj_len(list); i++)
		for (size_t j = 0; j < ARRAY_LEN(names); j++)
			if (cstr_eq(obj_as_string(obj_at(list, i)), names[j][0]))
				add_item(&b, ",", names[j][1]);
	return take(&b, "");
}

static struct obj *cell_node_status(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const char *off = obj_flag(o, "spec.unschedulable", false) ? ",SchedulingDisabled" : "";
	return obj_stringf("%s%s", condition_is(o, "Ready", "True") ? "Ready" : "NotReady", off);
}

static struct obj *cell_node_roles(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	static const char prefix[] = "node-role.kubernetes.io/";
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	OBJ_EACH (it, obj_path(o, "metadata.labels"))
		if (cstr_has_prefix(it.key, prefix))
			add_item(&b, ",", it.key + sizeof(prefix) - 1);
	return take(&b, "<none>");
}

static struct obj *cell_global_default(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return obj_bool(obj_flag(o, "globalDefault", false));
}

static struct obj *cell_expansion(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return obj_bool(obj_flag(o, "allowVolumeExpansion", false));
}

static struct obj *scalar_or(const struct obj *o, const char *path)
{
	const struct obj *v = obj_path(o, path);
	if (obj_type(v) == OBJ_INT)
		return obj_stringf("%lld", (long long)obj_i64(o, path, 0));
	return text_or(obj_as_string(v), "N/A");
}

static struct obj *cell_min_available(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return scalar_or(o, "spec.minAvailable");
}

static struct obj *cell_max_unavailable(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return scalar_or(o, "spec.maxUnavailable");
}

NUMBER_CELL(cell_disruptions, "status.disruptionsAllowed")

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

static struct obj *audit_text(const struct obj *o, const char *path)
{
	return text_or(obj_str(o, path), "");
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

#define COLUMN(name, type, cell, wide) {(name), (type), "", (name), NULL, (wide), NULL, (cell)}
#define NAME                                                                  \
	{"Name", "string", "name", "Name must be unique within a namespace.", \
	 NULL,   0,        NULL,   cell_name}
#define NAME_WIDE                                                             \
	{"Name", "string", "name", "Name must be unique within a namespace.", \
	 NULL,   1,        NULL,   cell_name}
#define AGE {"Age", "string", "", "Time since the object was created.", NULL, 0, NULL, cell_age}
#define CREATED_AT \
	{"Created At", "date", "", "When the object was created.", NULL, 0, NULL, cell_created}
#define WORKLOAD_WIDE                                       \
	COLUMN("Containers", "string", cell_containers, 1), \
		COLUMN("Images", "string", cell_images, 1)

/* clang-format off */
static const struct kind_column of_any[] = {NAME, AGE};
static const struct kind_column of_created[] = {NAME, CREATED_AT};
static const struct kind_column of_namespace[] = {NAME, COLUMN("Status", "string", cell_phase, 0), AGE};
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
	NAME_WIDE};
static const struct kind_column of_deployment[] = {
	NAME, COLUMN("Ready", "string", cell_ready, 0),
	COLUMN("Up-to-date", "string", cell_updated, 0),
	COLUMN("Available", "string", cell_available, 0), AGE, WORKLOAD_WIDE,
	COLUMN("Selector", "string", cell_selector, 1)};
static const struct kind_column of_statefulset[] = {
	NAME, COLUMN("Ready", "string", cell_ready, 0), AGE, WORKLOAD_WIDE};
static const struct kind_column of_replicaset[] = {
	NAME, COLUMN("Desired", "integer", cell_spec_replicas, 0),
	COLUMN("Current", "integer", cell_status_replicas, 0),
	COLUMN("Ready", "integer", cell_ready_replicas, 0), AGE, WORKLOAD_WIDE,
	COLUMN("Selector", "string", cell_selector, 1)};
static const struct kind_column of_rc[] = {
	NAME, COLUMN("Desired", "integer", cell_spec_replicas, 0),
	COLUMN("Current", "integer", cell_status_replicas, 0),
	COLUMN("Ready", "integer", cell_ready_replicas, 0), AGE, WORKLOAD_WIDE,
	COLUMN("Selector", "string", cell_plain_selector, 1)};
static const struct kind_column of_daemonset[] = {
	NAME, COLUMN("Desired", "integer", cell_ds_desired, 0),
	COLUMN("Current", "integer", cell_ds_current, 0),
	COLUMN("Ready", "integer", cell_ds_ready, 0),
	COLUMN("Up-to-date", "integer", cell_ds_updated, 0),
	COLUMN("Available", "integer", cell_ds_available, 0),
	COLUMN("Node Selector", "string", cell_node_selector, 0), AGE, WORKLOAD_WIDE,
	COLUMN("Selector", "string", cell_selector, 1)};
static const struct kind_column of_job[] = {
	NAME, COLUMN("Status", "string", cell_job_status, 0),
	COLUMN("Completions", "string", cell_completions, 0),
	COLUMN("Duration", "string", cell_job_duration, 0), AGE, WORKLOAD_WIDE,
	COLUMN("Selector", "string", cell_selector, 1)};
static const struct kind_column of_cronjob[] = {
	NAME, COLUMN("Schedule", "string", cell_schedule, 0),
	COLUMN("Timezone", "string", cell_time_zone, 0),
	COLUMN("Suspend", "boolean", cell_suspend, 0),
	COLUMN("Active", "integer", cell_active, 0),
	COLUMN("Last Schedule", "string", cell_last_schedule, 0), AGE};
static const struct kind_column of_service[] = {
	NAME, COLUMN("Type", "string", cell_service_type, 0),
	COLUMN("Cluster-IP", "string", cell_cluster_ip, 0),
	COLUMN("External-IP", "string", cell_external_ip, 0),
	COLUMN("Port(s)", "string", cell_ports, 0), AGE,
	COLUMN("Selector", "string", cell_plain_selector, 1)};
static const struct kind_column of_endpoints[] = {
	NAME, COLUMN("Endpoints", "string", cell_endpoints, 0), AGE};
static const struct kind_column of_pod[] = {
	NAME, COLUMN("Ready", "string", cell_pod_ready, 0),
	COLUMN("Status", "string", cell_pod_status, 0),
	COLUMN("Restarts", "string", cell_restarts, 0), AGE,
	COLUMN("IP", "string", cell_pod_ip, 1), COLUMN("Node", "string", cell_node_name, 1)};
static const struct kind_column of_node[] = {
	NAME, COLUMN("Status", "string", cell_node_status, 0),
	COLUMN("Roles", "string", cell_node_roles, 0), AGE,
	COLUMN("Version", "string", cell_node_version, 0)};
static const struct kind_column of_pvc[] = {
	NAME, COLUMN("Status", "string", cell_phase, 0),
	COLUMN("Volume", "string", cell_volume, 0),
	COLUMN("Capacity", "string", cell_capacity, 0),
	COLUMN("Access Modes", "string", cell_access_modes, 0),
	COLUMN("StorageClass", "string", cell_storage_class, 0), AGE};
static const struct kind_column of_binding[] = {
	NAME, COLUMN("Role", "string", cell_role, 0), AGE,
	COLUMN("Users", "string", cell_users, 1), COLUMN("Groups", "string", cell_groups, 1),
	COLUMN("ServiceAccounts", "string", cell_accounts, 1)};
static const struct kind_column of_ingress[] = {
	NAME, COLUMN("Class", "string", cell_ingress_class, 0),
	COLUMN("Hosts", "string", cell_hosts, 0), COLUMN("Address", "string", cell_addresses, 0),
	COLUMN("Ports", "string", cell_ingress_ports, 0), AGE};
static const struct kind_column of_ingressclass[] = {
	NAME, COLUMN("Controller", "string", cell_controller, 0), AGE};
static const struct kind_column of_netpol[] = {
	NAME, COLUMN("Pod-Selector", "string", cell_pod_selector, 0), AGE};
static const struct kind_column of_pdb[] = {
	NAME, COLUMN("Min Available", "string", cell_min_available, 0),
	COLUMN("Max Unavailable", "string", cell_max_unavailable, 0),
	COLUMN("Allowed Disruptions", "integer", cell_disruptions, 0), AGE};
static const struct kind_column of_hpa[] = {
	NAME, COLUMN("Replicas", "integer", cell_current_replicas, 0), AGE};
static const struct kind_column of_storageclass[] = {
	NAME, COLUMN("Provisioner", "string", cell_provisioner, 0),
	COLUMN("ReclaimPolicy", "string", cell_reclaim, 0),
	COLUMN("VolumeBindingMode", "string", cell_binding_mode, 0),
	COLUMN("AllowVolumeExpansion", "boolean", cell_expansion, 0), AGE};
static const struct kind_column of_priorityclass[] = {
	NAME, COLUMN("Value", "integer", cell_value, 0),
	COLUMN("Global-Default", "boolean", cell_global_default, 0), AGE};
static const struct kind_column of_apiservice[] = {
	NAME, COLUMN("Service", "string", cell_service_ref, 0),
	COLUMN("Available", "string", cell_api_available, 0), AGE};
static const struct kind_column of_webhooks[] = {
	NAME, COLUMN("Webhooks", "integer", cell_webhooks, 0), AGE};
static const struct kind_column of_audit[] = {
	NAME, COLUMN("Type", "string", cell_audit_type, 0),
	COLUMN("Reason", "string", cell_reason, 0),
	COLUMN("Subject", "string", cell_audit_subject, 0),
	COLUMN("Actor", "string", cell_audit_actor, 0), AGE};

#define OF(group, kind, array) {(group), (kind), {(array), ARRAY_LEN(array)}}
static const struct {
	const char *group, *kind;
	struct columns columns;
} table[] = {
	OF("", "Namespace", of_namespace),
	OF("", "ConfigMap", of_configmap),
	OF("", "Secret", of_secret),
	OF("", "Event", of_event),
	OF("", "Service", of_service),
	OF("", "Endpoints", of_endpoints),
	OF("", "Pod", of_pod),
	OF("", "Node", of_node),
	OF("", "PersistentVolumeClaim", of_pvc),
	OF("", "ReplicationController", of_rc),
	OF("events.k8s.io", "Event", of_event),
	OF("coordination.k8s.io", "Lease", of_lease),
	OF("apiextensions.k8s.io", "CustomResourceDefinition", of_created),
	OF("apiregistration.k8s.io", "APIService", of_apiservice),
	OF("admissionregistration.k8s.io", "MutatingWebhookConfiguration", of_webhooks),
	OF("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", of_webhooks),
	OF("apps", "Deployment", of_deployment),
	OF("apps", "StatefulSet", of_statefulset),
	OF("apps", "ReplicaSet", of_replicaset),
	OF("apps", "DaemonSet", of_daemonset),
	OF("batch", "Job", of_job),
	OF("batch", "CronJob", of_cronjob),
	OF("autoscaling", "HorizontalPodAutoscaler", of_hpa),
	OF("networking.k8s.io", "Ingress", of_ingress),
	OF("networking.k8s.io", "IngressClass", of_ingressclass),
	OF("networking.k8s.io", "NetworkPolicy", of_netpol),
	OF("policy", "PodDisruptionBudget", of_pdb),
	OF("rbac.authorization.k8s.io", "Role", of_created),
	OF("rbac.authorization.k8s.io", "ClusterRole", of_created),
	OF("rbac.authorization.k8s.io", "RoleBinding", of_binding),
	OF("rbac.authorization.k8s.io", "ClusterRoleBinding", of_binding),
	OF("scheduling.k8s.io", "PriorityClass", of_priorityclass),
	OF("storage.k8s.io", "StorageClass", of_storageclass),
	OF("audit.app.coreos.com", "AuditRecord", of_audit),
};
/* clang-format on */

struct columns columns_of(const char *group, const char *kind)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (cstr_eq(table[i].group, group) && cstr_eq(table[i].kind, kind))
			return table[i].columns;
	return (struct columns){of_any, ARRAY_LEN(of_any)};
}
