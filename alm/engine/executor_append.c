/* What a plan announces: its entries, the Transition of its status, and the Plan entry of its writes. Each
 * is appended before anything is done. */
#include <string.h>

#include "alm/audit/transition.h"
#include "alm/base/log.h"
#include "alm/engine/executor_run.h"
#include "alm/engine/intent.h"
#include "alm/engine/status.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define ROW_MESSAGE_MAX 1000

/* --- secrets --- */

/* Those that the reconcile knew, and those of its own actions. */
static const struct secrets *secrets_of(struct executor_run *r)
{
	struct secrets *s = &r->plan.secrets;
	for (const struct action *a = r->plan.head; a && !r->knows_secrets; a = a->next) {
		if (a->type == ACT_WORK && a->work->secrets)
			a->work->secrets(a, s);
		else if (a->type <= ACT_PATCH)
			secrets_add_object(s, a->body);
	}
	r->knows_secrets = true;
	return s;
}

struct error run_hide(struct executor_run *r, const struct error *err)
{
	struct error told = *err;
	secrets_hide_error(secrets_of(r), &told);
	return told;
}

const char *run_hide_text(struct executor_run *r, const char *text)
{
	return secrets_hide(secrets_of(r), text);
}

void run_put(struct executor_run *r, const char *id, const struct error *err, struct str bytes,
	     struct obj *value)
{
	struct error told = err ? run_hide(r, err) : ERROR_INIT;
	stash_put(r->x->c.stash, id, err ? &told : NULL, bytes, value, loop_now(r->x->c.loop));
	r->changed = true;
}

/* --- entries --- */

static struct audit_subject subject_of(const struct obj *o)
{
	return (struct audit_subject){.kind = meta_kind(o),
				      .ns = meta_namespace(o),
				      .name = meta_name(o),
				      .uid = meta_uid(o)};
}

/* The newer of its chains is the cause; the other one, and what a write of somebody else comes before,
 * is another (body.also, of at most 8: here there are two). */
static int cause_of(struct executor *x, const struct action *a, int64_t written, struct obj *body,
		    int64_t *ret_cause, struct error *err)
{
	const char *const chains[] = {a->chain, a->also_chain};
	int64_t cause = written;
	CLEANUP(obj_unrefp) struct obj *also = obj_list();
	for (size_t i = 0; i < ARRAY_LEN(chains); i++) {
		int64_t head = 0;
		if (chains[i] && chain_head(x->chain, chains[i], &head, err) < 0)
			return -err->code;
		int64_t less = written || head < cause ? head : cause;
		cause = !written && head > cause ? head : cause;
		if (less && less != cause)
			obj_append(also, obj_int(less));
	}
	obj_set(body, "also", STEAL(also));
	*ret_cause = cause;
	return 0;
}

/* What made the reconcile begin (audit.md 2). */
static void set_trigger(const struct executor_run *r, const char *trigger, struct obj *body)
{
	obj_set_str(body, "trigger", trigger ? trigger : r->plan.trigger);
}

/* Beside the server: whose Write entry it was, see chain_last_write(). Arena. */
static int last_write(struct executor_run *r, const struct obj *o, const char *path,
		      const struct obj **ret_row, struct error *err)
{
	struct audit_subject about = subject_of(o);
	struct obj *row = NULL;
	if (r->x->c.same_process &&
	    chain_last_write(r->x->c.audit, r->x->c.db, &about, path, &row, err) < 0)
		return -err->code;
	*ret_row = row ? obj_keep(r->a, row) : NULL;
	return 0;
}

/* The same for an Approval: whoever wrote last, if the action does not say what. */
static int approving_write(struct executor_run *r, const struct action *a,
			   const struct obj **ret_row, struct error *err)
{
	const struct executor_config *c = &r->x->c;
	struct obj *row = NULL;
	if (a->touches || !c->same_process)
		return last_write(r, a->subject, a->touches, ret_row, err);
	if (chain_last_row(c->audit, c->db, "Write", meta_kind(a->subject), meta_name(a->subject),
			   true, &row, err) < 0)
		return -err->code;
	*ret_row = row ? obj_keep(r->a, row) : NULL;
	return 0;
}

