/*
 * nextstep: what a person runs next, wherever it is printed: "COMMAND # why". Pure.
 *
 * The command runs as it stands, pasted into a shell: it begins with alm, kubectl or helm, nothing
 * in it is to be replaced (the words after --reason may be), and "-f -" reads a manifest from
 * standard input. What is no command is the note behind it, or belongs into the message. Several
 * lines are one here-document.
 *
 * Every step goes through here: tests/lint/steps.py refuses one that does not, and wants each
 * command in tests/e2e/steps.txt with the script that runs it.
 */
#ifndef ALM_OBJ_NEXTSTEP_H
#define ALM_OBJ_NEXTSTEP_H

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

bool nextstep_is_command(const char *step);

/* In the arena. note (NULL or "": none) becomes one visible line, whoever wrote it; of what fmt
 * prints, foreign texts went through nextstep_word(). */
const char *nextstep_new(struct arena *a, const char *note, const char *fmt, ...) PRINTF(3, 4);
/* Appends a copy; asserts that it is a command. */
void nextstep_add(struct obj *steps, const char *step);

/* One word of a shell: text itself where it has letters, digits and - _ . / : @ = , + alone, else
 * in single quotes. */
const char *nextstep_word(struct arena *a, const char *text);

#endif
