/* cmd_audit_diff: what is another way at one time than at an earlier one: apps by their states, all
 * objects by their fields. */
#include <inttypes.h>
#include <string.h>

#include "alm/audit/changes.h"
#include "alm/audit/row_text.h"
#include "alm/cli/audit/audit_report.h"
#include "alm/cli/term.h"
#include "alm/obj/json.h"

#define SECRET          "(secret)"
#define VALUE_SHOWN_MAX 64 /* characters of a value in a table; -o wide shows all */

struct diff_run {
	struct audit_report *r;
	struct obj *before; /* "KIND/NS/NAME" -> row; what is left at the end was deleted */
	int64_t marks_only;
};

static const char *subject_key(struct diff_run *d, const struct obj *row)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	row_subject(row, &b);
	return arena_strdup(d->r->cells, b.buf);
}

/* --- one change, as lines of the table or as an object --- */

static const char *shown(struct diff_run *d, const struct obj *v)
{
	const char *s = obj_as_string(v);
	if (!v)
		return "-";
	if (s && cstr_has_prefix(s, "hmac:"))
		return SECRET;
	if (!s) {
		CLEANUP(xfreep) char *json = json_text(v);
		return arena_strdup(d->r->cells, json);
	}
	if (!*s)
		return "\"\"";
	struct str cut = str_clip(str_of(s), VALUE_SHOWN_MAX);
	return d->r->printer.format == PRINT_WIDE || cut.len == strlen(s)
		       ? s
		       : arena_fmt(d->r->cells, "%.*s\xe2\x80\xa6", STR_ARG(cut));
}

static const char *name_of(struct diff_run *d, const struct obj *o)
{
	const char *ns = obj_str(o, "namespace"), *name = obj_str(o, "name");
	return ns && *ns ? arena_fmt(d->r->cells, "%s/%s", ns, name ? name : "") : name;
}

/* "spec.replicas: 1 -> 3" */
static const char *field_words(struct diff_run *d, const struct obj *field)
{
	const char *path = obj_str(field, "path");
	const struct obj *from = obj_get(field, "from"), *to = obj_get(field, "to");
	if (!from && !to) /* no scalars */
		return path;
	const char *was = shown(d, from), *is = shown(d, to);
	if (!strcmp(was, SECRET) && !strcmp(is, SECRET))
		return arena_fmt(d->r->cells, "%s: %s", path, SECRET);
	return arena_fmt(d->r->cells, "%s: %s -> %s", path, was, is);
}

static void line(struct diff_run *d, const struct obj *change, const struct obj *field)
{
	const char *what = obj_str(change, "change");
	const struct obj *by = field && obj_has(field, "seq") ? field : change;
	const char *cells[] = {
		cstr_eq(what, "added")     ? "+"
		: cstr_eq(what, "removed") ? "-"
					   : "~",
		obj_str(change, "kind"),
		name_of(d, change),
		arena_fmt(d->r->cells, "%" PRId64, obj_i64(by, "seq", 0)),
		obj_str(by, "by"),
		field ? field_words(d, field) : "",
	};
	audit_report_cells(d->r, cells);
}

static void emit(struct diff_run *d, const struct obj *change)
{
	const struct obj *fields = obj_get(change, "fields");
	if (!audit_report_is_table(d->r)) {
		obj_append(d->r->list, obj_ref(change));
		return;
	}
	if (!obj_len(fields))
		line(d, change, NULL);
	for (size_t i = 0; i < obj_len(fields); i++)
		line(d, change, obj_at(fields, i));
}

static void add_field(struct obj *change, const char *path, const char *from, const char *to)
{
	struct obj *list = obj_list(), *field = obj_map();
	obj_set_str(field, "path", path);
	if (from)
		obj_set_str(field, "from", from);
	if (to)
		obj_set_str(field, "to", to);
	obj_append(list, field);
	obj_set(change, "fields", list);
}

/* --- apps --- */

