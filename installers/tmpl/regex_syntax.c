#include "installers/tmpl/regex_syntax.h"

#include <string.h>

#include "alm/base/error.h"
#include "installers/tmpl/unicode.h"

#define REPEAT_MAX 1000

/* What stands on top of the stack of the pattern read so far. */
struct group {
	int weight;    /* largest product of nested counts inside */
	bool has_item; /* something that can be repeated came last */
	int last;      /* its weight */
};

struct reader {
	struct str whole, s; /* s: what is left */
	regex_class_fn has_class;
	struct strbuf *out, *msg;
	struct regex_names *names;
	struct group groups[REGEX_DEPTH_MAX + 1];
	size_t depth;
	struct str last_repeat; /* from the start of the repeat before, if it came just before */
	int code;
};

/* ---- errors ---- */
static bool fail(struct reader *r, const char *what, struct str expr)
{
	if (r->code == 0) {
		r->code = -E_INVALID;
		strbuf_addf(r->msg, "error parsing regexp: %s: `", what);
		strbuf_addstr(r->msg, expr);
		strbuf_addc(r->msg, '`');
	}
	return false;
}

static bool fail_limit(struct reader *r, const char *what)
{
	if (r->code == 0) {
		r->code = -E_LIMIT;
		strbuf_adds(r->msg, what);
	}
	return false;
}

static struct str up_to(struct str from, struct str rest)
{
	return str_sub(from, 0, from.len - rest.len);
}

static bool next_rune(struct reader *r, struct str *s, uint32_t *ret)
{
	size_t n = rune_next(*s, ret);
	if (n == 1 && *ret == RUNE_ERROR)
		return fail(r, "invalid UTF-8", *s);
	*s = str_skip(*s, n);
	return true;
}

/* ---- items ---- */
static void item(struct reader *r, int weight)
{
	struct group *g = &r->groups[r->depth];
	g->has_item = true;
	g->last = weight;
	if (weight > g->weight)
		g->weight = weight;
}

static void add_rune(struct strbuf *b, uint32_t c)
{
	if (c < 0x80 && char_is_alnum((char)c))
		strbuf_addc(b, (char)c);
	else
		strbuf_addf(b, "\\x{%x}", c);
}

