/* columns_workloads: columns of what runs: workloads and pods. */
#include "alm/apiserver/docs/columns_internal.h"
#include "alm/base/clock.h"
#include "alm/obj/condition.h"

static struct obj *cell_selector(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return columns_selector(obj_path(o, "spec.selector"));
}

static struct obj *cell_node_selector(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return columns_pairs(obj_path(o, "spec.template.spec.nodeSelector"));
}

#define JOIN_CELL(fn, path, member)                                 \
	static struct obj *fn(const struct obj *o, int64_t now_ns)  \
	{                                                           \
		(void)now_ns;                                       \
		return columns_join(obj_path(o, path), member, ""); \
	}
JOIN_CELL(cell_containers, "spec.template.spec.containers", "name")
JOIN_CELL(cell_images, "spec.template.spec.containers", "image")
JOIN_CELL(cell_template_containers, "template.spec.containers", "name")
JOIN_CELL(cell_template_images, "template.spec.containers", "image")
JOIN_CELL(cell_job_containers, "spec.jobTemplate.spec.template.spec.containers", "name")
JOIN_CELL(cell_job_images, "spec.jobTemplate.spec.template.spec.containers", "image")

static struct obj *cell_job_selector(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return columns_selector(obj_path(o, "spec.jobTemplate.spec.selector"));
}

static struct obj *cell_template_labels(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return columns_pairs(obj_path(o, "template.metadata.labels"));
}

static struct obj *cell_ready(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return obj_stringf("%lld/%lld", (long long)obj_i64(o, "status.readyReplicas", 0),
			   (long long)obj_i64(o, "spec.replicas", 1));
}

NUMBER_CELL(cell_updated, "status.updatedReplicas")
NUMBER_CELL(cell_available, "status.availableReplicas")
NUMBER_CELL(cell_spec_replicas, "spec.replicas")
NUMBER_CELL(cell_status_replicas, "status.replicas")
NUMBER_CELL(cell_ready_replicas, "status.readyReplicas")
NUMBER_CELL(cell_ds_desired, "status.desiredNumberScheduled")
NUMBER_CELL(cell_ds_current, "status.currentNumberScheduled")
NUMBER_CELL(cell_ds_ready, "status.numberReady")
NUMBER_CELL(cell_ds_updated, "status.updatedNumberScheduled")
NUMBER_CELL(cell_ds_available, "status.numberAvailable")
TEXT_CELL(cell_schedule, "spec.schedule", "")
TEXT_CELL(cell_time_zone, "spec.timeZone", "<none>")
TEXT_CELL(cell_node_name, "spec.nodeName", "<none>")
TEXT_CELL(cell_pod_ip, "status.podIP", "<none>")
TEXT_CELL(cell_nominated, "status.nominatedNodeName", "<none>")
NUMBER_CELL(cell_revision, "revision")

/* The owner that controls it: "statefulset.apps/db". */
static struct obj *cell_owner(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const struct obj *list = obj_path(o, "metadata.ownerReferences");
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *ref = obj_at(list, i);
		const char *kind = obj_str(ref, "kind"), *name = obj_str(ref, "name");
		struct str group, version;
		if (!obj_flag(ref, "controller", false) || !kind || !name)
			continue;
		struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
		for (const char *c = kind; *c; c++)
			strbuf_addc(&b, char_lower(*c));
		if (str_cut(obj_as_str(obj_get(ref, "apiVersion")), '/', &group, &version))
			strbuf_addf(&b, ".%.*s", STR_ARG(group));
		strbuf_addf(&b, "/%s", name);
		return columns_take(&b, "<none>");
	}
	return obj_string("<none>");
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
	const char *phase = obj_str(o, "status.phase"), *reason = obj_str(o, "status.reason");
	bool running = false;
	for (size_t i = obj_len(list); i-- > 0;) { /* the first container has the last word */
		const char *waiting = obj_str(obj_at(list, i), "state.waiting.reason");
		const char *ended = obj_str(obj_at(list, i), "state.terminated.reason");
		running = running || obj_path(obj_at(list, i), "state.running");
		if (waiting || ended)
			reason = waiting ? waiting : ended;
	}
	if (cstr_eq(reason, "Completed") && running)
		reason = "NotReady";
	return columns_text(reason ? reason : phase, "Unknown");
}

