/*
 * cel_check.c: an expression against the types of the schema, when the definition is written:
 * undefined fields, undeclared names, functions that do not fit. What is not known is dyn and is
 * judged when it runs.
 */
#include <string.h>

#include "alm/obj/cel/cel.h"
#include "alm/obj/schema/schema_node.h"

#define TOLD_MAX 100 /* errors of one expression */

struct var {
	const char *name;
	struct cel_type type;
};

struct check {
	const struct cel_program *p;
	struct arena *a;
	struct strbuf *out;
	size_t errors;
	struct var vars[CEL_VARS_MAX]; /* of comprehensions */
	size_t n_vars;
	unsigned formats; /* arguments of format() may be of any types */
	const struct cel_vars *given;
	const struct schema *root; /* the node that has apiVersion, kind and metadata; or NULL */
};

static const struct cel_type dyn = {.kind = CEL_DYN};

static struct cel_type of_kind(enum cel_kind kind)
{
	return (struct cel_type){.kind = kind};
}

/* The next error. */
static bool is_told(const struct check *c)
{
	return c->out && c->errors < TOLD_MAX;
}

static struct cel_type fail(struct check *c, size_t at, const char *message)
{
	if (is_told(c))
		cel_report(c->p->text, at, message, c->out);
	c->errors++;
	return of_kind(CEL_ERROR);
}

static const struct cel_type *boxed(struct check *c, struct cel_type t)
{
	return arena_memdup(c->a, &t, sizeof(t));
}

/* NOLINTBEGIN(misc-no-recursion): the parser bounds the tree by CEL_DEPTH_MAX, schemas nest at
 * most SCHEMA_DEPTH_MAX deep */
static struct cel_type of_schema(struct check *c, const struct schema *s)
{
	if (!s || s->int_or_string)
		return dyn;
	switch (s->type) {
	case SCHEMA_OBJECT:
		if (s->additional && !s->properties)
			return (struct cel_type){.kind = CEL_MAP,
						 .inner = boxed(c, of_schema(c, s->additional))};
		return (struct cel_type){.kind = CEL_OBJECT, .s = s};
	case SCHEMA_ARRAY:
		return (struct cel_type){.kind = CEL_LIST,
					 .inner = boxed(c, of_schema(c, s->items))};
	case SCHEMA_STRING:
		return of_kind(cel_format_kind(s->format));
	case SCHEMA_INTEGER:
		return of_kind(CEL_INT);
	case SCHEMA_NUMBER:
		return of_kind(CEL_DOUBLE);
	case SCHEMA_BOOLEAN:
		return of_kind(CEL_BOOL);
	default:
		return dyn;
	}
}

static const char *type_text(struct check *c, struct cel_type t)
{
	return is_told(c) ? cel_type_text(&t, c->a) : "";
}

static struct cel_type check_node(struct check *c, const struct cel_node *n);

static struct cel_type ident(struct check *c, const struct cel_node *n)
{
	static const char *const types[] = {"int",   "uint", "double", "bool",      "string",
					    "bytes", "list", "map",    "null_type", "type"};
	for (size_t i = c->n_vars; i > 0; i--)
		if (strcmp(c->vars[i - 1].name, n->name) == 0)
			return c->vars[i - 1].type;
	const struct cel_var *given = cel_var_find(c->given, NULL, n->name);
	if (given)
		return given->type;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strcmp(types[i], n->name) == 0)
			return of_kind(CEL_TYPE);
	return fail(c, n->at,
		    arena_fmt(c->a, "undeclared reference to '%s' (in container '')", n->name));
}

/* metadata of the root and of embedded resources: name and generateName. */
static bool is_resource_field(struct check *c, const struct schema *s, const char *name,
			      struct cel_type *ret)
{
	if (s != c->root && !s->embedded)
		return false;
	bool is_text = strcmp(name, "apiVersion") == 0 || strcmp(name, "kind") == 0;
	*ret = is_text ? of_kind(CEL_STRING) : dyn;
	return is_text || strcmp(name, "metadata") == 0;
}

/* variables.NAME */
static bool is_variable(const struct check *c, const struct cel_node *n)
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

static struct cel_type undefined_field(struct check *c, const struct cel_node *n)
{
	return fail(c, n->at, arena_fmt(c->a, "undefined field '%s'", n->name));
}

