/* sql_rows: the rows of a query of a SQLite file, read in the sandbox (sqlread.h). */
#ifndef ALM_RENDER_SQL_ROWS_H
#define ALM_RENDER_SQL_ROWS_H

#include "alm/render/render_job.h"

/* call->done gets {"rows": [..]}, in a later turn. An error if the file cannot be read. */
int sql_rows_start(struct sandbox *s, const char *path, const char *query, struct render_call *call,
		   struct error *err);

#endif
