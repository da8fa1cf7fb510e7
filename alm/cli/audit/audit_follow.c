#include "alm/cli/audit/audit_follow.h"

#include "alm/base/clock.h"
#include "alm/io/loop.h"

#define EVERY_NS (500 * NS_PER_MS)

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

int audit_follow(int (*fn)(void *arg, struct error *err), void *arg, struct error *err)
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
