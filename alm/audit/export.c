#include "alm/audit/export.h"

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
	if (r >= 0 && log_origin(d, &run.origin, &none) < 0 && none.code != E_NOTFOUND)
		r = error_copy(err, &none);
	if (!run.origin) /* of a log that was pruned, or a part of one */
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
	if (r < 0)
		return r;
	if (!r)
		return error_set(err, E_NOTFOUND, "the folder has no log");
	r = audit_open(c, &a, err);
	if (r < 0)
		return r;
	r = export_note(a, form, from_seq, NULL, err);
	audit_close(a);
	return r;
}
