#include "installers/format/yaml_style.h"

#include <string.h>

#include "installers/format/yaml_go.h"
#include "installers/value/unicode.h"

bool yaml_rune_is_break(uint32_t r)
{
	return r == '\r' || r == '\n' || r == 0x85 || r == 0x2028 || r == 0x2029;
}

bool yaml_rune_is_printable(uint32_t r)
{
	return r == '\n' || (r >= 0x20 && r <= 0x7e) || (r >= 0xa0 && r < 0xd800) ||
	       (r >= 0xe000 && r <= 0xfffd && r != 0xfeff);
}

size_t yaml_rune_at(struct str s, size_t i, uint32_t *ret)
{
	if ((unsigned char)s.ptr[i] < 0x80) {
		*ret = (unsigned char)s.ptr[i];
		return 1;
	}
	size_t n = utf8_decode(str_skip(s, i), ret);
	return n ? n : 1;
}

static bool blank_at(struct str s, size_t i)
{
	return i < s.len && (s.ptr[i] == ' ' || s.ptr[i] == '\t');
}

/* ---- styles ---- */

struct analysis {
	bool multiline, plain, single, block;
};

static bool starts_with_indicator(struct str s, bool followed_by_blank)
{
	if (strchr("#,[]{}&*!|>'\"%@`", s.ptr[0]))
		return true;
	return strchr("?:-", s.ptr[0]) && followed_by_blank;
}

struct scan {
	bool indicators, line_breaks, special, tabs;
	bool leading, trailing_space, trailing_break, break_space, space_break;
};

static void scan_text(struct str s, struct scan *k)
{
	bool after_blank = true, after_space = false, after_break = false;
	for (size_t i = 0; i < s.len;) {
		uint32_t r;
		size_t n = yaml_rune_at(s, i, &r);
		bool before_blank = i + n >= s.len || blank_at(s, i + n);
		if (i == 0)
			k->indicators |= r < 0x80 && r && starts_with_indicator(s, before_blank);
		else
			k->indicators |= (r == ':' && before_blank) || (r == '#' && after_blank);
		if (r == '\t')
			k->tabs = true;
		else if (!yaml_rune_is_printable(r))
			k->special = true;
		bool is_break = yaml_rune_is_break(r);
		k->line_breaks |= is_break;
		if (r == ' ') {
			k->leading |= i == 0;
			k->trailing_space |= i + 1 == s.len;
			k->break_space |= after_break;
		} else if (is_break) {
			k->leading |= i == 0;
			k->trailing_break |= i + n == s.len;
			k->space_break |= after_space;
		}
		after_space = r == ' ';
		after_break = is_break;
		after_blank = r == ' ' || r == '\t' || is_break || !r;
		i += n;
	}
}

/* The usual text: letters, digits and what can stand anywhere, with a letter or digit in front. */
static bool is_word(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!char_is_alnum(s.ptr[i]) && (!i || !memchr("-_./", s.ptr[i], 4)))
			return false;
	return true;
}

static struct analysis analyze(struct str s, bool pretty)
{
	struct scan k = {0};
	if (!s.len)
		return (struct analysis){.plain = true, .single = true};
	if (is_word(s))
		return (struct analysis){.plain = true, .single = true, .block = true};
	k.indicators = str_has_prefix(s, STR("---")) || str_has_prefix(s, STR("..."));
	scan_text(s, &k);
	bool hard = k.space_break || k.special;
	bool tabs = k.tabs; /* yaml.v3 lets them into blocks */
	return (struct analysis){
		.multiline = k.line_breaks,
		.plain = !k.leading && !k.trailing_space && !k.trailing_break && !k.break_space &&
			 !hard && !tabs && !k.line_breaks && !k.indicators,
		.single = !k.break_space && !hard && !tabs,
		.block = !k.trailing_space && !hard && (pretty || !tabs),
	};
}

/* YYYY-M-D and what may follow: Go's four layouts, with the ranges of time.Parse. */
static bool take_number(struct str *s, size_t min, size_t max, int low, int high, int *ret)
{
	size_t n = 0;
	int v = 0;
	while (n < s->len && n < max && char_is_digit(s->ptr[n]))
		v = v * 10 + (s->ptr[n++] - '0');
	if (n < min || v < low || v > high)
		return false;
	*s = str_skip(*s, n);
	*ret = v;
	return true;
}

static bool take_char(struct str *s, char c)
{
	if (!s->len || s->ptr[0] != c)
		return false;
	*s = str_skip(*s, 1);
	return true;
}

static bool take_date(struct str *s)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int y, m, d;
	if (!take_number(s, 4, 4, 0, 9999, &y) || !take_char(s, '-') ||
	    !take_number(s, 1, 2, 1, 12, &m) || !take_char(s, '-') ||
	    !take_number(s, 1, 2, 1, 31, &d))
		return false;
	bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
	return d <= days[m - 1] + (m == 2 && leap);
}

static bool take_time(struct str *s)
{
	int v;
	if (!take_number(s, 1, 2, 0, 23, &v) || !take_char(s, ':') ||
	    !take_number(s, 1, 2, 0, 59, &v) || !take_char(s, ':') ||
	    !take_number(s, 1, 2, 0, 59, &v))
		return false;
	if (s->len >= 2 && (s->ptr[0] == '.' || s->ptr[0] == ',') && char_is_digit(s->ptr[1])) {
		*s = str_skip(*s, 1);
		while (s->len && char_is_digit(s->ptr[0]))
			*s = str_skip(*s, 1);
	}
	return true;
}

