/* cmd_audit: questions to the audit log (audit.md 10). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alm/audit/row_text.h"
#include "alm/base/visible.h"
#include "alm/cli/audit/audit_cmds.h"
#include "alm/cli/audit/audit_follow.h"
#include "alm/cli/audit/audit_report.h"
#include "alm/cli/cmds.h"
#include "alm/cli/term.h"

#define QUERY_TAIL_MAX QUERY_ROWS_MAX

/* What was asked for may be more than is given: say so, and how to go on. */
static void tell_more(const struct audit_report *r, int n, int64_t last)
{
	if (n == QUERY_ROWS_MAX && !r->sel.limit)
		term_error("alm: %d entries are shown, there may be more: --from-seq %" PRId64
			   ", --tail N, or alm audit export\n",
			   n, last + 1);
}

struct rows {
	struct audit_report *r;
	int64_t last;
};

static int print_row(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct rows *rows = arg;
	rows->last = obj_i64(row, "seq", rows->last);
	return audit_report_row(rows->r, depth, row, err);
}

/* The entries after the last one. */
static int more_rows(void *arg, struct error *err)
{
	struct rows *rows = arg;
	struct audit_report *r = rows->r;
	int64_t end = 0;
	r->sel.newest = false;
	r->sel.limit = 0;
	r->sel.from_seq = rows->last + 1;
	int rc = query_seq_at(r->source.db, INT64_MAX, &end, err);
	if (rc < 0 || end <= rows->last)
		return rc;
	rc = query_rows(r->source.db, &r->sel, print_row, rows, err);
	if (rc >= 0 && rc < QUERY_ROWS_MAX && end > rows->last)
		rows->last = end;
	return rc < 0 ? rc : audit_report_flush(r, err);
}

static int check_rows(struct audit_report *r, int64_t tail, struct error *err)
{
	struct cli *c = r->c;
	bool follows = cli_flag(c, "follow");
	if (cli_value(c, "tail") && (tail < 1 || tail > QUERY_TAIL_MAX))
		return error_set(err, E_USAGE, "--tail is a number from 1 to %d", QUERY_TAIL_MAX);
	if (tail && (cli_value(c, "limit") || cli_value(c, "from-seq")))
		return error_set(err, E_USAGE,
				 "--tail gives the last entries, --limit and --from-seq "
				 "the first: choose one");
	if (!follows)
		return 0;
	if (r->source.type == AUDIT_ARCHIVE || cli_value(c, "until") || cli_value(c, "limit"))
		return error_set(err, E_USAGE,
				 "--follow is of a log that goes on: without --file, --until and "
				 "--limit");
	if (!audit_report_is_table(r))
		return error_set(err, E_USAGE,
				 "--follow prints a table; for programs: alm audit "
				 "export --follow");
	return 0;
}

static int print_rows(struct audit_report *r, struct error *err)
{
	struct rows rows = {.r = r};
	int64_t tail = 0, end = 0;
	int rc = cli_int(r->c, "tail", 0, &tail, err);
	if (rc >= 0)
		rc = check_rows(r, tail, err);
	if (rc >= 0)
		rc = query_seq_at(r->source.db, INT64_MAX, &end, err);
	if (rc < 0)
		return rc;
	audit_report_columns(r);
	if (tail) {
		r->sel.newest = true;
		r->sel.limit = (size_t)tail;
	}
	rc = query_rows(r->source.db, &r->sel, print_row, &rows, err);
	if (rc >= 0 && !cli_flag(r->c, "follow"))
		tell_more(r, rc, rows.last);
	if (rc < 0 || !cli_flag(r->c, "follow"))
		return rc;
	if (rc < QUERY_ROWS_MAX && end > rows.last)
		rows.last = end;
	rc = audit_report_flush(r, err);
	return rc < 0 ? rc : audit_follow(r->c, &r->source, more_rows, &rows, err);
}

static int run_query(struct cli *c, struct error *err)
{
	struct audit_report r;
	int rc = audit_report_begin(c, &r, err);
	r.with_subject = true;
	if (rc >= 0 && !cli_value(c, "tail"))
		audit_report_tell_pruned(&r.source, &r.sel);
	if (rc >= 0)
		rc = print_rows(&r, err);
	return audit_report_end(&r, rc, err);
}

static int run_timeline(struct cli *c, struct error *err)
{
	struct audit_report r;
	int rc = audit_report_begin(c, &r, err);
	if (rc >= 0 && !cli_value(c, "tail"))
		audit_report_tell_pruned(&r.source, &r.sel);
	if (rc >= 0 && c->n_args)
		rc = query_subject(r.source.db, c->args[0], c->arena, &r.sel, err);
	if (rc >= 0 && !r.sel.name)
		rc = error_set(err, E_USAGE, "--subject KIND/[NAMESPACE/]NAME is missing");
	if (rc >= 0)
		rc = print_rows(&r, err);
	return audit_report_end(&r, rc, err);
}

