/* pod_security: see pod_security.h. */
#include "alm/apiserver/kinds/pod_security.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_parts.h"

#define SYSCTL_MAX 253
#define ID_MAX     2147483647

static const char *const profiles[] = {"Localhost", "RuntimeDefault", "Unconfined", NULL};

/* Of a user or a group. */
static void check_id(struct field_errors *e, const char *path, const struct obj *v)
{
	int64_t n = 0;
	if (obj_as_i64(v, &n) && (n < 0 || n > ID_MAX))
		check_invalid(e, path, v, "must be between 0 and 2147483647, inclusive");
}

static void check_ids(struct field_errors *e, const char *path, const struct obj *o,
		      const char *const *fields)
{
	for (; *fields; fields++)
		check_id(e, check_below(e, path, *fields), obj_get(o, *fields));
}

static void check_word(struct field_errors *e, const char *path, const struct obj *o,
		       const char *field, const char *const *words)
{
	if (obj_has(o, field))
		field_errors_one_of(e, check_below(e, path, field), check_text(o, field), words);
}

/* Which calls of the kernel it has. */
static void check_seccomp(struct field_errors *e, const char *path, const struct obj *o)
{
	const char *type = check_text(o, "type"), *profile = obj_str(o, "localhostProfile");
	const char *at = check_below(e, path, "localhostProfile");
	if (!o)
		return;
	if (!*type)
		check_required(e, check_below(e, path, "type"),
			       "type is required when seccompProfile is set");
	else
		field_errors_one_of(e, check_below(e, path, "type"), type, profiles);
	if (strcmp(type, "Localhost") != 0 && profile)
		check_invalid(e, at, o, "can only be set when seccomp type is Localhost");
	else if (strcmp(type, "Localhost") == 0 && !profile)
		check_required(e, at, "must be set when seccomp type is Localhost");
	else if (profile)
		pod_check_path(e, at, profile);
}

static void check_app_armor(struct field_errors *e, const char *path, const struct obj *o)
{
	const char *type = check_text(o, "type"), *profile = obj_str(o, "localhostProfile");
	const char *at = check_below(e, path, "localhostProfile");
	bool local = strcmp(type, "Localhost") == 0;
	if (!o)
		return;
	if (!*type)
		check_required(e, check_below(e, path, "type"),
			       "type is required when appArmorProfile is set");
	else
		field_errors_one_of(e, check_below(e, path, "type"), type, profiles);
	if (!local && profile && cstr_in(type, profiles))
		check_invalid_text(e, at, profile,
				   "can only be set when AppArmor type is Localhost");
	else if (local && (!profile || !*profile))
		check_required(e, at, "must be set when AppArmor type is Localhost");
	else if (local && str_trim(str_of(profile)).len != strlen(profile))
		check_invalid_text(e, at, profile, "must not be padded with whitespace");
}

/* --- the Pod --- */

/* Words of lower case, digits, '-' and '_', between '.' and '/', as a regex of the real server has it. */
static bool is_sysctl(const char *name)
{
	char last = '.';
	for (const char *p = name; *p; last = *p++) {
		bool word = char_is_lower(*p) || char_is_digit(*p);
		bool end = last == '.' || last == '/';
		if (!word && (end || !strchr("-_./", *p)))
			return false;
		if ((*p == '.' || *p == '/') && (last == '-' || last == '_'))
			return false;
	}
	return (char_is_lower(last) || char_is_digit(last)) && strlen(name) <= SYSCTL_MAX;
}

static bool is_below(const char *name, const char *space)
{
	size_t n = strlen(space);
	return strncmp(name, space, n) == 0 && (name[n] == '.' || name[n] == '/');
}

static void check_sysctls(struct field_errors *e, const char *path, const struct obj *list,
			  const struct obj *spec)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *name = check_text(obj_at(list, i), "name");
		const char *at = check_below(e, check_at(e, path, i), "name");
		if (!*name)
			check_required(e, at, NULL);
		else if (!is_sysctl(name))
			check_invalid_text(e, at, name,
					   "must have at most 253 characters and match regex "
					   "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*"
					   "[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
		else if (check_again(seen, name))
			field_errors_add_text(e, FIELD_DUPLICATE, at, name);
		if (obj_flag(spec, "hostNetwork", false) && is_below(name, "net"))
			check_invalid_text(e, at, name,
					   "may not be specified when 'hostNetwork' is true");
	}
}

