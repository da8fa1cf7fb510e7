/* log: reading the audit tables. Rows are read as they are; nothing here judges them. */
#include "alm/audit/log.h"

#include <inttypes.h>
#include <string.h>

#include "alm/obj/json.h"

/* Verifying a log is mostly this and the hashes. */
void log_record(struct stmt *s, struct record *r)
{
	r->seq = stmt_int(s, 0);
	r->time_us = stmt_int(s, 1);
	r->type = stmt_bytes(s, 2);
	r->reason = stmt_bytes(s, 3);
	r->cluster = stmt_bytes(s, 4);
	r->kind = stmt_bytes(s, 5);
	r->ns = stmt_bytes(s, 6);
	r->name = stmt_bytes(s, 7);
	r->uid = stmt_bytes(s, 8);
	r->tseq = stmt_int(s, 9);
	r->has_tseq = r->tseq || !stmt_is_null(s, 9);
	r->op = stmt_bytes_opt(s, 10);
	r->cause = stmt_int(s, 11);
	r->has_cause = r->cause || !stmt_is_null(s, 11);
	r->actor = stmt_bytes_opt(s, 12);
	r->body = stmt_bytes(s, 13);
}

static void bind_opt(struct stmt *s, int i, struct str v)
{
	if (v.ptr)
		stmt_bind_text(s, i, v);
	else
		stmt_bind_null(s, i);
}

static void bind_opt_int(struct stmt *s, int i, bool has, int64_t v)
{
	if (has)
		stmt_bind_int(s, i, v);
	else
		stmt_bind_null(s, i);
}

void log_bind(struct stmt *s, const struct record *rec, struct str chain)
{
	stmt_bind_int(s, 1, rec->seq);
	stmt_bind_int(s, 2, rec->time_us);
	stmt_bind_text(s, 3, rec->type);
	stmt_bind_text(s, 4, rec->reason);
	stmt_bind_text(s, 5, rec->cluster);
	stmt_bind_text(s, 6, rec->kind);
	stmt_bind_text(s, 7, rec->ns);
	stmt_bind_text(s, 8, rec->name);
	stmt_bind_text(s, 9, rec->uid);
	bind_opt_int(s, 10, rec->has_tseq, rec->tseq);
	bind_opt(s, 11, rec->op);
	bind_opt_int(s, 12, rec->has_cause, rec->cause);
	bind_opt(s, 13, rec->actor);
	stmt_bind_text(s, 14, rec->body);
	stmt_bind_blob(s, 15, chain);
}

int log_origin(struct db *d, char **ret, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d,
			   "SELECT name FROM audit WHERE kind = 'Log' AND type = 'System'"
			   " ORDER BY seq LIMIT 1",
			   &s, err);
	if (r < 0)
		return r;
	r = stmt_step(s, err);
	if (r > 0)
		*ret = str_dup(stmt_text(s, 0));
	stmt_reset(s);
	return r == 0 ? error_set(err, E_NOTFOUND, "the audit log has no LogOpened record") : r;
}

int log_range(struct db *d, int64_t after, int64_t to, struct stmt **ret, struct error *err)
{
	int r = db_prepare(
		d, "SELECT " LOG_COLUMNS " FROM audit WHERE seq > ? AND seq <= ? ORDER BY seq", ret,
		err);
	if (r < 0)
		return r;
	stmt_bind_int(*ret, 1, after);
	stmt_bind_int(*ret, 2, to);
	return 0;
}

static int load_leaves(struct db *d, int64_t from, int64_t to, struct tree_level *level,
		       struct error *err)
{
	struct stmt *s;
	struct record rec;
	CLEANUP(strbuf_release) struct strbuf scratch = STRBUF_INIT(RECORD_BYTES_MAX);
	int r = log_range(d, from, to, &s, err);
	if (r < 0)
		return r;
	while ((r = stmt_step(s, err)) > 0 && level->n < TREE_TILE) {
		log_record(s, &rec);
		record_leaf(&rec, &scratch, level->hash[level->n++]);
	}
	stmt_reset(s);
	if (r < 0)
		return r;
	if (level->n != to - from)
		return error_set(err, E_ALTERED,
				 "entries are missing between %" PRId64 " and %" PRId64, from, to);
	return 0;
}

static int load_subtrees(struct db *d, unsigned level, int64_t from, int64_t to,
			 struct tree_level *into, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "SELECT hashes FROM audit_tile WHERE id >= ? AND id < ? ORDER BY id",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, tree_tile_id(level - 1, from));
	stmt_bind_int(s, 2, tree_tile_id(level - 1, to));
	while ((r = stmt_step(s, err)) > 0 && into->n < TREE_TILE) {
		struct str hashes = stmt_blob(s, 0);
		if (hashes.len != TREE_TILE_BYTES)
			break;
		tree_tile_root((const unsigned char *)hashes.ptr, into->hash[into->n++]);
	}
	stmt_reset(s);
	if (r < 0)
		return r;
	if (into->n != to - from)
		return error_set(err, E_ALTERED, "tiles of level %u are missing or damaged",
				 level - 1);
	return 0;
}

