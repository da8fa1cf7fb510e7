/*
 * cel_fn.c: the functions and operators of CEL, one row an overload. The same rows check types when
 * a rule is written and choose the function when it runs.
 *
 * To add a function: a row in overloads[] and its C function above.
 */
#include <math.h>
#include <string.h>

#include "alm/obj/cel/cel.h"
#include "alm/obj/cel/cel_authorizer.h"
#include "alm/obj/cel/cel_table.h"
#include "alm/obj/cel/cel_url.h"
#include "alm/obj/schema/schema_node.h"

static struct cel_value overflow(struct cel_call *c, const char *type)
{
	return cel_error(c->a, "%s overflow", type);
}

static struct cel_value of_uint(uint64_t u)
{
	return (struct cel_value){.kind = CEL_UINT, .u = u};
}

static struct cel_value of_double(double d)
{
	return (struct cel_value){.kind = CEL_DOUBLE, .d = d};
}

/* clang-format off */
#define ARITHMETIC(op, builtin) \
	CEL_FN(int_##op)  { int64_t r;  return builtin(v[0].i, v[1].i, &r) ? overflow(c, "integer") : cel_int(r); } \
	CEL_FN(uint_##op) { uint64_t r; return builtin(v[0].u, v[1].u, &r) ? overflow(c, "unsigned integer") : of_uint(r); }
ARITHMETIC(add, __builtin_add_overflow)
ARITHMETIC(sub, __builtin_sub_overflow)
ARITHMETIC(mul, __builtin_mul_overflow)
CEL_FN(double_add) { return of_double(v[0].d + v[1].d); }
CEL_FN(double_sub) { return of_double(v[0].d - v[1].d); }
CEL_FN(double_mul) { return of_double(v[0].d * v[1].d); }
CEL_FN(double_div) { return of_double(v[0].d / v[1].d); }
CEL_FN(double_neg) { return of_double(-v[0].d); }
CEL_FN(not_bool) { return cel_bool(!v[0].b); }
CEL_FN(same) { return v[0]; }
CEL_FN(type_of) { return (struct cel_value){.kind = CEL_TYPE, .type = v[0].kind}; }
/* clang-format on */

CEL_FN(int_div)
{
	if (v[1].i == 0)
		return cel_error(c->a, "division by zero");
	if (v[0].i == INT64_MIN && v[1].i == -1)
		return overflow(c, "integer");
	return cel_int(v[0].i / v[1].i);
}

CEL_FN(int_mod)
{
	if (v[1].i == 0)
		return cel_error(c->a, "modulus by zero");
	return cel_int(v[1].i == -1 ? 0 : v[0].i % v[1].i);
}

CEL_FN(uint_div)
{
	return v[1].u ? of_uint(v[0].u / v[1].u) : cel_error(c->a, "division by zero");
}

CEL_FN(uint_mod)
{
	return v[1].u ? of_uint(v[0].u % v[1].u) : cel_error(c->a, "modulus by zero");
}

CEL_FN(int_neg)
{
	return v[0].i == INT64_MIN ? overflow(c, "integer") : cel_int(-v[0].i);
}

CEL_FN(concat)
{
	size_t n = v[0].str.len + v[1].str.len;
	if (n > CEL_TEXT_BYTES_MAX || !cel_spend(c, n / 10))
		return cel_over_budget(c);
	char *text = arena_alloc(c->a, n + 1);
	if (v[0].str.len)
		memcpy(text, v[0].str.ptr, v[0].str.len);
	if (v[1].str.len)
		memcpy(text + v[0].str.len, v[1].str.ptr, v[1].str.len);
	struct cel_value r = cel_string(str_n(text, n));
	r.kind = v[0].kind;
	return r;
}

CEL_FN(list_concat)
{
	size_t x = cel_size(&v[0]), y = cel_size(&v[1]);
	if (x + y > CEL_ITEMS_MAX || !cel_spend(c, x + y))
		return cel_over_budget(c);
	struct cel_value *items = ARENA_ARRAY(c->a, struct cel_value, x + y + 1);
	for (size_t i = 0; i < x + y; i++)
		items[i] = i < x ? cel_item(&v[0], i, c->a) : cel_item(&v[1], i - x, c->a);
	return cel_list(items, x + y);
}

/* A list or map of an object's schema, unlike one that a rule makes, can be asked about its like alone. */
static bool is_of_schema(const struct cel_value *v)
{
	return v->o && v->s && (v->kind == CEL_LIST || v->kind == CEL_MAP);
}

CEL_FN(equal)
{
	if (is_of_schema(&v[0]) && v[1].kind != v[0].kind && v[1].kind != CEL_NULL)
		return cel_error(c->a, "no such overload");
	bool r = cel_equal(&v[0], &v[1], c->budget);
	return c->budget->over ? cel_over_budget(c) : cel_bool(r);
}

CEL_FN(unequal) /* sic: of what cannot be asked, too */
{
	bool r = cel_equal(&v[0], &v[1], c->budget);
	return c->budget->over ? cel_over_budget(c) : cel_bool(!r);
}

static int order(const struct cel_value *v)
{
	int r = 0;
	cel_compare(&v[0], &v[1], &r);
	return r;
}

/* clang-format off */
CEL_FN(less) { return cel_bool(order(v) < 0); }
CEL_FN(less_equal) { return cel_bool(order(v) <= 0); }
CEL_FN(greater) { return cel_bool(order(v) > 0); }
CEL_FN(greater_equal) { return cel_bool(order(v) >= 0); }
/* clang-format on */

CEL_FN(list_at)
{
	int64_t i = v[1].kind == CEL_INT ? v[1].i : v[1].kind == CEL_UINT ? (int64_t)v[1].u : -1;
	if (v[1].kind == CEL_DOUBLE && v[1].d == floor(v[1].d) && fabs(v[1].d) < 1e15)
		i = (int64_t)v[1].d;
	if (i < 0 || (uint64_t)i >= cel_size(&v[0]))
		return cel_error(c->a, "index out of bounds: %lld", (long long)i);
	return cel_item(&v[0], (size_t)i, c->a);
}

CEL_FN(map_at)
{
	struct cel_value r;
	if (is_of_schema(&v[0]) && v[1].kind != CEL_STRING)
		return cel_error(c->a, "no such overload");
	if (cel_lookup(&v[0], &v[1], c->budget, &r))
		return r;
	if (c->budget->over)
		return cel_over_budget(c);
	if (v[1].kind == CEL_STRING)
		return cel_error(c->a, "no such key: %.*s", STR_ARG(v[1].str));
	return cel_error(c->a, "no such key");
}

CEL_FN(in_map)
{
	struct cel_value ignored;
	if (is_of_schema(&v[1]) && v[0].kind != CEL_STRING)
		return cel_error(c->a, "no such overload");
	bool is = cel_lookup(&v[1], &v[0], c->budget, &ignored);
	return c->budget->over ? cel_over_budget(c) : cel_bool(is);
}

CEL_FN(size)
{
	if (v[0].kind == CEL_STRING)
		return cel_spend(c, v[0].str.len / 10) ? cel_int((int64_t)utf8_count(v[0].str))
						       : cel_over_budget(c);
	return cel_int((int64_t)(v[0].kind == CEL_BYTES ? v[0].str.len : cel_size(&v[0])));
}

static struct cel_value no_conversion(const char *type, struct cel_call *c)
{
	return cel_error(c->a, "type conversion error from 'string' to '%s'", type);
}

CEL_FN(int_of)
{
	int64_t i = 0;
	if (v[0].kind == CEL_UINT)
		return v[0].u > INT64_MAX ? overflow(c, "integer") : cel_int((int64_t)v[0].u);
	if (v[0].kind == CEL_DOUBLE)
		return v[0].d > -9.2233720368547758e18 && v[0].d < 9.2233720368547758e18
			       ? cel_int((int64_t)v[0].d)
			       : overflow(c, "integer");
	if (!str_parse_i64(v[0].str, &i))
		return no_conversion("int", c);
	return cel_int(i);
}

CEL_FN(uint_of)
{
	uint64_t u = 0;
	if (v[0].kind == CEL_INT)
		return v[0].i < 0 ? overflow(c, "unsigned integer") : of_uint((uint64_t)v[0].i);
	if (v[0].kind == CEL_DOUBLE)
		return v[0].d >= 0 && v[0].d < 1.8446744073709551e19
			       ? of_uint((uint64_t)v[0].d)
			       : overflow(c, "unsigned integer");
	if (!str_parse_u64(v[0].str, &u))
		return no_conversion("uint", c);
	return of_uint(u);
}

CEL_FN(double_of)
{
	double d = 0;
	if (v[0].kind == CEL_INT)
		return of_double((double)v[0].i);
	if (v[0].kind == CEL_UINT)
		return of_double((double)v[0].u);
	if (!str_parse_double(v[0].str, &d))
		return no_conversion("double", c);
	return of_double(d);
}

CEL_FN(bool_of)
{
	static const char *const yes[] = {"1", "t", "T", "true", "TRUE", "True"};
	static const char *const no[] = {"0", "f", "F", "false", "FALSE", "False"};
	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		if (str_is(v[0].str, yes[i]))
			return cel_bool(true);
		if (str_is(v[0].str, no[i]))
			return cel_bool(false);
	}
	return no_conversion("bool", c);
}

CEL_FN(string_of)
{
	char number[GO_DOUBLE_BYTES];
	switch ((int)v[0].kind) {
	case CEL_BOOL:
		return cel_string(str_of(v[0].b ? "true" : "false"));
	case CEL_INT:
		return cel_string(str_of(arena_fmt(c->a, "%lld", (long long)v[0].i)));
	case CEL_UINT:
		return cel_string(str_of(arena_fmt(c->a, "%llu", (unsigned long long)v[0].u)));
	case CEL_DOUBLE:
		go_double(v[0].d, number);
		return cel_string(str_of(arena_strdup(c->a, number)));
	default:
		if (!utf8_valid(v[0].str))
			return cel_error(c->a, "invalid UTF-8 in bytes, cannot convert to string");
		return cel_string(v[0].str);
	}
}

CEL_FN(bytes_of)
{
	struct cel_value r = cel_string(v[0].str);
	r.kind = CEL_BYTES;
	return r;
}

/* clang-format off */
CEL_FN(is_url) { return cel_bool(schema_format_valid("uri", v[0].str) && v[0].str.len > 0); }
/* clang-format on */

/* Of a list; here, as it adds by the table. */
CEL_FN(sum)
{
	struct cel_value total = cel_int(0);
	bool known;
	for (size_t i = 0; i < cel_size(&v[0]); i++) {
		struct cel_value pair[] = {total, cel_item(&v[0], i, c->a)};
		const enum cel_kind kinds[] = {pair[0].kind, pair[1].kind};
		if (i == 0)
			total = pair[1];
		else if (cel_fn_type("_+_", false, kinds, 2, &known) == CEL_ERROR)
			return cel_error(c->a, "no such overload");
		else
			total = cel_fn_call("_+_", false, pair, 2, c);
	}
	return total;
}

/* clang-format off */
static const struct cel_overload overloads[] = {
	{"_+_", "ii", 'i', 'g', int_add}, {"_+_", "uu", 'u', 'g', uint_add}, {"_+_", "dd", 'd', 'g', double_add},
	{"_+_", "ss", 's', 'g', concat}, {"_+_", "yy", 'y', 'g', concat}, {"_+_", "ll", 'l', 'g', list_concat},
	{"_-_", "ii", 'i', 'g', int_sub}, {"_-_", "uu", 'u', 'g', uint_sub}, {"_-_", "dd", 'd', 'g', double_sub},
	{"_*_", "ii", 'i', 'g', int_mul}, {"_*_", "uu", 'u', 'g', uint_mul}, {"_*_", "dd", 'd', 'g', double_mul},
	{"_/_", "ii", 'i', 'g', int_div}, {"_/_", "uu", 'u', 'g', uint_div}, {"_/_", "dd", 'd', 'g', double_div},
	{"_%_", "ii", 'i', 'g', int_mod}, {"_%_", "uu", 'u', 'g', uint_mod},
	{"-_", "i", 'i', 'g', int_neg}, {"-_", "d", 'd', 'g', double_neg}, {"!_", "b", 'b', 'g', not_bool},
	{"_==_", "**", 'b', 'g', equal}, {"_!=_", "**", 'b', 'g', unequal},
	{"_<_", "NN", 'b', 'g', less}, {"_<_", "ss", 'b', 'g', less}, {"_<_", "bb", 'b', 'g', less}, {"_<_", "yy", 'b', 'g', less},
	{"_<=_", "NN", 'b', 'g', less_equal}, {"_<=_", "ss", 'b', 'g', less_equal}, {"_<=_", "bb", 'b', 'g', less_equal}, {"_<=_", "yy", 'b', 'g', less_equal},
	{"_>_", "NN", 'b', 'g', greater}, {"_>_", "ss", 'b', 'g', greater}, {"_>_", "bb", 'b', 'g', greater}, {"_>_", "yy", 'b', 'g', greater},
	{"_>=_", "NN", 'b', 'g', greater_equal}, {"_>=_", "ss", 'b', 'g', greater_equal}, {"_>=_", "bb", 'b', 'g', greater_equal}, {"_>=_", "yy", 'b', 'g', greater_equal},
	{"_[_]", "lN", '*', 'g', list_at}, {"_[_]", "m*", '*', 'g', map_at},
	{"@in", "*m", 'b', 'g', in_map},
	{"size", "s", 'i', '*', size}, {"size", "y", 'i', '*', size}, {"size", "l", 'i', '*', size}, {"size", "m", 'i', '*', size},
	{"int", "i", 'i', 'g', same}, {"int", "N", 'i', 'g', int_of}, {"int", "s", 'i', 'g', int_of},
	{"uint", "u", 'u', 'g', same}, {"uint", "N", 'u', 'g', uint_of}, {"uint", "s", 'u', 'g', uint_of},
	{"double", "d", 'd', 'g', same}, {"double", "N", 'd', 'g', double_of}, {"double", "s", 'd', 'g', double_of},
	{"bool", "b", 'b', 'g', same}, {"bool", "s", 'b', 'g', bool_of},
	{"string", "s", 's', 'g', same}, {"string", "N", 's', 'g', string_of}, {"string", "b", 's', 'g', string_of}, {"string", "y", 's', 'g', string_of},
	{"bytes", "y", 'y', 'g', same}, {"bytes", "s", 'y', 'g', bytes_of},
	{"dyn", "*", '*', 'g', same}, {"type", "*", 't', 'g', type_of},
	{"_<_", "DD", 'b', 'g', less}, {"_<=_", "DD", 'b', 'g', less_equal}, {"_>_", "DD", 'b', 'g', greater}, {"_>=_", "DD", 'b', 'g', greater_equal},
	{"_<_", "TT", 'b', 'g', less}, {"_<=_", "TT", 'b', 'g', less_equal}, {"_>_", "TT", 'b', 'g', greater}, {"_>=_", "TT", 'b', 'g', greater_equal},
	{"sum", "l", '*', 'm', sum},
	{"isURL", "s", 'b', 'g', is_url},
	{"url", "s", 'U', 'g', cel_url_of}, {"getScheme", "U", 's', 'm', cel_url_scheme}, {"getHost", "U", 's', 'm', cel_url_host},
	{"getHostname", "U", 's', 'm', cel_url_hostname}, {"getPort", "U", 's', 'm', cel_url_port},
	{"getEscapedPath", "U", 's', 'm', cel_url_path}, {"getQuery", "U", 'm', 'm', cel_url_query},
	{"path", "As", 'P', 'm', cel_authz_path}, {"group", "As", 'G', 'm', cel_authz_group},
	{"serviceAccount", "Ass", 'A', 'm', cel_authz_account}, {"resource", "Gs", 'R', 'm', cel_authz_resource},
	{"subresource", "Rs", 'R', 'm', cel_authz_subresource}, {"namespace", "Rs", 'R', 'm', cel_authz_namespace},
	{"fieldSelector", "Rs", 'R', 'm', cel_authz_selector}, {"labelSelector", "Rs", 'R', 'm', cel_authz_selector},
	{"name", "Rs", 'R', 'm', cel_authz_name}, {"check", "Ps", 'E', 'm', cel_authz_check}, {"check", "Rs", 'E', 'm', cel_authz_check},
	{"allowed", "E", 'b', 'm', cel_authz_allowed}, {"reason", "E", 's', 'm', cel_authz_reason},
	{"errored", "E", 'b', 'm', cel_authz_errored}, {"error", "E", 's', 'm', cel_authz_error},
	{0},
};

static const struct cel_overload *const tables[] = {overloads, cel_list_fns, cel_text_fns, cel_format_fns, cel_quantity_fns, cel_time_fns, cel_net_fns, cel_optional_fns, cel_named_fns};
/* clang-format on */

static enum cel_kind kind_of_letter(char letter)
{
	static const struct {
		char letter;
		enum cel_kind kind;
	} rows[] = {{'b', CEL_BOOL},        {'i', CEL_INT},
		    {'u', CEL_UINT},        {'d', CEL_DOUBLE},
		    {'s', CEL_STRING},      {'y', CEL_BYTES},
		    {'l', CEL_LIST},        {'m', CEL_MAP},
		    {'t', CEL_TYPE},        {'D', CEL_DURATION},
		    {'T', CEL_TIMESTAMP},   {'U', CEL_URL},
		    {'A', CEL_AUTHORIZER},  {'P', CEL_PATH_CHECK},
		    {'G', CEL_GROUP_CHECK}, {'R', CEL_RESOURCE_CHECK},
		    {'E', CEL_DECISION},    {'Q', CEL_QUANTITY},
		    {'I', CEL_IP},          {'C', CEL_CIDR},
		    {'O', CEL_OPTIONAL},    {'F', CEL_FORMAT},
		    {'V', CEL_SEMVER}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].letter == letter)
			return rows[i].kind;
	return CEL_DYN;
}

