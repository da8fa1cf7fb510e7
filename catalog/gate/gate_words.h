/* gate_words: what changed between two definitions, an item each, harmless changes too. */
#ifndef CATALOG_GATE_GATE_WORDS_H
#define CATALOG_GATE_GATE_WORDS_H

#include "alm/obj/obj.h"

/* Appends {resource, path, change} to list; path is absent where the change is the definition's or
 * the version's. before or after may be NULL. Documentation is left out. */
void gate_words(const struct obj *before, const struct obj *after, struct obj *list);

#endif
