/* export_read: an archive back into the tables of an empty database (export.h). */
#include "alm/audit/export.h"

#include "alm/audit/log.h"
#include "alm/audit/tables.h"
#include "alm/obj/json.h"

#define LINE_BYTES_MAX ((size_t)2 << 20)

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