static bool fits(char letter, enum cel_kind kind)
{
	if (letter == '*' || kind == CEL_DYN)
		return true;
	if (letter == 'N')
		return kind == CEL_INT || kind == CEL_UINT || kind == CEL_DOUBLE;
	return kind_of_letter(letter) == kind;
}

static bool takes(const struct cel_overload *o, const enum cel_kind *args, size_t n)
{
	bool match = strlen(o->args) == n;
	for (size_t k = 0; match && k < n; k++)
		match = fits(o->args[k], args[k]);
	return match;
}

static bool is_named(const struct cel_overload *o, const char *name, bool member)
{
	return *o->name == *name && strcmp(o->name, name) == 0 &&
	       (o->where == '*' || (o->where == 'm') == member);
}

/* NOLINTBEGIN(bugprone-macro-parentheses): names */
#define EACH_OVERLOAD(o)                                  \
	for (size_t t_ = 0; t_ < ARRAY_LEN(tables); t_++) \
		for (const struct cel_overload *o = tables[t_]; o->name; o++)

/* NOLINTEND(bugprone-macro-parentheses) */

bool cel_fn_is_known(const char *name)
{
	EACH_OVERLOAD(o)
	if (is_named(o, name, false))
		return true;
	return false;
}

/* Of several that fit what is not known yet, the one kind that they have in common, or DYN. */
enum cel_kind cel_fn_type(const char *name, bool member, const enum cel_kind *args, size_t n,
			  bool *ret_known)
{
	enum cel_kind kind = CEL_ERROR;
	*ret_known = false;
	EACH_OVERLOAD(o)
	{
		if (!is_named(o, name, member))
			continue;
		*ret_known = true;
		if (!takes(o, args, n))
			continue;
		enum cel_kind result = kind_of_letter(o->result);
		kind = kind == CEL_ERROR || kind == result ? result : CEL_DYN;
	}
	return kind;
}

