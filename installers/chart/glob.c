#include "installers/chart/glob.h"

#include "alm/base/error.h"
#include "installers/value/unicode.h"

/* One character of a class, with its escape. */
static int class_rune(struct str *p, uint32_t *ret)
{
	if (!p->len || p->ptr[0] == '-' || p->ptr[0] == ']')
		return -E_INVALID;
	if (p->ptr[0] == '\\')
		*p = str_skip(*p, 1);
	if (!p->len)
		return -E_INVALID;
	*p = str_skip(*p, rune_next(*p, ret));
	return p->len ? 0 : -E_INVALID;
}

/* [...], after the bracket. */
static int match_class(struct str *p, uint32_t r, bool *ret)
{
	bool negated = p->len && p->ptr[0] == '^', found = false;
	*p = str_skip(*p, negated);
	for (size_t n = 0;; n++) {
		uint32_t low, high;
		if (p->len && p->ptr[0] == ']' && n > 0)
			break;
		if (class_rune(p, &low) < 0)
			return -E_INVALID;
		high = low;
		if (p->ptr[0] == '-') {
			*p = str_skip(*p, 1);
			if (class_rune(p, &high) < 0)
				return -E_INVALID;
		}
		found |= r >= low && r <= high;
	}
	*p = str_skip(*p, 1);
	*ret = found != negated;
	return 0;
}

/* The next element of the pattern that is not a star, against the next character. */
static int match_one(struct str *p, struct str *s, bool *ret)
{
	uint32_t r, want;
	char c = p->ptr[0];
	if ((unsigned char)c < 0x80 && c != '[' && c != '?' && c != '\\') {
		*ret = s->len && s->ptr[0] == c;
		*p = str_skip(*p, 1);
		*s = str_skip(*s, 1);
		return 0;
	}
	size_t n = rune_next(*s, &r);
	*ret = n > 0;
	if (c == '[') {
		*p = str_skip(*p, 1);
		bool in;
		if (match_class(p, r, &in) < 0)
			return -E_INVALID;
		*ret = n > 0 && in;
	} else if (c == '?') {
		*p = str_skip(*p, 1);
		*ret = n > 0 && r != '/';
	} else {
		if (c == '\\')
			*p = str_skip(*p, 1);
		if (!p->len)
			return -E_INVALID;
		*p = str_skip(*p, rune_next(*p, &want));
		*ret = n > 0 && r == want;
	}
	*s = str_skip(*s, n);
	return 0;
}

/* The rest of a pattern must be well formed even if it is never reached. */
static int check(struct str p)
{
	while (p.len) {
		bool ignored;
		struct str s = STR("");
		if (p.ptr[0] != '[' && p.ptr[0] != '\\')
			p = str_skip(p, 1);
		else if (match_one(&p, &s, &ignored) < 0)
			return -E_INVALID;
	}
	return 0;
}

/* Backtracks to the last star only: time is the product of the two lengths at most. */
int glob_match(struct str p, struct str s, bool *ret)
{
	struct str star_p = STR_NONE, star_s = STR_NONE;
	bool have_star = false;
	*ret = false;
	if (check(p) < 0)
		return -E_INVALID;
	while (s.len || p.len) {
		if (p.len && p.ptr[0] == '*') {
			p = str_skip(p, 1);
			star_p = p;
			star_s = s;
			have_star = true;
			continue;
		}
		bool hit = false;
		struct str p2 = p, s2 = s;
		if (p.len && s.len && match_one(&p2, &s2, &hit) < 0)
			return -E_INVALID;
		if (hit) {
			p = p2;
			s = s2;
			continue;
		}
		if (!have_star || !star_s.len || star_s.ptr[0] == '/')
			return 0;
		star_s = str_skip(star_s, 1);
		p = star_p;
		s = star_s;
	}
	*ret = true;
	return 0;
}
