/*
 * parse: recursive descent with the token look-ahead of Go's parser. Recursion follows parentheses
 * and blocks only, both limited. A function that fails returns NULL (or false) and sets failed.
 */
#include "installers/tmpl/parse.h"

#include <assert.h>
#include <string.h>

#include "installers/tmpl/lex.h"
#include "installers/tmpl/parse_number.h"
#include "installers/value/print.h"

/* What all trees of one text share. */
struct source {
	struct arena *arena, *texts;
	struct lexer lexer;
	parse_lookup_fn lookup;
	const void *ctx;
	struct parsed *parsed;
	struct strbuf *msg;
	struct str name, text;
	int depth;
	int code; /* negative once failed */
};

/* One tree being built. */
struct parser {
	struct source *s;
	struct tmpl_tree *tree;
	struct token token[3];
	int peek_count;
	struct str *vars;
	size_t n_vars, cap_vars;
	int range_depth;
	int action_line;
};

static struct tmpl_node *item_list(struct parser *p, struct tmpl_node **ret_end);
static struct tmpl_node *pipeline(struct parser *p, const char *context, enum token_type end);
static struct tmpl_node *text_or_action(struct parser *p);

/* ---- tokens ---- */
/* A token stays where it is until the next one is read. */
static const struct token *next(struct parser *p)
{
	if (p->peek_count > 0)
		p->peek_count--;
	else
		lexer_next(&p->s->lexer, &p->token[0]);
	return &p->token[p->peek_count];
}

static void backup(struct parser *p)
{
	p->peek_count++;
}

static const struct token *peek(struct parser *p)
{
	if (p->peek_count > 0)
		return &p->token[p->peek_count - 1];
	p->peek_count = 1;
	lexer_next(&p->s->lexer, &p->token[0]);
	return &p->token[0];
}

static const struct token *next_non_space(struct parser *p)
{
	const struct token *t;
	do {
		t = next(p);
	} while (t->type == TOK_SPACE);
	return t;
}

static const struct token *peek_non_space(struct parser *p)
{
	const struct token *t = next_non_space(p);
	backup(p);
	return t;
}

/* ---- errors ---- */
static struct tmpl_node *fail_code(struct parser *p, int code, const struct strbuf *text)
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

static struct tmpl_node *fail(struct parser *p, const char *fmt, ...) PRINTF(2, 3);
static struct tmpl_node *fail(struct parser *p, const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	va_list args;
	va_start(args, fmt);
	strbuf_vaddf(&b, fmt, args);
	va_end(args);
	return fail_code(p, E_INVALID, &b);
}

/* "BEFORE %q AFTER" with any bytes. */
static struct tmpl_node *fail_quoted(struct parser *p, const char *before, struct str q,
				     const char *after)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, before);
	value_quote(&b, q);
	strbuf_adds(&b, after);
	return fail_code(p, E_INVALID, &b);
}

static bool failed(const struct parser *p)
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

static struct tmpl_node *unexpected(struct parser *p, const struct token *t, const char *context)
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
	return fail_code(p, E_INVALID, &b);
}

static bool expect(struct parser *p, enum token_type type, const char *context)
{
	const struct token *t = next_non_space(p);
	if (t->type != type)
		unexpected(p, t, context);
	return t->type == type;
}

/* One level deeper; false: too deep. */
static bool enter(struct parser *p)
{
	if (p->s->depth >= PARSE_DEPTH_MAX) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b, "RenderLimit: nested deeper than %d", PARSE_DEPTH_MAX);
		fail_code(p, E_LIMIT, &b);
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

static struct tmpl_node *make(struct parser *p, enum node_kind kind, size_t pos)
{
	struct tmpl_node *n = arena_alloc(p->s->arena, node_bytes(kind));
	n->kind = kind;
	n->pos = (uint32_t)pos;
	n->tree = p->tree;
	return n;
}

static void append(struct parser *p, struct nodes *list, struct tmpl_node *n)
{
	ARENA_GROW(p->s->arena, list->items, list->cap, list->n, 1);
	list->items[list->n++] = n;
}

