/* unicode: tables of ranges above ASCII, searched by halving. */
#include "installers/value/unicode.h"

#include "alm/base/mem.h"
#include "installers/value/unicode_tables.h"

static uint32_t first_of(uint32_t span)
{
	return span >> SPAN_BITS;
}

static bool holds(uint32_t span, uint32_t r)
{
	return r - first_of(span) <= (span & ((1u << SPAN_BITS) - 1));
}

static bool in_ranges(const uint32_t *t, size_t n, uint32_t r)
{
	size_t lo = 0, hi = n; /* how many begin at r or before it */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (r >= first_of(t[mid]))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 && holds(t[lo - 1], r);
}

static uint32_t shifted(const struct rune_delta *t, size_t n, uint32_t r)
{
	size_t lo = 0, hi = n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (r >= first_of(t[mid].span))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || !holds(t[lo - 1].span, r))
		return r;
	t += lo - 1;
	if (t->stride == 2 && (r - first_of(t->span)) % 2)
		return r;
	return (uint32_t)((int32_t)r + t->delta);
}

bool rune_is_letter(uint32_t r)
{
	return r < 0x80 ? char_is_alpha((char)r) : in_ranges(letters, ARRAY_LEN(letters), r);
}

bool rune_is_digit(uint32_t r)
{
	return r < 0x80 ? char_is_digit((char)r) : in_ranges(digits, ARRAY_LEN(digits), r);
}

bool rune_is_upper(uint32_t r)
{
	return r < 0x80 ? char_is_upper((char)r) : in_ranges(uppers, ARRAY_LEN(uppers), r);
}

bool rune_is_lower(uint32_t r)
{
	return r < 0x80 ? char_is_lower((char)r) : in_ranges(lowers, ARRAY_LEN(lowers), r);
}

bool rune_is_print(uint32_t r)
{
	return r < 0x80 ? r >= 0x20 && r < 0x7F : in_ranges(prints, ARRAY_LEN(prints), r);
}

bool rune_is_space(uint32_t r)
{
	if (r < 0x80)
		return r == ' ' || (r >= '\t' && r <= '\r');
	return r == 0x85 || r == 0xA0 || r == 0x1680 || (r >= 0x2000 && r <= 0x200A) ||
	       r == 0x2028 || r == 0x2029 || r == 0x202F || r == 0x205F || r == 0x3000;
}

bool rune_is_alnum(uint32_t r)
{
	return r == '_' || rune_is_letter(r) || rune_is_digit(r);
}

uint32_t rune_to_upper(uint32_t r)
{
	if (r < 0x80)
		return (uint32_t)(unsigned char)char_upper((char)r);
	return shifted(to_upper, ARRAY_LEN(to_upper), r);
}

uint32_t rune_to_lower(uint32_t r)
{
	if (r < 0x80)
		return (uint32_t)(unsigned char)char_lower((char)r);
	return shifted(to_lower, ARRAY_LEN(to_lower), r);
}

uint32_t rune_to_title(uint32_t r)
{
	if (r < 0x80)
		return rune_to_upper(r);
	return rune_to_upper(r) + (shifted(to_title_diff, ARRAY_LEN(to_title_diff), r) - r);
}

size_t rune_next(struct str s, uint32_t *ret)
{
	if (s.len == 0)
		return 0;
	if ((unsigned char)s.ptr[0] < 0x80) {
		*ret = (unsigned char)s.ptr[0];
		return 1;
	}
	size_t n = utf8_decode(s, ret);
	if (n > 0)
		return n;
	*ret = RUNE_ERROR;
	return 1;
}

size_t rune_last(struct str s, uint32_t *ret)
{
	for (size_t back = 1; back <= 4 && back <= s.len; back++) {
		struct str tail = str_skip(s, s.len - back);
		if (utf8_decode(tail, ret) == back)
			return back;
	}
	if (s.len == 0)
		return 0;
	*ret = RUNE_ERROR;
	return 1;
}
