/* parse_pipe: what stands between {{ and }}: pipelines, declarations, operands. */
#include <string.h>

#include "installers/tmpl/parse_number.h"
#include "installers/tmpl/parser.h"
#include "installers/value/print.h"

/* ---- pipelines ---- */
static struct tmpl_node *variable_node(struct parser *p, size_t pos, struct str name)
{
	struct tmpl_node *n = parser_make(p, NODE_VARIABLE, pos);
	n->path.names = ARENA_ARRAY(p->s->arena, struct str, 1);
	n->path.names[0] = name;
	n->path.n = 1;
	return n;
}

static void declare(struct parser *p, struct tmpl_node *pipe, const struct token *v)
{
	pipe->pipe.decl[pipe->pipe.n_decl++] = variable_node(p, v->pos, v->val);
	parser_push_var(p, v->val);
}

/* $x :=, $x =, $k, $v := at the front. */
static void declarations(struct parser *p, struct tmpl_node *pipe, const char *context)
{
	for (;;) {
		const struct token v = *parser_peek_non_space(p);
		if (v.type != TOK_VARIABLE)
			return;
		parser_next(p);
		const struct token after = *parser_peek(p);
		const struct token *t = parser_peek_non_space(p);
		bool comma = t->type == TOK_CHAR && str_is(t->val, ",");
		if (t->type == TOK_ASSIGN || t->type == TOK_DECLARE) {
			pipe->pipe.assign = t->type == TOK_ASSIGN;
			parser_next_non_space(p);
			if (pipe->pipe.n_decl < 2)
				declare(p, pipe, &v);
			return;
		}
		if (!comma) {
			if (after.type == TOK_SPACE) {
				p->token[1] = after;
				p->token[2] = v;
				p->peek_count = 3;
			} else {
				p->token[1] = v;
				p->peek_count = 2;
			}
			return;
		}
		parser_next_non_space(p);
		if (pipe->pipe.n_decl < 2)
			declare(p, pipe, &v);
		if (strcmp(context, "range") != 0 || pipe->pipe.n_decl >= 2) {
			parser_fail(p, "too many declarations in %s", context);
			return;
		}
		t = parser_peek_non_space(p);
		if (t->type != TOK_VARIABLE && t->type != TOK_RIGHT_DELIM &&
		    t->type != TOK_RIGHT_PAREN) {
			parser_fail(p, "range can only initialize variables");
			return;
		}
	}
}

static void check_pipeline(struct parser *p, const struct tmpl_node *pipe, const char *context)
{
	if (pipe->pipe.cmds.n == 0)
		parser_fail(p, "missing value for %s", context);
	for (size_t i = 1; i < pipe->pipe.cmds.n; i++) {
		enum node_kind kind = pipe->pipe.cmds.items[i]->args.items[0]->kind;
		if (kind == NODE_BOOL || kind == NODE_DOT || kind == NODE_NIL ||
		    kind == NODE_NUMBER || kind == NODE_STRING)
			parser_fail(p, "non executable command in pipeline stage %zu", i + 1);
	}
}

static struct tmpl_node *command(struct parser *p);

static bool starts_operand(enum token_type type)
{
	return type == TOK_BOOL || type == TOK_CHAR_CONSTANT || type == TOK_COMPLEX ||
	       type == TOK_DOT || type == TOK_FIELD || type == TOK_IDENTIFIER ||
	       type == TOK_NUMBER || type == TOK_NIL || type == TOK_RAW_STRING ||
	       type == TOK_STRING || type == TOK_VARIABLE || type == TOK_LEFT_PAREN;
}

/* NOLINTNEXTLINE(misc-no-recursion): parser_enter() bounds the depth by PARSE_DEPTH_MAX */
struct tmpl_node *parser_pipeline(struct parser *p, const char *context, enum token_type end)
{
	if (!parser_enter(p))
		return NULL;
	struct tmpl_node *pipe = parser_make(p, NODE_PIPE, parser_peek_non_space(p)->pos);
	declarations(p, pipe, context);
	while (!parser_failed(p)) {
		const struct token *t = parser_next_non_space(p);
		if (t->type == end) {
			check_pipeline(p, pipe, context);
			p->s->depth--;
			return parser_failed(p) ? NULL : pipe;
		}
		if (!starts_operand(t->type))
			return parser_unexpected(p, t, context);
		parser_backup(p);
		parser_append(p, &pipe->pipe.cmds, command(p));
	}
	return NULL;
}

/* ---- operands ---- */
static struct tmpl_node *number_node(struct parser *p, const struct token *t)
{
	struct tmpl_node *n = parser_make(p, NODE_NUMBER, t->pos);
	n->number = ARENA_NEW(p->s->arena, struct number);
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(STRBUF_SMALL);
	if (!parse_number(t->val, t->type, n->number, &why))
		return parser_fail_code(p, E_INVALID, &why);
	return n;
}

static struct tmpl_node *string_node(struct parser *p, const struct token *t)
{
	struct tmpl_node *n = parser_make(p, NODE_STRING, t->pos);
	n->string.quoted = t->val;
	return parser_unquoted(p, t, &n->string.text) ? n : NULL;
}

