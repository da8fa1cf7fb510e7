/*
 * collection: deletecollection. What it selects goes one after the other, some in each turn of the loop, so that nobody waits for
 * thousands of them; as upstream, nothing holds them together: of a failure, or of a client that goes away, those that are gone
 * stay so. One that is gone before its turn is left out, one that came later stays. The answer, which lists what was selected,
 * comes after the last commit.
 *
 * Limits: COLLECTION_TURN objects in a turn; of large ones as many as COLLECTION_TURN_NS take. They are held until the next turn. Webhooks are asked about all of
 * them in one.
 */
#ifndef ALM_APISERVER_COLLECTION_H
#define ALM_APISERVER_COLLECTION_H

#include "alm/apiserver/request.h"

#define COLLECTION_TURN       64
#define COLLECTION_TURN_NS    (8 * NS_PER_MS)
#define COLLECTION_TURN_BYTES ((size_t)64 << 20) /* soft, as that of a request */

struct delete_options;

/* opt is of the request's arena. */
int collection_delete(struct request *r, const struct delete_options *opt, struct error *err);

/* All that are under way in a server: they are never answered. */
struct collections;
struct collections *collections_new(struct apiserver *s);
void collections_free(struct collections *c);

#endif
