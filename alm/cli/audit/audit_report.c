#include "alm/cli/audit/audit_report.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/pruned.h"
#include "alm/audit/row_text.h"
#include "alm/base/visible.h"
#include "alm/cli/term.h"

#define OUTPUT_MAX ((size_t)512 << 20)
#define CELLS_MAX  ((size_t)256 << 20)
#define DETAIL_COL 50
#define DAY_US     INT64_C(86400000000)

bool audit_report_is_old(const struct audit_report *r, const struct obj *row)
{
	return r->now_us / DAY_US != row_time_us(row) / DAY_US;
}

bool audit_report_is_table(const struct audit_report *r)
{
	return printer_is_table(&r->printer);
}

/* What has no more to say than its subject, which stands in the line already. */
static bool is_subject(const struct audit_report *r, const struct obj *row, struct str detail)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	row_subject(row, &b);
	return r->with_subject && str_eq(strbuf_str(&b), detail);
}

static int add_detail(struct audit_report *r, const struct obj *row, bool beside, struct strbuf *b,
		      struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf detail = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(obj_unrefp) struct obj *plan = NULL;
	CLEANUP(obj_unrefp) struct obj *cause = NULL;
	struct error gone = ERROR_INIT;
	int rc = query_plan(r->source.db, row, &plan, err);
	if (obj_i64(row, "cause", 0))
		(void)query_row(r->source.db, obj_i64(row, "cause", 0), &cause, &gone);
	if (beside)
		row_detail_beside(row, plan, cause, &detail);
	else
		row_detail(row, plan, cause, &detail);
	if (!is_subject(r, row, strbuf_str(&detail)))
		visible_adds(b, detail.buf);
	return rc;
}

int audit_report_line(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct audit_report *r = arg;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (!audit_report_is_table(r)) {
		obj_append(r->list, obj_ref(row));
		return 0;
	}
	if (depth) {
		strbuf_pad(&b, ' ', 2 * (size_t)(depth - 1));
		visible_adds(&b, "\xe2\x94\x94 ");
	}
	row_head(row, r->printer.format == PRINT_WIDE || audit_report_is_old(r, row), &b);
	/* the detail of a Write names its object already */
	if (r->with_subject && !cstr_eq(obj_str(row, "type"), "Write")) {
		visible_adds(&b, "  ");
		row_subject(row, &b);
	}
	size_t width = utf8_count(strbuf_str(&b));
	strbuf_pad(&b, ' ', width < DETAIL_COL ? DETAIL_COL - width : 2);
	int rc = add_detail(r, row, false, &b, err);
	visible_add(&r->out,
		    str_trim_right(strbuf_str(&b))); /* a row is one line, whatever it says */
	strbuf_addc(&r->out, '\n');
	return rc;
}

void audit_report_cells(struct audit_report *r, const char *const *cells)
{
	const char *kept[GRID_COLUMNS_MAX];
	r->answered = true;
	for (size_t i = 0; i < r->grid.n_columns; i++)
		kept[i] = cells[i] ? arena_strdup(r->cells, cells[i]) : "";
	grid_row(&r->grid, kept);
}

void audit_report_columns(struct audit_report *r)
{
	bool wide = r->printer.format == PRINT_WIDE;
	grid_column(&r->grid, "SEQ");
	grid_column(&r->grid, "TIME");
	grid_column(&r->grid, "TYPE");
	grid_column(&r->grid, "REASON");
	if (r->with_subject)
		grid_column(&r->grid, "SUBJECT");
	if (wide) {
		grid_column(&r->grid, "CAUSE");
		grid_column(&r->grid, "ACTOR");
	}
	grid_column(&r->grid, "DETAIL");
}

static const char *number(struct arena *a, int64_t n)
{
	return n ? arena_fmt(a, "%" PRId64, n) : "";
}

int audit_report_row(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct audit_report *r = arg;
	const char *cells[GRID_COLUMNS_MAX], *reason = obj_str(row, "reason");
	const char *version = obj_str(row, "body.version.to"), *type = obj_str(row, "type");
	bool wide = r->printer.format == PRINT_WIDE;
	size_t n = 0;
	if (!audit_report_is_table(r))
		return audit_report_line(arg, depth, row, err);
	CLEANUP(strbuf_release) struct strbuf time = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf subject = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf who = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf detail = STRBUF_INIT(STRBUF_SMALL);
	row_time(row, wide, &time);
	row_subject(row, &subject);
	row_who(row, &who);
	int rc = add_detail(r, row, r->with_subject, &detail, err);
	cells[n++] = number(r->cells, obj_i64(row, "seq", 0));
	cells[n++] = time.buf;
	cells[n++] = type;
	cells[n++] = version && cstr_eq(type, "Transition")
			     ? arena_fmt(r->cells, "%s %s", reason, version)
			     : reason;
	if (r->with_subject)
		cells[n++] = subject.buf;
	if (wide) {
		cells[n++] = number(r->cells, obj_i64(row, "cause", 0));
		cells[n++] = who.buf;
	}
	cells[n++] = detail.buf;
	audit_report_cells(r, cells);
	return rc;
}

