/* print_scalar: numbers and texts under the verbs of Go's fmt. */
#include <string.h>

#include "installers/value/printer.h"
#include "installers/value/unicode.h"

/* A number with all the digits that a width or precision may ask for, and what is around them. */
#define NUMBER_MAX ((size_t)16 << 20)

/* ---- padding ---- */
static void write_padding(struct fmt_printer *p, int n)
{
	if (n > 0)
		strbuf_pad(p->b, p->zero && !p->minus ? '0' : ' ', (size_t)n);
}

void printer_pad(struct fmt_printer *p, struct str s)
{
	if (!p->has_width || p->width == 0) {
		strbuf_addstr(p->b, s);
		return;
	}
	int n = p->width - (int)utf8_count(s);
	if (!p->minus)
		write_padding(p, n);
	strbuf_addstr(p->b, s);
	if (p->minus)
		write_padding(p, n);
}

static void pad_spaces(struct fmt_printer *p, struct str s)
{
	bool zero = p->zero;
	p->zero = false;
	printer_pad(p, s);
	p->zero = zero;
}

static size_t digits_of(uint64_t u, unsigned base, bool upper, char *end)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char *q = end;
	do {
		*--q = digits[u % base];
		u /= base;
	} while (u);
	return (size_t)(end - q);
}

void printer_integer(struct fmt_printer *p, uint64_t u, unsigned base, bool is_signed,
		     uint32_t verb)
{
	bool negative = is_signed && (int64_t)u < 0;
	if (negative)
		u = -u;
	int prec = 0;
	if (p->has_prec) {
		prec = p->prec;
		if (prec == 0 && u == 0) {
			bool zero = p->zero;
			p->zero = false;
			write_padding(p, p->width);
			p->zero = zero;
			return;
		}
	} else if (p->zero && !p->minus && p->has_width) {
		prec = p->width - (negative || p->plus || p->space);
	}
	char tmp[72];
	size_t n = digits_of(u, base, verb == 'X', tmp + sizeof(tmp));
	const char *digits = tmp + sizeof(tmp) - n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(NUMBER_MAX);
	if (negative || p->plus || p->space)
		strbuf_addc(&b, negative ? '-' : p->plus ? '+' : ' ');
	if (verb == 'O')
		strbuf_adds(&b, "0o");
	if (p->sharp && base == 2)
		strbuf_adds(&b, "0b");
	if (p->sharp && base == 16)
		strbuf_adds(&b, verb == 'X' ? "0X" : "0x");
	bool padded = prec > 0 && (size_t)prec > n;
	if (p->sharp && base == 8 && digits[0] != '0' && !padded)
		strbuf_addc(&b, '0');
	if (padded)
		strbuf_pad(&b, '0', (size_t)prec - n);
	strbuf_add(&b, digits, n);
	pad_spaces(p, strbuf_str(&b));
}

static void fmt_unicode(struct fmt_printer *p, uint64_t u)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(NUMBER_MAX);
	char tmp[72];
	size_t n = digits_of(u, 16, true, tmp + sizeof(tmp));
	size_t prec = p->has_prec && p->prec > 4 ? (size_t)p->prec : 4;
	strbuf_adds(&b, "U+");
	for (size_t i = n; i < prec; i++)
		strbuf_addc(&b, '0');
	strbuf_add(&b, tmp + sizeof(tmp) - n, n);
	if (p->sharp && u <= 0x10FFFF && rune_is_print((uint32_t)u)) {
		strbuf_adds(&b, " '");
		strbuf_addrune(&b, (uint32_t)u);
		strbuf_addc(&b, '\'');
	}
	pad_spaces(p, strbuf_str(&b));
}