static struct tmpl_node *identifier_node(struct parser *p, const struct token *t)
{
	struct tmpl_node *n = parser_make(p, NODE_IDENTIFIER, t->pos);
	n->ident.name = t->val;
	n->ident.fn = p->s->lookup(p->s->ctx, t->val);
	if (!n->ident.fn)
		return parser_fail_quoted(p, "function ", t->val, " not defined");
	return n;
}

static struct tmpl_node *use_variable(struct parser *p, const struct token *t)
{
	for (size_t i = 0; i < p->n_vars; i++) {
		if (str_eq(p->vars[i], t->val))
			return variable_node(p, t->pos, t->val);
	}
	return parser_fail_quoted(p, "undefined variable ", t->val, "");
}

static struct tmpl_node *field_node(struct parser *p, const struct token *t)
{
	struct tmpl_node *n = parser_make(p, NODE_FIELD, t->pos);
	n->path.names = ARENA_ARRAY(p->s->arena, struct str, 1);
	n->path.names[0] = str_skip(t->val, 1);
	n->path.n = 1;
	return n;
}

/* NOLINTBEGIN(misc-no-recursion): parser_enter() bounds the depth by PARSE_DEPTH_MAX */
/* NULL without failure: no operand here. */
static struct tmpl_node *term(struct parser *p)
{
	const struct token *t = parser_next_non_space(p);
	struct tmpl_node *n;
	switch ((int)t->type) {
	case TOK_IDENTIFIER:
		return identifier_node(p, t);
	case TOK_DOT:
		return parser_make(p, NODE_DOT, t->pos);
	case TOK_NIL:
		return parser_make(p, NODE_NIL, t->pos);
	case TOK_VARIABLE:
		return use_variable(p, t);
	case TOK_FIELD:
		return field_node(p, t);
	case TOK_BOOL:
		n = parser_make(p, NODE_BOOL, t->pos);
		n->boolean = str_is(t->val, "true");
		return n;
	case TOK_CHAR_CONSTANT:
	case TOK_COMPLEX:
	case TOK_NUMBER:
		return number_node(p, t);
	case TOK_LEFT_PAREN:
		return parser_pipeline(p, "parenthesized pipeline", TOK_RIGHT_PAREN);
	case TOK_STRING:
	case TOK_RAW_STRING:
		return string_node(p, t);
	default:
		parser_backup(p);
		return NULL;
	}
}

/* Names before plus the fields that follow. */
static void add_fields(struct parser *p, struct tmpl_node *n, const struct str *before,
		       size_t n_before)
{
	struct str some[PATH_NAMES], *names = some;
	size_t cap = PATH_NAMES, count = 0;
	for (;;) {
		bool more = parser_peek(p)->type == TOK_FIELD;
		if (count >= n_before && !more)
			break;
		ARENA_GROW(p->s->arena, names, cap, count, PATH_NAMES);
		names[count] = count < n_before ? before[count] : str_skip(parser_next(p)->val, 1);
		count++;
	}
	n->path.names =
		names == some ? arena_memdup(p->s->arena, some, count * sizeof(*some)) : names;
	n->path.n = count;
}

static struct tmpl_node *operand(struct parser *p)
{
	struct tmpl_node *n = term(p);
	if (!n || parser_peek(p)->type != TOK_FIELD)
		return n;
	size_t pos = parser_peek(p)->pos;
	if (n->kind == NODE_FIELD || n->kind == NODE_VARIABLE) {
		struct tmpl_node *path = parser_make(p, n->kind, pos);
		add_fields(p, path, n->path.names, n->path.n);
		return path;
	}
	if (n->kind == NODE_BOOL || n->kind == NODE_STRING || n->kind == NODE_NUMBER ||
	    n->kind == NODE_NIL || n->kind == NODE_DOT) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PARSE_TEXT_MAX);
		node_print(&b, n);
		return parser_fail_quoted(p, "unexpected . after term ", strbuf_str(&b), "");
	}
	struct tmpl_node *chain = parser_make(p, NODE_CHAIN, pos);
	add_fields(p, chain, NULL, 0);
	chain->path.of = n;
	return chain;
}

static struct tmpl_node *command(struct parser *p)
{
	struct tmpl_node *cmd = parser_make(p, NODE_COMMAND, parser_peek_non_space(p)->pos);
	for (;;) {
		parser_peek_non_space(p);
		struct tmpl_node *n = operand(p);
		if (parser_failed(p))
			return NULL;
		if (n)
			parser_append(p, &cmd->args, n);
		const struct token *t = parser_next(p);
		if (t->type == TOK_SPACE)
			continue;
		if (t->type == TOK_RIGHT_DELIM || t->type == TOK_RIGHT_PAREN)
			parser_backup(p);
		else if (t->type != TOK_PIPE)
			return parser_unexpected(p, t, "operand");
		break;
	}
	if (cmd->args.n == 0)
		return parser_fail(p, "empty command");
	return cmd;
}
/* NOLINTEND(misc-no-recursion) */
