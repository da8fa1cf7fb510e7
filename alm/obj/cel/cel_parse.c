/* cel_parse.c: text -> tree, by recursive descent; macros become nodes of their own. */
#include <string.h>

#include "alm/obj/cel/cel_eval.h"
#include "alm/obj/cel/cel_lex.h"

struct parser {
	struct str text;
	size_t at; /* after token */
	struct cel_token token;
	struct arena *a;
	struct strbuf *errors;
	const char *source;
	unsigned depth, nodes;
	bool failed, uses_old;
};

static struct cel_node *fail(struct parser *p, size_t at, const char *message)
{
	if (!p->failed)
		cel_report(p->source, at, message, p->errors);
	p->failed = true;
	return NULL;
}

static void advance(struct parser *p)
{
	p->token = cel_lex(p->text, &p->at, p->a);
	if (p->token.kind == TOKEN_BAD)
		fail(p, p->token.at, arena_fmt(p->a, "Syntax error: %.*s", STR_ARG(p->token.text)));
}

static struct cel_node *unexpected(struct parser *p)
{
	struct cel_token *t = &p->token;
	struct str text = t->text.len ? t->text : STR("literal");
	return fail(p, t->at,
		    arena_fmt(p->a, "Syntax error: mismatched input '%.*s'", STR_ARG(text)));
}

/* Where an operand has to stand, or nothing. */
static struct cel_node *refused(struct parser *p, bool at_end)
{
	return fail(p, p->token.at, cel_refusal(p->text, &p->token, p->at, at_end, p->a));
}

static bool is(const struct parser *p, const char *punct)
{
	return p->token.kind == TOKEN_PUNCT && str_is(p->token.text, punct);
}

static bool is_word(const struct parser *p, const char *word)
{
	return p->token.kind == TOKEN_IDENT && str_is(p->token.text, word);
}

static bool take(struct parser *p, const char *punct)
{
	if (!is(p, punct))
		return false;
	advance(p);
	return true;
}

static bool expect(struct parser *p, const char *punct)
{
	if (take(p, punct))
		return true;
	unexpected(p);
	return false;
}

static struct cel_node *new_node(struct parser *p, enum cel_op op, size_t at, const char *name)
{
	if (++p->nodes > CEL_NODES_MAX)
		fail(p, at, "expression is too large");
	struct cel_node *n = ARENA_NEW(p->a, struct cel_node);
	n->op = op;
	n->id = p->nodes - 1;
	n->at = at;
	n->name = name;
	return n;
}

static void add_arg(struct parser *p, struct cel_node *n, struct cel_node *arg)
{
	if ((n->n & (n->n - 1)) == 0) { /* 0, 1, 2, 4, ...: full */
		struct cel_node **args = ARENA_ARRAY(p->a, struct cel_node *, n->n ? 2 * n->n : 1);
		if (n->n > 0)
			memcpy(args, n->args, n->n * sizeof(struct cel_node *));
		n->args = args;
	}
	n->args[n->n++] = arg;
}

static struct cel_node *call(struct parser *p, const char *name, size_t at, struct cel_node *x,
			     struct cel_node *y)
{
	struct cel_node *n = new_node(p, CEL_OP_CALL, at, name);
	add_arg(p, n, x);
	if (y)
		add_arg(p, n, y);
	return x ? n : NULL;
}

static struct cel_node *expression(struct parser *p);

/* x, or ?x of a literal. */
static struct cel_node *entry(struct parser *p, bool optional, struct cel_node *x)
{
	if (!optional || !x)
		return x;
	struct cel_node *n = new_node(p, CEL_OP_ENTRY, x->at, NULL);
	add_arg(p, n, x);
	return n;
}

/* NOLINTBEGIN(misc-no-recursion): unary() and expression() bound the depth by CEL_DEPTH_MAX */
static bool arguments(struct parser *p, struct cel_node *n, const char *close)
{
	bool in_list = close[0] == ']';
	while (!is(p, close)) {
		bool optional = in_list && take(p, "?");
		struct cel_node *arg = entry(p, optional, expression(p));
		if (!arg)
			return false;
		add_arg(p, n, arg);
		if (!take(p, ","))
			break;
	}
	return expect(p, close);
}