static const struct cel_overload *find(const char *name, bool member, const enum cel_kind *args,
				       size_t n)
{
	EACH_OVERLOAD(o)
	if (is_named(o, name, member) && takes(o, args, n))
		return o;
	return NULL;
}

/* Which operator it was is told where values of the first kind have it not at all. */
static bool has_operator(const char *name, enum cel_kind kind)
{
	static const struct {
		const char *names, *kinds; /* as of overloads[] */
	} rows[] = {{"_<_ _<=_ _>_ _>=_", "biudsyDT"},
		    {"_+_", "iudsylDT"},
		    {"_-_", "iudDT"},
		    {"_*_ _/_", "iud"},
		    {"_%_", "iu"}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (!strstr(rows[i].names, name))
			continue;
		for (const char *k = rows[i].kinds; *k; k++)
			if (kind_of_letter(*k) == kind)
				return true;
		return false;
	}
	return true;
}

struct cel_value cel_fn_call(const char *name, bool member, const struct cel_value *args, size_t n,
			     struct cel_call *call)
{
	enum cel_kind kinds[8];
	if (n > ARRAY_LEN(kinds))
		return cel_error(call->a, "no such overload: %s", name);
	for (size_t i = 0; i < n; i++)
		kinds[i] = args[i].kind;
	const struct cel_overload *o = find(name, member, kinds, n);
	if (!o && n == 1 && !member)
		return cel_error(call->a, "no such overload: %s(%s)", name,
				 cel_kind_name(kinds[0]));
	if (!o)
		return n == 2 && !member && !has_operator(name, kinds[0])
			       ? cel_error(call->a, "no such overload: %s", name)
			       : cel_error(call->a, "no such overload");
	return o->fn(args, call);
}
