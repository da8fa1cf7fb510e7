#include "alm/base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alm/base/mem.h"

char *str_dup(struct str s)
{
	char *copy = xmalloc(s.len + 1);
	if (s.len)
		memcpy(copy, s.ptr, s.len);
	copy[s.len] = '\0';
	return copy;
}

bool str_is_nocase(struct str a, const char *b)
{
	size_t i = 0;
	while (i < a.len && b[i] && char_lower(a.ptr[i]) == char_lower(b[i]))
		i++;
	return i == a.len && !b[i];
}

bool cstr_eq(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

int str_cmp(struct str a, struct str b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int r = n ? memcmp(a.ptr, b.ptr, n) : 0;
	return r ? r : (a.len > b.len) - (a.len < b.len);
}

int cstr_cmpp(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	return strcmp(*x, *y);
}

bool str_has_suffix(struct str s, struct str suffix)
{
	return s.len >= suffix.len && str_eq(str_skip(s, s.len - suffix.len), suffix);
}

bool cstr_has_prefix(const char *s, const char *prefix)
{
	return str_has_prefix(str_of(s), str_of(prefix));
}

bool cstr_has_suffix(const char *s, const char *suffix)
{
	return str_has_suffix(str_of(s), str_of(suffix));
}

bool cstr_in(const char *s, const char *const *list)
{
	for (; s && list && *list; list++)
		if (strcmp(s, *list) == 0)
			return true;
	return false;
}

struct str str_trim_left(struct str s)
{
	while (s.len && char_is_space(*s.ptr))
		s = str_skip(s, 1);
	return s;
}

struct str str_trim_right(struct str s)
{
	while (s.len && char_is_space(s.ptr[s.len - 1]))
		s.len--;
	return s;
}

struct str str_trim(struct str s)
{
	return str_trim_right(str_trim_left(s));
}

struct str str_clip(struct str s, size_t max)
{
	if (s.len <= max)
		return s;
	while (max && ((unsigned char)s.ptr[max] & 0xC0) == 0x80)
		max--;
	return str_n(s.ptr, max);
}

ptrdiff_t str_find(struct str s, struct str needle)
{
	if (!needle.len)
		return 0;
	if (!s.len)
		return -1;
	if (needle.len == 1) // AddressSanitizer's memmem() looks at all of s for each match
		return str_find_char(s, *needle.ptr);
	const char *p = memmem(s.ptr, s.len, needle.ptr, needle.len);
	return p ? p - s.ptr : -1;
}

ptrdiff_t str_find_char(struct str s, char c)
{
	const char *p = s.len ? memchr(s.ptr, c, s.len) : NULL;
	return p ? p - s.ptr : -1;
}

ptrdiff_t str_rfind_char(struct str s, char c)
{
	const char *p = s.len ? memrchr(s.ptr, c, s.len) : NULL;
	return p ? p - s.ptr : -1;
}

bool str_contains(struct str s, struct str needle)
{
	return str_find(s, needle) >= 0;
}

static bool cut_at(struct str s, ptrdiff_t at, struct str *ret_before, struct str *ret_after)
{
	if (at < 0) {
		*ret_before = s;
		*ret_after = STR_NONE;
		return false;
	}
	*ret_before = str_n(s.ptr, (size_t)at);
	*ret_after = str_skip(s, (size_t)at + 1);
	return true;
}

bool str_cut(struct str s, char c, struct str *ret_before, struct str *ret_after)
{
	return cut_at(s, str_find_char(s, c), ret_before, ret_after);
}

bool str_rcut(struct str s, char c, struct str *ret_before, struct str *ret_after)
{
	return cut_at(s, str_rfind_char(s, c), ret_before, ret_after);
}

bool str_next(struct str *rest, char sep, struct str *ret_field)
{
	if (!rest->ptr)
		return false;
	if (!str_cut(*rest, sep, ret_field, rest))
		*rest = STR_NONE;
	return true;
}

bool str_next_line(struct str *rest, struct str *ret_line)
{
	if (!rest->len)
		return false;
	str_cut(*rest, '\n', ret_line, rest);
	if (ret_line->len && ret_line->ptr[ret_line->len - 1] == '\r')
		ret_line->len--;
	return true;
}

bool str_parse_u64(struct str s, uint64_t *ret)
{
	uint64_t v = 0;
	if (!s.len)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (!char_is_digit(s.ptr[i]))
			return false;
		uint64_t d = (uint64_t)(s.ptr[i] - '0');
		if (v > (UINT64_MAX - d) / 10)
			return false;
		v = v * 10 + d;
	}
	*ret = v;
	return true;
}

