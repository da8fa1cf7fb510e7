/* cel_lex: tokens of CEL. Private to cel_parse.c. */
#ifndef ALM_OBJ_CEL_CEL_LEX_H
#define ALM_OBJ_CEL_CEL_LEX_H

#include "alm/obj/cel/cel.h"

enum cel_token_kind {
	TOKEN_END,
	TOKEN_IDENT,
	TOKEN_LITERAL,
	TOKEN_PUNCT, /* text is one of the operators and brackets */
	TOKEN_BAD,   /* text is the message */
};

struct cel_token {
	enum cel_token_kind kind;
	size_t at;
	struct str text;
	struct cel_value value;
};

/* The token at *at, which moves past it. */
struct cel_token cel_lex(struct str text, size_t *at, struct arena *a);
/* What is said of t, behind which at is, where an operand has to stand or, at_end, nothing. */
const char *cel_refusal(struct str text, const struct cel_token *t, size_t at, bool at_end,
			struct arena *a);

#endif
