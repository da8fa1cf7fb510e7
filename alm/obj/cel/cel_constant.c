/* cel_constant.c: conversions of what is written out, int('a'), which fail whatever the object is: as upstream they
 * are made once, when the rule is written. */
#include <string.h>

#include "alm/obj/cel/cel_check.h"

static bool converts(const struct cel_node *n)
{
	static const char *const names[] = {"bool",     "bytes", "double", "dyn",
					    "duration", "int",   "string", "timestamp",
					    "type",     "uint",  NULL};
	return n->op == CEL_OP_CALL && n->n == 1 && !n->member && cstr_in(n->name, names);
}

/* NOLINTBEGIN(misc-no-recursion): the parser bounds the tree by CEL_DEPTH_MAX */
static bool is_constant(const struct cel_node *n)
{
	bool is = n->op == CEL_OP_LITERAL || n->op == CEL_OP_LIST || n->op == CEL_OP_MAP ||
		  converts(n);
	for (size_t i = 0; is && i < n->n; i++)
		is = is_constant(n->args[i]);
	return is;
}

static const char *fault_of(const struct cel_program *p, struct cel_node *n, struct arena *a)
{
	const struct cel_vars none = {0};
	struct cel_budget budget = {.left = CEL_NODES_MAX};
	const char *fault = NULL;
	for (size_t i = 0; i < n->n && !fault; i++)
		fault = fault_of(p, n->args[i], a);
	if (fault || !converts(n) || !is_constant(n))
		return fault;
	struct cel_program part = *p;
	part.root = n;
	struct cel_value v = cel_eval_with(&part, &none, a, &budget);
	return v.kind == CEL_ERROR ? arena_strndup(a, v.str.ptr, v.str.len) : NULL;
}
/* NOLINTEND(misc-no-recursion) */

const char *cel_constant_fault(const struct cel_program *p, struct arena *a)
{
	return fault_of(p, p->root, a);
}
