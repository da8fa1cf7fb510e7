/*
 * regex_syntax: reads a pattern by RE2's grammar (Go's regexp, Perl flags) and writes the same
 * thing in PCRE2's. What RE2 refuses is refused with Go's message; nothing of PCRE2's own syntax
 * can get through, since every construct is written anew.
 */
#ifndef INSTALLERS_TMPL_REGEX_SYNTAX_H
#define INSTALLERS_TMPL_REGEX_SYNTAX_H

#include "alm/base/arena.h"
#include "alm/base/strbuf.h"

#define REGEX_BYTES_MAX  ((size_t)32 << 10)
#define REGEX_GROUPS_MAX 1000
#define REGEX_DEPTH_MAX  200 /* PCRE2's own limit on parentheses is 250 */

struct regex_names {
	struct str *name; /* of group 1.., empty if it has none */
	size_t n;
};

/* Is there a Unicode class of that name? */
typedef bool (*regex_class_fn)(struct str name);

/* 0; -E_INVALID: msg has "error parsing regexp: ..."; -E_LIMIT. */
int regex_translate(struct arena *a, struct str pattern, regex_class_fn has_class,
		    struct strbuf *out, struct regex_names *ret_names, struct strbuf *msg);

#endif
