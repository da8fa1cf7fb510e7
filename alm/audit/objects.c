/* objects: see objects.h. It must not know how objects are stored. */
#include "alm/audit/objects.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alm/audit/large.h"
#include "alm/audit/log.h"
#include "alm/audit/snapshot.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define STATUS_BYTES_MAX (AUDIT_TEXT_PARTS_MAX * AUDIT_BLOB_BYTES_MAX)

static void verdict(struct objects_verdict *v, int64_t seq, const char *fmt, ...) PRINTF(3, 4);
static void verdict(struct objects_verdict *v, int64_t seq, const char *fmt, ...)
{
	va_list args;
	v->seq = seq;
	va_start(args, fmt);
	(void)vsnprintf(v->text, sizeof(v->text), fmt, args);
	va_end(args);
}

/* Newest Write record that changed the object; uses the index audit_subject. */
static int newest_write(struct db *d, const char *kind, const char *ns, const char *name,
			const char *uid, struct obj **ret, struct error *err)
{
	static const char sql[] =
		"SELECT " LOG_COLUMNS " FROM audit WHERE kind = ?1 AND ns = ?2 AND name = ?3 AND"
		" cluster = '' AND type = 'Write' AND uid = ?4 AND"
		" reason IN ('Created', 'Updated', 'Deleted') ORDER BY seq DESC LIMIT 1";
	struct stmt *s;
	*ret = NULL;
	int r = db_prepare(d, sql, &s, err);
	if (r < 0)
		return r;
	stmt_bind_cstr(s, 1, kind);
	stmt_bind_cstr(s, 2, ns ? ns : "");
	stmt_bind_cstr(s, 3, name);
	stmt_bind_cstr(s, 4, uid);
	return log_entry(s, ret, err);
}

