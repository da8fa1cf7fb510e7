#include "tests/sim/sandbox_sim.h"

#include <assert.h>
#include <string.h>
#include <sys/queue.h>

#include "alm/base/clock.h"

#define RENDER_NS (20 * NS_PER_MS)
#define LATE_NS   (9 * NS_PER_S)

struct sandbox_run {
	TAILQ_ENTRY(sandbox_run) link;
	struct sandbox_sim *owner;
	struct timer timer;
	sandbox_done done;
	void *arg;
	struct strbuf output;
	struct error err;
};

struct sandbox_sim {
	struct sandbox sandbox;
	struct loop *loop;
	struct faults *faults;
	const struct sandbox_job *jobs;
	TAILQ_HEAD(, sandbox_run) runs;
	int64_t busy_until; /* one child at a time, monotonic */
};

static struct sandbox_sim *sim_of(struct sandbox *s)
{
	return CONTAINER_OF(s, struct sandbox_sim, sandbox);
}

static void run_free(struct sandbox_run *r)
{
	loop_disarm(r->owner->loop, &r->timer);
	TAILQ_REMOVE(&r->owner->runs, r, link);
	strbuf_release(&r->output);
	xfree(r);
}

static void finished(void *arg)
{
	struct sandbox_run *r = arg;
	r->done(r->arg, strbuf_str(&r->output), r->err.code ? &r->err : NULL);
	run_free(r);
}

static sandbox_fn find(const struct sandbox_sim *s, const char *job)
{
	const struct sandbox_job *j = s->jobs;
	while (j->name && strcmp(j->name, job) != 0)
		j++;
	assert(j->name);
	return j->fn;
}

static struct sandbox_run *sim_run(struct sandbox *sandbox, const char *job, struct str input,
				   int file, const struct sandbox_limits *limits UNUSED,
				   sandbox_done done, void *arg)
{
	struct sandbox_sim *s = sim_of(sandbox);
	struct sandbox_run *r = xcalloc(1, sizeof(*r));
	assert(file < 0); /* its files are texts */
	(void)file;
	r->owner = s;
	r->done = done;
	r->arg = arg;
	r->timer = (struct timer){.fn = finished, .arg = r};
	strbuf_init(&r->output, SANDBOX_OUTPUT_BYTES);
	TAILQ_INSERT_TAIL(&s->runs, r, link);
	bool late = fault_strikes(s->faults, FAULT_CHILD_LATE);
	if (fault_strikes(s->faults, FAULT_CHILD_KILLED))
		error_set(&r->err, E_INTERNAL, "was killed");
	else if (fault_strikes(s->faults, FAULT_CHILD_GARBAGE))
		strbuf_adds(&r->output, "{\"objects\":[");
	else
		(void)find(s, job)(input, &r->output, &r->err);
	int64_t now = loop_mono(s->loop);
	s->busy_until = (s->busy_until > now ? s->busy_until : now) + RENDER_NS;
	loop_arm(s->loop, &r->timer, late ? LATE_NS : s->busy_until - now);
	return r;
}

static void sim_cancel(struct sandbox *s UNUSED, struct sandbox_run *r)
{
	run_free(r);
}

static void sim_free(struct sandbox *sandbox)
{
	struct sandbox_sim *s = sim_of(sandbox);
	while (!TAILQ_EMPTY(&s->runs))
		run_free(TAILQ_FIRST(&s->runs));
	xfree(s);
}

static const struct sandbox_ops ops = {sim_run, sim_cancel, sim_free};

struct sandbox *sandbox_sim_new(struct loop *l, struct faults *faults,
				const struct sandbox_job *jobs)
{
	struct sandbox_sim *s = xcalloc(1, sizeof(*s));
	s->sandbox.ops = &ops;
	s->loop = l;
	s->faults = faults;
	s->jobs = jobs;
	TAILQ_INIT(&s->runs);
	return &s->sandbox;
}
