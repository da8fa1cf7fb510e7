#include "alm/controllers/object_metrics.h"

#include "alm/audit/audit.h"
#include "alm/base/clock.h"
#include "alm/io/metrics.h"
#include "alm/live/migration.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define PENDING  "alm_approval_pending_seconds"
#define OVERDUE  "alm_state_overdue"
#define AWAITING "AwaitingApproval"

static void labels(struct strbuf *b, const char *const list[][2], size_t n)
{
	for (size_t i = 0; i < n; i++)
		metrics_label(b, list[i][0], list[i][1] ? list[i][1] : "");
}

void object_metrics_overdue(struct metrics *m, const struct obj *o, bool gone)
{
	const char *const list[][2] = {{"kind", meta_kind(o)}, {"name", meta_name(o)}};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (!m)
		return;
	labels(&b, list, 2);
	if (!gone && condition_is(o, "StateOverdue", "True"))
		metric_set(metrics_gauge(m, OVERDUE, "A state that lasts too long.", b.buf), 1);
	else
		metrics_forget(m, OVERDUE, b.buf);
}

static bool since_of(const struct obj *o, int64_t *ret)
{
	return clock_parse(str_of(obj_str(o, "status.phaseSince")), ret);
}

static void set_pending(struct metrics *m, const struct obj *o, bool gone)
{
	const char *const list[][2] = {{"app", obj_str(o, "spec.appTypeRef.name")}};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	int64_t since;
	labels(&b, list, 1);
	if (!gone && cstr_eq(obj_str(o, "status.phase"), AWAITING) && since_of(o, &since))
		metric_set(
			metrics_since(m, PENDING, "How long a version waits for a person.", b.buf),
			since);
	else
		metrics_forget(m, PENDING, b.buf);
}

static void add_phase(struct metrics *m, const char *phase, int64_t took_ns)
{
	static const char help[] = "Time that versions spent in each phase.";
	const char *const list[][2] = {{"phase", phase}};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf sum = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf count = STRBUF_INIT(STRBUF_SMALL);
	labels(&b, list, 1);
	strbuf_addf(&sum, "_sum{%s}", b.buf);
	strbuf_addf(&count, "_count{%s}", b.buf);
	metric_add(metrics_summary(m, "alm_phase_seconds", help, sum.buf, true),
		   took_ns > 0 ? (uint64_t)took_ns : 0);
	metric_add(metrics_summary(m, "alm_phase_seconds", help, count.buf, false), 1);
}

void object_metrics_strategy(struct metrics *m, const struct obj *before, const struct obj *o,
			     bool gone)
{
	const char *was = before ? obj_str(before, "status.phase") : NULL;
	const char *is = obj_str(o, "status.phase");
	int64_t from, to;
	if (!m)
		return;
	if (!gone && was && is && !cstr_eq(was, is) && since_of(before, &from) && since_of(o, &to))
		add_phase(m, was, to - from);
	if (cstr_eq(was, AWAITING) || cstr_eq(is, AWAITING))
		set_pending(m, o, gone);
}

static void set(struct metrics *m, const char *name, const char *help, const char *const list[][2],
		size_t n, int64_t value)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	labels(&b, list, n);
	metric_set(metrics_gauge(m, name, help, b.buf), value);
}

void object_metrics_catalog(struct metrics *m, const struct obj *o, bool gone)
{
	const char *name = meta_name(o), *digest = obj_str(o, "status.digest");
	const char *const info[][2] = {{"catalog", name}, {"digest", digest}};
	CLEANUP(strbuf_release) struct strbuf prefix = STRBUF_INIT(STRBUF_SMALL);
	if (!m)
		return;
	labels(&prefix, info, 1);
	if (gone) {
		metrics_drop(m, prefix.buf);
		return;
	}
	CLEANUP(strbuf_release) struct strbuf longer = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&longer, "%s,", prefix.buf); /* a revision that is over */
	metrics_drop(m, longer.buf);
	if (digest)
		set(m, "alm_catalog_info", "Revision of a catalog that is in use.", info, 2, 1);
	set(m, "alm_catalog_entries_rejected", "Entries that are left out.", info, 1,
	    (int64_t)obj_len(obj_path(o, "status.rejected")) +
		    obj_i64(o, "status.rejectedOmitted", 0));
}

