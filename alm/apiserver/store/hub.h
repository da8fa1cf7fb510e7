/*
 * hub: watches. Every committed change goes to the watchers of its resource, each with its
 * namespace, selectors, version and encoding; encodings are made once per change and shared.
 *
 * A watch ends before its kind is freed (kinds_on_remove): the client comes back to what is served
 * then. A watcher that does not drain its answer is cut when more than HUB_QUEUE_BYTES_MAX wait for
 * it; the client comes back with its resourceVersion.
 */
#ifndef ALM_APISERVER_STORE_HUB_H
#define ALM_APISERVER_STORE_HUB_H

#include "alm/apiserver/list.h"
#include "alm/apiserver/store/store.h"

struct hub;

#define HUB_QUEUE_BYTES_MAX ((size_t)4 << 20)
#define HUB_BOOKMARK_NS     (NS_PER_MIN)
#define HUB_WATCH_MIN_NS    (30 * NS_PER_MIN)
#define HUB_WATCHERS_MAX    20000

struct hub *hub_new(struct apiserver *s);
void hub_free(struct hub *h); /* cuts every watch */

/* Takes the exchange of the request over. */
int hub_watch(struct hub *h, struct request *r, struct error *err);
/* Does anybody watch objects of this kind? */
bool hub_watches(const struct hub *h, const struct kind *k);
/* And does one of them select by more than namespace and name? */
bool hub_selects(const struct hub *h, const struct kind *k);
size_t hub_n_watchers(const struct hub *h);

#endif
