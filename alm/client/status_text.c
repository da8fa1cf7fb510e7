#include "alm/client/status_text.h"

#include "alm/base/str.h"

#define GAP        " .. "
#define TAIL_BYTES 140

/* The last ones of s, at most max, from the beginning of a character on. */
static struct str last_of(struct str s, size_t max)
{
	size_t at = s.len - max;
	while (at < s.len && ((unsigned char)s.ptr[at] & 0xC0) == 0x80)
		at++;
	return str_skip(s, at);
}

int status_text_error(struct error *err, int code, const char *message)
{
	struct str s = str_of(message);
	if (s.len <= STATUS_TEXT_MAX)
		return error_set(err, code, "%s", message);
	struct str head = str_clip(s, STATUS_TEXT_MAX - TAIL_BYTES - sizeof(GAP) + 1);
	struct str tail = last_of(s, TAIL_BYTES);
	return error_set(err, code, "%.*s" GAP "%.*s", STR_ARG(head), STR_ARG(tail));
}
