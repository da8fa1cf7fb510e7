/*
 * audit_report: what the questions to the log have in common: where it is read from, selectors, and
 * an answer as a table, as lines or as objects.
 */
#ifndef ALM_CLI_AUDIT_AUDIT_REPORT_H
#define ALM_CLI_AUDIT_AUDIT_REPORT_H

#include "alm/cli/audit/audit_cmds.h"
#include "alm/cli/audit/audit_source.h"
#include "alm/cli/kube/printer.h"

#define AUDIT_TABLE_OPTIONS                                                                       \
	AUDIT_SELECTORS, {"output", "FORMAT", "table, wide, json, yaml, jsonpath=TEMPLATE", 'o'}, \
		{"no-headers", NULL, "no line of headers", 0}

struct audit_report {
	struct cli *c;
	struct audit_source source;
	struct query_selector sel;
	struct printer printer;
	struct strbuf out;
	struct obj *list; /* for json, yaml and jsonpath */
	struct grid grid;
	struct arena *cells;    /* of the grid; owned */
	bool headers, answered; /* a table has had a row */
	bool with_subject;      /* lines name their subject, tables have a column of it */
	const char *version;    /* of why-not */
	int64_t now_us;
};

/* Tells on standard error what of the answer may be missing, as it was pruned. */
void audit_report_tell_pruned(const struct audit_source *s, const struct query_selector *sel);
/* Opens the log and reads the selectors. audit_report_end() in any case. */
int audit_report_begin(struct cli *c, struct audit_report *r, struct error *err);
/* Prints what is left, and releases. rc is handed on. */
int audit_report_end(struct audit_report *r, int rc, struct error *err);
/* Prints the rows of the table so far; the columns of the next ones stay where they are. */
int audit_report_flush(struct audit_report *r, struct error *err);

bool audit_report_is_table(const struct audit_report *r);
/* query_fn: one row as a line of a tree ("\u2514 #112 08:20:26 Approval Approved   alice ..."). */
int audit_report_line(void *arg, unsigned depth, const struct obj *row, struct error *err);
/* query_fn: one row of the table. */
int audit_report_row(void *arg, unsigned depth, const struct obj *row, struct error *err);
/* A row of the grid, which keeps copies. */
void audit_report_cells(struct audit_report *r, const char *const *cells);
void audit_report_columns(struct audit_report *r);
/* The date is printed where rows are not of today. */
bool audit_report_is_old(const struct audit_report *r, const struct obj *row);
/* Kinds whose state is what is installed; --all shows every one. */
bool audit_report_shows(const struct audit_report *r, const struct obj *row);
const char *audit_report_version(const struct obj *row);
/* --at TIME, --at-seq N, or the end of the log. */
int audit_report_seq(struct audit_report *r, const char *at, const char *at_seq, int64_t *ret,
		     struct error *err);

#endif
