/*
 * cel_check.c: an expression against the types of the schema, when the definition is written:
 * undefined fields, undeclared names, functions that do not fit. What is not known is dyn and is
 * judged when it runs.
 */
#include <string.h>

#include "alm/obj/cel/cel_check.h"
#include "alm/obj/cel/cel_cost.h"
#include "alm/obj/schema/schema_node.h"

static const struct cel_type dyn = {.kind = CEL_DYN};

static struct cel_type check_node(struct cel_checker *c, const struct cel_node *n);

static struct cel_type ident(struct cel_checker *c, const struct cel_node *n)
{
	static const struct {
		const char *name;
		struct cel_type of;
	} types[] = {{"int", {.kind = CEL_INT}},        {"uint", {.kind = CEL_UINT}},
		     {"double", {.kind = CEL_DOUBLE}},  {"bool", {.kind = CEL_BOOL}},
		     {"string", {.kind = CEL_STRING}},  {"bytes", {.kind = CEL_BYTES}},
		     {"list", {.kind = CEL_LIST}},      {"map", {.kind = CEL_MAP}},
		     {"null_type", {.kind = CEL_NULL}}, {"type", {.kind = CEL_TYPE}}};
	for (size_t i = c->n_vars; i > 0; i--)
		if (strcmp(c->vars[i - 1].name, n->name) == 0)
			return c->vars[i - 1].type;
	const struct cel_var *given = cel_var_find(c->given, NULL, n->name);
	if (given)
		return given->type;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strcmp(types[i].name, n->name) == 0)
			return (struct cel_type){.kind = CEL_TYPE, .inner = &types[i].of};
	return cel_check_fail(
		c, n->at,
		arena_fmt(c->a, "undeclared reference to '%s' (in container '')", n->name));
}

/* variables.NAME */
static bool is_variable(const struct cel_checker *c, const struct cel_node *n)
{
	const struct cel_node *of = n->args[0];
	if (of->op != CEL_OP_IDENT)
		return false;
	for (size_t i = 0; i < c->n_vars; i++)
		if (strcmp(c->vars[i].name, of->name) == 0)
			return false;
	for (size_t i = 0; i < c->given->n; i++)
		if (cstr_eq(c->given->items[i].of, of->name))
			return true;
	return false;
}

static struct cel_type undefined_field(struct cel_checker *c, const struct cel_node *n)
{
	return cel_check_fail(c, n->at, arena_fmt(c->a, "undefined field '%s'", n->name));
}

static struct cel_type variable(struct cel_checker *c, const struct cel_node *n)
{
	const struct cel_var *v = cel_var_find(c->given, n->args[0]->name, n->name);
	return v ? v->type : undefined_field(c, n);
}

/* Of an Object every name is one. */
static bool member_type(const char *type, const char *name, struct cel_type *ret)
{
	static const char *const texts[] = {"op", "path", "from", NULL};
	bool is_patch = strcmp(type, "JSONPatch") == 0, is_text = cstr_in(name, texts);
	*ret = is_patch && is_text ? cel_type_kind(CEL_STRING) : dyn;
	return !is_patch || is_text || strcmp(name, "value") == 0;
}

/* NOLINTBEGIN(misc-no-recursion): the parser bounds the tree by CEL_DEPTH_MAX */
static struct cel_type field(struct cel_checker *c, const struct cel_node *n)
{
	if (is_variable(c, n))
		return variable(c, n);
	struct cel_type t = check_node(c, n->args[0]), found;
	if (t.kind == CEL_DYN || t.kind == CEL_ERROR)
		return t;
	bool optional = t.kind == CEL_OPTIONAL; /* what is selected of it is one, too */
	if (optional)
		t = t.inner ? *t.inner : dyn;
	bool there = true;
	if (t.kind == CEL_MESSAGE)
		there = member_type(t.name, n->name, &found);
	else if (t.kind == CEL_OBJECT)
		there = cel_check_field(c, t.s, cel_unescape(n->name, c->a), &found);
	else if (t.kind == CEL_DYN || t.kind == CEL_MAP)
		found = t.inner ? *t.inner : dyn;
	else
		return cel_check_fail(c, n->at,
				      arena_fmt(c->a, "type '%s' does not support field selection",
						cel_check_text(c, t)));
	if (!there)
		return undefined_field(c, n);
	return optional ? cel_check_optional(c, found) : found;
}

static void want_bool(struct cel_checker *c, const struct cel_node *n)
{
	struct cel_type t = check_node(c, n);
	if (t.kind != CEL_BOOL && t.kind != CEL_DYN && t.kind != CEL_ERROR)
		cel_check_fail(c, n->at,
			       arena_fmt(c->a, "expected type 'bool' but found '%s'",
					 cel_check_text(c, t)));
}

