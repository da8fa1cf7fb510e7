/*
 * kept: what the database keeps for a restart beside the log and the objects, and decides
 * something: the last good revision of a catalog. Who changes it says so in the same transaction,
 * by a System record RevisionKept with the digest, or RevisionDropped; what is read later must have
 * the digest of the newest one.
 */
#ifndef ALM_AUDIT_KEPT_H
#define ALM_AUDIT_KEPT_H

#include "alm/audit/audit.h"

/* Appends inside the caller's transaction. digest NULL: dropped. */
int kept_append(struct audit *a, const char *kind, const char *name, const char *digest,
		struct error *err);
/* 1 and the digest of the newest record, which is *ret_seq; 0: none is kept, or objects were
 * written without the log (--no-audit) since. */
int kept_digest(struct db *d, const char *kind, const char *name, char ret[SHA256_HEX],
		int64_t *ret_seq, struct error *err);

#endif