static struct cel_type variable(struct check *c, const struct cel_node *n)
{
	const struct cel_var *v = cel_var_find(c->given, n->args[0]->name, n->name);
	return v ? v->type : undefined_field(c, n);
}

/* Of an Object every name is one. */
static bool member_type(const char *type, const char *name, struct cel_type *ret)
{
	static const char *const texts[] = {"op", "path", "from", NULL};
	bool is_patch = strcmp(type, "JSONPatch") == 0, is_text = cstr_in(name, texts);
	*ret = is_patch && is_text ? of_kind(CEL_STRING) : dyn;
	return !is_patch || is_text || strcmp(name, "value") == 0;
}

static struct cel_type field(struct check *c, const struct cel_node *n)
{
	if (is_variable(c, n))
		return variable(c, n);
	struct cel_type t = check_node(c, n->args[0]), found;
	if (t.kind == CEL_DYN || t.kind == CEL_ERROR)
		return t;
	if (t.kind == CEL_OPTIONAL)
		return t; /* what is selected of it is one, too */
	if (t.kind == CEL_MAP)
		return t.inner ? *t.inner : dyn;
	if (t.kind == CEL_MESSAGE)
		return member_type(t.name, n->name, &found) ? found : undefined_field(c, n);
	if (t.kind != CEL_OBJECT)
		return fail(c, n->at,
			    arena_fmt(c->a, "type '%s' does not support field selection",
				      type_text(c, t)));
	const char *name = cel_unescape(n->name, c->a);
	if (is_resource_field(c, t.s, name, &found))
		return found;
	const struct schema *s = schema_property(t.s, name);
	return s ? of_schema(c, s) : undefined_field(c, n);
}

static struct cel_type no_overload(struct check *c, const struct cel_node *n,
				   const struct cel_type *types)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "found no matching overload for '%s' applied to '", n->name);
	for (size_t i = 0; i < n->n; i++) {
		const char *open = i == 0 && !n->member ? "(" : i == 1 && n->member ? ".(" : "";
		strbuf_addf(&b, "%s%s%s", open, i > (n->member ? 1U : 0U) ? ", " : "",
			    type_text(c, types[i]));
	}
	strbuf_adds(&b, n->member && n->n == 1 ? ".()'" : ")'");
	return fail(c, n->at, b.buf);
}

static bool comparable(struct cel_type x, struct cel_type y)
{
	bool x_number = x.kind == CEL_INT || x.kind == CEL_UINT || x.kind == CEL_DOUBLE;
	bool y_number = y.kind == CEL_INT || y.kind == CEL_UINT || y.kind == CEL_DOUBLE;
	if (x.kind == CEL_DYN || y.kind == CEL_DYN || x.kind == CEL_NULL || y.kind == CEL_NULL)
		return true;
	bool x_map = x.kind == CEL_MAP || x.kind == CEL_OBJECT;
	bool y_map = y.kind == CEL_MAP || y.kind == CEL_OBJECT;
	return x.kind == y.kind || (x_number && y_number) || (x_map && y_map);
}

/* x.?name of an object: as x.name it is a field or an error. */
static struct cel_type optional_field(struct check *c, const struct cel_node *n,
				      const struct schema *s)
{
	const char *name = n->args[1]->literal.str.ptr;
	if (is_resource_field(c, s, name, &(struct cel_type){0}) || schema_property(s, name))
		return of_kind(CEL_OPTIONAL);
	return fail(c, n->at, arena_fmt(c->a, "undefined field '%s'", name));
}

