/* toml_string: texts of TOML, in one line or several. Each is first cut out and then judged, as the
 * library does, so that of two errors in one value the same one is reported. */
#include <string.h>

#include "installers/tmpl/fn/toml_read.h"
#include "installers/value/unicode.h"

static int cut_unicode(struct toml_reader *r, size_t start, char kind)
{
	static const struct {
		char kind;
		int digits;
		const char *word;
	} rows[] = {{'x', 2, "two"}, {'u', 4, "four"}, {'U', 8, "eight"}};
	size_t row = kind == 'x' ? 0 : kind == 'u' ? 1 : 2;
	for (int i = 0; i < rows[row].digits; i++) {
		uint32_t rune = 0;
		size_t width = rune_next(str_skip(r->s, r->at), &rune);
		if (toml_at_end(r) && r->bad)
			return toml_fail(r, "");
		r->line += toml_peek(r) == '\n';
		r->at += width;
		if (!width || rune > 0x7f || !char_is_hex((char)rune))
			return toml_fail(
				r, arena_fmt(r->a,
					     "expected %s hexadecimal digits after "
					     "'\\%c', but got %s instead",
					     rows[row].word, kind,
					     toml_quoted(r, str_sub(r->s, start, r->at - start))));
	}
	return 0;
}

/* Past a backslash. */
static int cut_escape(struct toml_reader *r, size_t start, bool multi)
{
	char c = toml_peek(r);
	if (multi && (c == '\n' || c == '\r'))
		return 0;
	if (c && strchr("ebtnfr\" \t\\", c)) {
		r->at++;
		return 0;
	}
	if (c == 'x' || c == 'u' || c == 'U') {
		r->at++;
		return cut_unicode(r, start, c);
	}
	if (toml_at_end(r)) {
		int rc = toml_fail_before(r, "invalid escape in string '\\");
		if (!r->bad) /* the end is told as a rune, 0 */
			strbuf_add(r->msg, "\0'", 2);
		return rc;
	}
	uint32_t rune;
	size_t width = rune_next(str_skip(r->s, r->at), &rune);
	r->line += c == '\n';
	return toml_fail(r, arena_fmt(r->a, "invalid escape in string '\\%.*s'",
				      STR_ARG(str_sub(r->s, r->at, width))));
}

static bool has_suffix(struct str s, const char *suffix)
{
	size_t n = strlen(suffix);
	return s.len >= n && memcmp(s.ptr + s.len - n, suffix, n) == 0;
}

/* At a quote of a text of several lines: 1 if it ends here, 0 if not. Up to two quotes may stand
 * before the end. */
static int cut_end(struct toml_reader *r, size_t start, const char *triple)
{
	if (!toml_take(r, triple)) {
		r->at++;
		return toml_at_end(r) && r->bad ? toml_fail(r, "") : 0;
	}
	struct str seen = str_sub(r->s, start, r->at - start);
	const char *five = *triple == '"' ? "\"\"\"\"\"" : "'''''";
	if (toml_at_end(r) && r->bad)
		return toml_fail(r, "");
	if (toml_peek(r) != *triple)
		return 1;
	if (has_suffix(seen, five) && !(*triple == '"' && has_suffix(seen, "\\\"\"\"\"\"")))
		return toml_fail(r, *triple == '"' ? "unexpected '\"\"\"\"\"\"'"
						   : "unexpected \"''''''\"");
	r->at -= 2;
	return 0;
}

static int fail_open(struct toml_reader *r, char quote, bool multi)
{
	const char *text = quote == '"' ? (multi ? "'\"\"\"'" : "'\"'")
			   : multi      ? "\"'''\""
					: "\"'\"";
	return toml_fail(r, arena_fmt(r->a, "unexpected EOF; expected %s", text));
}

/* What stands between the quotes. */
static int cut_string(struct toml_reader *r, char quote, bool multi, struct str *ret)
{
	const char triple[] = {quote, quote, quote, 0};
	size_t start = r->at;
	for (;;) {
		char c = toml_peek(r);
		if (toml_at_end(r))
			return fail_open(r, quote, multi);
		if (!multi && c == '\n')
			return toml_fail(r, "strings cannot contain newlines");
		if (!multi && c == '\r')
			return toml_fail_before(r, "strings cannot contain newlines");
		if (c == quote && !multi)
			break;
		if (c == quote) {
			int end = cut_end(r, start, triple);
			if (end < 0)
				return end;
			if (end)
				break;
			continue;
		}
		r->at++;
		r->line += c == '\n';
		if (c == '\\' && quote == '"' && cut_escape(r, start, multi) < 0)
			return -E_INVALID;
	}
	*ret = str_sub(r->s, start, r->at - start - (multi ? 3 : 0));
	r->at += !multi;
	return 0;
}

/* The white space after a backslash, if a line ends in it; else 0. */
static size_t line_end(struct str s)
{
	size_t n = 0;
	bool ends = false;
	for (; n < s.len && memchr(" \t\r\n", s.ptr[n], 4); n++)
		ends |= s.ptr[n] == '\n';
	return ends ? n : 0;
}

static int add_unicode(struct toml_reader *r, struct str digits, struct strbuf *b)
{
	uint32_t rune = 0;
	for (size_t i = 0; i < digits.len; i++) {
		char c = digits.ptr[i];
		rune = rune * 16 +
		       (uint32_t)(char_is_digit(c) ? c - '0' : char_lower(c) - 'a' + 10);
	}
	if (rune > 0x10ffff || (rune >= 0xd800 && rune < 0xe000))
		return toml_fail_in(r, r->line,
				    arena_fmt(r->a,
					      "Escaped character '\\u%.*s' is not valid UTF-8.",
					      STR_ARG(digits)));
	strbuf_addrune(b, rune);
	return 0;
}

static int unescape(struct toml_reader *r, struct str s, bool multi, struct strbuf *b)
{
	static const char from[] = "btnfre\"\\", to[] = "\b\t\n\f\r\x1b\"\\";
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] != '\\') {
			strbuf_addc(b, s.ptr[i]);
			continue;
		}
		size_t blank = multi ? line_end(str_skip(s, i + 1)) : 0;
		char c = i + 1 < s.len ? s.ptr[i + 1] : 0;
		const char *hit = c ? strchr(from, c) : NULL;
		size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
		if (blank) {
			i += blank;
		} else if (c == ' ' || c == '\t') {
			return toml_fail_in(r, r->line,
					    arena_fmt(r->a, "invalid escape: '\\%c'", c));
		} else if (hit) {
			strbuf_addc(b, to[hit - from]);
			i++;
		} else {
			if (add_unicode(r, str_sub(s, i + 2, digits), b) < 0)
				return -E_INVALID;
			i += 1 + digits;
		}
	}
	return 0;
}

int toml_read_string(struct toml_reader *r, bool is_key, struct str *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(r->s.len + 16);
	const char quote = toml_peek(r), triple[] = {quote, quote, quote, 0};
	bool multi = !is_key && toml_take(r, triple);
	r->at += !multi;
	if (cut_string(r, quote, multi, ret) < 0)
		return -E_INVALID;
	if (multi && str_has_prefix(*ret, STR("\r\n")))
		*ret = str_skip(*ret, 2);
	else if (multi && str_has_prefix(*ret, STR("\n")))
		*ret = str_skip(*ret, 1);
	if (quote == '\'' || str_find_char(*ret, '\\') < 0)
		return 0;
	if (unescape(r, *ret, multi, &b) < 0)
		return -E_INVALID;
	*ret = str_n(arena_text(r->a, b.buf, b.len), b.len);
	return 0;
}
