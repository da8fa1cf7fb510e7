#include "alm/cli/audit/backup_check.h"

#include <string.h>

#include "alm/audit/audit.h"
#include "alm/audit/tables.h"
#include "alm/sources/catalog_store.h"

static int count_objects(struct db *db, int64_t *ret, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(db,
			   "SELECT count(*) FROM objects o WHERE deleted = 0 AND NOT EXISTS"
			   " (SELECT 1 FROM objects n WHERE n.name = o.name AND n.prev_revision ="
			   " o.id)",
			   &s, err);
	if (r >= 0)
		r = stmt_step(s, err);
	if (r < 0)
		return r;
	*ret = stmt_int(s, 0);
	stmt_reset(s);
	return 0;
}

int backup_check(struct db *db, const char *keys, struct verify_report *ret, int64_t *ret_objects,
		 struct error *err)
{
	struct error none = ERROR_INIT;
	unsigned char key[AUDIT_KEY_BYTES];
	struct audit_source s = {.type = AUDIT_DATABASE, .db = db, .dir = keys};
	struct verify_options o = {.skip_file_check = true}; /* db_copy() has */
	bool has_objects = audit_source_has_objects(db);
	int has_log = tables_exist(db, err);
	memset(ret, 0, sizeof(*ret));
	*ret_objects = -1;
	if (has_log < 0)
		return has_log;
	if (!has_log && !has_objects)
		return error_set(err, E_INVALID, "neither objects nor a log of alm is in it");
	if (has_objects && count_objects(db, ret_objects, err) < 0)
		return -err->code;
	if (!has_log)
		return 0;
	o.each_kept = catalog_store_each;
	o.each_kept_arg = db;
	if (has_objects && audit_read_key(keys, AUDIT_REDACT_KEY, key, &none) == 0) {
		o.each_object = audit_source_objects;
		o.each_object_arg = &s;
		o.redact_key = key;
	}
	int r = verify_log(db, &o, ret, err);
	explicit_bzero(key, sizeof(key));
	return r;
}
