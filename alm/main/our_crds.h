/*
 * our_crds: creates or updates the CRDs of ALM itself on a server, then tells when they are
 * Established.
 *
 * Judged by the gate that judges those of operators (alm/live/live_gate.h), if a loop is given: a
 * definition that a newer ALM brought, or that live objects need, is not replaced: E_REFUSED.
 * So an older program waits instead of taking fields away.
 */
#ifndef ALM_MAIN_OUR_CRDS_H
#define ALM_MAIN_OUR_CRDS_H

#include "alm/client/client.h"
#include "alm/io/loop.h"

struct our_crds;

/* done is called once, with the first error or NULL. */
/* gate: NULL: not judged, the server is of this program alone. */
struct our_crds *our_crds_apply(struct client *c, struct loop *gate,
				void (*done)(void *arg, const struct error *err), void *arg);
void our_crds_free(struct our_crds *o);

#endif
