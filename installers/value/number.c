/* number: floats as text, shortest or with a precision, as Go's strconv writes them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "installers/value/print.h"

#define INTEGER_BELOW      1e15
#define INTEGER_DIGITS_MAX 20

/* "d.ddde-XX" of snprintf -> digits without trailing zeros, decimal point position. */
static int take_digits(const char *text, char digits[24], int *ret_exp)
{
	int n = 0;
	const char *p = text;
	for (; *p && *p != 'e'; p++) {
		if (*p != '.' && n < 23)
			digits[n++] = *p;
	}
	while (n > 1 && digits[n - 1] == '0')
		n--;
	digits[n] = '\0';
	int64_t exp = 0;
	struct str tail = str_of(*p ? p + 1 : "0");
	if (!str_parse_i64(tail, &exp))
		exp = 0;
	*ret_exp = (int)exp + 1;
	return n;
}

static bool reads_back(const char *text, double f, int bits)
{
	double back = 0;
	if (!str_parse_double(str_of(text), &back))
		return false;
	return bits == 32 ? (float)back == (float)f : back == f;
}

static int shortest(double f, int bits, char digits[24], int *ret_exp)
{
	/* Up to 15 digits every decimal survives a normal double, so 15 finds all shorter ones. */
	int first = bits == 64 && f >= 2.3e-308 ? 15 : 1;
	int last = bits == 64 ? 17 : 9;
	char text[40];
	for (int n = first; n <= last; n++) {
		snprintf(text, sizeof(text), "%.*e", n - 1, f);
		if (n == last || reads_back(text, f, bits))
			break;
	}
	return take_digits(text, digits, ret_exp);
}

int number_shortest(double f, char digits[24], int *ret_exp)
{
	return shortest(f, 64, digits, ret_exp);
}

static void add_exponent(struct strbuf *b, int exp, char e)
{
	strbuf_addf(b, "%c%c%02d", e, exp < 0 ? '-' : '+', exp < 0 ? -exp : exp);
}

static void add_scientific(struct strbuf *b, const char *digits, int n, int exp, char e)
{
	strbuf_addc(b, digits[0]);
	if (n > 1) {
		strbuf_addc(b, '.');
		strbuf_add(b, digits + 1, (size_t)n - 1);
	}
	add_exponent(b, exp - 1, e);
}

static void add_plain(struct strbuf *b, const char *digits, int n, int exp)
{
	if (exp <= 0) {
		strbuf_adds(b, "0.");
		strbuf_pad(b, '0', (size_t)-exp);
		strbuf_add(b, digits, (size_t)n);
		return;
	}
	if (n <= exp) {
		strbuf_add(b, digits, (size_t)n);
		strbuf_pad(b, '0', (size_t)(exp - n));
		return;
	}
	strbuf_add(b, digits, (size_t)exp);
	strbuf_addc(b, '.');
	strbuf_add(b, digits + exp, (size_t)(n - exp));
}

/* Infinities and NaN; true if it was one. */
static bool add_special(struct strbuf *b, double f)
{
	if (isnan(f)) {
		strbuf_adds(b, "NaN");
		return true;
	}
	if (isinf(f)) {
		strbuf_adds(b, f < 0 ? "-Inf" : "+Inf");
		return true;
	}
	return false;
}

/* An integer that a double holds exactly: its digits are the shortest text. */
static void add_integer(struct strbuf *b, double f)
{
	char text[INTEGER_DIGITS_MAX];
	size_t n = sizeof(text);
	uint64_t u = (uint64_t)f;
	do {
		text[--n] = (char)('0' + u % 10);
		u /= 10;
	} while (u);
	strbuf_add(b, text + n, sizeof(text) - n);
}

/* Half a step beyond the largest float and what is nearer to infinity. */
#define FLOAT_OVER 0x1.ffffffp+127

/* Go rounds before it looks for digits: 1e39 is +Inf, 1e-46 is 0. */
static double rounded(double f, int bits)
{
	if (bits == 64 || isnan(f))
		return f;
	return fabs(f) >= FLOAT_OVER ? copysign(INFINITY, f) : (double)(float)f;
}

