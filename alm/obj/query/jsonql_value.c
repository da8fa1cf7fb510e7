#include "alm/obj/query/jsonql_value.h"

#include "alm/obj/query/jsonql_node.h"

bool val_is_number(const struct val *v)
{
	return v->type == VAL_INT || v->type == VAL_UINT || v->type == VAL_DOUBLE;
}

double val_as_double(const struct val *v)
{
	return v->type == VAL_INT ? (double)v->i : v->type == VAL_UINT ? (double)v->u : v->d;
}

static bool number_of_text(struct str text, struct val *ret)
{
	*ret = (struct val){.type = VAL_INT};
	if (str_parse_i64(text, &ret->i))
		return true;
	ret->type = VAL_UINT;
	if (str_parse_u64(text, &ret->u))
		return true;
	ret->type = VAL_DOUBLE;
	return str_parse_double(text, &ret->d);
}

bool val_of_obj(const struct obj *o, struct val *ret)
{
	struct val x = {0};
	switch (obj_type(o)) {
	case OBJ_ABSENT:
		return false;
	case OBJ_NULL:
		x.type = VAL_NULL;
		break;
	case OBJ_BOOL:
		x.type = VAL_BOOL;
		x.b = obj_is_true(o);
		break;
	case OBJ_INT:
	case OBJ_DOUBLE:
		if (!number_of_text(obj_number_text(o), &x))
			return false;
		break;
	case OBJ_STRING:
		x.type = VAL_STRING;
		x.s = obj_as_str(o);
		break;
	case OBJ_LIST:
	case OBJ_MAP:
		x.type = VAL_OBJ;
		x.o = o;
		break;
	}
	*ret = x;
	return true;
}

/* -1, 0, 1 exactly for integers; doubles otherwise. NaN cannot occur. */
static int number_cmp(const struct val *a, const struct val *b)
{
	if (a->type == VAL_INT && b->type == VAL_INT)
		return (a->i > b->i) - (a->i < b->i);
	if (a->type == VAL_UINT && b->type == VAL_UINT)
		return (a->u > b->u) - (a->u < b->u);
	if (a->type == VAL_INT && b->type == VAL_UINT) /* UINT is above the range of INT */
		return -1;
	if (a->type == VAL_UINT && b->type == VAL_INT)
		return 1;
	double x = val_as_double(a), y = val_as_double(b);
	return (x > y) - (x < y);
}

/* Go's ParseBool. */
static int bool_of_text(struct str s)
{
	static const char *const yes[] = {"1", "t", "T", "true", "True", "TRUE"};
	static const char *const no[] = {"0", "f", "F", "false", "False", "FALSE"};
	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		if (str_is(s, yes[i]))
			return 1;
		if (str_is(s, no[i]))
			return 0;
	}
	return -1;
}

int val_equal(const struct val *a, const struct val *b)
{
	struct val n;
	int t;
	switch (b->type) {
	case VAL_STRING:
		if (a->type == VAL_STRING)
			return str_eq(a->s, b->s);
		t = bool_of_text(b->s);
		return a->type == VAL_BOOL && t >= 0 ? a->b == (t == 1) : -1;
	case VAL_INT:
	case VAL_UINT:
	case VAL_DOUBLE:
		if (val_is_number(a))
			return number_cmp(a, b) == 0;
		if (a->type == VAL_STRING && number_of_text(a->s, &n))
			return number_cmp(&n, b) == 0;
		return -1;
	case VAL_BOOL:
		if (a->type == VAL_BOOL)
			return a->b == b->b;
		t = a->type == VAL_STRING ? bool_of_text(a->s) : -1;
		return t < 0 ? -1 : (t == 1) == b->b;
	case VAL_NULL:
		return a->type == VAL_NULL ? 1 : -1;
	case VAL_DEFINED:
	case VAL_OBJ:
		break;
	}
	return -1;
}

static int ordered(int op, const struct val *a, const struct val *b)
{
	struct val n;
	int c;
	if (val_is_number(b)) {
		if (val_is_number(a))
			c = number_cmp(a, b);
		else if (a->type == VAL_STRING && number_of_text(a->s, &n))
			c = number_cmp(&n, b);
		else
			return -1;
	} else if (a->type == VAL_STRING && b->type == VAL_STRING)
		c = str_cmp(a->s, b->s);
	else
		return -1;
	switch (op) {
	case CMP_GT:
		return c > 0;
	case CMP_LT:
		return c < 0;
	case CMP_GE:
		return c >= 0;
	default:
		return c <= 0;
	}
}

static int matches(const struct jsonql_node *n, const struct val *a, const struct val *b)
{
	struct error err = ERROR_INIT;
	CLEANUP(regex_freep) struct regex *own = NULL;
	uint64_t steps = REGEX_STEPS_MAX;
	if (a->type != VAL_STRING || b->type != VAL_STRING || a->s.len > ((size_t)1 << 20))
		return -1;
	if (!n->pattern && regex_new(b->s, &own, &err) < 0)
		return -1;
	enum regex_result r = regex_match(n->pattern ? n->pattern : own, a->s, 0, NULL, &steps);
	return r == REGEX_LIMIT ? -1 : r == REGEX_YES;
}

static int contains(const struct val *a, const struct val *b)
{
	if (a->type == VAL_STRING)
		return b->type == VAL_STRING ? str_contains(a->s, b->s) : -1;
	if (a->type != VAL_OBJ || obj_type(a->o) != OBJ_LIST)
		return -1;
	for (size_t i = 0; i < obj_len(a->o); i++) {
		struct val one;
		if (val_of_obj(obj_at(a->o, i), &one) && val_equal(&one, b) == 1)
			return 1;
	}
	return 0;
}

int val_compare(const struct jsonql_node *n, const struct val *a, const struct val *b)
{
	int r;
	bool text = a->type == VAL_STRING && b->type == VAL_STRING;
	switch (n->op) {
	case CMP_EQ:
		return val_equal(a, b);
	case CMP_NE:
		r = val_equal(a, b);
		return r < 0 ? r : !r;
	case CMP_MATCH:
		return matches(n, a, b);
	case CMP_NOMATCH:
		r = matches(n, a, b);
		return r < 0 ? r : !r;
	case CMP_CONTAINS:
		return contains(a, b);
	case CMP_STARTS:
		return text ? str_has_prefix(a->s, b->s) : -1;
	case CMP_ENDS:
		return text ? str_has_suffix(a->s, b->s) : -1;
	default:
		return ordered(n->op, a, b);
	}
}
