/*
 * The emitter of libyaml as its Go ports have it, reduced to block style. "whitespace", "indention"
 * and column have the meaning they have there; the order of their changes decides about line
 * breaks.
 */
#include "installers/yaml_emit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "installers/json_go.h"
#include "installers/tmpl/unicode.h"
#include "installers/yaml_go.h"

#define INDENT         2
#define WIDTH          80
#define KEY_BYTES_MAX  128 /* longer keys become "? key" */
#define EMIT_DEPTH_MAX 1000

enum scalar_style { STYLE_PLAIN, STYLE_SINGLE, STYLE_DOUBLE, STYLE_LITERAL };

struct emitter {
	struct arena *a;
	struct strbuf *b, *msg;
	bool pretty;
	bool whitespace, indention;
	int column, depth;
};

/* What a text allows: yaml_emitter_analyze_scalar(). */
struct analysis {
	bool multiline, plain, single, block;
};

/* ---- characters ---- */

static bool rune_is_break(uint32_t r)
{
	return r == '\r' || r == '\n' || r == 0x85 || r == 0x2028 || r == 0x2029;
}

static bool rune_is_printable(uint32_t r)
{
	return r == '\n' || (r >= 0x20 && r <= 0x7e) || (r >= 0xa0 && r < 0xd800) ||
	       (r >= 0xe000 && r <= 0xfffd && r != 0xfeff);
}

/* The character at i of valid UTF-8. */
static size_t rune_at(struct str s, size_t i, uint32_t *ret)
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

static bool space_at(struct str s, size_t i)
{
	return i < s.len && s.ptr[i] == ' ';
}

static void put(struct emitter *e, char c)
{
	strbuf_addc(e->b, c);
	e->column++;
}

/* Writes what stands at *i of printable ASCII from low on, but for the characters x and y. */
static bool put_ascii(struct emitter *e, struct str s, size_t *i, char low, char x, char y)
{
	size_t end = *i;
	while (end < s.len && s.ptr[end] >= low && s.ptr[end] < 0x7f && s.ptr[end] != x &&
	       s.ptr[end] != y)
		end++;
	size_t n = end - *i;
	strbuf_add(e->b, s.ptr + *i, n);
	e->column += (int)n;
	*i = end;
	return n > 0;
}

static void put_rune(struct emitter *e, struct str s, size_t *i)
{
	uint32_t r;
	size_t n = rune_at(s, *i, &r);
	strbuf_add(e->b, s.ptr + *i, n);
	e->column++;
	*i += n;
}

static void put_break(struct emitter *e)
{
	strbuf_addc(e->b, '\n');
	e->column = 0;
}

/* A line break of the text itself. */
static void write_break(struct emitter *e, struct str s, size_t *i)
{
	if (s.ptr[*i] == '\n') {
		put_break(e);
		++*i;
	} else {
		put_rune(e, s, i);
		e->column = 0;
	}
	e->indention = true;
}

static void write_indent(struct emitter *e, int indent)
{
	if (indent < 0)
		indent = 0;
	if (!e->indention || e->column > indent || (e->column == indent && !e->whitespace))
		put_break(e);
	if (e->column < indent) {
		strbuf_pad(e->b, ' ', (size_t)(indent - e->column));
		e->column = indent;
	}
	e->whitespace = true;
	e->indention = true;
}

static void write_indicator(struct emitter *e, const char *text, bool need_space, bool is_space,
			    bool is_indention)
{
	if (need_space && !e->whitespace)
		put(e, ' ');
	for (; *text; text++)
		put(e, *text);
	e->whitespace = is_space;
	e->indention = e->indention && is_indention;
}

/* ---- analysis ---- */

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
		size_t n = rune_at(s, i, &r);
		bool before_blank = i + n >= s.len || blank_at(s, i + n);
		if (i == 0)
			k->indicators |= r < 0x80 && r && starts_with_indicator(s, before_blank);
		else
			k->indicators |= (r == ':' && before_blank) || (r == '#' && after_blank);
		if (r == '\t')
			k->tabs = true;
		else if (!rune_is_printable(r))
			k->special = true;
		bool is_break = rune_is_break(r);
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

static struct analysis analyze(const struct emitter *e, struct str s)
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
		.block = !k.trailing_space && !hard && (e->pretty || !tabs),
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

