/*
 * snapshot: all objects and all newest transitions at one record of the log, kept as blobs of that
 * System record. It stands where the records before it do not tell the whole story, or are gone: a
 * log that began beside objects, pruning, a gap that was accepted (audit.md 4, 9).
 *
 * A blob is lines of JSON, one a uid: {"uid", "kind", "namespace", "name", "after", "afterMain":
 * digests of an object of the server's tables, as in its Write records; "transitionSeq", "seq",
 * "reason", "to", "status", ...: of its newest Transition}. Absent keys are left out.
 */
#ifndef ALM_AUDIT_SNAPSHOT_H
#define ALM_AUDIT_SNAPSHOT_H

#include "alm/audit/audit.h"

struct snapshot;

/* The newest one; NULL if the log has none. Owned. */
int snapshot_load(struct db *d, struct snapshot **ret, struct error *err);
void snapshot_free(struct snapshot *s);
DEFINE_FREEP(snapshot)
int64_t snapshot_seq(const struct snapshot *s); /* of its record; 0 for NULL */
/* The line of the uid as an object; NULL if there is none. Owned. */
struct obj *snapshot_find(const struct snapshot *s, const char *uid);
/* All of them; a negative result of fn ends it. */
int snapshot_each(const struct snapshot *s,
		  int (*fn)(void *arg, const struct obj *entry, struct error *err), void *arg,
		  struct error *err);

/* Writing: inside the transaction of the record, before it is appended. */
struct snapshot_writer {
	struct audit *audit;
	struct strbuf lines;
	struct obj *digests;
	int64_t n;
};
void snapshot_begin(struct snapshot_writer *w, struct audit *a);
int snapshot_put(struct snapshot_writer *w, const struct obj *entry, struct error *err);
/* Sets body.snapshot and body.objects. */
int snapshot_end(struct snapshot_writer *w, struct obj *body, struct error *err);
void snapshot_release(struct snapshot_writer *w);

#endif
