#include "alm/client/git_address.h"

#include <string.h>

#include "alm/source/git_url.h"

#define SCHEME     "https://"
#define HTTPS_PORT 443
#define PIN_MAJOR  2
#define PIN_MINOR  37

static int host_of_ssh(const char *url, struct arena *a, struct git_host *ret, struct error *err)
{
	struct git_ssh_url u;
	if (git_url_ssh(url, a, &u, err) < 0)
		return -err->code;
	*ret = (struct git_host){.name = u.host, .port = u.port};
	ret->literal = address_parse(str_of(u.host), &ret->address);
	return 0;
}

int git_host_read(const char *url, struct arena *a, struct git_host *ret, struct error *err)
{
	if (git_url_is_ssh(url))
		return host_of_ssh(url, a, ret, err);
	struct str host, path, port = STR_NONE;
	uint64_t n = HTTPS_PORT;
	if (!cstr_has_prefix(url, SCHEME))
		return error_set(err, E_INVALID, SCHEME "HOST/PATH is wanted");
	(void)str_cut(str_skip(str_of(url), strlen(SCHEME)), '/', &host, &path);
	ptrdiff_t close = str_find_char(host, ']');
	if (host.len && host.ptr[0] == '[' && close > 0) {
		port = str_skip(host, (size_t)close + 1);
		port = port.len ? str_skip(port, 1) : STR_NONE;
		host = str_sub(host, 1, (size_t)close - 1);
	} else if (!str_cut(host, ':', &host, &port)) {
		port = STR_NONE;
	}
	if (!host.len || host.ptr[0] == '-' || host.ptr[host.len - 1] == '.' ||
	    (port.len && (!str_parse_u64(port, &n) || !n || n > UINT16_MAX)))
		return error_set(err, E_INVALID, "\"%.*s\" is no name of a server", STR_ARG(host));
	*ret = (struct git_host){.name = arena_strndup(a, host.ptr, host.len), .port = (unsigned)n};
	ret->literal = address_parse(host, &ret->address);
	return 0;
}

static int refuse(const struct git_host *h, struct error *err)
{
	return error_set(err, E_NOTALLOWED,
			 "%s lies in a network that sources are not read from; the administrator "
			 "of ALM allows it with --allow-source %s",
			 h->name, h->name);
}

int git_host_check(const struct git_host *h, const struct address_policy *p, struct error *err)
{
	return !h->literal || address_policy_allows(p, h->name, h->port, &h->address)
		       ? 0
		       : refuse(h, err);
}

bool git_can_pin(struct str version)
{
	struct str major, rest, minor;
	uint64_t a, b;
	if (!str_has_prefix(version, STR("git version ")))
		return false;
	(void)str_cut(str_skip(version, strlen("git version ")), '.', &major, &rest);
	(void)str_cut(rest, '.', &minor, &rest);
	return str_parse_u64(major, &a) && str_parse_u64(str_trim(minor), &b) &&
	       (a > PIN_MAJOR || (a == PIN_MAJOR && b >= PIN_MINOR));
}

static bool has(const struct address *list, size_t n, const struct address *a)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].v6 == a->v6 && !memcmp(list[i].bytes, a->bytes, sizeof(a->bytes)))
			return true;
	return false;
}

/* A line an address and a kind of socket: "ADDRESS  STREAM name". An address of one link
 * ("fe80::1%eth0") is none that a source could have. */
int git_addresses(const struct git_host *h, struct str listing, const struct address_policy *p,
		  struct git_addresses *ret, struct error *err)
{
	struct address seen[GIT_ADDRESSES_MAX], one;
	struct str line, text, rest;
	struct git_addresses list = {.n = 0};
	size_t n = 0;
	bool any = false;
	while (n < GIT_ADDRESSES_MAX && str_next_line(&listing, &line)) {
		(void)str_cut(line, ' ', &text, &rest);
		any |= text.len > 0;
		if (!address_parse(text, &one) || has(seen, n, &one))
			continue;
		seen[n++] = one;
		if (address_policy_allows(p, h->name, h->port, &one))
			list.texts[list.n++] = text;
	}
	if (!any)
		return error_because(err, E_UNAVAILABLE, REASON_SOURCE_UNREACHABLE,
				     "%s has no address", h->name);
	if (!list.n)
		return refuse(h, err);
	*ret = list;
	return 0;
}

int git_pin(const struct git_host *h, struct str listing, const struct address_policy *p,
	    struct arena *a, const char **ret, struct error *err)
{
	struct git_addresses all;
	const char *list = "";
	if (git_addresses(h, listing, p, &all, err) < 0)
		return -err->code;
	for (size_t i = 0; i < all.n; i++) {
		bool v6 = str_find_char(all.texts[i], ':') >= 0;
		list = arena_fmt(a, v6 ? "%s%s[%.*s]" : "%s%s%.*s", list, i ? "," : "",
				 STR_ARG(all.texts[i]));
	}
	*ret = arena_fmt(a, "%s:%u:%s", h->name, h->port, list);
	return 0;
}
