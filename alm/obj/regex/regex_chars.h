/*
 * regex_chars: what stands for characters in a pattern: escapes, \d and its like, \pL, and what is
 * between brackets. Private to regex*.c. They read from the front of *s and leave it behind what was
 * read; after a fault, and where there is nothing of the kind, it is untouched or of no use.
 */
#ifndef ALM_OBJ_REGEX_REGEX_CHARS_H
#define ALM_OBJ_REGEX_REGEX_CHARS_H

#include "alm/obj/regex/regex_node.h"

struct regex_fault {
	struct strbuf *msg; /* Go's words */
	int code;           /* negative, of the first fault; 0: none */
};

/* Sets the fault: "error parsing regexp: WHAT: `EXPR`". Returns false. */
bool regex_fail(struct regex_fault *f, const char *what, struct str expr);
/* What was read: from is the text before, rest what is left of it. */
struct str regex_up_to(struct str from, struct str rest);
/* False, with the fault set, for what is not UTF-8. */
bool regex_next_rune(struct regex_fault *f, struct str *s, uint32_t *ret);

/* A single character after a backslash, which s begins with. */
bool regex_read_escape(struct regex_fault *f, struct str *s, uint32_t *ret);
/* \d \s \w and their opposites: true if s began with one, which is in the set. */
bool regex_read_perl_class(struct regex_set *set, struct str *s);
/* \pL, \p{Greek}, \P{^L}. False after a fault; *ret_none if there is none here. */
bool regex_read_unicode_class(struct regex_fault *f, struct regex_set *set, struct str *s,
			      bool *ret_none);
/* Behind [ or [^, until the ] that ends it, which is left. whole: the pattern from the [ on, for the
 * fault that there is no end. */
bool regex_read_set(struct regex_fault *f, struct regex_set *set, struct str *s, struct str whole);

#endif
