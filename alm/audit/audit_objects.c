/* audit_objects: a record of what all objects of the server are, where the log cannot tell it by
 * its Write rows (snapshot.h). */
#include "alm/audit/audit.h"

#include <inttypes.h>

#include "alm/audit/audit_internal.h"
#include "alm/audit/objects.h"
#include "alm/audit/snapshot.h"
#include "alm/audit/tables.h"
#include "alm/base/log.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

bool audit_objects_unknown(struct audit *a)
{
	struct error err = ERROR_INIT;
	struct snapshot *s = NULL;
	/* Its LogOpened row alone, and that says nothing of objects. */
	bool first = a->last_seq == 1 && snapshot_load(a->db, &s, &err) >= 0 && !s;
	snapshot_free(s);
	return first || objects_digests_fit(a->db, a->redact_key, &err) == 0;
}

void audit_set_digests(const struct audit *a, struct obj *body)
{
	char id[REDACT_ID_MAX];
	redact_id(a->redact_key, id);
	obj_set_str(body, "digests", id);
}

struct recording {
	struct audit *audit;
	struct snapshot_writer writer;
	struct obj *heads; /* uid -> transitionSeq */
};

/* Of an object whose transitions are in no record: how far they had come. */
static int add_status(struct recording *w, const struct obj *o, struct obj *entry,
		      struct error *err)
{
	int64_t has = obj_i64(o, "status.transitionSeq", 0), tseq = 0, seq = 0;
	int r = audit_head(w->audit, meta_uid(o), &tseq, &seq, err);
	if (r < 0 || tseq || has <= 0)
		return r;
	CLEANUP(xfreep) char *text = json_text(obj_get(o, "status"));
	obj_set_int(entry, "transitionSeq", has);
	obj_set_str(entry, "status", text);
	obj_set_int(w->heads, meta_uid(o), has);
	return 0;
}

static int add_object(void *arg, const struct obj *o, struct error *err)
{
	struct recording *w = arg;
	CLEANUP(obj_unrefp) struct obj *entry = objects_entry(w->audit->redact_key, o);
	int r = meta_uid(o) ? add_status(w, o, entry, err) : 0;
	return r < 0 ? r : snapshot_put(&w->writer, entry, err);
}

static int put_heads(struct recording *w, int64_t seq, struct error *err)
{
	OBJ_EACH (it, w->heads) {
		struct stmt *s;
		int64_t tseq = 0;
		int r = db_prepare(w->audit->db,
				   "INSERT INTO audit_head (uid, tseq, seq) VALUES (?, ?, ?)", &s,
				   err);
		if (r < 0)
			return r;
		(void)obj_as_i64(it.value, &tseq);
		stmt_bind_cstr(s, 1, it.key);
		stmt_bind_int(s, 2, tseq);
		stmt_bind_int(s, 3, seq);
		r = stmt_step(s, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int record(struct recording *w, const char *reason, audit_each_fn each, void *arg,
		  struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	int64_t seq = 0;
	obj_set_str(body, "what", "objects");
	audit_set_digests(w->audit, body);
	int r = each(arg, add_object, w, err);
	if (r >= 0)
		r = snapshot_end(&w->writer, body, err);
	struct audit_row row = {.type = "System",
				.reason = reason,
				.subject = {.kind = "Log", .name = w->audit->origin},
				.body = body};
	if (r >= 0)
		r = audit_append(w->audit, &row, &seq, err);
	return r < 0 ? r : put_heads(w, seq, err);
}

int audit_record_objects(struct audit *a, const char *reason, audit_each_fn each, void *arg,
			 struct error *err)
{
	struct recording w = {.audit = a, .heads = obj_map()};
	bool nested = db_in_transaction(a->db);
	int r = nested ? 0 : db_begin(a->db, err);
	snapshot_begin(&w.writer, a);
	if (r >= 0)
		r = record(&w, reason, each, arg, err);
	if (r >= 0 && !nested)
		r = db_commit(a->db, err);
	snapshot_release(&w.writer);
	obj_unref(w.heads);
	if (r < 0) {
		if (!nested)
			db_rollback(a->db);
		audit_rolled_back(a);
		return r;
	}
	if (!nested)
		audit_committed(a);
	return 0;
}

int audit_load_pruned(struct audit *a, struct error *err)
{
	struct snapshot *pruned = NULL;
	struct error inner = ERROR_INIT;
	int r = snapshot_load_pruned(a->db, &pruned, &inner);
	if (r == -E_IO || (r < 0 && db_is_broken(a->db)))
		return error_copy(err, &inner);
	if (r < 0) /* damaged: such a log is there to be read all the same */
		log_error("what pruned entries of the audit log said cannot be read", "error",
			  inner.msg);
	snapshot_free(a->pruned);
	a->pruned = pruned;
	return 0;
}

int64_t audit_first_seq(const struct audit *a)
{
	return snapshot_seq(a->pruned) + 1;
}

struct obj *audit_standing(struct audit *a, const char *type, const struct audit_subject *of,
			   bool (*fits)(const void *arg, const struct obj *row), const void *arg)
{
	return snapshot_standing(a->pruned, type, of->kind, of->ns, of->name, fits, arg);
}

int audit_each_standing(struct audit *a,
			int (*fn)(void *arg, const struct obj *row, struct error *err), void *arg,
			struct error *err)
{
	return snapshot_each_standing(a->pruned, fn, arg, err);
}

int audit_announced(struct audit *a, const char *uid, int64_t tseq, struct obj **ret,
		    struct error *err)
{
	struct objects_log l = {.db = a->db, .key = a->redact_key};
	struct snapshot *s = NULL;
	*ret = NULL;
	l.snapshot = a->pruned;
	int r = objects_status(&l, uid, tseq, ret, err);
	if (r >= 0 && !*ret)
		r = snapshot_load(a->db, &s, err);
	l.snapshot = s;
	if (r >= 0 && s)
		r = objects_status(&l, uid, tseq, ret, err);
	snapshot_free(s);
	if (r >= 0 && !*ret)
		return error_set(err, E_NOTFOUND, "no record announces transition %" PRId64, tseq);
	return r < 0 ? r : 0;
}

int audit_said(struct audit *a, const char *uid, struct obj **ret, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	int64_t tseq = 0, seq = 0;
	if (audit_head(a, uid, &tseq, &seq, err) < 0)
		return -err->code;
	if (!tseq)
		return error_set(err, E_NOTFOUND, "the log has no transition of %s", uid);
	if (audit_row_get(a, seq, &row, err) < 0)
		return -err->code;
	if (!cstr_eq(obj_str(row, "type"), "Transition"))
		return error_set(err, E_NOTFOUND, "the log has no transition of %s of its own",
				 uid);
	return audit_announced(a, uid, tseq, ret, err);
}

int audit_bypass(const struct audit_config *c, struct error *err)
{
	struct audit *a = NULL;
	int64_t seq;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	int r = tables_exist(c->db, err);
	if (r <= 0)
		return r;
	r = audit_open(c, &a, err);
	if (r < 0)
		return r;
	obj_set_str(body, "what", "--no-audit");
	obj_set_str(body, "digests", "none");
	struct audit_row row = {.type = "System",
				.reason = "InsecureOption",
				.subject = {.kind = "Log", .name = a->origin},
				.body = body};
	r = audit_append_now(a, &row, &seq, err);
	audit_close(a);
	return r;
}
