/*
 * schema: the tables and triggers of the log (specs/audit.md 5), as text. The triggers stop
 * accidents; verify compares sqlite_schema with this very text, so it must not be reformatted.
 */
#ifndef ALM_AUDIT_SCHEMA_H
#define ALM_AUDIT_SCHEMA_H

#include "alm/io/db.h"

struct schema_object {
	const char *type, *name, *sql;
};

/* Ended by a NULL type. Tables first, then indexes, then triggers. */
extern const struct schema_object audit_schema[];

/* E_EXISTS if they are there already. with_triggers false: an archive that is read back. */
int schema_create(struct db *d, bool with_triggers, struct error *err);
/* 1 if the log's tables exist, 0 if not. */
int schema_exists(struct db *d, struct error *err);
/* E_ALTERED names the first object that is missing, foreign or has another text. */
int schema_check(struct db *d, struct error *err);

#endif
