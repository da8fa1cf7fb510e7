#include "installers/tmpl/fn/url.h"

#include <string.h>

#include "installers/value/value.h"

enum escape_mode { ESCAPE_PATH, ESCAPE_USER, ESCAPE_HOST, ESCAPE_FRAGMENT };

static bool keeps(char c, enum escape_mode mode)
{
	if (char_is_alnum(c) || (c && strchr("-_.~", c)))
		return true;
	switch (mode) {
	case ESCAPE_PATH:
		return c && strchr("$&+,/:;=@", c);
	case ESCAPE_USER:
		return c && strchr("$&+,;=", c);
	case ESCAPE_FRAGMENT:
		return c && strchr("$&+,/:;=?@!()*", c);
	case ESCAPE_HOST:
		return c && strchr("!$&'()*+,;=:[]<>\"", c);
	}
	return false;
}

static void add_escaped(struct strbuf *b, struct str s, enum escape_mode mode)
{
	for (size_t i = 0; i < s.len; i++) {
		if (keeps(s.ptr[i], mode))
			strbuf_addc(b, s.ptr[i]);
		else
			strbuf_addf(b, "%%%02X", (unsigned char)s.ptr[i]);
	}
}

static int hex_of(char c)
{
	if (char_is_digit(c))
		return c - '0';
	return char_is_hex(c) ? char_lower(c) - 'a' + 10 : -1;
}

static bool unescaped(struct arena *a, struct str s, struct str *ret, struct strbuf *msg)
{
	if (str_find_char(s, '%') < 0) {
		*ret = s;
		return true;
	}
	char *out = arena_alloc(a, s.len + 1);
	size_t n = 0;
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] != '%') {
			out[n++] = s.ptr[i];
			continue;
		}
		if (i + 2 >= s.len || hex_of(s.ptr[i + 1]) < 0 || hex_of(s.ptr[i + 2]) < 0) {
			strbuf_adds(msg, "invalid URL escape ");
			value_quote(msg, str_sub(s, i, 3));
			return false;
		}
		out[n++] = (char)(hex_of(s.ptr[i + 1]) << 4 | hex_of(s.ptr[i + 2]));
		i += 2;
	}
	*ret = str_n(out, n);
	return true;
}

/* scheme: before the first ':'; false: a ':' with nothing before it. */
static bool cut_scheme(struct str *rest, struct str *ret, struct strbuf *msg)
{
	*ret = STR("");
	for (size_t i = 0; i < rest->len; i++) {
		char c = rest->ptr[i];
		if (char_is_alpha(c))
			continue;
		if (char_is_digit(c) || c == '+' || c == '-' || c == '.') {
			if (i == 0)
				return true;
			continue;
		}
		if (c != ':')
			return true;
		if (i == 0) {
			strbuf_adds(msg, "missing protocol scheme");
			return false;
		}
		*ret = str_sub(*rest, 0, i);
		*rest = str_skip(*rest, i + 1);
		return true;
	}
	return true;
}

static bool port_ok(struct str s)
{
	if (s.len == 0)
		return true;
	for (size_t i = 1; i < s.len; i++) {
		if (!char_is_digit(s.ptr[i]))
			return false;
	}
	return s.ptr[0] == ':';
}

static bool parse_host(struct arena *a, struct str host, struct str *ret, struct strbuf *msg)
{
	struct str port = STR("");
	if (host.len && host.ptr[0] == '[') {
		ptrdiff_t end = str_rfind_char(host, ']');
		if (end < 0) {
			strbuf_adds(msg, "missing ']' in host");
			return false;
		}
		port = str_skip(host, (size_t)end + 1);
	} else {
		ptrdiff_t colon = str_rfind_char(host, ':');
		if (colon >= 0)
			port = str_skip(host, (size_t)colon);
	}
	if (!port_ok(port)) {
		strbuf_adds(msg, "invalid port ");
		value_quote(msg, port);
		strbuf_adds(msg, " after host");
		return false;
	}
	for (size_t i = 0; i < host.len; i++) {
		char c = host.ptr[i];
		if ((unsigned char)c < 0x80 && c != '%' && !keeps(c, ESCAPE_HOST)) {
			strbuf_adds(msg, "invalid character ");
			value_quote(msg, str_sub(host, i, 1));
			strbuf_adds(msg, " in host name");
			return false;
		}
	}
	return unescaped(a, host, ret, msg);
}

static bool user_ok(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		if (!char_is_alnum(c) && !(c && strchr("-._:~!$&'()*+,;=%@", c)))
			return false;
	}
	return true;
}

static bool parse_authority(struct arena *a, struct str s, struct url *u, struct strbuf *msg)
{
	ptrdiff_t at = str_rfind_char(s, '@');
	struct str host = at < 0 ? s : str_skip(s, (size_t)at + 1);
	if (!parse_host(a, host, &u->host, msg))
		return false;
	if (at < 0)
		return true;
	struct str info = str_sub(s, 0, (size_t)at), user, password;
	if (!user_ok(info)) {
		strbuf_adds(msg, "net/url: invalid userinfo");
		return false;
	}
	u->has_user = true;
	u->has_password = str_cut(info, ':', &user, &password);
	return unescaped(a, user, &u->user, msg) && unescaped(a, password, &u->password, msg);
}

