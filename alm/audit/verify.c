/*
 * verify: see verify.h. Rows are read once in order; the chain is recomputed from the stored value
 * of the row before, so that damage stays where it is.
 */
#include "alm/audit/verify.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/checkpoint.h"
#include "alm/audit/log.h"
#include "alm/audit/pruned.h"
#include "alm/audit/snapshot.h"
#include "alm/audit/tables.h"
#include "alm/audit/verify_lanes.h"
#include "alm/audit/verify_parts.h"
#include "alm/audit/verify_scan.h"

#define PRUNED_MEANWHILE_MAX 3
#define LANES_ROWS_MAX       1000000000 /* more there are only in a database that somebody made up */
#define ROWS_A_PAGE          50000 /* audit.md 5: a longer read keeps the WAL from starting anew */

/* The entry before did not fit its chain value: this entry shows which of the two is wrong. */
static void settle_doubt(struct scan *v, const unsigned char leaf[SHA256_BYTES],
			 const unsigned char *chain)
{
	unsigned char via_computed[SHA256_BYTES], via_stored[SHA256_BYTES];
	int64_t seq = v->expected - 1;
	chain_next(v->computed, leaf, via_computed);
	chain_next(v->stored, leaf, via_stored);
	if (chain && !memcmp(via_computed, chain, SHA256_BYTES)) {
		verify_add(v->rep, seq, seq, "chain value altered");
		memcpy(v->stored, v->computed, SHA256_BYTES);
	} else
		verify_add(v->rep, seq, seq, "record altered");
	v->doubt = false;
}

static void check_chain(struct scan *v, const struct row_digest *row)
{
	struct error err = ERROR_INIT;
	const unsigned char *chain = row->has_chain ? row->chain : NULL;
	if (v->doubt)
		settle_doubt(v, row->leaf, chain);
	chain_next(v->stored, row->leaf, v->computed);
	if (!chain)
		verify_add(v->rep, row->seq, row->seq, "chain value is not 32 bytes");
	else if (!v->unknown)
		v->doubt = memcmp(v->computed, chain, SHA256_BYTES) != 0;
	v->unknown = false;
	memcpy(v->stored, chain ? chain : v->computed, SHA256_BYTES);
	if (!row->is_closed)
		verify_add(v->rep, row->seq, row->seq, "body is not one JSON object");
	(void)tree_push(&v->tree, row->leaf, scan_verify_tile, v, &err);
}

/* True if the row is one of the sequence. */
static bool check_place(struct scan *v, int64_t seq)
{
	if (seq < v->expected) {
		verify_add(v->rep, seq, seq, "entry inserted");
		return false;
	}
	if (seq > v->expected) {
		if (v->doubt)
			verify_add(v->rep, v->expected - 1, v->expected - 1, "record altered");
		verify_add(v->rep, v->expected, seq - 1, "missing");
		v->doubt = false;
		v->unknown = true;
		v->tree.size = seq - 1; /* the tree is wrong from here, its places are right */
	}
	return true;
}

static int check_row(struct scan *v, const struct row_digest *row, struct error *err)
{
	v->after = row->seq;
	if (v->rep->rows++ == 0)
		v->rep->first = row->seq;
	if (!check_place(v, row->seq))
		return 0;
	check_chain(v, row);
	v->expected = row->seq + 1;
	v->rep->last = row->seq;
	if (row->is_transition)
		v->rep->transitions++;
	if (v->mark_size == row->seq)
		scan_check_mark(v);
	v->n_refs += row->n_blobs;
	int r = row->n_blobs ? verify_row_refs(v->d, row->seq, row->n_blobs, v->rep, err) : 0;
	if (r >= 0)
		r = verify_objects_row(&v->objects, row, err);
	return r < 0 ? r : scan_check_notes(v, row->seq, err);
}

static int scan_end(struct scan *v, struct error *err)
{
	struct verify_report *rep = v->rep;
	/* A checkpoint of rows that came after the first look for one. */
	int r = v->note_size == INT64_MAX ? scan_next_note(v, rep->last, err) : 0;
	if (v->doubt)
		verify_add(rep, v->expected - 1, v->expected - 1, "record or chain value altered");
	for (; r >= 0 && v->note_size != INT64_MAX; r = scan_next_note(v, v->note_size, err))
		verify_add(rep, v->expected, v->note_size,
			   "missing: checkpoint %" PRId64 " covers them", v->note_size);
	scan_settle_tiles(v);
	rep->unsigned_rows = rep->last - rep->good_checkpoint;
	return r;
}

