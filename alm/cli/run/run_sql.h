/* run_sql: SQLite files of `alm run`: which connections have which file (databases.h). */
#ifndef ALM_CLI_RUN_RUN_SQL_H
#define ALM_CLI_RUN_RUN_SQL_H

#include "alm/cli/cli.h"
#include "alm/source/databases.h"

/* --database-connections-file, with --default-database-url-file; none: no connection. */
int run_sql_databases(const struct cli *c, struct databases *ret, struct error *err);
/* --source.database.file; none: no query. */
int run_sql_queries(const struct cli *c, const struct databases *d, struct database_queries *ret,
		    struct error *err);

#endif
