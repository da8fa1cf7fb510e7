/*
 * flaws: all that is wrong with one input, and not the first thing alone. What is read for a person
 * has such a list: each error goes into it, and the reading goes on with what follows. What is read
 * for a machine has none (NULL), and its first error ends it.
 *
 *	if (read_one(x, err) < 0 && flaws_take(f->flaws, err) < 0)
 *		return -err->code;
 *
 * Texts live in the arena and are in the order in which they were found.
 */
#ifndef ALM_BASE_FLAWS_H
#define ALM_BASE_FLAWS_H

#include "alm/base/arena.h"
#include "alm/base/error.h"

#define FLAWS_MAX 100 /* more end the reading */

struct flaws {
	struct arena *a;
	const char **texts;
	size_t n, cap;
};

/* E_INVALID and E_BADREQUEST (a parser's) are of one thing: the message is added, err is as if nothing
 * had happened, 0. Any other error (a limit, a listing that is cut) is of all that follows, and
 * stays; so does each one without a list, and the one that it has no room for: the negative code. */
int flaws_take(struct flaws *f, struct error *err);
/* 0, or E_LIMIT for one more than FLAWS_MAX. Copied. */
int flaws_add(struct flaws *f, const char *text, struct error *err);

#endif