/* Who approved: on the embedded server the log itself knows (audit.md 6). */
static const char *approver(struct executor_run *r, const struct action *a, const struct obj *row,
			    struct obj *body)
{
	struct obj *who = obj_map();
	const char *actor = obj_str(row, "actor"), *via = obj_str(row, "body.who.via");
	/* Somebody may have written after the approval: then the object knows better. */
	if (a->actor_known && !cstr_eq(actor, a->actor)) {
		actor = a->actor;
		via = NULL;
	}
	obj_set_str(who, "trust",
		    !actor                 ? "managedFields"
		    : r->x->c.same_process ? "authenticated"
					   : "admission");
	obj_set_str(who, "via", via ? via : a->actor_via);
	obj_set(body, "who", who);
	return actor ? actor : a->actor ? a->actor : "unknown";
}

/* Who it was, and what led to it: what cannot be read is asked for again, as an entry stays as it is. */
static int set_origin(struct executor_run *r, const struct action *a, struct audit_row *row,
		      struct obj *body, struct error *err)
{
	bool is_approval = !strcmp(a->row_type, "Approval");
	const struct obj *by = NULL;
	int rc = 0;
	if (is_approval)
		rc = approving_write(r, a, &by, err);
	else if (a->touches && !a->actor)
		rc = last_write(r, a->subject, a->touches, &by, err);
	if (rc < 0)
		return rc;
	/* body.who says how far to believe it */
	row->actor = is_approval ? approver(r, a, by, body) : a->actor;
	set_trigger(r, is_approval ? "Approval" : NULL, body);
	/* what it observes is what somebody wrote */
	int64_t written = is_approval ? 0 : obj_i64(by, "seq", 0);
	return cause_of(r->x, a, written, body, &row->cause, err);
}

/* body.inputs: [{name, digest}] (audit.md 4). */
static int put_inputs(struct executor_run *r, const struct action *a, struct obj *body,
		      struct error *err)
{
	CLEANUP(xfreep) char *text = json_text(a->inputs);
	struct obj *digest = NULL;
	if (audit_text_put(r->x->c.audit, str_of(text), &digest, err) < 0)
		return -err->code;
	struct obj *list = obj_list(), *o = obj_map();
	obj_set_str(o, "name", "resolve");
	obj_set(o, "digest", digest);
	obj_set_str(o, "version", ALM_VERSION); /* which program decided by them: replay.h */
	obj_append(list, o);
	obj_set(body, "inputs", list);
	return 0;
}

/* A Transition of what is no object of a server (a unit that a command runs): its status is in the
 * log alone, and what says nothing new is not told. */
static int append_told(struct executor_run *r, const struct action *a, struct error *err)
{
	struct audit *log = r->x->c.audit;
	struct obj *before = NULL, *body = obj_keep(r->a, obj_map());
	struct obj *status = obj_keep(r->a, obj_copy(a->body));
	int64_t tseq = 0, row_seq = 0;
	if (audit_head(log, meta_uid(a->subject), &tseq, &row_seq, err) < 0 ||
	    (tseq && audit_announced(log, meta_uid(a->subject), tseq, &before, err) < 0))
		return -err->code;
	if (before)
		obj_keep(r->a, before);
	obj_set_int(status, "transitionSeq", tseq);
	if (obj_equal(status, before))
		return 0;
	obj_set_int(status, "transitionSeq", tseq + 1);
	transition_facts(before, status, a->reason, NULL, body);
	if (a->message && *a->message)
		obj_set(body, "message",
			obj_stringn(str_clip(str_of(a->message), ROW_MESSAGE_MAX)));
	if (status_put(r, body, status, err) < 0)
		return -err->code;
	struct audit_row row = {.type = a->row_type,
				.reason = a->reason,
				.subject = subject_of(a->subject),
				.transition_seq = tseq + 1,
				.body = body};
	set_trigger(r, NULL, body);
	if (cause_of(r->x, a, 0, body, &row.cause, err) < 0 ||
	    audit_append(log, &row, &r->last_seq, err) < 0)
		return -err->code;
	r->changed = true;
	return 0;
}

