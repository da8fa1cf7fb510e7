/*
 * anchor: places outside of the database that remember how long the log is and what is in it, so
 * that a cut-off end and an older copy show (audit.md 4).
 *
 * A place is asked once for what it remembers, and if that is of a prefix of this log it is told
 * the newest checkpoint: at most every minute or 1,000 records, and only if the log has grown. One
 * that remembers something else makes the log read-only (LogRolledBack) and is never told anything.
 * What it was told stands in the table audit_anchor; that it failed, and that it works again, are
 * System records.
 *
 * To add a kind of place: an implementation of anchor_ops, a row in alm/main/anchors.c.
 */
#ifndef ALM_AUDIT_ANCHOR_H
#define ALM_AUDIT_ANCHOR_H

#include "alm/audit/audit.h"
#include "alm/audit/checkpoint.h"

#define ANCHORS_MAX        8
#define ANCHOR_DEFAULT     "audit.anchor" /* the file beside the log */
#define ANCHOR_EVERY_NS    (60 * NS_PER_S)
#define ANCHOR_EVERY_ROWS  1000
#define ANCHOR_TARGET_FILE "file:"

struct anchor;
struct anchors;

struct anchor_ops {
	/* Ends with anchor_recalled(), now or later. NULL: it cannot say what it remembers. */
	void (*recall)(struct anchor *t);
	/* Ends with anchor_kept(), now or later; the note lives until then. last: now, or never. */
	void (*keep)(struct anchor *t, int64_t size, struct str note, bool last);
	void (*free)(struct anchor *t);
};

/* First member of an implementation's struct. */
struct anchor {
	const struct anchor_ops *ops;
	char *target; /* "file:/mnt/log.anchor"; owned */
	struct anchors *of;
	int64_t size, kept_mono_ns; /* kept there; 0: nothing yet */
	int64_t asked_size;         /* of the keep() under way */
	bool recalled, busy, refused;
	int failing; /* code of the last failure, 0: none */
};

/* Consumes the targets. Files have been compared with the log by audit_open() already. */
struct anchors *anchors_new(struct audit *a, struct loop *l, struct db *d, struct anchor **targets,
			    size_t n);
/* After audit_close(): while the log closes, places hear of its last checkpoint. */
void anchors_free(struct anchors *s);
DEFINE_FREEP(anchors)
/* Calls fn once when every place has said what it remembers, or could not be asked. */
void anchors_when_recalled(struct anchors *s, void (*fn)(void *arg), void *arg);

/* A checkpoint of this size or more is told to every place at once, not when its time has come. */
void anchors_hurry(struct anchors *s, int64_t size);

/* Calls fn when a place has made the log read-only. */
void anchors_on_refused(struct anchors *s, void (*fn)(void *arg), void *arg);

/* For implementations. note.ptr NULL: it remembers nothing. */
void anchor_init(struct anchor *t, const struct anchor_ops *ops, const char *target);
void anchor_recalled(struct anchor *t, struct str note, const struct error *err);
void anchor_kept(struct anchor *t, const struct error *err);
/* It knows of more than the log has, or of something else. */
void anchor_refused(struct anchor *t, const char *why);
struct audit *anchor_audit(const struct anchor *t);

/* A file, best on another volume: the newest note, replaced as a whole. The log remembers the path
 * as it is given: absolute, or of dir, the folder of the log, which may be moved as a whole. */
struct anchor *anchor_file_new(const char *path, const char *dir);
const char *anchor_file_path(const char *path, const char *dir, struct arena *a);
/* On the volume of the folder of the log: who can write there can write both. */
bool anchor_file_is_weak(const char *path, const char *dir);

/* A C2SP witness at URL (c2sp.org/tlog-witness); what it cosigned stands in DIR/audit.witness-HEX,
 * the note with its cosignatures. A vkey behind '#' is what the cosignature must be made with. */
struct anchor *anchor_witness_new(const char *url, struct loop *l, struct db *d, const char *dir,
				  struct error *err);
/* Whether the text before and after the '#' can be a URL and a vkey; nobody is asked. E_USAGE. */
int anchor_witness_check(const char *url, struct loop *l, struct error *err);
/* The file of a witness; of arena a. */
const char *anchor_witness_path(const char *url, const char *dir, struct arena *a);

#endif
