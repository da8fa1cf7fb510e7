/*
 * chain: which entry led to which (audit.md 2 "cause"). A chain, such as that of an app, has decisions,
 * approvals and observations; Transition and Plan entries hang off its newest one. Also the outcome of the last
 * Decision of a subject, so that the same outcome is not reported twice. Read from the log on first
 * use, and again when they were too many to keep, and after each rollback.
 */
#ifndef ALM_ENGINE_CHAIN_H
#define ALM_ENGINE_CHAIN_H

#include "alm/audit/audit.h"

struct chain;

/* A chain "PREFIXname" has the entries about objects of the kind that name gives, "%s" in it being
 * the chain's name. Of several with one prefix those after the first count once the first has one.
 */
struct chain_rule {
	const char *prefix, *kind, *name; /* name: a pattern of GLOB */
};

/* rules: those with a longer prefix first, ended by a NULL kind; borrowed. */
struct chain *chain_new(struct audit *a, struct db *d, const struct chain_rule *rules);
void chain_free(struct chain *c);
/* 0: none yet. */
int chain_head(struct chain *c, const char *name, int64_t *ret_seq, struct error *err);
void chain_advance(struct chain *c, const char *name, int64_t seq);
/* Key of the last entry of this type about the subject; "" if there is none. Several lines: what one reconcile
 * reported, the entry's own last. Borrowed. */
int chain_key(struct chain *c, const char *type, const struct audit_subject *about,
	      const char **ret_key, struct error *err);
/* Of what has happened already: where the log cannot be read it is told, rather twice than never. */
bool chain_is_told(struct chain *c, const char *type, const struct audit_subject *about,
		   const char *key);
void chain_set_key(struct chain *c, const char *type, const struct audit_subject *about,
		   const char *key);

/* Newest resourceVersion that a Write among the last entries gave an object of this kind; 0: none.
 * What a cache shows after a restart is at least as new. */
uint64_t chain_revision(struct db *d, const char *kind);

/* Newest entry of the type about the subject, as an object; NULL if none. Owned. */
int chain_last_row(struct audit *a, struct db *d, const char *type, const char *kind,
		   const char *name, bool foreign, struct obj **ret_row, struct error *err);
/* The same of one reason; NULL also if it cannot be read. */
struct obj *chain_last_reason(struct audit *a, struct db *d, const char *type, const char *reason,
			      const char *kind, const char *name);
/* Newest Observe entry about an object of a namespace ("" or NULL: none), body.object as its text. */
struct obj *chain_last_observed(struct audit *a, struct db *d, const char *kind, const char *ns,
				const char *name);
/* Calls fn for each object of the kind whose newest Observe entry does not say Deleted. */
void chain_each_observed(struct audit *a, struct db *d, const char *kind,
			 void (*fn)(void *arg, const char *ns, const char *name), void *arg);
/* Newest Write entry by somebody else about this very object, of its last 1,000, that made it or
 * changed a field that begins with path; path NULL: that asked for its deletion. NULL if none.
 * Owned. */
int chain_last_write(struct audit *a, struct db *d, const struct audit_subject *about,
		     const char *path, struct obj **ret_row, struct error *err);

#endif