static struct cel_type call(struct check *c, const struct cel_node *n)
{
	struct cel_type types[8];
	enum cel_kind kinds[8] = {CEL_DYN};
	bool known, broken = false;
	if (n->n > ARRAY_LEN(types))
		return fail(c, n->at, "too many arguments");
	bool formats = n->member && strcmp(n->name, "format") == 0;
	types[0] = dyn; /* what a function without arguments is of */
	for (size_t i = 0; i < n->n; i++) {
		c->formats += formats;
		types[i] = check_node(c, n->args[i]);
		c->formats -= formats;
		kinds[i] = types[i].kind;
		broken |= types[i].kind == CEL_ERROR;
	}
	enum cel_kind result = cel_fn_type(n->name, n->member, kinds, n->n, &known);
	if (!known)
		return fail(
			c, n->at,
			arena_fmt(c->a, "undeclared reference to '%s' (in container '')", n->name));
	if (broken)
		return of_kind(CEL_ERROR);
	if (strcmp(n->name, "_?._") == 0 && types[0].kind == CEL_OBJECT)
		return optional_field(c, n, types[0].s);
	bool equality = strcmp(n->name, "_==_") == 0 || strcmp(n->name, "_!=_") == 0;
	if (result == CEL_ERROR || (equality && !comparable(types[0], types[1])))
		return no_overload(c, n, types);
	bool keeps_items = strcmp(n->name, "_[_]") == 0 || strcmp(n->name, "min") == 0 ||
			   strcmp(n->name, "max") == 0 || strcmp(n->name, "sum") == 0;
	if (keeps_items && n->n > 0)
		return types[0].inner ? *types[0].inner : dyn;
	if (strcmp(n->name, "_+_") == 0 && result == CEL_LIST && types[0].inner)
		return types[0];
	return of_kind(result);
}

static void want_bool(struct check *c, const struct cel_node *n)
{
	struct cel_type t = check_node(c, n);
	if (t.kind != CEL_BOOL && t.kind != CEL_DYN && t.kind != CEL_ERROR)
		fail(c, n->at,
		     arena_fmt(c->a, "expected type 'bool' but found '%s'", type_text(c, t)));
}

static struct cel_type conditional(struct check *c, const struct cel_node *n)
{
	want_bool(c, n->args[0]);
	struct cel_type x = check_node(c, n->args[1]), y = check_node(c, n->args[2]);
	if (x.kind == y.kind)
		return x;
	if (x.kind == CEL_ERROR || y.kind == CEL_ERROR || comparable(x, y))
		return dyn;
	return fail(c, n->at,
		    arena_fmt(c->a,
			      "found no matching overload for '_?_:_' applied to '(bool, %s, %s)'",
			      type_text(c, x), type_text(c, y)));
}

/* x.optMap(v, e), x.optFlatMap(v, e) */
static struct cel_type optional_macro(struct check *c, const struct cel_node *n)
{
	struct cel_type range = check_node(c, n->args[0]);
	if (range.kind == CEL_ERROR)
		return range;
	if (range.kind != CEL_OPTIONAL && range.kind != CEL_DYN)
		return no_overload(c, n, &range);
	if (c->n_vars == CEL_VARS_MAX)
		return fail(c, n->at, "too many nested comprehensions");
	c->vars[c->n_vars++] = (struct var){.name = n->var, .type = dyn};
	struct cel_type body = check_node(c, n->args[1]);
	c->n_vars--;
	return body.kind == CEL_ERROR ? body : of_kind(CEL_OPTIONAL);
}

static struct cel_type macro(struct check *c, const struct cel_node *n)
{
	if (cstr_has_prefix(n->name, "opt"))
		return optional_macro(c, n);
	struct cel_type range = check_node(c, n->args[0]), item = dyn, body = dyn;
	if (range.kind == CEL_LIST && range.inner)
		item = *range.inner;
	else if (range.kind == CEL_MAP)
		item = of_kind(CEL_STRING);
	else if (range.kind != CEL_DYN && range.kind != CEL_ERROR && range.kind != CEL_LIST)
		return fail(c, n->args[0]->at,
			    arena_fmt(c->a,
				      "expression of type '%s' cannot be range of a comprehension "
				      "(must be list, map, or dynamic)",
				      type_text(c, range)));
	if (c->n_vars == CEL_VARS_MAX)
		return fail(c, n->at, "too many nested comprehensions");
	c->vars[c->n_vars++] = (struct var){.name = n->var, .type = item};
	bool is_map = strcmp(n->name, "map") == 0;
	if (!is_map || n->n == 3)
		want_bool(c, n->args[1]);
	if (is_map)
		body = check_node(c, n->args[n->n - 1]);
	c->n_vars--;
	if (is_map)
		return (struct cel_type){.kind = CEL_LIST, .inner = boxed(c, body)};
	if (strcmp(n->name, "filter") == 0)
		return (struct cel_type){.kind = CEL_LIST, .inner = boxed(c, item)};
	return of_kind(CEL_BOOL);
}

