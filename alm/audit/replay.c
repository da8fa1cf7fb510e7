/* replay: see replay.h. Rows are read one at a time, so the log may be of any length. */
#include "alm/audit/replay.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/large.h"
#include "alm/audit/log.h"
#include "alm/audit/objects.h"
#include "alm/audit/snapshot.h"
#include "alm/audit/transition.h"
#include "alm/audit/verify_parts.h"
#include "alm/obj/json.h"
#include "catalog/resolve/resolve_decision.h"
#include "catalog/resolve/resolve_record.h"

#define ROWS_A_LINE     1024 /* that are replayed between two lines of progress */
#define INPUT_BYTES_MAX (AUDIT_TEXT_PARTS_MAX * AUDIT_BLOB_BYTES_MAX)
#define PASS_BYTES_MAX  ((size_t)256 << 20)
#define HIDDEN          "(hidden)" /* what secrets.h puts in the place of a value */

struct replay {
	struct db *d;
	struct verify_report *rep;
	struct snapshot *snapshot;
	int64_t seq;
};

/* The members of one body that must be those of the other; the first that is not, or NULL. */
static const char *differing(const struct obj *is, const struct obj *should,
			     const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		CLEANUP(strbuf_release) struct strbuf x = STRBUF_INIT(RECORD_BYTES_MAX);
		CLEANUP(strbuf_release) struct strbuf y = STRBUF_INIT(RECORD_BYTES_MAX);
		record_value(obj_get(is, names[i]), &x);
		record_value(obj_get(should, names[i]), &y);
		bool none = !obj_has(is, names[i]) &&
			    (str_is(strbuf_str(&y), "[]") || str_is(strbuf_str(&y), "\"\""));
		if (!none && !str_eq(strbuf_str(&x), strbuf_str(&y)) &&
		    str_find(strbuf_str(&x), STR(HIDDEN)) < 0)
			return names[i];
	}
	return NULL;
}

/* --- decisions --- */

static const struct obj *resolver_input(const struct obj *row)
{
	const struct obj *list = obj_path(row, "body.inputs");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "name"), "resolve"))
			return obj_at(list, i);
	return NULL;
}

/* What of the record is not what its inputs give; NULL: nothing. */
static const char *decided_otherwise(const struct obj *row, const struct resolve_input *in,
				     struct arena *a)
{
	static const char *const names[] = {"verdict", "candidates", "version",
					    "path",    "message",    "key"};
	struct resolution r;
	struct resolve_decision d;
	resolve_run(in, a, &r);
	resolve_decision(in, &r, a, &d);
	if (!cstr_eq(obj_str(row, "reason"), d.reason))
		return "reason";
	obj_keep(a, d.body);
	obj_set_str(d.body, "key", d.key);
	return differing(obj_get(row, "body"), d.body, names, ARRAY_LEN(names));
}

static void decision_differs(struct replay *p, const struct obj *input, const char *what)
{
	const char *by = obj_str(input, "version");
	if (by && !strcmp(by, ALM_VERSION))
		verify_add(p->rep, p->seq, p->seq, "its inputs give another decision: %.80s", what);
	else
		verify_unchecked(p->rep,
				 "entry %" PRId64 ": alm " ALM_VERSION
				 " decides otherwise (%.40s); "
				 "the entry is of alm %.20s",
				 p->seq, what, by ? by : "before inputs had a version");
}