bool str_parse_i64(struct str s, int64_t *ret)
{
	bool neg = s.len && *s.ptr == '-';
	if (s.len && (*s.ptr == '-' || *s.ptr == '+'))
		s = str_skip(s, 1);
	uint64_t v;
	if (!str_parse_u64(s, &v) || v > (uint64_t)INT64_MAX + neg)
		return false;
	*ret = neg ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

bool str_parse_double(struct str s, double *ret)
{
	char buf[512];
	if (!s.len || s.len >= sizeof(buf))
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (!char_is_digit(s.ptr[i]) && !memchr("+-.eE", s.ptr[i], 5))
			return false;
	memcpy(buf, s.ptr, s.len);
	buf[s.len] = '\0';
	char *end;
	errno = 0;
	double v = strtod(buf, &end);
	if (end != buf + s.len || (errno == ERANGE && (v > 1 || v < -1)))
		return false;
	*ret = v;
	return true;
}

bool char_is_hex(char c)
{
	return char_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

char char_lower(char c)
{
	return char_is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

char char_upper(char c)
{
	return char_is_lower(c) ? (char)(c - 'a' + 'A') : c;
}

static size_t utf8_length(unsigned char c)
{
	if (c < 0x80)
		return 1;
	if (c < 0xC2 || c >= 0xF5)
		return 0;
	return c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

size_t utf8_decode(struct str s, uint32_t *ret_rune)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	if (!s.len)
		return 0;
	unsigned char c = (unsigned char)s.ptr[0];
	size_t n = utf8_length(c);
	if (!n || n > s.len)
		return 0;
	uint32_t rune = n == 1 ? c : c & (0x7Fu >> n);
	for (size_t i = 1; i < n; i++) {
		unsigned char d = (unsigned char)s.ptr[i];
		if ((d & 0xC0) != 0x80)
			return 0;
		rune = rune << 6 | (d & 0x3Fu);
	}
	if (rune < least[n] || rune > 0x10FFFF || (rune >= 0xD800 && rune <= 0xDFFF))
		return 0;
	*ret_rune = rune;
	return n;
}

size_t utf8_encode(uint32_t rune, char out[4])
{
	if (rune < 0x80) {
		out[0] = (char)rune;
		return 1;
	}
	size_t n = rune < 0x800 ? 2 : rune < 0x10000 ? 3 : 4;
	for (size_t i = n; i-- > 1; rune >>= 6)
		out[i] = (char)(0x80 | (rune & 0x3F));
	out[0] = (char)((0xF00u >> n & 0xF0u) | rune);
	return n;
}

/* Bytes of ASCII at the front, eight at a time. */
static size_t ascii_length(struct str s)
{
	size_t n = 0;
	for (uint64_t word; s.len - n >= sizeof(word); n += sizeof(word)) {
		memcpy(&word, s.ptr + n, sizeof(word));
		if (word & UINT64_C(0x8080808080808080))
			break;
	}
	while (n < s.len && (unsigned char)s.ptr[n] < 0x80)
		n++;
	return n;
}

bool utf8_valid(struct str s)
{
	uint32_t rune;
	for (size_t n; s.len; s = str_skip(s, n)) {
		n = ascii_length(s);
		if (n)
			continue;
		n = utf8_decode(s, &rune);
		if (!n)
			return false;
	}
	return true;
}

size_t utf8_count(struct str s)
{
	size_t count = 0;
	uint32_t rune;
	while (s.len) {
		size_t n = utf8_decode(s, &rune);
		s = str_skip(s, n ? n : 1);
		count++;
	}
	return count;
}
