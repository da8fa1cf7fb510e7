/* converting_internal: one review, for converting*.c alone. */
#ifndef ALM_APISERVER_CONVERTING_INTERNAL_H
#define ALM_APISERVER_CONVERTING_INTERNAL_H

#include "alm/apiserver/converting.h"

/* One object on its way to another version. */
struct piece {
	const struct obj *from;
	struct text **text; /* of a list */
	struct obj *made;
};

/* One review of them; index: of the first in all. WAITING_OPEN: it is not answered yet; WAITING_DONE: all are made. */
int converting_ask(struct request *r, const struct kind *to, struct piece *p, size_t n,
		   size_t index, struct error *err);
/* For whoever reads or watches that object next. */
void converting_keep(struct converting *c, const struct kind *to, const struct piece *p);
/* The object as its own version shows it; NULL: it is damaged, which whoever reads it tells. */
const struct obj *converting_as_stored(struct request *r, struct text *t);
/* As k shows it; owned. */
struct text *converting_text_of(const struct kind *k, const struct obj *o);
/* For an answer of the object that is not changed after all. */
void converting_keep_text(struct request *r, struct text *t, struct text *shown);

#endif
