/* verify_parts: keys, blobs, heads and the file. */
#include "alm/audit/verify_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alm/audit/pruned.h"
#include "alm/audit/snapshot.h"
#include "alm/base/clock.h"

#define BLOBS_A_PAGE   1000
#define STORED_UID_MAX 255

bool verify_is_damage(const struct error *err)
{
	return err->code == E_CORRUPT || err->code == E_NOTFOUND || err->code == E_BADREQUEST ||
	       err->code == E_ALTERED;
}

/* The name of row 1, else the name in the first key. */
static int find_origin(struct db *d, const struct anchor_keys *k, char **ret, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "SELECT name FROM audit WHERE seq = 1", &s, err);
	if (r >= 0)
		r = stmt_step(s, err);
	if (r < 0)
		return r;
	struct str name = r ? stmt_text(s, 0) : STR_NONE, rest;
	if (!r && k->n)
		str_cut(str_of(k->items[0].vkey), '+', &name, &rest);
	*ret = str_dup(name);
	stmt_reset(s);
	return 0;
}

/* By its own entry, or if that is gone by the one that speaks for what was pruned. */
static int rotation_recorded(struct db *d, int64_t seq, const char *vkey, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d,
			   "SELECT 1 FROM audit WHERE type = 'System' AND instr(body, ?2) > 0 AND"
			   " ((seq = ?1 AND reason = 'KeyRotated') OR"
			   " (seq = (SELECT seq FROM audit_prune ORDER BY below DESC LIMIT 1) AND"
			   " reason = 'Pruned' AND ?1 <= body ->> '$.below'))",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, seq);
	stmt_bind_cstr(s, 2, vkey);
	r = stmt_step(s, err);
	stmt_reset(s);
	return r;
}

int verify_load_keys(struct db *d, const char *newest, struct anchor_keys *k, char **ret_origin,
		     struct verify_report *rep, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "SELECT size, vkey FROM audit_key ORDER BY size", &s, err);
	if (r < 0)
		return r;
	while ((r = stmt_step(s, err)) > 0 && k->n < VERIFY_KEYS_MAX) {
		k->items[k->n].size = stmt_int(s, 0);
		k->items[k->n++].vkey = str_dup(stmt_text(s, 1));
	}
	stmt_reset(s);
	if (r < 0)
		return r;
	if (!k->n || k->items[0].size != 0)
		verify_add(rep, 0, 0, "the log's first key is missing");
	for (size_t i = 1; i < k->n && r >= 0; i++) {
		r = rotation_recorded(d, k->items[i].size, k->items[i].vkey, err);
		if (r == 0)
			verify_add(rep, 0, 0, "key %.100s was never recorded", k->items[i].vkey);
	}
	if (newest && k->n && strcmp(newest, k->items[k->n - 1].vkey) != 0)
		verify_add(rep, 0, 0, "the log's key is not %.120s", newest);
	return r < 0 ? r : find_origin(d, k, ret_origin, err);
}

const char *verify_key_at(const struct anchor_keys *k, int64_t size)
{
	const char *found = NULL;
	for (size_t i = 0; i < k->n && k->items[i].size <= size; i++)
		found = k->items[i].vkey;
	return found;
}

void verify_keys_release(struct anchor_keys *k)
{
	for (size_t i = 0; i < k->n; i++)
		xfree(k->items[i].vkey);
	k->n = 0;
}

/* The row names its blobs and says how many there are. */
int verify_row_refs(struct db *d, int64_t seq, int64_t want, struct verify_report *rep,
		    struct error *err)
{
	static const char sql[] =
		"SELECT count(*) FROM audit_ref r JOIN audit_blob b USING (digest)"
		" JOIN audit a ON a.seq = r.seq"
		" WHERE r.seq = ? AND instr(a.body, lower(hex(r.digest))) > 0";
	int64_t have = 0;
	if (db_number(d, sql, &seq, &have, err) < 0)
		return -err->code;
	if (have != want)
		verify_add(rep, seq, seq, "%" PRId64 " of its %" PRId64 " blobs are there", have,
			   want);
	return 0;
}

/* The row that names a blob: only asked for a damaged one, as there is no index for it. */
static int blob_row(struct db *d, struct str digest, int64_t *ret, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "SELECT min(seq) FROM audit_ref WHERE digest = ?", &s, err);
	if (r < 0)
		return r;
	stmt_bind_blob(s, 1, digest);
	r = stmt_step(s, err);
	*ret = r > 0 ? stmt_int(s, 0) : 0;
	stmt_reset(s);
	return r < 0 ? r : 0;
}