static struct obj *cell_gates(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const struct obj *gates = obj_path(o, "spec.readinessGates");
	size_t met = 0;
	for (size_t i = 0; i < obj_len(gates); i++) {
		const char *type = obj_str(obj_at(gates, i), "conditionType");
		met += type && condition_is(o, type, "True");
	}
	return obj_len(gates) ? obj_stringf("%zu/%zu", met, obj_len(gates)) : obj_string("<none>");
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

static struct obj *scalar_or(const struct obj *o, const char *path)
{
	const struct obj *v = obj_path(o, path);
	if (obj_type(v) == OBJ_INT)
		return obj_stringf("%lld", (long long)obj_i64(o, path, 0));
	return columns_text(obj_as_string(v), "N/A");
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

#define WORKLOAD_WIDE                                       \
	COLUMN("Containers", "string", cell_containers, 1), \
		COLUMN("Images", "string", cell_images, 1)

/* clang-format off */
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
	COLUMN("Selector", "string", columns_plain_selector, 1)};
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
	COLUMN("Last Schedule", "string", cell_last_schedule, 0), AGE,
	COLUMN("Containers", "string", cell_job_containers, 1),
	COLUMN("Images", "string", cell_job_images, 1),
	COLUMN("Selector", "string", cell_job_selector, 1)};
static const struct kind_column of_scale[] = {
	NAME, COLUMN("Desired", "integer", cell_spec_replicas, 0),
	COLUMN("Available", "integer", cell_status_replicas, 0), AGE};
static const struct kind_column of_podtemplate[] = {
	NAME, COLUMN("Containers", "string", cell_template_containers, 0),
	COLUMN("Images", "string", cell_template_images, 0),
	COLUMN("Pod Labels", "string", cell_template_labels, 0)};
static const struct kind_column of_pod[] = {
	NAME, COLUMN("Ready", "string", cell_pod_ready, 0),
	COLUMN("Status", "string", cell_pod_status, 0),
	COLUMN("Restarts", "string", cell_restarts, 0), AGE,
	COLUMN("IP", "string", cell_pod_ip, 1), COLUMN("Node", "string", cell_node_name, 1),
	COLUMN("Nominated Node", "string", cell_nominated, 1),
	COLUMN("Readiness Gates", "string", cell_gates, 1)};
static const struct kind_column of_revision[] = {
	NAME, COLUMN("Controller", "string", cell_owner, 0),
	COLUMN("Revision", "string", cell_revision, 0), AGE};
static const struct kind_column of_pdb[] = {
	NAME, COLUMN("Min Available", "string", cell_min_available, 0),
	COLUMN("Max Unavailable", "string", cell_max_unavailable, 0),
	COLUMN("Allowed Disruptions", "integer", cell_disruptions, 0), AGE};

const struct columns_row columns_workloads[] = {
	OF("", "Pod", of_pod),
	OF("", "ReplicationController", of_rc),
	OF("", "PodTemplate", of_podtemplate),
	OF("apps", "ControllerRevision", of_revision),
	OF("apps", "Deployment", of_deployment),
	OF("apps", "StatefulSet", of_statefulset),
	OF("apps", "ReplicaSet", of_replicaset),
	OF("apps", "DaemonSet", of_daemonset),
	OF("autoscaling", "Scale", of_scale),
	OF("batch", "Job", of_job),
	OF("batch", "CronJob", of_cronjob),
	OF("policy", "PodDisruptionBudget", of_pdb),
	{0},
};
/* clang-format on */
