/*
 * objects: is an object of the server's tables what the log says it is? (audit.md 3, 7, 12)
 *
 * The newest Write record of its uid has the digest of the whole object (`after`) and, where it has
 * a status, of the object without it (`afterMain`). A status that a Transition record announced has
 * no Write record: then the rest must be as that Write left it, and the status the one of the
 * newest Transition, or of the one before if the server stopped between record and status.
 */
#ifndef ALM_AUDIT_OBJECTS_H
#define ALM_AUDIT_OBJECTS_H

#include "alm/audit/redact.h"
#include "alm/io/db.h"

#define OBJECTS_TEXT_MAX 160

struct snapshot;

struct objects_log {
	struct db *db;
	const unsigned char *key;        /* redact.key */
	const struct snapshot *snapshot; /* of the log, or NULL; speaks for records before it */
};

/* What is wrong with an object; text "" if nothing is. */
struct objects_verdict {
	int64_t seq; /* the record that it differs from; 0: none */
	char text[OBJECTS_TEXT_MAX];
};

/* Where an object is stored is what the server goes by: the object as the place says, which the log
 * does not know if it is another than the object's own. kind NULL: not known. Owned. */
struct objects_place {
	const char *group, *kind, *ns, *name; /* ns "" if cluster-scoped */
};
struct obj *objects_in_place(const struct obj *o, const struct objects_place *p);

/* o is the object as it is stored, in its place. Kinds without Write records (Lease, Event) are the
 * caller's to leave out. Negative only if the log cannot be read. */
int objects_judge(const struct objects_log *l, const struct obj *o, struct objects_verdict *ret,
		  struct error *err);
/* An object that the server does not have, though the record seq (a Write of it, or the snapshot)
 * knew it: was it deleted since? */
int objects_judge_gone(const struct objects_log *l, const char *uid, int64_t seq,
		       struct objects_verdict *ret, struct error *err);
/* A status alone, read from another server when the log had the record seq: is it the one of the
 * newest Transition of then, of the one before, or of a later one? Says nothing about a uid that
 * the log does not know. */
int objects_judge_status(const struct objects_log *l, const struct obj *o, int64_t seq,
			 struct objects_verdict *ret, struct error *err);

/* The status that transition tseq announced; NULL if the log does not have it. Owned. */
int objects_status(const struct objects_log *l, const char *uid, int64_t tseq, struct obj **ret,
		   struct error *err);
/* Newest transitionSeq of the uid up to the record seq, 0 if it has none. */
int objects_transition(const struct objects_log *l, const char *uid, int64_t seq, int64_t *ret_tseq,
		       struct error *err);

/* One after the other, what the log has rows of; two of one kind, namespace and name in different
 * groups count as one, the last written. 1, or 0 at the end. The cursor is zeroed at first. */
struct objects_cursor {
	char *kind, *ns, *name; /* owned, as uid is */
	char *uid;              /* NULL: no Write record since the snapshot left it in being */
	int64_t seq;            /* the newest Write record of uid */
};
int objects_next_written(const struct objects_log *l, struct objects_cursor *c, struct error *err);
void objects_cursor_release(struct objects_cursor *c);

/* {uid, kind, namespace, name, after, afterMain} of an object, for a snapshot. Owned. */
struct obj *objects_entry(const unsigned char key[REDACT_KEY_BYTES], const struct obj *o);

/* 1 if the newest digests of the log were made with this key and these rules; 0 if not, or if
 * objects were written without the log. */
int objects_digests_fit(struct db *d, const unsigned char key[REDACT_KEY_BYTES], struct error *err);

#endif
