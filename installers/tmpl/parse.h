/*
 * parse: text -> trees. Errors are text/template's: "template: FILE:LINE: MSG".
 */
#ifndef INSTALLERS_TMPL_PARSE_H
#define INSTALLERS_TMPL_PARSE_H

#include "installers/tmpl/node.h"

#define PARSE_DEPTH_MAX 1000 /* parentheses and blocks in each other */
#define PATH_NAMES      8    /* of .a.b.c; more cost a copy */
#define PARSE_TEXT_MAX  ((size_t)32 << 20)

struct parsed {
	struct tmpl_tree **trees;
	size_t n, cap;
	struct tmpl_tree *main; /* the file itself; in trees unless it is empty */
};

typedef const struct tmpl_func *(*parse_lookup_fn)(const void *ctx, struct str name);

struct parse_input {
	struct str name, text; /* borrowed, to live as long as the arenas */
	struct arena *arena;   /* of the trees */
	struct arena *texts;   /* of string literals, which values may hold longer than the tree */
	parse_lookup_fn lookup;
	const void *ctx;
};

/* On failure msg gets the message. E_INVALID, or E_LIMIT for nesting. */
int parse_template(const struct parse_input *in, struct parsed **ret, struct strbuf *msg);

#endif
