#include "alm/audit/gap.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/audit_internal.h"
#include "alm/audit/export.h"
#include "alm/audit/log.h"
#include "alm/audit/objects.h"
#include "alm/audit/snapshot.h"
#include "alm/audit/tables.h"
#include "alm/audit/verify_parts.h"
#include "alm/base/file.h"
#include "alm/base/map.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

struct gap {
	const struct gap_config *c;
	struct gap_result *out;
	struct audit *old, *new; /* old NULL: no tables */
	char *old_origin;
	struct checkpoint known; /* the largest size that is remembered of the old log */
	struct map *others; /* origin -> struct checkpoint *: the same, of logs that are not here */
	struct map *entries; /* uid -> struct obj *, of the snapshot */
	struct objects_log log;
	struct snapshot *snapshot; /* of the old log; NULL: none */
	bool behind;               /* a live status is ahead of the log */
	struct snapshot_writer writer;
	struct obj *body;
};

static void entry_free(void *p)
{
	obj_unref(p);
}

void gap_result_release(struct gap_result *r)
{
	xfree(r->origin);
	xfree(r->archive);
	xfree(r->sha256);
	*r = (struct gap_result){.rows = 0};
}

/* What is remembered. */

/* A folder that was lost began with a log of its own before the places of the one before were read:
 * it is that one's gap that is accepted, too. */
static void note_other(struct gap *g, struct str origin, const struct checkpoint *c)
{
	CLEANUP(xfreep) char *name = str_dup(origin);
	const struct checkpoint *known = map_get(g->others, name);
	if (!known || c->size > known->size)
		map_set(g->others, name, xmemdup(c, sizeof(*c)));
}

static void note_known(struct gap *g, struct str note)
{
	struct str origin;
	struct checkpoint c;
	struct error err = ERROR_INIT;
	if (checkpoint_read(note, &origin, &c, &err) < 0)
		return;
	if (!g->old_origin)
		g->old_origin = str_dup(origin);
	if (!str_is(origin, g->old_origin))
		note_other(g, origin, &c);
	else if (c.size > g->known.size)
		g->known = c;
}

static void collect_known(struct gap *g)
{
	struct error err = ERROR_INIT;
	struct audit_head_state *h = xcalloc(1, sizeof(*h));
	if (head_read(g->c->dir, h, &err) == 0)
		note_known(g, str_of(h->note));
	for (size_t i = 0; i < g->c->n_anchors; i++) {
		const struct verify_anchor *a = &g->c->anchors[i];
		note_known(g, a->note);
		if (g->old) /* which makes it read-only, if it is no prefix */
			(void)audit_check_note(g->old, a->note, a->name, &err);
	}
	xfree(h);
}

/* The old log, as far as it can be opened; it is only read. */
static int open_old(struct gap *g, struct error *err)
{
	struct audit_config ac = {.db = g->c->db, .loop = g->c->loop, .key_dir = g->c->dir};
	int r = tables_exist(g->c->db, err);
	if (r <= 0)
		return r;
	r = audit_open(&ac, &g->old, err);
	if (r >= 0)
		g->old_origin = xstrdup(audit_origin(g->old));
	return r;
}

/* Objects and their transitions. */

/* The newest Transition of the uid in the old log, as snapshot keys. */
static int add_transition(struct gap *g, struct obj *entry, const char *uid, struct error *err)
{
	int64_t tseq = 0;
	if (!g->old)
		return 0;
	int r = objects_transition(&g->log, uid, INT64_MAX, &tseq, err);
	if (r >= 0 && tseq)
		obj_set_int(entry, "transitionSeq", tseq);
	return r;
}

static int add_object(void *arg, const struct obj *o, struct error *err)
{
	struct gap *g = arg;
	const char *uid = meta_uid(o);
	int64_t has = obj_i64(o, "status.transitionSeq", 0);
	if (!uid)
		return 0;
	struct obj *e = obj_map();
	map_set(g->entries, uid, e);
	if (g->c->has_objects) {
		struct obj *digests = objects_entry(g->log.key, o);
		OBJ_EACH (it, digests)
			obj_set(e, it.key, obj_ref(it.value));
		obj_unref(digests);
	}
	obj_set_str(e, "uid", uid);
	obj_set_str(e, "kind", meta_kind(o));
	obj_set_str(e, "name", meta_name(o));
	int r = add_transition(g, e, uid, err);
	int64_t logged = obj_i64(e, "transitionSeq", 0);
	g->behind = g->behind || has > logged;
	if (has > logged)
		obj_set_int(e, "transitionSeq", has);
	if (obj_has(e, "transitionSeq")) {
		CLEANUP(xfreep) char *text = json_text(obj_get(o, "status"));
		obj_set_str(e, "status", text);
		obj_set_str(e, "reason", "LogOpened");
	}
	return r;
}

