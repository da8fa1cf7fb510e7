#include "alm/audit/export.h"

#include <string.h>

#include "alm/audit/export_form.h"
#include "alm/audit/log.h"
#include "alm/audit/pruned.h"
#include "alm/audit/query.h"
#include "alm/audit/tables.h"
#include "alm/obj/json.h"

#define LINE_BYTES_MAX    ((size_t)2 << 20)
#define ROWS_A_PAGE       ((size_t)500)
#define DIGESTS_BYTES_MAX ((size_t)1 << 30)

static void add_base64(struct str bytes, struct strbuf *b)
{
	strbuf_addc(b, '"');
	base64_encode(bytes, b);
	strbuf_addc(b, '"');
}

static void hex_text(struct str bytes, struct strbuf *b)
{
	char hex[SHA256_HEX];
	hex_encode(bytes.ptr, bytes.len == SHA256_BYTES ? SHA256_BYTES : 0, hex);
	strbuf_addf(b, "\"%s\"", hex);
}

static void row_line(struct stmt *s, struct strbuf *b)
{
	struct record rec;
	log_record(s, &rec);
	strbuf_adds(b, "{\"record\":");
	record_print(&rec, b);
	strbuf_adds(b, ",\"chain\":");
	add_base64(stmt_blob(s, LOG_CHAIN_COLUMN), b);
	strbuf_adds(b, "}\n");
}

static void blob_line(struct stmt *s, struct strbuf *b)
{
	strbuf_adds(b, "{\"blob\":");
	hex_text(stmt_blob(s, 0), b);
	strbuf_adds(b, ",\"bytes\":");
	add_base64(stmt_blob(s, 1), b);
	strbuf_adds(b, "}\n");
}

static void ref_line(struct stmt *s, struct strbuf *b)
{
	strbuf_addf(b, "{\"ref\":%lld,\"digest\":", (long long)stmt_int(s, 0));
	hex_text(stmt_blob(s, 1), b);
	strbuf_adds(b, "}\n");
}

static void tile_line(struct stmt *s, struct strbuf *b)
{
	strbuf_addf(b, "{\"tile\":%lld,\"hashes\":", (long long)stmt_int(s, 0));
	add_base64(stmt_blob(s, 1), b);
	strbuf_adds(b, "}\n");
}

static void sized_line(const char *what, int64_t size, struct str text, struct strbuf *b)
{
	strbuf_addf(b, "{\"%s\":", what);
	json_quote(text, b);
	strbuf_addf(b, ",\"size\":%lld}\n", (long long)size);
}

static void key_line(struct stmt *s, struct strbuf *b)
{
	sized_line("key", stmt_int(s, 0), stmt_text(s, 1), b);
}

void export_checkpoint_line(int64_t size, struct str note, struct strbuf *b)
{
	sized_line("checkpoint", size, note, b);
}

static void checkpoint_line(struct stmt *s, struct strbuf *b)
{
	export_checkpoint_line(stmt_int(s, 0), stmt_text(s, 1), b);
}

/* One after the other, so that nothing is open while a line is written, however long who reads it
 * takes: ?1 is where to go on, behind ?2, the digest there; ?3 is the end. */
static const struct part {
	const char *sql;
	void (*line)(struct stmt *s, struct strbuf *b);
	bool is_whole;  /* whatever the first record is */
	bool is_signed; /* up to the last checkpoint */
} rows = {"SELECT " LOG_COLUMNS " FROM audit WHERE seq >= ?1 AND seq <= ?3 ORDER BY seq LIMIT 1",
	  row_line, false, false},
  refs = {"SELECT seq, digest FROM audit_ref WHERE (seq, digest) > (?1, ?2) AND seq <= ?3"
	  " ORDER BY seq, digest LIMIT 1",
	  ref_line, false, false},
  keys = {"SELECT size, vkey FROM audit_key WHERE size >= ?1 AND size <= ?3 ORDER BY size LIMIT 1",
	  key_line, true, true},
  checkpoints = {"SELECT size, note FROM audit_checkpoint WHERE size >= ?1 AND size <= ?3"
		 " ORDER BY size LIMIT 1",
		 checkpoint_line, false, true},
  tiles = {"SELECT id, hashes FROM audit_tile WHERE id >= ?1 AND id <= ?3 ORDER BY id LIMIT 1",
	   tile_line, true, false};