static enum scalar_style choose_style(struct str s, bool is_text, bool is_key,
				      const struct analysis *k)
{
	bool has_lf = str_find_char(s, '\n') >= 0;
	if (!is_text)
		return STYLE_PLAIN;
	if (has_lf && k->block && !is_key)
		return STYLE_LITERAL;
	if (has_lf || !yaml_go_is_string(s) || is_base60(s) || is_timestamp(s) ||
	    (is_key && k->multiline))
		return STYLE_DOUBLE;
	if (k->plain && (s.len || !is_key))
		return STYLE_PLAIN;
	return k->single ? STYLE_SINGLE : STYLE_DOUBLE;
}

/* ---- scalars ---- */

static void write_plain(struct emitter *e, struct str s, bool breaks_allowed, int indent)
{
	bool spaces = false;
	if (!e->whitespace)
		put(e, ' ');
	for (size_t i = 0; i < s.len;) {
		if (s.ptr[i] != ' ') {
			if (!put_ascii(e, s, &i, '!', ' ', ' '))
				put_rune(e, s, &i);
			e->indention = false;
			spaces = false;
			continue;
		}
		if (breaks_allowed && !spaces && e->column > WIDTH && !space_at(s, i + 1)) {
			write_indent(e, indent);
			i++;
		} else {
			put_rune(e, s, &i);
		}
		spaces = true;
	}
	e->whitespace = false;
	e->indention = false;
}

static void write_single(struct emitter *e, struct str s, bool breaks_allowed, int indent)
{
	bool spaces = false, breaks = false;
	write_indicator(e, "'", true, false, false);
	for (size_t i = 0; i < s.len;) {
		uint32_t r;
		rune_at(s, i, &r);
		if (r == ' ') {
			if (breaks_allowed && !spaces && e->column > WIDTH && i > 0 &&
			    i < s.len - 1 && !space_at(s, i + 1)) {
				write_indent(e, indent);
				i++;
			} else {
				put_rune(e, s, &i);
			}
			spaces = true;
			continue;
		}
		if (rune_is_break(r)) {
			if (!breaks && r == '\n')
				put_break(e);
			write_break(e, s, &i);
			breaks = true;
			continue;
		}
		if (breaks)
			write_indent(e, indent);
		if (r == '\'')
			put(e, '\'');
		if (!put_ascii(e, s, &i, '!', '\'', '\''))
			put_rune(e, s, &i);
		e->indention = false;
		spaces = breaks = false;
	}
	write_indicator(e, "'", false, false, false);
}

static void write_escape(struct emitter *e, uint32_t r)
{
	static const char from[] = "\a\b\t\n\v\f\r\x1b\"\\", to[] = "abtnvfre\"\\";
	char text[12];
	const char *hit = r && r < 0x80 ? strchr(from, (int)r) : NULL;
	put(e, '\\');
	if (hit || !r)
		snprintf(text, sizeof(text), "%c", hit ? to[hit - from] : '0');
	else if (r == 0x85 || r == 0xa0)
		snprintf(text, sizeof(text), "%c", r == 0x85 ? 'N' : '_');
	else if (r == 0x2028 || r == 0x2029)
		snprintf(text, sizeof(text), "%c", r == 0x2028 ? 'L' : 'P');
	else if (r <= 0xff)
		snprintf(text, sizeof(text), "x%02X", r);
	else if (r <= 0xffff)
		snprintf(text, sizeof(text), "u%04X", r);
	else
		snprintf(text, sizeof(text), "U%08X", r);
	for (const char *p = text; *p; p++)
		put(e, *p);
}

static void write_double(struct emitter *e, struct str s, bool breaks_allowed, int indent)
{
	bool spaces = false;
	/* a quirk of the Go ports: a leading byte order mark makes every character an escape */
	bool escape_all = str_has_prefix(s, STR("\xef\xbb\xbf"));
	write_indicator(e, "\"", true, false, false);
	for (size_t i = 0; i < s.len;) {
		uint32_t r;
		size_t n = rune_at(s, i, &r);
		if (escape_all || !rune_is_printable(r) || rune_is_break(r) || r == '"' ||
		    r == '\\') {
			write_escape(e, r);
			i += n;
			spaces = false;
		} else if (r == ' ') {
			if (breaks_allowed && !spaces && e->column > WIDTH && i > 0 &&
			    i < s.len - 1) {
				write_indent(e, indent);
				if (space_at(s, i + 1))
					put(e, '\\');
				i++;
			} else {
				put_rune(e, s, &i);
			}
			spaces = true;
		} else {
			if (!put_ascii(e, s, &i, '!', '"', '\\'))
				put_rune(e, s, &i);
			spaces = false;
		}
	}
	write_indicator(e, "\"", false, false, false);
	e->whitespace = false;
	e->indention = false;
}

