/* run_sql: the rows of a query over an SQLite file, read in the sandbox (sqlread.h). */
#ifndef ALM_CLI_RUN_RUN_SQL_H
#define ALM_CLI_RUN_RUN_SQL_H

#include "alm/render/render_job.h"

/* call->done gets {"rows": [..]}, in a later turn. An error if the file cannot be read. */
int run_sql_start(struct sandbox *s, const char *path, const char *query, struct render_call *call,
		  struct error *err);

#endif
