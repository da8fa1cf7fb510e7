/*
 * stash: outcomes of slow work (fetched archives, rendered charts, surveys), by id. Memory only:
 * what is lost in a crash is computed again. Values are kept as JSON text; view_outcome() gives a
 * pass the tree.
 *
 * Bounded by its bytes: the least recently used outcome is dropped first. A value that no reconcile
 * has read yet stays, whatever it takes: the key that asked for it would ask again, and with more
 * keys than there is room for none would ever get on. Only when nobody came for STASH_UNREAD_NS is
 * it one of the others (its object is gone). Archives do not stay: they are read in the run that
 * fetched them.
 *
 * Besides, for each object that was applied, when, and what it was then: tens of thousands, so in a
 * table of their own. Of more than APPLIED_MAX half are forgotten, which costs their next
 * reconciles a look more.
 */
#ifndef ALM_ENGINE_STASH_H
#define ALM_ENGINE_STASH_H

#include "alm/base/error.h"
#include "alm/base/hash.h"
#include "alm/base/str.h"
#include "alm/obj/obj.h"

#define STASH_BYTES_MAX ((size_t)64 << 20)
#define STASH_UNREAD_NS (INT64_C(600) * 1000000000)
#define APPLIED_MAX     ((size_t)200000) /* 8 MiB */

struct outcome {
	int code; /* 0, or an error code */
	enum error_reason reason;
	const char *msg;         /* "" of a success */
	struct str bytes;        /* an archive */
	struct str text;         /* JSON; ptr NULL: no value */
	const struct obj *value; /* only in what view_outcome() gives */
	int64_t at_ns;
	unsigned failures; /* in a row */
};

struct stash;

struct stash *stash_new(void);
void stash_free(struct stash *s);
DEFINE_FREEP(stash)
/* Borrowed until the next put; it counts as read and used. NULL: there is none. */
const struct outcome *stash_get(struct stash *s, const char *id);
/* Consumes bytes (xmalloc) and value. err NULL: success. Replaces an older outcome of the id. */
void stash_put(struct stash *s, const char *id, const struct error *err, struct str bytes,
	       struct obj *value, int64_t now_ns);
/* Less than age_ns old. What is of later than now is not: the clock was set back, and how old it is
 * nobody knows. */
bool outcome_is_younger(const struct outcome *o, int64_t now_ns, int64_t age_ns);
/* A failure that may pass is tried again after 1, 2, 4 ... 60 minutes. 0: now. */
int64_t outcome_retry_in(const struct outcome *o, int64_t now_ns);
void stash_drop(struct stash *s, const char *id);
/* digest: of the object as the server answered, hexadecimal. */
void stash_set_applied(struct stash *s, const char *uid, const char digest[SHA256_HEX],
		       int64_t now_ns);
void stash_drop_applied(struct stash *s, const char *uid);
/* It was applied, and this is what came back. */
bool stash_is_applied(const struct stash *s, const char *uid, const char digest[SHA256_HEX]);
int64_t stash_applied_ns(const struct stash *s, const char *uid); /* 0: it was not */
int64_t stash_first_applied_ns(const struct stash *s, const char *uid);
size_t stash_count(const struct stash *s);
size_t stash_bytes(const struct stash *s);

#endif
