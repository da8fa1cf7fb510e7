#include "installers/tmpl/node.h"

/* NOLINTBEGIN(misc-no-recursion): the parser bounds the depth of the tree by PARSE_DEPTH_MAX */
static void print_nodes(struct strbuf *b, const struct nodes *list, const char *between)
{
	for (size_t i = 0; i < list->n; i++) {
		if (i > 0)
			strbuf_adds(b, between);
		node_print(b, list->items[i]);
	}
}

/* An operand: pipelines get their parentheses back. */
static void print_operand(struct strbuf *b, const struct tmpl_node *n)
{
	bool paren = n->kind == NODE_PIPE;
	if (paren)
		strbuf_addc(b, '(');
	node_print(b, n);
	if (paren)
		strbuf_addc(b, ')');
}

static void print_pipe(struct strbuf *b, const struct tmpl_node *n)
{
	for (size_t i = 0; i < n->pipe.n_decl; i++) {
		if (i > 0)
			strbuf_adds(b, ", ");
		node_print(b, n->pipe.decl[i]);
	}
	if (n->pipe.n_decl)
		strbuf_adds(b, n->pipe.assign ? " = " : " := ");
	print_nodes(b, &n->pipe.cmds, " | ");
}

static void print_branch(struct strbuf *b, const struct tmpl_node *n)
{
	const char *word = n->kind == NODE_IF ? "if" : n->kind == NODE_RANGE ? "range" : "with";
	strbuf_addf(b, "{{%s ", word);
	node_print(b, n->branch.pipe);
	strbuf_adds(b, "}}");
	node_print(b, n->branch.list);
	if (n->branch.else_list) {
		strbuf_adds(b, "{{else}}");
		node_print(b, n->branch.else_list);
	}
	strbuf_adds(b, "{{end}}");
}

static void print_path(struct strbuf *b, const struct tmpl_node *n)
{
	if (n->kind == NODE_CHAIN)
		print_operand(b, n->path.of);
	for (size_t i = 0; i < n->path.n; i++) {
		if (i > 0 || n->kind != NODE_VARIABLE)
			strbuf_addc(b, '.');
		strbuf_addstr(b, n->path.names[i]);
	}
}

static void print_call(struct strbuf *b, const struct tmpl_node *n)
{
	strbuf_adds(b, "{{template ");
	value_quote(b, n->call.name);
	if (n->call.pipe) {
		strbuf_addc(b, ' ');
		node_print(b, n->call.pipe);
	}
	strbuf_adds(b, "}}");
}

static void print_command(struct strbuf *b, const struct tmpl_node *n)
{
	for (size_t i = 0; i < n->args.n; i++) {
		if (i > 0)
			strbuf_addc(b, ' ');
		print_operand(b, n->args.items[i]);
	}
}

/* The parser bounds the depth of the tree, so this recursion is bounded. */
void node_print(struct strbuf *b, const struct tmpl_node *n)
{
	switch (n->kind) {
	case NODE_TEXT:
		strbuf_addstr(b, n->text);
		break;
	case NODE_ACTION:
		strbuf_adds(b, "{{");
		node_print(b, n->branch.pipe);
		strbuf_adds(b, "}}");
		break;
	case NODE_IF:
	case NODE_RANGE:
	case NODE_WITH:
		print_branch(b, n);
		break;
	case NODE_BREAK:
		strbuf_adds(b, "{{break}}");
		break;
	case NODE_CONTINUE:
		strbuf_adds(b, "{{continue}}");
		break;
	case NODE_TEMPLATE:
		print_call(b, n);
		break;
	case NODE_LIST:
		print_nodes(b, &n->list, "");
		break;
	case NODE_PIPE:
		print_pipe(b, n);
		break;
	case NODE_COMMAND:
		print_command(b, n);
		break;
	case NODE_FIELD:
	case NODE_VARIABLE:
	case NODE_CHAIN:
		print_path(b, n);
		break;
	case NODE_IDENTIFIER:
		strbuf_addstr(b, n->ident.name);
		break;
	case NODE_DOT:
		strbuf_addc(b, '.');
		break;
	case NODE_NIL:
		strbuf_adds(b, "nil");
		break;
	case NODE_BOOL:
		strbuf_adds(b, n->boolean ? "true" : "false");
		break;
	case NODE_NUMBER:
		strbuf_addstr(b, n->number->text);
		break;
	case NODE_STRING:
		strbuf_addstr(b, n->string.quoted);
		break;
	case NODE_END:
		strbuf_adds(b, "{{end}}");
		break;
	case NODE_ELSE:
		strbuf_adds(b, "{{else}}");
		break;
	}
}

bool node_is_empty(const struct tmpl_node *n)
{
	if (!n)
		return true;
	if (n->kind == NODE_TEXT) {
		/* Unicode blanks count, but a text of those only is too rare to look for. */
		return str_trim(n->text).len == 0;
	}
	if (n->kind != NODE_LIST)
		return false;
	for (size_t i = 0; i < n->list.n; i++) {
		if (!node_is_empty(n->list.items[i]))
			return false;
	}
	return true;
}
/* NOLINTEND(misc-no-recursion) */

void node_location(struct strbuf *b, const struct tmpl_node *n)
{
	struct str before = str_sub(n->tree->text, 0, n->pos);
	size_t line = 1;
	for (size_t i = 0; i < before.len; i++)
		line += before.ptr[i] == '\n';
	ptrdiff_t newline = str_rfind_char(before, '\n');
	strbuf_addstr(b, n->tree->file);
	strbuf_addf(b, ":%zu:%zu", line, before.len - (size_t)(newline + 1));
}
