#include "alm/cli/run/run_lease.h"

#include "alm/base/clock.h"
#include "alm/base/visible.h"
#include "alm/cli/term.h"
#include "alm/controllers/run.h"
#include "alm/io/process_id.h"
#include "alm/obj/nextstep.h"

#define TRIES_LAST \
	(30 * NS_PER_S) /* of a server that does not answer, where nobody is waited for */

int run_lease_check(const struct cli *c, int64_t *ret_wait_ns, struct error *err)
{
	if (cli_duration(c, "lease-timeout", RUN_LEASE_WAIT_NS, ret_wait_ns, err) < 0)
		return -err->code;
	return *ret_wait_ns >= 0 ? 0 : error_set(err, E_USAGE, "--lease-timeout is a time, or 0");
}

static void give_up(struct run_lease *l, int code, const char *why)
{
	struct error err = ERROR_INIT;
	/* what was begun before it was lost was not refused */
	(void)error_set(&err, l->began ? E_UNAVAILABLE : code, "%s", why);
	loop_disarm(l->loop, &l->over);
	l->give_up(l->arg, &err);
}

static void too_late(void *arg)
{
	struct run_lease *l = arg;
	struct arena *a = l->cli->arena;
	if (l->foreign)
		give_up(l, E_REFUSED,
			arena_fmt(a, "LeaseHeld: %s; %s", l->said,
				  l->began ? "what was begun is gone on with by the next run"
					   : "nothing was written"));
	else
		give_up(l, E_UNAVAILABLE,
			arena_fmt(a, "Lease %s/%s: %s", l->ns, l->name,
				  l->said ? l->said : "the server did not answer in time"));
}

static void wait_again(struct run_lease *l)
{
	if (l->ends)
		loop_arm(l->loop, &l->over, l->wait_ns ? l->wait_ns : TRIES_LAST);
}

void run_lease_begin(struct run_lease *l, const char *bundle)
{
	l->name = arena_fmt(l->cli->arena, RUN_LEASE "%s", bundle);
	l->identity = process_id(l->loop, l->cli->arena);
	l->over = (struct timer){.fn = too_late, .arg = l};
	wait_again(l);
}

void run_lease_release(struct run_lease *l)
{
	if (l->loop)
		loop_disarm(l->loop, &l->over);
	xfree(STEAL(l->said));
}

void run_lease_leads(struct run_lease *l, bool held)
{
	l->held = held;
	l->began = l->began || held;
	l->foreign = false;
	xfree(STEAL(l->said));
	loop_disarm(l->loop, &l->over);
	if (held)
		return;
	term_error("alm: Lease %s/%s is lost: nothing is written until it is held again\n", l->ns,
		   l->name);
	(void)term_flush();
	wait_again(l);
}

static bool is_news(struct run_lease *l, const char *text)
{
	if (cstr_eq(l->said, text))
		return false;
	xfree(l->said);
	l->said = xstrdup(text);
	return true;
}

void run_lease_waits(struct run_lease *l, const char *holder)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	const char *who = visible_text(a, holder);
	const char *text = arena_fmt(a, "%.200s holds Lease %s/%s, and runs what has this name",
				     who, l->ns, l->name);
	l->foreign = true;
	if (is_news(l, text) && (!l->ends || l->wait_ns))
		term_error("alm: waiting: %s\nalm: if that process is dead: %s\n", text,
			   nextstep_new(a, "without it a minute later",
					"kubectl delete lease -n %s %s", nextstep_word(a, l->ns),
					l->name));
	(void)term_flush();
	if (l->ends && !l->wait_ns)
		too_late(l);
}

/* The server names the one that it was asked for now; the next one would be missing then. */
static const char *missing_right(const struct run_lease *l, const char *why, struct arena *a)
{
	return arena_fmt(a,
			 "%s; a run takes get, create and update of leases.coordination.k8s.io in "
			 "namespace %s (and create of namespaces, where it is not there)",
			 why, l->ns);
}

void run_lease_failing(struct run_lease *l, const struct error *err)
{
	bool stays = error_retry(err->code) == RETRY_NEVER || err->code == E_FORBIDDEN ||
		     err->code == E_UNAUTHORIZED;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	const char *why = err->code == E_FORBIDDEN ? missing_right(l, err->msg, a) : err->msg;
	l->foreign = false;
	if (is_news(l, why) && !l->ends)
		term_error("alm: Lease %s/%s: %s; tried again\n", l->ns, l->name, why);
	(void)term_flush();
	if (l->ends && stays)
		too_late(l);
}
