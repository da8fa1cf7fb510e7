#include "alm/obj/query/jsonql_check.h"

#include "alm/obj/query/jsonql_node.h"
#include "alm/obj/query/jsonql_value.h"

struct jsonql_node *jsonql_fail(struct error *err, size_t at, const char *fmt, ...)
{
	struct error e;
	va_list args;
	va_start(args, fmt);
	error_vset(&e, E_USAGE, fmt, args);
	va_end(args);
	if (!err->code)
		error_set(err, E_USAGE, "column %zu: %.255s", at + 1, e.msg);
	return NULL;
}

struct jsonql_node *jsonql_check_arith(struct jsonql_node *n, struct error *err)
{
	const struct jsonql_node *sides[] = {n->a, n->b};
	for (size_t i = 0; i < 2; i++) {
		const struct jsonql_node *s = sides[i];
		if (node_is_truth(s) && s->type != NODE_PATH)
			return jsonql_fail(err, n->column, "%c needs values, not a truth value",
					   n->op);
		if (s->type != NODE_CONST || val_is_number(&s->value))
			continue;
		if (n->op != '+' || s->value.type != VAL_STRING)
			return jsonql_fail(err, n->column, "%c needs numbers", n->op);
	}
	if (node_is_literal(n)) {
		CLEANUP(arena_freep) struct arena *tmp = arena_new(4096);
		struct eval e = {.arena = tmp};
		struct vals v = {0};
		node_values(&e, n, &v);
		if (!v.n)
			return jsonql_fail(err, n->column, "%c has no value for these constants",
					   n->op);
	}
	return n;
}

static bool is_const_of(const struct jsonql_node *n, enum val_type type)
{
	return n->type == NODE_CONST && n->value.type == type;
}

static bool is_existence(const struct jsonql_node *n)
{
	return is_const_of(n, VAL_NULL) || is_const_of(n, VAL_DEFINED);
}

static bool is_ordering(int op)
{
	return op == CMP_GT || op == CMP_LT || op == CMP_GE || op == CMP_LE;
}

/* A constant that is no string where only a string works. */
static bool no_text(const struct jsonql_node *n)
{
	return (n->type == NODE_CONST && n->value.type != VAL_STRING) || n->type == NODE_NEG ||
	       (n->type == NODE_ARITH && n->op != '+') ||
	       (node_is_truth(n) && n->type != NODE_PATH);
}

struct jsonql_node *jsonql_check_cmp(struct jsonql_node *n, struct error *err)
{
	bool truth = (node_is_truth(n->a) && n->a->type != NODE_PATH && n->a->type != NODE_CONST) ||
		     (node_is_truth(n->b) && n->b->type != NODE_PATH && n->b->type != NODE_CONST);
	bool text_op = n->op == CMP_MATCH || n->op == CMP_NOMATCH || n->op == CMP_STARTS ||
		       n->op == CMP_ENDS;
	if (n->op == CMP_IS || n->op == CMP_ISNOT) {
		if (!is_existence(n->a) && !is_existence(n->b))
			return jsonql_fail(err, n->column,
					   "is and isnot take null or defined; use = ");
		return n;
	}
	if (is_const_of(n->a, VAL_DEFINED) || is_const_of(n->b, VAL_DEFINED))
		return jsonql_fail(err, n->column, "defined is for is and isnot");
	if (is_ordering(n->op) && truth)
		return jsonql_fail(err, n->column,
				   "an order of truth values; 1 < n < 5 is written 1 < n && n < 5");
	if (is_ordering(n->op) && (is_const_of(n->a, VAL_NULL) || is_const_of(n->b, VAL_NULL)))
		return jsonql_fail(err, n->column, "null has no order");
	if (text_op && (no_text(n->a) || no_text(n->b)))
		return jsonql_fail(err, n->column, "both sides must be strings");
	if (n->op == CMP_CONTAINS && no_text(n->a))
		return jsonql_fail(err, n->column, "the left side must be a list or a string");
	return n;
}

struct jsonql_node *jsonql_check_join(struct jsonql_node *n, struct error *err)
{
	if (node_is_truth(n->a) && node_is_truth(n->b))
		return n;
	return jsonql_fail(err, node_is_truth(n->a) ? n->b->column : n->a->column,
			   "%s joins truth values; this is a value",
			   n->type == NODE_AND ? "&&" : "||");
}

struct jsonql_node *jsonql_check_signed(struct jsonql_node *n, size_t at, struct error *err)
{
	bool is_truth = node_is_truth(n) && n->type != NODE_PATH;
	if (is_truth || (n->type == NODE_CONST && !val_is_number(&n->value)))
		return jsonql_fail(err, at, "a sign needs a number");
	return n;
}
