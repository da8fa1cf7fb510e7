/* settle: see settle.h. */
#include "alm/engine/settle.h"

#include <stdio.h>
#include <string.h>

#include "alm/audit/large.h"
#include "alm/base/log.h"
#include "alm/base/map.h"
#include "alm/engine/intent.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define ACTIONS_BYTES_MAX ((size_t)4 << 20) /* of one plan, as JSON: PLAN_ACTIONS_MAX of 1 KiB */
#define LOST              "ALM ended before it saw the answer"

/* One write to settle. */
struct open_write {
	struct obj *intent; /* owned */
	int64_t plan_seq;
	unsigned attempt;
};

struct settle {
	struct settle_config c;
	struct open_write writes[SETTLE_WRITES_MAX];
	size_t n, next, n_more;
	bool is_silent; /* the server: nothing more is asked */
	struct client_call *call;
	void (*done)(void *arg);
	void *arg;
};

/* --- what is missing --- */

/* What the log has of a plan: the newest entry of each action. */
enum { WENT_ON = 1, ENDED_RUN };
struct outcomes {
	struct map *ended; /* index of the action -> how */
	unsigned attempt;  /* the newest */
};

/* Conflict is what a create says that found the object there, unless the API's reason says that it is none of those. */
static bool ends_run(const char *reason, const char *verb, int64_t code, const char *api_reason)
{
	bool is_failure = cstr_eq(reason, "Failed") || cstr_eq(reason, "Denied") ||
			  cstr_eq(reason, "Unknown") || cstr_eq(reason, "Conflict");
	bool is_there = cstr_eq(verb, "create") && cstr_eq(reason, "Conflict") && !*api_reason;
	bool is_as_wanted = is_there || (cstr_eq(verb, "delete") && code == 404);
	return is_failure && !is_as_wanted;
}

/* Entries of the embedded server have their own reasons, and are of what was done. */
static int read_outcomes(struct db *d, int64_t plan_seq, struct outcomes *ret, struct error *err)
{
	static const char sql[] =
		"SELECT op, reason, json_extract(body, '$.verb'), json_extract(body, '$.code'),"
		" json_extract(body, '$.apiReason') FROM audit WHERE op > ?1 || '-' AND op < ?1 || "
		"'.' ORDER BY seq";
	struct stmt *s = NULL;
	int rc;
	if (db_prepare(d, sql, &s, err) < 0)
		return -err->code;
	stmt_bind_int(s, 1, plan_seq); /* "118-" to "118.": of the index audit_op */
	while ((rc = stmt_step(s, err)) == 1) {
		uint64_t attempt = 1;
		struct str plan, rest, index, last;
		CLEANUP(xfreep) char *op = str_dup(stmt_text(s, 0));
		CLEANUP(xfreep) char *reason = str_dup(stmt_text(s, 1));
		CLEANUP(xfreep) char *verb = str_dup(stmt_text(s, 2));
		CLEANUP(xfreep) char *api_reason = str_dup(stmt_text(s, 4));
		str_cut(str_of(op), '-', &plan, &rest);
		str_cut(rest, '-', &index, &last);
		CLEANUP(xfreep) char *key = str_dup(index);
		(void)str_parse_u64(last, &attempt);
		map_set_number(ret->ended, key,
			       ends_run(reason, verb, stmt_int(s, 3), api_reason) ? ENDED_RUN
										  : WENT_ON);
		ret->attempt = attempt > ret->attempt ? (unsigned)attempt : ret->attempt;
	}
	stmt_reset(s);
	return rc;
}

static void add_write(struct settle *s, const struct obj *intent, int64_t plan_seq,
		      unsigned attempt)
{
	if (s->n == SETTLE_WRITES_MAX) {
		s->n_more++;
		return;
	}
	s->writes[s->n++] = (struct open_write){obj_ref(intent), plan_seq, attempt ? attempt : 1};
}

