#include "alm/audit/query.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/log.h"
#include "alm/audit/pruned.h"
#include "alm/audit/snapshot.h"
#include "alm/base/arena.h"
#include "alm/base/map.h"

static const char select_row[] = "SELECT " LOG_COLUMNS " FROM audit ";

/* What users write besides the kind itself: short names, and plurals that are not the kind and s. */
static const struct {
	const char *word, *kind;
} aliases[] = {
	{"app", "AppType"},
	{"apps", "AppType"},
	{"ist", "InstallStrategy"},
	{"installstrategies", "InstallStrategy"},
	{"cj", "CronJob"},
	{"cm", "ConfigMap"},
	{"crd", "CustomResourceDefinition"},
	{"crds", "CustomResourceDefinition"},
	{"deploy", "Deployment"},
	{"ds", "DaemonSet"},
	{"hpa", "HorizontalPodAutoscaler"},
	{"ing", "Ingress"},
	{"ingresses", "Ingress"},
	{"netpol", "NetworkPolicy"},
	{"networkpolicies", "NetworkPolicy"},
	{"ns", "Namespace"},
	{"pdb", "PodDisruptionBudget"},
	{"po", "Pod"},
	{"pvc", "PersistentVolumeClaim"},
	{"rs", "ReplicaSet"},
	{"sa", "ServiceAccount"},
	{"sts", "StatefulSet"},
	{"svc", "Service"},
};

/* Loose index scan: the distinct kinds without reading every row. */
static const char kinds_sql[] =
	"WITH RECURSIVE k(v) AS (SELECT min(kind) FROM audit UNION ALL SELECT (SELECT min(kind)"
	" FROM audit WHERE kind > v) FROM k WHERE v IS NOT NULL) SELECT v FROM k WHERE"
	" v = ?1 COLLATE NOCASE OR v || 's' = ?1 COLLATE NOCASE";

static int find_kind(struct db *d, struct str word, struct arena *a, const char **ret,
		     struct error *err)
{
	struct stmt *s;
	for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
		if (str_is(word, aliases[i].word)) {
			*ret = aliases[i].kind;
			return 0;
		}
	int r = db_prepare(d, kinds_sql, &s, err);
	if (r < 0)
		return r;
	stmt_bind_text(s, 1, word);
	r = stmt_step(s, err);
	if (r > 0) {
		struct str kind = stmt_text(s, 0);
		*ret = arena_strndup(a, kind.ptr, kind.len);
	}
	stmt_reset(s);
	return r == 0 ? error_set(err, E_NOTFOUND, "the audit log has no entry of a %.*s",
				  STR_ARG(word))
		      : r;
}

int query_subject(struct db *d, const char *text, struct arena *a, struct query_selector *sel,
		  struct error *err)
{
	struct str kind, rest, ns, name;
	if (!str_cut(str_of(text), '/', &kind, &rest) || !kind.len || !rest.len)
		return error_set(err, E_USAGE, "subject %s is not KIND/[NAMESPACE/]NAME", text);
	bool has_ns = str_cut(rest, '/', &ns, &name);
	if (has_ns)
		sel->ns = arena_strndup(a, ns.ptr, ns.len);
	else
		name = rest;
	/* kind.group is accepted, the group does not tell more here */
	struct str group;
	str_cut(kind, '.', &kind, &group);
	sel->name = arena_strndup(a, name.ptr, name.len);
	return find_kind(d, kind, a, &sel->kind, err);
}

struct condition_sql {
	const char *sql;
	const char *text;
	int64_t value;
};

/* The index begins with kind and ns: a name alone would read every row of the kind. The kind is
 * parameter 1 wherever it is given. */
static const char any_ns[] =
	"ns IN (WITH RECURSIVE n(v) AS (SELECT min(ns) FROM audit WHERE kind = ?1 UNION ALL SELECT"
	" (SELECT min(ns) FROM audit WHERE kind = ?1 AND ns > v) FROM n WHERE v IS NOT NULL)"
	" SELECT v FROM n) AND ";