static void literal(struct reader *r, uint32_t c)
{
	add_rune(r->out, c);
	item(r, 1);
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

static bool bad_escape(struct reader *r, struct str from, struct str rest)
{
	return fail(r, "invalid escape sequence", up_to(from, rest));
}

/* After \x{. */
static bool braced_hex(struct reader *r, struct str from, struct str *t, uint32_t *ret)
{
	uint32_t c, value = 0;
	for (int digits = 0;; digits++) {
		if (t->len == 0)
			return bad_escape(r, from, *t);
		if (!next_rune(r, t, &c))
			return false;
		if (c == '}' && digits)
			break;
		if (unhex(c) < 0)
			return bad_escape(r, from, *t);
		value = value * 16 + (uint32_t)unhex(c);
		if (value > 0x10FFFF)
			return bad_escape(r, from, *t);
	}
	*ret = value;
	return true;
}

/* After \x. */
static bool hex_escape(struct reader *r, struct str from, struct str t, struct str *ret_rest,
		       uint32_t *ret)
{
	uint32_t c, value = 0;
	if (t.len == 0)
		return bad_escape(r, from, t);
	if (!next_rune(r, &t, &c))
		return false;
	if (c == '{') {
		if (!braced_hex(r, from, &t, &value))
			return false;
	} else {
		int hi = unhex(c);
		if (t.len == 0)
			return bad_escape(r, from, t);
		if (!next_rune(r, &t, &c))
			return false;
		if (hi < 0 || unhex(c) < 0)
			return bad_escape(r, from, t);
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
static bool read_escape(struct reader *r, struct str *s, uint32_t *ret)
{
	static const char names[] = "afnrtv", codes[] = "\a\f\n\r\t\v";
	struct str from = *s, t = str_skip(*s, 1);
	uint32_t c;
	if (t.len == 0)
		return fail(r, "trailing backslash at end of expression", STR(""));
	if (!next_rune(r, &t, &c))
		return false;
	const char *p = c && c < 0x80 ? strchr(names, (int)c) : NULL;
	if (c == 'x')
		return hex_escape(r, from, t, s, ret);
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
		return bad_escape(r, from, t);
	}
	*ret = c;
	*s = t;
	return true;
}

/* ---- classes ---- */
/* The ranges of \d \s \w and their opposites, for use inside brackets. */
static const char *perl_class(struct str s)
{
	if (s.len < 2 || s.ptr[0] != '\\')
		return NULL;
	switch (s.ptr[1]) {
	case 'd':
		return "0-9";
	case 'D':
		return "\\x{0}-\\x{2f}\\x{3a}-\\x{10ffff}";
	case 's':
		return "\\x{9}\\x{a}\\x{c}\\x{d}\\x{20}";
	case 'S':
		return "\\x{0}-\\x{8}\\x{b}\\x{e}-\\x{1f}\\x{21}-\\x{10ffff}";
	case 'w':
		return "0-9A-Za-z_";
	case 'W':
		return "\\x{0}-\\x{2f}\\x{3a}-\\x{40}\\x{5b}-\\x{5e}\\x{60}\\x{7b}-\\x{10ffff}";
	default:
		return NULL;
	}
}

static bool valid_name(struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		if (!char_is_alnum(name.ptr[i]) && name.ptr[i] != '_')
			return false;
	}
	return name.len > 0;
}

/* \pL, \p{Greek}, \P{^L}: *ret_none if there is none here. */
static bool unicode_class(struct reader *r, struct str *s, bool *ret_none)
{
	*ret_none = s->len < 2 || s->ptr[0] != '\\' || (s->ptr[1] != 'p' && s->ptr[1] != 'P');
	if (*ret_none)
		return true;
	bool negative = s->ptr[1] == 'P';
	struct str t = str_skip(*s, 2), name, seq;
	uint32_t c;
	if (t.len == 0)
		return fail(r, "invalid character class range", *s);
	if (!next_rune(r, &t, &c))
		return false;
	if (c != '{') {
		seq = up_to(*s, t);
		name = str_skip(seq, 2);
	} else {
		ptrdiff_t end = str_find_char(*s, '}');
		if (end < 0)
			return fail(r, "invalid character class range", *s);
		seq = str_sub(*s, 0, (size_t)end + 1);
		t = str_skip(*s, (size_t)end + 1);
		name = str_sub(*s, 3, (size_t)end - 3);
	}
	if (str_has_prefix(name, STR("^"))) {
		negative = !negative;
		name = str_skip(name, 1);
	}
	if (!valid_name(name) || !r->has_class(name))
		return fail(r, "invalid character class range", seq);
	strbuf_adds(r->out, negative ? "\\P{" : "\\p{");
	strbuf_addstr(r->out, name);
	strbuf_addc(r->out, '}');
	*s = t;
	return true;
}

/* [:alpha:] inside brackets. */
static bool posix_class(struct reader *r, struct str *s, bool *ret_none)
{
	static const char *const names[] = {"alnum", "alpha", "ascii", "blank", "cntrl",
					    "digit", "graph", "lower", "print", "punct",
					    "space", "upper", "word",  "xdigit"};
	*ret_none = true;
	if (s->len <= 2 || s->ptr[0] != '[' || s->ptr[1] != ':')
		return true;
	ptrdiff_t end = str_find(str_skip(*s, 2), STR(":]"));
	if (end < 0)
		return true;
	struct str text = str_sub(*s, 0, (size_t)end + 4), name = str_sub(*s, 2, (size_t)end);
	if (str_has_prefix(name, STR("^")))
		name = str_skip(name, 1);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!str_is(name, names[i]))
			continue;
		*ret_none = false;
		strbuf_addstr(r->out, text);
		*s = str_skip(*s, text.len);
		return true;
	}
	return fail(r, "invalid character class range", text);
}

