#include "alm/audit/export.h"

#include <string.h>

#include "alm/audit/log.h"
#include "alm/audit/tables.h"
#include "alm/obj/json.h"

#define LINE_BYTES_MAX ((size_t)2 << 20)

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

static void sized_line(struct stmt *s, const char *what, struct strbuf *b)
{
	strbuf_addf(b, "{\"%s\":", what);
	json_quote(stmt_text(s, 1), b);
	strbuf_addf(b, ",\"size\":%lld}\n", (long long)stmt_int(s, 0));
}

static void key_line(struct stmt *s, struct strbuf *b)
{
	sized_line(s, "key", b);
}

static void checkpoint_line(struct stmt *s, struct strbuf *b)
{
	sized_line(s, "checkpoint", b);
}

static const struct {
	const char *sql;
	void (*line)(struct stmt *s, struct strbuf *b);
} parts[] = {
	{"SELECT " LOG_COLUMNS " FROM audit WHERE seq >= ? ORDER BY seq", row_line},
	{"SELECT digest, bytes FROM audit_blob WHERE digest IN (SELECT digest FROM audit_ref WHERE"
	 " seq >= ?) ORDER BY digest",
	 blob_line},
	{"SELECT seq, digest FROM audit_ref WHERE seq >= ? ORDER BY seq, digest", ref_line},
	{"SELECT size, vkey FROM audit_key WHERE ? > 0 ORDER BY size", key_line},
	{"SELECT size, note FROM audit_checkpoint WHERE size >= ? ORDER BY size", checkpoint_line},
};

int export_write(struct db *d, int64_t from_seq, export_line_fn fn, void *arg, int64_t *ret_last,
		 struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LINE_BYTES_MAX);
	int64_t last = from_seq - 1;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		struct stmt *s;
		int r = db_prepare(d, parts[i].sql, &s, err);
		if (r < 0)
			return r;
		stmt_bind_int(s, 1, from_seq > 0 ? from_seq : 1);
		while ((r = stmt_step(s, err)) > 0) {
			if (i == 0)
				last = stmt_int(s, 0);
			strbuf_clear(&b);
			parts[i].line(s, &b);
			r = strbuf_check(&b, "archive line", err);
			if (r >= 0)
				r = fn(arg, strbuf_str(&b), err);
			if (r < 0)
				break;
		}
		stmt_reset(s);
		if (r < 0)
			return r;
	}
	*ret_last = last;
	return 0;
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
	return stmt_step(s, err);
}

int export_add_object(struct db *d, const struct obj *record, struct error *err)
{
	static const char none[SHA256_BYTES];
	struct record rec;
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(RECORD_BYTES_MAX);
	columns_of(record, &body, &rec);
	return insert_record(d, &rec, str_n(none, sizeof(none)), err);
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
	int r = db_prepare(d, "INSERT INTO audit_blob (digest, bytes) VALUES (?, ?)", &s, err);
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
	int64_t size = obj_i64(o, "size", -1);
	if (obj_has(o, "key"))
		return insert_pair(d, "INSERT INTO audit_key (size, vkey) VALUES (?, ?)", size,
				   obj_as_str(obj_get(o, "key")), false, err);
	if (obj_has(o, "checkpoint"))
		return insert_pair(d, "INSERT INTO audit_checkpoint (size, note) VALUES (?, ?)",
				   size, obj_as_str(obj_get(o, "checkpoint")), false, err);
	return error_set(err, E_CORRUPT, "neither record, blob, ref, key nor checkpoint");
}

int export_read_line(struct db *d, struct str line, size_t number, struct error *err)
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
