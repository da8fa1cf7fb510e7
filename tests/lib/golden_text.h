/* golden_text: a text that a person reads, kept in a file; with UPDATE=1 in the environment it is written anew. */
#ifndef TESTS_LIB_GOLDEN_TEXT_H
#define TESTS_LIB_GOLDEN_TEXT_H

#include "alm/base/strbuf.h"

/* Fails the test at the first line that differs. */
void golden_text_hold(const char *path, struct str text);

#endif
