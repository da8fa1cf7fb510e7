/* audit_write: see audit_write.h. It builds entries; store.c appends them. */
#include "alm/apiserver/store/audit_write.h"

#include <string.h>

#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/convert.h"
#include "alm/audit/changes.h"
#include "alm/audit/redact.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"

#define CLIENT_ID_MAX 128
#define VIA_MAX       64
#define GROUP_MAX     253

/* "alm-<8 hex of the origin>-REST" -> REST; NULL if it is not of this log. */
static const char *own_id(const struct audit *log, const char *id)
{
	if (!id || !cstr_has_prefix(id, "alm-"))
		return NULL;
	const char *tag = audit_origin_tag(log);
	size_t n = strlen(tag);
	if (strncmp(id + 4, tag, n) != 0 || id[4 + n] != '-')
		return NULL;
	return id + 5 + n;
}

/* The Transition entry SEQ announces exactly this status. */
static bool row_announces(struct audit *log, int64_t seq, const struct audit_write *w)
{
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	struct error err = ERROR_INIT;
	if (audit_row_get(log, seq, &row, &err) < 0)
		return false;
	const struct obj *status = obj_path(row, "body.status");
	int64_t tseq = obj_i64(w->after, "status.transitionSeq", -1);
	if (!cstr_eq(obj_str(row, "type"), "Transition") ||
	    !cstr_eq(obj_str(row, "subject.uid"), w->uid) ||
	    obj_i64(row, "transitionSeq", -2) != tseq)
		return false;
	char digest[65];
	const char *want = obj_as_string(status);
	if (obj_has(status, "parts"))
		want = obj_str(status, "digest");
	if (want && *want == '{') {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		return json_parse(str_of(want), &o, &err) == 0 &&
		       obj_equal(o, obj_get(w->after, "status"));
	}
	json_digest(obj_get(w->after, "status"), digest);
	return want && (cstr_eq(want, digest) ||
			(cstr_has_prefix(want, "sha256:") && cstr_eq(want + 7, digest)));
}

static struct obj *who_of(const struct request *r)
{
	struct obj *who = obj_map();
	obj_set_str(who, "trust", "authenticated");
	struct obj *groups = obj_list();
	for (size_t i = 0; i < r->user.n_groups && i < 16; i++)
		obj_append(groups, obj_stringn(str_sub(str_of(r->user.groups[i]), 0, GROUP_MAX)));
	obj_set(who, "groups", groups);
	if (r->user.impersonator) { /* the actor of an entry of ALM's own is left out */
		obj_set_str(who, "user", r->user.name);
		obj_set_str(who, "impersonator", r->user.impersonator);
	}
	if (!r->exchange)
		return who;
	const char *agent = request_header(r, "User-Agent");
	if (r->exchange->request->peer && *r->exchange->request->peer)
		obj_set_str(who, "address", r->exchange->request->peer);
	if (agent) {
		struct str via, rest;
		str_cut(str_of(agent), ' ', &via, &rest);
		obj_set(who, "via", obj_stringn(str_sub(via, 0, VIA_MAX)));
	}
	return who;
}

static void set_digest(struct obj *b, const char *key, const struct obj *redacted)
{
	char digest[SHA256_HEX];
	json_digest(redacted, digest);
	obj_set(b, key, obj_stringf("sha256:%s", digest));
}

/* An object with a status has a digest without it, too: a status that a Transition entry announces
 * is written without an entry (alm/audit/objects.h). */
static void set_objects(struct obj *b, const struct audit_write *w)
{
	struct audit *log = w->request->server->audit;
	char digest[SHA256_HEX];
	CLEANUP(obj_unrefp) struct obj *before = w->before ? audit_redact(log, w->before) : NULL;
	CLEANUP(obj_unrefp) struct obj *after = w->after ? audit_redact(log, w->after) : NULL;
	if (before) {
		set_digest(b, "before", before);
		obj_set(b, "rvBefore", obj_stringf("%lld", (long long)w->rv_before));
	}
	if (after) {
		set_digest(b, "after", after);
		if ((w->kind->flags & KIND_CUSTOM) && obj_has(after, "status")) {
			redact_main_digest(after, digest);
			obj_set(b, "afterMain", obj_stringf("sha256:%s", digest));
		}
	}
	if (w->rv_after)
		obj_set(b, "rvAfter", obj_stringf("%lld", (long long)w->rv_after));
	if (before && after)
		changes_set(b, before, after, w->request->arena);
}

static struct obj *body_of(const struct audit_write *w, const char *outcome, int code)
{
	struct request *r = w->request;
	struct obj *b = obj_map();
	obj_set_str(b, "apiVersion", kind_api_version(w->kind, r->arena));
	obj_set_str(b, "verb", w->verb);
	obj_set_str(b, "outcome", outcome);
	obj_set_int(b, "code", code);
	set_objects(b, w);
	if (w->is_status)
		obj_set_str(b, "subresource", "status");
	obj_set(b, "who", who_of(r));
	const char *client = request_header(r, "Audit-ID");
	if (client)
		obj_set(b, "clientId", obj_stringn(str_sub(str_of(client), 0, CLIENT_ID_MAX)));
	if (r->annotations)
		obj_set(b, "annotations", obj_copy(r->annotations));
	return b;
}

