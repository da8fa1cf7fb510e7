/*
 * eval: pipelines, commands, operands. A value read from a map or list of interface {} carries the
 * flag iface until it has gone through a pipeline, as a reflect.Value of kind Interface would: that
 * decides between "nil pointer evaluating" and a silent nil, and the types in messages.
 */

#include "installers/tmpl/run.h"

#define ARGS_INLINE 8

/* The operands of a command: args[0] is the function or field itself. */
struct call {
	const struct nodes *args;  /* NULL: none */
	const struct value *final; /* from the pipe, NULL: none */
};

static int eval_arg(struct state *s, struct value dot, char type, const struct tmpl_node *n,
		    struct value *ret);

static size_t n_args(const struct call *c)
{
	return c->args && c->args->n ? c->args->n - 1 : 0;
}

/* ---- calls ---- */
struct signature {
	const char *params;
	size_t n; /* with the variadic one */
	bool variadic;
	char result;
};

static struct signature read_signature(const char *sig)
{
	struct signature g = {.params = sig};
	for (; *sig != ':'; sig++) {
		if (*sig == '*')
			g.variadic = true;
		else
			g.n++;
	}
	g.result = sig[1];
	return g;
}

static char param_type(const struct signature *g, size_t i)
{
	return g->params[i < g->n ? i : g->n - 1];
}

static int check_arity(struct state *s, const struct signature *g, struct str name,
		       const struct call *c)
{
	size_t n = n_args(c) + (c->final ? 1 : 0);
	if (g->variadic && n < g->n - 1)
		return state_fail(s, "wrong number of args for %.*s: want at least %zu got %zu",
				  STR_ARG(name), g->n - 1, n_args(c));
	if (!g->variadic && n != g->n)
		return state_fail(s, "wrong number of args for %.*s: want %zu got %zu",
				  STR_ARG(name), g->n, n);
	return 0;
}

/* NOLINTBEGIN(misc-no-recursion): the parser bounds the tree by PARSE_DEPTH_MAX, state_tick() the
 * stack */
/* and, or: stop at the deciding operand. */
static int short_circuit(struct state *s, struct value dot, bool is_or, const struct call *c,
			 struct value *ret)
{
	struct value v = VALUE_NONE;
	for (size_t i = 0; i < n_args(c); i++) {
		int r = eval_arg(s, dot, 'r', c->args->items[i + 1], &v);
		if (r < 0)
			return r;
		if (value_truth(v) == is_or) {
			*ret = v;
			return 0;
		}
	}
	*ret = c->final ? *c->final : v;
	return 0;
}

static int eval_args(struct state *s, struct value dot, const struct signature *g,
		     const struct call *c, struct value *argv)
{
	size_t n = n_args(c);
	for (size_t i = 0; i < n; i++) {
		int r = eval_arg(s, dot, param_type(g, i), c->args->items[i + 1], &argv[i]);
		if (r < 0)
			return r;
		argv[i].pad = 0;
	}
	if (c->final) {
		int r = eval_validate(s, *c->final, param_type(g, n), &argv[n]);
		if (r < 0)
			return r;
		argv[n].pad = 0;
	}
	return 0;
}

static int tell_call(const struct state *s, const struct tmpl_func *fn)
{
	const struct tmpl_host *host = s->run->host;
	if (host->called)
		host->called(host->ctx, fn->name);
	return 0;
}

/* node is what the message shows if the function fails; receiver is that of a method. */
static int eval_call(struct state *s, struct value dot, const struct tmpl_func *fn,
		     const struct value *receiver, const struct tmpl_node *node, struct str name,
		     const struct call *c, struct value *ret)
{
	struct signature g = read_signature(fn->sig);
	int r = check_arity(s, &g, name, c);
	if (r < 0)
		return r;
	if (fn->flags & TMPL_FN_THREE)
		return state_fail(s, "function %.*s has 3 return values; should be 1 or 2",
				  STR_ARG(name));
	if (fn->flags & (TMPL_FN_AND | TMPL_FN_OR)) {
		r = short_circuit(s, dot, fn->flags & TMPL_FN_OR, c, ret);
		return r < 0 ? r : tell_call(s, fn);
	}
	struct value inline_args[ARGS_INLINE];
	size_t first = receiver ? 1 : 0;
	size_t n = n_args(c) + (c->final ? 1 : 0);
	struct value *argv = inline_args;
	if (first + n > ARGS_INLINE)
		argv = ARENA_ARRAY(s->run->arena, struct value, first + n);
	if (receiver)
		argv[0] = *receiver;
	r = eval_args(s, dot, &g, c, argv + first);
	if (r < 0)
		return r;
	if (fn->flags & TMPL_FN_RANDOM)
		s->run->random = true;
	struct value v = VALUE_NONE;
	s->run->call_node = c->args && c->args->n > 1 ? c->args->items[1] : NULL;
	r = fn->fn(s->run, argv, first + n, &v);
	if (r < 0) {
		s->node = node;
		return state_wrap_call(s, name);
	}
	if (g.result != 'r')
		v.iface = g.result == 'v';
	*ret = v;
	return tell_call(s, fn);
}
/* NOLINTEND(misc-no-recursion) */

