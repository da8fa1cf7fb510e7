/*
 * paint: colours of what people read, as a filter over lines that are composed already: headers of
 * tables bold; states by what they mean: green is fine, yellow waits, red needs somebody. Colour
 * tells nothing that the words do not. Addresses (http, https) are links, and nothing is one whose text is
 * not where it leads: the outputs of an instance, of charts, of catalogs. Pure.
 */
#ifndef ALM_CLI_PAINT_H
#define ALM_CLI_PAINT_H

#include "alm/base/strbuf.h"

/* What is under another's control stands out; what ALM has, or a server sets, does not. word: of
 * holder.h; NULL: none. "": no colour. */
const char *paint_holder(const char *word);
/* Appends the text with SGR sequences (ECMA-48 8.3.117) and OSC 8, each ended in its line. */
void paint_lines(struct strbuf *b, struct str text);

#endif
