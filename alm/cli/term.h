/*
 * term: all that the program says on standard output and standard error, in one place.
 *
 * Texts come from API servers, catalogs and charts; none may move the cursor, set a title, hide or
 * reorder what stands beside it, or begin a line of its own (visible.h). Only here may printf and
 * its kin be called (tests/lint/banned.txt).
 *
 *	term_print("%s created\n", name);     the format is ours: what %s prints is made visible
 *	term_lines(strbuf_str(&b));           composed text: its lines stay
 *	term_data(strbuf_str(&b));            bytes for another program: a terminal gets them shown
 */
#ifndef ALM_CLI_TERM_H
#define ALM_CLI_TERM_H

#include <stdbool.h>

#include "alm/base/mem.h"
#include "alm/base/str.h"

void term_print(const char *fmt, ...) PRINTF(1, 2); /* standard output */
void term_error(const char *fmt, ...) PRINTF(1, 2); /* standard error */
void term_lines(struct str text);
void term_table(struct str text); /* the same of what people alone read, with colours */
void term_error_lines(struct str text);
/* A field in the colour of who controls it (paint_holder()), where there are colours. */
void term_field(const char *field, const char *holder);
/* 0, or the errno of an output that was not taken. */
int term_data(struct str text);
/* Whether term_table() has colours (paint.h): when is "auto" or NULL (a terminal, unless NO_COLOR
 * is set or TERM is dumb), "always" or "never"; false: another word. */
bool term_colours(const char *when, const char *no_color, const char *term);
/* Hands on what is buffered; 0 or the errno. */
int term_flush(void);

#endif
