/*
 * query: questions to the log (audit.md 10). Reads a database of audit tables: the live one,
 * read-only beside a running server, or one that export.h filled. Rows come as objects with the
 * keys of section 2; texts of one entry come from row_text.h. No statement is open while a callback
 * runs: it may wait for whoever reads what it prints.
 */
#ifndef ALM_AUDIT_QUERY_H
#define ALM_AUDIT_QUERY_H

#include "alm/io/db.h"
#include "alm/obj/obj.h"

#define QUERY_DEPTH_MAX 64
#define QUERY_ROWS_MAX  10000

struct query_selector {                               /* NULL or 0: any */
	const char *kind, *ns, *name, *cluster, *uid; /* kind as stored: query_subject() */
	const char *actor, *type, *reason;
	int64_t since_us, until_us, from_seq, to_seq;
	size_t limit; /* 0: QUERY_ROWS_MAX */
	bool newest;  /* of query_rows(): the last ones, not the first */
	bool writes;  /* of query_rows(): those that may tell a change of an object */
};

/* Borrowed entry; negative stops with that error. depth is 0 but in trees. */
typedef int (*query_fn)(void *arg, unsigned depth, const struct obj *row, struct error *err);

/* "KIND/[NS/]NAME" into sel; the kind is found whatever its case, also as plural or short name.
 * E_USAGE, E_NOTFOUND. Strings live in a. */
int query_subject(struct db *d, const char *text, struct arena *a, struct query_selector *sel,
		  struct error *err);
/* Oldest first; returns how many. */
int query_rows(struct db *d, const struct query_selector *sel, query_fn fn, void *arg,
	       struct error *err);
/* From the newest Transition of the subject (to version, if given) backwards over cause, as far as
 * they were not pruned. */
int query_why(struct db *d, const struct query_selector *sel, const char *version, query_fn fn,
	      void *arg, struct error *err);
/* The same from this entry on. */
int query_why_entry(struct db *d, int64_t seq, query_fn fn, void *arg, struct error *err);
/* The entry and everything it caused, as a tree. */
int query_forward(struct db *d, int64_t seq, query_fn fn, void *arg, struct error *err);
/* Decisions of the subject that denied (or made wait) the version, oldest first; NULL: any. */
int query_why_not(struct db *d, const struct query_selector *sel, const char *version, query_fn fn,
		  void *arg, struct error *err);
/* The next Decision on the same subject: its time, or 0. */
int query_decided_again(struct db *d, const struct obj *row, int64_t *ret_time_us,
			struct error *err);
/* Newest Transition but Refreshed of every subject at or below seq, Deleted left out; those that
 * were pruned without their status. E_NOTFOUND if seq itself was pruned. */
int query_state(struct db *d, const struct query_selector *sel, int64_t seq, query_fn fn, void *arg,
		struct error *err);
/* seq of the newest entry at or before the time; 0: none. */
int query_seq_at(struct db *d, int64_t time_us, int64_t *ret, struct error *err);
/* One entry; E_NOTFOUND. Owned. */
int query_row(struct db *d, int64_t seq, struct obj **ret, struct error *err);
/* Nearest entry up the causes, itself included, that has an actor; NULL if none. Owned. */
int query_authority(struct db *d, const struct obj *row, struct obj **ret, struct error *err);
/* The newest row up to this one that says Installed of the version, or NULL. Owned. */
int query_installed(struct db *d, const struct obj *row, const char *version, struct obj **ret,
		    struct error *err);
/* The row with the plan behind a Transition: a Plan row of its digest, or the newest Transition of
 * the strategy that installed the version. NULL if there is none. Owned. */
int query_plan(struct db *d, const struct obj *row, struct obj **ret, struct error *err);

#endif