static void push_var(struct parser *p, struct str name)
{
	ARENA_GROW(p->s->arena, p->vars, p->cap_vars, p->n_vars, 8);
	p->vars[p->n_vars++] = name;
}

/* ---- trees ---- */
static struct tmpl_tree *new_tree(struct source *s, struct str name)
{
	struct tmpl_tree *t = ARENA_NEW(s->arena, struct tmpl_tree);
	*t = (struct tmpl_tree){.name = name, .file = s->name, .text = s->text};
	return t;
}

static void start(struct parser *p, struct source *s, struct str name)
{
	*p = (struct parser){.s = s, .tree = new_tree(s, name)};
	push_var(p, STR("$"));
}

/* The tree joins the set: a real body is never replaced within one text. */
static void add_tree(struct parser *p)
{
	struct parsed *d = p->s->parsed;
	for (size_t i = 0; i < d->n; i++) {
		if (!str_eq(d->trees[i]->name, p->tree->name))
			continue;
		if (node_is_empty(d->trees[i]->root))
			d->trees[i] = p->tree;
		else if (!node_is_empty(p->tree->root))
			fail_quoted(p, "template: multiple definition of template ", p->tree->name,
				    "");
		return;
	}
	ARENA_GROW(p->s->arena, d->trees, d->cap, d->n, 4);
	d->trees[d->n++] = p->tree;
}

/* A literal that stands for the text between its quotes. */
static bool is_verbatim(struct str s)
{
	bool raw = s.len >= 2 && s.ptr[0] == '`';
	return s.len >= 2 && s.ptr[0] == s.ptr[s.len - 1] && utf8_valid(s) &&
	       str_find_char(s, raw ? '\r' : '\\') < 0 && (raw || str_find_char(s, '\n') < 0);
}

static bool unquoted(struct parser *p, const struct token *t, struct str *ret)
{
	if (is_verbatim(t->val)) {
		*ret = str_sub(t->val, 1, t->val.len - 2);
		return true;
	}
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PARSE_TEXT_MAX);
	if (!quote_unquote(&b, t->val)) {
		fail(p, "invalid syntax");
		return false;
	}
	*ret = value_text(value_take(p->s->texts, &b));
	return true;
}

/* The body of a define or block up to its end. */
/* NOLINTNEXTLINE(misc-no-recursion): enter() bounds the depth by PARSE_DEPTH_MAX */
static void parse_body(struct parser *p, const char *context)
{
	struct tmpl_node *end = NULL;
	p->tree->root = item_list(p, &end);
	if (failed(p))
		return;
	assert(end);
	if (end->kind != NODE_END) {
		fail(p, "unexpected {{else}} in %s", context);
		return;
	}
	add_tree(p);
}

static void parse_definition(struct parser *p)
{
	const char *context = "define clause";
	const struct token *name = next_non_space(p);
	if (name->type != TOK_STRING && name->type != TOK_RAW_STRING) {
		unexpected(p, name, context);
		return;
	}
	if (!unquoted(p, name, &p->tree->name) || !expect(p, TOK_RIGHT_DELIM, context))
		return;
	parse_body(p, context);
}

static void parse_file(struct parser *p)
{
	struct tmpl_node *root = make(p, NODE_LIST, peek(p)->pos);
	p->tree->root = root;
	while (!failed(p) && peek(p)->type != TOK_EOF) {
		if (peek(p)->type == TOK_LEFT_DELIM) {
			const struct token delim = *next(p);
			if (next_non_space(p)->type == TOK_DEFINE) {
				struct parser def;
				start(&def, p->s, STR("definition"));
				parse_definition(&def);
				continue;
			}
			p->token[1] = delim;
			p->peek_count = 2;
		}
		struct tmpl_node *n = text_or_action(p);
		if (failed(p))
			return;
		if (n->kind == NODE_END || n->kind == NODE_ELSE) {
			fail(p, "unexpected %s", n->kind == NODE_END ? "{{end}}" : "{{else}}");
			return;
		}
		append(p, &root->list, n);
	}
}