static bool is_timestamp(struct str s)
{
	int v;
	if (!take_date(&s))
		return false;
	if (!s.len)
		return true;
	char sep = s.ptr[0];
	s = str_skip(s, 1);
	if (!memchr("Tt ", sep, 3) || !take_time(&s))
		return false;
	if (sep == ' ')
		return !s.len;
	if (take_char(&s, 'Z'))
		return !s.len;
	if (!take_char(&s, '+') && !take_char(&s, '-'))
		return false;
	return take_number(&s, 2, 2, 0, 24, &v) && take_char(&s, ':') &&
	       take_number(&s, 2, 2, 0, 60, &v) && !s.len;
}

/* ^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$ */
static bool is_base60(struct str s)
{
	size_t i = s.len && (s.ptr[0] == '-' || s.ptr[0] == '+'), groups = 0;
	if (i >= s.len || !char_is_digit(s.ptr[i]))
		return false;
	while (i < s.len && (char_is_digit(s.ptr[i]) || s.ptr[i] == '_'))
		i++;
	while (i < s.len && s.ptr[i] == ':') {
		size_t n = 0;
		while (n < 2 && i + 1 + n < s.len && char_is_digit(s.ptr[i + 1 + n]))
			n++;
		if (!n || (n == 2 && s.ptr[i + 1] > '5'))
			return false;
		i += 1 + n;
		groups++;
	}
	if (groups && i < s.len && s.ptr[i] == '.')
		for (i++; i < s.len && (char_is_digit(s.ptr[i]) || s.ptr[i] == '_');)
			i++;
	return groups && i == s.len;
}

static enum yaml_style choose(struct str s, bool is_text, bool is_key, const struct analysis *k)
{
	bool has_lf = str_find_char(s, '\n') >= 0;
	if (!is_text)
		return YAML_STYLE_PLAIN;
	if (has_lf && k->block && !is_key)
		return YAML_STYLE_LITERAL;
	if (has_lf || !yaml_go_is_string(s) || is_base60(s) || is_timestamp(s) ||
	    (is_key && k->multiline))
		return YAML_STYLE_DOUBLE;
	if (k->plain && (s.len || !is_key))
		return YAML_STYLE_PLAIN;
	return k->single ? YAML_STYLE_SINGLE : YAML_STYLE_DOUBLE;
}

bool yaml_is_multiline(struct str s)
{
	return analyze(s, false).multiline;
}

enum yaml_style yaml_style(struct str s, bool is_text, bool is_key, bool pretty)
{
	struct analysis k = analyze(s, pretty);
	return choose(s, is_text, is_key, &k);
}

/* ---- key order ---- */

static bool is_digit_at(struct str s, size_t i)
{
	return i < s.len && char_is_digit(s.ptr[i]);
}

static int64_t digit_run(struct str s, size_t i, int64_t seed, size_t *ret_end)
{
	int64_t v = seed;
	for (; is_digit_at(s, i); i++)
		v = (int64_t)((uint64_t)v * 10 + (uint64_t)(s.ptr[i] - '0'));
	*ret_end = i;
	return v;
}

/* Does a digit other than 0 stand in the run just before i? */
static bool after_nonzero(struct str s, size_t i)
{
	while (i > 0 && char_is_digit(s.ptr[i - 1]))
		if (s.ptr[--i] != '0')
			return true;
	return false;
}

/* keyList.Less of Go's yaml.v2 and v3, from the first rune that differs. */
static bool less_from(struct str a, struct str b, size_t i, bool pretty)
{
	uint32_t ra, rb;
	yaml_rune_at(a, i, &ra);
	yaml_rune_at(b, i, &rb);
	bool la = rune_is_letter(ra), lb = rune_is_letter(rb);
	if (la && lb)
		return ra < rb;
	if (la || lb)
		return pretty && i && char_is_digit(a.ptr[i - 1]) ? la : lb;
	bool zero = ra == '0' || rb == '0';
	int64_t seed = zero && after_nonzero(a, i);
	size_t end_a, end_b;
	int64_t na = digit_run(a, i, seed, &end_a), nb = digit_run(b, i, seed, &end_b);
	if (na != nb)
		return na < nb;
	return end_a != end_b ? end_a < end_b : ra < rb;
}

static bool key_less(struct str a, struct str b, bool pretty)
{
	size_t i = 0;
	while (i < a.len && i < b.len && a.ptr[i] == b.ptr[i])
		i++;
	while (i > 0 && i < a.len && ((unsigned char)a.ptr[i] & 0xc0) == 0x80)
		i--;
	if (i >= a.len || i >= b.len)
		return a.len < b.len;
	return less_from(a, b, i, pretty);
}

/* A stable merge: the order is not total, so the algorithm is part of the result. */
/* NOLINTNEXTLINE(misc-no-recursion): n halves */
static void sort_keys(const struct vmap_entry **e, const struct vmap_entry **tmp, size_t n,
		      bool pretty)
{
	if (n < 2)
		return;
	size_t half = n / 2, i = 0, j = half, k = 0;
	sort_keys(e, tmp, half, pretty);
	sort_keys(e + half, tmp, n - half, pretty);
	while (i < half && j < n)
		tmp[k++] = key_less(e[j]->key, e[i]->key, pretty) ? e[j++] : e[i++];
	while (i < half)
		tmp[k++] = e[i++];
	while (j < n)
		tmp[k++] = e[j++];
	memcpy((void *)e, (const void *)tmp, n * sizeof(*e));
}

void yaml_sort_keys(const struct vmap_entry **keys, size_t n, bool pretty)
{
	CLEANUP(xfreep) const struct vmap_entry **tmp =
		xcalloc(n + 1, sizeof(const struct vmap_entry *));
	sort_keys(keys, tmp, n, pretty);
}
