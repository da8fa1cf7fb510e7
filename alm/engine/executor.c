/* Entries first: what the plans of one turn announce (executor_append.c) is committed together, and
 * then the runs go. What they do is in executor_write.c and executor_work.c. */
#include "alm/engine/executor_run.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/base/map.h"

#define HALT_NS         (2 * NS_PER_S)
#define COMMIT_RUNS_MAX 16 /* with as many plans a commit waits for no other */

static void commit_rows(void *arg);
static void start_runs(void *arg);

static void try_again(void *arg)
{
	struct executor *x = arg;
	if (!TAILQ_EMPTY(&x->starting))
		loop_post(x->c.loop, &x->commit);
}

struct executor *executor_new(const struct executor_config *c)
{
	struct executor *x = xcalloc(1, sizeof(*x));
	x->c = *c;
	x->chain = chain_new(c->audit, c->db, c->chains);
	x->kept = status_kept_new();
	x->tries = tries_new();
	TAILQ_INIT(&x->starting);
	TAILQ_INIT(&x->appended);
	TAILQ_INIT(&x->running);
	x->commit = (struct task){.fn = commit_rows, .arg = x};
	x->started = (struct task){.fn = start_runs, .arg = x};
	x->halt = (struct timer){.fn = try_again, .arg = x};
	record_init(x);
	return x;
}

static void run_free(struct executor_run *r)
{
	struct step_call *c;
	while ((c = TAILQ_FIRST(&r->calls))) {
		TAILQ_REMOVE(&r->calls, c, link);
		if (c->call)
			client_cancel(r->x->c.client, c->call);
		work_free(c);
		obj_unref(c->before);
		xfree(c->op);
		xfree(c);
	}
	arena_free(r->a);
	xfree(r->controller);
	xfree(r->key);
	xfree(r);
}

static void free_list(struct run_list *l)
{
	struct executor_run *r;
	while ((r = TAILQ_FIRST(l))) {
		TAILQ_REMOVE(l, r, link);
		run_free(r);
	}
}

void executor_free(struct executor *x)
{
	if (!x)
		return;
	record_flush(x);
	loop_unpost(x->c.loop, &x->commit);
	loop_unpost(x->c.loop, &x->started);
	loop_disarm(x->c.loop, &x->halt);
	free_list(&x->starting);
	free_list(&x->appended);
	free_list(&x->running);
	chain_free(x->chain);
	map_free(x->kept);
	tries_free(x->tries);
	xfree(x);
}

size_t executor_running(const struct executor *x)
{
	return x->n;
}

void executor_start(struct executor *x, const char *controller, const char *key, struct plan *plan,
		    struct arena *a, executor_done done, void *arg)
{
	struct executor_run *r = xcalloc(1, sizeof(*r));
	r->x = x;
	r->controller = xstrdup(controller);
	r->key = xstrdup(key);
	r->plan = *plan;
	r->a = a;
	r->unit = arena_fmt(a, "%s\n%s", controller, key);
	r->done = done;
	r->done_arg = arg;
	TAILQ_INIT(&r->calls);
	TAILQ_INSERT_TAIL(&x->starting, r, link);
	x->n_starting++;
	x->n++;
	loop_post(x->c.loop, &x->commit);
}

/* Each run has a savepoint: one that must not write (a stale view) takes nothing of another with
 * it. */
static int append_all(struct executor *x, struct error *err)
{
	struct executor_run *r, *next;
	for (r = TAILQ_FIRST(&x->starting); r; r = next) {
		next = TAILQ_NEXT(r, link);
		if (db_savepoint(x->c.db, err) < 0)
			return -err->code;
		if (run_append(r, err) < 0) {
			db_rollback_to(x->c.db);
			audit_rolled_back(x->c.audit);
			if (db_is_broken(x->c.db))
				return -err->code;
			r->failed = true;
			r->err = *err;
			continue;
		}
		if (db_release(x->c.db, err) < 0)
			return -err->code;
	}
	return 0;
}

/* No entry, no action: everything waits until the log can be written again. */
static void halt(struct executor *x, const struct error *err)
{
	if (!x->halted)
		log_error("audit log cannot be written, controllers stop acting", "error",
			  err->msg);
	x->halted = true;
	struct executor_run *r;
	TAILQ_FOREACH (r, &x->starting, link) {
		r->last_seq = r->plan_seq = r->status_seq = 0;
		r->status = NULL;
		r->status_action = NULL;
		r->failed = false;
		if (!r->dropped)
			continue;
		r->plan.head = STEAL(r->dropped); /* as nothing was said, nothing was decided */
		r->changed = false;
	}
	loop_arm(x->c.loop, &x->halt, HALT_NS);
}

/* More plans came since the last look, and a few more may in the next turn. */
static bool waits_for_more(struct executor *x)
{
	bool grew = x->n_starting > x->n_seen && x->n_starting < COMMIT_RUNS_MAX;
	x->n_seen = x->n_starting;
	if (grew)
		loop_post(x->c.loop, &x->commit);
	return grew;
}

