/* cmd_audit_export: the log in the form of others. */
#include <string.h>

#include "alm/audit/export.h"
#include "alm/audit/export_form.h"
#include "alm/audit/log.h"
#include "alm/cli/audit/audit_cmds.h"
#include "alm/cli/audit/audit_follow.h"
#include "alm/cli/audit/audit_report.h"
#include "alm/cli/audit/audit_source.h"
#include "alm/cli/session.h"
#include "alm/cli/term.h"

#define JSONL "jsonl"

struct run {
	struct cli *c;
	struct audit_source source;
	const struct export_form *form; /* NULL: jsonl */
	struct query_selector sel;
	int64_t given; /* rows up to this one are */
};

static int write_line(void *arg, struct str line, struct error *err)
{
	(void)arg;
	int lost = term_data(line);
	return lost ? error_set(err, E_IO, "standard output: %s", strerror(lost)) : 0;
}

/* What there is beyond what was given. */
static int give(void *arg, struct error *err)
{
	struct run *r = arg;
	int64_t last = r->given;
	r->sel.from_seq = r->given + 1;
	int rc = r->form ? export_rows(r->source.db, r->form, &r->sel, write_line, NULL, &last, err)
			 : export_write(r->source.db, r->given + 1, write_line, NULL, &last, err);
	int lost = rc < 0 ? 0 : term_flush();
	if (lost)
		return error_set(err, E_IO, "standard output: %s", strerror(lost));
	if (last > r->given)
		r->given = last;
	return rc;
}

static int follow(void *arg, struct error *err)
{
	struct run *r = arg;
	int64_t end = 0;
	int rc = query_seq_at(r->source.db, INT64_MAX, &end, err);
	return rc < 0 || end <= r->given ? rc : give(r, err);
}

/* The server that runs on the folder writes it: the one of the kubeconfig, if its log is this. */
static int record_by_server(struct run *r, const char *form, int64_t from, struct error *err)
{
	CLEANUP(xfreep) char *origin = NULL;
	CLEANUP(session_freep) struct session *s = NULL;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	struct session_reply reply;
	struct session_request q = {.method = "POST", .target = "/audit/exported", .body = body};
	if (log_origin(r->source.db, &origin, err) < 0 || session_open(r->c, &s, err) < 0)
		return -err->code;
	obj_set_str(body, "origin", origin);
	obj_set_str(body, "format", form);
	obj_set_int(body, "fromSeq", from > 0 ? from : 1);
	return session_send(s, &q, &reply, err);
}

static void record_at_server(struct run *r, const char *form, int64_t from)
{
	struct error err = ERROR_INIT;
	if (record_by_server(r, form, from, &err) < 0)
		term_error("alm: the log does not say that it was exported: %s\n", err.msg);
}

/* The log of a folder says that it was exported, before it is. */
static void record(struct run *r, const char *form, int64_t from)
{
	struct cli *c = r->c;
	struct error err = ERROR_INIT, by_server = ERROR_INIT;
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	struct db_config dc = {.path = arena_fmt(c->arena, "%s/alm.db", cli_data_dir(c)),
			       .layout = DB_LAYOUT};
	struct audit_config ac = {.loop = l, .key_dir = cli_data_dir(c)};
	int rc = db_open(&dc, &ac.db, &err);
	if (rc >= 0)
		rc = export_record(&ac, form, from, &err);
	db_close(ac.db);
	if (rc < 0 && record_by_server(r, form, from, &by_server) < 0)
		term_error("alm: the log does not say that it was exported: %s\n", err.msg);
}

/* An archive is whole, or a part by number: what is left out would be missing. */
static int check_selectors(struct cli *c, struct error *err)
{
	static const char *const others[] = {"subject", "actor", "type",    "reason",
					     "since",   "until", "cluster", "limit"};
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (cli_value(c, others[i]))
			return error_set(
				err, E_USAGE,
				"--%s: a jsonl archive is verified by its chain, so it has "
				"every entry; choose another --format, or --from-seq",
				others[i]);
	return 0;
}

