/* our_crds: creates or updates the CRDs of ALM itself on a server, then tells when they are
 * Established. */
#ifndef ALM_MAIN_OUR_CRDS_H
#define ALM_MAIN_OUR_CRDS_H

#include "alm/client/client.h"

struct our_crds;

/* done is called once, with the first error or NULL. */
struct our_crds *our_crds_apply(struct client *c, void (*done)(void *arg, const struct error *err),
				void *arg);
void our_crds_free(struct our_crds *o);

#endif
