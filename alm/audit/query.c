#include "alm/audit/query.h"

#include "alm/audit/log.h"
#include "alm/audit/pruned.h"
#include "alm/audit/query_select.h"

static const char select_row[] = "SELECT " LOG_COLUMNS " FROM audit ";

struct seqs {
	int64_t *items;
	size_t n, cap;
};

static void seqs_release(struct seqs *s)
{
	xfree(s->items);
}

/* First column of every row, at most max: no statement is open while a callback runs, which may
 * use the database, and may wait for who reads what it prints. */
static int collect(struct stmt *s, size_t max, struct seqs *ret, struct error *err)
{
	int r = 0;
	while (ret->n < max && (r = stmt_step(s, err)) > 0) {
		ARRAY_GROW(ret->items, ret->cap, ret->n + 1);
		ret->items[ret->n++] = stmt_int(s, 0);
	}
	stmt_reset(s);
	return r < 0 ? r : 0;
}

int query_row(struct db *d, int64_t seq, struct obj **ret, struct error *err)
{
	struct stmt *s;
	CLEANUP(strbuf_release) struct strbuf sql = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&sql, "%sWHERE seq = ?", select_row);
	int r = db_prepare(d, sql.buf, &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, seq);
	r = log_entry(s, ret, err);
	return r < 0 || *ret ? r : pruned_no_entry(d, seq, err);
}

int query_give(struct db *d, int64_t seq, unsigned depth, query_fn fn, void *arg, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	int r = query_row(d, seq, &row, err);
	return r < 0 ? r : fn(arg, depth, row, err);
}

static int give_all(struct db *d, const struct seqs *s, query_fn fn, void *arg, struct error *err)
{
	int r = 0;
	for (size_t i = 0; i < s->n && r >= 0; i++)
		r = query_give(d, s->items[i], 0, fn, arg, err);
	return r < 0 ? r : (int)s->n;
}

int query_rows(struct db *d, const struct query_selector *sel, query_fn fn, void *arg,
	       struct error *err)
{
	struct stmt *s;
	CLEANUP(seqs_release) struct seqs found = {0};
	CLEANUP(strbuf_release) struct strbuf tail = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&tail, "%s ORDER BY seq%s", sel->writes ? "type IN ('Write', 'Observe')" : "1",
		    sel->newest ? " DESC" : "");
	int r = query_select(d, "SELECT seq FROM audit ", sel, tail.buf, &s, err);
	if (r >= 0)
		r = collect(s, sel->limit ? sel->limit : QUERY_ROWS_MAX, &found, err);
	for (size_t i = 0; sel->newest && i < found.n / 2; i++) {
		int64_t last = found.items[found.n - 1 - i];
		found.items[found.n - 1 - i] = found.items[i];
		found.items[i] = last;
	}
	return r < 0 ? r : give_all(d, &found, fn, arg, err);
}

/* The newest Transition of the subject; one that says Installed wins if a version is asked. */
static int newest_transition(struct db *d, const struct query_selector *sel, const char *version,
			     int64_t *ret, struct error *err)
{
	struct stmt *s;
	struct query_selector of = *sel;
	of.type = "Transition";
	int r = query_select(d, "SELECT seq FROM audit ", &of,
			     version ? "json_extract(body, '$.version.to') = ? ORDER BY"
				       " reason = 'Installed' DESC, seq DESC LIMIT 1"
				     : "reason <> 'Refreshed' ORDER BY seq DESC LIMIT 1",
			     &s, err);
	if (r < 0)
		return r;
	if (version)
		stmt_bind_cstr(s, r + 1, version);
	r = stmt_step(s, err);
	if (r > 0)
		*ret = stmt_int(s, 0);
	stmt_reset(s);
	return r == 0 ? error_set(err, E_NOTFOUND, "no transition of %s %s%s%s in the audit log",
				  sel->kind, sel->name, version ? " to " : "",
				  version ? version : "")
		      : r;
}

