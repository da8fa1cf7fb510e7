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

static const char too_long_63[] = "must be no more than 63 characters";
static const char label_fault[] =
	"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
	"must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "
	"used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
#define SUBDOMAIN_FAULT                                                                           \
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' " \
	"or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "     \
	"regex used for validation is "                                                           \
	"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
static const char label_1035_fault[] =
	"a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
	"alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
	"'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
static const char qualified_fault[] =
	"name part must consist of alphanumeric characters, '-', '_' or '.', and must start and "
	"end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
	"used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
static const char value_fault[] =
	"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
	"'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
	"'my_value',  or '12345', regex used for validation is "
	"'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

static bool is_lower_alnum(char c)
{
	return char_is_lower(c) || char_is_digit(c);
}

static const char *dns_label(struct str s)
{
	bool ok = s.len && is_lower_alnum(s.ptr[0]) && is_lower_alnum(s.ptr[s.len - 1]);
	for (size_t i = 0; i < s.len; i++)
		ok = ok && (is_lower_alnum(s.ptr[i]) || s.ptr[i] == '-');
	return ok ? NULL : label_fault;
}

static const char *dns_subdomain(struct str s)
{
	struct str label, rest = s.len ? s : STR("");
	if (s.len > GVK_NAME_MAX)
		return "must be no more than 253 characters";
	while (str_next(&rest, '.', &label))
		if (dns_label(label))
			return SUBDOMAIN_FAULT;
	return NULL;
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

static const char *qualified(struct str s)
{
	struct str prefix, name = s;
	if (str_cut(s, '/', &prefix, &name)) {
		if (str_find_char(name, '/') >= 0)
			return "a qualified name must consist of alphanumeric characters, '-', '_' "
			       "or '.', and must start and end with an alphanumeric character "
			       "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
			       "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an "
			       "optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
		if (!prefix.len)
			return "prefix part must be non-empty";
		if (dns_subdomain(prefix))
			return "prefix part " SUBDOMAIN_FAULT;
	} else {
		name = s;
	}
	if (!name.len)
		return "name part must be non-empty";
	if (name.len > 63)
		return "name part must be no more than 63 bytes";
	return is_name_part(name) ? NULL : qualified_fault;
}

static const char *path_segment(struct str s)
{
	if (str_is(s, "."))
		return "may not be '.'";
	if (str_is(s, ".."))
		return "may not be '..'";
	if (str_find_char(s, '/') >= 0)
		return "may not contain '/'";
	return str_find_char(s, '%') >= 0 ? "may not contain '%'" : NULL;
}

const char *name_fault(enum name_rule rule, struct str s)
{
	switch (rule) {
	case NAME_DNS_LABEL:
		return s.len > 63 ? too_long_63 : dns_label(s);
	case NAME_DNS_SUBDOMAIN:
		return dns_subdomain(s);
	case NAME_DNS1035_LABEL:
		if (s.len > 63)
			return too_long_63;
		return dns_label(s) || char_is_digit(s.ptr[0]) ? label_1035_fault : NULL;
	case NAME_QUALIFIED:
		return qualified(s);
	case NAME_LABEL_VALUE:
		if (s.len > 63)
			return too_long_63;
		return !s.len || is_name_part(s) ? NULL : value_fault;
	case NAME_PATH_SEGMENT:
	default:
		return path_segment(s);
	}
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
