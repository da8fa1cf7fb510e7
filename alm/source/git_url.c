#include "alm/source/git_url.h"

#include <string.h>

#define SCHEME "ssh://"

/* --- characters --- */

static bool is_of(struct str s, const char *others)
{
	for (size_t i = 0; i < s.len; i++)
		if (!char_is_alnum(s.ptr[i]) && (!s.ptr[i] || !strchr(others, s.ptr[i])))
			return false;
	return s.len > 0;
}

static bool is_user(struct str s)
{
	return s.ptr && is_of(s, "._-") && s.len <= 64 && s.ptr[0] != '-';
}

static bool is_name(struct str s)
{
	return s.ptr && is_of(s, "._-") && s.len <= 253 && s.ptr[0] != '-' &&
	       s.ptr[s.len - 1] != '.';
}

/* "[::1]": two colons at least, as git takes "[name:22]" for a name and a port. */
static bool is_bracketed(struct str s)
{
	size_t colons = 0;
	if (s.len < 4 || s.ptr[0] != '[' || s.ptr[s.len - 1] != ']')
		return false;
	for (size_t i = 1; i + 1 < s.len; i++) {
		if (!char_is_hex(s.ptr[i]) && s.ptr[i] != ':' && s.ptr[i] != '.')
			return false;
		colons += s.ptr[i] == ':';
	}
	return colons > 1;
}

/* git looks for "@[" in the whole of a url, and decodes "%40" first: it would find another host. */
static bool is_path(struct str s, bool is_decoded)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] <= ' ' || s.ptr[i] > '~' || strchr("[]", s.ptr[i]) ||
		    (is_decoded && s.ptr[i] == '%'))
			return false;
	return s.len > 0 && s.ptr[0] != '-' && s.ptr[0] != ':';
}

/* --- parts --- */

static const char *lower(struct str s, struct arena *a)
{
	char *out = arena_text(a, s.ptr, s.len);
	for (size_t i = 0; i < s.len; i++)
		out[i] = char_lower(out[i]);
	return out;
}

/* "HOST", "[V6]", and after a colon a port if it may have one. */
static int read_host(struct str s, bool may_have_port, struct arena *a, struct git_ssh_url *u,
		     struct error *err)
{
	struct str host = s, port = STR_NONE;
	uint64_t n = GIT_SSH_PORT;
	if (may_have_port && !str_has_suffix(s, STR("]")) && str_find_char(s, ':') >= 0)
		str_rcut(s, ':', &host, &port);
	bool bracketed = is_bracketed(host);
	if ((!bracketed && !is_name(host)) ||
	    (port.ptr && (port.len > 5 || !str_parse_u64(port, &n) || !n || n > UINT16_MAX)))
		return error_set(err, E_INVALID, "\"%.*s\" is no HOST%s", STR_ARG(s),
				 may_have_port ? "[:PORT]" : "");
	const char *shown = lower(host, a);
	u->host = bracketed ? lower(str_sub(host, 1, host.len - 2), a) : shown;
	u->port = (unsigned)n;
	bool usual = u->port == GIT_SSH_PORT;
	u->origin = usual ? arena_fmt(a, SCHEME "%s", shown)
			  : arena_fmt(a, SCHEME "%s:%u", shown, u->port);
	u->known = usual ? u->host : arena_fmt(a, "[%s]:%u", u->host, u->port);
	return 0;
}

static int read_user(struct str s, struct arena *a, struct git_ssh_url *u, struct error *err)
{
	if (str_find_char(s, ':') >= 0)
		return error_set(err, E_INVALID,
				 "it has a password; ssh takes a key, which is in a Secret");
	if (!is_user(s))
		return error_set(err, E_INVALID, "it names no user, as git@ in git@HOST:PATH");
	u->user = arena_strndup(a, s.ptr, s.len);
	return 0;
}

bool git_url_is_ssh(const char *url)
{
	const char *colon = strchr(url, ':'), *at = strchr(url, '@'), *slash = strchr(url, '/');
	if (cstr_has_prefix(url, SCHEME))
		return true;
	return at && colon && at < colon && (!slash || colon < slash);
}

/* ssh://USER@HOST[:PORT]/PATH */
static int read_url(struct str s, struct arena *a, struct git_ssh_url *u, struct error *err)
{
	struct str authority, path, user, host;
	ptrdiff_t slash = str_find_char(s, '/');
	authority = slash < 0 ? s : str_sub(s, 0, (size_t)slash);
	path = slash < 0 ? STR_NONE : str_skip(s, (size_t)slash);
	if (!str_rcut(authority, '@', &user, &host)) {
		host = authority;
		user = STR_NONE;
	}
	if (path.len < 2 || !is_path(path, true))
		return error_set(err, E_INVALID, SCHEME "USER@HOST[:PORT]/PATH is wanted");
	if (read_user(user, a, u, err) < 0 || read_host(host, true, a, u, err) < 0)
		return -err->code;
	u->path = arena_strndup(a, path.ptr, path.len);
	u->text = arena_fmt(a, SCHEME "%s@%s%s", u->user, u->origin + strlen(SCHEME), u->path);
	return 0;
}

/* USER@HOST:PATH; the colons of an address stand in brackets. */
static int read_scp(struct str s, struct arena *a, struct git_ssh_url *u, struct error *err)
{
	struct str user, rest, host, path;
	(void)str_cut(s, '@', &user, &rest);
	ptrdiff_t close = rest.len && rest.ptr[0] == '[' ? str_find_char(rest, ']') : -1;
	size_t n = close > 0 ? (size_t)close + 1 : 0;
	(void)str_cut(str_skip(rest, n), ':', &host, &path);
	host = str_sub(rest, 0, n + host.len);
	if (!is_path(path, false))
		return error_set(err, E_INVALID, "USER@HOST:PATH is wanted");
	if (read_user(user, a, u, err) < 0 || read_host(host, false, a, u, err) < 0)
		return -err->code;
	u->path = arena_strndup(a, path.ptr, path.len);
	u->text = arena_fmt(a, "%s@%s:%s", u->user, u->origin + strlen(SCHEME), u->path);
	return 0;
}

int git_url_ssh(const char *url, struct arena *a, struct git_ssh_url *ret, struct error *err)
{
	struct git_ssh_url u = {0};
	bool is_url = cstr_has_prefix(url, SCHEME);
	struct str s = str_of(url);
	int r = is_url ? read_url(str_skip(s, strlen(SCHEME)), a, &u, err)
		       : read_scp(s, a, &u, err);
	if (r == 0)
		*ret = u;
	return r;
}

int git_url_ssh_origin(struct str text, struct arena *a, const char **ret, struct error *err)
{
	struct git_ssh_url u = {0};
	if (!str_has_prefix(text, STR(SCHEME)))
		return error_set(err, E_INVALID, SCHEME "HOST[:PORT] is wanted");
	if (read_host(str_skip(text, strlen(SCHEME)), true, a, &u, err) < 0)
		return -err->code;
	*ret = u.origin;
	return 0;
}