struct writer {
	struct db *d;
	int64_t from, last;
	/* Of what is signed: a log that was cut off is exported with the checkpoints that show it.
	 */
	int64_t last_signed;
	struct strbuf b;
	export_line_fn fn;
	void *arg;
};

static int write_line(struct writer *w, struct error *err)
{
	int r = strbuf_check(&w->b, "archive line", err);
	return r < 0 ? r : w->fn(w->arg, strbuf_str(&w->b), err);
}

static int write_part(struct writer *w, const struct part *p, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf digest = STRBUF_INIT(LINE_BYTES_MAX);
	int64_t at = p->is_whole ? 0 : w->from, end = p->is_signed ? w->last_signed : w->last;
	while (at <= end) {
		struct stmt *s;
		int r = db_prepare(w->d, p->sql, &s, err);
		if (r < 0)
			return r;
		stmt_bind_int(s, 1, at);
		if (p == &refs)
			stmt_bind_blob(s, 2, strbuf_str(&digest));
		stmt_bind_int(s, 3, end);
		r = stmt_step(s, err);
		if (r <= 0)
			return r;
		strbuf_clear(&w->b);
		p->line(s, &w->b);
		bool is_last = p != &refs && stmt_int(s, 0) == end;
		at = stmt_int(s, 0) + (p != &refs && !is_last);
		strbuf_clear(&digest);
		if (p == &refs)
			strbuf_addstr(&digest, stmt_blob(s, 1));
		stmt_reset(s);
		r = write_line(w, err);
		if (r < 0 || is_last)
			return r;
	}
	return 0;
}

static int write_blob(struct writer *w, struct str digest, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(w->d, "SELECT digest, bytes FROM audit_blob WHERE digest = ?", &s, err);
	if (r < 0)
		return r;
	stmt_bind_blob(s, 1, digest);
	r = stmt_step(s, err);
	if (r <= 0)
		return r;
	strbuf_clear(&w->b);
	blob_line(s, &w->b);
	stmt_reset(s);
	return write_line(w, err);
}

static int write_blobs(struct writer *w, struct error *err)
{
	struct stmt *s;
	CLEANUP(strbuf_release) struct strbuf digests = STRBUF_INIT(DIGESTS_BYTES_MAX);
	int r = db_prepare(w->d,
			   "SELECT DISTINCT digest FROM audit_ref WHERE seq >= ? AND seq <= ?"
			   " AND length(digest) = 32 ORDER BY digest",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, w->from);
	stmt_bind_int(s, 2, w->last);
	while ((r = stmt_step(s, err)) > 0)
		strbuf_addstr(&digests, stmt_blob(s, 0));
	if (r >= 0)
		r = strbuf_check(&digests, "the digests of the blobs", err);
	for (size_t i = 0; r >= 0 && i < digests.len; i += SHA256_BYTES)
		r = write_blob(w, str_sub(strbuf_str(&digests), i, SHA256_BYTES), err);
	return r;
}

/* What there is now: what comes meanwhile is left out of every part. */
static int find_end(struct writer *w, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(w->d,
			   "SELECT coalesce((SELECT max(seq) FROM audit), 0),"
			   " max(coalesce((SELECT max(seq) FROM audit), 0),"
			   " coalesce((SELECT max(size) FROM audit_checkpoint), 0),"
			   " coalesce((SELECT max(size) FROM audit_key), 0))",
			   &s, err);
	if (r >= 0)
		r = stmt_step(s, err);
	if (r < 0)
		return r;
	w->last = stmt_int(s, 0);
	w->last_signed = stmt_int(s, 1);
	stmt_reset(s);
	return 0;
}

