/* columns_cluster: columns of what a cluster is made of: nodes, volumes and their drivers, classes, certificates, flows. */
#include "alm/apiserver/docs/columns_internal.h"
#include "alm/base/clock.h"
#include "alm/obj/condition.h"

TEXT_CELL(cell_phase, "status.phase", "")
TEXT_CELL(cell_provisioner, "provisioner", "")
TEXT_CELL(cell_reclaim, "reclaimPolicy", "Delete")
TEXT_CELL(cell_binding_mode, "volumeBindingMode", "Immediate")
TEXT_CELL(cell_volume, "spec.volumeName", "")
TEXT_CELL(cell_claim_capacity, "status.capacity.storage", "")
TEXT_CELL(cell_storage_class, "spec.storageClassName", "")
TEXT_CELL(cell_attributes_class, "spec.volumeAttributesClassName", "<unset>")
TEXT_CELL(cell_volume_mode, "spec.volumeMode", "<unset>")
TEXT_CELL(cell_volume_capacity, "spec.capacity.storage", "0")
TEXT_CELL(cell_volume_reclaim, "spec.persistentVolumeReclaimPolicy", "")
TEXT_CELL(cell_status_reason, "status.reason", "")
TEXT_CELL(cell_node_version, "status.nodeInfo.kubeletVersion", "")
TEXT_CELL(cell_os, "status.nodeInfo.osImage", "<unknown>")
TEXT_CELL(cell_runtime, "status.nodeInfo.containerRuntimeVersion", "<unknown>")
TEXT_CELL(cell_driver_name, "driverName", "")
TEXT_CELL(cell_handler, "handler", "")
TEXT_CELL(cell_attacher, "spec.attacher", "")
TEXT_CELL(cell_attached_volume, "spec.source.persistentVolumeName", "")
TEXT_CELL(cell_node_name, "spec.nodeName", "")
TEXT_CELL(cell_signer, "spec.signerName", "<none>")
TEXT_CELL(cell_requestor, "spec.username", "")
TEXT_CELL(cell_level, "spec.priorityLevelConfiguration.name", "")
TEXT_CELL(cell_distinguisher, "spec.distinguisherMethod.type", "<none>")
TEXT_CELL(cell_level_type, "spec.type", "")
TEXT_CELL(cell_driver, "spec.driver", "")
TEXT_CELL(cell_pool, "spec.pool.name", "")
TEXT_CELL(cell_component_message, "conditions[0].message", "")
TEXT_CELL(cell_component_error, "conditions[0].error", "")
NUMBER_CELL(cell_precedence, "spec.matchingPrecedence")
FLAG_CELL(cell_expansion, "allowVolumeExpansion", false)
FLAG_CELL(cell_attach_required, "spec.attachRequired", true)
FLAG_CELL(cell_pod_info, "spec.podInfoOnMount", false)
FLAG_CELL(cell_tracks_capacity, "spec.storageCapacity", false)
FLAG_CELL(cell_republish, "spec.requiresRepublish", false)
FLAG_CELL(cell_attached, "status.attached", false)

static const struct obj *found(const struct obj *o, const char *type)
{
	return condition_find(obj_path(o, "status.conditions"), type);
}

static struct obj *access_modes(const struct obj *list)
{
	static const char *const names[][2] = {{"ReadWriteOnce", "RWO"},
					       {"ReadOnlyMany", "ROX"},
					       {"ReadWriteMany", "RWX"},
					       {"ReadWriteOncePod", "RWOP"}};
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	for (size_t i = 0; i < obj_len(list); i++)
		for (size_t j = 0; j < ARRAY_LEN(names); j++)
			if (cstr_eq(obj_as_string(obj_at(list, i)), names[j][0]))
				columns_add(&b, ",", names[j][1]);
	return columns_take(&b, "");
}

static struct obj *cell_claim_modes(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return access_modes(obj_path(o, "status.accessModes"));
}

static struct obj *cell_volume_modes(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return access_modes(obj_path(o, "spec.accessModes"));
}

static struct obj *cell_volume_phase(const struct obj *o, int64_t now_ns)
{
	return obj_str(o, "metadata.deletionTimestamp") ? obj_string("Terminating")
							: cell_phase(o, now_ns);
}

static struct obj *cell_claim(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const char *ns = obj_str(o, "spec.claimRef.namespace");
	const char *name = obj_str(o, "spec.claimRef.name");
	return obj_path(o, "spec.claimRef") ? obj_stringf("%s/%s", ns ? ns : "", name ? name : "")
					    : obj_string("");
}

static struct obj *cell_component(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	bool ok = cstr_eq(obj_str(o, "conditions[0].status"), "True");
	return obj_string(ok ? "Healthy" : "Unhealthy");
}

static struct obj *cell_node_status(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const char *off = obj_flag(o, "spec.unschedulable", false) ? ",SchedulingDisabled" : "";
	const char *ready = found(o, "Ready") ? "NotReady" : "Unknown";
	return obj_stringf("%s%s", condition_is(o, "Ready", "True") ? "Ready" : ready, off);
}