void object_metrics_synced(struct metrics *m, const char *catalog, int64_t now_ns)
{
	const char *const list[][2] = {{"catalog", catalog}};
	if (m)
		set(m, "alm_catalog_last_success_timestamp_seconds",
		    "When a catalog was last read, changed or not.", list, 1, now_ns / NS_PER_S);
}

void object_metrics_crd(struct metrics *m, const struct obj *crd, bool gone)
{
	const char *const list[][2] = {{"crd", meta_name(crd)}};
	const char *text = meta_annotation(crd, MIGRATION_ANNOTATION);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(obj_unrefp) struct obj *note = NULL;
	struct error ignored = ERROR_INIT;
	if (!m)
		return;
	labels(&b, list, 1);
	bool runs = !gone && text && json_parse(str_of(text), &note, &ignored) >= 0 &&
		    obj_has(note, "remaining");
	if (!runs)
		metrics_forget(m, "alm_migration_remaining", b.buf);
	else
		set(m, "alm_migration_remaining", "Objects that a migration has yet to write.",
		    list, 1, obj_i64(note, "remaining", 0));
}

void object_metrics_bundle(struct metrics *m, const struct obj *o, bool gone)
{
	static const char *const held[] = {"PruneHeld", "AnalysisHeld", "ApprovalPending",
					   "DeletionBlocked"};
	const char *name = meta_name(o), *is = obj_str(o, "status.state");
	const char *const state[][2] = {{"bundle", name}, {"state", is}};
	CLEANUP(strbuf_release) struct strbuf prefix = STRBUF_INIT(STRBUF_SMALL);
	if (!m)
		return;
	labels(&prefix, state, 1);
	metrics_drop(m, prefix.buf);
	if (gone || !is)
		return;
	set(m, "alm_bundle_state", "State of a Bundle.", state, 2, 1);
	for (size_t i = 0; i < ARRAY_LEN(held); i++) {
		const char *const reason[][2] = {{"bundle", name}, {"reason", held[i]}};
		if (condition_is(o, held[i], "True"))
			set(m, "alm_bundle_held", "What a Bundle waits for.", reason, 2, 1);
	}
}

void object_metrics_resolved(struct metrics *m, int64_t took_ns, int64_t decisions)
{
	static const char took[] = "alm_resolve_seconds", tried[] = "alm_resolve_decisions";
	static const char help[] = "Searches for the version to install.";
	static const char tries[] = "Decisions of these searches about dependencies.";
	if (!m)
		return;
	metric_add(metrics_summary(m, took, help, "_sum", true),
		   took_ns > 0 ? (uint64_t)took_ns : 0);
	metric_add(metrics_summary(m, took, help, "_count", false), 1);
	metric_add(metrics_summary(m, tried, tries, "_sum", false), (uint64_t)decisions);
	metric_add(metrics_summary(m, tried, tries, "_count", false), 1);
}

static void count(struct metrics *m, const char *name, const char *help,
		  const char *const list[][2], size_t n)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	labels(&b, list, n);
	metric_add(metrics_counter(m, name, help, b.buf), 1);
}

void object_metrics_row(void *metrics, const struct audit_row *row)
{
	struct metrics *m = metrics;
	const char *const what[][2] = {{"type", row->type}, {"reason", row->reason}};
	const struct obj *findings = obj_get(row->body, "findings");
	count(m, "alm_audit_rows_total", "Entries of the audit log since the start.", what, 2);
	if (cstr_eq(row->reason, "Drifted") && cstr_eq(row->type, "Observe")) {
		const char *const app[][2] = {{"app", obj_str(row->body, "app")}};
		count(m, "alm_drift_repaired_total", "Times that drift was repaired.", app, 1);
	}
	bool is_of_gate = cstr_eq(row->reason, "CRDJudged") || cstr_eq(row->reason, "GateRefused");
	for (size_t i = 0; is_of_gate && i < obj_len(findings); i++) {
		const struct obj *f = obj_at(findings, i);
		const char *const of[][2] = {{"rule", obj_str(f, "rule")},
					     {"outcome", obj_str(f, "outcome")}};
		count(m, "alm_gate_findings_total", "Findings of the CRD gate.", of, 2);
	}
}
