/* gvk: see gvk.h. */
#include "alm/obj/gvk.h"

#include <string.h>

bool gvk_split_api_version(const char *api_version, struct arena *a, const char **ret_group,
			   const char **ret_version)
{
	struct str group, version;
	struct str text = str_of(api_version);
	if (!str_cut(text, '/', &group, &version)) {
		version = text;
		group = STR("");
	}
	if (!version.len || str_find_char(version, '/') >= 0)
		return false;
	*ret_group = arena_strndup(a, group.ptr, group.len);
	*ret_version = arena_strndup(a, version.ptr, version.len);
	return true;
}

bool gvk_of(const struct obj *o, struct arena *a, struct gvk *ret)
{
	struct gvk g;
	const char *api_version = obj_as_string(obj_get(o, "apiVersion"));
	const char *kind = obj_as_string(obj_get(o, "kind"));
	if (!api_version || !kind || !*kind ||
	    !gvk_split_api_version(api_version, a, &g.group, &g.version))
		return false;
	g.kind = arena_strdup(a, kind);
	*ret = g;
	return true;
}

static bool all_digits(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!char_is_digit(s.ptr[i]))
			return false;
	return s.len > 0;
}

static bool looks_like_version(struct str s)
{
	return s.len > 1 && s.ptr[0] == 'v' && char_is_digit(s.ptr[1]);
}

/* The seed put the version into the group (story.md 12): plural.1.group, plural.v1alpha1.group. */
bool resource_ref_parse(const char *text, struct arena *a, struct resource_ref *ret)
{
	struct str name, version, plural, group, first, rest;
	bool has_version = str_cut(str_of(text), '/', &name, &version);
	if (has_version && (!version.len || str_find_char(version, '/') >= 0))
		return false;
	if (!str_cut(name, '.', &plural, &group) || !plural.len || !group.len ||
	    group.ptr[0] == '.')
		return false;
	const char *prefix = "";
	if (!has_version && str_cut(group, '.', &first, &rest) && rest.len &&
	    (all_digits(first) || looks_like_version(first))) {
		prefix = all_digits(first) ? "v" : "";
		version = first;
		group = rest;
	}
	ret->plural = arena_strndup(a, plural.ptr, plural.len);
	ret->group = arena_strndup(a, group.ptr, group.len);
	ret->version = arena_fmt(a, "%s%.*s", prefix, STR_ARG(version));
	return true;
}

char *resource_ref_fmt(const struct resource_ref *r, struct arena *a)
{
	return arena_fmt(a, "%s.%s%s%s", r->plural, r->group, *r->version ? "/" : "", r->version);
}

/* v1 -> {2, 1, 0}, v1beta2 -> {1, 1, 2}, v3alpha1 -> {0, 3, 1}; false for other texts. */
struct kube_version {
	int stability;
	int64_t major, minor;
};

static bool kube_version_parse(struct str s, struct kube_version *v)
{
	size_t n = 1;
	if (!looks_like_version(s) || s.ptr[1] == '0')
		return false;
	while (n < s.len && char_is_digit(s.ptr[n]))
		n++;
	if (!str_parse_i64(str_sub(s, 1, n - 1), &v->major))
		return false;
	struct str tail = str_skip(s, n);
	v->minor = 0;
	v->stability = 2;
	if (!tail.len)
		return true;
	if (str_has_prefix(tail, STR("beta"))) {
		v->stability = 1;
		tail = str_skip(tail, 4);
	} else if (str_has_prefix(tail, STR("alpha"))) {
		v->stability = 0;
		tail = str_skip(tail, 5);
	} else {
		return false;
	}
	return all_digits(tail) && tail.ptr[0] != '0' && str_parse_i64(tail, &v->minor);
}

static int descending(int64_t a, int64_t b)
{
	return a > b ? -1 : a < b;
}

int kube_version_cmp(const char *a, const char *b)
{
	struct kube_version x, y;
	bool x_ok = kube_version_parse(str_of(a), &x), y_ok = kube_version_parse(str_of(b), &y);
	if (!x_ok || !y_ok)
		return x_ok != y_ok ? (x_ok ? -1 : 1) : strcmp(a, b);
	int c = descending(x.stability, y.stability);
	if (!c)
		c = descending(x.major, y.major);
	return c ? c : descending(x.minor, y.minor);
}

#define LABEL_FAULT                                                                              \
	"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', " \
	"and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', " \
	"regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define SUBDOMAIN_FAULT                                                                           \
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' " \
	"or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "     \
	"regex used for validation is "                                                           \
	"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define LABEL_1035_FAULT                                                                          \
	"a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with " \
	"an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "   \
	"'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
