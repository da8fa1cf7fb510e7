/* cel_lex.c: see cel_lex.h. */
#include "alm/obj/cel/cel_lex.h"

#include <string.h>

static struct cel_token bad(size_t at, const char *message)
{
	return (struct cel_token){.kind = TOKEN_BAD, .at = at, .text = str_of(message)};
}

static char peek(struct str text, size_t at)
{
	return at < text.len ? text.ptr[at] : '\0';
}

static size_t skip_blanks(struct str text, size_t at)
{
	while (at < text.len) {
		if (char_is_space(text.ptr[at])) {
			at++;
		} else if (text.ptr[at] == '/' && peek(text, at + 1) == '/') {
			while (at < text.len && text.ptr[at] != '\n')
				at++;
		} else {
			break;
		}
	}
	return at;
}

static bool parse_hex(struct str digits, uint64_t *ret)
{
	uint64_t v = 0;
	if (digits.len == 0 || digits.len > 16)
		return false;
	for (size_t i = 0; i < digits.len; i++) {
		char c = char_lower(digits.ptr[i]);
		if (!char_is_hex(c))
			return false;
		v = v * 16 + (uint64_t)(char_is_digit(c) ? c - '0' : c - 'a' + 10);
	}
	*ret = v;
	return true;
}

static struct cel_token integer(struct str digits, bool hex, bool is_unsigned, size_t at)
{
	struct cel_token t = {.kind = TOKEN_LITERAL, .at = at};
	uint64_t u = 0;
	bool ok = hex ? parse_hex(digits, &u) : str_parse_u64(digits, &u);
	/* 2^63 is the digits of the smallest int: the parser puts the sign to it */
	if (!ok || (!is_unsigned && u > (uint64_t)INT64_MAX + 1))
		return bad(at, "invalid int literal");
	t.value.kind = CEL_UINT;
	t.value.u = u;
	if (!is_unsigned) {
		t.value.kind = CEL_INT;
		t.value.i = (int64_t)u;
	}
	return t;
}

static struct cel_token number(struct str text, size_t *at, struct arena *a)
{
	size_t from = *at, end = from;
	bool is_double = false;
	if (peek(text, from) == '0' && char_lower(peek(text, from + 1)) == 'x') {
		end = from + 2;
		while (char_is_hex(peek(text, end)))
			end++;
		bool u = char_lower(peek(text, end)) == 'u';
		*at = end + u;
		return integer(str_sub(text, from + 2, end - from - 2), true, u, from);
	}
	while (char_is_digit(peek(text, end)))
		end++;
	if (peek(text, end) == '.' && char_is_digit(peek(text, end + 1))) {
		is_double = true;
		for (end++; char_is_digit(peek(text, end));)
			end++;
	}
	if (char_lower(peek(text, end)) == 'e') {
		size_t e = end + 1;
		if (peek(text, e) == '+' || peek(text, e) == '-')
			e++;
		if (char_is_digit(peek(text, e))) {
			is_double = true;
			for (end = e; char_is_digit(peek(text, end));)
				end++;
		}
	}
	struct str digits = str_sub(text, from, end - from);
	struct cel_token t = {.kind = TOKEN_LITERAL, .at = from, .value = {.kind = CEL_DOUBLE}};
	if (!is_double) {
		bool u = char_lower(peek(text, end)) == 'u';
		*at = end + u;
		return integer(digits, false, u, from);
	}
	*at = end;
	if (peek(digits, 0) == '.')
		digits = str_of(arena_fmt(a, "0%.*s", STR_ARG(digits)));
	if (!str_parse_double(digits, &t.value.d))
		return bad(from, "invalid double literal");
	return t;
}

/* 000 to 377, as in C. */
static bool octal_escape(struct str text, size_t *at, uint64_t *ret)
{
	uint64_t v = 0;
	for (size_t i = 0; i < 3; i++, (*at)++) {
		char o = peek(text, *at);
		if (o < '0' || o > (i ? '7' : '3'))
			return false;
		v = v * 8 + (uint64_t)(o - '0');
	}
	*ret = v;
	return true;
}

/* One escape after the backslash at *at; false if it is none. */
static bool escape(struct str text, size_t *at, bool bytes, struct strbuf *b)
{
	static const char names[] = "abfnrtv\\'\"`?", values[] = "\a\b\f\n\r\t\v\\'\"`?";
	char c = peek(text, *at);
	const char *found = c ? strchr(names, c) : NULL;
	if (found) {
		strbuf_addc(b, values[found - names]);
		(*at)++;
		return true;
	}
	size_t digits = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
	uint64_t v = 0;
	if (digits > 0) {
		if (!parse_hex(str_sub(text, *at + 1, digits), &v) || *at + digits >= text.len)
			return false;
		*at += digits + 1;
	} else if (!octal_escape(text, at, &v)) {
		return false;
	}
	if (v > 0x10FFFF || (v >= 0xD800 && v < 0xE000))
		return false;
	if (bytes)
		strbuf_addc(b, (char)(unsigned char)v);
	else
		strbuf_addrune(b, (unsigned)v);
	return true;
}

