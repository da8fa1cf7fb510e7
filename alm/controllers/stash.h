/*
 * stash: outcomes of slow work (fetched archives, rendered charts, surveys), by id. Memory only:
 * what is lost in a crash is computed again. Bounded: the least recently used outcome goes first.
 */
#ifndef ALM_CONTROLLERS_STASH_H
#define ALM_CONTROLLERS_STASH_H

#include "alm/base/error.h"
#include "alm/base/str.h"
#include "alm/obj/obj.h"

#define STASH_BYTES_MAX ((size_t)64 << 20)
#define STASH_ITEMS_MAX 4096

struct outcome {
	int code; /* 0, or an error code */
	char *msg;
	struct str bytes;  /* owned: an archive */
	struct obj *value; /* owned: rendered objects, survey */
	int64_t at_ns;
	unsigned failures; /* in a row */
};

struct stash;

struct stash *stash_new(void);
void stash_free(struct stash *s);
DEFINE_FREEP(stash)
const struct outcome *stash_get(const struct stash *s, const char *id);
/* Consumes bytes (xmalloc) and value. err NULL: success. Replaces an older outcome of the id. */
void stash_put(struct stash *s, const char *id, const struct error *err, struct str bytes,
	       struct obj *value, int64_t now_ns);
/* A failure that may pass is tried again after 1, 2, 4 ... 60 minutes. 0: now. */
int64_t outcome_retry_in(const struct outcome *o, int64_t now_ns);
void stash_drop(struct stash *s, const char *id);

#endif