static size_t conditions(const struct query_selector *sel, struct condition_sql out[12])
{
	const struct condition_sql all[] = {
		{"kind = ?", sel->kind, 0},         {"ns = ?", sel->ns, 0},
		{"name = ?", sel->name, 0},         {"cluster = ?", sel->cluster, 0},
		{"uid = ?", sel->uid, 0},           {"type = ?", sel->type, 0},
		{"reason = ?", sel->reason, 0},     {"actor = ?", sel->actor, 0},
		{"time >= ?", NULL, sel->since_us}, {"time <= ?", NULL, sel->until_us},
		{"seq >= ?", NULL, sel->from_seq},  {"seq <= ?", NULL, sel->to_seq},
	};
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].text || all[i].value)
			out[n++] = all[i];
	return n;
}

/* "SELECT ... WHERE <selector> <tail>", bound. */
static int select_where(struct db *d, const char *head, const struct query_selector *sel,
			const char *tail, struct stmt **ret, struct error *err)
{
	struct condition_sql c[12];
	size_t n = conditions(sel, c);
	CLEANUP(strbuf_release) struct strbuf sql = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&sql, "%sWHERE ", head);
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&sql, "%s AND ", c[i].sql);
	if (sel->kind && sel->name && !sel->ns)
		strbuf_adds(&sql, any_ns);
	strbuf_adds(&sql, tail);
	int r = db_prepare(d, sql.buf, ret, err);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		if (c[i].text)
			stmt_bind_cstr(*ret, (int)i + 1, c[i].text);
		else
			stmt_bind_int(*ret, (int)i + 1, c[i].value);
	}
	return r < 0 ? r : (int)n;
}

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

static int give(struct db *d, int64_t seq, unsigned depth, query_fn fn, void *arg,
		struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	int r = query_row(d, seq, &row, err);
	return r < 0 ? r : fn(arg, depth, row, err);
}