/* Of one plan: what may have been under way. */
static int add_missing(struct settle *s, int64_t plan_seq, const struct obj *actions,
		       struct error *err)
{
	CLEANUP(map_freep) struct map *ended = map_new(NULL);
	struct outcomes o = {.ended = ended};
	size_t n = 0;
	if (read_outcomes(s->c.db, plan_seq, &o, err) < 0)
		return -err->code;
	for (struct map_entry *e = map_first(ended); e; e = map_next(e))
		if (map_number(ended, e->key) == ENDED_RUN)
			return 0;
	for (size_t i = 0; i < obj_len(actions) && n < CLIENT_WRITES_MAX; i++) {
		const struct obj *intent = obj_at(actions, i);
		char index[24];
		(void)snprintf(index, sizeof(index), "%lld", (long long)obj_i64(intent, "i", -1));
		if (map_has(ended, index))
			continue;
		if (n++ && !cstr_eq(obj_str(intent, "verb"), "apply"))
			break;
		add_write(s, intent, plan_seq, o.attempt);
		if (!cstr_eq(obj_str(intent, "verb"), "apply"))
			break;
	}
	return 0;
}

/* "" for one of a former version of ALM, whose entries do not name their unit. */
static void unit_of(const struct obj *row, struct strbuf *b)
{
	const char *key = obj_str(row, "body.key");
	if (key)
		strbuf_addf(b, "%s\n%s", obj_str(row, "body.controller"), key);
}

static struct obj *actions_of(struct db *d, const struct obj *row, struct error *err)
{
	struct obj *parsed = NULL;
	const struct obj *v = obj_path(row, "body.actions");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ACTIONS_BYTES_MAX);
	if (obj_type(v) == OBJ_LIST)
		return obj_ref(v);
	if (large_text(d, v, &b, err) < 0 || json_parse(strbuf_str(&b), &parsed, err) < 0)
		return NULL;
	return parsed;
}

static int look_at(struct settle *s, int64_t seq, struct map *seen, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	CLEANUP(strbuf_release) struct strbuf unit = STRBUF_INIT(STRBUF_SMALL);
	if (audit_row_get(s->c.audit, seq, &row, err) < 0)
		return -err->code;
	unit_of(row, &unit);
	if (!unit.len || map_has(seen, unit.buf))
		return 0;
	map_set_number(seen, unit.buf, 1);
	CLEANUP(obj_unrefp) struct obj *actions = actions_of(s->c.db, row, err);
	return actions ? add_missing(s, seq, actions, err) : -err->code;
}

static int find(struct settle *s, struct error *err)
{
	static const char sql[] = "SELECT seq FROM audit WHERE seq > ?1 AND type = 'Plan' ORDER BY"
				  " seq DESC";
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	struct stmt *st = NULL;
	int64_t *seqs = xcalloc(SETTLE_ROWS_MAX, sizeof(*seqs));
	size_t n = 0;
	int rc = db_prepare(s->c.db, sql, &st, err);
	if (rc >= 0) {
		stmt_bind_int(st, 1, audit_last_seq(s->c.audit) - SETTLE_ROWS_MAX);
		while (n < SETTLE_ROWS_MAX && (rc = stmt_step(st, err)) == 1)
			seqs[n++] = stmt_int(st, 0);
		stmt_reset(st);
	}
	for (size_t i = 0; i < n && rc >= 0; i++)
		rc = look_at(s, seqs[i], seen, err);
	xfree(seqs);
	return rc;
}

/* --- how it went --- */

static void object_of(const struct obj *intent, struct arena *a, const char **ret_kind,
		      const char **ret_ns, const char **ret_name)
{
	struct str rest = str_of(arena_strdup(a, obj_str(intent, "object"))), kind, ns;
	str_cut(rest, '/', &kind, &rest);
	str_cut(rest, '/', &ns, &rest);
	*ret_kind = arena_strndup(a, kind.ptr, kind.len);
	*ret_ns = arena_strndup(a, ns.ptr, ns.len);
	*ret_name = arena_strndup(a, rest.ptr, rest.len);
}

static void set_after(struct settle *s, struct obj *body, const struct obj *live)
{
	char digest[SHA256_HEX];
	audit_object_digest(s->c.audit, live, digest);
	obj_set(body, "after", obj_stringf("sha256:%s", digest));
	obj_set_str(body, "rvAfter", meta_resource_version(live));
}