static struct cel_node *macro_has(struct parser *p, struct cel_node *n)
{
	struct cel_node *arg = n->args[0];
	if (arg->op != CEL_OP_SELECT)
		return fail(p, n->at, "invalid argument to has() macro");
	struct cel_node *has = new_node(p, CEL_OP_HAS, n->at, arg->name);
	add_arg(p, has, arg->args[0]);
	return has;
}

/* range.all(x, p) and its family: args are range, one or two variables, one or two bodies. */
static struct cel_node *macro(struct parser *p, struct cel_node *n)
{
	size_t vars;
	if (!cel_is_macro(n->name, n->n, &vars))
		return n;
	for (size_t i = 1; i <= vars; i++)
		if (n->args[i]->op != CEL_OP_IDENT)
			return fail(p, n->args[i]->at, "argument must be a simple name");
	struct cel_node *m = new_node(p, CEL_OP_MACRO, n->at, n->name);
	m->var = n->args[1]->name;
	if (vars == 2)
		m->second = n->args[2]->name;
	if (m->second && strcmp(m->var, m->second) == 0)
		return fail(p, n->args[2]->at,
			    arena_fmt(p->a, "duplicate variable name: %s", m->var));
	add_arg(p, m, n->args[0]);
	for (size_t i = 1 + vars; i < n->n; i++)
		add_arg(p, m, n->args[i]);
	return m;
}

static struct cel_node *map_literal(struct parser *p)
{
	struct cel_node *n = new_node(p, CEL_OP_MAP, p->token.at, NULL);
	advance(p);
	while (!is(p, "}")) {
		bool optional = take(p, "?");
		struct cel_node *key = expression(p);
		if (!key || !expect(p, ":"))
			return NULL;
		struct cel_node *value = entry(p, optional, expression(p));
		if (!value)
			return NULL;
		add_arg(p, n, key);
		add_arg(p, n, value);
		if (!take(p, ","))
			break;
	}
	return expect(p, "}") ? n : NULL;
}

static const char *name_of(struct parser *p)
{
	return arena_strndup(p->a, p->token.text.ptr, p->token.text.len);
}

static struct cel_node *word(struct parser *p)
{
	static const char *const reserved[] = {"as",   "break",    "const",     "continue", "else",
					       "for",  "function", "if",        "import",   "let",
					       "loop", "package",  "namespace", "return",   "var",
					       "void", "while",    "in"};
	size_t at = p->token.at;
	const char *name = name_of(p);
	for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
		if (strcmp(reserved[i], name) == 0)
			return fail(p, at, arena_fmt(p->a, "reserved identifier: %s", name));
	struct cel_node *n = new_node(p, CEL_OP_LITERAL, at, NULL);
	advance(p);
	if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0) {
		n->literal = cel_bool(name[0] == 't');
	} else if (strcmp(name, "null") == 0) {
		n->literal.kind = CEL_NULL;
	} else if (is(p, "(")) {
		n = new_node(p, CEL_OP_CALL, p->token.at, name);
		advance(p);
		if (!arguments(p, n, ")"))
			return NULL;
		if (strcmp(name, "has") == 0 && n->n == 1)
			return macro_has(p, n);
	} else {
		n->op = CEL_OP_IDENT;
		n->name = name;
		p->uses_old |= strcmp(name, "oldSelf") == 0;
	}
	return n;
}

static struct cel_node *primary(struct parser *p)
{
	struct cel_node *n;
	if (p->token.kind == TOKEN_LITERAL) {
		n = new_node(p, CEL_OP_LITERAL, p->token.at, NULL);
		n->literal = p->token.value;
		if (n->literal.kind == CEL_INT && n->literal.i == INT64_MIN)
			return fail(p, n->at, "invalid int literal");
		advance(p);
		return n;
	}
	if (p->token.kind == TOKEN_IDENT)
		return word(p);
	if (is(p, "[")) {
		n = new_node(p, CEL_OP_LIST, p->token.at, NULL);
		advance(p);
		return arguments(p, n, "]") ? n : NULL;
	}
	if (is(p, "{"))
		return map_literal(p);
	if (take(p, "(")) {
		n = expression(p);
		return n && expect(p, ")") ? n : NULL;
	}
	return refused(p, false);
}

/* a.?b */
static struct cel_node *optional_member(struct parser *p, size_t at, struct cel_node *x,
					const char *name)
{
	struct cel_node *key = new_node(p, CEL_OP_LITERAL, at, NULL);
	key->literal = cel_string(str_of(cel_unescape(name, p->a)));
	return call(p, "_?._", at, x, key);
}