void pod_check_security(struct field_errors *e, const char *path, const struct obj *spec)
{
	static const char *const fields[] = {"fsGroup", "runAsUser", "runAsGroup", NULL};
	static const char *const changes[] = {"Always", "OnRootMismatch", NULL};
	static const char *const groups[] = {"Merge", "Strict", NULL};
	static const char *const recursive[] = {"Recursive", NULL};
	const struct obj *o = obj_get(spec, "securityContext");
	const struct obj *list = obj_get(o, "supplementalGroups");
	const char *at = check_below(e, path, "securityContext");
	size_t from = e->n;
	if (obj_flag(spec, "shareProcessNamespace", false) && obj_flag(spec, "hostPID", false)) {
		check_invalid(e, check_below(e, at, "shareProcessNamespace"),
			      obj_get(spec, "shareProcessNamespace"),
			      "ShareProcessNamespace and HostPID cannot both be enabled");
		check_said_since(e, from, obj_get(spec, "hostPID"));
	}
	from = e->n;
	check_ids(e, at, o, fields);
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++)
		check_id(e, check_at(e, check_below(e, at, "supplementalGroups"), i),
			 obj_at(list, i));
	check_sysctls(e, check_below(e, at, "sysctls"), obj_get(o, "sysctls"), spec);
	check_word(e, at, o, "fsGroupChangePolicy", changes);
	check_seccomp(e, check_below(e, at, "seccompProfile"), obj_get(o, "seccompProfile"));
	pod_check_windows(e, check_below(e, at, "windowsOptions"), obj_get(o, "windowsOptions"));
	check_app_armor(e, check_below(e, at, "appArmorProfile"), obj_get(o, "appArmorProfile"));
	check_word(e, at, o, "supplementalGroupsPolicy", groups);
	check_word(e, at, o, "seLinuxChangePolicy", recursive);
	check_said_since(e, from, o);
}

/* --- a container --- */

/* What is allowed to be privileged is allowed to become so. */
static void check_escalation(struct field_errors *e, const char *path, const struct obj *o)
{
	const struct obj *add = obj_path(o, "capabilities.add");
	if (obj_flag(o, "allowPrivilegeEscalation", true))
		return;
	if (obj_flag(o, "privileged", false))
		check_invalid(e, path, o,
			      "cannot set `allowPrivilegeEscalation` to false and `privileged` to "
			      "true");
	for (size_t i = 0; i < obj_len(add) && !field_errors_full(e); i++)
		if (cstr_eq(obj_as_string(obj_at(add, i)), "CAP_SYS_ADMIN"))
			check_invalid(e, path, o,
				      "cannot set `allowPrivilegeEscalation` to false and "
				      "`capabilities.Add` CAP_SYS_ADMIN");
}

void pod_check_container_security(struct field_errors *e, const char *path, const struct obj *c,
				  bool host_users)
{
	static const char *const fields[] = {"runAsUser", "runAsGroup", NULL};
	static const char *const mounts[] = {"Default", "Unmasked", NULL};
	const struct obj *o = obj_get(c, "securityContext");
	const char *at = check_below(e, path, "securityContext");
	size_t from = e->n;
	check_ids(e, at, o, fields);
	check_word(e, at, o, "procMount", mounts);
	if (host_users && cstr_eq(obj_str(o, "procMount"), "Unmasked"))
		check_invalid_text(e, check_below(e, at, "procMount"), "Unmasked",
				   "`hostUsers` must be false to use `Unmasked`");
	check_seccomp(e, check_below(e, at, "seccompProfile"), obj_get(o, "seccompProfile"));
	check_escalation(e, at, o);
	pod_check_windows(e, check_below(e, at, "windowsOptions"), obj_get(o, "windowsOptions"));
	check_app_armor(e, check_below(e, at, "appArmorProfile"), obj_get(o, "appArmorProfile"));
	check_said_since(e, from, o);
}