static struct cel_token string(struct str text, size_t *at, bool raw, bool bytes, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_MAX);
	size_t from = *at;
	char quote = peek(text, *at);
	bool triple = peek(text, *at + 1) == quote && peek(text, *at + 2) == quote;
	size_t width = triple ? 3 : 1;
	*at += width;
	while (*at < text.len) {
		char c = text.ptr[*at];
		if (c == quote &&
		    (!triple || (peek(text, *at + 1) == quote && peek(text, *at + 2) == quote))) {
			*at += width;
			struct cel_token t = {.kind = TOKEN_LITERAL, .at = from};
			t.value = cel_string(str_n(arena_memdup(a, b.buf, b.len + 1), b.len));
			t.value.kind = bytes ? CEL_BYTES : CEL_STRING;
			return t;
		}
		if (c == '\n' && !triple)
			break;
		(*at)++;
		if (c == '\\' && !raw) {
			if (!escape(text, at, bytes, &b))
				return bad(from, "invalid escape sequence");
		} else {
			strbuf_addc(&b, c);
		}
	}
	return bad(from, "unterminated string");
}

static bool is_ident(char c)
{
	return char_is_alnum(c) || c == '_';
}

static struct cel_token word(struct str text, size_t *at, struct arena *a)
{
	size_t from = *at, end = from;
	bool raw = false, bytes = false;
	for (size_t i = from; i < from + 2; i++) { /* r"", b"", rb"", br"" */
		char c = char_lower(peek(text, i));
		if (c == 'r' && !raw)
			raw = true;
		else if (c == 'b' && !bytes)
			bytes = true;
		else
			break;
		char next = peek(text, i + 1);
		if (next == '"' || next == '\'') {
			*at = i + 1;
			return string(text, at, raw, bytes, a);
		}
	}
	while (is_ident(peek(text, end)))
		end++;
	*at = end;
	struct cel_token t = {.kind = TOKEN_IDENT, .at = from};
	t.text = str_sub(text, from, end - from);
	return t;
}

struct cel_token cel_lex(struct str text, size_t *at, struct arena *a)
{
	static const char *const puncts[] = {"==", "!=", "<=", ">=", "&&", "||"};
	*at = skip_blanks(text, *at);
	size_t from = *at;
	char c = peek(text, from);
	if (from >= text.len)
		return (struct cel_token){.kind = TOKEN_END, .at = from, .text = STR("<EOF>")};
	if (char_is_digit(c) || (c == '.' && char_is_digit(peek(text, from + 1))))
		return number(text, at, a);
	if (char_is_alpha(c) || c == '_')
		return word(text, at, a);
	if (c == '"' || c == '\'')
		return string(text, at, false, false, a);
	struct cel_token t = {.kind = TOKEN_PUNCT, .at = from, .text = str_sub(text, from, 1)};
	for (size_t i = 0; i < ARRAY_LEN(puncts); i++)
		if (str_has_prefix(str_skip(text, from), str_of(puncts[i])))
			t.text = str_sub(text, from, 2);
	if (t.text.len == 1 && !strchr("<>+-*/%!?:.,()[]{}", c))
		return bad(from, "token recognition error");
	*at = from + t.text.len;
	return t;
}

void cel_report(const char *text, size_t at, const char *message, struct strbuf *b)
{
	size_t line = 1, start = 0, length = strlen(text);
	for (size_t i = 0; i < at && i < length; i++)
		if (text[i] == '\n') {
			line++;
			start = i + 1;
		}
	size_t end = start;
	while (end < length && text[end] != '\n')
		end++;
	if (length == 0) { /* there is nothing to show */
		strbuf_addf(b, "%sERROR: <input>:1:0: %s", b->len ? "\n" : "", message);
		return;
	}
	struct str before = str_n(text + start, at > start ? at - start : 0);
	size_t column = utf8_count(before);
	strbuf_addf(b, "%sERROR: <input>:%zu:%zu: %s\n | ", b->len ? "\n" : "", line, column + 1,
		    message);
	strbuf_add(b, text + start, end - start);
	strbuf_adds(b, "\n | ");
	strbuf_pad(b, '.', column);
	strbuf_addc(b, '^');
}

const char *cel_refusal(struct str text, const struct cel_token *t, size_t at, bool at_end,
			struct arena *a)
{
	static const char operands[] =
		"{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, "
		"NUM_UINT, STRING, BYTES, IDENTIFIER}";
	bool named = t->kind == TOKEN_PUNCT || t->kind == TOKEN_IDENT;
	struct str is = named ? t->text : str_trim(str_n(text.ptr + t->at, at - t->at));
	if (t->kind == TOKEN_END)
		return arena_fmt(a, "Syntax error: mismatched input '<EOF>' expecting %s",
				 operands);
	/* Would what follows do in its place? */
	struct cel_token next = cel_lex(text, &at, a);
	bool starts = next.kind != TOKEN_END && next.kind != TOKEN_BAD &&
		      (next.kind != TOKEN_PUNCT ||
		       (next.text.len == 1 && strchr("[{(.-!", *next.text.ptr)));
	bool extra = at_end ? next.kind == TOKEN_END : starts;
	return arena_fmt(a, "Syntax error: %s input '%.*s' expecting %s",
			 extra ? "extraneous" : "mismatched", STR_ARG(is),
			 at_end ? "<EOF>" : operands);
}
