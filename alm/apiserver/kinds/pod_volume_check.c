/* pod_volume_check: the sources of a Pod's volumes, as core/validation of Kubernetes 1.36 has them; see pod_parts.h. To add a field
 * that must be there, a row. */
#include "alm/apiserver/kinds/pod_parts.h"

#include <string.h>

#include "alm/apiserver/kinds/claim_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/storage_check.h"

#define MODE_WORDS "must be a number between 0 and 0777 (octal), both inclusive"
#define MORE_TYPES "may not specify more than 1 volume type"

static const char *const sources[] = {"emptyDir",
				      "hostPath",
				      "gitRepo",
				      "gcePersistentDisk",
				      "awsElasticBlockStore",
				      "secret",
				      "nfs",
				      "iscsi",
				      "glusterfs",
				      "flocker",
				      "persistentVolumeClaim",
				      "rbd",
				      "cinder",
				      "cephfs",
				      "quobyte",
				      "downwardAPI",
				      "fc",
				      "flexVolume",
				      "configMap",
				      "azureFile",
				      "vsphereVolume",
				      "photonPersistentDisk",
				      "portworxVolume",
				      "azureDisk",
				      "storageos",
				      "projected",
				      "scaleIO",
				      "csi",
				      "ephemeral",
				      "image"};

static const struct {
	const char *source, *fields[3];
} needs[] = {
	{"hostPath", {"path"}},
	{"gitRepo", {"repository"}},
	{"gcePersistentDisk", {"pdName"}},
	{"awsElasticBlockStore", {"volumeID"}},
	{"secret", {"secretName"}},
	{"nfs", {"server", "path"}},
	{"iscsi", {"targetPortal", "iqn"}},
	{"glusterfs", {"endpoints", "path"}},
	{"persistentVolumeClaim", {"claimName"}},
	{"rbd", {"monitors", "image"}},
	{"cinder", {"volumeID"}},
	{"cephfs", {"monitors"}},
	{"flexVolume", {"driver"}},
	{"configMap", {"name"}},
	{"azureFile", {"secretName", "shareName"}},
	{"vsphereVolume", {"volumePath"}},
	{"photonPersistentDisk", {"pdID"}},
	{"portworxVolume", {"volumeID"}},
	{"azureDisk", {"diskName", "diskURI"}},
	{"storageos", {"volumeName"}},
	{"scaleIO", {"gateway", "system", "volumeName"}},
	{"ephemeral", {"volumeClaimTemplate"}},
};

static bool is_there(const struct obj *v)
{
	return obj_type(v) == OBJ_STRING ? obj_as_str(v).len > 0
					 : obj_type(v) == OBJ_MAP || obj_len(v) > 0;
}

static void check_mode(struct field_errors *e, const char *path, const struct obj *o,
		       const char *field)
{
	const struct obj *v = obj_get(o, field);
	int64_t n = 0;
	if (obj_as_i64(v, &n) && (n < 0 || n > 0777))
		check_invalid(e, check_below(e, path, field), v, MODE_WORDS);
}

void pod_check_path(struct field_errors *e, const char *path, const char *text)
{
	if (*text == '/')
		check_invalid_text(e, path, text, "must be a relative path");
	pod_check_steps(e, path, text);
}

/* A path below the volume. */
static void check_local(struct field_errors *e, const char *path, const char *local)
{
	pod_check_path(e, path, local);
	if (cstr_has_prefix(local, "..") && !cstr_has_prefix(local, "../") && local[2])
		check_invalid_text(e, path, local, "must not start with '..'");
}

static void check_host_path(struct field_errors *e, const char *path, const struct obj *o)
{
	static const char *const types[] = {
		"",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
		"File", "FileOrCreate", "Socket",     NULL};
	if (check_is_empty(o, "path"))
		return; /* which was told */
	pod_check_steps(e, check_below(e, path, "path"), check_text(o, "path"));
	field_errors_one_of(e, check_below(e, path, "type"), check_text(o, "type"), types);
}

/* Of a volume that is put together of several: no two write one file. */
struct files {
	const char *path; /* of the volume */
	struct map *seen;
};

/* Is told of the volume, with shown. files may be NULL. */
static void check_file_again(struct field_errors *e, const struct files *files,
			     const struct obj *item, const char *shown)
{
	if (files && !check_is_empty(item, "path") &&
	    check_again(files->seen, check_text(item, "path")))
		check_invalid_text(e, files->path, shown, "conflicting duplicate paths");
}

static void check_items(struct field_errors *e, const char *path, const struct obj *source,
			const struct files *files)
{
	static const char *const fields[] = {"key", "path"};
	const struct obj *list = obj_get(source, "items");
	path = check_below(e, path, "items");
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *at = check_at(e, path, i);
		for (size_t k = 0; k < ARRAY_LEN(fields); k++)
			if (check_is_empty(obj_at(list, i), fields[k]))
				check_required(e, check_below(e, at, fields[k]), NULL);
		check_local(e, check_below(e, at, "path"), check_text(obj_at(list, i), "path"));
		check_mode(e, at, obj_at(list, i), "mode");
		check_file_again(e, files, obj_at(list, i), check_text(source, "name"));
	}
}

