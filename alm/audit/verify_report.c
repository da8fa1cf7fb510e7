/* The report of verify.h: what is added to it, and how it is shown. */
#include "alm/audit/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alm/audit/verify_parts.h"

void verify_add(struct verify_report *rep, int64_t from, int64_t to, const char *fmt, ...)
{
	struct verify_finding f = {.seq = from, .to = to};
	va_list args;
	va_start(args, fmt);
	(void)vsnprintf(f.text, sizeof(f.text), fmt, args);
	va_end(args);
	struct verify_finding *last = rep->n_findings ? &rep->findings[rep->n_findings - 1] : NULL;
	if (last && from > 0 && last->to + 1 == from && !strcmp(last->text, f.text)) {
		last->to = to;
		return;
	}
	if (rep->n_findings == VERIFY_FINDINGS_MAX) {
		rep->n_omitted++;
		return;
	}
	rep->findings[rep->n_findings++] = f;
}

void verify_unchecked(struct verify_report *rep, const char *fmt, ...)
{
	va_list args;
	if (rep->n_unchecked == VERIFY_UNCHECKED_MAX)
		return;
	va_start(args, fmt);
	(void)vsnprintf(rep->unchecked[rep->n_unchecked++], sizeof(rep->unchecked[0]), fmt, args);
	va_end(args);
}

/* Findings are in the order of what was compared, not in that of the entries. */
static void print_intact(const struct verify_report *r, struct strbuf *b)
{
	int64_t at = r->first > 0 ? r->first : 1;
	size_t n = 0;
	while (at <= r->last) {
		int64_t next = r->last + 1, behind = 0;
		for (size_t i = 0; i < r->n_findings; i++) {
			const struct verify_finding *f = &r->findings[i];
			if (f->seq > at && f->seq < next)
				next = f->seq;
			else if (f->seq > 0 && f->seq <= at && f->to >= at)
				behind = f->to + 1;
		}
		if (!behind)
			strbuf_addf(b, "%s%" PRId64 "..%" PRId64, n++ ? " and " : "", at, next - 1);
		at = behind ? behind : next;
	}
	if (!n)
		strbuf_adds(b, "none");
}

static void print_failures(const struct verify_report *r, struct strbuf *b)
{
	for (size_t i = 0; i < r->n_findings; i++) {
		const struct verify_finding *f = &r->findings[i];
		if (f->seq == 0)
			strbuf_adds(b, "FAIL");
		else if (f->to > f->seq)
			strbuf_addf(b, "FAIL entries %" PRId64 "..%" PRId64, f->seq, f->to);
		else
			strbuf_addf(b, "FAIL entry %" PRId64, f->seq);
		strbuf_addf(b, ": %s", f->text);
		if (i == 0) {
			strbuf_adds(b, "; entries ");
			print_intact(r, b);
			strbuf_addf(b, " intact; last checkpoint before it: %" PRId64,
				    r->good_checkpoint);
		}
		strbuf_addc(b, '\n');
	}
	if (r->n_omitted)
		strbuf_addf(b, "FAIL: %zu more findings\n", r->n_omitted);
}

static void print_replayed(const struct verify_report *r, struct strbuf *b)
{
	strbuf_addf(b,
		    "; replayed: %" PRId64 " decisions and %" PRId64
		    " transitions are what their inputs give",
		    r->decisions, r->replayed);
	if (r->decisions_without_inputs)
		strbuf_addf(b, ", %" PRId64 " named no inputs", r->decisions_without_inputs);
}

static void print_intact_log(const struct verify_report *r, struct strbuf *b)
{
	strbuf_addf(b,
		    "%" PRId64 " entries: chain, tree, %" PRId64 " checkpoints, %" PRId64
		    " blobs ok",
		    r->rows, r->checkpoints, r->blobs);
	if (r->unsigned_rows > 0)
		strbuf_addf(b, "; %" PRId64 " entries after the last checkpoint", r->unsigned_rows);
	for (size_t i = 0; i < r->n_anchors; i++)
		strbuf_addf(b, "; %s", r->anchor_texts[i]);
	if (!r->n_anchors)
		strbuf_adds(b, "; no anchor, so a cut-off end would not show");
	if (r->since_checkpoint)
		strbuf_addf(b, "; entries up to %" PRId64 " not read again", r->last - r->rows);
	else if (r->statuses_compared)
		strbuf_addf(b, "; %" PRId64 " transitions = %" PRId64 " statuses", r->transitions,
			    r->statuses);
	else if (r->is_of_runs)
		strbuf_addf(b, "; %" PRId64 " transitions of runs, which have no statuses",
			    r->transitions);
	else
		strbuf_addf(b, "; %" PRId64 " transitions, statuses not compared", r->transitions);
	if (r->objects_compared)
		strbuf_addf(b, "; %" PRId64 " objects as logged", r->objects);
	if (r->is_replayed)
		print_replayed(r, b);
	strbuf_addc(b, '\n');
	if (r->pruned[0])
		strbuf_addf(b, "%s\n", r->pruned);
}

void verify_print(const struct verify_report *r, struct strbuf *b)
{
	if (r->n_findings)
		print_failures(r, b);
	else
		print_intact_log(r, b);
	for (size_t i = 0; i < r->n_unchecked; i++)
		strbuf_addf(b, "NOT CHECKED %s\n", r->unchecked[i]);
}

struct obj *verify_obj(const struct verify_report *r)
{
	struct obj *o = obj_map(), *findings = obj_list(), *anchors = obj_list(),
		   *unchecked = obj_list();
	for (size_t i = 0; i < r->n_findings; i++) {
		const struct verify_finding *f = &r->findings[i];
		struct obj *x = obj_map();
		if (f->seq)
			obj_set_int(x, "seq", f->seq);
		if (f->seq && f->to > f->seq)
			obj_set_int(x, "to", f->to);
		obj_set_str(x, "message", f->text);
		obj_append(findings, x);
	}
	for (size_t i = 0; i < r->n_anchors; i++)
		obj_append(anchors, obj_string(r->anchor_texts[i]));
	for (size_t i = 0; i < r->n_unchecked; i++)
		obj_append(unchecked, obj_string(r->unchecked[i]));
	obj_set_str(o, "outcome",
		    r->n_findings    ? "Altered"
		    : r->n_unchecked ? "NotAllChecked"
				     : "Intact");
	obj_set_int(o, "rows", r->rows);
	obj_set_int(o, "firstRow", r->first);
	obj_set_int(o, "lastRow", r->last);
	if (r->pruned[0])
		obj_set_str(o, "pruned", r->pruned);
	obj_set_int(o, "checkpoints", r->checkpoints);
	obj_set_int(o, "rowsAfterLastCheckpoint", r->unsigned_rows);
	obj_set_int(o, "blobs", r->blobs);
	obj_set_int(o, "transitions", r->transitions);
	if (r->statuses_compared)
		obj_set_int(o, "statuses", r->statuses);
	if (r->objects_compared)
		obj_set_int(o, "objects", r->objects);
	if (r->is_replayed) {
		obj_set_int(o, "replayedDecisions", r->decisions);
		obj_set_int(o, "decisionsWithoutInputs", r->decisions_without_inputs);
		obj_set_int(o, "replayedTransitions", r->replayed);
	}
	obj_set(o, "anchors", anchors);
	obj_set(o, "findings", findings);
	obj_set_int(o, "findingsOmitted", (int64_t)r->n_omitted);
	obj_set(o, "notChecked", unchecked);
	return o;
}

int verify_exit(const struct verify_report *r)
{
	return r->n_findings ? error_exit(E_ALTERED) : r->n_unchecked ? 1 : 0;
}