int parse_template(const struct parse_input *in, struct parsed **ret, struct strbuf *msg)
{
	struct source s = {.arena = in->arena,
			   .texts = in->texts,
			   .lookup = in->lookup,
			   .ctx = in->ctx,
			   .msg = msg,
			   .name = in->name,
			   .text = in->text};
	if (in->text.len > PARSE_TEXT_MAX) {
		strbuf_adds(msg, "RenderLimit: a template is too large");
		return -E_LIMIT;
	}
	s.parsed = ARENA_NEW(s.arena, struct parsed);
	lexer_init(&s.lexer, s.arena, in->text);
	struct parser p;
	start(&p, &s, in->name);
	parse_file(&p);
	if (!failed(&p))
		add_tree(&p);
	if (failed(&p))
		return s.code;
	s.parsed->main = p.tree;
	*ret = s.parsed;
	return 0;
}

/* ---- lists and actions ---- */
/* NOLINTBEGIN(misc-no-recursion): enter() bounds the depth by PARSE_DEPTH_MAX */
/* Up to {{end}} or {{else}}, which goes to *ret_end. */
static struct tmpl_node *item_list(struct parser *p, struct tmpl_node **ret_end)
{
	if (!enter(p))
		return NULL;
	struct tmpl_node *list = make(p, NODE_LIST, peek_non_space(p)->pos);
	while (peek_non_space(p)->type != TOK_EOF) {
		struct tmpl_node *n = text_or_action(p);
		if (failed(p))
			return NULL;
		if (n->kind == NODE_END || n->kind == NODE_ELSE) {
			*ret_end = n;
			p->s->depth--;
			return list;
		}
		append(p, &list->list, n);
	}
	return fail(p, "unexpected EOF");
}

/* After the pipe of if, with, range: the lists. */
static void parse_lists(struct parser *p, struct tmpl_node *n);

static struct tmpl_node *control(struct parser *p, enum node_kind kind, const char *context)
{
	size_t vars = p->n_vars;
	struct tmpl_node *pipe = pipeline(p, context, TOK_RIGHT_DELIM);
	if (failed(p))
		return NULL;
	struct tmpl_node *n = make(p, kind, pipe->pos);
	n->branch.pipe = pipe;
	parse_lists(p, n);
	p->n_vars = vars;
	return failed(p) ? NULL : n;
}

static void parse_else(struct parser *p, struct tmpl_node *n, struct tmpl_node *at)
{
	enum token_type word = peek(p)->type;
	if ((n->kind == NODE_IF && word == TOK_IF) || (n->kind == NODE_WITH && word == TOK_WITH)) {
		next(p);
		if (!enter(p))
			return;
		struct tmpl_node *list = make(p, NODE_LIST, at->pos);
		struct tmpl_node *inner = control(p, n->kind, n->kind == NODE_IF ? "if" : "with");
		p->s->depth--;
		if (failed(p))
			return;
		append(p, &list->list, inner);
		n->branch.else_list = list;
		return;
	}
	struct tmpl_node *end = NULL;
	n->branch.else_list = item_list(p, &end);
	if (!failed(p) && end && end->kind != NODE_END)
		fail(p, "expected end; found {{else}}");
}

static void parse_lists(struct parser *p, struct tmpl_node *n)
{
	bool range = n->kind == NODE_RANGE;
	struct tmpl_node *end = NULL;
	p->range_depth += range;
	n->branch.list = item_list(p, &end);
	p->range_depth -= range;
	if (!failed(p) && end && end->kind == NODE_ELSE)
		parse_else(p, n, end);
}

static struct tmpl_node *else_control(struct parser *p)
{
	const struct token *t = peek_non_space(p);
	if (t->type == TOK_IF || t->type == TOK_WITH)
		return make(p, NODE_ELSE, t->pos);
	t = next_non_space(p);
	if (t->type != TOK_RIGHT_DELIM)
		return unexpected(p, t, "else");
	return make(p, NODE_ELSE, t->pos);
}