static int check_blob(struct db *d, struct stmt *s, struct verify_report *rep, struct error *err)
{
	unsigned char digest[SHA256_BYTES];
	struct str want = stmt_blob(s, 1);
	int64_t seq = 0;
	rep->blobs++;
	sha256(stmt_blob(s, 2), digest);
	if (want.len == SHA256_BYTES && !memcmp(digest, want.ptr, SHA256_BYTES))
		return 0;
	int r = blob_row(d, want, &seq, err);
	verify_add(rep, seq, seq, "a blob of it was altered");
	return r;
}

int verify_blobs(struct db *d, struct verify_report *rep, struct error *err)
{
	int64_t after = INT64_MIN, n;
	int r;
	do {
		struct stmt *s;
		r = db_prepare(d,
			       "SELECT rowid, digest, bytes FROM audit_blob WHERE rowid > ?"
			       " ORDER BY rowid LIMIT ?",
			       &s, err);
		if (r < 0)
			return r;
		stmt_bind_int(s, 1, after);
		stmt_bind_int(s, 2, BLOBS_A_PAGE);
		for (n = 0; (r = stmt_step(s, err)) > 0; n++) {
			after = stmt_int(s, 0);
			r = check_blob(d, s, rep, err);
			if (r < 0)
				break;
		}
		stmt_reset(s);
	} while (r >= 0 && n == BLOBS_A_PAGE);
	return r;
}

int verify_refs(struct db *d, int64_t below, int64_t n_refs, struct verify_report *rep,
		struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "SELECT count(*) FROM audit_ref WHERE seq >= ?", &s, err);
	if (r >= 0)
		stmt_bind_int(s, 1, rep->is_archive && !rep->hashes_to ? 0 : below);
	if (r >= 0)
		r = stmt_step(s, err);
	if (r < 0)
		return r;
	int64_t have = r ? stmt_int(s, 0) : 0;
	stmt_reset(s);
	if (have != n_refs)
		verify_add(rep, 0, 0, "%" PRId64 " references to blobs, the entries say %" PRId64,
			   have, n_refs);
	return 0;
}

/* The transitions of every uid in order, beside the heads in order of uid: both come from an
 * index. */
struct heads {
	const struct snapshot *snapshot;
	struct verify_report *rep;
	struct stmt *rows, *heads;
	char uid[STORED_UID_MAX + 1]; /* of the transitions at hand; "" before the first */
	int64_t tseq, seq;
	char head_uid[STORED_UID_MAX + 1]; /* of the head at hand; "" when there is no more */
	int64_t head_tseq, head_seq;
};

static void copy_uid(char out[STORED_UID_MAX + 1], struct str uid)
{
	size_t n = uid.len < STORED_UID_MAX ? uid.len : STORED_UID_MAX;
	memcpy(out, uid.ptr ? uid.ptr : "", n);
	out[n] = '\0';
}

static int next_head(struct heads *h, struct error *err)
{
	int r = stmt_step(h->heads, err);
	h->head_uid[0] = '\0';
	if (r <= 0)
		return r;
	copy_uid(h->head_uid, stmt_text(h->heads, 0));
	h->head_tseq = stmt_int(h->heads, 1);
	h->head_seq = stmt_int(h->heads, 2);
	/* Of a hostile database: a sum that is wrong is reported, whatever it is. */
	if (__builtin_add_overflow(h->rep->statuses, h->head_tseq, &h->rep->statuses))
		h->rep->statuses = INT64_MAX;
	return 0;
}

/* A head without transitions is right only if a snapshot stands for them. */
static void check_lonely_head(struct heads *h)
{
	CLEANUP(obj_unrefp) struct obj *entry = snapshot_find(h->snapshot, h->head_uid);
	int64_t tseq = obj_i64(entry, "transitionSeq", 0);
	h->rep->statuses -= tseq;
	if (!tseq || tseq != h->head_tseq)
		verify_add(h->rep, h->head_seq, h->head_seq, "the head that names it was altered");
}

/* The transitions of one uid have all been read. */
static int end_of_uid(struct heads *h, struct error *err)
{
	int r = 0;
	if (!h->uid[0])
		return 0;
	while (r >= 0 && h->head_uid[0] && strcmp(h->head_uid, h->uid) < 0) {
		check_lonely_head(h);
		r = next_head(h, err);
	}
	if (r < 0)
		return r;
	if (strcmp(h->head_uid, h->uid) != 0) {
		verify_add(h->rep, h->seq, h->seq, "the head of its object is missing or behind");
		return 0;
	}
	if (h->head_tseq != h->tseq || h->head_seq != h->seq)
		verify_add(h->rep, h->seq, h->seq, "the head of its object is missing or behind");
	return next_head(h, err);
}

