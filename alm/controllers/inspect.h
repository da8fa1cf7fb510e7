/*
 * inspect: what a catalog wants to know of one archive: Chart.yaml, alm.yaml, what its CRDs serve.
 * Bytes in, an entry (catalog/entry.h) without place out. Pure; archives that came over the
 * network are inspected in the sandbox.
 */
#ifndef ALM_CONTROLLERS_INSPECT_H
#define ALM_CONTROLLERS_INSPECT_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

/* {chart, descriptor, ownCrds, digest}; owned. crds (may be NULL): the CRD objects themselves. */
int inspect_archive(struct str packed, struct obj **ret_entry, struct obj **ret_crds,
		    struct error *err);

#define INSPECT_JOB "inspect"
int inspect_job(struct str input, struct strbuf *output, struct error *err);

struct package_version;
/* The archive is what its index said: the same name, version and descriptor. E_INVALID
 * "DescriptorMismatch: ...". */
int inspect_compare(const struct obj *entry, const struct package_version *p, struct error *err);

#endif