void value_float_text(struct strbuf *b, double f, char fmt, int bits)
{
	f = rounded(f, bits);
	if (add_special(b, f))
		return;
	if (signbit(f)) {
		strbuf_addc(b, '-');
		f = -f;
	}
	bool either = fmt == 'g' || fmt == 'G';
	if (bits == 64 && f < (fmt == 'f' ? INTEGER_BELOW : either ? 1e6 : 0) && f == floor(f)) {
		add_integer(b, f);
		return;
	}
	char digits[24] = "0";
	int exp = 1, n = 1;
	if (f != 0)
		n = shortest(f, bits, digits, &exp);
	if (fmt == 'f' || (either && exp - 1 >= -4 && exp - 1 < 6))
		add_plain(b, digits, n, exp);
	else
		add_scientific(b, digits, n, exp, fmt == 'G' || fmt == 'E' ? 'E' : 'e');
}

void value_float_json(struct strbuf *b, double f)
{
	double abs = fabs(f);
	if (abs == 0 || (abs >= 1e-6 && abs < 1e21)) {
		value_float_text(b, f, 'f', 64);
		return;
	}
	size_t from = b->len;
	value_float_text(b, f, 'e', 64);
	/* e-09 is written e-9 */
	size_t n = b->len;
	if (n - from >= 4 && b->buf[n - 4] == 'e' && b->buf[n - 3] == '-' && b->buf[n - 2] == '0')
		strbuf_remove(b, n - 2, 1);
}

/* %b: mantissa p exponent; %x: hexadecimal with a normalised mantissa. */
static void add_binary(struct strbuf *b, double f)
{
	if (signbit(f))
		strbuf_addc(b, '-');
	int exp = 0;
	double m = frexp(fabs(f), &exp);
	uint64_t mant = (uint64_t)ldexp(m, 53);
	if (f == 0)
		exp = -1021;
	else if (exp < -1021) {
		mant >>= (unsigned)(-1021 - exp);
		exp = -1021;
	}
	strbuf_addf(b, "%llup%+d", (unsigned long long)mant, exp - 53);
}

static void add_hex(struct strbuf *b, double f, char fmt, int prec)
{
	int exp = 0;
	double m = frexp(fabs(f), &exp) * 2; /* 1 <= m < 2, or 0 */
	exp = f == 0 ? 0 : exp - 1;
	char text[64];
	if (prec < 0)
		snprintf(text, sizeof(text), "%a", m);
	else
		snprintf(text, sizeof(text), "%.*a", prec > 40 ? 40 : prec, m);
	char *p = strchr(text, 'p');
	if (p) {
		if (text[2] == '2') { /* rounded up */
			text[2] = '1';
			exp++;
		}
		*p = '\0';
	}
	if (signbit(f))
		strbuf_addc(b, '-');
	size_t from = b->len;
	strbuf_adds(b, text);
	strbuf_addf(b, "p%c%02d", exp < 0 ? '-' : '+', exp < 0 ? -exp : exp);
	for (size_t i = from; fmt == 'X' && i < b->len; i++)
		b->buf[i] = char_upper(b->buf[i]);
}

void number_float(struct strbuf *b, double f, char fmt, int prec)
{
	if (add_special(b, f))
		return;
	if (fmt == 'b') {
		add_binary(b, f);
	} else if (fmt == 'x' || fmt == 'X') {
		add_hex(b, f, fmt, prec);
	} else if (prec < 0) {
		value_float_text(b, f, fmt, 64);
	} else {
		const char spec[] = {'%', '.', '*', fmt, '\0'};
		size_t want = (size_t)prec + 330;
		char *p = strbuf_reserve(b, want);
		if (!p)
			return;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		int n = snprintf(p, want, spec, prec, f);
#pragma GCC diagnostic pop
		if (n > 0)
			strbuf_commit(b, (size_t)n);
	}
}
