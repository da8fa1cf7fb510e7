/* API writes: the status of a run, its actions, the Events that follow, and on a foreign server the
 * Write entries that say how they ended. */
#include <stdio.h>
#include <string.h>

#include "alm/audit/changes.h"
#include "alm/base/log.h"
#include "alm/engine/executor_run.h"
#include "alm/engine/intent.h"
#include "alm/engine/repairs.h"
#include "alm/engine/view.h"
#include "alm/obj/event.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

/* A copy, as discovery may be read anew while the call is under way. */
static const struct resource *resource_of(struct executor_run *r, const struct action *a)
{
	const struct resource *found = discovery_kind(r->x->c.discovery, a->resource.group,
						      a->resource.version, a->resource.kind);
	if (!found)
		return NULL;
	struct resource *own = ARENA_NEW(r->a, struct resource);
	*own = resource_copy(found, r->a);
	return own;
}

static void observe(struct executor_run *r, const struct resource *res, const struct obj *o)
{
	const struct executor_host *h = &r->x->c.host;
	if (res && obj_type(o) == OBJ_MAP && meta_uid(o))
		h->observed(h->arg, res, o);
}

/* --- events --- */

static const struct resource events = {
	.group = "", .version = "v1", .plural = "events", .kind = "Event", .namespaced = true};

static const struct obj *event_subject(const struct action *a)
{
	return a->event_of ? a->event_of : a->subject;
}

/* Written twice it is one: the row's place in the log is in its name. */
static struct obj *row_event(struct executor *x, const struct action *a, int64_t seq,
			     const char *tail)
{
	char number[32];
	const struct event_text t = {a->event_type, a->reason, a->message, tail};
	struct obj *o = event_about(event_subject(a), &t, loop_now(x->c.loop));
	snprintf(number, sizeof(number), "%lld", (long long)seq);
	meta_set_annotation(o, "app.coreos.com/audit-seq", number);
	return o;
}

static void event_written(void *arg, const struct client_reply *reply)
{
	(void)arg;
	if (reply->err && reply->err->code != E_EXISTS)
		log_debug("event not written", "error", reply->err->msg);
}

/* Beside the run: nothing waits for it. */
static void write_event(struct executor *x, const struct action *a, int64_t seq, const char *tail)
{
	if (!a->event_type)
		return;
	CLEANUP(obj_unrefp) struct obj *o = row_event(x, a, seq, tail);
	client_create(x->c.client, &events, event_namespace(event_subject(a)), o, NULL,
		      event_written, x);
}

void write_row_event(struct executor_run *r, struct action *a)
{
	char tail[32];
	snprintf(tail, sizeof(tail), "row-%llx", (unsigned long long)a->seq);
	if (a->seq)
		write_event(r->x, a, a->seq, tail);
}

static void farewell_written(void *arg, const struct client_reply *reply)
{
	struct step_call *c = arg;
	c->call = NULL;
	event_written(NULL, reply);
	call_done(c);
}

/* Once the finalizer is gone nobody looks at the object again, so this Event comes before. A
 * server that refuses it does not hold the removal up. */
void write_farewell(struct executor_run *r)
{
	const struct action *a = r->status_action;
	char tail[32];
	snprintf(tail, sizeof(tail), "%llx", (unsigned long long)r->status_tseq);
	CLEANUP(obj_unrefp) struct obj *o = row_event(r->x, a, r->status_seq, tail);
	struct step_call *c = call_new(r, NULL);
	c->call = client_create(r->x->c.client, &events, event_namespace(a->subject), o, NULL,
				farewell_written, c);
}

/* --- status --- */

static void status_written(void *arg, const struct client_reply *reply)
{
	struct step_call *c = arg;
	struct executor_run *r = c->run;
	c->call = NULL;
	if (reply->err) {
		struct error err = *reply->err;
		error_wrap(&err, "status of %s %s", meta_kind(r->status), meta_name(r->status));
		if (!r->failed)
			r->err = err;
		r->failed = true;
	} else {
		r->changed = true;
		status_note_written(r, reply->body);
		observe(r, resource_of(r, r->status_action), reply->body);
		char id[64];
		snprintf(id, sizeof(id), "%llx", (unsigned long long)r->status_tseq);
		write_event(r->x, r->status_action, r->status_seq, id);
	}
	call_done(c);
}

