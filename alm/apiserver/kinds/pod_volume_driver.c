/* pod_volume_driver: the sources of volumes that name something on a network or a driver of their own, as core/validation of
 * Kubernetes 1.36 has them; see pod_parts.h. */
#include "alm/apiserver/kinds/pod_parts.h"

#include <string.h>
#include <strings.h>

#include "alm/apiserver/kinds/field_check.h"

#define TENANT_BYTES_MAX 64

/* RFC 3720, 3.2.6.3, as Kubernetes reads it. */
static bool is_iscsi_name(const char *name)
{
	static const char form[] = "iqn.0000-00.";
	size_t n = strlen(name), i = *name == 'i' ? 0 : 4;
	if (i == 0) {
		for (; form[i]; i++)
			if (form[i] == '0' ? !char_is_digit(name[i]) : form[i] != name[i])
				return false;
		const char *colon = strchr(name, ':');
		n = colon ? (size_t)(colon - name) : 0;
		if (n <= i || !colon[1] || colon[1 + strcspn(colon + 1, ",;*&$| \t\n\f\r")])
			return false;
	} else if (n != (*name == 'e' ? 20 : 36)) {
		return false;
	}
	for (; i < n; i++)
		if (!char_is_alnum(name[i]) && (*name != 'i' || !strchr("-.", name[i])))
			return false;
	return true;
}

static void check_iscsi_name(struct field_errors *e, const char *path, const char *name)
{
	bool told_more = strstr(path, "olumes[") != NULL; /* of a Pod */
	if (!cstr_has_prefix(name, "iqn") && !cstr_has_prefix(name, "eui") &&
	    !cstr_has_prefix(name, "naa"))
		check_invalid_text(e, path, name,
				   told_more ? "must be valid format starting with iqn, eui, or naa"
					     : "must be valid format");
	else if (!is_iscsi_name(name))
		check_invalid_text(e, path, name, "must be valid format");
}

static void check_iscsi(struct field_errors *e, const char *path, const struct obj *o)
{
	const char *iqn = check_text(o, "iqn");
	const struct obj *lun = obj_get(o, "lun");
	int64_t n = 0;
	if (*iqn)
		check_iscsi_name(e, check_below(e, path, "iqn"), iqn);
	if (obj_as_i64(lun, &n) && (n < 0 || n > 255))
		check_invalid(e, check_below(e, path, "lun"), lun,
			      "must be between 0 and 255, inclusive");
	if ((obj_flag(o, "chapAuthDiscovery", false) || obj_flag(o, "chapAuthSession", false)) &&
	    !obj_has(o, "secretRef"))
		check_required(e, check_below(e, path, "secretRef"), NULL);
	if (obj_has(o, "initiatorName"))
		check_iscsi_name(e, check_below(e, path, "initiatorname"), /* sic */
				 check_text(o, "initiatorName"));
}

#define PORTAL_MAX 64 /* with the name of the volume */

void pod_check_portal(struct field_errors *e, const char *path, const char *shown,
		      const struct obj *iscsi, const char *name)
{
	const char *portal = check_text(iscsi, "targetPortal");
	if (!obj_has(iscsi, "initiatorName") ||
	    strlen(name ? name : "") + strlen(":") + strlen(portal) <= PORTAL_MAX)
		return;
	check_invalid_text(e, path, shown,
			   "Total length of <volume name>:<iscsi.targetPortal> must be under 64 "
			   "characters if iscsi.initiatorName is specified.");
	check_said_of(e, iscsi);
}

static void check_flocker(struct field_errors *e, const char *path, const struct obj *o)
{
	const char *name = check_text(o, "datasetName"), *uuid = check_text(o, "datasetUUID");
	if (!*name && !*uuid)
		check_required(e, path, "one of datasetName and datasetUUID is required");
	if (*name && *uuid)
		check_invalid_text(e, path, "resource",
				   "datasetName and datasetUUID can not be specified "
				   "simultaneously");
	if (strchr(name, '/'))
		check_invalid_text(e, check_below(e, path, "datasetName"), name,
				   "must not contain '/'");
}

/* One colon; an address with more of them is in brackets. */
static bool is_host_port(struct str s)
{
	struct str host = s;
	if (s.len && s.ptr[0] == '[' && !str_cut(s, ']', &host, &s))
		return false;
	return str_cut(s, ':', &host, &s) && str_find_char(s, ':') < 0;
}

