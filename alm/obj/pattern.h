/*
 * pattern: the regular expressions of schemas and CEL, in RE2's syntax as Go reads it, on PCRE2.
 *
 * What RE2 refuses is refused here (look-around, back-references, possessive and atomic groups,
 * recursion, repeats above 1,000), so that a schema which is legal here is legal on every API
 * server. Matching is bounded: past the limit the text counts as not matching and over is told.
 */
#ifndef ALM_OBJ_PATTERN_H
#define ALM_OBJ_PATTERN_H

#include "alm/base/error.h"
#include "alm/base/str.h"

struct pattern;

#define PATTERN_BYTES_MAX  ((size_t)64 << 10)
#define PATTERN_REPEAT_MAX 1000

/* E_INVALID with Go's words: "error parsing regexp: missing closing ): `(`". */
int pattern_new(struct str text, struct pattern **ret, struct error *err);
void pattern_free(struct pattern *p);
DEFINE_FREEP(pattern)

enum pattern_result { PATTERN_NO, PATTERN_YES, PATTERN_LIMIT };
/* Anywhere in the subject, as Go's MatchString. */
enum pattern_result pattern_match(const struct pattern *p, struct str subject);

#endif
