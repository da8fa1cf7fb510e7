/* fn_math: numbers. Integer arithmetic wraps around as Go's does. */
#include <math.h>
#include <stdlib.h>

#include "installers/tmpl/cast.h"
#include "installers/tmpl/fn/decimal.h"
#include "installers/tmpl/fn/fn.h"
#include "installers/value/gonum.h"

FN(fn_int)
{
	(void)run;
	(void)n;
	*ret = value_int(cast_int64(args[0]));
	return 0;
}

FN(fn_int64)
{
	(void)run;
	(void)n;
	*ret = value_int64(cast_int64(args[0]));
	return 0;
}

FN(fn_float64)
{
	(void)run;
	(void)n;
	*ret = value_float(cast_double(args[0]));
	return 0;
}

FN(fn_atoi)
{
	(void)run;
	(void)n;
	int64_t i = 0;
	if (gonum_int(value_text(args[0]), 10, &i) == GONUM_SYNTAX)
		i = 0;
	*ret = value_int(i);
	return 0;
}

FN(fn_to_decimal)
{
	(void)n;
	int64_t i;
	struct str s = value_string(tmpl_arena(run), args[0]);
	*ret = value_int64(gonum_int(s, 8, &i) == GONUM_OK ? i : 0);
	return 0;
}

/* ---- sequences ---- */
static uint64_t count_steps(int64_t from, int64_t to, int64_t step)
{
	if (to < from ? step >= 0 : step <= 0)
		return 0;
	uint64_t span = to < from ? (uint64_t)from - (uint64_t)to : (uint64_t)to - (uint64_t)from;
	uint64_t by = step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
	/* cppcheck-suppress zerodivcond; a step of 0 has returned */
	return span / by + (span % by != 0);
}

static int until_step(struct tmpl_run *run, int64_t from, int64_t to, int64_t step,
		      struct value *ret)
{
	uint64_t count = count_steps(from, to, step);
	int r = tmpl_want_list(run, count);
	if (r == 0)
		r = tmpl_want_steps(run, (size_t)count / 4);
	if (r < 0)
		return r;
	*ret = value_list(tmpl_arena(run), VALUE_INTS, (size_t)count);
	for (uint64_t i = 0; i < count; i++)
		ret->items[i] = value_int((int64_t)((uint64_t)from + i * (uint64_t)step));
	return 0;
}

FN(fn_until)
{
	(void)n;
	return until_step(run, 0, args[0].i, args[0].i < 0 ? -1 : 1, ret);
}

FN(fn_until_step)
{
	(void)n;
	return until_step(run, args[0].i, args[1].i, args[2].i, ret);
}

FN(fn_seq)
{
	int64_t from = 1, to = 0, step = 1, sign = 1;
	*ret = value_cstr("");
	if (n == 0 || n > 3)
		return 0;
	to = args[n - 1].i;
	if (n > 1)
		from = args[0].i;
	if (to < from)
		sign = step = -1;
	if (n == 3) {
		step = args[1].i;
		if (to < from && step > 0)
			return 0;
	}
	struct value list;
	int r = until_step(run, from, (int64_t)((uint64_t)to + (uint64_t)sign), step, &list);
	if (r < 0)
		return r;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(tmpl_run_limits(run)->string_bytes);
	for (size_t i = 0; i < list.len; i++)
		strbuf_addf(&b, "%s%lld", i ? " " : "", (long long)list.items[i].i);
	return tmpl_return(run, &b, ret);
}

/* ---- int64 ---- */
FN(fn_add)
{
	(void)run;
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (uint64_t)cast_int64(args[i]);
	*ret = value_int64((int64_t)sum);
	return 0;
}

FN(fn_add1)
{
	(void)run;
	(void)n;
	*ret = value_int64((int64_t)((uint64_t)cast_int64(args[0]) + 1));
	return 0;
}

FN(fn_sub)
{
	(void)run;
	(void)n;
	uint64_t a = (uint64_t)cast_int64(args[0]), b = (uint64_t)cast_int64(args[1]);
	*ret = value_int64((int64_t)(a - b));
	return 0;
}

FN(fn_mul)
{
	(void)run;
	uint64_t product = (uint64_t)cast_int64(args[0]);
	for (size_t i = 1; i < n; i++)
		product *= (uint64_t)cast_int64(args[i]);
	*ret = value_int64((int64_t)product);
	return 0;
}

static int divide(struct tmpl_run *run, const struct value *args, bool mod, struct value *ret)
{
	int64_t a = cast_int64(args[0]), b = cast_int64(args[1]);
	if (b == 0)
		return tmpl_fail(run, "runtime error: integer divide by zero");
	if (b == -1) /* the least int64 has no opposite */
		*ret = value_int64(mod ? 0 : (int64_t)(0 - (uint64_t)a));
	else
		*ret = value_int64(mod ? a % b : a / b);
	return 0;
}

FN(fn_div)
{
	(void)n;
	return divide(run, args, false, ret);
}

FN(fn_mod)
{
	(void)n;
	return divide(run, args, true, ret);
}

FN(fn_max)
{
	(void)run;
	int64_t best = cast_int64(args[0]);
	for (size_t i = 1; i < n; i++) {
		int64_t v = cast_int64(args[i]);
		best = v > best ? v : best;
	}
	*ret = value_int64(best);
	return 0;
}

FN(fn_min)
{
	(void)run;
	int64_t best = cast_int64(args[0]);
	for (size_t i = 1; i < n; i++) {
		int64_t v = cast_int64(args[i]);
		best = v < best ? v : best;
	}
	*ret = value_int64(best);
	return 0;
}

