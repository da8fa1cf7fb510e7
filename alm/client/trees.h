/*
 * trees: objects that informers hold as text, decoded once per resourceVersion while they are among
 * those that were used last (specs: one engine, a world model).
 *
 * A tree is shared by all who ask and never changed (obj.h). It lives with its text: an object that
 * is replaced or removed takes its tree along; who still reads it has a reference of his own.
 */
#ifndef ALM_CLIENT_TREES_H
#define ALM_CLIENT_TREES_H

#include "alm/client/informer.h"

#define TREE_TEXT_MAX ((size_t)128 << 10) /* of one; what is larger is decoded each time */

struct trees;

/* text_max: of all that is kept, at least TREE_TEXT_MAX; trees are below 20 times that. */
struct trees *trees_new(size_t text_max);
void trees_free(struct trees *t); /* before or after the informers */
DEFINE_FREEP(trees)

/* Owned; NULL stays NULL. */
struct obj *trees_get(struct trees *t, const struct informer_object *io);
/* This is what its text says: it came decoded. */
void trees_put(struct trees *t, const struct informer_object *io, const struct obj *o);
void trees_clear(struct trees *t);
bool trees_is_empty(const struct trees *t);

/* Before its text goes. */
void trees_forget(const struct informer_object *io);

#endif
