/*
 * cel_check: how an expression is checked, for the files that share it: cel_check.c walks the tree,
 * cel_check_types.c has types and errors, cel_check_call.c the calls, cel_check_macro.c the comprehensions. Users call cel_check() of cel.h.
 */
#ifndef ALM_OBJ_CEL_CEL_CHECK_H
#define ALM_OBJ_CEL_CEL_CHECK_H

#include "alm/obj/cel/cel.h"

#define CEL_TOLD_MAX 100 /* errors of one expression */
#define CEL_ARGS_MAX 8   /* of a call, with its receiver */

struct cel_check_var {
	const char *name;
	struct cel_type type;
};

struct cel_check_error {
	size_t at;
	const char *message;
	bool late; /* told if there are no others */
};

struct cel_checker {
	const struct cel_program *p;
	struct arena *a;
	struct strbuf *out;
	size_t errors, late;
	struct cel_check_error told[CEL_TOLD_MAX]; /* the first of them */
	struct cel_type *types;                    /* by id of the node; NULL: nobody asks */
	struct cel_check_var vars[CEL_VARS_MAX];   /* of comprehensions */
	size_t n_vars;
	unsigned formats; /* arguments of format() may be of any types */
	const struct cel_vars *given;
	bool sees_all;             /* fields without a type, too, which are dyn: of policies */
	const struct schema *root; /* the node that has apiVersion, kind and metadata; or NULL */
	const struct schema *metadata; /* what is seen of that; NULL: nobody has asked yet */
};

static inline struct cel_type cel_type_kind(enum cel_kind kind)
{
	return (struct cel_type){.kind = kind};
}

/* An ERROR type, which nothing that uses it tells again. */
struct cel_type cel_check_fail(struct cel_checker *c, size_t at, const char *message);
struct cel_type cel_check_no_overload(struct cel_checker *c, const struct cel_node *n,
				      const struct cel_type *types);
/* The name of a type, for a message; "" if none is told any more. */
const char *cel_check_text(struct cel_checker *c, struct cel_type t);
const struct cel_type *cel_check_boxed(struct cel_checker *c, struct cel_type t);
/* Told if nothing else is wrong. */
void cel_check_late(struct cel_checker *c, size_t at, const char *message);
struct cel_type cel_check_optional(struct cel_checker *c, struct cel_type t);
/* The field of an object; false: it has none of the name. */
bool cel_check_field(struct cel_checker *c, const struct schema *s, const char *name,
		     struct cel_type *ret);
/* May == be asked of values of these types? */
bool cel_check_comparable(const struct cel_checker *c, struct cel_type x, struct cel_type y);
/* Of CEL_OP_CALL, with the types of its arguments (of none: DYN). */
struct cel_type cel_check_call(struct cel_checker *c, const struct cel_node *n,
			       const struct cel_type types[CEL_ARGS_MAX]);
/* Can values of the kind be put into an order by sort()? */
bool cel_check_is_sortable(enum cel_kind kind);
/* Of each node of an expression without errors, by its id. */
const struct cel_type *cel_check_types(const struct cel_program *p, const struct schema *s,
				       bool is_root, struct arena *a);
/* Of CEL_OP_MACRO: puts its variables behind c->vars, whose number the caller sets back; false: it cannot loop over the
 * range, which is told. */
bool cel_check_declare(struct cel_checker *c, const struct cel_node *n, struct cel_type range);
/* Does its last argument make a value, or is it a test? */
bool cel_check_makes_value(const char *name);
/* What comes out; item: of its first variable, body: of its last argument. */
struct cel_type cel_check_made(struct cel_checker *c, const struct cel_node *n,
			       struct cel_type range, struct cel_type item, struct cel_type body);

#endif
