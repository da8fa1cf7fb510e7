/* prune: see prune.h. */
#include "alm/audit/prune.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/audit_internal.h"
#include "alm/audit/export.h"
#include "alm/audit/kept.h"
#include "alm/audit/log.h"
#include "alm/audit/proof.h"
#include "alm/audit/prune_delete.h"
#include "alm/audit/prune_facts.h"
#include "alm/audit/pruned.h"
#include "alm/audit/query.h"
#include "alm/base/file.h"
#include "alm/base/log.h"

#define SLICE_PAUSE  (5 * NS_PER_MS)
#define BUSY_PAUSE   (20 * NS_PER_MS)
#define ANCHOR_PAUSE (250 * NS_PER_MS)
#define WAITS_MAX    40 /* then once a minute */
#define READ_BYTES   ((size_t)1 << 20)
#define FREE_BYTES   ((int64_t)256 << 20) /* of the volume: the archive, and its entry */

enum phase { PRUNE_IDLE, PRUNE_WRITE, PRUNE_READ, PRUNE_SAY, PRUNE_WAIT, PRUNE_DELETE };

struct pruner {
	struct pruner_config c;
	struct timer timer;
	enum phase phase;
	int64_t from, below; /* entries from..below-1 go */
	int64_t at;          /* the next one to be written */
	int64_t seq;         /* of the entry Pruned */
	int waited;          /* how often an anchor was looked for */
	/* While an archive is made. */
	char *path;
	struct file_writer *writer;
	struct sha256 *hash;
	uint64_t bytes;
	int fd;
	unsigned char chain[SHA256_BYTES], digest[SHA256_BYTES];
	struct prune_facts *facts;
};

/* What is half made; the archive too, unless its entry names it. */
static void drop(struct pruner *p, bool with_archive)
{
	struct error err = ERROR_INIT;
	if (p->writer)
		file_writer_drop(p->writer);
	else if (with_archive && p->path)
		(void)file_remove(p->path, &err);
	p->writer = NULL;
	file_close(&p->fd);
	p->fd = -1;
	sha256_freep(&p->hash);
	p->hash = NULL;
	prune_facts_free(p->facts);
	p->facts = NULL;
	xfree(p->path);
	p->path = NULL;
}

/* --- what there is to do --- */

/* An entry Pruned that came after the last row of audit_prune. */
static int find_said(struct pruner *p, int64_t done, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	int64_t seq = 0;
	int r = db_number(p->c.db,
			  "SELECT max(seq) FROM audit WHERE kind = 'Log' AND type = 'System' AND"
			  " reason = 'Pruned'",
			  NULL, &seq, err);
	if (r >= 0 && seq)
		r = audit_row_get(p->c.audit, seq, &row, err);
	const char *file = obj_str(row, "body.file");
	if (r < 0 || obj_i64(row, "body.below", 0) <= done || !file)
		return r;
	strbuf_addf(&path, "%s/%s", p->c.dir, file);
	if (!file_exists(path.buf)) {
		log_warn("an archive of the audit log is gone before its entries went", "archive",
			 path.buf);
		return 0; /* another one is made */
	}
	p->below = obj_i64(row, "body.below", 0);
	p->seq = seq;
	p->phase = PRUNE_WAIT;
	anchors_hurry(p->c.anchors, seq);
	return 1;
}

/* Up to which entry: older than the retention, whole tiles, and enough of them: an entry Pruned
 * says again what holds of every object. */
static int find_below(struct pruner *p, int64_t *ret, struct error *err)
{
	int64_t old = 0, heads = 0, wall_us = loop_now(p->c.loop) / NS_PER_US;
	int r = query_seq_at(p->c.db, wall_us - p->c.retain_ns / NS_PER_US, &old, err);
	if (r >= 0)
		r = db_number(p->c.db, "SELECT count(*) FROM audit_head", NULL, &heads, err);
	if (r < 0)
		return r;
	if (old > p->from - 1 + PRUNE_ROWS_MAX)
		old = p->from - 1 + PRUNE_ROWS_MAX;
	*ret = old / TREE_TILE * TREE_TILE + 1;
	if (*ret - p->from < PRUNE_PER_HEAD * heads)
		*ret = 0;
	return 0;
}

