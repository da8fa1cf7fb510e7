#include "alm/obj/query/rbac_rule.h"

#include <string.h>

const char *rbac_text(const struct obj *o)
{
	return str_find_char(obj_as_str(o), '\0') < 0 ? obj_as_string(o) : NULL;
}

bool rbac_list_has(const struct obj *list, const char *s)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(rbac_text(obj_at(list, i)), s))
			return true;
	return false;
}

static bool list_has_or_star(const struct obj *list, const char *s)
{
	return rbac_list_has(list, "*") || rbac_list_has(list, s);
}

/* "R", "R/sub", "*" and "*" "/sub". */
static bool resource_matches(const struct obj *resources, const char *resource, const char *sub)
{
	size_t n = strlen(resource);
	for (size_t i = 0; i < obj_len(resources); i++) {
		const char *s = rbac_text(obj_at(resources, i));
		if (!s)
			continue;
		if (cstr_eq(s, "*"))
			return true;
		if (!sub[0]) {
			if (cstr_eq(s, resource))
				return true;
			continue;
		}
		if (cstr_has_prefix(s, "*/") && cstr_eq(s + 2, sub))
			return true;
		if (cstr_has_prefix(s, resource) && s[n] == '/' && cstr_eq(s + n + 1, sub))
			return true;
	}
	return false;
}

bool rbac_path_matches(const struct obj *urls, const char *path)
{
	for (size_t i = 0; i < obj_len(urls); i++) {
		const char *s = rbac_text(obj_at(urls, i));
		size_t n = s ? strlen(s) : 0;
		if (n && s[n - 1] == '*' && strncmp(s, path, n - 1) == 0)
			return true;
		if (cstr_eq(s, path))
			return true;
	}
	return false;
}

bool rbac_rule_allows(const struct obj *rule, const struct rbac_attributes *a)
{
	const struct obj *names = obj_get(rule, "resourceNames");
	if (!list_has_or_star(obj_get(rule, "verbs"), a->verb))
		return false;
	if (!a->is_resource)
		return rbac_path_matches(obj_get(rule, "nonResourceURLs"), a->path);
	return list_has_or_star(obj_get(rule, "apiGroups"), a->group) &&
	       resource_matches(obj_get(rule, "resources"), a->resource, a->subresource) &&
	       (!obj_len(names) || (a->name[0] && rbac_list_has(names, a->name)));
}
