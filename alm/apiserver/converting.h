/*
 * converting: objects of a definition that names a converter (spec.conversion, strategy Webhook), in the version that is asked for.
 *
 * What is stored in another version is sent to the converter; meanwhile the request waits, and is handled again from the
 * beginning once it is answered (waiting.h). A read is what the converter says at that time; a write asks it for the form that is
 * stored, for the one that its answer has, and for those of open watches, before anything is stored: a converter that fails
 * stops the write, or ends the watches with an ERROR event as they get it.
 *
 * The server's own writes (collector, namespaces) ask nobody: they leave an object in the version it has, and show watches what
 * was converted lately. Where the Pods behind
 * the converter's Service are simulated, objects are converted as with strategy None; a write is told.
 *
 * What a request had converted in its earlier turns is charged to ANSWER_BYTES of its user.
 *
 * Limits: CONVERTING_BYTES and CONVERTING_OBJECTS of a review (a list is several), CONVERTING_TIMEOUT_S, those of waiting.h,
 * CONVERTING_KEPT_MAX of forms that are kept for watches: what was converted last.
 */
#ifndef ALM_APISERVER_CONVERTING_H
#define ALM_APISERVER_CONVERTING_H

#include "alm/apiserver/list.h"
#include "alm/apiserver/request.h"
#include "alm/apiserver/store/store.h"

#define CONVERTING_BYTES \
	((size_t)512 << 10) /* an answer that is larger than HTTP_BODY_BYTES_MAX is none */
#define CONVERTING_OBJECTS   200
#define CONVERTING_TIMEOUT_S 30
#define CONVERTING_KEPT_MAX  ((size_t)16 << 20)

struct converting;
struct converting *converting_new(struct apiserver *s);
void converting_free(struct converting *c);

/* False: every stored text is read as k shows it (convert.h). */
bool converting_is_needed(const struct kind *k);

/* A stored text becomes one in the form of the request's kind, which lives as long as the arena. It fails with waiting_for(), or
 * with 500. A request of the server itself keeps what it has. */
int converting_text(struct request *r, struct text **t, struct error *err);
/* The same of many, which own their texts. */
int converting_items(struct request *r, struct list_item *items, size_t n, struct error *err);
/* The object, in the form of the request's kind, as it is to be stored; of the arena. */
int converting_to_storage(struct request *r, const struct obj *o, struct obj **ret,
			  struct error *err);
/* The object as another kind of its resource shows it. It fails with waiting_for(), or with 500. */
int converting_between(struct request *r, const struct kind *to, const struct obj *o,
		       const struct obj **ret, struct error *err);
/* Before o, as it is to be stored, is: what its answer and (stored) the open watches show, also of before, the text that it takes
 * the place of (or NULL), where they select. */
int converting_prepare(struct request *r, const struct obj *o, struct text *before, bool stored,
		       struct error *err);
/* What the request was told is given back, but for what is charged: it is answered, and not over. */
void converting_forget(struct request *r);

/* As k, which needs it, shows it, of what was converted lately; owned; NULL: that is not known. */
struct text *converting_known(struct apiserver *s, const struct kind *k, struct text *t);
/* The same for an answer: of the arena, t itself where it is not known. */
struct text *converting_shown(struct request *r, struct text *t);

#endif