static struct tmpl_node *loop_control(struct parser *p, const struct token *word)
{
	bool is_break = word->type == TOK_BREAK;
	size_t pos = word->pos;
	const struct token *t = next_non_space(p);
	if (t->type != TOK_RIGHT_DELIM)
		return unexpected(p, t, is_break ? "{{break}}" : "{{continue}}");
	if (p->range_depth == 0)
		return fail(p, "{{%s}} outside {{range}}", is_break ? "break" : "continue");
	return make(p, is_break ? NODE_BREAK : NODE_CONTINUE, pos);
}

static bool template_name(struct parser *p, const struct token *t, const char *context,
			  struct str *ret)
{
	if (t->type != TOK_STRING && t->type != TOK_RAW_STRING) {
		unexpected(p, t, context);
		return false;
	}
	return unquoted(p, t, ret);
}

static struct tmpl_node *block_control(struct parser *p)
{
	const char *context = "block clause";
	const struct token *t = next_non_space(p);
	size_t pos = t->pos;
	struct str name;
	if (!template_name(p, t, context, &name))
		return NULL;
	struct tmpl_node *pipe = pipeline(p, context, TOK_RIGHT_DELIM);
	if (failed(p))
		return NULL;
	struct parser block;
	start(&block, p->s, name);
	parse_body(&block, context);
	if (failed(p))
		return NULL;
	struct tmpl_node *n = make(p, NODE_TEMPLATE, pos);
	n->call.name = name;
	n->call.pipe = pipe;
	return n;
}

static struct tmpl_node *template_control(struct parser *p)
{
	const char *context = "template clause";
	const struct token *t = next_non_space(p);
	size_t pos = t->pos;
	struct str name;
	if (!template_name(p, t, context, &name))
		return NULL;
	struct tmpl_node *pipe = NULL;
	if (next_non_space(p)->type != TOK_RIGHT_DELIM) {
		backup(p);
		pipe = pipeline(p, context, TOK_RIGHT_DELIM);
		if (failed(p))
			return NULL;
	}
	struct tmpl_node *n = make(p, NODE_TEMPLATE, pos);
	n->call.name = name;
	n->call.pipe = pipe;
	return n;
}

static struct tmpl_node *end_control(struct parser *p)
{
	const struct token *t = next_non_space(p);
	if (t->type != TOK_RIGHT_DELIM)
		return unexpected(p, t, "end");
	return make(p, NODE_END, t->pos);
}

static struct tmpl_node *action(struct parser *p)
{
	const struct token *t = next_non_space(p);
	if (t->type == TOK_BLOCK)
		return block_control(p);
	if (t->type == TOK_BREAK || t->type == TOK_CONTINUE)
		return loop_control(p, t);
	if (t->type == TOK_ELSE)
		return else_control(p);
	if (t->type == TOK_END)
		return end_control(p);
	if (t->type == TOK_IF)
		return control(p, NODE_IF, "if");
	if (t->type == TOK_RANGE)
		return control(p, NODE_RANGE, "range");
	if (t->type == TOK_TEMPLATE)
		return template_control(p);
	if (t->type == TOK_WITH)
		return control(p, NODE_WITH, "with");
	backup(p);
	size_t pos = peek(p)->pos;
	struct tmpl_node *pipe = pipeline(p, "command", TOK_RIGHT_DELIM);
	if (failed(p))
		return NULL;
	struct tmpl_node *n = make(p, NODE_ACTION, pos);
	n->branch.pipe = pipe;
	return n;
}

static struct tmpl_node *text_or_action(struct parser *p)
{
	const struct token *t = next_non_space(p);
	if (t->type == TOK_TEXT) {
		struct tmpl_node *n = make(p, NODE_TEXT, t->pos);
		n->text = t->val;
		return n;
	}
	if (t->type != TOK_LEFT_DELIM)
		return unexpected(p, t, "input");
	p->action_line = t->line;
	struct tmpl_node *n = action(p);
	p->action_line = 0;
	return n;
}
/* NOLINTEND(misc-no-recursion) */

/* ---- pipelines ---- */
static struct tmpl_node *variable_node(struct parser *p, size_t pos, struct str name)
{
	struct tmpl_node *n = make(p, NODE_VARIABLE, pos);
	n->path.names = ARENA_ARRAY(p->s->arena, struct str, 1);
	n->path.names[0] = name;
	n->path.n = 1;
	return n;
}

