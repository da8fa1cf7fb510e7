#include "alm/render/sql_rows.h"

#include <string.h>

#include "alm/io/sqlread.h"

int sql_rows_start(struct sandbox *s, const char *path, const char *query, struct render_call *call,
		   struct error *err)
{
	static const struct sandbox_limits limits = {.output_bytes = SQL_OUTPUT_BYTES,
						     .cpu_s = SQL_CPU_S};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SQL_FILE_BYTES + SQL_QUERY_BYTES);
	strbuf_add(&b, query, strlen(query) + 1);
	if (sqlread_copy(path, &b, err) < 0)
		return -err->code;
	render_call_start(s, SQL_JOB, strbuf_str(&b), &limits, call);
	return 0;
}
