/* nearest: "did you mean": the name that a mistyped word is closest to. */
#ifndef ALM_CLI_NEAREST_H
#define ALM_CLI_NEAREST_H

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

#define NEAREST_BYTES_MAX 128 /* longer words are like nothing */

/* Of a list of strings, the first with the fewest letters changed, left out or added, a third of
 * the word at most; else the first that begins with the word, or contains it; NULL: none is like
 * it. Borrowed. */
const char *nearest_name(const char *word, const struct obj *names);
/* " (did you mean X?)", to go behind the word in a message; "" if none is like it. prefix, "--" or
 * "", stands before X. */
const char *nearest_hint(const char *word, const struct obj *names, const char *prefix,
			 struct arena *a);
/* The same of the objects of a list ("items"). */
const char *nearest_object_hint(const char *word, const struct obj *list, struct arena *a);

#endif
