/*
 * tables: the tables and triggers of the log (audit.md 5), as text. The triggers stop
 * accidents; verify compares sqlite_schema with this very text, so it must not be reformatted.
 */
#ifndef ALM_AUDIT_TABLES_H
#define ALM_AUDIT_TABLES_H

#include "alm/io/db.h"

struct tables_object {
	const char *type, *name, *sql;
};

/* By digest: only a log that was pruned has it, so that a blob that nothing names is found. */
#define TABLES_PRUNE_INDEX "audit_ref_digest"
#define TABLES_PRUNE_SQL   "CREATE INDEX " TABLES_PRUNE_INDEX " ON audit_ref(digest)"

/* Ended by a NULL type. Tables first, then indexes, then triggers. */
extern const struct tables_object audit_tables[];

/* E_EXISTS if they are there already. with_triggers false: an archive that is read back. */
int tables_create(struct db *d, bool with_triggers, struct error *err);
/* 1 if the log's tables exist, 0 if not. */
int tables_exist(struct db *d, struct error *err);
/* E_ALTERED names the first object that is missing, foreign or has another text. */
int tables_check(struct db *d, struct error *err);

#endif