static void declare(struct parser *p, struct tmpl_node *pipe, const struct token *v)
{
	pipe->pipe.decl[pipe->pipe.n_decl++] = variable_node(p, v->pos, v->val);
	push_var(p, v->val);
}

/* $x :=, $x =, $k, $v := at the front. */
static void declarations(struct parser *p, struct tmpl_node *pipe, const char *context)
{
	for (;;) {
		const struct token v = *peek_non_space(p);
		if (v.type != TOK_VARIABLE)
			return;
		next(p);
		const struct token after = *peek(p);
		const struct token *t = peek_non_space(p);
		bool comma = t->type == TOK_CHAR && str_is(t->val, ",");
		if (t->type == TOK_ASSIGN || t->type == TOK_DECLARE) {
			pipe->pipe.assign = t->type == TOK_ASSIGN;
			next_non_space(p);
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
		next_non_space(p);
		if (pipe->pipe.n_decl < 2)
			declare(p, pipe, &v);
		if (strcmp(context, "range") != 0 || pipe->pipe.n_decl >= 2) {
			fail(p, "too many declarations in %s", context);
			return;
		}
		t = peek_non_space(p);
		if (t->type != TOK_VARIABLE && t->type != TOK_RIGHT_DELIM &&
		    t->type != TOK_RIGHT_PAREN) {
			fail(p, "range can only initialize variables");
			return;
		}
	}
}

static void check_pipeline(struct parser *p, const struct tmpl_node *pipe, const char *context)
{
	if (pipe->pipe.cmds.n == 0)
		fail(p, "missing value for %s", context);
	for (size_t i = 1; i < pipe->pipe.cmds.n; i++) {
		enum node_kind kind = pipe->pipe.cmds.items[i]->args.items[0]->kind;
		if (kind == NODE_BOOL || kind == NODE_DOT || kind == NODE_NIL ||
		    kind == NODE_NUMBER || kind == NODE_STRING)
			fail(p, "non executable command in pipeline stage %zu", i + 1);
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

/* NOLINTNEXTLINE(misc-no-recursion): enter() bounds the depth by PARSE_DEPTH_MAX */
static struct tmpl_node *pipeline(struct parser *p, const char *context, enum token_type end)
{
	if (!enter(p))
		return NULL;
	struct tmpl_node *pipe = make(p, NODE_PIPE, peek_non_space(p)->pos);
	declarations(p, pipe, context);
	while (!failed(p)) {
		const struct token *t = next_non_space(p);
		if (t->type == end) {
			check_pipeline(p, pipe, context);
			p->s->depth--;
			return failed(p) ? NULL : pipe;
		}
		if (!starts_operand(t->type))
			return unexpected(p, t, context);
		backup(p);
		append(p, &pipe->pipe.cmds, command(p));
	}
	return NULL;
}

/* ---- operands ---- */
static struct tmpl_node *number_node(struct parser *p, const struct token *t)
{
	struct tmpl_node *n = make(p, NODE_NUMBER, t->pos);
	n->number = ARENA_NEW(p->s->arena, struct number);
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(STRBUF_SMALL);
	if (!parse_number(t->val, t->type, n->number, &why))
		return fail_code(p, E_INVALID, &why);
	return n;
}

static struct tmpl_node *string_node(struct parser *p, const struct token *t)
{
	struct tmpl_node *n = make(p, NODE_STRING, t->pos);
	n->string.quoted = t->val;
	return unquoted(p, t, &n->string.text) ? n : NULL;
}

static struct tmpl_node *identifier_node(struct parser *p, const struct token *t)
{
	struct tmpl_node *n = make(p, NODE_IDENTIFIER, t->pos);
	n->ident.name = t->val;
	n->ident.fn = p->s->lookup(p->s->ctx, t->val);
	if (!n->ident.fn)
		return fail_quoted(p, "function ", t->val, " not defined");
	return n;
}

static struct tmpl_node *use_variable(struct parser *p, const struct token *t)
{
	for (size_t i = 0; i < p->n_vars; i++) {
		if (str_eq(p->vars[i], t->val))
			return variable_node(p, t->pos, t->val);
	}
	return fail_quoted(p, "undefined variable ", t->val, "");
}

static struct tmpl_node *field_node(struct parser *p, const struct token *t)
{
	struct tmpl_node *n = make(p, NODE_FIELD, t->pos);
	n->path.names = ARENA_ARRAY(p->s->arena, struct str, 1);
	n->path.names[0] = str_skip(t->val, 1);
	n->path.n = 1;
	return n;
}

/* NOLINTBEGIN(misc-no-recursion): enter() bounds the depth by PARSE_DEPTH_MAX */
/* NULL without failure: no operand here. */
static struct tmpl_node *term(struct parser *p)
{
	const struct token *t = next_non_space(p);
	struct tmpl_node *n;
	switch ((int)t->type) {
	case TOK_IDENTIFIER:
		return identifier_node(p, t);
	case TOK_DOT:
		return make(p, NODE_DOT, t->pos);
	case TOK_NIL:
		return make(p, NODE_NIL, t->pos);
	case TOK_VARIABLE:
		return use_variable(p, t);
	case TOK_FIELD:
		return field_node(p, t);
	case TOK_BOOL:
		n = make(p, NODE_BOOL, t->pos);
		n->boolean = str_is(t->val, "true");
		return n;
	case TOK_CHAR_CONSTANT:
	case TOK_COMPLEX:
	case TOK_NUMBER:
		return number_node(p, t);
	case TOK_LEFT_PAREN:
		return pipeline(p, "parenthesized pipeline", TOK_RIGHT_PAREN);
	case TOK_STRING:
	case TOK_RAW_STRING:
		return string_node(p, t);
	default:
		backup(p);
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
		bool more = peek(p)->type == TOK_FIELD;
		if (count >= n_before && !more)
			break;
		ARENA_GROW(p->s->arena, names, cap, count, PATH_NAMES);
		names[count] = count < n_before ? before[count] : str_skip(next(p)->val, 1);
		count++;
	}
	n->path.names =
		names == some ? arena_memdup(p->s->arena, some, count * sizeof(*some)) : names;
	n->path.n = count;
}

static struct tmpl_node *operand(struct parser *p)
{
	struct tmpl_node *n = term(p);
	if (!n || peek(p)->type != TOK_FIELD)
		return n;
	size_t pos = peek(p)->pos;
	if (n->kind == NODE_FIELD || n->kind == NODE_VARIABLE) {
		struct tmpl_node *path = make(p, n->kind, pos);
		add_fields(p, path, n->path.names, n->path.n);
		return path;
	}
	if (n->kind == NODE_BOOL || n->kind == NODE_STRING || n->kind == NODE_NUMBER ||
	    n->kind == NODE_NIL || n->kind == NODE_DOT) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PARSE_TEXT_MAX);
		node_print(&b, n);
		return fail_quoted(p, "unexpected . after term ", strbuf_str(&b), "");
	}
	struct tmpl_node *chain = make(p, NODE_CHAIN, pos);
	add_fields(p, chain, NULL, 0);
	chain->path.of = n;
	return chain;
}

static struct tmpl_node *command(struct parser *p)
{
	struct tmpl_node *cmd = make(p, NODE_COMMAND, peek_non_space(p)->pos);
	for (;;) {
		peek_non_space(p);
		struct tmpl_node *n = operand(p);
		if (failed(p))
			return NULL;
		if (n)
			append(p, &cmd->args, n);
		const struct token *t = next(p);
		if (t->type == TOK_SPACE)
			continue;
		if (t->type == TOK_RIGHT_DELIM || t->type == TOK_RIGHT_PAREN)
			backup(p);
		else if (t->type != TOK_PIPE)
			return unexpected(p, t, "operand");
		break;
	}
	if (cmd->args.n == 0)
		return fail(p, "empty command");
	return cmd;
}
/* NOLINTEND(misc-no-recursion) */