static int check_transition(struct heads *h, struct error *err)
{
	char uid[STORED_UID_MAX + 1];
	int64_t tseq = stmt_int(h->rows, 1), seq = stmt_int(h->rows, 2);
	copy_uid(uid, stmt_text(h->rows, 0));
	int64_t want = h->tseq + 1;
	int r = 0;
	if (strcmp(uid, h->uid) != 0) {
		r = end_of_uid(h, err);
		CLEANUP(obj_unrefp) struct obj *entry =
			tseq == 1 ? NULL : snapshot_find(h->snapshot, uid);
		want = obj_i64(entry, "transitionSeq", 0) + 1;
		h->rep->statuses -= want - 1;
		h->seq = 0;
	}
	if (tseq != want || seq < h->seq)
		verify_add(h->rep, seq, seq, "transitionSeq does not follow the one before");
	memcpy(h->uid, uid, sizeof(uid));
	h->tseq = tseq;
	h->seq = seq;
	return r;
}

int verify_heads(struct db *d, int64_t below, const struct snapshot *s, struct verify_report *rep,
		 struct error *err)
{
	struct heads h = {.snapshot = s, .rep = rep};
	int r = db_prepare(d,
			   "SELECT uid, tseq, seq FROM audit WHERE tseq IS NOT NULL"
			   " AND seq >= ? ORDER BY uid, tseq",
			   &h.rows, err);
	if (r >= 0)
		stmt_bind_int(h.rows, 1, below);
	if (r >= 0)
		r = db_prepare(d, "SELECT uid, tseq, seq FROM audit_head ORDER BY uid", &h.heads,
			       err);
	if (r < 0)
		return r;
	r = next_head(&h, err);
	while (r >= 0 && (r = stmt_step(h.rows, err)) > 0)
		r = check_transition(&h, err);
	if (r >= 0)
		r = end_of_uid(&h, err);
	for (; r >= 0 && h.head_uid[0]; r = next_head(&h, err))
		check_lonely_head(&h);
	stmt_reset(h.rows);
	stmt_reset(h.heads);
	return r;
}

static int has_anchor(struct db *d, int64_t seq, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "SELECT 1 FROM audit_anchor WHERE size >= ? LIMIT 1", &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, seq);
	r = stmt_step(s, err);
	stmt_reset(s);
	return r;
}

int verify_pruned(struct db *d, const struct pruned *p, const struct verify_marks *m,
		  struct verify_report *rep, struct error *err)
{
	char when[CLOCK_TEXT_MAX];
	const struct verify_mark *by = NULL;
	if (!rep->hashes_to || !p->below)
		return 0;
	for (size_t i = 0; i < m->n; i++)
		if (m->items[i].done && !m->items[i].is_head &&
		    m->items[i].checkpoint.size >= p->seq)
			by = &m->items[i];
	int r = rep->is_archive ? 1 : has_anchor(d, p->seq, err);
	if (r < 0)
		return r;
	if (r == 0)
		verify_add(rep, p->seq, p->seq, "entries were pruned, and no anchor was told");
	if (!by)
		verify_unchecked(rep,
				 "entries 1..%" PRId64 ": pruned; no anchor that could be asked "
				 "remembers entry %" PRId64 ", which says so",
				 p->below - 1, p->seq);
	clock_format(p->time_us * NS_PER_US, CLOCK_SECONDS, when);
	(void)snprintf(rep->pruned, sizeof(rep->pruned),
		       "entries 1..%" PRId64 " were pruned %s by entry %" PRId64
		       ": their hashes are "
		       "checked, what they said is in %.*s%s%s%s",
		       p->below - 1, when, p->seq, PRUNED_FILE_MAX, p->file, by ? "; " : "",
		       by ? by->name : "", by ? " vouches for it" : "");
	return 0;
}

int verify_file(struct db *d, struct verify_report *rep, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "PRAGMA integrity_check(4)", &s, err);
	if (r < 0)
		return r;
	while ((r = stmt_step(s, err)) > 0) {
		struct str text = stmt_text(s, 0);
		if (!str_is(text, "ok"))
			verify_add(rep, 0, 0, "database file: %.*s",
				   STR_ARG(str_sub(text, 0, 120)));
	}
	return r;
}