static int open_archive(struct pruner *p, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "%s/audit-%s-%" PRId64 "-%" PRId64 ".jsonl", p->c.dir,
		    audit_origin_tag(p->c.audit), p->from, p->below - 1);
	p->path = strbuf_detach(&b);
	p->fd = -1;
	p->hash = sha256_new();
	p->bytes = 0;
	p->at = p->from;
	int r = file_remove(p->path, err); /* of an attempt that ended before its entry */
	if (r >= 0)
		r = prune_facts_new(p->c.db, &p->facts, err);
	return r < 0 ? r : file_writer_new(p->path, 0600, &p->writer, err);
}

static int add_line(void *arg, struct str line, struct error *err)
{
	struct pruner *p = arg;
	sha256_add(p->hash, line.ptr, line.len);
	p->bytes += line.len;
	return file_writer_add(p->writer, line, err);
}

/* Begins an archive, goes on where the last run stopped, or waits. */
static int look(struct pruner *p, struct error *err)
{
	struct pruned done;
	int64_t first = 0, below = 0;
	int r = pruned_load(p->c.db, &done, err);
	if (r >= 0)
		r = db_number(p->c.db, "SELECT min(seq) FROM audit", NULL, &first, err);
	if (r < 0)
		return r;
	if (first < done.below) {
		p->below = done.below;
		p->phase = PRUNE_DELETE;
		return 0;
	}
	p->from = done.below ? done.below : 1;
	memcpy(p->chain, done.chain, sizeof(p->chain));
	if (!done.below)
		chain_start(audit_origin(p->c.audit), p->chain);
	r = find_said(p, done.below, err);
	if (r == 0)
		r = find_below(p, &below, err);
	if (r < 0 || p->phase != PRUNE_IDLE || below <= p->from)
		return r;
	if (db_free_bytes(p->c.db) < FREE_BYTES)
		return error_set(err, E_UNAVAILABLE, "less than %d MiB are free for an archive",
				 (int)(FREE_BYTES >> 20));
	p->below = below;
	r = open_archive(p, err);
	if (r >= 0)
		r = export_tiles(p->c.db, p->from - 1, add_line, p, err);
	p->phase = PRUNE_WRITE;
	return r;
}

/* --- the archive --- */

static int check_entry(struct pruner *p, const struct record *rec, struct str stored,
		       struct strbuf *scratch, struct error *err)
{
	unsigned char leaf[SHA256_BYTES];
	record_leaf(rec, scratch, leaf);
	chain_next(p->chain, leaf, p->chain);
	if (!str_eq(stored, str_n((const char *)p->chain, SHA256_BYTES)))
		return error_set(err, E_ALTERED,
				 "entry %" PRId64 " does not fit the chain: alm audit verify says "
				 "more",
				 rec->seq);
	return prune_facts_add(p->facts, rec, err);
}

/* What is written is what the chain says was written. */
static int check_slice(struct pruner *p, int64_t to, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf scratch = STRBUF_INIT(RECORD_BYTES_MAX);
	struct stmt *s;
	struct record rec;
	int64_t n = 0;
	int r = log_range(p->c.db, p->at - 1, to, &s, err);
	if (r < 0)
		return r;
	while ((r = stmt_step(s, err)) > 0) {
		log_record(s, &rec);
		r = check_entry(p, &rec, stmt_blob(s, LOG_CHAIN_COLUMN), &scratch, err);
		if (r < 0)
			break;
		n++;
	}
	stmt_reset(s);
	if (r >= 0 && n != to - p->at + 1)
		r = error_set(err, E_ALTERED,
			      "entries are missing between %" PRId64 " and %" PRId64, p->at, to);
	return r;
}

