/* volume_check: see volume_check.h. */
#include "alm/apiserver/kinds/volume_check.h"

#include <string.h>

#include "alm/apiserver/kinds/claim_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_parts.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/obj/json.h"

#define CAPACITY_SHOWN_MAX ((size_t)64 << 10)

static const char *const policies[] = {"Delete", "Recycle", "Retain", NULL};
/* In the order they are looked at. */
static const char *const sources[] = {"hostPath",
				      "gcePersistentDisk",
				      "awsElasticBlockStore",
				      "glusterfs",
				      "flocker",
				      "nfs",
				      "rbd",
				      "quobyte",
				      "cephfs",
				      "iscsi",
				      "cinder",
				      "fc",
				      "flexVolume",
				      "azureFile",
				      "vsphereVolume",
				      "photonPersistentDisk",
				      "portworxVolume",
				      "azureDisk",
				      "scaleIO",
				      "local",
				      "storageos",
				      "csi"};

static void check_sources(struct field_errors *e, const struct obj *spec)
{
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		const struct obj *v = obj_get(spec, sources[i]);
		bool flex =
			strcmp(sources[i], "flexVolume") == 0; /* sic: it is never one too many */
		if (!v)
			continue;
		if (n == 0 || flex)
			volume_check_source(e, sources[i], v);
		else
			check_forbidden(e,
					strcmp(sources[i], "cephfs") == 0
						? "spec.cephFS" /* sic */
						: check_below(e, "spec", sources[i]),
					"may not specify more than 1 volume type");
		if (n == 0 && strcmp(sources[i], "local") == 0 &&
		    !obj_path(spec, "nodeAffinity.required.nodeSelectorTerms"))
			check_required(e, "spec.nodeAffinity",
				       "Local volume requires node affinity");
		n++;
	}
	if (n == 0)
		check_required(e, "spec", "must specify a volume type");
}

/* A quantity that is there, in the order of its name: Go has another one each time. */
static void check_capacity(struct field_errors *e, const struct obj *capacity)
{
	OBJ_EACH (it, capacity) {
		const char *path = arena_fmt(e->arena, "spec.capacity[%s]", it.key);
		size_t from = e->n;
		if (check_is_negative(it.value, false))
			field_errors_add(e, FIELD_INVALID, path,
					 "Invalid value: %s: must be a valid resource quantity",
					 obj_as_string(it.value));
		if (check_is_negative(it.value, true))
			check_invalid_text(e, path, obj_as_string(it.value),
					   "must be greater than zero");
		check_said_since(e, from, capacity);
	}
}

/* Of which nodes it can be reached. */
static void check_place(struct field_errors *e, const struct obj *affinity)
{
	const struct obj *required = obj_get(affinity, "required");
	size_t from = e->n;
	if (affinity && !required)
		check_required(e, "spec.nodeAffinity.required",
			       "must specify required node constraints");
	else if (required)
		check_node_selector(e, "spec.nodeAffinity.required", required);
	check_said_since(e, from, affinity);
}

bool volume_has_type(const struct obj *spec)
{
	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		if (obj_has(spec, sources[i]))
			return true;
	return false;
}

void check_volume(struct field_errors *e, const struct obj *o)
{
	const struct obj *spec = obj_get(o, "spec"), *list = obj_get(spec, "accessModes");
	const struct obj *capacity = obj_get(spec, "capacity");
	const struct obj *policy = obj_get(spec, "persistentVolumeReclaimPolicy");
	CLEANUP(obj_unrefp) struct obj *nothing = obj_null();
	const char *attributes = obj_str(spec, "volumeAttributesClassName");
	CLEANUP(strbuf_release) struct strbuf shown = STRBUF_INIT(CAPACITY_SHOWN_MAX);
	json_print_canonical(capacity ? capacity : nothing,
			     &shown); /* a map in the order of its keys */
	if (!obj_len(list))
		check_required(e, "spec.accessModes", NULL);
	check_access_modes(e, "spec.accessModes", list);
	if (!obj_len(capacity))
		check_required(e, "spec.capacity", NULL);
	if (!obj_has(capacity, "storage") || obj_len(capacity) > 1) {
		field_errors_add(e, FIELD_NOT_SUPPORTED, "spec.capacity",
				 "Unsupported value: %s: supported values: \"storage\"", shown.buf);
		check_said_of(e, capacity);
	}
	check_capacity(e, capacity);
	if (obj_as_str(policy).len) {
		size_t from = e->n;
		field_errors_one_of(e, "spec.persistentVolumeReclaimPolicy", obj_as_string(policy),
				    policies);
		check_said_since(e, from, policy);
	}
	check_place(e, obj_get(spec, "nodeAffinity"));
	check_sources(e, spec);
	check_class_name(e, "spec", spec, "storageClassName");
	check_volume_mode(e, "spec", spec);
	if (!attributes)
		return;
	if (!*attributes)
		check_required(e, "spec.volumeAttributesClassName",
			       "an empty string is disallowed");
	check_class_name(e, "spec", spec, "volumeAttributesClassName");
	if (!obj_has(spec, "csi")) {
		check_required(e, "spec.csi",
			       "has to be specified when using volumeAttributesClassName");
		check_said_of(e, obj_get(spec, "volumeAttributesClassName"));
	}
}

/* Secrets of a driver may come later. */
static struct obj *source_of(const struct obj *o, const struct obj *before)
{
	static const char *const later[] = {"controllerExpandSecretRef", "nodeExpandSecretRef"};
	struct obj *out = obj_map();
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		const struct obj *v = obj_get(obj_get(o, "spec"), sources[i]);
		if (v)
			obj_set(out, sources[i], obj_copy(v));
	}
	for (size_t i = 0; i < ARRAY_LEN(later); i++)
		if (!obj_has(obj_path(before, "spec.csi"), later[i]) && obj_has(out, "csi"))
			obj_del(obj_get_mut(out, "csi"), later[i]);
	return out;
}

void volume_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	CLEANUP(obj_unrefp) struct obj *is = source_of(o, before);
	CLEANUP(obj_unrefp) struct obj *was = source_of(before, before);
	const char *mode = check_text(o, "spec.volumeMode");
	if (!obj_equal(is, was))
		check_forbidden(e, "spec.persistentvolumesource",
				"spec.persistentvolumesource is immutable after creation");
	if (strcmp(mode, check_text(before, "spec.volumeMode")) != 0)
		check_invalid_text(e, "volumeMode", mode, "field is immutable");
}