/* What the status said last, as the executor says it of a transition. */
static const char *state_of(const struct obj *o)
{
	const struct obj *ready = condition_find(obj_path(o, "status.conditions"), "Ready");
	const char *phase = obj_str(o, "status.phase");
	return phase ? phase : obj_str(ready, "reason");
}

/* An object whose statuses are transitions of this log has a last one when it is deleted, unless
 * the controllers have announced it before they let it go (audit.md 7). */
static const struct audit_row *deletion(const struct audit_write *w)
{
	struct request *r = w->request;
	struct audit *log = r->server->audit;
	struct error err = ERROR_INIT;
	int64_t tseq = 0, seq = 0;
	if (w->after || !(w->kind->flags & KIND_CUSTOM) ||
	    audit_head(log, w->uid, &tseq, &seq, &err) < 0 || !tseq ||
	    audit_is_deleted(log, w->uid, seq))
		return NULL;
	struct obj *b = obj_map();
	obj_set_str(b, "apiVersion", kind_api_version(w->kind, r->arena));
	obj_set_str(b, "from", state_of(w->before));
	obj_set_str(b, "to", "Deleted");
	const char *version = obj_str(w->before, "status.installedVersion");
	if (version || obj_str(w->before, "spec.version"))
		obj_set_path(b, "version.from",
			     obj_string(version ? version : obj_str(w->before, "spec.version")));
	struct audit_row *row = ARENA_NEW(r->arena, struct audit_row);
	row->type = "Transition";
	row->reason = "Deleted";
	row->subject = (struct audit_subject){
		.kind = w->kind->kind, .ns = w->ns, .name = w->name, .uid = w->uid};
	row->transition_seq = tseq + 1;
	row->body = obj_keep(r->arena, b);
	return row;
}

void audit_write_rows(const struct audit_write *w, struct audit_write_parts *ret)
{
	struct request *r = w->request;
	struct audit *log = r->server->audit;
	*ret = (struct audit_write_parts){0};
	if (!log || (w->kind->flags & (KIND_NO_AUDIT | KIND_VIRTUAL)))
		return;
	const char *trusted = r->exchange ? r->exchange->request->trusted_audit_id : NULL;
	const char *id = own_id(log, trusted);
	struct error ignored;
	int64_t seq = 0;
	if (cstr_has_prefix(id, "row-") && str_parse_i64(str_of(id + 4), &seq) && w->is_status &&
	    row_announces(log, seq, w))
		return;
	struct audit_row *row = ARENA_NEW(r->arena, struct audit_row);
	row->type = "Write";
	row->reason = w->after && !w->before ? "Created" : w->after ? "Updated" : "Deleted";
	row->subject = (struct audit_subject){
		.kind = w->kind->kind, .ns = w->ns, .name = w->name, .uid = w->uid};
	/* A request that came twice and changed something twice has two entries; the op names the
	 * first. */
	if (id && !cstr_has_prefix(id, "row-") && audit_row_by_op(log, id, &seq, &ignored) < 0)
		row->op = id;
	row->actor = id ? NULL : r->user.name; /* absent: ALM itself */
	row->body = obj_keep(r->arena, body_of(w, "Applied", w->after && !w->before ? 201 : 200));
	ret->row = row;
	ret->deletion = deletion(w);
}

const struct audit_row *audit_write_unchanged(const struct audit_write *w)
{
	struct request *r = w->request;
	struct audit *log = r->server->audit;
	struct error ignored;
	int64_t seq = 0;
	if (!log || !r->exchange || (w->kind->flags & (KIND_NO_AUDIT | KIND_VIRTUAL)))
		return NULL;
	const char *trusted = r->exchange->request->trusted_audit_id;
	const char *id = own_id(log, trusted);
	/* A status of ALM's own has its entry; a request that came twice, too. */
	if (trusted &&
	    (!id || cstr_has_prefix(id, "row-") || audit_row_by_op(log, id, &seq, &ignored) >= 0))
		return NULL;
	struct audit_row *row = ARENA_NEW(r->arena, struct audit_row);
	row->type = "Write";
	row->reason = "Unchanged";
	row->subject = (struct audit_subject){
		.kind = w->kind->kind, .ns = w->ns, .name = w->name, .uid = w->uid};
	row->op = id;
	row->actor = id ? NULL : r->user.name;
	row->body = obj_keep(r->arena, body_of(w, "Unchanged", 200));
	return row;
}

const struct audit_row *audit_write_refused(struct request *r, const struct error *err)
{
	const char *outcome = err->code == E_FORBIDDEN  ? "Denied"
			      : err->code == E_CONFLICT ? "Conflict"
							: "Failed";
	if (!r->server->audit || !r->kind || (r->kind->flags & (KIND_NO_AUDIT | KIND_VIRTUAL)))
		return NULL;
	struct audit_write w = {.request = r,
				.kind = r->kind,
				.verb = r->verb,
				.ns = r->ns,
				.name = r->name,
				.uid = ""};
	struct audit_row *row = ARENA_NEW(r->arena, struct audit_row);
	row->type = "Write";
	row->reason = "Refused";
	row->subject = (struct audit_subject){.kind = r->kind->kind, .ns = r->ns, .name = r->name};
	row->actor = r->user.name;
	row->body = obj_keep(r->arena, body_of(&w, outcome, error_http(err->code)));
	return row;
}
