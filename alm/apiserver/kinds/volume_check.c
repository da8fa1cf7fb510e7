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

static void check_sources(struct field_errors *e, const char *at, const struct obj *spec,
			  const char *name)
{
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		const struct obj *v = obj_get(spec, sources[i]);
		bool flex =
			strcmp(sources[i], "flexVolume") == 0; /* sic: it is never one too many */
		if (!v)
			continue;
		if (n == 0 && strcmp(sources[i], "iscsi") == 0)
			volume_check_portal(e, check_below(e, at, sources[i]), v, name);
		if (n == 0 || flex)
			volume_check_source(e, at, sources[i], v);
		else
			check_forbidden(e,
					check_below(e, at,
						    strcmp(sources[i], "cephfs") == 0
							    ? "cephFS" /* sic */
							    : sources[i]),
					"may not specify more than 1 volume type");
		if (n == 0 && strcmp(sources[i], "local") == 0 &&
		    (!name || !obj_has(spec, "nodeAffinity")))
			check_required(e, check_below(e, at, "nodeAffinity"),
				       "Local volume requires node affinity");
		n++;
	}
	if (n == 0)
		check_required(e, at, "must specify a volume type");
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

/* What a volume has that stands by itself: one within an attachment is that of its driver alone. */
static void not_inline(struct field_errors *e, const char *at, const struct obj *spec,
		       const char *field)
{
	if (obj_has(spec, field))
		check_forbidden(e, check_below(e, at, field),
				"may not be specified in the context of inline volumes");
}

static void check_amount(struct field_errors *e, const struct obj *capacity)
{
	CLEANUP(obj_unrefp) struct obj *nothing = obj_null();
	CLEANUP(strbuf_release) struct strbuf shown = STRBUF_INIT(CAPACITY_SHOWN_MAX);
	json_print_canonical(capacity ? capacity : nothing,
			     &shown); /* a map in the order of its keys */
	if (!obj_len(capacity))
		check_required(e, "spec.capacity", NULL);
	if (!obj_has(capacity, "storage") || obj_len(capacity) > 1) {
		field_errors_add(e, FIELD_NOT_SUPPORTED, "spec.capacity",
				 "Unsupported value: %s: supported values: \"storage\"", shown.buf);
		check_said_of(e, capacity);
	}
	check_capacity(e, capacity);
}

static void check_policy(struct field_errors *e, const char *at, const struct obj *spec,
			 bool is_inline)
{
	const char *path = check_below(e, at, "persistentVolumeReclaimPolicy");
	const struct obj *policy = obj_get(spec, "persistentVolumeReclaimPolicy");
	size_t from = e->n;
	if (!obj_as_str(policy).len)
		return;
	if (!is_inline)
		field_errors_one_of(e, path, obj_as_string(policy), policies);
	else if (strcmp(obj_as_string(policy), "Retain") != 0)
		check_forbidden(e, path, "may only be Retain in the context of inline volumes");
	check_said_since(e, from, policy);
}

static void check_attributes_class(struct field_errors *e, const struct obj *spec)
{
	const char *name = obj_str(spec, "volumeAttributesClassName");
	if (!name)
		return;
	if (!*name)
		check_required(e, "spec.volumeAttributesClassName",
			       "an empty string is disallowed");
	check_class_name(e, "spec", spec, "volumeAttributesClassName");
	if (obj_has(spec, "csi"))
		return;
	check_required(e, "spec.csi", "has to be specified when using volumeAttributesClassName");
	check_said_of(e, obj_get(spec, "volumeAttributesClassName"));
}

