#include "alm/base/visible.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#define NUMBER_TEXT 24

bool visible_rune(uint32_t rune)
{
	/* Sorted: controls, and what is Default_Ignorable_Code_Point in Unicode but the variation
	 * selectors of emoji (U+FE00 to FE0F). */
	static const struct {
		uint32_t first, last;
	} hidden[] = {
		{0x0, 0x1F},        {0x7F, 0x9F},       {0xAD, 0xAD},     {0x61C, 0x61C},
		{0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180B, 0x180F}, {0x200B, 0x200F},
		{0x2028, 0x202E},   {0x2060, 0x206F},   {0x3164, 0x3164}, {0xFEFF, 0xFEFF},
		{0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},   {0xFFFE, 0xFFFF}, {0x1BCA0, 0x1BCA3},
		{0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
	};
	for (size_t i = 0; i < ARRAY_LEN(hidden) && hidden[i].first <= rune; i++)
		if (rune <= hidden[i].last)
			return false;
	return true;
}

static void escape(struct strbuf *b, uint32_t rune)
{
	if (rune == '\n' || rune == '\r' || rune == '\t')
		strbuf_adds(b, rune == '\n' ? "\\n" : rune == '\r' ? "\\r" : "\\t");
	else
		strbuf_addf(b, rune > 0xFFFF ? "\\U%08" PRIx32 : "\\u%04" PRIx32, rune);
}

static void add(struct strbuf *b, struct str s, bool lines)
{
	while (s.len) {
		size_t n = 0, used = 0;
		uint32_t rune = 0;
		while (n < s.len) {
			char c = s.ptr[n];
			if (c >= ' ' && c <= '~') { /* most of all text */
				n++;
				continue;
			}
			used = utf8_decode(str_skip(s, n), &rune);
			if (!used ||
			    (!visible_rune(rune) && !(lines && (rune == '\n' || rune == '\t'))))
				break;
			n += used;
		}
		strbuf_add(b, s.ptr, n);
		if (n == s.len)
			return;
		if (used)
			escape(b, rune);
		else
			strbuf_addf(b, "\\x%02x", (unsigned)(unsigned char)s.ptr[n]);
		s = str_skip(s, n + (used ? used : 1));
	}
}

void visible_add(struct strbuf *b, struct str s)
{
	add(b, s, false);
}

void visible_adds(struct strbuf *b, const char *s)
{
	add(b, str_of(s), false);
}

const char *visible_text(struct arena *a, const char *s)
{
	struct str rest = str_of(s);
	uint32_t rune;
	for (size_t n; rest.len; rest = str_skip(rest, n)) {
		n = utf8_decode(rest, &rune);
		if (n && visible_rune(rune))
			continue;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		visible_adds(&b, s);
		return arena_strndup(a, b.buf, b.len);
	}
	return s;
}

void visible_add_lines(struct strbuf *b, struct str s)
{
	add(b, s, true);
}

void visible_json_escape(struct strbuf *b, uint32_t rune)
{
	if (rune > 0xFFFF) { /* RFC 8259, 7 */
		strbuf_addf(b, "\\u%04" PRIx32, 0xD800 + ((rune - 0x10000) >> 10));
		rune = 0xDC00 + ((rune - 0x10000) & 0x3FF);
	}
	strbuf_addf(b, "\\u%04" PRIx32, rune);
}

/* --- formats --- */

struct spec {
	bool left, zero;
	int width, precision; /* -1: none */
	char length;          /* 0, 'l', 'L' for ll, 'z' */
	char conversion;
};

static void pad(struct strbuf *b, size_t from, const struct spec *s)
{
	size_t have = utf8_count(str_skip(strbuf_str(b), from));
	size_t want = s->width > 0 ? (size_t)s->width : 0;
	for (; have < want; have++)
		strbuf_insert(b, s->left ? b->len : from, s->zero ? STR("0") : STR(" "));
}

static void add_number(struct strbuf *b, const struct spec *s, va_list *args)
{
	char text[NUMBER_TEXT];
	size_t from = b->len;
	bool is_signed = s->conversion == 'd' || s->conversion == 'i';
	if (is_signed) {
		int64_t v = s->length == 'L'   ? va_arg(*args, long long)
			    : s->length == 'l' ? va_arg(*args, long)
			    : s->length == 'z' ? va_arg(*args, ssize_t)
					       : va_arg(*args, int);
		(void)snprintf(text, sizeof(text), "%" PRId64, v);
	} else {
		uint64_t v = s->length == 'L'   ? va_arg(*args, unsigned long long)
			     : s->length == 'l' ? va_arg(*args, unsigned long)
			     : s->length == 'z' ? va_arg(*args, size_t)
						: va_arg(*args, unsigned);
		(void)snprintf(text, sizeof(text), s->conversion == 'x' ? "%" PRIx64 : "%" PRIu64,
			       v);
	}
	strbuf_adds(b, text);
	pad(b, from, s);
}

static void add_text(struct strbuf *b, const struct spec *s, va_list *args)
{
	size_t from = b->len;
	if (s->conversion == 'c') {
		char c = (char)va_arg(*args, int);
		visible_add(b, str_n(&c, 1));
	} else {
		const char *text = va_arg(*args, const char *);
		if (s->precision >= 0 && text)
			visible_add(b, str_n(text, strnlen(text, (size_t)s->precision)));
		else
			visible_adds(b, text);
	}
	pad(b, from, s);
}

static int read_number(const char **at, va_list *args)
{
	int n = 0;
	if (**at == '*') {
		(*at)++;
		return va_arg(*args, int);
	}
	for (; char_is_digit(**at); (*at)++)
		n = n * 10 + (**at - '0');
	return n;
}

/* at stands behind the %; returns where the conversion ends. */
static const char *read_spec(const char *at, va_list *args, struct spec *ret)
{
	*ret = (struct spec){.precision = -1};
	for (; *at == '-' || *at == '0'; at++) {
		ret->left |= *at == '-';
		ret->zero |= *at == '0';
	}
	ret->width = read_number(&at, args);
	if (*at == '.') {
		at++;
		ret->precision = read_number(&at, args);
	}
	if (at[0] == 'l' && at[1] == 'l')
		ret->length = 'L';
	else if (*at == 'l' || *at == 'z')
		ret->length = *at;
	at += ret->length == 'L' ? 2 : ret->length ? 1 : 0;
	ret->conversion = *at;
	return at + 1;
}

void visible_vaddf(struct strbuf *b, const char *fmt, va_list args)
{
	va_list own;
	struct spec s;
	va_copy(own, args);
	for (const char *at = fmt; *at;) {
		size_t n = strcspn(at, "%");
		strbuf_add(b, at, n);
		at += n;
		if (!*at)
			break;
		if (at[1] == '%') {
			strbuf_addc(b, '%');
			at += 2;
			continue;
		}
		at = read_spec(at + 1, &own, &s);
		if (s.conversion == 's' || s.conversion == 'c')
			add_text(b, &s, &own);
		else {
			assert(s.conversion && strchr("diux", s.conversion));
			add_number(b, &s, &own);
		}
	}
	va_end(own);
}

void visible_addf(struct strbuf *b, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	visible_vaddf(b, fmt, args);
	va_end(args);
}

void visible_add_shell_json(struct strbuf *b, const char *json)
{
	struct str rest = str_of(json);
	while (rest.len) {
		uint32_t rune;
		size_t n = utf8_decode(rest, &rune);
		if (rune == '\'' || rune == '#' || rune > 0x7e)
			visible_json_escape(b, rune);
		else
			strbuf_addc(b, (char)rune);
		rest = str_n(rest.ptr + n, rest.len - n);
	}
}