/* The last character, and where it begins. */
static uint32_t last_rune(struct str s, size_t *ret_from)
{
	size_t i = s.len - 1;
	uint32_t r;
	while (i && ((unsigned char)s.ptr[i] & 0xc0) == 0x80)
		i--;
	rune_at(s, i, &r);
	*ret_from = i;
	return r;
}

static void write_block_hints(struct emitter *e, struct str s)
{
	uint32_t first;
	size_t at;
	rune_at(s, 0, &first);
	if (first == ' ' || rune_is_break(first))
		write_indicator(e, "2", false, false, false);
	if (!rune_is_break(last_rune(s, &at)))
		write_indicator(e, "-", false, false, false);
	else if (!at || rune_is_break(last_rune(str_sub(s, 0, at), &at)))
		write_indicator(e, "+", false, false, false);
}

static void write_literal(struct emitter *e, struct str s, int indent)
{
	bool breaks = true;
	write_indicator(e, "|", true, false, false);
	write_block_hints(e, s);
	put_break(e);
	e->indention = true;
	e->whitespace = true;
	for (size_t i = 0; i < s.len;) {
		uint32_t r;
		rune_at(s, i, &r);
		if (rune_is_break(r)) {
			write_break(e, s, &i);
			breaks = true;
			continue;
		}
		if (breaks)
			write_indent(e, indent);
		if (!put_ascii(e, s, &i, ' ', '\n', '\n'))
			put_rune(e, s, &i);
		e->indention = false;
		breaks = false;
	}
}

/* indent is that of the map or list around it. */
static void write_scalar(struct emitter *e, struct str s, bool is_text, bool is_key, int indent)
{
	struct analysis k = analyze(e, s);
	int inner = indent < 0 ? INDENT : indent + INDENT;
	bool breaks_allowed = !is_key && !e->pretty;
	switch (choose_style(s, is_text, is_key, &k)) {
	case STYLE_PLAIN:
		write_plain(e, s, breaks_allowed, inner);
		return;
	case STYLE_SINGLE:
		write_single(e, s, breaks_allowed, inner);
		return;
	case STYLE_DOUBLE:
		write_double(e, s, breaks_allowed, inner);
		return;
	case STYLE_LITERAL:
		write_literal(e, s, inner);
		return;
	}
}

/* ---- texts on their way through JSON ---- */

static int fail(struct emitter *e, const char *text)
{
	strbuf_adds(e->msg, text);
	return -E_INVALID;
}

/* A U+0085 in the JSON text is a line break for the YAML reader, which folds it. */
static void fold_breaks(struct str s, struct strbuf *b)
{
	for (size_t i = 0; i < s.len;) {
		size_t breaks = 0, end = i;
		for (; end < s.len; end++) {
			if (str_has_prefix(str_skip(s, end), STR("\xc2\x85"))) {
				breaks++;
				end++;
			} else if (s.ptr[end] != ' ') {
				break;
			}
		}
		if (!breaks) {
			end = end > i ? end : i + 1;
			strbuf_addstr(b, str_sub(s, i, end - i));
		} else if (breaks == 1) {
			strbuf_addc(b, ' ');
		} else {
			strbuf_pad(b, '\n', breaks - 1);
		}
		i = end;
	}
}

