/*
 * window: the changes that a watch may still ask for, and what of the table nobody may. A change
 * that leaves the window makes the row before it garbage, and garbage goes a few hundred rows a turn.
 */
#include <string.h>

#include "alm/apiserver/store/store_internal.h"

#define COMPACT_ROWS  300
#define COMPACT_BYTES (1 << 20) /* the WAL takes as much: deleted pages are overwritten */
#define COMPACT_WAL   (4 << 20) /* compacted between two checkpoints, each of which is an fsync */
#define COMPACT_PAUSE (NS_PER_S)

void change_free(struct change *c)
{
	text_unref(c->before);
	text_unref(c->after);
	xfree(c);
}

void garbage_add(struct store *s, int64_t id)
{
	if (id <= 0)
		return;
	if (s->first_garbage > s->n_garbage) {
		memmove(s->garbage, s->garbage + s->first_garbage,
			s->n_garbage * sizeof(*s->garbage));
		s->first_garbage = 0;
	}
	ARRAY_GROW(s->garbage, s->cap_garbage, s->first_garbage + s->n_garbage + 1);
	s->garbage[s->first_garbage + s->n_garbage++] = id;
	if (!heap_holds(&s->compact.node))
		loop_arm(s->loop, &s->compact, COMPACT_PAUSE);
}

/* The oldest first: a row is known to be garbage by the row after it, also when alm starts again.
 */
static int compact_some(struct store *s, struct error *err)
{
	struct stmt *st = NULL;
	if (db_begin(s->db, err) < 0)
		return -err->code;
	if (db_prepare(s->db, "DELETE FROM objects WHERE id = ?1 RETURNING length(value)", &st,
		       err) < 0)
		goto fail;
	size_t max = s->n_garbage < COMPACT_ROWS ? s->n_garbage : COMPACT_ROWS, n = 0;
	int64_t bytes = 0;
	for (; n < max && bytes < COMPACT_BYTES; n++) {
		stmt_bind_int(st, 1, s->garbage[s->first_garbage + n]);
		int r = stmt_step(st, err);
		if (r < 0)
			goto fail;
		bytes += r > 0 ? stmt_int(st, 0) : 0;
		stmt_reset(st);
	}
	if (db_commit(s->db, err) < 0)
		goto fail;
	s->first_garbage += n;
	s->n_garbage -= n;
	s->compacted += bytes;
	return 0;
fail:
	db_rollback(s->db);
	return -err->code;
}

void compact_due(void *arg)
{
	struct store *s = arg;
	struct error err = ERROR_INIT;
	if (s->batch_open || db_in_transaction(s->db)) {
		loop_arm(s->loop, &s->compact, COMPACT_PAUSE);
		return;
	}
	/* A failure here loses nothing; the next write tells of a broken disk. */
	if (!s->n_garbage || compact_some(s, &err) < 0)
		return;
	if (s->compacted >= COMPACT_WAL) {
		db_checkpoint(s->db, false, &err);
		s->compacted = 0;
	}
	if (s->n_garbage)
		loop_arm(s->loop, &s->compact, COMPACT_PAUSE / 50);
}

/* What the window alone keeps of a change: its new state is the head's, or the old one of a later
 * change. */
static size_t window_cost(const struct change *c)
{
	return (c->before ? c->before->len : 0) + (c->deleted ? c->after->len : 0);
}

static void window_pop(struct store *s)
{
	struct change *c = s->window[s->window_first];
	s->window_first++;
	s->window_n--;
	s->window_bytes -= window_cost(c);
	s->window_start = c->rv;
	garbage_add(s, c->prev_rv);
	if (c->deleted && c->rv != s->rv) /* the newest row stays */
		garbage_add(s, c->rv);
	change_free(c);
}

void window_push(struct store *s, struct change *c)
{
	if (s->window_first > s->window_n) {
		memmove(s->window, s->window + s->window_first, s->window_n * sizeof(*s->window));
		s->window_first = 0;
	}
	ARRAY_GROW(s->window, s->window_cap, s->window_first + s->window_n + 1);
	s->window[s->window_first + s->window_n++] = c;
	s->window_bytes += window_cost(c);
	while (s->window_n > 1 &&
	       (s->window_bytes > STORE_WINDOW_BYTES ||
		(s->window_n > STORE_WINDOW_MIN &&
		 c->at_ns - s->window[s->window_first]->at_ns > STORE_WINDOW_NS)))
		window_pop(s);
}

void store_window_clear(struct store *s)
{
	while (s->window_n)
		window_pop(s);
	s->window_start = s->rv;
}

int64_t store_window_start(const struct store *s)
{
	return s->window_start;
}

const struct change *store_change_at(const struct store *s, size_t i)
{
	return i < s->window_n ? s->window[s->window_first + i] : NULL;
}

size_t store_change_after(const struct store *s, int64_t rv)
{
	size_t lo = 0, hi = s->window_n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (s->window[s->window_first + mid]->rv <= rv)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