static struct cel_type conditional(struct cel_checker *c, const struct cel_node *n)
{
	struct cel_type types[3];
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		types[i] = check_node(c, n->args[i]);
	struct cel_type test = types[0], x = types[1], y = types[2];
	if (test.kind == CEL_ERROR || x.kind == CEL_ERROR || y.kind == CEL_ERROR)
		return dyn;
	if (test.kind != CEL_BOOL && test.kind != CEL_DYN)
		return cel_check_no_overload(c, n, types);
	if (x.kind == y.kind && cel_check_comparable(c, x, y))
		return x;
	return cel_check_comparable(c, x, y) ? dyn : cel_check_no_overload(c, n, types);
}

/* Of a literal: what has a value if it is there. */
static struct cel_type entry(struct cel_checker *c, const struct cel_node *n)
{
	if (n->op != CEL_OP_ENTRY)
		return check_node(c, n);
	struct cel_type t = check_node(c, n->args[0]);
	if (t.kind == CEL_OPTIONAL || t.kind == CEL_DYN || t.kind == CEL_ERROR)
		return t.kind == CEL_ERROR ? t : dyn;
	return cel_check_fail(c, n->at,
			      arena_fmt(c->a, "expected type 'optional_type(dyn)' but found '%s'",
					cel_check_text(c, t)));
}

static bool same_type(const struct cel_type *x, const struct cel_type *y)
{
	for (; x && y; x = x->inner, y = y->inner)
		if (x->kind != y->kind || !cstr_eq(x->name, y->name))
			return false;
	return true;
}

/* Is the type known to be what it is upstream? Functions' results are told as dyn here more often. */
static bool is_exact(const struct cel_node *n)
{
	if (n->op == CEL_OP_ENTRY)
		n = n->args[0];
	return n->op != CEL_OP_MACRO && n->op != CEL_OP_COND &&
	       (n->op != CEL_OP_CALL || strcmp(n->name, "_?._") == 0);
}

/* Items of a list, values of a map: every step-th, from the first. All are of one type. */
static struct cel_type items(struct cel_checker *c, const struct cel_node *n, size_t first,
			     size_t step)
{
	struct cel_type of = dyn;
	bool exact = false;
	for (size_t i = first; i < n->n; i += step) {
		struct cel_type t = entry(c, n->args[i]);
		if (i == first) {
			of = t;
			exact = is_exact(n->args[i]);
			continue;
		}
		if (of.kind == CEL_ERROR || t.kind == CEL_ERROR || same_type(&of, &t))
			continue;
		bool told = !c->formats && ((of.kind != CEL_DYN && t.kind != CEL_DYN) ||
					    (exact && is_exact(n->args[i])));
		if (told)
			cel_check_late(c, n->args[i]->at,
				       arena_fmt(c->a, "expected type '%s' but found '%s'",
						 cel_check_text(c, of), cel_check_text(c, t)));
		of = dyn;
		exact = false;
	}
	return of;
}

static struct cel_type list(struct cel_checker *c, const struct cel_node *n)
{
	struct cel_type t = cel_type_kind(CEL_LIST);
	if (n->n > 0)
		t.inner = cel_check_boxed(c, items(c, n, 0, 1));
	return t;
}

static struct cel_type map(struct cel_checker *c, const struct cel_node *n)
{
	struct cel_type t = cel_type_kind(CEL_MAP), key;
	if (n->n == 0)
		return t;
	key = items(c, n, 0, 2);
	struct cel_type value = items(c, n, 1, 2);
	if (key.kind == CEL_STRING)
		t.inner = cel_check_boxed(c, value);
	return t;
}

static bool is_message(const char *name)
{
	return strcmp(name, "Object") == 0 || strcmp(name, "JSONPatch") == 0 ||
	       cstr_has_prefix(name, "Object.");
}

static struct cel_type message(struct cel_checker *c, const struct cel_node *n)
{
	struct cel_type t = {.kind = CEL_MESSAGE, .name = n->name}, wanted;
	bool known = c->given->messages && is_message(n->name), broken = false;
	if (!known)
		return cel_check_fail(
			c, n->at,
			arena_fmt(c->a, "undeclared reference to '%s' (in container '')", n->name));
	for (size_t i = 0; i < n->n; i += 2) {
		struct str name = n->args[i]->literal.str;
		struct cel_type found = entry(c, n->args[i + 1]);
		bool there = member_type(n->name, name.ptr, &wanted);
		bool fits = there && (wanted.kind == CEL_DYN || found.kind == CEL_DYN ||
				      wanted.kind == found.kind);
		broken |= found.kind == CEL_ERROR;
		if (!fits && found.kind != CEL_ERROR)
			cel_check_fail(
				c, n->args[i]->at,
				arena_fmt(
					c->a,
					"expected type of field '%s' is '%s' but provided type is "
					"'%s'",
					name.ptr, there ? cel_check_text(c, wanted) : "",
					cel_check_text(c, found)));
		broken |= !fits;
	}
	return broken ? cel_type_kind(CEL_ERROR) : t;
}

static struct cel_type call(struct cel_checker *c, const struct cel_node *n)
{
	struct cel_type types[CEL_ARGS_MAX];
	bool formats = n->member && strcmp(n->name, "format") == 0;
	if (n->n > CEL_ARGS_MAX)
		return cel_check_fail(c, n->at, "too many arguments");
	types[0] = dyn; /* what a function without arguments is of */
	for (size_t i = 0; i < n->n; i++) {
		c->formats += formats;
		types[i] = check_node(c, n->args[i]);
		c->formats -= formats;
	}
	return cel_check_call(c, n, types);
}

