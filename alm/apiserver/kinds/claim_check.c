/* claim_check: see claim_check.h. */
#include "alm/apiserver/kinds/claim_check.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/apiserver/object_meta.h"
#include "alm/obj/quantity.h"
#include "alm/obj/schema/api_same.h"

static const char *const modes[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
				    "ReadWriteOncePod", NULL};
static const char *const volume_modes[] = {"Block", "Filesystem", NULL};

void check_class_name(struct field_errors *e, const char *path, const struct obj *spec,
		      const char *field)
{
	check_name_rule(e, check_below(e, path, field), NAME_DNS_SUBDOMAIN,
			check_text(spec, field));
}

void check_volume_mode(struct field_errors *e, const char *path, const struct obj *spec)
{
	if (obj_has(spec, "volumeMode"))
		field_errors_one_of(e, check_below(e, path, "volumeMode"),
				    check_text(spec, "volumeMode"), volume_modes);
}

void check_access_modes(struct field_errors *e, const char *path, const struct obj *list)
{
	size_t alone = 0, others = 0; /* of those that are known */
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *mode = obj_as_string(obj_at(list, i));
		field_errors_one_of(e, path, mode, modes);
		alone += cstr_eq(mode, "ReadWriteOncePod");
		others += mode && !cstr_eq(mode, "ReadWriteOncePod") && cstr_in(mode, modes);
	}
	if (!alone || !others)
		return;
	check_forbidden(e, path, "may not use ReadWriteOncePod with other access modes");
	check_said_of(e, list);
}

static void check_data_source(struct field_errors *e, const char *path, const struct obj *o)
{
	const char *group = check_text(o, "apiGroup"), *kind = check_text(o, "kind");
	if (check_is_empty(o, "name"))
		check_required(e, check_below(e, path, "name"), NULL);
	if (!*kind)
		check_required(e, check_below(e, path, "kind"), NULL);
	if (!*group && strcmp(kind, "PersistentVolumeClaim") != 0)
		check_invalid_text(e, path, kind,
				   "must be 'PersistentVolumeClaim' when referencing the default "
				   "apiGroup");
	check_name_rule(e, check_below(e, path, "apiGroup"), NAME_DNS_SUBDOMAIN, group);
}

/* The two say the same. The real server shows the path that it names as an empty struct. */
static void check_sources_agree(struct field_errors *e, const char *path, const struct obj *old,
				const struct obj *ref)
{
	static const char *const fields[] = {"apiGroup", "kind", "name"};
	bool same = obj_has(old, "apiGroup") == obj_has(ref, "apiGroup");
	const char *why = "must match dataSourceRef";
	if (!old || !ref)
		return;
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		same = same && strcmp(check_text(old, fields[i]), check_text(ref, fields[i])) == 0;
	if (!check_is_empty(ref, "namespace"))
		why = "may not be specified when dataSourceRef.namespace is specified";
	else if (same)
		return;
	field_errors_add(e, FIELD_INVALID, path, "Invalid value: {}: %s", why);
	check_said_of(e, old);
}

static void check_data_sources(struct field_errors *e, const char *path, const struct obj *spec)
{
	static const char *const fields[] = {"dataSource", "dataSourceRef"};
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct obj *source = obj_get(spec, fields[i]);
		size_t from = e->n;
		if (source)
			check_data_source(e, check_below(e, path, fields[i]), source);
		if (source && i > 0 && !check_is_empty(source, "namespace"))
			check_named(e, check_below(e, path, "dataSourceRef.namespace"),
				    NAME_DNS_LABEL, check_text(source, "namespace"));
		check_said_since(e, from, source);
	}
	check_sources_agree(e, path, obj_get(spec, fields[0]), obj_get(spec, fields[1]));
}

/* Is it said? */
static bool is_said(const struct obj *v)
{
	int64_t n = 0;
	if (obj_type(v) == OBJ_LIST)
		return true; /* an empty one, too */
	return obj_as_str(v).len || (obj_as_i64(v, &n) && n != 0);
}

void check_inner_meta(struct field_errors *e, const char *path, const struct obj *m)
{
	/* what is not of labels and annotations, as it is told */
	static const char *const meta[][2] = {
		{"name", "name"},
		{"generateName", "generateName"},
		{"namespace", "namespace"},
		{"selfLink", "selfLink"},
		{"uid", "uID"},
		{"resourceVersion", "resourceVersion"},
		{"generation", "generation"},
		{"creationTimestamp", "creationTimestamp"},
		{"deletionTimestamp", "deletionTimestamp"},
		{"deletionGracePeriodSeconds", "deletionGracePeriodSeconds"},
		{"ownerReferences", "ownerReferences"},
		{"finalizers", "finalizers"},
		{"managedFields", "managedFields"},
	};
	size_t from = e->n;
	object_meta_check_annotations(obj_get(m, "annotations"),
				      check_below(e, path, "annotations"), e);
	check_label_map(e, check_below(e, path, "labels"), obj_get(m, "labels"));
	for (size_t i = 0; i < ARRAY_LEN(meta); i++)
		if (is_said(obj_get(m, meta[i][0])) ||
		    (strcmp(meta[i][0], "deletionGracePeriodSeconds") == 0 &&
		     obj_has(m, meta[i][0]))) /* 0 is said, too */
			check_forbidden(e, check_below(e, path, meta[i][1]), "cannot be set");
	check_said_since(e, from, m);
}

