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

#include "alm/base/mem.h"
#include "alm/base/str.h"

void term_print(const char *fmt, ...) PRINTF(1, 2); /* standard output */
void term_error(const char *fmt, ...) PRINTF(1, 2); /* standard error */
void term_lines(struct str text);
void term_error_lines(struct str text);
/* 0, or the errno of an output that was not taken. */
int term_data(struct str text);
/* Hands on what is buffered; 0 or the errno. */
int term_flush(void);

#endif