/* The leaves of one full tile, instead of the entries that it was made of. */
static int scan_tile(struct scan *v, int64_t index, struct error *err)
{
	unsigned char(*hashes)[SHA256_BYTES] = xmalloc(TREE_TILE_BYTES);
	int r = log_stored_tile(v->d, 0, index, hashes, err);
	if (r == 0) {
		verify_add(v->rep, index * TREE_TILE + 1, (index + 1) * TREE_TILE,
			   "tile 0/%" PRId64 " is missing", index);
		v->tree.size = (index + 1) * TREE_TILE;
		v->root_failed = true;
	}
	for (unsigned i = 0; r > 0 && i < TREE_TILE; i++) {
		int64_t seq = index * TREE_TILE + i + 1;
		r = tree_push(&v->tree, hashes[i], scan_verify_tile, v, err);
		if (r >= 0 && v->mark_size == seq)
			scan_check_mark(v);
		r = r < 0 ? r : scan_check_notes(v, seq, err);
		r = r < 0 ? r : 1;
	}
	xfree(hashes);
	return r < 0 ? r : 0;
}

/* Entries up to n are known by their hashes alone. */
static int scan_tiles(struct scan *v, int64_t n, struct error *err)
{
	int r = 0;
	for (int64_t i = 0; i < n / TREE_TILE && r >= 0; i++)
		r = scan_tile(v, i, err);
	v->after = n;
	v->expected = n + 1;
	v->rep->last = n;
	v->rep->hashes_to = n;
	return r;
}

/* An archive of a part of the log has the hashes of what is before it: the tree is whole, and where
 * the chain goes on nobody can say. */
static int start_part(struct scan *v, struct error *err)
{
	int64_t first = 0, tiles = 0;
	int r = db_number(v->d, "SELECT min(seq) FROM audit", NULL, &first, err);
	if (r >= 0)
		r = db_number(v->d, "SELECT count(*) FROM audit_tile WHERE id < 1 << 40", NULL,
			      &tiles, err);
	if (r < 0 || first < 2 || (first - 1) % TREE_TILE || tiles < (first - 1) / TREE_TILE)
		return r;
	v->unknown = true;
	verify_unchecked(v->rep, "entries 1..%" PRId64 ": only their hashes are in this archive",
			 first - 1);
	return scan_tiles(v, first - 1, err);
}

/* Where nothing was pruned: at the first row. */
static int start_whole(struct scan *v, const struct verify_options *o, struct error *err)
{
	struct error inner = ERROR_INIT;
	int64_t first = 0;
	int r = pruned_load(v->d, &v->pruned, &inner);
	if (r == -E_ALTERED)
		verify_add(v->rep, 0, 0, "%.150s", inner.msg);
	else if (r < 0)
		return error_copy(err, &inner);
	if (!v->pruned.below)
		return o->is_archive ? start_part(v, err) : 0;
	r = db_number(v->d, "SELECT min(seq) FROM audit", NULL, &first, err);
	/* Archives that were put together have all of it again. */
	if (r < 0 || (o->is_archive && first == 1))
		return r;
	memcpy(v->stored, v->pruned.chain, SHA256_BYTES);
	return scan_tiles(v, v->pruned.below - 1, err);
}

/* Where the scan begins: at the first row, or behind the last checkpoint. */
static int scan_start(struct scan *v, const struct verify_options *o, struct error *err)
{
	struct stmt *s;
	v->after = INT64_MIN;
	v->expected = 1;
	chain_start(v->origin, v->stored);
	v->mark_size = verify_marks_next(&v->marks, 0);
	int r = scan_next_note(v, INT64_MIN, err);
	if (!o->since_checkpoint || r < 0)
		return r < 0 ? r : start_whole(v, o, err);
	r = db_prepare(v->d,
		       "SELECT seq, chain FROM audit WHERE seq ="
		       " (SELECT max(size) FROM audit_checkpoint)",
		       &s, err);
	if (r >= 0)
		r = stmt_step(s, err);
	if (r <= 0)
		return r;
	int64_t seq = stmt_int(s, 0);
	struct str chain = stmt_blob(s, 1);
	if (chain.len == SHA256_BYTES)
		memcpy(v->stored, chain.ptr, SHA256_BYTES);
	stmt_reset(s);
	v->expected = seq + 1;
	v->rep->last = v->rep->first = seq;
	v->after = seq;
	r = scan_next_note(v, seq - 1, err);
	if (r >= 0)
		r = log_load_tree(v->d, seq, &v->tree, err);
	return r < 0 ? r : scan_check_notes(v, seq, err);
}

