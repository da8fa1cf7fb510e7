/*
 * gap: what cannot be put back is accepted (audit.md 4): the old log becomes an archive, its
 * tables are dropped, and a new one begins under the next origin ("prod" -> "prod/2"). Its first
 * record says what was remembered of the old one, what of it was there, why the gap was accepted,
 * and, in a snapshot, how far the transitions of every object had come.
 */
#ifndef ALM_AUDIT_GAP_H
#define ALM_AUDIT_GAP_H

#include "alm/audit/verify.h"
#include "alm/io/loop.h"

struct gap_config {
	struct db *db; /* for writing; nothing else may use it */
	struct loop *loop;
	const char *dir; /* of the keys, the head and the archive */
	const char *reason;
	const struct verify_anchor *anchors; /* what places remember */
	size_t n_anchors;
	/* The live objects: of the same database with each_object, else of the cluster. */
	bool has_objects;
	int (*each)(void *arg, verify_object_fn fn, void *fn_arg, struct error *err);
	void *each_arg;
	bool anyway; /* also where nothing is missing: verify found something */
};

struct gap_result {
	char *origin, *archive, *sha256; /* owned; archive NULL: there was nothing to keep */
	int64_t rows;                    /* in it */
};
void gap_result_release(struct gap_result *r);

/* E_REFUSED if there is no gap: no anchor remembers more, no status is ahead of the log. */
int gap_accept(const struct gap_config *c, struct gap_result *ret, struct error *err);

#endif