/* "112" or "#112", as tables and lines have it. */
static bool is_entry(const char *arg, int64_t *ret)
{
	return str_parse_i64(str_of(*arg == '#' ? arg + 1 : arg), ret) && *ret > 0;
}

static int run_why(struct cli *c, struct error *err)
{
	struct audit_report r;
	int64_t forward = 0, seq = 0;
	int rc = audit_report_begin(c, &r, err);
	if (rc >= 0)
		audit_report_tell_pruned(&r.source, &r.sel);
	if (rc >= 0)
		rc = cli_int(c, "forward", 0, &forward, err);
	if (rc >= 0 && forward) {
		r.with_subject = true;
		rc = query_forward(r.source.db, forward, audit_report_line, &r, err);
	} else if (rc >= 0 && c->n_args && is_entry(c->args[0], &seq)) {
		r.with_subject = true;
		rc = cli_value(c, "version")
			     ? error_set(err, E_USAGE, "--version is of a KIND/NAME")
			     : query_why_entry(r.source.db, seq, audit_report_line, &r, err);
	} else if (rc >= 0) {
		if (c->n_args)
			rc = query_subject(r.source.db, c->args[0], c->arena, &r.sel, err);
		if (rc >= 0 && !r.sel.name)
			rc = error_set(err, E_USAGE, "usage: %s", c->cmd->usage);
		if (rc >= 0)
			rc = query_why(r.source.db, &r.sel, cli_value(c, "version"),
				       audit_report_line, &r, err);
	}
	return audit_report_end(&r, rc, err);
}

static void denial_line(struct audit_report *r, const struct obj *row, const char *id,
			const char *detail, int64_t until)
{
	row_head(row, audit_report_is_old(r, row), &r->out);
	visible_addf(&r->out, "%s%s%s%s   for ", id ? " " : "", id ? id : "", detail ? "  " : "",
		     detail ? detail : "");
	row_span((until ? until : r->now_us) - row_time_us(row), &r->out);
	strbuf_addc(&r->out, '\n');
}

/* The reason of "VERSION REASON" among the candidates; the first one is the row's own message. */
static const char *candidate_reason(const struct obj *row, const char *version)
{
	const struct obj *list = obj_path(row, "body.candidates");
	for (size_t i = 1; version && i < obj_len(list); i++) {
		struct str name, reason;
		const char *text = obj_as_string(obj_at(list, i));
		if (str_cut(str_of(text), ' ', &name, &reason) && str_is(name, version))
			return reason.ptr;
	}
	return NULL;
}

static int print_denial(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct audit_report *r = arg;
	int64_t until = 0;
	const struct obj *rules = obj_path(row, "body.rules");
	size_t n = 0;
	if (!audit_report_is_table(r))
		return audit_report_line(arg, depth, row, err);
	int rc = query_decided_again(r->source.db, row, &until, err);
	for (size_t i = 0; i < obj_len(rules); i++) {
		const struct obj *rule = obj_at(rules, i);
		const char *verdict = obj_str(rule, "verdict");
		if (verdict && !strcmp(verdict, "allow"))
			continue;
		denial_line(r, row, obj_str(rule, "id"), obj_str(rule, "detail"), until);
		n++;
	}
	const char *other = candidate_reason(row, r->version);
	if (!n)
		denial_line(r, row, other, other ? NULL : obj_str(row, "body.message"), until);
	return rc;
}

static int run_why_not(struct cli *c, struct error *err)
{
	struct audit_report r;
	const char *version = c->n_args > 1 ? c->args[1] : cli_value(c, "version");
	int rc = audit_report_begin(c, &r, err);
	r.version = version;
	if (rc >= 0)
		audit_report_tell_pruned(&r.source, &r.sel);
	if (rc >= 0)
		rc = query_subject(r.source.db, c->args[0], c->arena, &r.sel, err);
	if (rc >= 0)
		rc = query_why_not(r.source.db, &r.sel, version, print_denial, &r, err);
	if (rc == 0)
		rc = error_set(err, E_NOTFOUND, "nothing in the log denied %s%s%s", c->args[0],
			       version ? " " : "", version ? version : "");
	return audit_report_end(&r, rc, err);
}

