/*
 * our_crds: the CRDs of ALM itself on a server: created or updated at the start, and put back when
 * somebody else changed or deleted one.
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

/* gate: NULL: not judged, the server is of this program alone. done is called after each
 * our_crds_apply(), and each time that they were put back, with the first error or NULL. */
struct our_crds *our_crds_new(struct client *c, struct loop *gate,
			      void (*done)(void *arg, const struct error *err), void *arg);
void our_crds_free(struct our_crds *o);
/* All of them, at once; one under way begins anew. */
void our_crds_apply(struct our_crds *o);
/* A definition, of whomever, as a watch shows it; gone: it was this. One of ours that is not what was
 * applied is applied again, later each time, up to once a minute, while it happens often. */
void our_crds_seen(struct our_crds *o, const struct obj *crd, bool gone);

#endif