static int through_json(struct emitter *e, struct str *s)
{
	bool valid = true, folds = false;
	for (size_t i = 0; i < s->len;) {
		uint32_t r = (unsigned char)s->ptr[i];
		size_t n = r < 0x80 ? 1 : utf8_decode(str_skip(*s, i), &r);
		valid = valid && n;
		folds |= n && r == 0x85;
		if (n && ((r >= 0x7f && r < 0xa0 && r != 0x85) || r == 0xfffe || r == 0xffff))
			return fail(e,
				    "error converting JSON to YAML: yaml: control characters are "
				    "not allowed");
		i += n ? n : 1;
	}
	if (valid && !folds)
		return 0;
	CLEANUP(strbuf_release) struct strbuf fixed = STRBUF_INIT(s->len * 3 + 16);
	for (size_t i = 0; i < s->len;) {
		uint32_t r;
		size_t n = utf8_decode(str_skip(*s, i), &r);
		if (n)
			strbuf_add(&fixed, s->ptr + i, n);
		else
			strbuf_adds(&fixed, "\xef\xbf\xbd");
		i += n ? n : 1;
	}
	CLEANUP(strbuf_release) struct strbuf folded = STRBUF_INIT(fixed.len + 16);
	if (folds)
		fold_breaks(strbuf_str(&fixed), &folded);
	struct strbuf *b = folds ? &folded : &fixed;
	*s = str_n(arena_text(e->a, b->buf, b->len), b->len);
	return 0;
}

/* yaml.v3 writes text that is not UTF-8 as "!!binary", returned as its plain form. */
static int write_text(struct emitter *e, struct str s, bool is_key, int indent)
{
	if (!e->pretty) {
		if (through_json(e, &s) < 0)
			return -E_INVALID;
	} else if (!utf8_valid(s)) {
		struct value v = json_go_plain(e->a, value_bytes(s));
		write_indicator(e, "!!binary", true, false, false);
		s = value_text(v);
		write_scalar(e, s, false, is_key, indent);
		return 0;
	}
	write_scalar(e, s, true, is_key, indent);
	return 0;
}

/* One that int64 or uint64 holds. */
static bool is_integer(double f)
{
	return f == floor(f) && f > -9223372036854775808.0 && f < 18446744073709551616.0;
}

static int write_float(struct emitter *e, double f, int indent)
{
	CLEANUP(strbuf_release) struct strbuf t = STRBUF_INIT(STRBUF_SMALL);
	if (!isfinite(f) && !e->pretty)
		return fail(e, "json: unsupported value");
	if (isnan(f))
		strbuf_adds(&t, ".nan");
	else if (isinf(f))
		strbuf_adds(&t, f > 0 ? ".inf" : "-.inf");
	else if (f == 0 && !e->pretty)
		strbuf_adds(&t, "0");
	else
		value_float_text(&t, f, !e->pretty && is_integer(f) ? 'f' : 'g', 64);
	write_scalar(e, strbuf_str(&t), false, false, indent);
	return 0;
}

