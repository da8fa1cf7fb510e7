/* cel_format: "%s is %d".format([...]) of texts (cel-go ext/formatting.go). */
#include <stdlib.h>
#include <string.h>

#include "alm/obj/cel/cel_table.h"
#include "alm/obj/schema/schema_node.h"

#define FORMAT_DEPTH 16

static void add_value(const struct cel_value *v, bool quoted, unsigned depth, struct strbuf *b,
		      struct cel_call *c);

static int by_text(const void *x, const void *y)
{
	const struct cel_value *const *a = x, *const *b = y;
	return str_cmp((*a)->str, (*b)->str);
}

/* NOLINTBEGIN(misc-no-recursion): FORMAT_DEPTH */
static void add_map(const struct cel_value *v, unsigned depth, struct strbuf *b, struct cel_call *c)
{
	size_t n = cel_size(v), i = 0;
	struct cel_value *keys = ARENA_ARRAY(c->a, struct cel_value, n + 1);
	const struct cel_value **sorted = ARENA_ARRAY(c->a, const struct cel_value *, n + 1);
	if (v->o) {
		OBJ_EACH (it, v->o)
			keys[i++] = cel_string(str_of(it.key));
	} else {
		for (; i < n; i++)
			keys[i] = v->list.items[2 * i];
	}
	for (i = 0; i < n; i++)
		sorted[i] = &keys[i];
	if (n && keys[0].kind == CEL_STRING)
		qsort(sorted, n, sizeof(*sorted), by_text);
	strbuf_addc(b, '{');
	for (i = 0; i < n && !b->over; i++) {
		struct cel_value value = {.kind = CEL_NULL};
		(void)cel_lookup(v, sorted[i], c->budget, &value);
		strbuf_adds(b, i ? ", " : "");
		add_value(sorted[i], true, depth, b, c);
		strbuf_addc(b, ':');
		add_value(&value, true, depth, b, c);
	}
	strbuf_addc(b, '}');
}

static void add_list(const struct cel_value *v, unsigned depth, struct strbuf *b,
		     struct cel_call *c)
{
	strbuf_addc(b, '[');
	for (size_t i = 0; i < cel_size(v) && !b->over; i++) {
		struct cel_value item = cel_item(v, i, c->a);
		strbuf_adds(b, i ? ", " : "");
		add_value(&item, true, depth, b, c);
	}
	strbuf_addc(b, ']');
}

/* As %s shows it; within lists and maps texts are quoted. */
static void add_value(const struct cel_value *v, bool quoted, unsigned depth, struct strbuf *b,
		      struct cel_call *c)
{
	char number[GO_DOUBLE_BYTES];
	if (depth == FORMAT_DEPTH || !cel_spend(c, 1)) {
		strbuf_adds(b, "...");
		return;
	}
	switch ((int)v->kind) {
	case CEL_BOOL:
		strbuf_adds(b, v->b ? "true" : "false");
		return;
	case CEL_INT:
		strbuf_addf(b, "%lld", (long long)v->i);
		return;
	case CEL_UINT:
		strbuf_addf(b, "%llu", (unsigned long long)v->u);
		return;
	case CEL_DOUBLE:
		go_double(v->d, number);
		strbuf_adds(b, number);
		return;
	case CEL_STRING:
		if (quoted)
			go_quote(v->str, b);
		else
			strbuf_addstr(b, v->str);
		return;
	case CEL_BYTES:
		strbuf_addstr(b, v->str);
		return;
	case CEL_TYPE:
		strbuf_adds(b, cel_kind_name(v->type));
		return;
	case CEL_DURATION:
	case CEL_TIMESTAMP:
		cel_time_text(v, b);
		return;
	case CEL_LIST:
		add_list(v, depth + 1, b, c);
		return;
	case CEL_MAP:
		add_map(v, depth + 1, b, c);
		return;
	default:
		strbuf_adds(b, v->kind == CEL_NULL ? "null" : cel_kind_name(v->kind));
	}
}
/* NOLINTEND(misc-no-recursion) */

/* 1.234568 x 10 to the 03, as cel-go writes it; it has six digits whatever is asked for. */
static void add_scientific(double d, struct strbuf *b)
{
	static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
	CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT(STRBUF_SMALL);
	struct str mantissa, exponent;
	strbuf_addf(&plain, "%e", d);
	if (!str_cut(strbuf_str(&plain), 'e', &mantissa, &exponent)) {
		strbuf_addstr(b, strbuf_str(&plain));
		return;
	}
	strbuf_addstr(b, mantissa);
	strbuf_adds(b, "×10");
	for (size_t i = 0; i < exponent.len; i++)
		if (exponent.ptr[i] == '-')
			strbuf_adds(b, "⁻");
		else if (exponent.ptr[i] >= '0' && exponent.ptr[i] <= '9')
			strbuf_adds(b, raised[exponent.ptr[i] - '0']);
}

