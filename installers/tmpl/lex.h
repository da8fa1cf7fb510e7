/* lex: text of a template -> tokens, one at a time, as text/template's lexer cuts them. */
#ifndef INSTALLERS_TMPL_LEX_H
#define INSTALLERS_TMPL_LEX_H

#include "alm/base/arena.h"
#include "alm/base/str.h"

enum token_type { /* the order matters: those after TOK_KEYWORD print as <word> */
		  TOK_ERROR,
		  TOK_BOOL,
		  TOK_CHAR,
		  TOK_CHAR_CONSTANT,
		  TOK_COMPLEX,
		  TOK_ASSIGN,
		  TOK_DECLARE,
		  TOK_EOF,
		  TOK_FIELD,
		  TOK_IDENTIFIER,
		  TOK_LEFT_DELIM,
		  TOK_LEFT_PAREN,
		  TOK_NUMBER,
		  TOK_PIPE,
		  TOK_RAW_STRING,
		  TOK_RIGHT_DELIM,
		  TOK_RIGHT_PAREN,
		  TOK_SPACE,
		  TOK_STRING,
		  TOK_TEXT,
		  TOK_VARIABLE,
		  TOK_KEYWORD,
		  TOK_BLOCK,
		  TOK_BREAK,
		  TOK_CONTINUE,
		  TOK_DOT,
		  TOK_DEFINE,
		  TOK_ELSE,
		  TOK_END,
		  TOK_IF,
		  TOK_NIL,
		  TOK_RANGE,
		  TOK_TEMPLATE,
		  TOK_WITH,
};

struct token {
	enum token_type type;
	int line; /* where it starts, from 1 */
	size_t pos;
	struct str val; /* for TOK_ERROR the message */
};

struct lexer {
	struct arena *arena; /* for messages */
	struct str input;
	struct token *token; /* the one being made */
	size_t pos, start;
	int line, start_line, paren_depth;
	bool inside_action, failed;
};

void lexer_init(struct lexer *l, struct arena *a, struct str input);
void lexer_next(struct lexer *l, struct token *ret);

/* lex_number.c: the bytes of the number at the front, its sign included; false: it is glued to a
 * letter, which counts. */
bool lex_scan_number(struct str s, size_t *ret_len);

#endif