static struct cel_node *selection(struct parser *p, struct cel_node *x)
{
	size_t at = p->token.at;
	advance(p);
	bool optional = take(p, "?");
	if (p->token.kind == TOKEN_END)
		return fail(p, p->token.at, "Syntax error: no viable alternative at input '.'");
	if (p->token.kind != TOKEN_IDENT)
		return unexpected(p);
	const char *name = name_of(p);
	advance(p);
	if (optional)
		return optional_member(p, at, x, name);
	if (!is(p, "(")) {
		struct cel_node *n = new_node(p, CEL_OP_SELECT, at, name);
		add_arg(p, n, x);
		return n;
	}
	struct cel_node *n = new_node(p, CEL_OP_CALL, p->token.at, name);
	const char *full = x->op == CEL_OP_IDENT ? arena_fmt(p->a, "%s.%s", x->name, name) : NULL;
	if (full && cel_fn_is_known(full)) {
		n->name = full; /* sets.contains is no member of sets */
	} else {
		n->member = true;
		add_arg(p, n, x);
	}
	advance(p);
	return arguments(p, n, ")") ? macro(p, n) : NULL;
}

/* "Object.spec", of names and dots alone; else NULL. */
static const char *type_name(struct parser *p, const struct cel_node *x)
{
	if (x->op == CEL_OP_IDENT)
		return x->name;
	const char *of = x->op == CEL_OP_SELECT ? type_name(p, x->args[0]) : NULL;
	return of ? arena_fmt(p->a, "%s.%s", of, x->name) : NULL;
}

static bool message_field(struct parser *p, struct cel_node *n)
{
	static const char none[] = "Syntax error: mismatched input '%.*s' expecting {'}', ',', "
				   "'?', IDENTIFIER, ESC_IDENTIFIER}";
	bool optional = take(p, "?");
	const struct cel_token *t = &p->token;
	struct str text = t->text.len ? t->text : STR("<EOF>");
	if (t->kind != TOKEN_IDENT)
		return fail(p, t->at, arena_fmt(p->a, none, STR_ARG(text)));
	struct cel_node *key = new_node(p, CEL_OP_LITERAL, t->at, NULL);
	key->literal = cel_string(str_of(cel_unescape(name_of(p), p->a)));
	advance(p);
	key->at = p->token.at;
	text = t->text.len ? t->text : STR("<EOF>");
	if (!take(p, ":"))
		return fail(p, t->at,
			    arena_fmt(p->a, "Syntax error: mismatched input '%.*s' expecting ':'",
				      STR_ARG(text)));
	struct cel_node *value = entry(p, optional, expression(p));
	if (!value)
		return false;
	add_arg(p, n, key);
	add_arg(p, n, value);
	return true;
}

static struct cel_node *message(struct parser *p, const char *name)
{
	struct cel_node *n = new_node(p, CEL_OP_MESSAGE, p->token.at, name);
	advance(p);
	while (!is(p, "}")) {
		if (!message_field(p, n))
			return NULL;
		if (!take(p, ","))
			break;
	}
	return expect(p, "}") ? n : NULL;
}

/* x, and what is selected of it. */
static struct cel_node *member(struct parser *p, struct cel_node *x)
{
	for (unsigned links = 0; x && !p->failed; links++) {
		if (links > CEL_DEPTH_MAX)
			return fail(p, p->token.at, "expression nests too deeply");
		const char *type = is(p, "{") ? type_name(p, x) : NULL;
		if (is(p, ".")) {
			x = selection(p, x);
		} else if (type) {
			x = message(p, type);
		} else if (is(p, "[")) {
			size_t at = p->token.at;
			advance(p);
			const char *name = take(p, "?") ? "_[?_]" : "_[_]";
			struct cel_node *index = expression(p);
			x = index && expect(p, "]") ? call(p, name, at, x, index) : NULL;
		} else {
			break;
		}
	}
	return x;
}

/* -7 is one literal, so that the smallest int can be written. */
static struct cel_node *negated(struct parser *p, size_t at)
{
	struct cel_value *v = &p->token.value;
	if (p->token.kind != TOKEN_LITERAL || (v->kind != CEL_INT && v->kind != CEL_DOUBLE))
		return NULL;
	struct cel_node *n = new_node(p, CEL_OP_LITERAL, at, NULL);
	n->literal = *v;
	if (v->kind == CEL_DOUBLE)
		n->literal.d = -v->d;
	else if (v->i != INT64_MIN)
		n->literal.i = -v->i;
	advance(p);
	return n;
}