static void add_binary(uint64_t u, struct strbuf *b)
{
	char digits[64];
	size_t n = sizeof(digits);
	do {
		digits[--n] = (char)('0' + (u & 1));
		u >>= 1;
	} while (u);
	strbuf_addstr(b, str_n(digits + n, sizeof(digits) - n));
}

/* A whole number of a verb: its sign, then its digits. */
static bool add_whole(char verb, const struct cel_value *v, struct strbuf *b)
{
	bool negative = v->kind == CEL_INT && v->i < 0;
	uint64_t u = v->kind == CEL_UINT ? v->u : negative ? 0 - (uint64_t)v->i : (uint64_t)v->i;
	if (v->kind == CEL_BOOL && verb == 'b') {
		strbuf_addc(b, v->b ? '1' : '0');
		return true;
	}
	if (v->kind != CEL_INT && v->kind != CEL_UINT)
		return false;
	strbuf_adds(b, negative ? "-" : "");
	if (verb == 'b')
		add_binary(u, b);
	else if (verb == 'd')
		strbuf_addf(b, "%llu", (unsigned long long)u);
	else if (verb == 'o')
		strbuf_addf(b, "%llo", (unsigned long long)u);
	else if (verb == 'x')
		strbuf_addf(b, "%llx", (unsigned long long)u);
	else
		strbuf_addf(b, "%llX", (unsigned long long)u);
	return true;
}

static bool add_double(char verb, int precision, const struct cel_value *v, struct strbuf *b)
{
	double d = v->kind == CEL_DOUBLE ? v->d : v->kind == CEL_INT ? (double)v->i : (double)v->u;
	if (v->kind != CEL_DOUBLE && v->kind != CEL_INT && v->kind != CEL_UINT)
		return false;
	if (verb == 'e')
		add_scientific(d, b);
	else
		strbuf_addf(b, "%.*f", precision, d);
	return true;
}

/* One clause; false: the verb does not take that. */
static bool add_clause(char verb, int precision, const struct cel_value *v, struct strbuf *b,
		       struct cel_call *c)
{
	bool text = v->kind == CEL_STRING || v->kind == CEL_BYTES;
	if (verb == 's') {
		add_value(v, false, 0, b, c);
		return true;
	}
	if (verb == 'f' || verb == 'e')
		return add_double(verb, precision, v, b);
	if ((verb == 'x' || verb == 'X') && text) {
		for (size_t i = 0; i < v->str.len; i++)
			strbuf_addf(b, verb == 'x' ? "%02x" : "%02X", (unsigned char)v->str.ptr[i]);
		return true;
	}
	return add_whole(verb, v, b);
}

/* "%.2f": the verb, and the precision before it; false: there is none. */
static bool read_clause(struct str *rest, char *ret_verb, int *ret_precision)
{
	*ret_precision = 6;
	if (rest->len && rest->ptr[0] == '.') {
		int n = 0;
		*rest = str_skip(*rest, 1);
		while (rest->len && rest->ptr[0] >= '0' && rest->ptr[0] <= '9' && n < 100) {
			n = n * 10 + rest->ptr[0] - '0';
			*rest = str_skip(*rest, 1);
		}
		*ret_precision = n < 100 ? n : 100;
	}
	if (rest->len == 0)
		return false;
	*ret_verb = rest->ptr[0];
	*rest = str_skip(*rest, 1);
	return strchr("sdfexXbo", *ret_verb) != NULL;
}

CEL_FN(format)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_BYTES_MAX);
	struct str rest = v[0].str;
	size_t used = 0;
	while (rest.len && !b.over && !c->budget->over) {
		char verb;
		int precision;
		if (rest.ptr[0] != '%') {
			strbuf_addc(&b, rest.ptr[0]);
			rest = str_skip(rest, 1);
			continue;
		}
		rest = str_skip(rest, 1);
		if (rest.len && rest.ptr[0] == '%') {
			strbuf_addc(&b, '%');
			rest = str_skip(rest, 1);
			continue;
		}
		if (!read_clause(&rest, &verb, &precision))
			return cel_error(c->a, "could not parse formatting clause");
		if (used == cel_size(&v[1]))
			return cel_error(c->a, "index %zu out of range", used);
		struct cel_value arg = cel_item(&v[1], used++, c->a);
		if (!add_clause(verb, precision, &arg, &b, c))
			return cel_error(c->a, "error during formatting: %s is no argument of %%%c",
					 cel_kind_name(arg.kind), verb);
	}
	return c->budget->over ? cel_over_budget(c) : cel_built(&b, c);
}

const struct cel_overload cel_format_fns[] = {{"format", "sl", 's', 'm', format}, {0}};