static bool print_integer(struct fmt_printer *p, struct value v, uint32_t verb)
{
	bool is_signed = v.type != VALUE_UINT8 && v.type != VALUE_UINT64;
	uint64_t u = v.u;
	uint32_t r = u > 0x10FFFF || (u >= 0xD800 && u <= 0xDFFF) ? RUNE_ERROR : (uint32_t)u;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(64);
	switch (verb) {
	case 'v':
	case 'd':
		if (verb == 'v' && p->sharp_v && !is_signed) {
			bool sharp = p->sharp;
			p->sharp = true;
			printer_integer(p, u, 16, false, 'v');
			p->sharp = sharp;
			return true;
		}
		printer_integer(p, u, 10, is_signed, verb);
		return true;
	case 'b':
		printer_integer(p, u, 2, is_signed, verb);
		return true;
	case 'o':
	case 'O':
		printer_integer(p, u, 8, is_signed, verb);
		return true;
	case 'x':
	case 'X':
		printer_integer(p, u, 16, is_signed, verb);
		return true;
	case 'c':
		strbuf_addrune(&b, r);
		printer_pad(p, strbuf_str(&b));
		return true;
	case 'q':
		quote_rune(&b, r, p->plus);
		printer_pad(p, strbuf_str(&b));
		return true;
	case 'U':
		fmt_unicode(p, u);
		return true;
	default:
		return false;
	}
}

/* The # flag: a decimal point always, and %g keeps its trailing zeros. */
static void sharpen(struct strbuf *num, uint32_t verb, int prec)
{
	int digits = verb == 'v' || verb == 'g' || verb == 'G' || verb == 'x' ? prec : 0;
	if (digits == -1)
		digits = 6;
	bool point = false, nonzero = false;
	size_t tail = num->len;
	for (size_t i = 1; i < num->len; i++) {
		char c = num->buf[i];
		bool exp = (c == 'e' || c == 'E') && verb != 'x' && verb != 'X';
		if (c == '.') {
			point = true;
		} else if (c == 'p' || c == 'P' || exp) {
			tail = i;
			break;
		} else {
			nonzero = nonzero || c != '0';
			digits -= nonzero;
		}
	}
	CLEANUP(strbuf_release) struct strbuf extra = STRBUF_INIT(NUMBER_MAX);
	if (!point) {
		if (tail == 2 && num->buf[1] == '0')
			digits--;
		strbuf_addc(&extra, '.');
	}
	if (digits > 0)
		strbuf_pad(&extra, '0', (size_t)digits);
	strbuf_insert(num, tail, strbuf_str(&extra));
}

static void fmt_float(struct fmt_printer *p, double f, char verb, int prec)
{
	if (p->has_prec)
		prec = p->prec;
	CLEANUP(strbuf_release) struct strbuf num = STRBUF_INIT(NUMBER_MAX);
	strbuf_addc(&num, '+');
	number_float(&num, f, verb, prec);
	if (num.buf[1] == '-' || num.buf[1] == '+')
		strbuf_remove(&num, 0, 1);
	if (p->space && num.buf[0] == '+' && !p->plus)
		num.buf[0] = ' ';
	if (num.buf[1] == 'I' || num.buf[1] == 'N') {
		struct str s = strbuf_str(&num);
		if (num.buf[1] == 'N' && !p->space && !p->plus)
			s = str_skip(s, 1);
		pad_spaces(p, s);
		return;
	}
	if (p->sharp && verb != 'b')
		sharpen(&num, (unsigned char)verb, prec);
	struct str s = strbuf_str(&num);
	if (p->plus || s.ptr[0] != '+') {
		if (p->zero && !p->minus && p->has_width && p->width > (int)s.len) {
			strbuf_addc(p->b, s.ptr[0]);
			write_padding(p, p->width - (int)s.len);
			strbuf_addstr(p->b, str_skip(s, 1));
			return;
		}
		printer_pad(p, s);
		return;
	}
	printer_pad(p, str_skip(s, 1));
}

static bool print_double(struct fmt_printer *p, double f, uint32_t verb)
{
	switch (verb) {
	case 'v':
		fmt_float(p, f, 'g', -1);
		return true;
	case 'b':
	case 'g':
	case 'G':
	case 'x':
	case 'X':
		fmt_float(p, f, (char)verb, -1);
		return true;
	case 'f':
	case 'e':
	case 'E':
		fmt_float(p, f, (char)verb, 6);
		return true;
	case 'F':
		fmt_float(p, f, 'f', 6);
		return true;
	default:
		return false;
	}
}

