/* pod_host_check: what a Pod has of its host, and its options for Windows, as core/validation of Kubernetes 1.36 has them; see
 * pod_parts.h and pod_security.h. */
#include "alm/apiserver/kinds/pod_security.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_parts.h"

#define GMSA_BYTES_MAX   ((size_t)64 << 10)
#define DOMAIN_BYTES_MAX 256
#define NETBIOS_MAX      15
#define USER_BYTES_MAX   104
#define HOST_BYTES_MAX   64

/* --- names of users --- */

static bool has_any(struct str s, const char *chars)
{
	for (size_t i = 0; i < s.len; i++)
		if (strchr(chars, s.ptr[i]))
			return true;
	return false;
}

static bool is_netbios(struct str s)
{
	return s.len > 0 && s.len <= NETBIOS_MAX && s.ptr[0] != '.' && !has_any(s, "\\/:*?\"<>|");
}

static bool is_domain(struct str s)
{
	struct str part;
	if (!s.len || s.ptr[s.len - 1] == '.')
		return false;
	while (str_next(&s, '.', &part)) {
		if (!part.len || part.len > 63 || part.ptr[0] == '-' ||
		    part.ptr[part.len - 1] == '-')
			return false;
		for (size_t i = 0; i < part.len; i++)
			if (!char_is_alnum(part.ptr[i]) && part.ptr[i] != '-')
				return false;
	}
	return true;
}

static void check_user_parts(struct field_errors *e, const char *path, const char *text)
{
	struct str domain, user = str_of(text), last;
	bool has_domain = str_cut(user, '\\', &domain, &last);
	size_t dots = 0;
	user = has_domain ? last : user;
	if (has_domain && domain.len >= DOMAIN_BYTES_MAX)
		check_invalid_text(e, path, text,
				   "runAsUserName's Domain length must be under 256 characters");
	if (has_domain && !is_netbios(domain) && !is_domain(domain))
		check_invalid_text(
			e, path, text,
			"runAsUserName's Domain doesn't match the NetBios nor the DNS format");
	if (!user.len)
		check_invalid_text(e, path, text, "runAsUserName's User cannot be empty");
	else if (user.len > USER_BYTES_MAX)
		check_invalid_text(
			e, path, text,
			"runAsUserName's User length must not be longer than 104 characters");
	while (dots < user.len && (user.ptr[dots] == '.' || user.ptr[dots] == ' '))
		dots++;
	if (user.len && dots == user.len)
		check_invalid_text(e, path, text,
				   "runAsUserName's User cannot contain only periods or spaces");
	if (has_any(user, "\"/\\:;|=,+*?<>@[]"))
		check_invalid_text(e, path, text,
				   "runAsUserName's User cannot contain the following characters: "
				   "\"/\\:;|=,+*?<>@[]");
}

static void check_user(struct field_errors *e, const char *path, const char *text)
{
	size_t slashes = 0;
	bool control = false;
	for (const char *p = text; *p; p++) {
		slashes += *p == '\\';
		control = control || (unsigned char)*p < ' ' || *p == 0x7f;
	}
	if (!*text)
		check_invalid_text(e, path, text, "runAsUserName cannot be an empty string");
	else if (control)
		check_invalid_text(e, path, text,
				   "runAsUserName cannot contain control characters");
	else if (slashes > 1)
		check_invalid_text(e, path, text,
				   "runAsUserName cannot contain more than one backslash");
	else
		check_user_parts(e, path, text);
}

void pod_check_windows(struct field_errors *e, const char *path, const struct obj *o)
{
	const char *name = obj_str(o, "gmsaCredentialSpecName");
	const char *spec = obj_str(o, "gmsaCredentialSpec"), *user = obj_str(o, "runAsUserName");
	const char *at = check_below(e, path, "gmsaCredentialSpec");
	if (name)
		check_named(e, check_below(e, path, "gmsaCredentialSpecName"), NAME_DNS_SUBDOMAIN,
			    name);
	if (spec && !*spec)
		check_invalid_text(e, at, spec, "gmsaCredentialSpec cannot be an empty string");
	else if (spec && strlen(spec) > GMSA_BYTES_MAX)
		check_invalid_text(e, at, spec, "gmsaCredentialSpec size must be under 64 KiB");
	if (user)
		check_user(e, check_below(e, path, "runAsUserName"), user);
}

