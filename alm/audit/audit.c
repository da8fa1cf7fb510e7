/*
 * audit: appending. Rows are inserted in the caller's transaction; the state here runs
 * ahead of the commit and is set back by audit_rolled_back().
 */
#include "alm/audit/audit.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/audit_internal.h"
#include "alm/audit/large.h"
#include "alm/audit/log.h"
#include "alm/audit/pruned.h"
#include "alm/audit/snapshot.h"
#include "alm/base/clock.h"

static const char insert_sql[] =
	"INSERT INTO audit (" LOG_COLUMNS ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
static const char head_sql[] = "INSERT INTO audit_head (uid, tseq, seq) VALUES (?,?,?)"
			       " ON CONFLICT(uid) DO UPDATE SET tseq = excluded.tseq,"
			       " seq = excluded.seq";

static int put_tile(void *arg, unsigned level, int64_t index, const unsigned char *hashes,
		    struct error *err)
{
	struct audit *a = arg;
	struct stmt *s;
	int r = db_prepare(a->db, "INSERT INTO audit_tile (id, hashes) VALUES (?, ?)", &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, tree_tile_id(level, index));
	stmt_bind_blob(s, 2, str_n((const char *)hashes, TREE_TILE_BYTES));
	return stmt_step(s, err);
}

static int put_row(struct audit *a, const struct record *rec,
		   const unsigned char chain[SHA256_BYTES], struct error *err)
{
	struct stmt *s;
	int r = db_prepare(a->db, insert_sql, &s, err);
	if (r < 0)
		return r;
	log_bind(s, rec, str_n((const char *)chain, SHA256_BYTES));
	return stmt_step(s, err);
}

static int put_head(struct audit *a, const struct record *rec, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(a->db, head_sql, &s, err);
	if (r < 0)
		return r;
	stmt_bind_text(s, 1, rec->uid);
	stmt_bind_int(s, 2, rec->tseq);
	stmt_bind_int(s, 3, rec->seq);
	return stmt_step(s, err);
}

