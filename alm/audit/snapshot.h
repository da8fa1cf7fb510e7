/*
 * snapshot: all objects and all newest transitions at one record of the log, kept as blobs of that
 * System record. It stands where the records before it do not tell the whole story, or are gone: a
 * log that began beside objects, pruning, a gap that was accepted (audit.md 4, 9).
 *
 * A blob is lines of JSON, one a uid: {"uid", "kind", "namespace", "name", "after", "afterMain":
 * digests of an object of the server's tables, as in its Write records; "transitionSeq", "seq",
 * "reason", "to", "status", ...: of its newest Transition}. Absent keys are left out.
 *
 * The one of an entry Pruned is of the entries up to the last that was pruned, by what they said
 * themselves. Its lines have "row", the newest Transition without its status, too, and there are
 * lines {"standing": entry}: the newest of each type and reason on an object that still is there.
 */
#ifndef ALM_AUDIT_SNAPSHOT_H
#define ALM_AUDIT_SNAPSHOT_H

#include "alm/audit/audit.h"

struct snapshot;

/* The newest one; NULL if the log has none. Owned. */
int snapshot_load(struct db *d, struct snapshot **ret, struct error *err);
void snapshot_free(struct snapshot *s);
DEFINE_FREEP(snapshot)
/* Up to which entry it speaks: that of its record, or the last one that was pruned; 0 for NULL. */
int64_t snapshot_seq(const struct snapshot *s);
bool snapshot_is_pruned(const struct snapshot *s); /* that of what was pruned */
/* That of what was pruned alone; NULL if nothing was. Owned. */
int snapshot_load_pruned(struct db *d, struct snapshot **ret, struct error *err);
/* That of one record; seq: up to which entry it speaks. Owned. */
int snapshot_of_row(struct db *d, const struct obj *row, int64_t seq, struct snapshot **ret,
		    struct error *err);
/* The newest entry of this type on this object that was pruned, of those that fit; fits NULL: all.
 * NULL if there is none. Owned. */
struct obj *snapshot_standing(const struct snapshot *s, const char *type, const char *kind,
			      const char *ns, const char *name,
			      bool (*fits)(const void *arg, const struct obj *row),
			      const void *arg);
/* Each line {"standing": entry}. */
int snapshot_each_standing(const struct snapshot *s,
			   int (*fn)(void *arg, const struct obj *row, struct error *err),
			   void *arg, struct error *err);
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