static int give_all(struct db *d, const struct seqs *s, query_fn fn, void *arg, struct error *err)
{
	int r = 0;
	for (size_t i = 0; i < s->n && r >= 0; i++)
		r = give(d, s->items[i], 0, fn, arg, err);
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
	int r = select_where(d, "SELECT seq FROM audit ", sel, tail.buf, &s, err);
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
	int r = select_where(d, "SELECT seq FROM audit ", &of,
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
	int r = give(d, seq, depth, fn, arg, err);
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
	int r = select_where(d, "SELECT seq FROM audit ", &of,
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

static struct query_selector subject_of(const struct obj *row)
{
	return (struct query_selector){
		.kind = obj_str(row, "subject.kind"),
		.ns = obj_str(row, "subject.namespace"),
		.name = obj_str(row, "subject.name"),
		.cluster = obj_str(row, "subject.cluster"),
	};
}

int query_decided_again(struct db *d, const struct obj *row, int64_t *ret_time_us,
			struct error *err)
{
	struct stmt *s;
	struct query_selector of = subject_of(row);
	of.type = "Decision";
	of.from_seq = obj_i64(row, "seq", 0) + 1;
	int r = select_where(d, "SELECT time FROM audit ", &of, "1 ORDER BY seq LIMIT 1", &s, err);
	if (r < 0)
		return r;
	r = stmt_step(s, err);
	if (r >= 0)
		*ret_time_us = r ? stmt_int(s, 0) : 0;
	stmt_reset(s);
	return r < 0 ? r : 0;
}

/* One subject after the other, by the index: a log has many rows of few of them. */
struct subject {
	char *part[4]; /* kind, ns, name, cluster; owned */
};

static void subject_release(struct subject *s)
{
	for (size_t i = 0; i < ARRAY_LEN(s->part); i++)
		xfree(s->part[i]);
	*s = (struct subject){{NULL}};
}

/* The first one behind at that has its first parts in common: "(a, b) > (?, ?)" would step over
 * every row of the subject. 1, or 0. */
static int subject_behind(struct db *d, const struct subject *at, size_t common,
			  struct subject *ret, struct error *err)
{
	static const char *const sql[] = {
		"SELECT kind, ns, name, cluster FROM audit WHERE kind > ?"
		" ORDER BY kind, ns, name, cluster LIMIT 1",
		"SELECT kind, ns, name, cluster FROM audit WHERE kind = ? AND ns > ?"
		" ORDER BY ns, name, cluster LIMIT 1",
		"SELECT kind, ns, name, cluster FROM audit WHERE kind = ? AND ns = ? AND name > ?"
		" ORDER BY name, cluster LIMIT 1",
		"SELECT kind, ns, name, cluster FROM audit WHERE kind = ? AND ns = ? AND name = ?"
		" AND cluster > ? ORDER BY cluster LIMIT 1",
	};
	struct stmt *s;
	int r = db_prepare(d, sql[common], &s, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i <= common; i++)
		stmt_bind_cstr(s, (int)i + 1, at->part[i]);
	r = stmt_step(s, err);
	for (size_t i = 0; r > 0 && i < ARRAY_LEN(ret->part); i++)
		ret->part[i] = str_dup(stmt_text(s, (int)i));
	stmt_reset(s);
	return r;
}

/* 1; 0 at the end. Of one kind if sel says so. */
static int next_subject(struct db *d, const struct query_selector *sel, struct subject *at,
			struct error *err)
{
	struct subject next = {{NULL}};
	size_t common = ARRAY_LEN(at->part), last = sel->kind ? 1 : 0;
	int r = 0;
	if (!at->part[0]) { /* before the first: no kind is "", no part is below it */
		static const char *const none[] = {"", "", "", ""};
		for (size_t i = 0; i < ARRAY_LEN(none); i++)
			at->part[i] = xstrdup(i || !sel->kind ? none[i] : sel->kind);
	}
	while (r == 0 && common-- > last)
		r = subject_behind(d, at, common, &next, err);
	subject_release(at);
	*at = next;
	return r;
}

/* 1: the subject was there, *ret is its newest Transition. */
static int state_of(struct db *d, const struct query_selector *sel, const struct subject *at,
		    int64_t *ret, struct error *err)
{
	struct stmt *s;
	struct query_selector of = *sel;
	of.kind = at->part[0];
	of.ns = at->part[1];
	of.name = at->part[2];
	of.cluster = at->part[3];
	int r = select_where(d, "SELECT seq, reason FROM audit ", &of,
			     "reason <> 'Refreshed' ORDER BY seq DESC LIMIT 1", &s, err);
	if (r < 0)
		return r;
	r = stmt_step(s, err);
	if (r > 0) {
		*ret = stmt_int(s, 0);
		r = !str_is(stmt_text(s, 1), "Deleted");
	}
	stmt_reset(s);
	return r;
}

static bool is_selected(const struct query_selector *sel, const struct subject *at)
{
	return (!sel->ns || !strcmp(sel->ns, at->part[1])) &&
	       (!sel->name || !strcmp(sel->name, at->part[2])) &&
	       (!sel->cluster || !strcmp(sel->cluster, at->part[3]));
}

/* What is known of one subject: the newest Transition that is kept, or of those that are not. */
struct state {
	int64_t seq;     /* 0: it was deleted, or row has it */
	struct obj *row; /* owned */
};

static void state_free(void *p)
{
	struct state *s = p;
	obj_unref(s->row);
	xfree(s);
}

static struct state *state_new(int64_t seq, struct obj *row)
{
	struct state *s = xcalloc(1, sizeof(*s));
	s->seq = seq;
	s->row = row;
	return s;
}

/* Sorted as the index is: what separates the parts is below all that they have. */
static void subject_key(const char *const part[4], struct strbuf *b)
{
	strbuf_clear(b);
	for (size_t i = 0; i < 4; i++)
		strbuf_addf(b, "%s\x01", part[i] ? part[i] : "");
}

static int put_state(struct map *found, const char *const part[4], struct state *s,
		     struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(STRBUF_SMALL);
	subject_key(part, &key);
	map_set(found, key.buf, s);
	return map_count(found) <= QUERY_ROWS_MAX
		       ? 0
		       : error_set(err, E_LIMIT, "more than %d objects: --subject chooses",
				   QUERY_ROWS_MAX);
}

static int find_states(struct db *d, const struct query_selector *sel, struct map *found,
		       struct error *err)
{
	struct subject at = {{NULL}};
	int r;
	while ((r = next_subject(d, sel, &at, err)) > 0) {
		const char *part[] = {at.part[0], at.part[1], at.part[2], at.part[3]};
		int64_t seq = 0;
		if (is_selected(sel, &at))
			r = state_of(d, sel, &at, &seq, err);
		if (r >= 0 && seq)
			r = put_state(found, part, state_new(r ? seq : 0, NULL), err);
		if (r < 0)
			break;
	}
	subject_release(&at);
	return r;
}

struct pruned_states {
	const struct query_selector *sel;
	struct map *found;
};

/* An object that has not changed since what said so was pruned. */
static int add_pruned_state(void *arg, const struct obj *entry, struct error *err)
{
	struct pruned_states *p = arg;
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(STRBUF_SMALL);
	const struct obj *row = obj_get(entry, "row");
	struct query_selector of = subject_of(row);
	const char *part[] = {of.kind, of.ns, of.name, of.cluster};
	struct subject at;
	if (!row || cstr_eq(obj_str(row, "reason"), "Deleted") || !of.name)
		return 0;
	subject_key(part, &key);
	for (size_t i = 0; i < ARRAY_LEN(part); i++)
		at.part[i] = xstrdup(part[i] ? part[i] : "");
	bool chosen = (!p->sel->kind || !strcmp(p->sel->kind, at.part[0])) &&
		      is_selected(p->sel, &at) && !map_has(p->found, key.buf);
	subject_release(&at);
	return chosen ? put_state(p->found, part, state_new(0, obj_ref(row)), err) : 0;
}

static int add_pruned_states(struct db *d, const struct query_selector *sel, struct map *found,
			     struct error *err)
{
	CLEANUP(snapshot_freep) struct snapshot *s = NULL;
	struct pruned_states p = {.sel = sel, .found = found};
	int r = snapshot_load_pruned(d, &s, err);
	return r < 0 ? r : snapshot_each(s, add_pruned_state, &p, err);
}

static int give_states(struct db *d, struct map *found, query_fn fn, void *arg, struct error *err)
{
	struct map_entry **sorted = map_sorted(found);
	int r = 0, n = 0;
	for (size_t i = 0; i < map_count(found) && r >= 0; i++) {
		struct state *s = sorted[i]->value;
		n += s->seq || s->row;
		if (s->row)
			r = fn(arg, 0, s->row, err);
		else if (s->seq)
			r = give(d, s->seq, 0, fn, arg, err);
	}
	xfree(sorted);
	return r < 0 ? r : n;
}

int query_state(struct db *d, const struct query_selector *sel, int64_t seq, query_fn fn, void *arg,
		struct error *err)
{
	CLEANUP(map_freep) struct map *found = map_new(state_free);
	struct query_selector of = *sel;
	struct pruned p;
	int r = pruned_load(d, &p, err);
	if (r >= 0 && seq < p.below)
		return pruned_no_entry(d, p.below - 1, err);
	of.type = "Transition";
	of.to_seq = seq > 0 ? seq : -1;
	of.from_seq = p.below > of.from_seq ? p.below : of.from_seq;
	if (r >= 0)
		r = find_states(d, &of, found, err);
	if (r >= 0 && p.below)
		r = add_pruned_states(d, sel, found, err);
	return r < 0 ? r : give_states(d, found, fn, arg, err);
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
	struct query_selector of = subject_of(row);
	of.type = "Transition";
	of.reason = "Installed";
	of.to_seq = obj_i64(row, "seq", 0);
	int r = select_where(d, "SELECT seq FROM audit ", &of,
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
