#include "catalog/weburl.h"

#include <string.h>

#include "alm/base/strbuf.h"

/* Printable ASCII without the characters that no URL has; a quote or a backslash is somebody's
 * attempt to be read differently by two parsers. */
static bool is_clean(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] <= ' ' || s.ptr[i] > '~' || strchr("\"\\<>^`{|}", s.ptr[i]))
			return false;
	return s.len <= WEBURL_BYTES_MAX;
}

static struct str cut_fragment(struct str s)
{
	struct str before, after;
	str_cut(s, '#', &before, &after);
	return before;
}

static bool is_host(struct str s)
{
	if (str_has_prefix(s, STR("["))) {
		for (size_t i = 1; i + 1 < s.len; i++)
			if (!char_is_hex(s.ptr[i]) && s.ptr[i] != ':' && s.ptr[i] != '.')
				return false;
		return s.len > 3 && s.ptr[s.len - 1] == ']';
	}
	for (size_t i = 0; i < s.len; i++)
		if (!char_is_alnum(s.ptr[i]) && !strchr("-._", s.ptr[i]))
			return false;
	return s.len > 0 && s.len <= 253;
}

static const char *lower(struct str s, struct arena *a)
{
	char *out = arena_text(a, s.ptr, s.len);
	for (size_t i = 0; i < s.len; i++)
		out[i] = char_lower(out[i]);
	return out;
}

/* "host[:port]" */
static int read_authority(struct str s, struct arena *a, const char **ret, struct error *err)
{
	struct str host = s, port = STR_NONE;
	uint64_t n = 443;
	if (str_find_char(s, '@') >= 0)
		return error_set(err, E_INVALID,
				 "a user name in a URL is refused; put it into the Secret");
	if (!str_has_suffix(s, STR("]")) && str_find_char(s, ':') >= 0)
		str_rcut(s, ':', &host, &port);
	if (!is_host(host) ||
	    (port.ptr && (!str_parse_u64(port, &n) || n == 0 || n > 65535 || port.len > 5)))
		return error_set(err, E_INVALID, "\"%.*s\" is no HOST[:PORT]", STR_ARG(s));
	*ret = n == 443 ? arena_fmt(a, "https://%s", lower(host, a))
			: arena_fmt(a, "https://%s:%u", lower(host, a), (unsigned)n);
	return 0;
}

/* RFC 3986 5.2.4: "." and ".." go; the result begins with "/". */
/* The length of what stands before the last segment. */
static size_t last_slash(const char *path, size_t len)
{
	while (len) {
		len--;
		if (path[len] == '/')
			break;
	}
	return len;
}

static const char *clean_path(struct str path, struct arena *a)
{
	char *out = arena_alloc(a, path.len + 2);
	size_t len = 0;
	struct str rest = path, part;
	if (rest.len && rest.ptr[0] == '/')
		rest = str_skip(rest, 1);
	while (str_next(&rest, '/', &part)) {
		bool last = !rest.ptr;
		if (str_is(part, ".") || str_is(part, "..")) {
			if (part.len == 2)
				len = last_slash(out, len);
			if (last)
				out[len++] = '/';
			continue;
		}
		out[len++] = '/';
		if (part.len)
			memcpy(out + len, part.ptr, part.len);
		len += part.len;
	}
	if (!len)
		out[len++] = '/';
	out[len] = 0;
	return out;
}

static void set_path(struct weburl *u, struct str path_query, struct arena *a)
{
	struct str path, query;
	bool has = str_cut(path_query, '?', &path, &query);
	u->path = clean_path(path, a);
	u->query = has ? arena_text(a, query.ptr ? query.ptr : "", query.len) : NULL;
}

/* "//host/path?query" */
static int read_hier(struct str s, struct arena *a, struct weburl *ret, struct error *err)
{
	struct weburl u = {0};
	s = str_skip(s, 2);
	size_t end = 0;
	while (end < s.len && s.ptr[end] != '/' && s.ptr[end] != '?')
		end++;
	if (read_authority(str_sub(s, 0, end), a, &u.origin, err) < 0)
		return -err->code;
	set_path(&u, str_skip(s, end), a);
	*ret = u;
	return 0;
}

/* "https" of "https://..."; empty if the text has none. */
static struct str scheme_of(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == ':')
			return i ? str_sub(s, 0, i) : STR("");
		if (!char_is_alnum(s.ptr[i]) && !strchr("+-.", s.ptr[i]))
			break;
	}
	return STR("");
}

static bool is_scheme(struct str s, const char *want)
{
	for (size_t i = 0; i < s.len; i++)
		if (!want[i] || char_lower(s.ptr[i]) != want[i])
			return false;
	return s.len == strlen(want);
}

int weburl_parse(struct str text, const char *scheme, struct arena *a, struct weburl *ret,
		 struct error *err)
{
	struct str s = cut_fragment(text), found = scheme_of(s);
	if (!is_clean(text))
		return error_set(err, E_INVALID,
				 "a URL of printable ASCII, at most %d bytes, is wanted",
				 WEBURL_BYTES_MAX);
	struct str rest = str_skip(s, found.len + 1);
	if (!is_scheme(found, scheme) || !str_has_prefix(rest, STR("//")))
		return error_set(err, E_INVALID, "%.*s is no %s:// URL",
				 STR_ARG(str_sub(s, 0, 256)), scheme);
	return read_hier(rest, a, ret, err);
}

int weburl_resolve(const struct weburl *base, struct str reference, struct arena *a,
		   struct weburl *ret, struct error *err)
{
	struct str s = cut_fragment(reference), scheme = scheme_of(s);
	if (!is_clean(reference))
		return error_set(err, E_INVALID, "what it leads to is no URL");
	if (scheme.len && !is_scheme(scheme, "https"))
		return error_set(err, E_REFUSED, "leads to %.*s://, only https:// is followed",
				 STR_ARG(str_sub(scheme, 0, 32)));
	if (scheme.len)
		return weburl_parse(s, "https", a, ret, err);
	if (str_has_prefix(s, STR("//")))
		return read_hier(s, a, ret, err);
	struct weburl u = *base;
	if (s.len && s.ptr[0] == '/') {
		set_path(&u, s, a);
	} else if (s.len && s.ptr[0] == '?') {
		u.query = arena_text(a, s.ptr + 1, s.len - 1);
	} else if (s.len) {
		struct str folder, file;
		str_rcut(str_of(base->path), '/', &folder, &file);
		set_path(&u, str_of(arena_fmt(a, "%.*s/%.*s", STR_ARG(folder), STR_ARG(s))), a);
	}
	*ret = u;
	return 0;
}

bool weburl_same_origin(const struct weburl *a, const struct weburl *b)
{
	return !strcmp(a->origin, b->origin);
}

const char *weburl_target(const struct weburl *u, struct arena *a)
{
	return u->query ? arena_fmt(a, "%s?%s", u->path, u->query) : u->path;
}

const char *weburl_text(const struct weburl *u, struct arena *a)
{
	return arena_fmt(a, "%s%s", u->origin, weburl_target(u, a));
}
