/* policy_expr: the expressions of a policy: what names they may use, and of what type they are. */
#ifndef ALM_APISERVER_ADMISSION_POLICY_EXPR_H
#define ALM_APISERVER_ADMISSION_POLICY_EXPR_H

#include "alm/obj/cel/cel.h"
#include "alm/obj/obj.h"

#define POLICY_VARIABLES_MAX 128

/* The names, in this order in vars.items; those of spec.variables follow. */
enum policy_name {
	NAME_OBJECT,
	NAME_OLD,
	NAME_REQUEST,
	NAME_SPACE,
	NAME_AUTHORIZER,
	NAME_ABOUT,
	NAME_PARAMS,
	NAME_NONE, /* "variables" without one, so that the word is known */
	NAME_VARIABLE,
};

/* What an expression is for: its type. */
enum policy_use {
	USE_VARIABLE,   /* any */
	USE_CONDITION,  /* bool */
	USE_VALIDATION, /* bool */
	USE_MESSAGE,    /* string */
	USE_ANNOTATION, /* string or null */
	USE_APPLY,      /* Object */
	USE_PATCH,      /* list(JSONPatch) */
};

struct policy_expr {
	const char *text;
	const struct cel_program *program; /* NULL: none */
	struct cel_type type;
	const char *
		broken; /* "compilation failed: ...", "must evaluate to bool but got int"; or NULL */
};

/* The names of one policy. Grows by policy_scope_add(). */
struct policy_scope {
	struct arena *a;
	struct cel_var items[NAME_VARIABLE + POLICY_VARIABLES_MAX];
	size_t n;
};

void policy_scope_init(struct policy_scope *s, const struct obj *policy, struct arena *a);
/* One of spec.variables; past the limit it is not known. */
void policy_scope_add(struct policy_scope *s, const char *name, struct cel_type type);
/* What an expression of that use may name. */
struct cel_vars policy_scope_of(const struct policy_scope *s, enum policy_use use);
void policy_expr_compile(const char *text, enum policy_use use, const struct policy_scope *s,
			 struct policy_expr *ret);

#endif