#define PART_FAULT                                                                               \
	"must consist of alphanumeric characters, '-', '_' or '.', and must start and end with " \
	"an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used "    \
	"for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define VALUE_FAULT                                                                          \
	"a valid label must be an empty string or consist of alphanumeric characters, '-', " \
	"'_' or '.', and must start and end with an alphanumeric character (e.g. "           \
	"'MyValue',  or 'my_value',  or '12345', regex used for validation is "              \
	"'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

static bool is_lower_alnum(char c)
{
	return char_is_lower(c) || char_is_digit(c);
}

static bool is_label(struct str s)
{
	bool ok = s.len && is_lower_alnum(s.ptr[0]) && is_lower_alnum(s.ptr[s.len - 1]);
	for (size_t i = 0; i < s.len; i++)
		ok = ok && (is_lower_alnum(s.ptr[i]) || s.ptr[i] == '-');
	return ok;
}

/* Of any length. */
static bool is_subdomain(struct str s)
{
	struct str label, rest = s.len ? s : STR("");
	while (str_next(&rest, '.', &label))
		if (!is_label(label))
			return false;
	return true;
}

/* Alphanumeric at both ends, between also '-', '_' and '.'. */
static bool is_name_part(struct str s)
{
	if (!s.len || !char_is_alnum(s.ptr[0]) || !char_is_alnum(s.ptr[s.len - 1]))
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (!char_is_alnum(s.ptr[i]) && s.ptr[i] != '-' && s.ptr[i] != '_' &&
		    s.ptr[i] != '.')
			return false;
	return true;
}

static size_t qualified(struct str s, const char *ret[NAME_FAULTS_MAX])
{
	struct str prefix, name = s;
	size_t n = 0;
	if (str_cut(s, '/', &prefix, &name)) {
		if (str_find_char(name, '/') >= 0) {
			ret[0] = "a valid label key " PART_FAULT
				 " with an optional DNS subdomain prefix and '/' (e.g. "
				 "'example.com/MyName')";
			return 1;
		}
		if (!prefix.len)
			ret[n++] = "prefix part must be non-empty";
		else if (prefix.len > GVK_NAME_MAX)
			ret[n++] = "prefix part must be no more than 253 bytes";
		else if (!is_subdomain(prefix))
			ret[n++] = "prefix part " SUBDOMAIN_FAULT;
	} else {
		name = s;
	}
	if (!name.len)
		ret[n++] = "name part must be non-empty";
	else if (name.len > 63)
		ret[n++] = "name part must be no more than 63 bytes";
	if (!is_name_part(name))
		ret[n++] = "name part " PART_FAULT;
	return n;
}

static size_t path_segment(struct str s, const char *ret[NAME_FAULTS_MAX])
{
	size_t n = 0;
	if (str_is(s, ".") || str_is(s, "..")) {
		ret[0] = s.len == 1 ? "may not be '.'" : "may not be '..'";
		return 1;
	}
	if (str_find_char(s, '/') >= 0)
		ret[n++] = "may not contain '/'";
	if (str_find_char(s, '%') >= 0)
		ret[n++] = "may not contain '%'";
	return n;
}

size_t name_faults(enum name_rule rule, struct str s, const char *ret[NAME_FAULTS_MAX])
{
	size_t n = 0;
	switch (rule) {
	case NAME_DNS_LABEL:
		if (s.len > 63)
			ret[n++] = "must be no more than 63 characters";
		if (!is_label(s))
			ret[n++] = is_subdomain(s) ? "must not contain dots" : LABEL_FAULT;
		return n;
	case NAME_DNS_SUBDOMAIN:
		if (s.len > GVK_NAME_MAX)
			ret[n++] = "must be no more than 253 characters";
		if (!is_subdomain(s))
			ret[n++] = SUBDOMAIN_FAULT;
		return n;
	case NAME_DNS1035_LABEL:
		if (s.len > 63)
			ret[n++] = "must be no more than 63 characters";
		if (!is_label(s) || char_is_digit(s.ptr[0]))
			ret[n++] = LABEL_1035_FAULT;
		return n;
	case NAME_QUALIFIED:
		return qualified(s, ret);
	case NAME_LABEL_VALUE:
		if (s.len > 63)
			ret[n++] = "must be no more than 63 bytes";
		if (s.len && !is_name_part(s))
			ret[n++] = VALUE_FAULT;
		return n;
	case NAME_PATH_SEGMENT:
	default:
		return path_segment(s, ret);
	}
}

const char *name_fault(enum name_rule rule, struct str s)
{
	const char *all[NAME_FAULTS_MAX];
	return name_faults(rule, s, all) ? all[0] : NULL;
}

bool name_is_dns_label(struct str s)
{
	return !name_fault(NAME_DNS_LABEL, s);
}

bool name_is_dns_subdomain(struct str s)
{
	return !name_fault(NAME_DNS_SUBDOMAIN, s);
}

bool name_is_path_segment(struct str s)
{
	return !name_fault(NAME_PATH_SEGMENT, s);
}

char *name_cut(const char *name, size_t max, struct arena *a)
{
	size_t n = strnlen(name, max);
	while (n > 0 && !char_is_alnum(name[n - 1]))
		n--;
	return arena_strndup(a, name, n);
}