/* The key is that of the last entry; of a Decision its last line, which is the entry's own, is one of those of
 * the last entry. */
static bool is_told(const struct action *a, const char *last)
{
	if (strcmp(a->row_type, "Decision") != 0)
		return cstr_eq(last, a->key);
	const char *line = strrchr(a->key, '\n');
	line = line ? line + 1 : a->key;
	size_t n = strlen(line);
	for (const char *at = last; n && at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		if (strcspn(at, "\n") == n && !memcmp(at, line, n))
			return true;
	return false;
}

static int append_row(struct executor_run *r, struct action *a, struct error *err)
{
	struct executor *x = r->x;
	if (!strcmp(a->row_type, "Transition"))
		return append_told(r, a, err);
	struct audit_subject about = subject_of(a->subject);
	const char *last = "";
	if (a->key && chain_key(x->chain, a->row_type, &about, &last, err) < 0)
		return -err->code;
	if (a->key && is_told(a, last))
		return 0;
	struct obj *body = obj_keep(r->a, obj_copy(a->body));
	if (a->key)
		obj_set_str(body, "key", a->key);
	if (a->inputs && put_inputs(r, a, body, err) < 0)
		return -err->code;
	struct audit_row row = {
		.type = a->row_type, .reason = a->reason, .subject = about, .body = body};
	int64_t seq;
	if (set_origin(r, a, &row, body, err) < 0 || audit_append(x->c.audit, &row, &seq, err) < 0)
		return -err->code;
	r->last_seq = a->seq = seq;
	r->changed = true;
	if (a->key)
		chain_set_key(x->chain, a->row_type, &about, a->key);
	if (a->chain && a->advances)
		chain_advance(x->chain, a->chain, seq);
	return 0;
}

/* The object to write: live, with this status and seq. */
void set_status(struct executor_run *r, const struct obj *live, const struct obj *status,
		int64_t tseq)
{
	struct obj *o = obj_keep(r->a, obj_copy(live));
	struct obj *copy = obj_copy(status);
	obj_set_int(copy, "transitionSeq", tseq);
	obj_set(o, "status", copy);
	r->status = o;
	r->status_tseq = tseq;
}

/* A crash between entry and status: the fragment of that entry, verbatim (audit.md 7). */
static int repeat_status(struct executor_run *r, struct action *a, int64_t row_seq, int64_t tseq,
			 struct error *err)
{
	struct obj *status = NULL;
	r->status_seq = row_seq;
	r->status_tseq = tseq;
	if (audit_is_deleted(r->x->c.audit, meta_uid(a->subject), row_seq))
		return 0; /* only the finalizer is left to go */
	if (audit_announced(r->x->c.audit, meta_uid(a->subject), tseq, &status, err) < 0)
		return -err->code;
	obj_keep(r->a, status);
	set_status(r, a->subject, status, tseq);
	return 0;
}

static struct obj *transition_body(struct executor_run *r, const struct action *a)
{
	struct obj *body = obj_keep(r->a, obj_map());
	transition_facts(obj_get(a->subject, "status"), a->body, a->reason,
			 obj_str(a->subject, "spec.version"), body);
	if (a->message && *a->message)
		obj_set(body, "message",
			obj_stringn(str_clip(str_of(a->message), ROW_MESSAGE_MAX)));
	obj_set_int(body, "generation", meta_generation(a->subject));
	return body;
}

/* What people follow in the log of the program; messages stay out of it, they may be a publisher's. */
static void log_transition(const struct executor_run *r, const struct action *a)
{
	if (!cstr_eq(a->reason, "Refreshed"))
		log_info("transition", "kind", obj_str(a->subject, "kind"), "name",
			 meta_name(a->subject), "to", a->reason, "audit",
			 arena_fmt(r->a, "%lld", (long long)r->status_seq));
}

static int append_next(struct executor_run *r, struct action *a, int64_t logged, struct error *err)
{
	struct executor *x = r->x;
	struct obj *body = transition_body(r, a);
	set_status(r, a->subject, a->body, logged + 1);
	if (status_put(r, body, obj_get(r->status, "status"), err) < 0)
		return -err->code;
	const struct obj *deletion = NULL;
	if (a->row_only && last_write(r, a->subject, NULL, &deletion, err) < 0)
		return -err->code;
	struct audit_row row = {.type = "Transition",
				.reason = a->reason,
				.subject = subject_of(a->subject),
				.transition_seq = logged + 1,
				.body = body};
	set_trigger(r, NULL, body);
	/* who deleted it, not what was decided before */
	if (cause_of(x, a, obj_i64(deletion, "seq", 0), body, &row.cause, err) < 0)
		return -err->code;
	if (audit_append(x->c.audit, &row, &r->status_seq, err) < 0)
		return -err->code;
	r->last_seq = r->status_seq;
	r->changed = true;
	log_transition(r, a);
	if (a->row_only)
		r->status = NULL;
	return 0;
}

static int append_status(struct executor_run *r, struct action *a, struct error *err)
{
	int64_t logged = 0, row_seq = 0;
	if (audit_head(r->x->c.audit, meta_uid(a->subject), &logged, &row_seq, err) < 0)
		return -err->code;
	if (r->turn == STATUS_SAID)
		return 0;
	int rc = r->turn == STATUS_REPEAT ? repeat_status(r, a, row_seq, logged, err) : -E_NOTFOUND;
	/* A record that is no more (an accepted gap) cannot be repeated. */
	return rc == -E_NOTFOUND ? append_next(r, a, logged, err) : rc;
}

/* The record's status comes first. What was planned beside another one is planned anew once that is there: done at
 * once, what it moves to would be told by no entry. */
static int repeat_first(struct executor_run *r, struct action *a, int64_t logged, int64_t row_seq,
			struct error *err)
{
	struct audit *log = r->x->c.audit;
	struct obj *said = NULL;
	if (audit_is_deleted(log, meta_uid(a->subject), row_seq))
		return 0;
	int rc = audit_announced(log, meta_uid(a->subject), logged, &said, err);
	if (rc < 0)
		return rc == -E_NOTFOUND ? 0 : rc;
	obj_keep(r->a, said);
	if (!a->row_only && status_is_equal(said, a->body))
		return 0;
	plan_cut(&r->plan,
		 0); /* entries stay: they say what this view shows, such as what was approved */
	r->changed = true;
	return 0;
}

/* The status of the plan's object is not the log's: that comes first, and the rest of the plan, as
 * it was decided by it, not at all. 1 if so. */
static int divert(struct executor_run *r, struct error *err)
{
	int64_t seen, logged = 0, row_seq = 0;
	struct action *a = r->plan.head;
	while (a && a->type != ACT_STATUS)
		a = a->next;
	if (!a)
		return 0;
	seen = obj_i64(a->subject, "status.transitionSeq", 0);
	if (audit_head(r->x->c.audit, meta_uid(a->subject), &logged, &row_seq, err) < 0)
		return -err->code;
	r->status_action = a;
	if (status_turn(r, a, seen, logged, row_seq, &r->turn, err) < 0)
		return -err->code;
	r->looks = r->turn == STATUS_LOOK;
	if (r->turn == STATUS_REPEAT && repeat_first(r, a, logged, row_seq, err) < 0)
		return -err->code;
	if (r->turn == STATUS_RESTORE &&
	    status_restore(r, a->subject, logged, "StatusRestored", err) < 0)
		return -err->code;
	if (r->turn == STATUS_BEHIND && status_behind(r, seen, logged, err) < 0)
		return -err->code;
	return r->turn == STATUS_LOOK || r->turn == STATUS_RESTORE || r->turn == STATUS_BEHIND;
}

/* The plan that failed last, once more: it has its entry. Not if something else was decided, asked
 * for or seen before it: then that led to it. */
static bool take_announced(struct executor_run *r)
{
	r->attempt = 1;
	if (r->last_seq == r->status_seq)
		r->plan_seq = tries_again(r->x->tries, r->unit, &r->plan, &r->attempt);
	return r->plan_seq != 0;
}

/* What it writes over as the cache has it, of a patch: only with that the result is known. Owned. */
static struct obj *patched(struct executor_run *r, const struct action *a)
{
	const struct executor_host *h = &r->x->c.host;
	const struct resource *found =
		a->type != ACT_PATCH || a->subresource || r->x->c.same_process || !h->cached
			? NULL
			: discovery_kind(r->x->c.discovery, a->resource.group, a->resource.version,
					 a->resource.kind);
	return found ? h->cached(h->arg, found, a->ns, a->name) : NULL;
}

/* Beside the server no digest is needed: what it did has its entry in the commit of the object. */
static struct obj *intent_of(struct executor_run *r, const struct action *a, size_t i)
{
	CLEANUP(obj_unrefp) struct obj *cached = patched(r, a);
	struct obj *o = intent_new(r->x->c.audit, a, i, cached, !r->x->c.same_process);
	obj_set_str(o, "object", run_hide_text(r, arena_strdup(r->a, obj_str(o, "object"))));
	return o;
}

static int append_plan(struct executor_run *r, struct error *err)
{
	struct executor *x = r->x;
	if (take_announced(r))
		return 0;
	struct obj *body = obj_keep(r->a, obj_map()), *list = obj_list();
	const struct action *first = NULL;
	size_t n = 0, i = 0;
	for (const struct action *a = r->plan.head; a; a = a->next, i++) {
		if (a->type > ACT_DELETE)
			continue;
		first = first ? first : a;
		obj_append(list, intent_of(r, a, i)); /* too many for the entry: a blob, large.h */
		n++;
	}
	obj_set_int(body, "count", (int64_t)n);
	obj_set(body, "actions", list);
	obj_set_str(body, "controller", r->controller);
	obj_set_str(body, "key", run_hide_text(r, r->key));
	set_trigger(r, NULL, body);
	bool one = n == 1;
	struct audit_row row = {.type = "Plan", .reason = "Planned", .body = body};
	row.subject = (struct audit_subject){.kind = one ? first->resource.kind : r->controller,
					     .ns = one ? first->ns : NULL,
					     .name = run_hide_text(r, one ? first->name : r->key)};
	if (r->status_action)
		row.subject = subject_of(r->status_action->subject);
	row.cause = r->last_seq;
	if (!row.cause && r->plan.chain && chain_head(x->chain, r->plan.chain, &row.cause, err) < 0)
		return -err->code;
	return audit_append(x->c.audit, &row, &r->plan_seq, err);
}

int run_append(struct executor_run *r, struct error *err)
{
	int diverted = divert(r, err);
	if (diverted != 0)
		return diverted < 0 ? diverted : 0;
	for (struct action *a = r->plan.head; a; a = a->next)
		if (a->type == ACT_ROW && append_row(r, a, err) < 0)
			return -err->code;
	for (struct action *a = r->plan.head; a; a = a->next)
		if (a->type == ACT_STATUS && append_status(r, a, err) < 0)
			return -err->code;
	return plan_has_writes(&r->plan) ? append_plan(r, err) : 0;
}
