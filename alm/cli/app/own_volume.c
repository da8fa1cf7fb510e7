#include "alm/cli/app/own_volume.h"

#include <string.h>

#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

#define PATH_BYTES_MAX 4096
#define HOSTNAME       "kubernetes.io/hostname"
#define LABEL          "app.kubernetes.io/managed-by"
#define OURS           "alm-cli"
#define IS_DEFAULT     "storageclass.kubernetes.io/is-default-class"

/* claimRef: no other claim gets it. The size is that of the claim in deploy/manifests/alm.yaml. */
static const char manifest[] = "apiVersion: v1\n"
			       "kind: PersistentVolume\n"
			       "metadata:\n"
			       "  name: alm-log\n"
			       "  labels: {app.kubernetes.io/name: alm, " LABEL ": " OURS "}\n"
			       "spec:\n"
			       "  capacity: {storage: 2Gi}\n"
			       "  accessModes: [ReadWriteOnce]\n"
			       "  persistentVolumeReclaimPolicy: Retain\n"
			       "  local: {path: \"%s\"}\n"
			       "  claimRef: {namespace: alm-system, name: alm-log}\n"
			       "  nodeAffinity:\n"
			       "    required:\n"
			       "      nodeSelectorTerms:\n"
			       "      - matchExpressions:\n"
			       "        - {key: " HOSTNAME ", operator: In, values: "
			       "[\"%s\"]}\n";

static bool is_folder(const char *path)
{
	size_t n = strlen(path);
	return path[0] == '/' && n > 1 && n < PATH_BYTES_MAX && !strstr(path, "..") &&
	       strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			    "._-/") == n;
}

/* "NODE:/PATH", of the arena. */
static int split(struct cli *c, const char *value, const char **node, const char **path,
		 struct error *err)
{
	struct str name, folder;
	bool ok = str_cut(str_of(value), ':', &name, &folder) && name_is_dns_subdomain(name);
	*node = ok ? arena_fmt(c->arena, "%.*s", STR_ARG(name)) : "";
	*path = ok ? arena_fmt(c->arena, "%.*s", STR_ARG(folder)) : "";
	return is_folder(*path) ? 0
				: error_set(err, E_USAGE,
					    "--log-volume %s: want NODE:/PATH, a node and a folder "
					    "that is there",
					    value);
}

int own_volume_read(struct cli *c, struct yaml_documents *ret, struct error *err)
{
	const char *value = cli_value(c, "log-volume"), *node, *path;
	if (!value)
		return 0;
	if (split(c, value, &node, &path, err) < 0)
		return -err->code;
	return yaml_parse(str_of(arena_fmt(c->arena, manifest, path, node)), ret, err);
}

/* A volume is told its node by the label that kubelets give. */
static int check_node(struct cli *c, struct session *s, struct error *err)
{
	const char *node, *path;
	const struct obj *nodes;
	if (split(c, cli_value(c, "log-volume"), &node, &path, err) < 0)
		return -err->code;
	if (session_get(s,
			arena_fmt(c->arena,
				  "/api/v1/nodes?limit=1&labelSelector=" HOSTNAME "%%3D%s", node),
			&nodes, err) < 0)
		return error_wrap(err, "--log-volume");
	return obj_len(obj_get(nodes, "items"))
		       ? 0
		       : error_set(err, E_REFUSED,
				   "--log-volume: no node has label " HOSTNAME "=%s: `kubectl get "
				   "nodes -L " HOSTNAME "` lists what there is",
				   node);
}

int own_volume_take(const struct obj *volume, struct error *err)
{
	if (own_volume_is_ours(volume))
		return 0;
	return error_set(err, E_REFUSED,
			 "--log-volume: PersistentVolume alm-log is there, and was not made by "
			 "this option (label " LABEL "=" OURS ", claim alm-system/alm-log): it is "
			 "left as it is; if the log may lie on it, say it without; else look at "
			 "it with kubectl get pv alm-log -o yaml, and remove it");
}

/* The claim that had it is gone, with its namespace, say: what is on the volume is for the next one, which has another
 * uid. */
static int release(struct session *s, const struct obj *volume, struct error *err)
{
	struct session_reply reply;
	if (!cstr_eq(obj_str(volume, "status.phase"), "Released"))
		return 0;
	CLEANUP(obj_unrefp) struct obj *patch = obj_map();
	obj_set_path(patch, "spec.claimRef.uid", obj_null());
	obj_set_path(patch, "spec.claimRef.resourceVersion", obj_null());
	const struct session_request q = {.method = "PATCH",
					  .target = OWN_VOLUME_TARGET "?fieldManager=alm-cli",
					  .content_type = MERGE_PATCH,
					  .body = patch};
	return session_send(s, &q, &reply, err) < 0 ? error_wrap(err, "--log-volume") : 0;
}

int own_volume_check(struct cli *c, struct session *s, struct error *err)
{
	struct error none = ERROR_INIT;
	const struct obj *volume, *classes;
	if (session_get(s, OWN_VOLUME_TARGET, &volume, &none) >= 0)
		return own_volume_take(volume, err) < 0 ? -err->code : release(s, volume, err);
	if (none.code != E_NOTFOUND)
		return error_set(err, none.code, "--log-volume: %s", none.msg);
	if (check_node(c, s, err) < 0)
		return -err->code;
	if (session_get(s, "/apis/storage.k8s.io/v1/storageclasses", &classes, err) < 0)
		return error_wrap(err, "--log-volume");
	const struct obj *items = obj_get(classes, "items");
	for (size_t i = 0; i < obj_len(items); i++)
		if (cstr_eq(meta_annotation(obj_at(items, i), IS_DEFAULT), "true"))
			return error_set(err, E_REFUSED,
					 "--log-volume: StorageClass %s is the default of this "
					 "cluster and makes the volume: say it without",
					 meta_name(obj_at(items, i)));
	return 0;
}

bool own_volume_is_ours(const struct obj *volume)
{
	return cstr_eq(meta_label(volume, LABEL), OURS) &&
	       cstr_eq(obj_str(volume, "spec.claimRef.name"), "alm-log") &&
	       cstr_eq(obj_str(volume, "spec.claimRef.namespace"), "alm-system");
}