/* 1: replayed. */
static int replay_decision(struct replay *p, const struct obj *row, struct error *err)
{
	const struct obj *input = resolver_input(row);
	struct error inner = ERROR_INIT;
	struct resolve_input in;
	CLEANUP(arena_freep) struct arena *a = arena_new(PASS_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(INPUT_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *record = NULL;
	if (!input) {
		p->rep->decisions_without_inputs++;
		return 0;
	}
	int r = large_text(p->d, obj_get(input, "digest"), &text, &inner);
	if (r == -E_NOTFOUND) { /* cut when it was written; a lost blob is verify's finding */
		verify_unchecked(p->rep, "entry %" PRId64 ": its inputs are not in the log",
				 p->seq);
		return 0;
	}
	if (r >= 0)
		r = json_parse(strbuf_str(&text), &record, &inner);
	if (r >= 0)
		r = resolve_replay(record, a, &in, &inner);
	if (r < 0 && !verify_is_damage(&inner) && r != -E_INVALID)
		return error_copy(err, &inner);
	const char *what = r < 0 ? inner.msg : decided_otherwise(row, &in, a);
	if (what)
		decision_differs(p, input, what);
	p->rep->decisions++;
	return 1;
}

/* --- transitions --- */

/* Somebody else's status stood in the object, by a record of the log: what ALM saw before its own
 * next one was not its last one. */
static int is_contested(struct replay *p, const struct obj *row, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(p->d,
			   "SELECT 1 FROM audit WHERE kind = ? AND ns = ? AND name = ? AND"
			   " cluster = '' AND type = 'Observe' AND reason IN ('StatusContested',"
			   " 'StatusEdited') AND seq < ? LIMIT 1",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_cstr(s, 1, obj_str(row, "subject.kind"));
	stmt_bind_cstr(s, 2, obj_str(row, "subject.namespace"));
	stmt_bind_cstr(s, 3, obj_str(row, "subject.name"));
	stmt_bind_int(s, 4, p->seq);
	r = stmt_step(s, err);
	stmt_reset(s);
	return r;
}

/* A status that was put back repeats one of the log: nothing is reported of it besides. */
static bool is_restored(const struct obj *row)
{
	return cstr_has_prefix(obj_str(row, "reason"), "Status");
}

static const char *told_otherwise(const struct obj *row, const struct obj *before,
				  const struct obj *after)
{
	static const char *const names[] = {"from", "to", "revision", "plan", "turned"};
	const struct obj *is = obj_get(row, "body");
	const char *installed = obj_str(after, "installedVersion");
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	/* a record of before `turned` was written has none */
	size_t n = ARRAY_LEN(names) - !obj_has(is, "turned");
	transition_facts(before, after, obj_str(row, "reason"), NULL, body);
	if (installed && !cstr_eq(obj_str(is, "version.to"), installed))
		return "version.to";
	return differing(is, body, names, n);
}

/* The last one has no status: only where it came from can be said. */
static const char *deleted_otherwise(const struct obj *row, const struct obj *before)
{
	const char *from = obj_str(row, "body.from");
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	transition_facts(before, obj_has(before, "phase") ? before : NULL, "Deleted", NULL, body);
	return from && !cstr_eq(from, obj_str(body, "from")) ? "from" : NULL;
}

static int compare_transition(struct replay *p, const struct obj *row, const struct obj *before,
			      const struct obj *after, struct error *err)
{
	int64_t tseq = obj_i64(row, "transitionSeq", 0);
	const char *what = NULL;
	if (is_restored(row))
		return 0;
	bool gone = !obj_has(obj_get(row, "body"), "status");
	if (!gone && obj_i64(after, "transitionSeq", 0) != tseq)
		what = "transitionSeq of the status";
	else
		what = gone ? deleted_otherwise(row, before) : told_otherwise(row, before, after);
	if (!what)
		return 0;
	int r = is_contested(p, row, err);
	if (r == 0)
		verify_add(p->rep, p->seq, p->seq, "its statuses give another transition: %.80s",
			   what);
	else if (r > 0)
		verify_unchecked(p->rep,
				 "entry %" PRId64 ": somebody else wrote the status before it",
				 p->seq);
	return r;
}

static int replay_transition(struct replay *p, const struct obj *row, struct error *err)
{
	struct objects_log log = {.db = p->d, .snapshot = p->snapshot};
	struct error inner = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *before = NULL;
	CLEANUP(obj_unrefp) struct obj *after = NULL;
	int64_t tseq = obj_i64(row, "transitionSeq", 0);
	const char *uid = obj_str(row, "subject.uid");
	if (!uid || tseq < 1) {
		verify_add(p->rep, p->seq, p->seq, "a transition without object or number");
		return 0;
	}
	int r = tseq > 1 ? objects_status(&log, uid, tseq - 1, &before, &inner) : 0;
	if (r >= 0)
		r = objects_status(&log, uid, tseq, &after, &inner);
	if (r < 0 && !verify_is_damage(&inner) && r != -E_NOTFOUND)
		return error_copy(err, &inner);
	if (r < 0 || (tseq > 1 && !before)) {
		verify_unchecked(p->rep,
				 "entry %" PRId64 ": the status before it is not in the log",
				 p->seq);
		return 0;
	}
	p->rep->replayed++;
	return compare_transition(p, row, before, after, err);
}

static int next_row(struct replay *p, struct obj **ret, struct error *err)
{
	struct stmt *s;
	struct record rec;
	int r = db_prepare(p->d,
			   "SELECT " LOG_COLUMNS " FROM audit WHERE seq > ? AND"
			   " type IN ('Decision', 'Transition') ORDER BY seq LIMIT 1",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, p->seq);
	r = stmt_step(s, err);
	if (r <= 0)
		return r;
	log_record(s, &rec);
	p->seq = rec.seq;
	struct error inner = ERROR_INIT;
	if (log_object(&rec, ret, &inner) < 0)
		verify_add(p->rep, rec.seq, rec.seq, "record is no JSON");
	stmt_reset(s);
	return 1;
}

int replay_log(struct db *d, const struct verify_options *o, struct verify_report *rep,
	       struct error *err)
{
	struct replay p = {.d = d, .rep = rep};
	struct error inner = ERROR_INIT;
	int r = snapshot_load(d, &p.snapshot, &inner);
	if (r < 0 && !verify_is_damage(&inner))
		return error_copy(err, &inner);
	int64_t n = 0;
	rep->is_replayed = true;
	p.seq = rep->hashes_to; /* what was pruned may not be gone yet */
	for (r = 1; r > 0;) {
		CLEANUP(obj_unrefp) struct obj *row = NULL;
		r = next_row(&p, &row, err);
		if (r <= 0 || !row)
			continue;
		if (o->progress && ++n % ROWS_A_LINE == 0)
			o->progress(o->progress_arg, p.seq, rep->last);
		int rc = cstr_eq(obj_str(row, "type"), "Decision")
				 ? replay_decision(&p, row, err)
				 : replay_transition(&p, row, err);
		r = rc < 0 ? rc : 1;
	}
	snapshot_free(p.snapshot);
	return r;
}