int log_load_tree(struct db *d, int64_t size, struct tree *t, struct error *err)
{
	int64_t n = size;
	tree_init(t);
	for (unsigned l = 0; l < TREE_LEVELS && n > 0; l++, n /= TREE_TILE) {
		int64_t from = n / TREE_TILE * TREE_TILE;
		int r = l == 0 ? load_leaves(d, from, n, &t->level[0], err)
			       : load_subtrees(d, l, from, n, &t->level[l], err);
		if (r < 0)
			return r;
	}
	t->size = size;
	return 0;
}

int log_stored_tile(struct db *d, unsigned level, int64_t index,
		    unsigned char out[TREE_TILE][SHA256_BYTES], struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, "SELECT hashes FROM audit_tile WHERE id = ?", &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, tree_tile_id(level, index));
	r = stmt_step(s, err);
	if (r > 0) {
		struct str hashes = stmt_blob(s, 0);
		r = hashes.len == TREE_TILE_BYTES;
		if (r)
			memcpy(out, hashes.ptr, TREE_TILE_BYTES);
	}
	stmt_reset(s);
	return r;
}

/* n hashes of one tile from the entry first on: leaves, or roots of tiles below. */
/* NOLINTNEXTLINE(misc-no-recursion): one level less each time */
static int tile_entries(struct db *d, unsigned level, int64_t first, unsigned n,
			unsigned char out[TREE_TILE][SHA256_BYTES], struct error *err)
{
	int64_t at = first % TREE_TILE;
	unsigned char(*tile)[SHA256_BYTES] = xmalloc(TREE_TILE_BYTES);
	int r = log_stored_tile(d, level, first / TREE_TILE, tile, err);
	if (r > 0) {
		memmove(out, tile[at], (size_t)n * SHA256_BYTES);
	} else if (r == 0 && level == 0) {
		struct tree_level rows = {.n = 0};
		r = load_leaves(d, first, first + n, &rows, err);
		memcpy(out, rows.hash, (size_t)n * SHA256_BYTES);
	}
	for (unsigned i = 0; r == 0 && level > 0 && i < n; i++) {
		r = tile_entries(d, level - 1, (first + i) * TREE_TILE, TREE_TILE, tile, err);
		if (r >= 0)
			tree_tile_root(tile[0], out[i]);
		r = r < 0 ? r : 0;
	}
	xfree(tile);
	return r < 0 ? r : 0;
}

int log_tile(struct db *d, unsigned level, int64_t index, unsigned n,
	     unsigned char out[TREE_TILE][SHA256_BYTES], struct error *err)
{
	return tile_entries(d, level, index * TREE_TILE, n, out, err);
}

int log_subtree(void *arg, unsigned level, int64_t index, unsigned char out[SHA256_BYTES],
		struct error *err)
{
	unsigned char(*entries)[SHA256_BYTES] = xmalloc(TREE_TILE_BYTES);
	unsigned width = 1u << (level % 8);
	int r = tile_entries(arg, level / 8, index * width, width, entries, err);
	for (; r >= 0 && width > 1; width /= 2)
		for (size_t i = 0; i < width / 2; i++)
			tree_node(entries[2 * i], entries[2 * i + 1], entries[i]);
	memcpy(out, entries[0], SHA256_BYTES);
	xfree(entries);
	return r;
}

int log_object(const struct record *rec, struct obj **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(RECORD_BYTES_MAX);
	record_print(rec, &b);
	int r = json_parse(strbuf_str(&b), ret, err);
	if (r < 0)
		return error_set(err, E_CORRUPT, "audit entry %" PRId64 " is no JSON", rec->seq);
	return 0;
}

int log_entry(struct stmt *s, struct obj **ret, struct error *err)
{
	struct record rec;
	*ret = NULL;
	int r = stmt_step(s, err);
	if (r > 0) {
		log_record(s, &rec);
		r = log_object(&rec, ret, err);
	}
	stmt_reset(s);
	return r;
}

int log_blob(struct db *d, const char *hex, struct strbuf *ret, struct error *err)
{
	unsigned char digest[SHA256_BYTES];
	struct stmt *s;
	if (!hex_decode(str_of(hex), digest, sizeof(digest)))
		return error_set(err, E_BADREQUEST, "%.80s is no SHA-256 digest", hex);
	int r = db_prepare(d, "SELECT bytes FROM audit_blob WHERE digest = ?", &s, err);
	if (r < 0)
		return r;
	stmt_bind_blob(s, 1, str_n((const char *)digest, sizeof(digest)));
	r = stmt_step(s, err);
	if (r > 0)
		strbuf_addstr(ret, stmt_blob(s, 0));
	stmt_reset(s);
	return r == 0 ? error_set(err, E_NOTFOUND, "no audit blob %s", hex) : r;
}
