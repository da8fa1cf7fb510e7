/* verify_parts: the checks beside the scan of rows; for verify.c only. */
#ifndef ALM_AUDIT_VERIFY_PARTS_H
#define ALM_AUDIT_VERIFY_PARTS_H

#include "alm/audit/checkpoint.h"
#include "alm/audit/objects.h"
#include "alm/audit/verify.h"
#include "alm/audit/verify_rows.h"

struct map;
struct pruned;
struct snapshot;

#define VERIFY_KEYS_MAX 64

struct anchor_keys {
	size_t n;
	struct {
		int64_t size;
		char *vkey; /* owned */
	} items[VERIFY_KEYS_MAX];
};

/* Adds a finding, or makes the last one longer if it says the same of the row before. */
void verify_add(struct verify_report *rep, int64_t from, int64_t to, const char *fmt, ...)
	PRINTF(4, 5);
/* Something could not be checked. */
void verify_unchecked(struct verify_report *rep, const char *fmt, ...) PRINTF(2, 3);
/* A record or a blob that cannot be read was damaged: a finding, not an error of verify. */
bool verify_is_damage(const struct error *err);

/* Also says whose log it is; owned. */
int verify_load_keys(struct db *d, const char *newest, struct anchor_keys *k, char **ret_origin,
		     struct verify_report *rep, struct error *err);
const char *verify_key_at(const struct anchor_keys *k, int64_t size); /* NULL: none */
void verify_keys_release(struct anchor_keys *k);

int verify_row_refs(struct db *d, int64_t seq, int64_t want, struct verify_report *rep,
		    struct error *err);
int verify_blobs(struct db *d, struct verify_report *rep, struct error *err);
/* below: the first entry that is kept, of a log that was pruned. */
int verify_refs(struct db *d, int64_t below, int64_t n_refs, struct verify_report *rep,
		struct error *err);
int verify_heads(struct db *d, int64_t below, const struct snapshot *s, struct verify_report *rep,
		 struct error *err);
int verify_file(struct db *d, struct verify_report *rep, struct error *err);

/* verify_anchors.c: sizes and roots that are known from outside of the database. */
struct verify_marks {
	const struct verify_options *o;
	size_t n;
	struct verify_mark {
		struct checkpoint checkpoint;
		char name[128]; /* "anchor file /mnt/log.anchor", "audit.head" */
		bool weak, is_head, done;
	} items[VERIFY_ANCHORS_MAX + 1];
};
void verify_marks_init(struct verify_marks *m, struct db *d, const struct verify_options *o,
		       const struct anchor_keys *k, const char *origin, struct verify_report *rep);
/* The smallest size that is still to be compared, above this one; INT64_MAX: none. */
int64_t verify_marks_next(const struct verify_marks *m, int64_t size);
/* The root of this size, as the rows have it; explained: a finding below says why it is another. */
void verify_marks_compare(struct verify_marks *m, int64_t size,
			  const unsigned char root[SHA256_BYTES], bool explained,
			  struct verify_report *rep);
/* Those of sizes that were not read, and what audit.head says of checkpoints and of the end. */
int verify_marks_end(struct verify_marks *m, struct db *d, struct verify_report *rep,
		     struct error *err);

/* Who knows of what was pruned, besides the log: after the marks were compared. */
int verify_pruned(struct db *d, const struct pruned *p, const struct verify_marks *m,
		  struct verify_report *rep, struct error *err);

/* verify_kept.c */
int verify_kept(struct db *d, const struct verify_options *o, struct verify_report *rep,
		struct error *err);

/* verify_objects.c: the live objects against what the log says of them. */
struct verify_objects {
	struct objects_log log;
	struct map *written; /* uid -> seq of its newest Write record, or of the snapshot; NULL:
			      * objects are not compared */
};
int verify_objects_init(struct verify_objects *v, struct db *d, const struct verify_options *o,
			const struct snapshot *s, struct verify_report *rep, struct error *err);
/* Each row, in order. */
int verify_objects_row(struct verify_objects *v, const struct row_digest *row, struct error *err);
int verify_objects_compare(struct verify_objects *v, const struct verify_options *o,
			   struct verify_report *rep, struct error *err);
/* Of a log whose objects are elsewhere. Outside of any snapshot: a status is read first, and the
 * log, which has its record already, after it. */
void verify_statuses(struct verify_objects *v, const struct verify_options *o,
		     struct verify_report *rep);
void verify_objects_release(struct verify_objects *v);

#endif
