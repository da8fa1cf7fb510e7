/*
 * Whose status is it (audit.md 7)? A status that is not what the log announced last is put back
 * from the log before anything is done that was decided by it: S is the newest transitionSeq of the
 * log, s that of the view.
 *
 *	s = S	the next one, unless somebody wrote the status: then it is restored
 *	s = S-1	a crash between record and status: the status of that record again
 *	s < S-1	the live object is read: an old view, or a status that was put back
 *	s > S	beside the server, the log is the authority: restored; elsewhere the log is behind,
 *		and nothing is done for this object until alm audit accept-gap
 */
#include <inttypes.h>
#include <string.h>

#include "alm/base/log.h"
#include "alm/base/map.h"
#include "alm/base/pool.h"
#include "alm/engine/executor_run.h"
#include "alm/obj/diff.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define STATUS_INLINE_MAX 4096
#define KEPT_MAX          20000
#define RESTORES_AN_HOUR  3
#define CHANGED_MAX       32
#define BEHIND_AGAIN_NS   NS_PER_MIN

/* What the server made of the status that we wrote last. */
struct status_kept {
	int64_t tseq;
	char digest[65];                       /* of what it returned */
	bool differs;                          /* from what it was sent: a schema prunes */
	int64_t restored_ns[RESTORES_AN_HOUR]; /* the last ones, monotonic; 0: none */
	bool contested;                        /* somebody else wants another status */
	bool lost;                             /* the log has no status to restore */
};

static void kept_free(void *k)
{
	pool_free(k, sizeof(struct status_kept));
}

struct map *status_kept_new(void)
{
	return map_new(kept_free);
}

static struct status_kept *kept_of(struct executor *x, const char *uid)
{
	struct status_kept *k = map_get(x->kept, uid);
	if (k)
		return k;
	if (map_count(x->kept) >= KEPT_MAX)
		map_clear(x->kept);
	k = pool_keep(sizeof(*k));
	*k = (struct status_kept){.tseq = 0};
	map_set(x->kept, uid, k);
	return k;
}

void executor_say_again(struct executor *x)
{
	x->said_again++;
	for (struct map_entry *e = map_first(x->kept); e; e = map_next(e))
		((struct status_kept *)e->value)->differs = false;
}

void status_note_written(struct executor_run *r, const struct obj *returned)
{
	const struct obj *sent = obj_get(r->status, "status"), *got = obj_get(returned, "status");
	struct status_kept *k = kept_of(r->x, meta_uid(r->status));
	k->tseq = r->status_tseq;
	k->lost = false;
	/* An answer that was under way tells what the server takes no longer. */
	k->differs = r->said_again == r->x->said_again && !obj_equal(sent, got);
	json_digest(got, k->digest);
}

int status_put(struct executor_run *r, struct obj *body, const struct obj *status,
	       struct error *err)
{
	CLEANUP(xfreep) char *text = json_text(status);
	struct obj *ref = NULL;
	if (strlen(text) <= STATUS_INLINE_MAX) {
		obj_set_str(body, "status", text); /* as text: exact to the byte (audit.md 4) */
		return 0;
	}
	if (audit_text_put(r->x->c.audit, str_of(text), &ref, err) < 0)
		return -err->code;
	obj_set(body, "status", ref);
	return 0;
}

/* The newest record of a status that somebody else wrote to this object after the record seq; only
 * the server's own log knows. NULL if nobody did. Arena. */
static int foreign_status(struct executor_run *r, const struct obj *live, int64_t seq,
			  const struct obj **ret_row, struct error *err)
{
	static const char sql[] =
		"SELECT seq FROM audit WHERE kind = ?1 AND ns = '' AND name = ?2 AND cluster = ''"
		" AND type = 'Write' AND reason <> 'Unchanged' AND uid = ?3 AND seq > ?4"
		" AND actor IS NOT NULL AND"
		" json_extract(body, '$.subresource') = 'status' ORDER BY seq DESC LIMIT 1";
	struct executor *x = r->x;
	struct stmt *s;
	struct obj *row = NULL;
	*ret_row = NULL;
	if (!x->c.same_process)
		return 0;
	if (db_prepare(x->c.db, sql, &s, err) < 0)
		return -err->code;
	stmt_bind_cstr(s, 1, meta_kind(live));
	stmt_bind_cstr(s, 2, meta_name(live));
	stmt_bind_cstr(s, 3, meta_uid(live));
	stmt_bind_int(s, 4, seq);
	int rc = stmt_step(s, err);
	int64_t found = rc > 0 ? stmt_int(s, 0) : 0;
	stmt_reset(s);
	if (rc < 0 || (found && audit_row_get(x->c.audit, found, &row, err) < 0))
		return -err->code;
	*ret_row = row ? obj_keep(r->a, row) : NULL;
	return 0;
}

