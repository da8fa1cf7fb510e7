/* backup_check: whether a copy of the database is what was written, as far as it tells by itself:
 * no anchor is asked, which an older copy would never fit to. */
#ifndef ALM_CLI_AUDIT_BACKUP_CHECK_H
#define ALM_CLI_AUDIT_BACKUP_CHECK_H

#include "alm/cli/audit/audit_source.h"

/* keys: of the folder, whose redaction key is needed to compare objects with the log. E_INVALID for
 * a database that is not ALM's. Else the report is filled, whatever was found; *ret_objects: how
 * many objects the server has, -1: none. A log that is not there has no entries. */
int backup_check(struct db *db, const char *keys, struct verify_report *ret, int64_t *ret_objects,
		 struct error *err);

#endif