static void append(struct settle *s, const struct open_write *w, const struct obj *live,
		   bool is_done, const char *message)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	const char *kind, *ns, *name, *verb = obj_str(w->intent, "verb");
	const char *outcome = is_done ? "Recovered" : "Unknown";
	struct error err;
	int64_t seq;
	object_of(w->intent, a, &kind, &ns, &name);
	obj_set_str(body, "verb", verb);
	obj_set_str(body, "outcome", outcome);
	obj_set_str(body, "trigger", "Startup");
	obj_set_str(body, "message", message);
	if (is_done && live && !cstr_eq(verb, "delete"))
		set_after(s, body, live);
	struct audit_row row = {.type = "Write",
				.reason = outcome,
				.subject = {.kind = kind,
					    .ns = ns,
					    .name = name,
					    .uid = is_done && live ? meta_uid(live) : NULL},
				.op = arena_fmt(a, "%lld-%lld-%u", (long long)w->plan_seq,
						(long long)obj_i64(w->intent, "i", 0), w->attempt),
				.cause = w->plan_seq,
				.body = body};
	if (audit_append_now(s->c.audit, &row, &seq, &err) < 0)
		log_error("Write row not appended", "error", err.msg);
}

static void go_on(struct settle *s);

static void read_back(void *arg, const struct client_reply *reply)
{
	struct settle *s = arg;
	const struct open_write *w = &s->writes[s->next++];
	bool is_gone = reply->err && reply->err->code == E_NOTFOUND;
	bool is_read = !reply->err || is_gone;
	const struct obj *live = is_gone || reply->err ? NULL : reply->body;
	bool is_done = is_read && intent_is_done(s->c.audit, w->intent, live);
	s->call = NULL;
	s->is_silent =
		reply->err && (reply->err->code == E_UNAVAILABLE || reply->err->code == E_TIMEOUT);
	append(s, w, live, is_done,
	       is_done   ? LOST "; the object shows that it was done"
	       : is_read ? LOST "; the object does not show that it was done"
			 : LOST "; the object cannot be read");
	go_on(s);
}

static struct client_call *ask(struct settle *s, const struct open_write *w)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	const char *kind, *ns, *name;
	const char *api = obj_str(w->intent, "apiVersion"), *slash = strchr(api, '/');
	object_of(w->intent, a, &kind, &ns, &name);
	const struct resource *r = discovery_kind(
		s->c.discovery, slash ? arena_strndup(a, api, (size_t)(slash - api)) : "",
		slash ? slash + 1 : api, kind);
	return r ? client_get(s->c.client, r, r->namespaced ? ns : NULL, name, NULL, read_back, s)
		 : NULL;
}

static void tell(const struct settle *s)
{
	char n[24], more[24];
	(void)snprintf(n, sizeof(n), "%zu", s->n);
	(void)snprintf(more, sizeof(more), "%zu", s->n_more);
	if (s->n)
		log_info("writes of a former process are settled", "writes", n, "left",
			 s->n_more ? more : NULL);
}

static void go_on(struct settle *s)
{
	for (; s->next < s->n; s->next++) {
		const struct open_write *w = &s->writes[s->next];
		if (!s->c.same_process && !s->is_silent)
			s->call = ask(s, w);
		if (s->call)
			return;
		append(s, w, NULL, false,
		       s->c.same_process ? LOST "; it was not done: the server has no entry of it"
					 : LOST "; the object cannot be read");
	}
	tell(s);
	s->done(s->arg);
}

struct settle *settle_start(const struct settle_config *c, void (*done)(void *arg), void *arg)
{
	struct settle *s = xcalloc(1, sizeof(*s));
	struct error err = ERROR_INIT;
	s->c = *c;
	s->done = done;
	s->arg = arg;
	if (find(s, &err) < 0)
		log_warn("writes of a former process are not settled", "error", err.msg);
	go_on(s);
	return s;
}

void settle_free(struct settle *s)
{
	if (!s)
		return;
	if (s->call)
		client_cancel(s->c.client, s->call);
	for (size_t i = 0; i < s->n; i++)
		obj_unref(s->writes[i].intent);
	xfree(s);
}