static int open_run(struct run *r, const char *format, struct error *err)
{
	struct cli *c = r->c;
	bool follows = cli_flag(c, "follow");
	r->form = export_form_find(format);
	if (!r->form && strcmp(format, JSONL) != 0)
		return error_set(err, E_USAGE,
				 "--format %s: there are jsonl, csv, k8s, cloudevents and ocsf",
				 format);
	if (!r->form && check_selectors(c, err) < 0)
		return -err->code;
	if (follows && (cli_value(c, "file") || cli_value(c, "until") || cli_value(c, "limit")))
		return error_set(err, E_USAGE,
				 "--follow is of a log that goes on: without --file, --until and "
				 "--limit");
	/* Is there something to export at all? Then it is recorded, then read. */
	int rc = audit_source_open(c, &r->source, err);
	if (rc >= 0 && r->source.type == AUDIT_API && !r->form)
		return error_set(err, E_UNSUPPORTED,
				 "AuditRecords carry no chain, so there is no archive of them: "
				 "name the folder of the log with --data-dir, or choose another "
				 "--format");
	if (rc >= 0)
		rc = audit_source_selector(c, &r->source, &r->sel, err);
	return rc;
}

static int run_export(struct cli *c, struct error *err)
{
	struct run r = {.c = c};
	const char *format = cli_value(c, "format") ? cli_value(c, "format") : JSONL;
	int rc = open_run(&r, format, err);
	if (rc >= 0 && r.source.type == AUDIT_DATABASE)
		record(&r, format, r.sel.from_seq);
	else if (rc >= 0 && r.source.type == AUDIT_API)
		record_at_server(&r, format, r.sel.from_seq);
	if (rc >= 0)
		audit_report_tell_pruned(&r.source, &r.sel);
	r.given = r.sel.from_seq > 0 ? r.sel.from_seq - 1 : 0;
	if (rc >= 0 && r.form && r.form->header && r.given == 0)
		rc = write_line(NULL, str_of(r.form->header), err);
	if (rc >= 0)
		rc = give(&r, err);
	if (rc >= 0 && cli_flag(c, "follow"))
		rc = audit_follow(c, &r.source, follow, &r, err);
	audit_source_release(&r.source);
	return rc;
}

static const struct cmd_option export_options[] = {
	{"format", "FORMAT", "jsonl (default), csv, k8s, cloudevents, ocsf", 0},
	{"follow", NULL, "goes on with what is appended, until it is interrupted", 'f'},
	AUDIT_SELECTORS,
	{0},
};
const struct cmd audit_export = {
	.name = "export",
	.usage = "alm audit export [--format FORMAT] [--from-seq N] [--follow]",
	.summary = "print the log as an archive, or in the form of others",
	.description =
		"jsonl is the log itself: entries, blobs, keys and checkpoints, all that alm audit "
		"verify "
		"--file needs; exports that follow each other (--from-seq) make one archive when "
		"put "
		"together. csv has a fixed header and no cell that a spreadsheet takes for a "
		"formula; k8s "
		"are events of audit.k8s.io/v1, cloudevents is CloudEvents 1.0, ocsf classes 6003 "
		"and "
		"3004 of OCSF 1.3, one JSON object a line. Selectors choose entries of these four. "
		"With "
		"--from-seq N there is no header of csv, so that it can be appended. The log says "
		"that it was exported, before a byte is given; beside a running server, or over "
		"the API, the server of the kubeconfig writes that, else standard error says why "
		"not.",
	.examples = "alm audit export > log.jsonl && alm audit verify --file log.jsonl\n"
		    "alm audit export --format csv --type Approval --since 90d > approvals.csv\n"
		    "alm audit export --format ocsf --follow | vector --config siem.toml",
	.options = export_options,
	.run = run_export,
};