FN(fn_rand_int)
{
	(void)n;
	int64_t lo = args[0].i, hi = args[1].i;
	uint64_t span = (uint64_t)hi - (uint64_t)lo, v;
	if (hi <= lo)
		return tmpl_fail(run, "invalid argument to Intn");
	uint64_t top = UINT64_MAX - UINT64_MAX % span;
	do {
		int r = tmpl_entropy(run, &v, sizeof(v));
		if (r < 0)
			return r;
	} while (v >= top);
	*ret = value_int((int64_t)((uint64_t)lo + v % span));
	return 0;
}

/* ---- float64 ---- */
static int not_finite(struct tmpl_run *run, double f)
{
	const char *name = isnan(f) ? "NaN" : f > 0 ? "+Inf" : "-Inf";
	return tmpl_fail(run, "Cannot create a Decimal from %s", name);
}

static int decimal_op(struct tmpl_run *run, enum decimal_op op, double first,
		      const struct value *args, size_t n, struct value *ret)
{
	if (!isfinite(first))
		return not_finite(run, first);
	struct decimal *d = decimal_new(first);
	double f = 0;
	bool ok = true;
	for (size_t i = 0; i < n && ok; i++) {
		f = cast_double(args[i]);
		ok = isfinite(f) && decimal_apply(d, op, f);
	}
	bool too_long = decimal_is_too_long(d);
	*ret = value_float(decimal_double(d));
	decimal_free(d);
	if (ok)
		return 0;
	if (!isfinite(f))
		return not_finite(run, f);
	return too_long ? tmpl_over(run, "digits of a number", 2000)
			: tmpl_fail(run, "decimal division by 0");
}

FN(fn_addf)
{
	return decimal_op(run, DECIMAL_ADD, 0, args, n, ret);
}

FN(fn_add1f)
{
	struct value one = value_int(1);
	(void)n;
	return decimal_op(run, DECIMAL_ADD, cast_double(args[0]), &one, 1, ret);
}

FN(fn_subf)
{
	return decimal_op(run, DECIMAL_SUB, cast_double(args[0]), args + 1, n - 1, ret);
}

FN(fn_divf)
{
	return decimal_op(run, DECIMAL_DIV, cast_double(args[0]), args + 1, n - 1, ret);
}

FN(fn_mulf)
{
	return decimal_op(run, DECIMAL_MUL, cast_double(args[0]), args + 1, n - 1, ret);
}

/* math.Max: NaN wins, +0 over -0. */
static double max_of(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isinf(a) && a > 0 ? a : isinf(b) && b > 0 ? b : (double)NAN;
	if (a == 0 && b == 0)
		return signbit(a) ? b : a;
	return a > b ? a : b;
}

FN(fn_maxf)
{
	(void)run;
	double best = cast_double(args[0]);
	for (size_t i = 1; i < n; i++)
		best = max_of(best, cast_double(args[i]));
	*ret = value_float(best);
	return 0;
}

FN(fn_minf)
{
	(void)run;
	double best = -cast_double(args[0]);
	for (size_t i = 1; i < n; i++)
		best = max_of(best, -cast_double(args[i]));
	*ret = value_float(-best);
	return 0;
}

FN(fn_ceil)
{
	(void)run;
	(void)n;
	*ret = value_float(ceil(cast_double(args[0])));
	return 0;
}

FN(fn_floor)
{
	(void)run;
	(void)n;
	*ret = value_float(floor(cast_double(args[0])));
	return 0;
}

FN(fn_round)
{
	(void)run;
	double on = n > 2 ? args[2].f : 0.5, whole;
	double scale = pow(10, (double)args[1].i);
	double digit = scale * cast_double(args[0]);
	double fraction = modf(digit, &whole);
	*ret = value_float((fraction >= on ? ceil(digit) : floor(digit)) / scale);
	return 0;
}

/* clang-format off */
const struct tmpl_func tmpl_fn_math[] = {
	{"atoi", "s:i", fn_atoi, 0},
	{"int", "v:i", fn_int, 0},
	{"int64", "v:l", fn_int64, 0},
	{"float64", "v:f", fn_float64, 0},
	{"toDecimal", "v:l", fn_to_decimal, 0},
	{"seq", "i*:s", fn_seq, 0},
	{"until", "i:I", fn_until, 0},
	{"untilStep", "iii:I", fn_until_step, 0},
	{"add", "v*:l", fn_add, 0},
	{"add1", "v:l", fn_add1, 0},
	{"sub", "vv:l", fn_sub, 0},
	{"div", "vv:l", fn_div, 0},
	{"mod", "vv:l", fn_mod, 0},
	{"mul", "vv*:l", fn_mul, 0},
	{"randInt", "ii:i", fn_rand_int, TMPL_FN_RANDOM},
	{"addf", "v*:f", fn_addf, 0},
	{"add1f", "v:f", fn_add1f, 0},
	{"subf", "vv*:f", fn_subf, 0},
	{"divf", "vv*:f", fn_divf, 0},
	{"mulf", "vv*:f", fn_mulf, 0},
	{"max", "vv*:l", fn_max, 0},
	{"biggest", "vv*:l", fn_max, 0},
	{"min", "vv*:l", fn_min, 0},
	{"maxf", "vv*:f", fn_maxf, 0},
	{"minf", "vv*:f", fn_minf, 0},
	{"ceil", "v:f", fn_ceil, 0},
	{"floor", "v:f", fn_floor, 0},
	{"round", "vif*:f", fn_round, 0},
	{0},
};
/* clang-format on */
