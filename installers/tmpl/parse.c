/*
 * parse: recursive descent with the token look-ahead of Go's parser: definitions, lists, actions. Recursion
 * follows parentheses and blocks only, both limited.
 */
#include "installers/tmpl/parse.h"

#include <assert.h>

#include "installers/tmpl/parser.h"

static struct tmpl_node *item_list(struct parser *p, struct tmpl_node **ret_end);
static struct tmpl_node *text_or_action(struct parser *p);

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
	parser_push_var(p, STR("$"));
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
			parser_fail_quoted(p, "template: multiple definition of template ",
					   p->tree->name, "");
		return;
	}
	ARENA_GROW(p->s->arena, d->trees, d->cap, d->n, 4);
	d->trees[d->n++] = p->tree;
}

/* The body of a define or block up to its end. */
/* NOLINTNEXTLINE(misc-no-recursion): parser_enter() bounds the depth by PARSE_DEPTH_MAX */
static void parse_body(struct parser *p, const char *context)
{
	struct tmpl_node *end = NULL;
	p->tree->root = item_list(p, &end);
	if (parser_failed(p))
		return;
	assert(end);
	if (end->kind != NODE_END) {
		parser_fail(p, "unexpected {{else}} in %s", context);
		return;
	}
	add_tree(p);
}

static void parse_definition(struct parser *p)
{
	const char *context = "define clause";
	const struct token *name = parser_next_non_space(p);
	if (name->type != TOK_STRING && name->type != TOK_RAW_STRING) {
		parser_unexpected(p, name, context);
		return;
	}
	if (!parser_unquoted(p, name, &p->tree->name) ||
	    !parser_expect(p, TOK_RIGHT_DELIM, context))
		return;
	parse_body(p, context);
}

