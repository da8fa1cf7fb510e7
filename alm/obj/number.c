/* number: see number.h. */
#include "alm/obj/number.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t digits(struct str s, size_t at)
{
	while (at < s.len && char_is_digit(s.ptr[at]))
		at++;
	return at;
}

size_t number_scan(struct str s, const char **ret_fault)
{
	size_t at = 0, from;
	*ret_fault = NULL;
	if (at < s.len && s.ptr[at] == '-')
		at++;
	from = at;
	if (at < s.len && s.ptr[at] == '0')
		at++;
	else
		at = digits(s, at);
	if (at == from) {
		*ret_fault = at ? "in numeric literal" : NULL;
		return at;
	}
	if (at < s.len && s.ptr[at] == '.') {
		from = ++at;
		at = digits(s, at);
		if (at == from)
			*ret_fault = "after decimal point in numeric literal";
	}
	if (!*ret_fault && at < s.len && (s.ptr[at] == 'e' || s.ptr[at] == 'E')) {
		at++;
		if (at < s.len && (s.ptr[at] == '+' || s.ptr[at] == '-'))
			at++;
		from = at;
		at = digits(s, at);
		if (at == from)
			*ret_fault = "in exponent of numeric literal";
	}
	return at;
}

bool number_is_integer(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!char_is_digit(text.ptr[i]) && text.ptr[i] != '-')
			return false;
	return text.len > 0;
}

/* d.ddd e x, from "%.*e" */
struct decimal {
	char digits[20];
	int n, exponent;
	bool negative;
};

static void decimal_shortest(double v, bool single, struct decimal *d)
{
	char buf[40];
	double back;
	int64_t exponent = 0;
	for (int precision = 0; precision < 17; precision++) {
		snprintf(buf, sizeof(buf), "%.*e", precision, v);
		bool ok = str_parse_double(str_of(buf), &back);
		if (ok && (single ? (float)back == (float)v : back == v))
			break;
	}
	struct str mantissa, tail;
	str_cut(str_of(buf), 'e', &mantissa, &tail);
	if (tail.len && tail.ptr[0] == '+')
		tail = str_skip(tail, 1);
	bool is_number = str_parse_i64(tail, &exponent);
	assert(is_number);
	d->exponent = (int)exponent;
	d->negative = signbit(v);
	d->n = 0;
	for (size_t i = 0; i < mantissa.len; i++)
		if (char_is_digit(mantissa.ptr[i]))
			d->digits[d->n++] = mantissa.ptr[i];
	while (d->n > 1 && d->digits[d->n - 1] == '0')
		d->n--;
}

/* d.ddde+XX, with so many digits of exponent at least */
static void print_exponent(const struct decimal *d, int width, char out[NUMBER_TEXT_MAX])
{
	size_t at = 0;
	if (d->negative)
		out[at++] = '-';
	out[at++] = d->digits[0];
	if (d->n > 1)
		out[at++] = '.';
	memcpy(out + at, d->digits + 1, (size_t)d->n - 1);
	at += (size_t)d->n - 1;
	snprintf(out + at, NUMBER_TEXT_MAX - at, "e%c%0*d", d->exponent < 0 ? '-' : '+', width,
		 abs(d->exponent));
}

static void print_plain(const struct decimal *d, char out[NUMBER_TEXT_MAX])
{
	size_t at = 0;
	if (d->negative)
		out[at++] = '-';
	if (d->exponent < 0) {
		out[at++] = '0';
		out[at++] = '.';
		for (int i = -1; i > d->exponent; i--)
			out[at++] = '0';
	}
	for (int i = 0; i < d->n || i <= d->exponent; i++) {
		out[at++] = i < d->n ? d->digits[i] : '0';
		if (i == d->exponent && i + 1 < d->n)
			out[at++] = '.';
	}
	out[at] = '\0';
}

void number_format(double v, char out[NUMBER_TEXT_MAX])
{
	struct decimal d = {0};
	assert(isfinite(v));
	decimal_shortest(v, false, &d);
	if (d.exponent < -6 || d.exponent >= 21)
		print_exponent(&d, 1, out);
	else
		print_plain(&d, out);
}

void number_format_g(double v, bool single, char out[NUMBER_TEXT_MAX])
{
	struct decimal d = {0};
	assert(isfinite(v));
	decimal_shortest(v, single, &d);
	if (d.exponent < -4 || d.exponent >= 6) /* strconv: shortest counts as precision 6 */
		print_exponent(&d, 2, out);
	else
		print_plain(&d, out);
}