/* Each is told at the volume. */
static void check_files(struct field_errors *e, const char *path, const struct obj *list,
			const struct files *files)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *file = obj_at(list, i);
		bool of_field = obj_has(file, "fieldRef"),
		     of_resource = obj_has(file, "resourceFieldRef");
		if (check_is_empty(file, "path"))
			check_required(e, check_below(e, path, "path"), NULL);
		check_local(e, check_below(e, path, "path"), check_text(file, "path"));
		pod_check_file_ref(e, path, file);
		if (of_field && of_resource)
			check_invalid_text(e, path, "resource",
					   "fieldRef and resourceFieldRef can not be specified "
					   "simultaneously");
		else if (!of_field && !of_resource)
			check_required(e, path, "one of fieldRef and resourceFieldRef is required");
		check_mode(e, path, file, "mode");
		check_file_again(e, files, file, check_text(file, "path"));
	}
}

static void check_token(struct field_errors *e, const char *path, const char *at,
			const struct obj *token)
{
	const struct obj *seconds = obj_get(token, "expirationSeconds");
	int64_t n = 600;
	if (obj_as_i64(seconds, &n) && n < 600)
		check_invalid(e, check_below(e, at, "expirationSeconds"), seconds,
			      "may not specify a duration less than 10 minutes");
	if (n > (int64_t)1 << 32)
		check_invalid(e, check_below(e, at, "expirationSeconds"), seconds,
			      "may not specify a duration larger than 2^32 seconds");
	if (check_is_empty(token, "path"))
		check_required(e, check_below(e, path, "path"), NULL); /* sic */
	else
		check_local(e, check_below(e, path, "path"), check_text(token, "path"));
}

/* What several are put together of. */
static void check_projected(struct field_errors *e, const char *path, const struct obj *list)
{
	static const char *const kinds[] = {"secret", "configMap", "downwardAPI",
					    "serviceAccountToken"};
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	const struct files files = {path, seen};
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *here = check_at(e, check_below(e, path, "sources"), i);
		size_t n = 0;
		for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
			const struct obj *source = obj_get(obj_at(list, i), kinds[k]);
			const char *at = check_below(e, here, kinds[k]);
			n += source != NULL;
			if (source && k < 2 && check_is_empty(source, "name"))
				check_required(e, check_below(e, at, "name"), NULL);
			if (k < 2)
				check_items(e, at, source, &files);
			else if (k == 2)
				check_files(e, at, obj_get(source, "items"), &files);
			else if (source)
				check_token(e, path, at, source);
		}
		if (n > 1)
			check_forbidden(e, here,
					"may not specify more than 1 volume type per source");
	}
}

static void check_partition(struct field_errors *e, const char *path, const struct obj *o)
{
	const struct obj *v = obj_get(o, "partition");
	int64_t n = 0;
	if (obj_as_i64(v, &n) && (n < 0 || n > 255)) /* sic */
		check_invalid(e, check_below(e, path, "partition"), v,
			      "must be between 1 and 255, inclusive");
}

/* Its volume has the name of the claim of a Pod, so the claim is judged as one. */
static void check_made(struct field_errors *e, const char *path, const struct obj *o)
{
	const struct obj *t = obj_get(o, "volumeClaimTemplate");
	const char *at = check_below(e, path, "volumeClaimTemplate");
	if (!t)
		return;
	check_inner_meta(e, check_below(e, at, "metadata"), obj_get(t, "metadata"));
	check_claim_spec(e, check_below(e, at, "spec"), obj_get(t, "spec"));
}

static void check_storage_names(struct field_errors *e, const char *path, const struct obj *o)
{
	check_name_rule(e, check_below(e, path, "volumeName"), NAME_DNS_LABEL,
			check_text(o, "volumeName"));
	check_name_rule(e, check_below(e, path, "volumeNamespace"), NAME_DNS_LABEL,
			check_text(o, "volumeNamespace"));
}

static void check_driver(struct field_errors *e, const char *path, const struct obj *o)
{
	const struct obj *ref = obj_get(o, "nodePublishSecretRef");
	check_driver_name(e, check_below(e, path, "driver"), check_text(o, "driver"));
	if (ref && check_is_empty(ref, "name"))
		check_required(e, check_below(e, path, "nodePublishSecretRef.name"), NULL);
	else if (ref)
		check_named(e, check_below(e, path, "name"), NAME_DNS_SUBDOMAIN, /* sic */
			    check_text(ref, "name"));
}