static struct cel_node *unary(struct parser *p)
{
	size_t at = p->token.at;
	const char *name = is(p, "!") ? "!_" : is(p, "-") ? "-_" : NULL;
	if (!name)
		return member(p, primary(p));
	advance(p);
	if (++p->depth > CEL_DEPTH_MAX)
		return fail(p, at, "expression nests too deeply");
	struct cel_node *x = name[0] == '-' ? negated(p, at) : NULL;
	if (x) {
		x = member(p, x);
	} else {
		x = unary(p);
		x = x ? call(p, name, at, x, NULL) : NULL;
	}
	p->depth--;
	return x;
}

struct operator
{
	const char *token, *name;
};

/* One level of left-associative operators over the next lower one. */
static struct cel_node *binary(struct parser *p, unsigned level)
{
	static const struct operator levels[][8] = {
		{{"<", "_<_"},
		 {"<=", "_<=_"},
		 {">=", "_>=_"},
		 {">", "_>_"},
		 {"==", "_==_"},
		 {"!=", "_!=_"},
		 {0}},
		{{"+", "_+_"}, {"-", "_-_"}, {0}},
		{{"*", "_*_"}, {"/", "_/_"}, {"%", "_%_"}, {0}},
	};
	if (level == ARRAY_LEN(levels))
		return unary(p);
	struct cel_node *x = binary(p, level + 1);
	for (unsigned links = 0; x && !p->failed; links++) {
		size_t at = p->token.at;
		const char *name = NULL;
		for (const struct operator* o = levels[level]; o->token && !name; o++)
			if (is(p, o->token))
				name = o->name;
		if (level == 0 && is_word(p, "in"))
			name = "@in";
		if (!name)
			return x;
		if (links > CEL_DEPTH_MAX)
			return fail(p, at, "expression nests too deeply");
		advance(p);
		struct cel_node *y = binary(p, level + 1);
		x = y ? call(p, name, at, x, y) : NULL;
	}
	return x;
}

/* && and ||: flat, so that a chain of hundreds is not deep. */
static struct cel_node *logic(struct parser *p, bool is_or)
{
	struct cel_node *x = is_or ? logic(p, false) : binary(p, 0), *chain = NULL;
	const char *token = is_or ? "||" : "&&";
	while (x && is(p, token)) {
		if (!chain) {
			chain = new_node(p, is_or ? CEL_OP_OR : CEL_OP_AND, p->token.at, token);
			add_arg(p, chain, x);
		}
		advance(p);
		x = is_or ? logic(p, false) : binary(p, 0);
		if (x)
			add_arg(p, chain, x);
	}
	return x && chain ? chain : x;
}

static struct cel_node *expression(struct parser *p)
{
	if (++p->depth > CEL_DEPTH_MAX)
		return fail(p, p->token.at, "expression nests too deeply");
	struct cel_node *x = logic(p, true);
	if (x && is(p, "?")) {
		struct cel_node *n = new_node(p, CEL_OP_COND, p->token.at, "_?_:_");
		advance(p);
		struct cel_node *yes = logic(p, true), *no = NULL;
		if (yes && expect(p, ":"))
			no = expression(p);
		add_arg(p, n, x);
		add_arg(p, n, yes);
		add_arg(p, n, no);
		x = yes && no ? n : NULL;
	}
	p->depth--;
	return p->failed ? NULL : x;
}
/* NOLINTEND(misc-no-recursion) */

struct cel_program *cel_parse(const char *text, struct arena *a, struct strbuf *b)
{
	struct parser p = {.text = str_of(text), .source = text, .a = a, .errors = b};
	if (p.text.len > CEL_TEXT_MAX) {
		strbuf_adds(b, "ERROR: <input>:1:1: expression is too large");
		return NULL;
	}
	advance(&p);
	struct cel_node *root = expression(&p);
	if (root && !p.failed && p.token.kind != TOKEN_END)
		refused(&p, true);
	if (!root || p.failed)
		return NULL;
	struct cel_program *program = ARENA_NEW(a, struct cel_program);
	*program = (struct cel_program){.text = arena_strdup(a, text),
					.root = root,
					.n_nodes = p.nodes,
					.uses_old = p.uses_old};
	return program;
}
