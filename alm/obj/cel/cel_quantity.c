/* cel_quantity: quantity() and what it is asked for, as k8s.io/apiserver/pkg/cel/library (quantity.go). */
#include "alm/obj/cel/cel_table.h"
#include "alm/obj/quantity.h"

#define UNIT 1000000000

#define WORD ((quantity_nanos)1 << 64)

static struct cel_value of_nanos(quantity_nanos n)
{
	uint64_t low = (uint64_t)n;
	struct cel_value v = {.kind = CEL_QUANTITY};
	v.nanos.low = low;
	v.nanos.high = (int64_t)((n - (quantity_nanos)low) / WORD);
	return v;
}

static quantity_nanos nanos(const struct cel_value *v)
{
	return (quantity_nanos)v->nanos.high * WORD + (quantity_nanos)v->nanos.low;
}

CEL_FN(is_quantity)
{
	struct quantity q;
	return cel_bool(quantity_read(v[0].str, &q));
}

CEL_FN(quantity_of)
{
	struct quantity q;
	if (!quantity_read(v[0].str, &q))
		return cel_error(c->a, "quantities must match the regular expression "
				       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
	return of_nanos(q.nanos);
}

static bool whole(const struct cel_value *v, int64_t *ret)
{
	quantity_nanos n = nanos(v) / UNIT;
	*ret = (int64_t)n;
	return nanos(v) % UNIT == 0 && n <= INT64_MAX && n >= INT64_MIN;
}

CEL_FN(is_integer)
{
	int64_t n;
	return cel_bool(whole(&v[0], &n));
}

CEL_FN(as_integer)
{
	int64_t n;
	return whole(&v[0], &n) ? cel_int(n) : cel_error(c->a, "cannot convert value to integer");
}

CEL_FN(as_float)
{
	return (struct cel_value){.kind = CEL_DOUBLE, .d = (double)nanos(&v[0]) / UNIT};
}

/* clang-format off */
CEL_FN(greater) { return cel_bool(nanos(&v[0]) > nanos(&v[1])); }
CEL_FN(less) { return cel_bool(nanos(&v[0]) < nanos(&v[1])); }
CEL_FN(compare) { return cel_int((nanos(&v[0]) > nanos(&v[1])) - (nanos(&v[0]) < nanos(&v[1]))); }
/* clang-format on */

/* Sums of what is read stay far below the bounds; of endless sums the budget is over before. */
static struct cel_value plus(const struct cel_value *v, quantity_nanos more, struct cel_call *c)
{
	quantity_nanos sum;
	if (__builtin_add_overflow(nanos(v), more, &sum))
		return cel_error(c->a, "quantity overflow");
	return of_nanos(sum);
}

/* clang-format off */
CEL_FN(add) { return plus(v, nanos(&v[1]), c); }
CEL_FN(add_int) { return plus(v, (quantity_nanos)v[1].i * UNIT, c); }
CEL_FN(sub) { return plus(v, -nanos(&v[1]), c); }
CEL_FN(sub_int) { return plus(v, -(quantity_nanos)v[1].i * UNIT, c); }

const struct cel_overload cel_quantity_fns[] = {
	{"isQuantity", "s", 'b', 'g', is_quantity}, {"quantity", "s", 'Q', 'g', quantity_of},
	{"isInteger", "Q", 'b', 'm', is_integer}, {"asInteger", "Q", 'i', 'm', as_integer},
	{"asApproximateFloat", "Q", 'd', 'm', as_float}, {"isGreaterThan", "QQ", 'b', 'm', greater},
	{"isLessThan", "QQ", 'b', 'm', less}, {"compareTo", "QQ", 'i', 'm', compare},
	{"add", "QQ", 'Q', 'm', add}, {"add", "Qi", 'Q', 'm', add_int},
	{"sub", "QQ", 'Q', 'm', sub}, {"sub", "Qi", 'Q', 'm', sub_int},
	{0},
};
/* clang-format on */
