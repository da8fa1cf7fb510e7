/*
 * edits: every text that is one small change away from a given one: what a reader of a form is asked about. Of a form that is
 * written in one way only, each such text is refused, or is itself what is written for what was read:
 *
 *	static void edited(void *arg, struct str text) { ... }
 *	edits_each(text, "+0 ", edited, &x);
 *
 * At each byte: it is missing, it stands twice, another of chars is in its place or before it; at each line: it is missing, it
 * stands twice; and at the end: each of chars is added. A text that is the given one again is left out.
 */
#ifndef TESTS_LIB_EDITS_H
#define TESTS_LIB_EDITS_H

#include "alm/base/str.h"

#define EDITS_BYTES_MAX 4096 /* of the text */

typedef void (*edit_fn)(void *arg, struct str text);

void edits_each(struct str text, const char *chars, edit_fn fn, void *arg);

#endif
