/* cmd_audit: questions to the audit log (specs/audit.md 10). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alm/audit/row_text.h"
#include "alm/base/visible.h"
#include "alm/cli/audit/audit_cmds.h"
#include "alm/cli/audit/audit_source.h"
#include "alm/cli/cmds.h"
#include "alm/cli/kube/printer.h"
#include "alm/cli/term.h"
#include "alm/obj/json.h"

#define OUTPUT_MAX ((size_t)512 << 20)
#define DETAIL_COL 50
#define DAY_US     INT64_C(86400000000)

#define SELECTORS AUDIT_SELECTORS, {"output", "FORMAT", "table, wide, json, yaml", 'o'}

struct report {
	struct cli *c;
	struct audit_source source;
	struct query_selector sel;
	struct printer printer;
	struct strbuf out;
	struct obj *list; /* of rows, for json and yaml */
	bool with_date, with_subject;
	const char *version; /* of why-not */
	int64_t now_us;
};

/* The date is printed where rows are not of today. */
static bool is_old(const struct report *r, const struct obj *row)
{
	return r->now_us / DAY_US != row_time_us(row) / DAY_US;
}

/* What has no more to say than its subject, which stands in the line already. */
static bool is_subject(const struct report *r, const struct obj *row, struct str detail)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	row_subject(row, &b);
	return r->with_subject && str_eq(strbuf_str(&b), detail);
}

static int line_detail(struct report *r, const struct obj *row, struct strbuf *b, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf detail = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(obj_unrefp) struct obj *plan = NULL;
	CLEANUP(obj_unrefp) struct obj *cause = NULL;
	struct error gone = ERROR_INIT;
	int rc = query_plan(r->source.db, row, &plan, err);
	if (obj_i64(row, "cause", 0))
		(void)query_row(r->source.db, obj_i64(row, "cause", 0), &cause, &gone);
	row_detail(row, plan, cause, &detail);
	if (!is_subject(r, row, strbuf_str(&detail)))
		visible_adds(b, detail.buf);
	return rc;
}

/* "└ #112 08:20:26 Approval Approved            alice ..." */
static int print_row(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct report *r = arg;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (!printer_is_table(&r->printer)) {
		obj_append(r->list, obj_ref(row));
		return 0;
	}
	if (depth) {
		strbuf_pad(&b, ' ', 2 * (size_t)(depth - 1));
		visible_adds(&b, "\xe2\x94\x94 ");
	}
	row_head(row, r->with_date || r->printer.format == PRINT_WIDE || is_old(r, row), &b);
	/* the detail of a Write names its object already */
	if (r->with_subject && !cstr_eq(obj_str(row, "type"), "Write")) {
		visible_adds(&b, "  ");
		row_subject(row, &b);
	}
	size_t width = utf8_count(strbuf_str(&b));
	strbuf_pad(&b, ' ', width < DETAIL_COL ? DETAIL_COL - width : 2);
	int rc = line_detail(r, row, &b, err);
	visible_add(&r->out,
		    str_trim_right(strbuf_str(&b))); /* a row is one line, whatever it says */
	strbuf_addc(&r->out, '\n');
	return rc;
}

static int begin(struct cli *c, struct report *r, struct error *err)
{
	*r = (struct report){.c = c, .list = obj_list(), .now_us = audit_source_now_us()};
	strbuf_init(&r->out, OUTPUT_MAX);
	int rc = printer_parse(cli_value(c, "output"), &r->printer, err);
	if (rc >= 0 && (r->printer.format == PRINT_NAME || r->printer.format == PRINT_COLUMNS))
		rc = error_set(err, E_USAGE, "-o is table, wide, json, yaml or jsonpath=");
	if (rc >= 0)
		rc = audit_source_open(c, &r->source, err);
	if (rc >= 0)
		rc = audit_source_selector(c, &r->source, &r->sel, err);
	return rc;
}

static int end(struct report *r, int rc, struct error *err)
{
	if (rc >= 0 && !printer_is_table(&r->printer))
		rc = printer_object(&r->printer, r->list, &r->out, err);
	printer_write(&r->printer, strbuf_str(&r->out));
	strbuf_release(&r->out);
	obj_unref(r->list);
	audit_source_release(&r->source);
	return rc < 0 ? rc : 0;
}

static int run_query(struct cli *c, struct error *err)
{
	struct report r;
	int rc = begin(c, &r, err);
	r.with_subject = true;
	if (rc >= 0)
		rc = query_rows(r.source.db, &r.sel, print_row, &r, err);
	return end(&r, rc, err);
}

