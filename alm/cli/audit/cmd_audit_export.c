/* cmd_audit_export: the log in the form of others. */
#include <string.h>

#include "alm/audit/export.h"
#include "alm/cli/audit/audit_cmds.h"
#include "alm/cli/audit/audit_source.h"
#include "alm/cli/term.h"

static int write_line(void *arg, struct str line, struct error *err)
{
	(void)arg;
	int lost = term_data(line);
	return lost ? error_set(err, E_IO, "standard output: %s", strerror(lost)) : 0;
}

static int run_export(struct cli *c, struct error *err)
{
	struct audit_source s = {0};
	const char *format = cli_value(c, "format");
	int64_t from, last;
	if (format && strcmp(format, "jsonl") != 0)
		return error_set(err, E_UNSUPPORTED, "--format %s: only jsonl is supported",
				 format);
	int rc = cli_int(c, "from-seq", 1, &from, err);
	if (rc >= 0)
		rc = audit_source_open(c, &s, err);
	if (rc >= 0 && s.type == AUDIT_API)
		rc = error_set(err, E_UNSUPPORTED,
			       "a log is exported from its folder (--data-dir)");
	if (rc >= 0)
		rc = export_write(s.db, from, write_line, NULL, &last, err);
	audit_source_release(&s);
	return rc;
}

static const struct cmd_option export_options[] = {
	{"format", "FORMAT", "jsonl", 0},
	{"from-seq", "N", "rows from this number on", 0},
	AUDIT_FILE_OPTION,
	{0},
};
const struct cmd audit_export = {
	.name = "export",
	.usage = "alm audit export [--format jsonl] [--from-seq N]",
	.summary = "print the log as an archive",
	.options = export_options,
	.run = run_export,
};
