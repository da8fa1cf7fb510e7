#include "alm/cli/audit/audit_follow.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/export.h"
#include "alm/base/clock.h"
#include "alm/cli/session.h"
#include "alm/io/loop.h"

#define EVERY_NS   (500 * NS_PER_MS)
#define AGAIN_NS   NS_PER_S /* between two watches */
#define FOREVER_NS (365 * 24 * NS_PER_HOUR)

struct follow {
	struct loop *l;
	struct timer timer;
	int (*fn)(void *arg, struct error *err);
	void *arg;
	struct error *err;
	int rc;
};

static void due(void *arg)
{
	struct follow *f = arg;
	f->rc = f->fn(f->arg, f->err);
	if (f->rc < 0)
		loop_stop(f->l);
	else
		loop_arm(f->l, &f->timer, EVERY_NS);
}

static void on_signal(void *arg, int signal)
{
	struct follow *f = arg;
	(void)signal;
	loop_stop(f->l);
}

static int follow_folder(int (*fn)(void *arg, struct error *err), void *arg, struct error *err)
{
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	struct follow f = {.l = l, .fn = fn, .arg = arg, .err = err};
	f.timer.fn = due;
	f.timer.arg = &f;
	loop_on_signal(l, on_signal, &f);
	loop_arm(l, &f.timer, 0);
	loop_run(l);
	loop_disarm(l, &f.timer);
	return f.rc < 0 ? f.rc : 0;
}

struct follow_api {
	struct session *s;
	struct db *db;
	int64_t last; /* entries up to this one were told */
	int (*fn)(void *arg, struct error *err);
	void *arg;
	bool ended; /* by a signal */
	struct error err;
};

static void end(struct follow_api *f)
{
	session_stop(f->s);
}

static int forget(struct follow_api *f)
{
	struct stmt *s;
	if (f->last % AUDIT_FOLLOW_KEPT)
		return 0;
	int r = db_prepare(f->db, "DELETE FROM audit WHERE seq < ?", &s, &f->err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, f->last - AUDIT_FOLLOW_KEPT);
	return stmt_step(s, &f->err);
}

static void on_record(void *arg, const struct obj *event)
{
	struct follow_api *f = arg;
	const struct obj *o = obj_get(event, "object");
	const char *type = obj_str(event, "type"), *message = obj_str(o, "message");
	int64_t seq = obj_i64(o, "seq", 0);
	if (cstr_eq(type, "ERROR")) {
		(void)error_set(&f->err, error_from_http((int)obj_i64(o, "code", 500), ""),
				"watch: %s", message ? message : "the server ended it");
		end(f);
		return;
	}
	if (!cstr_eq(type, "ADDED") || seq <= f->last)
		return;
	f->last = seq;
	if (export_add_object(f->db, o, &f->err) < 0 || f->fn(f->arg, &f->err) < 0 || forget(f) < 0)
		end(f);
}

static void on_closed(void *arg, const struct error *err)
{
	struct follow_api *f = arg;
	if (err && err->code != E_IO && err->code != E_TIMEOUT && err->code != E_UNAVAILABLE)
		f->err = *err;
	end(f);
}

static void on_interrupt(void *arg, int signal)
{
	struct follow_api *f = arg;
	(void)signal;
	f->ended = true;
	end(f);
}

static int follow_server(struct cli *c, struct audit_source *source,
			 int (*fn)(void *arg, struct error *err), void *arg, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	struct follow_api f = {.db = source->db, .fn = fn, .arg = arg};
	int rc = query_seq_at(source->db, INT64_MAX, &f.last, err);
	if (rc >= 0)
		rc = session_open(c, &s, err);
	if (rc < 0)
		return rc;
	f.s = s;
	loop_on_signal(session_loop(s), on_interrupt, &f);
	while (!f.err.code && !f.ended) {
		CLEANUP(arena_freep) struct arena *a = arena_new(4096);
		const char *query = arena_fmt(a, "watch=true&resourceVersion=%" PRId64, f.last);
		struct session_watch *w = session_watch_start(
			s, session_target(s, &audit_source_records, NULL, NULL, query), ACCEPT_JSON,
			on_record, on_closed, &f);
		(void)session_run(s, FOREVER_NS);
		session_watch_free(w);
		if (!f.err.code && !f.ended)
			(void)session_run(s, AGAIN_NS);
	}
	return f.err.code ? error_copy(err, &f.err) : 0;
}

int audit_follow(struct cli *c, struct audit_source *s, int (*fn)(void *arg, struct error *err),
		 void *arg, struct error *err)
{
	return s->type == AUDIT_API ? follow_server(c, s, fn, arg, err)
				    : follow_folder(fn, arg, err);
}