/* ---- fields ---- */
static int fail_key(struct state *s, const char *before, struct str key)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, before);
	value_quote(&b, key);
	return state_fail_str(s, strbuf_str(&b));
}

static struct value map_zero(struct value map)
{
	if (map.type == VALUE_STRMAP)
		return value_str(STR(""));
	if (map.type == VALUE_FILES)
		return value_bytes(STR_NONE);
	return (struct value){.type = VALUE_NIL, .iface = 1};
}

static int map_field(struct state *s, struct value map, struct str key, bool has_args,
		     struct value *ret)
{
	if (has_args)
		return state_fail(s, "%.*s is not a method but has arguments", STR_ARG(key));
	const struct value *v = vmap_get(map.map, key);
	if (!v && s->run->set->strict)
		return fail_key(s, "map has no entry for key ", key);
	*ret = v ? *v : map_zero(map);
	ret->iface = value_is_anymap(map);
	return 0;
}

/* The field, or NULL after a failure was set. */
static int struct_field(struct state *s, struct value v, struct str key, bool has_args,
			struct value *ret)
{
	const struct value *field = vstruct_get(v.st, key);
	const char *type = v.iface ? "interface {}" : eval_type_name(s, v);
	if (!field)
		return state_fail(s, "can't evaluate field %.*s in type %s", STR_ARG(key), type);
	if (char_is_lower(key.ptr[0]))
		return state_fail(s, "%.*s is an unexported field of struct type %s", STR_ARG(key),
				  type);
	if (has_args)
		return state_fail(s, "%.*s has arguments but cannot be invoked as function",
				  STR_ARG(key));
	*ret = *field;
	ret->pad = 1; /* addressable */
	return 0;
}

/* NOLINTBEGIN(misc-no-recursion): the parser bounds the tree by PARSE_DEPTH_MAX, state_tick() the
 * stack */
static int eval_field(struct state *s, struct value dot, struct str name,
		      const struct tmpl_node *node, const struct call *c, struct value receiver,
		      struct value *ret)
{
	if (receiver.type == VALUE_NIL) {
		if (receiver.iface)
			return state_fail(s, "nil pointer evaluating interface {}.%.*s",
					  STR_ARG(name));
		if (s->run->set->strict)
			return fail_key(s, "nil data; no entry for key ", name);
		*ret = VALUE_NONE;
		return 0;
	}
	const struct tmpl_func *method = value_method(receiver, name);
	if (method)
		return eval_call(s, dot, method, &receiver, node, name, c, ret);
	bool has_args = n_args(c) > 0 || c->final;
	if (receiver.type == VALUE_STRUCT || (receiver.type == VALUE_PTR && receiver.st))
		return struct_field(s, receiver, name, has_args, ret);
	if (value_is_map(receiver))
		return map_field(s, receiver, name, has_args, ret);
	return state_fail(s, "can't evaluate field %.*s in type %s", STR_ARG(name),
			  receiver.iface ? "interface {}" : eval_type_name(s, receiver));
}

static int field_chain(struct state *s, struct value dot, struct value receiver,
		       const struct tmpl_node *node, const struct str *names, size_t n,
		       const struct call *c, struct value *ret)
{
	const struct call none = {0};
	for (size_t i = 0; i + 1 < n; i++) {
		int r = eval_field(s, dot, names[i], node, &none, receiver, &receiver);
		if (r < 0)
			return r;
	}
	return eval_field(s, dot, names[n - 1], node, c, receiver, ret);
}

/* ---- operands ---- */
static int not_a_function(struct state *s, const struct call *c)
{
	if (n_args(c) == 0 && !c->final)
		return 0;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_TEXT_MAX);
	strbuf_adds(&b, "can't give argument to non-function ");
	if (c->args)
		node_print(&b, c->args->items[0]);
	return state_fail_str(s, strbuf_str(&b));
}

static int find_var(struct state *s, struct str name, struct value **ret)
{
	struct tmpl_run *run = s->run;
	for (size_t i = run->n_vars; i-- > s->base;) {
		if (str_eq(run->vars[i].name, name)) {
			*ret = &run->vars[i].value;
			return 0;
		}
	}
	return state_fail(s, "undefined variable: %.*s", STR_ARG(name));
}

int eval_set_var(struct state *s, struct str name, struct value v)
{
	struct value *var;
	int r = find_var(s, name, &var);
	if (r == 0)
		*var = v;
	return r;
}