/* At most ROWS_A_PAGE rows; returns how many. */
static int scan_page(struct scan *v, struct error *err)
{
	struct stmt *s;
	int n = 0;
	int r = db_prepare(v->d,
			   "SELECT " LOG_COLUMNS " FROM audit WHERE seq > ? ORDER BY seq LIMIT ?",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, v->after);
	stmt_bind_int(s, 2, ROWS_A_PAGE);
	if (v->note_size == INT64_MAX)
		r = scan_next_note(v, v->rep->last, err);
	for (; r >= 0 && (r = stmt_step(s, err)) > 0; n++) {
		struct row_digest row;
		row_digest_of(s, &v->scratch, &row);
		r = check_row(v, &row, err);
		if (r < 0)
			break;
	}
	stmt_reset(s);
	return r < 0 ? r : n;
}

static bool checks_file(const struct verify_options *o)
{
	return !o->is_archive && !o->since_checkpoint && !o->skip_file_check;
}

/* The rows that are there now, as other processes read them. */
static int scan_lanes(struct scan *v, const struct verify_options *o, struct error *err)
{
	struct row_digest row;
	int64_t to = 0;
	int r = db_number(v->d, "SELECT max(seq) FROM audit", NULL, &to, err);
	if (r < 0 || to <= v->after || to > LANES_ROWS_MAX)
		return r;
	r = verify_lanes_begin(o->lanes, o->lanes_path, v->after, to, checks_file(o), err);
	for (int n = 0; r >= 0 && (r = verify_lanes_next(o->lanes, &row, err)) > 0; n++) {
		if (n % ROWS_A_PAGE == 0 && o->progress)
			o->progress(o->progress_arg, v->rep->last, v->rows_in_all);
		if (n % ROWS_A_PAGE == 0 && v->note_size == INT64_MAX)
			r = scan_next_note(v, v->rep->last, err);
		if (r >= 0)
			r = check_row(v, &row, err);
	}
	return r;
}

static int scan_rows(struct scan *v, const struct verify_options *o, struct error *err)
{
	int n;
	do {
		if (o->progress)
			o->progress(o->progress_arg, v->rep->last, v->rows_in_all);
		n = scan_page(v, err);
	} while (n == ROWS_A_PAGE);
	return n < 0 ? n : 0;
}

/* The rows that came meanwhile, and what must fit them exactly. */
static int compare_tables(struct scan *v, const struct verify_options *o, struct error *err)
{
	struct verify_report *rep = v->rep;
	bool whole = !o->since_checkpoint;
	int r = scan_rows(v, o, err);
	if (r >= 0)
		r = scan_end(v, err);
	if (r >= 0)
		r = verify_marks_end(&v->marks, v->d, rep, err);
	if (r >= 0 && whole)
		r = verify_refs(v->d, v->pruned.below, v->n_refs, rep, err);
	if (r >= 0 && whole && !o->is_archive)
		r = verify_heads(v->d, v->pruned.below, v->snapshot, rep, err);
	if (r >= 0 && rep->statuses != rep->transitions && whole && !o->is_archive)
		verify_add(rep, 0, 0, "%" PRId64 " transitions, but statuses count %" PRId64,
			   rep->transitions, rep->statuses);
	if (r >= 0)
		r = verify_pruned(v->d, &v->pruned, &v->marks, rep, err);
	if (r >= 0)
		r = verify_kept(v->d, o, rep, err);
	return r < 0 ? r : verify_objects_compare(&v->objects, o, rep, err);
}

