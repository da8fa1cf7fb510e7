/*
 * eval: pipelines, commands, operands. A value read from a map or list of interface {} carries the
 * flag iface until it has gone through a pipeline, as a reflect.Value of kind Interface would: that
 * decides between "nil pointer evaluating" and a silent nil, and the types in messages.
 */
#include <string.h>

#include "installers/tmpl/run.h"
#include "installers/value/print.h"

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

/* ---- types ---- */
static const char *param_name(char type)
{
	static const struct {
		char letter;
		const char *name;
	} names[] = {
		{'s', "string"},        {'i', "int"},
		{'l', "int64"},         {'f', "float64"},
		{'b', "bool"},          {'m', "map[string]interface {}"},
		{'S', "[]string"},      {'A', "[]interface {}"},
		{'t', "time.Time"},     {'c', "sprig.certificate"},
		{'d', "time.Duration"}, {'V', "*semver.Version"},
		{'U', "uint32"},        {'w', "io.Writer"},
		{'r', "reflect.Value"},
	};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (names[i].letter == type)
			return names[i].name;
	}
	return "interface {}";
}

static bool can_be_nil(char type)
{
	return type && strchr("vrmSAV", type) != NULL;
}

static bool assignable(struct value v, char type)
{
	switch (type) {
	case 's':
		return v.type == VALUE_STRING;
	case 'i':
		return v.type == VALUE_INT;
	case 'l':
		return v.type == VALUE_INT64;
	case 'f':
		return v.type == VALUE_FLOAT;
	case 'b':
		return v.type == VALUE_BOOL;
	case 'm':
		return value_is_anymap(v);
	case 'S':
		return v.type == VALUE_STRINGS || v.type == VALUE_VERSIONS;
	case 'A':
		return v.type == VALUE_LIST;
	case 't':
		return v.type == VALUE_TIME;
	case 'd':
		return v.type == VALUE_DURATION;
	case 'V':
		return v.type == VALUE_SEMVER;
	case 'U':
	case 'w':
		return false; /* no value of a chart is one */
	case 'c':
		return v.type == VALUE_STRUCT && v.st->type == &vstruct_certificate;
	default:
		return true;
	}
}

static const char *type_of(const struct state *s, struct value v)
{
	if (v.iface && v.type == VALUE_NIL)
		return "interface {}";
	return value_type_name(v, s->run->set->profile);
}

/* The zero of a type that can be nil. */
static struct value zero_of(char type)
{
	if (type == 'm')
		return value_map(NULL);
	if (type == 'S')
		return (struct value){.type = VALUE_STRINGS};
	if (type == 'A')
		return (struct value){.type = VALUE_LIST};
	return VALUE_NONE;
}

static int validate(struct state *s, struct value v, char type, struct value *ret)
{
	if (v.type == VALUE_NIL && !v.iface) {
		if (type && !can_be_nil(type))
			return state_fail(s, "invalid value; expected %s", param_name(type));
		*ret = zero_of(type);
		return 0;
	}
	if (type && !(v.type == VALUE_NIL && strchr("vr", type)) &&
	    (v.type == VALUE_NIL || !assignable(v, type)))
		return state_fail(s, "wrong type for value; expected %s; got %s", param_name(type),
				  type_of(s, v));
	*ret = v;
	if (type && type != 'r')
		ret->iface = 0;
	return 0;
}

/* ---- constants ---- */
static int ideal_constant(struct state *s, const struct tmpl_node *n, struct value *ret)
{
	const struct number *c = n->number;
	const struct str t = c->text;
	s->node = n;
	bool hex = t.len > 2 && t.ptr[0] == '0' && char_lower(t.ptr[1]) == 'x' &&
		   str_find_char(t, 'p') < 0 && str_find_char(t, 'P') < 0;
	bool point = false;
	for (size_t i = 0; i < t.len; i++)
		point = point || strchr(".eEpP", t.ptr[i]);
	if (c->is_complex) {
		*ret = (struct value){.type = VALUE_COMPLEX, .z = c->z};
	} else if (c->is_float && !hex && t.ptr[0] != '\'' && point) {
		*ret = value_float(c->f);
	} else if (c->is_int) {
		*ret = value_int(c->i);
	} else {
		return state_fail(s, "%.*s overflows int", STR_ARG(t));
	}
	return 0;
}

static int fail_expected(struct state *s, const char *what, const struct tmpl_node *n)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_TEXT_MAX);
	strbuf_addf(&b, "expected %s; found ", what);
	node_print(&b, n);
	return state_fail_str(s, strbuf_str(&b));
}

/* A constant for a parameter of a plain type. */
static int typed_constant(struct state *s, char type, const struct tmpl_node *n, struct value *ret)
{
	bool number = n->kind == NODE_NUMBER;
	switch (type) {
	case 'b':
		if (n->kind != NODE_BOOL)
			return fail_expected(s, "bool", n);
		*ret = value_bool(n->boolean);
		return 0;
	case 's':
		if (n->kind != NODE_STRING)
			return fail_expected(s, "string", n);
		*ret = value_str(n->string.text);
		return 0;
	case 'i':
	case 'l':
	case 'd':
		if (!number || !n->number->is_int)
			return fail_expected(s, "integer", n);
		*ret = value_int(n->number->i);
		ret->type = type == 'i' ? VALUE_INT : type == 'l' ? VALUE_INT64 : VALUE_DURATION;
		return 0;
	case 'U':
		if (!number || !n->number->is_uint)
			return fail_expected(s, "unsigned integer", n);
		*ret = (struct value){.type = VALUE_UINT64, .u = n->number->u};
		return 0;
	case 'f':
		if (!number || !n->number->is_float)
			return fail_expected(s, "float", n);
		*ret = value_float(n->number->f);
		return 0;
	default: {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_TEXT_MAX);
		strbuf_adds(&b, "can't handle ");
		node_print(&b, n);
		strbuf_addf(&b, " for arg of type %s", param_name(type));
		return state_fail_str(s, strbuf_str(&b));
	}
	}
}

static int constant(struct state *s, const struct tmpl_node *n, struct value *ret)
{
	s->node = n;
	if (n->kind == NODE_NUMBER)
		return ideal_constant(s, n, ret);
	*ret = n->kind == NODE_BOOL ? value_bool(n->boolean) : value_str(n->string.text);
	return 0;
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
		int r = validate(s, *c->final, param_type(g, n), &argv[n]);
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
	const char *type = v.iface ? "interface {}" : type_of(s, v);
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
			  receiver.iface ? "interface {}" : type_of(s, receiver));
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
	if (!can_be_nil(type))
		return state_fail(s, "cannot assign nil to %s", param_name(type));
	*ret = zero_of(type);
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
			return constant(s, n, ret);
		return typed_constant(s, type, n, ret);
	}
	return r < 0 ? r : validate(s, v, type, ret);
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
	return constant(s, first, ret);
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
