/* complete: what may stand at the end of a command line, for the shells of cmd_completion.c. Names
 * of apps, versions, catalogs and types are asked of the server, within COMPLETE_NS. */
#ifndef ALM_CLI_COMPLETE_H
#define ALM_CLI_COMPLETE_H

#include "alm/cli/cli.h"

#define COMPLETE_NS (2 * (int64_t)1000000000)

/* words: those after "alm", the last one as far as it was typed ("" if not at all). Appends strings
 * to list. A server that does not answer has no names: never an error. */
void complete_words(struct cli *c, const char *const *words, size_t n, struct obj *list);

#endif
