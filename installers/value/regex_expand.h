/* regex_expand: a replacement with $1, ${name} and $$, as Go's Regexp.Expand has it. */
#ifndef INSTALLERS_VALUE_REGEX_EXPAND_H
#define INSTALLERS_VALUE_REGEX_EXPAND_H

#include "alm/base/strbuf.h"
#include "alm/obj/regex/regex.h"

/* t is the replacement, at what regex_match() gave for s; a group that is not there or had no part
 * is "". */
void regex_expand(const struct regex *re, const size_t *at, struct str t, struct str s,
		  struct strbuf *b);

#endif
