/* query_select: a selector as SQL, bound; shared by the files query*.c. */
#ifndef ALM_AUDIT_QUERY_SELECT_H
#define ALM_AUDIT_QUERY_SELECT_H

#include "alm/audit/query.h"

/* "<head>WHERE <selector> <tail>": head ends in a blank, tail continues a condition with AND before it.
 * Returns how many parameters are bound; those of the tail follow. The kind is parameter 1 wherever it
 * is given. */
int query_select(struct db *d, const char *head, const struct query_selector *sel, const char *tail,
		 struct stmt **ret, struct error *err);
/* What the entry is about. Texts are borrowed. */
struct query_selector query_subject_of(const struct obj *row);
/* query.c: reads the entry and hands it on. */
int query_give(struct db *d, int64_t seq, unsigned depth, query_fn fn, void *arg,
	       struct error *err);

#endif