static struct obj *state_change(const struct obj *row, const char *what)
{
	static const char *const copied[] = {"kind", "namespace", "name", "uid"};
	struct obj *change = obj_map();
	obj_set_str(change, "change", what);
	for (size_t i = 0; i < ARRAY_LEN(copied); i++) {
		const char *v = obj_str(obj_get(row, "subject"), copied[i]);
		if (v && *v)
			obj_set_str(change, copied[i], v);
	}
	obj_set_int(change, "seq", obj_i64(row, "seq", 0));
	return change;
}

/* Who wanted it, and why: 'alice "CHG-4711"'. */
static int set_authority(struct diff_run *d, const struct obj *row, struct obj *change,
			 struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *who = NULL;
	CLEANUP(obj_unrefp) struct obj *installed = NULL;
	const char *version = audit_report_version(row);
	int rc = version ? query_installed(d->r->source.db, row, version, &installed, err) : 0;
	const struct obj *by = installed ? installed : row;
	if (rc >= 0)
		rc = query_authority(d->r->source.db, by, &who, err);
	if (rc < 0)
		return rc;
	obj_set_int(change, "seq", obj_i64(by, "seq", 0));
	const char *why = obj_str(who, "body.justification");
	if (who)
		obj_set(change, "by",
			obj_stringf("%s%s%s%s", obj_str(who, "actor"), why ? " \"" : "",
				    why ? why : "", why ? "\"" : ""));
	else
		obj_set_str(change, "by", "ALM");
	return 0;
}

static int keep_state(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct diff_run *d = arg;
	(void)depth;
	(void)err;
	if (audit_report_shows(d->r, row))
		obj_set(d->before, subject_key(d, row), obj_ref(row));
	return 0;
}

static int compare_state(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct diff_run *d = arg;
	(void)depth;
	if (!audit_report_shows(d->r, row))
		return 0;
	const char *key = subject_key(d, row);
	CLEANUP(obj_unrefp) struct obj *was =
		obj_get(d->before, key) ? obj_ref(obj_get(d->before, key)) : NULL;
	obj_del(d->before, key);
	if (was && obj_i64(was, "seq", 0) == obj_i64(row, "seq", 0))
		return 0;
	const char *from = was ? audit_report_version(was) : NULL;
	const char *to = audit_report_version(row), *state = obj_str(row, "body.to");
	const char *old = was ? obj_str(was, "body.to") : NULL;
	if (was && cstr_eq(from, to) && cstr_eq(old, state))
		return 0; /* it went, and came back */
	CLEANUP(obj_unrefp) struct obj *change = state_change(row, was ? "changed" : "added");
	if (!cstr_eq(from, to))
		add_field(change, "version", from, to);
	else
		add_field(change, "state", old, state);
	int rc = set_authority(d, row, change, err);
	if (rc >= 0)
		emit(d, change);
	return rc;
}

/* --- objects --- */

/* ALM's own marks, and what the server and controllers tell. */
static bool is_mark(const char *path)
{
	static const char *const marks[] = {
		"metadata.labels['app.coreos.com/", "metadata.annotations['app.coreos.com/",
		"metadata.ownerReferences", "metadata.finalizers", "status"};
	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (cstr_has_prefix(path, marks[i]))
			return true;
	return false;
}

/* Whoever wrote the record of an object's or a field's seq. */
static int set_writer(struct diff_run *d, struct obj *of, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	CLEANUP(strbuf_release) struct strbuf who = STRBUF_INIT(STRBUF_SMALL);
	int rc = query_row(d->r->source.db, obj_i64(of, "seq", 0), &row, err);
	if (rc < 0)
		return rc;
	row_who(row, &who);
	obj_set_str(of, "by", who.buf);
	return 0;
}

