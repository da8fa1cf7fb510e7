/* cel_eval.c: a checked tree over an object, with a budget of steps. */
#include <string.h>

#include "alm/obj/cel/cel_eval.h"
#include "alm/obj/cel/cel_message.h"
#include "alm/obj/schema/schema_node.h"

static struct cel_value eval(struct cel_evaluator *e, const struct cel_node *n);

static bool is_error(const struct cel_value *v)
{
	return v->kind == CEL_ERROR;
}

const struct cel_var *cel_var_find(const struct cel_vars *vars, const char *of, const char *name)
{
	for (size_t i = vars->n; i > 0; i--) {
		const struct cel_var *v = &vars->items[i - 1];
		if (cstr_eq(v->of, of) && strcmp(v->name, name) == 0)
			return v;
	}
	return NULL;
}

const char *cel_unescape(const char *name, struct arena *a)
{
	static const struct {
		const char *escape, *text;
	} rows[] = {
		{"__underscores__", "__"}, {"__dot__", "."}, {"__dash__", "-"}, {"__slash__", "/"}};
	static const char *const words[] = {
		"true",     "false",   "null",      "in",       "as",  "break",  "const",
		"continue", "else",    "for",       "function", "if",  "import", "let",
		"loop",     "package", "namespace", "return",   "var", "void",   "while"};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_MAX);
	struct str s = str_of(name);
	if (!strstr(name, "__"))
		return name;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_has_prefix(s, STR("__")) && str_has_suffix(s, STR("__")) && s.len > 4 &&
		    str_is(str_sub(s, 2, s.len - 4), words[i]))
			return words[i];
	while (s.len > 0) {
		size_t used = 0;
		for (size_t i = 0; i < ARRAY_LEN(rows) && !used; i++)
			if (str_has_prefix(s, str_of(rows[i].escape))) {
				strbuf_adds(&b, rows[i].text);
				used = strlen(rows[i].escape);
			}
		if (!used)
			strbuf_addc(&b, s.ptr[0]);
		s = str_skip(s, used ? used : 1);
	}
	return arena_strdup(a, b.buf);
}

static struct cel_value ident(struct cel_evaluator *e, const struct cel_node *n)
{
	static const struct {
		const char *name;
		enum cel_kind kind;
	} types[] = {{"int", CEL_INT},   {"uint", CEL_UINT},     {"double", CEL_DOUBLE},
		     {"bool", CEL_BOOL}, {"string", CEL_STRING}, {"bytes", CEL_BYTES},
		     {"list", CEL_LIST}, {"map", CEL_MAP},       {"null_type", CEL_NULL},
		     {"type", CEL_TYPE}};
	for (size_t i = e->n_vars; i > 0; i--)
		if (strcmp(e->vars[i - 1].name, n->name) == 0)
			return e->vars[i - 1].value;
	const struct cel_var *given = cel_var_find(e->given, NULL, n->name);
	if (given)
		return given->value;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strcmp(types[i].name, n->name) == 0)
			return (struct cel_value){.kind = CEL_TYPE, .type = types[i].kind};
	return cel_error(e->call.a, "no such attribute(s): %s", n->name);
}

/* The member of a map: declared fields are written escaped, keys of a map as they are. */
static bool member_of(struct cel_evaluator *e, const struct cel_value *map, const char *name,
		      struct cel_value *ret)
{
	bool declared = map->o && map->s && (map->s->properties || !map->s->additional);
	const char *key = declared ? cel_unescape(name, e->call.a) : name;
	struct cel_value text = cel_string(str_of(key));
	return cel_lookup(map, &text, e->call.budget, ret);
}

/* What is selected of an optional is one. */
static struct cel_value of_optional(struct cel_evaluator *e, const struct cel_node *n,
				    const struct cel_value *x)
{
	struct cel_value found, none = {.kind = CEL_OPTIONAL};
	bool is = x->inner && x->inner->kind == CEL_MAP && member_of(e, x->inner, n->name, &found);
	if (n->op == CEL_OP_HAS)
		return cel_bool(is);
	if (is)
		none.inner = arena_memdup(e->call.a, &found, sizeof(found));
	return none;
}

/* variables.NAME, unless a comprehension has that word. */
static const struct cel_var *variable(const struct cel_evaluator *e, const struct cel_node *n)
{
	const struct cel_node *of = n->args[0];
	if (of->op != CEL_OP_IDENT)
		return NULL;
	for (size_t i = 0; i < e->n_vars; i++)
		if (strcmp(e->vars[i].name, of->name) == 0)
			return NULL;
	return cel_var_find(e->given, of->name, n->name);
}

/* NOLINTBEGIN(misc-no-recursion): the parser bounds the tree by CEL_DEPTH_MAX */
static struct cel_value field(struct cel_evaluator *e, const struct cel_node *n)
{
	const struct cel_var *v = variable(e, n);
	if (v)
		return n->op == CEL_OP_HAS ? cel_bool(true) : v->value;
	struct cel_value x = eval(e, n->args[0]), found;
	if (is_error(&x))
		return x;
	if (x.kind == CEL_OPTIONAL)
		return of_optional(e, n, &x);
	if (x.kind == CEL_MESSAGE)
		x = cel_message_map(&x);
	if (x.kind == CEL_NULL)
		return n->op == CEL_OP_HAS ? cel_bool(false)
					   : cel_error(e->call.a, "no such key: %s", n->name);
	if (x.kind != CEL_MAP)
		return cel_error(e->call.a, "no such overload");
	if (n->op == CEL_OP_HAS)
		return cel_bool(member_of(e, &x, n->name, &found));
	if (!member_of(e, &x, n->name, &found))
		return cel_error(e->call.a, "no such key: %s", n->name);
	return found;
}

