/*
 * sqlread: the rows of a query over an SQLite file of somebody else.
 *
 * This process copies the file page by page, as it is at one instant, also while others write it
 * (sqlite3_backup: the journal of a writer is obeyed, nothing is written). What is in the pages is
 * hostile: schema and query are read by a job of the sandbox, in memory, read-only.
 */
#ifndef ALM_IO_SQLREAD_H
#define ALM_IO_SQLREAD_H

#include "alm/base/strbuf.h"

#define SQL_FILE_BYTES   ((size_t)64 << 20)
#define SQL_OUTPUT_BYTES ((size_t)16 << 20)
#define SQL_ROWS_MAX     10000
#define SQL_COLUMNS_MAX  256
#define SQL_CPU_S        10
#define SQL_QUERY_BYTES  ((size_t)64 << 10)

#define SQL_JOB "sql"

/* Appends the bytes of the database. E_NOTFOUND, E_INVALID for what is none, E_LIMIT for one of more
 * than SQL_FILE_BYTES, E_UNAVAILABLE while a writer holds it. */
int sqlread_copy(const char *path, struct strbuf *b, struct error *err);

/* Row of the sandbox' job table, with its prepare. Input: the query, a NUL, the bytes. Output: JSON
 * {"rows": [{COLUMN: VALUE}]}; a BLOB is its base64. E_INVALID for a query that is none, or writes;
 * E_LIMIT. */
int sqlread_job(struct str input, struct strbuf *output, struct error *err);
void sqlread_prepare(void);

#endif
