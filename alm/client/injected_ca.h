/*
 * injected_ca: an own_ca whose trust stands in an object of the cluster (caBundle of an APIService,
 * or of each webhook of a ValidatingWebhookConfiguration), and that is replaced without losing a
 * request.
 *
 * Who leads looks each minute whether the bundle is what own_ca_bundle() says, and writes it where it
 * is not, over the revision that was read: of two that lead at once for a moment one is refused
 * (409), reads again and finds it done. Without an object of that name nothing is written.
 *
 * A CA that is due gets its successor beside it in the bundle. Only after every API server had
 * INJECTED_CA_SETTLE_NS to hear of it, seen in place by a look all the while, sign is called with the
 * successor, and the former one leaves the bundle. A former one that signs nothing more is replaced
 * at once, whoever has heard of it.
 */
#ifndef ALM_CLIENT_INJECTED_CA_H
#define ALM_CLIENT_INJECTED_CA_H

#include "alm/client/client.h"
#include "alm/io/own_ca.h"

#define INJECTED_CA_LOOK_NS   NS_PER_MIN
#define INJECTED_CA_AGAIN_NS  NS_PER_S /* after another one wrote the object meanwhile */
#define INJECTED_CA_SETTLE_NS (10 * NS_PER_MIN)

/* A kind that holds bundles, base64. */
struct injected_ca_place {
	struct resource resource; /* cluster-scoped */
	bool (*has)(const struct obj *live, const char *bundle);
	/* Into a merge patch of live, which may replace lists. */
	void (*put)(const struct obj *live, const char *bundle, struct obj *patch);
};
extern const struct injected_ca_place injected_ca_apiservices, injected_ca_webhooks;

struct injected_ca_config {
	struct client *client; /* borrowed */
	const struct injected_ca_place *place;
	const char *dir, *name, *object; /* borrowed; object: its name in the cluster */
	/* From now on these sign: a new serving certificate is made and served. On an error the former
	 * ones go on, and it is called again at the next look. The texts live until the next call. */
	int (*sign)(void *arg, const char *cert, const char *key, struct error *err);
	void *arg;
};

/* sign is called once before it returns. */
struct injected_ca;
int injected_ca_open(const struct injected_ca_config *c, struct injected_ca **ret,
		     struct error *err);
/* Looks from now on. */
void injected_ca_start(struct injected_ca *c);
/* Where the text stands that the object is to have now, base64: it is replaced, its place stays. */
const char *const *injected_ca_bundle(const struct injected_ca *c);
/* Whether the object is ours to write. */
void injected_ca_lead(struct injected_ca *c, bool leads);
void injected_ca_free(struct injected_ca *c); /* NULL is fine */

#endif
