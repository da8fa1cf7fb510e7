#include "alm/obj/regex/regex_chars.h"

#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/regex/regex_node.h"

bool regex_fail(struct regex_fault *f, const char *what, struct str expr)
{
	f->code = -E_INVALID;
	strbuf_addf(f->msg, "error parsing regexp: %s: `", what);
	strbuf_addstr(f->msg, expr);
	strbuf_addc(f->msg, '`');
	return false;
}

struct str regex_up_to(struct str from, struct str rest)
{
	return str_sub(from, 0, from.len - rest.len);
}

bool regex_next_rune(struct regex_fault *f, struct str *s, uint32_t *ret)
{
	size_t n = utf8_decode(*s, ret);
	if (n == 0)
		return regex_fail(f, "invalid UTF-8", *s);
	*s = str_skip(*s, n);
	return true;
}

/* ---- escapes ---- */
static int unhex(uint32_t c)
{
	if (c >= '0' && c <= '9')
		return (int)c - '0';
	if (c >= 'a' && c <= 'f')
		return (int)c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? (int)c - 'A' + 10 : -1;
}

static bool bad_escape(struct regex_fault *f, struct str from, struct str rest)
{
	return regex_fail(f, "invalid escape sequence", regex_up_to(from, rest));
}

/* After \x{. */
static bool braced_hex(struct regex_fault *f, struct str from, struct str *t, uint32_t *ret)
{
	uint32_t c, value = 0;
	for (int digits = 0;; digits++) {
		if (t->len == 0)
			return bad_escape(f, from, *t);
		if (!regex_next_rune(f, t, &c))
			return false;
		if (c == '}' && digits)
			break;
		if (unhex(c) < 0)
			return bad_escape(f, from, *t);
		value = value * 16 + (uint32_t)unhex(c);
		if (value > REGEX_RUNE_MAX)
			return bad_escape(f, from, *t);
	}
	*ret = value;
	return true;
}

/* After \x. */
static bool hex_escape(struct regex_fault *f, struct str from, struct str t, struct str *ret_rest,
		       uint32_t *ret)
{
	uint32_t c, value = 0;
	if (t.len == 0)
		return bad_escape(f, from, t);
	if (!regex_next_rune(f, &t, &c))
		return false;
	if (c == '{') {
		if (!braced_hex(f, from, &t, &value))
			return false;
	} else {
		int hi = unhex(c);
		if (t.len == 0)
			return bad_escape(f, from, t);
		if (!regex_next_rune(f, &t, &c))
			return false;
		if (hi < 0 || unhex(c) < 0)
			return bad_escape(f, from, t);
		value = (uint32_t)(hi * 16 + unhex(c));
	}
	*ret = value;
	*ret_rest = t;
	return true;
}

static bool is_octal(struct str t)
{
	return t.len && t.ptr[0] >= '0' && t.ptr[0] <= '7';
}

/* A single character after a backslash, at s. */
bool regex_read_escape(struct regex_fault *f, struct str *s, uint32_t *ret)
{
	static const char names[] = "afnrtv", codes[] = "\a\f\n\r\t\v";
	struct str from = *s, t = str_skip(*s, 1);
	uint32_t c;
	if (t.len == 0)
		return regex_fail(f, "trailing backslash at end of expression", STR(""));
	if (!regex_next_rune(f, &t, &c))
		return false;
	const char *p = c && c < 0x80 ? strchr(names, (int)c) : NULL;
	if (c == 'x')
		return hex_escape(f, from, t, s, ret);
	if (c == '0' || (c >= '1' && c <= '7' && is_octal(t))) {
		uint32_t v = c - '0';
		for (int i = 1; i < 3 && is_octal(t); i++) {
			v = v * 8 + (uint32_t)(t.ptr[0] - '0');
			t = str_skip(t, 1);
		}
		c = v;
	} else if (p) {
		c = (unsigned char)codes[p - names];
	} else if (c >= 0x80 || char_is_alnum((char)c)) {
		return bad_escape(f, from, t);
	}
	*ret = c;
	*s = t;
	return true;
}

/* ---- classes ---- */
/* Pairs of first and last characters, in order. */
static const struct named_class {
	const char *name, *pairs;
	bool with_nul; /* the first pair starts at U+0000 */
} named_classes[] = {
	{"d", "09", false},           {"s", "\t\n\f\r  ", false},
	{"w", "09AZ__az", false},     {"alnum", "09AZaz", false},
	{"alpha", "AZaz", false},     {"ascii", "\001\177", true},
	{"blank", "\t\t  ", false},   {"cntrl", "\001\037\177\177", true},
	{"digit", "09", false},       {"graph", "!~", false},
	{"lower", "az", false},       {"print", " ~", false},
	{"punct", "!/:@[`{~", false}, {"space", "\t\r  ", false},
	{"upper", "AZ", false},       {"word", "09AZ__az", false},
	{"xdigit", "09AFaf", false},
};