static int in_one_state(struct scan *v, const struct verify_options *o, struct error *err)
{
	bool nested = db_in_transaction(v->d);
	int r = nested ? 0 : db_snapshot(v->d, err);
	if (r >= 0)
		r = compare_tables(v, o, err);
	if (!nested)
		db_rollback(v->d);
	return r;
}

static int load_snapshot(struct scan *v, struct error *err)
{
	struct error inner = ERROR_INIT;
	int r = snapshot_load(v->d, &v->snapshot, &inner);
	if (r < 0 && !verify_is_damage(&inner))
		return error_copy(err, &inner);
	if (r < 0)
		verify_add(v->rep, 0, 0, "%.150s", inner.msg);
	return 0;
}

static int run(struct scan *v, const struct verify_options *o, struct error *err)
{
	struct verify_report *rep = v->rep;
	struct error schema = ERROR_INIT;
	int r = o->is_archive || o->skip_tables_check ? 0 : tables_check(v->d, &schema);
	if (r < 0 && r != -E_ALTERED)
		return error_copy(err, &schema);
	if (r == -E_ALTERED)
		verify_add(rep, 0, 0, "%.150s", schema.msg);
	r = verify_load_keys(v->d, o->vkey, &v->keys, &v->origin, rep, err);
	if (r >= 0)
		r = load_snapshot(v, err);
	if (r >= 0)
		r = verify_objects_init(&v->objects, v->d, o, v->snapshot, rep, err);
	if (r >= 0)
		verify_marks_init(&v->marks, v->d, o, &v->keys, v->origin, rep);
	if (r >= 0)
		r = scan_start(v, o, err);
	v->mark_size = verify_marks_next(&v->marks, rep->last);
	if (r >= 0 && o->progress)
		r = db_number(v->d, "SELECT max(seq) FROM audit", NULL, &v->rows_in_all, err);
	if (r >= 0 && verify_lanes_ready(o->lanes))
		r = scan_lanes(v, o, err);
	if (r >= 0)
		r = scan_rows(v, o, err);
	if (r >= 0 && !o->since_checkpoint)
		r = verify_blobs(v->d, rep, err);
	if (r >= 0)
		r = in_one_state(v, o, err);
	if (r >= 0 && checks_file(o))
		r = verify_lanes_file(o->lanes, rep, err);
	if (r == 0 && checks_file(o))
		r = verify_file(v->d, rep, err);
	if (r >= 0 && o->each_status && !o->since_checkpoint)
		verify_statuses(&v->objects, o, rep);
	return r;
}

static int verify_once(struct db *d, const struct verify_options *o, struct verify_report *ret,
		       int64_t *ret_below, struct error *err)
{
	struct scan *v = xcalloc(1, sizeof(*v));
	memset(ret, 0, sizeof(*ret));
	ret->is_archive = o->is_archive;
	ret->since_checkpoint = o->since_checkpoint;
	ret->is_of_runs = o->is_of_runs;
	for (const char *const *p = o->unchecked; p && *p; p++)
		verify_unchecked(ret, "%s", *p);
	v->d = d;
	v->rep = ret;
	tree_init(&v->tree);
	strbuf_init(&v->scratch, RECORD_BYTES_MAX);
	strbuf_init(&v->note, CHECKPOINT_BYTES_MAX);
	int r = run(v, o, err);
	*ret_below = v->pruned.below;
	verify_objects_release(&v->objects);
	snapshot_free(v->snapshot);
	verify_keys_release(&v->keys);
	strbuf_release(&v->scratch);
	strbuf_release(&v->note);
	xfree(v->origin);
	xfree(v);
	return r < 0 ? r : 0;
}

int verify_log(struct db *d, const struct verify_options *o, struct verify_report *ret,
	       struct error *err)
{
	struct pruned now = {0};
	struct error inner = ERROR_INIT;
	int64_t below = 0;
	int r = 0;
	for (int i = 0; i < PRUNED_MEANWHILE_MAX; i++) {
		r = verify_once(d, o, ret, &below, err);
		if (r < 0 || o->since_checkpoint)
			return r;
		/* Entries that were read may have gone before they were compared. */
		int known = pruned_load(d, &now, &inner);
		if (known < 0 && !verify_is_damage(&inner))
			return error_copy(err, &inner);
		if (known < 0 || now.below == below)
			return r;
	}
	return r;
}