static int transition_at(struct db *d, const char *uid, int64_t tseq, struct obj **ret,
			 struct error *err)
{
	struct stmt *s;
	*ret = NULL;
	int r = db_prepare(d,
			   "SELECT " LOG_COLUMNS " FROM audit WHERE uid = ? AND tseq = ? AND"
			   " tseq IS NOT NULL",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_cstr(s, 1, uid);
	stmt_bind_int(s, 2, tseq);
	return log_entry(s, ret, err);
}

int objects_transition(const struct objects_log *l, const char *uid, int64_t seq, int64_t *ret_tseq,
		       struct error *err)
{
	struct stmt *s;
	int r = db_prepare(l->db,
			   "SELECT tseq FROM audit WHERE uid = ? AND tseq IS NOT NULL AND seq <= ?"
			   " ORDER BY tseq DESC LIMIT 1",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_cstr(s, 1, uid);
	stmt_bind_int(s, 2, seq);
	r = stmt_step(s, err);
	int64_t tseq = r > 0 ? stmt_int(s, 0) : 0;
	stmt_reset(s);
	if (r >= 0 && !tseq) {
		CLEANUP(obj_unrefp) struct obj *entry = snapshot_find(l->snapshot, uid);
		tseq = obj_i64(entry, "transitionSeq", 0);
	}
	*ret_tseq = tseq;
	return r < 0 ? r : 0;
}

/* The status of a Transition record as it was written: its text, or over 4 KiB a reference to it
 * (large.h). */
static int row_status(struct db *d, const struct obj *row, struct obj **ret, struct error *err)
{
	const struct obj *status = obj_path(row, "body.status");
	const char *text = obj_as_string(status);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STATUS_BYTES_MAX);
	if (!status || (!text && !obj_has(status, "parts"))) {
		*ret = status ? obj_ref(status) : obj_map();
		return 0;
	}
	if (text && !cstr_has_prefix(text, "sha256:"))
		return json_parse(str_of(text), ret, err);
	int r = large_text(d, status, &b, err);
	return r < 0 ? r : json_parse(strbuf_str(&b), ret, err);
}

int objects_status(const struct objects_log *l, const char *uid, int64_t tseq, struct obj **ret,
		   struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	*ret = NULL;
	int r = transition_at(l->db, uid, tseq, &row, err);
	if (r < 0)
		return r;
	if (row)
		return row_status(l->db, row, ret, err);
	CLEANUP(obj_unrefp) struct obj *entry = snapshot_find(l->snapshot, uid);
	const char *text = obj_str(entry, "status");
	if (!text || obj_i64(entry, "transitionSeq", 0) != tseq)
		return 0;
	return json_parse(str_of(text), ret, err);
}

/* 1 if the status is that of transition tseq of the object, 0 if not. */
static int has_status_of(const struct objects_log *l, const struct obj *o, int64_t tseq,
			 struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *logged = NULL;
	const struct obj *status = obj_get(o, "status");
	if (tseq == 0)
		return !status;
	int r = objects_status(l, meta_uid(o), tseq, &logged, err);
	if (r < 0 || !logged)
		return r;
	return status ? obj_equal(status, logged) : obj_len(logged) == 0;
}

/* tseq: the newest of the object. */
static int judge_status(const struct objects_log *l, const struct obj *o, int64_t tseq,
			struct objects_verdict *ret, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	int r = has_status_of(l, o, tseq, err);
	if (r == 0 && tseq)
		r = has_status_of(l, o, tseq - 1, err);
	if (r != 0)
		return r < 0 ? r : 0;
	r = transition_at(l->db, meta_uid(o), tseq, &row, err);
	verdict(ret, obj_i64(row, "seq", snapshot_seq(l->snapshot)),
		"%s %s: its status is not the one of this record", meta_kind(o), meta_name(o));
	return r;
}

int objects_judge_status(const struct objects_log *l, const struct obj *o, int64_t seq,
			 struct objects_verdict *ret, struct error *err)
{
	int64_t tseq = 0, has = obj_i64(o, "status.transitionSeq", 0);
	*ret = (struct objects_verdict){.seq = 0};
	int r = objects_transition(l, meta_uid(o), seq, &tseq, err);
	return r < 0 || !tseq ? r : judge_status(l, o, has > tseq ? has : tseq, ret, err);
}

static bool is_digest(const struct obj *row, const char *path, const char hex[SHA256_HEX])
{
	const char *text = obj_str(row, path);
	return text && cstr_has_prefix(text, "sha256:") && !strcmp(text + strlen("sha256:"), hex);
}

/* What the log says of the object last: a Write record, or its line of the snapshot. NULL: nothing
 * since the snapshot, if there is one. */
static int last_word(const struct objects_log *l, const struct obj *o, struct obj **ret,
		     int64_t *ret_seq, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *write = NULL;
	int r = newest_write(l->db, meta_kind(o), meta_namespace(o), meta_name(o), meta_uid(o),
			     &write, err);
	int64_t seq = obj_i64(write, "seq", 0), since = snapshot_seq(l->snapshot);
	*ret = NULL;
	*ret_seq = seq > since ? seq : since;
	if (r < 0)
		return r;
	if (seq > since)
		*ret = obj_ref(obj_get(write, "body"));
	else if (since)
		*ret = snapshot_find(l->snapshot, meta_uid(o));
	if (cstr_eq(obj_str(write, "reason"), "Deleted") && seq > since)
		return 1;
	return 0;
}

static bool is_in_group(const struct obj *o, const char *group)
{
	const char *version = meta_api_version(o), *slash = version ? strchr(version, '/') : NULL;
	size_t n = slash ? (size_t)(slash - version) : 0;
	return strlen(group) == n && !strncmp(group, version ? version : "", n);
}

struct obj *objects_in_place(const struct obj *o, const struct objects_place *p)
{
	const char *ns = meta_namespace(o);
	bool kind = !p->kind || cstr_eq(meta_kind(o), p->kind);
	if (kind && is_in_group(o, p->group) && cstr_eq(ns ? ns : "", p->ns) &&
	    cstr_eq(meta_name(o), p->name))
		return obj_ref(o);
	struct obj *copy = obj_copy_map(o), *meta = obj_copy_map(obj_get(o, "metadata"));
	obj_set_str(copy, "apiVersion", p->group);
	if (p->kind)
		obj_set_str(copy, "kind", p->kind);
	obj_set_str(meta, "name", p->name);
	if (*p->ns)
		obj_set_str(meta, "namespace", p->ns);
	else
		obj_del(meta, "namespace");
	obj_set(copy, "metadata", meta);
	return copy;
}

int objects_judge(const struct objects_log *l, const struct obj *o, struct objects_verdict *ret,
		  struct error *err)
{
	char hex[SHA256_HEX];
	int64_t seq = 0, tseq = 0;
	CLEANUP(obj_unrefp) struct obj *said = NULL;
	CLEANUP(obj_unrefp) struct obj *plain = NULL;
	const char *kind = meta_kind(o), *name = meta_name(o);
	*ret = (struct objects_verdict){.seq = 0};
	if (!kind || !name || !meta_uid(o)) {
		verdict(ret, 0, "an object without kind, name or uid");
		return 0;
	}
	int r = last_word(l, o, &said, &seq, err);
	if (r < 0)
		return r;
	if (r > 0 || !said) {
		verdict(ret, seq, "%s %s: %s", kind, name,
			r > 0 ? "it is there, though this record deleted it"
			      : "no record created this object");
		return 0;
	}
	plain = redact_object(l->key, o);
	json_digest(plain, hex);
	if (is_digest(said, "after", hex))
		return 0;
	/* Before its first status an object has no digest without it: the two are the same. */
	redact_main_digest(plain, hex);
	if (!is_digest(said, obj_str(said, "afterMain") ? "afterMain" : "after", hex)) {
		verdict(ret, seq, "%s %s: it is not what this record left", kind, name);
		return 0;
	}
	r = objects_transition(l, meta_uid(o), INT64_MAX, &tseq, err);
	return r < 0 ? r : judge_status(l, o, tseq, ret, err);
}

static int row_at(struct db *d, int64_t seq, struct obj **ret, struct error *err)
{
	struct stmt *s;
	*ret = NULL;
	int r = db_prepare(d, "SELECT " LOG_COLUMNS " FROM audit WHERE seq = ?", &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, seq);
	return log_entry(s, ret, err);
}

int objects_judge_gone(const struct objects_log *l, const char *uid, int64_t seq,
		       struct objects_verdict *ret, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	CLEANUP(obj_unrefp) struct obj *entry = NULL;
	CLEANUP(obj_unrefp) struct obj *last = NULL;
	*ret = (struct objects_verdict){.seq = 0};
	int r = seq == snapshot_seq(l->snapshot) ? 0 : row_at(l->db, seq, &row, err);
	if (r < 0)
		return r;
	entry = row ? obj_ref(obj_get(row, "subject")) : snapshot_find(l->snapshot, uid);
	const char *kind = obj_str(entry, "kind"), *name = obj_str(entry, "name");
	r = newest_write(l->db, kind, obj_str(entry, "namespace"), name, uid, &last, err);
	if (r >= 0 && !cstr_eq(obj_str(last, "reason"), "Deleted"))
		verdict(ret, seq, "%s %s: it is gone, and no record deleted it", kind ? kind : "",
			name ? name : "");
	return r < 0 ? r : 0;
}

void objects_cursor_release(struct objects_cursor *c)
{
	xfree(c->kind);
	xfree(c->ns);
	xfree(c->name);
	xfree(c->uid);
}

/* The next kind, namespace and name of the index. */
static int next_subject(struct db *d, struct objects_cursor *c, struct error *err)
{
	static const char first[] = "SELECT kind, ns, name FROM audit ORDER BY kind, ns, name"
				    " LIMIT 1";
	static const char next[] = "SELECT kind, ns, name FROM audit WHERE (kind, ns, name) >"
				   " (?, ?, ?) ORDER BY kind, ns, name LIMIT 1";
	struct stmt *s;
	int r = db_prepare(d, c->kind ? next : first, &s, err);
	if (r < 0)
		return r;
	if (c->kind) {
		stmt_bind_cstr(s, 1, c->kind);
		stmt_bind_cstr(s, 2, c->ns);
		stmt_bind_cstr(s, 3, c->name);
	}
	r = stmt_step(s, err);
	if (r <= 0)
		return r;
	struct objects_cursor at = {.kind = str_dup(stmt_text(s, 0)),
				    .ns = str_dup(stmt_text(s, 1)),
				    .name = str_dup(stmt_text(s, 2))};
	stmt_reset(s);
	objects_cursor_release(c);
	*c = at;
	return 1;
}

int objects_next_written(const struct objects_log *l, struct objects_cursor *c, struct error *err)
{
	static const char sql[] =
		"SELECT seq, uid, reason FROM audit WHERE kind = ?1 AND ns = ?2 AND name = ?3 AND"
		" cluster = '' AND type = 'Write' AND reason IN ('Created', 'Updated', 'Deleted')"
		" ORDER BY seq DESC LIMIT 1";
	struct stmt *s;
	int r = next_subject(l->db, c, err);
	if (r <= 0)
		return r;
	r = db_prepare(l->db, sql, &s, err);
	if (r < 0)
		return r;
	stmt_bind_cstr(s, 1, c->kind);
	stmt_bind_cstr(s, 2, c->ns);
	stmt_bind_cstr(s, 3, c->name);
	r = stmt_step(s, err);
	if (r > 0 && !str_is(stmt_text(s, 2), "Deleted") &&
	    stmt_int(s, 0) > snapshot_seq(l->snapshot)) {
		c->seq = stmt_int(s, 0);
		c->uid = str_dup(stmt_text(s, 1));
	}
	stmt_reset(s);
	return r < 0 ? r : 1;
}

struct obj *objects_entry(const unsigned char key[REDACT_KEY_BYTES], const struct obj *o)
{
	char hex[SHA256_HEX];
	struct obj *e = obj_map();
	CLEANUP(obj_unrefp) struct obj *plain = redact_object(key, o);
	obj_set_str(e, "uid", meta_uid(o));
	obj_set_str(e, "kind", meta_kind(o));
	obj_set_str(e, "namespace", meta_namespace(o));
	obj_set_str(e, "name", meta_name(o));
	json_digest(plain, hex);
	obj_set(e, "after", obj_stringf("sha256:%s", hex));
	if (obj_has(o, "status")) {
		redact_main_digest(plain, hex);
		obj_set(e, "afterMain", obj_stringf("sha256:%s", hex));
	}
	return e;
}

int objects_digests_fit(struct db *d, const unsigned char key[REDACT_KEY_BYTES], struct error *err)
{
	static const char sql[] =
		"SELECT " LOG_COLUMNS " FROM audit WHERE kind = 'Log' AND type = 'System' AND"
		" instr(body, '\"digests\":\"') > 0 ORDER BY seq DESC LIMIT 1";
	struct stmt *s;
	char id[REDACT_ID_MAX];
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	int r = db_prepare(d, sql, &s, err);
	if (r >= 0)
		r = log_entry(s, &row, err);
	if (r < 0)
		return r == -E_CORRUPT ? 0 : r;
	redact_id(key, id);
	return cstr_eq(obj_str(row, "body.digests"), id);
}
