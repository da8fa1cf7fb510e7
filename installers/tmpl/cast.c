#include "installers/tmpl/cast.h"

#include "installers/value/gonum.h"

/* "1.00" -> "1" */
static struct str without_zero_decimals(struct str s)
{
	bool zero = false;
	for (size_t i = s.len; i > 0; i--) {
		char c = s.ptr[i - 1];
		if (c == '.' && zero)
			return str_sub(s, 0, i - 1);
		if (c == '0')
			zero = true;
		else if (c != '.')
			break;
	}
	return s;
}

int64_t cast_int64(struct value v)
{
	int64_t i;
	switch ((int)v.type) {
	case VALUE_BOOL:
		return v.b;
	case VALUE_INT:
	case VALUE_INT64:
	case VALUE_MONTH:
	case VALUE_WEEKDAY:
	case VALUE_UINT8:
	case VALUE_UINT64:
		return v.i;
	case VALUE_FLOAT:
		return gonum_trunc(v.f);
	case VALUE_STRING:
		return gonum_int(without_zero_decimals(value_text(v)), 0, &i) == GONUM_OK ? i : 0;
	default:
		return 0;
	}
}

double cast_double(struct value v)
{
	double f;
	switch ((int)v.type) {
	case VALUE_BOOL:
		return v.b;
	case VALUE_INT:
	case VALUE_INT64:
	case VALUE_MONTH:
	case VALUE_WEEKDAY:
		return (double)v.i;
	case VALUE_UINT8:
	case VALUE_UINT64:
		return (double)v.u;
	case VALUE_FLOAT:
		return v.f;
	case VALUE_STRING:
		return gonum_float(value_text(v), &f) == GONUM_OK ? f : 0;
	default:
		return 0;
	}
}

bool value_is_empty(struct value v)
{
	return !value_truth(v);
}