static int run_timeline(struct cli *c, struct error *err)
{
	struct report r;
	int rc = begin(c, &r, err);
	if (rc >= 0 && c->n_args)
		rc = query_subject(r.source.db, c->args[0], c->arena, &r.sel, err);
	if (rc >= 0 && !r.sel.name)
		rc = error_set(err, E_USAGE, "--subject KIND/[NAMESPACE/]NAME is missing");
	if (rc >= 0)
		rc = query_rows(r.source.db, &r.sel, print_row, &r, err);
	return end(&r, rc, err);
}

static int run_why(struct cli *c, struct error *err)
{
	struct report r;
	int64_t forward = 0;
	int rc = begin(c, &r, err);
	if (rc >= 0)
		rc = cli_int(c, "forward", 0, &forward, err);
	if (rc >= 0 && forward) {
		r.with_subject = true;
		rc = query_forward(r.source.db, forward, print_row, &r, err);
	} else if (rc >= 0) {
		if (c->n_args)
			rc = query_subject(r.source.db, c->args[0], c->arena, &r.sel, err);
		if (rc >= 0 && !r.sel.name)
			rc = error_set(err, E_USAGE, "usage: %s", c->cmd->usage);
		if (rc >= 0)
			rc = query_why(r.source.db, &r.sel, cli_value(c, "version"), print_row, &r,
				       err);
	}
	return end(&r, rc, err);
}

static void denial_line(struct report *r, const struct obj *row, const char *id, const char *detail,
			int64_t until)
{
	row_head(row, is_old(r, row), &r->out);
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
	struct report *r = arg;
	int64_t until = 0;
	const struct obj *rules = obj_path(row, "body.rules");
	size_t n = 0;
	if (!printer_is_table(&r->printer))
		return print_row(arg, depth, row, err);
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
	struct report r;
	const char *version = c->n_args > 1 ? c->args[1] : cli_value(c, "version");
	int rc = begin(c, &r, err);
	r.version = version;
	if (rc >= 0)
		rc = query_subject(r.source.db, c->args[0], c->arena, &r.sel, err);
	if (rc >= 0)
		rc = query_why_not(r.source.db, &r.sel, version, print_denial, &r, err);
	if (rc == 0)
		rc = error_set(err, E_NOTFOUND, "nothing in the log denied %s%s%s", c->args[0],
			       version ? " " : "", version ? version : "");
	return end(&r, rc, err);
}

/* Kinds whose state is what is installed; --all shows every one. */
static bool is_shown(const struct report *r, const struct obj *row)
{
	const char *kind = obj_str(row, "subject.kind");
	return cli_flag(r->c, "all") || r->sel.name || !kind || !strcmp(kind, "AppType") ||
	       !strcmp(kind, "Bundle");
}

static const char *version_of(const struct obj *row)
{
	const char *v = obj_str(row, "body.version.to");
	return v ? v : obj_str(row, "body.status.installedVersion");
}

static int print_state(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct report *r = arg;
	CLEANUP(strbuf_release) struct strbuf head = STRBUF_INIT(STRBUF_SMALL);
	if (!is_shown(r, row))
		return 0;
	if (!printer_is_table(&r->printer))
		return print_row(arg, depth, row, err);
	const char *kind = obj_str(row, "subject.kind"), *ns = obj_str(row, "subject.namespace");
	const char *name = obj_str(row, "subject.name"), *to = obj_str(row, "body.to");
	const char *version = version_of(row);
	int64_t revision = obj_i64(row, "body.revision", 0);
	visible_addf(&r->out, "%s  %s%s%s  %s", kind ? kind : "", ns ? ns : "",
		     ns && *ns ? "/" : "", name ? name : "", to ? to : obj_str(row, "reason"));
	if (version)
		visible_addf(&r->out, "  %s", version);
	if (revision)
		visible_addf(&r->out, "  revision %" PRId64, revision);
	row_head(row, is_old(r, row), &head);
	/* "#97 08:03:22 ..." -> "since 08:03:22 #97" */
	struct str seq, rest, when, tail;
	str_cut(strbuf_str(&head), ' ', &seq, &rest);
	size_t words = is_old(r, row) ? 2 : 1;
	when = str_n(rest.ptr, 0);
	for (tail = rest; words > 0; words--) {
		struct str word, more;
		str_cut(tail, ' ', &word, &more);
		when.len = (size_t)(word.ptr + word.len - rest.ptr);
		tail = more;
	}
	visible_addf(&r->out, "  since %.*s %.*s\n", STR_ARG(when), STR_ARG(seq));
	return 0;
}

