/*
 * sql: a trigger on the rows of an SQLite file (--trigger.database.config). Pure.
 *
 *	path: apps.db
 *	query: SELECT name, replicas FROM apps
 *	key: name
 *	groupRows: false
 *
 * databaseName instead of path is the name of a connection (databases.h).
 *
 * Each row is a run, named by the value of its key column, with the row as configuration; with
 * groupRows all rows of one key are, as {"rows": [..]}. Without it two rows of one key are an
 * error: which one would win nobody said.
 */
#ifndef ALM_SOURCE_SQL_H
#define ALM_SOURCE_SQL_H

#include "alm/source/databases.h"

#define SQL_CONFIG_BYTES_MAX ((size_t)1 << 20)
#define SQL_KEY_MAX          256

struct sql_config {
	const char *path, *query, *key; /* path: as written, or of databaseName */
	const char *database;           /* NULL: it has a path */
	bool group_rows;
};

/*
 * ... and a table of one as feedback (--feedback.sql): a statement for each transition.
 *
 *	path: runs.db
 *	statement: INSERT INTO runs VALUES (:time, :bundle, :step, :reason, :message)
 */
struct sql_report {
	const char *path, *statement;
};

/* YAML or JSON; lives in the arena. E_INVALID names the field; name begins every message. */
int sql_config_read(struct str text, const char *name, const struct databases *d, struct arena *a,
		    struct sql_config *ret, struct error *err);
int sql_report_read(struct str text, const char *name, struct arena *a, struct sql_report *ret,
		    struct error *err);
/* rows: [{COLUMN: VALUE}]. [{"key", "config"}] in the order of the rows; of the arena. */
int sql_runs(const struct sql_config *c, const struct obj *rows, struct arena *a,
	     const struct obj **ret, struct error *err);

#endif