void write_status(struct executor_run *r)
{
	struct action *a = r->status_action;
	const struct resource *res = resource_of(r, a);
	struct error err;
	if (!res) {
		error_set(&err, E_UNAVAILABLE, "the server does not serve %s", a->resource.kind);
		run_fail(r, &err);
		return;
	}
	struct step_call *c = call_new(r, NULL);
	char *id = arena_fmt(r->a, "alm-%s-row-%lld", audit_origin_tag(r->x->c.audit),
			     (long long)r->status_seq);
	struct client_options o = {.subresource = "status", .audit_id = id};
	r->said_again = r->x->said_again;
	c->call = client_replace(r->x->c.client, res, a->ns, a->name, r->status, &o, status_written,
				 c);
}

/* --- Write rows on a foreign server; the embedded one writes its own in the object's transaction
 * --- */

/* The server gives the revision that there was where a write changes nothing. */
static bool is_unchanged(const struct step_call *c, const struct client_reply *reply)
{
	return c->rv_before && c->action->type != ACT_DELETE &&
	       cstr_eq(meta_resource_version(reply->body), c->rv_before);
}

static const char *outcome_of(const struct step_call *c, const struct client_reply *reply)
{
	if (!reply->err)
		return is_unchanged(c, reply) ? "Unchanged" : "Applied";
	if (reply->maybe_applied)
		return "Unknown";
	return reply->err->code == E_CONFLICT || reply->err->code == E_EXISTS ? "Conflict"
	       : reply->err->code == E_FORBIDDEN                              ? "Denied"
									      : "Failed";
}

/* What is written over, as the cache has it. */
static void remember_before(struct step_call *c)
{
	const struct executor_host *h = &c->run->x->c.host;
	const struct action *a = c->action;
	if (c->run->x->c.same_process || !h->cached || a->type == ACT_CREATE || a->subresource)
		return;
	CLEANUP(obj_unrefp) struct obj *o = h->cached(h->arg, c->resource, a->ns, a->name);
	if (!o)
		return;
	c->before = audit_redact(c->run->x->c.audit, o);
	c->rv_before = arena_strdup(c->run->a, meta_resource_version(o));
}

static void set_digest(struct obj *body, const char *key, const struct obj *redacted)
{
	char digest[SHA256_HEX];
	json_digest(redacted, digest);
	obj_set(body, key, obj_stringf("sha256:%s", digest));
}

static void set_objects(struct step_call *c, const struct client_reply *reply, struct obj *body)
{
	if (c->before) {
		set_digest(body, "before", c->before);
		obj_set_str(body, "rvBefore", c->rv_before);
	}
	if (reply->err || !meta_uid(reply->body))
		return;
	CLEANUP(obj_unrefp) struct obj *after = audit_redact(c->run->x->c.audit, reply->body);
	set_digest(body, "after", after);
	obj_set_str(body, "rvAfter", meta_resource_version(reply->body));
	if (c->before && c->action->type != ACT_DELETE)
		changes_set(body, c->before, after, c->run->a);
}

/* Counts the outcome. Whether it has an entry: of failures alike not each has one. */
static bool count_outcome(struct step_call *c, const struct client_reply *reply,
			  int64_t *ret_suppressed)
{
	struct executor_run *r = c->run;
	char how[32];
	if (!reply->err) {
		*ret_suppressed = tries_pending(r->x->tries, r->unit, c->index);
		return !r->x->c.same_process;
	}
	snprintf(how, sizeof(how), "%s %d", outcome_of(c, reply), reply->status);
	if (!*r->plan_digest)
		tries_digest(&r->plan, r->plan_digest);
	return tries_failed(r->x->tries, r->unit, r->plan_digest, r->plan_seq, c->index, how,
			    ret_suppressed) &&
	       /* the embedded server may do it yet, and then it has the entry of this op */
	       !(r->x->c.same_process && reply->maybe_applied);
}

