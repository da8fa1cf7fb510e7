/*
 * parser: what the three files of the parser share: the tokens that were read ahead, how it fails, how a node
 * is made. A function that fails returns NULL (or false) and sets failed.
 */
#ifndef INSTALLERS_TMPL_PARSER_H
#define INSTALLERS_TMPL_PARSER_H

#include "installers/tmpl/lex.h"
#include "installers/tmpl/parse.h"

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

/* A token stays where it is until the next one is read. */
const struct token *parser_next(struct parser *p);
void parser_backup(struct parser *p);
const struct token *parser_peek(struct parser *p);
const struct token *parser_next_non_space(struct parser *p);
const struct token *parser_peek_non_space(struct parser *p);

/* NULL, always; the first failure is the one that is told. code: E_INVALID, or E_LIMIT. */
struct tmpl_node *parser_fail_code(struct parser *p, int code, const struct strbuf *text);
struct tmpl_node *parser_fail(struct parser *p, const char *fmt, ...) PRINTF(2, 3);
/* "BEFORE %q AFTER" with any bytes. */
struct tmpl_node *parser_fail_quoted(struct parser *p, const char *before, struct str q,
				     const char *after);
struct tmpl_node *parser_unexpected(struct parser *p, const struct token *t, const char *context);
bool parser_failed(const struct parser *p);
bool parser_expect(struct parser *p, enum token_type type, const char *context);
/* One level deeper; false: too deep. */
bool parser_enter(struct parser *p);

struct tmpl_node *parser_make(struct parser *p, enum node_kind kind, size_t pos);
void parser_append(struct parser *p, struct nodes *list, struct tmpl_node *n);
void parser_push_var(struct parser *p, struct str name);
/* The text of a literal. */
bool parser_unquoted(struct parser *p, const struct token *t, struct str *ret);

/* Up to the token end, which is read (parse_pipe.c). */
struct tmpl_node *parser_pipeline(struct parser *p, const char *context, enum token_type end);

#endif