static int print_change(void *arg, const struct obj *change, struct error *err)
{
	struct diff_run *d = arg;
	CLEANUP(obj_unrefp) struct obj *copy = obj_copy(change);
	const struct obj *all = obj_get(change, "fields");
	struct obj *fields = obj_list();
	int rc = set_writer(d, copy, err);
	for (size_t i = 0; i < obj_len(all) && rc >= 0; i++) {
		const char *path = obj_str(obj_at(all, i), "path");
		struct obj *field = obj_copy(obj_at(all, i));
		rc = set_writer(d, field, err);
		if (cli_flag(d->r->c, "all") || !is_mark(path ? path : ""))
			obj_append(fields, field);
		else
			obj_unref(field);
	}
	bool marks_only = obj_len(all) && !obj_len(fields);
	obj_set(copy, "fields", fields);
	d->marks_only += marks_only;
	if (rc >= 0 && !marks_only)
		emit(d, copy);
	return rc;
}

static int print_diff(struct diff_run *d, struct error *err)
{
	struct audit_report *r = d->r;
	int64_t from = 0, to = 0;
	int rc = 0;
	if (!cli_value(r->c, "from") && !cli_value(r->c, "from-at-seq"))
		rc = error_set(err, E_USAGE, "--from TIME (or --from-at-seq N) is missing");
	if (rc >= 0)
		rc = audit_report_seq(r, "from", "from-at-seq", &from, err);
	if (rc >= 0)
		rc = audit_report_seq(r, "to", "to-at-seq", &to, err);
	if (rc >= 0 && to < from)
		rc = error_set(err, E_USAGE,
			       "it ends (entry %" PRId64 ") before it begins (entry %" PRId64 ")",
			       to, from);
	if (rc >= 0)
		rc = query_state(r->source.db, &r->sel, from, keep_state, d, err);
	if (rc >= 0)
		rc = query_state(r->source.db, &r->sel, to, compare_state, d, err);
	if (rc < 0)
		return rc;
	OBJ_EACH (it, d->before) {
		CLEANUP(obj_unrefp) struct obj *change = state_change(it.value, "removed");
		emit(d, change);
	}
	return changes_read(r->source.db, &r->sel, from, to, print_change, d, err);
}

static int run_diff(struct cli *c, struct error *err)
{
	static const char *const columns[] = {"", "KIND", "NAME", "SEQ", "BY", "CHANGE"};
	struct audit_report r;
	struct diff_run d = {.r = &r, .before = obj_map()};
	int rc = audit_report_begin(c, &r, err);
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		grid_column(&r.grid, columns[i]);
	if (rc >= 0)
		rc = print_diff(&d, err);
	if (rc >= 0 && d.marks_only)
		term_error("alm: %" PRId64 " more changed only in status or in ALM's own marks: "
			   "--all\n",
			   d.marks_only);
	obj_unref(d.before);
	return audit_report_end(&r, rc, err);
}

static const struct cmd_option diff_options[] = {
	{"from", "TIME", "RFC 3339 or a span before now", 0},
	{"to", "TIME", "the same (default: now)", 0},
	{"from-at-seq", "N", "as of this entry", 0},
	{"to-at-seq", "N", "as of this entry", 0},
	{"all", NULL, "states of every kind, status and ALM's own labels and annotations, too", 0},
	{"subject", "KIND/[NS/]NAME", "this object only", 0},
	{"cluster", "NAME", "objects of this cluster", 0},
	AUDIT_FILE_OPTION,
	{"output", "FORMAT", "table, wide, json, yaml, jsonpath=TEMPLATE", 'o'},
	{"no-headers", NULL, "no line of headers", 0},
	{0},
};
const struct cmd audit_diff = {
	.name = "diff",
	.usage = "alm audit diff --from TIME [--to TIME] [--subject KIND/[NS/]NAME]",
	.summary = "print what changed between two times, field by field",
	.description = "Apps by version and state, all objects by the fields that have another "
		       "value at the end: "
		       "+ is new, - is gone, ~ is changed. What was changed and changed back is no "
		       "change. "
		       "Secret values are (secret).",
	.examples = "alm audit diff --from 24h\n"
		    "alm audit diff --from 2030-01-02T08:10:00Z --to 2030-01-02T09:00:00Z -o json",
	.options = diff_options,
	.run = run_diff,
};
