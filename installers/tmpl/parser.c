#include "installers/tmpl/parser.h"

#include <string.h>

#include "installers/value/print.h"

/* ---- tokens ---- */
const struct token *parser_next(struct parser *p)
{
	if (p->peek_count > 0)
		p->peek_count--;
	else
		lexer_next(&p->s->lexer, &p->token[0]);
	return &p->token[p->peek_count];
}

void parser_backup(struct parser *p)
{
	p->peek_count++;
}

const struct token *parser_peek(struct parser *p)
{
	if (p->peek_count > 0)
		return &p->token[p->peek_count - 1];
	p->peek_count = 1;
	lexer_next(&p->s->lexer, &p->token[0]);
	return &p->token[0];
}

const struct token *parser_next_non_space(struct parser *p)
{
	const struct token *t;
	do {
		t = parser_next(p);
	} while (t->type == TOK_SPACE);
	return t;
}

const struct token *parser_peek_non_space(struct parser *p)
{
	const struct token *t = parser_next_non_space(p);
	parser_backup(p);
	return t;
}

/* ---- errors ---- */
struct tmpl_node *parser_fail_code(struct parser *p, int code, const struct strbuf *text)
{
	struct source *s = p->s;
	if (s->code == 0) {
		strbuf_adds(s->msg, "template: ");
		strbuf_addstr(s->msg, s->name);
		strbuf_addf(s->msg, ":%d: ", p->token[0].line);
		strbuf_addstr(s->msg, strbuf_str(text));
		s->code = -code;
	}
	return NULL;
}

struct tmpl_node *parser_fail(struct parser *p, const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	va_list args;
	va_start(args, fmt);
	strbuf_vaddf(&b, fmt, args);
	va_end(args);
	return parser_fail_code(p, E_INVALID, &b);
}

struct tmpl_node *parser_fail_quoted(struct parser *p, const char *before, struct str q,
				     const char *after)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, before);
	value_quote(&b, q);
	strbuf_adds(&b, after);
	return parser_fail_code(p, E_INVALID, &b);
}

bool parser_failed(const struct parser *p)
{
	return p->s->code != 0;
}

static void print_token(struct strbuf *b, const struct token *t)
{
	if (t->type == TOK_EOF) {
		strbuf_adds(b, "EOF");
	} else if (t->type == TOK_ERROR) {
		strbuf_addstr(b, t->val);
	} else if (t->type > TOK_KEYWORD) {
		strbuf_addc(b, '<');
		strbuf_addstr(b, t->val);
		strbuf_addc(b, '>');
	} else if (t->val.len > 10) {
		struct value v = value_str(t->val);
		print_sprintf(b, STR("%.10q..."), &v, 1, TMPL_PROFILE_4_1);
	} else {
		value_quote(b, t->val);
	}
}

struct tmpl_node *parser_unexpected(struct parser *p, const struct token *t, const char *context)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (t->type != TOK_ERROR)
		strbuf_adds(&b, "unexpected ");
	print_token(&b, t);
	if (t->type != TOK_ERROR) {
		strbuf_addf(&b, " in %s", context);
	} else if (p->action_line != 0 && p->action_line != t->line) {
		bool action = str_has_suffix(t->val, STR(" action"));
		strbuf_adds(&b, action ? " started at " : " in action started at ");
		strbuf_addstr(&b, p->s->name);
		strbuf_addf(&b, ":%d", p->action_line);
	}
	return parser_fail_code(p, E_INVALID, &b);
}

bool parser_expect(struct parser *p, enum token_type type, const char *context)
{
	const struct token *t = parser_next_non_space(p);
	if (t->type != type)
		parser_unexpected(p, t, context);
	return t->type == type;
}

bool parser_enter(struct parser *p)
{
	if (p->s->depth >= PARSE_DEPTH_MAX) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b, "RenderLimit: nested deeper than %d", PARSE_DEPTH_MAX);
		parser_fail_code(p, E_LIMIT, &b);
		return false;
	}
	p->s->depth++;
	return true;
}

/* ---- nodes ---- */
/* A node ends behind the member of its kind: three quarters of a compiled chart are nodes. */
static size_t node_bytes(enum node_kind kind)
{
#define UP_TO(member) \
	offsetof(struct tmpl_node, member) + sizeof(((struct tmpl_node *)NULL)->member)
	switch (kind) {
	case NODE_TEXT:
		return UP_TO(text);
	case NODE_ACTION:
	case NODE_IF:
	case NODE_RANGE:
	case NODE_WITH:
		return UP_TO(branch);
	case NODE_TEMPLATE:
		return UP_TO(call);
	case NODE_LIST:
		return UP_TO(list);
	case NODE_COMMAND:
		return UP_TO(args);
	case NODE_FIELD:
	case NODE_VARIABLE:
	case NODE_CHAIN:
		return UP_TO(path);
	case NODE_IDENTIFIER:
		return UP_TO(ident);
	case NODE_BOOL:
		return UP_TO(boolean);
	case NODE_NUMBER:
		return UP_TO(number); /* NOLINT(bugprone-sizeof-expression): it is a pointer */
	case NODE_STRING:
		return UP_TO(string);
	case NODE_BREAK:
	case NODE_CONTINUE:
	case NODE_DOT:
	case NODE_NIL:
	case NODE_END:
	case NODE_ELSE:
		return offsetof(struct tmpl_node, text);
	case NODE_PIPE:
		break;
	}
	return sizeof(struct tmpl_node);
#undef UP_TO
}

struct tmpl_node *parser_make(struct parser *p, enum node_kind kind, size_t pos)
{
	struct tmpl_node *n = arena_alloc(p->s->arena, node_bytes(kind));
	n->kind = kind;
	n->pos = (uint32_t)pos;
	n->tree = p->tree;
	return n;
}

void parser_append(struct parser *p, struct nodes *list, struct tmpl_node *n)
{
	ARENA_GROW(p->s->arena, list->items, list->cap, list->n, 1);
	list->items[list->n++] = n;
}

void parser_push_var(struct parser *p, struct str name)
{
	ARENA_GROW(p->s->arena, p->vars, p->cap_vars, p->n_vars, 8);
	p->vars[p->n_vars++] = name;
}

/* A literal that stands for the text between its quotes. */
static bool is_verbatim(struct str s)
{
	bool raw = s.len >= 2 && s.ptr[0] == '`';
	return s.len >= 2 && s.ptr[0] == s.ptr[s.len - 1] && utf8_valid(s) &&
	       str_find_char(s, raw ? '\r' : '\\') < 0 && (raw || str_find_char(s, '\n') < 0);
}

bool parser_unquoted(struct parser *p, const struct token *t, struct str *ret)
{
	if (is_verbatim(t->val)) {
		*ret = str_sub(t->val, 1, t->val.len - 2);
		return true;
	}
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PARSE_TEXT_MAX);
	if (!quote_unquote(&b, t->val)) {
		parser_fail(p, "invalid syntax");
		return false;
	}
	*ret = value_text(value_take(p->s->texts, &b));
	return true;
}