static int put_refs(struct audit *a, int64_t seq, struct error *err)
{
	for (size_t i = 0; i < a->n_blobs; i++) {
		struct stmt *s;
		int r = db_prepare(a->db, "INSERT INTO audit_ref (seq, digest) VALUES (?, ?)", &s,
				   err);
		if (r < 0)
			return r;
		stmt_bind_int(s, 1, seq);
		stmt_bind_blob(s, 2, str_n((const char *)a->blobs[i], SHA256_BYTES));
		r = stmt_step(s, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The row, and what hangs on it; the state moves last. */
static int append_record(struct audit *a, const struct record *rec, struct error *err)
{
	unsigned char leaf[SHA256_BYTES], chain[SHA256_BYTES];
	record_leaf(rec, &a->scratch, leaf);
	int r = strbuf_check(&a->scratch, "audit record", err);
	if (r < 0)
		return r;
	chain_next(a->chain, leaf, chain);
	r = put_row(a, rec, chain, err);
	if (r >= 0 && rec->has_tseq)
		r = put_head(a, rec, err);
	if (r >= 0)
		r = put_refs(a, rec->seq, err);
	if (r >= 0)
		r = tree_push(&a->tree, leaf, put_tile, a, err);
	if (r < 0)
		return r;
	memcpy(a->chain, chain, sizeof(chain));
	a->last_seq = rec->seq;
	a->last_time_us = rec->time_us;
	return 0;
}

/* Foreign names are cleaned like everything else; the copy lives in b until the row is written. */
static struct str clean(const char *s, struct strbuf *b)
{
	struct str v = s ? str_of(s) : STR("");
	if (utf8_valid(v))
		return v;
	strbuf_init(b, STRBUF_SMALL);
	record_clean(v, b);
	return strbuf_str(b);
}

static int row_check(const struct audit *a, const struct audit_row *row, struct error *err)
{
	if (!row->type || !*row->type || !row->reason || !*row->reason)
		return error_set(err, E_INVALID, "an audit entry needs a type and a reason");
	if (row->op && strlen(row->op) > AUDIT_OP_MAX)
		return error_set(err, E_LIMIT, "op %.80s is longer than %d bytes", row->op,
				 AUDIT_OP_MAX);
	if (row->cause < 0 || row->cause > a->last_seq)
		return error_set(err, E_INVALID, "cause %" PRId64 " is no entry of the log",
				 row->cause);
	if (row->transition_seq && (!row->subject.uid || !*row->subject.uid))
		return error_set(err, E_INVALID, "a Transition needs the uid of its subject");
	return 0;
}

static int op_seq(struct audit *a, const char *op, int64_t *ret, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(a->db, "SELECT seq FROM audit WHERE op = ? AND op IS NOT NULL", &s, err);
	if (r < 0)
		return r;
	stmt_bind_cstr(s, 1, op);
	r = stmt_step(s, err);
	if (r > 0)
		*ret = stmt_int(s, 0);
	stmt_reset(s);
	return r;
}

void audit_set_epoch(struct audit *a, int64_t epoch)
{
	a->epoch = epoch;
}

/* In a->body. What is too large for a row is in blobs afterwards. */
static int print_body(struct audit *a, const struct audit_row *row, struct record_facts *f,
		      struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *small = NULL;
	strbuf_clear(&a->body);
	f->blobs = (int64_t)a->n_blobs;
	int r = record_body(row->body, f, &a->body, err);
	if (r < 0 || (!a->body.over && a->body.len <= AUDIT_BODY_BYTES_MAX))
		return r;
	r = large_body(a, row->body, &small, err);
	if (r < 0)
		return r;
	strbuf_clear(&a->body);
	f->blobs = (int64_t)a->n_blobs;
	r = record_body(small, f, &a->body, err);
	if (r >= 0 && (a->body.over || a->body.len > AUDIT_BODY_BYTES_MAX))
		return error_set(err, E_LIMIT,
				 "the body of audit entry %s %s is larger than %d bytes", row->type,
				 row->reason, AUDIT_BODY_BYTES_MAX);
	return r;
}

static int append_new(struct audit *a, const struct audit_row *row, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf actor = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf ns = STRBUF_INIT(STRBUF_SMALL);
	int64_t now_us = loop_now(a->loop) / NS_PER_US;
	int64_t time_us = now_us > a->last_time_us ? now_us : a->last_time_us;
	struct record_facts facts = {.clock_us = now_us == time_us ? 0 : now_us,
				     .epoch = a->epoch,
				     .has_epoch = a->epoch >= 0};
	int r = row->cause ? audit_root_of(a, row->cause, &facts.root, err) : 0;
	if (r >= 0)
		r = print_body(a, row, &facts, err);
	if (r < 0)
		return r;
	struct record rec = {
		.seq = a->last_seq + 1,
		.time_us = time_us,
		.type = str_of(row->type),
		.reason = str_of(row->reason),
		.cluster = str_of(row->subject.cluster ? row->subject.cluster : ""),
		.kind = str_of(row->subject.kind ? row->subject.kind : ""),
		.ns = clean(row->subject.ns, &ns),
		.name = clean(row->subject.name, &name),
		.uid = str_of(row->subject.uid ? row->subject.uid : ""),
		.has_tseq = row->transition_seq != 0,
		.tseq = row->transition_seq,
		.op = str_of(row->op),
		.has_cause = row->cause != 0,
		.cause = row->cause,
		.actor = row->actor ? clean(row->actor, &actor) : STR_NONE,
		.body = strbuf_str(&a->body),
	};
	r = append_record(a, &rec, err);
	if (r >= 0)
		audit_keep_root(a, rec.seq, facts.root ? facts.root : rec.seq);
	return r;
}

/* Somebody set the clock, or the machine slept: from here on times are of another clock. The blobs
 * that wait are those of the entry behind this one. */
static int note_clock(struct audit *a, struct error *err)
{
	int64_t clock_ns = loop_now(a->loop) - loop_mono(a->loop);
	int64_t by = clock_ns - a->clock_ns;
	size_t n_blobs = a->n_blobs;
	if (by <= AUDIT_CLOCK_STEP_NS && by >= -AUDIT_CLOCK_STEP_NS) {
		a->clock_ns = clock_ns;
		return 0;
	}
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	obj_set_str(body, "what", "clock");
	obj_set(body, "details", obj_stringf("%+" PRId64 " s", by / NS_PER_S));
	const struct audit_row row = {.type = "System",
				      .reason = "ClockStepped",
				      .subject = {.kind = "Log", .name = a->origin},
				      .body = body};
	a->n_blobs = 0;
	int r = append_new(a, &row, err);
	a->n_blobs = n_blobs;
	if (r < 0)
		return r;
	a->clock_before_ns = a->clock_ns;
	a->clock_seq = a->last_seq;
	a->clock_ns = clock_ns;
	audit_pend(a, &row);
	return 0;
}

int audit_append(struct audit *a, const struct audit_row *row, int64_t *ret_seq, struct error *err)
{
	if (a->read_only)
		return error_set(err, E_UNAVAILABLE, "%s", a->read_only);
	int r = row_check(a, row, err);
	if (r >= 0 && row->op)
		r = op_seq(a, row->op, ret_seq, err);
	if (r == 0)
		r = note_clock(a, err);
	if (r == 0)
		r = append_new(a, row, err);
	else if (r > 0) {
		a->n_blobs = 0;
		return 1;
	}
	a->n_blobs = 0;
	if (r < 0)
		return r;
	if (!strcmp(row->type, "Approval"))
		a->checkpoint_at_once = true;
	audit_pend(a, row);
	*ret_seq = a->last_seq;
	return 0;
}

int audit_load_end(struct audit *a, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(a->db, "SELECT seq, time, chain FROM audit ORDER BY seq DESC LIMIT 1",
			   &s, err);
	if (r < 0)
		return r;
	r = stmt_step(s, err);
	if (r > 0) {
		struct str chain = stmt_blob(s, 2);
		a->last_seq = stmt_int(s, 0);
		a->last_time_us = stmt_int(s, 1);
		if (chain.len == SHA256_BYTES)
			memcpy(a->chain, chain.ptr, SHA256_BYTES);
	} else if (r == 0) {
		a->last_seq = a->last_time_us = 0;
		chain_start(a->origin, a->chain);
	}
	stmt_reset(s);
	return r < 0 ? r : 0;
}

void audit_rolled_back(struct audit *a)
{
	struct error err = ERROR_INIT;
	int64_t was = a->last_seq;
	struct tree_level *leaves = &a->tree.level[0];
	a->n_rolled_back++;
	a->n_blobs = 0;
	memset(a->roots, 0, sizeof(a->roots));
	if (audit_load_end(a, &err) < 0)
		return; /* the handle is broken: every append fails from here */
	audit_drop_pending(a, a->last_seq);
	if (a->clock_seq > a->last_seq) { /* the step is to be told again */
		a->clock_ns = a->clock_before_ns;
		a->clock_seq = 0;
	}
	int64_t gone = was - a->last_seq;
	if (gone == 0 && a->tree.size == a->last_seq)
		return;
	if (a->tree.size == was && gone >= 0 && gone <= leaves->n) {
		leaves->n -= (unsigned)gone;
		a->tree.size -= gone;
	} else
		(void)log_load_tree(a->db, a->last_seq, &a->tree, &err);
}

uint64_t audit_times_rolled_back(const struct audit *a)
{
	return a->n_rolled_back;
}

int audit_append_now(struct audit *a, const struct audit_row *row, int64_t *ret_seq,
		     struct error *err)
{
	bool nested = db_in_transaction(a->db);
	if (!nested && db_begin(a->db, err) < 0)
		return -err->code;
	if (audit_append(a, row, ret_seq, err) < 0 || (!nested && db_commit(a->db, err) < 0)) {
		if (!nested)
			db_rollback(a->db);
		audit_rolled_back(a);
		return -err->code;
	}
	if (!nested)
		audit_committed(a);
	return 0;
}

void audit_committed(struct audit *a)
{
	int64_t from = a->committed_seq + 1, to = a->last_seq;
	if (to < from)
		return;
	a->committed_seq = to;
	if (a->n_pending)
		audit_tell_pending(a);
	int64_t since = loop_mono(a->loop) - a->checkpoint_mono_ns;
	int64_t wait = since >= AUDIT_SIGN_EVERY_NS ? 0 : AUDIT_SIGN_EVERY_NS - since;
	if (a->checkpoint_at_once)
		audit_sign_due(a);
	else if (!heap_holds(&a->timer.node))
		loop_arm(a->loop, &a->timer, wait);
	if (a->on_commit)
		a->on_commit(a->on_commit_arg, from, to);
}

int audit_blob_put(struct audit *a, struct str bytes, char ret_digest[SHA256_HEX],
		   struct error *err)
{
	unsigned char digest[SHA256_BYTES];
	struct stmt *s;
	if (bytes.len > AUDIT_BLOB_BYTES_MAX)
		return error_set(err, E_LIMIT, "an audit blob is larger than %zu bytes",
				 AUDIT_BLOB_BYTES_MAX);
	if (a->n_blobs == AUDIT_BLOBS_PER_ROW_MAX)
		return error_set(err, E_LIMIT, "an audit entry names more than %d blobs",
				 AUDIT_BLOBS_PER_ROW_MAX);
	sha256(bytes, digest);
	hex_encode(digest, sizeof(digest), ret_digest);
	for (size_t i = 0; i < a->n_blobs; i++)
		if (!memcmp(a->blobs[i], digest, SHA256_BYTES))
			return 0;
	int r = db_prepare(a->db,
			   "INSERT INTO audit_blob (digest, bytes) VALUES (?, ?)"
			   " ON CONFLICT(digest) DO NOTHING",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_blob(s, 1, str_n((const char *)digest, sizeof(digest)));
	stmt_bind_blob(s, 2, bytes.ptr ? bytes : STR(""));
	r = stmt_step(s, err);
	if (r < 0)
		return r;
	memcpy(a->blobs[a->n_blobs++], digest, SHA256_BYTES);
	return 0;
}

int audit_head(struct audit *a, const char *uid, int64_t *ret_tseq, int64_t *ret_row_seq,
	       struct error *err)
{
	struct stmt *s;
	int r = db_prepare(a->db, "SELECT tseq, seq FROM audit_head WHERE uid = ?", &s, err);
	if (r < 0)
		return r;
	stmt_bind_cstr(s, 1, uid);
	r = stmt_step(s, err);
	if (r >= 0) {
		*ret_tseq = r ? stmt_int(s, 0) : 0;
		*ret_row_seq = r ? stmt_int(s, 1) : 0;
	}
	stmt_reset(s);
	return r < 0 ? r : 0;
}

int audit_row_get(struct audit *a, int64_t seq, struct obj **ret, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(a->db, "SELECT " LOG_COLUMNS " FROM audit WHERE seq = ?", &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, seq);
	r = log_entry(s, ret, err);
	return r < 0 || *ret ? r : pruned_no_entry(a->db, seq, err);
}

int audit_row_by_op(struct audit *a, const char *op, int64_t *ret_seq, struct error *err)
{
	int r = op_seq(a, op, ret_seq, err);
	return r == 0 ? error_set(err, E_NOTFOUND, "no audit entry of op %s", op) : r;
}

bool audit_is_deleted(struct audit *a, const char *uid, int64_t row_seq)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	if (row_seq < audit_first_seq(a)) {
		CLEANUP(obj_unrefp) struct obj *entry = snapshot_find(a->pruned, uid);
		return cstr_eq(obj_str(entry, "reason"), "Deleted");
	}
	if (db_prepare(a->db, "SELECT reason = 'Deleted' FROM audit WHERE seq = ?", &s, &err) < 0)
		return false;
	stmt_bind_int(s, 1, row_seq);
	bool deleted = stmt_step(s, &err) > 0 && stmt_int(s, 0);
	stmt_reset(s);
	return deleted;
}

int64_t audit_last_seq(const struct audit *a)
{
	return a->last_seq;
}

const char *audit_origin(const struct audit *a)
{
	return a->origin;
}

const char *audit_origin_tag(const struct audit *a)
{
	return a->tag;
}

void audit_on_row(struct audit *a, void (*fn)(void *arg, const struct audit_row *row), void *arg)
{
	a->on_row = fn;
	a->on_row_arg = arg;
}

void audit_on_commit(struct audit *a, void (*fn)(void *arg, int64_t from, int64_t to), void *arg)
{
	a->on_commit = fn;
	a->on_commit_arg = arg;
}