static bool class_char(struct reader *r, struct str *s, struct str whole, uint32_t *ret)
{
	if (s->len == 0)
		return fail(r, "missing closing ]", whole);
	return s->ptr[0] == '\\' ? read_escape(r, s, ret) : next_rune(r, s, ret);
}

static bool class_range(struct reader *r, struct str *s, struct str whole)
{
	struct str from = *s;
	uint32_t lo = 0, hi;
	if (!class_char(r, s, whole, &lo))
		return false;
	hi = lo;
	if (s->len >= 2 && s->ptr[0] == '-' && s->ptr[1] != ']') {
		*s = str_skip(*s, 1);
		if (!class_char(r, s, whole, &hi))
			return false;
		if (hi < lo)
			return fail(r, "invalid character class range", up_to(from, *s));
	}
	strbuf_addf(r->out, "\\x{%x}", lo);
	if (hi != lo)
		strbuf_addf(r->out, "-\\x{%x}", hi);
	return true;
}

static bool read_class(struct reader *r)
{
	struct str whole = r->s, s = str_skip(r->s, 1);
	strbuf_addc(r->out, '[');
	if (str_has_prefix(s, STR("^"))) {
		strbuf_addc(r->out, '^');
		s = str_skip(s, 1);
	}
	for (bool first = true; first || !s.len || s.ptr[0] != ']'; first = false) {
		bool none;
		if (!posix_class(r, &s, &none))
			return false;
		if (none && !unicode_class(r, &s, &none))
			return false;
		if (!none)
			continue;
		const char *perl = perl_class(s);
		if (perl) {
			strbuf_adds(r->out, perl);
			s = str_skip(s, 2);
		} else if (!class_range(r, &s, whole)) {
			return false;
		}
	}
	strbuf_addc(r->out, ']');
	r->s = str_skip(s, 1);
	item(r, 1);
	return true;
}

/* ---- groups ---- */
static bool open_group(struct reader *r)
{
	if (r->depth >= REGEX_DEPTH_MAX)
		return fail_limit(r, "RenderLimit: a regular expression nests too deeply");
	r->groups[++r->depth] = (struct group){.weight = 1};
	return true;
}

static bool capture(struct reader *r, struct str name)
{
	struct regex_names *n = r->names;
	if (n->n >= REGEX_GROUPS_MAX)
		return fail_limit(r, "RenderLimit: a regular expression has too many groups");
	n->name[n->n++] = name;
	strbuf_addc(r->out, '(');
	return open_group(r);
}

static bool named_group(struct reader *r, size_t name_at)
{
	ptrdiff_t end = str_find_char(r->s, '>');
	if (end < 0) {
		if (!utf8_valid(r->s))
			return fail(r, "invalid UTF-8", r->s);
		return fail(r, "invalid named capture", r->s);
	}
	struct str text = str_sub(r->s, 0, (size_t)end + 1);
	struct str name = str_skip(str_sub(text, 0, text.len - 1), name_at);
	if (!utf8_valid(name))
		return fail(r, "invalid UTF-8", name);
	if (!valid_name(name))
		return fail(r, "invalid named capture", text);
	r->s = str_skip(r->s, text.len);
	return capture(r, name);
}

