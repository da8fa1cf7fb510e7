/* pattern.c: RE2 text -> PCRE2 text, refusing what RE2 does not know, and a bounded match. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "alm/obj/pattern.h"

#include <pcre2.h>
#include <string.h>

#include "alm/base/mem.h"
#include "alm/base/strbuf.h"

#define STEPS_MAX    1000000U
#define HEAP_KIB_MAX (16U << 10)
#define GROUPS_MAX   200

struct pattern {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *limits;
};

struct reader {
	struct str text;
	size_t at;
	struct strbuf *out;
	struct error *err;
	int depth;
	bool repeatable; /* something stands before that a * may repeat */
};

static int refuse(struct reader *r, const char *what, size_t from, size_t to)
{
	struct str part = str_sub(r->text, from, to > from ? to - from : r->text.len);
	return error_set(r->err, E_INVALID, "error parsing regexp: %s: `%.*s`", what,
			 STR_ARG(part));
}

static char peek(const struct reader *r, size_t ahead)
{
	return r->at + ahead < r->text.len ? r->text.ptr[r->at + ahead] : '\0';
}

static void copy(struct reader *r, size_t n)
{
	strbuf_addstr(r->out, str_sub(r->text, r->at, n));
	r->at += n;
}

static bool char_is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* \pL and \p{Greek}: the same in both. */
static int read_property(struct reader *r, size_t from)
{
	size_t n = 3;
	if (peek(r, 2) == '{') {
		ptrdiff_t end = str_find_char(str_skip(r->text, r->at), '}');
		if (end < 0)
			return refuse(r, "invalid character class range", from, 0);
		n = (size_t)end + 1;
	}
	if (r->at + n > r->text.len)
		return refuse(r, "invalid character class range", from, 0);
	copy(r, n);
	return 0;
}

static int read_hex(struct reader *r, size_t from)
{
	size_t n = 4;
	if (peek(r, 2) == '{') {
		ptrdiff_t end = str_find_char(str_skip(r->text, r->at), '}');
		if (end < 0)
			return refuse(r, "invalid escape sequence", from, 0);
		n = (size_t)end + 1;
	} else if (!char_is_hex(peek(r, 2)) || !char_is_hex(peek(r, 3))) {
		return refuse(r, "invalid escape sequence", from, from + 3);
	}
	copy(r, n);
	return 0;
}

/* Go's \s is [\t\n\f\r ]; PCRE2 counts \v as well. */
static void add_space_class(struct reader *r, bool negated, bool in_class)
{
	if (in_class && negated)
		strbuf_adds(r->out, "\\S");
	else if (in_class)
		strbuf_adds(r->out, "\\t\\n\\f\\r ");
	else
		strbuf_adds(r->out, negated ? "[^\\t\\n\\f\\r ]" : "[\\t\\n\\f\\r ]");
	r->at += 2;
}

static int read_quoted(struct reader *r)
{
	ptrdiff_t end = str_find(str_skip(r->text, r->at), STR("\\E"));
	size_t n = end < 0 ? r->text.len - r->at : (size_t)end + 2;
	copy(r, n);
	if (end < 0)
		strbuf_adds(r->out, "\\E");
	return 0;
}

static int read_escape(struct reader *r, bool in_class)
{
	size_t from = r->at;
	char c = peek(r, 1);
	if (r->at + 1 >= r->text.len)
		return error_set(
			r->err, E_INVALID,
			"error parsing regexp: trailing backslash at end of expression: ``");
	if (c == 's' || c == 'S') {
		add_space_class(r, c == 'S', in_class);
		return 0;
	}
	if (c == 'p' || c == 'P')
		return read_property(r, from);
	if (c == 'x')
		return read_hex(r, from);
	if (c == 'Q' && !in_class)
		return read_quoted(r);
	if (char_is_octal(c) && (c == '0' || char_is_octal(peek(r, 2)))) {
		size_t n = 2;
		while (n < 4 && char_is_octal(peek(r, n)))
			n++;
		strbuf_addf(r->out, "\\o{%.*s}", (int)(n - 1), r->text.ptr + r->at + 1);
		r->at += n;
		return 0;
	}
	bool known = strchr(in_class ? "aftnrvdDwW" : "aftnrvdDwWbBAz", c) != NULL;
	if (!known && (char_is_alnum(c) || (unsigned char)c >= 0x80))
		return refuse(r, "invalid escape sequence", from, from + 2);
	if (c == 'v') { /* in PCRE2 a class of vertical blanks */
		strbuf_adds(r->out, "\\x0B");
		r->at += 2;
	} else {
		copy(r, 2);
	}
	r->repeatable = !strchr("bBAz", c) || r->repeatable;
	return 0;
}

