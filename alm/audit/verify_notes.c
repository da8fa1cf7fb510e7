#include <inttypes.h>
#include <string.h>

#include "alm/audit/checkpoint.h"
#include "alm/audit/verify.h"
#include "alm/audit/verify_parts.h"
#include "alm/audit/verify_scan.h"

static bool found_below(const struct verify_report *rep, int64_t seq)
{
	for (size_t i = 0; i < rep->n_findings; i++)
		if (rep->findings[i].seq > 0 && rep->findings[i].seq <= seq)
			return true;
	return false;
}

/* tree_tile_fn: the stored tile against the recomputed one. */
int scan_verify_tile(void *arg, unsigned level, int64_t index, const unsigned char *hashes,
		     struct error *err)
{
	struct scan *v = arg;
	struct stmt *s;
	if (v->rep->is_archive)
		return 0;
	int r = db_prepare(v->d, "SELECT hashes FROM audit_tile WHERE id = ?", &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, tree_tile_id(level, index));
	r = stmt_step(s, err);
	struct str stored = r > 0 ? stmt_blob(s, 0) : STR_NONE;
	int64_t width = 1;
	for (unsigned l = 0; l < level; l++)
		width *= TREE_TILE;
	int64_t first = index * TREE_TILE * width + 1, end = first + TREE_TILE * width - 1;
	if (stored.len != TREE_TILE_BYTES) {
		verify_add(v->rep, first, end, "tile %u/%" PRId64 " is missing", level, index);
		stmt_reset(s);
		return 0;
	}
	for (int64_t i = 0; i < TREE_TILE; i++) {
		if (!memcmp(stored.ptr + i * SHA256_BYTES, hashes + i * SHA256_BYTES, SHA256_BYTES))
			continue;
		if (v->n_tiles < TILE_DOUBTS_MAX)
			v->tiles[v->n_tiles++] =
				(struct tile_doubt){.seq = first + i * width, .end = end};
	}
	stmt_reset(s);
	return 0;
}

void scan_settle_tiles(struct scan *v)
{
	for (size_t i = 0; i < v->n_tiles; i++) {
		const struct tile_doubt *t = &v->tiles[i];
		if (v->rep->good_checkpoint >= t->end)
			verify_add(v->rep, t->seq, t->seq, "its hash in the stored tile altered");
		else if (!found_below(v->rep, t->seq))
			verify_add(v->rep, t->seq, t->seq, "record and chain rewritten");
	}
}

/* The first checkpoint larger than size. */
int scan_next_note(struct scan *v, int64_t size, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(v->d,
			   "SELECT size, note FROM audit_checkpoint WHERE size > ? ORDER BY size"
			   " LIMIT 1",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, size);
	r = stmt_step(s, err);
	v->note_size = r > 0 ? stmt_int(s, 0) : INT64_MAX;
	strbuf_clear(&v->note);
	if (r > 0)
		strbuf_addstr(&v->note, stmt_text(s, 1));
	stmt_reset(s);
	return r < 0 ? r : 0;
}

static void check_note(struct scan *v, int64_t size)
{
	struct verify_report *rep = v->rep;
	struct checkpoint c;
	struct error err = ERROR_INIT;
	unsigned char root[SHA256_BYTES];
	const char *vkey = verify_key_at(&v->keys, size);
	int r = vkey ? checkpoint_verify(strbuf_str(&v->note), v->origin, vkey, &c, &err)
		     : error_set(&err, E_ALTERED, "no key of this size is known");
	rep->checkpoints++;
	if (r < 0 || c.size != size) {
		verify_add(rep, 0, 0, "checkpoint %" PRId64 ": %.100s", size,
			   r < 0 ? err.msg : "it is stored under another size");
		return;
	}
	tree_root(&v->tree, root);
	if (!memcmp(root, c.root, sizeof(root)))
		rep->good_checkpoint = size;
	else if (!v->root_failed) {
		v->root_failed = true;
		if (!v->doubt && !found_below(rep, size) && !v->n_tiles)
			verify_add(rep, rep->good_checkpoint + 1, size,
				   "rewritten: not what checkpoint %" PRId64 " signed", size);
	}
}

/* Checkpoints up to and with the row that was just read. */
int scan_check_notes(struct scan *v, int64_t seq, struct error *err)
{
	int r = 0;
	while (r >= 0 && v->note_size <= seq) {
		if (v->note_size == seq && v->tree.size == seq)
			check_note(v, seq);
		else if (v->note_size < v->rep->first)
			verify_add(v->rep, 0, 0, "checkpoint %" PRId64 " is out of place",
				   v->note_size);
		r = scan_next_note(v, v->note_size, err);
	}
	return r;
}

void scan_check_mark(struct scan *v)
{
	unsigned char root[SHA256_BYTES];
	tree_root(&v->tree, root);
	verify_marks_compare(&v->marks, v->mark_size, root,
			     v->doubt || v->n_tiles || found_below(v->rep, v->mark_size), v->rep);
	v->mark_size = verify_marks_next(&v->marks, v->mark_size);
}
