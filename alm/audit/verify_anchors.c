/* verify_anchors: what is remembered outside of the database, against what the rows say. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alm/audit/head.h"
#include "alm/audit/log.h"
#include "alm/audit/proof.h"
#include "alm/audit/pruned.h"
#include "alm/audit/verify_parts.h"

/* Signed by any key of the log; a note of a forger who changed the keys too has another root. */
static bool is_signed(const struct verify_marks *m, const struct anchor_keys *k, const char *origin,
		      struct str note)
{
	struct checkpoint c;
	struct error err = ERROR_INIT;
	bool found = m->o->vkey && checkpoint_verify(note, origin, m->o->vkey, &c, &err) == 0;
	for (size_t i = 0; i < k->n && !found; i++)
		found = checkpoint_verify(note, origin, k->items[i].vkey, &c, &err) == 0;
	return found;
}

/* The first entry of a log that began after an accepted gap names what was known of the one before. */
static bool is_accepted(struct db *d, struct str origin, int64_t size)
{
	struct stmt *s;
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	if (db_prepare(d, "SELECT " LOG_COLUMNS " FROM audit WHERE seq = ?", &s, &err) < 0)
		return false;
	stmt_bind_int(s, 1, pruned_opening(d));
	(void)log_entry(s, &row, &err);
	return pruned_gap_covers(row, origin, size);
}

static void add_mark(struct verify_marks *m, struct db *d, const struct anchor_keys *k,
		     const char *origin, const struct verify_anchor *a, bool is_head,
		     struct verify_report *rep)
{
	struct verify_mark mark = {.weak = a->weak, .is_head = is_head};
	struct error err = ERROR_INIT;
	struct str said;
	int64_t time_s;
	(void)snprintf(mark.name, sizeof(mark.name), "%s%.100s", is_head ? "" : "anchor ", a->name);
	if (checkpoint_read(a->note, &said, &mark.checkpoint, &err) < 0) {
		verify_unchecked(rep, "%s: %s", mark.name, err.msg);
	} else if (!str_is(said, origin)) {
		if (!is_accepted(d, said, mark.checkpoint.size))
			verify_add(rep, 0, 0, "%s is of another log, %.60s", mark.name, said.ptr);
	} else if (!is_signed(m, k, origin, a->note)) {
		verify_unchecked(rep, "%s: no key of this log signed its note", mark.name);
	} else if (a->vkey && !cosignature_fits(a->note, a->note, a->vkey, &time_s)) {
		verify_unchecked(rep, "%s: %.60s did not cosign its note", mark.name, a->vkey);
	} else {
		m->items[m->n++] = mark;
	}
}

void verify_marks_init(struct verify_marks *m, struct db *d, const struct verify_options *o,
		       const struct anchor_keys *k, const char *origin, struct verify_report *rep)
{
	assert(o->n_anchors <= VERIFY_ANCHORS_MAX);
	*m = (struct verify_marks){.o = o};
	if (o->dir) {
		struct error inner = ERROR_INIT;
		struct audit_head_state *h = xcalloc(1, sizeof(*h));
		if (head_read(o->dir, h, &inner) < 0) {
			verify_unchecked(rep, "%.140s", inner.msg);
		} else {
			struct verify_anchor a = {.name = HEAD_FILE, .note = str_of(h->note)};
			add_mark(m, d, k, origin, &a, true, rep);
		}
		xfree(h);
	}
	for (size_t i = 0; i < o->n_anchors; i++)
		add_mark(m, d, k, origin, &o->anchors[i], false, rep);
}

int64_t verify_marks_next(const struct verify_marks *m, int64_t size)
{
	int64_t next = INT64_MAX;
	for (size_t i = 0; i < m->n; i++)
		if (!m->items[i].done && m->items[i].checkpoint.size > size &&
		    m->items[i].checkpoint.size < next)
			next = m->items[i].checkpoint.size;
	return next;
}