static bool has_control(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		if ((unsigned char)s.ptr[i] < ' ' || s.ptr[i] == 0x7F)
			return true;
	}
	return false;
}

static bool parse_rest(struct arena *a, struct str rest, struct url *u, struct strbuf *msg)
{
	if (str_has_suffix(rest, STR("?")) && str_find_char(rest, '?') == (ptrdiff_t)rest.len - 1) {
		u->force_query = true;
		rest.len--;
	} else {
		struct str path;
		str_cut(rest, '?', &path, &u->query);
		rest = path;
	}
	if (!str_has_prefix(rest, STR("/"))) {
		if (u->scheme.len) {
			u->opaque = rest;
			return true;
		}
		struct str first, more;
		str_cut(rest, '/', &first, &more);
		if (str_find_char(first, ':') >= 0) {
			strbuf_adds(msg, "first path segment in URL cannot contain colon");
			return false;
		}
	}
	bool authority = str_has_prefix(rest, STR("//")) &&
			 (u->scheme.len || !str_has_prefix(rest, STR("///")));
	if (authority) {
		struct str s = str_skip(rest, 2);
		ptrdiff_t slash = str_find_char(s, '/');
		size_t end = slash < 0 ? s.len : (size_t)slash;
		if (!parse_authority(a, str_sub(s, 0, end), u, msg))
			return false;
		rest = str_skip(s, end);
	}
	u->raw_path = rest;
	return unescaped(a, rest, &u->path, msg);
}

bool url_parse(struct arena *a, struct str text, struct url *ret, struct strbuf *msg)
{
	struct url u = {0};
	struct str rest, fragment;
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(STRBUF_SMALL);
	u.scheme = u.opaque = u.host = u.path = u.query = u.fragment = STR("");
	str_cut(text, '#', &rest, &fragment);
	struct str before = rest;
	bool ok = true;
	if (has_control(rest)) {
		strbuf_adds(&why, "net/url: invalid control character in URL");
		ok = false;
	} else if (str_is(rest, "*")) {
		u.path = rest;
	} else {
		struct str scheme;
		ok = cut_scheme(&rest, &scheme, &why);
		char *lower = arena_memdup(a, scheme.ptr, scheme.len);
		for (size_t i = 0; ok && i < scheme.len; i++)
			lower[i] = char_lower(lower[i]);
		u.scheme = str_n(lower, ok ? scheme.len : 0);
		ok = ok && parse_rest(a, rest, &u, &why);
	}
	struct str faulty = ok ? text : before;
	ok = ok && unescaped(a, fragment.ptr ? fragment : STR(""), &u.fragment, &why);
	if (!ok) {
		strbuf_adds(msg, "parse ");
		value_quote(msg, faulty);
		strbuf_adds(msg, ": ");
		strbuf_addstr(msg, strbuf_str(&why));
		return false;
	}
	*ret = u;
	return true;
}

struct str url_hostname(const struct url *u)
{
	struct str h = u->host;
	ptrdiff_t colon = str_rfind_char(h, ':');
	if (colon >= 0 && port_ok(str_skip(h, (size_t)colon)))
		h = str_sub(h, 0, (size_t)colon);
	if (str_has_prefix(h, STR("[")) && str_has_suffix(h, STR("]")))
		h = str_sub(h, 1, h.len - 2);
	return h;
}

void url_print_user(const struct url *u, struct strbuf *b)
{
	if (!u->has_user)
		return;
	add_escaped(b, u->user, ESCAPE_USER);
	if (u->has_password) {
		strbuf_addc(b, ':');
		add_escaped(b, u->password, ESCAPE_USER);
	}
}

/* The path as it was written, if that is a fitting form of it. */
static void print_path(const struct url *u, struct strbuf *b)
{
	CLEANUP(strbuf_release) struct strbuf p = STRBUF_INIT(VALUE_TEXT_MAX);
	if (str_is(u->path, "*"))
		strbuf_addc(&p, '*');
	else
		add_escaped(&p, u->path, ESCAPE_PATH);
	struct str path = strbuf_str(&p);
	if (path.len && path.ptr[0] != '/' && u->host.len)
		strbuf_addc(b, '/');
	if (b->len == 0) {
		struct str first, more;
		str_cut(path, '/', &first, &more);
		if (str_find_char(first, ':') >= 0)
			strbuf_adds(b, "./");
	}
	strbuf_addstr(b, path);
}

void url_print(const struct url *u, struct strbuf *b)
{
	if (u->scheme.len) {
		strbuf_addstr(b, u->scheme);
		strbuf_addc(b, ':');
	}
	if (u->opaque.len) {
		strbuf_addstr(b, u->opaque);
	} else {
		if (u->scheme.len || u->host.len || u->has_user) {
			if (u->host.len || u->path.len || u->has_user)
				strbuf_adds(b, "//");
			url_print_user(u, b);
			if (u->has_user)
				strbuf_addc(b, '@');
			add_escaped(b, u->host, ESCAPE_HOST);
		}
		print_path(u, b);
	}
	if (u->force_query || u->query.len) {
		strbuf_addc(b, '?');
		strbuf_addstr(b, u->query);
	}
	if (u->fragment.len) {
		strbuf_addc(b, '#');
		add_escaped(b, u->fragment, ESCAPE_FRAGMENT);
	}
}