/* --- the host --- */

static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};

/* Processes of the host: all containers or none. */
static void check_processes(struct field_errors *e, const char *path, const struct obj *spec)
{
	static const char field[] = "securityContext.windowsOptions.hostProcess";
	const struct obj *pod = obj_path(spec, field);
	size_t n = 0, of_host = 0, from = e->n;
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; i < obj_len(obj_get(spec, lists[k])); i++) {
			const struct obj *c = obj_at(obj_get(spec, lists[k]), i);
			const struct obj *own = obj_path(c, field);
			const char *at = check_at(e, check_below(e, path, lists[k]), i);
			if (pod && own && obj_is_true(pod) != obj_is_true(own))
				check_invalid(e, check_below(e, at, field), own,
					      obj_is_true(pod) ? "pod hostProcess value must be "
								 "identical if both are specified, "
								 "was true"
							       : "pod hostProcess value must be "
								 "identical if both are specified, "
								 "was false");
			n++;
			of_host += obj_is_true(own ? own : pod);
		}
	if (of_host && of_host != n)
		check_invalid_text(e, path, "",
				   "If pod contains any hostProcess containers then all containers "
				   "must be HostProcess containers");
	if (of_host && !obj_flag(spec, "hostNetwork", false))
		field_errors_add(e, FIELD_INVALID, check_below(e, path, "hostNetwork"),
				 "Invalid value: false: hostNetwork must be true if pod contains "
				 "any hostProcess containers");
	check_said_since(e, from, spec);
}

/* Users of its own go with nothing else of the host. */
static void check_users(struct field_errors *e, const char *path, const struct obj *spec)
{
	static const struct {
		const char *field, *shown;
	} others[] = {
		{"hostNetwork", "hostNetwork"}, {"hostPID", "HostPID"}, {"hostIPC", "HostIPC"}};
	const struct obj *users = obj_get(spec, "hostUsers");
	size_t from = e->n;
	if (!users || obj_is_true(users))
		return;
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (obj_flag(spec, others[i].field, false))
			check_forbidden(e, check_below(e, path, others[i].shown),
					"when `hostUsers` is false");
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; i < obj_len(obj_get(spec, lists[k])); i++)
			if (obj_len(obj_get(obj_at(obj_get(spec, lists[k]), i), "volumeDevices")))
				check_forbidden(
					e,
					check_below(e,
						    check_at(e, check_below(e, path, lists[k]), i),
						    "volumeDevices"),
					"when `hostUsers` is false");
	check_said_since(e, from, spec);
}

static void check_host_name(struct field_errors *e, const char *path, const struct obj *spec)
{
	const struct obj *v = obj_get(spec, "hostnameOverride");
	const char *name = obj_as_string(v), *at = check_below(e, path, "hostnameOverride");
	size_t from = e->n;
	if (!name)
		return;
	if (obj_flag(spec, "setHostnameAsFQDN", false))
		check_forbidden(e, at, "may not be specified when setHostnameAsFQDN is true");
	if (obj_flag(spec, "hostNetwork", false))
		check_forbidden(e, at, "may not be specified when hostNetwork is true");
	if (strlen(name) > HOST_BYTES_MAX)
		check_too_long(e, at, HOST_BYTES_MAX);
	check_named(e, at, NAME_DNS_SUBDOMAIN, name);
	check_said_since(e, from, v);
}

void pod_check_host(struct field_errors *e, const char *path, const struct obj *spec)
{
	check_processes(e, path, spec);
	check_users(e, path, spec);
	check_host_name(e, path, spec);
}
