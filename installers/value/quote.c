/* quote: Go's string literals, written and read. */
#include <string.h>

#include "installers/value/print.h"
#include "installers/value/unicode.h"

static const char hex_digits[] = "0123456789abcdef";

static void add_escaped(struct strbuf *b, uint32_t r, size_t width, char raw, char quote,
			bool ascii)
{
	static const char names[] = "abfnrtv";
	static const char codes[] = "\a\b\f\n\r\t\v";
	if (width == 1 && r == RUNE_ERROR) {
		unsigned char c = (unsigned char)raw;
		strbuf_addf(b, "\\x%c%c", hex_digits[c >> 4], hex_digits[c & 15]);
		return;
	}
	if (r == (uint32_t)quote || r == '\\') {
		strbuf_addc(b, '\\');
		strbuf_addc(b, (char)r);
		return;
	}
	if (r < 0x80 ? rune_is_print(r) : !ascii && rune_is_print(r)) {
		strbuf_addrune(b, r);
		return;
	}
	const char *p = r && r < 0x80 ? strchr(codes, (int)r) : NULL;
	if (p) {
		strbuf_addc(b, '\\');
		strbuf_addc(b, names[p - codes]);
	} else if (r < ' ' || r == 0x7F) {
		strbuf_addf(b, "\\x%02x", r);
	} else if (r < 0x10000) {
		strbuf_addf(b, "\\u%04x", r);
	} else {
		strbuf_addf(b, "\\U%08x", r);
	}
}

void quote_str(struct strbuf *b, struct str s, bool ascii)
{
	strbuf_addc(b, '"');
	uint32_t r;
	for (size_t n; (n = rune_next(s, &r)) > 0; s = str_skip(s, n))
		add_escaped(b, r, n, s.ptr[0], '"', ascii);
	strbuf_addc(b, '"');
}

void quote_rune(struct strbuf *b, uint32_t r, bool ascii)
{
	if (r > 0x10FFFF || (r >= 0xD800 && r <= 0xDFFF))
		r = RUNE_ERROR;
	strbuf_addc(b, '\'');
	add_escaped(b, r, 2, 0, '\'', ascii);
	strbuf_addc(b, '\'');
}

void value_quote(struct strbuf *b, struct str s)
{
	quote_str(b, s, false);
}

bool quote_can_backquote(struct str s)
{
	uint32_t r;
	for (size_t n; (n = rune_next(s, &r)) > 0; s = str_skip(s, n)) {
		if (n > 1) {
			if (r == 0xFEFF)
				return false;
			continue;
		}
		if (r == RUNE_ERROR || (r < ' ' && r != '\t') || r == '`' || r == 0x7F)
			return false;
	}
	return true;
}

static int hex_value(char c)
{
	if (char_is_digit(c))
		return c - '0';
	return char_is_hex(c) ? char_lower(c) - 'a' + 10 : -1;
}

static size_t unquote_hex(struct str s, size_t n, uint32_t *ret)
{
	uint32_t v = 0;
	if (s.len < 2 + n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		int d = hex_value(s.ptr[2 + i]);
		if (d < 0)
			return 0;
		v = v << 4 | (uint32_t)d;
	}
	*ret = v;
	return 2 + n;
}

static size_t unquote_octal(struct str s, uint32_t *ret)
{
	uint32_t v = 0;
	if (s.len < 4)
		return 0;
	for (size_t i = 1; i < 4; i++) {
		if (s.ptr[i] < '0' || s.ptr[i] > '7')
			return 0;
		v = v << 3 | (uint32_t)(s.ptr[i] - '0');
	}
	*ret = v;
	return v > 255 ? 0 : 4;
}

size_t quote_unquote_char(struct str s, char quote, uint32_t *ret, bool *ret_byte)
{
	static const char names[] = "abfnrtv\\";
	static const char codes[] = "\a\b\f\n\r\t\v\\";
	*ret_byte = false;
	if (s.len == 0 || (s.ptr[0] == quote && (quote == '\'' || quote == '"')))
		return 0;
	if (s.ptr[0] != '\\')
		return rune_next(s, ret);
	if (s.len < 2)
		return 0;
	char c = s.ptr[1];
	const char *p = c ? strchr(names, c) : NULL;
	if (p) {
		*ret = (unsigned char)codes[p - names];
		return 2;
	}
	size_t n = 0;
	if (c == 'x' || (c >= '0' && c <= '7')) {
		*ret_byte = true;
		return c == 'x' ? unquote_hex(s, 2, ret) : unquote_octal(s, ret);
	}
	if (c == 'u' || c == 'U') {
		n = unquote_hex(s, c == 'u' ? 4 : 8, ret);
		return n && *ret <= 0x10FFFF && (*ret < 0xD800 || *ret > 0xDFFF) ? n : 0;
	}
	if ((c == '\'' || c == '"') && c == quote) {
		*ret = (unsigned char)c;
		return 2;
	}
	return 0;
}

bool quote_unquote(struct strbuf *b, struct str literal)
{
	if (literal.len < 2 || literal.ptr[0] != literal.ptr[literal.len - 1])
		return false;
	char quote = literal.ptr[0];
	struct str s = str_sub(literal, 1, literal.len - 2);
	if (quote == '`') {
		for (size_t i = 0; i < s.len; i++) {
			if (s.ptr[i] != '\r')
				strbuf_addc(b, s.ptr[i]);
		}
		return true;
	}
	while (s.len > 0) {
		uint32_t r;
		bool byte;
		if (s.ptr[0] == '\n')
			return false;
		size_t n = quote_unquote_char(s, quote, &r, &byte);
		if (n == 0)
			return false;
		if (byte)
			strbuf_addc(b, (char)r);
		else
			strbuf_addrune(b, r);
		s = str_skip(s, n);
	}
	return true;
}
