#include "alm/obj/cel/cel_url.h"

#include <string.h>

#include "alm/base/url_escape.h"
#include "alm/obj/schema/schema_node.h"

#define FN(name) struct cel_value name(const struct cel_value *v, UNUSED struct cel_call *c)

static struct cel_value no_url(struct str text, struct cel_call *c)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_MAX);
	go_quote(text, &b);
	return cel_error(c->a, "URL parse error during conversion from string: parse %s: %s", b.buf,
			 text.len ? "invalid URI for request" : "empty url");
}

/* k8s.io/apiserver/pkg/cel/library/urls.go: an absolute URI or an absolute path. */
FN(cel_url_of)
{
	struct cel_value u = {.kind = CEL_URL, .str = v[0].str};
	if (!v[0].str.len || !schema_format_valid("uri", v[0].str))
		return no_url(v[0].str, c);
	return u;
}

/* What follows the scheme, which is lower-cased where it is taken. */
static struct str after_scheme(struct str s, struct str *ret_scheme)
{
	size_t n = 0;
	*ret_scheme = STR_NONE;
	while (n < s.len && (char_is_alnum(s.ptr[n]) || strchr("+-.", s.ptr[n])))
		n++;
	if (!n || n == s.len || s.ptr[n] != ':' || !char_is_alpha(s.ptr[0]))
		return s;
	*ret_scheme = str_sub(s, 0, n);
	return str_skip(s, n + 1);
}

/* "a.example:80" of "https://me@a.example:80/b?c"; ret_rest: "/b?c". */
static struct str authority(struct str s, struct str *ret_rest)
{
	struct str scheme, rest = after_scheme(s, &scheme);
	*ret_rest = rest;
	if (!str_has_prefix(rest, STR("//")))
		return STR("");
	rest = str_skip(rest, 2);
	size_t n = 0;
	while (n < rest.len && rest.ptr[n] != '/' && rest.ptr[n] != '?')
		n++;
	*ret_rest = str_skip(rest, n);
	struct str host = str_sub(rest, 0, n), user, behind;
	return str_rcut(host, '@', &user, &behind) ? behind : host;
}

/* The name without brackets; ret_port without the colon. */
static struct str name_of_host(struct str host, struct str *ret_port)
{
	struct str name, port;
	*ret_port = STR("");
	if (str_rcut(host, ':', &name, &port) && !str_contains(port, STR("]"))) {
		*ret_port = port;
		host = name;
	}
	return str_has_prefix(host, STR("[")) && str_has_suffix(host, STR("]"))
		       ? str_sub(host, 1, host.len - 2)
		       : host;
}

FN(cel_url_scheme)
{
	struct str scheme;
	(void)after_scheme(v[0].str, &scheme);
	char *lower = arena_strndup(c->a, scheme.len ? scheme.ptr : "", scheme.len);
	for (size_t i = 0; i < scheme.len; i++)
		lower[i] = char_lower(lower[i]);
	return cel_string(str_n(lower, scheme.len));
}

FN(cel_url_host)
{
	struct str rest;
	return cel_string(authority(v[0].str, &rest));
}

FN(cel_url_hostname)
{
	struct str rest, port;
	return cel_string(name_of_host(authority(v[0].str, &rest), &port));
}

FN(cel_url_port)
{
	struct str rest, port;
	(void)name_of_host(authority(v[0].str, &rest), &port);
	return cel_string(port);
}

FN(cel_url_path)
{
	struct str rest, query;
	(void)authority(v[0].str, &rest);
	(void)str_cut(rest, '?', &rest, &query);
	return cel_string(rest);
}

FN(cel_url_query)
{
	struct str rest, query = STR(""), one;
	struct obj *map = obj_keep(c->a, obj_map());
	if (!cel_spend(c, v[0].str.len / 10))
		return cel_over_budget(c);
	(void)authority(v[0].str, &rest);
	(void)str_cut(rest, '?', &rest, &query);
	while (query.len && str_next(&query, '&', &one)) {
		struct str name, text;
		(void)str_cut(one, '=', &name, &text);
		const char *key = url_decode(name, true, c->a),
			   *value = url_decode(text, true, c->a);
		if (!one.len || str_find_char(one, ';') >= 0 || !key || !value)
			continue;
		if (!obj_has(map, key))
			obj_set(map, key, obj_list());
		obj_append(obj_get_mut(map, key), obj_string(value));
	}
	return (struct cel_value){.kind = CEL_MAP, .o = map};
}