static int write_simple(struct emitter *e, struct value v, int indent)
{
	CLEANUP(strbuf_release) struct strbuf t = STRBUF_INIT(STRBUF_SMALL);
	if (v.type == VALUE_FLOAT)
		return write_float(e, v.f, indent);
	if (v.type == VALUE_NIL)
		strbuf_adds(&t, "null");
	else if (v.type == VALUE_BOOL)
		strbuf_adds(&t, v.b ? "true" : "false");
	else if (v.type == VALUE_UINT64)
		strbuf_addf(&t, "%llu", (unsigned long long)v.u);
	else if (v.type == VALUE_TIME)
		value_time_rfc3339(&t, v);
	else if (v.type == VALUE_COMPLEX)
		return fail(e, "json: unsupported type: complex128");
	else
		strbuf_addf(&t, "%lld", (long long)v.i);
	write_scalar(e, strbuf_str(&t), false, false, indent);
	return 0;
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
	rune_at(a, i, &ra);
	rune_at(b, i, &rb);
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

/* NOLINTBEGIN(misc-no-recursion): enter() bounds the depth by EMIT_DEPTH_MAX; sort_keys() halves */
/* A stable merge: the order is not total, so the algorithm is part of the result. */
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

static void order_keys(const struct vmap_entry **keys, size_t n, bool pretty)
{
	CLEANUP(xfreep) const struct vmap_entry **tmp =
		xcalloc(n + 1, sizeof(const struct vmap_entry *));
	sort_keys(keys, tmp, n, pretty);
}

/* ---- maps and lists ---- */

static int write_value(struct emitter *e, struct value v, int indent, bool in_map);

static int enter(struct emitter *e)
{
	if (++e->depth <= EMIT_DEPTH_MAX)
		return 0;
	strbuf_addf(e->msg, "yaml: depth over %d", EMIT_DEPTH_MAX);
	return -E_LIMIT;
}

static int write_member(struct emitter *e, const struct vmap_entry *m, int indent)
{
	bool simple = m->key.len <= KEY_BYTES_MAX && !analyze(e, m->key).multiline;
	write_indent(e, indent);
	if (!simple)
		write_indicator(e, "?", true, false, true);
	if (write_text(e, m->key, simple, indent) < 0)
		return -E_INVALID;
	if (simple) {
		write_indicator(e, ":", false, false, false);
	} else {
		write_indent(e, indent);
		write_indicator(e, ":", true, false, true);
	}
	return write_value(e, m->value, indent, true);
}

static int write_map(struct emitter *e, const struct vmap *m, int indent)
{
	size_t n = vmap_count(m);
	if (!n) {
		write_indicator(e, "{}", true, false, false);
		return 0;
	}
	CLEANUP(xfreep) const struct vmap_entry **keys =
		xcalloc(n, sizeof(const struct vmap_entry *));
	for (size_t i = 0; i < n; i++)
		keys[i] = &m->entries[i];
	order_keys(keys, n, e->pretty);
	int inner = indent < 0 ? 0 : indent + INDENT;
	int rc = enter(e);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = write_member(e, keys[i], inner);
	e->depth--;
	return rc;
}

/* Fields of a struct keep their order (toYamlPretty only). */
static int write_struct(struct emitter *e, const struct vstruct *st, int indent)
{
	int inner = indent < 0 ? 0 : indent + INDENT;
	int rc = enter(e);
	for (size_t i = 0; rc == 0 && i < st->type->n_fields; i++) {
		CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(STRBUF_SMALL);
		const char *name = st->type->fields[i].name;
		if (char_is_lower(*name))
			continue;
		for (; *name; name++)
			strbuf_addc(&key, char_lower(*name));
		struct vmap_entry m = {.key = strbuf_str(&key), .value = st->fields[i]};
		rc = write_member(e, &m, inner);
	}
	e->depth--;
	return rc;
}

static int write_list(struct emitter *e, struct value v, int indent, bool in_map)
{
	if (!v.len) {
		write_indicator(e, "[]", true, false, false);
		return 0;
	}
	bool indentless = in_map && !e->indention && !e->pretty;
	int inner = indent < 0 ? 0 : indentless ? indent : indent + INDENT;
	int rc = enter(e);
	for (size_t i = 0; rc == 0 && i < v.len; i++) {
		write_indent(e, inner);
		write_indicator(e, "-", true, false, true);
		if (v.type == VALUE_BYTES)
			rc = write_simple(e, value_int((unsigned char)v.s[i]), inner);
		else /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): v.len > 0 */
			rc = write_value(e, v.items[i], inner, false);
	}
	e->depth--;
	return rc;
}

static int write_value(struct emitter *e, struct value v, int indent, bool in_map)
{
	if (!e->pretty)
		v = json_go_plain(e->a, v);
	if (v.type == VALUE_STRING)
		return write_text(e, value_text(v), false, indent);
	if (v.type == VALUE_SEMVER) {
		CLEANUP(strbuf_release) struct strbuf t = STRBUF_INIT(STRBUF_SMALL);
		value_semver_text(&t, v);
		return write_text(e, strbuf_str(&t), false, indent);
	}
	if (v.type == VALUE_PTR && !v.st)
		v = VALUE_NONE;
	if (v.type == VALUE_STRUCT || v.type == VALUE_PTR)
		return write_struct(e, v.st, indent);
	if (value_is_map(v))
		return v.map || e->pretty ? write_map(e, v.map, indent)
					  : write_simple(e, VALUE_NONE, indent);
	if (v.type == VALUE_BYTES || (value_is_list(v) && (v.items || e->pretty)))
		return write_list(e, v, indent, in_map);
	return write_simple(e, value_is_list(v) ? VALUE_NONE : v, indent);
}
/* NOLINTEND(misc-no-recursion) */

int yaml_emit(struct arena *a, struct value v, enum yaml_emit_style style, struct strbuf *b,
	      struct strbuf *msg)
{
	struct emitter e = {.a = a,
			    .b = b,
			    .msg = msg,
			    .pretty = style == YAML_EMIT_PRETTY,
			    .whitespace = true,
			    .indention = true};
	size_t start = b->len;
	int rc = write_value(&e, v, -1, false);
	if (rc == 0 && (b->len == start || b->buf[b->len - 1] != '\n'))
		strbuf_addc(b, '\n');
	return rc;
}