static bool print_complex(struct fmt_printer *p, struct value v, uint32_t verb)
{
	if (verb > 0x7F || verb == 0 || !strchr("vbgGxXfFeE", (int)verb))
		return false;
	bool plus = p->plus;
	strbuf_addc(p->b, '(');
	print_double(p, v.z[0], verb);
	p->plus = true;
	print_double(p, v.z[1], verb);
	strbuf_adds(p->b, "i)");
	p->plus = plus;
	return true;
}

/* ---- text ---- */
struct str printer_truncated(const struct fmt_printer *p, struct str s)
{
	if (!p->has_prec)
		return s;
	struct str rest = s;
	uint32_t r;
	for (int n = 0; rest.len > 0; n++) {
		if (n >= p->prec)
			return str_n(s.ptr, s.len - rest.len);
		rest = str_skip(rest, rune_next(rest, &r));
	}
	return s;
}

static void fmt_hex(struct fmt_printer *p, struct str s, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	const char *prefix = upper ? "0X" : "0x";
	size_t len = p->has_prec && (size_t)p->prec < s.len ? (size_t)p->prec : s.len;
	if (len == 0) {
		if (p->has_width)
			write_padding(p, p->width);
		return;
	}
	size_t width = 2 * len;
	if (p->space)
		width = (p->sharp ? 2 * width : width) + len - 1;
	else if (p->sharp)
		width += 2;
	int extra = p->has_width && (size_t)p->width > width ? p->width - (int)width : 0;
	if (!p->minus)
		write_padding(p, extra);
	if (p->sharp)
		strbuf_adds(p->b, prefix);
	for (size_t i = 0; i < len; i++) {
		if (p->space && i > 0) {
			strbuf_addc(p->b, ' ');
			if (p->sharp)
				strbuf_adds(p->b, prefix);
		}
		unsigned char c = (unsigned char)s.ptr[i];
		strbuf_addc(p->b, digits[c >> 4]);
		strbuf_addc(p->b, digits[c & 15]);
	}
	if (p->minus)
		write_padding(p, extra);
}

static void fmt_quoted(struct fmt_printer *p, struct str s)
{
	s = printer_truncated(p, s);
	CLEANUP(strbuf_release) struct strbuf q = STRBUF_INIT(p->b->limit);
	if (p->sharp && quote_can_backquote(s)) {
		strbuf_addc(&q, '`');
		strbuf_addstr(&q, s);
		strbuf_addc(&q, '`');
	} else {
		quote_str(&q, s, p->plus);
	}
	if (q.over)
		p->b->over = true;
	printer_pad(p, strbuf_str(&q));
}

bool printer_text(struct fmt_printer *p, struct str s, uint32_t verb)
{
	switch (verb) {
	case 'v':
		if (p->sharp_v) {
			fmt_quoted(p, s);
			return true;
		}
		printer_pad(p, printer_truncated(p, s));
		return true;
	case 's':
		printer_pad(p, printer_truncated(p, s));
		return true;
	case 'x':
	case 'X':
		fmt_hex(p, s, verb == 'X');
		return true;
	case 'q':
		fmt_quoted(p, s);
		return true;
	default:
		return false;
	}
}

bool printer_scalar(struct fmt_printer *p, struct value v, uint32_t verb)
{
	if (value_is_int(v))
		return print_integer(p, v, verb);
	if (v.type == VALUE_FLOAT)
		return print_double(p, v.f, verb);
	if (v.type == VALUE_COMPLEX)
		return print_complex(p, v, verb);
	if (v.type == VALUE_STRING)
		return printer_text(p, value_text(v), verb);
	if (v.type != VALUE_BOOL || (verb != 't' && verb != 'v'))
		return false;
	printer_pad(p, v.b ? STR("true") : STR("false"));
	return true;
}