int query_why_entry(struct db *d, int64_t seq, query_fn fn, void *arg, struct error *err)
{
	int r = 0;
	for (unsigned depth = 0; r >= 0 && seq > 0 && depth < QUERY_DEPTH_MAX; depth++) {
		CLEANUP(obj_unrefp) struct obj *row = NULL;
		r = query_row(d, seq, &row, err);
		if (r == -E_NOTFOUND && depth > 0)
			return 0; /* it was pruned */
		if (r >= 0)
			r = fn(arg, depth, row, err);
		int64_t cause = obj_i64(row, "cause", 0);
		seq = cause < seq ? cause : 0;
	}
	return r < 0 ? r : 0;
}

int query_why(struct db *d, const struct query_selector *sel, const char *version, query_fn fn,
	      void *arg, struct error *err)
{
	int64_t seq = 0;
	int r = newest_transition(d, sel, version, &seq, err);
	return r < 0 ? r : query_why_entry(d, seq, fn, arg, err);
}

/* NOLINTNEXTLINE(misc-no-recursion): at most QUERY_DEPTH_MAX deep */
static int forward(struct db *d, int64_t seq, unsigned depth, size_t *left, query_fn fn, void *arg,
		   struct error *err)
{
	CLEANUP(seqs_release) struct seqs children = {0};
	struct stmt *s;
	int r = query_give(d, seq, depth, fn, arg, err);
	if (r < 0 || depth + 1 >= QUERY_DEPTH_MAX)
		return r;
	r = db_prepare(d,
		       "SELECT seq FROM audit WHERE cause = ? AND cause IS NOT NULL AND seq > cause"
		       " ORDER BY seq",
		       &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, seq);
	r = collect(s, *left, &children, err);
	*left -= children.n;
	for (size_t i = 0; i < children.n && r >= 0; i++)
		r = forward(d, children.items[i], depth + 1, left, fn, arg, err);
	return r;
}

int query_forward(struct db *d, int64_t seq, query_fn fn, void *arg, struct error *err)
{
	size_t left = QUERY_ROWS_MAX;
	return forward(d, seq, 0, &left, fn, arg, err);
}

/* The parameter of the version, above those of the selector. */
#define WHY_NOT_VERSION 20

/* A Decision of many candidates lists them as "VERSION REASON". */
int query_why_not(struct db *d, const struct query_selector *sel, const char *version, query_fn fn,
		  void *arg, struct error *err)
{
	CLEANUP(seqs_release) struct seqs found = {0};
	struct stmt *s;
	struct query_selector of = *sel;
	of.type = "Decision";
	int r = query_select(d, "SELECT seq FROM audit ", &of,
			     version ? "json_extract(body, '$.verdict') IN ('deny', 'wait') AND"
				       " (json_extract(body, '$.version.to') = ?20 OR"
				       " (instr(body, '\"' || ?20 || ' ') > 0 AND"
				       " instr(body, '\"' || ?20 || ' installed\"') = 0))"
				       " ORDER BY seq"
				     : "json_extract(body, '$.verdict') IN ('deny', 'wait')"
				       " ORDER BY seq",
			     &s, err);
	if (r < 0)
		return r;
	if (version)
		stmt_bind_cstr(s, WHY_NOT_VERSION, version);
	r = collect(s, QUERY_ROWS_MAX, &found, err);
	return r < 0 ? r : give_all(d, &found, fn, arg, err);
}

int query_decided_again(struct db *d, const struct obj *row, int64_t *ret_time_us,
			struct error *err)
{
	struct stmt *s;
	struct query_selector of = query_subject_of(row);
	of.type = "Decision";
	of.from_seq = obj_i64(row, "seq", 0) + 1;
	int r = query_select(d, "SELECT time FROM audit ", &of, "1 ORDER BY seq LIMIT 1", &s, err);
	if (r < 0)
		return r;
	r = stmt_step(s, err);
	if (r >= 0)
		*ret_time_us = r ? stmt_int(s, 0) : 0;
	stmt_reset(s);
	return r < 0 ? r : 0;
}

static int time_of(struct db *d, int64_t seq, int64_t *ret, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "SELECT time FROM audit WHERE seq = ?", &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, seq);
	r = stmt_step(s, err);
	*ret = r > 0 ? stmt_int(s, 0) : INT64_MIN;
	stmt_reset(s);
	return r < 0 ? r : 0;
}