static int print_state(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct audit_report *r = arg;
	if (!audit_report_shows(r, row))
		return 0;
	if (!audit_report_is_table(r))
		return audit_report_line(arg, depth, row, err);
	CLEANUP(strbuf_release) struct strbuf since = STRBUF_INIT(STRBUF_SMALL);
	const char *ns = obj_str(row, "subject.namespace"), *to = obj_str(row, "body.to");
	const char *name = obj_str(row, "subject.name"), *version = audit_report_version(row);
	int64_t revision = obj_i64(row, "body.revision", 0);
	row_time(row, r->printer.format == PRINT_WIDE, &since);
	const char *cells[] = {
		obj_str(row, "subject.kind"),
		ns && *ns ? arena_fmt(r->cells, "%s/%s", ns, name ? name : "") : name,
		to ? to : obj_str(row, "reason"),
		version ? version : "-",
		revision ? arena_fmt(r->cells, "%" PRId64, revision) : "-",
		since.buf,
		arena_fmt(r->cells, "%" PRId64, obj_i64(row, "seq", 0)),
	};
	audit_report_cells(r, cells);
	return 0;
}

static int run_state(struct cli *c, struct error *err)
{
	struct audit_report r;
	int64_t seq = 0;
	int rc = audit_report_begin(c, &r, err);
	static const char *const columns[] = {"KIND",     "NAME",  "STATE", "VERSION",
					      "REVISION", "SINCE", "SEQ"};
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		grid_column(&r.grid, columns[i]);
	if (rc >= 0 && r.source.type == AUDIT_API) /* which has no snapshot of what was pruned */
		audit_report_tell_pruned(&r.source, &r.sel);
	if (rc >= 0)
		rc = audit_report_seq(&r, "at", "at-seq", &seq, err);
	if (rc >= 0)
		rc = query_state(r.source.db, &r.sel, seq, print_state, &r, err);
	return audit_report_end(&r, rc, err);
}

static const struct cmd_option query_options[] = {
	{"tail", "N", "the last N entries", 0},
	{"follow", NULL, "goes on with what is appended, until it is interrupted", 'f'},
	AUDIT_TABLE_OPTIONS,
	{0},
};
static const struct cmd_option why_options[] = {
	{"version", "VERSION", "the transition to this version", 0},
	{"forward", "SEQ", "everything that this entry caused", 0},
	AUDIT_TABLE_OPTIONS,
	{0},
};
static const struct cmd_option state_options[] = {
	{"at", "TIME", "RFC 3339 or a span before now", 0},
	{"at-seq", "N", "as of this entry", 0},
	{"all", NULL, "every kind, not only apps and bundles", 0},
	AUDIT_TABLE_OPTIONS,
	{0},
};
static const struct cmd audit_query = {
	.name = "query",
	.usage = "alm audit query [--type TYPE] [--actor USER] [--subject KIND/NAME] [--tail N] "
		 "[-f]",
	.summary = "print entries of the log",
	.description =
		"Times are RFC 3339 in UTC; -o wide has microseconds, cause and actor. At most "
		"10,000 entries at a time.",
	.examples = "alm audit query --tail 20 --follow\n"
		    "alm audit query --type Approval --actor alice --since 30d -o json",
	.options = query_options,
	.run = run_query,
};
static const struct cmd audit_timeline = {
	.name = "timeline",
	.usage = "alm audit timeline (KIND/[NS/]NAME | --subject KIND/[NS/]NAME) [--since TIME]",
	.examples = "alm audit timeline apptype/etcd",
	.summary = "print what happened to one object",
	.options = query_options,
	.args = {0, 1},
	.run = run_timeline,
};
static const struct cmd audit_why = {
	.name = "why",
	.usage = "alm audit why KIND/[NS/]NAME [--version VERSION] | SEQ | --forward SEQ",
	.summary = "walk from a transition back to what caused it",
	.examples = "alm audit why apptype/etcd --version 0.9.6\nalm audit why 118\nalm audit why "
		    "--forward 107",
	.options = why_options,
	.args = {0, 1},
	.run = run_why,
};
static const struct cmd audit_why_not = {
	.name = "why-not",
	.usage = "alm audit why-not KIND/[NS/]NAME [VERSION]",
	.examples = "alm audit why-not apptype/etcd 1.0.0",
	.summary = "print the decisions that denied a version",
	.options = why_options,
	.args = {1, 2},
	.run = run_why_not,
};
static const struct cmd audit_state = {
	.name = "state",
	.usage = "alm audit state [--at TIME | --at-seq N] [--subject KIND/NAME]",
	.examples = "alm audit state --at 2030-01-02T08:10:00Z",
	.summary = "print what was installed at a time",
	.options = state_options,
	.run = run_state,
};
static const struct cmd *const subs[] = {&audit_query,    &audit_why,        &audit_why_not,
					 &audit_timeline, &audit_state,      &audit_diff,
					 &audit_verify,   &audit_proof,      &audit_key,
					 &audit_export,   &audit_accept_gap, NULL};

const struct cmd cmd_audit = {
	.name = "audit",
	.usage = "alm audit COMMAND",
	.summary = "questions to the audit log",
	.subs = subs,
};
