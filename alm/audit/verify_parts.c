/* verify_parts: keys, blobs, heads, the file, and live statuses. */
#include "alm/audit/verify_parts.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/large.h"
#include "alm/audit/log.h"
#include "alm/base/map.h"
#include "alm/obj/json.h"

#define STATUS_BYTES_MAX (AUDIT_TEXT_PARTS_MAX * AUDIT_BLOB_BYTES_MAX)

/* The name of row 1, else the name in the first key. */
static int find_origin(struct db *d, const struct verify_keys *k, char **ret, struct error *err)
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

static int rotation_recorded(struct db *d, int64_t seq, const char *vkey, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d,
			   "SELECT 1 FROM audit WHERE seq = ? AND type = 'System' AND"
			   " reason = 'KeyRotated' AND instr(body, ?) > 0",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, seq);
	stmt_bind_cstr(s, 2, vkey);
	r = stmt_step(s, err);
	stmt_reset(s);
	return r;
}

int verify_load_keys(struct db *d, const char *newest, struct verify_keys *k, char **ret_origin,
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

const char *verify_key_at(const struct verify_keys *k, int64_t size)
{
	const char *found = NULL;
	for (size_t i = 0; i < k->n && k->items[i].size <= size; i++)
		found = k->items[i].vkey;
	return found;
}

void verify_keys_release(struct verify_keys *k)
{
	for (size_t i = 0; i < k->n; i++)
		xfree(k->items[i].vkey);
	k->n = 0;
}

/* The row names its blobs and says how many there are. */
int verify_row_refs(struct db *d, int64_t seq, int64_t want, struct verify_report *rep,
		    struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d,
			   "SELECT count(*) FROM audit_ref r JOIN audit_blob b USING (digest)"
			   " JOIN audit a ON a.seq = r.seq"
			   " WHERE r.seq = ? AND instr(a.body, lower(hex(r.digest))) > 0",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, seq);
	r = stmt_step(s, err);
	if (r < 0)
		return r;
	int64_t have = r ? stmt_int(s, 0) : 0;
	stmt_reset(s);
	if (have != want)
		verify_add(rep, seq, seq, "%" PRId64 " of its %" PRId64 " blobs are there", have,
			   want);
	return 0;
}

int verify_blobs(struct db *d, int64_t n_refs, struct verify_report *rep, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d,
			   "SELECT digest, bytes, (SELECT min(seq) FROM audit_ref r WHERE"
			   " r.digest = b.digest) FROM audit_blob b",
			   &s, err);
	if (r < 0)
		return r;
	while ((r = stmt_step(s, err)) > 0) {
		unsigned char digest[SHA256_BYTES];
		struct str want = stmt_blob(s, 0);
		int64_t seq = stmt_int(s, 2);
		rep->blobs++;
		sha256(stmt_blob(s, 1), digest);
		if (want.len != SHA256_BYTES || memcmp(digest, want.ptr, SHA256_BYTES) != 0)
			verify_add(rep, seq, seq, "a blob of it was altered");
	}
	if (r >= 0)
		r = db_prepare(d, "SELECT count(*) FROM audit_ref", &s, err);
	if (r >= 0)
		r = stmt_step(s, err);
	if (r < 0)
		return r;
	int64_t have = r ? stmt_int(s, 0) : 0;
	stmt_reset(s);
	if (have != n_refs)
		verify_add(rep, 0, 0, "%" PRId64 " references to blobs, the rows say %" PRId64,
			   have, n_refs);
	return 0;
}

/* Runs a query whose every row (seq, ...) is a finding. */
static int find_rows(struct db *d, const char *sql, const char *text, struct verify_report *rep,
		     struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, sql, &s, err);
	if (r < 0)
		return r;
	while ((r = stmt_step(s, err)) > 0)
		verify_add(rep, stmt_int(s, 0), stmt_int(s, 0), "%s", text);
	return r;
}