static int64_t *oldest_restore(struct status_kept *k)
{
	int64_t *oldest = &k->restored_ns[0];
	for (size_t i = 1; i < RESTORES_AN_HOUR; i++)
		if (k->restored_ns[i] < *oldest)
			oldest = &k->restored_ns[i];
	return oldest;
}

static bool is_contested(struct executor_run *r, const char *uid)
{
	struct status_kept *k = map_get(r->x->kept, uid);
	if (k && k->contested && loop_mono(r->x->c.loop) - *oldest_restore(k) >= NS_PER_HOUR)
		k->contested = false;
	return k && k->contested;
}

/* 1 if so. */
static int is_edited(struct executor_run *r, const struct obj *seen, int64_t logged,
		     int64_t row_seq, struct error *err)
{
	char digest[65];
	const struct obj *by = NULL;
	const struct status_kept *k = map_get(r->x->kept, meta_uid(seen));
	if (!logged || is_contested(r, meta_uid(seen)))
		return 0;
	if (r->x->c.same_process)
		return foreign_status(r, seen, row_seq, &by, err) < 0 ? -err->code : by != NULL;
	if (!k || k->tseq != logged)
		return 0;
	json_digest(obj_get(seen, "status"), digest);
	return strcmp(digest, k->digest) != 0;
}

/* There is nothing new to say, and saying it again changes nothing: the server leaves out a part
 * of it, or somebody else puts another status there each time. */
static bool is_said(struct executor_run *r, const struct action *a, int64_t logged)
{
	struct obj *said = NULL;
	struct error err = ERROR_INIT;
	const char *uid = meta_uid(a->subject);
	const struct status_kept *k = map_get(r->x->kept, uid);
	bool in_vain = k && ((k->tseq == logged && k->differs) || is_contested(r, uid));
	if (!in_vain || a->row_only || audit_announced(r->x->c.audit, uid, logged, &said, &err) < 0)
		return false;
	obj_keep(r->a, said);
	struct obj *wanted = obj_keep(r->a, obj_copy(a->body));
	obj_set_int(wanted, "transitionSeq", logged);
	return obj_equal(said, wanted);
}

static int turn_of_next(struct executor_run *r, const struct action *a, int64_t logged,
			int64_t row_seq, enum status_turn *ret_turn, struct error *err)
{
	int edited = is_edited(r, a->subject, logged, row_seq, err);
	if (edited < 0)
		return edited;
	*ret_turn = edited ? STATUS_RESTORE : is_said(r, a, logged) ? STATUS_SAID : STATUS_NEXT;
	return 0;
}

int status_turn(struct executor_run *r, const struct action *a, int64_t seen, int64_t logged,
		int64_t row_seq, enum status_turn *ret_turn, struct error *err)
{
	const struct status_kept *k = map_get(r->x->kept, meta_uid(a->subject));
	bool nothing = logged == 0 && r->x->c.same_process;
	if (seen == logged || nothing || (k && k->lost))
		return turn_of_next(r, a, logged, row_seq, ret_turn, err);
	*ret_turn = seen == logged - 1     ? STATUS_REPEAT
		    : seen < logged        ? STATUS_LOOK
		    : r->x->c.same_process ? STATUS_RESTORE
					   : STATUS_BEHIND;
	return 0;
}

static struct audit_subject about(const struct obj *o)
{
	return (struct audit_subject){.kind = meta_kind(o),
				      .ns = meta_namespace(o),
				      .name = meta_name(o),
				      .uid = meta_uid(o)};
}

