#include "tests/sim/loop_sim.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define INSTANT_TURNS_MAX 100000

struct loop_sim {
	struct loop loop;
	struct sim *sim;
	struct prng prng;
	int64_t ahead_ns;
};

static struct loop_sim *self(struct loop *l)
{
	return CONTAINER_OF(l, struct loop_sim, loop);
}

static int64_t sim_now(struct loop *l)
{
	struct sim *s = self(l)->sim;
	return SIM_EPOCH_NS + s->mono_ns + s->wall_offset_ns + self(l)->ahead_ns;
}

void loop_sim_set_ahead(struct loop *l, int64_t ns)
{
	self(l)->ahead_ns = ns;
}

static int64_t sim_mono(struct loop *l)
{
	return self(l)->sim->mono_ns;
}

static void sim_random(struct loop *l, void *buf, size_t n)
{
	prng_fill(&self(l)->prng, buf, n);
}

static void sim_wake(struct loop *l UNUSED)
{
}

static void sim_free(struct loop *l)
{
	struct sim *s = self(l)->sim;
	size_t i = 0;
	while (s->loops[i] != l)
		i++;
	memmove(&s->loops[i], &s->loops[i + 1], (s->n_loops - i - 1) * sizeof(s->loops[0]));
	s->n_loops--;
	loop_release(l);
	xfree(self(l));
}

static const struct loop_ops ops = {
	.now_ns = sim_now,
	.mono_ns = sim_mono,
	.random = sim_random,
	.wake = sim_wake,
	.free = sim_free,
};

void sim_init(struct sim *s, uint64_t seed, enum trace_level level)
{
	*s = (struct sim){.seed = seed};
	trace_init(&s->trace, &s->mono_ns, level);
}

void sim_release(struct sim *s)
{
	assert(s->n_loops == 0);
	trace_release(&s->trace);
}

struct loop *loop_sim_new(struct sim *s, const char *name)
{
	char stream[64];
	struct loop_sim *l = xcalloc(1, sizeof(*l));
	assert(s->n_loops < SIM_LOOPS_MAX);
	loop_init(&l->loop, &ops);
	l->sim = s;
	/* A process that was started again draws anew. */
	snprintf(stream, sizeof(stream), "loop/%s/%llu", name, (unsigned long long)s->n_made++);
	prng_init(&l->prng, s->seed, stream);
	s->loops[s->n_loops++] = &l->loop;
	return &l->loop;
}

bool sim_step(struct sim *s, int64_t until_ns)
{
	struct loop *first = NULL;
	int64_t due = INT64_MAX;
	for (size_t i = 0; i < s->n_loops; i++) {
		int64_t deadline = loop_next_deadline(s->loops[i]);
		if (deadline < s->mono_ns)
			deadline = s->mono_ns;
		if (deadline < due) {
			due = deadline;
			first = s->loops[i];
		}
	}
	if (!first || due > until_ns) {
		if (until_ns > s->mono_ns)
			s->mono_ns = until_ns;
		return false;
	}
	s->n_instant = due > s->mono_ns ? 0 : s->n_instant + 1;
	s->livelock |= s->n_instant > INSTANT_TURNS_MAX;
	s->n_turns++;
	s->mono_ns = due;
	loop_run_due(first);
	return !s->livelock;
}