static void append_write(struct step_call *c, const struct client_reply *reply)
{
	struct executor *x = c->run->x;
	struct error err;
	const struct action *a = c->action;
	int64_t suppressed = 0;
	if (!count_outcome(c, reply, &suppressed))
		return;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	obj_set_str(body, "verb", intent_verb(a));
	obj_set_str(body, "outcome", outcome_of(c, reply));
	obj_set_int(body, "code", reply->status);
	if (a->as)
		obj_set_path(body, "who.user", obj_string(a->as));
	set_objects(c, reply, body);
	if (reply->err && a->type == ACT_CREATE && reply->err->code == E_CONFLICT)
		obj_set_str(body, "apiReason",
			    "Conflict"); /* which settle tells from AlreadyExists */
	if (reply->err)
		obj_set_str(body, "message",
			    run_hide_text(c->run, arena_strdup(c->run->a, reply->err->msg)));
	if (suppressed)
		obj_set_int(body, "suppressed", suppressed);
	struct audit_row row = {
		.type = "Write",
		.reason = outcome_of(c, reply),
		.subject = {.kind = a->resource.kind,
			    .ns = a->ns,
			    .name = reply->err ? run_hide_text(c->run, a->name) : a->name,
			    .uid = reply->err ? NULL : meta_uid(reply->body)},
		.op = c->op,
		.cause = c->run->plan_seq,
		.body = body};
	int64_t seq;
	if (record_soon(x, &row, &seq, &err) < 0)
		log_error("Write row not appended", "error", err.msg);
}

/* How a delete ended: struct delete_entry. */
static void append_ended(struct executor_run *r, const struct action *a,
			 const struct client_reply *reply)
{
	struct error err;
	int64_t seq;
	int code = reply->err ? reply->err->code : 0;
	bool done = !code || code == E_NOTFOUND;
	const char *reason = done                   ? a->ends->done
			     : reply->maybe_applied ? a->ends->unknown
						    : a->ends->refused;
	struct audit_row row = {
		.type = "Observe",
		.reason = reason,
		.subject = {.kind = a->resource.kind, .ns = a->ns, .name = a->name, .uid = a->uid},
		.cause = r->plan_seq};
	const char *key = arena_fmt(r->a, "%s %s %d", reason, a->uid, reply->status);
	if (chain_is_told(r->x->chain, row.type, &row.subject, key))
		return;
	struct obj *body = obj_keep(r->a, obj_copy(a->body));
	obj_set_str(body, "key", key);
	if (code)
		obj_set_str(body, "message", run_hide_text(r, reply->err->msg));
	row.body = body;
	if (record_soon(r->x, &row, &seq, &err) < 0)
		log_error("how a delete ended is not in the log", "error", err.msg);
	else
		chain_set_key(r->x->chain, row.type, &row.subject, key);
}

/* --- actions --- */

/* What the server made of our apply is the baseline that drift is judged against. */
static void remember_applied(struct executor_run *r, const struct obj *o)
{
	char digest[SHA256_HEX];
	CLEANUP(obj_unrefp) struct obj *bare = obj_copy(o);
	obj_del(bare, "status");
	audit_object_digest(r->x->c.audit, bare, digest);
	stash_set_applied(r->x->c.stash, meta_uid(o), digest, loop_now(r->x->c.loop));
}

/* Refusals that the state we wanted explains: it is there, or it is gone already. */
static bool is_as_wanted(const struct action *a, const struct client_reply *reply)
{
	int code = reply->err ? reply->err->code : 0;
	return !code || (a->type == ACT_DELETE && code == E_NOTFOUND);
}

/* The last finalizer went: the server answers with the final state of what it has deleted. Its
 * watch may have said so before this answer came, so it must not go back into the cache. */
static bool is_gone(const struct obj *o)
{
	return meta_is_deleting(o) && !obj_len(obj_path(o, "metadata.finalizers"));
}

static void observe_written(struct executor_run *r, const struct step_call *c, const struct obj *o)
{
	const struct action *a = c->action;
	const struct executor_host *h = &r->x->c.host;
	bool deleting = a->type == ACT_DELETE && meta_is_deleting(o) && !is_gone(o);
	bool gone = !deleting && (a->type == ACT_DELETE || is_gone(o));
	const char *uid = a->uid ? a->uid : meta_uid(o);
	if (gone && uid)
		stash_drop_applied(r->x->c.stash, uid);
	if (gone)
		h->observed_deleted(h->arg, c->resource, a->ns, a->name, uid);
	else
		observe(r, c->resource, o);
	if (!gone && a->type == ACT_APPLY && meta_uid(o))
		remember_applied(r, o);
}

/* What the server refused is reported by the conditions of the next reconcile. */
static void remember_refusal(struct executor_run *r, const struct action *a,
			     const struct error *err)
{
	char *id = refusal_id(a->resource.group, a->resource.kind, a->ns, a->name, r->a);
	struct error told = err ? run_hide(r, err) : ERROR_INIT;
	if (err)
		stash_put(r->x->c.stash, id, &told, STR_NONE, NULL, loop_now(r->x->c.loop));
	else
		stash_drop(r->x->c.stash, id);
}

