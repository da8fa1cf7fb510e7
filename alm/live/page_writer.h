/*
 * page_writer: writes a page of objects back as they are, so that a server stores them in the version
 * that it stores by now: at most CLIENT_WRITES_MAX at once, and so many a second as it is told.
 *
 * A conflict is read and written again, an object that is gone counts as written, and what may pass
 * is tried again later, ten times each. Anything else ends the page with the object's name.
 */
#ifndef ALM_LIVE_PAGE_WRITER_H
#define ALM_LIVE_PAGE_WRITER_H

#include "alm/client/client.h"

struct page_writer;

struct page_writer_config {
	struct client *client;
	const char *manager; /* of the fields; borrowed */
	unsigned rate;       /* a second; 0: as fast as the server takes them */
	/* Once a page: after its last object, or at the first fault. From page_writer_start() itself if
	 * the page is empty, so that is the last thing its caller does. */
	void (*done)(void *arg, const struct error *err);
	void *arg;
};

struct page_writer *page_writer_new(const struct page_writer_config *c);
void page_writer_free(struct page_writer *w); /* stops; not from done() */
DEFINE_FREEP(page_writer)

/* items: a list, which it keeps until the next page; the page before is done. r is borrowed. */
void page_writer_start(struct page_writer *w, const struct resource *r, const struct obj *items);
/* What is under way is forgotten: done() is not called. */
void page_writer_stop(struct page_writer *w);

/* Is it an error that may pass, so that trying again later is no waste? */
bool page_writer_may_pass(const struct error *err);

#endif
