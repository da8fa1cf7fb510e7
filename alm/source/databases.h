/*
 * databases: SQLite files by name, and the queries whose rows a program imports. Pure.
 *
 *	connections:                        # --database-connections-file
 *	- {name: apps, type: sqlite, sqlite: {path: apps.db}}
 *	queries:                            # --source.database.file
 *	- {name: teams, databaseName: apps, query: SELECT name, size FROM teams}
 *
 * A connection without a path is that of --default-database-url-file, one line: sqlite://apps.db,
 * sqlite:///var/lib/apps.db. A query may have a path instead of a databaseName. `import
 * 'alm-runtime/teams'` is [{COLUMN: VALUE}], read anew for each run.
 */
#ifndef ALM_SOURCE_DATABASES_H
#define ALM_SOURCE_DATABASES_H

#include "alm/obj/obj.h"

#define DATABASES_BYTES_MAX ((size_t)1 << 20) /* of each file */
#define DATABASES_MAX       64
#define DATABASE_NAME_MAX   128

struct database {
	const char *name, *path; /* a path as written */
};

struct databases {
	struct database *items;
	size_t n;
};

struct database_query {
	const char *name, *path, *query;
};

struct database_queries {
	struct database_query *items;
	size_t n;
};

/* All of them: file begins every message, E_INVALID names the field; what is returned lives in the
 * arena. */
int database_url_read(struct str text, const char *file, struct arena *a, const char **ret_path,
		      struct error *err);
/* path: of connections that have none; NULL: they are mistakes. */
int databases_read(struct str text, const char *file, const char *path, struct arena *a,
		   struct databases *ret, struct error *err);
int database_queries_read(struct str text, const char *file, const struct databases *d,
			  struct arena *a, struct database_queries *ret, struct error *err);

/* The file that is meant by a path, or by the name of a connection: one of them, else E_INVALID. */
int database_path(const struct databases *d, const char *path, const char *name,
		  const char **ret_path, struct error *err);
/* NULL: there is no such query. */
const struct database_query *database_query_find(const struct database_queries *q,
						 const char *name);

#endif
