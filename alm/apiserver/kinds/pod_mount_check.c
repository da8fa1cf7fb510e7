/* pod_mount_check: what a container sees of the Pod's volumes, as core/validation of Kubernetes 1.36 has it; see pod_parts.h. */
#include "alm/apiserver/kinds/pod_parts.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/rule_check.h"

/* What a container mounts, others see only if it may all. */
static void check_propagation(struct field_errors *e, const char *path, const struct obj *mount,
			      bool privileged)
{
	const struct obj *how = obj_get(mount, "mountPropagation");
	if (privileged || strcmp(check_text(mount, "mountPropagation"), "Bidirectional") != 0)
		return;
	check_forbidden(e, check_below(e, path, "mountPropagation"),
			"Bidirectional mount propagation is available only to privileged "
			"containers");
	check_said_of(e, how);
}

static void check_read_only(struct field_errors *e, const char *path, const struct obj *mount)
{
	const char *is = check_text(mount, "recursiveReadOnly");
	const char *at = check_below(e, path, "recursiveReadOnly");
	const char *how = check_text(mount, "mountPropagation");
	size_t from = e->n;
	if (strcmp(is, "Enabled") != 0 && strcmp(is, "IfPossible") != 0)
		return;
	if (!obj_flag(mount, "readOnly", false))
		check_forbidden(e, at, "may only be specified when readOnly is true");
	if (*how && strcmp(how, "None") != 0)
		check_forbidden(
			e, at,
			"may only be specified when mountPropagation is None or not specified");
	check_said_since(e, from, mount);
}

/* Names and places of a list, which the other list may not have. */
static void remember(struct map *names, struct map *places, const struct obj *list,
		     const char *place)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		(void)map_set(names, check_text(obj_at(list, i), "name"), NULL);
		(void)map_set(places, check_text(obj_at(list, i), place), NULL);
	}
}

static void check_taken(struct field_errors *e, const char *path, const struct obj *o,
			const char *field, const struct map *taken, const char *why)
{
	const char *text = check_text(o, field);
	if (map_has(taken, text))
		check_invalid_text(e, check_below(e, path, field), text, why);
}

static void check_sub_paths(struct field_errors *e, const char *path, const char *here,
			    const struct obj *m)
{
	const char *sub = check_text(m, "subPath"), *expr = check_text(m, "subPathExpr");
	size_t from = e->n;
	pod_check_path(e, check_below(e, path, "subPath"), sub); /* sic */
	if (*sub && *expr)
		check_invalid_text(e, check_below(e, here, "subPathExpr"), expr,
				   "subPathExpr and subPath are mutually exclusive");
	pod_check_path(e, check_below(e, path, "subPathExpr"), expr);
	check_said_since(e, from, m);
}

static void check_mounts(struct field_errors *e, const char *path, const struct obj *c,
			 const struct map *volumes)
{
	const struct obj *mounts = obj_get(c, "volumeMounts");
	bool privileged = obj_flag(c, "securityContext.privileged", false);
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	CLEANUP(map_freep) struct map *names = map_new(NULL);
	CLEANUP(map_freep) struct map *places = map_new(NULL);
	remember(names, places, obj_get(c, "volumeDevices"), "devicePath");
	for (size_t i = 0; i < obj_len(mounts) && !field_errors_full(e); i++) {
		const struct obj *m = obj_at(mounts, i);
		const char *here = check_at(e, path, i), *name = check_text(m, "name");
		const char *where = check_text(m, "mountPath");
		if (!*name)
			check_required(e, check_below(e, here, "name"), NULL);
		if (!map_has(volumes, name))
			field_errors_add_text(e, FIELD_NOT_FOUND, check_below(e, here, "name"),
					      name);
		if (!*where)
			check_required(e, check_below(e, here, "mountPath"), NULL);
		if (check_again(seen, where))
			check_invalid_text(e, check_below(e, here, "mountPath"), where,
					   "must be unique");
		check_taken(e, here, m, "name", names, "must not already exist in volumeDevices");
		check_taken(e, here, m, "mountPath", places,
			    "must not already exist as a path in volumeDevices");
		check_sub_paths(e, path, here, m);
		rule_check_part(e, "propagation", path, m);
		check_propagation(e, path, m, privileged);
		rule_check_part(e, "read only", path, m);
		check_read_only(e, path, m);
	}
}

static bool is_claim(const struct obj *volume)
{
	return !volume || obj_has(volume, "persistentVolumeClaim") || obj_has(volume, "ephemeral");
}

static bool steps_back(const char *text)
{
	struct str rest = str_of(text), part;
	while (str_next(&rest, '/', &part))
		if (str_is(part, ".."))
			return true;
	return false;
}

static void check_device_path(struct field_errors *e, const char *path, const char *text,
			      struct map *seen)
{
	if (!*text)
		check_required(e, path, NULL);
	if (map_has(seen, text))
		check_invalid_text(e, path, text, "must be unique");
	if (*text && steps_back(text))
		check_invalid_text(e, path, text, "can not contain backsteps ('..')");
	else
		(void)map_set(seen, text, NULL);
}

/* The same of what is no file system. */
static void check_devices(struct field_errors *e, const char *path, const struct obj *c,
			  const struct map *volumes)
{
	const struct obj *devices = obj_get(c, "volumeDevices");
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	CLEANUP(map_freep) struct map *known = map_new(NULL);
	CLEANUP(map_freep) struct map *names = map_new(NULL);
	CLEANUP(map_freep) struct map *places = map_new(NULL);
	size_t from = e->n;
	remember(names, places, obj_get(c, "volumeMounts"), "mountPath");
	for (size_t i = 0; i < obj_len(devices) && !field_errors_full(e); i++) {
		const struct obj *d = obj_at(devices, i);
		const char *here = check_at(e, path, i), *name = check_text(d, "name");
		const char *at = check_below(e, here, "name");
		if (!*name)
			check_required(e, at, NULL);
		if (*name && check_again(known, name))
			check_invalid_text(e, at, name, "must be unique");
		if (map_has(volumes, name) && !is_claim(map_get(volumes, name)))
			check_invalid_text(e, at, name,
					   "can only use volume source type of "
					   "PersistentVolumeClaim or Ephemeral for block mode");
		if (!map_has(volumes, name))
			field_errors_add_text(e, FIELD_NOT_FOUND, at, name);
		check_device_path(e, check_below(e, here, "devicePath"),
				  check_text(d, "devicePath"), seen);
		check_taken(e, here, d, "name", names, "must not already exist in volumeMounts");
		check_taken(e, here, d, "devicePath", places,
			    "must not already exist as a path in volumeMounts");
	}
	check_said_since(e, from, devices);
}

void pod_check_mounts(struct field_errors *e, const char *path, const struct obj *container,
		      const struct map *volumes)
{
	check_mounts(e, check_below(e, path, "volumeMounts"), container, volumes);
	check_devices(e, check_below(e, path, "volumeDevices"), container, volumes);
}

void pod_check_ephemeral_mounts(struct field_errors *e, const char *path, const struct obj *c)
{
	static const char *const fields[] = {"subPath", "subPathExpr"};
	const struct obj *mounts = obj_get(c, "volumeMounts");
	const char *at = check_below(e, path, "volumeMounts");
	for (size_t i = 0; i < obj_len(mounts) && !field_errors_full(e); i++)
		for (size_t k = 0; k < ARRAY_LEN(fields); k++)
			if (!check_is_empty(obj_at(mounts, i), fields[k]))
				check_forbidden(e, check_below(e, check_at(e, at, i), fields[k]),
						"cannot be set for an Ephemeral Container");
}