static int read_class(struct reader *r)
{
	size_t from = r->at;
	copy(r, 1);
	if (peek(r, 0) == '^')
		copy(r, 1);
	bool first = true;
	while (r->at < r->text.len && (first || peek(r, 0) != ']')) {
		first = false;
		if (peek(r, 0) == '\\') {
			if (read_escape(r, true) < 0)
				return r->err->code ? -r->err->code : -E_INVALID;
		} else if (peek(r, 0) == '[' && peek(r, 1) == ':') {
			ptrdiff_t end = str_find(str_skip(r->text, r->at), STR(":]"));
			copy(r, end < 0 ? 1 : (size_t)end + 2);
		} else if (peek(r, 0) == '[') {
			strbuf_adds(r->out, "\\[");
			r->at++;
		} else {
			copy(r, 1);
		}
	}
	if (r->at >= r->text.len)
		return refuse(r, "missing closing ]", from, 0);
	copy(r, 1);
	r->repeatable = true;
	return 0;
}

/* (?: (?P<n> (?<n> (?flags) (?flags: and nothing else that starts with (? or (*. */
static int read_group(struct reader *r)
{
	size_t from = r->at;
	if (++r->depth > GROUPS_MAX)
		return refuse(r, "expression nests too deeply", from, 0);
	r->repeatable = false;
	if (peek(r, 1) == '*')
		return refuse(r, "missing argument to repetition operator", from + 1, from + 2);
	if (peek(r, 1) != '?') {
		copy(r, 1);
		return 0;
	}
	size_t n = 2;
	if (peek(r, 2) == 'P' || (peek(r, 2) == '<' && peek(r, 3) != '=' && peek(r, 3) != '!')) {
		n = peek(r, 2) == 'P' ? 4 : 3;
		ptrdiff_t end = str_find_char(str_skip(r->text, r->at), '>');
		if (peek(r, n - 1) != '<' || end < 0)
			return refuse(r, "invalid named capture", from, 0);
		copy(r, (size_t)end + 1);
		return 0;
	}
	while (peek(r, n) && strchr("imsU-", peek(r, n)))
		n++;
	if (peek(r, n) != ':' && peek(r, n) != ')')
		return refuse(r, "invalid or unsupported Perl syntax", from, from + n + 1);
	if (peek(r, n) == ')')
		r->depth--;
	copy(r, n + 1);
	return 0;
}

/* {n}, {n,}, {n,m}: length of the repeat, or 0 if the brace is a literal. */
static size_t repeat_length(const struct reader *r, uint64_t *ret_max)
{
	size_t n = 1, digits = 0;
	uint64_t low = 0, high = 0;
	for (; char_is_digit(peek(r, n)) && digits < 9; n++, digits++)
		low = low * 10 + (uint64_t)(peek(r, n) - '0');
	if (digits == 0)
		return 0;
	if (peek(r, n) == ',')
		for (n++, digits = 0; char_is_digit(peek(r, n)) && digits < 9; n++, digits++)
			high = high * 10 + (uint64_t)(peek(r, n) - '0');
	if (peek(r, n) != '}')
		return 0;
	*ret_max = low > high ? low : high;
	return n + 1;
}

