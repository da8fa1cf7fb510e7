/* gate_words: what changed between two definitions, a line each, harmless changes too. */
#ifndef CATALOG_GATE_GATE_WORDS_H
#define CATALOG_GATE_GATE_WORDS_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

/* before or after may be NULL. Documentation is left out. */
void gate_words(const struct obj *before, const struct obj *after, struct strbuf *b);

#endif
