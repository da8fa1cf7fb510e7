#include "installers/tmpl/fn/decimal.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "alm/base/mem.h"
#include "installers/value/print.h"

/* Digits, least significant first. 1e308 + 1e-308 needs 640; products grow by 17 a factor. */
#define DIGITS_MAX   2048
#define DIV_DECIMALS 16

struct decimal {
	unsigned char digit[DIGITS_MAX];
	int n; /* no leading zeros; 0 is zero */
	int exp;
	bool negative, too_long;
};

static void set_double(struct decimal *d, double f)
{
	char digits[24];
	int exp = 0;
	memset(d, 0, sizeof(*d));
	if (f == 0 || !isfinite(f))
		return;
	d->negative = f < 0;
	d->n = number_shortest(fabs(f), digits, &exp);
	for (int i = 0; i < d->n; i++)
		d->digit[i] = (unsigned char)(digits[d->n - 1 - i] - '0');
	d->exp = exp - d->n;
}

struct decimal *decimal_new(double f)
{
	struct decimal *d = xmalloc(sizeof(*d));
	set_double(d, f);
	return d;
}

void decimal_free(struct decimal *d)
{
	xfree(d);
}

static void trim(struct decimal *d)
{
	while (d->n > 0 && d->digit[d->n - 1] == 0)
		d->n--;
	if (d->n == 0)
		d->negative = false;
}

/* Appends zeros so that the exponent becomes exp. */
static bool rescale(struct decimal *d, int exp)
{
	int shift = d->exp - exp;
	if (d->n == 0) {
		d->exp = exp;
		return true;
	}
	if (shift < 0 || d->n + shift > DIGITS_MAX - 2)
		return false;
	memmove(d->digit + shift, d->digit, (size_t)d->n);
	memset(d->digit, 0, (size_t)shift);
	d->n += shift;
	d->exp = exp;
	return true;
}

static int digit_at(const struct decimal *d, int i)
{
	return i < d->n ? d->digit[i] : 0;
}

static int compare_abs(const struct decimal *a, const struct decimal *b)
{
	int n = a->n > b->n ? a->n : b->n;
	for (int i = n; i-- > 0;) {
		if (digit_at(a, i) != digit_at(b, i))
			return digit_at(a, i) < digit_at(b, i) ? -1 : 1;
	}
	return 0;
}

/* r = |a| + |b|, or |a| - |b| with |a| >= |b|. */
static void combine(const struct decimal *a, const struct decimal *b, bool minus, struct decimal *r)
{
	int n = a->n > b->n ? a->n : b->n, carry = 0;
	for (int i = 0; i <= n; i++) {
		int v = digit_at(a, i) + carry + (minus ? -digit_at(b, i) : digit_at(b, i));
		carry = v < 0 ? -1 : v / 10;
		r->digit[i] = (unsigned char)((v + 10) % 10);
	}
	r->n = n + 1;
}

static bool add(struct decimal *d, struct decimal *other)
{
	int exp = d->exp < other->exp ? d->exp : other->exp;
	if (!rescale(d, exp) || !rescale(other, exp))
		return false;
	struct decimal *r = xcalloc(1, sizeof(*r));
	r->exp = exp;
	if (d->negative == other->negative) {
		combine(d, other, false, r);
		r->negative = d->negative;
	} else if (compare_abs(d, other) >= 0) {
		combine(d, other, true, r);
		r->negative = d->negative;
	} else {
		combine(other, d, true, r);
		r->negative = other->negative;
	}
	trim(r);
	*d = *r;
	xfree(r);
	return true;
}

static bool multiply(struct decimal *d, const struct decimal *other)
{
	if (d->n + other->n > DIGITS_MAX - 2)
		return false;
	struct decimal *r = xcalloc(1, sizeof(*r));
	for (int i = 0; i < d->n; i++) {
		int carry = 0;
		for (int j = 0; j < other->n || carry; j++) {
			int v = r->digit[i + j] + d->digit[i] * digit_at(other, j) + carry;
			r->digit[i + j] = (unsigned char)(v % 10);
			carry = v / 10;
		}
	}
	r->n = d->n + other->n;
	r->exp = d->exp + other->exp;
	r->negative = d->negative != other->negative;
	trim(r);
	*d = *r;
	xfree(r);
	return true;
}

/* rem = rem * 10 + digit */
static void push_digit(struct decimal *rem, int digit)
{
	memmove(rem->digit + 1, rem->digit, (size_t)rem->n);
	rem->digit[0] = (unsigned char)digit;
	rem->n++;
	trim(rem);
}

/* To DIV_DECIMALS digits after the point, half away from zero. */
static bool divide(struct decimal *d, const struct decimal *other)
{
	/* d * 10^(shift) / other must be an integer count of 10^-16 */
	int shift = d->exp - other->exp + DIV_DECIMALS;
	bool negative = d->negative != other->negative;
	if (d->n + shift > DIGITS_MAX - 32 || other->n > DIGITS_MAX - 32)
		return false;
	struct decimal *q = xcalloc(1, sizeof(*q)), *rem = xcalloc(1, sizeof(*rem));
	struct decimal *tmp = xcalloc(1, sizeof(*tmp));
	int total = d->n + shift;
	for (int i = 0; i < total; i++) {
		int place = d->n - 1 - i;
		push_digit(rem, place >= 0 ? d->digit[place] : 0);
		int digit = 0;
		while (compare_abs(rem, other) >= 0) {
			combine(rem, other, true, tmp);
			trim(tmp);
			*rem = *tmp;
			digit++;
		}
		push_digit(q, digit);
	}
	/* The digits of d that were cut off count as a remainder below one half of it. */
	combine(rem, rem, false, tmp);
	trim(tmp);
	if (total >= 0 && compare_abs(tmp, other) >= 0) {
		struct decimal one = {.n = 1};
		one.digit[0] = 1;
		combine(q, &one, false, rem);
		trim(rem);
		*q = *rem;
	}
	q->exp = -DIV_DECIMALS;
	q->negative = negative && q->n > 0;
	*d = *q;
	xfree(q);
	xfree(rem);
	xfree(tmp);
	return true;
}

bool decimal_apply(struct decimal *d, enum decimal_op op, double f)
{
	struct decimal *other = decimal_new(f);
	bool ok = true;
	if (op == DECIMAL_SUB)
		other->negative = other->n > 0 && !other->negative;
	if (op == DECIMAL_MUL)
		ok = multiply(d, other);
	else if (op == DECIMAL_DIV)
		ok = other->n > 0 && divide(d, other);
	else
		ok = add(d, other);
	d->too_long = !ok && (op != DECIMAL_DIV || other->n > 0);
	decimal_free(other);
	return ok;
}

bool decimal_is_too_long(const struct decimal *d)
{
	return d->too_long;
}

double decimal_double(const struct decimal *d)
{
	/* More digits than these cannot change a double, but for one that is not zero. */
	char text[400];
	size_t at = 0;
	int last = d->n > 340 ? d->n - 340 : 0;
	if (d->n == 0)
		return 0;
	for (int i = d->n; i-- > last;)
		text[at++] = (char)('0' + d->digit[i]);
	if (last > 0)
		text[at++] = '1';
	int exp = d->exp + last - (last > 0);
	text[at++] = 'e';
	if (exp < 0)
		text[at++] = '-';
	int abs = exp < 0 ? -exp : exp;
	for (int scale = 10000; scale > 0; scale /= 10)
		text[at++] = (char)('0' + abs / scale % 10);
	double f = 0;
	if (!str_parse_double(str_n(text, at), &f))
		f = INFINITY;
	return d->negative ? -f : f;
}
