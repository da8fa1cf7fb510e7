/*
 * cel_eval: how a tree is evaluated, for the files that share it: cel_eval.c has the nodes,
 * cel_macro.c the comprehensions. Users call cel_eval() of cel.h.
 */
#ifndef ALM_OBJ_CEL_CEL_EVAL_H
#define ALM_OBJ_CEL_CEL_EVAL_H

#include "alm/obj/cel/cel.h"

struct cel_binding {
	const char *name;
	struct cel_value value;
};

struct cel_evaluator {
	struct cel_call call;
	struct cel_binding vars[CEL_VARS_MAX]; /* of comprehensions */
	size_t n_vars;
	const struct cel_vars *given;
	struct cel_value (*eval)(struct cel_evaluator *e,
				 const struct cel_node *n); /* cel_eval.c */
};

/* False if the budget, or the arena, has no room for one step more. */
static inline bool cel_eval_step(struct cel_evaluator *e)
{
	struct cel_budget *b = e->call.budget;
	if (b->left == 0 || arena_over(e->call.a)) {
		b->over = true;
		return false;
	}
	b->left--;
	return true;
}

/* Is a call of the name with so many arguments, the range among them, a comprehension? Of how many
 * variables? */
bool cel_is_macro(const char *name, size_t args, size_t *ret_vars);
/* Of CEL_OP_MACRO. */
struct cel_value cel_eval_macro(struct cel_evaluator *e, const struct cel_node *n);

#endif
