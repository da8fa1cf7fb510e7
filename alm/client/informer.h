/*
 * informer: a cache of one resource type, kept by list and watch (kube-api.md 16; reliability.md
 * 1).
 *
 * The cache holds JSON text, packed (pack.h), and a few indexed fields; trees.h decodes. It is
 * synced only after the first full list; a failed list is never an empty one. ERROR or 410: list
 * again from scratch and diff, deletions included; a list older than what was seen is refused. A
 * closed watch goes on at the last resourceVersion.
 */
#ifndef ALM_CLIENT_INFORMER_H
#define ALM_CLIENT_INFORMER_H

#include "alm/base/pack.h"
#include "alm/client/client.h"

struct informer;
struct trees;
struct tree_slot;

enum informer_change { INFORMER_ADDED, INFORMER_UPDATED, INFORMER_DELETED };

/* One piece of memory: behind ns are name, resourceVersion and the text. There are ten for an app. */
struct informer_object {
	const char *name, *resource_version;
	uint64_t uid;            /* its hash_key(), which stands for it */
	const struct pack *pack; /* NULL: the text is plain */
	struct tree_slot *slot;  /* of trees.h, which keeps it decoded there; NULL: nowhere */
	uint32_t len, text_len;  /* packed, and read by informer_text() */
	uint16_t dictionary;     /* of pack.h */
	char ns[];               /* "" for cluster-scoped */
};

struct informer_config {
	struct client *client;
	struct resource resource;   /* copied */
	bool metadata_only;         /* asks for PartialObjectMetadata */
	bool plain;                 /* texts that are searched again and again: not packed */
	const char *label_selector; /* NULL: none */
	struct trees *trees;        /* gets what changes as it came; NULL: nobody asks for trees */
	/* What an earlier process has seen of this resource (reliability.md 1, stale state): an
	 * older list is refused. 0: nothing. */
	uint64_t seen;
	/* Called after the cache changed (it must not free the informer); both objects
	 * borrowed, before is NULL when added and
	 * after is NULL when deleted. */
	void (*changed)(void *arg, enum informer_change change,
			const struct informer_object *before, const struct informer_object *after);
	void (*synced)(void *arg); /* once, after the first full list */
	void *arg;
};

struct informer *informer_new(const struct informer_config *c);
void informer_start(struct informer *i);
void informer_free(struct informer *i);
DEFINE_FREEP(informer)

bool informer_is_synced(const struct informer *i);
const struct resource *informer_resource(const struct informer *i);

/* Borrowed; NULL if absent. ns "" or NULL for cluster-scoped. */
const struct informer_object *informer_get(const struct informer *i, const char *ns,
					   const char *name);
/* Those of this name in every namespace; borrowed as one is. */
struct informer_object *const *informer_named(const struct informer *i, const char *name,
					      size_t *ret_n);
size_t informer_count(const struct informer *i);
/* In order of (namespace, name): cursor starts at NULL. */
const struct informer_object *informer_next(const struct informer *i,
					    const struct informer_object *after);
/* The first one behind that name, whether it is there or not. */
const struct informer_object *informer_after(const struct informer *i, const char *ns,
					     const char *name);
/* Where its text is, as it is kept: len bytes. */
const char *informer_bytes(const struct informer_object *o);
/* Its JSON with apiVersion and kind; borrowed from room, or until the next turn. */
struct str informer_text(const struct informer_object *o, struct strbuf *room);
/* Decoded; owned. NULL: it cannot be (larger than memory allows, never what a server sent). */
struct obj *informer_decode(const struct informer_object *o);
/* Our own write came back: show it in the cache before the watch does, unless the cache is newer.
 */
void informer_observe(struct informer *i, const struct obj *o);
void informer_observe_deleted(struct informer *i, const char *ns, const char *name,
			      const char *uid);

#endif