static void parse_file(struct parser *p)
{
	struct tmpl_node *root = parser_make(p, NODE_LIST, parser_peek(p)->pos);
	p->tree->root = root;
	while (!parser_failed(p) && parser_peek(p)->type != TOK_EOF) {
		if (parser_peek(p)->type == TOK_LEFT_DELIM) {
			const struct token delim = *parser_next(p);
			if (parser_next_non_space(p)->type == TOK_DEFINE) {
				struct parser def;
				start(&def, p->s, STR("definition"));
				parse_definition(&def);
				continue;
			}
			p->token[1] = delim;
			p->peek_count = 2;
		}
		struct tmpl_node *n = text_or_action(p);
		if (parser_failed(p))
			return;
		if (n->kind == NODE_END || n->kind == NODE_ELSE) {
			parser_fail(p, "unexpected %s",
				    n->kind == NODE_END ? "{{end}}" : "{{else}}");
			return;
		}
		parser_append(p, &root->list, n);
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
	if (!parser_failed(&p))
		add_tree(&p);
	if (parser_failed(&p))
		return s.code;
	s.parsed->main = p.tree;
	*ret = s.parsed;
	return 0;
}

/* ---- lists and actions ---- */
/* NOLINTBEGIN(misc-no-recursion): parser_enter() bounds the depth by PARSE_DEPTH_MAX */
/* Up to {{end}} or {{else}}, which goes to *ret_end. */
static struct tmpl_node *item_list(struct parser *p, struct tmpl_node **ret_end)
{
	if (!parser_enter(p))
		return NULL;
	struct tmpl_node *list = parser_make(p, NODE_LIST, parser_peek_non_space(p)->pos);
	while (parser_peek_non_space(p)->type != TOK_EOF) {
		struct tmpl_node *n = text_or_action(p);
		if (parser_failed(p))
			return NULL;
		if (n->kind == NODE_END || n->kind == NODE_ELSE) {
			*ret_end = n;
			p->s->depth--;
			return list;
		}
		parser_append(p, &list->list, n);
	}
	return parser_fail(p, "unexpected EOF");
}

/* After the pipe of if, with, range: the lists. */
static void parse_lists(struct parser *p, struct tmpl_node *n);

static struct tmpl_node *control(struct parser *p, enum node_kind kind, const char *context)
{
	size_t vars = p->n_vars;
	struct tmpl_node *pipe = parser_pipeline(p, context, TOK_RIGHT_DELIM);
	if (parser_failed(p))
		return NULL;
	struct tmpl_node *n = parser_make(p, kind, pipe->pos);
	n->branch.pipe = pipe;
	parse_lists(p, n);
	p->n_vars = vars;
	return parser_failed(p) ? NULL : n;
}

static void parse_else(struct parser *p, struct tmpl_node *n, struct tmpl_node *at)
{
	enum token_type word = parser_peek(p)->type;
	if ((n->kind == NODE_IF && word == TOK_IF) || (n->kind == NODE_WITH && word == TOK_WITH)) {
		parser_next(p);
		if (!parser_enter(p))
			return;
		struct tmpl_node *list = parser_make(p, NODE_LIST, at->pos);
		struct tmpl_node *inner = control(p, n->kind, n->kind == NODE_IF ? "if" : "with");
		p->s->depth--;
		if (parser_failed(p))
			return;
		parser_append(p, &list->list, inner);
		n->branch.else_list = list;
		return;
	}
	struct tmpl_node *end = NULL;
	n->branch.else_list = item_list(p, &end);
	if (parser_failed(p))
		return;
	assert(end);
	if (end->kind != NODE_END)
		parser_fail(p, "expected end; found {{else}}");
}

static void parse_lists(struct parser *p, struct tmpl_node *n)
{
	bool range = n->kind == NODE_RANGE;
	struct tmpl_node *end = NULL;
	p->range_depth += range;
	n->branch.list = item_list(p, &end);
	p->range_depth -= range;
	if (parser_failed(p))
		return;
	assert(end);
	if (end->kind == NODE_ELSE)
		parse_else(p, n, end);
}

static struct tmpl_node *else_control(struct parser *p)
{
	const struct token *t = parser_peek_non_space(p);
	if (t->type == TOK_IF || t->type == TOK_WITH)
		return parser_make(p, NODE_ELSE, t->pos);
	t = parser_next_non_space(p);
	if (t->type != TOK_RIGHT_DELIM)
		return parser_unexpected(p, t, "else");
	return parser_make(p, NODE_ELSE, t->pos);
}

static struct tmpl_node *loop_control(struct parser *p, const struct token *word)
{
	bool is_break = word->type == TOK_BREAK;
	size_t pos = word->pos;
	const struct token *t = parser_next_non_space(p);
	if (t->type != TOK_RIGHT_DELIM)
		return parser_unexpected(p, t, is_break ? "{{break}}" : "{{continue}}");
	if (p->range_depth == 0)
		return parser_fail(p, "{{%s}} outside {{range}}", is_break ? "break" : "continue");
	return parser_make(p, is_break ? NODE_BREAK : NODE_CONTINUE, pos);
}

static bool template_name(struct parser *p, const struct token *t, const char *context,
			  struct str *ret)
{
	if (t->type != TOK_STRING && t->type != TOK_RAW_STRING) {
		parser_unexpected(p, t, context);
		return false;
	}
	return parser_unquoted(p, t, ret);
}

static struct tmpl_node *block_control(struct parser *p)
{
	const char *context = "block clause";
	const struct token *t = parser_next_non_space(p);
	size_t pos = t->pos;
	struct str name;
	if (!template_name(p, t, context, &name))
		return NULL;
	struct tmpl_node *pipe = parser_pipeline(p, context, TOK_RIGHT_DELIM);
	if (parser_failed(p))
		return NULL;
	struct parser block;
	start(&block, p->s, name);
	parse_body(&block, context);
	if (parser_failed(p))
		return NULL;
	struct tmpl_node *n = parser_make(p, NODE_TEMPLATE, pos);
	n->call.name = name;
	n->call.pipe = pipe;
	return n;
}

static struct tmpl_node *template_control(struct parser *p)
{
	const char *context = "template clause";
	const struct token *t = parser_next_non_space(p);
	size_t pos = t->pos;
	struct str name;
	if (!template_name(p, t, context, &name))
		return NULL;
	struct tmpl_node *pipe = NULL;
	if (parser_next_non_space(p)->type != TOK_RIGHT_DELIM) {
		parser_backup(p);
		pipe = parser_pipeline(p, context, TOK_RIGHT_DELIM);
		if (parser_failed(p))
			return NULL;
	}
	struct tmpl_node *n = parser_make(p, NODE_TEMPLATE, pos);
	n->call.name = name;
	n->call.pipe = pipe;
	return n;
}

static struct tmpl_node *end_control(struct parser *p)
{
	const struct token *t = parser_next_non_space(p);
	if (t->type != TOK_RIGHT_DELIM)
		return parser_unexpected(p, t, "end");
	return parser_make(p, NODE_END, t->pos);
}

static struct tmpl_node *action(struct parser *p)
{
	const struct token *t = parser_next_non_space(p);
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
	parser_backup(p);
	size_t pos = parser_peek(p)->pos;
	struct tmpl_node *pipe = parser_pipeline(p, "command", TOK_RIGHT_DELIM);
	if (parser_failed(p))
		return NULL;
	struct tmpl_node *n = parser_make(p, NODE_ACTION, pos);
	n->branch.pipe = pipe;
	return n;
}

static struct tmpl_node *text_or_action(struct parser *p)
{
	const struct token *t = parser_next_non_space(p);
	if (t->type == TOK_TEXT) {
		struct tmpl_node *n = parser_make(p, NODE_TEXT, t->pos);
		n->text = t->val;
		return n;
	}
	if (t->type != TOK_LEFT_DELIM)
		return parser_unexpected(p, t, "input");
	p->action_line = t->line;
	struct tmpl_node *n = action(p);
	p->action_line = 0;
	return n;
}
/* NOLINTEND(misc-no-recursion) */