/* The archive. */

struct archive {
	struct file_writer *w;
	struct sha256 *hash;
};

static int archive_line(void *arg, struct str line, struct error *err)
{
	struct archive *a = arg;
	sha256_add(a->hash, line.ptr, line.len);
	return file_writer_add(a->w, line, err);
}

static int write_archive(struct gap *g, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(sha256_freep) struct sha256 *hash = sha256_new();
	struct archive a = {.hash = hash};
	unsigned char digest[SHA256_BYTES];
	char hex[SHA256_HEX];
	int64_t last = 0;
	strbuf_addf(&path, "%s/audit-%s-%" PRId64 ".jsonl", g->c->dir, audit_origin_tag(g->old),
		    audit_last_seq(g->old));
	(void)file_remove(path.buf, err); /* of an attempt that ended before the commit */
	int r = file_writer_new(path.buf, 0600, &a.w, err);
	if (r < 0)
		return r;
	r = export_write(g->c->db, 1, archive_line, &a, &last, err);
	if (r < 0) {
		file_writer_drop(a.w);
		return r;
	}
	r = file_writer_close(a.w, err);
	sha256_final(hash, digest);
	hex_encode(digest, sizeof(digest), hex);
	g->out->rows = last;
	g->out->archive = strbuf_detach(&path);
	g->out->sha256 = xstrdup(hex);
	return r;
}

/* The new log. */

static struct obj *size_and_root(int64_t size, const unsigned char root[SHA256_BYTES])
{
	char hex[SHA256_HEX];
	struct obj *o = obj_map();
	hex_encode(root, SHA256_BYTES, hex);
	obj_set_int(o, "size", size);
	obj_set_str(o, "root", hex);
	return o;
}

/* [{origin, size, root}]; NULL: none */
static struct obj *others(const struct gap *g)
{
	struct obj *list = map_count(g->others) ? obj_list() : NULL;
	for (const struct map_entry *e = map_first(g->others); e; e = map_next(e)) {
		const struct checkpoint *c = e->value;
		struct obj *o = size_and_root(c->size, c->root);
		obj_set_str(o, "origin", e->key);
		obj_append(list, o);
	}
	return list;
}

/* {"gap": {origin, size, known, had, archive, file, others}, "message"} */
static void describe(struct gap *g)
{
	struct obj *gap = obj_map();
	unsigned char root[SHA256_BYTES];
	obj_set_str(gap, "origin", g->old_origin);
	obj_set_int(gap, "size", g->known.size);
	obj_set(gap, "known", size_and_root(g->known.size, g->known.root));
	if (g->old) {
		tree_root(&g->old->tree, root);
		obj_set(gap, "had", size_and_root(g->old->last_seq, root));
		obj_set(gap, "archive", obj_stringf("sha256:%s", g->out->sha256));
		obj_set_str(gap, "file", strrchr(g->out->archive, '/') + 1);
	}
	struct obj *list = others(g);
	if (list)
		obj_set(gap, "others", list);
	obj_set(g->body, "gap", gap);
	obj_set_str(g->body, "what", "gap accepted");
	obj_set(g->body, "justification", obj_stringn(str_sub(str_of(g->c->reason), 0, 1024)));
}

static int put_snapshot(void *arg, struct error *err)
{
	struct gap *g = arg;
	int r = 0;
	snapshot_begin(&g->writer, g->new);
	for (struct map_entry *e = map_first(g->entries); e && r >= 0; e = map_next(e))
		r = snapshot_put(&g->writer, e->value, err);
	if (r >= 0)
		r = snapshot_end(&g->writer, g->body, err);
	snapshot_release(&g->writer);
	return r;
}

static int put_heads(struct gap *g, struct error *err)
{
	int r = 0;
	for (struct map_entry *e = map_first(g->entries); e && r >= 0; e = map_next(e)) {
		struct stmt *s;
		int64_t tseq = obj_i64(e->value, "transitionSeq", 0);
		if (!tseq)
			continue;
		r = db_prepare(g->c->db, "INSERT INTO audit_head (uid, tseq, seq) VALUES (?, ?, 1)",
			       &s, err);
		if (r < 0)
			return r;
		stmt_bind_cstr(s, 1, e->key);
		stmt_bind_int(s, 2, tseq);
		r = stmt_step(s, err);
	}
	return r;
}

