/* nearest: "did you mean": the name that a mistyped word is closest to. */
#ifndef ALM_CLI_NEAREST_H
#define ALM_CLI_NEAREST_H

#include "alm/obj/obj.h"

#define NEAREST_BYTES_MAX 128 /* longer words are like nothing */

/* Of a list of strings, the first with the fewest letters changed, left out or added, a third of
 * the word at most; else the first that contains the word; NULL: none is like it. Borrowed. */
const char *nearest(const char *word, const struct obj *names);

#endif
