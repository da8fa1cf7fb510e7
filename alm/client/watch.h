/*
 * watch: the frames of a watch answer, as they come (kube-api.md 7 and 16).
 *
 * A refused watch and an ERROR event both end it with the error of their Status, E_EXPIRED
 * when the resourceVersion is too old. A watch that the server closed ends with err NULL. Nothing
 * is called back after watch_free().
 */
#ifndef ALM_CLIENT_WATCH_H
#define ALM_CLIENT_WATCH_H

#include "alm/client/client.h"

struct watch;

enum watch_event { WATCH_ADDED, WATCH_MODIFIED, WATCH_DELETED, WATCH_BOOKMARK };

struct watch_handlers {
	void (*event)(void *arg, enum watch_event event, const struct obj *o); /* borrowed */
	/* The last call; the watch is to be freed afterwards (or in it). */
	void (*ended)(void *arg, const struct error *err, int64_t retry_after_ns);
	void *arg;
};

#define WATCH_FRAME_MAX ((size_t)16 << 20)

/* target: path and query, with watch=1. idle_ns without a byte ends it (E_TIMEOUT). accept NULL:
 * JSON. */
struct watch *watch_start(struct client *c, const char *target, const char *accept, int64_t idle_ns,
			  const struct watch_handlers *h);
void watch_free(struct watch *w);
DEFINE_FREEP(watch)

#endif