static int drop_tables(struct gap *g, struct error *err)
{
	int r = 0;
	for (const struct tables_object *o = audit_tables; g->old && o->type && r >= 0; o++) {
		CLEANUP(strbuf_release) struct strbuf sql = STRBUF_INIT(STRBUF_SMALL);
		if (strcmp(o->type, "table") != 0)
			continue;
		strbuf_addf(&sql, "DROP TABLE IF EXISTS %s", o->name);
		r = db_exec(g->c->db, sql.buf, err);
	}
	return r;
}

static char *next_origin(const char *old)
{
	int64_t n;
	struct str base = audit_base_origin(old, &n);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "%.*s/%" PRId64, STR_ARG(base), n + 1);
	return strbuf_detach(&b);
}

/* In one transaction with its first checkpoint: without that, the new log would not count as one
 * that began with the key. */
static int begin_new(struct gap *g, struct error *err)
{
	int r = drop_tables(g, err);
	if (r >= 0)
		r = audit_begin_log(g->new, g->body, put_snapshot, g, err);
	if (r >= 0)
		r = put_heads(g, err);
	return r < 0 ? r : audit_register_key(g->new, err);
}

static int prepare_new(struct gap *g, struct error *err)
{
	struct audit_config ac = {.db = g->c->db, .loop = g->c->loop, .key_dir = g->c->dir};
	g->new = audit_alloc(&ac);
	g->new->origin = next_origin(g->old_origin);
	g->out->origin = xstrdup(g->new->origin);
	return audit_open_keys(g->new, g->new->origin, err);
}

static int replace_log(struct gap *g, struct error *err)
{
	int r = db_begin(g->c->db, err);
	if (r < 0)
		return r;
	r = begin_new(g, err);
	if (r >= 0) {
		g->new->committed_seq = g->new->last_seq;
		r = audit_store_note(g->new, err);
	}
	if (r < 0) {
		db_rollback(g->c->db);
		return r;
	}
	r = db_commit(g->c->db, err);
	return r < 0 ? r : audit_write_head(g->new, true, true, err);
}

/* A snapshot that was damaged is part of the gap; one that cannot be read now is not. */
static int collect_objects(struct gap *g, struct error *err)
{
	struct error inner = ERROR_INIT;
	int r = g->old ? snapshot_load(g->c->db, &g->snapshot, &inner) : 0;
	if (r < 0 && !verify_is_damage(&inner))
		return error_copy(err, &inner);
	g->log = (struct objects_log){
		.db = g->c->db, .key = g->new->redact_key, .snapshot = g->snapshot};
	return g->c->each(g->c->each_arg, add_object, g, err);
}

static int accept_gap(struct gap *g, struct error *err)
{
	int r = open_old(g, err);
	if (r < 0)
		return r;
	collect_known(g);
	if (!g->old_origin)
		return error_set(err, E_NOTFOUND, "no audit log in %s, and nothing remembers one",
				 g->c->dir);
	r = prepare_new(g, err);
	if (r < 0)
		return r;
	r = collect_objects(g, err);
	if (r < 0)
		return r;
	if (g->old && !audit_read_only(g->old) && !g->behind && !g->c->anyway)
		return error_set(
			err, E_REFUSED,
			"there is no gap: what is remembered of %s is in it, and no status "
			"is ahead of it",
			g->old_origin);
	r = g->old ? write_archive(g, err) : 0;
	if (r < 0)
		return r;
	describe(g);
	return replace_log(g, err);
}

int gap_accept(const struct gap_config *c, struct gap_result *ret, struct error *err)
{
	struct gap g = {.c = c,
			.out = ret,
			.entries = map_new(entry_free),
			.others = map_new(xfree),
			.body = obj_map()};
	*ret = (struct gap_result){.rows = 0};
	int r = accept_gap(&g, err);
	/* The old one is not closed: nothing may be signed for it any more. */
	audit_free(g.old);
	audit_free(g.new);
	snapshot_free(g.snapshot);
	map_free(g.entries);
	map_free(g.others);
	obj_unref(g.body);
	xfree(g.old_origin);
	if (r < 0)
		gap_result_release(ret);
	return r;
}
