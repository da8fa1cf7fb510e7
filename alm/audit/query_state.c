/* query_state: what was known of each object at an entry: the newest Transition that is kept, or of those
 * that were pruned. One subject after the other, by the index: a log has many rows of few of them. */
#include <string.h>

#include "alm/audit/pruned.h"
#include "alm/audit/query.h"
#include "alm/audit/query_select.h"
#include "alm/audit/snapshot.h"
#include "alm/base/map.h"

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
	int r = query_select(d, "SELECT seq, reason FROM audit ", &of,
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
	struct query_selector of = query_subject_of(row);
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
			r = query_give(d, s->seq, 0, fn, arg, err);
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
