/* volume_source_check: where a PersistentVolume is, as core/validation of Kubernetes 1.36 has it; see volume_check.h. */
#include "alm/apiserver/kinds/volume_check.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_parts.h"
#include "alm/apiserver/kinds/storage_check.h"

/* A Secret of another namespace. */
static void check_secret(struct field_errors *e, const char *path, const struct obj *ref)
{
	static const struct {
		const char *field;
		enum name_rule rule;
	} parts[] = {{"name", NAME_DNS_SUBDOMAIN}, {"namespace", NAME_DNS_LABEL}};
	for (size_t i = 0; i < ARRAY_LEN(parts) && ref; i++)
		if (check_is_empty(ref, parts[i].field))
			check_required(e, check_below(e, path, parts[i].field), NULL);
		else
			check_named(e, check_below(e, path, parts[i].field), parts[i].rule,
				    check_text(ref, parts[i].field));
}

static void check_csi(struct field_errors *e, const char *path, const struct obj *o)
{
	static const char *const secrets[] = {"controllerPublishSecretRef",
					      "controllerExpandSecretRef", "nodePublishSecretRef",
					      "nodeExpandSecretRef"};
	check_driver_name(e, check_below(e, path, "driver"), check_text(o, "driver"));
	if (check_is_empty(o, "volumeHandle"))
		check_required(e, check_below(e, path, "volumeHandle"), NULL);
	for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
		check_secret(e, check_below(e, path, secrets[i]), obj_get(o, secrets[i]));
}

static void check_local(struct field_errors *e, const char *path, const struct obj *o)
{
	const char *text = check_text(o, "path"), *at = check_below(e, path, "path");
	if (!*text)
		check_required(e, at, NULL);
	else
		pod_check_steps(e, at, text);
}

void volume_check_portal(struct field_errors *e, const char *at, const struct obj *iscsi,
			 const char *name)
{
	pod_check_portal(e, check_below(e, at, "targetportal") /* sic */,
			 check_text(iscsi, "targetPortal"), iscsi, name);
}

/* Told in front of what the initiator is called. */
static void check_iscsi_secret(struct field_errors *e, const char *path, const struct obj *o)
{
	static const char last[] = "initiatorname";
	const struct obj *ref = obj_get(o, "secretRef");
	size_t n = e->n;
	if (!ref || !check_is_empty(ref, "name"))
		return;
	check_required(e, check_below(e, path, "secretRef.name"), NULL);
	if (n > 0 && e->n > n && cstr_has_suffix(e->items[n - 1].path, last))
		field_errors_swap(e, n - 1, n, e->n);
}

/* What only the source of a volume has, not that of a Pod. */
static void check_more(struct field_errors *e, const char *path, const char *source,
		       const struct obj *o)
{
	const struct obj *ns = obj_get(o, "endpointsNamespace");
	const char *at = check_below(e, path, "endpointsNamespace");
	bool has_secret = strcmp(source, "cinder") == 0 || strcmp(source, "storageos") == 0;
	if (strcmp(source, "iscsi") == 0)
		check_iscsi_secret(e, path, o);
	if (has_secret && obj_has(o, "secretRef") && check_is_empty(o, "secretRef.namespace"))
		check_required(e, check_below(e, path, "secretRef.namespace"), NULL);
	if (strcmp(source, "azureFile") == 0 && obj_has(o, "secretNamespace") &&
	    check_is_empty(o, "secretNamespace"))
		check_required(e, check_below(e, path, "secretNamespace"), NULL);
	if (strcmp(source, "glusterfs") != 0 || !ns)
		return;
	if (!obj_as_str(ns).len)
		check_invalid_text(e, at, "",
				   "if the endpointnamespace is set, it must be a valid namespace "
				   "name");
	else
		check_named(e, at, NAME_DNS_LABEL, obj_as_string(ns));
}

void volume_check_source(struct field_errors *e, const char *at, const char *source,
			 const struct obj *o)
{
	const char *path = check_below(e, at, source);
	size_t from = e->n;
	if (strcmp(source, "csi") == 0)
		check_csi(e, path, o);
	else if (strcmp(source, "local") == 0)
		check_local(e, path, o);
	else
		pod_check_one_source(e, at, source, o);
	check_more(e, path, source, o);
	check_said_since(e, from, o);
}