void check_claim_spec(struct field_errors *e, const char *path, const struct obj *spec)
{
	const struct obj *list = obj_get(spec, "accessModes");
	const struct obj *storage = obj_path(spec, "resources.requests.storage");
	const char *field = check_below(e, path, "accessModes");
	if (!obj_len(list))
		check_required(e, field, "at least 1 access mode is required");
	check_label_selector(e, check_below(e, path, "selector"), obj_get(spec, "selector"));
	check_access_modes(e, field, list);
	if (!storage)
		check_required(e, check_below(e, path, "resources[storage]"), NULL);
	else if (check_is_negative(storage, true))
		check_invalid_text(e, check_below(e, path, "resources[storage]"),
				   obj_as_string(storage), "must be greater than zero");
	check_class_name(e, path, spec, "storageClassName");
	check_volume_mode(e, path, spec);
	check_data_sources(e, path, spec);
	check_class_name(e, path, spec, "volumeAttributesClassName");
}

void check_claim(struct field_errors *e, const struct obj *o)
{
	check_claim_spec(e, "spec", obj_get(o, "spec"));
}

/* Another is none to a real server, which drops it. */
bool claim_has_source(const struct obj *o)
{
	const char *kind = check_text(o, "kind"), *group = check_text(o, "apiGroup");
	return (strcmp(kind, "PersistentVolumeClaim") == 0 && !*group) ||
	       (strcmp(kind, "VolumeSnapshot") == 0 &&
		strcmp(group, "snapshot.storage.k8s.io") == 0);
}

/* What of a claim may not change: a volume and a class are given to it, a bound one grows. */
static struct obj *fixed_spec(const struct obj *o, const struct obj *before)
{
	struct obj *spec = obj_copy_map(obj_get(o, "spec"));
	if (check_is_empty(before, "spec.volumeName"))
		obj_del(spec, "volumeName");
	if (!obj_path(before, "spec.storageClassName"))
		obj_del(spec, "storageClassName");
	if (!obj_path(before, "spec.dataSource") && !claim_has_source(obj_get(spec, "dataSource")))
		obj_del(spec, "dataSource");
	if (strcmp(check_text(before, "status.phase"), "Bound") == 0) {
		obj_del(spec, "volumeAttributesClassName");
		CLEANUP(obj_unrefp) struct obj *requests =
			obj_copy_map(obj_path(spec, "resources.requests"));
		obj_del(requests, "storage");
		obj_set_path(spec, "resources.requests", obj_ref(requests));
	}
	return spec;
}

/* 0 if it is not there. */
static quantity_nanos amount(const struct obj *o, const char *path)
{
	struct quantity q;
	const char *text = obj_as_string(obj_path(o, path));
	return text && quantity_read(str_of(text), &q) ? q.nanos : 0;
}

/* Groups of sources were no names once: where one stands it may be any. */
static void forgive_groups(struct field_errors *e, const struct obj *before)
{
	size_t n = 0;
	if (!obj_path(before, "spec.dataSource.apiGroup") &&
	    !obj_path(before, "spec.dataSourceRef.apiGroup"))
		return;
	for (size_t i = 0; i < e->n; i++)
		if (!cstr_eq(e->items[i].path, "spec.dataSource.apiGroup") &&
		    !cstr_eq(e->items[i].path, "spec.dataSourceRef.apiGroup"))
			e->items[n++] = e->items[i];
	e->n = n;
}

void claim_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	const char *mode = check_text(o, "spec.volumeMode");
	CLEANUP(obj_unrefp) struct obj *is = fixed_spec(o, before);
	CLEANUP(obj_unrefp) struct obj *was = fixed_spec(before, before);
	forgive_groups(e, before);
	if (!api_same(api_type_named("core.v1.PersistentVolumeClaimSpec"), is, was))
		check_forbidden(e, "spec",
				"spec is immutable after creation except resources.requests and "
				"volumeAttributesClassName for bound claims");
	quantity_nanos size = amount(o, "spec.resources.requests.storage");
	if (size < amount(before, "spec.resources.requests.storage") &&
	    size <= amount(before, "status.capacity.storage"))
		check_forbidden(e, "spec.resources.requests.storage",
				"field can not be less than status.capacity");
	if (strcmp(mode, check_text(before, "spec.volumeMode")) != 0)
		check_invalid_text(e, "volumeMode", mode, "field is immutable");
}