static void fits(struct verify_mark *mark, struct verify_report *rep)
{
	if (mark->is_head || rep->n_anchors == VERIFY_ANCHORS_MAX)
		return;
	(void)snprintf(rep->anchor_texts[rep->n_anchors++], sizeof(rep->anchor_texts[0]),
		       "%s %" PRId64 " ok%s", mark->name, mark->checkpoint.size,
		       mark->weak ? " (weak)" : "");
}

void verify_marks_compare(struct verify_marks *m, int64_t size,
			  const unsigned char root[SHA256_BYTES], bool explained,
			  struct verify_report *rep)
{
	for (size_t i = 0; i < m->n; i++) {
		struct verify_mark *mark = &m->items[i];
		if (mark->done || mark->checkpoint.size != size)
			continue;
		mark->done = true;
		if (!memcmp(root, mark->checkpoint.root, SHA256_BYTES))
			fits(mark, rep);
		else if (!explained)
			verify_add(rep, rep->good_checkpoint + 1, size,
				   "rewritten: not what %s remembers", mark->name);
	}
}

/* Sizes below the first row that was read: from the tiles. */
static int compare_below(struct verify_marks *m, struct db *d, struct verify_report *rep,
			 struct error *err)
{
	for (int64_t size = verify_marks_next(m, -1); size <= rep->last;
	     size = verify_marks_next(m, size)) {
		unsigned char root[SHA256_BYTES] = {0};
		struct error inner = ERROR_INIT;
		int r = proof_root(log_subtree, d, size, root, &inner);
		if (r < 0 && r != -E_ALTERED)
			return error_copy(err, &inner);
		verify_marks_compare(m, size, root, false, rep);
	}
	return 0;
}

static int count_notes(struct db *d, int64_t size, struct head_notes *ret, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "SELECT note FROM audit_checkpoint WHERE size <= ? ORDER BY size", &s,
			   err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, size);
	while ((r = stmt_step(s, err)) > 0)
		head_notes_add(ret, stmt_text(s, 0));
	return r;
}

static int compare_head(const struct audit_head_state *h, struct db *d, struct verify_report *rep,
			struct error *err)
{
	struct head_notes notes = {.n = 0};
	int64_t size = h->checkpoint.size;
	if (size > rep->last)
		return 0; /* reported already */
	int r = count_notes(d, size, &notes, err);
	if (r >= 0 && memcmp(&notes, &h->notes, sizeof(notes)) != 0)
		verify_add(rep, 0, 0,
			   "checkpoints were deleted or added: " HEAD_FILE " counts %" PRId64
			   ", the database has %" PRId64,
			   h->notes.n, notes.n);
	if (r >= 0 && h->closed && size < rep->last)
		verify_add(rep, size + 1, rep->last, "appended after the log was closed");
	return r;
}

/* Read again, after the rows: what it says now is true of them, or they were changed behind it. */
static int check_head(struct verify_marks *m, struct db *d, struct verify_report *rep,
		      struct error *err)
{
	struct error gone = ERROR_INIT;
	bool is_ours = false;
	for (size_t i = 0; i < m->n; i++)
		is_ours = is_ours || m->items[i].is_head;
	if (!is_ours)
		return 0;
	struct audit_head_state *h = xcalloc(1, sizeof(*h));
	int r = head_read(m->o->dir, h, &gone) < 0 ? 0 : compare_head(h, d, rep, err);
	xfree(h);
	return r;
}

int verify_marks_end(struct verify_marks *m, struct db *d, struct verify_report *rep,
		     struct error *err)
{
	int r = compare_below(m, d, rep, err);
	for (size_t i = 0; i < m->n && r >= 0; i++)
		if (!m->items[i].done)
			verify_add(rep, rep->last + 1, m->items[i].checkpoint.size,
				   "missing: %s remembers them", m->items[i].name);
	return r < 0 ? r : check_head(m, d, rep, err);
}
