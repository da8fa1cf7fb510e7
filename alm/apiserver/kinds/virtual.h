/*
 * virtual: kinds that are read from the audit log, read-only: AuditRecord (audit.md 10). Name =
 * resourceVersion = seq.
 */
#ifndef ALM_APISERVER_KINDS_VIRTUAL_H
#define ALM_APISERVER_KINDS_VIRTUAL_H

#include "alm/apiserver/listing.h"

struct virtuals;

#define VIRTUAL_GROUP    "audit.app.coreos.com"
#define VIRTUAL_PAGE_MAX 10000
#define VIRTUAL_SCAN_MAX 100000

struct virtuals *virtual_new(struct apiserver *s);
void virtual_free(struct virtuals *v);
/* Called for each record after its commit, in order. One listener; fn NULL: none. */
void virtual_on_change(struct virtuals *v, void (*fn)(void *arg, const struct change *c),
		       void *arg);
int64_t virtual_rv(const struct virtuals *v);    /* newest committed seq */
int64_t virtual_first(const struct virtuals *v); /* the first that was not pruned */
/* Records the options select; of a watch from a revision, those after it. */
int virtual_select(struct virtuals *v, struct request *r, const struct list_options *l,
		   struct listing *ret, struct error *err);
/* One record by name. */
int virtual_get(struct virtuals *v, struct request *r, struct text **ret, struct error *err);

#endif