void check_volume_spec(struct field_errors *e, const char *at, const struct obj *spec,
		       const char *name)
{
	const bool is_inline = !name;
	const struct obj *list = obj_get(spec, "accessModes");
	const char *modes = check_below(e, at, "accessModes"),
		   *mode = check_text(spec, "volumeMode");
	if (is_inline) {
		not_inline(e, at, spec, "claimRef");
		not_inline(e, at, spec, "capacity");
		if (!obj_has(spec, "csi"))
			check_required(e, check_below(e, at, "csi"),
				       "has to be specified in the context of inline volumes");
	}
	if (!obj_len(list))
		check_required(e, modes, NULL);
	check_access_modes(e, modes, list);
	if (!is_inline)
		check_amount(e, obj_get(spec, "capacity"));
	check_policy(e, at, spec, is_inline);
	if (is_inline)
		not_inline(e, at, spec, "nodeAffinity");
	else
		check_place(e, obj_get(spec, "nodeAffinity"));
	check_sources(e, at, spec, name);
	const char *host = check_text(spec, "hostPath.path");
	if (*host == '/' && strspn(host, "/.") == strlen(host) && !strstr(host, "...") &&
	    strcmp(check_text(spec, "persistentVolumeReclaimPolicy"), "Recycle") == 0)
		check_forbidden(e, check_below(e, at, "persistentVolumeReclaimPolicy"),
				"may not be 'recycle' for a hostPath mount of '/'");
	if (!is_inline) {
		check_class_name(e, at, spec, "storageClassName");
		check_volume_mode(e, at, spec);
	} else {
		not_inline(e, at, spec, "storageClassName");
		if (obj_has(spec, "volumeMode") && strcmp(mode, "Filesystem") != 0)
			check_forbidden(e, check_below(e, at, "volumeMode"),
					"may not specify volumeMode other than Filesystem in the "
					"context of inline volumes");
	}
	if (!is_inline)
		check_attributes_class(e, spec);
}

void check_volume(struct field_errors *e, const struct obj *o)
{
	check_volume_spec(e, "spec", obj_get(o, "spec"), check_text(o, "metadata.name"));
}

/* One Secret of a driver may come later. */
static struct obj *source_of(const struct obj *o, const struct obj *before)
{
	static const char later[] = "controllerExpandSecretRef";
	struct obj *out = obj_map();
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		const struct obj *v = obj_get(obj_get(o, "spec"), sources[i]);
		if (v)
			obj_set(out, sources[i], obj_copy(v));
	}
	if (!obj_has(obj_path(before, "spec.csi"), later) && obj_has(out, "csi"))
		obj_del(obj_get_mut(out, "csi"), later);
	return out;
}

/* Of a requirement, what a label was called before it was stable may become its name. */
static void rename_label(struct obj *was, const struct obj *is)
{
	static const struct {
		const char *before, *now;
	} labels[] = {
		{"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
		{"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
		{"beta.kubernetes.io/os", "kubernetes.io/os"},
		{"beta.kubernetes.io/arch", "kubernetes.io/arch"},
		{"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"},
	};
	const char *now = ""; /* sic: of any other label */
	for (size_t i = 0; i < ARRAY_LEN(labels); i++)
		if (cstr_eq(obj_str(was, "key"), labels[i].before))
			now = labels[i].now;
	if (cstr_eq(obj_str(is, "key"), now))
		obj_set_str(was, "key", now);
}

/* Which nodes reach it may be said once. */
static void check_place_kept(struct field_errors *e, const struct obj *is, const struct obj *was)
{
	static const char terms[] = "required.nodeSelectorTerms";
	if (!was)
		return;
	CLEANUP(obj_unrefp) struct obj *copy = obj_copy(was);
	struct obj *list = obj_get_mut(obj_get_mut(copy, "required"), "nodeSelectorTerms");
	for (size_t i = 0; i < obj_len(list); i++) {
		struct obj *asked = obj_get_mut(obj_at_mut(list, i), "matchExpressions");
		const struct obj *now = obj_get(obj_at(obj_path(is, terms), i), "matchExpressions");
		for (size_t k = 0; k < obj_len(asked); k++)
			rename_label(obj_at_mut(asked, k), obj_at(now, k));
	}
	if (!is || !obj_equal(is, copy))
		check_invalid(e, "nodeAffinity", is,
			      "field is immutable, except for updating from beta label to GA");
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
	check_place_kept(e, obj_path(o, "spec.nodeAffinity"),
			 obj_path(before, "spec.nodeAffinity"));
	if (obj_path(before, "spec.volumeAttributesClassName") &&
	    !obj_path(o, "spec.volumeAttributesClassName"))
		check_forbidden(e, "spec.volumeAttributesClassName",
				"update from non-nil value to nil is forbidden");
}
