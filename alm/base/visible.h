/*
 * visible: foreign text on its way to a terminal or into a line of a log.
 *
 * What a terminal obeys, hides or reorders is written as an escape instead: C0, DEL and C1 controls
 * (ECMA-48), bidirectional overrides and isolates (Unicode TR 36, 2.10: "Trojan Source",
 * CVE-2021-42574), characters without a width, line and paragraph separators, bytes that are no
 * UTF-8. \n, \r and \t for these three, \u009b, \U000e0001, \xff for a bad byte. A backslash stays
 * as it is: what is shown is for reading, machines take -o json.
 *
 *	visible_addf(&b, "%-20s %s\n", name, message); the format is ours, what it prints is not
 */
#ifndef ALM_BASE_VISIBLE_H
#define ALM_BASE_VISIBLE_H

#include "alm/base/arena.h"
#include "alm/base/strbuf.h"

/* Shown as it is: no control, not invisible, no change of direction. */
bool visible_rune(uint32_t rune);

/* One line of text: a newline in it is an escape too. NULL adds nothing. */
void visible_add(struct strbuf *b, struct str s);
void visible_adds(struct strbuf *b, const char *s);
/* The same as a string: s itself where nothing is to be escaped, else a copy of the arena's. */
const char *visible_text(struct arena *a, const char *s);
/* Text that has lines of its own: newlines and tabs stay. */
void visible_add_lines(struct strbuf *b, struct str s);
/* As strbuf_addf(), but each %s and %c is made visible as one line, and widths count characters.
 * Knows %s %c %d %i %u %x %%, flags - and 0, width, precision, lengths l, ll, z. */
void visible_addf(struct strbuf *b, const char *fmt, ...) PRINTF(2, 3);
void visible_vaddf(struct strbuf *b, const char *fmt, va_list args) PRINTF(2, 0);

/* The escape of a code point in JSON: \u202e, two of them above U+FFFF. */
void visible_json_escape(struct strbuf *b, uint32_t rune);
/* JSON text as it can stand between the single quotes of a shell's word: what would end the word,
 * begin a note of ours or is not ASCII is escaped. */
void visible_add_shell_json(struct strbuf *b, const char *json);

#endif