int export_between(struct db *d, int64_t from, int64_t to, export_line_fn fn, void *arg,
		   struct error *err)
{
	struct writer w = {.d = d, .from = from, .last = to, .fn = fn, .arg = arg};
	strbuf_init(&w.b, LINE_BYTES_MAX);
	int r = write_part(&w, &rows, err);
	if (r >= 0)
		r = write_blobs(&w, err);
	if (r >= 0)
		r = write_part(&w, &refs, err);
	strbuf_release(&w.b);
	return r < 0 ? r : 0;
}

int export_tiles(struct db *d, int64_t size, export_line_fn fn, void *arg, struct error *err)
{
	struct writer w = {.d = d, .last = size / TREE_TILE - 1, .fn = fn, .arg = arg};
	strbuf_init(&w.b, LINE_BYTES_MAX);
	int r = write_part(&w, &tiles, err);
	strbuf_release(&w.b);
	return r < 0 ? r : 0;
}

int export_signed(struct db *d, int64_t from, int64_t to, export_line_fn fn, void *arg,
		  struct error *err)
{
	struct writer w = {.d = d, .from = from, .last_signed = to, .fn = fn, .arg = arg};
	strbuf_init(&w.b, LINE_BYTES_MAX);
	int r = write_part(&w, &keys, err);
	if (r >= 0)
		r = write_part(&w, &checkpoints, err);
	strbuf_release(&w.b);
	return r < 0 ? r : 0;
}

static int write_prune(struct db *d, export_line_fn fn, void *arg, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LINE_BYTES_MAX);
	struct stmt *s;
	int r = db_prepare(
		d, "SELECT below, seq, archive FROM audit_prune ORDER BY below DESC LIMIT 1", &s,
		err);
	if (r >= 0)
		r = stmt_step(s, err);
	if (r <= 0)
		return r;
	strbuf_addf(&b, "{\"prune\":%lld,\"by\":%lld,\"archive\":", (long long)stmt_int(s, 0),
		    (long long)stmt_int(s, 1));
	json_quote(stmt_text(s, 2), &b);
	strbuf_adds(&b, "}\n");
	stmt_reset(s);
	return fn(arg, strbuf_str(&b), err);
}

/* What stands for the entries that were pruned: their hashes, and which entry speaks for them. */
static int write_pruned(struct db *d, const struct pruned *p, export_line_fn fn, void *arg,
			struct error *err)
{
	int r = export_tiles(d, p->below - 1, fn, arg, err);
	return r < 0 ? r : write_prune(d, fn, arg, err);
}

int export_write(struct db *d, int64_t from_seq, export_line_fn fn, void *arg, int64_t *ret_last,
		 struct error *err)
{
	struct writer w = {.d = d};
	struct pruned p;
	int64_t from = from_seq > 0 ? from_seq : 1;
	int r = find_end(&w, err);
	if (r >= 0)
		r = pruned_load(d, &p, err);
	if (r >= 0 && p.below >= from) {
		r = p.below > 1 ? write_pruned(d, &p, fn, arg, err) : 0;
		from = p.below;
	}
	if (r >= 0)
		r = export_between(d, from, w.last, fn, arg, err);
	if (r >= 0)
		r = export_signed(d, from, w.last_signed, fn, arg, err);
	if (r >= 0)
		*ret_last = w.last >= from ? w.last : from - 1;
	return r < 0 ? r : 0;
}

struct rows_run {
	const struct export_form *form;
	char *origin; /* owned */
	struct strbuf b;
	export_line_fn fn;
	void *arg;
	int64_t last;
};

static int row_in_form(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct rows_run *run = arg;
	(void)depth;
	strbuf_clear(&run->b);
	run->form->row(row, run->origin, &run->b);
	run->last = obj_i64(row, "seq", run->last);
	int r = strbuf_check(&run->b, "line of an export", err);
	return r < 0 ? r : run->fn(run->arg, strbuf_str(&run->b), err);
}