/* The server answers with the very version that the patch was made for: it was as wanted, or a schema took out what
 * differed. Another reconcile would write the same again, and for ever. */
static bool has_changed(const struct action *a, const struct obj *o)
{
	const char *of = a->type == ACT_PATCH ? meta_resource_version(a->body) : NULL;
	return !of || !cstr_eq(of, meta_resource_version(o));
}

static void action_written(void *arg, const struct client_reply *reply)
{
	struct step_call *c = arg;
	struct executor_run *r = c->run;
	const struct action *a = c->action;
	c->call = NULL;
	append_write(c, reply);
	if (a->ends)
		append_ended(r, a, reply);
	if (is_as_wanted(a, reply)) {
		r->changed = r->changed || has_changed(a, reply->body);
		remember_refusal(r, a, NULL);
		observe_written(r, c, reply->body);
		if (a->repairs && !cstr_eq(a->resource_version, meta_resource_version(reply->body)))
			repairs_note(r->x->c.stash, &a->resource, a->ns, a->name,
				     loop_now(r->x->c.loop));
		if (a->type == ACT_PATCH)
			write_event(r->x, a, 0, meta_resource_version(reply->body));
	} else if (!(a->type == ACT_CREATE && reply->err->code == E_EXISTS)) {
		struct error err = *reply->err;
		remember_refusal(r, a, &err);
		error_wrap(&err, "%s %s%s%s", a->resource.kind, a->ns ? a->ns : "",
			   a->ns ? "/" : "", a->name);
		if (!r->failed)
			r->err = err;
		r->failed = true;
	}
	call_done(c);
}

static const struct obj *with_precondition(struct executor_run *r, const struct action *a)
{
	struct obj *copy = obj_keep(r->a, obj_copy(a->body));
	obj_set_path(copy, "metadata.resourceVersion", obj_string(a->resource_version));
	if (a->uid)
		obj_set_path(copy, "metadata.uid", obj_string(a->uid));
	return copy;
}

static void send(struct step_call *c)
{
	struct executor_run *r = c->run;
	struct action *a = c->action;
	struct client *client = r->x->c.client;
	struct client_options o = {
		.as = a->as,
		.field_manager = a->manager,
		.force = a->force,
		.subresource = a->subresource,
		.uid = a->uid,
		.resource_version = a->resource_version,
		.propagation = a->propagation,
		.audit_id = arena_fmt(r->a, "alm-%s-%s", audit_origin_tag(r->x->c.audit), c->op)};
	const char *ns = c->resource->namespaced ? a->ns : NULL;
	if (a->type == ACT_APPLY && a->resource_version)
		a->body = with_precondition(r, a);
	switch (a->type) {
	case ACT_APPLY:
		c->call = client_apply(client, c->resource, ns, a->name, a->body, &o,
				       action_written, c);
		break;
	case ACT_CREATE:
		c->call = client_create(client, c->resource, ns, a->body, &o, action_written, c);
		break;
	case ACT_PATCH:
		c->call = client_patch(client, c->resource, ns, a->name,
				       "application/merge-patch+json", a->body, &o, action_written,
				       c);
		break;
	case ACT_DELETE:
		c->call = client_delete(client, c->resource, ns, a->name, &o, action_written, c);
		break;
	case ACT_ROW:
	case ACT_STATUS:
	case ACT_FORGET:
	case ACT_WATCH:
	case ACT_WORK:
	case ACT_RECORD:
		break;
	}
}

static void refreshed(void *arg, const struct error *err)
{
	struct step_call *c = arg;
	struct executor_run *r = c->run;
	c->resource = resource_of(r, c->action);
	if (c->resource) {
		send(c);
		return;
	}
	if (!r->failed) {
		if (err)
			r->err = *err;
		else
			error_set(&r->err, E_UNAVAILABLE, "the server does not serve %s %s/%s",
				  c->action->resource.kind, c->action->resource.group,
				  c->action->resource.version);
	}
	r->failed = true;
	call_done(c);
}

void write_action(struct executor_run *r, struct action *a)
{
	struct step_call *c = call_new(r, a);
	char op[AUDIT_OP_MAX];
	c->index = r->index - 1;
	snprintf(op, sizeof(op), "%lld-%zu-%u", (long long)r->plan_seq, c->index, r->attempt);
	c->op = xstrdup(op);
	c->resource = resource_of(r, a);
	if (!c->resource) {
		discovery_refresh(r->x->c.discovery, refreshed, c);
		return;
	}
	remember_before(c);
	send(c);
}