bool audit_report_shows(const struct audit_report *r, const struct obj *row)
{
	const char *kind = obj_str(row, "subject.kind");
	return cli_flag(r->c, "all") || r->sel.name || !kind || !strcmp(kind, "AppType") ||
	       !strcmp(kind, "Bundle");
}

const char *audit_report_version(const struct obj *row)
{
	const char *v = obj_str(row, "body.version.to");
	return v ? v : obj_str(row, "body.status.installedVersion");
}

int audit_report_seq(struct audit_report *r, const char *at, const char *at_seq, int64_t *ret,
		     struct error *err)
{
	int64_t us = r->now_us, end = 0;
	int rc = cli_int(r->c, at_seq, 0, ret, err);
	if (rc >= 0 && cli_value(r->c, at_seq) && *ret < 1)
		rc = error_set(err, E_USAGE, "--%s is a number from 1 on", at_seq);
	if (rc >= 0 && *ret)
		rc = query_seq_at(r->source.db, INT64_MAX, &end, err);
	if (rc >= 0 && *ret > end)
		rc = error_set(err, E_NOTFOUND, "--%s: the log has %" PRId64 " entries", at_seq,
			       end);
	if (rc < 0 || *ret)
		return rc;
	if (cli_value(r->c, at))
		rc = audit_source_time(cli_value(r->c, at), r->now_us, &us, err);
	return rc < 0 ? rc : query_seq_at(r->source.db, us, ret, err);
}

/* Time and number of the first entry that is kept. */
static int first_entry(struct db *d, int64_t *ret_seq, int64_t *ret_time_us)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	if (db_prepare(d, "SELECT seq, time FROM audit ORDER BY seq LIMIT 1", &s, &err) < 0 ||
	    stmt_step(s, &err) <= 0)
		return -E_NOTFOUND;
	*ret_seq = stmt_int(s, 0);
	*ret_time_us = stmt_int(s, 1);
	stmt_reset(s);
	return 0;
}

void audit_report_tell_pruned(const struct audit_source *s, const struct query_selector *sel)
{
	struct error err = ERROR_INIT;
	struct pruned p = {0};
	int64_t first = 0, time_us = 0;
	if (first_entry(s->db, &first, &time_us) < 0 || sel->from_seq >= first ||
	    sel->since_us >= time_us)
		return;
	if (s->type == AUDIT_API && first > 1)
		term_error("alm: entries 1..%" PRId64 " were pruned: this answer begins with the "
			   "next\n",
			   first - 1);
	else if (pruned_load(s->db, &p, &err) >= 0 && p.below > 1 && first > 1)
		term_error("alm: entries 1..%" PRId64 " were pruned: this answer begins with the "
			   "next; %s has the last of them (--file)\n",
			   p.below - 1, p.file);
}

int audit_report_begin(struct cli *c, struct audit_report *r, struct error *err)
{
	*r = (struct audit_report){.c = c,
				   .list = obj_list(),
				   .cells = arena_new(CELLS_MAX),
				   .now_us = audit_source_now_us(),
				   .headers = !cli_flag(c, "no-headers")};
	strbuf_init(&r->out, OUTPUT_MAX);
	grid_init(&r->grid, r->cells);
	int rc = printer_parse(cli_value(c, "output"), &r->printer, err);
	if (rc >= 0 && (r->printer.format == PRINT_NAME || r->printer.format == PRINT_COLUMNS))
		rc = error_set(err, E_USAGE, "-o is table, wide, json, yaml or jsonpath=");
	if (rc >= 0)
		rc = audit_source_open(c, &r->source, err);
	if (rc >= 0)
		rc = audit_source_selector(c, &r->source, &r->sel, err);
	return rc;
}

int audit_report_flush(struct audit_report *r, struct error *err)
{
	if (r->grid.n_rows) {
		grid_print(&r->grid, r->headers, &r->out);
		r->headers = false;
	}
	struct arena *next = arena_new(CELLS_MAX);
	grid_restart(&r->grid, next);
	for (size_t i = 0; i < r->grid.n_columns; i++)
		r->grid.headers[i] = arena_strdup(next, r->grid.headers[i]);
	arena_free(r->cells);
	r->cells = next;
	int rc = strbuf_check(&r->out, "the answer", err);
	printer_write(&r->printer, strbuf_str(&r->out));
	strbuf_clear(&r->out);
	int lost = term_flush();
	return lost ? error_set(err, E_IO, "standard output: %s", strerror(lost)) : rc;
}

int audit_report_end(struct audit_report *r, int rc, struct error *err)
{
	if (rc >= 0 && !audit_report_is_table(r))
		rc = printer_object(&r->printer, r->list, &r->out, err);
	if (rc >= 0 && r->grid.n_columns && audit_report_is_table(r) && !r->answered &&
	    !cli_flag(r->c, "follow"))
		term_error("alm: nothing in the log fits\n");
	if (rc >= 0)
		rc = audit_report_flush(r, err);
	else
		printer_write(&r->printer, strbuf_str(&r->out));
	strbuf_release(&r->out);
	obj_unref(r->list);
	arena_free(r->cells);
	audit_source_release(&r->source);
	return rc < 0 ? rc : 0;
}