int export_rows(struct db *d, const struct export_form *f, const struct query_selector *sel,
		export_line_fn fn, void *arg, int64_t *ret_last, struct error *err)
{
	struct rows_run run = {.form = f, .fn = fn, .arg = arg};
	struct query_selector page = *sel;
	size_t left = sel->limit ? sel->limit : SIZE_MAX;
	struct error none = ERROR_INIT;
	struct writer end = {.d = d};
	int r = find_end(&end, err);
	strbuf_init(&run.b, LINE_BYTES_MAX);
	if (log_origin(d, &run.origin, &none) < 0) /* a log that was pruned, or a part of one */
		run.origin = xstrdup("alm");
	page.to_seq = sel->to_seq && sel->to_seq < end.last ? sel->to_seq : end.last;
	run.last = page.from_seq - 1;
	for (size_t n = ROWS_A_PAGE; r >= 0 && n == ROWS_A_PAGE && left && page.to_seq > 0;) {
		page.limit = left < ROWS_A_PAGE ? left : ROWS_A_PAGE;
		r = query_rows(d, &page, row_in_form, &run, err);
		n = r > 0 ? (size_t)r : 0;
		left -= n;
		page.from_seq = run.last + 1;
	}
	*ret_last = page.to_seq > run.last ? page.to_seq : run.last;
	strbuf_release(&run.b);
	xfree(run.origin);
	return r < 0 ? r : 0;
}

int export_note(struct audit *a, const char *form, int64_t from_seq, const char *actor,
		struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	int64_t seq;
	obj_set_str(body, "what", "Exported");
	obj_set_str(body, "format", form);
	obj_set_int(body, "fromSeq", from_seq > 0 ? from_seq : 1);
	obj_set(body, "message",
		obj_stringf("as %s, from entry %lld on", form,
			    (long long)(from_seq > 0 ? from_seq : 1)));
	if (actor)
		obj_set_path(body, "who.trust", obj_string("authenticated"));
	struct audit_row row = {.type = "System",
				.reason = "Exported",
				.subject = {.kind = "Log", .name = audit_origin(a)},
				.actor = actor,
				.body = body};
	return audit_append_now(a, &row, &seq, err);
}

int export_record(const struct audit_config *c, const char *form, int64_t from_seq,
		  struct error *err)
{
	struct audit *a = NULL;
	int r = tables_exist(c->db, err);
	if (r == 0)
		return error_set(err, E_NOTFOUND, "the folder has no log");
	if (r < 0 || audit_open(c, &a, err) < 0)
		return -err->code;
	r = export_note(a, form, from_seq, NULL, err);
	audit_close(a);
	return r;
}

int export_tables(struct db *d, struct error *err)
{
	return tables_create(d, false, err);
}

static struct str text_of(const struct obj *o, const char *key)
{
	struct str s = obj_as_str(obj_get(o, key));
	return s.ptr ? s : STR("");
}

static bool int_of(const struct obj *o, const char *key, int64_t *ret)
{
	return obj_as_i64(obj_get(o, key), ret);
}

/* The columns of a record object; body is the buffer of the body's text. */
static void columns_of(const struct obj *o, struct strbuf *body, struct record *ret)
{
	const struct obj *of = obj_get(o, "subject");
	*ret = (struct record){
		.type = text_of(o, "type"),
		.reason = text_of(o, "reason"),
		.cluster = text_of(of, "cluster"),
		.kind = text_of(of, "kind"),
		.ns = text_of(of, "namespace"),
		.name = text_of(of, "name"),
		.uid = text_of(of, "uid"),
		.op = obj_as_str(obj_get(o, "op")),
		.actor = obj_as_str(obj_get(o, "actor")),
	};
	(void)int_of(o, "seq", &ret->seq);
	(void)int_of(o, "time", &ret->time_us);
	ret->has_tseq = int_of(o, "transitionSeq", &ret->tseq);
	ret->has_cause = int_of(o, "cause", &ret->cause);
	if (obj_has(o, "body"))
		record_value(obj_get(o, "body"), body);
	else
		strbuf_adds(body, "{}");
	ret->body = strbuf_str(body);
}