/* Of a literal: what has a value if it is there. */
static struct cel_type entry(struct check *c, const struct cel_node *n)
{
	if (n->op != CEL_OP_ENTRY)
		return check_node(c, n);
	struct cel_type t = check_node(c, n->args[0]);
	if (t.kind == CEL_OPTIONAL || t.kind == CEL_DYN || t.kind == CEL_ERROR)
		return t.kind == CEL_ERROR ? t : dyn;
	return fail(c, n->at,
		    arena_fmt(c->a, "expected type 'optional_type(dyn)' but found '%s'",
			      type_text(c, t)));
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
static struct cel_type items(struct check *c, const struct cel_node *n, size_t first, size_t step)
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
			fail(c, n->args[i]->at,
			     arena_fmt(c->a, "expected type '%s' but found '%s'", type_text(c, of),
				       type_text(c, t)));
		of = dyn;
		exact = false;
	}
	return of;
}

static struct cel_type list(struct check *c, const struct cel_node *n)
{
	struct cel_type t = of_kind(CEL_LIST);
	if (n->n > 0)
		t.inner = boxed(c, items(c, n, 0, 1));
	return t;
}

static struct cel_type map(struct check *c, const struct cel_node *n)
{
	struct cel_type t = of_kind(CEL_MAP), key;
	if (n->n == 0)
		return t;
	key = items(c, n, 0, 2);
	struct cel_type value = items(c, n, 1, 2);
	if (key.kind == CEL_STRING)
		t.inner = boxed(c, value);
	return t;
}

static bool is_message(const char *name)
{
	return strcmp(name, "Object") == 0 || strcmp(name, "JSONPatch") == 0 ||
	       cstr_has_prefix(name, "Object.");
}

static struct cel_type message(struct check *c, const struct cel_node *n)
{
	struct cel_type t = {.kind = CEL_MESSAGE, .name = n->name}, wanted;
	bool known = c->given->messages && is_message(n->name), broken = false;
	if (!known)
		return fail(
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
			fail(c, n->args[i]->at,
			     arena_fmt(c->a,
				       "expected type of field '%s' is '%s' but provided type is "
				       "'%s'",
				       name.ptr, there ? type_text(c, wanted) : "",
				       type_text(c, found)));
		broken |= !fits;
	}
	return broken ? of_kind(CEL_ERROR) : t;
}

static struct cel_type check_node(struct check *c, const struct cel_node *n)
{
	switch (n->op) {
	case CEL_OP_LITERAL:
		return of_kind(n->literal.kind);
	case CEL_OP_IDENT:
		return ident(c, n);
	case CEL_OP_SELECT:
		return field(c, n);
	case CEL_OP_HAS:
		return field(c, n).kind == CEL_ERROR ? of_kind(CEL_ERROR) : of_kind(CEL_BOOL);
	case CEL_OP_CALL:
		return call(c, n);
	case CEL_OP_AND:
	case CEL_OP_OR:
		for (size_t i = 0; i < n->n; i++)
			want_bool(c, n->args[i]);
		return of_kind(CEL_BOOL);
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
/* NOLINTEND(misc-no-recursion) */

static struct check *check_new(const struct cel_program *p, const struct cel_vars *vars,
			       struct arena *a, struct strbuf *b)
{
	struct check *c = ARENA_NEW(a, struct check);
	c->p = p;
	c->a = a;
	c->out = b;
	c->given = vars;
	return c;
}

struct cel_type cel_type_of(const struct schema *s, struct arena *a)
{
	struct check c = {.a = a};
	return of_schema(&c, s);
}

size_t cel_check_with(const struct cel_program *p, const struct cel_vars *vars, struct arena *a,
		      struct strbuf *b, struct cel_type *ret)
{
	struct check *c = check_new(p, vars, a, b);
	*ret = check_node(c, p->root);
	return c->errors;
}

size_t cel_check(const struct cel_program *p, const struct schema *s, bool is_root, struct arena *a,
		 struct strbuf *b, enum cel_kind *ret_kind)
{
	struct cel_type self = cel_type_of(s, a);
	struct cel_type was = p->old_is_optional ? of_kind(CEL_OPTIONAL) : self;
	const struct cel_var items[] = {{.name = "self", .type = self},
					{.name = "oldSelf", .type = was}};
	const struct cel_vars vars = {.items = items, .n = ARRAY_LEN(items)};
	struct check *c = check_new(p, &vars, a, b);
	c->root = is_root ? s : NULL;
	*ret_kind = check_node(c, p->root).kind;
	return c->errors;
}