static int eval_variable(struct state *s, struct value dot, const struct tmpl_node *n,
			 const struct call *c, struct value *ret)
{
	struct value *var;
	s->node = n;
	int r = find_var(s, n->path.names[0], &var);
	if (r < 0)
		return r;
	if (n->path.n == 1) {
		r = not_a_function(s, c);
		if (r == 0)
			*ret = *var;
		return r;
	}
	return field_chain(s, dot, *var, n, n->path.names + 1, n->path.n - 1, c, ret);
}

static int eval_chain(struct state *s, struct value dot, const struct tmpl_node *n,
		      const struct call *c, struct value *ret)
{
	struct value v;
	s->node = n;
	int r = eval_arg(s, dot, '\0', n->path.of, &v);
	if (r < 0)
		return r;
	return field_chain(s, dot, v, n, n->path.names, n->path.n, c, ret);
}

static int eval_identifier(struct state *s, struct value dot, const struct tmpl_node *n,
			   const struct tmpl_node *cmd, const struct call *c, struct value *ret)
{
	s->node = n;
	return eval_call(s, dot, n->ident.fn, NULL, cmd, n->ident.name, c, ret);
}

static int eval_nil(struct state *s, char type, struct value *ret)
{
	if (!eval_can_be_nil(type))
		return state_fail(s, "cannot assign nil to %s", eval_param_name(type));
	*ret = eval_zero(type);
	return 0;
}

static int eval_arg(struct state *s, struct value dot, char type, const struct tmpl_node *n,
		    struct value *ret)
{
	const struct call none = {0};
	struct value v = VALUE_NONE;
	int r;
	s->node = n;
	switch ((int)n->kind) {
	case NODE_DOT:
		v = dot;
		r = 0;
		break;
	case NODE_NIL:
		return eval_nil(s, type, ret);
	case NODE_FIELD:
		r = field_chain(s, dot, dot, n, n->path.names, n->path.n, &none, &v);
		break;
	case NODE_VARIABLE:
		r = eval_variable(s, dot, n, &none, &v);
		break;
	case NODE_PIPE:
		r = eval_pipeline(s, dot, n, &v);
		break;
	case NODE_IDENTIFIER:
		r = eval_identifier(s, dot, n, n, &none, &v);
		break;
	case NODE_CHAIN:
		r = eval_chain(s, dot, n, &none, &v);
		break;
	default:
		if (type == 'v' || type == 'r')
			return eval_constant(s, n, ret);
		return eval_typed_constant(s, type, n, ret);
	}
	return r < 0 ? r : eval_validate(s, v, type, ret);
}

/* ---- commands ---- */
static int eval_command(struct state *s, struct value dot, const struct tmpl_node *cmd,
			const struct value *final, struct value *ret)
{
	const struct tmpl_node *first = cmd->args.items[0];
	const struct call c = {&cmd->args, final};
	int r;
	switch ((int)first->kind) {
	case NODE_FIELD:
		s->node = first;
		return field_chain(s, dot, dot, first, first->path.names, first->path.n, &c, ret);
	case NODE_CHAIN:
		return eval_chain(s, dot, first, &c, ret);
	case NODE_IDENTIFIER:
		return eval_identifier(s, dot, first, cmd, &c, ret);
	case NODE_PIPE:
		r = not_a_function(s, &c);
		return r < 0 ? r : eval_pipeline(s, dot, first, ret);
	case NODE_VARIABLE:
		return eval_variable(s, dot, first, &c, ret);
	default:
		break;
	}
	s->node = first;
	r = not_a_function(s, &c);
	if (r < 0)
		return r;
	if (first->kind == NODE_DOT) {
		*ret = dot;
		return 0;
	}
	if (first->kind == NODE_NIL)
		return state_fail(s, "nil is not a command");
	return eval_constant(s, first, ret);
}

int eval_pipeline(struct state *s, struct value dot, const struct tmpl_node *pipe,
		  struct value *ret)
{
	struct value v = VALUE_NONE;
	s->node = pipe;
	int r = state_tick(s);
	if (r < 0)
		return r;
	for (size_t i = 0; i < pipe->pipe.cmds.n; i++) {
		struct value in = v;
		r = eval_command(s, dot, pipe->pipe.cmds.items[i], i > 0 ? &in : NULL, &v);
		if (r < 0)
			return r;
		v.iface = 0;
	}
	for (size_t i = 0; i < pipe->pipe.n_decl; i++) {
		struct str name = pipe->pipe.decl[i]->path.names[0];
		if (pipe->pipe.assign)
			r = eval_set_var(s, name, v);
		else
			run_push_var(s->run, name, v);
		if (r < 0)
			return r;
	}
	*ret = v;
	return 0;
}
/* NOLINTEND(misc-no-recursion) */