static struct cel_value call(struct cel_evaluator *e, const struct cel_node *n)
{
	struct cel_value args[8];
	if (n->n > ARRAY_LEN(args))
		return cel_error(e->call.a, "too many arguments");
	for (size_t i = 0; i < n->n; i++) {
		args[i] = eval(e, n->args[i]);
		if (is_error(&args[i]))
			return args[i];
	}
	return cel_fn_call(n->name, n->member, args, n->n, &e->call);
}

/* Either side absorbs an error of the other. */
static struct cel_value logic(struct cel_evaluator *e, const struct cel_node *n)
{
	bool decisive = n->op == CEL_OP_OR;
	struct cel_value failed = {.kind = CEL_NULL};
	for (size_t i = 0; i < n->n; i++) {
		struct cel_value v = eval(e, n->args[i]);
		if (e->call.budget->over)
			return cel_over_budget(&e->call);
		if (v.kind == CEL_BOOL && v.b == decisive)
			return v;
		if (v.kind != CEL_BOOL && failed.kind == CEL_NULL)
			failed = is_error(&v) ? v : cel_error(e->call.a, "no such overload");
	}
	return failed.kind == CEL_NULL ? cel_bool(!decisive) : failed;
}

static struct cel_value conditional(struct cel_evaluator *e, const struct cel_node *n)
{
	struct cel_value test = eval(e, n->args[0]);
	if (is_error(&test))
		return test;
	if (test.kind != CEL_BOOL)
		return cel_error(e->call.a, "no such overload");
	return eval(e, n->args[test.b ? 1 : 2]);
}

/* One of a literal; false: it is left out. */
static bool entry(struct cel_evaluator *e, const struct cel_node *n, struct cel_value *ret)
{
	*ret = eval(e, n->op == CEL_OP_ENTRY ? n->args[0] : n);
	if (n->op != CEL_OP_ENTRY || is_error(ret))
		return true;
	if (ret->kind != CEL_OPTIONAL) {
		*ret = cel_error(e->call.a, "no such overload");
		return true;
	}
	if (!ret->inner)
		return false;
	*ret = *ret->inner;
	return true;
}

static struct cel_value literal(struct cel_evaluator *e, const struct cel_node *n)
{
	struct cel_value *items = ARENA_ARRAY(e->call.a, struct cel_value, n->n + 1);
	size_t k = 0, step = n->op == CEL_OP_LIST ? 1 : 2;
	for (size_t i = 0; i < n->n; i += step) {
		if (step == 2)
			items[k] = eval(e, n->args[i]);
		if (step == 2 && is_error(&items[k]))
			return items[k];
		struct cel_value *value = &items[k + step - 1];
		if (!entry(e, n->args[i + step - 1], value))
			continue;
		if (is_error(value))
			return *value;
		k += step;
	}
	if (n->op == CEL_OP_MESSAGE) {
		const struct cel_message m = {n->name, items, k};
		return (struct cel_value){.kind = CEL_MESSAGE,
					  .message = arena_memdup(e->call.a, &m, sizeof(m))};
	}
	struct cel_value v = cel_list(items, k);
	v.kind = n->op == CEL_OP_MAP ? CEL_MAP : CEL_LIST;
	return v;
}

static struct cel_value eval(struct cel_evaluator *e, const struct cel_node *n)
{
	if (!cel_eval_step(e))
		return cel_over_budget(&e->call);
	switch (n->op) {
	case CEL_OP_LITERAL:
		return n->literal;
	case CEL_OP_IDENT:
		return ident(e, n);
	case CEL_OP_SELECT:
	case CEL_OP_HAS:
		return field(e, n);
	case CEL_OP_CALL:
		return call(e, n);
	case CEL_OP_AND:
	case CEL_OP_OR:
		return logic(e, n);
	case CEL_OP_COND:
		return conditional(e, n);
	case CEL_OP_LIST:
	case CEL_OP_MAP:
	case CEL_OP_MESSAGE:
		return literal(e, n);
	case CEL_OP_ENTRY:
		break; /* of a literal alone */
	case CEL_OP_MACRO:
		return cel_eval_macro(e, n);
	}
	return cel_error(e->call.a, "no such overload");
}
/* NOLINTEND(misc-no-recursion) */

struct cel_value cel_eval_with(const struct cel_program *p, const struct cel_vars *vars,
			       struct arena *a, struct cel_budget *budget)
{
	struct cel_evaluator *e = ARENA_NEW(a, struct cel_evaluator);
	e->call = (struct cel_call){.a = a, .budget = budget};
	budget->decoded = a;
	e->given = vars;
	e->eval = eval;
	struct cel_value v = eval(e, p->root);
	return budget->over ? cel_over_budget(&e->call) : v;
}

struct cel_value cel_eval(const struct cel_program *p, const struct schema *s,
			  const struct obj *self, const struct obj *old, struct arena *a,
			  struct cel_budget *budget)
{
	const struct cel_value was = cel_of(old, s, a);
	const struct cel_value optional = {.kind = CEL_OPTIONAL, .inner = old ? &was : NULL};
	const struct cel_var items[] = {
		{.name = "self", .value = cel_of(self, s, a)},
		{.name = "oldSelf", .value = p->old_is_optional ? optional : was}};
	const struct cel_vars vars = {.items = items, .n = old || p->old_is_optional ? 2 : 1};
	return cel_eval_with(p, &vars, a, budget);
}
