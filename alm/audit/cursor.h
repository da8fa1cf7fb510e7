/*
 * cursor: how far somebody who tells others of the log came (a webhook, a table of a database), kept
 * in the database of the log, so that a new process goes on there.
 */
#ifndef ALM_AUDIT_CURSOR_H
#define ALM_AUDIT_CURSOR_H

#include "alm/audit/audit.h"

struct cursor {
	struct db *db;
	char name[SHA256_HEX]; /* of what it is called by: that may have a token in it */
	int64_t seq;           /* told up to here */
};

/* One that is new begins with what comes. E_IO of the database. */
int cursor_init(struct cursor *c, struct audit *a, struct db *d, const char *name,
		struct error *err);
int cursor_move(struct cursor *c, int64_t seq, struct error *err);

#endif
