/* hosts: see hosts.h. */
#include "alm/io/hosts.h"

#include <arpa/inet.h>
#include <string.h>

#define HOST_BYTES_MAX 255

static bool is_port(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!char_is_digit(s.ptr[i]))
			return false;
	return s.len <= 5;
}

struct str host_of(struct str authority)
{
	struct str host = authority, port = STR("");
	if (authority.len && authority.ptr[0] == '[') {
		ptrdiff_t end = str_find_char(authority, ']');
		if (end < 0)
			return STR_NONE;
		host = str_sub(authority, 1, (size_t)end - 1);
		port = str_skip(authority, (size_t)end + 1);
		if (port.len && port.ptr[0] != ':')
			return STR_NONE;
		port = str_skip(port, 1);
	} else {
		str_cut(authority, ':', &host, &port);
	}
	for (size_t i = 0; i < host.len; i++)
		if (!char_is_alnum(host.ptr[i]) && !(host.ptr[i] && strchr(".-_:", host.ptr[i])))
			return STR_NONE;
	return host.len && host.len <= HOST_BYTES_MAX && is_port(port) ? host : STR_NONE;
}

/* IPv4 or IPv6. */
static bool is_address(struct str host)
{
	unsigned char address[16];
	char text[INET6_ADDRSTRLEN];
	if (host.len == 0 || host.len >= sizeof(text))
		return false;
	memcpy(text, host.ptr, host.len);
	text[host.len] = '\0';
	return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

static bool is_same(struct str a, struct str b)
{
	struct str *both[] = {&a, &b};
	for (size_t i = 0; i < ARRAY_LEN(both); i++)
		if (both[i]->len > 1 && both[i]->ptr[both[i]->len - 1] == '.')
			both[i]->len--;
	for (size_t i = 0; i < a.len && a.len == b.len; i++)
		if (char_lower(a.ptr[i]) != char_lower(b.ptr[i]))
			return false;
	return a.len == b.len && a.len > 0;
}

bool host_is_known(struct str host, const char *const *names, size_t n)
{
	if (is_same(host, STR("localhost")) || is_address(host))
		return true;
	for (size_t i = 0; i < n; i++)
		if (is_same(host, str_of(names[i])))
			return true;
	return false;
}
