/*
 * regex: regular expressions in RE2's syntax as Go's regexp reads it (Perl flags), with its
 * answers: the leftmost match, and of several there the one that Perl would find first.
 *
 * What RE2 refuses is refused in Go's words (look-around, back-references, possessive and atomic
 * groups, recursion, repeats above 1,000), so what is legal here is legal on every API server and
 * in helm. Matching is a simulation of all ways at once (Pike): linear in the text times the
 * program, without backtracking. It is counted in steps, of about 10 ns: the caller says how many
 * it has.
 *
 * Text may be any bytes; an invalid one is U+FFFD, as in Go.
 */
#ifndef ALM_OBJ_REGEX_REGEX_H
#define ALM_OBJ_REGEX_REGEX_H

#include <stddef.h>
#include <stdint.h>

#include "alm/base/error.h"
#include "alm/base/mem.h"
#include "alm/base/str.h"
#include "alm/base/strbuf.h"

struct regex;

#define REGEX_BYTES_MAX  ((size_t)64 << 10)
#define REGEX_GROUPS_MAX 1000
#define REGEX_DEPTH_MAX  200                 /* of parentheses */
#define REGEX_INSTS_MAX  ((size_t)128 << 10) /* of a program */

/* For regex_match(): more than any text of a request needs with a program of some size. */
#define REGEX_STEPS_MAX UINT64_C(10000000)

/* E_INVALID with Go's words: "error parsing regexp: missing closing ): `(`"; E_LIMIT for what is
 * longer, deeper or larger than above. */
int regex_new(struct str pattern, struct regex **ret, struct error *err);
/* The same with the whole message, however long. The negative code. */
int regex_new_msg(struct str pattern, struct regex **ret, struct strbuf *msg);
void regex_free(struct regex *re);
DEFINE_FREEP(regex)

size_t regex_groups(const struct regex *re);                   /* without the whole match */
struct str regex_group_name(const struct regex *re, size_t i); /* i from 0; empty if none */

enum regex_result { REGEX_NO, REGEX_YES, REGEX_LIMIT };

#define REGEX_UNSET SIZE_MAX
/* The leftmost match at or after from; the text before from is still seen by ^ and \b. ret_at, if
 * not NULL, has room for start and end of the match and of each group (REGEX_UNSET: had no part).
 * *steps is what is left; REGEX_LIMIT when that was not enough, or the groups need too much memory.
 */
enum regex_result regex_match(const struct regex *re, struct str text, size_t from, size_t *ret_at,
			      uint64_t *steps);

/* Does pattern match anywhere in text? Programs are kept for the next call, up to a bound; making
 * one costs steps. E_INVALID, E_LIMIT as regex_new(); else an enum regex_result. */
int regex_matches(struct str pattern, struct str text, uint64_t *steps, struct error *err);

#endif
