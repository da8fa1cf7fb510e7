/* audit_write: the Write entry of an object write (audit.md 3, 6, 7). */
#ifndef ALM_APISERVER_STORE_AUDIT_WRITE_H
#define ALM_APISERVER_STORE_AUDIT_WRITE_H

#include "alm/apiserver/request.h"
#include "alm/audit/audit.h"

struct audit_write {
	struct request *request;
	const struct kind *kind;
	const char *verb; /* create, update, patch, apply, delete */
	const char *ns, *name, *uid;
	const struct obj *before, *after; /* NULL: none */
	int64_t rv_before, rv_after;
	bool is_status; /* the write of a status endpoint */
};

/* Of the arena. */
struct audit_write_parts {
	/* NULL if this write has no entry: no log, a kind that is left out by the policy, or a
	 * status whose Transition entry is in the log already. */
	const struct audit_row *row;
	/* The Transition Deleted of an object that is deleted, caused by row. NULL: none. */
	const struct audit_row *deletion;
};
void audit_write_rows(const struct audit_write *w, struct audit_write_parts *ret);
/* The entry of a write that changed nothing; NULL if there is to be none. */
const struct audit_row *audit_write_unchanged(const struct audit_write *w);
/* The entry of a write that was refused; NULL if there is to be none. */
const struct audit_row *audit_write_refused(struct request *r, const struct error *err);

#endif