static void check_quobyte(struct field_errors *e, const char *path, const struct obj *o)
{
	static const char why[] = "must be a host:port pair or multiple pairs separated by commas";
	const char *registry = check_text(o, "registry"), *at = check_below(e, path, "registry");
	struct str rest = str_of(registry), pair;
	if (!*registry)
		check_required(e, at, why);
	while (*registry && !field_errors_full(e) && str_next(&rest, ',', &pair))
		if (!is_host_port(pair))
			check_invalid_text(e, at, registry, why);
	if (strlen(check_text(o, "tenant")) > TENANT_BYTES_MAX)
		check_required(e, check_below(e, path, "tenant"), /* sic */
			       "must be a UUID and may not exceed a length of 64 characters");
	if (check_is_empty(o, "volume"))
		check_required(e, check_below(e, path, "volume"), NULL);
}

static void check_fibre(struct field_errors *e, const char *path, const struct obj *o)
{
	const struct obj *names = obj_get(o, "targetWWNs"), *lun = obj_get(o, "lun");
	const char *at = check_below(e, path, "targetWWNs");
	int64_t n = 0;
	if (!obj_len(names) && !obj_len(obj_get(o, "wwids")))
		check_required(e, at, "must specify either targetWWNs or wwids, but not both");
	if (obj_len(names) && obj_len(obj_get(o, "wwids")))
		check_invalid(e, at, names,
			      "targetWWNs and wwids can not be specified simultaneously");
	if (obj_len(names) && !lun)
		check_required(e, check_below(e, path, "lun"),
			       "lun is required if targetWWNs is specified");
	else if (obj_len(names) && obj_as_i64(lun, &n) && (n < 0 || n > 255))
		check_invalid(e, check_below(e, path, "lun"), lun,
			      "must be between 0 and 255, inclusive");
}

static void check_azure_disk(struct field_errors *e, const char *path, const struct obj *o)
{
	static const char *const modes[] = {"None", "ReadOnly", "ReadWrite", NULL};
	static const char *const kinds[] = {"Dedicated", "Managed", "Shared", NULL};
	static const char *const managed[] = {
		"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/"
		"disks/{disk-id}",
		NULL};
	static const char *const blobs[] = {
		"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd",
		NULL};
	const char *uri = check_text(o, "diskURI"), *at = check_below(e, path, "diskURI");
	const char *kind = obj_str(o, "kind");
	if (obj_has(o, "cachingMode"))
		field_errors_one_of(e, check_below(e, path, "cachingMode"),
				    check_text(o, "cachingMode"), modes);
	if (kind)
		field_errors_one_of(e, check_below(e, path, "kind"), kind, kinds);
	if (cstr_eq(kind, "Managed") && !cstr_has_prefix(uri, "/subscriptions/"))
		field_errors_one_of(e, at, uri, managed);
	if (kind && !cstr_eq(kind, "Managed") && !cstr_has_prefix(uri, "https://"))
		field_errors_one_of(e, at, uri, blobs);
}

static bool is_reserved(struct str domain)
{
	static const char *const owners[] = {".kubernetes.io", ".k8s.io"};
	for (size_t i = 0; i < ARRAY_LEN(owners); i++) {
		size_t n = strlen(owners[i]);
		bool is_owner = domain.len + 1 == n; /* nothing stands in front */
		if (domain.len + is_owner >= n &&
		    strncasecmp(domain.ptr + domain.len + is_owner - n, owners[i] + is_owner,
				n - is_owner) == 0)
			return true;
	}
	return false;
}

/* In the order of their names: Go has another one each time. */
static void check_options(struct field_errors *e, const char *path, const struct obj *o)
{
	OBJ_EACH (it, obj_get(o, "options")) {
		struct str domain = str_of(it.key), rest;
		(void)str_cut(domain, '/', &domain, &rest);
		if (is_reserved(domain))
			check_invalid_text(e, arena_fmt(e->arena, "%s.options[%s]", path, it.key),
					   it.key,
					   "kubernetes.io and k8s.io namespaces are reserved");
	}
}

void pod_check_driver(struct field_errors *e, const char *path, const char *source,
		      const struct obj *o)
{
	static const struct {
		const char *source;
		void (*check)(struct field_errors *e, const char *path, const struct obj *o);
	} checks[] = {{"iscsi", check_iscsi},          {"flocker", check_flocker},
		      {"quobyte", check_quobyte},      {"fc", check_fibre},
		      {"azureDisk", check_azure_disk}, {"flexVolume", check_options}};
	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		if (strcmp(checks[i].source, source) == 0)
			checks[i].check(e, path, o);
}