/* --at TIME, --at-seq N, or the end of the log. */
static int seq_option(struct report *r, const char *at, const char *at_seq, int64_t *ret,
		      struct error *err)
{
	int64_t us = r->now_us;
	int rc = cli_int(r->c, at_seq, 0, ret, err);
	if (rc < 0 || *ret)
		return rc;
	if (cli_value(r->c, at))
		rc = audit_source_time(cli_value(r->c, at), r->now_us, &us, err);
	return rc < 0 ? rc : query_seq_at(r->source.db, us, ret, err);
}

static int run_state(struct cli *c, struct error *err)
{
	struct report r;
	int64_t seq = 0;
	int rc = begin(c, &r, err);
	if (rc >= 0)
		rc = seq_option(&r, "at", "at-seq", &seq, err);
	if (rc >= 0)
		rc = query_state(r.source.db, &r.sel, seq, print_state, &r, err);
	return end(&r, rc, err);
}

/* diff: states before, by subject; what is left at the end was deleted. */
struct diff_run {
	struct report *r;
	struct obj *before; /* "KIND/NS/NAME" -> row */
};

static const char *subject_key(struct diff_run *d, const struct obj *row)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	row_subject(row, &b);
	return arena_strdup(d->r->c->arena, b.buf);
}

static int keep_state(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct diff_run *d = arg;
	(void)depth;
	(void)err;
	if (is_shown(d->r, row))
		obj_set(d->before, subject_key(d, row), obj_ref(row));
	return 0;
}

static void subject_words(const struct obj *row, struct strbuf *b)
{
	const char *kind = obj_str(row, "subject.kind"), *ns = obj_str(row, "subject.namespace");
	const char *name = obj_str(row, "subject.name");
	visible_addf(b, "%s %s%s%s", kind ? kind : "", ns ? ns : "", ns && *ns ? "/" : "",
		     name ? name : "");
}

static int add_authority(struct diff_run *d, const struct obj *row, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *who = NULL;
	CLEANUP(obj_unrefp) struct obj *installed = NULL;
	const char *version = version_of(row);
	int rc = version ? query_installed(d->r->source.db, row, version, &installed, err) : 0;
	const struct obj *by = installed ? installed : row;
	if (rc >= 0)
		rc = query_authority(d->r->source.db, by, &who, err);
	visible_addf(&d->r->out, "  #%" PRId64, obj_i64(by, "seq", 0));
	if (rc >= 0 && who) {
		const char *why = obj_str(who, "body.justification");
		visible_addf(&d->r->out, " %s", obj_str(who, "actor"));
		if (why)
			visible_addf(&d->r->out, " \"%s\"", why);
	}
	strbuf_addc(&d->r->out, '\n');
	return rc;
}

static int compare_state(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct diff_run *d = arg;
	(void)depth;
	if (!is_shown(d->r, row))
		return 0;
	const char *key = subject_key(d, row);
	CLEANUP(obj_unrefp) struct obj *was =
		obj_get(d->before, key) ? obj_ref(obj_get(d->before, key)) : NULL;
	obj_del(d->before, key);
	if (was && obj_i64(was, "seq", 0) == obj_i64(row, "seq", 0))
		return 0;
	const char *from = was ? version_of(was) : NULL, *to = version_of(row);
	const char *from_state = was ? obj_str(was, "body.to") : NULL;
	const char *to_state = obj_str(row, "body.to");
	visible_adds(&d->r->out, was ? "~ " : "+ ");
	subject_words(row, &d->r->out);
	if (was && !cstr_eq(from, to))
		visible_addf(&d->r->out, "  %s -> %s", from ? from : "none", to ? to : "none");
	else if (was)
		visible_addf(&d->r->out, "  %s -> %s", from_state ? from_state : "none",
			     to_state ? to_state : "none");
	else
		visible_addf(&d->r->out, "  %s", to ? to : to_state ? to_state : "");
	return add_authority(d, row, err);
}

static int print_write(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct diff_run *d = arg;
	const char *verb = obj_str(row, "body.verb"), *outcome = obj_str(row, "body.outcome");
	const struct obj *changed = obj_path(row, "body.changed");
	(void)depth;
	(void)err;
	if (!outcome || strcmp(outcome, "Applied") != 0)
		return 0;
	visible_adds(&d->r->out, verb && !strcmp(verb, "create")   ? "+ "
				 : verb && !strcmp(verb, "delete") ? "- "
								   : "~ ");
	subject_words(row, &d->r->out);
	for (size_t i = 0; i < obj_len(changed) && i < 4; i++) {
		const char *path = obj_as_string(obj_at(changed, i));
		visible_addf(&d->r->out, "%s%s", i ? ", " : "  ", path ? path : "");
	}
	visible_addf(&d->r->out, "  #%" PRId64 "\n", obj_i64(row, "seq", 0));
	return 0;
}

