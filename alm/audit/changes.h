/*
 * changes: what became of every object between two rows of the log, from its Write records, and the
 * Observe records of instances on a server with another log (audit.md 10, diff): made, gone,
 * or which fields have another value. What was changed and changed back is no change.
 *
 * A change is {"change": "added", "removed" or "changed", "kind", "namespace", "name", "uid",
 * "seq", "fields": [{"path", "from", "to", "seq"}]}: of the record that made it, of the newest one,
 * of the newest that changed the field. Values are scalars as they were redacted; from and to are
 * absent where the field was or is not there, is no scalar, or the record does not say.
 */
#ifndef ALM_AUDIT_CHANGES_H
#define ALM_AUDIT_CHANGES_H

#include "alm/audit/query.h"
#include "alm/base/arena.h"

#define CHANGES_OBJECTS_MAX 20000
#define CHANGES_PATHS_MAX   32  /* of one record */
#define CHANGES_FIELDS_MAX  256 /* of one object; the rest is left out, and "cut" says so */
#define CHANGES_VALUE_MAX   256 /* bytes of a value that a Write record keeps */

/* Into the body of a Write or Observe record, of the redacted forms (audit.md 3): `changed`, the
 * paths; `was`, {path: scalar} of what stood there before; `patch`, RFC 6902. Foreign JSON goes in
 * as text (audit.md 4). */
void changes_set(struct obj *body, const struct obj *before, const struct obj *after,
		 struct arena *a);

/* In the order of the newest records; of the selector kind, ns, name and cluster count. */
int changes_read(struct db *d, const struct query_selector *sel, int64_t from_seq, int64_t to_seq,
		 int (*fn)(void *arg, const struct obj *change, struct error *err), void *arg,
		 struct error *err);

#endif
