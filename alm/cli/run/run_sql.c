#include "alm/cli/run/run_sql.h"

#include "alm/base/file.h"

/* 0: the flag is not given. */
static int read_flag(const struct cli *c, const char *flag, struct strbuf *b, const char **ret_file,
		     struct error *err)
{
	*ret_file = cli_value(c, flag);
	if (!*ret_file)
		return 0;
	return file_read_input(*ret_file, b, err) < 0 ? error_wrap(err, "--%s", flag) : 1;
}

int run_sql_databases(const struct cli *c, struct databases *ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(DATABASES_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf url = STRBUF_INIT(DATABASES_BYTES_MAX);
	const char *file, *path = NULL;
	int r = read_flag(c, "default-database-url-file", &url, &file, err);
	*ret = (struct databases){0};
	if (r > 0)
		r = database_url_read(strbuf_str(&url), file, c->arena, &path, err);
	if (r >= 0)
		r = read_flag(c, "database-connections-file", &b, &file, err);
	return r > 0 ? databases_read(strbuf_str(&b), file, path, c->arena, ret, err) : r;
}

int run_sql_queries(const struct cli *c, const struct databases *d, struct database_queries *ret,
		    struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(DATABASES_BYTES_MAX);
	const char *file;
	int r = read_flag(c, "source.database.file", &b, &file, err);
	*ret = (struct database_queries){0};
	return r > 0 ? database_queries_read(strbuf_str(&b), file, d, c->arena, ret, err) : r;
}