/* (?i) (?i-s:...) (?P<n>...) */
static bool perl_group(struct reader *r)
{
	struct str from = r->s, t = str_skip(r->s, 2);
	if (from.len > 4 && str_has_prefix(t, STR("P<")))
		return named_group(r, 4);
	if (from.len > 3 && t.ptr[0] == '<')
		return named_group(r, 3);
	bool minus = false, flag = false;
	uint32_t c = 0;
	while (t.len) {
		if (!next_rune(r, &t, &c))
			return false;
		if (c == 'i' || c == 'm' || c == 's' || c == 'U') {
			flag = true;
		} else if (c == '-' && !minus) {
			minus = true;
			flag = false;
		} else if ((c == ':' || c == ')') && (!minus || flag)) {
			struct str text = up_to(from, t);
			r->s = t;
			if (c == ':') {
				strbuf_addstr(r->out, text);
				return open_group(r);
			}
			if (!str_is(text, "(?)"))
				strbuf_addstr(r->out, text);
			return true;
		} else {
			break;
		}
	}
	return fail(r, "invalid or unsupported Perl syntax", up_to(from, t));
}

static bool close_group(struct reader *r)
{
	if (r->depth == 0)
		return fail(r, "unexpected )", r->whole);
	int weight = r->groups[r->depth].weight;
	r->depth--;
	strbuf_addc(r->out, ')');
	r->s = str_skip(r->s, 1);
	item(r, weight);
	return true;
}

/* ---- repeats ---- */
static bool read_int(struct str *s, int *ret)
{
	struct str t = *s;
	int n = 0;
	if (!t.len || !char_is_digit(t.ptr[0]))
		return false;
	if (t.len >= 2 && t.ptr[0] == '0' && char_is_digit(t.ptr[1]))
		return false;
	for (; t.len && char_is_digit(t.ptr[0]); t = str_skip(t, 1)) {
		if (n >= 0)
			n = n >= 100000000 ? -1 : n * 10 + (t.ptr[0] - '0');
	}
	*s = t;
	*ret = n;
	return true;
}

/* {n} {n,} {n,m}; false: the brace is a literal. */
static bool read_counts(struct str s, int *ret_min, int *ret_max, struct str *ret_rest)
{
	s = str_skip(s, 1);
	if (!read_int(&s, ret_min) || !s.len)
		return false;
	*ret_max = *ret_min;
	if (s.ptr[0] == ',') {
		s = str_skip(s, 1);
		if (!s.len)
			return false;
		if (s.ptr[0] == '}')
			*ret_max = -1;
		else if (!read_int(&s, ret_max))
			return false;
		else if (*ret_max < 0)
			*ret_min = -1;
	}
	if (!s.len || s.ptr[0] != '}')
		return false;
	*ret_rest = str_skip(s, 1);
	return true;
}

/* The repeat at from, its text without a following ?: emitted as op. */
static bool repeat(struct reader *r, struct str from, struct str after, int min, int max,
		   const char *op)
{
	struct group *g = &r->groups[r->depth];
	bool lazy = after.len && after.ptr[0] == '?';
	after = str_skip(after, lazy);
	if (r->last_repeat.ptr)
		return fail(r, "invalid nested repetition operator", up_to(r->last_repeat, after));
	if (!g->has_item)
		return fail(r, "missing argument to repetition operator", up_to(from, after));
	if (op[0] == '{') {
		int m = max < 0 ? min : max;
		int weight = max == 0 ? 1 : (m > 1 ? m : 1) * g->last;
		if ((min >= 2 || max >= 2) && weight > REPEAT_MAX)
			return fail(r, "invalid repeat count", up_to(from, after));
		item(r, weight);
	}
	strbuf_adds(r->out, op);
	if (lazy)
		strbuf_addc(r->out, '?');
	r->last_repeat = from;
	r->s = after;
	return true;
}

static bool read_repeat(struct reader *r)
{
	struct str from = r->s, after;
	char op[32] = {from.ptr[0], '\0'};
	int min, max;
	if (from.ptr[0] != '{')
		return repeat(r, from, str_skip(from, 1), 0, 0, op);
	if (!read_counts(from, &min, &max, &after)) {
		r->last_repeat = STR_NONE;
		r->s = str_skip(from, 1);
		literal(r, '{');
		return true;
	}
	if (min < 0 || min > REPEAT_MAX || max > REPEAT_MAX || (max >= 0 && min > max))
		return fail(r, "invalid repeat count", up_to(from, after));
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(64);
	if (max < 0)
		strbuf_addf(&b, "{%d,}", min);
	else
		strbuf_addf(&b, "{%d,%d}", min, max);
	return repeat(r, from, after, min, max, b.buf);
}