static struct cel_type macro(struct cel_checker *c, const struct cel_node *n)
{
	struct cel_type range = check_node(c, n->args[0]), body = dyn;
	size_t before = c->n_vars;
	if (!cel_check_declare(c, n, range)) {
		c->n_vars = before;
		return cel_type_kind(CEL_ERROR);
	}
	bool makes = cel_check_makes_value(n->name);
	if (!makes || n->n == 3)
		want_bool(c, n->args[1]);
	if (makes)
		body = check_node(c, n->args[n->n - 1]);
	struct cel_type item = c->vars[before].type;
	c->n_vars = before;
	return cel_check_made(c, n, range, item, body);
}

static struct cel_type by_op(struct cel_checker *c, const struct cel_node *n)
{
	switch (n->op) {
	case CEL_OP_LITERAL:
		return cel_type_kind(n->literal.kind);
	case CEL_OP_IDENT:
		return ident(c, n);
	case CEL_OP_SELECT:
		return field(c, n);
	case CEL_OP_HAS:
		return field(c, n).kind == CEL_ERROR ? cel_type_kind(CEL_ERROR)
						     : cel_type_kind(CEL_BOOL);
	case CEL_OP_CALL:
		return call(c, n);
	case CEL_OP_AND:
	case CEL_OP_OR:
		for (size_t i = 0; i < n->n; i++)
			want_bool(c, n->args[i]);
		return cel_type_kind(CEL_BOOL);
	case CEL_OP_COND:
		return conditional(c, n);
	case CEL_OP_LIST:
		return list(c, n);
	case CEL_OP_MAP:
		return map(c, n);
	case CEL_OP_MESSAGE:
		return message(c, n);
	case CEL_OP_ENTRY:
		return entry(c, n);
	case CEL_OP_MACRO:
		return macro(c, n);
	}
	return dyn;
}
static struct cel_type check_node(struct cel_checker *c, const struct cel_node *n)
{
	struct cel_type t = by_op(c, n);
	if (c->types)
		c->types[n->id] = t;
	return t;
}
/* NOLINTEND(misc-no-recursion) */

/* They stand in the order of the text, whichever was found first. */
static size_t tell(struct cel_checker *c)
{
	size_t n = c->errors < CEL_TOLD_MAX ? c->errors : CEL_TOLD_MAX;
	for (size_t i = 1; c->out && i < n; i++) {
		struct cel_check_error e = c->told[i];
		size_t k = i;
		for (; k > 0 && c->told[k - 1].at > e.at; k--)
			c->told[k] = c->told[k - 1];
		c->told[k] = e;
	}
	for (size_t i = 0; c->out && i < n; i++)
		if (!c->told[i].late || c->late == c->errors)
			cel_report(c->p->text, c->told[i].at, c->told[i].message, c->out);
	return c->errors;
}

static struct cel_checker *check_new(const struct cel_program *p, const struct cel_vars *vars,
				     struct arena *a, struct strbuf *b)
{
	struct cel_checker *c = ARENA_NEW(a, struct cel_checker);
	c->p = p;
	c->a = a;
	c->out = b;
	c->given = vars;
	return c;
}

size_t cel_check_with(const struct cel_program *p, const struct cel_vars *vars, struct arena *a,
		      struct strbuf *b, struct cel_type *ret)
{
	struct cel_checker *c = check_new(p, vars, a, b);
	c->sees_all = true;
	*ret = check_node(c, p->root);
	return tell(c);
}

static struct cel_type check_self(const struct cel_program *p, const struct schema *s, bool is_root,
				  struct cel_checker *c)
{
	struct cel_type self = cel_type_of(s, c->a);
	struct cel_type was = p->old_is_optional ? cel_check_optional(c, self) : self;
	const struct cel_var items[] = {{.name = "self", .type = self},
					{.name = "oldSelf", .type = was}};
	const struct cel_vars vars = {.items = items, .n = ARRAY_LEN(items)};
	c->given = &vars;
	c->root = is_root ? s : NULL;
	struct cel_type t = check_node(c, p->root);
	c->given = NULL;
	return t;
}

size_t cel_check(const struct cel_program *p, const struct schema *s, bool is_root, struct arena *a,
		 struct strbuf *b, enum cel_kind *ret_kind)
{
	struct cel_checker *c = check_new(p, NULL, a, b);
	*ret_kind = check_self(p, s, is_root, c).kind;
	return tell(c);
}

const struct cel_type *cel_check_types(const struct cel_program *p, const struct schema *s,
				       bool is_root, struct arena *a)
{
	struct cel_checker *c = check_new(p, NULL, a, NULL);
	c->types = ARENA_ARRAY(a, struct cel_type, p->n_nodes);
	(void)check_self(p, s, is_root, c);
	return c->types;
}