static int run_diff(struct cli *c, struct error *err)
{
	struct report r;
	struct diff_run d = {.r = &r, .before = obj_map()};
	int64_t from = 0, to = 0;
	int rc = begin(c, &r, err);
	if (rc >= 0 && !cli_value(c, "from") && !cli_value(c, "from-at-seq"))
		rc = error_set(err, E_USAGE, "--from TIME is missing");
	if (rc >= 0 && !printer_is_table(&r.printer))
		rc = error_set(err, E_UNSUPPORTED, "audit diff prints text only");
	if (rc >= 0)
		rc = seq_option(&r, "from", "from-at-seq", &from, err);
	if (rc >= 0)
		rc = seq_option(&r, "to", "to-at-seq", &to, err);
	if (rc >= 0)
		rc = query_state(r.source.db, &r.sel, from, keep_state, &d, err);
	if (rc >= 0)
		rc = query_state(r.source.db, &r.sel, to, compare_state, &d, err);
	OBJ_EACH (it, d.before) {
		visible_adds(&r.out, "- ");
		subject_words(it.value, &r.out);
		strbuf_addc(&r.out, '\n');
	}
	struct query_selector writes = r.sel;
	writes.type = "Write";
	writes.from_seq = from + 1;
	writes.to_seq = to;
	if (rc >= 0 && to > from)
		rc = query_rows(r.source.db, &writes, print_write, &d, err);
	obj_unref(d.before);
	return end(&r, rc, err);
}

static const struct cmd_option query_options[] = {SELECTORS, {0}};
static const struct cmd_option why_options[] = {
	{"version", "VERSION", "the transition to this version", 0},
	{"forward", "SEQ", "everything that this row caused", 0},
	SELECTORS,
	{0},
};
static const struct cmd_option state_options[] = {
	{"at", "TIME", "RFC 3339 or a span before now", 0},
	{"at-seq", "N", "as of this row", 0},
	{"all", NULL, "every kind, not only apps and bundles", 0},
	SELECTORS,
	{0},
};
static const struct cmd_option diff_options[] = {
	{"from", "TIME", "RFC 3339 or a span before now", 0},
	{"to", "TIME", "the same (default: now)", 0},
	{"from-at-seq", "N", "as of this row", 0},
	{"to-at-seq", "N", "as of this row", 0},
	{"all", NULL, "every kind, not only apps and bundles", 0},
	SELECTORS,
	{0},
};
static const struct cmd audit_query = {
	.name = "query",
	.usage = "alm audit query [--type TYPE] [--actor USER] [--subject KIND/NAME] [-o FORMAT]",
	.summary = "print rows of the log",
	.options = query_options,
	.run = run_query,
};
static const struct cmd audit_timeline = {
	.name = "timeline",
	.usage = "alm audit timeline (KIND/[NS/]NAME | --subject KIND/[NS/]NAME) [--since TIME]",
	.summary = "print what happened to one object",
	.options = query_options,
	.args = {0, 1},
	.run = run_timeline,
};
static const struct cmd audit_why = {
	.name = "why",
	.usage = "alm audit why KIND/[NS/]NAME [--version VERSION] | --forward SEQ",
	.summary = "walk from a transition back to what caused it",
	.examples = "alm audit why apptype/etcd --version 0.9.6\nalm audit why --forward 107",
	.options = why_options,
	.args = {0, 1},
	.run = run_why,
};
static const struct cmd audit_why_not = {
	.name = "why-not",
	.usage = "alm audit why-not KIND/[NS/]NAME [VERSION]",
	.summary = "print the decisions that denied a version",
	.options = why_options,
	.args = {1, 2},
	.run = run_why_not,
};
static const struct cmd audit_state = {
	.name = "state",
	.usage = "alm audit state [--at TIME | --at-seq N] [--subject KIND/NAME]",
	.summary = "print what was installed at a time",
	.options = state_options,
	.run = run_state,
};
static const struct cmd audit_diff = {
	.name = "diff",
	.usage = "alm audit diff --from TIME [--to TIME]",
	.summary = "print what changed between two times",
	.options = diff_options,
	.run = run_diff,
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
