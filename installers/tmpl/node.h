/*
 * node: the tree of a template. Nodes live in the arena they were parsed into and are never
 * changed. Functions are resolved, constants converted when parsed.
 */
#ifndef INSTALLERS_TMPL_NODE_H
#define INSTALLERS_TMPL_NODE_H

#include "installers/tmpl/tmpl.h"

enum node_kind {
	NODE_TEXT,
	NODE_ACTION,
	NODE_IF,
	NODE_RANGE,
	NODE_WITH,
	NODE_BREAK,
	NODE_CONTINUE,
	NODE_TEMPLATE,
	NODE_LIST,
	NODE_PIPE,
	NODE_COMMAND,
	NODE_FIELD,
	NODE_VARIABLE,
	NODE_CHAIN,
	NODE_IDENTIFIER,
	NODE_DOT,
	NODE_NIL,
	NODE_BOOL,
	NODE_NUMBER,
	NODE_STRING,
	NODE_END, /* of the parser only */
	NODE_ELSE,
};

struct tmpl_node;

struct nodes {
	struct tmpl_node **items;
	uint32_t n, cap;
};

struct number {
	bool is_int, is_uint, is_float, is_complex;
	int64_t i;
	uint64_t u;
	double f;
	double z[2];
	struct str text;
};

/* One define, or the body of a file. */
struct tmpl_tree {
	struct str name; /* of the template */
	struct str file; /* where it was written */
	struct str text; /* of that file */
	struct tmpl_node *root;
};

struct tmpl_node {
	enum node_kind kind;
	uint32_t pos; /* byte in tree->text */
	const struct tmpl_tree *tree;
	union {
		struct str text;
		struct {
			struct tmpl_node *pipe, *list, *else_list;
		} branch; /* if, range, with; action has only pipe */
		struct {
			struct str name;
			struct tmpl_node *pipe;
		} call; /* template */
		struct nodes list;
		struct {
			struct tmpl_node *decl[2];
			struct nodes cmds;
			uint8_t n_decl;
			bool assign;
		} pipe;
		struct nodes args; /* command */
		struct {
			struct tmpl_node *of; /* chain */
			struct str *names;    /* of a variable the first is $x */
			size_t n;
		} path;
		struct {
			struct str name;
			const struct tmpl_func *fn;
		} ident;
		bool boolean;
		struct number *number;
		struct {
			struct str quoted, text;
		} string;
	};
};

/* The node written again, as Go does in messages. */
void node_print(struct strbuf *b, const struct tmpl_node *n);
bool node_is_empty(const struct tmpl_node *n); /* blanks and comments only */
/* "FILE:LINE:COL" */
void node_location(struct strbuf *b, const struct tmpl_node *n);

#endif