static int read_repeat(struct reader *r)
{
	size_t from = r->at, n = 1;
	uint64_t max = 0;
	if (peek(r, 0) == '{') {
		n = repeat_length(r, &max);
		if (n == 0) {
			strbuf_adds(r->out, "\\{");
			r->at++;
			r->repeatable = true;
			return 0;
		}
		if (max > PATTERN_REPEAT_MAX)
			return refuse(r, "invalid repeat count", from, from + n);
	}
	if (!r->repeatable)
		return refuse(r, "missing argument to repetition operator", from, from + n);
	copy(r, n);
	if (peek(r, 0) == '?')
		copy(r, 1);
	char next = peek(r, 0);
	uint64_t ignored;
	if (next == '*' || next == '+' || next == '?' ||
	    (next == '{' && repeat_length(r, &ignored) > 0))
		return refuse(r, "invalid nested repetition operator", from, r->at + 1);
	return 0;
}

static int read_one(struct reader *r)
{
	switch (peek(r, 0)) {
	case '\\':
		r->repeatable = true;
		return read_escape(r, false);
	case '[':
		return read_class(r);
	case '(':
		return read_group(r);
	case ')':
		if (--r->depth < 0)
			return refuse(r, "unexpected )", 0, 0);
		copy(r, 1);
		r->repeatable = true;
		return 0;
	case '*':
	case '+':
	case '?':
	case '{':
		return read_repeat(r);
	case '|':
		copy(r, 1);
		r->repeatable = false;
		return 0;
	case '\0':
		strbuf_adds(r->out, "\\x00");
		r->at++;
		r->repeatable = true;
		return 0;
	default:
		copy(r, 1);
		r->repeatable = true;
		return 0;
	}
}

static int translate(struct str text, struct strbuf *out, struct error *err)
{
	struct reader r = {.text = text, .out = out, .err = err};
	while (r.at < text.len) {
		int rc = read_one(&r);
		if (rc < 0)
			return rc;
	}
	if (r.depth > 0)
		return refuse(&r, "missing closing )", 0, 0);
	return strbuf_check(out, "regular expression", err);
}

int pattern_new(struct str text, struct pattern **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4 * PATTERN_BYTES_MAX);
	if (text.len > PATTERN_BYTES_MAX)
		return error_set(err, E_INVALID, "error parsing regexp: expression too large");
	if (!utf8_valid(text))
		return error_set(err, E_INVALID, "error parsing regexp: invalid UTF-8");
	int rc = translate(text, &b, err);
	if (rc < 0)
		return rc;
	int code = 0;
	PCRE2_SIZE at = 0;
	const uint32_t options =
		PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_AUTO_CAPTURE;
	pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)b.buf, b.len, options, &code, &at, NULL);
	if (!compiled) {
		PCRE2_UCHAR message[128] = "";
		pcre2_get_error_message(code, message, sizeof(message));
		return error_set(err, E_INVALID, "error parsing regexp: %s: `%.*s`",
				 (const char *)message, STR_ARG(text));
	}
	struct pattern *p = xcalloc(1, sizeof(*p));
	p->code = compiled;
	p->data = pcre2_match_data_create(1, NULL);
	p->limits = pcre2_match_context_create(NULL);
	pcre2_set_match_limit(p->limits, STEPS_MAX);
	pcre2_set_heap_limit(p->limits, HEAP_KIB_MAX);
	*ret = p;
	return 0;
}

void pattern_free(struct pattern *p)
{
	if (!p)
		return;
	pcre2_match_context_free(p->limits);
	pcre2_match_data_free(p->data);
	pcre2_code_free(p->code);
	xfree(p);
}

enum pattern_result pattern_match(const struct pattern *p, struct str subject)
{
	const char *text = subject.ptr ? subject.ptr : "";
	int rc = pcre2_match(p->code, (PCRE2_SPTR)text, subject.len, 0, 0, p->data, p->limits);
	if (rc >= 0)
		return PATTERN_YES;
	return rc == PCRE2_ERROR_NOMATCH ? PATTERN_NO : PATTERN_LIMIT;
}
