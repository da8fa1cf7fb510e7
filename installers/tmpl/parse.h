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
	struct tree **trees;
	size_t n, cap;
	struct tree *main; /* the file itself; in trees unless it is empty */
};

typedef const struct tmpl_func *(*parse_lookup_fn)(const void *ctx, struct str name);

/* Everything goes into the arena; text is borrowed and must live as long. On failure msg gets the
 * message. E_INVALID, or E_LIMIT for nesting. */
int parse_template(struct arena *a, struct str name, struct str text, parse_lookup_fn lookup,
		   const void *ctx, struct parsed **ret, struct strbuf *msg);

#endif
