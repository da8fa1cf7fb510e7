/* refusals: see refusals.h. */
#include "alm/apiserver/auth/refusals.h"

#include <string.h>

#include "alm/apiserver/core.h"
#include "alm/apiserver/store/audit_write.h"
#include "alm/base/map.h"

#define KEY_BYTES_MAX 4096

/* One count, with its last refusal as the example. */
struct refusal {
	char *user;     /* owned */
	size_t pending; /* refusals since the last entry */
	/* Monotonic times of the last refusal and of the last entry; the pause until the next. */
	int64_t last_at, entry_at, pause;
	const char *reason; /* Refused or Unchanged: static */
	char *kind, *ns, *name, *uid, *actor;
	struct obj *body;
};

struct refusals {
	struct apiserver *server;
	struct map *counts;  /* "user\nwhat" -> struct refusal */
	struct map *of_user; /* user -> number of his counts */
	struct timer timer;
};

static void example_clear(struct refusal *f)
{
	xfree(f->kind);
	xfree(f->ns);
	xfree(f->name);
	xfree(f->uid);
	xfree(f->actor);
	obj_unref(f->body);
}

static void refusal_free(void *p)
{
	struct refusal *f = p;
	example_clear(f);
	xfree(f->user);
	xfree(f);
}

static void example_set(struct refusal *f, const struct audit_row *row)
{
	example_clear(f);
	f->kind = xstrdup(row->subject.kind);
	f->ns = xstrndup(row->subject.ns, REFUSALS_NAME_MAX);
	f->name = xstrndup(row->subject.name, REFUSALS_NAME_MAX);
	f->uid = row->subject.uid ? xstrndup(row->subject.uid, REFUSALS_NAME_MAX) : NULL;
	f->reason = row->reason;
	f->actor = xstrndup(row->actor, REFUSALS_USER_MAX);
	f->body = obj_copy(row->body);
}

/* On failure the count stays, for the next time. A broken log shows in /readyz. */
static void write_entry(struct refusals *l, struct refusal *f)
{
	struct error ignored = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *body = obj_copy(f->body);
	if (f->pending > 1)
		obj_set_int(body, "suppressed", (int64_t)f->pending - 1);
	const struct audit_row row = {
		.type = "Write",
		.reason = f->reason,
		.subject = {.kind = f->kind, .ns = f->ns, .name = f->name, .uid = f->uid},
		.actor = f->actor,
		.body = body,
	};
	f->entry_at = loop_mono(l->server->loop);
	if (store_append_row(l->server->store, &row, &ignored) == 0)
		f->pending = 0;
}

static void forget(struct refusals *l, const char *key, const char *user)
{
	size_t n = map_number(l->of_user, user);
	if (n > 1)
		map_set_number(l->of_user, user, n - 1);
	else
		map_del(l->of_user, user);
	map_del(l->counts, key);
}

static void due(void *arg)
{
	struct refusals *l = arg;
	int64_t now = loop_mono(l->server->loop);
	for (struct map_entry *e = map_first(l->counts), *next; e; e = next) {
		struct refusal *f = e->value;
		next = map_next(e);
		if (!f->pending && now - f->last_at >= REFUSALS_PAUSE_MAX_NS) {
			CLEANUP(xfreep) char *user = xstrdup(f->user);
			forget(l, e->key, user);
			continue;
		}
		if (!f->pending || now - f->entry_at < f->pause)
			continue;
		f->pause =
			2 * f->pause < REFUSALS_PAUSE_MAX_NS ? 2 * f->pause : REFUSALS_PAUSE_MAX_NS;
		write_entry(l, f);
	}
	if (map_count(l->counts))
		loop_arm(l->server->loop, &l->timer, REFUSALS_PAUSE_NS);
}

static struct refusal *count_new(struct refusals *l, const char *key, const char *user)
{
	struct refusal *f = xcalloc(1, sizeof(*f));
	f->user = xstrdup(user);
	f->pause = REFUSALS_PAUSE_NS;
	map_set(l->counts, key, f);
	map_set_number(l->of_user, user, map_number(l->of_user, user) + 1);
	if (map_count(l->counts) == 1)
		loop_arm(l->server->loop, &l->timer, REFUSALS_PAUSE_NS);
	return f;
}

/* The count of the request: its own, or the one for the rest of its user, or of everybody. */
static struct refusal *count_of(struct refusals *l, const struct request *r, int code)
{
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(KEY_BYTES_MAX);
	const char *user = r->user.impersonator ? r->user.impersonator : r->user.name;
	strbuf_addf(&key, "%s\n%s %s/%s %d", user, r->verb, r->group, r->resource, code);
	struct refusal *f = key.over ? NULL : map_get(l->counts, key.buf);
	if (f)
		return f;
	if (key.over || map_number(l->of_user, user) >= REFUSALS_OF_USER_MAX) {
		strbuf_clear(&key);
		strbuf_addf(&key, "%.*s\n", REFUSALS_NAME_MAX, user);
		f = map_get(l->counts, key.buf);
	}
	if (!f && map_count(l->counts) >= REFUSALS_MAX) {
		strbuf_clear(&key);
		strbuf_adds(&key, "\n");
		user = "";
		f = map_get(l->counts, key.buf);
	}
	return f ? f : count_new(l, key.buf, user);
}

static bool counts(const struct refusals *l, const struct request *r, const struct error *err)
{
	bool refused =
		err->code == E_FORBIDDEN || err->code == E_CONFLICT || err->code == E_INVALID;
	bool write =
		!cstr_eq(r->verb, "get") && !cstr_eq(r->verb, "list") && !cstr_eq(r->verb, "watch");
	/* A deletion that has a body is a trial if that says so, which nobody has read yet. */
	bool trial = request_query(r, "dryRun") &&
		     !(r->exchange->request->body.len && cstr_has_prefix(r->verb, "delete"));
	/* The executor of this process writes the entries of its own outcomes. */
	return refused && write && l->server->audit && r->kind && !trial &&
	       !r->exchange->request->trusted_audit_id;
}

/* The answer changes nothing, with or without its entry. */
static void count(struct refusals *l, struct refusal *f, const struct audit_row *row)
{
	bool first = !f->body;
	example_set(f, row);
	f->pending++;
	f->last_at = loop_mono(l->server->loop);
	if (first)
		write_entry(l, f);
}

void refusals_add(struct refusals *l, struct request *r, const struct error *err)
{
	const struct audit_row *row = counts(l, r, err) ? audit_write_refused(r, err) : NULL;
	if (!row)
		return;
	count(l, count_of(l, r, err->code), row);
}

void refusals_add_unchanged(struct refusals *l, struct request *r, const struct audit_row *row)
{
	struct error ignored = ERROR_INIT;
	if (row->op)
		(void)store_append_row(l->server->store, row, &ignored);
	else
		count(l, count_of(l, r, 0), row);
}

void refusals_flush(struct refusals *l)
{
	for (struct map_entry *e = map_first(l->counts); e; e = map_next(e)) {
		struct refusal *f = e->value;
		if (f->pending)
			write_entry(l, f);
	}
}

struct refusals *refusals_new(struct apiserver *s)
{
	struct refusals *l = xcalloc(1, sizeof(*l));
	l->server = s;
	l->counts = map_new(refusal_free);
	l->of_user = map_new(NULL);
	l->timer.fn = due;
	l->timer.arg = l;
	return l;
}

void refusals_free(struct refusals *l)
{
	if (!l)
		return;
	loop_disarm(l->server->loop, &l->timer);
	map_free(l->counts);
	map_free(l->of_user);
	xfree(l);
}