static struct obj *cell_node_roles(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	static const char prefix[] = "node-role.kubernetes.io/";
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	OBJ_EACH (it, obj_path(o, "metadata.labels"))
		if (cstr_has_prefix(it.key, prefix))
			columns_add(&b, ",", it.key + sizeof(prefix) - 1);
	return columns_take(&b, "<none>");
}

static struct obj *node_address(const struct obj *o, const char *type)
{
	const struct obj *list = obj_path(o, "status.addresses");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "type"), type))
			return columns_text(obj_str(obj_at(list, i), "address"), "");
	return obj_string("<none>");
}

static struct obj *cell_internal_ip(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return node_address(o, "InternalIP");
}

static struct obj *cell_node_external_ip(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return node_address(o, "ExternalIP");
}

static struct obj *cell_kernel(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const char *kernel = obj_str(o, "status.nodeInfo.kernelVersion");
	const char *arch = obj_str(o, "status.nodeInfo.architecture");
	kernel = kernel && *kernel ? kernel : "<unknown>";
	return arch && *arch ? obj_stringf("%s (%s)", kernel, arch) : obj_string(kernel);
}

static struct obj *cell_drivers(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return obj_int((int64_t)obj_len(obj_path(o, "spec.drivers")));
}

static struct obj *cell_audiences(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const struct obj *list = obj_path(o, "spec.tokenRequests");
	return columns_join(list, "audience", list ? "" : "<unset>");
}

static struct obj *cell_lifecycle(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return columns_join(obj_path(o, "spec.volumeLifecycleModes"), NULL, "<none>");
}

static struct obj *cell_requested(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	char text[CLOCK_TEXT_MAX];
	int64_t s = obj_i64(o, "spec.expirationSeconds", -1);
	if (s < 0 || s > INT32_MAX)
		return obj_string("<none>");
	duration_human(s * NS_PER_S, text);
	return obj_string(text);
}

static struct obj *cell_csr_condition(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	const char *certificate = obj_str(o, "status.certificate");
	const char *state = found(o, "Approved") ? "Approved" : "Pending";
	return obj_stringf("%s%s%s", found(o, "Denied") ? "Denied" : state,
			   found(o, "Failed") ? ",Failed" : "",
			   certificate && *certificate ? ",Issued" : "");
}

static struct obj *cell_dangling(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return columns_text(obj_str(found(o, "Dangling"), "status"), "?");
}

static struct obj *number_or_none(const struct obj *o, const char *path)
{
	const struct obj *v = obj_path(o, path);
	return v ? obj_copy(v) : obj_string("<none>");
}

static struct obj *cell_shares(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return number_or_none(o, "spec.limited.nominalConcurrencyShares");
}

static struct obj *cell_queues(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return number_or_none(o, "spec.limited.limitResponse.queuing.queues");
}

static struct obj *cell_hand(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return number_or_none(o, "spec.limited.limitResponse.queuing.handSize");
}

static struct obj *cell_queue_length(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	return number_or_none(o, "spec.limited.limitResponse.queuing.queueLengthLimit");
}

static struct obj *cell_claim_state(const struct obj *o, int64_t now_ns)
{
	(void)now_ns;
	struct strbuf b = STRBUF_INIT(CELL_BYTES_MAX);
	bool deleted = obj_str(o, "metadata.deletionTimestamp");
	if (deleted)
		columns_add(&b, ",", "deleted");
	if (obj_path(o, "status.allocation"))
		columns_add(&b, ",", "allocated");
	else if (!deleted)
		columns_add(&b, ",", "pending");
	if (obj_path(o, "status.allocation") && obj_len(obj_path(o, "status.reservedFor")))
		columns_add(&b, ",", "reserved");
	return columns_take(&b, "");
}

/* clang-format off */
static const struct kind_column of_node[] = {
	NAME, COLUMN("Status", "string", cell_node_status, 0),
	COLUMN("Roles", "string", cell_node_roles, 0), AGE,
	COLUMN("Version", "string", cell_node_version, 0),
	COLUMN("Internal-IP", "string", cell_internal_ip, 1),
	COLUMN("External-IP", "string", cell_node_external_ip, 1),
	COLUMN("OS-Image", "string", cell_os, 1), COLUMN("Kernel-Version", "string", cell_kernel, 1),
	COLUMN("Container-Runtime", "string", cell_runtime, 1)};
static const struct kind_column of_pv[] = {
	NAME, COLUMN("Capacity", "string", cell_volume_capacity, 0),
	COLUMN("Access Modes", "string", cell_volume_modes, 0),
	COLUMN("Reclaim Policy", "string", cell_volume_reclaim, 0),
	COLUMN("Status", "string", cell_volume_phase, 0), COLUMN("Claim", "string", cell_claim, 0),
	COLUMN("StorageClass", "string", cell_storage_class, 0),
	COLUMN("VolumeAttributesClass", "string", cell_attributes_class, 0),
	COLUMN("Reason", "string", cell_status_reason, 0), AGE,
	COLUMN("VolumeMode", "string", cell_volume_mode, 1)};