static int insert_record(struct db *d, const struct record *rec, struct str chain,
			 struct error *err)
{
	struct stmt *s;
	int r = db_prepare(
		d, "INSERT INTO audit (" LOG_COLUMNS ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", &s,
		err);
	if (r < 0)
		return r;
	log_bind(s, rec, chain);
	r = stmt_step(s, err);
	return r == -E_EXISTS ? error_set(err, E_CORRUPT, "entry %lld is there already",
					  (long long)rec->seq)
			      : r;
}

int export_add_object(struct db *d, const struct obj *record, struct error *err)
{
	static const char none[SHA256_BYTES];
	struct record rec;
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(RECORD_BYTES_MAX);
	columns_of(record, &body, &rec);
	return insert_record(d, &rec, str_n(none, sizeof(none)), err);
}

/* What two exports both have: the same again is nothing new. */
static int is_known(struct db *d, const char *sql, int64_t n, struct str v, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, sql, &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, n);
	r = stmt_step(s, err);
	if (r > 0 && !str_eq(stmt_text(s, 0), v))
		r = error_set(err, E_CORRUPT, "it is there twice, and not the same");
	stmt_reset(s);
	return r;
}

/* Two columns: an integer and a text or a digest. */
static int insert_pair(struct db *d, const char *sql, int64_t n, struct str v, bool is_blob,
		       struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, sql, &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, n);
	if (is_blob)
		stmt_bind_blob(s, 2, v);
	else
		stmt_bind_text(s, 2, v);
	return stmt_step(s, err);
}

static int insert_blob(struct db *d, struct str digest, struct str bytes, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d,
			   "INSERT INTO audit_blob (digest, bytes) VALUES (?, ?)"
			   " ON CONFLICT (digest) DO NOTHING", /* verify looks at the bytes */
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_blob(s, 1, digest);
	stmt_bind_blob(s, 2, bytes);
	return stmt_step(s, err);
}

/* The record as it stands in the line must be what its columns print: what is verified is what is
 * read. */
static int row_of_line(struct db *d, const struct obj *o, struct str line, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf chain = STRBUF_INIT(4096);
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(RECORD_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf canon = STRBUF_INIT(LINE_BYTES_MAX);
	struct record rec;
	if (!base64_decode(obj_as_str(obj_get(o, "chain")), &chain) || chain.len != SHA256_BYTES)
		return error_set(err, E_CORRUPT, "its chain value is not 32 bytes");
	columns_of(obj_get(o, "record"), &body, &rec);
	strbuf_adds(&canon, "{\"record\":");
	record_print(&rec, &canon);
	if (!str_has_prefix(line, strbuf_str(&canon)))
		return error_set(err, E_CORRUPT, "its record is not in canonical form");
	return insert_record(d, &rec, strbuf_str(&chain), err);
}

static int sized_of_line(struct db *d, const struct obj *o, struct error *err)
{
	static const struct {
		const char *key, *select, *insert;
	} parts[] = {
		{"key", "SELECT vkey FROM audit_key WHERE size = ?",
		 "INSERT INTO audit_key (size, vkey) VALUES (?, ?)"},
		{"checkpoint", "SELECT note FROM audit_checkpoint WHERE size = ?",
		 "INSERT INTO audit_checkpoint (size, note) VALUES (?, ?)"},
	};
	int64_t size = obj_i64(o, "size", -1);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		struct str v = obj_as_str(obj_get(o, parts[i].key));
		if (!obj_has(o, parts[i].key))
			continue;
		int r = is_known(d, parts[i].select, size, v, err);
		return r ? (r < 0 ? r : 0) : insert_pair(d, parts[i].insert, size, v, false, err);
	}
	return error_set(err, E_CORRUPT, "neither record, blob, ref, key nor checkpoint");
}