#define PERL_CLASSES 3 /* the first of them are \d, \s, \w */

/* \d \s \w and their opposites. */
bool regex_read_perl_class(struct regex_set *set, struct str *s)
{
	if (s->len < 2 || s->ptr[0] != '\\')
		return false;
	for (size_t i = 0; i < PERL_CLASSES; i++) {
		char name = named_classes[i].name[0];
		if (s->ptr[1] != name && s->ptr[1] != char_upper(name))
			continue;
		regex_set_add_named(set, named_classes[i].pairs, false, s->ptr[1] != name);
		*s = str_skip(*s, 2);
		return true;
	}
	return false;
}

static bool is_property_name(struct str name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!char_is_alnum(name.ptr[i]) && !memchr("_- ", name.ptr[i], 3))
			return false;
	return name.len > 0;
}

/* \pL, \p{Greek}, \P{^L}: *ret_none if there is none here. */
bool regex_read_unicode_class(struct regex_fault *f, struct regex_set *set, struct str *s,
			      bool *ret_none)
{
	*ret_none = s->len < 2 || s->ptr[0] != '\\' || (s->ptr[1] != 'p' && s->ptr[1] != 'P');
	if (*ret_none)
		return true;
	bool negative = s->ptr[1] == 'P';
	struct str t = str_skip(*s, 2), name, seq;
	uint32_t c;
	if (t.len == 0)
		return regex_fail(f, "invalid character class range", *s);
	if (!regex_next_rune(f, &t, &c))
		return false;
	if (c != '{') {
		seq = regex_up_to(*s, t);
		name = str_skip(seq, 2);
	} else {
		ptrdiff_t end = str_find_char(*s, '}');
		if (end < 0)
			return regex_fail(f, "invalid character class range", *s);
		seq = str_sub(*s, 0, (size_t)end + 1);
		t = str_skip(*s, (size_t)end + 1);
		name = str_sub(*s, 3, (size_t)end - 3);
	}
	if (str_has_prefix(name, STR("^"))) {
		negative = !negative;
		name = str_skip(name, 1);
	}
	if (!is_property_name(name) || !regex_set_add_property(set, name, negative))
		return regex_fail(f, "invalid character class range", seq);
	*s = t;
	return true;
}

/* [:alpha:] inside brackets. */
static bool posix_class(struct regex_fault *f, struct regex_set *set, struct str *s, bool *ret_none)
{
	*ret_none = true;
	if (s->len <= 2 || s->ptr[0] != '[' || s->ptr[1] != ':')
		return true;
	ptrdiff_t end = str_find(str_skip(*s, 2), STR(":]"));
	if (end < 0)
		return true;
	struct str text = str_sub(*s, 0, (size_t)end + 4), name = str_sub(*s, 2, (size_t)end);
	bool negated = str_has_prefix(name, STR("^"));
	name = str_skip(name, negated);
	for (size_t i = PERL_CLASSES; i < ARRAY_LEN(named_classes); i++) {
		const struct named_class *c = &named_classes[i];
		if (!str_is(name, c->name))
			continue;
		*ret_none = false;
		regex_set_add_named(set, c->pairs, c->with_nul, negated);
		*s = str_skip(*s, text.len);
		return true;
	}
	return regex_fail(f, "invalid character class range", text);
}

static bool class_char(struct regex_fault *f, struct str *s, struct str whole, uint32_t *ret)
{
	if (s->len == 0)
		return regex_fail(f, "missing closing ]", whole);
	return s->ptr[0] == '\\' ? regex_read_escape(f, s, ret) : regex_next_rune(f, s, ret);
}

static bool class_range(struct regex_fault *f, struct regex_set *set, struct str *s,
			struct str whole)
{
	struct str from = *s;
	uint32_t lo = 0, hi;
	if (!class_char(f, s, whole, &lo))
		return false;
	hi = lo;
	if (s->len >= 2 && s->ptr[0] == '-' && s->ptr[1] != ']') {
		*s = str_skip(*s, 1);
		if (!class_char(f, s, whole, &hi))
			return false;
		if (hi < lo)
			return regex_fail(f, "invalid character class range",
					  regex_up_to(from, *s));
	}
	regex_set_add(set, lo, hi);
	return true;
}

bool regex_read_set(struct regex_fault *f, struct regex_set *set, struct str *s, struct str whole)
{
	for (bool first = true; first || !s->len || s->ptr[0] != ']'; first = false) {
		bool none;
		if (!posix_class(f, set, s, &none))
			return false;
		if (none && !regex_read_unicode_class(f, set, s, &none))
			return false;
		if (none && !regex_read_perl_class(set, s) && !class_range(f, set, s, whole))
			return false;
	}
	return true;
}