/* ---- the whole ---- */
static bool quoted_text(struct reader *r)
{
	struct str lit = str_skip(r->s, 2);
	ptrdiff_t end = str_find(lit, STR("\\E"));
	r->s = end < 0 ? STR("") : str_skip(lit, (size_t)end + 2);
	if (end >= 0)
		lit.len = (size_t)end;
	while (lit.len) {
		uint32_t c;
		if (!next_rune(r, &lit, &c))
			return false;
		literal(r, c);
	}
	return true;
}

static bool read_backslash(struct reader *r)
{
	char c = r->s.len > 1 ? r->s.ptr[1] : '\0';
	if (c == 'C')
		return fail(r, "invalid escape sequence", str_sub(r->s, 0, 2));
	if (c == 'Q')
		return quoted_text(r);
	if (c == 'A' || c == 'b' || c == 'B' || c == 'z') {
		strbuf_addf(r->out, "(?:\\%c)", c);
		item(r, 1);
		r->s = str_skip(r->s, 2);
		return true;
	}
	bool none;
	if (!unicode_class(r, &r->s, &none))
		return false;
	if (!none) {
		item(r, 1);
		return true;
	}
	const char *perl = perl_class(r->s);
	if (perl) {
		strbuf_addf(r->out, "[%s]", perl);
		item(r, 1);
		r->s = str_skip(r->s, 2);
		return true;
	}
	uint32_t rune = 0;
	if (!read_escape(r, &r->s, &rune))
		return false;
	literal(r, rune);
	return true;
}

static bool read_one(struct reader *r)
{
	uint32_t c;
	switch (r->s.ptr[0]) {
	case '(':
		if (r->s.len >= 2 && r->s.ptr[1] == '?')
			return perl_group(r);
		r->s = str_skip(r->s, 1);
		return capture(r, STR(""));
	case '|':
		strbuf_addc(r->out, '|');
		r->groups[r->depth].has_item = false;
		r->s = str_skip(r->s, 1);
		return true;
	case ')':
		return close_group(r);
	case '^':
	case '$':
		strbuf_addf(r->out, "(?:%c)", r->s.ptr[0]);
		item(r, 1);
		r->s = str_skip(r->s, 1);
		return true;
	case '.':
		strbuf_addc(r->out, '.');
		item(r, 1);
		r->s = str_skip(r->s, 1);
		return true;
	case '[':
		return read_class(r);
	case '\\':
		return read_backslash(r);
	default:
		if (!next_rune(r, &r->s, &c))
			return false;
		literal(r, c);
		return true;
	}
}

int regex_translate(struct arena *a, struct str pattern, regex_class_fn has_class,
		    struct strbuf *out, struct regex_names *ret_names, struct strbuf *msg)
{
	struct reader *r = ARENA_NEW(a, struct reader);
	*r = (struct reader){.whole = pattern,
			     .s = pattern,
			     .has_class = has_class,
			     .out = out,
			     .msg = msg,
			     .names = ret_names};
	if (pattern.len > REGEX_BYTES_MAX) {
		fail_limit(r, "RenderLimit: a regular expression is longer than 32768 bytes");
		return r->code;
	}
	ret_names->name = ARENA_ARRAY(a, struct str, REGEX_GROUPS_MAX);
	ret_names->n = 0;
	r->groups[0].weight = 1;
	while (r->s.len && r->code == 0) {
		char c = r->s.ptr[0];
		if (c == '*' || c == '+' || c == '?' || c == '{') {
			read_repeat(r);
			continue;
		}
		r->last_repeat = STR_NONE;
		read_one(r);
	}
	if (r->code == 0 && r->depth > 0)
		fail(r, "missing closing )", pattern);
	return r->code;
}