static int tile_of_line(struct db *d, const struct obj *o, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf hashes = STRBUF_INIT(2 * TREE_TILE_BYTES);
	int64_t id = obj_i64(o, "tile", -1);
	if (id < 0 || !base64_decode(obj_as_str(obj_get(o, "hashes")), &hashes) ||
	    hashes.len != TREE_TILE_BYTES)
		return error_set(err, E_CORRUPT, "no tile");
	struct stmt *s;
	int r = db_prepare(d, "SELECT hashes FROM audit_tile WHERE id = ?", &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, id);
	r = stmt_step(s, err);
	if (r > 0 && !str_eq(stmt_blob(s, 0), strbuf_str(&hashes)))
		r = error_set(err, E_CORRUPT, "it is there twice, and not the same");
	stmt_reset(s);
	return r ? (r < 0 ? r : 0)
		 : insert_pair(d, "INSERT INTO audit_tile (id, hashes) VALUES (?, ?)", id,
			       strbuf_str(&hashes), true, err);
}

/* Which was the last one shows in the largest number. */
static int prune_of_line(struct db *d, const struct obj *o, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d,
			   "INSERT INTO audit_prune (below, seq, archive) VALUES (?, ?, ?)"
			   " ON CONFLICT DO NOTHING",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, obj_i64(o, "prune", 0));
	stmt_bind_int(s, 2, obj_i64(o, "by", 0));
	stmt_bind_text(s, 3, text_of(o, "archive"));
	return stmt_step(s, err);
}

static int other_line(struct db *d, const struct obj *o, struct error *err)
{
	unsigned char raw[SHA256_BYTES];
	struct str digest = str_n((const char *)raw, sizeof(raw));
	CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_INIT(LINE_BYTES_MAX);
	if (obj_has(o, "blob")) {
		if (!hex_decode(obj_as_str(obj_get(o, "blob")), raw, sizeof(raw)) ||
		    !base64_decode(obj_as_str(obj_get(o, "bytes")), &bytes))
			return error_set(err, E_CORRUPT, "no blob");
		return insert_blob(d, digest, strbuf_str(&bytes), err);
	}
	if (obj_has(o, "ref")) {
		if (!hex_decode(obj_as_str(obj_get(o, "digest")), raw, sizeof(raw)))
			return error_set(err, E_CORRUPT, "no digest");
		return insert_pair(d, "INSERT INTO audit_ref (seq, digest) VALUES (?, ?)",
				   obj_i64(o, "ref", 0), digest, true, err);
	}
	if (obj_has(o, "tile"))
		return tile_of_line(d, o, err);
	if (obj_has(o, "prune"))
		return prune_of_line(d, o, err);
	return sized_of_line(d, o, err);
}

static int export_read_line(struct db *d, struct str line, size_t number, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	struct error inner = ERROR_INIT;
	int r = json_parse(line, &o, &inner);
	if (r >= 0)
		r = obj_has(o, "record") ? row_of_line(d, o, line, &inner)
					 : other_line(d, o, &inner);
	if (r < 0)
		return error_set(err, E_CORRUPT, "archive line %zu: %s", number, inner.msg);
	return 0;
}

int export_read(struct db *d, struct str text, struct error *err)
{
	struct str line;
	size_t number = 0;
	int r = export_tables(d, err);
	if (r >= 0)
		r = db_begin(d, err);
	if (r < 0)
		return r;
	while (r >= 0 && str_next_line(&text, &line)) {
		number++;
		if (line.len)
			r = export_read_line(d, line, number, err);
	}
	if (r >= 0)
		return db_commit(d, err);
	db_rollback(d);
	return r;
}
