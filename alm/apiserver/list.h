/* list: lists at one revision, in pages (kube-api.md 7). */
#ifndef ALM_APISERVER_LIST_H
#define ALM_APISERVER_LIST_H

#include "alm/apiserver/options.h"
#include "alm/apiserver/store.h"

/* One object of a listing: borrowed. */
struct list_item {
	const char *ns, *name;
	struct text *text;
};

struct listing {
	struct list_item *items; /* of the arena */
	size_t n;
	int64_t rv;
	const char *continue_token; /* "" at the end */
	int64_t remaining;          /* < 0: not told */
};

/* Answers GET of a collection. */
int list_handle(struct request *r, struct error *err);
/* What the options select, now; for deletecollection and watches (limit and continue count). */
int list_select(struct request *r, const struct list_options *l, struct listing *ret,
		struct error *err);
/* The body of a list answer. */
void list_print(struct request *r, const struct listing *l, struct strbuf *b);

#define LIST_BYTES_MAX ((size_t)512 << 20)

#endif