/* Somebody changed what the log says: who, as far as it is known, and what. */
static int append_observed(struct executor_run *r, const struct obj *live, const struct obj *logged,
			   int64_t row_seq, const char *reason, int64_t *ret_seq, struct error *err)
{
	struct diff d;
	const struct obj *by = NULL, *has = obj_get(live, "status");
	if (foreign_status(r, live, row_seq, &by, err) < 0)
		return -err->code;
	struct obj *body = obj_keep(r->a, obj_map()), *list = obj_list();
	obj_set_str(body, "what", reason);
	obj_set(body, "message",
		obj_stringf("its status has transition %" PRId64,
			    obj_i64(live, "status.transitionSeq", 0)));
	diff_objects(logged, has, CHANGED_MAX, r->a, &d);
	for (size_t i = 0; logged && i < d.n; i++)
		obj_append(list, obj_stringf("status.%s", d.items[i].path));
	obj_set(body, "changed", list);
	if (obj_path(by, "body.who"))
		obj_set(body, "who", obj_ref(obj_path(by, "body.who")));
	struct audit_row row = {.type = "Observe",
				.reason = reason,
				.subject = about(live),
				.cause = obj_i64(by, "seq", 0),
				.actor = obj_str(by, "actor"),
				.body = body};
	return audit_append(r->x->c.audit, &row, ret_seq, err);
}

/* Three restores an hour; then somebody else wants another status, and is let have it until the
 * hour is over or there is something new to say. Only of the content: with a wrong transitionSeq
 * nothing could be said at all. */
static bool contest(struct executor_run *r, const struct obj *live, int64_t logged)
{
	struct status_kept *k = kept_of(r->x, meta_uid(live));
	int64_t now = loop_mono(r->x->c.loop), *oldest = oldest_restore(k);
	bool content = obj_i64(live, "status.transitionSeq", 0) == logged;
	k->contested = content && *oldest && now - *oldest < NS_PER_HOUR;
	if (!k->contested)
		*oldest = now;
	return k->contested;
}

/* Nothing that was decided by this status is done. */
static void drop_plan(struct executor_run *r)
{
	if (r->plan.head)
		r->dropped = r->plan.head;
	r->plan.head = NULL;
	r->changed = true; /* worth another reconcile */
}

static struct action *restoring(struct executor_run *r, const char *reason, const char *message)
{
	struct action *a = ARENA_NEW(r->a, struct action);
	*a = *r->status_action;
	a->reason = reason;
	a->message = message;
	a->event_type = "Warning";
	return a;
}

int status_restore(struct executor_run *r, const struct obj *live, int64_t logged,
		   const char *reason, struct error *err)
{
	struct executor *x = r->x;
	int64_t tseq = 0, row_seq = 0, seq = 0;
	struct obj *said = NULL, *body = obj_keep(r->a, obj_map());
	if (audit_head(x->c.audit, meta_uid(live), &tseq, &row_seq, err) < 0 ||
	    audit_announced(x->c.audit, meta_uid(live), logged, &said, err) < 0) {
		kept_of(x, meta_uid(live))->lost = err->code == E_NOTFOUND;
		return -err->code;
	}
	drop_plan(r);
	obj_keep(r->a, said);
	bool contested = contest(r, live, logged);
	if (append_observed(r, live, said, row_seq, contested ? "StatusContested" : "StatusEdited",
			    &seq, err) < 0)
		return -err->code;
	r->last_seq = seq;
	if (contested) {
		r->status_action = NULL;
		return 0;
	}
	set_status(r, live, said, logged + 1);
	obj_set_str(body, "message", "the status of the log");
	if (status_put(r, body, obj_get(r->status, "status"), err) < 0)
		return -err->code;
	struct audit_row row = {.type = "Transition",
				.reason = reason,
				.subject = about(live),
				.transition_seq = logged + 1,
				.cause = seq,
				.body = body};
	r->status_action = restoring(r, reason, "the status was written by somebody else");
	if (audit_append(x->c.audit, &row, &r->status_seq, err) < 0)
		return -err->code;
	r->last_seq = r->status_seq;
	return 0;
}

