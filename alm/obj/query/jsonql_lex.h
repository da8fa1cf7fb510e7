/*
 * jsonql_lex: words, numbers and strings of an expression. Private to jsonql*.c. A question reads at
 * the cursor and leaves it there; what takes or reads moves it, if it answers true.
 */
#ifndef ALM_OBJ_QUERY_JSONQL_LEX_H
#define ALM_OBJ_QUERY_JSONQL_LEX_H

#include "alm/obj/query/jsonql_node.h"

struct jsonql_text {
	struct str text; /* no NUL in it */
	size_t at;       /* the cursor */
};

void jsonql_skip_space(struct jsonql_text *t);
/* The character so far behind the cursor; NUL behind the end. */
char jsonql_peek(const struct jsonql_text *t, size_t ahead);
bool jsonql_is_name_char(char c);
/* The name, word or number with its unit that stands here; empty if there is none. */
struct str jsonql_word(const struct jsonql_text *t);
/* How many digits there are from here on. */
size_t jsonql_digits(const struct jsonql_text *t, size_t at);
/* A word operator, lower or upper case as a whole. */
bool jsonql_take_word(struct jsonql_text *t, const char *word);
bool jsonql_take(struct jsonql_text *t, const char *symbol);
/* An enum cmp_op; 0: there is none here. */
int jsonql_take_cmp(struct jsonql_text *t);
/* From the quote on. Strings have no escapes; the other quote may stand inside. False: it has no
 * end. */
bool jsonql_read_string(struct jsonql_text *t, struct str *ret);
/* With its unit. False if what stands here is none, or a name that begins with digits (0x3, 3rd). */
bool jsonql_read_number(struct jsonql_text *t, struct val *ret);

#endif