static const struct kind_column of_pvc[] = {
	NAME, COLUMN("Status", "string", cell_volume_phase, 0),
	COLUMN("Volume", "string", cell_volume, 0),
	COLUMN("Capacity", "string", cell_claim_capacity, 0),
	COLUMN("Access Modes", "string", cell_claim_modes, 0),
	COLUMN("StorageClass", "string", cell_storage_class, 0),
	COLUMN("VolumeAttributesClass", "string", cell_attributes_class, 0), AGE,
	COLUMN("VolumeMode", "string", cell_volume_mode, 1)};
static const struct kind_column of_storageclass[] = {
	DEFAULT_NAME, COLUMN("Provisioner", "string", cell_provisioner, 0),
	COLUMN("ReclaimPolicy", "string", cell_reclaim, 0),
	COLUMN("VolumeBindingMode", "string", cell_binding_mode, 0),
	COLUMN("AllowVolumeExpansion", "string", cell_expansion, 0), AGE};
static const struct kind_column of_attributes[] = {
	NAME, COLUMN("DriverName", "string", cell_driver_name, 0), AGE};
static const struct kind_column of_csinode[] = {
	NAME, COLUMN("Drivers", "integer", cell_drivers, 0), AGE};
static const struct kind_column of_csidriver[] = {
	NAME, COLUMN("AttachRequired", "boolean", cell_attach_required, 0),
	COLUMN("PodInfoOnMount", "boolean", cell_pod_info, 0),
	COLUMN("StorageCapacity", "boolean", cell_tracks_capacity, 0),
	COLUMN("TokenRequests", "string", cell_audiences, 0),
	COLUMN("RequiresRepublish", "boolean", cell_republish, 0),
	COLUMN("Modes", "string", cell_lifecycle, 0), AGE};
static const struct kind_column of_attachment[] = {
	NAME, {"Attacher", "string", "name", "Attacher", NULL, 0, NULL, cell_attacher},
	COLUMN("PV", "string", cell_attached_volume, 0),
	COLUMN("Node", "string", cell_node_name, 0),
	COLUMN("Attached", "boolean", cell_attached, 0), AGE};
static const struct kind_column of_runtimeclass[] = {
	NAME, COLUMN("Handler", "string", cell_handler, 0), AGE};
static const struct kind_column of_csr[] = {
	NAME, AGE, COLUMN("SignerName", "string", cell_signer, 0),
	COLUMN("Requestor", "string", cell_requestor, 0),
	COLUMN("RequestedDuration", "string", cell_requested, 0),
	COLUMN("Condition", "string", cell_csr_condition, 0)};
static const struct kind_column of_flowschema[] = {
	NAME, COLUMN("PriorityLevel", "string", cell_level, 0),
	COLUMN("MatchingPrecedence", "string", cell_precedence, 0),
	COLUMN("DistinguisherMethod", "string", cell_distinguisher, 0), AGE,
	COLUMN("MissingPL", "string", cell_dangling, 0)};
static const struct kind_column of_level[] = {
	NAME, COLUMN("Type", "string", cell_level_type, 0),
	COLUMN("NominalConcurrencyShares", "string", cell_shares, 0),
	COLUMN("Queues", "string", cell_queues, 0), COLUMN("HandSize", "string", cell_hand, 0),
	COLUMN("QueueLengthLimit", "string", cell_queue_length, 0), AGE};
static const struct kind_column of_component[] = {
	NAME, COLUMN("Status", "string", cell_component, 0),
	COLUMN("Message", "string", cell_component_message, 0),
	COLUMN("Error", "string", cell_component_error, 0)};
static const struct kind_column of_claim[] = {
	NAME, COLUMN("State", "string", cell_claim_state, 0), AGE};
static const struct kind_column of_slice[] = {
	NAME, COLUMN("Node", "string", cell_node_name, 0), COLUMN("Driver", "string", cell_driver, 0),
	COLUMN("Pool", "string", cell_pool, 0), AGE};

const struct columns_row columns_cluster[] = {
	OF("", "ComponentStatus", of_component),
	OF("", "Node", of_node),
	OF("", "PersistentVolume", of_pv),
	OF("", "PersistentVolumeClaim", of_pvc),
	OF("storage.k8s.io", "StorageClass", of_storageclass),
	OF("storage.k8s.io", "VolumeAttributesClass", of_attributes),
	OF("storage.k8s.io", "VolumeAttachment", of_attachment),
	OF("storage.k8s.io", "CSINode", of_csinode),
	OF("storage.k8s.io", "CSIDriver", of_csidriver),
	OF("node.k8s.io", "RuntimeClass", of_runtimeclass),
	OF("certificates.k8s.io", "CertificateSigningRequest", of_csr),
	OF("flowcontrol.apiserver.k8s.io", "FlowSchema", of_flowschema),
	OF("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", of_level),
	OF("resource.k8s.io", "ResourceClaim", of_claim),
	OF("resource.k8s.io", "ResourceSlice", of_slice),
	{0},
};
/* clang-format on */
