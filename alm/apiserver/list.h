/*
 * list: lists at one revision, in pages (kube-api.md 7).
 *
 * A short list is answered whole. A long one is written in portions as its reader takes them: the
 * listing refers to texts that the store has anyway, so a reader that takes nothing holds
 * SERVER_QUEUE_HIGH bytes, not a copy of the list. What it refers to is charged to ANSWER_BYTES of
 * its user, as texts of objects that have changed live as long as the listing.
 */
#ifndef ALM_APISERVER_LIST_H
#define ALM_APISERVER_LIST_H

#include "alm/apiserver/listing.h"

#define LIST_WHOLE_BYTES ((size_t)64 << 10)  /* of texts: a list that is answered at once */
#define LIST_WORK_BYTES  ((size_t)256 << 10) /* of texts, that are read in one turn */

/* What the options select, now; for deletecollection and watches (limit and continue count). */
int list_select(struct request *r, const struct list_options *l, struct listing *ret,
		struct error *err);
/* The same, but where the number is not limited what does not match may still be in it: parsing
 * thousands of objects is work for many turns. l is borrowed for as long as the listing. */
int list_candidates(struct request *r, const struct list_options *l, struct listing *ret,
		    struct error *err);

#define LIST_READS_MAX 4 /* before and after a change, in two versions */

/* What was read of texts that many watches are asked about, so that each is read once. */
struct list_reads {
	struct list_read {
		const struct kind *kind;
		const struct text *of;
		const struct obj *o; /* NULL: damaged */
	} items[LIST_READS_MAX];
	size_t n;
	struct arena *a;
};

/* reads: NULL, or it keeps what is read of t, which lives until list_reads_clear(). */
bool list_matches(struct request *r, const struct list_options *l, struct text *t,
		  struct list_reads *reads);
void list_reads_clear(struct list_reads *reads);

/* Answers GET of a collection. */
int list_handle(struct request *r, struct error *err);
/* Is there room for an answer that refers to the listing? E_TOOMANY. Before list_answer(). */
int list_charge(struct request *r, const struct listing *l, struct error *err);
void list_answer(struct request *r, const struct listing *l);

#endif
