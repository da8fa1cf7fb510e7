#include "alm/base/url_escape.h"

#include <string.h>

static int hex_digit(char c)
{
	if (char_is_digit(c))
		return c - '0';
	return char_is_hex(c) ? char_lower(c) - 'a' + 10 : -1;
}

char *url_decode(struct str s, bool plus_is_blank, struct arena *a)
{
	char *out = arena_alloc(a, s.len + 1);
	size_t n = 0;
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		if (c == '%') {
			int high = i + 2 < s.len ? hex_digit(s.ptr[i + 1]) : -1;
			int low = high >= 0 ? hex_digit(s.ptr[i + 2]) : -1;
			if (low < 0 || high + low == 0)
				return NULL;
			c = (char)(high << 4 | low);
			i += 2;
		} else if (c == '+' && plus_is_blank) {
			c = ' ';
		} else if (c == '\0') {
			return NULL;
		}
		out[n++] = c;
	}
	out[n] = '\0';
	return out;
}

char *url_encode(struct str s, struct arena *a)
{
	static const char digits[] = "0123456789ABCDEF";
	char *out = arena_alloc(a, 3 * s.len + 1);
	size_t n = 0;
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];
		if (char_is_alnum((char)c) || (c && strchr("-._~", c))) {
			out[n++] = (char)c;
			continue;
		}
		out[n++] = '%';
		out[n++] = digits[c >> 4];
		out[n++] = digits[c & 15];
	}
	out[n] = '\0';
	return out;
}
