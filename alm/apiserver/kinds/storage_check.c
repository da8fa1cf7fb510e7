/* storage_check: see storage_check.h. */
#include "alm/apiserver/kinds/storage_check.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/apiserver/kinds/volume_check.h"

#define NODE_ID_MAX      256
#define PARAMETERS_MAX   512
#define PARAMETERS_BYTES ((size_t)256 << 10)
#define TOKEN_LEAST      600
#define TOKEN_MOST       (1LL << 32)

/* --- drivers --- */

static void check_tokens(struct field_errors *e, const struct obj *list)
{
	static const char path[] = "spec.tokenRequests";
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *t = obj_at(list, i), *seconds = obj_get(t, "expirationSeconds");
		const char *audience = check_text(t, "audience"), *at = check_at(e, path, i);
		int64_t n = TOKEN_LEAST;
		if (check_again(seen, audience)) {
			field_errors_add_text(e, FIELD_DUPLICATE, check_below(e, at, "audience"),
					      audience);
			continue;
		}
		obj_as_i64(seconds, &n);
		if (n < TOKEN_LEAST)
			check_invalid(e, check_below(e, at, "expirationSeconds"), seconds,
				      "may not specify a duration less than 10 minutes");
		if (n > TOKEN_MOST)
			check_invalid(e, check_below(e, at, "expirationSeconds"), seconds,
				      "may not specify a duration larger than 2^32 seconds");
	}
}

void check_csi_driver(struct field_errors *e, const struct obj *o)
{
	static const char *const policies[] = {"File", "None", "ReadWriteOnceWithFSType", NULL};
	static const char *const modes[] = {"Persistent", "Ephemeral", NULL};
	const struct obj *list = obj_path(o, "spec.volumeLifecycleModes");
	const struct obj *period = obj_path(o, "spec.nodeAllocatableUpdatePeriodSeconds");
	const struct obj *in_secrets = obj_path(o, "spec.serviceAccountTokenInSecrets");
	int64_t n = 10;
	if (obj_get(o, "spec")) /* which has its default */
		field_errors_one_of(e, "spec.fsGroupPolicy", check_text(o, "spec.fsGroupPolicy"),
				    policies);
	check_tokens(e, obj_path(o, "spec.tokenRequests"));
	for (size_t i = 0; i < obj_len(list); i++)
		field_errors_one_of(e, "spec.volumeLifecycleModes", obj_as_string(obj_at(list, i)),
				    modes);
	if (obj_as_i64(period, &n) && n < 10)
		check_invalid(e, "spec.nodeAllocatableUpdatePeriodSeconds", period,
			      "must be greater than or equal to 10 seconds");
	if (in_secrets && !obj_len(obj_path(o, "spec.tokenRequests")))
		check_invalid(e, "spec.serviceAccountTokenInSecrets", in_secrets,
			      "serviceAccountTokenInSecrets is set but no tokenRequests are "
			      "specified");
}

void csi_driver_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	const struct obj *is = obj_path(o, "spec.attachRequired");
	if (!obj_equal(is, obj_path(before, "spec.attachRequired")))
		check_invalid(e, "spec.attachedRequired", is, "field is immutable"); /* sic */
	check_kept(e, "spec.volumeLifecycleModes", o, before);
}

static void check_topology(struct field_errors *e, const char *path, const struct obj *keys)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(keys); i++) {
		const char *key = obj_as_string(obj_at(keys, i));
		if (!*key)
			check_required(e, path, NULL);
		if (check_again(seen, key))
			field_errors_add_text(e, FIELD_DUPLICATE, path, key);
		check_qualified(e, path, key);
	}
}

void check_csi_node(struct field_errors *e, const struct obj *o)
{
	const struct obj *list = obj_path(o, "spec.drivers");
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *d = obj_at(list, i), *count = obj_path(d, "allocatable.count");
		const char *at = check_at(e, "spec.drivers", i), *name = check_text(d, "name");
		const char *id = check_text(d, "nodeID");
		check_driver_name(e, check_below(e, at, "name"), name);
		if (!*id)
			check_required(e, check_below(e, at, "nodeID"), NULL);
		if (strlen(id) > NODE_ID_MAX)
			check_invalid_text(e, check_below(e, at, "nodeID"), id,
					   "must be 256 characters or less");
		check_at_least(e, check_below(e, at, "allocatable.count"), count, 0);
		if (check_again(seen, name))
			field_errors_add_text(e, FIELD_DUPLICATE, check_below(e, at, "name"), name);
		check_topology(e, at, obj_get(d, "topologyKeys"));
	}
}