static void commit_rows(void *arg)
{
	struct executor *x = arg;
	struct error err = ERROR_INIT;
	if (TAILQ_EMPTY(&x->starting) || waits_for_more(x))
		return;
	const char *full = disk_watch_refuses(x->c.disk, DISK_WRITE);
	if (full) {
		error_set(&err, E_UNAVAILABLE, "%s", full);
		halt(x, &err);
		return;
	}
	bool is_open = db_in_transaction(x->c.db), nested = is_open && x->c.same_process;
	if ((!is_open && db_begin(x->c.db, &err) < 0) || append_all(x, &err) < 0 ||
	    (!nested && db_commit(x->c.db, &err) < 0)) {
		if (!nested)
			db_rollback(x->c.db);
		audit_rolled_back(x->c.audit);
		halt(x, &err);
		return;
	}
	x->halted = false;
	x->n_starting = x->n_seen = 0;
	TAILQ_CONCAT(&x->appended, &x->starting, link);
	if (nested) { /* the server's commit of this turn carries the entries */
		loop_post(x->c.loop, &x->started);
		return;
	}
	audit_committed(x->c.audit);
	start_runs(x);
	record_checkpoint(x);
}

static void run_continue(struct executor_run *r);

static bool is_durable(struct executor *x, int64_t seq)
{
	struct error err;
	struct obj *row = NULL;
	bool there = !seq || audit_row_get(x->c.audit, seq, &row, &err) == 0;
	obj_unref(row);
	return there;
}

static void start_runs(void *arg)
{
	struct executor *x = arg;
	struct executor_run *r;
	while ((r = TAILQ_FIRST(&x->appended))) {
		TAILQ_REMOVE(&x->appended, r, link);
		TAILQ_INSERT_TAIL(&x->running, r, link);
		int64_t last = r->plan_seq > r->last_seq ? r->plan_seq : r->last_seq;
		if (!is_durable(x, last)) {
			struct error err;
			error_set(&err, E_UNAVAILABLE, "the server's commit failed");
			run_fail(r, &err);
			continue;
		}
		r->live = true;
		if (!r->failed && r->looks)
			status_look(r);
		else if (!r->failed && r->status)
			write_status(r);
		else if (!r->failed && r->status_action && r->status_action->row_only)
			write_farewell(r);
		else
			run_continue(r);
	}
}

void run_await_commit(struct executor_run *r)
{
	TAILQ_REMOVE(&r->x->running, r, link);
	TAILQ_INSERT_TAIL(&r->x->appended, r, link);
	loop_post(r->x->c.loop, &r->x->started);
}

/* --- the run --- */

static void finish(struct executor_run *r)
{
	struct executor *x = r->x;
	if (r->failed)
		r->err = run_hide(r, &r->err);
	else if (r->plan_seq)
		tries_forget(x->tries, r->unit);
	TAILQ_REMOVE(&x->running, r, link);
	x->n--;
	enum run_result result = r->waits ? RUN_WAITS : r->changed ? RUN_CHANGED : RUN_UNCHANGED;
	r->done(r->done_arg, r->controller, r->key, result, r->plan.requeue_after_ns,
		r->failed ? &r->err : NULL);
	run_free(r);
}

void run_fail(struct executor_run *r, const struct error *err)
{
	if (!r->failed)
		r->err = *err;
	r->failed = true;
	if (!r->in_flight && !r->starting)
		finish(r);
}

static bool may_join(const struct executor_run *r, const struct action *a)
{
	const struct step_call *c = TAILQ_FIRST(&r->calls);
	if (!c)
		return true;
	return a->type == ACT_APPLY && c->action && c->action->type == ACT_APPLY &&
	       c->action->stage == a->stage && r->in_flight < CLIENT_WRITES_MAX;
}

static void start_action(struct executor_run *r, struct action *a)
{
	if (a->type == ACT_WORK && !work_has_room(r->x, a)) {
		r->waits = true;
		r->next = NULL;
		return;
	}
	switch (a->type) {
	case ACT_APPLY:
	case ACT_CREATE:
	case ACT_PATCH:
	case ACT_DELETE:
		write_action(r, a);
		break;
	case ACT_WORK:
		work_start(r, a);
		break;
	case ACT_RECORD:
		r->x->c.host.record(r->x->c.host.arg, a->id, a->body);
		r->changed = true;
		break;
	case ACT_FORGET:
		stash_drop(r->x->c.stash, a->id);
		break;
	case ACT_WATCH:
		r->x->c.host.watch(r->x->c.host.arg, &a->resource, a->selector, a->metadata_only);
		break;
	case ACT_ROW:
		write_row_event(r, a);
		break;
	case ACT_STATUS:
		break; /* done before */
	}
}

static void run_continue(struct executor_run *r)
{
	if (!r->next && !r->index)
		r->next = r->plan.head;
	r->starting++;
	while (!r->failed && r->next && may_join(r, r->next)) {
		struct action *a = r->next;
		r->next = a->next;
		r->index++;
		start_action(r, a);
	}
	r->starting--;
	if (!r->in_flight && !r->starting && (r->failed || !r->next))
		finish(r);
}

struct step_call *call_new(struct executor_run *r, struct action *a)
{
	struct step_call *c = xcalloc(1, sizeof(*c));
	c->run = r;
	c->action = a;
	TAILQ_INSERT_TAIL(&r->calls, c, link);
	r->in_flight++;
	return c;
}

void call_done(struct step_call *c)
{
	struct executor_run *r = c->run;
	TAILQ_REMOVE(&r->calls, c, link);
	r->in_flight--;
	work_free(c);
	obj_unref(c->before);
	xfree(c->op);
	xfree(c);
	run_continue(r);
}