int verify_heads(struct db *d, struct verify_report *rep, struct error *err)
{
	int r = find_rows(d,
			  "SELECT h.seq FROM audit_head h WHERE NOT EXISTS (SELECT 1 FROM audit a"
			  " WHERE a.seq = h.seq AND a.uid = h.uid AND a.tseq = h.tseq)",
			  "the head that names it was altered", rep, err);
	if (r >= 0)
		r = find_rows(d,
			      "SELECT max(seq) FROM audit a WHERE tseq IS NOT NULL AND tseq >"
			      " coalesce((SELECT tseq FROM audit_head h WHERE h.uid = a.uid), 0)"
			      " GROUP BY uid",
			      "the head of its object is missing or behind", rep, err);
	if (r >= 0)
		r = find_rows(d,
			      "SELECT seq FROM (SELECT seq, tseq - lag(tseq) OVER (PARTITION BY uid"
			      " ORDER BY seq) AS step FROM audit WHERE tseq IS NOT NULL)"
			      " WHERE step <> 1",
			      "transitionSeq does not follow the one before", rep, err);
	if (r >= 0)
		r = find_rows(d, "SELECT seq FROM audit_prune",
			      "pruning is recorded, but this version does not prune", rep, err);
	return r;
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

/* Live statuses against the newest Transition of each uid. */
struct statuses {
	struct db *d;
	struct verify_report *rep;
	struct map *seen;
};

/* body.status as it was written: its text, or over 4 KiB a reference to it (large.h). */
static int row_status(struct db *d, const struct obj *row, struct obj **ret, struct error *err)
{
	const struct obj *status = obj_path(row, "body.status");
	const char *text = obj_as_string(status);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STATUS_BYTES_MAX);
	if (!status) {
		*ret = obj_map();
		return 0;
	}
	if (text && !cstr_has_prefix(text, "sha256:"))
		return json_parse(str_of(text), ret, err);
	if (!text && !obj_has(status, "parts")) {
		*ret = obj_ref(status);
		return 0;
	}
	int r = large_text(d, status, &b, err);
	return r < 0 ? r : json_parse(strbuf_str(&b), ret, err);
}

static bool same_status(const struct obj *a, const struct obj *b)
{
	CLEANUP(strbuf_release) struct strbuf x = STRBUF_INIT(STATUS_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf y = STRBUF_INIT(STATUS_BYTES_MAX);
	record_value(a, &x);
	record_value(b, &y);
	return !x.over && !y.over && str_eq(strbuf_str(&x), strbuf_str(&y));
}

static int compare_status(struct statuses *st, const char *uid, int64_t tseq,
			  const struct obj *status, struct error *err)
{
	struct stmt *s;
	struct record rec;
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	CLEANUP(obj_unrefp) struct obj *logged = NULL;
	int r = db_prepare(st->d,
			   "SELECT " LOG_COLUMNS " FROM audit WHERE uid = ? AND tseq IS NOT NULL"
			   " ORDER BY tseq DESC LIMIT 1",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_cstr(s, 1, uid);
	r = stmt_step(s, err);
	if (r <= 0) {
		verify_add(st->rep, 0, 0, "object %.40s has a status, the log has no row of it",
			   uid);
		return r;
	}
	log_record(s, &rec);
	int64_t seq = rec.seq, logged_tseq = rec.tseq;
	r = log_object(&rec, &row, err);
	stmt_reset(s);
	if (r >= 0)
		r = row_status(st->d, row, &logged, err);
	if (r < 0)
		return r;
	if (logged_tseq != tseq)
		verify_add(st->rep, seq, seq,
			   "transition %" PRId64 " of it, the status has %" PRId64, logged_tseq,
			   tseq);
	else if (!same_status(logged, status))
		verify_add(st->rep, seq, seq, "the object's status is not the one of this row");
	return 0;
}

static void one_status(void *arg, const char *uid, int64_t tseq, const struct obj *status)
{
	struct statuses *st = arg;
	struct error err = ERROR_INIT;
	map_set(st->seen, uid, NULL);
	st->rep->statuses += tseq;
	if (compare_status(st, uid, tseq, status, &err) < 0)
		verify_add(st->rep, 0, 0, "status of %.40s: %.100s", uid, err.msg);
}

/* Heads without a live object: the last row must say that it was deleted. */
static int gone_objects(struct statuses *st, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(st->d,
			   "SELECT h.uid, h.tseq, h.seq, a.reason FROM audit_head h JOIN audit a"
			   " ON a.seq = h.seq ORDER BY h.seq",
			   &s, err);
	if (r < 0)
		return r;
	while ((r = stmt_step(s, err)) > 0) {
		CLEANUP(xfreep) char *uid = str_dup(stmt_text(s, 0));
		if (map_has(st->seen, uid))
			continue;
		if (!str_is(stmt_text(s, 3), "Deleted"))
			verify_add(st->rep, stmt_int(s, 2), stmt_int(s, 2),
				   "its object has no status and was not recorded as deleted");
		st->rep->statuses += stmt_int(s, 1);
	}
	return r;
}

int verify_statuses(struct db *d, const struct verify_options *o, struct verify_report *rep,
		    struct error *err)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	struct statuses st = {.d = d, .rep = rep, .seen = seen};
	int r = o->each_status(o->each_status_arg, one_status, &st, err);
	if (r >= 0)
		r = gone_objects(&st, err);
	if (r >= 0 && rep->statuses != rep->transitions && !rep->since_checkpoint)
		verify_add(rep, 0, 0, "%" PRId64 " transitions, but statuses count %" PRId64,
			   rep->transitions, rep->statuses);
	rep->statuses_compared = r >= 0;
	return r;
}
