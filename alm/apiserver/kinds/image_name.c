/* image_name: see image_name.h. */
#include "alm/apiserver/kinds/image_name.h"

#include <string.h>

#include "alm/base/str.h"

#define NAME_BYTES_MAX 255
#define TAG_BYTES_MAX  128
#define ID_BYTES       64

static bool is_lower(char c)
{
	return char_is_lower(c) || char_is_digit(c);
}

/* "_", "__", "." or dashes between letters and digits. */
static size_t separator(const char *s, size_t len)
{
	size_t n = 0;
	while (n < len && s[n] == '-')
		n++;
	if (n || !len)
		return n;
	if (*s == '.')
		return 1;
	return *s == '_' ? (len > 1 && s[1] == '_' ? 2 : 1) : 0;
}

/* Parts of small letters and digits, divided by '/'. */
static bool is_path(struct str s)
{
	struct str part;
	if (!s.len || s.ptr[s.len - 1] == '/')
		return false;
	while (str_next(&s, '/', &part)) {
		size_t i = 0;
		while (i < part.len && is_lower(part.ptr[i])) {
			while (i < part.len && is_lower(part.ptr[i]))
				i++;
			if (i == part.len)
				break;
			i += separator(part.ptr + i, part.len - i);
			if (i == part.len)
				return false;
		}
		if (i < part.len || !part.len)
			return false;
	}
	return true;
}

/* A host, with or without its port. */
static bool is_host(struct str s)
{
	struct str host = s, port, part;
	if (str_cut(s, ':', &host, &port)) {
		if (!port.len)
			return false;
		for (size_t i = 0; i < port.len; i++)
			if (!char_is_digit(port.ptr[i]))
				return false;
	}
	if (!host.len || host.ptr[host.len - 1] == '.')
		return false;
	while (str_next(&host, '.', &part)) {
		if (!part.len || part.ptr[0] == '-' || part.ptr[part.len - 1] == '-')
			return false;
		for (size_t i = 0; i < part.len; i++)
			if (!char_is_alnum(part.ptr[i]) && part.ptr[i] != '-')
				return false;
	}
	return true;
}

static bool is_tag(struct str s)
{
	if (!s.len || s.len > TAG_BYTES_MAX || s.ptr[0] == '.' || s.ptr[0] == '-')
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (!char_is_alnum(s.ptr[i]) && !strchr("_.-", s.ptr[i]))
			return false;
	return true;
}

/* An identifier of an image alone names none. */
static bool is_id(struct str s)
{
	size_t n = 0;
	while (n < s.len && (char_is_digit(s.ptr[n]) || (s.ptr[n] >= 'a' && s.ptr[n] <= 'f')))
		n++;
	return n == ID_BYTES && s.len == ID_BYTES;
}

/* What stands in front of the first '/' is a host if it looks like one. */
static bool looks_like_host(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] == '.' || s.ptr[i] == ':' || (s.ptr[i] >= 'A' && s.ptr[i] <= 'Z'))
			return true;
	return str_is(s, "localhost");
}

bool image_is_latest(const char *image)
{
	struct str rest = str_of(image), host, path, tag = STR(""), digest = STR("");
	bool has_digest, has_tag;
	if (is_id(rest))
		return false;
	if (str_cut(rest, '/', &host, &path) && looks_like_host(host)) {
		if (!is_host(host))
			return false;
		rest = path;
	} else {
		host = STR("docker.io");
	}
	has_digest = str_cut(rest, '@', &rest, &digest);
	has_tag = str_cut(rest, ':', &rest, &tag);
	if (!is_path(rest) || host.len + rest.len >= NAME_BYTES_MAX || (has_tag && !is_tag(tag)) ||
	    (has_digest && !digest.len))
		return false;
	return has_tag ? str_is(tag, "latest") : !has_digest;
}