/* A checkpoint of just what the archives have, if today's key is the one of then. */
static int add_checkpoint(struct pruner *p, struct error *err)
{
	unsigned char root[SHA256_BYTES];
	CLEANUP(strbuf_release) struct strbuf note = STRBUF_INIT(CHECKPOINT_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(2 * CHECKPOINT_BYTES_MAX);
	int64_t size = p->below - 1, newer = 0, signed_already = 0;
	int r = db_number(p->c.db, "SELECT count(*) FROM audit_key WHERE size > ?", &size, &newer,
			  err);
	if (r >= 0)
		r = db_number(p->c.db, "SELECT count(*) FROM audit_checkpoint WHERE size = ?",
			      &size, &signed_already, err);
	if (r < 0 || newer || signed_already)
		return r;
	r = proof_root(log_subtree, p->c.db, size, root, err);
	if (r >= 0)
		r = checkpoint_sign(p->c.audit->signer, size, root, &note, err);
	if (r < 0)
		return r;
	export_checkpoint_line(size, strbuf_str(&note), &line);
	return add_line(p, strbuf_str(&line), err);
}

static int end_archive(struct pruner *p, struct error *err)
{
	int r = export_signed(p->c.db, p->from, p->below - 1, add_line, p, err);
	if (r >= 0)
		r = add_checkpoint(p, err);
	if (r >= 0)
		r = file_writer_close(STEAL(p->writer), err);
	if (r >= 0)
		r = dir_flush(p->c.dir, err);
	if (r >= 0)
		r = file_open(p->path, &p->fd, err);
	sha256_final(p->hash, p->digest);
	p->phase = PRUNE_READ;
	return r;
}

static int write_slice(struct pruner *p, struct error *err)
{
	int64_t to = p->at + PRUNE_SLICE_ROWS - 1;
	int r = check_slice(p, to, err);
	if (r >= 0)
		r = export_between(p->c.db, p->at, to, add_line, p, err);
	if (r < 0)
		return r;
	p->at = to + 1;
	if (p->bytes >= PRUNE_BYTES_MAX)
		p->below = p->at;
	return p->at < p->below ? 0 : end_archive(p, err);
}

/* The file has what was written: before anything is deleted. */
static int read_slice(struct pruner *p, struct error *err)
{
	unsigned char digest[SHA256_BYTES];
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(READ_BYTES);
	int r = file_read_part(p->fd, p->path, READ_BYTES, &b, err);
	if (r < 0)
		return r;
	sha256_add(p->hash, b.buf, b.len);
	if (b.len)
		return 0;
	sha256_final(p->hash, digest);
	if (memcmp(digest, p->digest, sizeof(digest)) != 0)
		return error_set(err, E_ALTERED, "%s is not what was written", p->path);
	p->phase = PRUNE_SAY;
	return 0;
}

/* --- the entry --- */

/* It counts still, and its entry goes: said again. */
static int keep_again(void *arg, const char *name, const char *digest, struct error *err)
{
	struct pruner *p = arg;
	char now[SHA256_HEX];
	int64_t seq = 0;
	int r = kept_digest(p->c.db, "Catalog", name, now, &seq, err);
	if (r < 0 || seq >= p->below || !cstr_eq(now, digest))
		return r < 0 ? r : 0;
	return kept_append(p->c.audit, "Catalog", name, digest, err);
}

static struct obj *describe(struct pruner *p)
{
	char chain[SHA256_HEX], digest[SHA256_HEX];
	struct obj *body = obj_map();
	hex_encode(p->chain, SHA256_BYTES, chain);
	hex_encode(p->digest, SHA256_BYTES, digest);
	obj_set_str(body, "what", "pruned");
	obj_set_int(body, "from", p->from);
	obj_set_int(body, "below", p->below);
	obj_set_str(body, "chain", chain);
	obj_set(body, "archive", obj_stringf("sha256:%s", digest));
	obj_set_str(body, "file", strrchr(p->path, '/') + 1);
	obj_set(body, "message",
		obj_stringf("entries %" PRId64 " to %" PRId64 " are older than --audit-retain; "
			    "%s has them",
			    p->from, p->below - 1, strrchr(p->path, '/') + 1));
	return body;
}

static int append_pruned(struct pruner *p, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *body = describe(p);
	struct snapshot_writer w;
	int r = prune_facts_each_kept(p->facts, keep_again, p, err);
	snapshot_begin(&w, p->c.audit);
	if (r >= 0)
		r = prune_facts_put(p->facts, &w, p->below - 1, body, err);
	snapshot_release(&w);
	struct audit_row row = {.type = "System",
				.reason = "Pruned",
				.subject = {.kind = "Log", .name = audit_origin(p->c.audit)},
				.body = body};
	return r < 0 ? r : audit_append(p->c.audit, &row, &p->seq, err);
}

static int say(struct pruner *p, struct error *err)
{
	int r = db_begin(p->c.db, err);
	if (r < 0)
		return r;
	r = append_pruned(p, err);
	if (r >= 0)
		r = db_commit(p->c.db, err);
	if (r < 0) {
		db_rollback(p->c.db);
		audit_rolled_back(p->c.audit);
		return r;
	}
	p->c.audit->checkpoint_at_once = true;
	audit_committed(p->c.audit);
	p->phase = PRUNE_WAIT;
	drop(p, false);
	anchors_hurry(p->c.anchors, p->seq);
	return 0;
}

/* --- the end of the entries --- */

static int mark_pruned(struct pruner *p, struct error *err)
{
	return prune_mark(p->c.audit, p->from, p->below, p->seq, err);
}

static int in_transaction(struct pruner *p, int (*fn)(struct pruner *p, struct error *err),
			  struct error *err)
{
	int r = db_begin(p->c.db, err);
	if (r < 0)
		return r;
	r = fn(p, err);
	if (r >= 0)
		return db_commit(p->c.db, err) < 0 ? -err->code : r;
	db_rollback(p->c.db);
	return r;
}

static int await_anchor(struct pruner *p, struct error *err)
{
	int64_t n = 0;
	int r = db_number(p->c.db, "SELECT count(*) FROM audit_anchor WHERE size >= ?", &p->seq, &n,
			  err);
	if (r < 0 || !n) {
		if (++p->waited == WAITS_MAX)
			log_warn("pruning of the audit log waits for an anchor");
		return r;
	}
	p->waited = 0;
	r = in_transaction(p, mark_pruned, err);
	if (r < 0)
		return r;
	p->phase = PRUNE_DELETE;
	return audit_load_pruned(p->c.audit, err);
}

static int delete_slice(struct pruner *p, struct error *err)
{
	return prune_delete_slice(p->c.db, p->below, err);
}

static int delete_some(struct pruner *p, struct error *err)
{
	int r = in_transaction(p, delete_slice, err);
	if (r == 0)
		p->phase = PRUNE_IDLE;
	return r;
}

/* --- a turn --- */

static int turn(struct pruner *p, struct error *err)
{
	switch (p->phase) {
	case PRUNE_IDLE:
		return look(p, err);
	case PRUNE_WRITE:
		return write_slice(p, err);
	case PRUNE_READ:
		return read_slice(p, err);
	case PRUNE_SAY:
		return say(p, err);
	case PRUNE_WAIT:
		return await_anchor(p, err);
	case PRUNE_DELETE:
		return delete_some(p, err);
	}
	return 0;
}

static void on_timer(void *arg)
{
	struct pruner *p = arg;
	struct error err = ERROR_INIT;
	if (db_in_transaction(p->c.db)) {
		loop_arm(p->c.loop, &p->timer, BUSY_PAUSE);
		return;
	}
	if (db_is_broken(p->c.db) || audit_read_only(p->c.audit)) {
		loop_arm(p->c.loop, &p->timer, PRUNE_EVERY_NS);
		return;
	}
	enum phase before = p->phase;
	int r = turn(p, &err);
	if (r < 0) {
		log_error("the audit log is not pruned", "error", err.msg);
		drop(p, true);
		p->phase = PRUNE_IDLE;
	}
	bool waits = r < 0 || (p->phase == PRUNE_IDLE && before == PRUNE_IDLE);
	loop_arm(p->c.loop, &p->timer,
		 waits                    ? PRUNE_EVERY_NS
		 : p->phase != PRUNE_WAIT ? SLICE_PAUSE
		 : p->waited < WAITS_MAX  ? ANCHOR_PAUSE
					  : NS_PER_MIN);
}

struct pruner *pruner_new(const struct pruner_config *c)
{
	struct pruner *p = xcalloc(1, sizeof(*p));
	p->c = *c;
	p->fd = -1;
	p->timer = (struct timer){.fn = on_timer, .arg = p};
	loop_arm(c->loop, &p->timer, PRUNE_FIRST_NS);
	return p;
}

void pruner_free(struct pruner *p)
{
	if (!p)
		return;
	loop_disarm(p->c.loop, &p->timer);
	drop(p, p->phase == PRUNE_WRITE || p->phase == PRUNE_READ || p->phase == PRUNE_SAY);
	xfree(p);
}