/* What is not only a field that is there. */
static void check_form(struct field_errors *e, const char *path, const char *source,
		       const struct obj *o)
{
	if (strcmp(source, "nfs") == 0 && *check_text(o, "path") != '/')
		check_invalid_text(e, check_below(e, path, "path"), check_text(o, "path"),
				   "must be an absolute path");
	else if (strcmp(source, "hostPath") == 0)
		check_host_path(e, path, o);
	else if (strcmp(source, "emptyDir") == 0 &&
		 check_is_negative(obj_get(o, "sizeLimit"), false))
		check_forbidden(e, check_below(e, path, "sizeLimit"),
				"SizeLimit field must be a valid resource quantity");
	else if (strcmp(source, "secret") == 0 || strcmp(source, "configMap") == 0) {
		check_mode(e, path, o, "defaultMode");
		check_items(e, path, o, NULL);
	} else if (strcmp(source, "downwardAPI") == 0) {
		check_mode(e, path, o, "defaultMode");
		check_files(e, path, obj_get(o, "items"), NULL);
	} else if (strcmp(source, "projected") == 0) {
		check_mode(e, path, o, "defaultMode");
		check_projected(e, path, obj_get(o, "sources"));
	} else if (strcmp(source, "ephemeral") == 0)
		check_made(e, path, o);
	else if (strcmp(source, "csi") == 0)
		check_driver(e, path, o);
	else if (strcmp(source, "gcePersistentDisk") == 0 ||
		 strcmp(source, "awsElasticBlockStore") == 0)
		check_partition(e, path, o);
	else if (strcmp(source, "gitRepo") == 0)
		pod_check_path(e, check_below(e, path, "directory"), check_text(o, "directory"));
	pod_check_driver(e, path, source, o);
	if (strcmp(source, "storageos") == 0)
		check_storage_names(e, path, o);
	if (obj_has(o, "secretRef") &&
	    (strcmp(source, "cinder") == 0 || strcmp(source, "storageos") == 0) &&
	    check_is_empty(o, "secretRef.name"))
		check_required(e, check_below(e, path, "secretRef.name"), NULL);
}

/* Of an image a template may say later which. */
static void check_image(struct field_errors *e, const char *path, const struct obj *o)
{
	static const char *const policies[] = {"Always", "IfNotPresent", "Never", NULL};
	if (cstr_has_prefix(path, "spec.volumes[") && check_is_empty(o, "reference"))
		check_required(e, check_below(e, path, "reference"), NULL);
	if (obj_has(o, "pullPolicy"))
		field_errors_one_of(e, check_below(e, path, "pullPolicy"),
				    check_text(o, "pullPolicy"), policies);
}

static void check_source(struct field_errors *e, const char *path, const char *source,
			 const struct obj *o)
{
	size_t from = e->n;
	if (strcmp(source, "image") == 0)
		check_image(e, path, o);
	for (size_t i = 0; i < ARRAY_LEN(needs); i++)
		for (size_t k = 0; k < ARRAY_LEN(needs[i].fields) && needs[i].fields[k] &&
				   strcmp(needs[i].source, source) == 0;
		     k++)
			if (!is_there(obj_get(o, needs[i].fields[k])))
				check_required(e, check_below(e, path, needs[i].fields[k]), NULL);
	check_form(e, path, source, o);
	check_said_since(e, from, o); /* most of it is younger than what may be stored */
}

/* As the real server names it where it is the first source of a volume, and one too many. */
static const char *told_as(const char *source, size_t before)
{
	static const struct {
		const char *source, *first, *more;
	} names[] = {
		{"downwardAPI", "downwardAPI", "downwarAPI"},
		{"cephfs", "cephfs", "cephFS"},
		{"gcePersistentDisk", "persistentDisk", "gcePersistentDisk"},
	};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i].source, source) == 0)
			return before ? names[i].more : names[i].first;
	return source;
}

void pod_check_one_source(struct field_errors *e, const char *path, const char *source,
			  const struct obj *o)
{
	check_source(e, check_below(e, path, told_as(source, 0)), source, o);
}

/* The claim that is made for it is called after both. */
static void check_made_claim(struct field_errors *e, const char *path, const struct obj *volume,
			     const char *pod)
{
	const char *name = check_text(volume, "name"), *faults[NAME_FAULTS_MAX];
	if (!pod || !*name)
		return;
	const char *claim = arena_fmt(e->arena, "%s-%s", pod, name);
	size_t n = name_faults(NAME_DNS_SUBDOMAIN, str_of(claim), faults);
	for (size_t i = 0; i < n; i++)
		check_invalid_text(
			e, check_below(e, path, "name"), name,
			arena_fmt(e->arena, "PVC name %s: %s", check_quoted(e, claim), faults[i]));
}

void pod_check_source(struct field_errors *e, const char *path, const struct obj *volume,
		      const char *pod)
{
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		if (!obj_has(volume, sources[i]))
			continue;
		const char *at = check_below(e, path, told_as(sources[i], n));
		if (n++ == 0)
			check_source(e, at, sources[i], obj_get(volume, sources[i]));
		else
			check_forbidden(e, at, MORE_TYPES);
		if (n == 1 && strcmp(sources[i], "ephemeral") == 0)
			check_made_claim(e, path, volume, pod);
		if (strcmp(sources[i], "iscsi") == 0)
			pod_check_portal(e, check_below(e, path, "name"),
					 check_text(volume, "name"), obj_get(volume, "iscsi"),
					 check_text(volume, "name"));
	}
	if (n == 0)
		check_required(e, path, "must specify a volume type");
}