/* How many volumes it takes may change, nothing else of a driver that stays. */
void csi_node_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	static const char *const fields[] = {"Name:name", "NodeID:nodeID",
					     "*TopologyKeys:topologyKeys", "*Allocatable:", NULL};
	const struct obj *is = obj_path(o, "spec.drivers"), *was = obj_path(before, "spec.drivers");
	CLEANUP(map_freep) struct map *first = map_new(NULL); /* of that name, from 1 on */
	CLEANUP(xfreep) size_t *next = xcalloc(obj_len(is) + 1, sizeof(*next));
	for (size_t i = obj_len(is); i > 0; i--) {
		const char *name = check_text(obj_at(is, i - 1), "name");
		next[i] = map_number(first, name);
		map_set_number(first, name, i);
	}
	for (size_t i = 0; i < obj_len(was); i++) {
		const struct obj *a = obj_at(was, i);
		CLEANUP(obj_unrefp) struct obj *x = obj_copy_map(a);
		obj_del(x, "allocatable");
		for (size_t k = map_number(first, check_text(a, "name"));
		     k && !field_errors_full(e); k = next[k]) {
			CLEANUP(obj_unrefp) struct obj *y = obj_copy_map(obj_at(is, k - 1));
			obj_del(y, "allocatable");
			if (!obj_equal(x, y))
				check_invalid_struct(e, "spec.drivers", y, fields,
						     "field is immutable");
		}
	}
}

/* --- capacities --- */

void check_storage_capacity(struct field_errors *e, const struct obj *o)
{
	const char *name = check_text(o, "storageClassName");
	check_label_selector(e, "nodeTopology", obj_get(o, "nodeTopology"));
	check_named(e, "storageClassName", NAME_DNS_SUBDOMAIN, name);
	if (check_is_negative(obj_get(o, "capacity"), false))
		check_invalid(e, "capacity", obj_get(o, "capacity"),
			      "must be greater than or equal to 0");
}

void storage_capacity_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	check_kept(e, "nodeTopology", o, before);
	check_text_kept(e, "storageClassName", o, before);
}

/* --- attachments --- */

void check_volume_attachment(struct field_errors *e, const struct obj *o)
{
	static const char either[] =
		"must specify exactly one of inlineVolumeSpec and persistentVolumeName";
	static const char volume[] = "spec.source.persistentVolumeName";
	const struct obj *source = obj_path(o, "spec.source");
	const char *name = obj_str(source, "persistentVolumeName"),
		   *node = check_text(o, "spec.nodeName");
	bool is_inline = obj_has(source, "inlineVolumeSpec");
	check_driver_name(e, "spec.attacher", check_text(o, "spec.attacher"));
	if (!is_inline && !name)
		check_required(e, "spec.source", either);
	else if (is_inline && name)
		check_forbidden(e, "spec.source", either);
	else if (name && !*name)
		check_required(e, volume, "must specify non empty persistentVolumeName");
	else if (is_inline) {
		const struct obj *spec = obj_get(source, "inlineVolumeSpec");
		size_t from = e->n;
		check_volume_spec(e, "spec.source.inlineVolumeSpec", spec, NULL);
		check_said_since(e, from, spec);
	}
	check_named(e, "spec.nodeName", NAME_DNS_SUBDOMAIN, node);
	if (name)
		check_named(e, volume, NAME_DNS_SUBDOMAIN, name);
}

void volume_attachment_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	static const char *const fields[] = {"Attacher:attacher", "Source:source",
					     "NodeName:nodeName", NULL};
	const struct obj *spec = obj_get(o, "spec");
	if (obj_equal(spec, obj_get(before, "spec")))
		return;
	CLEANUP(obj_unrefp) struct obj *shown = obj_copy_map(spec);
	struct obj *source = obj_map();
	const struct obj *name = obj_path(spec, "source.persistentVolumeName");
	const struct obj *within = obj_path(spec, "source.inlineVolumeSpec");
	obj_set(source, "PersistentVolumeName", name ? obj_ref(name) : obj_null());
	obj_set(source, "InlineVolumeSpec", within ? obj_ref(within) : obj_null());
	obj_set(shown, "source", source);
	check_invalid_struct(e, "spec", shown, fields, "field is immutable");
}

/* --- classes --- */

void check_provisioner(struct field_errors *e, const char *path, const char *name)
{
	if (!*name)
		check_required(e, path, NULL);
	check_by_lower(e, path, NAME_QUALIFIED, name);
}

void check_class_parameters(struct field_errors *e, const struct obj *o, bool needed)
{
	const struct obj *map = obj_get(o, "parameters");
	size_t bytes = 0;
	if (obj_len(map) > PARAMETERS_MAX) {
		check_too_long(e, "parameters", PARAMETERS_MAX);
		return;
	}
	OBJ_EACH (it, map) {
		if (!*it.key)
			check_invalid_text(e, "parameters", "", "field can not be empty.");
		bytes += strlen(it.key) + obj_as_str(it.value).len;
	}
	if (bytes > PARAMETERS_BYTES)
		check_too_long(e, "parameters", PARAMETERS_BYTES);
	if (needed && !obj_len(map))
		check_required(e, "parameters", "must contain at least one key/value pair");
}

void check_volume_attributes(struct field_errors *e, const struct obj *o)
{
	check_provisioner(e, "driverName", check_text(o, "driverName"));
	check_class_parameters(e, o, true);
}

void volume_attributes_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	const struct obj *is = obj_get(o, "parameters"), *was = obj_get(before, "parameters");
	if (strcmp(check_text(o, "driverName"), check_text(before, "driverName")) != 0)
		check_forbidden(e, "driverName", "updates to driverName are forbidden.");
	if (!is != !was || (is && !obj_equal(is, was)))
		check_forbidden(e, "parameters", "updates to parameters are forbidden.");
}