int status_behind(struct executor_run *r, int64_t seen, int64_t logged, struct error *err)
{
	struct executor *x = r->x;
	const struct obj *live = r->status_action->subject;
	struct audit_subject subject = about(live);
	struct obj *body = obj_keep(r->a, obj_map());
	const char *key = arena_fmt(r->a, "LogBehindStatus %lld", (long long)seen), *last;
	int64_t seq;
	if (chain_key(x->chain, "Observe", &subject, &last, err) < 0)
		return -err->code;
	drop_plan(r);
	r->changed = false;
	r->plan.requeue_after_ns = BEHIND_AGAIN_NS;
	r->status_action = NULL;
	if (cstr_eq(last, key))
		return 0;
	obj_set_str(body, "what", "LogBehindStatus");
	obj_set_str(body, "key", key);
	obj_set(body, "message",
		obj_stringf("its status has transition %" PRId64 ", the log %" PRId64
			    ": nothing is done for it until alm audit accept-gap",
			    seen, logged));
	log_error("the audit log is behind a status: nothing is done for the object until alm "
		  "audit accept-gap",
		  "kind", meta_kind(live), "name", meta_name(live));
	struct audit_row row = {
		.type = "Observe", .reason = "LogBehindStatus", .subject = subject, .body = body};
	if (audit_append(x->c.audit, &row, &seq, err) < 0)
		return -err->code;
	chain_set_key(x->chain, "Observe", &subject, key);
	return 0;
}

/* In a transaction of its own: the commit of the turn is over. */
static int restore_now(struct executor_run *r, const struct obj *live, int64_t logged,
		       struct error *err)
{
	struct executor *x = r->x;
	record_flush(x);
	bool nested = db_in_transaction(x->c.db);
	int rc = nested ? 0 : db_begin(x->c.db, err);
	if (rc >= 0)
		rc = status_restore(r, live, logged, "StatusRegressed", err);
	if (rc >= 0 && !nested)
		rc = db_commit(x->c.db, err);
	if (rc >= 0) {
		if (!nested)
			audit_committed(x->c.audit);
		return 0;
	}
	if (!nested)
		db_rollback(x->c.db);
	audit_rolled_back(x->c.audit);
	return rc;
}

static void looked(void *arg, const struct client_reply *reply)
{
	struct step_call *c = arg;
	struct executor_run *r = c->run;
	struct error err = ERROR_INIT;
	int64_t logged = 0, row_seq = 0;
	c->call = NULL;
	const char *uid = meta_uid(r->status_action->subject);
	const struct obj *live = reply->err ? NULL : obj_keep(r->a, obj_copy(reply->body));
	int64_t has = obj_i64(live, "status.transitionSeq", 0);
	int rc = reply->err ? error_copy(&err, reply->err)
			    : audit_head(r->x->c.audit, uid, &logged, &row_seq, &err);
	if (rc >= 0 && (!cstr_eq(meta_uid(live), uid) || has >= logged - 1))
		rc = error_set(&err, E_CONFLICT, "%s %s: the view is older than the log",
			       meta_kind(live), meta_name(live));
	if (rc >= 0)
		rc = restore_now(r, live, logged, &err);
	if (rc < 0) {
		r->err = err;
		r->failed = true;
	}
	r->looks = false;
	if (rc >= 0 && db_in_transaction(r->x->c.db)) {
		r->starting++; /* it does not end here */
		call_done(c);
		r->starting--;
		run_await_commit(r);
		return;
	}
	if (rc >= 0 && r->status)
		write_status(r);
	call_done(c);
}

void status_look(struct executor_run *r)
{
	const struct action *a = r->status_action;
	const struct resource *found = discovery_kind(r->x->c.discovery, a->resource.group,
						      a->resource.version, a->resource.kind);
	struct error err;
	drop_plan(r);
	if (!found) {
		error_set(&err, E_UNAVAILABLE, "the server does not serve %s", a->resource.kind);
		run_fail(r, &err);
		return;
	}
	struct step_call *c = call_new(r, NULL);
	c->call = client_get(r->x->c.client, found, a->ns, a->name, NULL, looked, c);
}
