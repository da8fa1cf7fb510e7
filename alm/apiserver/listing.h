/* listing: what a list, or the beginning of a watch, consists of: texts that the store has anyway. */
#ifndef ALM_APISERVER_LISTING_H
#define ALM_APISERVER_LISTING_H

#include "alm/apiserver/options.h"
#include "alm/apiserver/store/store.h"

/* One object of a listing: borrowed. ns and name are gone after the turn. */
struct list_item {
	const char *ns, *name;
	struct text *text;
};

struct listing {
	struct list_item *items;
	size_t n;
	int64_t rv;                        /* < 0: of no revision */
	const char *continue_token;        /* "" at the end */
	int64_t remaining;                 /* < 0: not reported */
	const struct list_options *filter; /* not applied yet; NULL: every item matches */
	struct listing *kept;              /* what the arena releases in the end */
};

/* Ties the items, once they are all there, to the life of the arena. */
void listing_keep(struct listing *l, struct arena *a);
/* Gives them back before. */
void listing_release(struct listing *l);
/* Gives the text of one item back. */
void listing_drop(struct listing *l, size_t i);

#endif
