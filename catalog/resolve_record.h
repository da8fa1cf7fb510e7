/*
 * resolve_record: what a decision read, so that it can be made again (lifecycle.md 2.1). Of a
 * catalog only the packages that were touched, of the cluster only what was asked, with the answer.
 */
#ifndef CATALOG_RESOLVE_RECORD_H
#define CATALOG_RESOLVE_RECORD_H

#include "catalog/resolve.h"

#define RESOLVE_RECORD_BYTES_MAX ((size_t)1 << 20) /* of a blob in the audit log (audit.md 4) */

#define RESOLVE_RECORD_VERSIONS_MAX 2000

/* Resolves once more with an eye on every question. Owned; NULL if it touched more versions than
 * RESOLVE_RECORD_VERSIONS_MAX. */
struct obj *resolve_record(const struct resolve_input *in, struct arena *a);
/* The input as it was; it borrows from the record. E_INVALID names the field. */
int resolve_replay(const struct obj *record, struct arena *a, struct resolve_input *ret,
		   struct error *err);

#endif