/* time never decreases, so it bisects on seq. Both ends in one SELECT would read every row. */
int query_seq_at(struct db *d, int64_t time_us, int64_t *ret, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "SELECT (SELECT min(seq) FROM audit), (SELECT max(seq) FROM audit)",
			   &s, err);
	if (r >= 0)
		r = stmt_step(s, err);
	if (r < 0)
		return r;
	int64_t low = stmt_int(s, 0) - 1, high = stmt_int(s, 1);
	stmt_reset(s);
	while (low < high && r >= 0) {
		int64_t mid = low + (high - low + 1) / 2, t = 0;
		r = time_of(d, mid, &t, err);
		if (t <= time_us)
			low = mid;
		else
			high = mid - 1;
	}
	*ret = low;
	return r < 0 ? r : 0;
}

int query_authority(struct db *d, const struct obj *row, struct obj **ret, struct error *err)
{
	struct obj *at = obj_ref(row);
	for (unsigned depth = 0; depth < QUERY_DEPTH_MAX; depth++) {
		int64_t seq = obj_i64(at, "seq", 0), cause = obj_i64(at, "cause", 0);
		if (obj_has(at, "actor")) {
			*ret = at;
			return 0;
		}
		obj_unref(at);
		at = NULL;
		if (cause <= 0 || cause >= seq)
			break;
		int r = query_row(d, cause, &at, err);
		if (r < 0)
			return r;
	}
	obj_unref(at);
	*ret = NULL;
	return 0;
}

/* The parameters 1 and 2 are the range of rows, 3 is the text. */
static int newest_in(struct db *d, const char *sql, int64_t from, int64_t to, const char *text,
		     struct obj **ret, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, sql, &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, from);
	stmt_bind_int(s, 2, to);
	stmt_bind_cstr(s, 3, text);
	r = stmt_step(s, err);
	int64_t seq = r > 0 ? stmt_int(s, 0) : 0;
	stmt_reset(s);
	return r > 0 ? query_row(d, seq, ret, err) : r;
}

int query_plan(struct db *d, const struct obj *row, struct obj **ret, struct error *err)
{
	int64_t to = obj_i64(row, "seq", 0), from = obj_i64(row, "cause", to);
	const char *digest = obj_str(row, "body.plan");
	const char *version = obj_str(row, "body.version.to");
	int r = 0;
	*ret = NULL;
	if (digest)
		r = newest_in(d,
			      "SELECT seq FROM audit WHERE seq >= ? AND seq <= ? AND type = 'Plan'"
			      " AND json_extract(body, '$.plan') = ? ORDER BY seq DESC LIMIT 1",
			      from, to, digest, ret, err);
	if (r < 0 || *ret || !version || !cstr_eq(obj_str(row, "reason"), "Installed"))
		return r < 0 ? r : 0;
	return newest_in(
		d,
		"SELECT seq FROM audit WHERE seq >= ? AND seq < ? AND type = 'Transition'"
		" AND kind = 'InstallStrategy' AND json_extract(body, '$.plan') IS NOT NULL"
		" AND json_extract(body, '$.version.to') = ? ORDER BY seq DESC LIMIT 1",
		from, to, version, ret, err);
}

int query_installed(struct db *d, const struct obj *row, const char *version, struct obj **ret,
		    struct error *err)
{
	struct stmt *s;
	struct query_selector of = query_subject_of(row);
	of.type = "Transition";
	of.reason = "Installed";
	of.to_seq = obj_i64(row, "seq", 0);
	int r = query_select(d, "SELECT seq FROM audit ", &of,
			     "json_extract(body, '$.version.to') = ? ORDER BY seq DESC LIMIT 1", &s,
			     err);
	if (r < 0)
		return r;
	stmt_bind_cstr(s, r + 1, version);
	r = stmt_step(s, err);
	int64_t seq = r > 0 ? stmt_int(s, 0) : 0;
	stmt_reset(s);
	*ret = NULL;
	return r > 0 ? query_row(d, seq, ret, err) : r;
}
